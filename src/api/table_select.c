/* SPDX-License-Identifier: MIT */
/*
 * table_select.c — which rows fit, and in which order.
 *
 *     names known to the table ──► over its cells ──► a row that only samples can tell: where.c
 *     others (figures of the machine, more metrics than a table holds) ──► all rows: where.c
 *
 * So the common question needs no database, and every question gets the answer that it would get
 * on the command line.
 */
#include "api/table_parts.h"
#include "api/where.h"
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

/* Where a column of the scope lies in the table. */
struct place {
    struct table_column column;
    const double *x; /* of a metric: counts; NULL: no trial has told it */
};
struct selecting {
    struct trial_table *table;
    const struct table_ask *ask;
    struct where_scope scope;
    VEC(struct place) places; /* one for each column of the scope */
    struct expr *condition, *key;
    const double *attempts; /* cells */
    size_t row;
    bool lacking;        /* a point was asked for */
    struct where *where; /* for single rows */
};

/* ---- a row as a source ---- */

static struct expr_value field_value(size_t at, void *arg)
{
    const struct selecting *s = arg;
    const struct place *place = &s->places.at[at];

    return table_value(s->table, &place->column, place->x, s->row);
}

/* As where.c has it from a summary: of a trial that was started again only the last value holds. */
static bool metric_stats(size_t at, struct expr_stats *ret, void *arg)
{
    const struct selecting *s = arg;
    const struct place *place = &s->places.at[at];
    double count = place->x ? place->x[s->row] : NAN;

    if (isnan(count))
        return false;
    const struct table_metric *metric = &s->table->metrics.at[place->column.at];
    *ret = (struct expr_stats){.has = EXPR_HAS_LAST | EXPR_HAS_COUNT | EXPR_HAS_RANGE,
                               .count = (uint64_t)fabs(count),
                               .last = metric->stat[STAT_LAST][s->row],
                               .min = metric->stat[STAT_MIN][s->row],
                               .max = metric->stat[STAT_MAX][s->row],
                               .first_nan = EXPR_NO_STEP};
    if (s->attempts[s->row] > 1)
        ret->has = EXPR_HAS_LAST;
    if (count >= 0)
        ret->has |= EXPR_HAS_NANS | EXPR_HAS_INFS | EXPR_HAS_FIRST_NAN;
    return true;
}

static int no_points(size_t at UNUSED, const struct expr_range *range UNUSED,
                     expr_points_fn *fn UNUSED, void *fn_arg UNUSED, void *arg,
                     struct err *err UNUSED)
{
    struct selecting *s = arg;
    s->lacking = true;
    return -EAGAIN;
}

static struct expr_source source_of(struct selecting *s)
{
    return (struct expr_source){
        .arg = s, .field = field_value, .stats = metric_stats, .points = no_points};
}

/* ---- names ---- */

static struct place place_of(const struct selecting *s, size_t i)
{
    const struct trial_table *table = s->table;
    const struct expr_column *named = &s->scope.columns.at[i];
    struct table_column column = {.type = named->type, .name = named->name};
    uintptr_t at;

    if (named->kind == EXPR_METRIC) {
        at = (uintptr_t)map_text_find(&table->metric_at, named->name);
        column.kind = COLUMN_METRIC;
        column.at = at ? at - 1 : 0;
        column.stat = STAT_COUNT;
        return (struct place){column, at ? trial_table_cells(table, &column) : NULL};
    }
    if (named->kind == EXPR_PARAM) {
        at = (uintptr_t)map_text_find(&table->told_at, named->name);
        column.kind = COLUMN_PARAM;
        column.at = at ? at - 1 : i - s->scope.n_fields;
        if (column.type == EXPR_ANY)
            column.type = EXPR_TEXT;
    } else {
        column.at = i;
    }
    return (struct place){column, trial_table_cells(table, &column)};
}

