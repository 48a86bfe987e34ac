/* SPDX-License-Identifier: MIT */
/*
 * sweep_test.c — a keeper that was killed leaves its program running; the sweep ends it all, and
 * nothing else.
 */
#include "exec/fixture.h"

#define SCRIPT                                                                                     \
    "trap '' TERM HUP; (setsid sh -c 'trap \"\" TERM; echo $$ >$DIR/d; mv $DIR/d $DIR/daemon; "    \
    "while :; do sleep 0.05; done' &); (env -i sh -c 'echo $$ >e; mv e bare; "                     \
    "while :; do sleep 0.05; done' &); while [ ! -e $DIR/daemon -o ! -e $DIR/bare ]; do "          \
    "sleep 0.01; done; touch $DIR/up; while :; do sleep 0.05; done"

/* The keeper notes the program's number just after its birth: killed before, it never does. */
static void wait_until_noted(struct fixture *f)
{
    wait_until(exec_look(f->dir, &f->look, NULL) == 0 && f->look.keeper.program_pid > 0);
}

static void check_sweep(bool cgroups, uint64_t memory)
{
    struct fixture f;
    struct err err = ERR_INIT;
    pid_t pids[3];

    fixture_init(&f, SCRIPT);
    if (!cgroups)
        fixture_without_cgroups(&f);
    f.launch.memory_bytes = memory;
    fixture_start(&f);
    wait_until(fixture_has(&f, "up"));
    wait_until_noted(&f);
    assert_int_equal(exec_sweep(f.dir, f.attempt_id, &err), -EBUSY); /* its keeper lives */
    err_release(&err);
    kill(f.pid, SIGKILL);
    assert_int_equal(fixture_wait(&f), -SIGKILL);
    assert_int_equal(f.look.life, LIFE_LOST);
    pids[0] = f.look.keeper.program_pid;
    pids[1] = fixture_pid(&f, "daemon");
    pids[2] = fixture_pid(&f, "bare");
    for (size_t i = 0; i < 3; i++)
        assert_true(process_runs(pids[i]));
    assert_true(exec_sweep(f.dir, f.attempt_id, &err) >= 3);
    for (size_t i = 0; i < 3; i++)
        wait_until(!process_runs(pids[i]));
    assert_int_equal(exec_sweep(f.dir, f.attempt_id, &err), 0);
    check_no_cgroup(&f);
    fixture_release(&f);
}

TEST(a_sweep_ends_all_that_a_lost_keeper_left)
{
    check_sweep(true, 0);
    check_sweep(true, 1u << 30);
    check_sweep(false, 0);
}

TEST(a_sweep_of_a_copied_folder_leaves_the_original_alone)
{
    struct fixture f;
    struct err err = ERR_INIT;

    fixture_init(&f, "touch $DIR/up; sleep 1000");
    fixture_start(&f);
    wait_until(fixture_has(&f, "up"));
    wait_until_noted(&f);
    autofree(mem) char *copy = xasprintf("%s/copy", f.home);
    autofree(mem) char *from = xasprintf("%s/state", f.dir), *to = xasprintf("%s/state", copy);
    autorelease(str) struct str bytes = STR_INIT;
    assert_ok(fs_make_dirs(copy, 0755, &err), &err);
    assert_ok(fs_read(from, 1 << 20, &bytes, &err), &err);
    assert_ok(fs_write_atomic(to, bytes.s, bytes.len, 0644, &err), &err);
    assert_int_equal(exec_sweep(copy, "another", &err), 0);
    assert_true(process_runs(f.look.keeper.program_pid));
    assert_ok(exec_stop(f.dir, true, 0, &err), &err);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.exit.cause, CAUSE_KILL);
    fixture_release(&f);
}

TEST(a_lost_attempt_is_not_started_again)
{
    struct fixture f;
    struct err err = ERR_INIT;

    fixture_init(&f, "echo run >>$DIR/runs; touch $DIR/up; sleep 1000");
    fixture_start(&f);
    wait_until(fixture_has(&f, "up"));
    kill(f.pid, SIGKILL);
    assert_int_equal(fixture_wait(&f), -SIGKILL);
    fixture_start(&f);
    assert_int_equal(fixture_wait(&f), KEEPER_LOST);
    assert_int_equal(f.look.life, LIFE_LOST);
    assert_true(exec_sweep(f.dir, f.attempt_id, &err) >= 1);
    autofree(mem) char *runs = fixture_read(&f, "runs");
    assert_string_equal(runs, "run\n");
    assert_int_equal(exec_stop(f.dir, true, 0, &err), -ESRCH);
    err_release(&err);
    fixture_release(&f);
}

