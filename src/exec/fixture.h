/* SPDX-License-Identifier: MIT */
/*
 * fixture.h — for the tests of exec: a folder that goes away, an attempt of a shell script, and
 * waiting for conditions with a deadline.
 */
#ifndef HONE_EXEC_FIXTURE_H
#define HONE_EXEC_FIXTURE_H

#include "tests/test.h"

#include "exec/exec.h"
#include "exec/launch_args.h"
#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_US (60 * US_PER_S)

struct fixture {
    struct exec *exec;
    struct launch launch; /* change it before fixture_start */
    char *home, *dir, *attempt_id;
    const char *argv[4];
    char *env[8];
    pid_t pid;
    int pidfd;
    struct attempt_look look;
};

/* A fresh folder and an attempt that runs `script` with sh. */
static inline UNUSED void fixture_init(struct fixture *f, const char *script)
{
    struct err err = ERR_INIT;
    const char *tmp = getenv("TMPDIR");
    static int64_t attempt = 0;

    *f = (struct fixture){.pidfd = -1, .argv = {"sh", "-c", script, NULL}};
    f->home = xasprintf("%s/hone-exec-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(f->home));
    f->dir = xasprintf("%s/attempts/7", f->home);
    f->attempt_id = xasprintf("test%d-%lld", (int)getpid(), (long long)++attempt);
    f->env[0] = xstrdup("PATH=/usr/local/bin:/usr/bin:/bin");
    f->env[1] = xasprintf("HONE_ATTEMPT_ID=%s", f->attempt_id);
    f->env[2] = xasprintf("DIR=%s", f->home);
    f->launch = (struct launch){.attempt = attempt,
                                .attempt_id = f->attempt_id,
                                .dir = f->dir,
                                .cwd = f->home,
                                .params_json = "{\"x\": 1}",
                                .control_json = "{}",
                                .argv = (char *const *)f->argv,
                                .envp = f->env,
                                .grace_us = 200000};
    autofree(mem) char *id = xasprintf("test%d", (int)getpid());
    assert_ok(exec_new(id, &f->exec, &err), &err);
}

/* From here on this starter does without cgroups, as a plain user would. */
static inline UNUSED void fixture_without_cgroups(struct fixture *f)
{
    struct cgroup_plan *plan = (struct cgroup_plan *)exec_cgroups(f->exec);

    if (plan->tree)
        rmdir(plan->tree);
    if (plan->memory)
        rmdir(plan->memory);
    cgroup_plan_release(plan);
}

static inline UNUSED void fixture_start(struct fixture *f)
{
    struct err err = ERR_INIT;

    assert_ok(exec_start(f->exec, &f->launch, &f->pid, &f->pidfd, &err), &err);
}

/* Until the keeper ends; returns its exit code. */
static inline UNUSED int fixture_wait(struct fixture *f)
{
    struct pollfd wait = {.fd = f->pidfd, .events = POLLIN};
    struct err err = ERR_INIT;
    int status = 0;

    assert_int_equal(poll(&wait, 1, (int)(DEADLINE_US / 1000)), 1);
    assert_int_equal(waitpid(f->pid, &status, 0), f->pid);
    close(f->pidfd);
    f->pidfd = -1;
    assert_ok(exec_look(f->dir, &f->look, &err), &err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline UNUSED void fixture_run(struct fixture *f)
{
    fixture_start(f);
    assert_int_equal(fixture_wait(f), KEEPER_DONE);
    assert_int_equal(f->look.life, LIFE_ENDED);
}

static inline UNUSED void fixture_release(struct fixture *f)
{
    struct err err = ERR_INIT;

    exec_free(f->exec);
    assert_ok(fs_remove_tree(f->home, &err), &err);
    free(f->home);
    free(f->dir);
    free(f->attempt_id);
    for (size_t i = 0; i < ARRAY_LEN(f->env); i++)
        free(f->env[i]);
}

/* Wait until the condition holds; fails after the deadline. */
#define wait_until(condition)                                                                      \
    do {                                                                                           \
        int64_t until_ = clock_mono_us() + DEADLINE_US;                                            \
        while (!(condition)) {                                                                     \
            if (clock_mono_us() > until_)                                                          \
                fail_msg("waited in vain for: %s", #condition);                                    \
            poll(NULL, 0, 1);                                                                      \
        }                                                                                          \
    } while (0)

/* A file of the fixture's folder, whole; free it. */
static inline UNUSED char *fixture_read(const struct fixture *f, const char *name)
{
    autofree(mem) char *path = xasprintf("%s/%s", f->home, name);
    autorelease(str) struct str text = STR_INIT;

    fs_read(path, 1 << 20, &text, NULL);
    return str_take(&text);
}
static inline UNUSED bool fixture_has(const struct fixture *f, const char *name)
{
    autofree(mem) char *path = xasprintf("%s/%s", f->home, name);

    return fs_exists(path);
}

/* The number in a file that the script wrote beside and renamed; 0 until it is there. */
static inline UNUSED pid_t fixture_pid(const struct fixture *f, const char *name)
{
    autofree(mem) char *text = fixture_read(f, name);

    return (pid_t)strtol(text, NULL, 10);
}

/* Alive and not a zombie. */
static inline UNUSED bool process_runs(pid_t pid)
{
    autofree(mem) char *path = xasprintf("/proc/%d/stat", (int)pid);
    autorelease(str) struct str text = STR_INIT;
    const char *end;

    if (pid <= 0 || fs_read(path, 4096, &text, NULL) < 0)
        return false;
    end = strrchr(text.s, ')');
    return end && end[1] == ' ' && end[2] != 'Z' && end[2] != 'X';
}

/* No folder of this attempt is left in the cgroup trees. */
static inline UNUSED void check_no_cgroup(const struct fixture *f)
{
    const struct cgroup_plan *plan = exec_cgroups(f->exec);
    const char *parents[] = {plan->tree, plan->memory};

    for (size_t i = 0; i < ARRAY_LEN(parents); i++) {
        autofree(mem) char *path = NULL;
        if (!parents[i])
            continue;
        path = xasprintf("%s/%lld", parents[i], (long long)f->launch.attempt);
        assert_false(fs_exists(path));
    }
}

#endif
