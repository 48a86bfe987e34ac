/* SPDX-License-Identifier: MIT */
/*
 * search.h — a search strategy: ask for points, run them, tell the results.
 *
 * Same seed, same asks and tells, same points. Any number of points may be in flight; results come
 * in any order; what failed is told as failed. Points are canonical (model/space.h). Pure: no
 * clock, no I/O. To add one: one file with a const struct search_ops, one row in search.c.
 */
#ifndef HONE_SEARCH_H
#define HONE_SEARCH_H

#include "base/err.h"
#include "base/rng.h"
#include "model/space.h"
#include "model/spec.h"

struct search;

enum result_kind { RESULT_VALUE, RESULT_FAILED, RESULT_STOPPED };
struct result {
    enum result_kind kind; /* STOPPED: ended early; value is its last one, may be NaN */
    double value;          /* always to be minimised: the engine turns maximised ones around */
};

/* Write the next point into ret_x[space->n]. 0; -EAGAIN while earlier results are awaited;
 * -ENODATA when every setting of a finite space was asked. */
typedef int search_ask_fn(struct search *s, double *ret_x, struct err *err);
/* Learn a result of a point that was asked (or given by the user). */
typedef void search_tell_fn(struct search *s, const double *x, const struct result *result);
/* Append what is needed besides the tells to go on after search_load(): counters, random state. */
typedef void search_save_fn(const struct search *s, struct str *to);
typedef int search_load_fn(struct search *s, const void *bytes, size_t n, struct err *err);
typedef void search_release_fn(struct search *s);

struct search_ops {
    const char *name, *help;
    size_t size; /* of the implementing struct, which begins with struct search */
    /* Optional; the head is filled. -EINVAL: cannot search this space. */
    int (*init)(struct search *s, struct err *err);
    search_ask_fn *ask;
    search_tell_fn *tell; /* optional */
    search_save_fn *save;
    search_load_fn *load;
    search_release_fn *release; /* optional */
};

struct search { /* the common head; private to search/ */
    const struct search_ops *ops;
    const struct space *space;
    struct rng rng;
    uint64_t seed;
};

/* Create the algorithm called `name`; "auto" takes the best for this space and budget (`trials`,
 * 0: unlimited). `space` is borrowed and must outlive it. 0 and *ret (search_free), -ENOENT if the
 * name is unknown, -EINVAL if it cannot search this space. */
int search_new(const char *name, const struct space *space, int64_t trials, uint64_t seed,
               struct search **ret, struct err *err);
void search_free(struct search *s);
DEFINE_AUTOFREE(search);
int search_ask(struct search *s, double *ret_x, struct err *err);
void search_tell(struct search *s, const double *x, const struct result *result);
void search_save(const struct search *s, struct str *to);
/* Go on where search_save() stood. Afterwards the caller tells the results known so far again. */
int search_load(struct search *s, const void *bytes, size_t n, struct err *err);
const char *search_name(const struct search *s);

size_t search_count(void);
const struct search_ops *search_at(size_t i);

#endif
