/* SPDX-License-Identifier: MIT */
/*
 * experiments.c — experiments out of the database, with the number of their trials in each state
 * and the best of them.
 */
#include "store/read.h"

#include <ctype.h>
#include <errno.h>

#define COLUMNS                                                                                    \
    "SELECT e.id, e.name, e.state, e.reason, e.error, e.code, e.created_us, e.ended_us, e.run_us," \
    " e.rerun_of_experiment, e.rerun_of_trial, e.best_trial, e.best_mean, e.best_deviation,"       \
    " e.owner, e.priority, e.paused, e.starred, e.note, e.goal"

static int read_experiment(sqlite3_stmt *stmt, struct experiment_row *row, enum goal *ret_goal)
{
    struct columns c = {stmt, 0};
    struct experiment *e = &row->experiment;

    e->id = next_int(&c);
    e->name = next_text(&c);
    if (experiment_state_parse(next_name(&c), &e->state) < 0)
        return -EINVAL;
    if (reason_parse(next_name(&c), &e->reason) < 0)
        return -EINVAL;
    e->error = next_text(&c);
    e->code = next_text(&c);
    e->created_us = next_int(&c);
    e->ended_us = next_int(&c);
    e->run_us = next_int(&c);
    e->rerun_of_experiment = next_int(&c);
    e->rerun_of_trial = next_int(&c);
    e->best_trial = next_int(&c);
    e->best_mean = next_double(&c);
    e->best_deviation = next_double(&c);
    e->owner = next_text(&c);
    e->priority = next_int(&c);
    e->paused = (enum held)next_int(&c);
    row->starred = next_int(&c) != 0;
    row->note = next_text(&c);
    *ret_goal = str_eq(next_name(&c), "maximize") ? GOAL_MAXIMIZE : GOAL_MINIMIZE;
    if (c.at < sqlite3_column_count(stmt))
        e->spec_json = next_text(&c);
    if (c.at < sqlite3_column_count(stmt)) {
        e->environment = next_text(&c);
        e->search_state = (void *)sqlite3_column_blob(stmt, c.at);
        e->search_state_size = (size_t)sqlite3_column_bytes(stmt, c.at++);
        e->kernel = next_text(&c);
    }
    return 0;
}

/* Is this trial the best so far? What the search says goes; else the value decides, and ties go to
 * the first. */
static bool is_best(const struct experiment_row *row, int64_t number, double value, enum goal goal)
{
    const struct objective objective = {.goal = goal};
    int64_t said = row->experiment.best_trial;

    if (said)
        return number == said && !isnan(value);
    return objective_better(&objective, value, row->best_value);
}

/* One walk over the trials tells how many are in which state, and the best. */
static int survey_trials(struct store *store, struct experiment_row *row, enum goal goal,
                         struct err *err)
{
    const int64_t range[] = {pair_id(row->experiment.id, 0),
                             pair_id(row->experiment.id, NUMBER_MAX)};
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store,
                        "SELECT number, state, value FROM trial WHERE id BETWEEN ?1 AND ?2"
                        " ORDER BY id",
                        range, ARRAY_LEN(range), &stmt, err);
    row->best_value = NAN;
    while (r >= 0 && (r = store_step(store, stmt, err)) == 1) {
        struct columns c = {stmt, 0};
        int64_t number = next_int(&c);
        enum trial_state state;
        if (trial_state_parse(next_name(&c), &state) < 0)
            return store_bad_row(store, "trial", number, err);
        row->counts[state]++;
        double value = next_double(&c);
        if (state == TRIAL_COMPLETED && is_best(row, number, value, goal)) {
            row->best_value = value;
            row->best_trial = number;
        }
    }
    return r;
}

/* What is not in the experiment's own row. Tags are the map's. */
static int complete_row(struct store *store, struct experiment_row *row, enum goal goal, bool bare,
                        struct tag_map *tags, struct err *err)
{
    int r = bare ? 0 : survey_trials(store, row, goal, err);
    if (bare)
        row->best_value = NAN;
    if (r >= 0)
        r = tag_map_load(store, row->experiment.id, 0, tags, err);
    if (r < 0)
        return r;
    const struct tag_list *list = tag_map_find(tags, 0);
    if (list) {
        row->tags.at = list->tags.at;
        row->tags.len = row->tags.cap = list->tags.len;
    }
    return 0;
}

