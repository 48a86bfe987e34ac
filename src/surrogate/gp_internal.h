/* SPDX-License-Identifier: MIT */
/*
 * gp_internal.h — what gp.c and gp_fit.c share.
 *
 * theta: ln ℓ (d), ln s², ln noise, ln p (d), ln q (d).
 */
#ifndef HONE_GP_INTERNAL_H
#define HONE_GP_INTERNAL_H

#include "surrogate/gp.h"

#define WARP_EDGE 1e-3 /* x is moved into [edge, 1 − edge]: powers have no slope at 0 and 1 */

struct gp {
    size_t d, n, cap;
    struct gp_prior prior;
    bool *category;               /* (d) */
    double *theta;                /* logarithms */
    double *inverse_length;       /* (d) */
    double signal, noise, jitter; /* variances */
    bool warped;                  /* some p or q is not 1 */
    double degrees, squares;      /* of repeats about their means */
    double *x;                    /* (n, d) as given */
    double *z;                    /* (d, cap) warped and scaled */
    double *y, *scale, *extra;    /* (n) */
    double *l;                    /* (cap, cap) lower factor */
    double *alpha;                /* (n) */
};

static inline size_t theta_p(const struct gp *gp, size_t j)
{
    return gp->d + 2 + j;
}
static inline size_t theta_q(const struct gp *gp, size_t j)
{
    return 2 * gp->d + 2 + j;
}

/* Matérn-5/2 of r²; slope: its derivative by r² (may be NULL). ret_k may be r2. */
void gp_matern(const double *r2, size_t n, double *ret_k, double *ret_slope);
double gp_warp(const struct gp *gp, size_t j, double x);
/* −ln of the posterior density at theta (gp_parameters() logarithms) up to a constant, and its
 * gradient (NULL: not wanted). */
double gp_posterior(const struct gp *gp, const double *theta, double *ret_gradient);
/* theta has changed: place the rows and factor again. */
void gp_refactor(struct gp *gp);

#endif
