/* SPDX-License-Identifier: MIT */
/*
 * remaining_track.h — a learning curve made clean, as remaining.c works with it.
 */
#ifndef HONE_TUNE_REMAINING_TRACK_H
#define HONE_TUNE_REMAINING_TRACK_H

#include "surrogate/curve.h"

#define TRACK_POINTS 64

struct track {
    size_t n;      /* ≤ TRACK_POINTS */
    double *x, *y; /* (n) ages, > 0 and rising; finite values */
};

/* Points whose age or value is not finite, or whose age is not above 0, are left out. Where ages go
 * backwards, what was seen from there on before is forgotten. Each value is the mean of the last
 * `average`. More than TRACK_POINTS are averaged to that many; the last one stays as it is. */
void track_init(struct track *track, const struct curve_points *points, bool negate,
                size_t average);
void track_release(struct track *track);

/* Value at an age ≥ 0, between points in a straight track; n > 0. */
double track_at(const struct track *track, double x);
/* Variance of the noise over the last points; 0 when there are fewer than five. */
double track_noise(const struct track *track);

#endif
