/* SPDX-License-Identifier: MIT */
/*
 * cma.h — the covariance matrix adaptation evolution strategy (Hansen, Ostermeier 2001; Hansen's
 * tutorial of 2016) in the unit cube, on plain arrays. Private to search/.
 */
#ifndef HONE_SEARCH_CMA_H
#define HONE_SEARCH_CMA_H

#include "base/rng.h"

struct cma {
    size_t d, lambda, mu;
    double *weights; /* (mu) of the ranks, sum 1 */
    double mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi;
    double sigma, start_sigma;
    double *mean;              /* (d) */
    double *cov;               /* (d, d) */
    double *basis, *axes;      /* (d, d), (d): cov = basis·diag(axes²)·basisᵀ */
    double *path, *path_sigma; /* (d) */
    double *work;              /* (3, d) */
    size_t generation, decomposed;
};

/* Start around `mean` with step `sigma`; deviations (d) or NULL: relative widths of the
 * coordinates. linalg_open() was called. */
void cma_init(struct cma *cma, size_t d, size_t lambda, const double *mean, double sigma,
              const double *deviations);
void cma_release(struct cma *cma);
/* Draw a point; `reach` widens the step. It may lie outside the cube. */
void cma_draw(const struct cma *cma, double reach, struct rng *rng, double *ret_x);
/* Learn from the best mu points of a generation, best first: (mu, d). Points that were drawn
 * elsewhere are allowed: far ones are pulled in (Hansen 2011). */
void cma_update(struct cma *cma, const double *best);
/* Standard deviation along coordinate i. */
double cma_deviation(const struct cma *cma, size_t i);
/* The steps have become too small, or too uneven, to find anything more. */
bool cma_is_spent(const struct cma *cma);

#endif
