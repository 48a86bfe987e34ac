/* SPDX-License-Identifier: MIT */
/*
 * stop_test.c — a stop takes the whole tree, whatever it did to get away; and what a program
 * leaves behind goes with it. Each runs with the machine's cgroups and without any.
 */
#include "exec/fixture.h"

/* A daemon as they come: double-forked, a session of its own, deaf to SIGTERM. Its number appears
 * in $DIR/daemon. */
#define DAEMON                                                                                     \
    "(setsid sh -c 'trap \"\" TERM HUP INT; echo $$ >$DIR/d; mv $DIR/d $DIR/daemon; "              \
    "while :; do sleep 0.05; done' </dev/null >/dev/null 2>&1 &); "                                \
    "while [ ! -e $DIR/daemon ]; do sleep 0.01; done; "

static void begin(struct fixture *f, const char *script, bool cgroups)
{
    fixture_init(f, script);
    if (!cgroups)
        fixture_without_cgroups(f);
    fixture_start(f);
}

static void check_stop_takes_daemons(bool cgroups)
{
    struct fixture f;
    struct err err = ERR_INIT;

    begin(&f, DAEMON "touch $DIR/up; sleep 1000", cgroups);
    wait_until(fixture_has(&f, "up"));
    pid_t daemon_pid = fixture_pid(&f, "daemon");
    assert_true(process_runs(daemon_pid));
    assert_ok(exec_stop(f.dir, false, 50000, &err), &err);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.exit.cause, CAUSE_STOP);
    assert_int_equal(f.look.exit.signal, SIGTERM);
    assert_true(f.look.exit.leftovers >= 1);
    assert_false(process_runs(daemon_pid));
    check_no_cgroup(&f);
    fixture_release(&f);
}

TEST(a_stop_takes_daemons_that_ignore_it)
{
    check_stop_takes_daemons(true);
    check_stop_takes_daemons(false);
}

static void check_leftovers(bool cgroups)
{
    struct fixture f;

    begin(&f, DAEMON "exit 6", cgroups);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.exit.cause, CAUSE_NONE);
    assert_int_equal(f.look.exit.status, 6);
    assert_in_range(f.look.exit.leftovers, 1, 2); /* the daemon, perhaps its sleep */
    assert_false(process_runs(fixture_pid(&f, "daemon")));
    check_no_cgroup(&f);
    fixture_release(&f);
}

TEST(what_a_program_leaves_behind_goes_with_it)
{
    check_leftovers(true);
    check_leftovers(false);
}

static void check_kill(bool cgroups)
{
    struct fixture f;
    struct err err = ERR_INIT;

    begin(&f, "trap '' TERM; touch $DIR/up; while :; do sleep 0.01; done", cgroups);
    wait_until(fixture_has(&f, "up"));
    assert_ok(exec_stop(f.dir, true, 0, &err), &err);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.exit.cause, CAUSE_KILL);
    assert_int_equal(f.look.exit.signal, SIGKILL);
    assert_int_equal(f.look.exit.leftovers, 0);
    fixture_release(&f);
}

TEST(a_kill_is_at_once)
{
    check_kill(true);
    check_kill(false);
}

TEST(a_kill_after_a_stop_does_not_wait_for_the_grace)
{
    struct fixture f;
    struct err err = ERR_INIT;

    begin(&f, "trap '' TERM; touch $DIR/up; while :; do sleep 0.01; done", true);
    wait_until(fixture_has(&f, "up"));
    assert_ok(exec_stop(f.dir, false, 3600 * US_PER_S, &err), &err);
    assert_ok(exec_stop(f.dir, true, 0, &err), &err);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.exit.signal, SIGKILL);
    fixture_release(&f);
}

TEST(a_stopped_program_hears_a_stop)
{
    struct fixture f;
    struct err err = ERR_INIT;

    begin(&f, "trap 'exit 44' TERM; touch $DIR/up; kill -STOP $$; while :; do sleep 0.01; done",
          true);
    wait_until(fixture_has(&f, "up"));
    assert_ok(exec_stop(f.dir, false, 20 * US_PER_S, &err), &err);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.exit.cause, CAUSE_STOP);
    assert_int_equal(f.look.exit.status, 44);
    fixture_release(&f);
}

TEST(the_children_of_a_shell_get_their_grace_too)
{
    struct fixture f;
    struct err err = ERR_INIT;

    /* the shell dies at once, its child saves first */
    begin(&f,
          "sh -c 'trap \"sleep 0.1; touch $DIR/saved; exit 0\" TERM; touch $DIR/up; "
          "while :; do sleep 0.01; done' & wait; exit 1",
          true);
    wait_until(fixture_has(&f, "up"));
    assert_ok(exec_stop(f.dir, false, 20 * US_PER_S, &err), &err);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_true(fixture_has(&f, "saved"));
    fixture_release(&f);
}

