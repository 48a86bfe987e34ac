/* SPDX-License-Identifier: MIT */
/*
 * watch.c — the loop of a keeper: sleep until a signal or a deadline, look, act.
 *
 *     RUN ──limit, request, SIGTERM──► STOP ──all gone──► end
 *      │                                │
 *      └──program ended, memory, kill───┴──grace over──► KILL ──all gone──► end
 *
 * In RUN it may be paused (pause.c); leaving RUN ends that. In STOP the whole tree got SIGTERM and
 * has until stop_at, also when the program itself has gone before its children. What stops itself
 * (SIGSTOP) is continued. The first cause is the recorded one; a later request may only hasten. The
 * program is waited for without limit, since as long as it lives the attempt has not ended;
 * leftovers that cannot be killed are given up after 10 s of killing without it.
 */
#include "exec/keeper/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#define GIVE_UP_US     10000000
#define KILL_AGAIN_US  2000
#define KILL_SLOWLY_US 100000
#define KILL_QUICK     20 /* rounds */
#define GRACE_MAX_US   (86400ll * 1000000)

static int64_t now_us(void)
{
    return time_us(CLOCK_MONOTONIC);
}

bool keeper_request(struct keeper *k, struct stop_request *ret)
{
    long n = SYS(SYS_pread64, k->state_fd, ret, sizeof(*ret), STATE_REQUEST_AT);

    return n == (long)sizeof(*ret) && stop_request_valid(ret);
}

static void kill_begin(struct keeper *k, enum stop_cause cause)
{
    if (k->exit.cause == CAUSE_NONE)
        k->exit.cause = cause;
    if (k->phase == PHASE_KILL)
        return;
    k->phase = PHASE_KILL;
    k->ended_first = !k->running;
    k->kill_at = now_us();
    k->give_up_at = k->kill_at + GIVE_UP_US;
}

static void stop_begin(struct keeper *k, enum stop_cause cause, int64_t grace_us)
{
    int64_t at = now_us() + (grace_us < GRACE_MAX_US ? grace_us : GRACE_MAX_US);

    if (k->exit.cause == CAUSE_NONE)
        k->exit.cause = cause;
    if (k->phase == PHASE_KILL)
        return;
    if (k->phase == PHASE_RUN || at < k->stop_at)
        k->stop_at = at;
    k->phase = PHASE_STOP;
    tree_signal(SIGTERM);
    pause_end(k, now_us()); /* the first thing it sees when it goes on is the signal */
    tree_signal(SIGCONT);
}

static void on_request(struct keeper *k)
{
    struct stop_request request;

    if (!keeper_request(k, &request)) {
        if (k->phase == PHASE_RUN)
            pause_ask(k, now_us());
        return;
    }
    if (request.cause == CAUSE_KILL)
        kill_begin(k, CAUSE_KILL);
    else
        stop_begin(k, CAUSE_STOP, (int64_t)request.grace_ms * 1000);
}

static void on_signals(struct keeper *k)
{
    struct signalfd_siginfo info[4];
    long n;

    while ((n = sys_read(k->signal_fd, info, sizeof(info))) > 0) {
        for (long i = 0; i < n / (long)sizeof(info[0]); i++) {
            if (info[i].ssi_signo == SIGUSR1)
                on_request(k);
            else if (info[i].ssi_signo != SIGCHLD)
                stop_begin(k, CAUSE_SIGNAL_TO_KEEPER, k->grace_us);
        }
        if (n < (long)sizeof(info))
            return;
    }
}

static void add_usage(struct keeper *k, const struct rusage *usage)
{
    uint64_t rss = (uint64_t)usage->ru_maxrss * 1024;

    k->exit.user_us += (int64_t)usage->ru_utime.tv_sec * 1000000 + usage->ru_utime.tv_usec;
    k->exit.system_us += (int64_t)usage->ru_stime.tv_sec * 1000000 + usage->ru_stime.tv_usec;
    if (rss > k->exit.max_rss_bytes)
        k->exit.max_rss_bytes = rss;
}

static void on_program_end(struct keeper *k, int status)
{
    k->running = false;
    k->exit.run_us = now_us() - k->started_us - pause_total(k, now_us());
    if (WIFEXITED(status)) {
        k->exit.status = WEXITSTATUS(status);
    } else {
        k->exit.status = -1;
        k->exit.signal = WTERMSIG(status);
        k->exit.core = WCOREDUMP(status) ? 1 : 0;
    }
    k->give_up_at = now_us() + GIVE_UP_US;
}

