/* SPDX-License-Identifier: MIT */
/*
 * speed_test.c — the speed model learns effects from all trials, and nothing can spoil it.
 */
#include "base/rng.h"
#include "linalg/linalg.h"
#include "tests/test.h"
#include "tune/speed.h"
#include "tune/usl.h"

#include <math.h>

#define NEAR(a, b, by) assert_true(fabs((a) - (b)) <= (by))

static const double kinds[] = {10, 20};
static const struct knob few[] = {
    {.name = "threads", .min = 1, .max = 4},
    {.name = "kind", .kind = KNOB_CHOICE, .values = kinds, .n = 2, .restart = true},
};
static const struct knob many[] = {{.name = "workers", .min = 1, .max = 32},
                                   {.name = "threads", .min = 1, .max = 16}};

static struct speed *model_of(const struct knob *knobs, size_t n)
{
    struct err err = ERR_INIT;
    assert_ok(linalg_open(&err), &err);
    return speed_new(knobs, n);
}

TEST(a_law_is_found_again)
{
    const struct usl truth = {0.1, 0.01};
    double counts[8], y[8], weight[8];
    size_t group[8] = {0};
    struct usl law;

    for (size_t i = 0; i < 8; i++) {
        counts[i] = (double)(1 + 2 * i);
        y[i] = 3 + usl_effect(truth, counts[i]);
        weight[i] = 1e4;
    }
    usl_fit(counts, 1, y, weight, group, 1, 8, &law);
    NEAR(law.alpha, truth.alpha, 1e-9);
    NEAR(law.beta, truth.beta, 1e-9);
    usl_fit(counts, 1, y, weight, group, 1, 0, &law);
    NEAR(law.alpha, USL_PRIOR.alpha, 0);
}

TEST(what_was_measured_is_predicted)
{
    autofree(speed) struct speed *speed = model_of(few, 2);
    const double a[] = {1, 10}, b[] = {4, 10};

    for (size_t i = 0; i < 4; i++) {
        assert_true(speed_tell(speed, 1, a, 0, log(0.2), 1e-4));
        assert_true(speed_tell(speed, 1, b, 0, log(0.6), 1e-4));
    }
    NEAR(speed_predict(speed, 1, a, 0).mean, log(0.2), 0.02);
    NEAR(speed_predict(speed, 1, b, 0).mean, log(0.6), 0.02);
    NEAR(speed_compare(speed, 1, a, b, 0).mean, log(0.2 / 0.6), 0.02);
    assert_true(speed_compare(speed, 1, a, b, 0).deviation < 0.03);
    assert_int_equal(speed_windows(speed, 1, a, 0), 4);
    NEAR(speed_measured(speed, 1, a, 0), log(0.2), 1e-9);
    assert_true(isnan(speed_measured(speed, 2, a, 0)));
    /* a neighbour came in between: what was measured is still known, only not at this load */
    NEAR(speed_measured(speed, 1, a, 3), log(0.2), 1e-9);
    assert_int_equal(speed_windows(speed, 1, a, 3), 0);
}

/* One trial's probes serve another, which has run under one configuration only. */
TEST(every_trial_teaches_the_effects)
{
    autofree(speed) struct speed *speed = model_of(few, 2);
    const double a[] = {1, 10}, b[] = {2, 10};

    for (uint64_t trial = 1; trial <= 3; trial++) {
        speed_tell(speed, trial, a, 0, (double)trial, 1e-4);
        speed_tell(speed, trial, b, 0, (double)trial - 0.5, 1e-4);
    }
    speed_tell(speed, 9, a, 0, -4, 1e-4);
    struct belief_ln belief = speed_predict(speed, 9, b, 0);
    NEAR(belief.mean, -4.5, 0.05);
    assert_true(belief.deviation < 0.1);
}

/* Of each only one configuration was measured, and how long a step takes is mostly the trial's. */
static struct belief_ln by_trials(uint64_t trials, bool params)
{
    const struct knob knob = {.name = "threads", .kind = KNOB_COUNT, .min = 1, .max = 2};
    autofree(speed) struct speed *speed = model_of(&knob, 1);
    const double one = 1, two = 2;

