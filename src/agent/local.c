/* SPDX-License-Identifier: MIT */
/*
 * local.c — the agent of this machine, inside the engine's process, on its loop.
 *
 * Each attempt it looks after is a `watch`, which goes one way:
 *
 *     START ─► exec_start ─┐            ┌─► record ─► ENDING: files read to their end ─► ENDED
 *     ADOPT ─► exec_look ──┴─► RUNNING ─┤                ▲
 *                       keeper ended    └─► none ─► SWEEPING (worker)
 *
 * Keepers are waited for by their pidfds in one epoll set, which the loop polls; files are read by
 * one timer for all, which runs only while an attempt does. A command never calls back: what it
 * causes is put on `due` and told on the next turn of the loop, so the engine need not be
 * re-entrant.
 *
 * A keeper does what is asked of it in its own time. So a pause is told when its turn stands in the
 * state file, which a second timer looks at while one is awaited.
 *
 * A third one looks at the machine and the attempts, for their figures (figures_tell.c).
 *
 * Invariants: a watch is in `watches` and in `by_id`, from its command until its ENDED event, and
 * only process() in watch.c takes it out. The timer is active exactly while n_running > 0, the idle
 * handle while `due` has members; they, and sweeps, are what keeps the loop alive.
 */
#include "agent/local.h"

#include "base/clock.h"
#include "base/log.h"
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- commands in ---- */

static void on_start(struct local *local, const struct agent_command *command)
{
    struct watch *watch = watch_add(local, command);
    int pidfd = -1;
    pid_t pid = 0;

    power_begin(watch, command->launch->envp); /* not later: its keeper writes down when it began */
    if (exec_start(local->exec, command->launch, &pid, &pidfd, &watch->failure) < 0) {
        watch->unstarted = true;
        watch_due(watch);
        return;
    }
    watch->child = true;
    if (!keeper_watch(watch, pidfd, pid))
        sweep_begin(watch);
}

static void on_adopt(struct local *local, const struct agent_command *command)
{
    struct watch *watch = watch_add(local, command);
    keeper_await(watch);
    keeper_settle(watch);
    watch_due(watch);
}

/* A command for what is already watched: say again that it lives. */
static void on_again(struct watch *watch)
{
    watch->tell_started = watch->phase == PHASE_RUNNING;
    watch->tell_turn = watch->tell_started && watch->turn.turn > 0;
    watch_due(watch);
}

static void on_stop(struct watch *watch, const struct agent_command *command)
{
    autorelease(err) struct err err = ERR_INIT;
    if (watch->phase != PHASE_RUNNING)
        return;
    if (exec_stop(watch->dir, command->kill, command->grace_us, &err) == 0)
        return;
    /* It has just ended, and that is told anyway; or the program removed its own folder: then the
     * keeper must hear it without. */
    log_debug("%s", err_text(&err));
    syscall(SYS_pidfd_send_signal, watch->pidfd, SIGTERM, NULL, 0);
}

static void on_control(struct watch *watch, const struct agent_command *command)
{
    autorelease(err) struct err err = ERR_INIT;
    uint64_t generation;
    if (exec_control(watch->dir, command->control_json, &generation, &err) < 0)
        log_warn("%s", err_text(&err));
}

static void on_turn(struct watch *watch, const struct agent_command *command)
{
    autorelease(err) struct err err = ERR_INIT;

    if (watch->phase != PHASE_RUNNING)
        return;
    if (exec_pause(watch->dir, command->turn, &err) < 0)
        log_debug("%s", err_text(&err)); /* it has just ended; or it shall be asked again */
    watch_turn(watch, command->turn);
}

static void local_command(struct agent *agent, const struct agent_command *command)
{
    struct local *local = (struct local *)agent;
    struct watch *watch = watch_find(local, command->attempt);

    switch (command->kind) {
    case COMMAND_START:
        watch ? on_again(watch) : on_start(local, command);
        break;
    case COMMAND_ADOPT:
        watch ? on_again(watch) : on_adopt(local, command);
        break;
    case COMMAND_STOP:
        if (watch)
            on_stop(watch, command);
        break;
    case COMMAND_CONTROL:
        if (watch)
            on_control(watch, command);
        break;
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
        if (watch)
            on_turn(watch, command);
        break;
    case COMMAND_SYSTEM:
        if (watch)
            system_want(watch, command);
        break;
    }
}

/* ---- birth and death ---- */

static void on_closed(uv_handle_t *handle)
{
    struct local *local = handle->data;
    if (--local->n_open > 0)
        return;
    close(local->epoll_fd);
    exec_free(local->exec);
    machine_release(&local->base.machine);
    free(local);
}

static void local_free(struct agent *agent)
{
    struct local *local = (struct local *)agent;

    vec_foreach (watch, &local->watches) {
        sweep_forget((*watch)->sweep);
        watch_free(*watch);
    }
    vec_release(&local->watches);
    vec_release(&local->due);
    map_release(&local->by_id);
    figures_free(local->figures);
    power_close(local);
    uv_close((uv_handle_t *)&local->poll, on_closed);
    uv_close((uv_handle_t *)&local->timer, on_closed);
    uv_close((uv_handle_t *)&local->hurried, on_closed);
    uv_close((uv_handle_t *)&local->turns, on_closed);
    uv_close((uv_handle_t *)&local->figures_timer, on_closed);
    uv_close((uv_handle_t *)&local->idle, on_closed);
}

static const struct pace pace = {
    .tick_us = US_PER_S / 5,
    .use_us = US_PER_S,
    .profile_after_us = US_PER_S,
    .profile_us = 2 * US_PER_S,
    .silent_us = 10 * US_PER_S,
    .meter_us = US_PER_S / 10,
    .pdu_us = 5 * US_PER_S,
};

static const struct agent_ops agent_local = {
    .name = "local",
    .command = local_command,
    .free = local_free,
};

static void open_handles(struct local *local)
{
    uv_timer_init(local->loop, &local->timer);
    uv_timer_init(local->loop, &local->hurried);
    uv_timer_init(local->loop, &local->turns);
    uv_timer_init(local->loop, &local->figures_timer);
    uv_idle_init(local->loop, &local->idle);
    local->poll.data = local->timer.data = local->turns.data = local->idle.data = local;
    local->figures_timer.data = local->hurried.data = local;
    local->n_open = 6;
    uv_poll_start(&local->poll, UV_READABLE, on_keepers);
    uv_unref((uv_handle_t *)&local->poll);
}

int agent_local_new(struct uv_loop_s *loop, const char *home_id, agent_event_fn *on_event,
                    void *arg, struct agent **ret, struct err *err)
{
    autofree(exec) struct exec *exec = NULL;
    autofree(mem) struct local *local = xcalloc(1, sizeof(*local));

    int r = exec_new(home_id, &exec, err);
    if (r < 0)
        return r;
    local->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (local->epoll_fd < 0)
        return err_errno(err, errno, "cannot watch processes");
    r = uv_poll_init(loop, &local->poll, local->epoll_fd);
    if (r < 0) {
        close(local->epoll_fd);
        return err_set(err, -r, "cannot watch processes: %s", uv_strerror(r));
    }
    local->base = (struct agent){.ops = &agent_local, .on_event = on_event, .arg = arg};
    local->loop = loop;
    local->exec = TAKE(exec);
    open_handles(local);
    local->pace = pace;
    machine_probe(&local->base.machine);
    power_open(local);
    *ret = &TAKE(local)->base;
    return 0;
}
