/* SPDX-License-Identifier: MIT */
/*
 * internal.h — what the files of this folder share: the handle, the rows of a transaction, and
 * the small words over SQLite. Nobody outside includes it but the tests of the store.
 */
#ifndef HONE_STORE_INTERNAL_H
#define HONE_STORE_INTERNAL_H

#include "base/map.h"
#include "store/store.h"
#include <sqlite3.h>

#define STORE_APPLICATION_ID 0x686f6e65 /* "hone" */

enum stmt {
    STMT_BEGIN,
    STMT_COMMIT,
    STMT_ROLLBACK,
    STMT_EXPERIMENT,
    STMT_TEXTS,
    STMT_FACTS,
    STMT_SEARCH,
    STMT_TRIAL,
    STMT_ATTEMPT,
    STMT_SUMMARY,
    STMT_EVENT,
    STMT_TAG,
    STMT_UNTAG,
    STMT_NOTE_EXPERIMENT,
    STMT_NOTE_TRIAL,
    STMT_STAR_EXPERIMENT,
    STMT_STAR_TRIAL,
    STMT_OBJECT,
    STMT_REMOVE_OBJECT,
    STMT_WORKLOAD,
    STMT_NEW_WORKLOAD,
    STMT_CLUSTER_WORKLOAD,
    STMT_REMOVE_WORKLOAD,
    STMT_SUBMISSION,
    STMT_META,
    STMT_READ_ID, /* the READ ones: of questions about one row */
    STMT_READ_NAME,
    STMT_READ_NAME_OF,
    STMT_VIEW_BEGIN,
    STMT_VIEW_END,
    STMT_READ_TRIAL,
    STMT_READ_TAGS,
    STMT_READ_SUMMARIES,
    STMT_READ_ATTEMPTS,
    STMT_READ_OWNER,
    STMT_RUN,
    STMT_ARTIFACT,
    STMT_REMOVE_ARTIFACT,
    STMT_MODEL,
    STMT_TOKEN,
    STMT_EXPIRE_TOKENS,
    STMT_REMOVE_TOKEN,
    STMT_REMOVE_USER,
    STMT_REMOVE_SECRET,
    STMTS
};

struct store {
    sqlite3 *db;
    char *path; /* of the database, for sentences */
    char *home;
    char home_id[17];
    struct map event_highs;     /* experiment → highest event number given + 1, as a pointer */
    sqlite3_stmt *stmts[STMTS]; /* prepared on first use, kept */
    struct changes *changes;    /* told of every commit; NULL: nobody */
};

/* The sentence and -errno of an SQLite failure. `doing`: "write", "read", "open". */
int store_error(struct store *store, int rc, const char *doing, struct err *err);
/* Run statements without results. */
int store_exec(struct store *store, const char *sql, struct err *err);
/* Run one that gives one number; `otherwise` when it gives none or NULL. */
int store_number(struct store *store, const char *sql, int64_t otherwise, int64_t *ret,
                 struct err *err);
int store_prepare(struct store *store, const char *sql, sqlite3_stmt **ret, struct err *err);
/* The next row: 1, 0 at the end, or an error. */
int store_step(struct store *store, sqlite3_stmt *stmt, struct err *err);
static inline UNUSED void stmt_autofree(sqlite3_stmt **stmt)
{
    sqlite3_finalize(*stmt);
}

/* The version of the database, and whether it is one of ours. 0: empty. */
int schema_version(struct store *store, int *ret, struct err *err);
int schema_newest(void);
/* Bring it to the newest version, in one transaction. */
int schema_migrate(struct store *store, struct err *err);

/* Trials and events have such ids: those of an experiment are neighbours, found without an index.
 */
static inline int64_t pair_id(int64_t experiment, int64_t number)
{
    return (int64_t)((uint64_t)experiment << 32 | (uint64_t)number);
}
#define NUMBER_MAX UINT32_MAX

/* ---- a transaction: rows in the order in which they are to be written ---- */
enum row_kind {
    ROW_EXPERIMENT,
    ROW_TRIAL,
    ROW_ATTEMPT,
    ROW_SUMMARY,
    ROW_EVENT,
    ROW_TAG,
    ROW_NOTE,
    ROW_STAR,
    ROW_OBJECT,
    ROW_REMOVE_OBJECT,
    ROW_WORKLOAD,
    ROW_CLUSTER_WORKLOAD,
    ROW_REMOVE_WORKLOAD,
    ROW_SUBMISSION,
    ROW_QUEUE,
    ROW_RUN,
    ROW_ARTIFACT,
    ROW_REMOVE_ARTIFACT,
    ROW_MODEL,
    ROW_TOKEN,
    ROW_REMOVE_TOKEN,
    ROW_REMOVE_EXPERIMENT,
    ROW_REMOVE_TRIAL,
    ROW_KINDS
};

struct row {
    struct row *next;
    enum row_kind kind;
};
struct put_experiment {
    struct row row;
    struct experiment experiment; /* texts in the arena */
};
struct put_trial {
    struct row row;
    struct trial trial; /* point in the arena; NULL: as stored */
    size_t ndim;
    const char *params_json; /* NULL: as stored */
};
struct put_attempt {
    struct row row;
    struct attempt attempt;
};
struct put_summary {
    struct row row;
    int64_t experiment, trial;
    struct summary summary;
};
struct put_workload {
    struct row row;
    struct workload_row workload; /* texts in the arena */
};
struct put_token {
    struct row row;
    struct token_row token; /* texts in the arena */
};
/* Events, annotations, objects and removals: whatever of it they need. */
struct put_other {
    struct row row;
    int64_t experiment, trial, time_us;
    uint64_t size;
    bool on;
    const char *text, *kind;
};

struct txn {
    struct arena arena;
    struct row *first, **end;
    struct map experiments, trials, attempts; /* rows already here: a later put replaces them */
};

/* Write one row inside the open transaction. Returns SQLite's code. */
typedef int apply_fn(struct store *store, const struct row *row);
apply_fn apply_remove_experiment, apply_remove_trial;

#endif