/* Collect the dead. True when nobody is left. */
static bool reap(struct keeper *k)
{
    for (;;) {
        struct rusage usage;
        int status;
        long pid = SYS(SYS_wait4, -1, &status, WNOHANG | __WALL, &usage);
        if (pid == -ECHILD)
            return true;
        if (pid <= 0)
            return false;
        add_usage(k, &usage);
        if (pid == k->pid && k->running)
            on_program_end(k, status);
        else if (k->ended_first && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
            k->exit.leftovers++;
    }
}

static void kill_round(struct keeper *k, int64_t now)
{
    cgroup_kill(k);
    k->kill_at = now + (k->kill_rounds < KILL_QUICK ? KILL_AGAIN_US : KILL_SLOWLY_US);
    k->kill_rounds++;
}

static void on_time(struct keeper *k)
{
    int64_t now = now_us();

    if (k->phase == PHASE_RUN && !k->running)
        kill_begin(k, CAUSE_NONE);
    if (k->phase == PHASE_RUN)
        pause_look(k, now);
    if (k->phase == PHASE_RUN && !k->holding && now >= k->limit_at)
        stop_begin(k, CAUSE_TIME, k->grace_us);
    if (k->phase == PHASE_STOP && now >= k->stop_at)
        kill_begin(k, CAUSE_NONE);
    if (k->phase != PHASE_KILL && now >= k->memory_at) {
        uint64_t used = memory_used(k->memory_bytes);
        k->memory_at = now + (used > k->memory_bytes / 2 ? TICK / 5 : TICK);
        if (used > k->memory_bytes)
            kill_begin(k, CAUSE_MEMORY);
    }
    if (now >= k->output_at)
        k->output_at = now + output_cap(k);
    if (k->phase == PHASE_KILL && now >= k->kill_at)
        kill_round(k, now);
}

static int64_t next_at(const struct keeper *k)
{
    const int64_t times[] = {k->phase == PHASE_RUN && !k->holding ? k->limit_at : NEVER,
                             k->phase == PHASE_RUN && k->holding && !k->still ? k->hold_at : NEVER,
                             k->phase == PHASE_STOP ? k->stop_at : NEVER,
                             k->phase == PHASE_KILL ? k->kill_at : NEVER,
                             k->phase != PHASE_KILL ? k->memory_at : NEVER,
                             k->output_at};
    int64_t next = NEVER;

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (times[i] < next)
            next = times[i];
    return next;
}

static void wait_event(struct keeper *k)
{
    struct pollfd fds[2] = {{.fd = k->signal_fd, .events = POLLIN},
                            {.fd = k->pty_fd, .events = POLLIN}};
    int64_t at = next_at(k), wait = at == NEVER ? 0 : at - now_us();
    struct timespec timeout;

    if (wait < 0)
        wait = 0;
    timeout.tv_sec = wait / 1000000;
    timeout.tv_nsec = wait % 1000000 * 1000;
    SYS(SYS_ppoll, fds, k->pty_fd >= 0 ? 2 : 1, at == NEVER ? NULL : &timeout, NULL, 8);
    if (fds[0].revents)
        on_signals(k);
    if (k->pty_fd >= 0 && fds[1].revents && !output_copy(k)) {
        sys_close(k->pty_fd);
        k->pty_fd = -1;
    }
}

static bool given_up(const struct keeper *k)
{
    return k->phase == PHASE_KILL && !k->running && now_us() >= k->give_up_at;
}

void keeper_watch(struct keeper *k)
{
    k->limit_at = k->time_limit_us > 0 ? k->started_us + k->time_limit_us : NEVER;
    k->memory_at = k->memory_bytes && !k->kernel_limits ? k->started_us + TICK / 5 : NEVER;
    k->output_at = k->output_bytes ? k->started_us + TICK / 8 : NEVER;
    pause_ask(k, k->started_us); /* it may have been asked for before the beginning */
    while (!reap(k) && !given_up(k)) {
        on_time(k);
        wait_event(k);
    }
    if (k->pty_fd >= 0)
        output_copy(k);
    if (k->output_bytes)
        output_cap(k);
    k->exit.oom = cgroup_oom_kills(k);
    if (k->exit.cause == CAUSE_NONE && k->exit.oom > 0 && k->exit.signal == SIGKILL)
        k->exit.cause = CAUSE_MEMORY;
}
