/* SPDX-License-Identifier: MIT */
/*
 * importance_test.c — what is found to matter in results whose making is known.
 */
#include "base/rng.h"
#include "model/test_space.h"
#include "search/importance.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

#define N_MAX 200

struct runs {
    struct space space;
    double points[N_MAX * 8], values[N_MAX];
    size_t n;
    struct importance got;
};

/* Random settings and the value that `made` gives each. */
static void run(struct runs *runs, size_t n, double (*made)(const double *x, struct rng *rng))
{
    struct rng rng;
    rng_init(&rng, 5, n);
    runs->n = n;
    for (size_t i = 0; i < n; i++) {
        double *x = runs->points + i * runs->space.n;
        for (size_t k = 0; k < runs->space.n; k++)
            x[k] = param_from_unit(&runs->space.params[k], rng_unit(&rng));
        space_settle(&runs->space, x);
        runs->values[i] = made(x, &rng);
    }
    assert_int_equal(importance_measure(&runs->space, runs->points, runs->values, n, &runs->got),
                     0);
}

static void finish(struct runs *runs)
{
    for (size_t i = 0; i < runs->space.n; i++) {
        struct param_share s = runs->got.params[i];
        assert_true(0 <= s.low && s.low <= s.share && s.share <= s.high && s.high <= 1);
    }
    for (size_t p = 0; p + 1 < runs->got.n_pairs; p++)
        assert_true(runs->got.pairs[p].share.share >= runs->got.pairs[p + 1].share.share);
    importance_release(&runs->got);
    space_release(&runs->space);
}

static double by_rate(const double *x, struct rng *rng)
{
    return pow(log10(x[0]) + 3, 2) + 0.1 * rng_normal(rng);
}

TEST(the_parameter_that_makes_the_results_has_nearly_all_of_the_spread)
{
    struct runs runs = {0};
    space_add(&runs.space, param_number(PARAM_FLOAT, SCALE_LOG, 1e-5, 1e-1, 0));
    space_add(&runs.space, CHOICE("7"));
    space_add(&runs.space, CHOICE("a", "b", "c"));
    space_add(&runs.space, param_int(1, 4));
    run(&runs, 60, by_rate);
    assert_true(runs.got.params[0].share > 0.6 && runs.got.params[0].low > 0.4);
    assert_true(runs.got.params[1].share == 0);
    assert_true(runs.got.params[2].share < 0.05 && runs.got.params[3].share < 0.05);
    assert_true(runs.got.explained > 0.7);
    finish(&runs);
}

/* Ten at random, then all near the best, as a search does: there the second matters more. */
TEST(where_the_search_looked_most_does_not_decide_what_mattered)
{
    for (size_t n = 20; n <= 100; n += 40) {
        struct runs runs = {0};
        struct rng rng;
        space_add(&runs.space, param_number(PARAM_FLOAT, SCALE_LOG, 1e-4, 1, 0));
        space_add(&runs.space, param_int(1, 128));
        rng_init(&rng, 3, n);
        for (size_t i = 0; i < n; i++) {
            double *x = runs.points + 2 * i;
            double near = i < 10 ? rng_unit(&rng) : 0.5 + 0.01 * (rng_unit(&rng) - 0.5);
            x[0] = param_from_unit(&runs.space.params[0], near);
            x[1] = param_from_unit(&runs.space.params[1], rng_unit(&rng));
            runs.values[i] = fabs(log10(x[0]) + 2) + x[1] / 1000;
        }
        assert_int_equal(importance_measure(&runs.space, runs.points, runs.values, n, &runs.got),
                         0);
        assert_true(runs.got.params[0].share > 0.4);
        assert_true(runs.got.params[1].share < 0.1);
        finish(&runs);
    }
}

TEST(a_few_results_leave_open_how_much_matters)
{
    struct runs runs = {0};
    space_add(&runs.space, param_number(PARAM_FLOAT, SCALE_LOG, 1e-5, 1e-1, 0));
    space_add(&runs.space, param_float(0, 1));
    run(&runs, 8, by_rate);
    assert_true(runs.got.params[0].high > 0.1);
    finish(&runs);
}

