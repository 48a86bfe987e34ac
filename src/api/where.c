/* SPDX-License-Identifier: MIT */
/*
 * where.c — the values of a home for expressions: fields and parameters from the row, metrics from
 * the store of series (series/curves.h).
 *
 * Where that cannot tell, as of trials that run, the trial's summaries of the database and its
 * samples do. A trial that was started again may have told steps twice: the summaries counted
 * these, the samples leave out the past that was given up. So of such trials only the last value is
 * taken from the summary.
 */
#include "api/where.h"
#include "api/fresh.h"
#include "api/where_scope.h"
#include "api/where_sought.h"
#include "api/where_told.h"
#include "series/curves.h"
#include "series/series.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

struct stat_row { /* of the present row */
    size_t column;
    struct summary summary; /* without its name */
};
struct metric {            /* one that an expression names */
    size_t column, number; /* number: of the curves */
};
struct read_metric { /* samples of the present row */
    size_t column;
    struct series_set set;
};
struct sort_key {
    struct expr_value value; /* a text is the arena's */
    int64_t number;
    size_t place; /* in which it came */
    bool desc;
};
struct where {
    struct where_ask ask;
    struct curves *curves; /* of trials */
    struct fresh *fresh;   /* NULL: the database has the newest */
    struct arena arena;
    struct where_scope scope;
    struct where_told told; /* parameters that the spec does not have */
    VEC(struct metric) metrics;
    struct expr *condition, *key;
    VEC(const char *) sought; /* words instead of a condition; the arena's */
    struct where_row row;
    bool late; /* it ended after the store was looked at */
    VEC(struct stat_row) stats;
    VEC(struct read_metric) read;
    VEC(struct sort_key) keys;
    VEC(int64_t) sorted;
};

/* ---- the columns ---- */

static int on_name(int64_t trial UNUSED, const struct summary *summary, void *arg)
{
    where_scope_metric(arg, summary->metric, 0);
    return 0;
}

/* Metrics that only the database knows: of trials whose samples are not stored. */
static int add_told(struct where *where, struct err *err)
{
    return store_summaries(where->ask.store, where->ask.target->experiment.experiment.id, 0,
                           on_name, &where->scope, err);
}

/* ---- the metrics that are asked for ---- */

static const struct metric *find_metric(const struct where *where, size_t column)
{
    vec_foreach (metric, &where->metrics)
        if (metric->column == column)
            return metric;
    return NULL;
}

static void load_metrics(struct where *where, const struct expr *expr)
{
    size_t n = 0;
    const struct expr_need *needs = expr ? expr_needs(expr, &n) : NULL;

    for (size_t i = 0; i < n; i++) {
        struct metric metric = {.column = needs[i].column};
        if (needs[i].kind != EXPR_METRIC || find_metric(where, metric.column))
            continue;
        metric.number = curves_metric(where->curves, needs[i].name);
        vec_push(&where->metrics, metric);
    }
}

static int on_summary(int64_t trial UNUSED, const struct summary *summary, void *arg)
{
    struct where *where = arg;
    size_t column = where_scope_find(&where->scope, summary->metric);

    if (!column || !find_metric(where, column - 1))
        return 0;
    struct stat_row row = {.column = column - 1, .summary = *summary};
    row.summary.metric = NULL; /* it is the store's */
    vec_push(&where->stats, row);
    return 0;
}

/* Can the store not tell something of the present row? */
static bool needs_summaries(const struct where *where)
{
    struct expr_stats stats;

    vec_foreach (metric, &where->metrics)
        if (where->late || curves_stats(where->curves, metric->number, &where->row.trial->trial,
                                        &stats) == CURVES_UNKNOWN)
            return true;
    return false;
}

/* A trial that ended meanwhile may have told more than was stored when we looked. */
static int load_row(struct where *where, struct err *err)
{
    const struct trial *trial = &where->row.trial->trial;
    int r = 0;

    where->stats.len = 0;
    where->late = trial->ended_us >= where->ask.now_us;
    if (!needs_summaries(where))
        return 0;
    if (where->late)
        r = series_db_refresh(curves_db(where->curves), err);
    return r < 0 ? r
                 : fresh_summaries(where->fresh, where->ask.store, trial, on_summary, where, err);
}

/* ---- a row as a source ---- */

static struct expr_value field_value(size_t column, void *arg)
{
    struct where *where = arg;

    if (column < where->scope.n_fields)
        return where->scope.fields[column].get(&where->row);
    if (where_told_has(&where->told, column))
        return where_told_value(&where->told, column);
    size_t i = column - where->scope.n_fields;
    const struct trial_row *row = where->row.trial;
    if (!row || i >= row->ndim || i >= where->scope.n_params)
        return expr_null();
    return where_param(&where->ask.target->spec.space.params[i], row->trial.point[i]);
}

