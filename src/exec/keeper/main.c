/* SPDX-License-Identifier: MIT */
/*
 * main.c — the life of a keeper, in order: lock, record, program, watch, exit record.
 *
 * Why nothing runs twice: the lock is taken before anything else, and whoever finds an exit record
 * or the record of an earlier keeper leaves. Why no stop is lost: the keeper writes its record and
 * then reads the request; the agent writes the request and then reads the record. One of the two
 * sees the other.
 */
#include "exec/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>

#define KERNEL_SIGSET 8 /* bytes */

static struct keeper the_keeper;

static void launch_parse(struct keeper *k, char **argv, char **envp)
{
    k->attempt = (int64_t)text_number(argv[LAUNCH_ATTEMPT]);
    k->dir = argv[LAUNCH_DIR];
    k->cwd = argv[LAUNCH_CWD];
    k->path = argv[LAUNCH_PATH];
    k->time_limit_us = (int64_t)text_number(argv[LAUNCH_TIME_LIMIT_US]);
    k->memory_bytes = text_number(argv[LAUNCH_MEMORY_BYTES]);
    k->output_bytes = text_number(argv[LAUNCH_OUTPUT_BYTES]);
    k->grace_us = (int64_t)text_number(argv[LAUNCH_GRACE_US]);
    k->files = text_number(argv[LAUNCH_FILES]);
    k->flags = (unsigned)text_number(argv[LAUNCH_FLAGS]);
    k->kind = (enum cgroup_kind)text_number(argv[LAUNCH_CGROUP_KIND]);
    k->argv = argv + LAUNCH_ARGV;
    k->envp = envp;
    text_add(k->record.cgroup, sizeof(k->record.cgroup), argv[LAUNCH_TREE]);
    text_add(k->record.cgroup_limits, sizeof(k->record.cgroup_limits), argv[LAUNCH_LIMITS]);
    text_add(k->record.boot_id, sizeof(k->record.boot_id), argv[LAUNCH_BOOT_ID]);
    k->out.fd = k->err.fd = k->pty_fd = k->slave_fd = -1;
}

/* A lock of this process, not of the open file: the child shares the open file until its exec, and
 * would keep the lock of a keeper that is killed in that instant. */
static int state_lock(struct keeper *k)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = 0 /* SEEK_SET */};

    k->state_fd = sys_open("state", O_RDWR | O_CLOEXEC, 0);
    if (k->state_fd < 0)
        return KEEPER_FAIL;
    if (SYS(SYS_fcntl, k->state_fd, F_SETLK, &lock) < 0)
        return KEEPER_TAKEN;
    return KEEPER_DONE;
}

/* What an earlier keeper left in the file decides whether we may go on. */
static int state_check(struct keeper *k)
{
    static union {
        struct keeper_record keeper;
        struct exit_record exit;
    } page;

    if (SYS(SYS_pread64, k->state_fd, &page.exit, sizeof(page.exit), STATE_EXIT_AT) < 0)
        return KEEPER_FAIL;
    if (page.exit.magic == EXIT_MAGIC && exit_record_valid(&page.exit))
        return KEEPER_ENDED;
    if (SYS(SYS_pread64, k->state_fd, &page.keeper, sizeof(page.keeper), STATE_KEEPER_AT) < 0)
        return KEEPER_FAIL;
    if (page.keeper.magic == KEEPER_MAGIC && keeper_record_valid(&page.keeper))
        return KEEPER_LOST;
    return KEEPER_DONE;
}

static void record_write(struct keeper *k)
{
    k->record.crc = RECORD_CRC(&k->record);
    SYS(SYS_pwrite64, k->state_fd, &k->record, sizeof(k->record), STATE_KEEPER_AT);
}

static void record_begin(struct keeper *k)
{
    k->record.magic = KEEPER_MAGIC;
    k->record.attempt = k->attempt;
    k->record.keeper_pid = (int32_t)SYS(SYS_getpid, 0);
    k->record.keeper_start_ticks = process_start_ticks(0);
    k->record.cgroup_kind = k->kind;
    k->record.started_wall_us = time_us(CLOCK_REALTIME);
    k->record.started_mono_us = time_us(CLOCK_BOOTTIME);
    record_write(k);
}

static void signals_take(struct keeper *k)
{
    uint64_t all = ~0ull, ours = 0, defaults[4] = {0}; /* SIG_DFL, no flags */
    static const int mine[] = {SIGCHLD, SIGUSR1, SIGTERM, SIGINT, SIGHUP};

    for (size_t i = 0; i < sizeof(mine) / sizeof(mine[0]); i++)
        ours |= 1ull << (mine[i] - 1);
    SYS(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, KERNEL_SIGSET);
    for (int sig = 32; sig < 34; sig++) /* posix_spawn resets all but these two of the C library */
        SYS(SYS_rt_sigaction, sig, &defaults, NULL, KERNEL_SIGSET);
    k->signal_fd = (int)SYS(SYS_signalfd4, -1, &ours, KERNEL_SIGSET, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Start the program unless its end was asked for before its beginning. */
static void program_run(struct keeper *k)
{
    struct stop_request request;
    int r;

    k->exit.status = -1;
    if (keeper_request(k, &request)) {
        k->exit.cause = request.cause;
        k->exit.signal = request.cause == CAUSE_KILL ? SIGKILL : SIGTERM;
        return;
    }
    r = program_start(k);
    if (r < 0) {
        k->exit.cause = CAUSE_SPAWN;
        k->exit.spawn_step = k->spawn_step;
        k->exit.status = -r;
        return;
    }
    k->record.program_pid = k->pid;
    k->record.program_start_ticks = process_start_ticks(k->pid);
    record_write(k);
    keeper_watch(k);
}

static void exit_write(struct keeper *k)
{
    k->exit.magic = EXIT_MAGIC;
    k->exit.attempt = k->attempt;
    k->exit.started_wall_us = k->record.started_wall_us;
    k->exit.ended_wall_us = time_us(CLOCK_REALTIME);
    k->exit.dropped_stdout = output_dropped(k, &k->out);
    k->exit.dropped_stderr = output_dropped(k, &k->err);
    k->exit.crc = RECORD_CRC(&k->exit);
    SYS(SYS_pwrite64, k->state_fd, &k->exit, sizeof(k->exit), STATE_EXIT_AT);
}

int main(int argc, char **argv, char **envp)
{
    struct keeper *k = &the_keeper;
    int r;

    if (argc <= LAUNCH_ARGV)
        return KEEPER_FAIL;
    SYS(SYS_prctl, PR_SET_NAME, "hone-keeper");
    SYS(SYS_close_range, 3, ~0u, 0);
    launch_parse(k, argv, envp);
    k->parent = (int32_t)SYS(SYS_getppid, 0);
    if (SYS(SYS_chdir, k->dir) < 0)
        return KEEPER_FAIL;
    r = state_lock(k);
    if (r == KEEPER_DONE)
        r = state_check(k);
    if (r != KEEPER_DONE)
        return r;
    SYS(SYS_setsid, 0);
    SYS(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
    signals_take(k);
    record_begin(k); /* names the cgroups before they exist: a sweep will find them */
    cgroup_make(k);
    program_run(k);
    exit_write(k);
    cgroup_remove(k);
    return KEEPER_DONE;
}
