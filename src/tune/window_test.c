/* SPDX-License-Identifier: MIT */
/*
 * window_test.c — windows are time, their speed is all time over all progress.
 */
#include "tests/test.h"
#include "tune/window.h"

#include <math.h>

#define NEAR(a, b, by) assert_true(fabs((a) - (b)) <= (by))

/* Steps of `each` seconds from time t until the window is complete; returns how many it took. */
static size_t run(struct window *w, double *t, double *step, double each)
{
    for (size_t n = 1; n < 100000; n++) {
        *t += each;
        *step += 1;
        if (window_sample(w, *t, *step))
            return n;
    }
    fail_msg("the window never ends");
    return 0;
}

/* A window that is not the first. */
static void begin(struct window *w, double *t, double *step)
{
    window_init(w, NULL);
    window_sample(w, *t, *step);
    run(w, t, step, 0.01);
    window_take(w);
}

TEST(the_first_window_is_a_look_that_is_doubted)
{
    struct window w;
    double t = 100, step = 7;

    window_init(&w, NULL);
    window_sample(&w, t, step);
    assert_in_range(run(&w, &t, &step, 0.01), 29, 31);
    struct window_result look = window_take(&w);
    NEAR(look.ln_seconds, log(0.01), 1e-9);
    NEAR(look.error, WINDOW_LIMITS.look_sure, 1e-9); /* however even its steps were */
    run(&w, &t, &step, 0.01);
    assert_true(window_take(&w).error < 1e-6);
}

/* Steps that differ much say nothing in so short a time. */
TEST(a_look_at_uneven_steps_takes_longer)
{
    struct window w;
    double t = 0;
    bool done = false;

    window_init(&w, NULL);
    window_sample(&w, 0, 0);
    for (size_t i = 1; !done; i++) {
        t += i % 10 == 0 ? 0.21 : 0.01;
        done = window_sample(&w, t, (double)i);
    }
    assert_true(window_take(&w).seconds > 2 * WINDOW_LIMITS.look_s);
}

TEST(fast_steps_make_a_window_of_a_second)
{
    struct window w;
    double t = 100, step = 7;

    begin(&w, &t, &step);
    assert_in_range(run(&w, &t, &step, 0.01), 99, 101);
    struct window_result result = window_take(&w);
    NEAR(result.ln_seconds, log(0.01), 1e-9);
    NEAR(result.seconds, 1, 0.02);
    assert_false(result.cut);
    assert_in_range(run(&w, &t, &step, 0.01), 99, 101); /* the next begins where it ended */
}

TEST(a_window_tells_what_it_says_so_far)
{
    struct window w;
    struct window_result result;

    window_init(&w, NULL);
    assert_false(window_so_far(&w, &result));
    window_sample(&w, 3, 10);
    assert_false(window_so_far(&w, &result));
    window_sample(&w, 3.2, 11);
    window_sample(&w, 3.6, 13);
    assert_true(window_so_far(&w, &result));
    NEAR(result.seconds, 0.6, 1e-9);
    NEAR(result.ln_seconds, log(0.2), 1e-9);
    window_change(&w, 4);
    assert_false(window_so_far(&w, &result));
    window_sample(&w, 5, 20); /* among the first after a change */
    assert_false(window_so_far(&w, &result));
}

TEST(slow_steps_make_a_window_of_five)
{
    struct window w;
    double t = 0, step = 0;

    window_init(&w, NULL);
    window_sample(&w, t, step);
    assert_int_equal(run(&w, &t, &step, 4), 5);
    NEAR(window_take(&w).ln_seconds, log(4), 1e-9);
}

/* Every tenth step pauses for 0.2 s: the median step would be five times too fast. */
TEST(pauses_between_steps_count)
{
    struct window w;
    bool done = false;
    double t = 0, step = 0;

    begin(&w, &t, &step);
    for (size_t i = 1; !done; i++) {
        t += i % 10 == 0 ? 0.21 : 0.01;
        done = window_sample(&w, t, step + (double)i);
    }
    struct window_result result = window_take(&w);
    NEAR(result.ln_seconds, log(0.03), 0.1);
    assert_true(result.seconds >= 3); /* uneven: it took the longest */
    assert_true(result.error > 0.05);
}

TEST(the_first_steps_after_a_change_are_dropped)
{
    struct window w;
    double t = 9, step = 49;

    begin(&w, &t, &step);
    window_change(&w, t += 0.5);
    assert_false(window_sample(&w, t - 0.1, ++step)); /* from before */
    for (size_t i = 0; i < 3; i++)
        assert_false(window_sample(&w, t += 5, ++step));
    run(&w, &t, &step, 0.1);
    NEAR(window_take(&w).ln_seconds, log(0.1), 0.05);
}

TEST(certainly_worse_is_cut_short)
{
    struct window w;
    double t = 0, step = 0;

    window_init(&w, NULL);
    window_bar(&w, log(0.1));
    window_sample(&w, t, step);
    assert_int_equal(run(&w, &t, &step, 0.2), 3);
    assert_true(window_take(&w).cut);
    window_bar(&w, log(0.3));
    assert_true(run(&w, &t, &step, 0.2) >= 5);
    assert_false(window_take(&w).cut);
}

TEST(a_step_that_does_not_come_is_cut_short)
{
    struct window w;

    window_init(&w, NULL);
    assert_false(window_look(&w, 1000)); /* nothing has begun */
    window_sample(&w, 0, 0);
    assert_false(window_look(&w, 1000)); /* no bar */
    window_bar(&w, log(0.1));
    assert_false(window_look(&w, 0.15));
    assert_false(window_look(&w, 2.9));
    assert_true(window_look(&w, 3.1));
    struct window_result result = window_take(&w);
    assert_true(result.cut && result.bound && result.ln_seconds > log(2));
    window_change(&w, 10);
    assert_false(window_look(&w, 10.5));
    assert_true(window_look(&w, 15)); /* not even the first step after a change */
}

TEST(steps_that_go_back_begin_the_window_anew)
{
    struct window w;
    double t = 0, step = 100;

    begin(&w, &t, &step);
    for (size_t i = 0; i < 20; i++)
        assert_false(window_sample(&w, t += 0.04, ++step));
    step = 3; /* started again from a checkpoint */
    assert_false(window_sample(&w, t += 30, step));
    run(&w, &t, &step, 0.04);
    struct window_result result = window_take(&w);
    NEAR(result.ln_seconds, log(0.04), 1e-6);
    NEAR(result.seconds, 1, 0.05);
}

TEST(no_numbers_and_standing_clocks_do_no_harm)
{
    struct window w;
    double t = 0, step = 0;

    window_init(&w, NULL);
    window_bar(&w, NAN);
    window_sample(&w, NAN, 1);
    window_sample(&w, 0, 0);
    assert_false(window_sample(&w, INFINITY, 2));
    assert_false(window_sample(&w, 0, NAN));
    assert_false(window_sample(&w, -5, 1));
    for (size_t i = 1; i < 100; i++)
        assert_false(window_sample(&w, 0, step = (double)i)); /* progress in no time */
    for (size_t i = 1; i < 100; i++)
        assert_false(window_sample(&w, t += 0.01, step)); /* time without progress */
    run(&w, &t, &step, 0.1);
    assert_true(isfinite(window_take(&w).ln_seconds));
}

TEST_MAIN
