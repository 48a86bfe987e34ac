/* SPDX-License-Identifier: MIT */
/*
 * figures_tell_test.c — figures of the machine and of real attempts, as the local agent tells them.
 */
#include "agent/fixture.h"

#define SPIN "while :; do :; done"

static void begin_figures(int64_t interval_us, const char *figure)
{
    begin();
    hurry();
    w.figures_us = interval_us;
    w.figure = figure;
}

static void end_figures(void)
{
    end();
    w.figures_us = 0;
    w.figure = NULL;
}

static void turn(enum agent_command_kind kind, int64_t attempt, int64_t number)
{
    struct agent_command command = {.kind = kind, .attempt = attempt, .turn = number};

    agent_command(w.agent, &command);
}

TEST(while_an_attempt_runs_its_figures_and_the_machines_are_told)
{
    begin_figures(20000, "system/attempt.cpu");
    start_shell(1, SPIN);
    WAIT(w.seen[1].figured >= 3 && w.seen[1].figure > 0);
    assert_true(w.seen[0].figured >= w.seen[1].figured); /* first the machine */
    assert_true(w.seen[0].n_figures > 5);
    assert_true(w.seen[1].n_figures > 3);
    WAIT(w.seen[1].cpu_us > 0 && w.seen[1].used_bytes > 0); /* what it has used so far */
    stop(1, true);
    wait_for(&w.seen[1].ended, 1);
    int told = w.seen[0].figured;
    struct local *local = (struct local *)w.agent;
    assert_false(uv_is_active((uv_handle_t *)&local->figures_timer));
    uv_run(&w.loop, UV_RUN_DEFAULT); /* nothing keeps the loop alive, and nothing more is told */
    assert_int_equal(w.seen[0].figured, told);
    end_figures();
}

TEST(who_wants_no_figures_is_told_none)
{
    begin_figures(0, NULL);
    start_shell(1, "for i in 1 2 3 4 5; do echo x=$i; sleep 0.02; done");
    wait_for(&w.seen[1].ended, 1);
    assert_int_equal(w.seen[0].figured, 0);
    assert_int_equal(w.seen[1].figured, 0);
    end_figures();
}

TEST(each_attempt_has_its_own_interval)
{
    begin_figures(600 * US_PER_S, NULL);
    start_shell(1, SPIN);
    struct local *local = (struct local *)w.agent;
    assert_int_equal(uv_timer_get_repeat(&local->figures_timer), 600000);
    w.figures_us = 10000;
    start_shell(2, SPIN);
    assert_int_equal(uv_timer_get_repeat(&local->figures_timer), 10);
    wait_for(&w.seen[2].figured, 5);
    assert_true(w.seen[1].figured <= 1); /* its first look; the next in ten minutes */
    w.figures_us = 0;
    start_shell(3, SPIN);
    int told = w.seen[2].figured;
    wait_for(&w.seen[2].figured, told + 3);
    assert_int_equal(w.seen[3].figured, 0);
    for (int64_t attempt = 1; attempt <= 3; attempt++)
        stop(attempt, true);
    for (int64_t attempt = 1; attempt <= 3; attempt++)
        wait_for(&w.seen[attempt].ended, 1);
    end_figures();
}

TEST(a_paused_attempt_has_none_and_the_machine_goes_on)
{
    begin_figures(10000, "system/attempt.cpu");
    start_shell(1, SPIN);
    wait_for(&w.seen[1].figured, 2);
    turn(COMMAND_PAUSE, 1, 1);
    wait_for(&w.seen[1].paused, 1);
    int told = w.seen[1].figured, machine = w.seen[0].figured;
    wait_for(&w.seen[0].figured, machine + 5);
    assert_int_equal(w.seen[1].figured, told);
    assert_int_equal(w.seen[1].without, 1); /* the first look of all has no rates */
    turn(COMMAND_RESUME, 1, 2);
    wait_for(&w.seen[1].figured, told + 2);
    assert_int_equal(w.seen[1].without, 2); /* nor has the first after a pause */
    stop(1, true);
    wait_for(&w.seen[1].ended, 1);
    end_figures();
}

TEST(adopted_attempts_have_figures_too)
{
    begin_figures(10000, NULL);
    start_shell(1, SPIN);
    wait_for(&w.seen[1].figured, 1);
    agent_end();
    agent_begin();
    adopt(1);
    wait_for(&w.seen[1].figured, 2);
    stop(1, true);
    wait_for(&w.seen[1].ended, 1);
    end_figures();
}

TEST_MAIN
