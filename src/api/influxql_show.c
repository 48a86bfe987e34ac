/* SPDX-License-Identifier: MIT */
/*
 * influxql_show.c — SHOW: what there is. Every kind is a list of (measurement, a, b), sorted, each
 * once.
 */
#include "api/influxql_internal.h"

#include <assert.h>
#include <errno.h>

struct line {
    const char *measurement, *a, *b; /* "" where there is none */
};
struct show {
    const struct statement *statement;
    const struct influxql_source *source;
    const char *db;
    struct result *result;
    VEC(struct line) lines;
};

static const char *keep(struct show *show, const char *text)
{
    return arena_strdup(&show->result->arena, text);
}

static void add(struct show *show, const char *measurement, const char *a, const char *b)
{
    struct line line = {keep(show, measurement), keep(show, a), keep(show, b)};
    vec_push(&show->lines, line);
}

static bool is_from(const struct statement *statement, const char *measurement)
{
    vec_foreach (match, &statement->from)
        if (match_text(match, measurement))
            return true;
    return statement->from.len == 0;
}

static void add_escaped(struct str *to, const char *text, const char *which)
{
    for (; *text; text++) {
        if (strchr(which, *text))
            str_add_char(to, '\\');
        str_add_char(to, *text);
    }
}

/* As it is written in line protocol. */
static char *series_key(const char *measurement, const struct influxql_series *series)
{
    struct str text = STR_INIT;

    add_escaped(&text, measurement, ", ");
    for (size_t i = 0; i < series->n_tags; i++) {
        str_add_char(&text, ',');
        add_escaped(&text, series->tags[i].key, ", =");
        str_add_char(&text, '=');
        add_escaped(&text, series->tags[i].value, ", =");
    }
    return str_take(&text);
}

/* Of a metric with a dot that is a measurement as a whole, its field is "value". */
static const char *field_type(const struct show *show, const char *metric,
                              const struct metric_parts *parts)
{
    const struct influxql_source *source = show->source;
    const char *type = NULL;

    if (source->type)
        type = source->type(source->arg, show->db, parts->measurement, parts->field);
    if (source->type && !type)
        type = source->type(source->arg, show->db, metric, "value");
    return type ? type : "float";
}

static void add_tags(struct show *show, const char *measurement,
                     const struct influxql_series *series)
{
    const struct statement *statement = show->statement;

    for (size_t i = 0; i < series->n_tags; i++) {
        const struct influxql_tag *tag = &series->tags[i];
        if (statement->kind == STATEMENT_TAG_KEYS)
            add(show, measurement, tag->key, "");
        else if (match_text(&statement->with, tag->key))
            add(show, measurement, tag->key, tag->value);
    }
}

static int on_series(const struct influxql_series *series, void *to)
{
    struct show *show = to;
    const struct statement *statement = show->statement;
    struct metric_parts parts = metric_split(series->metric);
    autofree(mem) char *measurement = parts.measurement;

    if (!is_from(statement, measurement) || !cond_holds(statement->where, series))
        return 0;
    if (statement->kind == STATEMENT_MEASUREMENTS) {
        if (!statement->has_with || match_text(&statement->with, measurement))
            add(show, "measurements", measurement, "");
    } else if (statement->kind == STATEMENT_FIELD_KEYS) {
        add(show, measurement, parts.field, field_type(show, series->metric, &parts));
    } else if (statement->kind == STATEMENT_SERIES) {
        autofree(mem) char *key = series_key(measurement, series);
        add(show, "", key, "");
    } else {
        add_tags(show, measurement, series);
    }
    return 0;
}

static int on_database(const char *name, void *to)
{
    add(to, "databases", name, "");
    return 0;
}

static int compare(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    int r = strcmp(a->measurement, b->measurement);

    r = r ? r : strcmp(a->a, b->a);
    return r ? r : strcmp(a->b, b->b);
}

