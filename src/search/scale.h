/* SPDX-License-Identifier: MIT */
/*
 * scale.h — results as a model should see them: the better half as it is, in units of its own
 * spread; of the worse half only the order. A disaster must not flatten what matters. Where there
 * is hardly any noise, the better half the finer the nearer to the best. Private to search/.
 */
#ifndef HONE_SEARCH_SCALE_H
#define HONE_SEARCH_SCALE_H

#include "base/base.h"

enum shape {
    SHAPE_PLAIN, /* the better half is as it is */
    SHAPE_FINE,  /* near the best smaller differences count: a logarithm of the distance from it */
};

struct scale {
    size_t n;
    double *from, *to; /* (n) sorted pairs: value → scaled; both rise */
    double slope;      /* of value by scaled, beyond the best one */
};
/* From n ≥ 1 finite values. */
void scale_init(struct scale *scale, const double *values, size_t n, enum shape shape);
/* All scaled values times `by`. */
void scale_stretch(struct scale *scale, double by);
void scale_release(struct scale *scale);
double scale_apply(const struct scale *scale, double value);
/* Back: scaled to value; straight lines between what is known and beyond. */
double scale_undo(const struct scale *scale, double scaled);

#endif
