/* SPDX-License-Identifier: MIT */
/*
 * fanova.h — functional analysis of variance of a forest (Hutter, Hoos, Leyton-Brown 2014): how
 * much of the variation of its prediction comes from single features and from pairs.
 */
#ifndef HONE_FANOVA_H
#define HONE_FANOVA_H

#include "surrogate/forest.h"

#define FANOVA_PLACES 64

/* The values over which a feature is averaged, and their weights, which sum to 1. NaN (inactive)
 * may be one of them. */
struct fanova_axis {
    double at[FANOVA_PLACES], weight[FANOVA_PLACES];
    size_t n;
};

/* ret_single[d]: variance of the forest's mean when only that feature is known. ret_pairs[n_pairs]:
 * what knowing both of pairs[k] adds beyond that (may be a hair below 0). Features are
 * independent, each over its axis. */
void fanova_measure(const struct forest *forest, const struct fanova_axis *axes,
                    const size_t (*pairs)[2], size_t n_pairs, double *ret_single,
                    double *ret_pairs);
/* Variance of the forest's mean over the axes, from `draws` random rows. */
double fanova_variance(const struct forest *forest, const struct fanova_axis *axes, size_t draws,
                       struct rng *rng);

#endif
