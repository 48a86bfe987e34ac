/* SPDX-License-Identifier: MIT */
#ifndef BENCH_SEARCH_BBOB_H
#define BENCH_SEARCH_BBOB_H

#include <stddef.h>

/* The 24 noiseless functions of the black-box optimisation benchmark (Hansen, Finck, Ros, Auger
 * 2009, INRIA RR-6829) in any dimension from 2, with the instances that COCO draws. All are to be
 * minimised over [-5, 5]^dim. */
struct bbob;

#define BBOB_FUNCTIONS 24

/* Function 1…24, dim ≥ 2, instance ≥ 1. NULL if one of them is out of range; release with
 * bbob_free. */
struct bbob *bbob_new(int function, size_t dim, int instance);
void bbob_free(struct bbob *problem);

/* The value at x[dim]. Finite for any finite x of moderate size; outside of the box many functions
 * add a penalty. Uses scratch memory of the problem: one thread at a time. */
double bbob_value(struct bbob *problem, const double *x);

/* The least value, and its name. Both as long as the problem lives. */
double bbob_best(const struct bbob *problem);
const char *bbob_name(const struct bbob *problem);

/* Where the least value is taken; for a few functions (5, 7, 16) not only there. */
const double *bbob_optimum(const struct bbob *problem);

#endif
