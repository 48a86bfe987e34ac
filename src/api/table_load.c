/* SPDX-License-Identifier: MIT */
/*
 * table_load.c — rows of the database into cells: all of them in one walk, then single ones as they
 * change.
 *
 * Columns that would make a table larger than TABLE_BYTES_MAX are left out: an experiment with ten
 * thousand metrics is listed without most of them, and expressions that name these read the store.
 */
#include "api/table_parts.h"
#include "base/json.h"
#include "spec/parse.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#define ROWS_FIRST 16 /* most experiments are small, and a list has many of them */

/* ---- room ---- */

static void fill_none(double *x, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        x[i] = NAN;
}

double *table_new_cells(struct trial_table *table)
{
    size_t bytes = table->cap * sizeof(double);

    if (table->bytes + bytes > TABLE_BYTES_MAX)
        return NULL;
    double *x = xcalloc(table->cap, sizeof(*x));
    fill_none(x, 0, table->cap);
    table->bytes += bytes;
    return x;
}

static void grow_cells(double **x, size_t old, size_t cap)
{
    if (!*x)
        return;
    *x = xrealloc(*x, cap * sizeof(**x));
    fill_none(*x, old, cap);
}

/* Aliases of a field share its cells: 'duration' and 'time'. The first with the same getter. */
static size_t first_alias(size_t field)
{
    size_t first = 0;
    while (where_trial_fields[first].get != where_trial_fields[field].get)
        first++;
    return first;
}

static void grow_fields(struct trial_table *table, size_t cap)
{
    for (size_t i = 0; where_trial_fields[i].name; i++) {
        if (!table->alias[i])
            grow_cells(&table->fields[i], table->cap, cap);
        else
            table->fields[i] = table->fields[first_alias(i)];
    }
}

static void grow(struct trial_table *table)
{
    size_t cap = table->cap * 2;

    table->numbers = xrealloc(table->numbers, cap * sizeof(*table->numbers));
    grow_fields(table, cap);
    grow_cells(&table->measured, table->cap, cap);
    for (size_t i = 0; i < table->target.spec.space.n; i++)
        grow_cells(&table->params[i], table->cap, cap);
    vec_foreach (told, &table->told)
        grow_cells(&told->x, table->cap, cap);
    vec_foreach (metric, &table->metrics)
        for (int i = 0; i < STATS; i++)
            grow_cells(&metric->stat[i], table->cap, cap);
    table->bytes *= 2;
    table->cap = cap;
}

/* ---- a trial into its row ---- */

/* *ret_rest: what the cell lacks (expr.h). */
static double field_cell(const struct where_field *field, const struct where_row *row,
                         double *ret_rest)
{
    const struct trial *trial = &row->trial->trial;

    *ret_rest = 0;
    if (field->words == WORDS_TRIAL_STATE)
        return (double)trial->state;
    if (field->words == WORDS_REASON)
        return trial->reason == REASON_NONE ? NAN : (double)trial->reason - 1;
    if (field->type == EXPR_TEXT || field->type == EXPR_LIST)
        return NAN; /* in the marks */
    struct expr_value value = field->get(row);
    *ret_rest = value.rest;
    return value.type == EXPR_NULL ? NAN : value.number;
}

/* Few have one, if any. */
static void put_rest(struct trial_table *table, int64_t number, size_t field, double rest)
{
    uint64_t key = table_rest_key(number, field);

    if (rest != 0)
        map_put(&table->rests, key, (void *)(intptr_t)rest);
    else if (table->rests.len)
        map_remove(&table->rests, key);
}

static void put_fields(struct trial_table *table, size_t at, const struct trial_row *row)
{
    const struct where_row source = {.trial = row};

    for (size_t i = 0; where_trial_fields[i].name; i++) {
        if (table->alias[i])
            continue;
        double rest;
        table->fields[i][at] = field_cell(&where_trial_fields[i], &source, &rest);
        put_rest(table, row->trial.number, i, rest);
    }
}

/* ---- parameters that somebody told ---- */

static size_t word_index(struct told_param *told, const char *word)
{
    uintptr_t at = (uintptr_t)map_text_find(&told->index, word);

    if (at)
        return at - 1;
    vec_push(&told->words, xstrdup(word));
    map_text_put(&told->index, word, (void *)(uintptr_t)told->words.len);
    return told->words.len - 1;
}

