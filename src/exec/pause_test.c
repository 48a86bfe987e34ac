/* SPDX-License-Identifier: MIT */
/*
 * pause_test.c — a paused attempt stands still with all that it started, no clock of it runs, and
 * it goes on or ends as if nothing had been. Each with every way to hold a tree that this machine
 * has.
 */
#include "exec/fixture.h"

#include "exec/state.h"
#include <sys/stat.h>

/* How the tree is held. */
enum way { WAY_MACHINE, WAY_V1, WAY_NONE, WAYS };

/* Counts into $DIR/NAME about a hundred times a second. */
#define COUNTER(name) "i=0; while :; do i=$((i+1)); echo $i >>$DIR/" name "; sleep 0.01; done"
#define DAEMON(name)  "(setsid sh -c '" COUNTER(name) "' </dev/null >/dev/null 2>&1 &); "

static char *v1_folder;

static bool begin(struct fixture *f, const char *script, enum way way)
{
    fixture_init(f, script);
    if (way != WAY_MACHINE)
        fixture_without_cgroups(f);
    if (way == WAY_V1) {
        v1_folder = xasprintf("/sys/fs/cgroup/freezer/hone-unit-%d", (int)getpid());
        if (mkdir(v1_folder, 0755) < 0) {
            free(TAKE(v1_folder));
            fixture_release(f);
            return false;
        }
        *(struct cgroup_plan *)exec_cgroups(f->exec) =
            (struct cgroup_plan){.kind = CGROUP_V1, .tree = xstrdup(v1_folder)};
    }
    return true;
}

static void end(struct fixture *f)
{
    check_no_cgroup(f);
    fixture_release(f);
    free(TAKE(v1_folder));
}