    for (uint64_t trial = 1; trial <= trials; trial++) {
        double z = (double)(trial * 7 % 11) / 10, own = 0.05 * (double)(trial * 5 % 7) / 6;
        double threads = trial % 3 == 2 ? 1 : 2;
        if (params)
            speed_params(speed, trial, &z, 1);
        speed_tell(speed, trial, &threads, 0, 3 * z + own + (threads == 1 ? -0.4 : 0), 1e-4);
    }
    return speed_compare(speed, trials + 1, &one, &two, 0);
}

TEST(trials_that_never_change_teach_by_what_their_hyperparameters_leave)
{
    assert_true(by_trials(1, true).mean > 0); /* as the law guesses */
    struct belief_ln some = by_trials(6, true), many_more = by_trials(30, true);
    struct belief_ln blind = by_trials(30, false);

    assert_true(some.mean < 0);
    NEAR(many_more.mean, -0.4, 0.06);
    assert_true(many_more.deviation < 0.1 && many_more.deviation < some.deviation);
    assert_true(blind.deviation > 0.25);
}

TEST(what_another_trial_took_is_a_guess_for_one_not_seen_yet)
{
    const struct knob knob = {.name = "threads", .kind = KNOB_COUNT, .min = 1, .max = 2};
    autofree(speed) struct speed *speed = model_of(&knob, 1);
    const double one = 1;

    speed_tell(speed, 1, &one, 0, -4, 1e-4);
    struct belief_ln first = speed_predict(speed, 2, &one, 0);
    NEAR(first.mean, -4, 0.01);
    assert_true(first.deviation > 0.5 && first.deviation < 2);
    for (uint64_t trial = 2; trial <= 20; trial++)
        speed_tell(speed, trial, &one, 0, -4, 1e-4);
    struct belief_ln then = speed_predict(speed, 30, &one, 0);
    NEAR(then.mean, -4, 0.01);
    assert_true(then.deviation < 0.5 && then.deviation < first.deviation);
}

/* What others count in another unit says nothing of its level. */
TEST(levels_of_different_units_are_not_compared)
{
    const struct knob knob = {.name = "threads", .kind = KNOB_COUNT, .min = 1, .max = 2};
    autofree(speed) struct speed *speed = model_of(&knob, 1);
    const uint64_t other = UINT64_C(3) << SPEED_UNIT_BIT;
    const double one = 1, two = 2;
    struct belief_ln before = speed_compare(speed, 9, &one, &two, 0);

    for (uint64_t trial = 1; trial <= 6; trial++)
        speed_tell(speed, trial % 2 ? trial : trial | other, trial % 2 ? &one : &two, 0,
                   trial % 2 ? 0 : 7, 1e-4);
    struct belief_ln after = speed_compare(speed, 9, &one, &two, 0);
    NEAR(after.mean, before.mean, 0.1);
    assert_true(after.deviation > 0.3);
}

/* A choice that made all thread counts slower is expected to do so for the next one, too. */
TEST(an_effect_of_one_knob_is_shared_by_the_others_values)
{
    autofree(speed) struct speed *speed = model_of(few, 2);

    for (double threads = 1; threads <= 3; threads++) {
        speed_tell(speed, 1, (double[]){threads, 10}, 0, 0, 1e-4);
        speed_tell(speed, 1, (double[]){threads, 20}, 0, 0.8, 1e-4);
    }
    double guess = speed_compare(speed, 1, (double[]){4, 20}, (double[]){4, 10}, 0).mean;
    assert_true(guess > 0.4);
}

/* Two threads pay for large steps and not for small ones. */
static double by_batch(double threads, double ln_batch)
{
    return ln_batch + (threads == 2 ? 0.3 - 0.2 * ln_batch : 0);
}