static void name_columns(struct selecting *s)
{
    const struct trial_table *table = s->table;

    where_scope_init(&s->scope, &table->target.spec);
    vec_foreach (told, &table->told)
        where_scope_param(&s->scope, told->name, told->text ? EXPR_TEXT : EXPR_NUMBER);
    vec_foreach (metric, &table->metrics)
        where_scope_metric(&s->scope, metric->name, 0);
    for (size_t i = 0; i < s->scope.columns.len; i++)
        vec_push(&s->places, place_of(s, i));
    for (size_t i = 0; i < s->scope.n_fields; i++)
        if (str_eq(where_trial_fields[i].name, "attempts"))
            s->attempts = table->fields[i];
}

static void forget_names(struct selecting *s)
{
    expr_free(s->condition);
    expr_free(s->key);
    s->condition = s->key = NULL;
    s->places.len = 0;
    where_scope_release(&s->scope);
}

static int parse(struct selecting *s, const char *key, struct err *err)
{
    const struct table_ask *ask = s->ask;

    name_columns(s);
    int r = where_scope_parse(&s->scope, "where", ask->where, EXPR_BOOL, ask->now_us, &s->condition,
                              err);
    return r < 0 ? r
                 : where_scope_parse(&s->scope, "sort", key, EXPR_ANY, ask->now_us, &s->key, err);
}

static bool names_metric(const struct expr *expr)
{
    size_t n = 0;
    const struct expr_need *needs = expr ? expr_needs(expr, &n) : NULL;

    for (size_t i = 0; i < n; i++)
        if (needs[i].kind == EXPR_METRIC)
            return true;
    return false;
}

/* 0, or -EAGAIN: not in the words of this table. Metrics are read only if they are needed. */
static int prepare(struct selecting *s, const char *key)
{
    for (;;) {
        int r = parse(s, key, NULL);
        if (r >= 0 &&
            (s->table->has_metrics || (!names_metric(s->condition) && !names_metric(s->key))))
            return 0;
        forget_names(s);
        if (s->table->has_metrics || trial_table_metrics(s->table, s->ask->store, NULL) < 0)
            return -EAGAIN;
    }
}

/* ---- all rows by where.c ---- */

struct walking {
    struct selecting *s;
    struct where *where;
    uint32_t *rows;
    size_t n;
    struct err *err;
};

/* One filter must not keep all others waiting. */
static int check_time(const struct selecting *s, struct err *err)
{
    if (!s->ask->until_us || clock_mono_us() < s->ask->until_us)
        return 0;
    return err_set(err, EAGAIN,
                   "this takes too long: it reads the samples of very many trials; a condition on "
                   "fields or parameters beside it would leave fewer of them");
}

static int walk_row(const struct trial_row *row, void *arg)
{
    struct walking *walking = arg;
    size_t at = trial_table_find(walking->s->table, row->trial.number);

    if (at == walking->s->table->n)
        return 0;
    int r = check_time(walking->s, walking->err);
    if (r >= 0)
        r = where_trial(walking->where, row, walking->err);
    if (r == 1)
        walking->rows[walking->n++] = (uint32_t)at;
    return MIN(r, 0);
}

static struct where_ask where_ask_of(const struct selecting *s, const char *key)
{
    return (struct where_ask){.home = s->ask->home,
                              .store = s->ask->store,
                              .target = &s->table->target,
                              .condition = s->ask->where,
                              .key = key,
                              .desc = s->ask->desc,
                              .now_us = s->ask->now_us,
                              .plain = true};
}

static void take_sorted(struct walking *walking)
{
    const int64_t *numbers = where_sorted(walking->where, &walking->n);

    for (size_t i = 0; i < walking->n; i++)
        walking->rows[i] = (uint32_t)trial_table_find(walking->s->table, numbers[i]);
}

