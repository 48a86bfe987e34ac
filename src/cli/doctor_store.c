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
