/* SPDX-License-Identifier: MIT */
/*
 * table_page.c — a page of a table, written from its cells. Read from the database, row by row, are
 * only metrics that the table does not hold (yet), and parameters that somebody told: there the
 * text counts.
 */
#include "api/table_page.h"
#include "base/clock.h"
#include "base/map.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#define SAMPLED 100 /* trials whose metrics stand for all, while these are not read */

static const char *const default_fields[] = {"number", "state", "run_name", "value"};
static const char *const last_fields[] = {"seconds", "started", "starred", "tags"};
static const char *const rare_fields[] = {"run_name", "starred", "tags"}; /* if some have one */

/* ---- columns ---- */

static void add_column(struct page_columns *columns, struct table_column column)
{
    column.name = arena_strdup(&columns->arena, column.name);
    vec_push(&columns->list, column);
}

/* "metrics.NAME.last" of a metric that is not there. */
static bool absent_metric(const char *name, struct page_columns *columns)
{
    enum metric_stat stat;
    size_t n;

    if (!metric_column_parse(name, &n, &stat))
        return false;
    autofree(mem) char *metric = xstrndup(name + strlen("metrics."), n);
    add_column(columns, (struct table_column){.kind = COLUMN_METRIC,
                                              .at = SIZE_MAX,
                                              .stat = stat,
                                              .type = EXPR_NUMBER,
                                              .name = metric});
    return true;
}

static int add_named(struct page_columns *columns, const struct trial_table *table,
                     const char *name, struct err *err)
{
    struct table_column column;

    if (columns->list.len == PAGE_COLUMNS_MAX)
        return err_set(err, EINVAL, "more than %d columns", PAGE_COLUMNS_MAX);
    if (trial_table_column(table, name, &column, NULL) == 0)
        add_column(columns, column);
    else if (!absent_metric(name, columns))
        return trial_table_column(table, name, &column, err) < 0 ? -EINVAL : 0;
    return 0;
}

/* The next name, up to a comma; two of them are one in the name. */
static const char *next_name(const char *at, struct str *name)
{
    str_cut(name, 0);
    for (; *at; at++) {
        if (*at == ',' && at[1] != ',')
            return at + 1;
        at += *at == ',';
        str_add_char(name, *at);
    }
    return NULL;
}

int page_columns_parse(struct page_columns *columns, const struct trial_table *table,
                       const char *names, struct err *err)
{
    autorelease(str) struct str name = STR_INIT;
    int r = 0;

    while (r >= 0 && names) {
        names = next_name(names, &name);
        r = add_named(columns, table, name.s, err);
    }
    return r;
}

struct sampling {
    struct page_columns *columns;
    struct map_text seen;
};

static int on_sample(int64_t trial UNUSED, const struct summary *summary, void *arg)
{
    struct sampling *sampling = arg;

    if (map_text_find(&sampling->seen, summary->metric) ||
        sampling->columns->list.len >= PAGE_COLUMNS_MAX)
        return 0;
    map_text_put(&sampling->seen, summary->metric, sampling);
    add_column(sampling->columns, (struct table_column){.kind = COLUMN_METRIC,
                                                        .at = SIZE_MAX,
                                                        .type = EXPR_NUMBER,
                                                        .name = summary->metric});
    return 0;
}

/* Of these rows, and of some that are spread over the table: the first may have told nothing. */
static int sample_metrics(struct page_columns *columns, const struct trial_table *table,
                          struct store *store, const uint32_t *rows, size_t n, struct err *err)
{
    struct sampling sampling = {columns, MAP_TEXT_INIT};
    int64_t experiment = trial_table_experiment(table);
    size_t all = trial_table_rows(table), spread = MIN(all, (size_t)SAMPLED);
    int r = 0;

    for (size_t i = 0; i < n + spread && r >= 0; i++) {
        size_t row = i < n ? rows[i] : (i - n) * all / spread;
        r = store_summaries(store, experiment, trial_table_number(table, row), on_sample, &sampling,
                            err);
    }
    map_text_release(&sampling.seen);
    return r;
}

static void add_fields(struct page_columns *columns, const struct trial_table *table,
                       const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool rare = false;
        for (size_t k = 0; k < ARRAY_LEN(rare_fields); k++)
            rare |= str_eq(names[i], rare_fields[k]);
        if (!rare || trial_table_any(table, names[i]))
            add_named(columns, table, names[i], NULL);
    }
}

