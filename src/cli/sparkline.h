/* SPDX-License-Identifier: MIT */
/*
 * sparkline.h — a curve as one line of bars: ▁▂▃▅█. What is not finite is a dot: ▃▅··
 */
#ifndef HONE_SPARKLINE_H
#define HONE_SPARKLINE_H

#include "base/str.h"

/* Draw n values into at most `columns` columns. With more values than columns neighbours share
 * one: their mean, or a dot if one of them is not finite. Returns the columns it took. */
size_t str_add_sparkline(struct str *str, const double *values, size_t n, size_t columns);

#endif
