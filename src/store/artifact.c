/* SPDX-License-Identifier: MIT */
/*
 * artifact.c — artifacts, runs and models out of the database. They are put into it by apply.c.
 */
#include "store/artifact.h"
#include "store/read.h"

#include <errno.h>

int store_artifacts(struct store *store, int64_t experiment, int64_t trial, artifact_fn *fn,
                    void *arg, struct err *err)
{
    const int64_t id = pair_id(experiment, trial);
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store,
                        "SELECT path, sha256, size, time_us FROM artifact WHERE trial_id = ?1"
                        " ORDER BY path",
                        &id, 1, &stmt, err);
    while (r >= 0 && (r = store_step(store, stmt, err)) == 1) {
        struct columns c = {stmt, 0};
        struct artifact artifact = {.experiment = experiment, .trial = trial};
        artifact.path = next_text(&c);
        artifact.sha256 = next_text(&c);
        artifact.size = (uint64_t)next_int(&c);
        artifact.time_us = next_int(&c);
        r = fn(&artifact, arg);
        if (r != 0)
            return r;
    }
    return r;
}

int store_find_artifact(struct store *store, int64_t experiment, int64_t trial, const char *path,
                        char ret_sha256[SHA256_HEX_SIZE], uint64_t *ret_size, struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_prepare(
        store, "SELECT sha256, size FROM artifact WHERE trial_id = ?1 AND path = ?2", &stmt, err);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, pair_id(experiment, trial));
    sqlite3_bind_text(stmt, 2, path, -1, SQLITE_STATIC);
    r = store_step(store, stmt, err);
    if (r < 0)
        return r;
    if (r == 0)
        return err_set(err, ENOENT, "trial %lld.%lld has no artifact '%.200s'",
                       (long long)experiment, (long long)trial, path);
    snprintf(ret_sha256, SHA256_HEX_SIZE, "%s", (const char *)sqlite3_column_text(stmt, 0));
    *ret_size = (uint64_t)sqlite3_column_int64(stmt, 1);
    return 0;
}

int store_runs(struct store *store, int64_t experiment, run_json_fn *fn, void *arg, struct err *err)
{
    const int64_t range[] = {pair_id(experiment, 0), pair_id(experiment, NUMBER_MAX)};
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store,
                        "SELECT trial_id & 4294967295, json FROM run"
                        " WHERE trial_id BETWEEN ?1 AND ?2 ORDER BY trial_id",
                        range, ARRAY_LEN(range), &stmt, err);
    while (r >= 0 && (r = store_step(store, stmt, err)) == 1) {
        struct columns c = {stmt, 0};
        int64_t trial = next_int(&c);
        r = fn(trial, next_text(&c), arg);
        if (r != 0)
            return r;
    }
    return r;
}

int store_owner(struct store *store, int64_t experiment, int64_t trial, char **ret, struct err *err)
{
    const int64_t which[] = {pair_id(experiment, trial), experiment};
    autorelease(question) struct question q = {0};
    int r = question_ask(&q, store, STMT_READ_OWNER,
                         "SELECT coalesce((SELECT json_extract(json, '$.owner') FROM run WHERE"
                         " trial_id = ?1), (SELECT owner FROM experiment WHERE id = ?2))",
                         which, ARRAY_LEN(which), err);

    *ret = NULL;
    if (r >= 0)
        r = store_step(store, q.stmt, err);
    if (r != 1)
        return MIN(r, 0);
    const char *owner = next_text(&(struct columns){q.stmt, 0});
    *ret = owner ? xstrdup(owner) : NULL;
    return 0;
}

int store_run_name(struct store *store, int64_t experiment, int64_t trial, char **ret,
                   struct err *err)
{
    const int64_t which = pair_id(experiment, trial);
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store, "SELECT json_extract(json, '$.name') FROM run WHERE trial_id = ?1",
                        &which, 1, &stmt, err);

    *ret = NULL;
    if (r >= 0)
        r = store_step(store, stmt, err);
    if (r != 1)
        return MIN(r, 0);
    const char *name = next_text(&(struct columns){stmt, 0});
    *ret = name && *name ? xstrdup(name) : NULL;
    return 0;
}

int store_models(struct store *store, model_fn *fn, void *arg, struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_query(store, "SELECT experiment, id, json FROM model", NULL, 0, &stmt, err);

    while (r >= 0 && (r = store_step(store, stmt, err)) == 1) {
        struct columns c = {stmt, 0};
        int64_t experiment = next_int(&c);
        const char *id = next_text(&c);
        r = fn(experiment, id, next_text(&c), arg);
        if (r != 0)
            return r;
    }
    return r;
}