/* Killed at an instant of its life that the round chooses; started again as an engine would. */
static void check_killed_at(int round)
{
    struct fixture f;
    struct err err = ERR_INIT;
    int64_t until;

    fixture_init(&f, "echo run >>$DIR/runs; exec sleep 1000");
    fixture_start(&f);
    until = clock_mono_us() + round * 25;
    while (clock_mono_us() < until)
        ;
    kill(f.pid, SIGKILL);
    fixture_wait(&f);
    if (f.look.life == LIFE_NONE) { /* it had not begun: the same attempt may start again */
        fixture_start(&f);
        wait_until(fixture_has(&f, "runs"));
        kill(f.pid, SIGKILL);
        fixture_wait(&f);
    }
    assert_int_equal(f.look.life, LIFE_LOST);
    assert_true(exec_sweep(f.dir, f.attempt_id, &err) >= 0);
    assert_int_equal(exec_sweep(f.dir, f.attempt_id, &err), 0);
    autofree(mem) char *runs = fixture_read(&f, "runs");
    assert_true(str_eq(runs, "run\n") || str_eq(runs, ""));
    check_no_cgroup(&f);
    fixture_release(&f);
}

TEST(a_keeper_killed_at_any_instant_leaves_nothing_and_nothing_runs_twice)
{
    for (int round = 0; round < 60; round++)
        check_killed_at(round);
}

TEST(a_sweep_leaves_others_alone)
{
    struct fixture f, other;
    struct err err = ERR_INIT;

    fixture_init(&f, "touch $DIR/up; sleep 1000");
    fixture_init(&other, "touch $DIR/up; while [ ! -e $DIR/go ]; do sleep 0.01; done; exit 3");
    /* an id of which the swept one is a prefix */
    free(other.env[1]);
    other.env[1] = xasprintf("HONE_ATTEMPT_ID=%s0", f.attempt_id);
    fixture_start(&f);
    fixture_start(&other);
    wait_until(fixture_has(&f, "up") && fixture_has(&other, "up"));
    kill(f.pid, SIGKILL);
    fixture_wait(&f);
    assert_true(exec_sweep(f.dir, f.attempt_id, &err) >= 1);
    autofree(mem) char *go = xasprintf("%s/go", other.home);
    close(open(go, O_CREAT | O_WRONLY, 0644));
    assert_int_equal(fixture_wait(&other), KEEPER_DONE);
    assert_int_equal(other.look.exit.status, 3);
    fixture_release(&other);
    fixture_release(&f);
}

TEST(after_another_boot_there_is_nothing_to_kill)
{
    struct fixture f;
    struct err err = ERR_INIT;
    int fd;

    fixture_init(&f, "touch $DIR/up; sleep 1000");
    fixture_start(&f);
    wait_until(fixture_has(&f, "up"));
    wait_until_noted(&f);
    kill(f.pid, SIGKILL);
    fixture_wait(&f);
    struct keeper_record record = f.look.keeper, real = record;
    record.boot_id[0] ^= 1;
    record.crc = RECORD_CRC(&record);
    autofree(mem) char *state = xasprintf("%s/state", f.dir);
    fd = open(state, O_WRONLY);
    assert_int_equal(pwrite(fd, &record, sizeof(record), STATE_KEEPER_AT), sizeof(record));
    assert_ok(exec_look(f.dir, &f.look, &err), &err);
    assert_int_equal(f.look.life, LIFE_LOST);
    assert_int_equal(exec_watch(&f.look, &(int){0}), -ESRCH);
    assert_int_equal(exec_sweep(f.dir, f.attempt_id, &err), 0);
    assert_true(process_runs(real.program_pid));
    assert_int_equal(pwrite(fd, &real, sizeof(real), STATE_KEEPER_AT), sizeof(real));
    close(fd);
    assert_true(exec_sweep(f.dir, f.attempt_id, &err) >= 1);
    fixture_release(&f);
}

/* Whatever the byte is, it is another one then: it may be part of a process id. */
static void flip_byte(int fd, off_t at)
{
    uint8_t byte;

    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0xff;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

TEST(a_record_that_was_torn_counts_as_absent)
{
    struct fixture f;
    struct err err = ERR_INIT;

    fixture_init(&f, "exit 0");
    fixture_run(&f);
    autofree(mem) char *state = xasprintf("%s/state", f.dir);
    int fd = open(state, O_RDWR);
    flip_byte(fd, STATE_EXIT_AT + 20);
    assert_ok(exec_look(f.dir, &f.look, &err), &err);
    assert_int_equal(f.look.life, LIFE_LOST);
    assert_int_equal(f.look.exit.magic, 0);
    flip_byte(fd, STATE_KEEPER_AT + 20);
    close(fd);
    assert_ok(exec_look(f.dir, &f.look, &err), &err);
    assert_int_equal(f.look.life, LIFE_NONE);
    fixture_release(&f);
}

TEST_MAIN
