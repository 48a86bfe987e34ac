/* SPDX-License-Identifier: MIT */
/*
 * learning_test.c — steps that are quicker and worth less: told apart by the loss, and decided by
 * what is learned in a second, not by steps.
 */
#include "base/rng.h"
#include "linalg/linalg.h"
#include "tests/test.h"
#include "tune/decide.h"
#include "tune/learning.h"

#include <math.h>

static const struct knob knobs[] = {
    {.name = "worker", .min = 1, .max = 2, .learning = true},
    {.name = "threads", .min = 1, .max = 2},
};
static const double one[] = {1, 1}, two[] = {2, 1}, threads[] = {1, 2};

/* A training: its loss follows from what was learned. */
struct training {
    double learned, step, noise;
    struct rng rng;
};

static double next_loss(struct training *t, double worth)
{
    t->learned += worth;
    t->step++;
    return (0.1 + 2.2 / sqrt(1 + t->learned / 20)) * exp(t->noise * rng_normal(&t->rng));
}

static struct training begin(double noise, uint64_t seed)
{
    struct training t = {.noise = noise};
    struct err err = ERR_INIT;

    assert_ok(linalg_open(&err), &err);
    rng_init(&t.rng, seed, 0);
    return t;
}

/* In turns of `each` steps under the one and the other, which is worth `worth`. */
static void train(struct learning *l, struct training *t, size_t turns, size_t each, double worth)
{
    for (size_t turn = 0; turn < turns; turn++) {
        learning_configure(l, turn % 2 ? two : one);
        for (size_t i = 0; i < each; i++) {
            double loss = next_loss(t, turn % 2 ? worth : 1);
            learning_tell(l, t->step, loss);
        }
    }
}

TEST(before_anything_is_told_steps_are_worth_the_same_give_or_take)
{
    struct training t = begin(0, 1);
    autofree(learning) struct learning *l = learning_new(knobs, 2);
    struct belief_ln belief = learning_compare(l, one, two);

    assert_true(belief.mean == 0 && belief.deviation > LEARNING_DEVIATION);
    belief = learning_compare(l, one, threads);
    assert_true(belief.mean == 0 && belief.deviation == 0);
    learning_tell(l, 1, 2); /* under which configuration? */
    train(l, &t, 1, 100, 1);
    belief = learning_compare(l, two, one);
    assert_true(belief.mean == 0 && belief.deviation > LEARNING_DEVIATION);
}

TEST(what_a_step_is_worth_is_seen_in_the_curve)
{
    size_t inside = 0, runs = 40;
    double off = 0;

    for (uint64_t seed = 0; seed < runs; seed++) {
        struct training t = begin(0.05, seed);
        autofree(learning) struct learning *l = learning_new(knobs, 2);
        train(l, &t, 16, 100, 1 / 1.3);
        struct belief_ln belief = learning_compare(l, two, one);
        inside += fabs(belief.mean + log(1.3)) < 2 * belief.deviation;
        off += (belief.mean + log(1.3)) / (double)runs;
        assert_true(belief.deviation < 0.15);
    }
    printf("# within two deviations in %zu of %zu, off by %.3f on average\n", inside, runs, off);
    assert_true(inside >= runs * 8 / 10);
    assert_true(fabs(off) < 0.08);
}

TEST(a_flat_or_noisy_loss_tells_nothing)
{
    struct training t = begin(3, 3);
    autofree(learning) struct learning *l = learning_new(knobs, 2);

    train(l, &t, 16, 50, 0.5);
    struct belief_ln belief = learning_compare(l, two, one);
    assert_true(fabs(belief.mean) < 0.2 && belief.deviation > 0.15);
    autofree(learning) struct learning *flat = learning_new(knobs, 2);
    for (size_t i = 0; i < 1000; i++) {
        learning_configure(flat, i / 100 % 2 ? two : one);
        learning_tell(flat, (double)i, 1);
    }
    belief = learning_compare(flat, two, one);
    assert_true(fabs(belief.mean) < 0.01 && belief.deviation > 0.15);
}

TEST(steps_that_go_back_are_learned_anew)
{
    struct training t = begin(0.02, 4);
    autofree(learning) struct learning *l = learning_new(knobs, 2);

    train(l, &t, 8, 100, 0.7);
    for (size_t i = 0; i < 300; i++) /* a run that is lost */
        learning_tell(l, t.step + (double)i, 50);
    learning_tell(l, NAN, 1);
    learning_tell(l, 1, INFINITY);
    train(l, &t, 8, 100, 0.7);
    struct belief_ln belief = learning_compare(l, two, one);
    assert_true(fabs(belief.mean - log(0.7)) < 0.15);
}

TEST(many_values_and_many_configurations_are_kept_small)
{
    const struct knob wide[] = {{.name = "worker", .min = 1, .max = 200, .learning = true}};
    struct training t = begin(0.1, 5);
    autofree(learning) struct learning *l = learning_new(wide, 1);
    const double a = 1, b = 150;

    for (size_t i = 0; i < 20000; i++) {
        const double worker = (double)(1 + i / 7 % 200);
        learning_configure(l, &worker);
        learning_tell(l, (double)i, next_loss(&t, 1));
    }
    struct belief_ln belief = learning_compare(l, &a, &b);
    assert_true(isfinite(belief.mean) && belief.deviation > 0);
}

/* A job of windows of 100 steps: how many end under two, where a step of it takes `pace` and is
 * worth `worth` of one. */
static size_t decided(double pace, double worth, const double *from, uint64_t seed)
{
    const double list[] = {1, 1, 2, 1};
    struct training t = begin(0.03, seed);
    autofree(speed) struct speed *speed = speed_new(knobs, 2);
    autofree(learning) struct learning *l = learning_new(knobs, 2);
    autofree(decide) struct decide *d = decide_new(speed, list, 2, NULL);
    const double *now = from;
    double elapsed = 0;
    struct decision decision;

    decide_learning(d, l);
    decide_begin(d, 1, from);
    for (size_t window = 0; window < 60; window++) {
        bool second = now[0] == 2;
        double seconds = 0.02 * (second ? pace : 1) * exp(0.02 * rng_normal(&t.rng));
        learning_configure(l, now);
        for (size_t i = 0; i < 100; i++) {
            double loss = next_loss(&t, second ? worth : 1);
            learning_tell(l, t.step, loss);
        }
        elapsed += 100 * seconds;
        struct decide_input input = {.now_s = elapsed,
                                     .remaining_s = 10000 * seconds,
                                     .remaining_at_s = elapsed,
                                     .ln_seconds = log(seconds),
                                     .variance = 4e-4};
        decide_on_window(d, &input, &decision);
        now = decision.to;
    }
    return decide_held(d)[0] == 2;
}

static size_t often(double pace, double worth, const double *from)
{
    size_t n = 0;
    for (uint64_t seed = 1; seed <= 10; seed++)
        n += decided(pace, worth, from, seed);
    return n;
}

TEST(steps_a_fifth_faster_that_need_a_third_more_lose)
{
    assert_int_equal(often(0.8, 1 / 1.3, one), 0);
    assert_int_equal(often(0.8, 1 / 2.0, one), 0);
    assert_int_equal(often(0.8, 1 / 2.0, two), 0);
}

TEST(steps_that_are_faster_and_teach_the_same_win)
{
    assert_true(often(0.6, 1, one) >= 8);
    assert_int_equal(often(0.3, 1 / 1.3, one), 10);
}

TEST_MAIN
