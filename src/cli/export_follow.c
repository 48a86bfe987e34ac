/* SPDX-License-Identifier: MIT */
/*
 * export_follow.c — hone export --metrics --follow: samples as the engine stores them, until nobody
 * works at the experiment.
 *
 * The samples, of the home or of a server, are looked at a few times a second. In one attempt a
 * metric comes from one source, the most trusted that has it when it is first seen. Whether there
 * is more to come is asked before the look, so that what was stored before the end is written.
 */
#include "base/map.h"
#include "cli/export.h"
#include "cli/output.h"
#include "metrics/metrics.h"
#include "series/series.h"

#include <errno.h>
#include <poll.h>

#define LOOK_MS 250

/* Most trusted first, as series.c reads them. */
static const int trust[SERIES_FILES] = {
    [SERIES_METRICS] = 0, [SERIES_EVENTS] = 1, [SERIES_OUTSIDE] = 2,
    [SERIES_STDOUT] = 3,  [SERIES_STDERR] = 4, [SERIES_SYSTEM] = 5,
};

struct followed { /* a metric of an attempt */
    struct series_source source;
    char *metric;
    uint32_t id;
    bool whole;
    uint64_t told, total;
};
struct follower {
    const struct export *export;
    VEC(struct followed *) list;
    struct map_text places; /* "trial.attempt metric" */
};

static void on_series(const struct samples_series *series, void *arg)
{
    struct follower *follower = arg;

    if ((series->source.file == SERIES_SYSTEM && !follower->export->system) ||
        metric_is_word(series->metric) || !export_wants(follower->export, series->metric))
        return;
    autofree(mem) char *key = xasprintf("%lld.%lld %s", (long long)series->source.trial,
                                        (long long)series->source.attempt, series->metric);
    struct followed *followed = map_text_find(&follower->places, key);
    if (!followed) {
        followed = xcalloc(1, sizeof(*followed));
        followed->source = series->source;
        followed->metric = xstrdup(series->metric);
        vec_push(&follower->list, followed);
        map_text_put(&follower->places, key, followed);
    }
    if (!followed->told && trust[series->source.file] < trust[followed->source.file])
        followed->source = series->source;
    if (followed->source.file == series->source.file) {
        followed->id = series->id;
        followed->total = series->count;
        followed->whole = series->whole;
    }
}

struct telling {
    const struct export *export;
    const char *trial, *metric;
    struct export_span span;
    uint64_t told;
};

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct telling *telling = arg;

    for (size_t i = 0; i < chunk->n; i++) {
        struct series_value value = {chunk->steps[i], chunk->times_ns[i], chunk->values[i],
                                     series_chunk_rest(chunk, i)};
        if (value.time_ns >= telling->span.from_ns && value.time_ns <= telling->span.to_ns)
            export_point(telling->export, telling->trial, telling->metric, &value);
        telling->told++;
    }
    return 0;
}

static int tell(struct follower *follower, struct followed *followed)
{
    const struct export *export = follower->export;
    struct samples *samples = export->samples;
    bool machine = samples_is_machine(&followed->source);
    autofree(mem) char *trial = machine
                                    ? xstrdup(EXPORT_MACHINE)
                                    : xasprintf("%lld.%lld", (long long)followed->source.experiment,
                                                (long long)followed->source.trial);
    struct telling telling = {.export = export,
                              .trial = trial,
                              .metric = followed->metric,
                              .span = {INT64_MIN, INT64_MAX}};
    if (machine)
        telling.span = export_span(samples->created_us, samples->ended_us);
    struct samples_series series = {.source = followed->source,
                                    .metric = followed->metric,
                                    .id = followed->id,
                                    .whole = followed->whole};
    int r = samples->ops->read(samples, &series, followed->told, UINT64_MAX, on_chunk, &telling,
                               export->err);

    followed->told += telling.told;
    return r;
}

static int look(struct follower *follower, bool last)
{
    const struct export *export = follower->export;
    struct samples *samples = export->samples;
    int r = samples->ops->look(samples, last, on_series, follower, export->err);

    for (size_t i = 0; i < follower->list.len && r >= 0; i++)
        if (follower->list.at[i]->told < follower->list.at[i]->total)
            r = tell(follower, follower->list.at[i]);
    if (r >= 0 && (fflush(export->to) != 0 || ferror(export->to)))
        r = err_errno(export->err, errno ? errno : EIO, "cannot write the samples");
    return r;
}

static void follower_release(struct follower *follower)
{
    vec_foreach (followed, &follower->list) {
        free((*followed)->metric);
        free(*followed);
    }
    vec_release(&follower->list);
    map_text_release(&follower->places);
}

int export_follow(const struct export *export)
{
    autorelease(follower) struct follower follower = {.export = export};

    if (!export->jsonl)
        fputs("trial,metric,step,time,value\n", export->to);
    fflush(export->to);
    export->samples->machine = export->system;
    for (;;) {
        bool last = !export->samples->ops->goes_on(export->samples);
        int r = look(&follower, last);
        if (last || r < 0)
            return r;
        poll(NULL, 0, LOOK_MS);
    }
}
