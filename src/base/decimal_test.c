/* SPDX-License-Identifier: MIT */
/*
 * decimal_test.c — every number reads as strtod reads it, bit for bit; every row of the table of
 * powers is proven by multiplying big integers.
 */
#include "base/decimal.h"
#include "base/decimal_powers.h"
#include "base/rng.h"
#include "tests/test.h"

#include <errno.h>
#include <float.h>
#include <math.h>

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static void check_text(const char *text, size_t n)
{
    double x = NAN;
    size_t used = 0;
    double want = strtod(text, NULL);
    if (decimal_parse(text, n, &x, &used) != 0 || used != n || bits_of(x) != bits_of(want))
        fail_msg("'%.60s' (%zu bytes): %.17g of %zu bytes, strtod says %.17g", text, n, x, used,
                 want);
}

static void check(const char *text)
{
    check_text(text, strlen(text));
}

/* ---- the table ---- */
#define WORDS 40
struct big { /* little end first */
    uint32_t word[WORDS];
};

static void big_multiply(struct big *big, uint64_t by) /* by < 2^32 */
{
    uint64_t carry = 0;
    for (size_t i = 0; i < WORDS; i++) {
        carry += big->word[i] * by;
        big->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_int_equal(carry, 0);
}

static struct big big_of(unsigned __int128 x)
{
    struct big big = {{0}};
    for (size_t i = 0; i < 4; i++, x >>= 32)
        big.word[i] = (uint32_t)x;
    return big;
}

static int big_bits(const struct big *big)
{
    for (int i = WORDS; i-- > 0;)
        if (big->word[i])
            return 32 * i + 32 - __builtin_clz(big->word[i]);
    return 0;
}

static struct big times_five(unsigned __int128 x, int power)
{
    struct big big = big_of(x);
    for (int i = 0; i < power; i++)
        big_multiply(&big, 5);
    return big;
}

static unsigned __int128 row_of(int q)
{
    const struct decimal_power *row = &decimal_powers[q - DECIMAL_POWER_MIN];
    return (unsigned __int128)row->high << 64 | row->low;
}

/* The leading 128 bits, by shifting the rest out. */
static unsigned __int128 big_leading(const struct big *big)
{
    unsigned __int128 x = 0;
    int bits = big_bits(big);
    for (int i = bits - 1; i >= bits - 128; i--)
        x = x << 1 | (i >= 0 ? big->word[i / 32] >> (i % 32) & 1 : 0);
    return x;
}

TEST(the_table_has_the_leading_bits_of_every_power_of_five)
{
    for (int q = 0; q <= DECIMAL_POWER_MAX; q++) {
        struct big five = times_five(1, q);
        assert_true(row_of(q) == big_leading(&five));
    }
}

TEST(the_table_has_the_inverse_of_every_power_of_five)
{
    for (int q = DECIMAL_POWER_MIN; q < 0; q++) {
        unsigned __int128 row = row_of(q);
        /* below 5^-27: row·5^-q < 2^b < (row+1)·5^-q; the others are one up */
        if (q >= -27)
            row--;
        struct big below = times_five(row, -q), above = times_five(row + 1, -q);
        assert_int_equal(big_bits(&above), big_bits(&below) + 1);
        assert_true(row >> 127 == 1);
    }
}

/* ---- numbers ---- */
TEST(hard_numbers_read_as_strtod_reads_them)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "+0",
        "0.0",
        "-0.0e5",
        "1",
        "-1",
        "+1",
        "1.",
        ".5",
        "-.5",
        "00001",
        "1e0",
        "1E5",
        "1e+5",
        "1e-5",
        "123456789012345678",
        "1234567890123456789",
        "12345678901234567890",
        "0.1",
        "0.2",
        "0.3",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "9007199254740995",
        "9007199254740993.0000000000000000000000000000000000000001",
        "9007199254740992.9999999999999999999999999999999999999999",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "18446744073709551615e-10",
        "9999999999999999999",
        "99999999999999999999",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1.797693134862315807e308",
        "1.797693134862315808e308",
        "1e308",
        "1e309",
        "-1e309",
        "1e400",
        "1e99999",
        "1e-99999",
        "1e999999999999999999999999",
        "1e-999999999999999999999999",
        "0e999999999999999999999999",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.225073858507201e-308",
        "4.9406564584124654e-324",
        "5e-324",
        "3e-324",
        "2.4703282292062328e-324",
        "2.4703282292062327e-324",
        "2.5e-324",
        "2e-324",
        "1e-323",
        "1e-324",
        "1e-325",
        "1e-342",
        "1e-343",
        "9999999999999999999e-343",
        "99999999999999999999999e-345",
        "1090544144181609348835077142190",
        "6.631236846766476e-316",
        ("3237883913302901289588352412501532174863037669423108059901297049552301970670676565786825"
         "787729965e-310"),
        "1448997445238699",
        "4503599627370496.5",
        "4503599627370497.5",
        "4503599627370498.5",
        "8.41e21",
        "9.5367431640625e-7",
        "5e-20",
        "47298859.6",
        "8388607.5",
        "0.000061035156249",
        "100000000000000016777215",
        "100000000000000016777216",
        "7.2057594037927933e16",
        "2.22507385850720113605740979670913197593481954635164564e-308",
        "2.22507385850720113605740979670913197593481954635164565e-308",
        "6929495644600919.5",
        "3.4028234663852886e38",
        "1.17549435e-38",
        "1.4e-45",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        check(texts[i]);
}

