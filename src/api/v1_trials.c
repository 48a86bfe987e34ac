/* SPDX-License-Identifier: MIT */
/*
 * v1_trials.c — trials over HTTP: one of them at once from the database, the table of an experiment
 * page by page, and whole columns of it as numbers.
 */
#include "api/cursor.h"
#include "api/etag.h"
#include "api/rows.h"
#include "api/table_page.h"
#include "api/tables.h"
#include "api/v1_trials_kept.h"
#include "api/web_route.h"
#include "base/clock.h"
#include "store/held_view.h"

#include <errno.h>
#include <math.h>

#define BODY_USUAL   1000 /* bytes: a trial with a metric, and malloc has such ones at hand */
#define ROWS_DEFAULT 200
#define ROWS_MAX     1000
#define SMALL        5000 /* trials: their metrics are read at once, which takes milliseconds */
#define FILTER_US    (20 * US_PER_S)
#define CELLS_MAX    ((size_t)8 << 20) /* of whole columns in one answer: 64 MB until it is read */

/* ---- GET /v1/trials/E.T ---- */

static int put_attempt(const struct attempt *attempt, void *arg)
{
    rows_put_attempt(arg, attempt);
    return 0;
}

static int put_summary(int64_t trial UNUSED, const struct summary *summary, void *arg)
{
    rows_put_summary(arg, summary);
    return 0;
}

struct one_trial {
    struct store *store;
    const char *name;
    struct json_out *out;
    bool found;
};

/* What it asks in between is of the same moment as the row, which is still being read. */
static int put_trial(const struct trial_row *row, void *arg)
{
    struct one_trial *one = arg;
    int64_t experiment = row->trial.experiment, number = row->trial.number;

    one->found = true;
    rows_put_trial(one->out, one->name, row, true);
    json_put_text(one->out, "owner", row->owner);
    json_key(one->out, "metrics");
    json_begin_array(one->out);
    int r = store_summaries(one->store, experiment, number, put_summary, one->out, NULL);
    json_end_array(one->out);
    json_key(one->out, "runs");
    json_begin_array(one->out);
    if (r >= 0)
        r = store_attempts(one->store, experiment, number, false, put_attempt, one->out, NULL);
    json_end_array(one->out);
    json_end_object(one->out);
    return r < 0 ? r : 1; /* there is no other */
}

static int trial_json(struct store *store, const char *name, int64_t experiment, int64_t trial,
                      struct str *to, struct err *err)
{
    struct json_out out = JSON_OUT(to);
    struct one_trial one = {.store = store, .name = name, .out = &out};
    struct trial_query query = {.experiment = experiment, .number = trial};

    str_reserve(to, BODY_USUAL);
    int r = store_trials(store, &query, put_trial, &one, err);
    if (r >= 0 && !one.found)
        r = err_set(err, ENOENT, "experiment %lld has no trial %lld", (long long)experiment,
                    (long long)trial);
    return r;
}

/* "3.7" in plain numbers: then the database need not say which experiment it is. */
static bool plain_ref(const char *text, int64_t *ret_experiment, int64_t *ret_trial)
{
    size_t n = text ? strspn(text, "0123456789") : 0;
    size_t m = n && text[n] == '.' ? strspn(text + n + 1, "0123456789") : 0;

    if (!m || n > 9 || m > 9 || text[n + 1 + m])
        return false;
    *ret_experiment = strtoll(text, NULL, 10);
    *ret_trial = strtoll(text + n + 1, NULL, 10);
    return *ret_trial > 0;
}

/* A copy of the answer as it is kept, or what the database says. */
static int find_trial(struct web_call *call, struct store *store, int64_t experiment, int64_t trial,
                      struct str *body, char ret_etag[ETAG_SIZE], struct err *err)
{
    const struct kept_trial *kept = kept_trials_find(call->kept, store, experiment, trial);
    const char *name = NULL;

    if (kept) {
        str_add_n(body, kept->body, kept->n);
        memcpy(ret_etag, kept->etag, ETAG_SIZE);
        return 0;
    }
    int r = kept_trials_name(call->kept, store, experiment, &name, err);
    if (r >= 0)
        r = trial_json(store, name, experiment, trial, body, err);
    if (r < 0)
        return r;
    str_add_char(body, '\n');
    etag_format(body->s, body->len, ret_etag);
    if (kept_trials_again(call->kept, experiment, trial))
        kept_trials_put(call->kept, experiment, trial, body, ret_etag);
    return 0;
}

