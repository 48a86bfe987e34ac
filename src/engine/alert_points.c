/* SPDX-License-Identifier: MIT */
/*
 * alert_points.c — the points of a metric of a running trial, for conditions that look at curves:
 * from the store of series, which has them before the engine hears of them; without one, what the
 * engine itself holds of the objective.
 *
 * As in series.h, an attempt's metric comes from one source, and steps that a later attempt told
 * again replace those of the earlier one.
 */
#include "engine/internal.h"
#include "series/db.h"

#include <math.h>

struct reading {
    VEC(struct series_source) sources; /* one for each attempt, in their order */
    VEC(struct expr_point) points;
    int64_t started_us;
    bool fresh; /* the next point is the first of an attempt */
};

/* The smaller the more it is trusted. */
static int rank_of(enum series_file file)
{
    static const int ranks[SERIES_FILES] = {
        [SERIES_METRICS] = 0, [SERIES_EVENTS] = 1, [SERIES_OUTSIDE] = 2,
        [SERIES_STDOUT] = 3,  [SERIES_STDERR] = 4, [SERIES_SYSTEM] = 5,
    };
    return ranks[file];
}

static int on_info(const struct series_info *info, void *arg)
{
    struct reading *reading = arg;
    size_t at = 0;

    while (at < reading->sources.len && reading->sources.at[at].attempt < info->source.attempt)
        at++;
    if (at < reading->sources.len && reading->sources.at[at].attempt == info->source.attempt) {
        if (rank_of(info->source.file) < rank_of(reading->sources.at[at].file))
            reading->sources.at[at] = info->source;
        return 0;
    }
    vec_push(&reading->sources, info->source);
    for (size_t i = reading->sources.len - 1; i > at; i--)
        reading->sources.at[i] = reading->sources.at[i - 1];
    reading->sources.at[at] = info->source;
    return 0;
}

/* An attempt goes on from its first step: what was there from that on is given up. */
static void begin_attempt(struct reading *reading, int64_t step)
{
    while (reading->points.len && vec_last(&reading->points)->step >= step)
        reading->points.len--;
    reading->fresh = false;
}

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct reading *reading = arg;

    for (size_t i = 0; i < chunk->n; i++) {
        int64_t ns = chunk->times_ns[i], step = chunk->steps[i];
        bool timed = ns != INT64_MIN && reading->started_us;
        if (step == STEP_NONE)
            step =
                reading->points.len ? MIN(vec_last(&reading->points)->step, INT64_MAX - 1) + 1 : 0;
        if (reading->fresh)
            begin_attempt(reading, step);
        struct expr_point point = {
            .step = step,
            .time_s = timed ? ((double)ns / 1e3 - (double)reading->started_us) / 1e6 : NAN,
            .value = chunk->values[i],
        };
        vec_push(&reading->points, point);
    }
    return 0;
}

static int stored_points(const struct live *live, struct series_db *db, const char *metric,
                         expr_points_fn *fn, void *arg)
{
    const struct trial *trial = run_trial(live->run, live->attempt.trial);
    struct reading reading = {.started_us = trial->started_us};
    uint32_t name = series_db_name(db, metric, strlen(metric));
    int r = 0;

    if (name == SERIES_NAME_NONE)
        return 0;
    r = series_db_list(db, trial->experiment, trial->number, name, on_info, &reading);
    for (size_t i = 0; r >= 0 && i < reading.sources.len; i++) {
        reading.fresh = true;
        r = series_db_read(db, &reading.sources.at[i], name, &series_all, on_chunk, &reading);
    }
    if (r >= 0 && reading.points.len)
        fn(reading.points.at, reading.points.len, arg);
    vec_release(&reading.sources);
    vec_release(&reading.points);
    return r < 0 ? r : 0;
}

int live_points(const struct live *live, const char *metric, expr_points_fn *fn, void *arg,
                struct err *err)
{
    struct series_db *db = live->run->engine->options.series;
    const char *objective = live->run->spec.objective.metric;
    const struct curve_data *curve = &live->curve;
    bool more = true;

    if (db) {
        int r = stored_points(live, db, metric, fn, arg);
        return r < 0 ? err_errno(err, -r, "the samples of '%s' cannot be read", metric) : 0;
    }
    if (!objective || !str_eq(objective, metric))
        return 0;
    for (size_t i = 0; more && i < curve->steps.len; i++) {
        struct expr_point point = {curve->steps.at[i], NAN, curve->values.at[i]};
        more = fn(&point, 1, arg);
    }
    return 0;
}
