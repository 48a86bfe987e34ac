/* SPDX-License-Identifier: MIT */
/*
 * profile.c — the profile of a tuned attempt, told once, when it has found its pace.
 *
 *     first sample ──1 s──► counters open ──2 s──► read, closed ──► told with the next use
 *
 * A program that says nothing begins to count when it has run for a while. Counters take
 * descriptors for every thread: they are open for one attempt at a time, and only in its window. A
 * window with a pause in it is given up and begun again.
 */
#include "agent/local.h"

static void window_close(struct watch *watch)
{
    if (!watch->profiling.counters)
        return;
    counters_free(TAKE(watch->profiling.counters));
    watch->local->profiled = NULL;
}

static void window_open(struct watch *watch, int64_t now_us)
{
    struct profiling *profiling = &watch->profiling;
    struct counters_options options = {.pid = watch->pid};

    if (counters_open(&options, &profiling->counters, NULL) < 0)
        return; /* it is about to end */
    watch->local->profiled = watch;
    counters_read(profiling->counters, now_us, &profiling->before);
}

static void window_end(struct watch *watch, int64_t now_us)
{
    struct profiling *profiling = &watch->profiling;
    struct counts after;

    counters_read(profiling->counters, now_us, &after);
    profiling->profile = xcalloc(1, sizeof(*profiling->profile));
    profile_between(&profiling->before, &after, profiling->profile);
    profiling->done = true;
    window_close(watch);
}

/* When its window may begin; INT64_MAX: not known yet. */
static int64_t window_us(struct watch *watch, int64_t now_us)
{
    struct profiling *profiling = &watch->profiling;
    const struct pace *pace = &watch->local->pace;

    if (!profiling->look_us && watch->use.last.at_us)
        profiling->look_us = watch->use.last.at_us;
    if (!profiling->first_us && watch->n_told > 0)
        profiling->first_us = now_us;
    if (!profiling->first_us && profiling->look_us &&
        now_us - profiling->look_us >= pace->silent_us)
        profiling->first_us = now_us;
    return profiling->first_us ? profiling->first_us + pace->profile_after_us : INT64_MAX;
}

void profile_tick(struct watch *watch, int64_t now_us)
{
    struct profiling *profiling = &watch->profiling;
    struct local *local = watch->local;

    if (profiling->done)
        return;
    if (turn_paused(MAX(watch->turn.turn, watch->turn_asked))) {
        window_close(watch);
        return;
    }
    if (profiling->counters) {
        if (now_us - profiling->before.at_us >= local->pace.profile_us)
            window_end(watch, now_us);
        return;
    }
    if (now_us >= window_us(watch, now_us) && !local->profiled)
        window_open(watch, now_us);
}

void profile_release(struct watch *watch)
{
    window_close(watch);
    free(watch->profiling.profile);
}
