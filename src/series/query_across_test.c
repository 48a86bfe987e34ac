/* SPDX-License-Identifier: MIT */
/*
 * query_across_test.c — many trials as one, and figures of many values.
 */
#include "series/query.h"

#include "tests/test.h"

#include <float.h>
#include <math.h>

static void add_trial(struct query_across *across, const double *x, const double *y, size_t n,
                      enum query_take take)
{
    struct query_view view = {0, 9, 10};
    autofree(query_chart) struct query_chart *chart = query_chart_new(&view);
    query_chart_feed(chart, x, y, n);
    query_across_add(across, chart, take);
}

TEST(trials_count_only_inside_their_own_range)
{
    autofree(query_across) struct query_across *across = query_across_new(10);
    double values[3];
    add_trial(across, (const double[]){1, 1, 4}, (const double[]){10, 20, 30}, 3, QUERY_MEAN);
    add_trial(across, (const double[]){0, 3, 5, 8}, (const double[]){1, 2, NAN, 3}, 4, QUERY_MEAN);
    add_trial(across, (const double[]){2}, (const double[]){5}, 1, QUERY_MEAN);
    static const struct {
        size_t n;
        double values[3];
    } expected[10] = {
        {1, {1}},     {2, {1, 15}}, {3, {1, 5, 15}}, {2, {2, 15}},
        {2, {2, 30}}, {0, {0}}, /* NaN there, and the first has ended */
        {0, {0}},     {0, {0}},     {1, {3}},        {0, {0}},
    };
    assert_int_equal(query_across_trials(across), 3);
    for (size_t c = 0; c < 10; c++) {
        assert_int_equal(query_across_values(across, c, values), expected[c].n);
        for (size_t i = 0; i < expected[c].n; i++)
            assert_true(values[i] == expected[c].values[i]);
    }
}

TEST(what_a_trial_was_in_a_column_is_chosen)
{
    static const double expected[] = {
        [QUERY_MEAN] = 4, [QUERY_LAST] = 1, [QUERY_MIN] = 1, [QUERY_MAX] = 9};
    for (enum query_take take = QUERY_MEAN; take <= QUERY_MAX; take++) {
        autofree(query_across) struct query_across *across = query_across_new(10);
        double value;
        add_trial(across, (const double[]){5, 5, 5}, (const double[]){2, 9, 1}, 3, take);
        assert_int_equal(query_across_values(across, 5, &value), 1);
        assert_true(value == expected[take]);
    }
}

TEST(summaries_are_those_of_the_textbook)
{
    const double sorted[] = {1, 2, 4, 9};
    struct query_summary summary;
    query_summarise(sorted, 4, &summary);
    assert_true(summary.n == 4 && summary.mean == 4 && summary.min == 1 && summary.max == 9);
    assert_true(summary.median == 3 && fabs(summary.deviation - sqrt(38 / 3.0)) < 1e-12);
    assert_true(query_quantile(sorted, 4, 0) == 1 && query_quantile(sorted, 4, 1) == 9);
    assert_true(fabs(query_quantile(sorted, 4, 0.25) - 1.75) < 1e-12);
    assert_true(fabs(query_quantile(sorted, 4, 0.9) - 7.5) < 1e-12);
    query_summarise(sorted, 1, &summary);
    assert_true(summary.mean == 1 && summary.median == 1 && isnan(summary.deviation));
    query_summarise(sorted, 0, &summary);
    assert_true(summary.n == 0 && isnan(summary.mean) && isnan(summary.median));
    const double huge[] = {DBL_MAX, DBL_MAX, DBL_MAX};
    query_summarise(huge, 3, &summary);
    assert_true(summary.mean == DBL_MAX && summary.median == DBL_MAX);
}

TEST(the_bootstrap_holds_the_mean_as_often_as_it_says)
{
    enum { N = 40, ROUNDS = 300 };
    struct rng rng;
    int held = 0;
    double low = 0, high = 0, again, values[N];
    rng_init(&rng, 8, 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < N; i++)
            values[i] = 3 + rng_normal(&rng);
        struct rng copy = rng;
        query_bootstrap(values, N, 0.9, 200, &rng, &low, &high);
        query_bootstrap(values, N, 0.9, 200, &copy, &again, &again);
        assert_true(again == high && low < high);
        held += low <= 3 && 3 <= high;
    }
    assert_in_range(held, ROUNDS * 83 / 100, ROUNDS * 95 / 100);
    query_bootstrap(values, 0, 0.9, 10, &rng, &low, &high);
    assert_true(isnan(low) && isnan(high));
    query_bootstrap(values, 1, 0.9, 10, &rng, &low, &high);
    assert_true(low == values[0] && high == values[0]);
}

TEST_MAIN
