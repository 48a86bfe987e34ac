/* SPDX-License-Identifier: MIT */
/*
 * ask_job.c — what the search computes aside: the next suggestion, the best so far, and what may
 * still be expected.
 *
 * A job is made and taken back on the engine's thread, and run on any other. In between it alone
 * has the search; it leaves what it found in itself.
 */
#include "engine/internal.h"

#include <errno.h>
#include <math.h>

#define UNTIL_RESULTS  10 /* `until` is not considered before */
#define UNTIL_IN_A_ROW 2
#define BEST_SHARE     256 /* the best is named anew after one more in so many results */

struct search_job {
    struct run *run; /* not for the worker */
    struct search *search;
    size_t d; /* doubles a point */
    bool prepare, best, gain;
    int64_t told;

    int prepare_r; /* what came of it */
    struct err err;
    int64_t took_us;
    int best_r;
    struct best named;
    double *best_x;
    double expected_gain;
};

void search_job_free(struct search_job *job)
{
    err_release(&job->err);
    free(job->best_x);
    free(job);
}

static bool wants_suggestion(const struct run *run)
{
    const struct ask *ask = &run->ask;

    if (ask->ready || ask->stalled || run->exhausted || run->closing ||
        (int64_t)run->trials.len >= run->budget)
        return false;
    return ask->wanted || (ask->ahead && run->live.len);
}

static bool wants_best(const struct run *run)
{
    const struct ask *ask = &run->ask;
    int64_t fresh = ask->told - ask->best_told;

    if (!ask->searched || !fresh || run->spec.others.len)
        return false;
    return ask->final || fresh >= MAX(1, ask->told / BEST_SHARE);
}

bool engine_search_due(struct engine *engine, struct search_job **ret)
{
    vec_foreach (at, &engine->runs) {
        struct run *run = *at;
        if (!run->search || run->ask.job)
            continue;
        bool prepare = wants_suggestion(run), best = wants_best(run);
        if (!prepare && !best)
            continue;
        struct search_job *job = xcalloc(1, sizeof(*job));
        *job = (struct search_job){.run = run,
                                   .search = run->search,
                                   .d = run->spec.space.n,
                                   .prepare = prepare,
                                   .best = best,
                                   .gain = run->spec.until_improvement > 0,
                                   .told = run->ask.told,
                                   .best_r = -ENODATA,
                                   .expected_gain = NAN};
        run->ask.job = *ret = job;
        return true;
    }
    return false;
}

void search_job_run(struct search_job *job, int64_t (*clock_us)(void))
{
    int64_t since_us = clock_us ? clock_us() : 0;

    if (job->prepare)
        job->prepare_r = search_prepare(job->search, &job->err);
    job->took_us = clock_us ? clock_us() - since_us : 0;
    if (job->best)
        job->best_r = search_best(job->search, &job->named);
    if (job->best_r == 0)
        job->best_x = xmemdup(job->named.x, job->d * sizeof(*job->best_x));
    if (job->gain)
        job->expected_gain = search_expected_gain(job->search);
}

/* The search named a setting: its first trial that completed is the best one, if it may be. */
static void take_best(struct run *run, const struct search_job *job)
{
    run->ask.best_told = job->told;
    if (job->best_r < 0)
        return;
    vec_foreach (trial, &run->trials) {
        if (!trial->experiment || trial->state != TRIAL_COMPLETED ||
            !point_equal(trial->point, job->best_x, run->spec.space.n) ||
            !trial_feasible(run, trial))
            continue;
        run->best = trial->number;
        run->best_repeats = (int64_t)job->named.repeats;
        run_note_best(run, run_sign(run) * job->named.mean, job->named.deviation);
        return;
    }
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* What a share of an improvement is of: the best, or how far it is from the median of the first
 * results, so that a best near zero has a size, too. Later ones lie near the best. */
static double size_of_best(struct run *run)
{
    double best = run->experiment.best_mean;
    VEC(double) values = {0};

    vec_foreach (trial, &run->trials)
        if (values.len < UNTIL_RESULTS && trial->experiment && trial->state == TRIAL_COMPLETED &&
            isfinite(trial->value))
            vec_push(&values, trial->value);
    if (values.len)
        qsort(values.at, values.len, sizeof(*values.at), by_size);
    double median = values.len ? values.at[values.len / 2] : best;
    vec_release(&values);
    return fmax(fabs(best), fabs(median - best));
}

/* `until`: end when an improvement worth the name was not to be expected, twice in a row. */
static void take_gain(struct run *run, const struct search_job *job)
{
    struct ask *ask = &run->ask;
    double least = run->spec.until_improvement * size_of_best(run);

    if (run->closing || job->told < UNTIL_RESULTS || job->told == ask->dull_told ||
        !isfinite(job->expected_gain) || run->experiment.best_trial <= 0 || !isfinite(least))
        return;
    ask->dull_told = job->told;
    ask->dull = job->expected_gain < least ? ask->dull + 1 : 0;
    if (ask->dull >= UNTIL_IN_A_ROW)
        run_close(run, EXPERIMENT_FINISHED, REASON_SATISFIED);
}

void engine_search_done(struct engine *engine UNUSED, struct search_job *job, struct now now UNUSED)
{
    struct run *run = job->run;
    struct ask *ask = &run->ask;

    ask->job = NULL;
    if (job->prepare && job->prepare_r < 0) {
        ask_failed(run, job->prepare_r, &job->err);
    } else if (job->prepare) {
        ask->ready = true;
        ask->took_us = job->took_us;
    }
    if (job->best)
        take_best(run, job);
    if (job->gain)
        take_gain(run, job);
    vec_foreach (it, &ask->untold)
        ask_tell_now(run, run_trial(run, it->trial),
                     it->pause ? &ask->pauses.at[it->pause - 1] : NULL);
    ask->untold.len = 0;
    search_job_free(job);
}

bool ask_settled(struct run *run)
{
    if (!run->search)
        return true;
    run->ask.final = !run->closing || run->end_state != EXPERIMENT_INTERRUPTED;
    return !run->ask.job && !(run->ask.final && wants_best(run));
}
