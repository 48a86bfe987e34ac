/* SPDX-License-Identifier: MIT */
/*
 * export_iterations.c — hone export --iterations: every step that was reported, with the
 * configuration in which it ran. What SelfTF wrote as iteration_training_data.csv.
 *
 * Two passes over the samples: the first finds the names of the metrics, which are the
 * columns, the second writes. Nothing but the open row is held, however long a trial is. Samples of
 * one step that stand together are one row; a step that a later attempt repeats is there twice, as
 * it was run twice.
 */
#include "base/clock.h"
#include "base/map.h"
#include "cli/export.h"
#include "series/series.h"

#include <math.h>

struct iterations {
    const struct export *export;
    struct tuning_log log;
    struct map_text places; /* metric → index of its column, plus 1 */
    VEC(char *) metrics;
    bool naming; /* the first pass */

    /* of the trial and attempt being read */
    const struct trial_row *row;
    const char *id;
    struct tuning tuning;
    int64_t attempt;
    VEC(size_t) columns; /* place of a metric in the attempt → its column */

    /* the open row */
    bool open;
    int64_t step, time_us;
    int64_t time_ns;   /* the same; INT64_MIN: unknown */
    int64_t before_us; /* of the row before it in the attempt; 0: none */
    double *values;    /* metrics.len */
    uint16_t *rests;   /* … theirs */
    bool *known;
};

/* ---- rows ---- */

/* A program may well report a metric of the same name. */
static const char *column_name(const struct iterations *it, const char *name)
{
    static char longer[256];

    vec_foreach (metric, &it->metrics)
        if (str_eq(*metric, name)) {
            snprintf(longer, sizeof(longer), "system.%s", name);
            return longer;
        }
    return name;
}

static void head(const struct iterations *it)
{
    FILE *to = it->export->to;
    const struct spec *spec = &it->export->target->spec;

    fputs("trial,attempt,step,time,elapsed_s", to);
    vec_foreach (metric, &it->metrics)
        csv_next(to, *metric);
    fputs(",generation", to);
    for (size_t i = 0; i < system_count(spec); i++)
        csv_next(to, column_name(it, system_name_at(spec, i)));
    csv_param_names(it->export);
    fputc('\n', to);
}

static double elapsed_s(const struct iterations *it)
{
    int64_t began_us = it->row->trial.started_us;
    return it->time_us && began_us ? (double)(it->time_us - began_us) / US_PER_S : NAN;
}

static void csv_row(const struct iterations *it, const struct tuning_phase *phase)
{
    FILE *to = it->export->to;
    autorelease(str) struct str time = STR_INIT;

    if (it->time_us)
        str_add_time_ns(&time, it->time_ns);
    fprintf(to, "%s,%lld,%lld,%s", it->id, (long long)it->attempt, (long long)it->step, time.s);
    csv_next_known(to, elapsed_s(it));
    for (size_t i = 0; i < it->metrics.len; i++) {
        fputc(',', to);
        if (it->known[i])
            csv_exact(to, it->values[i], it->rests[i]);
    }
    fprintf(to, ",%lld", (long long)phase->generation);
    for (size_t i = 0; i < it->tuning.n_values; i++)
        csv_next_value(to, phase->values[i]);
    csv_params(it->export, &it->row->trial);
    fputc('\n', to);
}

static void json_row(const struct iterations *it, const struct tuning_phase *phase)
{
    autorelease(str) struct str text = STR_INIT, time = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (it->time_us)
        str_add_time_ns(&time, it->time_ns);
    json_begin_object(&out);
    json_put_text(&out, "trial", it->id);
    json_put_int(&out, "attempt", it->attempt);
    json_put_int(&out, "step", it->step);
    json_put_text(&out, "time", time.len ? time.s : NULL);
    json_put_known(&out, "elapsed_s", elapsed_s(it));
    json_key(&out, "metrics");
    json_begin_object(&out);
    for (size_t i = 0; i < it->metrics.len; i++)
        if (it->known[i])
            json_put_exact(&out, it->metrics.at[i], it->values[i], it->rests[i]);
    json_end_object(&out);
    json_put_int(&out, "generation", phase->generation);
    tuning_put_system(&out, &it->export->target->spec, "system", phase->values);
    json_put_raw(&out, "params", it->row->params_json ? it->row->params_json : "{}");
    json_end_object(&out);
    fprintf(it->export->to, "%s\n", text.s);
}

