/* SPDX-License-Identifier: MIT */
/*
 * read.c — attempts, summaries, events, tags and objects out of the database.
 *
 * A callback may ask the same handle the next question while it is being told the answer to the
 * first: a statement that is kept is used by one walk at a time, others prepare their own.
 */
#include "store/read.h"

#include <errno.h>

static void bind_numbers(sqlite3_stmt *stmt, const int64_t *numbers, size_t n)
{
    n = MIN(n, (size_t)sqlite3_bind_parameter_count(stmt));
    for (size_t i = 0; i < n; i++)
        sqlite3_bind_int64(stmt, (int)i + 1, numbers[i]);
}

int store_query(struct store *store, const char *sql, const int64_t *numbers, size_t n,
                sqlite3_stmt **ret, struct err *err)
{
    int r = store_prepare(store, sql, ret, err);
    if (r < 0)
        return r;
    bind_numbers(*ret, numbers, n);
    return 0;
}

int question_ask(struct question *question, struct store *store, enum stmt which, const char *sql,
                 const int64_t *numbers, size_t n, struct err *err)
{
    sqlite3_stmt **kept = &store->stmts[which];

    question->kept = !*kept || !sqlite3_stmt_busy(*kept);
    if (!question->kept)
        return store_query(store, sql, numbers, n, &question->stmt, err);
    int r = *kept ? 0 : store_prepare(store, sql, kept, err);
    if (r < 0)
        return r;
    question->stmt = *kept;
    bind_numbers(*kept, numbers, n);
    return 0;
}

void question_release(struct question *question)
{
    if (question->kept)
        sqlite3_reset(question->stmt);
    else
        sqlite3_finalize(question->stmt);
}

int store_bad_row(struct store *store, const char *what, int64_t id, struct err *err)
{
    return err_set(err, EBADMSG, "%s: %s %lld is in a state that this Hone does not know",
                   store->path, what, (long long)id);
}

/* A failure is told by the first question. */
static void run_kept(struct store *store, enum stmt which, const char *sql)
{
    struct question q = {0};

    if (question_ask(&q, store, which, sql, NULL, 0, NULL) == 0)
        store_step(store, q.stmt, NULL);
    question_release(&q);
}

void store_view_begin(struct store *store)
{
    run_kept(store, STMT_VIEW_BEGIN, "BEGIN");
}

void store_view_end(struct store *store)
{
    run_kept(store, STMT_VIEW_END, "COMMIT");
}

/* ---- attempts ---- */

#define ATTEMPT_COLUMNS                                                                            \
    "SELECT id, experiment, trial, number, state, reason, started_us, ended_us, run_us, cpu_us,"   \
    " max_rss_bytes, dropped_bytes, exit_status, signal, pid, error, gpus, host, code, system,"    \
    " generation, joules, joules_measured FROM attempt WHERE "

static int read_attempt(sqlite3_stmt *stmt, struct attempt *a)
{
    struct columns c = {stmt, 0};
    *a = (struct attempt){.id = next_int(&c)};
    a->experiment = next_int(&c);
    a->trial = next_int(&c);
    a->number = next_int(&c);
    if (attempt_state_parse(next_name(&c), &a->state) < 0)
        return -EINVAL;
    if (reason_parse(next_name(&c), &a->reason) < 0)
        return -EINVAL;
    a->started_us = next_int(&c);
    a->ended_us = next_int(&c);
    a->run_us = next_int(&c);
    a->cpu_us = next_int(&c);
    a->max_rss_bytes = (uint64_t)next_int(&c);
    a->dropped_bytes = (uint64_t)next_int(&c);
    a->exit_status = (int)next_int(&c);
    a->signal = (int)next_int(&c);
    a->pid = (int)next_int(&c);
    a->error = next_text(&c);
    a->gpus = next_text(&c);
    a->host = next_text(&c);
    a->code = next_text(&c);
    a->system = next_text(&c);
    a->generation = next_int(&c);
    a->joules = next_double(&c);
    a->joules_measured = next_int(&c) != 0;
    return 0;
}

static int ask_attempts(struct question *q, struct store *store, int64_t experiment, bool live,
                        const int64_t range[2], struct err *err)
{
    autofree(mem) char *sql = xasprintf(
        ATTEMPT_COLUMNS "%s%s ORDER BY %s", experiment ? "trial_id BETWEEN ?1 AND ?2" : "1",
        live ? " AND state <> 'ended'" : "", experiment ? "trial_id, id" : "id");
    return store_query(store, sql, range, 2, &q->stmt, err);
}