/* From now on it has words: numbers that came before become texts. */
static void make_words(struct trial_table *table, struct told_param *told)
{
    char buf[DOUBLE_TEXT_SIZE];

    told->text = true;
    for (size_t i = 0; i < table->n; i++)
        if (!isnan(told->x[i]))
            told->x[i] = (double)word_index(told, double_text(buf, told->x[i]));
}

static struct told_param *find_told(struct trial_table *table, const char *name)
{
    uintptr_t at = (uintptr_t)map_text_find(&table->told_at, name);
    double *x = at ? NULL : table_new_cells(table);

    if (at)
        return &table->told.at[at - 1];
    if (!x)
        return NULL;
    vec_push(&table->told, ((struct told_param){.name = xstrdup(name), .x = x}));
    map_text_put(&table->told_at, name, (void *)(uintptr_t)table->told.len);
    return vec_last(&table->told);
}

static void put_told(struct trial_table *table, size_t at, const char *name, const json_t *value)
{
    struct told_param *told = find_told(table, name);
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (!told)
        return;
    if (json_is_number(value) && !told->text) {
        told->x[at] = json_number_value(value);
        return;
    }
    if (json_is_null(value))
        return;
    if (!told->text)
        make_words(table, told);
    if (!json_is_string(value))
        json_value(&out, value);
    told->x[at] =
        (double)word_index(told, json_is_string(value) ? json_string_value(value) : text.s);
}

/* A choice among numbers is the number; one among texts stays the index of its word. */
static double param_cell(const struct trial_table *table, size_t i, double x)
{
    const struct param *param = &table->target.spec.space.params[i];

    if (param->type != PARAM_CHOICE)
        return x;
    struct expr_value value = where_param(param, x);
    if (value.type == EXPR_NULL)
        return NAN;
    return table->words[i].len ? x : value.number;
}

static void put_params(struct trial_table *table, size_t at, const struct trial_row *row)
{
    size_t n = table->target.spec.space.n;
    autofree(json) json_t *object = NULL;
    const char *key;
    json_t *value;

    for (size_t i = 0; i < n; i++)
        table->params[i][at] = i < row->ndim ? param_cell(table, i, row->trial.point[i]) : NAN;
    if (n || !row->params_json || str_eq(row->params_json, "{}") ||
        json_parse(row->params_json, strlen(row->params_json), &object, NULL) < 0)
        return;
    vec_foreach (told, &table->told)
        told->x[at] = NAN;
    json_object_foreach(object, key, value) put_told(table, at, key, value);
}

static void put_row(struct trial_table *table, size_t at, const struct trial_row *row)
{
    table->numbers[at] = row->trial.number;
    table->measured[at] = row->trial.joules_measured;
    put_fields(table, at, row);
    put_params(table, at, row);
    table_put_marks(table, row);
}

static int append_row(const struct trial_row *row, void *arg)
{
    struct trial_table *table = arg;

    if (table->n == table->cap)
        grow(table);
    put_row(table, table->n++, row);
    return 0;
}

/* ---- metrics ---- */

static struct table_metric *find_metric(struct trial_table *table, const char *name)
{
    uintptr_t at = (uintptr_t)map_text_find(&table->metric_at, name);
    struct table_metric metric = {0};

    if (at)
        return &table->metrics.at[at - 1];
    if (table->bytes + STATS * table->cap * sizeof(double) > TABLE_BYTES_MAX)
        return NULL;
    for (int i = 0; i < STATS; i++)
        metric.stat[i] = table_new_cells(table);
    metric.name = xstrdup(name);
    vec_push(&table->metrics, metric);
    map_text_put(&table->metric_at, name, (void *)(uintptr_t)table->metrics.len);
    return vec_last(&table->metrics);
}

struct summing {
    struct trial_table *table;
    size_t row, next; /* where the last one was; metrics mostly come in the same order */
};

static struct table_metric *next_metric(struct summing *summing, const char *name)
{
    struct trial_table *table = summing->table;

    if (summing->next < table->metrics.len && str_eq(table->metrics.at[summing->next].name, name))
        return &table->metrics.at[summing->next];
    return find_metric(table, name);
}