static void check_fork_storm(bool cgroups)
{
    struct fixture f;
    struct err err = ERR_INIT;

    /* each one starts the next and goes: a chase through the process table */
    begin(&f,
          "echo 'trap \"\" TERM; touch $DIR/up; setsid sh $DIR/run & exit' >$DIR/run; "
          "for i in 1 2 3 4; do sh $DIR/run; done; sleep 1000",
          cgroups);
    wait_until(fixture_has(&f, "up"));
    assert_ok(exec_stop(f.dir, true, 0, &err), &err);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    autofree(mem) char *up = xasprintf("%s/up", f.home);
    assert_int_equal(unlink(up), 0);
    assert_int_equal(exec_sweep(f.dir, f.attempt_id, &err), 0); /* nothing is left to find */
    assert_false(fixture_has(&f, "up"));
    fixture_release(&f);
}

TEST(processes_that_fork_away_are_caught)
{
    check_fork_storm(true);
    check_fork_storm(false);
}

TEST(a_signal_to_the_keeper_stops_the_program_first)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};

    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct fixture f;
        begin(&f, "touch $DIR/up; sleep 1000", true);
        wait_until(fixture_has(&f, "up"));
        kill(f.pid, SIGPIPE); /* not one of those */
        kill(f.pid, signals[i]);
        assert_int_equal(fixture_wait(&f), KEEPER_DONE);
        assert_int_equal(f.look.exit.cause, CAUSE_SIGNAL_TO_KEEPER);
        assert_int_equal(f.look.exit.signal, SIGTERM);
        fixture_release(&f);
    }
}

TEST(a_stop_before_the_start_starts_nothing)
{
    struct fixture f;
    struct err err = ERR_INIT;

    fixture_init(&f, "touch $DIR/ran");
    assert_ok(fs_make_dirs(f.dir, 0755, &err), &err);
    autofree(mem) char *state = xasprintf("%s/state", f.dir);
    int fd = open(state, O_CREAT | O_WRONLY, 0644);
    assert_int_equal(ftruncate(fd, STATE_FILE_SIZE), 0);
    close(fd);
    assert_ok(exec_stop(f.dir, false, 0, &err), &err);
    fixture_run(&f);
    assert_int_equal(f.look.exit.cause, CAUSE_STOP);
    assert_false(fixture_has(&f, "ran"));
    fixture_release(&f);
}

TEST(a_stop_of_an_ended_attempt_is_no_error)
{
    struct fixture f;
    struct err err = ERR_INIT;

    fixture_init(&f, "exit 2");
    fixture_run(&f);
    assert_ok(exec_stop(f.dir, true, 0, &err), &err);
    assert_ok(exec_look(f.dir, &f.look, &err), &err);
    assert_int_equal(f.look.exit.status, 2);
    fixture_release(&f);
}

TEST(a_program_that_empties_its_state_file_can_be_stopped)
{
    struct fixture f;
    struct err err = ERR_INIT;

    begin(&f, ": >attempts/7/state; touch $DIR/up; sleep 1000", true);
    wait_until(fixture_has(&f, "up"));
    /* The keeper may write its record once more, just after the birth. */
    assert_ok(exec_look(f.dir, &f.look, &err), &err);
    assert_int_equal(f.look.life, LIFE_ALIVE);
    assert_int_equal(f.look.keeper.keeper_pid, f.pid);
    assert_ok(exec_stop(f.dir, false, 50000, &err), &err);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.life, LIFE_ENDED);
    assert_int_equal(f.look.exit.cause, CAUSE_STOP);
    fixture_release(&f);
}

TEST(a_keeper_that_somebody_stopped_hears_all_the_same)
{
    struct fixture f;
    struct err err = ERR_INIT;

    begin(&f, "kill -STOP $PPID; touch $DIR/up; sleep 1000", true);
    wait_until(fixture_has(&f, "up"));
    assert_ok(exec_stop(f.dir, false, 50000, &err), &err);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.exit.cause, CAUSE_STOP);
    fixture_release(&f);
}

TEST(a_pipe_in_the_place_of_a_file_holds_nobody_up)
{
    struct fixture f;
    struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;

    begin(&f, "cd attempts/7; for n in state stdout stderr; do rm $n; mkfifo $n; done; exit 3",
          true);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.life, LIFE_NONE);
    exec_tail(f.dir, 1000, &text);
    assert_int_equal(text.len, 0);
    assert_int_equal(exec_sweep(f.dir, f.attempt_id, &err), 0);
    assert_true(exec_stop(f.dir, true, 0, &err) < 0);
    err_release(&err);
    fixture_release(&f);
}

TEST(a_request_with_a_wrong_seal_is_not_followed)
{
    struct fixture f;
    struct stop_request request = {.magic = REQUEST_MAGIC, .cause = CAUSE_KILL, .crc = 1};

    begin(&f, "touch $DIR/up; while [ ! -e $DIR/go ]; do sleep 0.01; done; exit 8", true);
    wait_until(fixture_has(&f, "up"));
    autofree(mem) char *state = xasprintf("%s/state", f.dir);
    int fd = open(state, O_WRONLY);
    assert_int_equal(pwrite(fd, &request, sizeof(request), STATE_REQUEST_AT), sizeof(request));
    close(fd);
    kill(f.pid, SIGUSR1);
    autofree(mem) char *go = xasprintf("%s/go", f.home);
    close(open(go, O_CREAT | O_WRONLY, 0644));
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.exit.cause, CAUSE_NONE);
    assert_int_equal(f.look.exit.status, 8);
    fixture_release(&f);
}

TEST_MAIN