static void fill_stats(const struct summary *summary, bool again, struct expr_stats *ret)
{
    bool finite = summary->first_nan_step == STEP_NONE; /* it is that of the first Inf, too */

    *ret = (struct expr_stats){.has = EXPR_HAS_LAST | EXPR_HAS_COUNT | EXPR_HAS_RANGE,
                               .count = (uint64_t)summary->count,
                               .last = summary->last,
                               .min = summary->min,
                               .max = summary->max,
                               .first_nan = EXPR_NO_STEP};
    if (again)
        ret->has = EXPR_HAS_LAST;
    if (finite)
        ret->has |= EXPR_HAS_NANS | EXPR_HAS_INFS | EXPR_HAS_FIRST_NAN;
}

/* From the summary; of a figure of the machine, which has none, only its samples tell. */
static bool summary_stats(const struct where *where, size_t column, struct expr_stats *ret)
{
    const struct trial *trial = &where->row.trial->trial;

    vec_foreach (row, &where->stats)
        if (row->column == column) {
            fill_stats(&row->summary, trial->attempts > 1, ret);
            return true;
        }
    *ret = (struct expr_stats){.has = 0};
    return str_starts(where->scope.columns.at[column].name, "system/");
}

static bool metric_stats(size_t column, struct expr_stats *ret, void *arg)
{
    const struct where *where = arg;
    const struct metric *metric = find_metric(where, column);

    assert(metric);
    if (where->late)
        return summary_stats(where, column, ret);
    switch (curves_stats(where->curves, metric->number, &where->row.trial->trial, ret)) {
    case CURVES_KNOWN:
        return true;
    case CURVES_NONE:
        return false;
    case CURVES_UNKNOWN:
    default:
        return summary_stats(where, column, ret);
    }
}

static int metric_blocks(size_t column, expr_block_fn *block, expr_points_fn *fn, void *fn_arg,
                         void *arg, struct err *err UNUSED)
{
    struct where *where = arg;
    const struct metric *metric = find_metric(where, column);

    assert(metric);
    return where->late ? -EAGAIN
                       : curves_blocks(where->curves, metric->number, &where->row.trial->trial,
                                       block, fn, fn_arg);
}

static void forget_samples(struct where *where)
{
    vec_foreach (read, &where->read)
        series_set_release(&read->set);
    where->read.len = 0;
}

static int read_samples(struct where *where, size_t column, const struct series_set **ret,
                        struct err *err)
{
    vec_foreach (read, &where->read)
        if (read->column == column) {
            *ret = &read->set;
            return 0;
        }
    struct read_metric fresh = {.column = column};
    int r = series_read(curves_db(where->curves), where->ask.home, &where->ask.target->spec,
                        &where->row.trial->trial, where->scope.columns.at[column].name, &fresh.set,
                        err);
    vec_push(&where->read, fresh);
    *ret = &vec_last(&where->read)->set;
    return r;
}

static int metric_points(size_t column, const struct expr_range *range UNUSED, expr_points_fn *fn,
                         void *fn_arg, void *arg, struct err *err)
{
    struct where *where = arg;
    int64_t started_us = where->row.trial->trial.started_us;
    const struct series_set *set = NULL;
    struct expr_point some[256];

    int r = read_samples(where, column, &set, err);
    const struct series *series =
        r < 0 ? NULL : series_find(set, where->scope.columns.at[column].name);
    bool more = true;
    for (size_t i = 0, n; more && series && i < series->points.len; i += n) {
        n = MIN(ARRAY_LEN(some), series->points.len - i);
        for (size_t k = 0; k < n; k++) {
            const struct series_point *point = &series->points.at[i + k];
            bool timed = point->time_us && started_us;
            some[k] = (struct expr_point){
                .step = point->step,
                .time_s = timed ? (double)(point->time_us - started_us) / 1e6 : NAN,
                .value = point->value};
        }
        more = fn(some, n, fn_arg);
    }
    return r;
}

/* ---- the rows ---- */

static void keep_key(struct where *where, struct expr_value value, int64_t number)
{
    struct sort_key key = {
        .value = value, .number = number, .place = where->keys.len, .desc = where->ask.desc};
    if (value.type == EXPR_TEXT)
        key.value.text = arena_strdup(&where->arena, value.text);
    vec_push(&where->keys, key);
}

static int test_row(struct where *where, int64_t number, struct err *err)
{
    bool trial = where->ask.target != NULL;
    struct expr_source source = {.arg = where,
                                 .field = field_value,
                                 .stats = trial ? metric_stats : NULL,
                                 .points = trial ? metric_points : NULL,
                                 .blocks = trial ? metric_blocks : NULL};
    struct expr_value value;
    int r = where->condition ? expr_test(where->condition, &source, err)
                             : where_seeks(&where->row, where->sought.at, where->sought.len);

    if (r == 1 && where->key) {
        int failed = expr_eval(where->key, &source, &value, err);
        if (failed < 0)
            r = failed;
        else
            keep_key(where, value, number);
    }
    forget_samples(where);
    return r;
}