static int select_slowly(struct selecting *s, const char *key, uint32_t *rows, size_t *ret_n,
                         struct err *err)
{
    struct where_ask ask = where_ask_of(s, key);
    autofree(where) struct where *where = NULL;
    struct walking walking = {.s = s, .rows = rows, .err = err};
    struct trial_query query = {.experiment = s->table->target.experiment.experiment.id};

    int r = where_new(&ask, &where, err);
    walking.where = where;
    if (r >= 0)
        r = store_trials(s->ask->store, &query, walk_row, &walking, err);
    if (r < 0)
        return r;
    if (key)
        take_sorted(&walking);
    *ret_n = walking.n;
    return 0;
}

/* ---- over the cells ---- */

static int keep_answer(const struct trial_row *row, void *arg)
{
    struct walking *walking = arg;
    int r = where_trial(walking->where, row, walking->err);
    walking->n = r == 1;
    return r < 0 ? r : 1;
}

/* Only samples can tell. 1, 0, or an error. */
static int test_slowly(struct selecting *s, struct err *err)
{
    struct where_ask ask = where_ask_of(s, NULL);
    struct trial_query query = {.experiment = s->table->target.experiment.experiment.id,
                                .number = s->table->numbers[s->row]};

    int r = check_time(s, err);
    if (r >= 0 && !s->where)
        r = where_new(&ask, &s->where, err);
    struct walking walking = {.where = s->where, .err = err};
    if (r >= 0)
        r = store_trials(s->ask->store, &query, keep_answer, &walking, err);
    return r < 0 ? r : walking.n == 1;
}

static int filter(struct selecting *s, uint32_t *rows, size_t *ret_n, struct err *err)
{
    struct expr_source source = source_of(s);
    size_t n = 0;

    for (s->row = 0; s->row < s->table->n; s->row++) {
        int r = s->condition ? expr_decide(s->condition, &source) : 1;
        if (r == -EAGAIN)
            r = test_slowly(s, err);
        if (r < 0)
            return r;
        if (r)
            rows[n++] = (uint32_t)s->row;
    }
    *ret_n = n;
    return 0;
}

/* ---- order ---- */

struct worded {
    const char *word;
    size_t at;
};

