/* SPDX-License-Identifier: MIT */
/*
 * forest_test.c — what trees can learn, and what must not break them.
 */
#include "surrogate/forest.h"
#include "tests/test.h"

#include <math.h>

#define N 200

struct table {
    double x[N * 4], y[N];
    size_t n, d;
};

static struct forest *fit(const struct table *t, const size_t *categories, size_t trees,
                          bool bootstrap)
{
    struct forest_options options = {.trees = trees, .bootstrap = bootstrap};
    struct rng rng;
    rng_init(&rng, 11, 0);
    return forest_fit(t->x, t->y, NULL, t->n, t->d, categories, &options, &rng);
}

static double mean_at(const struct forest *forest, const double *x)
{
    double mean, deviation;
    forest_predict(forest, x, 1, &mean, &deviation);
    assert_true(isfinite(mean) && deviation >= 0);
    return mean;
}

static void fill(struct table *t, size_t d, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed, 0);
    t->n = N;
    t->d = d;
    for (size_t i = 0; i < N * d; i++)
        t->x[i] = rng_unit(&rng);
}

TEST(whole_trees_know_their_rows_by_heart)
{
    struct table t;
    double mean[N], deviation[N];
    fill(&t, 3, 1);
    for (size_t i = 0; i < N; i++)
        t.y[i] = sin(9 * t.x[i * 3]) + t.x[i * 3 + 1];
    autofree(forest) struct forest *forest = fit(&t, NULL, 5, false);
    forest_predict(forest, t.x, N, mean, deviation);
    for (size_t i = 0; i < N; i++)
        assert_true(fabs(mean[i] - t.y[i]) < 1e-10 && deviation[i] < 1e-10);
}

TEST(a_step_is_learned_and_the_deviation_is_largest_at_its_edge)
{
    struct table t;
    fill(&t, 2, 2);
    for (size_t i = 0; i < N; i++)
        t.y[i] = t.x[i * 2] > 0.5 ? 3 : -1;
    autofree(forest) struct forest *forest = fit(&t, NULL, 50, true);
    double low[2] = {0.2, 0.5}, high[2] = {0.8, 0.5}, edge[2] = {0.5, 0.5}, mean, far, near;
    assert_true(fabs(mean_at(forest, low) + 1) < 0.05);
    assert_true(fabs(mean_at(forest, high) - 3) < 0.05);
    forest_predict(forest, low, 1, &mean, &far);
    forest_predict(forest, edge, 1, &mean, &near);
    assert_true(near > 5 * far);
}

TEST(categories_are_split_by_subsets_whatever_their_order)
{
    struct table t;
    struct rng rng;
    rng_init(&rng, 3, 0);
    t.n = N;
    t.d = 1;
    for (size_t i = 0; i < N; i++) {
        t.x[i] = (double)rng_below(&rng, 8);
        t.y[i] = (size_t)t.x[i] % 2 ? 10 : 20;
    }
    autofree(forest) struct forest *forest = fit(&t, (size_t[]){8}, 10, true);
    for (double c = 0; c < 8; c++)
        assert_true(fabs(mean_at(forest, &c) - ((size_t)c % 2 ? 10 : 20)) < 1);
}

TEST(ten_thousand_categories_are_learned_where_they_were_seen)
{
    struct table t;
    t.n = N;
    t.d = 1;
    for (size_t i = 0; i < N; i++) {
        t.x[i] = (double)(i * 49);
        t.y[i] = i < 100 ? 0 : 1;
    }
    autofree(forest) struct forest *forest = fit(&t, (size_t[]){10000}, 5, false);
    for (size_t i = 0; i < N; i++)
        assert_true(fabs(mean_at(forest, &t.x[i]) - t.y[i]) < 1e-9);
    double unseen = 9999;
    mean_at(forest, &unseen);
}

/* x0 decides whether x1 is active; active ones are worth x1, inactive ones 5. */
static void fill_conditional(struct table *t)
{
    fill(t, 2, 4);
    for (size_t i = 0; i < N; i++) {
        double *x = t->x + i * 2;
        x[0] = x[0] > 0.5;
        if (x[0] == 0)
            x[1] = NAN;
        t->y[i] = x[0] == 0 ? 5 : x[1];
    }
}

TEST(inactive_rows_go_their_own_way)
{
    struct table t;
    fill_conditional(&t);
    for (int categorical = 0; categorical < 2; categorical++) {
        size_t categories[2] = {categorical ? 2 : 0, 0};
        autofree(forest) struct forest *forest = fit(&t, categories, 20, true);
        assert_true(fabs(mean_at(forest, (double[]){0, NAN}) - 5) < 0.1);
        assert_true(fabs(mean_at(forest, (double[]){1, 0.3}) - 0.3) < 0.1);
        assert_true(fabs(mean_at(forest, (double[]){1, 0.9}) - 0.9) < 0.1);
    }
}

