/* SPDX-License-Identifier: MIT */
/*
 * width_test.c — the rules of `parallel: auto`, each with a machine as small as a table. Long runs
 * against the best fixed width are in tests/sim/machine_test.c.
 */
#include "base/rng.h"
#include "linalg/linalg.h"
#include "tests/test.h"
#include "tune/width.h"

#include <math.h>

#define MOST 16

/* n trials side by side run at total[n − 1] together. */
struct table {
    double total[MOST], cores, load, bytes, trial_s, uneven;
    struct width *w;
    struct width_decision last;
    size_t running, changes, left;
    uint64_t first; /* the oldest trial's number */
};

static void setup(struct table *t, const struct width_limits *limits)
{
    struct err err = ERR_INIT;

    assert_ok(linalg_open(&err), &err);
    t->running = width_start(limits, t->cores);
    t->w = width_new(limits, t->running);
    t->last.to = t->running;
    t->left = t->left ? t->left : 1000;
    t->trial_s = t->trial_s > 0 ? t->trial_s : 60;
}

/* One window; slots follow at once. */
static const struct width_decision *window(struct table *t)
{
    struct width_trial trials[MOST];
    double each = t->total[t->running - 1] / (double)t->running;

    for (size_t i = 0; i < t->running; i++)
        trials[i] = (struct width_trial){t->first + i, t->uneven * (double)(i % 2) - log(each),
                                         1e-3, t->bytes};
    struct width_input input = {.cores = t->cores,
                                .load = t->load,
                                .trials = trials,
                                .n = t->running,
                                .trials_left = t->left,
                                .trial_s = t->trial_s,
                                .startup_s = 1};
    width_next(t->w, &input, &t->last);
    t->changes += t->last.to != t->last.from;
    t->running = t->last.to;
    return &t->last;
}

static void windows(struct table *t, size_t n)
{
    while (n-- > 0)
        window(t);
}

static const struct width_limits plain = {.cores_least = 1, .loss = WIDTH_LOSS};

TEST(it_starts_with_what_the_cores_and_the_memory_allow)
{
    struct width_limits limits = {.cores_least = 2};

    assert_int_equal(width_start(&limits, 8), 4);
    assert_int_equal(width_start(&limits, 1), 1);
    limits.most = 3;
    assert_int_equal(width_start(&limits, 8), 3);
    limits.memory_bytes = 10e9;
    limits.trial_bytes = 4e9;
    assert_int_equal(width_start(&limits, 8), 2);
    limits.trial_bytes = 0; /* not known: one shows it */
    assert_int_equal(width_start(&limits, 8), 1);
    limits = (struct width_limits){.cores_least = 0.5};
    assert_int_equal(width_start(&limits, 2), 4);
}

TEST(cores_are_shared_out_whole)
{
    assert_true(width_cores(&plain, 8, 3) == 2);
    assert_true(width_cores(&plain, 8, 8) == 1);
    assert_true(width_cores(&plain, 8, 20) == 1);
    struct width_limits half = {.cores_least = 0.5};
    assert_true(width_cores(&half, 8, 16) == 0.5);
}

TEST(a_search_learns_less_from_many_at_once)
{
    assert_true(width_efficiency(WIDTH_LOSS, 1, 100) == 1);
    assert_true(width_efficiency(0, 64, 100) == 1);
    double at_24 = width_efficiency(WIDTH_LOSS, 8, 24), at_48 = width_efficiency(WIDTH_LOSS, 8, 48);
    assert_true(fabs(at_24 - 12.5 / 24) < 0.1); /* as measured */
    assert_true(fabs(at_48 - 35.0 / 48) < 0.1);
    assert_true(width_efficiency(WIDTH_LOSS, 64, 1) == 1); /* only one is in flight */
    assert_true(width_efficiency(WIDTH_LOSS, 0, 0) == 1);
}

TEST(where_all_share_one_thing_fewer_run)
{
    struct table t = {.total = {1, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4}, .cores = 8};

    setup(&t, &plain);
    windows(&t, 80);
    assert_true(t.last.to <= 2);
    assert_int_equal(t.last.to, t.last.from);
    width_free(t.w);
}