static int read_trial(struct web_call *call, struct str *body, char ret_etag[ETAG_SIZE],
                      struct err *err)
{
    int64_t experiment = 0, trial = 0;
    int r = 0;

    if (!plain_ref(http_segment(call->request, 0), &experiment, &trial))
        r = web_trial_ref(call, 0, &experiment, &trial, err);
    if (r < 0)
        return r;
    kept_trials_refresh(call->kept);
    r = find_trial(call, held_view_begin(call->view), experiment, trial, body, ret_etag, err);
    held_view_end(call->view);
    return r;
}

static void get_trial(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str body = STR_INIT;
    char etag[ETAG_SIZE];
    int r = read_trial(call, &body, etag, &err);

    if (r < 0)
        web_fail(call, r, &err);
    else
        etag_reply(call, etag, &body);
}

/* ---- GET /v1/experiments/E/trials ---- */

static const char *given(struct web_call *call, const char *name)
{
    const char *text = http_param(call->request, name);
    return text && *text ? text : NULL;
}

/* The table of the experiment in the address, and which rows of it are asked for. */
static int find_rows(struct web_call *call, struct table_ask *ask, struct trial_table **ret_table,
                     uint32_t **ret_rows, size_t *ret_n, struct err *err)
{
    int64_t experiment;
    int r = web_experiment_ref(call, 0, &experiment, err);

    ask->home = call->home;
    ask->store = call->store;
    ask->where = given(call, "where");
    ask->now_us = clock_wall_us();
    ask->until_us = clock_mono_us() + FILTER_US;
    if (r >= 0)
        r = tables_get(call->tables, call->store, experiment, ret_table, err);
    return r < 0 ? r : trial_table_select(*ret_table, ask, ret_rows, ret_n, err);
}

struct page_ask {
    int64_t offset, limit, desc;
    struct cursor after; /* instead of an offset */
};

static int read_ask(struct web_call *call, struct page_ask *ret, struct err *err)
{
    int r = web_number(call, "offset", 0, INT64_MAX / 2, 0, &ret->offset, err);

    if (r >= 0)
        r = web_number(call, "limit", 1, ROWS_MAX, ROWS_DEFAULT, &ret->limit, err);
    if (r >= 0)
        r = web_number(call, "desc", 0, 1, 0, &ret->desc, err);
    if (r >= 0)
        r = cursor_read(call, &ret->after, err);
    if (r >= 0 && ret->after.id && given(call, "offset"))
        r = err_set(err, EINVAL, "either cursor or offset is wanted");
    return r;
}

/* Where the page behind a cursor begins. */
static size_t first_after(const struct trial_table *table, const struct table_ask *ask,
                          const struct cursor *after, const uint32_t *rows, size_t n)
{
    autofree(mem) int64_t *numbers = xcalloc(MAX(n, 1), sizeof(*numbers));

    for (size_t i = 0; i < n; i++)
        numbers[i] = trial_table_number(table, rows[i]);
    return cursor_first(after,
                        ask->sort   ? CURSOR_SORTED
                        : ask->desc ? CURSOR_DOWN
                                    : CURSOR_UP,
                        numbers, n);
}

/* What the page shows of the rows that fit. */
static int put_page(struct web_call *call, struct trial_table *table, const uint32_t *rows,
                    size_t n, struct json_out *out, struct err *err)
{
    const char *names = given(call, "columns");
    struct page_columns columns = {0};
    int r = trial_table_rows(table) <= SMALL ? trial_table_metrics(table, call->store, err) : 0;

    if (r >= 0)
        r = names ? page_columns_parse(&columns, table, names, err)
                  : page_columns_default(&columns, table, call->store, rows, n, err);
    if (r >= 0) {
        json_key(out, "columns");
        page_put_columns(out, table, &columns);
        json_key(out, "rows");
        r = page_put_rows(out, table, call->store, &columns, rows, n, err);
    }
    page_columns_release(&columns);
    return r;
}

