/* SPDX-License-Identifier: MIT */
/*
 * sobol_set.h — the points of a scrambled Sobol sequence over a space. Private to search/.
 *
 * Each parameter with more than one value takes a dimension, in the order of the file; those past
 * the last dimension of the table are drawn at random.
 */
#ifndef HONE_SEARCH_SOBOL_SET_H
#define HONE_SEARCH_SOBOL_SET_H

#include "model/space.h"

#define SOBOL_COLUMNS 40 /* good for 2^40 points */

struct sobol_set {
    const struct space *space;
    uint64_t seed;
    size_t dims;
    uint64_t (*directions)[SOBOL_COLUMNS]; /* (dims, columns), scrambled; bit 63 counts 1/2 */
    uint64_t *shifts;                      /* (dims) */
};
void sobol_set_init(struct sobol_set *set, const struct space *space, uint64_t seed);
void sobol_set_release(struct sobol_set *set);
/* Point `number`; not settled: inactive parameters have values too. */
void sobol_set_point(const struct sobol_set *set, uint64_t number, double *ret_x);

#endif