static size_t size_of(const struct fixture *f, const char *name)
{
    autofree(mem) char *path = xasprintf("%s/%s", f->home, name);
    struct stat st;

    return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

static int64_t turn_of(struct fixture *f)
{
    return exec_look(f->dir, &f->look, NULL) == 0 ? f->look.turn.turn : -1;
}

static void take_turn(struct fixture *f, int64_t turn)
{
    struct err err = ERR_INIT;

    assert_ok(exec_pause(f->dir, turn, &err), &err);
    wait_until(turn_of(f) >= turn);
    assert_int_equal(f->look.turn.turn, turn);
}

static void check_stands_still(const struct fixture *f, const char *name)
{
    size_t size = size_of(f, name);

    assert_true(size > 0);
    poll(NULL, 0, 40);
    assert_int_equal(size_of(f, name), size);
}

static void check_moves(const struct fixture *f, const char *name)
{
    size_t size = size_of(f, name);

    wait_until(size_of(f, name) > size);
}

static void kill_now(struct fixture *f)
{
    struct err err = ERR_INIT;

    assert_ok(exec_stop(f->dir, true, 0, &err), &err);
    assert_int_equal(fixture_wait(f), KEEPER_DONE);
    assert_int_equal(f->look.exit.cause, CAUSE_KILL);
}

TEST(a_paused_tree_stands_still_with_its_daemons_and_goes_on)
{
    for (enum way way = 0; way < WAYS; way++) {
        struct fixture f;
        if (!begin(&f, DAEMON("b") COUNTER("a"), way))
            continue;
        fixture_start(&f);
        wait_until(size_of(&f, "a") && size_of(&f, "b"));
        take_turn(&f, 1);
        assert_true(f.look.turn.used_bytes > 0);
        assert_int_equal(f.look.turn.paused_us, 0);
        check_stands_still(&f, "a");
        check_stands_still(&f, "b");
        take_turn(&f, 2);
        assert_true(f.look.turn.paused_us >= 80000);
        check_moves(&f, "a");
        check_moves(&f, "b");
        take_turn(&f, 3);
        check_stands_still(&f, "a");
        check_stands_still(&f, "b");
        kill_now(&f);
        end(&f);
    }
}

TEST(a_tree_that_forks_without_end_is_caught_whole)
{
    for (enum way way = 0; way < WAYS; way++) {
        struct fixture f;
        if (!begin(&f,
                   "echo 'echo x >>$DIR/a; sleep 0.02; setsid sh $DIR/run & exit' >$DIR/run; "
                   "for i in 1 2 3 4; do sh $DIR/run; done; sleep 1000",
                   way))
            continue;
        fixture_start(&f);
        wait_until(size_of(&f, "a") > 20);
        for (int64_t turn = 1; turn < 6; turn += 2) {
            take_turn(&f, turn);
            check_stands_still(&f, "a");
            take_turn(&f, turn + 1);
            check_moves(&f, "a");
        }
        kill_now(&f);
        end(&f);
    }
}

TEST(what_is_asked_late_or_twice_does_nothing)
{
    struct fixture f;
    struct err err = ERR_INIT;

    begin(&f, COUNTER("a"), WAY_MACHINE);
    fixture_start(&f);
    wait_until(size_of(&f, "a"));
    take_turn(&f, 1);
    assert_ok(exec_pause(f.dir, 1, &err), &err);
    take_turn(&f, 4);
    assert_ok(exec_pause(f.dir, 3, &err), &err); /* it comes late: it is over already */
    check_moves(&f, "a");
    assert_int_equal(turn_of(&f), 4);
    take_turn(&f, 5);
    take_turn(&f, 7); /* paused is what it is */
    check_stands_still(&f, "a");
    kill_now(&f);
    assert_ok(exec_pause(f.dir, 8, &err), &err); /* nobody there any more */
    end(&f);
}

static bool has_ended(struct fixture *f)
{
    return exec_look(f->dir, &f->look, NULL) == 0 && f->look.life == LIFE_ENDED;
}

/* Starts it with this limit and pauses it as soon as it is up. False if its time was over before, as it
 * may be on a busy machine: then it ran for all of it, and is put away. */
static bool start_and_pause(struct fixture *f, int64_t limit_us)
{
    struct err err = ERR_INIT;

    f->launch.time_limit_us = limit_us;
    fixture_start(f);
    wait_until(fixture_has(f, "up") || has_ended(f));
    assert_ok(exec_pause(f->dir, 1, &err), &err);
    wait_until(turn_of(f) >= 1 || has_ended(f));
    if (f->look.life != LIFE_ENDED)
        return true;
    fixture_wait(f);
    assert_int_equal(f->look.exit.cause, CAUSE_TIME);
    assert_true(f->look.exit.run_us >= limit_us);
    end(f);
    return false;
}

/* The limit is shorter than the pause. False if the run was longer than the limit. */
static bool check_no_clock_runs(enum way way, int64_t limit_us)
{
    struct fixture f;
    struct err err = ERR_INIT;

    if (!begin(&f, "touch $DIR/up; while [ ! -e $DIR/go ]; do sleep 0.01; done", way))
        return true;
    if (!start_and_pause(&f, limit_us))
        return false;
    poll(NULL, 0, (int)(limit_us / 1000) + 50);
    assert_int_equal(turn_of(&f), 1);
    autofree(mem) char *go = xasprintf("%s/go", f.home);
    close(open(go, O_CREAT | O_WRONLY, 0644));
    assert_ok(exec_pause(f.dir, 2, &err), &err);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.turn.turn, 2);
    assert_true(f.look.turn.paused_us >= limit_us);
    assert_true(f.look.exit.ended_wall_us - f.look.exit.started_wall_us >= limit_us);
    bool in_time = f.look.exit.cause == CAUSE_NONE;
    if (in_time)
        assert_int_equal(f.look.exit.status, 0);
    else
        assert_true(f.look.exit.run_us >= limit_us);
    end(&f);
    return in_time;
}

TEST(no_clock_runs_while_it_is_paused)
{
    for (enum way way = WAY_MACHINE; way < WAYS; way += WAY_NONE) {
        int64_t limit_us = US_PER_S;
        while (!check_no_clock_runs(way, limit_us))
            limit_us *= 2;
    }
}

TEST(what_is_left_of_its_time_ends_it_after_the_pause)
{
    struct fixture f;
    int64_t limit_us = US_PER_S / 2;

    do {
        limit_us *= 2;
        begin(&f, "touch $DIR/up; sleep 1000", WAY_MACHINE);
    } while (!start_and_pause(&f, limit_us));
    poll(NULL, 0, 200);
    take_turn(&f, 2);
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(f.look.exit.cause, CAUSE_TIME);
    assert_true(f.look.exit.run_us >= limit_us);
    assert_true(f.look.exit.ended_wall_us - f.look.exit.started_wall_us >=
                f.look.exit.run_us + 200000);
    end(&f);
}

