/* SPDX-License-Identifier: MIT */
/*
 * importance.h — what mattered: how much of the spread of results each parameter explains alone.
 */
#ifndef HONE_IMPORTANCE_H
#define HONE_IMPORTANCE_H

#include "model/space.h"

/* points: n rows of space->n values; values: n results, finite. ret_share[space->n] is in [0,1];
 * 0 for constants. Fewer than 8 results tell nothing: -ENODATA. */
int importance(const struct space *space, const double *points, const double *values, size_t n,
               double *ret_share);

#endif
