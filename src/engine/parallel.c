/* SPDX-License-Identifier: MIT */
/*
 * parallel.c — `parallel: auto` of a tuned experiment: how many of its trials run side by side is
 * decided by what they do, window by window (tune/width.c). Trials are never ended for it: a slot
 * less waits for the next end.
 */
#include "engine/internal.h"
#include "tune/width.h"

#include <math.h>

#define LOOK_US (2 * US_PER_S)

static struct width_limits limits_of(const struct run *run)
{
    const struct spec *spec = &run->spec;
    bool learns = !str_eq(spec->algorithm, "random") && !str_eq(spec->algorithm, "grid") &&
                  !str_eq(spec->algorithm, "sobol");
    int gpus = run->engine->machine.n_gpus;

    return (struct width_limits){
        .cores_least = spec->cpus,
        .most = spec->gpus ? (size_t)MAX(1, gpus / (int)spec->gpus) : 0,
        .memory_bytes = (double)run->engine->machine.mem_bytes,
        .trial_bytes = (double)spec->memory_bytes,
        .loss = learns ? WIDTH_LOSS : 0,
    };
}

void parallel_open(struct run *run)
{
    struct tuning *tuning = run->tuning;

    if (!tuning || !tuning->speed || run->spec.parallel || run->budget < 2)
        return;
    struct width_limits limits = limits_of(run);
    tuning->width_now = width_start(&limits, run->engine->machine.cpus);
    tuning->width = width_new(&limits, tuning->width_now);
}

int64_t parallel_most(const struct run *run)
{
    if (run->spec.parallel)
        return run->spec.parallel;
    return run->tuning && run->tuning->width ? (int64_t)run->tuning->width_now : INT64_MAX / 2;
}

/* Each is compared with itself at another width, so its own level does not matter. */
static struct width_trial trial_of(struct live *live)
{
    const struct progress *progress = &live->progress;
    bool told = progress->n_windows > live->tuned->width_told;

    if (told) /* once */
        live->tuned->width_told = progress->n_windows;

    return (struct width_trial){
        .id = (uint64_t)live->attempt.trial,
        .ln_seconds = told ? progress->ln_seconds : NAN,
        .variance = told ? progress->error * progress->error : NAN,
        .peak_bytes = (double)live->tuned->peak_bytes,
    };
}

static void announce(struct run *run, const struct width_decision *decision, struct now now)
{
    autorelease(str) struct str json = STR_INIT, words = STR_INIT;
    struct json_out out = event_begin(&json, "tune_note", run, NULL);

    width_decision_format(decision, &words);
    json_put_text(&out, "text", words.s);
    json_put_int(&out, "parallel_from", (int64_t)decision->from);
    json_put_int(&out, "parallel", (int64_t)decision->to);
    json_put_known(&out, "gain", expm1(decision->gain.mean));
    json_put_known(&out, "measured", expm1(decision->measured));
    json_put_known(&out, "cost_s", decision->cost_s);
    json_end_object(&out);
    engine_event(run, 0, &json, now);
}

static size_t trials_left(const struct run *run)
{
    int64_t ended =
        run->counts[TRIAL_COMPLETED] + run->counts[TRIAL_STOPPED] + run->counts[TRIAL_FAILED];
    return run->budget < INT64_MAX / 4 ? (size_t)MAX(0, run->budget - ended) : SIZE_MAX;
}

/* A window in which the number of trials changed tells of no width. */
static void mark_windows(struct run *run)
{
    size_t running = (size_t)run_busy(run);

    if (running == run->tuning->running)
        return;
    run->tuning->running = running;
    vec_foreach (live, &run->live)
        if ((*live)->tuned)
            (*live)->tuned->width_told = (*live)->progress.n_windows + 1;
}

static void look(struct run *run, struct now now)
{
    struct tuning *tuning = run->tuning;
    VEC(struct width_trial) trials = {0};
    struct width_decision decision;
    double left_s = NAN;

    mark_windows(run);
    vec_foreach (live, &run->live)
        if ((*live)->tuned && !(*live)->paused) {
            vec_push(&trials, trial_of(*live));
            left_s = live_left_s(*live, now);
        }
    struct width_input input = {
        .now_s = (double)now.wall_us / 1e6,
        .cores = run->engine->machine.cpus,
        .load = tuning->outside,
        .trials = trials.at,
        .n = trials.len,
        .trials_left = trials_left(run),
        .startup_s = tuning->startup_s,
        .trial_s = run->mean_run_us ? (double)run->mean_run_us / 1e6 : left_s,
    };
    width_next(tuning->width, &input, &decision);
    vec_release(&trials);
    if (decision.to != tuning->width_now)
        announce(run, &decision, now);
    tuning->width_now = MAX(1, decision.to);
}

void parallel_turn(struct run *run, struct now now)
{
    struct tuning *tuning = run->tuning;

    if (!tuning || !tuning->width || run->closing || !run->live.len ||
        now.mono_us < tuning->width_us + LOOK_US)
        return;
    tuning->width_us = now.mono_us;
    look(run, now);
}

int64_t parallel_wake_us(const struct run *run)
{
    bool looks = run->tuning && run->tuning->width && !run->closing && run->live.len;
    return looks ? run->tuning->width_us + LOOK_US : INT64_MAX;
}
