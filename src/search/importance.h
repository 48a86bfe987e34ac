/* SPDX-License-Identifier: MIT */
/*
 * importance.h — what mattered: how much of the spread of results each parameter explains alone,
 * and each pair of them together beyond that.
 */
#ifndef HONE_IMPORTANCE_H
#define HONE_IMPORTANCE_H

#include "model/space.h"

#define IMPORTANCE_RESULTS_MIN 8

/* A share of the spread in [0,1] and where it lies in 9 of 10 resamplings of the results. */
struct param_share {
    double share, low, high;
};
struct pair_share {
    size_t a, b; /* indices of parameters, a < b */
    struct param_share share;
};
struct importance {
    struct param_share *params; /* (space->n); constants 0 */
    struct pair_share *pairs;
    size_t n_pairs;   /* largest first; pairs of the ten parameters that matter most */
    double explained; /* share that all together explain of results not seen; 0: just noise */
};

/* points: n rows of space->n values; values: n results, finite. Fewer than
 * IMPORTANCE_RESULTS_MIN results tell nothing: -ENODATA. Same input, same answer. */
int importance_measure(const struct space *space, const double *points, const double *values,
                       size_t n, struct importance *ret);
void importance_release(struct importance *importance);
/* Only the shares of the parameters, in a fraction of the time: ret_share[space->n]. */
int importance(const struct space *space, const double *points, const double *values, size_t n,
               double *ret_share);

#endif