TEST(it_takes_the_longest_number_and_says_how_long_it_was)
{
    static const struct {
        const char *text;
        size_t used;
        double value;
    } rows[] = {
        {"1,2", 1, 1},
        {"1e", 1, 1},
        {"1e+", 1, 1},
        {"1e-x", 1, 1},
        {"1.5.2", 3, 1.5},
        {"-2.5i", 4, -2.5},
        {"0x10", 1, 0},
        {"12 3", 2, 12},
        {"1.e2", 4, 100},
        {"5e2e3", 3, 500},
        {"1234567890a", 10, 1234567890},
        {"12345678.x", 9, 12345678},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double x = 0;
        size_t used = 0;
        assert_int_equal(decimal_parse(rows[i].text, strlen(rows[i].text), &x, &used), 0);
        assert_int_equal(used, rows[i].used);
        assert_true(x == rows[i].value);
    }
}

TEST(what_is_no_number_is_refused_and_sets_nothing)
{
    static const char *const texts[] = {"",  "-",   "+",   ".",   "-.", "e5",  ".e5",
                                        "x", "nan", "inf", "--1", " 1", "+-1", "-inf"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        double x = 7;
        size_t used = 9;
        assert_int_equal(decimal_parse(texts[i], strlen(texts[i]), &x, &used), -EINVAL);
        assert_true(x == 7 && used == 9);
    }
}

/* Digits with a point and an exponent somewhere; n digits, first not 0. */
static size_t random_text(struct rng *rng, char *to, size_t digits, int exponent)
{
    size_t n = 0, point = (size_t)rng_below(rng, digits + 1);
    if (rng_chance(rng, 0.3))
        to[n++] = '-';
    uint64_t pool = 0;
    for (size_t i = 0; i < digits; i++) {
        if (i % 16 == 0)
            pool = rng_u64(rng);
        if (i == point)
            to[n++] = '.';
        to[n++] = (char)('0' + (pool & 15) % 10);
        pool >>= 4;
    }
    if (exponent)
        n += (size_t)snprintf(to + n, 16, "e%d", exponent);
    to[n] = '\0';
    return n;
}

TEST(random_digits_read_as_strtod_reads_them)
{
    struct rng rng;
    rng_init(&rng, 5, 0);
    char text[128];
    for (int i = 0; i < 1000000; i++) {
        size_t digits = 1 + (size_t)rng_below(&rng, 22);
        int exponent = i % 3 ? (int)rng_below(&rng, 700) - 350 : 0;
        check_text(text, random_text(&rng, text, digits, exponent));
    }
}

