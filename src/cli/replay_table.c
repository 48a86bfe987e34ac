/* SPDX-License-Identifier: MIT */
/*
 * replay_table.c — the recorded trials of an experiment with their curves, as a table to choose
 * from.
 */
#include "base/map.h"
#include "cli/replay.h"
#include "series/series.h"

#include <errno.h>
#include <math.h>

/* Settings by their hash: the first of each is taken. */
static bool is_known(struct map *seen, const struct space *space, const double *x)
{
    uint64_t hash = point_hash(x, space->n);

    if (map_find(seen, hash))
        return true;
    map_put(seen, hash, seen);
    return false;
}

/* Finite values at rising steps. */
static int read_curve(struct series_db *db, const char *home, const struct target *target,
                      const struct outcome *row, double sign, struct replay_trial *ret,
                      struct err *err)
{
    const char *metric = target->spec.objective.metric;
    struct trial trial = {.experiment = target->experiment.experiment.id,
                          .number = row->number,
                          .attempts = row->attempts,
                          .state = row->state};
    struct series_set set = {{0}};
    int r = series_read(db, home, &target->spec, &trial, metric, &set, err);
    const struct series *series = r < 0 ? NULL : series_find(&set, metric);

    for (size_t i = 0; series && i < series->points.len; i++) {
        const struct series_point *point = &series->points.at[i];
        if (!isfinite(point->value) || (ret->steps.len && point->step <= *vec_last(&ret->steps)))
            continue;
        vec_push(&ret->steps, point->step);
        vec_push(&ret->values, sign * point->value);
    }
    series_set_release(&set);
    return r;
}

int64_t replay_cost(const struct replay_table *table, const struct replay_trial *trial)
{
    return table->curves && trial->steps.len ? (int64_t)trial->steps.len : 1;
}

static void sum_up(struct replay_table *table)
{
    table->best = NAN;
    vec_foreach (trial, &table->trials)
        table->curves |= trial->steps.len > 1;
    vec_foreach (trial, &table->trials) {
        table->steps += replay_cost(table, trial);
        if (trial->state == TRIAL_COMPLETED && !isnan(trial->value))
            table->best = fmin(table->best, trial->value);
    }
}

int replay_load(const char *home, const struct target *target, const struct results *results,
                struct replay_table *ret, struct err *err)
{
    double sign = target->spec.objective.goal == GOAL_MAXIMIZE ? -1 : 1;
    autorelease(map) struct map seen = MAP_INIT;
    autofree(series_db) struct series_db *db = NULL;
    int r = series_db_open(home, SERIES_READ, &db, err);

    if (r < 0)
        return r;
    *ret = (struct replay_table){.space = &target->spec.space};
    vec_foreach (row, &results->rows) {
        bool ended = trial_state_ended(row->state) && row->reason != REASON_CANCELLED &&
                     row->reason != REASON_INTERRUPTED && row->reason != REASON_LOST;
        if (!ended || !space_contains(ret->space, row->point) ||
            is_known(&seen, ret->space, row->point))
            continue;
        struct replay_trial trial = {.number = row->number, .x = row->point, .state = row->state};
        trial.value =
            row->state == TRIAL_FAILED || !isfinite(row->values[0]) ? NAN : sign * row->values[0];
        r = read_curve(db, home, target, row, sign, &trial, err);
        vec_push(&ret->trials, trial);
        if (r < 0)
            return r;
    }
    sum_up(ret);
    if (ret->trials.len < 2 || isnan(ret->best))
        return err_set(err, ENODATA, "experiment %lld has too few completed trials to choose from",
                       (long long)target->experiment.experiment.id);
    return 0;
}

void replay_table_release(struct replay_table *table)
{
    vec_foreach (trial, &table->trials) {
        vec_release(&trial->steps);
        vec_release(&trial->values);
    }
    vec_release(&table->trials);
}
