/* SPDX-License-Identifier: MIT */
#ifndef BENCH_SEARCH_MULTI_H
#define BENCH_SEARCH_MULTI_H

#include <stddef.h>

/* Closed forms with several objectives, all to be minimised, whose best trade-offs are known: ZDT1
 * to 4 and 6 (Zitzler, Deb, Thiele 2000; two objectives) and DTLZ1, 2, 7 (Deb, Thiele, Laumanns,
 * Zitzler 2005; two or more). */
struct multi;

#define MULTI_OBJECTIVES 8 /* at most */

size_t multi_count(void);
const struct multi *multi_at(size_t i);
/* By name ("zdt1" … "dtlz7"); NULL if there is none. */
const struct multi *multi_find(const char *name);
const char *multi_name(const struct multi *problem);

/* The ends of parameter i. */
double multi_low(const struct multi *problem, size_t i);
double multi_high(const struct multi *problem, size_t i);

/* Whether the problem exists with that many: two objectives for ZDT, 2 … MULTI_OBJECTIVES for
 * DTLZ, and at least as many parameters as objectives. */
int multi_allows(const struct multi *problem, size_t dim, size_t objectives);

/* The objectives at x[dim]. */
void multi_value(const struct multi *problem, size_t dim, size_t objectives, const double *x,
                 double *ret);

/* The point that volumes are measured from: far enough that a first random point counts. */
void multi_reference(const struct multi *problem, size_t objectives, double *ret);

/* The volume between the reference and the whole front: what a perfect search would reach. */
double multi_best_volume(const struct multi *problem, size_t objectives);

/* The volume that n points f (n, objectives) dominate, up to the reference. Points beyond it add
 * nothing; nor do those with a NaN or an infinity. */
double multi_volume(const double *f, size_t n, size_t objectives, const double *reference);

#endif
