/* SPDX-License-Identifier: MIT */
/*
 * where_told.h — parameters that no spec has: those of runs that MLflow clients told, the tags of
 * series from outside. As in the table of the API (table_load.c), one is a number where every trial
 * has a number, else a text.
 */
#ifndef HONE_WHERE_TOLD_H
#define HONE_WHERE_TOLD_H

#include "api/where_scope.h"
#include "base/json.h"

#define WHERE_TOLD_MAX 10000 /* names; further ones are not known */

struct where_told {
    VEC(struct told_name {
        char *name;
        bool text;
    })
    names;
    struct map_text places; /* name → its place + 1 */
    size_t first;           /* the column of the first */
    json_t *params;         /* of the present row; NULL: none */
    struct arena texts;     /* of the present row */
};

/* All names in the experiment's trials, as columns of the scope. 0, or an error of the store. */
int where_told_load(struct where_told *told, struct store *store, int64_t experiment,
                    struct where_scope *scope, struct err *err);
void where_told_release(struct where_told *told);
/* The present row. */
void where_told_row(struct where_told *told, const char *params_json);
bool where_told_has(const struct where_told *told, size_t column);
/* Of the present row; a text lives until the next one. */
struct expr_value where_told_value(struct where_told *told, size_t column);

#endif
