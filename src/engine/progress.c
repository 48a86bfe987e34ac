/* SPDX-License-Identifier: MIT */
/*
 * progress.c — how far a trial is, and how fast it goes: its samples become windows.
 *
 * Progress is the step of the metric that is reported most often; one for all trials of an
 * experiment, so that their windows mean the same. A program that reports none is judged by what it
 * uses: CPU time, and bytes read and written. Where a setting changes what a step teaches, the
 * objective tells how much (tune/learning.h).
 */
#include "engine/internal.h"

#include <math.h>

#define CHOOSE_COUNT 3    /* samples of a metric before its steps are taken for progress */
#define FEED_US      5000 /* samples closer than this count as one */
#define LATE_S       1.5  /* a first step later than the attempt is old: the clock was set */
#define AGAIN_S      1.0  /* after this what is read has just been written */
#define SILENT_S     10.0 /* so long without a step: judged by use */
#define BYTES_PER_S  1e8  /* what reading and writing weighs against a second of CPU */
#define USE_STEPS    10   /* a second of it counts as so many steps */
#define REST_S       0.25 /* what is left at the end tells something from here on */

void progress_begin(struct live *live)
{
    struct progress *progress = &live->progress;

    free(progress->metric);
    *progress = (struct progress){.at_s = NAN,
                                  .step = NAN,
                                  .first_s = NAN,
                                  .first_step = NAN,
                                  .ln_seconds = NAN,
                                  .error = NAN};
    stamps_begin(progress);
    window_init(&progress->window, NULL);
}

uint64_t progress_key(const struct live *live)
{
    uint64_t by_use = live->tuned && live->tuned->by_use;
    uint64_t unit = (live->progress.unit & 0x3fffff) | by_use << 23;

    return (uint64_t)live->attempt.trial | unit << SPEED_UNIT_BIT;
}

/* Progress is counted otherwise from now on: what was measured before has another unit. */
static void count_anew(struct live *live, struct now now)
{
    live->progress.n_windows = 0;
    live->progress.ln_seconds = NAN;
    progress_changed(live, now);
    window_bar(&live->progress.window, INFINITY);
    if (live->tuned)
        tuned_again(live);
}

void progress_changed(struct live *live, struct now now)
{
    live->progress.holding = false;
    window_change(&live->progress.window, (double)now.wall_us / 1e6);
}

void progress_again(struct live *live, struct now now)
{
    live->progress.holding = false;
    window_change(&live->progress.window, (double)now.wall_us / 1e6 + AGAIN_S);
}

static void keep_window(struct live *live, const struct window_result *window)
{
    struct progress *progress = &live->progress;
    const struct tuning *tuning = live->run->tuning;

    if (!window->bound) {
        size_t at = progress->n_windows++ % PACE_WINDOWS;
        progress->windows[at] = (struct pace_window){window->steps, window->seconds};
        progress->places[at] = live->tuned ? tuning_find(tuning, live->tuned->now) : SIZE_MAX;
    }
    progress->ln_seconds = window->ln_seconds;
    progress->error = window->error;
}

static void on_window(struct live *live, struct now now)
{
    struct window_result window = window_take(&live->progress.window);

    keep_window(live, &window);
    tuned_on_window(live, &window, now);
}

/* From the start of an attempt to its first step, on average. */
static void note_startup(struct live *live, double at_s, struct now now)
{
    struct tuning *tuning = live->run->tuning;
    double took = at_s - (double)live->attempt.started_us / 1e6;

    if (!tuning || live->adopted || !(took >= 0) ||
        took > (double)live_elapsed_us(live, now) / 1e6 + LATE_S)
        return;
    tuning->startup_s = tuning->startup_s > 0 ? 0.7 * tuning->startup_s + 0.3 * took : took;
}

/* A counter that began anew, or work that is done again: what a change cost is not to be told
 * across that. Said once of an experiment. */
static void on_step_back(struct live *live, double step, struct now now)
{
    struct tuning *tuning = live->run->tuning;

    if (!live->tuned)
        return;
    live->tuned->changed_s = NAN;
    if (tuning->back_noted)
        return;
    tuning->back_noted = true;
    tuned_note(live, now,
               "the steps of %s go back, from %.0f to %.0f: what is measured begins anew there",
               live->progress.metric, live->progress.step, step);
}

static void feed(struct live *live, const struct agent_sample *sample, struct now now)
{
    struct progress *progress = &live->progress;
    double at_s = (double)sample->time_us / 1e6, step = (double)sample->step;

    if (isnan(progress->step))
        note_startup(live, at_s, now);
    stamps_step(live, sample, now);
    if (step < progress->step && at_s >= progress->at_s)
        on_step_back(live, step, now);
    if (!progress->jumped && !(progress->first_step <= step && progress->first_s <= at_s)) {
        progress->first_s = at_s;
        progress->first_step = step;
    }
    progress->at_s = at_s;
    progress->step = step;
    if (progress->jumped || (live->tuned && live->tuned->sent_mono_us))
        return; /* between two clocks or two configurations: it tells of neither */
    if (window_sample(&progress->window, at_s, step))
        on_window(live, now);
}

