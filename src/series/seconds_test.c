/* SPDX-License-Identifier: MIT */
/*
 * seconds_test.c — seconds are the nearest doubles, by whichever way.
 */
#include "series/seconds.h"
#include "base/rng.h"
#include "base/wide.h"
#include "tests/test.h"

#include <math.h>

#define SECOND INT64_C(1000000000)

/* No other double is closer: by whole numbers of 2^-29 s, of which each from 2^23 s on is made. */
static bool is_nearest(double x, int64_t ns)
{
    int exponent;
    frexp(x, &exponent);
    __int128 unit = (__int128)1 << (exponent - 53 + 29);
    __int128 off = (__int128)ldexp(x, 29) * SECOND - ((__int128)ns << 29);

    return (off < 0 ? -off : off) * 2 <= unit * SECOND;
}

TEST(a_time_becomes_the_nearest_double)
{
    struct rng rng;

    rng_init(&rng, 5, 0);
    for (int i = 0; i < 200000; i++) {
        int64_t ns = (INT64_C(1) << 53) +
                     (int64_t)(rng_u64(&rng) >> (1 + rng_below(&rng, 9)) & INT64_MAX) / 2;
        double x = seconds_of(ns);
        assert_true(is_nearest(x, ns));
        assert_true(seconds_of(-ns) == -x);
    }
}

TEST(milliseconds_are_as_their_decimal_text)
{
    for (int64_t ms = 1700000000000; ms < 1700000100000; ms += 7)
        assert_true(seconds_of(ms * 1000000) == (double)(ms / 1000) + (double)(ms % 1000) / 1e3);
    assert_true(seconds_of(1700000000602000000) == 1700000000.602);
    assert_true(seconds_of(0) == 0);
    assert_true(seconds_of(1500000000) == 1.5);
    assert_true(seconds_of(-1500000000) == -1.5);
}

TEST(all_at_once_are_as_one_by_one)
{
    const int64_t edges[] = {0,           1, -1, INT64_MAX - 2, INT64_MIN + 2, INT64_C(1) << 53,
                             SECOND << 32};
    int64_t ns[67];
    double wide[67];
    struct rng rng;

    rng_init(&rng, 6, 0);
    for (int round = 0; round < 30000; round++) {
        wide_limit((unsigned)round % 3 * 256);
        size_t n = rng_below(&rng, ARRAY_LEN(ns));
        for (size_t i = 0; i < n; i++)
            ns[i] = round / 3 % 3 ? 1700000000 * SECOND + (int64_t)rng_below(&rng, 1000000000000)
                                  : (int64_t)(rng_u64(&rng) >> rng_below(&rng, 64));
        if (n && round % 2)
            ns[rng_below(&rng, n)] =
                edges[rng_below(&rng, ARRAY_LEN(edges))] - 2 + (int64_t)rng_below(&rng, 5);
        seconds_of_all(ns, n, wide);
        for (size_t i = 0; i < n; i++)
            assert_true(wide[i] == seconds_of(ns[i]));
    }
}

TEST_MAIN
