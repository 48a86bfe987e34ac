/* SPDX-License-Identifier: MIT */
/*
 * fresh.c — the store of series is opened when the first trial needs it: most lists hold none.
 */
#include "api/fresh.h"
#include "api/rows.h"
#include "engine/outside.h"
#include "series/series.h"

#include <math.h>

struct fresh {
    const char *home;
    const struct spec *spec;
    struct series_db *db;
    bool opened; /* or tried to */
};

struct fresh *fresh_new(const char *home, const struct spec *spec)
{
    if (home_has_engine(home))
        return NULL;
    struct fresh *fresh = xcalloc(1, sizeof(*fresh));
    fresh->home = home;
    fresh->spec = spec;
    return fresh;
}

void fresh_free(struct fresh *fresh)
{
    if (fresh && fresh->db)
        series_db_free(fresh->db);
    free(fresh);
}

/* NULL: it cannot be read. */
static struct series_db *db_of(struct fresh *fresh)
{
    if (!fresh->opened)
        series_db_open(fresh->home, SERIES_READ, &fresh->db, NULL);
    fresh->opened = true;
    return fresh->db;
}

static bool is_outside(const struct trial *trial)
{
    return trial->attempts == 0 && trial->state != TRIAL_QUEUED;
}

/* All samples of a trial that was running. */
static bool read_samples(struct fresh *fresh, const struct trial *trial, struct series_set *ret)
{
    return trial->state == TRIAL_RUNNING && trial->attempts > 0 && db_of(fresh) &&
           series_read(fresh->db, fresh->home, fresh->spec, trial, NULL, ret, NULL) == 0;
}

/* ---- the trial ---- */

static int on_info(const struct series_info *info, void *arg)
{
    struct trial *trial = arg;
    trial->last_step = MAX(trial->last_step, info->last_step);
    return 0;
}

static void take_objective(const struct objective *objective, const struct series *series,
                           struct trial *trial)
{
    if (!series || !series->points.len)
        return;
    trial->value = vec_last(&series->points)->value;
    trial->best = NAN;
    vec_foreach (point, &series->points)
        if (isfinite(point->value) &&
            (isnan(trial->best) || objective_better(objective, point->value, trial->best)))
            trial->best = point->value;
}

static void take_steps(const struct series *series, struct trial *trial)
{
    vec_foreach (point, &series->points) {
        trial->last_step = MAX(trial->last_step, point->step);
        if (!isfinite(point->value) && trial->first_nan_step == STEP_NONE)
            trial->first_nan_step = point->step;
    }
}

void fresh_trial(struct fresh *fresh, struct trial *trial)
{
    struct series_set set = {{0}};

    if (!fresh)
        return;
    if (is_outside(trial) && db_of(fresh))
        series_db_list(fresh->db, trial->experiment, trial->number, SERIES_NAME_NONE, on_info,
                       trial);
    if (read_samples(fresh, trial, &set)) {
        const struct objective *objective = &fresh->spec->objective;
        if (objective->metric)
            take_objective(objective, series_find(&set, objective->metric), trial);
        vec_foreach (series, &set.series)
            take_steps(series, trial);
    }
    series_set_release(&set);
}

/* ---- summaries ---- */

struct summaries {
    VEC(struct summary) list; /* owned */
    size_t stored;            /* those of the database come first, by name */
    struct series_db *db;
};

static void keep(struct summaries *to, const struct summary *summary)
{
    struct summary copy = *summary;
    copy.metric = xstrdup(summary->metric);
    vec_push(&to->list, copy);
}

static int keep_stored(int64_t trial UNUSED, const struct summary *summary, void *arg)
{
    keep(arg, summary);
    return 0;
}

static int by_metric(const void *a, const void *b)
{
    return strcmp(((const struct summary *)a)->metric, ((const struct summary *)b)->metric);
}

/* Samples count more: put theirs in the place of what was written down. `always`: also if they are
 * no more (a value may have replaced another). */
static void replace(struct summaries *to, const struct summary *summary, bool always)
{
    struct summary *known =
        to->stored ? bsearch(summary, to->list.at, to->stored, sizeof(*summary), by_metric) : NULL;

    if (!known) {
        keep(to, summary);
    } else if (always || summary->count > known->count) {
        char *metric = known->metric;
        *known = *summary;
        known->metric = metric;
    }
}

static int replace_outside(const struct series_info *info, void *arg)
{
    struct summaries *to = arg;
    struct summary summary = outside_summary(to->db, info);

    if (summary.metric && info->source.attempt == 0)
        replace(to, &summary, true);
    return 0;
}

static struct summary summary_of(const struct series *series)
{
    struct summary ret = {.metric = series->metric,
                          .count = (int64_t)series->points.len,
                          .last = NAN,
                          .min = NAN,
                          .max = NAN,
                          .last_step = STEP_NONE,
                          .first_nan_step = STEP_NONE};

    vec_foreach (point, &series->points) {
        ret.last = point->value;
        ret.last_step = point->step;
        if (isfinite(point->value)) {
            ret.min = fmin(ret.min, point->value);
            ret.max = fmax(ret.max, point->value);
        } else if (ret.first_nan_step == STEP_NONE) {
            ret.first_nan_step = point->step;
        }
    }
    return ret;
}

static int tell(struct summaries *summaries, const struct trial *trial, summary_fn *fn, void *arg)
{
    int r = 0;

    if (summaries->list.len)
        qsort(summaries->list.at, summaries->list.len, sizeof(*summaries->list.at), by_metric);
    vec_foreach (summary, &summaries->list) {
        if (r == 0)
            r = fn(trial->number, summary, arg);
        summary_release(summary);
    }
    vec_release(&summaries->list);
    return r;
}

int fresh_summaries(struct fresh *fresh, struct store *store, const struct trial *trial,
                    summary_fn *fn, void *arg, struct err *err)
{
    struct summaries all = {.db = NULL};
    struct series_set set = {{0}};

    if (!fresh || (!is_outside(trial) && trial->state != TRIAL_RUNNING))
        return store_summaries(store, trial->experiment, trial->number, fn, arg, err);
    int r = store_summaries(store, trial->experiment, trial->number, keep_stored, &all, err);
    all.stored = all.list.len;
    all.db = db_of(fresh);
    if (is_outside(trial) && all.db)
        series_db_list(all.db, trial->experiment, trial->number, SERIES_NAME_NONE, replace_outside,
                       &all);
    if (read_samples(fresh, trial, &set))
        vec_foreach (series, &set.series) {
            struct summary summary = summary_of(series);
            replace(&all, &summary, false);
        }
    series_set_release(&set);
    int told = tell(&all, trial, fn, arg);
    return r < 0 ? r : told;
}
