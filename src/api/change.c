/* SPDX-License-Identifier: MIT */
/*
 * change.c — tags, notes, stars, removal, knowledge: one table of requests.
 */
#include "api/change.h"
#include "api/auth.h"
#include "api/wire.h"
#include "base/fs.h"
#include "base/log.h"
#include "engine/runtime.h"
#include "store/object.h"
#include "tune/workload.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

struct change {
    const json_t *request;
    int64_t experiment, trial;
    bool (*running)(int64_t experiment, void *arg);
    void *arg;
    struct txn *txn;
};

static int change_tag(const struct change *change, struct err *err)
{
    const char *tag = json_get_text(change->request, "tag", "");
    if (!*tag || strlen(tag) > 400)
        return err_set(err, EINVAL, "a tag has 1 to 400 bytes");
    txn_tag(change->txn, change->experiment, change->trial, tag,
            json_get_bool(change->request, "add", true));
    return 0;
}

static int change_note(const struct change *change, struct err *err)
{
    (void)err;
    txn_note(change->txn, change->experiment, change->trial,
             json_get_text(change->request, "text", NULL));
    return 0;
}

static int change_star(const struct change *change, struct err *err)
{
    (void)err;
    txn_star(change->txn, change->experiment, change->trial,
             json_get_bool(change->request, "star", true));
    return 0;
}

static int change_rm(const struct change *change, struct err *err)
{
    if (change->running && change->running(change->experiment, change->arg))
        return err_set(err, EBUSY, "experiment %lld is running: 'hone stop %lld' first",
                       (long long)change->experiment, (long long)change->experiment);
    if (change->trial)
        txn_remove_trial(change->txn, change->experiment, change->trial);
    else
        txn_remove_experiment(change->txn, change->experiment);
    return 0;
}

static int change_gc_objects(const struct change *change, struct err *err)
{
    const json_t *list = json_object_get(change->request, "sha256"), *name;
    size_t i;
    (void)err;
    json_array_foreach(list, i, name)
    {
        if (json_is_string(name))
            txn_remove_object(change->txn, json_string_value(name));
    }
    return 0;
}

static int put_workload(const json_t *value, struct txn *txn, struct err *err)
{
    autorelease(workload) struct workload workload;
    autorelease(str) struct str text = STR_INIT, json = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_value(&out, value);
    int r = workload_decode(text.s, text.len, &workload, err);
    if (r < 0)
        return r;
    workload_encode(&workload, &json);
    txn_put_workload(txn, &(struct workload_row){
                              .identity = workload.identity,
                              .name = workload.name,
                              .machine = workload.machine,
                              .updated_us = workload.updated_us,
                              .cluster = workload.cluster,
                              .json = json.s,
                          });
    return 0;
}

static int change_knowledge(const struct change *change, struct err *err)
{
    const json_t *put = json_object_get(change->request, "put");
    const json_t *removed = json_object_get(change->request, "remove"), *value;
    const char *identity;
    size_t i;
    int r = 0;

    for (i = 0; r >= 0 && i < json_array_size(put); i++)
        r = put_workload(json_array_get(put, i), change->txn, err);
    if (r < 0)
        return r;
    json_array_foreach(removed, i, value)
    {
        if (json_is_string(value))
            txn_remove_workload(change->txn, json_string_value(value));
    }
    json_object_foreach(json_object_get(change->request, "clusters"), identity, value)
    {
        if (json_is_integer(value))
            txn_cluster_workload(change->txn, identity, json_integer_value(value));
    }
    return 0;
}

/* Without an engine; with one, routes.c does it. */
static int change_queue(const struct change *change, struct err *err)
{
    const json_t *paused = json_object_get(change->request, "paused");
    (void)err;
    if (json_is_boolean(paused))
        txn_pause_queue(change->txn, json_is_true(paused));
    return 0;
}

static int change_token_add(const struct change *change, struct err *err)
{
    return auth_add_rows(change->request, change->txn, err);
}

static int change_token_rm(const struct change *change, struct err *err)
{
    return auth_remove_rows(change->request, change->txn, err);
}

static const struct {
    const char *name;
    int (*rows)(const struct change *change, struct err *err);
    bool needs_experiment;
} changes[] = {
    {"tag", change_tag, true},
    {"note", change_note, true},
    {"star", change_star, true},
    {"rm", change_rm, true},
    {"gc_objects", change_gc_objects, false},
    {"token_add", change_token_add, false},
    {"token_rm", change_token_rm, false},
    {"queue", change_queue, false},
    {"knowledge", change_knowledge, false},
};

/* 0: the whole experiment is meant. A number that is none must never mean more than what was asked
 * for, and one beyond the numbers of trials would be a trial of another experiment. */
