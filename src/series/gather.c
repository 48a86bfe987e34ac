/* SPDX-License-Identifier: MIT */
/* gather.c — the samples of a line become rows. */
#include "series/gather.h"

#include "metrics/metrics.h"

void gather_init(struct gather *gather, struct series_db *db, gather_fn *fn, void *arg)
{
    *gather = (struct gather){.db = db, .fn = fn, .arg = arg};
}

void gather_release(struct gather *gather)
{
    vec_release(&gather->line);
    vec_release(&gather->names);
    vec_release(&gather->values);
}

/* Can it stand in the row that is being made? */
static bool fits(const struct gather *gather, const struct gathered *first,
                 const struct gathered *sample)
{
    if (sample->step != first->step || sample->time_ns != first->time_ns)
        return false;
    vec_foreach (known, &gather->names)
        if (*known == sample->name)
            return false;
    return true;
}

static void put_rest(struct gather *gather, const struct gathered *sample)
{
    uint32_t rest = sample->rest ? series_db_rest(gather->db, sample->name) : SERIES_NAME_NONE;

    if (rest == SERIES_NAME_NONE)
        return;
    vec_push(&gather->names, rest);
    vec_push(&gather->values, sample->rest);
}

/* The row that begins with the first of n samples; how many it took. */
static size_t put_row(struct gather *gather, const struct gathered *samples, size_t n)
{
    size_t took = 0;

    gather->names.len = gather->values.len = 0;
    for (; took < n && (took == 0 || fits(gather, samples, &samples[took])); took++) {
        vec_push(&gather->names, samples[took].name);
        vec_push(&gather->values, samples[took].value);
        put_rest(gather, &samples[took]);
    }
    size_t behind = n - took; /* no more rows than that follow in this line */
    struct series_row row = {
        .end = gather->end > behind ? gather->end - behind : gather->end,
        .step = samples->step,
        .time_ns = samples->time_ns,
        .n = gather->names.len,
        .names = gather->names.at,
        .values = gather->values.at,
    };
    gather->fn(&gather->source, &row, gather->arg);
    return took;
}

void gather_end(struct gather *gather)
{
    for (size_t i = 0; i < gather->line.len;)
        i += put_row(gather, &gather->line.at[i], gather->line.len - i);
    gather->line.len = 0;
}

static bool same_source(const struct series_source *a, const struct series_source *b)
{
    return a->experiment == b->experiment && a->trial == b->trial && a->attempt == b->attempt &&
           a->file == b->file;
}

void gather_sample(struct gather *gather, const struct series_source *source, uint64_t end,
                   const struct gather_sample *sample)
{
    const char *metric = sample->metric;

    if (gather->line.len && (gather->end != end || !same_source(&gather->source, source)))
        gather_end(gather);
    uint32_t name = metric_is_word(metric) ? SERIES_NAME_NONE
                                           : series_db_name(gather->db, metric, strlen(metric));
    if (name == SERIES_NAME_NONE)
        return;
    struct gathered told = {
        .name = name,
        .rest = sample->rest,
        .step = sample->step,
        .time_ns = sample->time_ns,
        .value = sample->value,
    };
    gather->source = *source;
    gather->end = end;
    vec_push(&gather->line, told);
}
