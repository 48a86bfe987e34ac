/* SPDX-License-Identifier: MIT */
/*
 * machine_test.c — the simulated machine does what machines do, and `parallel: auto` lives on it.
 */
#include "linalg/linalg.h"
#include "tests/sim/machine_width.h"
#include "tests/test.h"

#include <math.h>

static double rate_of(const struct program *program, double cores, double load, size_t n,
                      double threads, double own)
{
    struct machine machine = {cores, load};
    struct job jobs[16];
    double rates[16] = {0};

    assert_true(n > 0 && n <= ARRAY_LEN(jobs));
    for (size_t i = 0; i < n; i++)
        jobs[i] = (struct job){program, threads, own, 1};
    machine_rates(&machine, jobs, n, rates);
    return rates[0];
}

TEST(jobs_with_cores_of_their_own_do_not_notice_each_other)
{
    struct program p = {.step_s = 0.1, .law = {0.1, 0}};

    assert_true(fabs(rate_of(&p, 8, 0, 1, 1, 1) - 10) < 1e-9);
    assert_true(fabs(rate_of(&p, 8, 0, 8, 1, 1) - 10) < 1e-9);
    assert_true(fabs(rate_of(&p, 8, 0, 4, 2, 2) - 20 / 1.1) < 1e-9);
}

TEST(too_many_threads_cost_and_those_that_spin_collapse)
{
    struct program sleeps = {.step_s = 0.1, .law = {0.1, 0}}, spins = sleeps;

    spins.spins = true;
    double one = rate_of(&sleeps, 2, 0, 2, 1, 2);
    assert_true(rate_of(&sleeps, 2, 0, 2, 2, 2) < one);
    assert_true(rate_of(&spins, 2, 0, 2, 2, 2) < one / 5);
    assert_true(fabs(rate_of(&spins, 2, 0, 2, 1, 2) - one) < 1e-9);
}

TEST(what_the_memory_gives_is_shared)
{
    struct program p = {.step_s = 0.1, .law = {0, 0}, .memory = 0.8, .fill = 2};
    double alone = rate_of(&p, 16, 0, 1, 1, 1), two = rate_of(&p, 16, 0, 2, 1, 1);

    assert_true(fabs(alone - 10) < 1e-6);
    assert_true(fabs(two - 10) < 1e-3);
    for (size_t n = 4; n <= 16; n *= 2)
        assert_true(fabs((double)n * rate_of(&p, 16, 0, n, 1, 1) - 20) < 1e-3);
}

TEST(a_neighbour_takes_its_share)
{
    struct program p = {.step_s = 0.1, .law = {1, 0}};

    assert_true(fabs(rate_of(&p, 2, 1, 1, 1, 2) - 10) < 1e-9); /* there is a core for each */
    assert_true(rate_of(&p, 2, 2, 2, 1, 1) < 6);
}

/* One scene of each kind; bench/machine/width.c runs all, for longer. */
TEST(auto_is_near_the_best_fixed_width_and_never_over_the_memory)
{
    struct err err = ERR_INIT;

    assert_ok(linalg_open(&err), &err);
    for (size_t i = 0; i < width_scene_count; i++) {
        struct width_scene scene = width_scenes[i];
        struct width_outcome best = {0};
        if (scene.cores > 16)
            continue;
        scene.hours = 1;
        assert_true(width_scene_best(&scene, 1, &best) > 0);
        struct width_outcome ours = width_scene_run(&scene, 0, 1);
        assert_int_equal(ours.over, 0);
        if (ours.runs_an_hour < 0.95 * best.runs_an_hour)
            fail_msg("%s, %s: %.1f %% of the best", scene.name, scene.program.name,
                     100 * ours.runs_an_hour / best.runs_an_hour);
    }
}

TEST(the_same_seed_is_the_same_run)
{
    struct err err = ERR_INIT;

    assert_ok(linalg_open(&err), &err);
    struct width_outcome a = width_scene_run(&width_scenes[3], 0, 7);
    struct width_outcome b = width_scene_run(&width_scenes[3], 0, 7);
    assert_true(a.runs_an_hour == b.runs_an_hour);
    assert_int_equal(a.changes, b.changes);
}

TEST_MAIN
