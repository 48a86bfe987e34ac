/* SPDX-License-Identifier: MIT */
/*
 * agent_test.c — the local agent with real keepers and real programs: everything that the engine
 * may rely on. Waits for events, never for time.
 */
#include "agent/fixture.h"

#include <sys/prctl.h>

/* ---- the sentences ---- */

TEST(a_program_starts_tells_and_ends)
{
    begin();
    start_shell(1,
                "echo loss: 0.5; echo loss: 0.25; echo 'train acc=0.75,step=3i' >>$HONE_METRICS");
    wait_for(&w.seen[1].ended, 1);
    const struct seen *seen = &w.seen[1];
    assert_int_equal(seen->started, 1);
    assert_true(seen->pid > 0);
    assert_int_equal(seen->samples.len, 3);
    assert_string_equal(seen->samples.at[0].metric, "acc");
    assert_true(seen->samples.at[2].value == 0.25 && seen->samples.at[2].step == 1);
    assert_int_equal(seen->ending.reason, REASON_NONE);
    assert_int_equal(seen->ending.exit_status, 0);
    assert_true(seen->ending.run_us > 0 && seen->ending.max_rss_bytes > 0);
    assert_null(seen->error);
    end();
}

TEST(a_failing_program_is_shown_with_its_last_words)
{
    begin();
    start_shell(1, "echo trouble ahead >&2; exit 3");
    start_shell(2, "kill -SEGV $$");
    send_command(COMMAND_START, 3, (const char *[]){"no-such-program", NULL}, 0);
    send_command(COMMAND_START, 4, (const char *[]){"sleep", "1000", NULL}, US_PER_S / 20);
    for (int i = 1; i <= 4; i++)
        wait_for(&w.seen[i].ended, 1);
    assert_int_equal(w.seen[1].ending.reason, REASON_EXIT);
    assert_int_equal(w.seen[1].ending.exit_status, 3);
    assert_non_null(strstr(w.seen[1].error, "exit status 3\ntrouble ahead"));
    assert_int_equal(w.seen[2].ending.reason, REASON_SIGNAL);
    assert_int_equal(w.seen[2].ending.signal, SIGSEGV);
    assert_int_equal(w.seen[3].ending.reason, REASON_SPAWN);
    assert_false(w.seen[3].ending.transient);
    assert_non_null(strstr(w.seen[3].error, "cannot start 'no-such-program': no such file"));
    assert_int_equal(w.seen[4].ending.reason, REASON_TIMEOUT);
    end();
}

TEST(samples_come_while_the_program_runs)
{
    begin();
    start_shell(1, "echo loss: 0.5; exec sleep 1000");
    wait_for_samples(1, 1);
    assert_int_equal(w.seen[1].started, 1);
    stop(1, true);
    wait_for(&w.seen[1].ended, 1);
    assert_int_equal(w.seen[1].ending.reason, REASON_CANCELLED);
    end();
}

TEST(what_is_started_twice_runs_once)
{
    begin();
    const char *script = "echo run >>runs; echo x: 1; exec sleep 1000";
    start_shell(1, script);
    start_shell(1, script);
    wait_for_samples(1, 1);
    start_shell(1, script);
    wait_for(&w.seen[1].started, 2);
    stop(1, false);
    wait_for(&w.seen[1].ended, 1);
    forget(1);
    start_shell(1, script); /* it has ended: told again, not run again */
    wait_for(&w.seen[1].ended, 1);
    assert_int_equal(w.seen[1].ending.reason, REASON_CANCELLED);
    autofree(mem) char *path = xasprintf("%s/runs", w.home);
    autorelease(str) struct str runs = STR_INIT;
    fs_read(path, 1000, &runs, NULL);
    assert_string_equal(runs.s, "run\n");
    end();
}

TEST(stop_asks_and_then_insists)
{
    begin();
    start_shell(1, "trap 'echo x: 2; exit 0' TERM; echo x: 1; while :; do sleep 0.01; done");
    start_shell(2, "trap '' TERM; echo x: 1; while :; do sleep 0.01; done");
    wait_for_samples(1, 1);
    wait_for_samples(2, 1);
    stop(1, false);
    stop(2, false);
    stop(99, false); /* nobody there: nothing happens */
    wait_for(&w.seen[1].ended, 1);
    wait_for(&w.seen[2].ended, 1);
    assert_int_equal(w.seen[1].ending.reason, REASON_CANCELLED);
    assert_int_equal(w.seen[1].ending.exit_status, 0);
    assert_int_equal(w.seen[1].samples.len, 2);
    assert_int_equal(w.seen[2].ending.reason, REASON_CANCELLED);
    assert_int_equal(w.seen[2].ending.signal, SIGKILL);
    end();
}

