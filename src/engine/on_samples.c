/* SPDX-License-Identifier: MIT */
/*
 * on_samples.c — numbers that a trial reported: its summary, its objective, and what may end it:
 * diverged, target reached; early stopping is in judge.c.
 */
#include "engine/internal.h"

#include <math.h>

static struct summary *summary_of(struct live *live, const char *metric)
{
    vec_foreach (summary, &live->summaries)
        if (str_eq(summary->metric, metric))
            return summary;
    struct summary fresh = {
        .metric = xstrdup(metric),
        .last = NAN,
        .min = NAN,
        .max = NAN,
        .last_step = STEP_NONE,
        .first_nan_step = STEP_NONE,
    };
    vec_push(&live->summaries, fresh);
    return vec_last(&live->summaries);
}

static int64_t known_step(int64_t step)
{
    return step == STEP_NONE ? 0 : step;
}

static void summarise(struct live *live, const struct agent_sample *sample, struct now now)
{
    struct summary *summary = summary_of(live, sample->metric);

    summary->count++;
    summary->last = sample->value;
    summary->last_step = sample->step;
    progress_sample(live, sample, summary->count, now);
    if (!isfinite(sample->value)) {
        if (summary->first_nan_step == STEP_NONE)
            summary->first_nan_step = known_step(sample->step);
        return;
    }
    summary->min = isnan(summary->min) ? sample->value : MIN(summary->min, sample->value);
    summary->max = isnan(summary->max) ? sample->value : MAX(summary->max, sample->value);
}

bool metric_diverges(const struct run *run, const char *metric)
{
    if (run->spec.objective.metric && str_eq(metric, run->spec.objective.metric))
        return true;
    if (metric_of_worker(run, metric))
        return true;
    vec_foreach (name, &run->spec.diverge)
        if (str_eq(*name, metric))
            return true;
    return false;
}

static void reach_target(struct live *live, struct now now)
{
    struct run *run = live->run;

    live->reached_target = true;
    if (!run->closing)
        run_close(run, EXPERIMENT_FINISHED, REASON_TARGET);
    vec_foreach (other, &run->live)
        live_ask(*other, REASON_TARGET, false, now);
}

/* Does what has come bring it to the target? */
static bool at_target(struct live *live, double value)
{
    const struct objective *objective = &live->run->spec.objective;

    if (!live->objective_whole)
        return workers_reach(live);
    recent_add(&live->recent, value, objective);
    return recent_reach(&live->recent, objective);
}

static void on_objective(struct live *live, const struct agent_sample *sample, struct now now)
{
    struct run *run = live->run;
    const struct objective *objective = &run->spec.objective;
    struct trial *trial = run_trial(run, live->attempt.trial);

    if (live->reached_target && !isfinite(sample->value))
        return; /* it had what was wanted before it diverged */
    trial->value = sample->value;
    trial->last_step = sample->step;
    if (!isfinite(sample->value))
        return; /* the caller marks it diverged */
    live->objective_seen = true;
    curve_add(&live->curve, known_step(sample->step), sample->value);
    if (isnan(trial->best) || objective_better(objective, sample->value, trial->best))
        trial->best = sample->value;
    live->curve_grew = true;
    /* Asked for that reason by an engine that died: this one must see for itself who it was. */
    if (live->asked != REASON_NONE && live->asked != REASON_TARGET)
        return;
    if (!isnan(objective->target) && at_target(live, sample->value))
        reach_target(live, now);
}

