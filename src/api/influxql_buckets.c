/* SPDX-License-Identifier: MIT */
/*
 * influxql_buckets.c — functions by buckets of time that need no more of a series than its points
 * one after the other: the points of a chunk that lie in a bucket are added to it, and none are
 * held. Same sums as influxql_function.c's, in the same order.
 *
 * Only for points whose times rise, as nearly all do: of two with the same time the later one
 * counts, which is known at the end only. And not to choose among whole numbers beyond doubles.
 */
#include "api/influxql_rows.h"

#include <errno.h>
#include <math.h>

struct bucket { /* n 0: the rest means nothing */
    uint64_t n;
    double value; /* sum, largest, smallest, first or last: what the function is about … */
    double least; /* … and the smallest for spread */
};

void buckets_release(struct buckets *buckets)
{
    free(buckets->at);
    *buckets = (struct buckets){.at = NULL};
}

/* ---- filling ---- */

static double sum_on(double sum, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum;
}

/* The larger one, of equals the first; NaN is passed over. sign −1: the smaller one. */
static double extreme_on(double best, const double *values, size_t n, double sign)
{
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]) && (isnan(best) || sign * values[i] > sign * best))
            best = values[i];
    return best;
}

/* Before its first value. */
static struct bucket begin_bucket(enum function function, double first)
{
    bool sums = function == FUNCTION_MEAN || function == FUNCTION_SUM;

    return (struct bucket){.value = sums                         ? 0
                                    : function == FUNCTION_FIRST ? first
                                                                 : NAN,
                           .least = NAN};
}

static void bucket_add(struct bucket *bucket, enum function function, const double *values,
                       size_t n)
{
    if (!bucket->n)
        *bucket = begin_bucket(function, values[0]);
    bucket->n += n;
    switch (function) {
    case FUNCTION_MEAN:
    case FUNCTION_SUM:
        bucket->value = sum_on(bucket->value, values, n);
        break;
    case FUNCTION_SPREAD:
        bucket->least = extreme_on(bucket->least, values, n, -1);
        bucket->value = extreme_on(bucket->value, values, n, 1);
        break;
    case FUNCTION_MAX:
    case FUNCTION_MIN:
        bucket->value = extreme_on(bucket->value, values, n, function == FUNCTION_MAX ? 1 : -1);
        break;
    case FUNCTION_LAST:
        bucket->value = values[n - 1];
        break;
    default: /* the first, or how many */
        break;
    }
}

struct filling {
    struct buckets *to;
    enum function function;
    struct range range;
    int64_t last_ns;  /* INT64_MIN: none yet */
    size_t at;        /* the bucket at hand … */
    int64_t begin_ns; /* … and where it begins */
};

static bool rise(const int64_t *times_ns, size_t n, int64_t last_ns)
{
    bool falls = false;

    for (size_t i = 0; i < n; i++) {
        falls |= times_ns[i] <= last_ns;
        last_ns = times_ns[i];
    }
    return !falls;
}

/* From the beginning of the bucket at hand, which is never behind ns. */
static uint64_t distance(const struct filling *filling, int64_t ns)
{
    return (uint64_t)ns - (uint64_t)filling->begin_ns;
}

static void go_to_bucket(struct filling *filling, int64_t ns)
{
    uint64_t interval = (uint64_t)filling->to->interval_ns, ahead = distance(filling, ns);
    uint64_t buckets = ahead < interval ? 0 : ahead < 2 * interval ? 1 : ahead / interval;

    filling->at += buckets;
    filling->begin_ns = (int64_t)((uint64_t)filling->begin_ns + buckets * interval);
}

/* Returns how many of the points, all of them asked for, lie in the bucket of the first. */
static size_t fill_one(struct filling *filling, const int64_t *times_ns, const double *values,
                       size_t n)
{
    uint64_t interval = (uint64_t)filling->to->interval_ns;
    size_t count = 1;

    go_to_bucket(filling, times_ns[0]);
    while (count < n && distance(filling, times_ns[count]) < interval)
        count++;
    bucket_add(&filling->to->at[filling->at], filling->function, values, count);
    filling->to->n += count;
    return count;
}

/* -EILSEQ: it takes the points themselves. */
static int on_points(const struct influxql_points *points, void *arg)
{
    struct filling *filling = arg;
    const int64_t *times_ns = points->times_ns;
    const double *values = points->values;
    size_t from = 0, n = points->n;

    if (!rise(times_ns, n, filling->last_ns) ||
        (points->rests && function_chooses(filling->function)))
        return -EILSEQ;
    filling->last_ns = n ? times_ns[n - 1] : filling->last_ns;
    while (from < n && times_ns[from] < filling->range.min_ns)
        from++;
    while (n > from && times_ns[n - 1] > filling->range.max_ns)
        n--;
    while (from < n)
        from += fill_one(filling, times_ns + from, values + from, n - from);
    return 0;
}

int buckets_fill(const struct select_run *run, const struct picked *picked, struct range range,
                 enum function function, struct buckets *buckets)
{
    struct filling filling = {.to = buckets,
                              .function = function,
                              .range = range,
                              .last_ns = INT64_MIN,
                              .begin_ns = buckets->first_ns};

    buckets->at = xcalloc(buckets->len + 1, sizeof(*buckets->at));
    int r = run->source->points(run->source->arg, run->db, &picked->series, range.min_ns,
                                range.max_ns, on_points, &filling);
    if (r < 0)
        buckets_release(buckets);
    return r;
}

/* ---- what they come to ---- */

bool buckets_apply(const struct buckets *buckets, size_t i, enum function function, double *ret)
{
    const struct bucket *bucket = &buckets->at[i];

    if (!bucket->n)
        return false;
    switch (function) {
    case FUNCTION_MEAN:
        *ret = bucket->value / (double)bucket->n;
        return true;
    case FUNCTION_COUNT:
        *ret = (double)bucket->n;
        return true;
    case FUNCTION_SPREAD:
        *ret = bucket->value - bucket->least;
        return true;
    case FUNCTION_MAX:
    case FUNCTION_MIN:
        *ret = bucket->value;
        return !isnan(bucket->value);
    default:
        *ret = bucket->value;
        return true;
    }
}
