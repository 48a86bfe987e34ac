/* SPDX-License-Identifier: MIT */
/*
 * workload.c — what workloads taught about the machine, out of the database.
 *
 * The store knows whose knowledge it is and when it was learned; what it says is JSON that
 * tune/workload.h reads.
 */
#include "store/read.h"

int store_workloads(struct store *store, workload_fn *fn, void *arg, struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;

    int r = store_query(store,
                        "SELECT id, identity, name, machine, updated_us, cluster, json"
                        " FROM workload ORDER BY id",
                        NULL, 0, &stmt, err);
    while (r >= 0 && (r = store_step(store, stmt, err)) == 1) {
        struct columns c = {stmt, 0};
        struct workload_row row = {.id = next_int(&c)};
        row.identity = next_name(&c);
        row.name = next_name(&c);
        row.machine = next_name(&c);
        row.updated_us = next_int(&c);
        row.cluster = next_int(&c);
        row.json = next_name(&c);
        r = fn(&row, arg);
        if (r != 0)
            return r;
    }
    return r;
}