static int by_word(const void *a, const void *b)
{
    const struct worded *x = a, *y = b;
    int order = strcmp(x->word, y->word);
    return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

/* The place of each word among all, by its bytes. */
static double *rank_words(const struct trial_table *table, const struct table_column *column,
                          size_t *ret_n)
{
    VEC(struct worded) words = {0};
    const char *word;

    for (size_t i = 0; (word = trial_table_word(table, column, i)); i++)
        vec_push(&words, ((struct worded){word, i}));
    double *ranks = xcalloc(MAX(words.len, 1), sizeof(*ranks));
    if (words.len)
        qsort(words.at, words.len, sizeof(*words.at), by_word);
    for (size_t i = 0; i < words.len; i++)
        ranks[words.at[i].at] = (double)i;
    *ret_n = words.len;
    vec_release(&words);
    return ranks;
}

static void sort_by_column(struct selecting *s, const struct table_column *column, uint32_t *rows,
                           size_t n)
{
    const double *x = trial_table_cells(s->table, column);
    autofree(mem) double *ranks = NULL;
    autofree(mem) double *keys = xcalloc(MAX(s->table->n, 1), sizeof(*keys));
    size_t words = 0;

    if (column->type == EXPR_TEXT)
        ranks = rank_words(s->table, column, &words);
    for (size_t i = 0; i < s->table->n; i++) {
        keys[i] = column->kind == COLUMN_METRIC && column->stat == STAT_COUNT ? fabs(x[i]) : x[i];
        if (ranks && !isnan(x[i]))
            keys[i] = (size_t)x[i] < words ? ranks[(size_t)x[i]] : NAN;
    }
    table_sort(rows, n, keys, s->ask->desc, s->ask->first, s->ask->last ? s->ask->last : n);
}

struct valued {
    struct expr_value value;
    uint32_t row;
    bool desc;
};

static int by_value(const void *a, const void *b)
{
    const struct valued *x = a, *y = b;
    int order = expr_value_compare(&x->value, &y->value, x->desc);
    return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

/* Keys of several kinds, or texts. */
static int sort_by_values(struct selecting *s, uint32_t *rows, size_t n, struct err *err)
{
    struct expr_source source = source_of(s);
    autofree(mem) struct valued *values = xcalloc(MAX(n, 1), sizeof(*values));

    for (size_t i = 0; i < n; i++) {
        s->row = rows[i];
        values[i] = (struct valued){.row = rows[i], .desc = s->ask->desc};
        int r = expr_eval(s->key, &source, &values[i].value, err);
        if (r < 0)
            return r;
    }
    qsort(values, n, sizeof(*values), by_value);
    for (size_t i = 0; i < n; i++)
        rows[i] = values[i].row;
    return 0;
}

/* 0; -EAGAIN: only samples can tell. */
static int sort_by_key(struct selecting *s, uint32_t *rows, size_t n, struct err *err)
{
    struct expr_source source = source_of(s);
    autofree(mem) double *keys = xcalloc(MAX(s->table->n, 1), sizeof(*keys));

    for (size_t i = 0; i < n; i++) {
        struct expr_value value;
        s->row = rows[i];
        int r = expr_eval(s->key, &source, &value, err);
        if (r < 0)
            return r;
        if (value.type != EXPR_NUMBER && value.type != EXPR_NULL)
            return sort_by_values(s, rows, n, err);
        keys[rows[i]] = value.type == EXPR_NULL ? NAN : value.number;
    }
    table_sort(rows, n, keys, s->ask->desc, s->ask->first, s->ask->last ? s->ask->last : n);
    return 0;
}

static void turn(uint32_t *rows, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t row = rows[i];
        rows[i] = rows[n - 1 - i];
        rows[n - 1 - i] = row;
    }
}

/* ---- the whole ---- */

/* Is it the name of a column that can be sorted by? Metrics of that name are read for it. */
static bool is_column(struct trial_table *table, const struct table_ask *ask,
                      struct table_column *ret)
{
    if (ask->sort && str_starts(ask->sort, "metrics."))
        trial_table_metrics(table, ask->store, NULL);
    return ask->sort && trial_table_column(table, ask->sort, ret, NULL) == 0 &&
           trial_table_cells(table, ret);
}

static int select_rows(struct selecting *s, const char *key, uint32_t *rows, size_t *ret_n,
                       struct err *err)
{
    if (prepare(s, key) < 0)
        return select_slowly(s, key, rows, ret_n, err);
    int r = filter(s, rows, ret_n, err);
    if (r < 0 || !key)
        return r;
    r = sort_by_key(s, rows, *ret_n, err);
    return s->lacking ? select_slowly(s, key, rows, ret_n, err) : r;
}

int trial_table_select(struct trial_table *table, const struct table_ask *ask, uint32_t **ret_rows,
                       size_t *ret_n, struct err *err)
{
    struct selecting s = {.table = table, .ask = ask};
    struct table_column column = {0};
    bool by_column = is_column(table, ask, &column);
    enum metric_stat stat;
    bool absent = !by_column && ask->sort && metric_column_parse(ask->sort, ret_n, &stat);
    autofree(mem) uint32_t *rows = xcalloc(MAX(table->n, 1), sizeof(*rows));

    int r = select_rows(&s, by_column || absent ? NULL : ask->sort, rows, ret_n, err);
    if (r >= 0 && by_column)
        sort_by_column(&s, &column, rows, *ret_n);
    else if (r >= 0 && !ask->sort && ask->desc)
        turn(rows, *ret_n);
    forget_names(&s);
    vec_release(&s.places);
    where_free(s.where);
    if (r < 0)
        return r;
    *ret_rows = TAKE(rows);
    return 0;
}
