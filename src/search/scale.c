/* SPDX-License-Identifier: MIT */
/*
 * scale.c — winsorised values of mean 0 and deviation 1.
 *
 *     t = (y − median) / σ,   σ² = mean (y − median)² over the better half
 *     beyond t = CLIP only the logarithm counts: CLIP + TAIL·ln(1 + t − CLIP),
 *     and of a disaster (a thousand σ and more) hardly that
 *
 * The fine shape has ln(1 + (y − best) / (FINE·(median − best))) in the place of y.
 *
 * Of the scales tried on real tables (ranks of the worse half, logarithms near the best, plain
 * deviations) the plain shape finds and chooses best; on functions without noise the fine one does.
 */
#include "search/scale.h"

#include <math.h>

#define CLIP     2.0
#define TAIL     0.3
#define DISASTER 7.0 /* ln of so many σ */
#define FINE     0.7
#define LEAST    1e-306 /* a spread of which there is an inverse */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted values. Sums of halves: values near the largest double must not overflow. */
static double median_of(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

/* The deviation of the better half from the median; of all from it where that half is constant. */
static double spread_of(const double *sorted, size_t n, double median)
{
    double largest = fabs(sorted[0] / 2 - median / 2), sum = 0;
    size_t m = 0;

    for (; m < n && sorted[m] <= median; m++)
        if (largest > 0)
            sum += pow((sorted[m] / 2 - median / 2) / largest, 2);
    double spread = 2 * largest * sqrt(sum / (double)MAX(m, (size_t)1));
    double rest = sorted[n - 1] / 2 - median / 2;
    return spread > LEAST ? spread : rest > LEAST ? rest : 1;
}

static double squash(double t)
{
    if (t <= CLIP)
        return t;
    double u = log1p(t - CLIP), over = u - DISASTER;
    if (isinf(u)) /* so many σ that no double counts them */
        return CLIP + TAIL * (DISASTER + 1);
    return CLIP + TAIL * (over > 0 ? DISASTER + over / (1 + over) : u);
}

static void standardise(struct scale *scale)
{
    double mean = 0, variance = 0;

    for (size_t i = 0; i < scale->n; i++)
        mean += scale->to[i] / (double)scale->n;
    for (size_t i = 0; i < scale->n; i++)
        variance += (scale->to[i] - mean) * (scale->to[i] - mean) / (double)scale->n;
    double deviation = variance > 0 ? sqrt(variance) : 1;
    for (size_t i = 0; i < scale->n; i++)
        scale->to[i] = (scale->to[i] - mean) / deviation;
    scale->slope *= deviation;
}

/* Sorted values become the logarithm of their distance from the best, in place. Returns the slope
 * of a value by it at the best one; values too close together or too far apart stay: 1. */
static double refine(double *sorted, size_t n)
{
    double best = sorted[0], unit = FINE * (median_of(sorted, n) - best);

    if (!(unit > LEAST) || isinf((sorted[n - 1] - best) / unit))
        return 1;
    for (size_t i = 0; i < n; i++)
        sorted[i] = log1p((sorted[i] - best) / unit);
    return unit;
}

void scale_init(struct scale *scale, const double *values, size_t n, enum shape shape)
{
    *scale = (struct scale){
        .n = n,
        .from = xmemdup(values, n * sizeof(*values)),
        .to = xcalloc(n, sizeof(double)),
    };
    qsort(scale->from, n, sizeof(*values), compare);
    memcpy(scale->to, scale->from, n * sizeof(*values));
    double unit = shape == SHAPE_FINE ? refine(scale->to, n) : 1;
    double median = median_of(scale->to, n), spread = spread_of(scale->to, n, median);
    scale->slope = unit * spread;
    for (size_t i = 0; i < n; i++) {
        double t = (scale->to[i] / 2 - median / 2) / (spread / 2);
        scale->to[i] = squash(t);
    }
    standardise(scale);
}

void scale_stretch(struct scale *scale, double by)
{
    for (size_t i = 0; i < scale->n; i++)
        scale->to[i] *= by;
    scale->slope /= by;
}

void scale_release(struct scale *scale)
{
    free(scale->from);
    free(scale->to);
}

/* Piecewise linear from `a` to `b`; beyond the first by `slope`, beyond the last flat. */
static double interpolate(const double *a, const double *b, size_t n, double slope, double at)
{
    size_t low = 0, high = n;

    if (at <= a[0])
        return b[0] + (at - a[0]) * slope;
    while (high - low > 1) { /* a[low] <= at, at < a[high] */
        size_t middle = (low + high) / 2;
        if (a[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    if (high == n || a[high] <= a[low])
        return b[MIN(high, n - 1)];
    double unit = isinf(a[high] - a[low]) ? 2 : 1; /* halves: the difference has no double */
    return b[low] +
           (b[high] - b[low]) * ((at / unit - a[low] / unit) / (a[high] / unit - a[low] / unit));
}

double scale_apply(const struct scale *scale, double value)
{
    return interpolate(scale->from, scale->to, scale->n, 1 / scale->slope, value);
}

double scale_undo(const struct scale *scale, double scaled)
{
    return interpolate(scale->to, scale->from, scale->n, scale->slope, scaled);
}
