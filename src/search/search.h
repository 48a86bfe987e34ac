/* SPDX-License-Identifier: MIT */
/*
 * search.h — a search strategy: ask for points, run them, tell the results.
 *
 *     search_ask() ──► a point in flight ──► search_tell(): a row of the history
 *
 * Same problem, same sequence of asks and tells, same points. Any number of points may be in
 * flight; results come in any order; what failed is told as failed. Points are canonical
 * (model/space.h). Pure: no clock, no I/O. To add one: one file with a const struct search_ops,
 * one row in search.c.
 *
 * The wrappers keep the history for all algorithms: what was told, in its order; what is in
 * flight; which settings were given out. An algorithm reads it and keeps only what it derives
 * from it. Its randomness comes from search_rng(), a stream for each ask, so there is no random
 * state to save.
 */
#ifndef HONE_SEARCH_H
#define HONE_SEARCH_H

#include "base/err.h"
#include "base/map.h"
#include "base/rng.h"
#include "model/space.h"
#include "model/spec.h"

struct search;

/* Results of an earlier experiment, in this space: parameters that it did not have are NaN. */
struct task {
    const double *x; /* (n, space->n) */
    const double *y; /* (n), minimised, finite; units are its own */
    size_t n;
};

/* What is to be searched. Everything is borrowed and must outlive the search. */
struct problem {
    const struct space *space;
    int64_t trials; /* budget; 0: unlimited */
    uint64_t seed;
    size_t n_objectives; /* 0 counts as 1 */
    size_t n_constraints;
    bool weigh_cost;            /* improvement per cost of a trial (`per:`) */
    bool repeats;               /* may run settings again to tell noise from merit */
    const double *const *tries; /* settings to run first; TRY_FREE: to be filled in */
    size_t n_tries;
    const struct task *tasks; /* knowledge */
    size_t n_tasks;
};

enum result_kind {
    RESULT_VALUE,
    RESULT_FAILED,
    RESULT_STOPPED, /* ended early: value is what is known of its end, may be NaN */
    RESULT_VOID     /* never ran: the setting may be given out again */
};
struct result {
    enum result_kind kind;
    double value;         /* always to be minimised: the engine turns maximised ones around */
    double deviation;     /* of value from the truth, where it is known (a prediction); else 0 */
    const double *others; /* n_objectives − 1 further ones, minimised; NULL: none are known */
    const double *excess; /* n_constraints: by how much each is broken, ≤ 0: kept; NULL: unknown */
    double cost;          /* of the trial, > 0; 0 or NaN: unknown */
    bool passing;         /* of a paused trial: it counts until the trial's next result is told */
    bool replaces;        /* the trial has told a passing one, whose place this one takes */
};

enum why {
    WHY_WALK,   /* every setting of a finite space, in turn */
    WHY_DRAW,   /* spread over the space without looking at results */
    WHY_TRY,    /* the user's `try:` */
    WHY_KNOWN,  /* it was among the best of an earlier experiment */
    WHY_MODEL,  /* the model expects most of it */
    WHY_NEAR,   /* a neighbour of the best */
    WHY_BREED,  /* offspring of good ones (evolve, cmaes) */
    WHY_REPEAT, /* run again: is it as good as it seems? */
    WHYS
};
const char *why_name(enum why why); /* "model" */

struct suggestion {
    double *x; /* in: the caller's space->n doubles */
    enum why why;
    const char *by;         /* the algorithm that made it; static */
    int64_t seen;           /* how many results it rests on: the first so many told */
    double mean, deviation; /* the model's prediction of the objective, minimised; NaN: none */
    double acquisition;     /* what was maximised; NaN: none */
};

/* ---- the history that the wrappers keep ---- */
struct history {
    size_t d;              /* doubles a point */
    size_t n;              /* results, in the order told; VOID ones are not among them */
    VEC(double) x;         /* (n, d) */
    VEC(uint8_t) kind;     /* (n) enum result_kind */
    VEC(double) value;     /* (n) NaN for failures */
    VEC(double) deviation; /* (n) */
    VEC(double) others;    /* (n, n_objectives − 1), NaN unknown */
    VEC(double) excess;    /* (n, n_constraints), NaN unknown */
    VEC(double) cost;      /* (n), NaN unknown */
    VEC(uint8_t) passing;  /* (n) bool: told by a paused trial */
    VEC(uint8_t) replaced; /* (n) bool: the trial has told another since */
    VEC(size_t) replaces;  /* (n) 1 + the row whose place it takes; 0: none */
    size_t n_pending;
    VEC(double) pending; /* (n_pending, d) in flight, in the order given out */
    struct map given;    /* point_hash() → how often it was given out, as a number */
};
/* How often was x given out (in flight or told)? */
size_t history_given(const struct history *history, const double *x);
static inline const double *history_x(const struct history *history, size_t i)
{
    return history->x.at + i * history->d;
}

