/* SPDX-License-Identifier: MIT */
/*
 * samples.c — the samples in the home's store. A list of its series tells without decoding which
 * have grown.
 */
#include "cli/samples.h"
#include "api/rows.h"

struct home_samples {
    struct samples base;
    const char *home;
    struct store *store;
    struct series_db *series;
    const struct target *target;
    uint64_t rows, values; /* as of the last look */
};

void samples_free(struct samples *samples)
{
    if (samples)
        samples->ops->free(samples);
}

static bool goes_on(struct samples *base)
{
    struct home_samples *samples = (struct home_samples *)base;
    struct experiment_row row = {0};
    autofree(mem) char *id = xasprintf("%lld", (long long)base->experiment);
    bool engine = home_has_engine(samples->home);

    if (store_find_experiment(samples->store, id, false, &row, NULL) < 0)
        return false;
    enum experiment_state state = shown_state(&row.experiment, engine);
    experiment_row_release(&row);
    return state == EXPERIMENT_RUNNING;
}

struct listing {
    struct series_db *series;
    samples_fn *fn;
    void *arg;
    struct series_wholes wholes;
};

static int on_info(const struct series_info *info, void *arg)
{
    struct listing *listing = arg;
    struct samples_series series = {.source = info->source,
                                    .metric = series_db_name_text(listing->series, info->name),
                                    .id = info->name,
                                    .count = info->stats.count,
                                    .whole =
                                        series_wholes_ask(&listing->wholes, listing->series, info),
                                    .lines = series_db_is_lines(listing->series, &info->source)};
    listing->fn(&series, listing->arg);
    return 0;
}

static int look(struct samples *base, bool always, samples_fn *fn, void *arg, struct err *err)
{
    struct home_samples *samples = (struct home_samples *)base;
    struct listing listing = {.series = samples->series, .fn = fn, .arg = arg};
    struct series_size size;
    int r = series_db_refresh(samples->series, err);

    if (r < 0)
        return r;
    series_db_every(samples->series, true); /* positions must not change */
    series_db_size(samples->series, &size);
    if (!always && size.rows == samples->rows && size.values == samples->values)
        return 0;
    samples->rows = size.rows;
    samples->values = size.values;
    series_db_list(samples->series, base->experiment, -1, SERIES_NAME_NONE, on_info, &listing);
    if (base->machine)
        series_db_list(samples->series, 0, 0, SERIES_NAME_NONE, on_info, &listing);
    series_db_every(samples->series, false);
    vec_release(&listing.wholes.known);
    return 0;
}

struct reading {
    uint64_t skip, want; /* values before the first that is wanted; and of those */
    series_chunk_fn *fn;
    void *arg;
};

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct reading *reading = arg;
    size_t from = (size_t)MIN(reading->skip, chunk->n);
    size_t n = (size_t)MIN(reading->want, chunk->n - from);
    struct series_chunk part = {.n = n,
                                .steps = chunk->steps + from,
                                .times_ns = chunk->times_ns + from,
                                .values = chunk->values + from,
                                .rests = chunk->rests ? chunk->rests + from : NULL};

    reading->skip -= from;
    reading->want -= n;
    if (n)
        reading->fn(&part, reading->arg);
    return reading->want == 0;
}

static int read_store(struct samples *base, const struct samples_series *series, uint64_t from,
                      uint64_t to, series_chunk_fn *fn, void *arg, struct err *err UNUSED)
{
    struct home_samples *samples = (struct home_samples *)base;
    struct reading reading = {.skip = from, .want = to - from, .fn = fn, .arg = arg};

    series_db_every(samples->series, true);
    series_db_read(samples->series, &series->source, series->id, &series_all, on_chunk, &reading);
    series_db_every(samples->series, false);
    return 0;
}

struct asking {
    const struct space *space;
    samples_param_fn *fn;
    void *arg;
};

static int on_trial(const struct trial_row *row, void *arg)
{
    const struct asking *asking = arg;

    for (size_t i = 0; i < MIN(asking->space->n, row->ndim); i++) {
        const struct param *param = &asking->space->params[i];
        autorelease(str) struct str value = STR_INIT;
        if (row->trial.point[i] == row->trial.point[i])
            param_text(param, row->trial.point[i], &value);
        asking->fn(param->name, value.s, asking->arg);
    }
    return 0;
}

static int params(struct samples *base, int64_t trial, samples_param_fn *fn, void *arg,
                  struct err *err)
{
    struct home_samples *samples = (struct home_samples *)base;
    struct trial_query query = {.experiment = base->experiment, .number = trial};
    struct asking asking = {&samples->target->spec.space, fn, arg};

    return store_trials(samples->store, &query, on_trial, &asking, err);
}

static void free_home(struct samples *base)
{
    free(base);
}

struct samples *samples_of_home(const char *home, struct store *store, struct series_db *series,
                                const struct target *target)
{
    static const struct samples_ops ops = {goes_on, look, read_store, params, free_home};
    struct home_samples *samples = xcalloc(1, sizeof(*samples));

    *samples = (struct home_samples){
        .base = {.ops = &ops}, .home = home, .store = store, .series = series, .target = target};
    if (target) {
        samples->base.experiment = target->experiment.experiment.id;
        samples->base.created_us = target->experiment.experiment.created_us;
        samples->base.ended_us = target->experiment.experiment.ended_us;
    }
    return &samples->base;
}
