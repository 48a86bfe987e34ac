/* SPDX-License-Identifier: MIT */
/*
 * query_across.c — many trials as one: what they were at the same column, whatever steps each of
 * them logged. A matrix of trials by columns, NaN where a trial has no value.
 */
#include "series/query.h"

#include <assert.h>
#include <math.h>

struct query_across {
    size_t width, trials;
    VEC(double) values; /* (trials, width) */
};

struct query_across *query_across_new(size_t width)
{
    assert(width > 0 && width <= QUERY_WIDTH_MAX);
    struct query_across *across = xcalloc(1, sizeof(*across));
    across->width = width;
    return across;
}

void query_across_free(struct query_across *across)
{
    vec_release(&across->values);
    free(across);
}

static double take_value(const struct query_column *column, enum query_take take)
{
    switch (take) {
    case QUERY_LAST:
        return column->last;
    case QUERY_MIN:
        return column->min;
    case QUERY_MAX:
        return column->max;
    case QUERY_MEAN:
        break;
    }
    return column->sum / (double)column->count;
}

static bool is_empty(const struct query_column *column)
{
    return column->count + column->nans + column->infs == 0;
}

void query_across_add(struct query_across *across, const struct query_chart *chart,
                      enum query_take take)
{
    autofree(mem) struct query_column *columns = xcalloc(across->width, sizeof(*columns));
    size_t end = across->width; /* behind the trial's last column with a point */
    double value = NAN;
    assert(query_chart_view(chart)->width == across->width);
    query_chart_columns(chart, columns);
    while (end > 0 && is_empty(&columns[end - 1]))
        end--;
    vec_reserve(&across->values, across->values.len + across->width);
    double *row = across->values.at + across->values.len;
    for (size_t c = 0; c < across->width; c++) {
        if (!is_empty(&columns[c]))
            value = columns[c].count ? take_value(&columns[c], take) : NAN;
        row[c] = c < end && isfinite(value) ? value : NAN;
    }
    across->values.len += across->width;
    across->trials++;
}

size_t query_across_trials(const struct query_across *across)
{
    return across->trials;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t query_across_values(const struct query_across *across, size_t column, double *ret)
{
    size_t n = 0;
    assert(column < across->width);
    for (size_t t = 0; t < across->trials; t++) {
        double value = across->values.at[t * across->width + column];
        if (isfinite(value))
            ret[n++] = value;
    }
    if (n > 1)
        qsort(ret, n, sizeof(*ret), compare_doubles);
    return n;
}

/* ---- figures ---- */
static double mean_of(const double *values, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++) /* no sum: that of huge values overflows */
        mean = query_blend(mean, values[i], 1 / (double)(i + 1));
    return mean;
}

void query_summarise(const double *sorted, size_t n, struct query_summary *ret)
{
    *ret = (struct query_summary){n, NAN, NAN, NAN, NAN, NAN};
    if (n == 0)
        return;
    ret->mean = mean_of(sorted, n);
    ret->min = sorted[0];
    ret->max = sorted[n - 1];
    ret->median = query_quantile(sorted, n, 0.5);
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (sorted[i] - ret->mean) * (sorted[i] - ret->mean);
    if (n > 1)
        ret->deviation = sqrt(squares / (double)(n - 1));
}

double query_quantile(const double *sorted, size_t n, double q)
{
    assert(q >= 0 && q <= 1);
    if (n == 0)
        return NAN;
    double at = q * (double)(n - 1), part = at - floor(at);
    size_t i = MIN((size_t)at, n - 1), next = MIN(i + 1, n - 1);
    if (sorted[i] == sorted[next])
        return sorted[i];
    return sorted[i] * (1 - part) + sorted[next] * part;
}

void query_bootstrap(const double *values, size_t n, double level, size_t resamples,
                     struct rng *rng, double *ret_low, double *ret_high)
{
    assert(level > 0 && level < 1 && resamples > 0);
    *ret_low = *ret_high = NAN;
    if (n == 0)
        return;
    autofree(mem) double *means = xcalloc(resamples, sizeof(*means));
    for (size_t r = 0; r < resamples; r++)
        for (size_t i = 0; i < n; i++)
            means[r] += values[rng_below(rng, n)] / (double)n;
    qsort(means, resamples, sizeof(*means), compare_doubles);
    *ret_low = query_quantile(means, resamples, (1 - level) / 2);
    *ret_high = query_quantile(means, resamples, (1 + level) / 2);
}