TEST(where_each_has_its_own_all_run)
{
    struct table t = {.total = {1, 2, 3, 4, 5, 6, 7, 8}, .cores = 8};

    setup(&t, &plain);
    windows(&t, 80);
    assert_int_equal(t.last.to, 8);
    assert_true(t.last.cores == 1);
    assert_true(t.changes <= 4);
    width_free(t.w);
}

TEST(a_small_gain_keeps_what_is)
{
    struct table t = {.total = {0.98, 1, 1, 1.01}, .cores = 4};
    struct width_limits limits = {.cores_least = 1};

    setup(&t, &limits);
    windows(&t, 60);
    size_t changes = t.changes, held = t.last.to;
    windows(&t, 60);
    assert_int_equal(t.changes, changes);
    assert_int_equal(t.last.to, held);
    width_free(t.w);
}

TEST(nothing_is_tried_near_the_end)
{
    struct table t = {.total = {1, 1, 1, 1}, .cores = 4, .left = 4, .trial_s = 2};

    setup(&t, &plain);
    windows(&t, 20);
    assert_int_equal(t.changes, 0);
    width_free(t.w);
}

TEST(memory_is_never_overcommitted)
{
    struct table t = {.total = {1, 2, 3, 4, 5, 6, 7, 8}, .cores = 8, .bytes = 2e9};
    struct width_limits limits = {.cores_least = 1, .memory_bytes = 10e9};

    setup(&t, &limits);
    assert_int_equal(t.running, 1);
    for (size_t i = 0; i < 40; i++)
        assert_true((double)window(&t)->to * t.bytes * 1.1 <= limits.memory_bytes);
    assert_int_equal(t.last.to, 4);
    assert_int_equal(t.last.fits, 4);
    t.bytes = 3.5e9; /* a larger one came: at once */
    assert_int_equal(window(&t)->to, 2);
    assert_string_equal(t.last.why, "the memory allows no more");
    width_free(t.w);
}

TEST(a_slot_is_not_added_while_the_memory_still_grows)
{
    struct table t = {.total = {1, 2, 3, 4}, .cores = 4, .bytes = 1e8};
    struct width_limits limits = {.cores_least = 1, .memory_bytes = 10e9};

    setup(&t, &limits);
    for (size_t i = 0; i < 20; i++, t.bytes *= 1.1)
        assert_int_equal(window(&t)->to, 1);
    windows(&t, 5);
    assert_int_equal(t.last.to, 4);
    width_free(t.w);
}

TEST(memory_that_nobody_tells_is_not_waited_for)
{
    struct table t = {.total = {1, 2, 3, 4}, .cores = 4};
    struct width_limits limits = {.cores_least = 1, .memory_bytes = 10e9};

    setup(&t, &limits);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(window(&t)->to, 1);
    assert_int_equal(window(&t)->to, 4);
    windows(&t, 40);
    assert_int_equal(t.last.to, 4);
    width_free(t.w);
}

/* Their levels differ tenfold, and no base was taken off. */
TEST(trials_of_any_level_are_compared_with_themselves)
{
    struct table t = {.total = {1, 1, 0.8, 0.5}, .cores = 4, .uneven = 2.3};

    setup(&t, &plain);
    windows(&t, 60);
    assert_true(t.last.to <= 2);
    width_free(t.w);
}

TEST(fewer_cores_mean_fewer_places_at_once)
{
    struct table t = {.total = {1, 2, 3, 4}, .cores = 4};

    setup(&t, &plain);
    windows(&t, 20);
    t.cores = 2;
    assert_int_equal(window(&t)->to, 2);
    width_free(t.w);
}