int store_attempts(struct store *store, int64_t experiment, int64_t trial, bool live,
                   attempt_fn *fn, void *arg, struct err *err)
{
    static const char of_one[] = ATTEMPT_COLUMNS "trial_id = ?1 ORDER BY id";
    const int64_t range[] = {pair_id(experiment, trial),
                             pair_id(experiment, trial ? trial : NUMBER_MAX)};
    autorelease(question) struct question q = {0};
    bool one = experiment && trial && !live;

    int r = one ? question_ask(&q, store, STMT_READ_ATTEMPTS, of_one, range, 1, err)
                : ask_attempts(&q, store, experiment, live, range, err);
    while (r >= 0 && (r = store_step(store, q.stmt, err)) == 1) {
        struct attempt attempt;
        if (read_attempt(q.stmt, &attempt) < 0)
            return store_bad_row(store, "attempt", attempt.id, err);
        r = fn(&attempt, arg);
        if (r != 0)
            return r;
    }
    return r;
}

/* ---- summaries ---- */

int store_summaries(struct store *store, int64_t experiment, int64_t trial, summary_fn *fn,
                    void *arg, struct err *err)
{
    static const char sql[] =
        "SELECT trial_id & 4294967295, metric, count, last, min, max, last_step, first_nan_step"
        " FROM summary WHERE trial_id BETWEEN ?1 AND ?2 ORDER BY trial_id, metric";
    const int64_t range[] = {pair_id(experiment, trial),
                             pair_id(experiment, trial ? trial : NUMBER_MAX)};
    autorelease(question) struct question q = {0};

    int r = question_ask(&q, store, STMT_READ_SUMMARIES, sql, range, ARRAY_LEN(range), err);
    while (r >= 0 && (r = store_step(store, q.stmt, err)) == 1) {
        struct columns c = {q.stmt, 0};
        int64_t number = next_int(&c);
        struct summary s = {.metric = next_text(&c)};
        s.count = next_int(&c);
        s.last = next_double(&c);
        s.min = next_double(&c);
        s.max = next_double(&c);
        s.last_step = next_step(&c);
        s.first_nan_step = next_step(&c);
        r = fn(number, &s, arg);
        if (r != 0)
            return r;
    }
    return r;
}

/* ---- events ---- */

/* Those whose ids are above numbers[0], up to numbers[1]; at most numbers[2]. */
static int each_event(struct store *store, const char *sql, const int64_t numbers[3], event_fn *fn,
                      void *arg, struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store, sql, numbers, 3, &stmt, err);

    while (r >= 0 && (r = store_step(store, stmt, err)) == 1) {
        struct columns c = {stmt, 0};
        int64_t id = next_int(&c);
        int64_t time_us = next_int(&c);
        int64_t trial = next_int(&c);
        r = fn(id, time_us, trial, next_text(&c), arg);
        if (r != 0)
            return r;
    }
    return r;
}

#define EVENTS                                                                                     \
    "SELECT id & 4294967295, time_us, trial, json FROM event"                                      \
    " WHERE id > ?1 AND id <= ?2 ORDER BY id "

int store_events(struct store *store, int64_t experiment, int64_t after, int64_t limit,
                 event_fn *fn, void *arg, struct err *err)
{
    const int64_t numbers[] = {pair_id(experiment, after), pair_id(experiment, NUMBER_MAX),
                               limit > 0 ? limit : -1};

    return each_event(store, EVENTS "LIMIT ?3", numbers, fn, arg, err);
}

int store_events_back(struct store *store, int64_t experiment, int64_t before, event_fn *fn,
                      void *arg, struct err *err)
{
    const int64_t numbers[] = {pair_id(experiment, 0), pair_id(experiment, before - 1), -1};

    return each_event(store, EVENTS "DESC LIMIT ?3", numbers, fn, arg, err);
}

/* Few among many: SQLite compares their beginnings without giving us the texts. '#' follows '"'. */
int store_pauses(struct store *store, int64_t experiment, event_fn *fn, void *arg, struct err *err)
{
    const int64_t numbers[] = {pair_id(experiment, 0), pair_id(experiment, NUMBER_MAX), -1};

    return each_event(store,
                      "SELECT id & 4294967295, time_us, trial, json FROM event"
                      " WHERE id > ?1 AND id <= ?2 AND json >= '{\"event\":\"trial_paused\"'"
                      " AND json < '{\"event\":\"trial_resumed#' ORDER BY id LIMIT ?3",
                      numbers, fn, arg, err);
}

/* ---- tags ---- */

static void tag_map_add(struct tag_map *map, int64_t trial, const char *tag)
{
    struct tag_list *list = map_find(&map->lists, (uint64_t)trial + 1);
    if (!list) {
        list = arena_alloc(&map->arena, sizeof(*list));
        map_put(&map->lists, (uint64_t)trial + 1, list);
    }
    vec_push(&list->tags, arena_strdup(&map->arena, tag));
}

int tag_map_load(struct store *store, int64_t experiment, int64_t trial, struct tag_map *ret,
                 struct err *err)
{
    static const char sql[] = "SELECT trial, tag FROM tag WHERE experiment = ?1"
                              " AND trial BETWEEN ?2 AND ?3 ORDER BY trial, tag";
    const int64_t numbers[] = {experiment, MAX(trial, 0), trial < 0 ? INT64_MAX : trial};
    autorelease(question) struct question q = {0};

