/* SPDX-License-Identifier: MIT */
/*
 * acquire.h — find the setting that promises most. Private to search/.
 */
#ifndef HONE_SEARCH_ACQUIRE_H
#define HONE_SEARCH_ACQUIRE_H

#include "search/encode.h"
#include "search/search.h"

/* What is maximised. Scores m points given as features; -INFINITY: never. */
typedef void score_fn(const double *features, size_t m, double *ret_score, void *arg);
/* The score and its slope by each feature at one point. NULL: it has none. */
typedef double slope_fn(const double *features, double *ret_slope, void *arg);

struct acquire {
    const struct search *s;
    const struct encoder *encoder;
    score_fn *score;
    slope_fn *slope;
    void *arg;
    const double *near; /* (n_near, space->n) settings whose surroundings are looked at: the best */
    size_t n_near;
    size_t candidates; /* drawn over the whole space; 0: a good number */
    double reach;      /* free floats stay so near to near[0], on the unit axis; 0: anywhere */
    double climb;      /* a climb takes them so far from its start; 0: anywhere */
    bool only_near;    /* just the neighbours of near[0] */
};
/* The best fresh setting found, and its score. -ENODATA: there is none. */
int acquire(const struct acquire *acquire, struct rng *rng, double *ret_x, double *ret_score,
            struct err *err);

#endif
