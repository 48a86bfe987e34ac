/* SPDX-License-Identifier: MIT */
/*
 * stop_rung_test.c — asha and hyperband: who pauses at a rung, who is woken, who is given up, and
 * where the brackets are.
 */
#include "search/stop.h"
#include "tests/test.h"

#include <math.h>

#define TRIALS 40
#define STEPS  300

static int64_t steps[STEPS];
static double values[TRIALS][STEPS];
static struct stop_trial trials[TRIALS];
static struct stop_settings settings;
static struct stop_view view;

/* n trials; trial i (from 0) has the value i at every step and has reported `reached` of them. */
static void fill(size_t n, size_t reached, enum curve_state state)
{
    settings = (struct stop_settings){.chance = NAN};
    view = (struct stop_view){&settings, trials, n, 0, -1, 1};
    for (size_t t = 0; t < STEPS; t++)
        steps[t] = (int64_t)t + 1;
    for (size_t i = 0; i < n; i++) {
        for (size_t t = 0; t < STEPS; t++)
            values[i][t] = (double)i;
        trials[i] = (struct stop_trial){.number = (int64_t)i + 1,
                                        .state = state,
                                        .curve = {steps, values[i], reached},
                                        .prior_mean = NAN,
                                        .prior_deviation = NAN};
    }
}

static enum stop_action judge(const char *rule, size_t mine)
{
    struct stop_verdict verdict;
    stop_find(rule)->judge(&view, mine, &verdict);
    return verdict.action;
}

TEST(at_a_rung_one_in_four_goes_on)
{
    fill(8, 4, CURVE_PAUSED);
    for (size_t i = 0; i < 8; i++) {
        trials[i].state = CURVE_RUNNING;
        assert_int_equal(judge("asha", i), i < 2 ? STOP_GO_ON : STOP_PAUSE);
        trials[i].state = CURVE_PAUSED;
    }
}

TEST(between_rungs_nothing_is_judged)
{
    fill(8, 5, CURVE_RUNNING);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(judge("asha", i), STOP_GO_ON);
}

TEST(rungs_passed_in_one_report_are_judged_together)
{
    fill(8, 7, CURVE_RUNNING);
    trials[7].judged = 3; /* rung 4 lies between */
    assert_int_equal(judge("asha", 7), STOP_PAUSE);
    trials[7].judged = 4;
    assert_int_equal(judge("asha", 7), STOP_GO_ON);
    trials[7].judged = INT64_MIN;
    assert_int_equal(judge("asha", 7), STOP_PAUSE);
}

TEST(the_stopping_form_ends_and_lets_the_first_go_on)
{
    fill(1, 4, CURVE_RUNNING);
    settings.end = true;
    assert_int_equal(judge("asha", 0), STOP_GO_ON);
    fill(2, 4, CURVE_RUNNING);
    settings.end = true;
    assert_int_equal(judge("asha", 0), STOP_GO_ON);
    assert_int_equal(judge("asha", 1), STOP_END);
}

TEST(the_highest_rung_is_served_first)
{
    fill(20, 1, CURVE_PAUSED);
    for (size_t i = 4; i < 8; i++)
        trials[i].curve.n = 4;
    assert_int_equal(stop_find("asha")->promote(&view), 4); /* best of four at rung 4 */
    trials[4].state = CURVE_RUNNING;
    assert_int_equal(stop_find("asha")->promote(&view), 0); /* then the best five at rung 1 */
    for (size_t i = 0; i < 4; i++)
        trials[i].state = CURVE_RUNNING;
    assert_int_equal(stop_find("asha")->promote(&view), -1); /* the fifth runs: number 5 */
}

TEST(without_trials_to_come_somebody_climbs_on)
{
    fill(3, 4, CURVE_PAUSED);
    assert_int_equal(stop_find("asha")->promote(&view), -1);
    view.trials_left = 0;
    assert_int_equal(stop_find("asha")->promote(&view), 0);
}

