/* SPDX-License-Identifier: MIT */
/*
 * curve.h — where will a learning curve end? From the curve so far and from others that have ended.
 *
 * Values are minimised. An age is how long a curve has been learning, in any unit but from zero: at
 * twice the age it has learned twice as long. Everything is scaled inside, values of any size will
 * do.
 */
#ifndef HONE_SURROGATE_CURVE_H
#define HONE_SURROGATE_CURVE_H

#include "base/base.h"

struct curve_points {
    const double *ages;   /* > 0, rising */
    const double *values; /* finite */
    size_t n;
};

/* Curves that have ended, prepared to be learned from. */
struct curve_set;

/* Copies what it needs. n ≥ 1, each with at least one point. */
struct curve_set *curve_set_new(const struct curve_points *ended, size_t n);
void curve_set_free(struct curve_set *set);
DEFINE_AUTOFREE(curve_set);

double curve_set_horizon(const struct curve_set *set); /* the age at which they ended (median) */
double curve_set_end(const struct curve_set *set, size_t i); /* of curve i, noise smoothed out */
double curve_set_best(const struct curve_set *set);          /* the lowest of them */

struct forecast {
    double mean, deviation; /* of the end; deviation > 0 */
};
/* Of a curve that is still learning. False: there is nothing to say, because it has fewer than
 * three points, is too young or nearly at its end, or all values of the others are equal. */
bool curve_set_forecast(const struct curve_set *set, const struct curve_points *mine,
                        struct forecast *ret);
/* How far behind a winner may seem: the number of deviations by which, with chance 1 − risk, the
 * forecasts of the best curve never once say that it ends above the second best. Found by
 * forecasting every ended curve from the others at every age. */
double curve_set_margin(const struct curve_set *set, double risk);
/* What it is at least; cheap. */
double curve_set_least_margin(const struct curve_set *set, double risk);
/* The chance that the end is below `value`. */
double curve_set_chance(const struct curve_set *set, const struct forecast *forecast, double value);

#endif