static int trials_json(struct web_call *call, struct str *to, struct err *err)
{
    struct json_out out = JSON_OUT(to);
    struct trial_table *table = NULL;
    autofree(mem) uint32_t *rows = NULL;
    struct page_ask page = {0};
    size_t n = 0;
    int r = read_ask(call, &page, err);

    if (r < 0)
        return r;
    struct table_ask ask = {.sort = given(call, "sort"),
                            .desc = page.desc,
                            .first = (size_t)page.offset,
                            .last = page.after.id ? 0 : (size_t)(page.offset + page.limit)};
    r = find_rows(call, &ask, &table, &rows, &n, err);
    if (r < 0)
        return r;
    size_t first = page.after.id ? first_after(table, &ask, &page.after, rows, n) : ask.first;
    first = MIN(n, first);
    size_t last = MIN(n, first + (size_t)page.limit);
    json_begin_object(&out);
    json_put_int(&out, "total", (int64_t)trial_table_rows(table));
    json_put_int(&out, "matched", (int64_t)n);
    cursor_put(&out, last > first ? trial_table_number(table, rows[last - 1]) : 0, last, n);
    r = put_page(call, table, rows + first, last - first, &out, err);
    json_end_object(&out);
    return r;
}

static void get_trials(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;
    int r = trials_json(call, &text, &err);

    if (r < 0)
        web_fail(call, r, &err);
    else
        etag_json(call, &text);
}

/* ---- GET /v1/experiments/E/columns ---- */

static void add_u32(struct str *to, size_t x)
{
    uint32_t word = (uint32_t)x; /* little endian, as this machine is */
    str_add_n(to, (const char *)&word, sizeof(word));
}

static void add_cells(struct str *to, const double *x, bool count, const uint32_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double cell = !x ? NAN : count ? fabs(x[rows[i]]) : x[rows[i]];
        str_add_n(to, (const char *)&cell, sizeof(cell));
    }
}

static void put_numbers(struct str *to, const struct trial_table *table,
                        const struct page_columns *columns, const uint32_t *rows, size_t n)
{
    str_reserve(to, (columns->list.len + 1) * n * sizeof(double) + 8);
    add_u32(to, n);
    add_u32(to, columns->list.len);
    for (size_t i = 0; i < n; i++) {
        double number = (double)trial_table_number(table, rows[i]);
        str_add_n(to, (const char *)&number, sizeof(number));
    }
    vec_foreach (column, &columns->list) {
        bool there = column->kind != COLUMN_METRIC || column->at != SIZE_MAX;
        bool count = column->kind == COLUMN_METRIC && column->stat == STAT_COUNT;
        add_cells(to, there ? trial_table_cells(table, column) : NULL, count, rows, n);
    }
}

/* Metrics that are named are read. */
static int read_columns(struct web_call *call, struct trial_table *table,
                        struct page_columns *columns, struct err *err)
{
    const char *names = given(call, "names");
    int r = 0;

    if (!names)
        return err_set(err, EINVAL, "names=value,params.lr says which columns are wanted");
    if (strstr(names, "metrics."))
        r = trial_table_metrics(table, call->store, err);
    return r < 0 ? r : page_columns_parse(columns, table, names, err);
}

static int columns_bytes(struct web_call *call, struct str *to, struct err *err)
{
    struct trial_table *table = NULL;
    struct table_ask ask = {0};
    struct page_columns columns = {0};
    autofree(mem) uint32_t *rows = NULL;
    size_t n = 0;
    int r = find_rows(call, &ask, &table, &rows, &n, err);

    if (r >= 0)
        r = read_columns(call, table, &columns, err);
    if (r >= 0 && columns.list.len * n > CELLS_MAX)
        r = err_set(err, EFBIG, "%zu columns of %zu rows are too much at once: ask for fewer",
                    columns.list.len, n);
    if (r >= 0)
        put_numbers(to, table, &columns, rows, n);
    page_columns_release(&columns);
    return r;
}

static void get_columns(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str bytes = STR_INIT;
    int r = columns_bytes(call, &bytes, &err);

    if (r < 0)
        web_fail(call, r, &err);
    else
        etag_bytes(call, &bytes);
}

const struct web_route v1_trials_routes[] = {
    {"GET", "/v1/trials/*", ROLE_VIEWER, DESK_HTTP, get_trial, 0,
     "A trial with its parameters, the summaries of its metrics and its attempts.", 0},
    {"GET", "/v1/experiments/*/trials", ROLE_VIEWER, DESK_READ, get_trials, 0,
     "A page of the trials of an experiment: filtered, sorted, with the columns that are asked "
     "for.",
     0},
    {"GET", "/v1/experiments/*/columns", ROLE_VIEWER, DESK_READ, get_columns, 0,
     "Whole columns of the trials of an experiment as little-endian doubles.", 0},
    {0},
};
