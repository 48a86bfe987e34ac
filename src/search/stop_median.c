/* SPDX-License-Identifier: MIT */
/*
 * stop_median.c — the median rule, as in Vizier (Golovin et al. 2017, §3.2.2): stop at step t when
 * the best value so far is worse than the median, over the finished trials, of the average of their
 * values up to t.
 *
 * Curves are compared by "up to step t", not by equal steps, so trials that report at odd steps are
 * judged too. Nothing is stopped before WARM_UP values, nor against fewer than MIN_CURVES others.
 */
#include "search/stop.h"

#include <assert.h>
#include <math.h>

#define WARM_UP    3
#define MIN_CURVES 5

/* The mean of the values up to `step`; NaN if there is none. */
static double running_average(const struct curve *curve, int64_t step)
{
    double mean = 0;
    size_t n = 0;
    while (n < curve->n && curve->steps[n] <= step) {
        double share = 1 / (double)(n + 1);
        mean += curve->values[n] * share - mean * share;
        n++;
    }
    return n ? mean : NAN;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts `values`. */
static double median(double *values, size_t n)
{
    assert(n > 0);
    qsort(values, n, sizeof(*values), compare_doubles);
    return n % 2 ? values[n / 2] : values[n / 2 - 1] / 2 + values[n / 2] / 2;
}

static double best_of(const struct curve *curve)
{
    double best = INFINITY;
    for (size_t i = 0; i < curve->n; i++)
        best = fmin(best, curve->values[i]);
    return best;
}

static void median_judge(const struct stop_view *view, size_t mine, struct stop_verdict *ret)
{
    const struct curve *curve = &view->trials[mine].curve;

    stop_verdict_init(view, mine, ret);
    if (curve->n < WARM_UP)
        return;
    autofree(mem) double *averages = xcalloc(view->n, sizeof(*averages));
    size_t n = 0;
    for (size_t i = 0; i < view->n; i++) {
        if (view->trials[i].state != CURVE_COMPLETED)
            continue;
        double average = running_average(&view->trials[i].curve, ret->step);
        if (!isnan(average))
            averages[n++] = average;
    }
    if (n < MIN_CURVES)
        return;
    ret->threshold = median(averages, n);
    if (best_of(curve) > ret->threshold)
        ret->action = STOP_END;
}

const struct stop_ops stop_median = {
    .name = "median",
    .help = "stop when worse than the median of the finished trials at that step",
    .judge = median_judge,
};