int where_trial(struct where *where, const struct trial_row *row, struct err *err)
{
    if (!where)
        return 1;
    where->row = (struct where_row){.trial = row};
    where_told_row(&where->told, row->params_json);
    int r = load_row(where, err);
    if (r >= 0)
        r = test_row(where, row->trial.number, err);
    if (r < 0)
        err_context(err, "trial %lld.%lld", (long long)row->trial.experiment,
                    (long long)row->trial.number);
    return r;
}

int where_experiment(struct where *where, const struct experiment_row *row,
                     enum experiment_state shown, struct err *err)
{
    if (!where)
        return 1;
    where->row = (struct where_row){.experiment = row, .shown = shown};
    return test_row(where, row->experiment.id, err);
}

bool where_sorts(const struct where *where)
{
    return where && where->key;
}

static int by_key(const void *a, const void *b)
{
    const struct sort_key *x = a, *y = b;
    int order = expr_value_compare(&x->value, &y->value, x->desc);

    return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

const int64_t *where_sorted(struct where *where, size_t *ret_n)
{
    if (where->keys.len)
        qsort(where->keys.at, where->keys.len, sizeof(*where->keys.at), by_key);
    where->sorted.len = 0;
    vec_foreach (key, &where->keys)
        vec_push(&where->sorted, key->number);
    *ret_n = where->sorted.len;
    return where->sorted.at;
}

/* ---- from its words to its end ---- */

static int parse_both(struct where *where, struct err *err)
{
    const struct where_ask *ask = &where->ask;
    int r = where_scope_parse(&where->scope, ask->plain ? "where" : "--where", ask->condition,
                              EXPR_BOOL, ask->now_us, &where->condition, err);

    return r < 0 ? r
                 : where_scope_parse(&where->scope, ask->plain ? "sort" : "--sort", ask->key,
                                     EXPR_ANY, ask->now_us, &where->key, err);
}

/* "fashion mnist" is no expression: experiments are sought that have these words. */
static void take_words(struct where *where)
{
    char *rest = arena_strdup(&where->arena, where->ask.condition), *word;

    while ((word = strtok_r(rest, " \t", &rest)))
        vec_push(&where->sought, word);
    where->ask.condition = NULL;
}

/* A name that is not known may be that of a metric in a trial whose samples are not stored. */
static int parse_all(struct where *where, struct err *err)
{
    struct err first = ERR_INIT;
    int r = parse_both(where, &first);

    err_release(&first);
    if (r >= 0)
        return r;
    expr_free(where->condition);
    where->condition = NULL;
    r = where->ask.target ? add_told(where, err) : 0;
    if (!where->ask.target && where_only_words(where->ask.condition))
        take_words(where);
    return r < 0 ? r : parse_both(where, err);
}

/* What the store knows of an experiment's trials beyond the spec. */
static int add_found(struct where *where, struct err *err)
{
    const struct target *target = where->ask.target;
    int64_t id = target->experiment.experiment.id;
    const char *name;
    int r = curves_open(where->ask.home, id, &where->curves, err);
    where->fresh = fresh_new(where->ask.home, &target->spec);

    if (r == 0 && !target->spec.space.n)
        r = where_told_load(&where->told, where->ask.store, id, &where->scope, err);
    for (size_t i = 0; r == 0 && (name = curves_name(where->curves, i)); i++)
        where_scope_metric(&where->scope, name, 0);
    return r;
}

int where_new(const struct where_ask *ask, struct where **ret, struct err *err)
{
    autofree(where) struct where *where = xcalloc(1, sizeof(*where));

    where->ask = *ask;
    where_scope_init(&where->scope, ask->target ? &ask->target->spec : NULL);
    int r = ask->target ? add_found(where, err) : 0;
    if (r == 0)
        r = parse_all(where, err);
    if (r < 0)
        return r;
    load_metrics(where, where->condition);
    load_metrics(where, where->key);
    *ret = TAKE(where);
    return 0;
}

void where_free(struct where *where)
{
    if (!where)
        return;
    forget_samples(where);
    curves_free(where->curves);
    fresh_free(where->fresh);
    expr_free(where->condition);
    expr_free(where->key);
    vec_release(&where->stats);
    vec_release(&where->read);
    vec_release(&where->keys);
    vec_release(&where->sorted);
    where_scope_release(&where->scope);
    where_told_release(&where->told);
    vec_release(&where->metrics);
    vec_release(&where->sought);
    arena_release(&where->arena);
    free(where);
}
