/* SPDX-License-Identifier: MIT */
/*
 * tracked_log.c — samples of runs: stored, looked at for the latest, read again; summaries.
 */
#include "engine/outside.h"
#include "engine/tracked_internal.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#define TURN_RUNS 500 /* whose summaries are written at once */

struct series_source tracked_source(const struct tracked_run *run)
{
    return (struct series_source){run->of->experiment.id, run->number, 0, SERIES_OUTSIDE};
}

/* ---- the latest ---- */

static size_t metric_place(const struct tracked_run *run, const char *key)
{
    size_t low = 0, high = run->metrics.len;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(run->metrics.at[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct tracked_metric *tracked_latest(const struct tracked_run *run, const char *key)
{
    size_t i = metric_place(run, key);

    if (i < run->metrics.len && str_eq(run->metrics.at[i].key, key))
        return &run->metrics.at[i];
    return NULL;
}

static bool is_later(const struct tracked_sample *sample, const struct tracked_metric *than)
{
    if (sample->step != than->step)
        return sample->step > than->step;
    if (sample->time_ms != than->time_ms)
        return sample->time_ms > than->time_ms;
    return sample->value > than->value || (isnan(than->value) && !isnan(sample->value));
}

static bool is_same(const struct tracked_sample *sample, const struct tracked_metric *as)
{
    bool value = sample->value == as->value || (isnan(sample->value) && isnan(as->value));
    return value && sample->step == as->step && sample->time_ms == as->time_ms;
}

void tracked_take_latest(struct tracked_run *run, const struct tracked_sample *sample,
                         uint32_t name)
{
    size_t i = metric_place(run, sample->key);
    struct tracked_metric latest = {NULL, name, sample->value, sample->time_ms, sample->step};

    tracked_untell(run);
    run->last_step = MAX(run->last_step, sample->step);
    run->last_ms = MAX(run->last_ms, sample->time_ms);
    if (i < run->metrics.len && str_eq(run->metrics.at[i].key, sample->key)) {
        latest.key = run->metrics.at[i].key;
        if (is_later(sample, &run->metrics.at[i]))
            run->metrics.at[i] = latest;
        return;
    }
    latest.key = xstrdup(sample->key);
    vec_reserve(&run->metrics, run->metrics.len + 1);
    memmove(&run->metrics.at[i + 1], &run->metrics.at[i],
            (run->metrics.len - i) * sizeof(*run->metrics.at));
    run->metrics.at[i] = latest;
    run->metrics.len++;
}

void tracked_mark(struct tracked_run *run)
{
    if (run->changed)
        return;
    run->changed = true;
    vec_push(&run->of->changed, run->number);
}

/* ---- storing ---- */

/* Rows while they are put together: those of one step and time that follow each other are one. */
struct pile {
    VEC(struct series_row) rows;
    VEC(uint32_t) names;
    VEC(double) values;
    VEC(const struct tracked_sample *) samples; /* beside names and values */
};

static bool in_row(const struct pile *pile, const struct series_row *row, uint32_t name)
{
    assert(row->n <= pile->names.len && pile->names.at);
    for (size_t i = pile->names.len - row->n; i < pile->names.len; i++)
        if (pile->names.at[i] == name)
            return true;
    return false;
}

static void pile_add(struct pile *pile, const struct tracked_sample *sample, uint32_t name)
{
    struct series_row fresh = {.step = sample->step, .time_ns = sample->time_ms * 1000000};
    struct series_row *row = pile->rows.len ? vec_last(&pile->rows) : NULL;

    if (!row || row->step != fresh.step || row->time_ns != fresh.time_ns ||
        in_row(pile, row, name)) {
        vec_reserve(&pile->rows, pile->rows.len + 1);
        assert(pile->rows.at);
        row = &pile->rows.at[pile->rows.len++];
        *row = fresh;
    }
    row->n++;
    vec_push(&pile->names, name);
    vec_push(&pile->values, sample->value);
    vec_push(&pile->samples, sample);
}

static void pile_release(struct pile *pile)
{
    vec_release(&pile->rows);
    vec_release(&pile->names);
    vec_release(&pile->values);
    vec_release(&pile->samples);
}

static int pile_store(struct pile *pile, struct tracked_run *run, struct err *err)
{
    struct series_db *db = run->of->tracked->db;
    struct series_source source = tracked_source(run);
    size_t at = 0;

    vec_foreach (row, &pile->rows) {
        row->names = pile->names.at + at;
        row->values = pile->values.at + at;
        at += row->n;
    }
    int r = series_db_append(db, &source, pile->rows.at, pile->rows.len, err);
    for (size_t i = 0; r == 0 && i < pile->samples.len; i++)
        tracked_take_latest(run, pile->samples.at[i], pile->names.at[i]);
    if (r < 0)
        return r;
    run->of->tracked->values += pile->values.len;
    run->of->tracked->unflushed = true;
    tracked_mark(run);
    return 0;
}

/* What the kernel did not take stays, and is tried with the next samples: also those that are told
 * again because of it, which are passed over themselves. */
static int flush(struct tracked *tracked, struct err *err)
{
    int r = tracked->unflushed ? series_db_flush(tracked->db, err) : 0;

    if (r == 0)
        tracked->unflushed = false;
    return r;
}

static int gather(struct tracked_run *run, const struct tracked_sample *samples, size_t n,
                  struct pile *pile, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct tracked_metric *known = tracked_latest(run, samples[i].key);
        uint32_t name = known ? known->name : SERIES_NAME_NONE;

        assert(samples[i].step != STEP_NONE && samples[i].time_ms <= TRACKED_MS_MAX);
        if (known && is_same(&samples[i], known))
            continue;
        if (name == SERIES_NAME_NONE)
            name = series_db_name(run->of->tracked->db, samples[i].key, strlen(samples[i].key));
        if (name == SERIES_NAME_NONE)
            return err_set(err, EINVAL,
                           "there are too many different metrics here, or '%.100s' is "
                           "no name for one",
                           samples[i].key);
        pile_add(pile, &samples[i], name);
    }
    return 0;
}

int tracked_log(struct tracked_run *run, const struct tracked_sample *samples, size_t n,
                struct err *err)
{
    struct pile pile = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};
    int r = gather(run, samples, n, &pile, err);

    if (r == 0 && pile.rows.len)
        r = pile_store(&pile, run, err);
    pile_release(&pile);
    return r == 0 ? flush(run->of->tracked, err) : r;
}

/* ---- reading ---- */

struct reading {
    const char *key;
    struct tracked_history *to;
};

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    struct reading *reading = arg;

    vec_reserve(reading->to, reading->to->len + chunk->n);
    for (size_t i = 0; i < chunk->n; i++) {
        struct tracked_sample sample = {reading->key, chunk->values[i],
                                        chunk->times_ns[i] / 1000000, chunk->steps[i]};
        reading->to->at[reading->to->len++] = sample;
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct tracked_sample *x = a, *y = b;

    if (x->time_ms != y->time_ms)
        return x->time_ms < y->time_ms ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

int tracked_history(struct tracked_run *run, const char *key, struct tracked_history *ret)
{
    struct series_source source = tracked_source(run);
    const struct tracked_metric *metric = tracked_latest(run, key);
    struct reading reading = {key, ret};

    if (!metric)
        return 0;
    int r = series_db_read(run->of->tracked->db, &source, metric->name, &series_all, on_chunk,
                           &reading);
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(*ret->at), by_time);
    return r;
}

/* ---- summaries ---- */

static int on_info(const struct series_info *info, void *arg)
{
    struct tracked_run *run = arg;
    struct tracked *tracked = run->of->tracked;
    struct summary summary = outside_summary(tracked->db, info);
    const struct tracked_metric *latest = tracked_latest(run, summary.metric);
    if (latest)
        summary.last = latest->value;
    txn_put_summary(engine_txn(tracked->engine), run->of->experiment.id, run->number, &summary);
    return 0;
}

static void sum_up(struct tracked_experiment *experiment, size_t most)
{
    struct tracked *tracked = experiment->tracked;
    struct experiment *row = &experiment->experiment;

    for (size_t i = 0; i < most && experiment->changed.len; i++) {
        int64_t number = experiment->changed.at[--experiment->changed.len];
        struct tracked_run *run = experiment->runs.at[number - 1];
        if (!run)
            continue;
        run->changed = false;
        series_db_list(tracked->db, row->id, number, SERIES_NAME_NONE, on_info, run);
        tracked_put_run(run);
        row->ended_us = MAX(row->ended_us, run->last_ms * 1000);
    }
    txn_put_experiment(engine_txn(tracked->engine), row);
}

bool tracked_turn(struct tracked *tracked)
{
    bool more = false;

    vec_foreach (experiment, &tracked->all) {
        if (!(*experiment)->changed.len)
            continue;
        sum_up(*experiment, TURN_RUNS);
        more |= (*experiment)->changed.len > 0;
    }
    return more;
}
