/* SPDX-License-Identifier: MIT */
/*
 * stop_curve_test.c — the default rule: what it ends, what it spares, what it answers to nonsense.
 */
#include "search/stop.h"
#include "base/rng.h"
#include "tests/cpu.h"
#include "tests/test.h"

#include <math.h>

#define MOST  400
#define STEPS 50

static int64_t steps[STEPS];
static double values[MOST][STEPS], second[MOST][STEPS];
static struct curve others[MOST];
static struct stop_trial trials[MOST];
static struct stop_settings settings;
static struct stop_view view;

static void curve_to(double *ret, double end, double scale)
{
    for (size_t t = 0; t < STEPS; t++)
        ret[t] = end + scale / (double)(t + 1);
}

/* n trials of which all but the last have completed; their ends are 1, 1.1, 1.2, … */
static void fill(size_t n)
{
    settings = (struct stop_settings){.chance = NAN};
    view = (struct stop_view){&settings, trials, n, 0, -1, 1};
    for (size_t t = 0; t < STEPS; t++)
        steps[t] = (int64_t)t + 1;
    for (size_t i = 0; i < n; i++) {
        curve_to(values[i], 1 + 0.1 * (double)i, 1 + 0.2 * (double)(i % 3));
        curve_to(second[i], 2 - 0.1 * (double)(i % 10), 1 + 0.2 * (double)(i % 4));
        others[i] = (struct curve){steps, second[i], STEPS};
        trials[i] = (struct stop_trial){.number = (int64_t)i + 1,
                                        .state = CURVE_COMPLETED,
                                        .curve = {steps, values[i], STEPS},
                                        .prior_mean = NAN,
                                        .prior_deviation = NAN,
                                        .others = &others[i]};
    }
    trials[n - 1].state = CURVE_RUNNING;
}

static struct stop_verdict judge_at(size_t step)
{
    struct stop_verdict verdict;
    trials[view.n - 1].curve.n = step;
    others[view.n - 1].n = step;
    stop_find("curve")->judge(&view, view.n - 1, &verdict);
    return verdict;
}

TEST(a_hopeless_trial_is_ended_with_its_numbers)
{
    fill(12);
    curve_to(values[11], 5, 1);
    struct stop_verdict verdict = judge_at(20);
    assert_int_equal(verdict.action, STOP_END);
    assert_int_equal(verdict.step, 20);
    assert_true(fabs(verdict.mean - 5) < 0.2);
    assert_true(verdict.deviation > 0 && verdict.deviation < 0.5);
    assert_true(verdict.chance >= 0 && verdict.chance < verdict.threshold);
    assert_true(verdict.threshold < 0.05);
}

TEST(a_good_one_goes_on_at_every_step)
{
    fill(12);
    curve_to(values[11], 0.9, 1.3);
    for (size_t n = 0; n < STEPS; n++)
        assert_int_equal(judge_at(n).action, STOP_GO_ON);
    assert_true(judge_at(30).chance > 0.5);
}

TEST(a_slow_one_that_still_falls_is_spared)
{
    fill(12);
    for (size_t t = 0; t < STEPS; t++)
        values[11][t] = 4 - 0.8 * log((double)t + 1); /* ends at 0.87 */
    for (size_t n = 0; n < STEPS; n++)
        assert_int_equal(judge_at(n).action, STOP_GO_ON);
}

TEST(nothing_is_judged_before_five_have_completed)
{
    for (size_t n = 1; n <= 6; n++) {
        fill(n);
        curve_to(values[n - 1], 50, 1);
        assert_int_equal(judge_at(20).action, n == 6 ? STOP_END : STOP_GO_ON);
    }
    fill(12); /* without intermediate values there is nothing to learn from */
    for (size_t i = 0; i < 11; i++) {
        trials[i].curve.values += STEPS - 1;
        trials[i].curve.steps += STEPS - 1;
        trials[i].curve.n = 1;
    }
    curve_to(values[11], 50, 1);
    assert_int_equal(judge_at(20).action, STOP_GO_ON);
}

TEST(stopped_trials_do_not_count_as_completed)
{
    fill(12);
    for (size_t i = 0; i < 8; i++)
        trials[i].state = i % 2 ? CURVE_STOPPED : CURVE_PAUSED;
    curve_to(values[11], 50, 1);
    assert_int_equal(judge_at(20).action, STOP_GO_ON);
}

TEST(a_larger_chance_ends_earlier)
{
    size_t before = 0;
    static const double chances[] = {0.3, 0.05, 0.001};
    for (size_t k = 0; k < ARRAY_LEN(chances); k++) {
        size_t n = 1;
        fill(12);
        curve_to(values[11], 1.6, 1);
        settings.chance = chances[k];
        while (n < STEPS && judge_at(n).action == STOP_GO_ON)
            n++;
        assert_true(n >= before);
        before = n;
    }
}

