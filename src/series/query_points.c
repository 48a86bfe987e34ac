/* SPDX-License-Identifier: MIT */
/*
 * query_points.c — points as they come: sorted, cut to a range, smoothed, the last of them.
 */
#include "series/query.h"

#include <assert.h>
#include <math.h>

/* ---- order ---- */
static bool is_sorted(const double *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (x[i] < x[i - 1])
            return false;
    return true;
}

/* from[a … m) and from[m … b) are sorted; on equal x the left one goes first. */
static void merge(const struct query_point *from, size_t a, size_t m, size_t b,
                  struct query_point *to)
{
    for (size_t left = a, right = m, i = a; i < b; i++) {
        bool take_left = right >= b || (left < m && !(from[right].x < from[left].x));
        to[i] = from[take_left ? left++ : right++];
    }
}

void query_sort(double *x, double *y, size_t n)
{
    if (is_sorted(x, n))
        return;
    autofree(mem) struct query_point *points = xcalloc(n, sizeof(*points));
    autofree(mem) struct query_point *spare = xcalloc(n, sizeof(*spare));
    for (size_t i = 0; i < n; i++)
        points[i] = (struct query_point){x[i], y[i]};
    for (size_t length = 1; length < n; length *= 2) {
        for (size_t at = 0; at < n; at += 2 * length)
            merge(points, at, MIN(at + length, n), MIN(at + 2 * length, n), spare);
        struct query_point *sorted = spare;
        spare = points;
        points = sorted;
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = points[i].x;
        y[i] = points[i].y;
    }
}

/* How many of rising x[n] are below `limit`, or at it with `and_equal`. */
static size_t count_below(const double *x, size_t n, double limit, bool and_equal)
{
    size_t low = 0;
    while (n > 0) {
        size_t half = n / 2;
        if (x[low + half] < limit || (and_equal && x[low + half] == limit)) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

size_t query_range(const double *x, size_t n, double lo, double hi, size_t *ret_first)
{
    size_t end = count_below(x, n, hi, true);
    *ret_first = MIN(count_below(x, n, lo, false), end);
    return end - *ret_first;
}

/* ---- smoothing ---- */
/* sum is Σ (1−w)·wᵏ·y, mass the same of ones. As in TensorBoard, values that have all been the same
 * so far are not touched: rounding would make them tremble. */
static void smooth_by_weight(struct query_smooth *smooth, const double *y, size_t n, double *ret_y)
{
    struct query_smooth now = *smooth; /* in registers */
    double weight = now.weight, fresh = 1 - weight;
    double inverse = now.mass > 0 ? 1 / now.mass : 0;
    for (size_t i = 0; i < n; i++) {
        double value = y[i], mass = now.mass * weight + fresh;
        if (!isfinite(value)) {
            ret_y[i] = value;
            continue;
        }
        if (mass != now.mass) { /* until it has grown */
            now.first = now.mass > 0 ? now.first : value;
            now.mass = mass;
            inverse = 1 / mass;
        }
        now.sum = now.sum * weight + fresh * value;
        now.varied |= value != now.first;
        ret_y[i] = now.varied ? now.sum * inverse : value;
    }
    *smooth = now;
}

static double decay_by_distance(struct query_smooth *smooth, double x)
{
    double distance = fmax(x - smooth->last_x, 0);
    if (distance != smooth->distance || smooth->decay == 0) { /* even steps: once */
        smooth->distance = distance;
        smooth->decay = exp(-distance / smooth->scale);
    }
    smooth->last_x = x;
    return smooth->decay;
}

/* sum is the mean itself here, mass Σ exp(−distance / scale). */
static void smooth_by_distance(struct query_smooth *smooth, const double *x, const double *y,
                               size_t n, double *ret_y)
{
    for (size_t i = 0; i < n; i++) {
        double value = y[i];
        if (isfinite(value)) {
            smooth->mass = smooth->mass * decay_by_distance(smooth, x[i]) + 1;
            smooth->sum = query_blend(smooth->sum, value, 1 / smooth->mass);
            value = smooth->sum;
        }
        ret_y[i] = value;
    }
}

void query_smooth_feed(struct query_smooth *smooth, const double *x, const double *y, size_t n,
                       double *ret_y)
{
    assert(smooth->scale > 0 || (smooth->weight >= 0 && smooth->weight < 1));
    if (smooth->scale > 0)
        smooth_by_distance(smooth, x, y, n, ret_y);
    else
        smooth_by_weight(smooth, y, n, ret_y);
}

/* ---- the last ones ---- */
void query_last_feed(struct query_last *last, const double *x, const double *y, size_t n)
{
    assert(last->want > 0);
    for (size_t i = n > last->want ? n - last->want : 0; i < n; i++)
        last->points[(last->seen + i) % last->want] = (struct query_point){x[i], y[i]};
    last->seen += n;
}

size_t query_last_count(const struct query_last *last)
{
    return MIN(last->want, last->seen);
}

struct query_point query_last_at(const struct query_last *last, size_t i)
{
    size_t count = query_last_count(last);
    assert(i < count && last->want > 0);
    return last->points[(last->seen - count + i) % last->want];
}