/* A table for each measurement; LIMIT and OFFSET count its rows. */
static void emit(struct show *show, const char *const *columns, size_t n_columns)
{
    const struct statement *statement = show->statement;
    struct table *table = NULL;
    int64_t row = 0;

    if (show->lines.len)
        qsort(show->lines.at, show->lines.len, sizeof(*show->lines.at), compare);
    for (size_t i = 0; i < show->lines.len; i++) {
        const struct line *line = &show->lines.at[i];
        bool fresh = i == 0 || !str_eq(line->measurement, line[-1].measurement);
        if (!fresh && compare(line, line - 1) == 0)
            continue;
        if (fresh) {
            table = NULL;
            row = 0;
        }
        row++;
        if (row <= statement->offset ||
            (statement->limit && row > statement->offset + statement->limit))
            continue;
        if (!table)
            table = result_table(show->result, *line->measurement ? line->measurement : NULL,
                                 columns, n_columns);
        table_text(table, line->a);
        if (n_columns > 1)
            table_text(table, line->b);
    }
}

static int end_walk(const struct influxql_series *series, void *to)
{
    (void)series, (void)to;
    return 1;
}

int database_exists(const struct influxql_source *source, const char *db, struct err *err)
{
    if (source->series(source->arg, db, end_walk, NULL) == -ENOENT)
        return err_set(err, ENOENT, "database not found: %s", db);
    return 0;
}

static int show_users(struct result *result)
{
    static const char *const columns[] = {"user", "admin"};

    result_table(result, NULL, columns, ARRAY_LEN(columns));
    return 0;
}

/* An empty table for each database. */
static int on_continuous(const char *db, void *to)
{
    static const char *const columns[] = {"name", "query"};
    struct result *result = to;

    result_table(result, arena_strdup(&result->arena, db), columns, ARRAY_LEN(columns));
    return 0;
}

/* One, for ever: Hone forgets nothing by itself. */
static int show_policies(const struct influxql_source *source, const char *db,
                         struct result *result, struct err *err)
{
    static const char *const columns[] = {"name", "duration", "shardGroupDuration", "replicaN",
                                          "default"};
    if (database_exists(source, db, err) < 0)
        return -ENOENT;
    struct table *table = result_table(result, NULL, columns, ARRAY_LEN(columns));
    table_text(table, "autogen");
    table_text(table, "0s");
    table_text(table, "168h0m0s");
    vec_push(&table->cells, ((struct cell){.kind = CELL_NUMBER, .number = 1}));
    vec_push(&table->cells, ((struct cell){.kind = CELL_BOOL, .number = 1}));
    return 0;
}

int run_show(const struct statement *statement, const struct influxql_source *source,
             const char *db, struct result *result, struct err *err)
{
    static const struct {
        const char *columns[2];
        size_t n;
    } shapes[] = {
        [STATEMENT_DATABASES] = {{"name", NULL}, 1},
        [STATEMENT_MEASUREMENTS] = {{"name", NULL}, 1},
        [STATEMENT_TAG_KEYS] = {{"tagKey", NULL}, 1},
        [STATEMENT_TAG_VALUES] = {{"key", "value"}, 2},
        [STATEMENT_FIELD_KEYS] = {{"fieldKey", "fieldType"}, 2},
        [STATEMENT_SERIES] = {{"key", NULL}, 1},
    };
    struct show show = {.statement = statement, .source = source, .db = db, .result = result};

    if (statement->kind == STATEMENT_POLICIES)
        return show_policies(source, db, result, err);
    if (statement->kind == STATEMENT_USERS)
        return show_users(result);
    if (statement->kind == STATEMENT_CONTINUOUS)
        return source->databases(source->arg, on_continuous, result);
    assert((size_t)statement->kind < ARRAY_LEN(shapes));
    int r = statement->kind == STATEMENT_DATABASES
                ? source->databases(source->arg, on_database, &show)
                : source->series(source->arg, db, on_series, &show);
    if (r == -ENOENT)
        r = err_set(err, ENOENT, "database not found: %s", db);
    else if (r < 0)
        r = err_errno(err, -r, "reading");
    if (r == 0)
        emit(&show, shapes[statement->kind].columns, shapes[statement->kind].n);
    vec_release(&show.lines);
    return r;
}
