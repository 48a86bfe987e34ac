/* SPDX-License-Identifier: MIT */
/*
 * figures_tell.c — figures told while something runs: of the machine, and of every attempt that
 * asked for them.
 *
 * One timer serves all, at the shortest interval that a running attempt wants; one that wants less
 * is passed over until its own time has come. The timer runs only while somebody wants figures, and
 * its first turn comes after an interval: a short attempt costs nothing. A paused attempt does
 * nothing and is told of nothing; the machine goes on.
 */
#include "agent/local.h"

#include "base/clock.h"

static const char proc[] = "/proc", sys[] = "/sys";

static void tell(struct local *local, struct agent_event event, const struct figure_list *list)
{
    if (!list || !list->samples.len)
        return;
    event.kind = EVENT_FIGURES;
    event.time_us = list->time_us;
    event.samples = list->samples.at;
    event.n_samples = list->samples.len;
    local->base.on_event(&event, local->base.arg);
}

static void tell_machine(struct local *local, int64_t now_us, int64_t wall_us)
{
    struct figures_options options = {.proc = proc, .sys = sys, .meter = local->meter};

    if (!local->figures)
        local->figures = figures_new(&options);
    tell(local, (struct agent_event){.attempt = 0}, figures_look(local->figures, now_us, wall_us));
}

static double known(double x)
{
    return x > 0 ? x : 0;
}

static void tell_attempt(struct watch *watch, int64_t now_us, int64_t wall_us)
{
    struct attempt_figures *figures = &watch->figures;
    int64_t slack_us = watch->figures_us / 10; /* turns are not that regular */

    if (turn_paused(MAX(watch->turn.turn, watch->turn_asked))) {
        attempt_forget(figures);
        return;
    }
    if (figures->at_us && now_us - figures->at_us < watch->figures_us - slack_us)
        return;
    if (figures->tree.root != watch->pid) {
        attempt_figures_release(figures);
        attempt_figures_init(figures, proc, watch->pid);
    }
    const struct figure_list *list = attempt_look(figures, sys, now_us, wall_us);
    double cpu_s = figures->last[COUNTER_CPU_USER] + figures->last[COUNTER_CPU_SYSTEM];
    struct agent_event event = {
        .attempt = watch->attempt,
        .cpu_us = (int64_t)(known(cpu_s) * US_PER_S),
        .used_bytes = (uint64_t)known(figures->last[COUNTER_RESIDENT]),
    };
    tell(watch->local, event, list);
}

static bool wants(const struct watch *watch)
{
    return watch->phase == PHASE_RUNNING && watch->figures_us > 0;
}

/* 0: nobody wants any. */
static int64_t shortest_us(const struct local *local)
{
    int64_t shortest = 0;

    vec_foreach (watch, &local->watches)
        if (wants(*watch) && (!shortest || (*watch)->figures_us < shortest))
            shortest = (*watch)->figures_us;
    return shortest;
}

static void on_figures(uv_timer_t *timer)
{
    struct local *local = timer->data;
    int64_t now_us = clock_mono_us(), wall_us = clock_wall_us();

    tell_machine(local, now_us, wall_us);
    for (size_t i = 0; i < local->watches.len; i++)
        if (wants(local->watches.at[i]))
            tell_attempt(local->watches.at[i], now_us, wall_us);
    figures_run(local);
}

void figures_run(struct local *local)
{
    uv_timer_t *timer = &local->figures_timer;
    int64_t us = local->n_running > 0 ? shortest_us(local) : 0;
    uint64_t ms = MAX((uint64_t)us / 1000, 1);
    bool runs = uv_is_active((uv_handle_t *)timer);

    if (!us) {
        uv_timer_stop(timer);
        return;
    }
    if (runs && uv_timer_get_repeat(timer) == ms)
        return;
    if (!runs && local->figures)
        figures_forget(local->figures);
    uv_timer_start(timer, on_figures, ms, ms);
}
