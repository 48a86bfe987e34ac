/* SPDX-License-Identifier: MIT */
/*
 * where.h — expressions (expr/expr.h) over the trials of an experiment, or over the experiments of
 * a home: which rows to show, and by what to sort them.
 *
 * What the store of series has of a metric's blocks (last, min, max, count) is used where it
 * suffices; samples are read only where these cannot tell.
 */
#ifndef HONE_WHERE_H
#define HONE_WHERE_H

#include "api/find.h"

struct where;

struct where_ask {
    const char *home;
    struct store *store;
    const struct target *target; /* the experiment of the trials; NULL: experiments */
    const char *condition;       /* NULL: all rows */
    const char *key;             /* to sort by; NULL: none */
    bool desc;
    int64_t now_us;
    bool plain; /* sentences name `where`, `sort`, not the options of a command */
};
/* What `ask` names is borrowed for as long as it lives. -EINVAL: an expression is wrong, with a
 * sentence for the user; other errors are the store's. */
int where_new(const struct where_ask *ask, struct where **ret, struct err *err);
void where_free(struct where *where);
DEFINE_AUTOFREE(where);

/* Does the row fit? 1, 0, or an error. `where` NULL: it does. With a key, the place of a row that
 * fits is noted, too. `shown` is the state that is shown of it (api/rows.h). */
int where_trial(struct where *where, const struct trial_row *row, struct err *err);
int where_experiment(struct where *where, const struct experiment_row *row,
                     enum experiment_state shown, struct err *err);
bool where_sorts(const struct where *where);
/* Numbers of the rows that fit, in the order of their keys; null comes last, equals keep the order
 * in which they came. Lives as long as `where`. */
const int64_t *where_sorted(struct where *where, size_t *ret_n);

#endif
