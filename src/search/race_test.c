/* SPDX-License-Identifier: MIT */
/*
 * race_test.c — the signed-rank test against counted and published numbers.
 */
#include "search/stop.h"
#include "tests/test.h"

#include <math.h>

static void check_near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance))
        fail_msg("%.10g, wanted %.10g", got, wanted);
}

TEST(five_of_five_worse_is_one_in_thirty_two)
{
    double best[] = {1, 2, 3, 4, 5}, mine[] = {1.1, 2.2, 3.3, 4.4, 5.5};
    check_near(race_worse(mine, best, 5), 1.0 / 32, 0);
    check_near(race_worse(best, mine, 5), 1, 0);
}

/* Plants of Darwin's as Wilcoxon's test is shown on them: n = 15, sum of the negative ranks 24;
 * one-sided P(W+ ≥ 96) = 0.0206 (exact). */
TEST(darwins_plants)
{
    static const double d[] = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};
    double zero[15] = {0};
    check_near(race_worse(d, zero, 15), 0.0206, 0.0001);
}

TEST(ties_share_their_rank)
{
    /* Doubled ranks 3, 3, 6: of the eight sums 0 3 3 6 6 9 9 12, four are at least 6 … */
    double mine[] = {1, -1, 2}, best[] = {0, 0, 0};
    check_near(race_worse(mine, best, 3), 3.0 / 8, 0); /* … and three at least 9 */
}

/* The share of the signs of ranks 1 … n that sum to at least `sum`. */
static double counted(size_t n, size_t sum)
{
    double ways[400] = {1}, tail = 0, all = ldexp(1, (int)n);
    for (size_t rank = 1; rank <= n; rank++)
        for (size_t s = 399; s >= rank; s--)
            ways[s] += ways[s - rank];
    for (size_t s = sum; s < 400; s++)
        tail += ways[s];
    return tail / all;
}

TEST(the_normal_approximation_is_near_the_count)
{
    double mine[26], best[26] = {0};
    for (size_t n = 24; n <= 26; n++) {
        size_t sum = 0;
        for (size_t i = 0; i < n; i++) {
            mine[i] = (double)(i + 1) * (i % 3 ? 1 : -1);
            sum += i % 3 ? i + 1 : 0;
        }
        check_near(race_worse(mine, best, n), counted(n, sum), n <= 25 ? 1e-12 : 0.001);
    }
}

TEST(too_few_pairs_say_nothing)
{
    double mine[] = {9, NAN, 5, INFINITY}, best[] = {1, 1, 5, NAN};
    assert_true(race_worse(mine, best, 0) == 1);
    assert_true(race_worse(mine, best, 4) == 1); /* one pair is left: the others tie or lack */
}

TEST(sizes_do_not_overflow)
{
    double mine[] = {1e308, 1e308, INFINITY, 1e-308, 5}, best[] = {-1e308, 0, 1, 0, 4};
    check_near(race_worse(mine, best, 5), 1.0 / 32, 0);
    check_near(race_worse(best, mine, 5), 1, 0);
}

TEST_MAIN