TEST(a_fresh_agent_adopts_what_runs_and_reads_all_of_it)
{
    begin();
    start_shell(1, "echo x: 1; while [ ! -e go ]; do sleep 0.01; done; echo x: 2");
    start_shell(2, "echo y: 1");
    wait_for_samples(1, 1);
    wait_for(&w.seen[2].ended, 1);
    pid_t pid = w.seen[1].pid;
    agent_end();
    agent_begin();
    adopt(1);
    adopt(2);
    adopt(1);
    wait_for(&w.seen[1].started, 1);
    assert_int_equal(w.seen[1].pid, pid);
    autofree(mem) char *go = xasprintf("%s/go", w.home);
    assert_int_equal(fs_write_atomic(go, "", 0, 0644, NULL), 0);
    wait_for(&w.seen[1].ended, 1);
    wait_for(&w.seen[2].ended, 1);
    assert_int_equal(w.seen[1].ending.reason, REASON_NONE);
    assert_int_equal(w.seen[1].samples.len, 2);
    assert_int_equal(w.seen[2].started, 0);
    assert_int_equal(w.seen[2].samples.len, 1);
    end();
    waitpid(pid, NULL, WNOHANG);
}

/* The engine died between starting it and knowing so. */
TEST(a_fresh_agent_told_to_start_what_lives_leaves_it_alone)
{
    begin();
    const char *script = "echo run: 1; while [ ! -e go ]; do sleep 0.01; done";
    start_shell(1, script);
    wait_for_samples(1, 1);
    pid_t pid = w.seen[1].pid;
    agent_end();
    agent_begin();
    start_shell(1, script);
    wait_for(&w.seen[1].started, 2); /* of the keeper that leaves, and of the one that stays */
    assert_int_equal(w.seen[1].pid, pid);
    autofree(mem) char *go = xasprintf("%s/go", w.home);
    assert_int_equal(fs_write_atomic(go, "", 0, 0644, NULL), 0);
    wait_for(&w.seen[1].ended, 1);
    assert_int_equal(w.seen[1].ending.reason, REASON_NONE);
    assert_int_equal(w.seen[1].samples.len, 1);
    end();
    waitpid(pid, NULL, WNOHANG);
}

TEST(a_loud_program_is_read_to_its_end)
{
    begin();
    start_shell(1, "i=0; while [ $i -lt 20 ]; do yes 'loss: 0.5' | head -10000; i=$((i+1)); done;"
                   "printf 'last: 7'");
    wait_for(&w.seen[1].ended, 1);
    assert_int_equal(w.seen[1].samples.len, 200001);
    assert_string_equal(w.seen[1].samples.at[200000].metric, "last");
    end();
}

TEST(a_freed_agent_forgets_a_sweep_under_way)
{
    begin();
    adopt(7);
    end();
}

TEST(an_attempt_that_never_began_is_lost)
{
    begin();
    adopt(7);
    wait_for(&w.seen[7].ended, 1);
    assert_int_equal(w.seen[7].ending.reason, REASON_LOST);
    assert_true(w.seen[7].ending.transient);
    assert_int_equal(w.seen[7].started, 0);
    end();
}

TEST(when_its_keeper_is_killed_nothing_of_the_attempt_survives)
{
    begin();
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a killed keeper leaves comes here, and is reaped */
    start_shell(1, "sleep 1000 & echo pid: $!; wait");
    wait_for_samples(1, 1);
    pid_t child = (pid_t)w.seen[1].samples.at[0].value;
    assert_int_equal(kill(child, 0), 0);
    kill(w.seen[1].pid, SIGKILL);
    wait_for(&w.seen[1].ended, 1);
    assert_int_equal(w.seen[1].ending.reason, REASON_LOST);
    assert_true(w.seen[1].ending.transient);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    assert_int_equal(kill(child, 0), -1);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    end();
}

TEST(control_reaches_the_page)
{
    begin();
    start_shell(1, "echo x: 1; exec sleep 1000");
    wait_for_samples(1, 1);
    struct agent_command command = {
        .kind = COMMAND_CONTROL, .attempt = 1, .control_json = "{\"stop\":true}"};
    agent_command(w.agent, &command);
    autofree(mem) char *path = xasprintf("%s/1/state", w.home);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct control_page page;
    assert_int_equal(pread(fd, &page, sizeof(page), 0), sizeof(page));
    assert_memory_equal(page.json, "{\"stop\":true}", 13);
    stop(1, true);
    wait_for(&w.seen[1].ended, 1);
    end();
}

static void take_turn(int64_t attempt, int64_t turn)
{
    struct agent_command command = {.kind = turn_paused(turn) ? COMMAND_PAUSE : COMMAND_RESUME,
                                    .attempt = attempt,
                                    .turn = turn};
    w.in_command = true;
    agent_command(w.agent, &command);
    w.in_command = false;
}

