/* SPDX-License-Identifier: MIT */
/*
 * influxql.c — statements are answered one after the other; answers are tables, and tables become
 * JSON or CSV as InfluxDB writes them.
 *
 * NaN and infinities are kept by Hone, but JSON has no word for them and InfluxDB's clients expect
 * none: they are null here.
 */
#include "api/influxql_internal.h"
#include "base/clock.h"
#include "base/decimal.h"
#include "base/json.h"
#include "base/rest.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#define USUAL_BYTES 20 /* of a cell in JSON */

/* ---- series ---- */

const char *series_tag(const struct influxql_series *series, const char *key)
{
    for (size_t i = 0; i < series->n_tags; i++)
        if (str_eq(series->tags[i].key, key))
            return series->tags[i].value;
    return "";
}

struct metric_parts metric_split(const char *metric)
{
    struct metric_parts parts = {xstrdup(metric), "value"};
    char *dot = strrchr(parts.measurement, '.');

    if (dot && dot > parts.measurement && dot[1]) {
        *dot = '\0';
        parts.field = dot + 1;
    }
    return parts;
}

/* ---- tables ---- */

void result_release(struct result *result)
{
    vec_foreach (table, &result->tables)
        vec_release(&table->cells);
    vec_release(&result->tables);
    free(result->error);
    free(result->warning);
    arena_release(&result->arena);
}

struct table *result_table(struct result *result, const char *name, const char *const *columns,
                           size_t n_columns)
{
    struct table table = {.name = name, .n_columns = n_columns};

    table.columns = arena_memdup(&result->arena, columns, n_columns * sizeof(*columns));
    vec_push(&result->tables, table);
    return vec_last(&result->tables);
}

void table_text(struct table *table, const char *text)
{
    vec_push(&table->cells, ((struct cell){.kind = CELL_TEXT, .text = text}));
}

/* ---- cells ---- */

