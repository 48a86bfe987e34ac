/* SPDX-License-Identifier: MIT */
/*
 * limits_test.c — time, memory and output are held to what the launch says.
 */
#include "exec/fixture.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

TEST(a_time_limit_ends_the_program_and_is_told)
{
    struct fixture f;

    fixture_init(&f, "sleep 1000");
    f.launch.time_limit_us = 50000;
    fixture_run(&f);
    assert_int_equal(f.look.exit.cause, CAUSE_TIME);
    assert_int_equal(f.look.exit.signal, SIGTERM);
    assert_true(f.look.exit.run_us >= 50000);
    check_no_cgroup(&f);
    fixture_release(&f);
}

/* The script makes "up" when it has set its trap. On a busy machine its time may be over before: then it
 * gets more. */
static void run_until_up(struct fixture *f, const char *script, int64_t grace_us)
{
    for (int64_t limit_us = 50000;; limit_us *= 2) {
        fixture_init(f, script);
        f->launch.time_limit_us = limit_us;
        f->launch.grace_us = grace_us;
        fixture_run(f);
        if (fixture_has(f, "up"))
            return;
        assert_int_equal(f->look.exit.cause, CAUSE_TIME);
        assert_true(f->look.exit.run_us >= limit_us);
        fixture_release(f);
    }
}

TEST(a_time_limit_holds_for_a_program_that_ignores_sigterm)
{
    struct fixture f;

    run_until_up(&f, "trap '' TERM; touch $DIR/up; while :; do sleep 0.01; done", 50000);
    assert_int_equal(f.look.exit.cause, CAUSE_TIME);
    assert_int_equal(f.look.exit.signal, SIGKILL);
    fixture_release(&f);
}

TEST(a_time_limit_holds_for_a_program_that_stopped_itself)
{
    struct fixture f;

    fixture_init(&f, "kill -STOP $$; exit 5");
    f.launch.time_limit_us = 50000;
    fixture_run(&f);
    assert_int_equal(f.look.exit.cause, CAUSE_TIME);
    assert_int_equal(f.look.exit.signal, SIGTERM);
    fixture_release(&f);
}

TEST(what_a_program_does_with_its_grace_counts)
{
    struct fixture f;

    run_until_up(&f,
                 "trap 'echo saved; exit 85' TERM; touch $DIR/up; while :; do sleep 0.01; done",
                 60 * US_PER_S);
    assert_int_equal(f.look.exit.cause, CAUSE_TIME);
    assert_int_equal(f.look.exit.status, 85);
    autofree(mem) char *out = fixture_read(&f, "attempts/7/stdout");
    assert_string_equal(out, "saved\n");
    fixture_release(&f);
}

/* tail keeps all of a line without end: memory grows to what head gives. */
#define HOG "head -c 300000000 /dev/zero | tail >/dev/null; echo survived"

TEST(the_kernels_memory_limit_is_told_as_such)
{
    struct fixture f;

    fixture_init(&f, "exec tail /dev/zero");
    if (!exec_cgroups(f.exec)->limits_memory) {
        fixture_release(&f);
        SKIP("no memory cgroup here");
    }
    f.launch.memory_bytes = 40 << 20;
    fixture_run(&f);
    assert_int_equal(f.look.exit.signal, SIGKILL);
    assert_true(f.look.exit.oom > 0);
    assert_int_equal(f.look.exit.cause, CAUSE_MEMORY);
    check_no_cgroup(&f);
    fixture_release(&f);
}

TEST(a_child_killed_for_memory_is_counted_even_if_the_program_goes_on)
{
    struct fixture f;

    fixture_init(&f, HOG);
    if (!exec_cgroups(f.exec)->limits_memory || exec_cgroups(f.exec)->kind == CGROUP_V2) {
        fixture_release(&f); /* v2 kills the whole group */
        SKIP("no v1 memory cgroup here");
    }
    f.launch.memory_bytes = 40 << 20;
    fixture_run(&f);
    assert_int_equal(f.look.exit.status, 0);
    assert_true(f.look.exit.oom > 0);
    assert_int_equal(f.look.exit.cause, CAUSE_NONE);
    fixture_release(&f);
}

TEST(without_a_cgroup_the_keeper_sums_memory_over_the_tree)
{
    struct fixture f;

    fixture_init(&f, "head -c 3000000000 /dev/zero | tail | cat; sleep 1000");
    fixture_without_cgroups(&f);
    f.launch.memory_bytes = 40 << 20;
    fixture_run(&f);
    assert_int_equal(f.look.exit.cause, CAUSE_MEMORY);
    assert_int_equal(f.look.exit.signal, SIGKILL);
    fixture_release(&f);
}

TEST(memory_within_the_limit_is_left_alone)
{
    struct fixture f;

    fixture_init(&f, "head -c 20000000 /dev/zero | tail >/dev/null; sleep 0.6; exit 9");
    fixture_without_cgroups(&f);
    f.launch.memory_bytes = 400 << 20;
    fixture_run(&f);
    assert_int_equal(f.look.exit.cause, CAUSE_NONE);
    assert_int_equal(f.look.exit.status, 9);
    fixture_release(&f);
}