int page_columns_default(struct page_columns *columns, const struct trial_table *table,
                         struct store *store, const uint32_t *rows, size_t n, struct err *err)
{
    struct table_column column;
    size_t room = PAGE_COLUMNS_MAX - ARRAY_LEN(last_fields);
    int r = 0;

    add_fields(columns, table, default_fields, ARRAY_LEN(default_fields));
    for (size_t i = 0; columns->list.len < room && trial_table_param(table, i, &column); i++)
        add_column(columns, column);
    if (!trial_table_has_metrics(table))
        r = sample_metrics(columns, table, store, rows, n, err);
    else
        for (size_t i = 0; columns->list.len < room && trial_table_metric(table, i, &column); i++)
            add_column(columns, column);
    columns->list.len = MIN(columns->list.len, room);
    add_fields(columns, table, last_fields, ARRAY_LEN(last_fields));
    return r;
}

void page_columns_release(struct page_columns *columns)
{
    vec_release(&columns->list);
    arena_release(&columns->arena);
}

/* ---- columns as JSON ---- */

static const char *type_name(enum expr_type type)
{
    static const char *const names[] = {
        [EXPR_NULL] = "text", [EXPR_NUMBER] = "number", [EXPR_BOOL] = "bool", [EXPR_TEXT] = "text",
        [EXPR_LIST] = "list", [EXPR_TIME] = "time",     [EXPR_ANY] = "text",
    };
    return (size_t)type < ARRAY_LEN(names) ? names[type] : "text";
}

static void put_choices(struct json_out *out, const struct trial_table *table,
                        const struct table_column *column)
{
    const char *word;

    if (column->at == SIZE_MAX || !trial_table_word(table, column, 0))
        return;
    json_key(out, "choices");
    json_begin_array(out);
    for (size_t i = 0; (word = trial_table_word(table, column, i)); i++)
        json_text(out, word);
    json_end_array(out);
}

static void put_column(struct json_out *out, struct trial_table *table,
                       const struct table_column *column)
{
    static const char *const kinds[] = {"field", "param", "metric"};
    autorelease(str) struct str name = STR_INIT;
    double min = NAN, max = NAN;

    str_add_column(&name, column);
    if (column->at != SIZE_MAX && column->type == EXPR_NUMBER)
        trial_table_range(table, column, &min, &max);
    json_begin_object(out);
    json_put_text(out, "name", name.s);
    json_put_text(out, "kind", kinds[column->kind]);
    json_put_text(out, "type", type_name(column->type));
    json_put_known(out, "min", min);
    json_put_known(out, "max", max);
    put_choices(out, table, column);
    json_end_object(out);
}

void page_put_columns(struct json_out *out, struct trial_table *table,
                      const struct page_columns *columns)
{
    json_begin_array(out);
    vec_foreach (column, &columns->list)
        put_column(out, table, column);
    json_end_array(out);
}

/* ---- rows ---- */

struct page {
    struct json_out *out;
    const struct trial_table *table;
    const struct page_columns *columns;
    size_t row;              /* the present one */
    bool told;               /* a parameter that somebody told is among them */
    bool read;               /* a metric is among them that the table does not hold */
    struct map_text metrics; /* name → index of its cells + 1 */
    VEC(double) cells;       /* STATS for each metric among the columns, of the present row */
    json_t *params;          /* of the present row */
};

static void put_value(struct json_out *out, const struct expr_value *value, enum expr_type type)
{
    switch (value->type) {
    case EXPR_NUMBER:
        if (type == EXPR_TIME)
            json_time(out, llround(value->number * (double)US_PER_S));
        else
            json_double(out, value->number);
        break;
    case EXPR_BOOL:
        json_bool(out, value->number != 0);
        break;
    case EXPR_TEXT:
        json_text(out, value->text);
        break;
    case EXPR_LIST:
        json_begin_array(out);
        for (size_t i = 0; i < value->n; i++)
            json_text(out, value->list[i]);
        json_end_array(out);
        break;
    default:
        json_null_out(out);
    }
}