static double by_chance(const double *x UNUSED, struct rng *rng)
{
    return rng_normal(rng);
}

TEST(pure_chance_explains_nothing)
{
    for (size_t n = 8; n <= N_MAX; n += 32) {
        struct runs runs = {0};
        for (int i = 0; i < 5; i++)
            space_add(&runs.space, param_float(0, 1));
        run(&runs, n, by_chance);
        for (int i = 0; i < 5; i++)
            assert_true(runs.got.params[i].share < 0.1);
        finish(&runs);
    }
}

static double by_both(const double *x, struct rng *rng)
{
    return (x[0] == 1) ^ (x[2] > 0.5) ? 1 : rng_unit(rng) * 0.1;
}

TEST(two_that_matter_only_together_are_the_first_pair)
{
    struct runs runs = {0};
    space_add(&runs.space, CHOICE("a", "b"));
    space_add(&runs.space, param_float(0, 1));
    space_add(&runs.space, param_float(0, 1));
    run(&runs, 150, by_both);
    assert_int_equal(runs.got.n_pairs, 3);
    assert_int_equal(runs.got.pairs[0].a, 0);
    assert_int_equal(runs.got.pairs[0].b, 2);
    assert_true(runs.got.pairs[0].share.share > 0.4);
    assert_true(runs.got.params[0].share < 0.15 && runs.got.params[1].share < 0.1);
    finish(&runs);
}

static double by_momentum(const double *x, struct rng *rng)
{
    return (isnan(x[1]) ? 0.5 : x[1]) + 0.01 * rng_unit(rng);
}

TEST(a_conditional_parameter_counts_where_it_is_active)
{
    struct runs runs = {0};
    space_add(&runs.space, CHOICE("sgd", "adam"));
    space_add(&runs.space, param_float(0, 1));
    space_when(&runs.space, 0, 0, 0);
    space_add(&runs.space, param_float(0, 1));
    run(&runs, 120, by_momentum);
    assert_true(runs.got.params[1].share > 0.5);
    assert_true(runs.got.params[2].share < 0.05);
    finish(&runs);
}

static double with_a_disaster(const double *x, struct rng *rng)
{
    return x[0] + (rng_unit(rng) < 0.05 ? 1e300 : 0);
}

TEST(a_diverged_trial_does_not_drown_the_rest)
{
    struct runs runs = {0};
    space_add(&runs.space, param_float(0, 1));
    space_add(&runs.space, param_float(0, 1));
    run(&runs, 80, with_a_disaster);
    assert_true(runs.got.params[0].share > 0.5);
    finish(&runs);
}

static double always_three(const double *x UNUSED, struct rng *rng UNUSED)
{
    return 3;
}

TEST(odd_results_give_zeros_or_no_answer)
{
    struct runs runs = {0};
    space_add(&runs.space, param_float(0, 1));
    space_add(&runs.space, param_int(1, 1));
    run(&runs, 20, always_three);
    assert_true(runs.got.params[0].share == 0 && runs.got.params[1].share == 0);
    double share[2];
    assert_int_equal(importance(&runs.space, runs.points, runs.values, 7, share), -ENODATA);
    assert_int_equal(importance(&runs.space, runs.points, runs.values, 8, share), 0);
    finish(&runs);

    struct runs empty = {0};
    run(&empty, 10, always_three);
    finish(&empty);
}

TEST(the_same_results_matter_the_same)
{
    struct runs a = {0}, b = {0};
    for (int i = 0; i < 8; i++) {
        space_add(&a.space, param_float(0, 1));
        space_add(&b.space, param_float(0, 1));
    }
    run(&a, N_MAX, with_a_disaster);
    run(&b, N_MAX, with_a_disaster);
    assert_memory_equal(a.got.params, b.got.params, 8 * sizeof(*a.got.params));
    assert_int_equal(a.got.n_pairs, 28);
    assert_memory_equal(a.got.pairs, b.got.pairs, 28 * sizeof(*a.got.pairs));
    finish(&a);
    finish(&b);
}

TEST_MAIN
