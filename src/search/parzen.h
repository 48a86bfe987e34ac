/* SPDX-License-Identifier: MIT */
/*
 * parzen.h — a density over the settings of a space: one kernel a row, each a product over the
 * parameters, and one kernel for what is expected beforehand. Private to search/.
 *
 * Rows live in slots that the caller numbers (small ones, used again after removal).
 */
#ifndef HONE_SEARCH_PARZEN_H
#define HONE_SEARCH_PARZEN_H

#include "base/rng.h"
#include "model/space.h"

struct parzen_axis;
struct parzen {
    const struct space *space;
    struct parzen_axis *axes; /* (d) parameters with more than one value */
    size_t d;
    size_t slots, cap; /* slots in use are below `slots` */
    double *weight;    /* (cap) of the rows, 0: the slot is empty; the prior has 1 */
    double *base;      /* (cap) what all settings have in common, by parzen_prepare() */
    double *sum;       /* (cap) workspace */
};

void parzen_init(struct parzen *parzen, const struct space *space);
void parzen_release(struct parzen *parzen);
/* Put the row x (canonical) into an empty slot, with weight 1. */
void parzen_add(struct parzen *parzen, size_t slot, const double *x);
void parzen_remove(struct parzen *parzen, size_t slot);
/* Fit the widths of the kernels to the rows: call it after changes of rows or weights. */
void parzen_prepare(struct parzen *parzen);
/* Draw a setting; it may be forbidden. */
void parzen_draw(const struct parzen *parzen, struct rng *rng, double *ret_x);
/* The logarithm of the density at x (canonical). */
double parzen_log_density(struct parzen *parzen, const double *x);

#endif