TEST(a_paused_program_that_is_stopped_may_still_write_its_checkpoint)
{
    for (enum way way = 0; way < WAYS; way++) {
        struct fixture f;
        struct err err = ERR_INIT;
        if (!begin(&f, "trap 'sleep 0.05; echo saved >$DIR/checkpoint; exit 0' TERM; " COUNTER("a"),
                   way))
            continue;
        fixture_start(&f);
        wait_until(size_of(&f, "a"));
        take_turn(&f, 1);
        assert_ok(exec_stop(f.dir, false, 20 * US_PER_S, &err), &err);
        assert_int_equal(fixture_wait(&f), KEEPER_DONE);
        assert_int_equal(f.look.exit.cause, CAUSE_STOP);
        assert_int_equal(f.look.exit.status, 0);
        assert_true(fixture_has(&f, "checkpoint"));
        assert_int_equal(f.look.turn.turn, 2); /* the stop ended the pause */
        end(&f);
    }
}

TEST(a_paused_program_deaf_to_the_stop_is_killed_after_the_grace)
{
    for (enum way way = 0; way < WAYS; way++) {
        struct fixture f;
        struct err err = ERR_INIT;
        if (!begin(&f, "trap '' TERM; " DAEMON("b") COUNTER("a"), way))
            continue;
        fixture_start(&f);
        wait_until(size_of(&f, "a") && size_of(&f, "b"));
        take_turn(&f, 1);
        assert_ok(exec_stop(f.dir, false, 50000, &err), &err);
        assert_int_equal(fixture_wait(&f), KEEPER_DONE);
        assert_int_equal(f.look.exit.signal, SIGKILL);
        end(&f);
    }
}

TEST(a_keeper_killed_while_paused_leaves_nothing_to_the_sweep)
{
    for (enum way way = 0; way < WAYS; way++) {
        struct fixture f;
        struct err err = ERR_INIT;
        if (!begin(&f, DAEMON("b") "echo $$ >$DIR/p; mv $DIR/p $DIR/pid; " COUNTER("a"), way))
            continue;
        fixture_start(&f);
        wait_until(size_of(&f, "b") && size_of(&f, "a"));
        pid_t pid = fixture_pid(&f, "pid");
        take_turn(&f, 1);
        kill(f.pid, SIGKILL);
        fixture_wait(&f);
        assert_int_equal(f.look.life, LIFE_LOST);
        assert_int_equal(f.look.turn.turn, 1);
        assert_true(exec_sweep(f.dir, f.attempt_id, &err) >= 2);
        assert_false(process_runs(pid));
        end(&f);
    }
}

TEST(a_pause_before_the_start_holds_from_the_beginning)
{
    struct fixture f;
    struct err err = ERR_INIT;

    begin(&f, "sleep 0.01; " COUNTER("a"), WAY_MACHINE);
    assert_ok(state_prepare(&f.launch, &err), &err);
    assert_ok(exec_pause(f.dir, 1, &err), &err);
    fixture_start(&f);
    wait_until(turn_of(&f) == 1);
    size_t size = size_of(&f, "a");
    poll(NULL, 0, 50);
    assert_int_equal(size_of(&f, "a"), size);
    take_turn(&f, 2);
    wait_until(size_of(&f, "a"));
    kill_now(&f);
    end(&f);
}

TEST(memory_is_watched_while_it_is_paused)
{
    struct fixture f;
    struct err err = ERR_INIT;

    begin(&f, "sleep 1000", WAY_NONE);
    f.launch.memory_bytes = 4096; /* any process is over that, however early it was stopped */
    assert_ok(state_prepare(&f.launch, &err), &err);
    assert_ok(exec_pause(f.dir, 1, &err), &err);
    fixture_run(&f);
    assert_int_equal(f.look.exit.cause, CAUSE_MEMORY);
    end(&f);
}

TEST(a_turn_with_a_wrong_seal_is_not_taken)
{
    struct fixture f;
    struct turn_request request = {.magic = ASKED_MAGIC, .turn = 1, .crc = 1};

    begin(&f, COUNTER("a"), WAY_MACHINE);
    fixture_start(&f);
    wait_until(size_of(&f, "a"));
    autofree(mem) char *state = xasprintf("%s/state", f.dir);
    int fd = open(state, O_WRONLY);
    assert_int_equal(pwrite(fd, &request, sizeof(request), STATE_ASKED_AT), sizeof(request));
    close(fd);
    kill(f.pid, SIGUSR1);
    check_moves(&f, "a");
    check_moves(&f, "a");
    assert_int_equal(turn_of(&f), 0);
    take_turn(&f, 1);
    check_stands_still(&f, "a");
    kill_now(&f);
    end(&f);
}

TEST_MAIN
