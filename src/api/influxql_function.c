/* SPDX-License-Identifier: MIT */
/*
 * influxql_function.c — what functions make of points, as InfluxDB defines them: stddev with n − 1,
 * percentile by nearest rank, of equals the earliest;
 * first and last of several series at that time the largest. NaN is passed over by max, min and
 * spread.
 */
#include "api/influxql_rows.h"

#include <assert.h>
#include <math.h>

bool function_chooses(enum function function)
{
    return function == FUNCTION_MAX || function == FUNCTION_MIN || function == FUNCTION_LAST ||
           function == FUNCTION_FIRST || function == FUNCTION_PERCENTILE;
}

static double sum(const struct point *points, size_t n)
{
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += points[i].value;
    return total;
}

/* Index of the largest (sign 1) or smallest (-1) that is a number; n: none is. */
static size_t extreme(const struct point *points, size_t n, int sign)
{
    size_t best = n;

    for (size_t i = 0; i < n; i++)
        if (!isnan(points[i].value) &&
            (best == n || sign * point_order(&points[i], &points[best]) > 0))
            best = i;
    return best;
}

static double deviation(const struct point *points, size_t n)
{
    double mean = sum(points, n) / (double)n, squares = 0;

    if (n < 2)
        return NAN;
    for (size_t i = 0; i < n; i++)
        squares += (points[i].value - mean) * (points[i].value - mean);
    return sqrt(squares / (double)(n - 1));
}

static int compare_values(const void *x, const void *y)
{
    const struct point *a = x, *b = y;
    int r = point_order(a, b);

    return r ? r : (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* The points by value; free it. */
static struct point *by_value(const struct point *points, size_t n)
{
    struct point *sorted = xmemdup(points, n * sizeof(*points));
    qsort(sorted, n, sizeof(*sorted), compare_values);
    return sorted;
}

static double median(const struct point *points, size_t n)
{
    autofree(mem) struct point *sorted = by_value(points, n);
    size_t half = n / 2;

    return n % 2 ? sorted[half].value : (sorted[half - 1].value + sorted[half].value) / 2;
}

static bool percentile(const struct point *points, size_t n, double percent, struct point *ret)
{
    double rank = floor((double)n * percent / 100 + 0.5) - 1;

    if (!(rank >= 0 && rank < (double)n))
        return false;
    autofree(mem) struct point *sorted = by_value(points, n);
    *ret = sorted[(size_t)rank];
    return true;
}

/* The first in time, or the last; of those with its time (of several series) the largest. */
static size_t at_an_end(const struct point *points, size_t n, bool last)
{
    size_t best = last ? n - 1 : 0, step = last ? SIZE_MAX : 1; /* before 0 is beyond n */
    int64_t time_ns = points[best].time_ns;

    for (size_t i = best; i < n && points[i].time_ns == time_ns; i += step)
        if (point_order(&points[i], &points[best]) > 0)
            best = i;
    return best;
}

static bool choose(enum function function, double percent, const struct point *points, size_t n,
                   struct point *ret)
{
    size_t i = 0;

    if (function == FUNCTION_PERCENTILE)
        return percentile(points, n, percent, ret);
    if (function == FUNCTION_LAST || function == FUNCTION_FIRST)
        i = at_an_end(points, n, function == FUNCTION_LAST);
    else if (function == FUNCTION_MAX || function == FUNCTION_MIN)
        i = extreme(points, n, function == FUNCTION_MAX ? 1 : -1);
    if (i < n)
        *ret = points[i];
    return i < n;
}

static double compute(enum function function, const struct point *points, size_t n)
{
    size_t high, low;

    switch (function) {
    case FUNCTION_MEAN:
        return sum(points, n) / (double)n;
    case FUNCTION_SUM:
        return sum(points, n);
    case FUNCTION_COUNT:
        return (double)n;
    case FUNCTION_STDDEV:
        return deviation(points, n);
    case FUNCTION_MEDIAN:
        return median(points, n);
    case FUNCTION_SPREAD:
        high = extreme(points, n, 1);
        low = extreme(points, n, -1);
        return high < n && low < n ? points[high].value - points[low].value : NAN;
    default:
        assert(!"a function that computes");
        return NAN;
    }
}

bool function_apply(enum function function, double percent, const struct point *points, size_t n,
                    struct point *ret)
{
    struct point chosen;

    if (n == 0)
        return false;
    if (!function_chooses(function)) {
        ret->value = compute(function, points, n);
        return true;
    }
    if (!choose(function, percent, points, n, &chosen))
        return false;
    *ret = chosen;
    return true;
}