static void feed_held(struct live *live, struct now now)
{
    struct progress *progress = &live->progress;

    if (!progress->holding)
        return;
    progress->holding = false;
    struct agent_sample sample = progress->held;
    feed(live, &sample, now);
}

/* ---- which metric ---- */

static int64_t count_of(const struct live *live, const char *metric)
{
    vec_foreach (summary, &live->summaries)
        if (str_eq(summary->metric, metric))
            return summary->count;
    return 0;
}

static void choose_metric(struct live *live, const char *metric, struct now now)
{
    struct progress *progress = &live->progress;

    free(progress->metric);
    progress->metric = xstrdup(metric);
    progress->unit = hash_bytes(metric, strlen(metric), 0);
    progress->step = progress->at_s = NAN;
    progress->first_step = progress->first_s = progress->ahead_s = NAN;
    count_anew(live, now);
}

/* The one that is reported most often, and by far more often than what was taken. */
static void consider_metric(struct live *live, const struct agent_sample *sample, int64_t count,
                            struct now now)
{
    const char *chosen = live->progress.metric;

    if (sample->step == STEP_NONE || count < CHOOSE_COUNT ||
        (chosen && str_eq(chosen, sample->metric)))
        return;
    if (!chosen || count > 4 * count_of(live, chosen) + 8)
        choose_metric(live, sample->metric, now);
}

/* What a step teaches is told by the objective, whichever steps are progress. */
static void tell_learning(struct live *live, const struct agent_sample *sample)
{
    struct run *run = live->run;
    const char *objective = run->spec.objective.metric;

    if (!live->tuned || live->tuned->sent_mono_us || sample->step == STEP_NONE || !objective ||
        !str_eq(sample->metric, objective))
        return;
    struct learning *learning = tuning_learning(run, live->attempt.trial);
    if (!learning)
        return;
    learning_configure(learning, live->tuned->now);
    learning_tell(learning, (double)sample->step, run_sign(run) * sample->value);
    run->tuning->learning = learning;
}

void progress_sample(struct live *live, const struct agent_sample *sample, int64_t count,
                     struct now now)
{
    struct progress *progress = &live->progress;

    tell_learning(live, sample);
    progress->from_0 |= sample->step == 0;
    consider_metric(live, sample, count, now);
    if (!progress->metric || sample->step == STEP_NONE || !str_eq(sample->metric, progress->metric))
        return;
    if (live->tuned && live->tuned->by_use) {
        live->tuned->by_use = false;
        count_anew(live, now);
    }
    if (progress->holding && sample->time_us - progress->held.time_us >= FEED_US)
        feed_held(live, now);
    if (!progress->holding || sample->time_us >= progress->held.time_us)
        progress->held = *sample;
    progress->holding = true;
}

void progress_turn(struct live *live, struct now now)
{
    feed_held(live, now);
}

/* ---- without steps ---- */

static bool silent(const struct live *live, struct now now)
{
    return isnan(live->progress.step) && (double)live_elapsed_us(live, now) / 1e6 > SILENT_S;
}

void progress_use(struct live *live, const struct attempt_use *use, struct now now)
{
    struct progress *progress = &live->progress;

    tuned_on_use(live, use, now);
    stamps_clock(live, now);
    if (!live->tuned || !live->tuned->decide)
        return;
    if (!live->tuned->by_use && silent(live, now)) {
        live->tuned->by_use = true;
        tuned_note(live, now,
                   "it reports no step: only what is changed from outside is tuned, and "
                   "judged by its CPU time, reading and writing");
        count_anew(live, now);
    }
    progress->used += fmax(use->cpu_s, 0) + (use->io_bytes > 0 ? use->io_bytes / BYTES_PER_S : 0);
    if (live->tuned->by_use && !live->tuned->sent_mono_us &&
        window_sample(&progress->window, (double)now.wall_us / 1e6, progress->used * USE_STEPS))
        on_window(live, now);
}

void progress_timer(struct live *live, struct now now)
{
    if (!live->tuned)
        return;
    live->tuned->looked_us = now.mono_us;
    stamps_clock(live, now);
    if (live->tuned->trying && !live->tuned->sent_mono_us && !live->paused &&
        window_look(&live->progress.window, stamps_now_s(&live->progress, now)))
        on_window(live, now);
}

void progress_end(struct live *live)
{
    const struct progress *progress = &live->progress;
    struct window_result rest;

    if (!live->tuned || live->tuned->sent_mono_us || !window_so_far(&progress->window, &rest) ||
        rest.seconds < REST_S || rest.steps < progress->window.limits.least_steps)
        return;
    keep_window(live, &rest);
    tuned_on_rest(live, &rest);
}
