/* SPDX-License-Identifier: MIT */
/*
 * token.c — who may ask over HTTP, out of the database.
 */
#include "store/read.h"

int store_tokens(struct store *store, token_fn *fn, void *arg, struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;

    int r = store_query(store,
                        "SELECT id, kind, user, role, sha256, parent, created_us, expires_us"
                        " FROM token ORDER BY id",
                        NULL, 0, &stmt, err);
    while (r >= 0 && (r = store_step(store, stmt, err)) == 1) {
        struct columns c = {stmt, 0};
        struct token_row row = {.id = next_int(&c)};
        row.kind = next_name(&c);
        row.user = next_name(&c);
        row.role = next_name(&c);
        row.sha256 = next_name(&c);
        row.parent = next_int(&c);
        row.created_us = next_int(&c);
        row.expires_us = next_int(&c);
        r = fn(&row, arg);
        if (r != 0)
            return r;
    }
    return r;
}
