/* SPDX-License-Identifier: MIT */
/*
 * internal.h — the search as the library keeps it: problem, trials in the order of their ids, and
 * the order in which results were told. Private to lib/.
 *
 * Inside, every objective is minimised: sign[k] turns the user's number around and back.
 */
#ifndef HONE_LIB_INTERNAL_H
#define HONE_LIB_INTERNAL_H

#pragma GCC visibility push(default) /* all else stays inside the shared object */
#include "hone_search.h"
#pragma GCC visibility pop
#include "search/search.h"
#include "search/stop.h"

enum asked_state {
    ASKED_RUNNING,
    ASKED_COMPLETED,
    ASKED_STOPPED,
    ASKED_FAILED,
    ASKED_CANCELLED,
    ASKED_STATES
};
const char *asked_state_name(enum asked_state state); /* "running" */

/* One trial. Numbers are minimised. */
struct asked {
    enum asked_state state;
    bool own;                     /* its setting came from the user (hone_search_add) */
    bool poor;                    /* the last report said: not worth going on */
    bool diverged;                /* a report was not finite */
    struct suggestion suggestion; /* x and by are owned */
    VEC(int64_t) steps;           /* (n) rising */
    double *curves;               /* (n_objectives, cap) finite */
    size_t curves_cap;            /* values of a curve that fit */
    struct curve *others;         /* n_objectives − 1 views for the rules */
    VEC(int64_t) instances;       /* (m) each once */
    VEC(double) scores;           /* (m, n_objectives) finite */
    struct stop_verdict verdict;  /* of the last report */
    double *values;               /* (n_values) objectives minimised, then what is bounded */
    double deviation;             /* of values[0], where it is a prediction; else 0 */
};

struct hone_search {
    struct spec spec;
    char *problem_text; /* as it was given */
    struct problem problem;
    struct search *search;
    const struct stop_ops *rule;
    size_t n_objectives, n_constraints, n_values;
    double *sign; /* (n_objectives) 1 or -1 */
    VEC(struct asked *) trials;
    VEC(struct asked *) told;    /* in their order; cancelled ones are not among them */
    VEC(struct stop_trial) view; /* scratch of tell.c */
    struct err err;
    struct str text; /* what the last call returned */
};

/* search.c */
/* `seed`: instead of what the problem says, NULL: as it says. */
int lib_new(const char *problem, const uint64_t *seed, hone_search **ret, struct err *err);
/* The running trial with this id; NULL and a sentence if there is none. */
struct asked *asked_find_running(hone_search *s, int64_t id);
struct asked *asked_new(const hone_search *s);
void asked_free(struct asked *asked);
static inline double *asked_curve(const struct asked *asked, size_t objective)
{
    return asked->curves + objective * asked->curves_cap;
}
/* Append a step of `values` (n_objectives). */
void asked_add_step(const hone_search *s, struct asked *asked, int64_t step, const double *values);
void asked_add_instance(const hone_search *s, struct asked *asked, int64_t instance,
                        const double *values);
bool asked_has_instance(const struct asked *asked, int64_t instance);
/* By how much constraint k is broken by the value told for it. */
double asked_excess(const hone_search *s, const struct asked *asked, size_t k);
/* Tell the search how it ended; its state, values and deviation are set. */
void asked_tell(hone_search *s, const struct asked *asked);

/* tell.c: judge its newest step; sets verdict and poor. */
void judge(hone_search *s, struct asked *asked);
/* race.c: has it lost against the best trial on the instances that both have? */
bool race_lost(const hone_search *s, const struct asked *asked);
/* What its mean over all of the best trial's instances would be, and how sure that is. */
void race_estimate(const hone_search *s, const struct asked *asked, double *ret_mean,
                   double *ret_deviation);
/* The mean of one objective over its instances. */
double race_mean(const hone_search *s, const struct asked *asked, size_t objective);

#endif
