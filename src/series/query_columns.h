/* SPDX-License-Identifier: MIT */
/*
 * query_columns.h — what a column of pixels keeps of its values: first, smallest, largest, last.
 * Private to query.c.
 */
#ifndef HONE_QUERY_COLUMNS_H
#define HONE_QUERY_COLUMNS_H

#include "series/query.h"

/* Where column c begins. That of x is the last that does not begin behind it: by this and nothing
 * else, so that rounding cannot tear a column's points apart. */
static inline double column_begin(const struct query_view *view, double c)
{
    return view->x0 + (view->x1 - view->x0) * (c / (double)view->width);
}

/* The points of a column's values, each once: returns how many of the four that are written count.
 * min_at and max_at are the first of their kind, so none of them is the same as one before. */
static inline size_t column_put(const double *x, const double *y, size_t n, size_t min_at,
                                size_t max_at, double *to_x, double *to_y)
{
    size_t a = MIN(min_at, max_at), b = MAX(min_at, max_at), at = 0;

    to_x[0] = x[0];
    to_y[0] = y[0];
    at += a != 0;
    to_x[at] = x[a];
    to_y[at] = y[a];
    at += b != a;
    to_x[at] = x[b];
    to_y[at] = y[b];
    at += (size_t)((x[n - 1] != x[b]) | (y[n - 1] != y[b]));
    to_x[at] = x[n - 1];
    to_y[at] = y[n - 1];
    return at + 1;
}

/* Columns of fewer than eight finite values, one behind the other, from the one behind *column on,
 * as long as they end in x[n]. *column and *until become those of the last one that was drawn.
 * Returns how many values were drawn; their points are in to_x and to_y, which have room for four a
 * column and four more. Draws nothing where no loops are wide (base/wide.h). */
size_t columns_draw_short(const struct query_view *view, const double *x, const double *y, size_t n,
                          int64_t *column, double *until, double *to_x, double *to_y,
                          size_t *ret_points);

#endif
