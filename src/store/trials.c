/* SPDX-License-Identifier: MIT */
/*
 * trials.c — trials out of the database: by number for the engine and the lists, best first for
 * `best`, newest first for the views.
 *
 * A hundred thousand rows must load in a tenth of a second, so a row that is handed to a callback
 * owns nothing: its texts are SQLite's, its point lies in one buffer used for all rows.
 *
 * One trial is asked for thousands of times a second: its question is a constant, kept by the
 * handle, and says by itself whose the trial is and whether it has tags, which few have.
 */
#include "store/read.h"

#include <errno.h>

#define COLUMNS                                                                                    \
    "SELECT experiment, number, state, reason, value, best, last_step, first_nan_step, attempts,"  \
    " retries, created_us, started_us, ended_us, run_us, point, seen, told, repeat_of, why,"       \
    " verdict, extra, joules, joules_measured"
#define TEXT_COLUMNS ", params_json, starred, note"
#define RUN_NAME     ", (SELECT json_extract(json, '$.name') FROM run WHERE trial_id = trial.id)"

/* One walk over the rows. */
struct walk {
    struct store *store;
    const struct trial_query *query;
    bool one; /* each row says its owner and whether it has tags; else all tags are known before */
    VEC(double) point, extra;
    struct tag_map tags;
};

/* The doubles of a column, copied into `to`; NULL if there are none. */
static double *read_doubles(struct columns *c, double **to, size_t *cap, size_t *ret_n)
{
    const void *bytes = sqlite3_column_blob(c->stmt, c->at);
    size_t n = (size_t)sqlite3_column_bytes(c->stmt, c->at++) / sizeof(double);

    if (n > *cap) {
        *to = xrealloc(*to, n * sizeof(double));
        *cap = n;
    }
    if (n > 0)
        memcpy(*to, bytes, n * sizeof(double));
    *ret_n = n;
    return n > 0 ? *to : NULL;
}

static void put_tags(const struct tag_map *tags, struct trial_row *row)
{
    const struct tag_list *list = tag_map_find(tags, row->trial.number);

    if (!list)
        return;
    row->tags.at = list->tags.at;
    row->tags.len = row->tags.cap = list->tags.len;
}

static int read_trial(struct walk *walk, sqlite3_stmt *stmt, struct trial_row *row, struct err *err)
{
    struct columns c = {stmt, 0};
    struct trial *t = &row->trial;

    t->experiment = next_int(&c);
    t->number = next_int(&c);
    if (trial_state_parse(next_name(&c), &t->state) < 0 ||
        reason_parse(next_name(&c), &t->reason) < 0)
        return store_bad_row(walk->store, "trial", t->number, err);
    t->value = next_double(&c);
    t->best = next_double(&c);
    t->last_step = next_step(&c);
    t->first_nan_step = next_step(&c);
    t->attempts = next_int(&c);
    t->retries = next_int(&c);
    t->created_us = next_int(&c);
    t->started_us = next_int(&c);
    t->ended_us = next_int(&c);
    t->run_us = next_int(&c);
    t->point = read_doubles(&c, &walk->point.at, &walk->point.cap, &row->ndim);
    t->seen = next_int(&c);
    t->told = next_int(&c);
    t->repeat_of = next_int(&c);
    t->why = next_text(&c);
    t->verdict = next_text(&c);
    t->extra = read_doubles(&c, &walk->extra.at, &walk->extra.cap, &t->n_extra);
    t->joules = next_double(&c);
    t->joules_measured = next_int(&c) != 0;
    if (walk->query->bare)
        return 0;
    row->params_json = next_text(&c);
    row->starred = next_int(&c) != 0;
    row->note = next_text(&c);
    row->run_name = next_text(&c);
    row->owner = walk->one ? next_text(&c) : NULL;
    int r = walk->one && next_int(&c)
                ? tag_map_load(walk->store, t->experiment, t->number, &walk->tags, err)
                : 0;
    put_tags(&walk->tags, row);
    return r;
}

static const char *order_text(const struct trial_query *query)
{
    switch (query->order) {
    case ORDER_BEST:
        return query->goal == GOAL_MAXIMIZE ? "value DESC, id" : "value, id";
    case ORDER_NEWEST:
        return "id DESC";
    case ORDER_TOLD:
        return "told";
    case ORDER_NUMBER:
        break;
    }
    return "id";
}

static const char *where_text(const struct trial_query *query)
{
    switch (query->order) {
    case ORDER_BEST:
        return "id BETWEEN ?1 AND ?2 AND state = 'completed' AND value IS NOT NULL";
    case ORDER_TOLD: /* by its index */
        return "experiment = ?4 AND told > 0 AND +id BETWEEN ?1 AND ?2";
    case ORDER_NEWEST:
    case ORDER_NUMBER:
        break;
    }
    return "id BETWEEN ?1 AND ?2";
}