static int on_summary(int64_t trial, const struct summary *summary, void *arg)
{
    struct summing *summing = arg;
    struct trial_table *table = summing->table;

    if (summing->row >= table->n || table->numbers[summing->row] != trial) {
        summing->row = trial_table_find(table, trial);
        summing->next = 0;
    }
    if (summing->row == table->n)
        return 0; /* it came after the trials were read; a change tells of it */
    struct table_metric *metric = next_metric(summing, summary->metric);
    if (!metric)
        return 0;
    bool finite = summary->first_nan_step == STEP_NONE;
    metric->stat[STAT_LAST][summing->row] = summary->last;
    metric->stat[STAT_MIN][summing->row] = summary->min;
    metric->stat[STAT_MAX][summing->row] = summary->max;
    metric->stat[STAT_COUNT][summing->row] = (double)(finite ? summary->count : -summary->count);
    summing->next = (size_t)(metric - table->metrics.at) + 1;
    return 0;
}

int trial_table_metrics(struct trial_table *table, struct store *store, struct err *err)
{
    struct summing summing = {.table = table};

    if (table->has_metrics)
        return 0;
    int r = store_summaries(store, table->target.experiment.experiment.id, 0, on_summary, &summing,
                            err);
    table->has_metrics = r >= 0;
    table->version++;
    return r < 0 ? r : 0;
}

/* ---- the whole, and one of it ---- */

static void list_words(const struct param *param, struct words *ret)
{
    enum expr_type type = where_param_type(param);

    if (type != EXPR_TEXT && type != EXPR_ANY)
        return;
    for (size_t i = 0; i < param->n_choices; i++) {
        struct str text = STR_INIT;
        param_text(param, (double)i, &text);
        vec_push(ret, str_take(&text));
    }
}

static int make_columns(struct trial_table *table, struct err *err)
{
    size_t n = table->target.spec.space.n;

    table->cap = ROWS_FIRST;
    table->numbers = xcalloc(table->cap, sizeof(*table->numbers));
    table->measured = table_new_cells(table);
    for (size_t i = 0; where_trial_fields[i].name; i++) {
        assert(i < TABLE_FIELDS_MAX);
        table->alias[i] = first_alias(i) != i;
        table->fields[i] = table->alias[i] ? table->fields[first_alias(i)] : table_new_cells(table);
    }
    table->params = xcalloc(MAX(n, 1), sizeof(*table->params));
    table->words = xcalloc(MAX(n, 1), sizeof(*table->words));
    for (size_t i = 0; i < n; i++) {
        list_words(&table->target.spec.space.params[i], &table->words[i]);
        table->params[i] = table_new_cells(table);
        if (!table->params[i])
            return err_set(err, EFBIG, "this experiment has too many parameters for a table");
    }
    return 0;
}

int trial_table_new(struct store *store, int64_t experiment, const char *spec_json,
                    struct trial_table **ret, struct err *err)
{
    autofree(trial_table) struct trial_table *table = xcalloc(1, sizeof(*table));
    struct trial_query query = {.experiment = experiment};

    spec_init(&table->target.spec);
    table->target.experiment.experiment.id = experiment;
    int r = spec_json ? spec_parse(spec_json, strlen(spec_json), "spec", "/", NULL,
                                   &table->target.spec, NULL, err)
                      : 0;
    if (r < 0)
        return err_context(err, "experiment %lld", (long long)experiment);
    r = make_columns(table, err);
    if (r >= 0)
        r = store_trials(store, &query, append_row, table, err);
    if (r < 0)
        return r;
    *ret = TAKE(table);
    return 0;
}

struct updating {
    struct trial_table *table;
    size_t at;
    bool found;
};

static int update_row(const struct trial_row *row, void *arg)
{
    struct updating *updating = arg;

    updating->found = true;
    if (updating->at < updating->table->n)
        put_row(updating->table, updating->at, row);
    else
        append_row(row, updating->table);
    return 0;
}

int trial_table_update(struct trial_table *table, struct store *store, int64_t number,
                       struct err *err)
{
    int64_t experiment = table->target.experiment.experiment.id;
    struct trial_query query = {.experiment = experiment, .number = number};
    struct updating updating = {table, trial_table_find(table, number), false};
    struct summing summing = {.table = table, .row = updating.at};

    if (updating.at == table->n && table->n && table->numbers[table->n - 1] > number)
        return -ESTALE;
    int r = store_trials(store, &query, update_row, &updating, err);
    if (r < 0)
        return r;
    table->version++;
    if (!updating.found)
        return updating.at < table->n ? -ESTALE : 0; /* new and gone again: nothing to do */
    return table->has_metrics
               ? store_summaries(store, experiment, number, on_summary, &summing, err)
               : 0;
}
