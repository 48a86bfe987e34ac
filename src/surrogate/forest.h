/* SPDX-License-Identifier: MIT */
/*
 * forest.h — random-forest regression: trees with random split points on bootstrap samples
 * (extra-trees as in SMAC). Steps, choices and inactive parameters need no care: a categorical
 * feature is split by subsets, NaN goes its own way.
 */
#ifndef HONE_FOREST_H
#define HONE_FOREST_H

#include "base/rng.h"

struct forest;
struct forest_options {
    size_t trees;     /* 0: 10 */
    size_t min_leaf;  /* 0: 1 */
    size_t min_split; /* 0: 2 */
    double features;  /* share of the features looked at for a split; 0: 5/6 */
    bool bootstrap;
};
/* Fit to n rows of d features (row by row). categories[j]: number of categories of feature j (its
 * values are 0 … k−1), 0: a number. NaN: inactive. weights (n) or NULL. n ≥ 1. */
struct forest *forest_fit(const double *x, const double *y, const double *weights, size_t n,
                          size_t d, const size_t *categories, const struct forest_options *options,
                          struct rng *rng);
void forest_free(struct forest *forest);
DEFINE_AUTOFREE(forest);
/* Mean over trees and deviation (law of total variance: between trees and within leaves) of m rows.
 */
void forest_predict(const struct forest *forest, const double *x, size_t m, double *ret_mean,
                    double *ret_deviation);
/* How much the splits of each feature lowered the squared error, over all trees (d). Only their
 * proportions mean something. */
void forest_gain(const struct forest *forest, double *ret_gain);

#endif
