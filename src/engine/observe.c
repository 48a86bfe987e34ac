/* SPDX-License-Identifier: MIT */
/*
 * observe.c — databases, their trials, and lines that become rows of series.
 *
 * Per line there is no lookup: the reader of lines knows each series (measurement and tags) and
 * each field by a struct, and these carry our handles, the trial's number and the metric's. Lines
 * of one trial are stored together (observe_rows.c).
 *
 * Invariant: a row is stored only for trials up to `committed`; the others' rows wait in a tick.
 */
#include "engine/observe_internal.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

/* A series is a trial, which takes two kilobytes of memory and half of one on the disk. */
static const struct influx_limits limits = {
    .series = 100000, .names = 100000, .bytes = (size_t)512 << 20, .fixed_kinds = true};

/* ---- trials ---- */

static bool is_host(const struct influx_tag *tag)
{
    return tag->key.n == 4 && memcmp(tag->key.s, "host", 4) == 0;
}

/* Two sets of tags have the same text only if they are the same. */
static void add_key(struct str *to, const char *key, size_t key_n, const char *value,
                    size_t value_n)
{
    str_addf(to, "%zu:", key_n);
    str_add_n(to, key, key_n);
    str_addf(to, "%zu:", value_n);
    str_add_n(to, value, value_n);
}

void observed_key_json(const json_t *params, struct str *to)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)params, key, value)
    {
        const char *text = json_is_string(value) ? json_string_value(value) : "";
        add_key(to, key, strlen(key), text, strlen(text));
    }
}

static void key_of(const struct influx_series *series, struct str *to)
{
    for (size_t i = 0; i < series->n_tags; i++) {
        const struct influx_tag *tag = &series->tags[i];
        if (!is_host(tag))
            add_key(to, tag->key.s, tag->key.n, tag->value.s, tag->value.n);
    }
}

static void params_of(const struct influx_series *series, struct str *to)
{
    struct json_out out = JSON_OUT(to);

    json_begin_object(&out);
    for (size_t i = 0; i < series->n_tags; i++) {
        const struct influx_tag *tag = &series->tags[i];
        autofree(mem) char *key = xstrndup(tag->key.s, tag->key.n);
        if (is_host(tag))
            continue;
        json_key(&out, key);
        json_text_n(&out, tag->value.s, tag->value.n);
    }
    json_end_object(&out);
}

void observed_put_trial(struct observed *observed, int64_t number, const char *params)
{
    struct observed_trial *known = &observed->trials.at[number - 1];
    struct trial trial = {
        .experiment = observed->experiment.id,
        .number = number,
        .state = TRIAL_COMPLETED,
        .value = NAN,
        .best = NAN,
        .last_step = known->last_step,
        .first_nan_step = STEP_NONE,
        .created_us = known->created_us,
        .started_us = known->started_us,
        .ended_us = known->ended_us,
        .run_us = MAX(0, known->ended_us - known->started_us),
    };
    txn_put_trial(engine_txn(observed->observe->engine), &trial, 0, params);
}

static void on_committed(void *arg)
{
    struct commit *commit = arg;
    struct observed *observed = commit->observed;

    if (observed) {
        observed->committed = MAX(observed->committed, commit->number);
        observed->commit = NULL;
        if (observed->trials.len > (size_t)commit->number)
            observed_await(observed);
    }
    free(commit);
}

/* One call for all trials of a tick, and one more for those that came meanwhile. */
void observed_await(struct observed *observed)
{
    if (observed->commit)
        return;
    struct commit *commit = xcalloc(1, sizeof(*commit));
    *commit = (struct commit){observed, (int64_t)observed->trials.len};
    observed->commit = commit;
    engine_when_committed(observed->observe->engine, on_committed, commit);
}

static int64_t add_trial(struct observed *observed, const struct influx_series *series,
                         const char *key, struct now now)
{
    autorelease(str) struct str params = STR_INIT;
    struct observed_trial trial = {.created_us = now.wall_us,
                                   .started_us = now.wall_us,
                                   .ended_us = now.wall_us,
                                   .last_step = STEP_NONE};

    vec_push(&observed->trials, trial);
    int64_t number = (int64_t)observed->trials.len;
    map_text_put(&observed->numbers, key, (void *)(uintptr_t)number);
    params_of(series, &params);
    observed_put_trial(observed, number, params.s);
    return number;
}

static bool has_trial(const struct observed *observed, uint64_t number)
{
    return number && !observed->trials.at[number - 1].removed;
}

static void find_trial(const struct observed *observed, struct influx_series *series,
                       struct str *key)
{
    key_of(series, key);
    series->handle = (uintptr_t)map_text_find(&observed->numbers, key->s);
}

bool observed_has(const struct observed *observed, struct influx_series *series)
{
    autorelease(str) struct str key = STR_INIT;

    if (!has_trial(observed, series->handle))
        find_trial(observed, series, &key);
    return has_trial(observed, series->handle) && (int64_t)series->handle <= observed->committed;
}