static int walk_experiments(struct store *store, const int64_t numbers[2], bool bare,
                            experiment_row_fn *fn, void *arg, struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store,
                        COLUMNS ", t.spec_json FROM experiment e LEFT JOIN experiment_text t ON "
                                "t.experiment = e.id WHERE e.id < ?2 ORDER BY e.id DESC LIMIT ?1",
                        numbers, 2, &stmt, err);
    while (r >= 0 && (r = store_step(store, stmt, err)) == 1) {
        struct experiment_row row = {0};
        struct tag_map tags = {0};
        enum goal goal;
        if (read_experiment(stmt, &row, &goal) < 0)
            return store_bad_row(store, "experiment", row.experiment.id, err);
        r = complete_row(store, &row, goal, bare, &tags, err);
        if (r >= 0)
            r = fn(&row, arg);
        tag_map_release(&tags);
        if (r != 0)
            return r;
    }
    return r;
}

int store_experiments(struct store *store, int64_t limit, experiment_row_fn *fn, void *arg,
                      struct err *err)
{
    const int64_t numbers[] = {limit > 0 ? limit : -1, INT64_MAX};
    return walk_experiments(store, numbers, false, fn, arg, err);
}

int store_bare_experiments(struct store *store, int64_t before, int64_t limit,
                           experiment_row_fn *fn, void *arg, struct err *err)
{
    const int64_t numbers[] = {limit > 0 ? limit : -1, before > 0 ? before : INT64_MAX};
    return walk_experiments(store, numbers, true, fn, arg, err);
}

/* ---- one of them, owned by the caller ---- */