static char *query_text(const struct trial_query *query, bool named)
{
    const char *texts = named ? TEXT_COLUMNS RUN_NAME : TEXT_COLUMNS ", NULL";

    return xasprintf(COLUMNS "%s FROM trial WHERE %s ORDER BY %s LIMIT ?3",
                     query->bare ? "" : texts, where_text(query), order_text(query));
}

/* Are some of these runs of a tracking client? Others are not looked up one by one. */
static int find_runs(struct store *store, const int64_t range[2], bool *ret, struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store, "SELECT 1 FROM run WHERE trial_id BETWEEN ?1 AND ?2 LIMIT 1", range,
                        2, &stmt, err);

    if (r >= 0)
        r = store_step(store, stmt, err);
    *ret = r == 1;
    return MIN(r, 0);
}

static int walk_rows(struct walk *walk, sqlite3_stmt *stmt, trial_row_fn *fn, void *arg,
                     struct err *err)
{
    int r;
    while ((r = store_step(walk->store, stmt, err)) == 1) {
        struct trial_row row = {0};
        r = read_trial(walk, stmt, &row, err);
        if (r >= 0)
            r = fn(&row, arg);
        if (r != 0)
            return r;
    }
    return r;
}

static int ask_one(struct walk *walk, struct question *q, struct err *err)
{
    static const char sql[] = COLUMNS TEXT_COLUMNS RUN_NAME
        ", coalesce((SELECT json_extract(json, '$.owner') FROM run WHERE trial_id = ?1),"
        " (SELECT owner FROM experiment WHERE id = ?2)),"
        " EXISTS (SELECT 1 FROM tag WHERE tag.experiment = ?2 AND tag.trial = ?3)"
        " FROM trial WHERE id = ?1";
    const struct trial_query *query = walk->query;
    const int64_t numbers[] = {pair_id(query->experiment, query->number), query->experiment,
                               query->number};

    return question_ask(q, walk->store, STMT_READ_TRIAL, sql, numbers, ARRAY_LEN(numbers), err);
}

static int ask_many(struct walk *walk, struct question *q, struct err *err)
{
    const struct trial_query *query = walk->query;
    int64_t after = query->order == ORDER_NUMBER ? query->after : 0;
    int64_t first = query->number ? MAX(query->number, after + 1) : after + 1;
    const int64_t numbers[] = {
        pair_id(query->experiment, first),
        pair_id(query->experiment, query->number ? query->number : NUMBER_MAX),
        query->limit > 0 ? query->limit : -1,
        query->experiment,
    };
    bool named = false;
    int r = query->bare ? 0 : find_runs(walk->store, numbers, &named, err);
    autofree(mem) char *sql = query_text(query, named);

    if (r >= 0)
        r = store_query(walk->store, sql, numbers, ARRAY_LEN(numbers), &q->stmt, err);
    if (r >= 0 && !query->bare)
        r = tag_map_load(walk->store, query->experiment, query->number ? query->number : -1,
                         &walk->tags, err);
    return r;
}

int store_trials(struct store *store, const struct trial_query *query, trial_row_fn *fn, void *arg,
                 struct err *err)
{
    bool one = query->number && !query->bare && query->order == ORDER_NUMBER && query->after == 0;
    struct walk walk = {.store = store, .query = query, .one = one};
    autorelease(question) struct question q = {0};

    if (query->number > NUMBER_MAX)
        return 0; /* its id would be another's */
    int r = one ? ask_one(&walk, &q, err) : ask_many(&walk, &q, err);
    if (r >= 0)
        r = walk_rows(&walk, q.stmt, fn, arg, err);
    vec_release(&walk.point);
    vec_release(&walk.extra);
    tag_map_release(&walk.tags);
    return r;
}

int store_energy(struct store *store, int64_t experiment, double *ret_joules, bool *ret_measured,
                 struct err *err)
{
    const int64_t range[] = {pair_id(experiment, 1), pair_id(experiment, NUMBER_MAX)};
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store,
                        "SELECT total(joules), coalesce(min(joules_measured), 1) FROM trial"
                        " WHERE id BETWEEN ?1 AND ?2 AND joules > 0",
                        range, ARRAY_LEN(range), &stmt, err);
    if (r >= 0)
        r = store_step(store, stmt, err);
    if (r < 0)
        return r;
    *ret_joules = sqlite3_column_double(stmt, 0);
    *ret_measured = sqlite3_column_int(stmt, 1) != 0;
    return 0;
}

void trial_row_release(struct trial_row *row)
{
    trial_release(&row->trial);
    free(row->params_json);
    free(row->note);
    free(row->run_name);
    free(row->owner);
    vec_foreach (tag, &row->tags)
        free(*tag);
    vec_release(&row->tags);
    *row = (struct trial_row){0};
}
