/* SPDX-License-Identifier: MIT */
/*
 * stream.c — the points of a trial a metric at a time, as series.c would hold them, without holding
 * them: a trial may have more than fit into memory.
 *
 * First it is found out which metrics each attempt has. One in the store is listed, and read
 * metric by metric. Of one that must be read from its files all is kept, if it is not much;
 * else the files are read again for each metric.
 *
 *     attempt 1:  0 1 2 3 4 5          what attempt 2 repeats is left out: attempt 1 ends before
 *     attempt 2:        3 4 5 6 7      the first step of every later one
 */
#include "base/map.h"
#include "metrics/metrics.h"
#include "series/attempt_files.h"
#include "series/series.h"

#define HELD_POINTS (2u << 20) /* of an attempt: 48 MiB */

struct column { /* a metric of an attempt */
    enum series_file file;
    uint32_t id; /* in the store */
    bool output, figure;
    VEC(struct series_value) points; /* if they are held */
};
struct part { /* an attempt */
    struct series_walk walk;
    bool stored;
    bool large; /* its files hold too much to be kept */
    size_t held;
    struct map_text places; /* metric → its column, plus 1 */
    VEC(struct column) columns;
};
struct stream {
    const struct series_ask *ask;
    VEC(struct part) parts;
    struct map_text known; /* names that are listed */
    VEC(char *) names;     /* in order of first appearance */
};

static void stream_release(struct stream *stream)
{
    vec_foreach (part, &stream->parts) {
        vec_foreach (column, &part->columns)
            vec_release(&column->points);
        vec_release(&part->columns);
        map_text_release(&part->places);
    }
    vec_release(&stream->parts);
    vec_foreach (name, &stream->names)
        free(*name);
    vec_release(&stream->names);
    map_text_release(&stream->known);
}

/* ---- what there is ---- */

static bool wanted(const struct series_ask *ask, const char *metric)
{
    if (metric_is_word(metric))
        return false;
    for (size_t i = 0; i < ask->n_metrics; i++)
        if (str_eq(ask->metrics[i], metric))
            return true;
    return ask->n_metrics == 0;
}

static void add_name(struct stream *stream, const char *metric)
{
    if (map_text_find(&stream->known, metric))
        return;
    vec_push(&stream->names, xstrdup(metric));
    map_text_put(&stream->known, metric, stream);
}

static struct column *find_column(const struct part *part, const char *metric)
{
    uintptr_t place = (uintptr_t)map_text_find(&part->places, metric);
    return place ? &part->columns.at[place - 1] : NULL;
}

static struct column *add_column(struct stream *stream, struct part *part, const char *metric)
{
    vec_push(&part->columns, ((struct column){.id = SERIES_NAME_NONE}));
    map_text_put(&part->places, metric, (void *)(uintptr_t)part->columns.len);
    add_name(stream, metric);
    return vec_last(&part->columns);
}

struct infos {
    int64_t attempt;
    VEC(struct series_info) list;
};

static int on_info(const struct series_info *info, void *arg)
{
    struct infos *infos = arg;

    if (info->source.attempt == infos->attempt)
        vec_push(&infos->list, *info);
    return 0;
}

static void list_stored(struct stream *stream, struct part *part)
{
    const struct series_walk *walk = &part->walk;
    struct infos infos = {.attempt = walk->attempt};

    series_db_names(walk->db, walk->experiment, walk->trial, on_info, &infos);
    for (size_t i = 0; i < ATTEMPT_FILES; i++)
        vec_foreach (info, &infos.list) {
            const char *metric = series_db_name_text(walk->db, info->name);
            bool figure = info->source.file == SERIES_SYSTEM;
            if (info->source.file != attempt_files[i].file || (figure && !walk->system) ||
                !wanted(stream->ask, metric) || find_column(part, metric))
                continue;
            struct column *column = add_column(stream, part, metric);
            column->file = info->source.file;
            column->id = info->name;
            column->output = attempt_files[i].source == METRICS_OUTPUT;
            column->figure = figure;
        }
    vec_release(&infos.list);
}

struct filing {
    struct stream *stream;
    struct part *part;
};

static struct series_value value_of(const struct series_sample *sample)
{
    return (struct series_value){sample->figure ? STEP_NONE : sample->point.step, sample->time_ns,
                                 sample->point.value, sample->rest};
}

static void on_filed(const struct series_sample *sample, void *arg)
{
    const struct filing *filing = arg;
    struct part *part = filing->part;

    if (!wanted(filing->stream->ask, sample->metric))
        return;
    struct column *column = find_column(part, sample->metric);
    if (!column) {
        column = add_column(filing->stream, part, sample->metric);
        column->output = sample->output;
        column->figure = sample->figure;
    }
    if (part->large)
        return;
    vec_push(&column->points, value_of(sample));
    part->large = ++part->held > (filing->stream->ask->held ?: HELD_POINTS);
    if (part->large)
        vec_foreach (other, &part->columns)
            vec_release(&other->points);
}

