/* SPDX-License-Identifier: MIT */
/*
 * pareto.h — several objectives at once: who dominates whom, how crowded a front is, how much of
 * the space it covers. All objectives are minimised; values are (n, m), row by row; NaN and
 * INFINITY are the worst there is.
 */
#ifndef HONE_PARETO_H
#define HONE_PARETO_H

#include "base/base.h"

/* Is a nowhere worse than b and somewhere better? */
bool pareto_dominates(const double *a, const double *b, size_t m);
/* ret_rank[n]: 0 for those that nobody dominates, 1 for those that only rank 0 dominates, …
 * `violation` (n) or NULL: by how much the constraints are broken in all, ≤ 0 or NaN: kept; those
 * that break them come after all others, by violation (Deb 2000). Returns the number of ranks. */
size_t pareto_sort(const double *values, const double *violation, size_t n, size_t m,
                   size_t *ret_rank);
/* Crowding distance of the points rows[0..n) among themselves (Deb et al. 2002): INFINITY at the
 * ends. `rows` NULL: all. */
void pareto_crowding(const double *values, const size_t *rows, size_t n, size_t m, double *ret);
/* A point that is a little worse than the worst of all: max(1.1·worst, 0.9·worst). ret[m]. Points
 * with an infinite objective are left out; 1 where there is none. */
void pareto_reference(const double *values, size_t n, size_t m, double *ret);
/* Volume that the points dominate up to `reference`; exact, by sweeping (2) or by exclusive
 * volumes (While, Bradstreet, Barone 2012: 3 and more; meant for fronts of a few hundred). */
double pareto_hypervolume(const double *values, size_t n, size_t m, const double *reference);
/* ret[n]: the volume that would be lost without each. */
void pareto_contributions(const double *values, size_t n, size_t m, const double *reference,
                          double *ret);
/* What two independent normal objectives with these means and deviations are expected to add to the
 * volume of a front: n points, none of which dominates another, the first objective rising.
 * ret_slope (NULL: not wanted): by mean[0], mean[1], deviation[0], deviation[1]. */
double pareto_expected_gain(const double *front, size_t n, const double *reference,
                            const double *mean, const double *deviation, double *ret_slope);
/* Up to k of the n points that cover most together, greedily; their indices in the order in which
 * they were taken. Returns how many: min(k, n). */
size_t pareto_subset(const double *values, size_t n, size_t m, const double *reference, size_t k,
                     size_t *ret);

#endif