/* Lines of eight bytes, "0000000\n" on: a byte's place tells its value. */
static void check_stream(const struct fixture *f, uint64_t dropped, size_t keep)
{
    autofree(mem) char *path = xasprintf("%s/stdout", f->dir);
    autorelease(str) struct str text = STR_INIT;
    struct err err = ERR_INIT;
    struct stat st;

    assert_ok(fs_read(path, 64 << 20, &text, &err), &err);
    assert_int_equal(stat(path, &st), 0);
    for (size_t i = 0; i < text.len; i++) {
        char line[24];
        bool hole = i >= keep && i < keep + dropped;
        snprintf(line, sizeof(line), "%07zu\n", i / 8);
        if (text.s[i] != (hole ? '\0' : line[i % 8]))
            fail_msg("byte %zu is %d", i, text.s[i]);
    }
    if (dropped)
        assert_true((uint64_t)st.st_blocks * 512 < (uint64_t)st.st_size);
}

TEST(output_over_the_cap_loses_its_middle_and_the_bytes_are_counted)
{
    struct fixture f;
    size_t size = 8 * 400001, cap = 256 << 10, keep = cap / 2;

    fixture_init(&f, "seq -f %07.0f 0 400000; echo short >&2");
    f.launch.output_bytes = cap;
    fixture_run(&f);
    assert_int_equal(f.look.exit.status, 0);
    uint64_t dropped = f.look.exit.dropped_stdout;
    assert_int_equal(dropped, (size - keep) / 4096 * 4096 - keep);
    assert_int_equal(f.look.exit.dropped_stderr, 0);
    check_stream(&f, dropped, keep);
    fixture_release(&f);
}

TEST(output_is_capped_while_the_program_runs)
{
    struct fixture f;

    fixture_init(&f, "seq -f %07.0f 0 400000; while [ ! -e $DIR/go ]; do sleep 0.01; done");
    f.launch.output_bytes = 256 << 10;
    fixture_start(&f);
    autofree(mem) char *path = xasprintf("%s/stdout", f.dir);
    struct stat st;
    wait_until(stat(path, &st) == 0 && st.st_size == 8 * 400001 &&
               st.st_blocks * 512 <= (256 << 10) + 8192);
    autofree(mem) char *go = xasprintf("%s/go", f.home);
    close(open(go, O_CREAT | O_WRONLY, 0644));
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    check_stream(&f, f.look.exit.dropped_stdout, 128 << 10);
    fixture_release(&f);
}

TEST(the_cap_holds_after_the_program_has_cut_its_output)
{
    struct fixture f;

    fixture_init(&f, "seq -f %07.0f 0 800000; while [ ! -e $DIR/go ]; do sleep 0.01; done; "
                     ": >/dev/stdout; seq -f %07.0f 0 400000");
    f.launch.output_bytes = 256 << 10;
    fixture_start(&f);
    autofree(mem) char *path = xasprintf("%s/stdout", f.dir);
    struct stat st;
    wait_until(stat(path, &st) == 0 && st.st_size == 8 * 800001 &&
               st.st_blocks * 512 <= (256 << 10) + 8192);
    autofree(mem) char *go = xasprintf("%s/go", f.home);
    close(open(go, O_CREAT | O_WRONLY, 0644));
    assert_int_equal(fixture_wait(&f), KEEPER_DONE);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 8 * 400001);
    assert_true(st.st_blocks * 512 <= (256 << 10) + 8192);
    assert_true(f.look.exit.dropped_stdout > 8 * 800001 - (512 << 10)); /* of both */
    fixture_release(&f);
}

TEST(output_below_the_cap_is_whole)
{
    struct fixture f;

    fixture_init(&f, "seq -f %07.0f 0 1000");
    f.launch.output_bytes = 256 << 10;
    fixture_run(&f);
    assert_int_equal(f.look.exit.dropped_stdout, 0);
    check_stream(&f, 0, 0);
    fixture_release(&f);
}

/* In a mount namespace of its own: a file system of 512 KiB. */
static int fill_the_disk(struct fixture *f)
{
    struct err err = ERR_INIT;

    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", f->home, "tmpfs", 0, "size=512k") < 0)
        return 77;
    if (exec_start(f->exec, &f->launch, &f->pid, &f->pidfd, &err) < 0)
        return 1;
    waitpid(f->pid, NULL, 0);
    if (exec_look(f->dir, &f->look, &err) < 0 || f->look.life != LIFE_ENDED)
        return 2;
    return f->look.exit.status == 17 ? 0 : 3;
}

TEST(a_full_disk_does_not_cost_the_exit_record)
{
    struct fixture f;
    int status;

    fixture_init(&f, "head -c 4000000 /dev/zero && exit 1; exit 17");
    pid_t pid = fork();
    if (pid == 0)
        _exit(fill_the_disk(&f));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    fixture_release(&f);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("cannot mount a small disk");
    assert_int_equal(status, 0);
}

TEST_MAIN