/* Write the next point into ret->x and the rest of *ret (it comes with why = WHY_DRAW, NaN
 * numbers). 0; -EAGAIN while earlier results are awaited; -ENODATA when every setting of a finite
 * space was asked. It must not be one that was given out before (history_given). */
typedef int search_ask_fn(struct search *s, struct suggestion *ret, struct err *err);
/* The history has grown by the row history.n - 1. */
typedef void search_told_fn(struct search *s);
/* Append what is needed besides history and ask number to go on: fitted numbers, counters. */
typedef void search_save_fn(const struct search *s, struct str *to);
typedef int search_load_fn(struct search *s, const void *bytes, size_t n, struct err *err);

struct search_ops {
    const char *name, *help;
    size_t size; /* of the implementing struct, which begins with struct search */
    /* Optional; the head is filled. -EINVAL: cannot search this space. */
    int (*init)(struct search *s, struct err *err);
    search_ask_fn *ask;
    search_told_fn *told; /* optional */
    search_save_fn *save; /* optional, with load */
    search_load_fn *load;
    void (*release)(struct search *s); /* optional */
    bool several;                      /* it searches several objectives by itself */
    bool blind;                        /* it looks at no results: nor does it repeat any */
    bool light;                        /* it needs no processes: they are asked for repeats only */
};

struct belief;
struct search { /* the common head; private to search/ */
    const struct search_ops *ops;
    struct problem problem;
    const struct space *space;
    uint64_t asks; /* suggestions given out or prepared: the number of the next */
    struct history history;
    struct suggestion prepared; /* x NULL: none; else owned */
    struct str before;          /* what ops->save gave before it was prepared */
    size_t tries_used;
    size_t repeats_used;
    struct belief *belief; /* belief.h; NULL: not asked for yet */
};
/* The random stream of the ask that is being answered. `purpose` tells streams of one ask apart. */
struct rng search_rng(const struct search *s, uint64_t purpose);

/* Create the algorithm called `name`; "auto" takes the best for this space and budget. 0 and *ret
 * (search_free), -ENOENT if the name is unknown, -EINVAL if it cannot search this space. */
int search_new(const char *name, const struct problem *problem, struct search **ret,
               struct err *err);
/* Would that algorithm look at results, its own or those of earlier experiments? */
bool search_learns(const char *name, const struct problem *problem);
void search_free(struct search *s);
DEFINE_AUTOFREE(search);
/* The next point; it is in flight until it is told. If one was prepared, that one, at once. */
int search_ask(struct search *s, struct suggestion *ret, struct err *err);
/* Compute the next suggestion ahead from what is told by now. Results told between this and the
 * ask are for it as if still in flight (suggestion.seen says which it used). No-op if one is
 * prepared. Errors as search_ask; nothing is prepared then. */
int search_prepare(struct search *s, struct err *err);
/* Throw the prepared suggestion away: the next ask computes with all results. */
void search_forget(struct search *s);
/* A point was given out by an earlier process: its number among the asks is taken. It is in flight,
 * unless `told`: its result follows by search_tell(). */
void search_asked(struct search *s, const double *x, enum why why, bool told);
/* The result of a point in flight (or of any point of the space: then it just teaches). A trial
 * that is paused may tell what it has: it is not in flight any more, and what it tells later
 * replaces. */
void search_tell(struct search *s, const double *x, const struct result *result);
/* How many results it has been told, as suggestion.seen counts them: those of its space. */
int64_t search_told(const struct search *s);
/* What search_asked() and search_tell() do not bring back. */
void search_save(const struct search *s, struct str *to);
/* First thing after search_new(); then the caller repeats search_asked() for all trials in order,
 * then search_tell() in the order of the first time. */
int search_load(struct search *s, const void *bytes, size_t n, struct err *err);
const char *search_name(const struct search *s);

/* The best of the settings that were run: lowest mean of the model over all results, robust against
 * a lucky draw. -ENODATA: no finite result yet. */
struct best {
    const double *x;        /* in the history, until the next tell */
    size_t row;             /* first row of that setting */
    size_t repeats;         /* how many results it has */
    double mean, deviation; /* of its true value; deviation NaN: no model, mean is its average */
    double noise;           /* deviation of one run; NaN: unknown */
};
int search_best(struct search *s, struct best *ret);
/* Mean and deviation of the true values of n settings (n, d). False: no model yet. */
bool search_predict(struct search *s, const double *x, size_t n, double *ret_mean,
                    double *ret_deviation);
/* The improvement that the next trial may be expected to bring, in units of the objective; NaN:
 * no model yet. For `until:`. */
double search_expected_gain(struct search *s);

size_t search_count(void);
const struct search_ops *search_at(size_t i);

#endif
