/* SPDX-License-Identifier: MIT */
/*
 * keepers.c — waiting for keepers, and cleaning up behind one that was lost.
 *
 * Whoever ended, the state file is asked: a record is an ending; a held lock means that the keeper
 * which ended was a second one that left the attempt to the first; neither means lost.
 */
#include "agent/local.h"

#include "base/log.h"
#include <errno.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LATE_TURNS 50
#define LATE_US    10000

struct sweep { /* work of a libuv thread; it has its own copy, and outlives an agent that is freed
                */
    uv_work_t work;
    struct watch *watch; /* NULL: the agent is gone */
    char *dir, *attempt_id;
    int result;
};

/* ---- lost attempts ---- */

static void sweep_work(uv_work_t *work)
{
    struct sweep *sweep = work->data;
    autorelease(err) struct err err = ERR_INIT;
    sweep->result = exec_sweep(sweep->dir, sweep->attempt_id, &err);
}

static void after_sweep(uv_work_t *work, int status);

static void sweep_submit(struct local *local, struct sweep *sweep)
{
    sweep->work.data = sweep;
    if (uv_queue_work(local->loop, &sweep->work, sweep_work, after_sweep) == 0)
        return;
    sweep_work(&sweep->work); /* no worker to be had: do it here rather than not at all */
    after_sweep(&sweep->work, 0);
}

/* What does not die within the worker's patience hangs in the kernel. Keep at it: an attempt may
 * not be called ended, and started anew, while its processes write. */
static void after_sweep(uv_work_t *work, int status UNUSED)
{
    struct sweep *sweep = work->data;
    struct watch *watch = sweep->watch;

    if (watch && sweep->result == -EBUSY) {
        log_warn("processes of %s do not die; trying on", sweep->dir);
        sweep_submit(watch->local, sweep);
        return;
    }
    if (watch) {
        watch->sweep = NULL;
        watch->phase = PHASE_ENDING;
        watch_due(watch);
    }
    free(sweep->dir);
    free(sweep->attempt_id);
    free(sweep);
}

void sweep_begin(struct watch *watch)
{
    struct sweep *sweep = xcalloc(1, sizeof(*sweep));

    sweep->watch = watch;
    sweep->dir = xstrdup(watch->dir);
    sweep->attempt_id = xstrdup(watch->attempt_id);
    watch->sweep = sweep;
    watch->phase = PHASE_SWEEPING;
    sweep_submit(watch->local, sweep);
}

void sweep_forget(struct sweep *sweep)
{
    if (sweep)
        sweep->watch = NULL;
}

/* ---- keepers ---- */

bool keeper_watch(struct watch *watch, int pidfd, pid_t pid)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

    if (epoll_ctl(watch->local->epoll_fd, EPOLL_CTL_ADD, pidfd, &event) < 0) {
        log_error("cannot watch the keeper of %s: %s", watch->dir, strerror(errno));
        close(pidfd);
        return false;
    }
    watch->pidfd = pidfd;
    watch->pid = pid;
    watch->phase = PHASE_RUNNING;
    watch->tell_started = true;
    watch_count(watch->local, +1);
    if (watch->tuned) /* its beginning is a change, too */
        watch_changed(watch);
    watch_due(watch);
    return true;
}

static void end_watching(struct watch *watch)
{
    siginfo_t info;

    if (watch->child)
        waitid(P_PIDFD, (id_t)watch->pidfd, &info, WEXITED | WNOHANG);
    epoll_ctl(watch->local->epoll_fd, EPOLL_CTL_DEL, watch->pidfd, NULL);
    close(watch->pidfd);
    watch->pidfd = -1;
    watch->child = false;
    watch_count(watch->local, -1);
}

/* A keeper that lives: watch it. It may end while we look; then its state tells more, so look again
 * after opening. */
static bool watch_living(struct watch *watch, struct attempt_look *look)
{
    for (int turn = 0; turn < 3 && look->life == LIFE_ALIVE; turn++) {
        int pidfd = -1;
        watch->turn = look->turn;
        watch->tell_turn = look->turn.turn > 0;
        if (exec_watch(look, &pidfd) == 0)
            return keeper_watch(watch, pidfd, look->keeper.keeper_pid);
        err_release(&watch->failure);
        if (exec_look(watch->dir, look, &watch->failure) < 0)
            look->life = LIFE_LOST;
    }
    return false;
}

/* Not two seconds old. */
static bool is_new(const char *dir)
{
    autofree(mem) char *path = xasprintf("%s/state", dir);
    struct stat st;

    return stat(path, &st) == 0 && time(NULL) - st.st_mtime < 2;
}

/* An engine that dies just after it began a keeper leaves one that has not come to its record yet:
 * it is late, not lost. */
void keeper_await(const struct watch *watch)
{
    for (int turn = 0; turn < LATE_TURNS && is_new(watch->dir); turn++) {
        struct attempt_look look;
        if (exec_look(watch->dir, &look, NULL) < 0 || look.life != LIFE_NONE)
            return;
        usleep(LATE_US);
    }
}

/* See how it stands and go on from there. */
void keeper_settle(struct watch *watch)
{
    struct attempt_look look = {0};

    if (exec_look(watch->dir, &look, &watch->failure) < 0)
        look.life = LIFE_LOST;
    if (look.life == LIFE_ALIVE && watch_living(watch, &look))
        return;
    if (look.life != LIFE_ENDED) {
        sweep_begin(watch);
        return;
    }
    watch->record = look.exit;
    watch->phase = PHASE_ENDING;
}

void on_keepers(uv_poll_t *poll, int status UNUSED, int events UNUSED)
{
    struct local *local = poll->data;
    struct epoll_event ended[64];
    int n = epoll_wait(local->epoll_fd, ended, ARRAY_LEN(ended), 0);

    for (int i = 0; i < n; i++) {
        struct watch *watch = ended[i].data.ptr;
        end_watching(watch);
        keeper_settle(watch);
        watch_due(watch);
    }
}
