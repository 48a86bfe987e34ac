/* SPDX-License-Identifier: MIT */
/*
 * doctor_store.c — hone doctor --store: every byte of the database and of the series is read, and
 * each thing that is wrong is named.
 */
#include "cli/doctor.h"

#include "cli/output.h"
#include "engine/runtime.h"
#include "series/db.h"
#include "store/store.h"

#include <errno.h>

struct care {
    struct table *table;
    struct json_out *out;
    size_t wrong;
};

static void add_row(struct care *care, const char *name, bool good, const char *found)
{
    json_begin_object(care->out);
    json_put_text(care->out, "check", name);
    json_put_text(care->out, "verdict", good ? "ok" : "wrong");
    json_put_text(care->out, "found", found);
    json_end_object(care->out);
    table_add(care->table, PLAIN, name);
    table_add(care->table, good ? GREEN : RED, good ? "ok" : "wrong");
    table_add(care->table, PLAIN, found);
    care->wrong += !good;
}

static void on_wrong(const char *sentence, void *arg)
{
    add_row(arg, "series", false, sentence);
}

static void examine_database(struct care *care, const char *home)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int r = store_open_read(home, &store, &err);

    if (r == -ENOENT)
        return;
    if (r >= 0)
        r = store_check(store, &err);
    add_row(care, "database", r >= 0, r >= 0 ? "whole" : err_text(&err));
}

/* ---- trials that lost values ---- */

struct balance { /* of an experiment: what its summaries count beyond what is stored */
    struct care *care;
    struct series_db *db;
    struct store *store;
    int64_t experiment;
    VEC(int64_t) there, told; /* values by trial, from 1 */
};

static void add_values(struct balance *balance, int64_t trial, int64_t there, int64_t told)
{
    if (trial < 1)
        return;
    while ((int64_t)balance->there.len < trial) {
        vec_push(&balance->there, 0);
        vec_push(&balance->told, 0);
    }
    balance->there.at[trial - 1] += there;
    balance->told.at[trial - 1] += told;
}

static int on_stored(const struct series_info *info, void *arg)
{
    if (info->source.file != SERIES_SYSTEM)
        add_values(arg, info->source.trial, info->stats.count, 0);
    return 0;
}

static int on_summary(int64_t trial, const struct summary *summary, void *arg)
{
    add_values(arg, trial, 0, summary->count);
    return 0;
}

static int on_experiment(const struct experiment_row *row, void *arg)
{
    struct balance *balance = arg;

    balance->experiment = row->experiment.id;
    balance->there.len = balance->told.len = 0;
    series_db_names(balance->db, balance->experiment, -1, on_stored, balance);
    store_summaries(balance->store, balance->experiment, 0, on_summary, balance, NULL);
    for (size_t i = 0; i < balance->told.len; i++) {
        if (balance->there.at[i] >= balance->told.at[i])
            continue;
        autofree(mem) char *text = xasprintf(
            "trial %lld.%zu: %lld of its %lld values are there", (long long)balance->experiment,
            i + 1, (long long)balance->there.at[i], (long long)balance->told.at[i]);
        on_wrong(text, balance->care);
    }
    return 0;
}

/* Where something is damaged: which trials have fewer values than the database counts. */
static void find_poorer(struct care *care, const char *home, struct series_db *db)
{
    autofree(store) struct store *store = NULL;
    struct balance balance = {.care = care, .db = db};

    if (store_open_read(home, &store, NULL) < 0)
        return;
    balance.store = store;
    store_experiments(store, 0, on_experiment, &balance, NULL);
    vec_release(&balance.there);
    vec_release(&balance.told);
}

static void examine_series(struct care *care, const char *home)
{
    autofree(series_db) struct series_db *db = NULL;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str found = STR_INIT;
    struct series_size size;

    if (series_db_open(home, SERIES_READ, &db, &err) < 0) {
        add_row(care, "series", false, err_text(&err));
        return;
    }
    size_t before = care->wrong;
    series_db_verify(db, !home_locked(home), on_wrong, care);
    series_db_size(db, &size);
    str_addf(&found, "%llu values in %llu bytes", (unsigned long long)size.values,
             (unsigned long long)size.bytes);
    if (care->wrong == before)
        add_row(care, "series", true, found.s);
    else
        find_poorer(care, home, db);
}

int doctor_store(struct cmd_call *call)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);
    struct table table = TABLE_INIT;
    struct care care = {.table = &table, .out = &out};

    for (int i = 0; i < 3; i++)
        table_column(&table, "", COLUMN_LEFT);
    json_begin_array(&out);
    examine_database(&care, call->home);
    examine_series(&care, call->home);
    json_end_array(&out);
    if (call->json)
        output_line(&json);
    else
        table_print(&table, stdout, call->colour, 0);
    table_release(&table);
    return care.wrong ? CMD_FAILED : CMD_OK;
}
