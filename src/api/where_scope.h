/* SPDX-License-Identifier: MIT */
/*
 * where_scope.h — the names that an expression over rows may use: fields, parameters, metrics, in
 * this order. Whoever evaluates it (where.c over the store, table_filter.c over columns in memory)
 * gets the same sentences for the same mistakes.
 */
#ifndef HONE_WHERE_SCOPE_H
#define HONE_WHERE_SCOPE_H

#include "api/where_parts.h"
#include "base/arena.h"
#include "base/map.h"

struct where_scope {
    struct arena arena;
    const char *noun;
    const struct where_field *fields;
    VEC(struct expr_column) columns;
    size_t n_fields, n_params;
    struct map_text places; /* name of a metric → its column + 1 */
};

/* Of trials with this spec (borrowed): its parameters, and the metrics that it names. NULL: of
 * experiments. */
void where_scope_init(struct where_scope *scope, const struct spec *spec);
void where_scope_release(struct where_scope *scope);
/* One more; `better` as in expr.h. A name that is there, or NULL: nothing to do. */
void where_scope_metric(struct where_scope *scope, const char *name, int better);
/* A parameter that the spec does not have: somebody told it. */
void where_scope_param(struct where_scope *scope, const char *name, enum expr_type type);
/* The column of a metric + 1; 0: there is none. */
size_t where_scope_find(const struct where_scope *scope, const char *name);
/* `text` NULL: 0, and *ret stays. A mistake is told after `option`. */
int where_scope_parse(const struct where_scope *scope, const char *option, const char *text,
                      enum expr_type want, int64_t now_us, struct expr **ret, struct err *err);

#endif
