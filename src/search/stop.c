/* SPDX-License-Identifier: MIT */
/*
 * stop.c — the rules that end a poor trial early.
 *
 * median, as in Vizier (Golovin et al. 2017, §3.2.2): stop at step t when the best value so far is
 * worse than the median, over the finished trials, of the average of their values up to t.
 * Curves are compared by "up to step t", not by equal steps, so trials that report at odd steps are
 * judged too. Nothing is stopped before WARM_UP values, nor against fewer than MIN_CURVES others.
 */
#include "search/stop.h"

#include <assert.h>
#include <math.h>

#define WARM_UP    3
#define MIN_CURVES 5

static bool never(const struct curve *mine UNUSED, const struct curve *finished UNUSED,
                  size_t n_finished UNUSED)
{
    return false;
}

/* The mean of the values up to `step`; NaN if there is none. */
static double running_average(const struct curve *curve, int64_t step)
{
    double mean = 0;
    size_t n = 0;
    while (n < curve->n && curve->steps[n] <= step) {
        mean += (curve->values[n] - mean) / (double)(n + 1);
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

static bool median_check(const struct curve *mine, const struct curve *finished, size_t n_finished)
{
    if (mine->n < WARM_UP || n_finished < MIN_CURVES)
        return false;

    autofree(mem) double *averages = xcalloc(n_finished, sizeof(*averages));
    int64_t step = mine->steps[mine->n - 1];
    size_t n = 0;
    for (size_t i = 0; i < n_finished; i++) {
        double average = running_average(&finished[i], step);
        if (!isnan(average))
            averages[n++] = average;
    }
    return n >= MIN_CURVES && best_of(mine) > median(averages, n);
}

static const struct stop_ops rules[] = {
    {"none", "every trial runs to its end", never},
    {"median", "stop when worse than the median of the finished trials at that step", median_check},
};

const struct stop_ops *stop_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (str_eq(rules[i].name, name))
            return &rules[i];
    return NULL;
}

size_t stop_count(void)
{
    return ARRAY_LEN(rules);
}

const struct stop_ops *stop_at(size_t i)
{
    assert(i < ARRAY_LEN(rules));
    return &rules[i];
}