/* With others on half of the cores, four get in each other's way. */
TEST(a_neighbour_is_answered_and_undone_when_it_leaves)
{
    struct table t = {.total = {1, 2, 3, 4}, .cores = 4};
    const double alone[] = {1, 2, 3, 4}, shared[] = {1, 1.9, 1.2, 0.8};

    setup(&t, &plain);
    windows(&t, 40);
    assert_int_equal(t.last.to, 4);
    memcpy(t.total, shared, sizeof(shared));
    t.load = 2;
    windows(&t, 40);
    assert_int_equal(t.last.to, 2);
    memcpy(t.total, alone, sizeof(alone));
    t.load = 0;
    windows(&t, 40);
    assert_int_equal(t.last.to, 4);
    width_free(t.w);
}

/* Trials shorter than a window: none runs under two widths, so they are compared among each other.
 */
TEST(trials_that_come_and_go_tell_it_too)
{
    struct table t = {.total = {1, 1, 0.8, 0.5}, .cores = 4, .trial_s = 10};

    setup(&t, &plain);
    for (size_t i = 0; i < 200; i++, t.first += MOST)
        window(&t);
    assert_true(t.last.to <= 2);
    width_free(t.w);
}

TEST(while_more_run_than_asked_it_waits)
{
    struct table t = {.total = {1, 1, 0.5, 0.2}, .cores = 4};

    setup(&t, &plain);
    while (window(&t)->to == 4)
        assert_true(t.changes == 0);
    size_t to = t.last.to;
    for (size_t i = 0; i < 10; i++) {
        t.running = 4; /* none has ended */
        assert_int_equal(window(&t)->to, to);
        assert_string_equal(t.last.why, "waits for the end of a trial");
    }
    width_free(t.w);
}

TEST(no_input_leads_astray)
{
    const double odd[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e300, 1e-300};
    struct rng rng;
    struct err err = ERR_INIT;

    assert_ok(linalg_open(&err), &err);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct width_limits limits = {.cores_least = 1, .memory_bytes = seed % 2 ? 1e10 : 0};
        autofree(width) struct width *w = width_new(&limits, seed % 9);
        rng_init(&rng, seed, 3);
        for (size_t i = 0; i < 60; i++) {
            struct width_trial trials[MOST];
            struct width_decision decision;
            double f[4 + 3 * MOST];
            for (size_t k = 0; k < ARRAY_LEN(f); k++)
                f[k] = rng_chance(&rng, 0.1) ? odd[rng_below(&rng, ARRAY_LEN(odd))]
                                             : 8 * rng_unit(&rng);
            for (size_t k = 0; k < MOST; k++)
                trials[k] = (struct width_trial){rng_below(&rng, 20), f[4 + k], f[4 + MOST + k],
                                                 f[4 + 2 * MOST + k] * 1e8};
            struct width_input input = {.cores = f[0],
                                        .load = f[1],
                                        .trials = trials,
                                        .n = rng_below(&rng, MOST + 1),
                                        .trials_left = rng_chance(&rng, 0.1) ? SIZE_MAX : i,
                                        .trial_s = f[2],
                                        .startup_s = f[3]};
            width_next(w, &input, &decision);
            assert_true(decision.to >= 1 && decision.to <= 4096);
            assert_true(decision.cores >= 1);
            assert_true(!isnan(decision.gain.mean) && !isnan(decision.gain.deviation));
            assert_non_null(decision.why);
        }
    }
}

TEST(a_decision_says_its_numbers)
{
    struct width_decision decision = {
        .from = 2, .to = 3, .cores = 2, .gain = {log(1.18), 0.04}, .measured = NAN, .why = "-"};
    struct str text = STR_INIT;

    width_decision_format(&decision, &text);
    assert_string_equal(
        text.s, "2 side by side → 3, 2 cores each: predicted +18 % runs an hour (+9 to +28)");
    str_cut(&text, 0);
    decision.gain = (struct belief_ln){log(1.13), 0.31}; /* one minus sign everywhere */
    width_decision_format(&decision, &text);
    assert_non_null(strstr(text.s, "predicted +13 % runs an hour (−39 to +110)"));
    str_cut(&text, 0);
    decision = (struct width_decision){.from = 4, .to = 4, .measured = NAN, .why = "stays"};
    width_decision_format(&decision, &text);
    assert_string_equal(text.s, "4 side by side: stays");
    str_release(&text);
}

TEST_MAIN