/* A step is reported when it has ended. One in which something was changed belongs to what was in
 * force for most of it. */
static int64_t middle_us(const struct iterations *it)
{
    bool known = it->before_us && it->time_us > it->before_us;
    return known ? it->before_us + (it->time_us - it->before_us) / 2 : it->time_us;
}

static void close_row(struct iterations *it)
{
    if (!it->open)
        return;
    size_t phase = tuning_phase_at(&it->tuning, it->attempt, middle_us(it), it->step);
    it->before_us = it->time_us;
    (it->export->jsonl ? json_row : csv_row)(it, &it->tuning.phases.at[phase]);
    it->open = false;
}

static void open_row(struct iterations *it, int64_t step)
{
    it->open = true;
    it->step = step;
    it->time_us = 0;
    memset(it->known, 0, it->metrics.len * sizeof(*it->known));
}

/* ---- samples ---- */

/* A metric that the first pass did not see, of a trial that runs on, gets no column. */
static size_t column_of(struct iterations *it, const char *metric)
{
    uintptr_t column = (uintptr_t)map_text_find(&it->places, metric);

    if (column)
        return column - 1;
    if (!it->naming)
        return SIZE_MAX;
    vec_push(&it->metrics, xstrdup(metric));
    map_text_put(&it->places, metric, (void *)(uintptr_t)it->metrics.len);
    return it->metrics.len - 1;
}

/* Output may draw a step again and again: there the last word counts. */
static void on_sample(const struct series_sample *sample, void *arg)
{
    struct iterations *it = arg;
    const struct series_point *point = &sample->point;

    while (it->columns.len <= sample->place)
        vec_push(&it->columns, column_of(it, sample->metric));
    size_t column = it->columns.at[sample->place];
    if (it->naming || column == SIZE_MAX)
        return;
    if (it->open && (it->step != point->step || (it->known[column] && !sample->output)))
        close_row(it);
    if (!it->open)
        open_row(it, point->step);
    it->values[column] = point->value;
    it->rests[column] = sample->rest;
    it->known[column] = true;
    if (!it->time_us) {
        it->time_us = point->time_us;
        it->time_ns = sample->time_ns;
    }
}

static int walk_attempts(struct iterations *it)
{
    const struct trial *trial = &it->row->trial;
    int r = 0;

    for (int64_t n = trial->attempts ? 1 : 0; r == 0 && n <= trial->attempts; n++) {
        struct series_walk walk = export_walk(it->export, trial, n);
        it->attempt = n;
        it->columns.len = 0;
        it->before_us = 0;
        r = series_walk(&walk, on_sample, it, it->export->err);
        close_row(it);
    }
    return r;
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct iterations *it = arg;
    const struct export *export = it->export;
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)row->trial.experiment, (long long)row->trial.number);
    int r = 0;

    it->row = row;
    it->id = id;
    if (!it->naming)
        r = tuning_load(&it->tuning, export->store, &export->target->spec, row, &it->log,
                        export->err);
    if (r == 0)
        r = walk_attempts(it);
    tuning_release(&it->tuning);
    it->tuning = (struct tuning){0};
    return r;
}

static int walk_trials(struct iterations *it)
{
    const struct export *export = it->export;
    struct trial_query query = {.experiment = export->target->experiment.experiment.id,
                                .order = ORDER_NUMBER};
    return store_trials(export->store, &query, on_trial, it, export->err);
}

int export_iterations(const struct export *export)
{
    struct iterations it = {.export = export, .naming = true};
    int r = tuning_log_load(&it.log, export->store, export->target->experiment.experiment.id, 0,
                            export->err);

    if (r == 0)
        r = walk_trials(&it);
    it.naming = false;
    it.values = xcalloc(it.metrics.len + 1, sizeof(*it.values));
    it.rests = xcalloc(it.metrics.len + 1, sizeof(*it.rests));
    it.known = xcalloc(it.metrics.len + 1, sizeof(*it.known));
    if (r == 0 && !export->jsonl)
        head(&it);
    if (r == 0)
        r = walk_trials(&it);
    free(it.values);
    free(it.rests);
    free(it.known);
    vec_release(&it.columns);
    vec_foreach (metric, &it.metrics)
        free(*metric);
    vec_release(&it.metrics);
    map_text_release(&it.places);
    tuning_log_release(&it.log);
    return r;
}
