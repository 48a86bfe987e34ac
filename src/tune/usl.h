/* SPDX-License-Identifier: MIT */
/*
 * usl.h — the universal scalability law (Gunther 1993) for a count of threads or workers:
 *
 *     T(n) = T(1) · (1 + α(n−1) + βn(n−1)) / n
 *
 * α is what cannot be shared out (1: more do not help at all), β what each pair costs.
 */
#ifndef HONE_TUNE_USL_H
#define HONE_TUNE_USL_H

#include "base/base.h"

struct usl {
    double alpha, beta;
};

/* What is believed before anything is seen: more help, but not all the way. */
#define USL_PRIOR ((struct usl){0.5, 0})

/* ln T(n)/T(1); n >= 1. */
double usl_effect(struct usl law, double n);

/* Fit one law for each of k counts at once to y (rows) = level of its group + Σ effects. counts is
 * (rows, k); group[i] < groups; weight[i] = 1/variance. By descent over a grid, with a weak prior:
 * always an answer, and without rows the prior. */
void usl_fit(const double *counts, size_t k, const double *y, const double *weight,
             const size_t *group, size_t groups, size_t rows, struct usl *ret);

#endif
