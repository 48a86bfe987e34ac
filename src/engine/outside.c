/* SPDX-License-Identifier: MIT */
/*
 * outside.c — summaries of trials from outside.
 *
 * They are written about once a second, samples at once: after a death there may be samples that
 * no summary counts. The two counts are compared, trial by trial.
 */
#include "engine/outside.h"

#include <math.h>

static void add_values(struct untold *untold, int64_t number, int64_t n)
{
    if (number < 1)
        return;
    while ((int64_t)untold->len < number)
        vec_push(untold, 0);
    untold->at[number - 1] += n;
}

static int on_kept(const struct series_info *info, void *arg)
{
    add_values(arg, info->source.trial, info->stats.count);
    return 0;
}

static int on_summary(int64_t trial, const struct summary *summary, void *arg)
{
    add_values(arg, trial, -summary->count);
    return 0;
}

void untold_find(struct series_db *db, struct store *reader, int64_t experiment, struct untold *ret)
{
    series_db_names(db, experiment, -1, on_kept, ret);
    store_summaries(reader, experiment, 0, on_summary, ret, NULL);
}

bool untold_any(const struct untold *untold)
{
    bool any = false;

    vec_foreach (values, untold)
        any |= *values != 0;
    return any;
}

/* The first value that is no finite number; headers say in which block to look. */
struct odd {
    bool found;
    struct series_range range;
    int64_t step;
};

static int on_odd_header(const struct series_chunk *chunk, void *arg)
{
    struct odd *odd = arg;

    if (!chunk->stats->nans && !chunk->stats->infs)
        return 0;
    odd->found = true;
    if (chunk->first_step != STEP_NONE) {
        odd->range.min_step = chunk->first_step;
        odd->range.max_step = chunk->last_step;
    }
    return 1;
}

static int on_odd_block(const struct series_chunk *chunk, void *arg)
{
    struct odd *odd = arg;

    for (size_t i = 0; i < chunk->n; i++)
        if (!isfinite(chunk->values[i])) {
            odd->step = chunk->steps && chunk->steps[i] != STEP_NONE ? chunk->steps[i] : 0;
            return 1;
        }
    return 0;
}

static int64_t first_odd_step(struct series_db *db, const struct series_info *info)
{
    struct odd odd = {.range = series_all};

    if (!info->stats.nans && !info->stats.infs)
        return STEP_NONE;
    series_db_headers(db, &info->source, info->name, on_odd_header, &odd);
    if (odd.found)
        series_db_read(db, &info->source, info->name, &odd.range, on_odd_block, &odd);
    return odd.step;
}

struct summary outside_summary(struct series_db *db, const struct series_info *info)
{
    return (struct summary){
        .metric = (char *)series_db_name_text(db, info->name),
        .count = info->stats.count,
        .last = info->stats.last,
        .min = info->stats.min,
        .max = info->stats.max,
        .last_step = info->last_step,
        .first_nan_step = first_odd_step(db, info),
    };
}
