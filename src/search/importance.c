/* SPDX-License-Identifier: MIT */
/*
 * importance.c — the adjusted correlation ratio of each parameter on the ranks of the results.
 *
 * Results are replaced by their ranks, so one diverged trial does not drown the rest. Numbers are
 * put into bins of equal count, choices are their own bins. The share is η² (variance between bins
 * over variance in all), corrected for what bins of pure chance would give:
 * 1 − (1 − η²)(n − 1)/(n − k), not below 0 (Kelley's ε², 1935).
 */
#include "search/importance.h"

#include <errno.h>
#include <math.h>

#define RESULTS_MIN 8
#define BINS_MAX    4

struct keyed {
    double key;
    size_t at;
};

static int by_key(const void *a, const void *b)
{
    double x = ((const struct keyed *)a)->key, y = ((const struct keyed *)b)->key;
    return (x > y) - (x < y);
}

/* Mean ranks in [0, n−1]; equal values share theirs. */
static void ranks_of(const double *values, size_t n, double *ret)
{
    autofree(mem) struct keyed *sorted = xcalloc(n, sizeof(*sorted));
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct keyed){values[i], i};
    qsort(sorted, n, sizeof(*sorted), by_key);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end].key == sorted[i].key;)
            end++;
        for (size_t k = i; k < end; k++)
            ret[sorted[k].at] = (double)(i + end - 1) / 2;
    }
}

/* Which bin each result falls into; returns how many bins there may be. Inactive is one more. */
static size_t bins_of(const struct param *param, const double *column, size_t n, size_t *ret)
{
    size_t bins = param->type == PARAM_CHOICE ? param->n_choices : MIN(BINS_MAX, n / 4);
    autofree(mem) double *ranks = xcalloc(n, sizeof(*ranks));

    ranks_of(column, n, ranks);
    for (size_t i = 0; i < n; i++)
        if (isnan(column[i]))
            ret[i] = bins;
        else if (param->type == PARAM_CHOICE)
            ret[i] = (size_t)column[i];
        else
            ret[i] = MIN(bins - 1, (size_t)(ranks[i] * (double)bins / (double)n));
    return bins + 1;
}

static double share_of(const double *ranks, const size_t *bin, size_t n, size_t bins)
{
    autofree(mem) double *sum = xcalloc(bins, sizeof(*sum));
    autofree(mem) size_t *count = xcalloc(bins, sizeof(*count));
    double mean = (double)(n - 1) / 2, total = 0, between = 0;
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        sum[bin[i]] += ranks[i];
        count[bin[i]]++;
        total += (ranks[i] - mean) * (ranks[i] - mean);
    }
    for (size_t b = 0; b < bins; b++)
        if (count[b]) {
            double off = sum[b] / (double)count[b] - mean;
            between += (double)count[b] * off * off;
            used++;
        }
    if (used < 2 || used >= n || total <= 0)
        return 0;
    return MAX(0, 1 - (1 - between / total) * (double)(n - 1) / (double)(n - used));
}

int importance(const struct space *space, const double *points, const double *values, size_t n,
               double *ret_share)
{
    if (n < RESULTS_MIN)
        return -ENODATA;
    autofree(mem) double *ranks = xcalloc(n, sizeof(*ranks));
    autofree(mem) double *column = xcalloc(n, sizeof(*column));
    autofree(mem) size_t *bin = xcalloc(n, sizeof(*bin));

    ranks_of(values, n, ranks);
    for (size_t p = 0; p < space->n; p++) {
        for (size_t i = 0; i < n; i++)
            column[i] = points[i * space->n + p];
        ret_share[p] = 0;
        if (param_size(&space->params[p]) == 1)
            continue;
        size_t bins = bins_of(&space->params[p], column, n, bin);
        ret_share[p] = share_of(ranks, bin, n, bins);
    }
    return 0;
}