TEST(what_threads_are_worth_follows_the_size_of_a_step)
{
    const struct knob knob = {.name = "threads", .kind = KNOB_COUNT, .min = 1, .max = 2};
    const double one = 1, two = 2;
    struct speed *plain = speed_new(&knob, 1), *sized = speed_new(&knob, 1);

    for (uint64_t trial = 1; trial <= 4; trial++) {
        double ln_batch = (double)trial - 1;
        speed_size(sized, trial, ln_batch);
        for (int window = 0; window < 3; window++)
            for (double threads = 1; threads <= 2; threads++) {
                speed_tell(plain, trial, &threads, 0, by_batch(threads, ln_batch), 1e-4);
                speed_tell(sized, trial, &threads, 0, by_batch(threads, ln_batch), 1e-4);
            }
    }
    speed_size(sized, 5, 4);
    speed_size(sized, 6, 0);
    double truth = by_batch(2, 4) - by_batch(1, 4);
    assert_true(fabs(speed_compare(sized, 5, &two, &one, 0).mean - truth) < 0.1);
    assert_true(fabs(speed_compare(plain, 5, &two, &one, 0).mean - truth) > 0.3);
    assert_true(speed_compare(sized, 6, &two, &one, 0).mean > 0.15);
    speed_free(plain);
    speed_free(sized);
}

TEST(a_nan_estimate_does_not_spoil_the_model)
{
    const struct knob *spaces[] = {few, many};

    for (size_t s = 0; s < 2; s++) {
        autofree(speed) struct speed *speed = model_of(spaces[s], 2);
        const double a[] = {1, 10}, b[] = {2, 10};
        speed_tell(speed, 1, a, 0, 1, 1e-3);
        speed_tell(speed, 1, b, 0, 0.5, 1e-3);
        struct belief_ln before = speed_compare(speed, 1, a, b, 0);
        assert_false(speed_tell(speed, 1, a, 0, NAN, 1e-3));
        assert_false(speed_tell(speed, 1, a, 0, INFINITY, 1e-3));
        assert_false(speed_tell(speed, 1, a, 0, 1.797e308, 1e-3));
        assert_false(speed_tell(speed, 1, a, 0, 1, NAN));
        assert_false(speed_tell(speed, 1, a, 0, 1, -1));
        assert_false(speed_tell(speed, 1, a, NAN, 1, 1e-3));
        assert_false(speed_tell(speed, 1, (double[]){NAN, 10}, 0, 1, 1e-3));
        assert_false(speed_prior(speed, a, NAN, 0.1));
        assert_false(speed_prior(speed, a, 0, -0.1));
        struct belief_ln after = speed_compare(speed, 1, a, b, 0);
        assert_true(before.mean == after.mean && before.deviation == after.deviation);
    }
}

TEST(nothing_known_is_a_wide_finite_prediction)
{
    const struct knob *spaces[] = {few, many};

    for (size_t s = 0; s < 2; s++) {
        autofree(speed) struct speed *speed = model_of(spaces[s], 2);
        struct belief_ln belief = speed_predict(speed, 1, (double[]){1, 10}, 0);
        assert_true(isfinite(belief.mean) && belief.deviation > 1);
        belief = speed_compare(speed, 1, (double[]){1, 10}, (double[]){4, 10}, NAN);
        assert_true(isfinite(belief.mean) && belief.deviation > 0.2);
    }
}

TEST(earlier_knowledge_counts_by_its_differences)
{
    autofree(speed) struct speed *speed = model_of(few, 2);
    const double a[] = {1, 10}, b[] = {4, 20};

    speed_prior(speed, a, 7, 0.05);
    speed_prior(speed, b, 6, 0.05);
    speed_tell(speed, 1, a, 0, -1, 1e-4);
    NEAR(speed_predict(speed, 1, b, 0).mean, -2, 0.1);
    for (size_t i = 0; i < 3; i++) /* it is wrong here: what is measured wins */
        speed_tell(speed, 1, b, 0, -0.5, 1e-4);
    NEAR(speed_predict(speed, 1, b, 0).mean, -0.5, 0.1);
}

TEST(another_load_makes_what_was_seen_uncertain_again)
{
    autofree(speed) struct speed *speed = model_of(few, 2);
    const double a[] = {1, 10}, b[] = {2, 10};

    for (size_t i = 0; i < 5; i++) {
        speed_tell(speed, 1, a, 0, 1, 1e-3);
        speed_tell(speed, 1, b, 0, 0.4, 1e-3);
    }
    assert_true(speed_compare(speed, 1, b, a, 0).deviation < 0.05);
    assert_true(speed_compare(speed, 1, b, a, 1).deviation > 0.2);
    speed_tell(speed, 1, b, 1, 2, 1e-3);
    speed_tell(speed, 1, a, 1, 1, 1e-3);
    assert_true(speed_compare(speed, 1, b, a, 1).mean > 0.3);
    assert_true(speed_compare(speed, 1, b, a, 0).mean < -0.3);
}

