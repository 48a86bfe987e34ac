/* SPDX-License-Identifier: MIT */
/*
 * decimal_text_test.c — the text of a double is the shortest that reads back as its bits.
 */
#include "base/decimal.h"
#include "base/rng.h"
#include "tests/test.h"

#include <math.h>

/* The fewest digits with which printf says it so that it reads back. */
static int digits_needed(double x, char text[64])
{
    for (int digits = 1; digits < 17; digits++) {
        snprintf(text, 64, "%.*e", digits - 1, x);
        if (strtod(text, NULL) == x)
            return digits;
    }
    snprintf(text, 64, "%.16e", x);
    return 17;
}

static int count_digits(const char *text)
{
    int n = 0, zeros = 0;

    for (const char *s = text; *s && *s != 'e'; s++) {
        if (*s < '0' || *s > '9' || (n == 0 && *s == '0'))
            continue;
        n++;
        zeros = *s == '0' ? zeros + 1 : 0;
    }
    return n - zeros; /* those at the end of a whole number say only how large it is */
}

static void check(double x)
{
    char text[DOUBLE_TEXT_SIZE], other[64];
    size_t n = decimal_text(text, x);
    double back = strtod(text, NULL);

    assert_int_equal(n, strlen(text));
    if (memcmp(&back, &x, sizeof(x)) != 0)
        fail_msg("%a: '%s' reads back as %a", x, text, back);
    if (x != 0 && count_digits(text) > digits_needed(x, other))
        fail_msg("'%s' is longer than '%s'", text, other);
}

TEST(texts_are_laid_out_as_by_printf)
{
    static const struct {
        double x;
        const char *text;
    } known[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {100000, "100000"},
        {1e6, "1e+06"},
        {1500000, "1.5e+06"},
        {1234567, "1234567"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {0.000012345, "1.2345e-05"},
        {1e15, "1e+15"},
        {123456789012345, "123456789012345"},
        {9007199254740993.0, "9007199254740992"},
        {1e16, "1e+16"},
        {1.0 / 3, "0.3333333333333333"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {299792458, "299792458"},
        {(double)0.1f, "0.10000000149011612"},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        char text[DOUBLE_TEXT_SIZE];
        decimal_text(text, known[i].x);
        assert_string_equal(text, known[i].text);
    }
}

TEST(powers_of_two_and_of_ten_are_the_shortest)
{
    for (int e = -1074; e <= 1023; e++) {
        check(ldexp(1, e));
        check(nextafter(ldexp(1, e), 0));
        check(nextafter(ldexp(1, e), INFINITY) < INFINITY ? nextafter(ldexp(1, e), INFINITY) : 1);
    }
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof(text), "1e%d", e);
        check(strtod(text, NULL));
        check(-0.95 * strtod(text, NULL));
    }
}

TEST(any_double_reads_back_and_none_could_be_shorter)
{
    struct rng rng;

    rng_init(&rng, 11, 1);
    for (int i = 0; i < 30000; i++) {
        uint64_t bits = rng_u64(&rng);
        double x;
        memcpy(&x, &bits, sizeof(x));
        if (isfinite(x))
            check(x);
        check((double)(float)rng_normal(&rng));
        check((double)((int64_t)rng_below(&rng, 2000000000) - 1000000000) / 1e6);
        check((double)(rng_u64(&rng) >> rng_below(&rng, 64)));
    }
}

static void check_integer(int64_t x)
{
    char text[DOUBLE_TEXT_SIZE], known[64];
    size_t n = decimal_integer(text, x);

    snprintf(known, sizeof(known), "%lld", (long long)x);
    assert_string_equal(text, known);
    assert_int_equal(n, strlen(known));
}

TEST(integers_are_those_of_printf)
{
    struct rng rng;

    check_integer(INT64_MIN);
    check_integer(INT64_MAX);
    for (int64_t x = -1000; x <= 1000; x++)
        check_integer(x);
    for (int64_t x = 1; x <= INT64_MAX / 10; x *= 10)
        for (int64_t d = -1; d <= 1; d++) {
            check_integer(x + d);
            check_integer(-x + d);
        }
    rng_init(&rng, 1, 1);
    for (int i = 0; i < 10000; i++)
        check_integer((int64_t)(rng_u64(&rng) >> (i % 64)));
}

TEST_MAIN
