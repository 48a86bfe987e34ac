/* SPDX-License-Identifier: MIT */
/*
 * stop_test.c — the median rule stops what is poor, and nothing too early.
 */
#include "search/stop.h"
#include "tests/test.h"

#include <math.h>

static const int64_t steps[] = {10, 20, 30, 40};
/* Six finished trials; their averages up to step 30 are 1, 2, … 6. */
static const double finished_values[6][4] = {
    {1, 1, 1, 0}, {3, 2, 1, 0}, {3, 3, 3, 0}, {5, 4, 3, 0}, {6, 5, 4, 0}, {6, 6, 6, 0},
};

static const struct stop_settings plain_settings = {.chance = NAN};

/* What the rule says of the last of the trials, which runs, after n_finished of the six. */
static enum stop_action judge(const char *rule, const struct curve *mine, size_t n_finished)
{
    struct stop_trial trials[7] = {0};
    struct stop_view view = {&plain_settings, trials, n_finished + 1, 0, -1, 1};
    struct stop_verdict verdict;

    for (size_t i = 0; i <= n_finished; i++) {
        trials[i].number = (int64_t)i + 1;
        trials[i].state = i < n_finished ? CURVE_COMPLETED : CURVE_RUNNING;
        trials[i].prior_mean = trials[i].prior_deviation = NAN;
        trials[i].curve = i < n_finished ? (struct curve){steps, finished_values[i], 4} : *mine;
    }
    stop_find(rule)->judge(&view, n_finished, &verdict);
    return verdict.action;
}

static bool verdict(const struct curve *mine, size_t n_finished)
{
    return judge("median", mine, n_finished) == STOP_END;
}

TEST(worse_than_the_median_of_the_running_averages_is_stopped)
{
    double poor[] = {9, 8, 3.6}, good[] = {9, 3.4, 8};
    struct curve worse = {steps, poor, 3}, better = {steps, good, 3};
    assert_true(verdict(&worse, 6));   /* the median is 3.5 */
    assert_false(verdict(&better, 6)); /* its best counts, not its last */
}

TEST(equal_to_the_median_goes_on)
{
    double values[] = {9, 8, 3.5};
    struct curve mine = {steps, values, 3};
    assert_false(verdict(&mine, 6));
}

TEST(steps_need_not_be_equal)
{
    int64_t odd[] = {3, 17, 33};
    double poor[] = {9, 8, 3.6}, good[] = {9, 8, 3.4};
    struct curve worse = {odd, poor, 3}, better = {odd, good, 3};
    assert_true(verdict(&worse, 6));
    assert_false(verdict(&better, 6));
}

TEST(nothing_is_stopped_before_three_values)
{
    double values[] = {100, 100, 100};
    struct curve mine = {steps, values, 2};
    assert_false(verdict(&mine, 6));
    mine.n = 0;
    assert_false(verdict(&mine, 6));
    mine.n = 3;
    assert_true(verdict(&mine, 6));
}

TEST(nothing_is_stopped_against_fewer_than_five)
{
    double values[] = {100, 100, 100};
    struct curve mine = {steps, values, 3};
    assert_false(verdict(&mine, 0));
    assert_false(verdict(&mine, 4));
    assert_true(verdict(&mine, 5));
}

TEST(trials_that_had_not_begun_by_that_step_do_not_count)
{
    int64_t early[] = {1, 2, 3};
    double values[] = {100, 100, 100};
    struct curve mine = {early, values, 3};
    assert_false(verdict(&mine, 6));
}

TEST(none_stops_nothing)
{
    double values[] = {100, 100, 100};
    struct curve mine = {steps, values, 3};
    assert_int_equal(judge("none", &mine, 6), STOP_GO_ON);
}

TEST(rules_are_found_by_name)
{
    assert_null(stop_find("curves"));
    assert_string_equal(stop_find("auto")->name, "curve");
    for (size_t i = 0; i < stop_count(); i++)
        assert_ptr_equal(stop_find(stop_at(i)->name), stop_at(i));
}

TEST_MAIN
