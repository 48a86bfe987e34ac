/* SPDX-License-Identifier: MIT */
/*
 * sparkline.c — the lowest value is the lowest bar, the highest the highest, and a flat curve
 * stands in the middle.
 */
#include "cli/sparkline.h"

#include <math.h>

static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/* Mean of the values that share column i of `columns`; NaN if one is not finite. */
static double column_value(const double *values, size_t n, size_t i, size_t columns)
{
    size_t first = i * n / columns, end = (i + 1) * n / columns;
    double mean = 0;
    for (size_t k = first; k < end; k++)
        mean += values[k] / (double)(end - first);
    return isfinite(mean) ? mean : NAN;
}

static const char *bar(double x, double lo, double hi)
{
    if (isnan(x))
        return "·";
    if (!(hi > lo))
        return bars[3];
    double at = (x / 2 - lo / 2) / (hi / 2 - lo / 2); /* halves: hi - lo may overflow */
    return bars[(size_t)fmin(fmax(at, 0) * 8, 7)];
}

size_t str_add_sparkline(struct str *str, const double *values, size_t n, size_t columns)
{
    double lo = INFINITY, hi = -INFINITY;

    columns = MIN(columns, n);
    for (size_t i = 0; i < columns; i++) {
        double x = column_value(values, n, i, columns);
        lo = fmin(lo, x);
        hi = fmax(hi, x);
    }
    for (size_t i = 0; i < columns; i++)
        str_add(str, bar(column_value(values, n, i, columns), lo, hi));
    return columns;
}
