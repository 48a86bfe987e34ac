/* SPDX-License-Identifier: MIT */
/*
 * cluster.h — which workloads look alike: k-means over their profiles, the map of `hone knowledge`.
 *
 * Counters differ by orders of magnitude and some are missing: each column counts by its own
 * spread, and what is missing is left out of a distance. How many clusters there are is not asked
 * but found: the k with the clearest borders, or one if there are none. Same seed, same clusters.
 */
#ifndef HONE_TUNE_CLUSTER_H
#define HONE_TUNE_CLUSTER_H

#include "tune/workload.h"

#define CLUSTERS_MOST      8
#define CLUSTER_SEED       1    /* whoever fits the workloads of a home anew */
#define CLUSTER_SILHOUETTE 0.25 /* below that there are no borders (Kaufman, Rousseeuw 1990) */

struct clusters {
    size_t k;          /* 0: no point has a value */
    size_t *of;        /* (n) from 0, in the order of their first points; SIZE_MAX: has no value */
    double silhouette; /* mean, -1..1; NaN where k < 2 */
};
/* Cluster n points x (n, d); NaN or infinite: missing. A column whose values differ by less than
 * 0.05 counts less: on the scale of profiles that is the noise. Needs n² numbers of memory. */
void cluster_fit(const double *x, size_t n, size_t d, uint64_t seed, struct clusters *ret);
void clusters_release(struct clusters *clusters);

/* Fit anew over the profiles of all, and set the `cluster` of each: from 1, or 0 without a
 * profile. */
void cluster_workloads(struct workload *all, size_t n, uint64_t seed);

#endif