/* 512 configurations, 40 seen: the law and the process tell the rest within 10 %. */
TEST(of_many_configurations_those_not_seen_are_predicted)
{
    autofree(speed) struct speed *speed = model_of(many, 2);
    struct rng rng;
    double worst = 0;

    rng_init(&rng, 5, 0);
    for (size_t i = 0; i < 40; i++) {
        double c[] = {(double)(1 + rng_below(&rng, 32)), (double)(1 + rng_below(&rng, 16))};
        double y = usl_effect((struct usl){0.05, 0.002}, c[0]) +
                   usl_effect((struct usl){0.3, 0.01}, c[1]) + 0.3 * (c[0] * c[1] > 256);
        speed_tell(speed, 1, c, 0, 2 + y + 0.02 * rng_normal(&rng), 4e-4);
    }
    for (double w = 4; w <= 28; w += 4)
        for (double t = 2; t <= 8; t += 2) {
            double y = 2 + usl_effect((struct usl){0.05, 0.002}, w) +
                       usl_effect((struct usl){0.3, 0.01}, t);
            double off = fabs(speed_predict(speed, 1, (double[]){w, t}, 0).mean - y);
            worst = fmax(worst, w * t > 200 ? 0 : off);
        }
    assert_true(worst < 0.1);
}

TEST(what_is_doubted_is_replaced_by_its_next_window)
{
    autofree(speed) struct speed *speed = model_of(few, 2);
    const double a[] = {1, 10}, b[] = {2, 10};

    for (size_t i = 0; i < 8; i++) {
        speed_tell(speed, 1, a, 0, 1, 1e-4);
        speed_tell(speed, 1, b, 0, 1.1, 1e-4);
    }
    speed_doubt(speed, 1, a);
    assert_true(speed_compare(speed, 1, b, a, 0).deviation > 0.1);
    assert_int_equal(speed_windows(speed, 1, b, 0), 0);
    assert_int_equal(speed_windows(speed, 1, a, 0), 8);
    speed_tell(speed, 1, b, 0, 0.5, 1e-4);
    NEAR(speed_compare(speed, 1, b, a, 0).mean, -0.5, 0.02);
}

TEST(infeasible_is_remembered)
{
    autofree(speed) struct speed *speed = model_of(few, 2);

    assert_true(speed_feasible(speed, (double[]){1, 10}));
    speed_infeasible(speed, (double[]){1, 10});
    assert_false(speed_feasible(speed, (double[]){1, 10}));
    assert_true(speed_feasible(speed, (double[]){2, 10}));
    assert_true(isfinite(speed_predict(speed, 1, (double[]){1, 10}, 0).mean));
}

TEST(the_cost_of_a_change_is_measured)
{
    autofree(speed) struct speed *speed = model_of(few, 2);
    double guess = speed_change_cost(speed, CHANGE_RESTART);

    assert_true(speed_change_cost(speed, CHANGE_NONE) == 0);
    speed_tell_change(speed, CHANGE_RESTART, NAN);
    speed_tell_change(speed, CHANGE_RESTART, -1);
    assert_true(speed_change_cost(speed, CHANGE_RESTART) == guess);
    for (size_t i = 0; i < 99; i++)
        speed_tell_change(speed, CHANGE_RESTART, 40);
    NEAR(speed_change_cost(speed, CHANGE_RESTART), 40, 0.5);
    assert_true(speed_change_cost(speed, CHANGE_LIVE) < 1);
}

TEST(thousands_of_rows_stay_bounded_and_finite)
{
    autofree(speed) struct speed *speed = model_of(few, 2);

    for (uint64_t trial = 0; trial < 3000; trial++)
        speed_tell(speed, trial, (double[]){(double)(1 + trial % 4), 10}, 0, (double)(trial % 7),
                   1e-3);
    struct belief_ln belief = speed_predict(speed, 2999, (double[]){1, 20}, 0);
    assert_true(isfinite(belief.mean) && isfinite(belief.deviation));
}

TEST_MAIN
