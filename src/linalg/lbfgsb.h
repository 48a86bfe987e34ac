/* SPDX-License-Identifier: MIT */
/*
 * lbfgsb.h — minimise smooth functions within bounds: L-BFGS with projected steps (Byrd, Lu,
 * Nocedal, Zhu 1995, in the projected form). Several starts advance together, so that the
 * function is evaluated for all of them in one call.
 */
#ifndef HONE_LBFGSB_H
#define HONE_LBFGSB_H

#include "base/base.h"

/* Evaluate m points of dimension d: x is (m, d) row by row; write ret_f[m], ret_g (m, d). `index`
 * tells which start each row belongs to. Values may be INFINITY (NaN counts so): the step is
 * shortened. */
typedef void lbfgsb_fn(const double *x, const size_t *index, size_t m, size_t d, double *ret_f,
                       double *ret_g, void *arg);
struct lbfgsb_options {
    size_t max_iterations; /* 0: 100 */
    size_t max_calls;      /* evaluations a start; 0: 2·max_iterations + 10 */
    double gradient_tol;   /* largest projected gradient; 0: 1e-5 */
    double value_tol;      /* relative decrease; 0: 1e-9 */
    size_t memory;         /* corrections kept; 0: 8 */
};
/* x is (m, d): the starts, replaced by the minima; inside [low, high] (d each). ret_f[m]. Returns
 * the number of function evaluations over all starts. */
size_t lbfgsb_minimize(lbfgsb_fn *fn, void *arg, double *x, size_t m, size_t d, const double *low,
                       const double *high, const struct lbfgsb_options *options, double *ret_f);

#endif
