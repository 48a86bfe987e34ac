/* SPDX-License-Identifier: MIT */
/*
 * export_follow.c — hone export --metrics --follow: samples as the engine stores them, until nobody
 * works at the experiment.
 *
 * The store is looked at a few times a second: a list of its series tells without decoding which
 * have grown. In one attempt a metric comes from one source, the most trusted that has it when it
 * is first seen. Whether there is more to come is asked before the look, so that what was stored
 * before the end is written.
 */
#include "base/map.h"
#include "cli/export.h"
#include "cli/output.h"
#include "metrics/metrics.h"
#include "series/series.h"

#include <errno.h>
#include <poll.h>

#define LOOK_MS 250

/* Most trusted first, as series.c reads them; the machine's figures are not the program's. */
static const int trust[SERIES_FILES] = {
    [SERIES_METRICS] = 0, [SERIES_EVENTS] = 1, [SERIES_OUTSIDE] = 2,
    [SERIES_STDOUT] = 3,  [SERIES_STDERR] = 4, [SERIES_SYSTEM] = 5,
};

struct followed { /* a metric of an attempt */
    struct series_source source;
    uint32_t name;
    uint64_t told, total;
};
struct follower {
    const struct export *export;
    struct export_seen seen;
    VEC(struct followed *) list;
    struct map_text places; /* "trial.attempt metric" */
};

bool export_goes_on(const struct export *export)
{
    struct experiment_row row = {0};
    autofree(mem) char *id = xasprintf("%lld", (long long)export->target->experiment.experiment.id);
    bool engine = home_has_engine(export->home);

    if (store_find_experiment(export->store, id, false, &row, NULL) < 0)
        return false;
    enum experiment_state state = shown_state(&row.experiment, engine);
    experiment_row_release(&row);
    return state == EXPERIMENT_RUNNING;
}

bool export_has_news(const struct export *export, struct export_seen *seen)
{
    struct series_size size;
    series_db_size(export->series, &size);
    bool news = size.rows != seen->rows || size.values != seen->values;

    *seen = (struct export_seen){size.rows, size.values};
    return news;
}

static int on_info(const struct series_info *info, void *arg)
{
    struct follower *follower = arg;
    const char *name = series_db_name_text(follower->export->series, info->name);

    if (info->source.file == SERIES_SYSTEM || metric_is_word(name))
        return 0;
    autofree(mem) char *key = xasprintf("%lld.%lld %s", (long long)info->source.trial,
                                        (long long)info->source.attempt, name);
    struct followed *followed = map_text_find(&follower->places, key);
    if (!followed) {
        followed = xcalloc(1, sizeof(*followed));
        followed->source = info->source;
        vec_push(&follower->list, followed);
        map_text_put(&follower->places, key, followed);
    }
    if (!followed->told && trust[info->source.file] < trust[followed->source.file])
        followed->source = info->source;
    if (followed->source.file == info->source.file) {
        followed->name = info->name;
        followed->total = info->stats.count;
    }
    return 0;
}

struct telling {
    const struct export *export;
    const char *trial, *metric;
    uint64_t skip, told;
};

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct telling *telling = arg;
    size_t from = (size_t)MIN(telling->skip, chunk->n);

    telling->skip -= from;
    for (size_t i = from; i < chunk->n; i++) {
        int64_t ns = chunk->times_ns[i];
        struct series_point point = {.step = chunk->steps[i],
                                     .time_us = ns == INT64_MIN ? 0 : ns / 1000,
                                     .value = chunk->values[i]};
        export_point(telling->export, telling->trial, telling->metric, &point);
        telling->told++;
    }
    return 0;
}

static void tell(struct follower *follower, struct followed *followed)
{
    const struct export *export = follower->export;
    autofree(mem) char *trial = xasprintf("%lld.%lld", (long long)followed->source.experiment,
                                          (long long)followed->source.trial);
    struct telling telling = {.export = export,
                              .trial = trial,
                              .metric = series_db_name_text(export->series, followed->name),
                              .skip = followed->told};

    series_db_read(export->series, &followed->source, followed->name, &series_all, on_chunk,
                   &telling);
    followed->told += telling.told;
}

static int look(struct follower *follower, bool last)
{
    const struct export *export = follower->export;
    int r = series_db_refresh(export->series, export->err);

    if (r < 0 || (!export_has_news(export, &follower->seen) && !last))
        return r;
    series_db_list(export->series, export->target->experiment.experiment.id, -1, SERIES_NAME_NONE,
                   on_info, follower);
    vec_foreach (followed, &follower->list)
        if ((*followed)->told < (*followed)->total)
            tell(follower, *followed);
    if (fflush(export->to) != 0 || ferror(export->to))
        return err_errno(export->err, errno ? errno : EIO, "cannot write the samples");
    return 0;
}

static void follower_release(struct follower *follower)
{
    vec_foreach (followed, &follower->list)
        free(*followed);
    vec_release(&follower->list);
    map_text_release(&follower->places);
}

int export_follow(const struct export *export)
{
    autorelease(follower) struct follower follower = {.export = export};

    if (!export->jsonl)
        fputs("trial,metric,step,time,value\n", export->to);
    fflush(export->to);
    for (;;) {
        bool last = !export_goes_on(export);
        int r = look(&follower, last);
        if (last || r < 0)
            return r;
        poll(NULL, 0, LOOK_MS);
    }
}