TEST(every_double_comes_back_from_its_digits)
{
    struct rng rng;
    rng_init(&rng, 6, 0);
    char text[64];
    for (int i = 0; i < 150000; i++) {
        uint64_t bits = rng_u64(&rng);
        if (i % 8 == 0)
            bits &= 0x800fffffffffffff; /* subnormal */
        double x;
        memcpy(&x, &bits, sizeof(x));
        if (!isfinite(x))
            continue;
        size_t n = (size_t)snprintf(text, sizeof(text), "%.*g", 15 + i % 5, x);
        check_text(text, n);
    }
}

TEST(floats_come_back_from_nine_digits_and_from_seventeen)
{
    char text[64];
    for (uint64_t bits = 0; bits < 1ull << 31; bits += 16381) {
        uint32_t word = (uint32_t)bits;
        float x;
        memcpy(&x, &word, sizeof(x));
        if (!isfinite(x))
            break;
        check_text(text, (size_t)snprintf(text, sizeof(text), "%.9g", (double)x));
        double back = strtod(text, NULL);
        assert_true((float)back == x);
        if (bits % 4 == 0)
            check_text(text, (size_t)snprintf(text, sizeof(text), "%.17g", (double)x));
    }
}

/* Halfway between two doubles, exactly, and a hair above and below it. */
static void check_halfway(double x)
{
    char text[1200];
    long double half = ((long double)x + (long double)nextafter(x, INFINITY)) / 2;
    size_t n = (size_t)snprintf(text, sizeof(text) - 64, "%.780Le", half);
    check_text(text, n);
    char *e = strchr(text, 'e'), *last = e - 1;
    while (*last == '0')
        last--;
    char exponent[32], was = *last;
    snprintf(exponent, sizeof(exponent), "%s", e);
    *last = (char)(was - 1); /* a hair below: …4999 instead of …5 */
    check_text(text, n);
    *last = was;
    memmove(e + 2, exponent, strlen(exponent) + 1);
    memcpy(e, "01", 2); /* a hair above, in a digit behind all the others */
    check_text(text, n + 2);
}

TEST(ties_go_to_the_even_one_and_hairs_decide)
{
    if (LDBL_MANT_DIG < 64)
        SKIP("long double cannot hold what is between two doubles");
    struct rng rng;
    rng_init(&rng, 7, 0);
    for (int i = 0; i < 4000; i++) {
        uint64_t bits = rng_u64(&rng) >> 1;
        if (i % 4 == 0)
            bits = (bits & 0x000fffffffffffff) | (uint64_t)(1023 + rng_below(&rng, 60)) << 52;
        else if (i % 4 == 1)
            bits &= 0x000fffffffffffff;
        double x;
        memcpy(&x, &bits, sizeof(x));
        if (isfinite(x) && x < 1e308)
            check_halfway(x);
    }
}

TEST(very_long_numbers_are_read_to_their_end)
{
    enum { LONG = 70000 };
    autofree(mem) char *text = xcalloc(LONG + 64, 1);
    memset(text, '0', LONG);
    text[1] = '.';
    memcpy(text + LONG, "7e69999", 8);
    check(text); /* 0.000…07e69999 */
    memset(text, '3', LONG);
    check(text);
    text[LONG / 2] = '.';
    memcpy(text + LONG, "e-34999", 8);
    check(text);
    memset(text, '0', LONG);
    memcpy(text, "9007199254740993", 16); /* a tie, and a 1 that is 70,000 digits away */
    memcpy(text + LONG, "1e-69985", 9);
    check(text);
}

TEST(nothing_behind_the_given_bytes_is_read)
{
    static const char digits[] = "-1234567890.12345678901234567890e-12";
    for (size_t n = 1; n < sizeof(digits); n++) {
        autofree(mem) char *exact = xmemdup(digits, n);
        autofree(mem) char *ended = xstrndup(digits, n);
        char *end = NULL;
        double want = strtod(ended, &end), x = 0;
        size_t used = 0;
        int r = decimal_parse(exact, n, &x, &used);
        assert_int_equal(r, end == ended ? -EINVAL : 0);
        assert_true(r < 0 || (x == want && used == (size_t)(end - ended)));
    }
}

TEST_MAIN