static int64_t epoch_ns(const char *epoch)
{
    static const struct {
        const char *text;
        int64_t ns;
    } units[] = {{"ns", 1},         {"n", 1},           {"u", 1000},
                 {"us", 1000},      {"\xc2\xb5", 1000}, {"ms", 1000000},
                 {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};

    for (size_t i = 0; epoch && i < ARRAY_LEN(units); i++)
        if (str_eq(units[i].text, epoch))
            return units[i].ns;
    return epoch && *epoch ? 1 : 0;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* 2015-01-29T21:55:43.702900257Z, without zeros at the end. */
static void add_rfc3339(struct str *to, int64_t ns)
{
    int64_t s = floor_div(ns, 1000000000), rest = ns - s * 1000000000;
    size_t begin = to->len;
    char digits[16];

    str_add_time(to, s * 1000000);
    str_cut(to, begin + strlen("2015-01-29T21:55:43"));
    if (rest) {
        int n = snprintf(digits, sizeof(digits), ".%09d", (int)rest);
        while (digits[n - 1] == '0')
            n--;
        str_add_n(to, digits, (size_t)n);
    }
    str_add_char(to, 'Z');
}

static void add_integer(struct str *to, int64_t x)
{
    char text[DOUBLE_TEXT_SIZE];
    size_t n = decimal_integer(text, x);

    str_add_n(to, text, n);
}

/* These are told without an exponent: clients read a count as an integer. −0 is "-0" anyway. */
static bool is_integer(double x)
{
    return fabs(x) < 0x1p53 && x == trunc(x) && (x != 0 || !signbit(x));
}

static void json_rfc3339(struct json_out *out, int64_t ns)
{
    autorelease(str) struct str text = STR_INIT;

    add_rfc3339(&text, ns);
    json_text(out, text.s);
}

/* Of a cell that is not short. */
static void json_cell(struct json_out *out, const struct cell *cell)
{
    if (cell->kind == CELL_TIME)
        json_rfc3339(out, cell->time_ns);
    else if (cell->kind == CELL_TEXT)
        json_text(out, cell->text);
    else
        json_bool(out, cell->number != 0);
}

/* ---- JSON ---- */

/* Series that are asked for by buckets of time have the same times: their texts are written once.
 */
#define TIMES_KEPT 10000
struct time_text {
    int64_t ns;
    size_t n;
    char text[DOUBLE_TEXT_SIZE];
};
struct times {
    int64_t unit;
    VEC(struct time_text) rows; /* of the tables so far, by their places */
};

static size_t time_text(char to[DOUBLE_TEXT_SIZE], struct times *times, size_t row, int64_t ns)
{
    struct time_text *known = row < times->rows.len ? &times->rows.at[row] : NULL;

    if (known && known->ns == ns) {
        memcpy(to, known->text, DOUBLE_TEXT_SIZE);
        return known->n;
    }
    struct time_text fresh = {.ns = ns};
    fresh.n = decimal_integer(fresh.text, floor_div(ns, times->unit));
    if (known)
        *known = fresh;
    else if (row == times->rows.len && row < TIMES_KEPT)
        vec_push(&times->rows, fresh);
    memcpy(to, fresh.text, DOUBLE_TEXT_SIZE);
    return fresh.n;
}

/* A number, a time in units or null, which most cells are: the bytes of its text, 0 if it is
 * another one. */
static size_t short_cell(char to[DOUBLE_TEXT_SIZE], const struct cell *cell, size_t row,
                         struct times *times)
{
    if (cell->kind == CELL_TIME)
        return times->unit ? time_text(to, times, row, cell->time_ns) : 0;
    if (cell->kind != CELL_NULL && cell->kind != CELL_NUMBER)
        return 0;
    if (cell->kind == CELL_NUMBER && cell->rest)
        return decimal_integer(to, rest_whole(cell->number, cell->rest));
    if (cell->kind == CELL_NUMBER && is_integer(cell->number))
        return decimal_integer(to, (int64_t)cell->number);
    if (cell->kind == CELL_NUMBER && isfinite(cell->number))
        return decimal_text(to, cell->number);
    memcpy(to, "null", sizeof("null"));
    return strlen("null");
}

/* Room for n short cells, with what stands between and around them. */
static char *room_for_cells(struct str *to, size_t n)
{
    str_reserve(to, n * (DOUBLE_TEXT_SIZE + 1) + 3);
    return to->s + to->len;
}

static void json_row(struct json_out *out, const struct cell *cells, size_t n, size_t row,
                     struct times *times)
{
    struct str *to = out->to;
    char *at = room_for_cells(to, n);

    *at = ',';
    at += out->comma;
    *at++ = '[';
    for (size_t i = 0; i < n; i++) {
        *at = ',';
        at += i > 0;
        size_t bytes = short_cell(at, &cells[i], row, times);
        at += bytes;
        if (!bytes) {
            to->len = (size_t)(at - to->s);
            out->comma = false;
            json_cell(out, &cells[i]);
            at = room_for_cells(to, n - i);
        }
    }
    *at++ = ']';
    *at = '\0';
    to->len = (size_t)(at - to->s);
    out->comma = true;
}

/* The cells from … to, which are whole rows. */
static void json_values(struct json_out *out, const struct table *table, size_t from, size_t to,
                        struct times *times)
{
    size_t width = table->n_columns;

    assert(width > 0);
    json_key(out, "values");
    json_begin_array(out);
    for (size_t i = from; i < to; i += width)
        json_row(out, &table->cells.at[i], width, (i - from) / width, times);
    json_end_array(out);
}

static void json_table(struct json_out *out, const struct table *table, size_t from, size_t to,
                       struct times *times)
{
    json_begin_object(out);
    if (table->name)
        json_put_text(out, "name", table->name);
    if (table->n_tags) {
        json_key(out, "tags");
        json_begin_object(out);
        for (size_t i = 0; i < table->n_tags; i++)
            json_put_text(out, table->tags[i].key, table->tags[i].value);
        json_end_object(out);
    }
    json_key(out, "columns");
    json_begin_array(out);
    for (size_t i = 0; i < table->n_columns; i++)
        json_text(out, table->columns[i]);
    json_end_array(out);
    if (to > from)
        json_values(out, table, from, to, times);
    if (to < table->cells.len)
        json_put_bool(out, "partial", true);
    json_end_object(out);
}

static void reserve_cells(struct str *to, const struct result *result)
{
    size_t n = 0;

    vec_foreach (table, &result->tables)
        n += table->cells.len;
    str_reserve(to, n * USUAL_BYTES);
}

static void json_warning(struct json_out *out, const char *text)
{
    json_key(out, "messages");
    json_begin_array(out);
    json_begin_object(out);
    json_put_text(out, "level", "warning");
    json_put_text(out, "text", text);
    json_end_object(out);
    json_end_array(out);
}

static void json_result(struct json_out *out, const struct result *result, size_t statement,
                        int64_t unit)
{
    json_begin_object(out);
    json_put_int(out, "statement_id", (int64_t)statement);
    if (result->warning)
        json_warning(out, result->warning);
    if (result->error)
        json_put_text(out, "error", result->error);
    if (result->tables.len) {
        reserve_cells(out->to, result);
        json_key(out, "series");
        json_begin_array(out);
        struct times times = {.unit = unit};
        vec_foreach (table, &result->tables)
            json_table(out, table, 0, table->cells.len, &times);
        vec_release(&times.rows);
        json_end_array(out);
    }
    json_end_object(out);
}

/* ---- JSON in chunks: an object for every so many rows, each on a line of its own ---- */

static void json_begin_results(struct json_out *out)
{
    json_begin_object(out);
    json_key(out, "results");
    json_begin_array(out);
}

static void json_end_results(struct json_out *out, struct str *to)
{
    json_end_array(out);
    json_end_object(out);
    str_add_char(to, '\n');
}

struct chunk {
    const struct table *table;
    size_t from, to;
    size_t statement;
    bool more; /* of this statement */
};

static void json_chunk(struct str *to, const struct chunk *chunk, int64_t unit)
{
    struct json_out out = JSON_OUT(to);

    json_begin_results(&out);
    json_begin_object(&out);
    json_put_int(&out, "statement_id", (int64_t)chunk->statement);
    json_key(&out, "series");
    json_begin_array(&out);
    struct times times = {.unit = unit};
    json_table(&out, chunk->table, chunk->from, chunk->to, &times);
    vec_release(&times.rows);
    json_end_array(&out);
    if (chunk->more)
        json_put_bool(&out, "partial", true);
    json_end_object(&out);
    json_end_results(&out, to);
}

/* What SHOW tells comes table by table, and is not said to go on. */
static void json_chunks(struct str *to, const struct result *result, size_t statement, size_t rows,
                        bool select, int64_t unit)
{
    size_t n = result->tables.len;

    if (result->error || !n) {
        struct json_out out = JSON_OUT(to);
        json_begin_results(&out);
        json_result(&out, result, statement, unit);
        json_end_results(&out, to);
    }
    for (size_t i = 0; !result->error && i < n; i++) {
        const struct table *table = &result->tables.at[i];
        size_t all = table->cells.len, step = select ? rows * table->n_columns : all + 1;
        for (size_t from = 0; from == 0 || from < all; from += step) {
            struct chunk chunk = {table, from, MIN(all, from + step), statement, false};
            chunk.more = select && (chunk.to < all || i + 1 < n);
            json_chunk(to, &chunk, unit);
        }
    }
}

/* ---- CSV ---- */

static void csv_text(struct str *to, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        str_add(to, text);
        return;
    }
    str_add_char(to, '"');
    for (; *text; text++) {
        if (*text == '"')
            str_add_char(to, '"');
        str_add_char(to, *text);
    }
    str_add_char(to, '"');
}

static void csv_cell(struct str *to, const struct cell *cell, int64_t unit)
{
    if (cell->kind == CELL_TIME)
        add_integer(to, floor_div(cell->time_ns, unit ? unit : 1));
    else if (cell->kind == CELL_TEXT)
        csv_text(to, cell->text);
    else if (cell->kind == CELL_BOOL)
        str_add(to, cell->number != 0 ? "true" : "false");
    else if (cell->kind == CELL_NUMBER && cell->rest)
        add_integer(to, rest_whole(cell->number, cell->rest));
    else if (cell->kind == CELL_NUMBER && is_integer(cell->number))
        add_integer(to, (int64_t)cell->number);
    else if (cell->kind == CELL_NUMBER)
        str_add_double(to, cell->number);
}

static void csv_table(struct str *to, const struct table *table, int64_t unit)
{
    autorelease(str) struct str tags = STR_INIT;

    assert(table->n_columns > 0);
    for (size_t i = 0; i < table->n_tags; i++)
        str_addf(&tags, "%s%s=%s", i ? "," : "", table->tags[i].key, table->tags[i].value);
    str_add(to, "name,tags");
    for (size_t i = 0; i < table->n_columns; i++) {
        str_add_char(to, ',');
        csv_text(to, table->columns[i]);
    }
    str_add_char(to, '\n');
    for (size_t i = 0; i < table->cells.len; i++) {
        if (i % table->n_columns == 0) {
            csv_text(to, table->name ? table->name : "");
            str_add_char(to, ',');
            csv_text(to, tags.s);
        }
        str_add_char(to, ',');
        csv_cell(to, &table->cells.at[i], unit);
        if ((i + 1) % table->n_columns == 0)
            str_add_char(to, '\n');
    }
}

static void csv_result(struct str *to, const struct result *result, int64_t unit)
{
    bool begun = to->len > 0;

    if (result->error) {
        str_add(to, begun ? "\nerror\n" : "error\n");
        csv_text(to, result->error);
        str_add_char(to, '\n');
    }
    vec_foreach (table, &result->tables) {
        if (to->len)
            str_add_char(to, '\n');
        csv_table(to, table, unit);
    }
}

/* ---- running ---- */

static int change(const struct statement *statement, const struct influxql_source *source,
                  struct err *err)
{
    if (statement->kind == STATEMENT_REFUSED)
        return err_set(err, EINVAL, "%s", statement->error);
    if (statement->kind == STATEMENT_POLICY)
        return database_exists(source, statement->db, err);
    if (statement->kind == STATEMENT_CREATE)
        return source->create(source->arg, statement->db, err);
    return source->drop(source->arg, statement->db, err);
}

static int run_statement(const struct influxql *query, const struct statement *statement,
                         const struct influxql_source *source, const char *db,
                         struct result *result, struct err *err)
{
    bool everywhere = statement->kind == STATEMENT_DATABASES ||
                      statement->kind == STATEMENT_USERS || statement->kind == STATEMENT_CONTINUOUS;

    if (statement_changes(statement))
        return change(statement, source, err);
    if (statement->db)
        db = statement->db;
    if (!everywhere && (!db || !*db))
        return err_set(err, EINVAL, "database name required");
    if (statement->kind == STATEMENT_SELECT)
        return run_select(query, statement, source, db, result, err);
    return run_show(statement, source, db, result, err);
}

static char *warning_of(const struct statement *statement)
{
    const char *bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const char *quote = statement->db[strspn(statement->db, bare)] ? "\"" : "";

    return xasprintf("deprecated use of 'CREATE DATABASE %s%s%s' in a read only context, please "
                     "use a POST request instead",
                     quote, statement->db, quote);
}

void influxql_run(const struct influxql *query, const struct influxql_source *source,
                  const struct influxql_options *options, struct str *to)
{
    struct json_out out = JSON_OUT(to);
    int64_t unit = epoch_ns(options->epoch);
    bool json = options->format == INFLUXQL_JSON, chunks = json && options->chunk_rows;

    if (json && !chunks)
        json_begin_results(&out);
    for (size_t i = 0; i < query->statements.len; i++) {
        struct result result = {.arena = ARENA_INIT};
        autorelease(err) struct err err = ERR_INIT;
        if (run_statement(query, &query->statements.at[i], source, options->db, &result, &err) < 0)
            result.error = xstrdup(err_text(&err));
        if (options->warn && query->statements.at[i].kind == STATEMENT_CREATE)
            result.warning = warning_of(&query->statements.at[i]);
        if (chunks)
            json_chunks(to, &result, i, MIN(options->chunk_rows, POINTS_MAX),
                        query->statements.at[i].kind == STATEMENT_SELECT, unit);
        else if (json)
            json_result(&out, &result, i, unit);
        else
            csv_result(to, &result, unit);
        result_release(&result);
    }
    if (json && !chunks)
        json_end_results(&out, to);
}
