/* SPDX-License-Identifier: MIT */
/*
 * read.h — the columns of a row, in order, as our types; and the tags of an experiment at once.
 */
#ifndef HONE_STORE_READ_H
#define HONE_STORE_READ_H

#include "store/internal.h"
#include <math.h>

/* A row being read: each call takes the next column. Texts are SQLite's until the next step. */
struct columns {
    sqlite3_stmt *stmt;
    int at;
};

static inline int64_t next_int(struct columns *c)
{
    return sqlite3_column_int64(c->stmt, c->at++);
}
static inline double next_double(struct columns *c)
{
    int at = c->at++;
    return sqlite3_column_type(c->stmt, at) == SQLITE_NULL ? NAN
                                                           : sqlite3_column_double(c->stmt, at);
}
static inline int64_t next_step(struct columns *c)
{
    int at = c->at++;
    return sqlite3_column_type(c->stmt, at) == SQLITE_NULL ? STEP_NONE
                                                           : sqlite3_column_int64(c->stmt, at);
}
static inline char *next_text(struct columns *c)
{
    return (char *)sqlite3_column_text(c->stmt, c->at++);
}
/* Never NULL: for states and reasons. */
static inline const char *next_name(struct columns *c)
{
    const char *name = next_text(c);
    return name ? name : "";
}

/* A statement ready to step, its parameters bound to the numbers ?1 … ?n. */
int store_query(struct store *store, const char *sql, const int64_t *numbers, size_t n,
                sqlite3_stmt **ret, struct err *err);
/* The same for a question that comes often: its statement is kept by the handle, unless it is being
 * stepped just now, further up. */
struct question {
    sqlite3_stmt *stmt;
    bool kept;
};
int question_ask(struct question *question, struct store *store, enum stmt which, const char *sql,
                 const int64_t *numbers, size_t n, struct err *err);
void question_release(struct question *question);

/* "trial 3.7: unknown state 'x'": a row that this program cannot understand. */
int store_bad_row(struct store *store, const char *what, int64_t id, struct err *err);

/* Tags of the trials of one experiment, or with `trial` ≥ 0 of that one (0: the experiment). */
struct tag_list {
    VEC(char *) tags;
};
struct tag_map {
    struct arena arena;
    struct map lists; /* trial + 1 → struct tag_list */
};
int tag_map_load(struct store *store, int64_t experiment, int64_t trial, struct tag_map *ret,
                 struct err *err);
const struct tag_list *tag_map_find(const struct tag_map *map, int64_t trial);
void tag_map_release(struct tag_map *map);

#endif