/* By a feature that says nothing but whether it is active, a number or one of many categories. */
TEST(being_inactive_is_a_split_of_its_own)
{
    for (size_t categories = 0; categories < 200; categories += 99) {
        struct table t;
        size_t seen = 0;
        fill(&t, 1, 5);
        for (size_t i = 0; i < N; i++) {
            seen = t.x[i] < 0.5 ? seen : i;
            t.x[i] = t.x[i] < 0.5 ? NAN : floor(t.x[i] * 50);
            t.y[i] = isnan(t.x[i]) ? 1 : -1;
        }
        autofree(forest) struct forest *forest = fit(&t, &categories, 10, false);
        assert_true(fabs(mean_at(forest, (double[]){NAN}) - 1) < 1e-9);
        assert_true(fabs(mean_at(forest, &t.x[seen]) + 1) < 1e-9);
    }
}

TEST(weights_pull_the_mean)
{
    double x[4] = {0, 0, 0, 0}, y[4] = {1, 1, 1, 9}, w[4] = {1, 1, 1, 3}, mean, deviation;
    struct rng rng;
    rng_init(&rng, 1, 0);
    autofree(forest) struct forest *forest =
        forest_fit(x, y, w, 4, 1, NULL, &(struct forest_options){.trees = 3}, &rng);
    forest_predict(forest, x, 1, &mean, &deviation);
    assert_true(fabs(mean - 5) < 1e-12 && fabs(deviation - 4) < 1e-12);
}

TEST(the_smallest_leaf_has_as_many_rows_as_asked)
{
    struct table t;
    struct rng rng;
    double mean[N], deviation[N];
    fill(&t, 2, 6);
    for (size_t i = 0; i < N; i++)
        t.y[i] = (double)i;
    rng_init(&rng, 1, 0);
    autofree(forest) struct forest *forest = forest_fit(
        t.x, t.y, NULL, N, 2, NULL, &(struct forest_options){.trees = 1, .min_leaf = 10}, &rng);
    forest_predict(forest, t.x, N, mean, deviation);
    for (size_t i = 0; i < N; i++) {
        size_t same = 0;
        for (size_t k = 0; k < N; k++)
            same += mean[k] == mean[i];
        assert_true(same >= 10);
    }
}

TEST(odd_tables_give_sane_forests)
{
    struct table t = {.x = {1, 1, 1}, .y = {2, 4, 6}, .n = 3, .d = 1}; /* identical points */
    autofree(forest) struct forest *same = fit(&t, NULL, 10, false);
    assert_true(fabs(mean_at(same, t.x) - 4) < 1e-12);
    t.n = 1;
    autofree(forest) struct forest *one = fit(&t, NULL, 10, true);
    assert_true(fabs(mean_at(one, t.x) - 2) < 1e-12);
    t.d = 0;
    autofree(forest) struct forest *none = fit(&t, NULL, 10, true);
    assert_true(fabs(mean_at(none, t.x) - 2) < 1e-12);

    struct table far = {.x = {0, 1, 2, 3}, .y = {1e300, -1e300, 1e300, -1.7e308}, .n = 4, .d = 1};
    autofree(forest) struct forest *huge = fit(&far, NULL, 10, true);
    mean_at(huge, far.x);
    struct table near = {.x = {0, 1, 2, 3}, .y = {1e-300, 2e-300, 3e-300, 4e-300}, .n = 4, .d = 1};
    autofree(forest) struct forest *tiny = fit(&near, NULL, 10, false);
    assert_true(fabs(mean_at(tiny, near.x + 2) / 3e-300 - 1) < 1e-9);
    struct table all = {.x = {NAN, NAN, NAN, NAN}, .y = {1, 2, 3, 4}, .n = 4, .d = 1};
    autofree(forest) struct forest *inactive = fit(&all, NULL, 10, false);
    assert_true(fabs(mean_at(inactive, all.x) - 2.5) < 1e-12);
}

TEST(the_same_numbers_grow_the_same_forest)
{
    struct table t;
    double a[N], b[N], da[N], db[N];
    fill_conditional(&t);
    autofree(forest) struct forest *one = fit(&t, NULL, 10, true), *two = fit(&t, NULL, 10, true);
    forest_predict(one, t.x, N, a, da);
    forest_predict(two, t.x, N, b, db);
    assert_memory_equal(a, b, sizeof(a));
    assert_memory_equal(da, db, sizeof(da));
}

TEST(gain_tells_the_feature_that_matters)
{
    struct table t;
    double gain[4];
    fill(&t, 4, 8);
    for (size_t i = 0; i < N; i++)
        t.y[i] = 10 * t.x[i * 4 + 2] + 5 * t.x[i * 4];
    autofree(forest) struct forest *forest = fit(&t, NULL, 10, true);
    forest_gain(forest, gain);
    assert_true(gain[2] > 2 * gain[0] && gain[0] > 2 * gain[1] && gain[0] > 2 * gain[3]);
}

TEST_MAIN