static void on_sample(struct live *live, const struct agent_sample *sample, struct now now)
{
    struct run *run = live->run;
    struct trial *trial = run_trial(run, live->attempt.trial);
    const char *objective = run->spec.objective.metric;

    if (str_eq(sample->metric, METRIC_GENERATION)) {
        /* Generation 2 is the page as it was made; a later one answers a request to end, or an
         * earlier one to change something. */
        live->sdk = true;
        if (live->asked != REASON_NONE && sample->value > 2 && sample->time_us >= live->asked_us)
            live->obeyed = true;
        return;
    }
    if (str_eq(sample->metric, METRIC_TOTAL)) {
        live->progress.total = sample->value;
        return;
    }
    summarise(live, sample, now);
    if (!isfinite(sample->value) && trial->first_nan_step == STEP_NONE)
        trial->first_nan_step = known_step(sample->step);
    if (objective && str_eq(sample->metric, objective)) {
        live->objective_whole = true;
        on_objective(live, sample, now);
    } else if (metric_of_worker(run, sample->metric) && !live->objective_whole) {
        struct agent_sample mean = workers_add(live, sample);
        on_objective(live, &mean, now);
    } else if (trial->last_step < sample->step) {
        trial->last_step = sample->step;
    }
    trial_note_extra(run, trial, sample->metric, sample->value);
    curve_note_other(live, sample);
    if (!isfinite(sample->value) && metric_diverges(run, sample->metric))
        live_ask(live, REASON_DIVERGED, false, now);
    live->dirty = true;
}

/* The agent began to read the files anew: what was counted before is counted again. */
static void forget_samples(struct live *live, struct now now)
{
    vec_foreach (summary, &live->summaries)
        summary_release(summary);
    live->summaries.len = 0;
    live->recent.len = 0;
    live->objective_whole = false;
    workers_forget(live);
    curve_begin(live);
    if (live->samples_seen || live->adopted)
        progress_again(live, now);
    live->samples_seen = 0;
}

void on_samples(struct live *live, const struct agent_event *event, struct now now)
{
    if (event->first_sample == 0)
        forget_samples(live, now);
    if (event->first_sample > live->samples_seen) { /* some got lost on the way: ask for all */
        engine_effect(live->run->engine,
                      (struct effect){.kind = EFFECT_ADOPT, .id = live->attempt.id});
        return;
    }
    size_t skip = (size_t)(live->samples_seen - event->first_sample);
    if (skip < event->n_samples)
        stamps_look(live, event->samples + skip, event->n_samples - skip, now);
    for (size_t i = skip; i < event->n_samples; i++)
        on_sample(live, &event->samples[i], now);
    live->samples_seen = MAX(live->samples_seen, event->first_sample + (int64_t)event->n_samples);
    progress_turn(live, now);
    live_judge(live, now);
}

void on_figures(struct live *live, const struct agent_event *event)
{
    struct attempt *attempt = &live->attempt;

    attempt->cpu_us = MAX(attempt->cpu_us, event->cpu_us);
    attempt->max_rss_bytes = MAX(attempt->max_rss_bytes, event->used_bytes);
}

/* What it has used so far; its end will tell all of it. */
static void save_attempt(struct live *live)
{
    if (live->attempt.state != ATTEMPT_RUNNING)
        return;
    live->attempt.run_us = live->ran_us;
    txn_put_attempt(live->run->engine->tick->txn, &live->attempt);
}

void live_save(struct live *live, struct now now)
{
    struct run *run = live->run;
    live->dirty = false;
    live->saved_mono_us = now.mono_us;
    live->ran_us = live_elapsed_us(live, now);
    save_attempt(live);
    run_save_trial(run, run_trial(run, live->attempt.trial), false);
    vec_foreach (summary, &live->summaries)
        txn_put_summary(run->engine->tick->txn, live->attempt.experiment, live->attempt.trial,
                        summary);
}

int64_t live_save_us(const struct live *live)
{
    if (live->dirty)
        return live->saved_mono_us + SAVE_US;
    if (live->attempt.state != ATTEMPT_RUNNING ||
        run_trial(live->run, live->attempt.trial)->state != TRIAL_RUNNING)
        return INT64_MAX;
    return live->saved_mono_us + MAX(SAVE_US, live->ran_us / 10);
}