static int list_part(struct stream *stream, struct part *part, struct err *err)
{
    struct filing filing = {stream, part};

    part->stored = series_walk_stored(&part->walk);
    if (!part->stored)
        return series_walk(&part->walk, on_filed, &filing, err);
    list_stored(stream, part);
    return 0;
}

/* ---- the points of one metric ---- */

struct flow { /* of one attempt */
    const struct column *column;
    int64_t next;  /* step of the next sample without one */
    int64_t first; /* the smallest step that was seen */
    int64_t limit; /* steps from here on belong to a later attempt; INT64_MAX: none does */
    bool waits;    /* `last` has not been told: output may draw its step again */
    struct series_value last;
    const char *metric;
    series_value_fn *fn; /* NULL: only `first` is wanted */
    void *arg;
};

static void tell(struct flow *flow, const struct series_value *value)
{
    bool mine = value->step < flow->limit || flow->limit == INT64_MAX;

    if (flow->fn && (mine || flow->column->figure))
        flow->fn(flow->metric, value, flow->arg);
}

static void give(struct flow *flow, struct series_value value)
{
    flow->first = MIN(flow->first, value.step);
    if (!flow->column->output) {
        tell(flow, &value);
        return;
    }
    if (flow->waits && flow->last.step == value.step) {
        flow->last.value = value.value;
        flow->last.rest = value.rest;
        return;
    }
    if (flow->waits)
        tell(flow, &flow->last);
    flow->last = value;
    flow->waits = true;
}

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct flow *flow = arg;

    for (size_t i = 0; i < chunk->n; i++) {
        int64_t step =
            flow->column->figure ? STEP_NONE : metrics_step(&flow->next, chunk->steps[i]);
        give(flow, (struct series_value){step, chunk->times_ns[i], chunk->values[i],
                                         series_chunk_rest(chunk, i)});
    }
    return 0;
}

static void on_sample(const struct series_sample *sample, void *arg)
{
    give(arg, value_of(sample));
}

static int run(const struct part *part, struct flow *flow, struct err *err)
{
    struct series_walk walk = part->walk;
    int r = 0;

    if (part->stored) {
        struct series_source source = {walk.experiment, walk.trial, walk.attempt,
                                       flow->column->file};
        series_db_read(walk.db, &source, flow->column->id, &series_all, on_chunk, flow);
    } else if (part->large) {
        walk.metric = flow->metric;
        r = series_walk(&walk, on_sample, flow, err);
    } else {
        vec_foreach (value, &flow->column->points)
            give(flow, *value);
    }
    if (flow->waits)
        tell(flow, &flow->last);
    return r;
}

/* Where attempts end, from the last to the first. */
static int find_limits(const struct stream *stream, const char *metric, int64_t *ret,
                       struct err *err)
{
    int64_t limit = INT64_MAX;
    int r = 0;

    for (size_t i = stream->parts.len; i-- > 0 && r >= 0;) {
        const struct part *part = &stream->parts.at[i];
        struct flow flow = {
            .column = find_column(part, metric), .first = INT64_MAX, .metric = metric};
        ret[i] = limit;
        if (i == 0 || !flow.column || flow.column->figure)
            continue;
        r = run(part, &flow, err);
        limit = MIN(limit, flow.first);
    }
    return r;
}

static int stream_metric(const struct stream *stream, const char *metric, series_value_fn *fn,
                         void *arg, struct err *err)
{
    autofree(mem) int64_t *limits = xcalloc(stream->parts.len, sizeof(*limits));
    int r = find_limits(stream, metric, limits, err);

    for (size_t i = 0; i < stream->parts.len && r >= 0; i++) {
        const struct part *part = &stream->parts.at[i];
        struct flow flow = {.column = find_column(part, metric),
                            .first = INT64_MAX,
                            .limit = limits[i],
                            .metric = metric,
                            .fn = fn,
                            .arg = arg};
        if (flow.column)
            r = run(part, &flow, err);
    }
    return r;
}

int series_stream(const struct series_ask *ask, series_value_fn *fn, void *arg, struct err *err)
{
    const struct trial *trial = ask->trial;
    autorelease(stream) struct stream stream = {.ask = ask};
    int r = 0;

    for (int64_t n = trial->attempts ? 1 : 0; n <= trial->attempts && r >= 0; n++) {
        struct part part = {.walk = {.db = ask->db,
                                     .home = ask->home,
                                     .spec = ask->spec,
                                     .point = trial->point,
                                     .experiment = trial->experiment,
                                     .trial = trial->number,
                                     .attempt = n,
                                     .ended = n < trial->attempts || trial->state != TRIAL_RUNNING,
                                     .system = ask->system}};
        vec_push(&stream.parts, part);
        r = list_part(&stream, vec_last(&stream.parts), err);
    }
    for (size_t i = 0; i < stream.names.len && r >= 0; i++)
        r = stream_metric(&stream, stream.names.at[i], fn, arg, err);
    return r;
}