TEST(steps_may_start_anywhere_and_be_odd)
{
    static int64_t odd[STEPS];
    fill(12);
    curve_to(values[11], 5, 1);
    double chance = judge_at(20).chance;
    for (size_t t = 0; t < STEPS; t++)
        odd[t] = 1000000 + 500 * (int64_t)t;
    for (size_t i = 0; i < 12; i++)
        trials[i].curve.steps = odd;
    struct stop_verdict verdict = judge_at(20);
    assert_int_equal(verdict.action, STOP_END);
    assert_true(fabs(verdict.chance - chance) < 1e-9); /* only the unit differs */
    for (size_t t = 0; t < STEPS; t++)                 /* others report half as often */
        odd[t] = 2 * (int64_t)t + 1;
    for (size_t i = 0; i < 11; i++)
        trials[i].curve = (struct curve){odd, values[i], 26};
    trials[11].curve.steps = steps;
    assert_int_equal(judge_at(20).action, STOP_END);
}

TEST(dominated_with_confidence_is_ended)
{
    fill(12);
    view.n_others = 1;
    curve_to(values[11], 5, 1);
    curve_to(second[11], 5, 1);
    struct stop_verdict verdict = judge_at(20);
    assert_int_equal(verdict.action, STOP_END);
    assert_true(verdict.chance < verdict.threshold);
    curve_to(second[11], 0.5, 1); /* poor in the first, best in the second */
    verdict = judge_at(20);
    assert_int_equal(verdict.action, STOP_GO_ON);
    assert_true(verdict.chance > 0.5);
    trials[11].others = NULL; /* the second is not reported yet */
    assert_int_equal(judge_at(20).action, STOP_GO_ON);
}

TEST(between_two_points_of_the_front_nothing_is_ended)
{
    fill(12);
    view.n_others = 1;
    for (size_t i = 0; i < 12; i++) { /* a straight front; mine will lie on it */
        curve_to(values[i], (double)i, 1);
        curve_to(second[i], 11 - (double)i, 1);
    }
    curve_to(values[11], 5.4, 1);
    curve_to(second[11], 5.8, 1);
    for (size_t n = 0; n < STEPS; n++)
        assert_int_equal(judge_at(n).action, STOP_GO_ON);
}

TEST(nonsense_gets_a_sane_answer)
{
    static const double odd[] = {0, 1e308, -1e308, 1e-308, 3};
    for (size_t a = 0; a < ARRAY_LEN(odd); a++)
        for (size_t b = 0; b < ARRAY_LEN(odd); b++) {
            fill(9);
            for (size_t i = 0; i < 9; i++)
                for (size_t t = 0; t < STEPS; t++)
                    values[i][t] = (i + t) % 3 ? odd[a] : odd[b];
            for (size_t n = 0; n < STEPS; n += 7) {
                struct stop_verdict verdict = judge_at(n);
                assert_true(isnan(verdict.chance) || (verdict.chance >= 0 && verdict.chance <= 1));
                assert_true(isnan(verdict.mean) || isfinite(verdict.mean));
            }
        }
    fill(9); /* steps at the ends of what is possible */
    static int64_t far[] = {INT64_MIN, 0, INT64_MAX - 1, INT64_MAX};
    for (size_t i = 0; i < 9; i++)
        trials[i].curve = (struct curve){far, values[i], 4};
    judge_at(3);
}

TEST(a_chance_of_nothing_or_of_all_is_taken_as_far_as_it_goes)
{
    fill(12);
    curve_to(values[11], 5, 1);
    settings.chance = 0;
    struct stop_verdict verdict = judge_at(20);
    assert_true(verdict.threshold >= 0 && verdict.threshold < 1e-3);
    settings.chance = 1;
    assert_int_equal(judge_at(20).action, STOP_END);
}

/* 100 completed curves of 50 points; the limit is 1 ms, and this machine may be busy. */
TEST(a_judgement_is_quick)
{
    struct rng rng;
    rng_init(&rng, 1, 0);
    fill(101);
    for (size_t i = 0; i < 101; i++)
        for (size_t t = 0; t < STEPS; t++)
            values[i][t] += 0.1 * rng_normal(&rng);
    curve_to(values[100], 30, 1);
    int64_t best_us = INT64_MAX;
    for (int k = 0; k < 20; k++) {
        int64_t began_us = cpu_us();
        assert_int_equal(judge_at(20).action, STOP_END);
        best_us = MIN(best_us, cpu_us() - began_us);
    }
    printf("# %lld us\n", (long long)best_us);
    assert_true(best_us < 20000); /* sanitizers make it slow */
}

TEST(more_curves_than_it_learns_from_are_no_more_work)
{
    fill(MOST);
    curve_to(values[MOST - 1], 500, 1);
    assert_int_equal(judge_at(20).action, STOP_END);
    curve_to(values[MOST - 1], 0.9, 1); /* the best of all is still known, though it is long ago */
    assert_int_equal(judge_at(20).action, STOP_GO_ON);
    curve_to(values[MOST - 1], 25, 1);
    assert_int_equal(judge_at(40).action, STOP_END);
}

TEST_MAIN
