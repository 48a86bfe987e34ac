/* SPDX-License-Identifier: MIT */
/*
 * table.c — the columns of a table by their names, and what is in them.
 */
#include "api/table_parts.h"

#include <errno.h>
#include <math.h>

/* Names over HTTP that are others in expressions: there the shorter one reads well, here the unit
 * is told. */
static const struct {
    const char *name, *field;
} other_names[] = {{"seconds", "duration"}, {"energy", "joules"}};

static const char *const stat_names[STATS] = {"last", "min", "max", "count"};

void trial_table_free(struct trial_table *table)
{
    size_t cursor = 0;
    struct marks *marks;
    struct range *range;

    if (!table)
        return;
    for (size_t i = 0; i < TABLE_FIELDS_MAX; i++)
        if (!table->alias[i])
            free(table->fields[i]);
    free(table->measured);
    for (size_t i = 0; table->params && i < table->target.spec.space.n; i++) {
        free(table->params[i]);
        vec_foreach (word, &table->words[i])
            free(*word);
        vec_release(&table->words[i]);
    }
    vec_foreach (told, &table->told) {
        free(told->name);
        free(told->x);
        vec_foreach (word, &told->words)
            free(*word);
        vec_release(&told->words);
        map_text_release(&told->index);
    }
    vec_foreach (metric, &table->metrics) {
        free(metric->name);
        for (int i = 0; i < STATS; i++)
            free(metric->stat[i]);
    }
    while ((marks = map_next(&table->marks, &cursor, NULL)))
        marks_free(marks);
    map_release(&table->marks);
    for (cursor = 0; (range = map_next(&table->ranges, &cursor, NULL));)
        free(range);
    map_release(&table->ranges);
    map_release(&table->rests);
    map_text_release(&table->metric_at);
    map_text_release(&table->told_at);
    vec_release(&table->told);
    vec_release(&table->metrics);
    free(table->params);
    free(table->words);
    free(table->numbers);
    spec_release(&table->target.spec);
    free(table);
}

bool trial_table_has_metrics(const struct trial_table *table)
{
    return table->has_metrics;
}

size_t trial_table_bytes(const struct trial_table *table)
{
    return sizeof(*table) + table->bytes + table->cap * sizeof(*table->numbers);
}

int64_t trial_table_experiment(const struct trial_table *table)
{
    return table->target.experiment.experiment.id;
}

size_t trial_table_rows(const struct trial_table *table)
{
    return table->n;
}

int64_t trial_table_number(const struct trial_table *table, size_t row)
{
    return table->numbers[row];
}

const struct spec *trial_table_spec(const struct trial_table *table)
{
    return &table->target.spec;
}

uint64_t trial_table_version(const struct trial_table *table)
{
    return table->version;
}