#define COUNTING "i=0; while :; do i=$((i+1)); echo x: $i; sleep 0.01; done"

TEST(a_paused_attempt_is_told_with_what_it_said_before)
{
    begin();
    start_shell(1, COUNTING);
    wait_for_samples(1, 1);
    assert_int_equal(w.seen[1].turn.turn, 0);
    take_turn(1, 1);
    wait_for(&w.seen[1].paused, 1);
    assert_int_equal(w.seen[1].turn.turn, 1);
    assert_true(w.seen[1].turn.used_bytes > 0 && w.seen[1].turn.turn_us > 0);
    size_t n = w.seen[1].samples.len;
    take_turn(1, 1); /* said again: answered again */
    wait_for(&w.seen[1].paused, 2);
    assert_int_equal(w.seen[1].samples.len, n);
    take_turn(1, 2);
    wait_for(&w.seen[1].resumed, 1);
    assert_true(w.seen[1].turn.paused_us > 0);
    wait_for_samples(1, n + 1);
    take_turn(1, 1); /* old: the answer is how it stands */
    wait_for(&w.seen[1].resumed, 2);
    assert_int_equal(w.seen[1].turn.turn, 2);
    take_turn(99, 1); /* nobody there: nothing happens */
    stop(1, false);
    wait_for(&w.seen[1].ended, 1);
    assert_int_equal(w.seen[1].ending.reason, REASON_CANCELLED);
    end();
}

TEST(an_adopted_attempt_that_is_paused_stays_so_and_says_so)
{
    begin();
    start_shell(1, COUNTING);
    wait_for_samples(1, 1);
    take_turn(1, 1);
    wait_for(&w.seen[1].paused, 1);
    pid_t pid = w.seen[1].pid;
    agent_end();
    agent_begin();
    adopt(1);
    wait_for(&w.seen[1].paused, 1);
    assert_int_equal(w.seen[1].started, 1);
    assert_int_equal(w.seen[1].turn.turn, 1);
    size_t n = w.seen[1].samples.len;
    assert_true(n > 0);
    adopt(1);
    wait_for(&w.seen[1].paused, 2);
    assert_int_equal(w.seen[1].samples.len, n);
    take_turn(1, 2);
    wait_for_samples(1, n + 1);
    take_turn(1, 3);
    wait_for(&w.seen[1].paused, 3);
    stop(1, true);
    wait_for(&w.seen[1].ended, 1);
    end();
    waitpid(pid, NULL, WNOHANG);
}

TEST(a_keeper_killed_while_paused_is_lost_and_nothing_survives)
{
    begin();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    start_shell(1, "echo pid: $$; while :; do sleep 0.01; done");
    wait_for_samples(1, 1);
    pid_t child = (pid_t)w.seen[1].samples.at[0].value;
    take_turn(1, 1);
    wait_for(&w.seen[1].paused, 1);
    kill(w.seen[1].pid, SIGKILL);
    wait_for(&w.seen[1].ended, 1);
    assert_int_equal(w.seen[1].ending.reason, REASON_LOST);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    assert_int_equal(kill(child, 0), -1);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    end();
}

TEST(a_folder_that_cannot_be_made_is_a_spawn_error)
{
    begin();
    autofree(mem) char *path = xasprintf("%s/1", w.home);
    assert_int_equal(fs_write_atomic(path, "", 0, 0644, NULL), 0);
    start_shell(1, "true");
    wait_for(&w.seen[1].ended, 1);
    assert_int_equal(w.seen[1].ending.reason, REASON_SPAWN);
    assert_false(w.seen[1].ending.transient);
    assert_non_null(w.seen[1].error);
    end();
}

TEST(two_hundred_short_attempts_leave_no_descriptor_behind)
{
    begin();
    size_t before = count_fds();
    for (int64_t i = 1; i <= 200; i++) {
        send_command(COMMAND_START, i, (const char *[]){"true", NULL}, 0);
        wait_for(&w.seen[i].ended, 1);
        assert_int_equal(w.seen[i].ending.reason, REASON_NONE);
        assert_int_equal(w.seen[i].started, 1);
    }
    assert_int_equal(count_fds(), before);
    assert_int_equal(uv_loop_alive(&w.loop), 0);
    end();
}

TEST(many_run_side_by_side)
{
    begin();
    for (int64_t i = 1; i <= 40; i++)
        start_shell(i, "echo x: 1");
    for (int64_t i = 1; i <= 40; i++) {
        wait_for(&w.seen[i].ended, 1);
        assert_int_equal(w.seen[i].samples.len, 1);
    }
    end();
}

TEST_MAIN