TEST(the_one_that_came_least_far_is_given_up)
{
    fill(6, 4, CURVE_PAUSED);
    assert_int_equal(stop_find("asha")->give_up(&view), 5);
    trials[2].curve.n = 1;
    assert_int_equal(stop_find("asha")->give_up(&view), 2);
    for (size_t i = 0; i < 6; i++)
        trials[i].state = CURVE_RUNNING;
    assert_int_equal(stop_find("asha")->give_up(&view), -1);
}

TEST(a_whole_run_has_no_rung_at_its_end)
{
    fill(8, 64, CURVE_RUNNING);
    trials[7].judged = 63;
    assert_int_equal(judge("asha", 7), STOP_PAUSE);
    settings.max_step = 64;
    assert_int_equal(judge("asha", 7), STOP_GO_ON);
}

TEST(settings_move_the_rungs)
{
    fill(9, 10, CURVE_RUNNING);
    settings.min_step = 10;
    settings.eta = 3;
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(judge("asha", i), i < 3 ? STOP_GO_ON : STOP_PAUSE);
}

/* The first step at which the last of many equal trials is not let through, for each number. */
static int64_t first_judged(int64_t number, size_t longest)
{
    trials[TRIALS - 1].number = number;
    for (size_t n = 1; n <= longest; n++) {
        for (size_t i = 0; i < TRIALS; i++) {
            trials[i].number = number; /* all in the same bracket */
            trials[i].curve.n = n;
        }
        if (judge("hyperband", TRIALS - 1) != STOP_GO_ON)
            return (int64_t)n;
    }
    return 0;
}

/* In floating point log(243)/log(3) is below 5, and the bracket that starts at 1 is lost. */
TEST(hyperband_has_all_its_brackets)
{
    int64_t rungs[] = {1, 3, 9, 27, 81, 0};
    size_t seen[6] = {0};
    fill(TRIALS, 1, CURVE_RUNNING);
    settings.max_step = 243;
    for (int64_t number = 1; number <= 421; number++) {
        int64_t step = first_judged(number, 242);
        for (size_t s = 0; s < 6; s++)
            seen[s] += step == rungs[s];
    }
    /* n_s = ⌈6·3^s/(s+1)⌉ for s = 5 … 0 */
    size_t wanted[] = {243, 98, 41, 18, 9, 6};
    size_t total = 0;
    for (size_t s = 0; s < 6; s++)
        total += wanted[s];
    for (size_t s = 0; s < 6; s++)
        assert_true(fabs((double)seen[s] - 421.0 * (double)wanted[s] / (double)total) < 7);
}

TEST(hyperband_waits_until_a_whole_run_is_known)
{
    fill(TRIALS, 1, CURVE_RUNNING);
    assert_int_equal(judge("hyperband", TRIALS - 1), STOP_GO_ON);
    trials[0].state = CURVE_COMPLETED;
    trials[0].curve.n = 81;
    size_t paused = 0;
    for (size_t i = 1; i < TRIALS; i++)
        paused += judge("hyperband", i) == STOP_PAUSE;
    assert_true(paused > TRIALS / 3 && paused < TRIALS);
    settings.max_step = INT64_MAX;
    settings.eta = INT64_MAX;
    for (size_t i = 1; i < TRIALS; i++)
        judge("hyperband", i);
    assert_true(stop_find("hyperband")->promote(&view) >= -1);
}

TEST(hyperband_wakes_the_best_of_a_bracket)
{
    fill(TRIALS, 1, CURVE_PAUSED);
    settings.max_step = 3; /* brackets at 1, and at the end */
    ptrdiff_t first = stop_find("hyperband")->promote(&view);
    assert_true(first >= 0 && first < TRIALS / 2);
    trials[first].state = CURVE_RUNNING;
    ptrdiff_t second = stop_find("hyperband")->promote(&view);
    assert_true(second > first);
}

TEST_MAIN