static void put_cell(struct page *page, const struct table_column *column)
{
    const json_t *value = json_object_get(page->params, column->name);

    if (column->kind != COLUMN_PARAM || !page->told) {
        struct expr_value cell = trial_table_value(page->table, column, page->row);
        put_value(page->out, &cell, column->type);
    } else if (value) {
        json_value(page->out, value);
    } else {
        json_null_out(page->out);
    }
}

/* The last value may be NaN; that there is no smallest one is null. */
static void put_stat(struct json_out *out, double x, double count, enum metric_stat stat)
{
    if (isnan(count) || (isnan(x) && stat != STAT_LAST))
        json_null_out(out);
    else
        json_double(out, stat == STAT_COUNT ? fabs(x) : x);
}

static void put_metric(struct page *page, const struct table_column *column)
{
    if (!page->read) {
        struct table_column count = *column;
        count.stat = STAT_COUNT;
        put_stat(page->out, trial_table_cells(page->table, column)[page->row],
                 trial_table_cells(page->table, &count)[page->row], column->stat);
        return;
    }
    uintptr_t place = (uintptr_t)map_text_find(&page->metrics, column->name);
    assert(place);
    const double *cells = page->cells.at + (place - 1) * STATS;
    put_stat(page->out, cells[column->stat], cells[STAT_COUNT], column->stat);
}

static void put_row(struct page *page)
{
    json_begin_array(page->out);
    vec_foreach (column, &page->columns->list)
        if (column->kind == COLUMN_METRIC)
            put_metric(page, column);
        else
            put_cell(page, column);
    json_end_array(page->out);
}

static int keep_params(const struct trial_row *row, void *arg)
{
    struct page *page = arg;

    if (row->params_json)
        json_parse(row->params_json, strlen(row->params_json), &page->params, NULL);
    return 1;
}

static int keep_summary(int64_t trial UNUSED, const struct summary *summary, void *arg)
{
    struct page *page = arg;
    uintptr_t place = (uintptr_t)map_text_find(&page->metrics, summary->metric);

    if (!place)
        return 0;
    double *cells = page->cells.at + (place - 1) * STATS;
    cells[STAT_LAST] = summary->last;
    cells[STAT_MIN] = summary->min;
    cells[STAT_MAX] = summary->max;
    cells[STAT_COUNT] = (double)summary->count;
    return 0;
}

/* What of it the table cannot tell. */
static void look_at_columns(struct page *page)
{
    size_t n = 0;

    vec_foreach (column, &page->columns->list) {
        page->told |= column->kind == COLUMN_PARAM;
        if (column->kind != COLUMN_METRIC)
            continue;
        page->read |= column->at == SIZE_MAX;
        if (map_text_find(&page->metrics, column->name))
            continue;
        map_text_put(&page->metrics, column->name, (void *)(uintptr_t)++n);
        for (int i = 0; i < STATS; i++)
            vec_push(&page->cells, NAN);
    }
    page->read |= n > 0 && !trial_table_has_metrics(page->table);
    page->told &= trial_table_spec(page->table)->space.n == 0;
}

static int read_row(struct page *page, struct store *store, struct err *err)
{
    struct trial_query query = {.experiment = trial_table_experiment(page->table),
                                .number = trial_table_number(page->table, page->row)};
    int r = 0;

    json_decref(page->params);
    page->params = NULL;
    vec_foreach (cell, &page->cells)
        *cell = NAN;
    if (page->read)
        r = store_summaries(store, query.experiment, query.number, keep_summary, page, err);
    if (r >= 0 && page->told)
        r = store_trials(store, &query, keep_params, page, err);
    return r;
}

int page_put_rows(struct json_out *out, const struct trial_table *table, struct store *store,
                  const struct page_columns *columns, const uint32_t *rows, size_t n,
                  struct err *err)
{
    struct page page = {.out = out, .table = table, .columns = columns};
    int r = 0;

    look_at_columns(&page);
    json_begin_array(out);
    if (page.read || page.told)
        store_view_begin(store);
    for (size_t i = 0; i < n && r >= 0; i++) {
        page.row = rows[i];
        if (page.read || page.told)
            r = read_row(&page, store, err);
        if (r >= 0)
            put_row(&page);
    }
    if (page.read || page.told)
        store_view_end(store);
    json_end_array(out);
    json_decref(page.params);
    map_text_release(&page.metrics);
    vec_release(&page.cells);
    return MIN(r, 0);
}