bool observed_knows(struct observed *observed, struct influx_series *series, struct now now)
{
    if (!has_trial(observed, series->handle)) {
        autorelease(str) struct str key = STR_INIT;
        find_trial(observed, series, &key);
        if (!has_trial(observed, series->handle))
            series->handle = (uint64_t)add_trial(observed, series, key.s, now);
    }
    if ((int64_t)series->handle <= observed->committed)
        return true;
    observed_await(observed);
    return false;
}

/* ---- lines ---- */

static uint32_t name_metric(struct observe *observe, const struct influx_series *series,
                            const struct influx_name *name)
{
    autorelease(str) struct str text = STR_INIT;

    str_add_n(&text, series->measurement.s, series->measurement.n);
    if (name->field.n != 5 || memcmp(name->field.s, "value", 5) != 0) {
        str_add_char(&text, '.');
        str_add_n(&text, name->field.s, name->field.n);
    }
    return series_db_name(observe->db, text.s, text.len);
}

void observed_mark(struct observed *observed, int64_t number)
{
    struct observed_trial *trial = &observed->trials.at[number - 1];

    if (trial->changed)
        return;
    trial->changed = true;
    vec_push(&observed->changed, number);
}

/* What the double before it lacks. */
static void gather_rest(struct observe *observe, uint32_t name, int64_t integer)
{
    uint32_t rest = series_db_rest(observe->db, name);

    if (rest == SERIES_NAME_NONE)
        return;
    observe->names.at[observe->names.len++] = rest;
    observe->values.at[observe->values.len++] = rest_of(integer);
    observe->counts.values--; /* it is counted with the row's, and is none */
}

/* The numbers of a line behind those that wait; how many. *ret_step: of a field `step`. */
static size_t gather(struct observe *observe, const struct influx_line *line, int64_t *ret_step)
{
    size_t before = observe->names.len;

    vec_reserve(&observe->names, before + 2 * line->n_fields);
    vec_reserve(&observe->values, before + 2 * line->n_fields);
    for (size_t i = 0; i < line->n_fields; i++) {
        const struct influx_field *field = &line->fields[i];
        struct influx_name *name = field->name;
        if (field->kind == INFLUX_STRING) {
            observe->counts.texts++;
            continue;
        }
        if (name->handle == INFLUX_NO_HANDLE)
            name->handle = name_metric(observe, line->series, name);
        if (name->handle == SERIES_NAME_NONE) {
            observe->counts.nameless++;
            continue;
        }
        if (field->kind == INFLUX_INTEGER && name->field.n == 4 &&
            memcmp(name->field.s, "step", 4) == 0)
            *ret_step = field->integer;
        observe->names.at[observe->names.len++] = name->handle;
        observe->values.at[observe->values.len++] = field->value;
        if (field->kind == INFLUX_INTEGER && rest_needed(field->integer))
            gather_rest(observe, name->handle, field->integer);
    }
    return observe->names.len - before;
}

int observed_line(struct observed *observed, const struct influx_line *line, struct err *err)
{
    struct observe *observe = observed->observe;
    int64_t number = (int64_t)line->series->handle;
    struct series_row row = {.step = STEP_NONE, .time_ns = line->time_ns};
    int r = 0;

    assert(number > 0 && number <= observed->committed);
    if (observe_rows_full(observe))
        r = observe_store_rows(observe, err);
    if (r < 0)
        return r;
    row.n = gather(observe, line, &row.step);
    observe->counts.lines++;
    observe->counts.values += row.n;
    if (row.n)
        observed_put_row(observed, number, &row);
    observed_mark(observed, number);
    return 0;
}

int observe_flush(struct observe *observe, struct err *err)
{
    int r = observe_store_rows(observe, err);

    if (r == 0 && observe->unflushed)
        r = series_db_flush(observe->db, err);
    if (r == 0)
        observe->unflushed = false;
    return r;
}

struct tracked *observe_tracked(const struct observe *observe)
{
    return observe->tracked;
}

void observe_counts(const struct observe *observe, struct observe_counts *ret)
{
    *ret = observe->counts;
}

/* ---- databases ---- */

struct influx_keys *observed_keys(struct observed *observed)
{
    if (!observed->keys) {
        struct influx_limits shared = limits;
        shared.all = &observed->observe->series;
        observed->keys = influx_keys_new(&shared, random_u64());
    }
    return observed->keys;
}

const char *observed_db(const struct observed *observed)
{
    return observed->db;
}

int64_t observed_experiment(const struct observed *observed)
{
    return observed->experiment.id;
}

void observed_free(struct observed *observed)
{
    if (observed->commit)
        observed->commit->observed = NULL;
    if (observed->keys)
        influx_keys_free(observed->keys);
    experiment_release(&observed->experiment);
    map_text_release(&observed->numbers);
    vec_release(&observed->trials);
    vec_release(&observed->changed);
    free(observed->db);
    free(observed);
}
