/* SPDX-License-Identifier: MIT */
/*
 * start.c — from a launch to a running program.
 *
 * The child is born by clone3 as by vfork: it borrows our memory and stack while we wait, so its
 * start costs the same however large we are, and its errno is simply a variable of ours. Where the
 * kernel can, it is born inside its cgroup (CLONE_INTO_CGROUP): it never lives outside of it.
 */
#include "exec/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signal.h>
#include <time.h>

static _Noreturn void child_fail(struct keeper *k, enum spawn_step step, long r)
{
    k->spawn_step = step;
    k->spawn_errno = (int)-r;
    sys_exit(127);
}

/* The engine may have raised its own limit: some programs close every descriptor there could be, or
 * select() among them. */
static void files_limit(const struct keeper *k)
{
    struct rlimit64 limit;

    if (!k->files || SYS(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) < 0)
        return;
    limit.rlim_cur = k->files;
    SYS(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
}

/* Runs in the child, on our stack: must not return. Descriptors of ours close at exec. */
static _Noreturn void child_main(struct keeper *k, bool born_in_tree)
{
    uint64_t none = 0;
    int out = k->slave_fd >= 0 ? k->slave_fd : k->out.fd;
    long r;

    SYS(SYS_setsid, 0);
    files_limit(k);
    cgroup_enter(k, !born_in_tree);
    r = SYS(SYS_dup3, out, 1, 0);
    if (r >= 0)
        r = SYS(SYS_dup3, k->err.fd, 2, 0);
    if (r < 0)
        child_fail(k, SPAWN_OUTPUT, r);
    r = SYS(SYS_chdir, k->cwd);
    if (r < 0)
        child_fail(k, SPAWN_FOLDER, r);
    SYS(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8);
    r = SYS(SYS_execve, k->path, k->argv, k->envp);
    child_fail(k, SPAWN_EXEC, r);
}

/* A function of its own that calls nothing after the birth but child_main: what the child pushes
 * lies below this frame, and the frame is as it was when we go on. */
__attribute__((noinline)) static long child_born(struct keeper *k, int tree_fd)
{
    struct clone_args args = {
        .flags = CLONE_VM | CLONE_VFORK | (tree_fd >= 0 ? CLONE_INTO_CGROUP : 0),
        .exit_signal = SIGCHLD,
        .cgroup = tree_fd >= 0 ? (uint64_t)tree_fd : 0,
    };
    size_t size = tree_fd >= 0 ? CLONE_ARGS_SIZE_VER2 : CLONE_ARGS_SIZE_VER0;
    long r = SYS(SYS_clone3, &args, size);

    if (r == 0)
        child_main(k, tree_fd >= 0);
    return r;
}

/* For kernels and containers that bar clone3. */
__attribute__((noinline)) static long child_born_plainly(struct keeper *k)
{
    long r = SYS(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0);

    if (r == 0)
        child_main(k, false);
    return r;
}

static long child_start(struct keeper *k)
{
    long r = -1;

    if (k->record.cgroup[0] && k->kind != CGROUP_V1) {
        int fd = sys_open(k->record.cgroup, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
        if (fd >= 0) {
            k->in_tree = true;
            r = child_born(k, fd);
            sys_close(fd);
        }
    }
    if (r < 0)
        r = child_born(k, -1);
    if (r < 0)
        r = child_born_plainly(k);
    return r;
}

int program_start(struct keeper *k)
{
    int r = output_open(k);
    long pid;

    if (r < 0) {
        k->spawn_step = SPAWN_OUTPUT;
        return r;
    }
    /* Before the birth: a short program may be over before we get the processor back. */
    k->started_us = time_us(CLOCK_MONOTONIC);
    pid = child_start(k);
    if (k->slave_fd >= 0)
        sys_close(k->slave_fd);
    k->slave_fd = -1;
    if (pid < 0) {
        k->spawn_step = SPAWN_FORK;
        return (int)pid;
    }
    k->pid = (int32_t)pid;
    if (k->spawn_errno) {
        SYS(SYS_wait4, pid, NULL, 0, NULL);
        return -k->spawn_errno;
    }
    k->running = true;
    return 0;
}