    int r = question_ask(&q, store, STMT_READ_TAGS, sql, numbers, ARRAY_LEN(numbers), err);
    while (r >= 0 && (r = store_step(store, q.stmt, err)) == 1)
        tag_map_add(ret, sqlite3_column_int64(q.stmt, 0),
                    (const char *)sqlite3_column_text(q.stmt, 1));
    return r;
}

const struct tag_list *tag_map_find(const struct tag_map *map, int64_t trial)
{
    return map_find(&map->lists, (uint64_t)trial + 1);
}

void tag_map_release(struct tag_map *map)
{
    size_t cursor = 0;
    struct tag_list *list;
    while ((list = map_next(&map->lists, &cursor, NULL)))
        vec_release(&list->tags);
    map_release(&map->lists);
    arena_release(&map->arena);
}

/* ---- objects and the whole ---- */

int store_unused_objects(struct store *store, int64_t before_us, object_fn *fn, void *arg,
                         struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store,
                        "SELECT kind, size, sha256 FROM object WHERE created_us < ?1"
                        " AND sha256 NOT IN ("
                        " SELECT code FROM experiment WHERE code IS NOT NULL UNION"
                        " SELECT patch FROM experiment WHERE patch IS NOT NULL UNION"
                        " SELECT code FROM attempt WHERE code IS NOT NULL UNION"
                        " SELECT sha256 FROM artifact) ORDER BY sha256",
                        &before_us, 1, &stmt, err);
    while (r >= 0 && (r = store_step(store, stmt, err)) == 1) {
        struct columns c = {stmt, 0};
        const char *kind = next_text(&c);
        uint64_t size = (uint64_t)next_int(&c);
        r = fn(next_text(&c), kind, size, arg);
        if (r != 0)
            return r;
    }
    return r;
}

int store_has_object(struct store *store, const char *sha256, struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_prepare(store,
                          "SELECT 1 FROM object WHERE sha256=?1 UNION ALL"
                          " SELECT 1 FROM experiment WHERE code=?1 OR patch=?1 UNION ALL"
                          " SELECT 1 FROM attempt WHERE code=?1 UNION ALL"
                          " SELECT 1 FROM artifact WHERE sha256=?1 LIMIT 1",
                          &stmt, err);
    if (r < 0)
        return r;
    sqlite3_bind_text(stmt, 1, sha256, -1, SQLITE_STATIC);
    return store_step(store, stmt, err);
}

int store_high_water(struct store *store, int64_t *ret_experiment, int64_t *ret_attempt,
                     struct err *err)
{
    int r = store_number(store,
                         "SELECT max(coalesce((SELECT max(id) FROM experiment), 0), coalesce("
                         "(SELECT value FROM meta WHERE key = 'experiment_high'), 0))",
                         0, ret_experiment, err);
    if (r < 0)
        return r;
    return store_number(store,
                        "SELECT max(coalesce((SELECT max(id) FROM attempt), 0), coalesce("
                        "(SELECT value FROM meta WHERE key = 'attempt_high'), 0))",
                        0, ret_attempt, err);
}

bool store_trials_removed(struct store *store, int64_t experiment)
{
    autofree(mem) char *sql =
        xasprintf("SELECT value FROM meta WHERE key = 'event_high.%lld'", (long long)experiment);
    int64_t noted = 0;

    return store_number(store, sql, 0, &noted, NULL) == 0 && noted > 0;
}

int store_submission(struct store *store, const char *owner, const char *key, int64_t *ret,
                     struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_prepare(store, "SELECT experiment FROM submission WHERE owner=?1 AND key=?2",
                          &stmt, err);
    if (r < 0)
        return r;
    sqlite3_bind_text(stmt, 1, owner, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 2, key, -1, SQLITE_STATIC);
    r = store_step(store, stmt, err);
    *ret = r == 1 ? sqlite3_column_int64(stmt, 0) : 0;
    return r < 0 ? r : 0;
}

int store_queue_paused(struct store *store, bool *ret, struct err *err)
{
    int64_t paused = 0;
    int r =
        store_number(store, "SELECT value FROM meta WHERE key = 'queue_paused'", 0, &paused, err);
    *ret = paused != 0;
    return r;
}

int store_check(struct store *store, struct err *err)
{
    int version;
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = schema_version(store, &version, err);
    if (r >= 0)
        r = store_prepare(store, "PRAGMA quick_check(1)", &stmt, err);
    if (r >= 0)
        r = store_step(store, stmt, err);
    if (r < 0)
        return r;
    const char *found = r ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    if (!found || !str_eq(found, "ok"))
        return err_set(err, EBADMSG, "%s is damaged: %s", store->path, found ? found : "no answer");
    return 0;
}
