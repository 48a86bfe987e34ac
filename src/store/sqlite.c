/* SPDX-License-Identifier: MIT */
/*
 * sqlite.c — small words over SQLite: run, step, and its many failures as -errno with a sentence.
 */
#include "store/internal.h"

#include <errno.h>

/* What the operating system said, where SQLite only says "I/O error". */
static int io_errno(sqlite3 *db, int otherwise)
{
    int code = db ? sqlite3_system_errno(db) : 0;
    if (code == EDQUOT)
        return ENOSPC;
    return code > 0 ? code : otherwise;
}

static int full(struct store *store, struct err *err)
{
    return err_set(err, ENOSPC, "the disk is full: %s cannot grow", store->path);
}

int store_error(struct store *store, int rc, const char *doing, struct err *err)
{
    int code;
    switch (rc & 0xff) {
    case SQLITE_FULL:
        return full(store, err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, EBUSY, "another program holds %s", store->path);
    case SQLITE_READONLY:
        return err_set(err, EROFS, "%s cannot be written", store->path);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_set(err, EBADMSG, "%s is damaged: %s", store->path,
                       store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc));
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_PERM:
        code = io_errno(store->db, (rc & 0xff) == SQLITE_IOERR ? EIO : EACCES);
        if (code == ENOSPC)
            return full(store, err);
        return err_errno(err, code, "cannot %s %s", doing, store->path);
    default:
        return err_set(err, rc == SQLITE_NOMEM ? ENOMEM : EIO, "cannot %s %s: %s", doing,
                       store->path, store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc));
    }
}

int store_exec(struct store *store, const char *sql, struct err *err)
{
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : store_error(store, rc, "write", err);
}

int store_prepare(struct store *store, const char *sql, sqlite3_stmt **ret, struct err *err)
{
    int rc = sqlite3_prepare_v2(store->db, sql, -1, ret, NULL);
    return rc == SQLITE_OK ? 0 : store_error(store, rc, "read", err);
}

int store_step(struct store *store, sqlite3_stmt *stmt, struct err *err)
{
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        return 1;
    return rc == SQLITE_DONE ? 0 : store_error(store, rc, "read", err);
}

int store_number(struct store *store, const char *sql, int64_t otherwise, int64_t *ret,
                 struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_prepare(store, sql, &stmt, err);
    if (r >= 0)
        r = store_step(store, stmt, err);
    if (r < 0)
        return r;
    *ret = r == 1 && sqlite3_column_type(stmt, 0) != SQLITE_NULL ? sqlite3_column_int64(stmt, 0)
                                                                 : otherwise;
    return 0;
}