static int read_trial(const json_t *request, int64_t *ret, struct err *err)
{
    const json_t *trial = json_object_get(request, "trial");

    *ret = 0;
    if (!trial || json_is_null(trial))
        return 0;
    *ret = json_integer_value(trial);
    if (!json_is_integer(trial) || *ret < 0 || *ret > UINT32_MAX)
        return err_set(err, EINVAL, "'trial' is the number of a trial");
    return 0;
}

int change_rows(const json_t *request, bool (*running)(int64_t, void *), void *arg, struct txn *txn,
                struct err *err)
{
    struct change change = {.request = request, .running = running, .arg = arg, .txn = txn};
    const char *name = json_get_text(request, "do", "");

    change.experiment = json_get_int(request, "experiment", 0);
    if (read_trial(request, &change.trial, err) < 0)
        return -EINVAL;
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        if (!str_eq(changes[i].name, name))
            continue;
        if (changes[i].needs_experiment && change.experiment < 1)
            return err_set(err, EINVAL, "the request names no experiment");
        return changes[i].rows(&change, err);
    }
    return -ENOENT;
}

/* Attempts and checkpoints: "T.1", "T.checkpoints". */
static void remove_trial_files(const char *home, int64_t experiment, int64_t trial)
{
    autofree(mem) char *folder = xasprintf("%s/experiments/%lld", home, (long long)experiment);
    autofree(mem) char *prefix = xasprintf("%lld.", (long long)trial);
    DIR *dir = opendir(folder);

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        autofree(mem) char *path = xasprintf("%s/%s", folder, entry->d_name);
        if (str_starts(entry->d_name, prefix))
            fs_remove_tree(path, NULL);
    }
    if (dir)
        closedir(dir);
}

/* The rows are gone; their files follow. A crash in between leaves files for `hone gc`. */
void change_files(const char *home, const json_t *request)
{
    const char *name = json_get_text(request, "do", "");
    int64_t experiment = json_get_int(request, "experiment", 0);
    const json_t *list = json_object_get(request, "sha256"), *sha;
    size_t i;

    if (str_eq(name, "rm") && json_get_int(request, "trial", 0))
        remove_trial_files(home, experiment, json_get_int(request, "trial", 0));
    if (str_eq(name, "rm") && !json_get_int(request, "trial", 0)) {
        autofree(mem) char *folder = xasprintf("%s/experiments/%lld", home, (long long)experiment);
        fs_remove_tree(folder, NULL);
    }
    if (!str_eq(name, "gc_objects"))
        return;
    json_array_foreach(list, i, sha)
    {
        if (json_is_string(sha))
            object_remove(home, json_string_value(sha), NULL);
    }
}

int change_series(const json_t *request, struct series_db *db, struct err *err)
{
    if (!str_eq(json_get_text(request, "do", ""), "rm"))
        return 0;
    int r = series_db_drop(db, json_get_int(request, "experiment", 0),
                           json_get_int(request, "trial", 0), err);
    if (r < 0)
        err_context(err, "samples of what was removed are still there");
    return r;
}

/* The rows are gone already: what fails here is told, and the rest is done. */
static void drop_offline(const char *home, const json_t *request)
{
    autofree(series_db) struct series_db *series = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int r = series_db_open(home, SERIES_WRITE, &series, &err);

    if (r == 0)
        r = change_series(request, series, &err);
    if (r < 0)
        log_error("%s", err_text(&err));
}

static int change_offline(const char *home, const json_t *request, struct err *err)
{
    autoclose int lock = -1;
    autofree(store) struct store *store = NULL;
    autofree(txn) struct txn *txn = txn_new();
    int r = home_lock(home, &lock, err);

    if (r >= 0)
        r = change_rows(request, NULL, NULL, txn, err);
    if (r >= 0)
        r = store_open(home, &store, err);
    if (r >= 0)
        r = store_apply(store, txn, err);
    if (r >= 0 && str_eq(json_get_text(request, "do", ""), "rm"))
        drop_offline(home, request);
    return r;
}

int home_change(const char *home, const char *request, json_t **ret, struct err *err)
{
    autofree(json) json_t *object = NULL;
    int r = json_parse(request, strlen(request), &object, err);

    if (r < 0)
        return r;
    for (int tries = 0; tries < 50; tries++) {
        r = wire_call(home, request, ret, err);
        if (r != -ENOENT && r != -ECONNREFUSED && r != -EPIPE)
            break;
        r = change_offline(home, object, err);
        if (r >= 0)
            *ret = json_object();
        if (r != -EAGAIN)
            break;
        usleep(20000); /* an engine is coming up or going down: its socket or its lock will do */
    }
    if (r >= 0)
        change_files(home, object);
    return r;
}