static char *copy_text(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static void copy_row(const struct experiment_row *from, struct experiment_row *ret)
{
    struct experiment *e = &ret->experiment;
    *ret = *from;
    e->name = copy_text(e->name);
    e->owner = copy_text(e->owner);
    e->error = copy_text(e->error);
    e->code = copy_text(e->code);
    e->spec_json = copy_text(e->spec_json);
    e->environment = copy_text(e->environment);
    e->kernel = copy_text(e->kernel);
    if (e->search_state)
        e->search_state = xmemdup(e->search_state, e->search_state_size);
    ret->note = copy_text(ret->note);
    memset(&ret->tags, 0, sizeof(ret->tags));
    vec_foreach (tag, &from->tags)
        vec_push(&ret->tags, xstrdup(*tag));
}

static bool is_number(const char *text)
{
    size_t n = strspn(text, "0123456789");
    return n > 0 && n < 19 && text[n] == '\0';
}

static int find_statement(struct store *store, const char *ref, bool whole, sqlite3_stmt **ret,
                          struct err *err)
{
    const char *where = is_number(ref)        ? "WHERE e.id = ?1"
                        : str_eq(ref, "last") ? ""
                                              : "WHERE e.name = ?1";
    autofree(mem) char *sql =
        xasprintf(COLUMNS "%s FROM experiment e %s %s ORDER BY e.id DESC LIMIT 1",
                  whole ? ", t.spec_json, t.environment, s.state, s.kernel" : "",
                  whole ? "LEFT JOIN experiment_text t ON t.experiment = e.id"
                          " LEFT JOIN experiment_search s ON s.experiment = e.id"
                        : "",
                  where);
    int r = store_prepare(store, sql, ret, err);
    if (r < 0)
        return r;
    if (is_number(ref))
        sqlite3_bind_int64(*ret, 1, strtoll(ref, NULL, 10));
    else if (*where)
        sqlite3_bind_text(*ret, 1, ref, -1, SQLITE_STATIC);
    return 0;
}

static int no_such(struct store *store, const char *ref, struct err *err)
{
    if (str_eq(ref, "last"))
        return err_set(err, ENOENT, "no experiments yet in %s", store->home);
    if (is_number(ref))
        return err_set(err, ENOENT, "no experiment %s in %s", ref, store->home);
    return err_set(err, ENOENT, "no experiment called '%s' in %s", ref, store->home);
}

static int find_row(struct store *store, const char *ref, bool whole, bool bare,
                    struct experiment_row *ret, struct err *err)
{
    struct experiment_row row = {0};
    struct tag_map tags = {0};
    enum goal goal;
    autofree(stmt) sqlite3_stmt *stmt = NULL;

    int r = find_statement(store, ref, whole, &stmt, err);
    if (r >= 0)
        r = store_step(store, stmt, err);
    if (r < 0)
        return r;
    if (r == 0)
        return no_such(store, ref, err);
    if (read_experiment(stmt, &row, &goal) < 0)
        return store_bad_row(store, "experiment", row.experiment.id, err);
    r = complete_row(store, &row, goal, bare, &tags, err);
    if (r >= 0)
        copy_row(&row, ret);
    tag_map_release(&tags);
    return r;
}

int store_find_experiment(struct store *store, const char *ref, bool whole,
                          struct experiment_row *ret, struct err *err)
{
    return find_row(store, ref, whole, false, ret, err);
}

int store_find_bare(struct store *store, const char *ref, struct experiment_row *ret,
                    struct err *err)
{
    return find_row(store, ref, true, true, ret, err);
}

int store_find_id(struct store *store, const char *ref, int64_t *ret, struct err *err)
{
    autorelease(question) struct question q = {0};
    const int64_t id = is_number(ref) ? strtoll(ref, NULL, 10) : INT64_MAX;
    bool named = !is_number(ref) && !str_eq(ref, "last");

    int r = named ? question_ask(&q, store, STMT_READ_NAME,
                                 "SELECT max(id) FROM experiment WHERE name = ?1", NULL, 0, err)
                  : question_ask(&q, store, STMT_READ_ID,
                                 "SELECT max(id) FROM experiment WHERE id <= ?1", &id, 1, err);
    if (r >= 0 && named)
        sqlite3_bind_text(q.stmt, 1, ref, -1, SQLITE_STATIC);
    if (r >= 0)
        r = store_step(store, q.stmt, err);
    if (r < 0)
        return r;
    *ret = sqlite3_column_int64(q.stmt, 0);
    return *ret && (!is_number(ref) || *ret == id) ? 0 : no_such(store, ref, err);
}

int store_find_name(struct store *store, int64_t experiment, char **ret, char **ret_owner,
                    struct err *err)
{
    autorelease(question) struct question q = {0};
    int r = question_ask(&q, store, STMT_READ_NAME_OF,
                         "SELECT name, owner FROM experiment WHERE id = ?1", &experiment, 1, err);

    if (r >= 0)
        r = store_step(store, q.stmt, err);
    if (r == 0)
        return err_set(err, ENOENT, "no experiment %lld in %s", (long long)experiment, store->home);
    if (r < 0)
        return r;
    *ret = xstrdup((const char *)sqlite3_column_text(q.stmt, 0));
    *ret_owner = copy_text((const char *)sqlite3_column_text(q.stmt, 1));
    return 0;
}

static int read_ids(struct store *store, const char *sql, const int64_t *args, size_t n_args,
                    int64_t **ret, size_t *ret_n, struct err *err)
{
    VEC(int64_t) ids = {0};
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store, sql, args, n_args, &stmt, err);

    while (r >= 0 && (r = store_step(store, stmt, err)) == 1)
        vec_push(&ids, sqlite3_column_int64(stmt, 0));
    if (r < 0)
        vec_release(&ids);
    *ret = ids.at;
    *ret_n = ids.len;
    return r;
}

int store_experiment_ids(struct store *store, int64_t **ret, size_t *ret_n, struct err *err)
{
    return read_ids(store, "SELECT id FROM experiment ORDER BY id DESC", NULL, 0, ret, ret_n, err);
}

int store_reruns(struct store *store, int64_t experiment, int64_t trial, int64_t **ret,
                 size_t *ret_n, struct err *err)
{
    const int64_t of[] = {experiment, trial};

    return read_ids(store,
                    "WITH RECURSIVE again(id) AS (SELECT id FROM experiment WHERE"
                    " rerun_of_experiment = ?1 AND rerun_of_trial = ?2 UNION SELECT e.id FROM"
                    " experiment e JOIN again ON e.rerun_of_experiment = again.id"
                    " AND e.rerun_of_trial = 1) SELECT id FROM again ORDER BY id",
                    of, ARRAY_LEN(of), ret, ret_n, err);
}

void experiment_row_release(struct experiment_row *row)
{
    experiment_release(&row->experiment);
    free(row->note);
    vec_foreach (tag, &row->tags)
        free(*tag);
    vec_release(&row->tags);
    *row = (struct experiment_row){0};
}
