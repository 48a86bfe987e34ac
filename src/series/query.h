/* SPDX-License-Identifier: MIT */
/*
 * query.h — what charts and tables ask of series: fewer points with the same picture, bands,
 * smoothing, many trials as one. Pure, from full data fed in pieces of any size; memory grows with
 * the width of the picture, never with the length of a series.
 *
 * x is a step or a time as a double; it must not fall (query_sort) and never be NaN. y may be
 * anything: NaN and ±Inf are counted, break the line, and are never taken for numbers.
 */
#ifndef HONE_QUERY_H
#define HONE_QUERY_H

#include "base/err.h"
#include "base/rng.h"
#include "base/str.h"
#include "series/block.h"

#include <math.h>

struct query_point {
    double x, y;
};

/* Part of the way from mean to value: exactly mean if they are the same, and finite if they are. */
static inline double query_blend(double mean, double value, double part)
{
    double next = mean + (value - mean) * part;
    return isfinite(next) ? next : mean * (1 - part) + value * part;
}

/* Sort by x; points with the same x stay in their order. */
void query_sort(double *x, double *y, size_t n);
/* Those of rising x[n] with lo ≤ x ≤ hi: from *ret_first on, as many as returned. */
size_t query_range(const double *x, size_t n, double lo, double hi, size_t *ret_first);

/* ---- a picture ---- */
#define QUERY_WIDTH_MAX 65536
struct query_view {
    double x0, x1; /* left and right end, both inside */
    size_t width;  /* columns of pixels */
};
/* -EINVAL with a sentence: no width, or too much; ends that are no numbers or the wrong way round.
 */
int query_view_check(const struct query_view *view, struct err *err);
/* The column of x; < 0 or ≥ width: outside. Far outside it stays at ±2^52. */
int64_t query_column_of(const struct query_view *view, double x);

/* One column: the band. min, max and last are NaN if there is no finite value. */
struct query_column {
    uint64_t count, nans, infs; /* finite values; the others */
    double min, max, sum, last;
};

/* The line in as few points as fill the same pixels (M4: Jugel et al. 2014): of each column the
 * first, smallest, largest and last value, as they came, each once. The points outside to which it
 * leads are the first and the last. y is NaN where no line leads from the point before to the one
 * behind, at whose x it stands. */
#define QUERY_PIECES 4 /* between gaps in one column; were there more, the last ones are joined */
struct query_line {
    const double *x, *y; /* (n) */
    size_t n;
};
struct query_counts { /* of values in the view */
    uint64_t finite, odd;
};

struct query_chart;
/* `view` has passed its check; it is copied. */
struct query_chart *query_chart_new(const struct query_view *view);
/* Without bands, which takes a third less: query_chart_columns() and _count() may not be asked. */
struct query_chart *query_chart_new_line(const struct query_view *view);
void query_chart_free(struct query_chart *chart);
DEFINE_AUTOFREE(query_chart);
/* As a new one of the same kind, in the memory of this one. */
void query_chart_reset(struct query_chart *chart, const struct query_view *view);
void query_chart_feed(struct query_chart *chart, const double *x, const double *y, size_t n);
/* A whole block without its values: true if it was taken. false: it lies in more than one column,
 * or outside, or has values that are not finite; feed those. The picture is the same. */
bool query_chart_feed_block(struct query_chart *chart, double first_x, double last_x,
                            const struct block_stats *stats);
struct query_line query_chart_line(const struct query_chart *chart); /* until the next feed */
/* Into ret[width]. */
void query_chart_columns(const struct query_chart *chart, struct query_column *ret);
uint64_t query_chart_count(const struct query_chart *chart, size_t column); /* finite values */
uint64_t query_chart_odd(const struct query_chart *chart, size_t column);   /* the others */
struct query_counts query_chart_counts(const struct query_chart *chart);
const struct query_view *query_chart_view(const struct query_chart *chart);
size_t query_chart_bytes(const struct query_chart *chart); /* what it takes in memory */

/* ---- exponential smoothing: the mean of all values so far, one that lies further back counting
 * less by `weight` for each value since (TensorBoard's, with its debias), or by exp(−distance in x
 * / scale) ---- */
struct query_smooth {
    double weight;    /* [0, 1); used if scale is 0 */
    double scale;     /* > 0: in units of x, for uneven steps */
    double sum, mass; /* state from here on: begin with 0 */
    double first, last_x, distance, decay;
    bool varied;
};
/* ret_y may be y; x may be NULL without a scale. A value that is not finite is passed through and
 * changes nothing. */
void query_smooth_feed(struct query_smooth *smooth, const double *x, const double *y, size_t n,
                       double *ret_y);

/* ---- the last points of a stream ---- */
struct query_last {
    size_t want, seen;          /* seen: 0 at first */
    struct query_point *points; /* (want) the caller's; the i-th seen is at i % want */
};
void query_last_feed(struct query_last *last, const double *x, const double *y, size_t n);
/* The i-th of those kept, the oldest first. */
struct query_point query_last_at(const struct query_last *last, size_t i);
size_t query_last_count(const struct query_last *last);

/* ---- many trials at common columns ---- */
/* What a trial's values in one column come to. */
enum query_take { QUERY_MEAN, QUERY_LAST, QUERY_MIN, QUERY_MAX };

struct query_across;
struct query_across *query_across_new(size_t width);
void query_across_free(struct query_across *across);
DEFINE_AUTOFREE(query_across);
/* Add a trial, whose chart has the same width. In a column where it has no point between its first
 * and its last, its value is the one before; where all its values are NaN or Inf, it has none. */
void query_across_add(struct query_across *across, const struct query_chart *chart,
                      enum query_take take);
/* The values of all trials that have one there, rising, into ret[query_across_trials()]. */
size_t query_across_trials(const struct query_across *across);
size_t query_across_values(const struct query_across *across, size_t column, double *ret);

/* ---- of values[n] of different trials ---- */
struct query_summary { /* NaN where n is too small for it */
    size_t n;
    double mean, deviation, min, median, max; /* deviation: of a sample, n − 1 */
};
/* sorted[n] rise and are finite. */
void query_summarise(const double *sorted, size_t n, struct query_summary *ret);
/* 0 ≤ q ≤ 1, linear between two of them; NaN if n is 0. */
double query_quantile(const double *sorted, size_t n, double q);
/* The interval that holds the mean with probability `level` (0.95), by the bootstrap's percentiles
 * (Efron 1979). NaN, NaN if n is 0. Same rng, same interval. */
void query_bootstrap(const double *values, size_t n, double level, size_t resamples,
                     struct rng *rng, double *ret_low, double *ret_high);

#endif