size_t trial_table_find(const struct trial_table *table, int64_t number)
{
    size_t lo = 0, hi = table->n;

    if (hi && table->numbers[hi - 1] < number)
        return hi;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (table->numbers[mid] < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < table->n && table->numbers[lo] == number ? lo : table->n;
}

/* ---- by name ---- */

static bool find_field(const char *name, struct table_column *ret)
{
    const char *shown = name;

    for (size_t i = 0; i < ARRAY_LEN(other_names); i++)
        if (str_eq(other_names[i].name, name)) {
            shown = other_names[i].name;
            name = other_names[i].field;
        }
    for (size_t i = 0; where_trial_fields[i].name; i++)
        if (str_eq(where_trial_fields[i].name, name)) {
            *ret =
                (struct table_column){.kind = COLUMN_FIELD,
                                      .at = i,
                                      .type = where_trial_fields[i].type,
                                      .name = shown == name ? where_trial_fields[i].name : shown};
            return true;
        }
    return false;
}

bool trial_table_param(const struct trial_table *table, size_t i, struct table_column *ret)
{
    const struct space *space = &table->target.spec.space;
    size_t n = space->n ? space->n : table->told.len;

    if (i >= n)
        return false;
    *ret = (struct table_column){.kind = COLUMN_PARAM, .at = i};
    if (space->n) {
        enum expr_type type = where_param_type(&space->params[i]);
        ret->name = space->params[i].name;
        ret->type = type == EXPR_ANY ? EXPR_TEXT : type;
    } else {
        ret->name = table->told.at[i].name;
        ret->type = table->told.at[i].text ? EXPR_TEXT : EXPR_NUMBER;
    }
    return true;
}

bool trial_table_metric(const struct trial_table *table, size_t i, struct table_column *ret)
{
    if (i >= table->metrics.len)
        return false;
    *ret = (struct table_column){
        .kind = COLUMN_METRIC, .at = i, .type = EXPR_NUMBER, .name = table->metrics.at[i].name};
    return true;
}

static bool find_param(const struct trial_table *table, const char *name, struct table_column *ret)
{
    const struct space *space = &table->target.spec.space;
    uintptr_t told = (uintptr_t)map_text_find(&table->told_at, name);

    if (!space->n)
        return told && trial_table_param(table, told - 1, ret);
    for (size_t i = 0; i < space->n; i++)
        if (str_eq(space->params[i].name, name))
            return trial_table_param(table, i, ret);
    return false;
}

bool metric_column_parse(const char *name, size_t *ret_n, enum metric_stat *ret_stat)
{
    const char *dot = strrchr(name, '.');
    size_t prefix = strlen("metrics.");

    if (!str_starts(name, "metrics.") || dot <= name + prefix)
        return false;
    for (int i = 0; i < STATS; i++)
        if (str_eq(dot + 1, stat_names[i])) {
            *ret_n = (size_t)(dot - name) - prefix;
            *ret_stat = (enum metric_stat)i;
            return true;
        }
    return false;
}

static bool find_metric(const struct trial_table *table, const char *name, struct table_column *ret)
{
    enum metric_stat stat;
    size_t n;

    if (!metric_column_parse(name, &n, &stat))
        return false;
    autofree(mem) char *metric = xstrndup(name + strlen("metrics."), n);
    uintptr_t at = (uintptr_t)map_text_find(&table->metric_at, metric);
    if (!at)
        return false;
    trial_table_metric(table, at - 1, ret);
    ret->stat = stat;
    return true;
}

int trial_table_column(const struct trial_table *table, const char *name, struct table_column *ret,
                       struct err *err)
{
    bool found;

    if (str_starts(name, "params."))
        found = find_param(table, name + strlen("params."), ret);
    else if (str_starts(name, "metrics."))
        found = find_metric(table, name, ret);
    else
        found = find_field(name, ret);
    return found ? 0
                 : err_set(err, ENOENT,
                           "there is no column '%.100s': state, params.NAME and metrics.NAME.last "
                           "(min, max, count) are some",
                           name);
}

void str_add_column(struct str *to, const struct table_column *column)
{
    if (column->kind == COLUMN_FIELD)
        str_add(to, column->name);
    else if (column->kind == COLUMN_PARAM)
        str_addf(to, "params.%s", column->name);
    else
        str_addf(to, "metrics.%s.%s", column->name, stat_names[column->stat]);
}

/* ---- cells ---- */

const double *trial_table_cells(const struct trial_table *table, const struct table_column *column)
{
    switch (column->kind) {
    case COLUMN_PARAM:
        return table->target.spec.space.n ? table->params[column->at]
                                          : table->told.at[column->at].x;
    case COLUMN_METRIC:
        return table->metrics.at[column->at].stat[column->stat];
    case COLUMN_FIELD:
    default:
        break;
    }
    const struct where_field *field = &where_trial_fields[column->at];
    bool words = field->type == EXPR_TEXT || field->type == EXPR_LIST;
    return words && field->words == WORDS_NONE ? NULL : table->fields[column->at];
}

/* Of choices that are no texts only the mixed ones have words; these are few, and kept. */
static const char *choice_word(const struct trial_table *table, size_t param, size_t i)
{
    return i < table->words[param].len ? table->words[param].at[i] : NULL;
}

const char *trial_table_word(const struct trial_table *table, const struct table_column *column,
                             size_t i)
{
    if (column->kind == COLUMN_METRIC)
        return NULL;
    if (column->kind == COLUMN_PARAM) {
        if (table->target.spec.space.n)
            return choice_word(table, column->at, i);
        const struct told_param *told = &table->told.at[column->at];
        return told->text && i < told->words.len ? told->words.at[i] : NULL;
    }
    const char *const *words = where_words(where_trial_fields[column->at].words);
    for (size_t k = 0; words && words[k]; k++)
        if (k == i)
            return words[k];
    return NULL;
}

/* A tag list, note or name: few rows have one. */
static struct expr_value mark_value(const struct trial_table *table,
                                    const struct table_column *column, size_t row)
{
    const struct marks *marks = map_find(&table->marks, (uint64_t)table->numbers[row]);
    bool list = where_trial_fields[column->at].type == EXPR_LIST;

    if (list)
        return (struct expr_value){.type = EXPR_LIST,
                                   .n = marks ? marks->tags.len : 0,
                                   .list = marks ? (const char *const *)marks->tags.at : NULL};
    if (str_eq(column->name, "run_name"))
        return expr_text(marks ? marks->run_name : NULL);
    return expr_text(marks && marks->note && *marks->note ? marks->note : NULL);
}

static struct expr_value number_value(const struct trial_table *table,
                                      const struct table_column *column, const double *x,
                                      size_t row)
{
    struct expr_value value = expr_number(x[row]);

    if (table->rests.len && column->kind == COLUMN_FIELD)
        value.rest = (double)(intptr_t)map_find(&table->rests,
                                                table_rest_key(table->numbers[row], column->at));
    return value;
}

struct expr_value table_value(const struct trial_table *table, const struct table_column *column,
                              const double *x, size_t row)
{
    if (!x)
        return mark_value(table, column, row);
    if (isnan(x[row]))
        return expr_null();
    switch (column->type) {
    case EXPR_BOOL:
        return expr_bool(x[row] != 0);
    case EXPR_TEXT:
        break;
    default:
        return number_value(table, column, x, row);
    }
    if (column->kind == COLUMN_PARAM && table->target.spec.space.n)
        return where_param(&table->target.spec.space.params[column->at], x[row]);
    return expr_text(trial_table_word(table, column, (size_t)x[row]));
}

struct expr_value trial_table_value(const struct trial_table *table,
                                    const struct table_column *column, size_t row)
{
    return table_value(table, column, trial_table_cells(table, column), row);
}

bool trial_table_measured(const struct trial_table *table, size_t row)
{
    return table->measured[row] != 0;
}

size_t trial_table_told(const struct trial_table *table, size_t i)
{
    const double *count = table->metrics.at[i].stat[STAT_COUNT];
    size_t n = 0;

    for (size_t row = 0; row < table->n; row++)
        n += !isnan(count[row]);
    return n;
}

/* Of all but NaN, four lanes side by side: a comparison waits for the one before it in its lane. */
static void find_ends(const double *x, size_t n, double *ret_min, double *ret_max)
{
    double min[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    double max[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};

    for (size_t i = 0; i < n / 4 * 4; i += 4)
        for (size_t k = 0; k < 4; k++) {
            min[k] = x[i + k] < min[k] ? x[i + k] : min[k];
            max[k] = x[i + k] > max[k] ? x[i + k] : max[k];
        }
    for (size_t i = n / 4 * 4; i < n; i++) {
        min[0] = x[i] < min[0] ? x[i] : min[0];
        max[0] = x[i] > max[0] ? x[i] : max[0];
    }
    for (size_t k = 1; k < 4; k++) {
        min[0] = MIN(min[0], min[k]);
        max[0] = MAX(max[0], max[k]);
    }
    *ret_min = min[0];
    *ret_max = max[0];
}

/* Comparisons with NaN are false, and infinities are left out. */
static void find_range(const double *x, size_t n, bool count, struct range *ret)
{
    double min, max;

    find_ends(x, n, &ret->min, &ret->max);
    if (!count && isfinite(ret->min) && isfinite(ret->max))
        return;
    min = INFINITY;
    max = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double value = count ? fabs(x[i]) : x[i];
        min = value < min && value > -INFINITY ? value : min;
        max = value > max && value < INFINITY ? value : max;
    }
    ret->min = min <= max ? min : NAN;
    ret->max = min <= max ? max : NAN;
}

void trial_table_range(struct trial_table *table, const struct table_column *column,
                       double *ret_min, double *ret_max)
{
    const double *x = trial_table_cells(table, column);
    struct range *range = x ? map_find(&table->ranges, (uintptr_t)x) : NULL;

    *ret_min = *ret_max = NAN;
    if (!x)
        return;
    if (!range) {
        range = xcalloc(1, sizeof(*range));
        range->version = UINT64_MAX;
        map_put(&table->ranges, (uintptr_t)x, range);
    }
    if (range->version != table->version)
        find_range(x, table->n, column->kind == COLUMN_METRIC && column->stat == STAT_COUNT, range);
    range->version = table->version;
    *ret_min = range->min;
    *ret_max = range->max;
}
