/* SPDX-License-Identifier: MIT */
/*
 * curve.c — extrapolation of learning curves, calibrated on those that have ended.
 *
 * What a curve shows at age a are its level and its fall: by how much it fell while its age
 * doubled, by least squares on ln(age) over the window (a/2, a]. Of the fall still to come nearly
 * all curves in use (power laws, exponentials, logarithms, Hill's) say that it is proportional to
 * the last one, with a factor that depends on the shape and on how much of the way is left; 1 −
 * a/horizon for 1/age. The factor is learned from the ended curves at the same age, drawn towards
 * that value, and so is the spread around it. A curve that still moves may surprise more, so its
 * own fall widens its deviation.
 *
 * Noise is told from shape by second differences: a smooth curve's level is its last value, a noisy
 * one's is the fitted one.
 *
 * The margin is a conformal one (Vovk et al. 2005): an ended curve is a winner among those that
 * ended no better, so its score — the worst that the forecasts, made from the others, said of it
 * against the next best — is a draw of the winner's score. With n of them the next exceeds the
 * largest with chance 1/(n+1); beyond the largest a Pareto tail is assumed. It is never set below
 * the largest: curves that were stopped are missing here, and they are those with large scores.
 */
#include "surrogate/curve.h"

#include "linalg/normal.h"

#include <assert.h>
#include <math.h>

#ifndef LOOKS
#define LOOKS 48 /* ages at which the calibration looks */
#endif
#ifndef SHRINK
#define SHRINK 2.0 /* the theory's factor counts as so many curves */
#endif
#ifndef OWN
#define OWN 1.0
#endif
#ifndef FLOOR
#define FLOOR 0.01
#endif
#ifndef TAIL
#define TAIL 2.0
#endif
#ifndef LEAST
#define LEAST 1.0
#endif
#ifndef FIRST
#define FIRST 0.06
#endif
#ifndef LAST
#define LAST 0.9
#endif

enum { SX, SXX, SY, SXY, SYY, SE, SUMS };

struct trace { /* a curve with its sums from the start */
    size_t n;
    double *x, *y;        /* (n) ln age, scaled value */
    double (*sums)[SUMS]; /* (n + 1) */
};

struct look {
    double level, fall;
};

struct law { /* sums over the ended curves at one age: d is the fall that was still to come */
    double n, pp, dp, dd, rest;
};

struct curve_set {
    size_t n;
    double low, unit; /* scaled = (value − low) / unit */
    double horizon, spread;
    struct trace *traces;
    double *ends;                /* (n) scaled */
    double *priors, *deviations; /* (n) scaled */
    double best;
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double scaled(const struct curve_set *set, double value)
{
    return isnan(value) ? NAN : fmin((value / 2 - set->low / 2) / set->unit * 2, 1e3);
}

static double unscaled(const struct curve_set *set, double y)
{
    return set->low + y * set->unit;
}

static void trace_init(struct trace *trace, const struct curve_set *set,
                       const struct curve_points *points)
{
    size_t n = points->n;
    trace->n = n;
    trace->x = xcalloc(2 * n, sizeof(double));
    trace->y = trace->x + n;
    trace->sums = xcalloc(n + 1, sizeof(*trace->sums));
    for (size_t i = 0; i < n; i++) {
        double x = trace->x[i] = log(points->ages[i]);
        double y = trace->y[i] = scaled(set, points->values[i]);
        double e = 0;
        if (i >= 2) { /* the middle of three against the line through its neighbours */
            const double *xs = trace->x + i - 2, *ys = trace->y + i - 2;
            double w = (xs[1] - xs[0]) / (xs[2] - xs[0]);
            double off = ys[1] - (1 - w) * ys[0] - w * ys[2];
            e = off * off / (1 + w * w + (1 - w) * (1 - w));
        }
        const double *s = trace->sums[i];
        double *t = trace->sums[i + 1];
        t[SX] = s[SX] + x;
        t[SXX] = s[SXX] + x * x;
        t[SY] = s[SY] + y;
        t[SXY] = s[SXY] + x * y;
        t[SYY] = s[SYY] + y * y;
        t[SE] = s[SE] + e;
    }
}

static void trace_release(struct trace *trace)
{
    free(trace->x);
    free(trace->sums);
}

/* How many points have x ≤ the given one. */
static size_t points_until(const struct trace *trace, double x)
{
    size_t low = 0, high = trace->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trace->x[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool trace_look(const struct trace *trace, double x, struct look *ret)
{
    size_t end = points_until(trace, x + 1e-9);
    if (end == 0)
        return false;
    double last = trace->x[end - 1];
    size_t start = points_until(trace, last - M_LN2 - 1e-9);
    start = MIN(start, end >= 3 ? end - 3 : 0);
    const double *a = trace->sums[start], *b = trace->sums[end];
    double n = (double)(end - start), mx = (b[SX] - a[SX]) / n, my = (b[SY] - a[SY]) / n;
    double xx = b[SXX] - a[SXX] - n * mx * mx, xy = b[SXY] - a[SXY] - n * mx * my;
    double slope = xx > 1e-12 ? xy / xx : 0;
    double weight = 0;
    if (n >= 4) {
        double rest = fmax(b[SYY] - a[SYY] - n * my * my - slope * xy, 0) / (n - 2);
        double noise = (b[SE] - trace->sums[start + 2][SE]) / (n - 2);
        weight = rest > 1e-14 ? fmin(noise / rest, 1) : 0;
    }
    double y = trace->y[end - 1];
    ret->level = y + weight * (my + slope * (last - mx) - y);
    ret->fall = -slope * M_LN2;
    return true;
}

static double share_left(const struct curve_set *set, double x)
{
    return fmax(1 - exp(x) / set->horizon, 0);
}

static void law_add(struct law *law, double sign, const struct look *look, double end)
{
    double d = look->level - end;
    law->n += sign;
    law->pp += sign * look->fall * look->fall;
    law->dp += sign * look->fall * d;
    law->dd += sign * d * d;
}

static void law_init(struct law *law, const struct curve_set *set, double x)
{
    struct look look;
    *law = (struct law){.rest = share_left(set, x)};
    for (size_t i = 0; i < set->n; i++)
        if (trace_look(&set->traces[i], x, &look))
            law_add(law, 1, &look, set->ends[i]);
}

static void law_forecast(const struct law *law, const struct curve_set *set,
                         const struct look *look, double prior, double deviation,
                         struct forecast *ret)
{
    double n = fmax(law->n, 1), ridge = SHRINK * fmax(law->pp, 0) / n + 1e-12;
    double factor = (law->dp + ridge * law->rest) / (fmax(law->pp, 0) + ridge);
    double rest = law->dd - 2 * factor * law->dp + factor * factor * law->pp;
    double floor = FLOOR * set->spread;
    double variance =
        fmax(rest, 0) / fmax(n - 1, 1) + OWN * look->fall * look->fall + floor * floor + 1e-18;
    ret->mean = look->level - factor * look->fall;
    if (!isnan(prior) && deviation > 0) {
        double theirs = deviation * deviation;
        ret->mean = (ret->mean * theirs + prior * variance) / (theirs + variance);
        variance = variance * theirs / (theirs + variance);
    }
    ret->deviation = sqrt(variance);
}

/* Units in which the ended curves differ by about one; what is far above is cut off, so that a
 * curve that exploded does not make all others equal. */
static void find_units(struct curve_set *set, const struct curve_points *ended, size_t n)
{
    size_t total = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        total += ended[i].n;
    autofree(mem) double *values = xcalloc(total, sizeof(*values));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < ended[i].n; j++)
            values[k++] = ended[i].values[j];
    qsort(values, total, sizeof(*values), compare_doubles);
    set->low = values[0];
    set->unit = values[total - 1 - total / 10] / 2 - values[0] / 2;
    if (!(set->unit > 0))
        set->unit = values[total - 1] / 2 - values[0] / 2;
}

static void find_ends(struct curve_set *set)
{
    double mean = 0, squares = 0;
    set->best = INFINITY;
    for (size_t i = 0; i < set->n; i++) {
        struct look look;
        trace_look(&set->traces[i], set->traces[i].x[set->traces[i].n - 1], &look);
        set->ends[i] = look.level;
        set->best = fmin(set->best, look.level);
        mean += look.level / (double)set->n;
    }
    for (size_t i = 0; i < set->n; i++)
        squares += (set->ends[i] - mean) * (set->ends[i] - mean);
    set->spread = sqrt(squares / (double)set->n);
}

static double median_age(const struct curve_points *ended, size_t n)
{
    autofree(mem) double *ages = xcalloc(n, sizeof(*ages));
    for (size_t i = 0; i < n; i++)
        ages[i] = ended[i].ages[ended[i].n - 1];
    qsort(ages, n, sizeof(*ages), compare_doubles);
    return ages[n / 2];
}

struct curve_set *curve_set_new(const struct curve_points *ended, const double *prior_means,
                                const double *prior_deviations, size_t n)
{
    assert(n > 0);
    struct curve_set *set = xcalloc(1, sizeof(*set));
    set->n = n;
    set->horizon = median_age(ended, n);
    set->traces = xcalloc(n, sizeof(*set->traces));
    set->ends = xcalloc(3 * n, sizeof(double));
    set->priors = set->ends + n;
    set->deviations = set->ends + 2 * n;
    find_units(set, ended, n);
    for (size_t i = 0; i < n; i++) {
        trace_init(&set->traces[i], set, &ended[i]);
        set->priors[i] = prior_means ? scaled(set, prior_means[i]) : NAN;
        set->deviations[i] = prior_means ? prior_deviations[i] / set->unit : NAN;
    }
    find_ends(set);
    return set;
}

void curve_set_free(struct curve_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        trace_release(&set->traces[i]);
    free(set->traces);
    free(set->ends);
    free(set);
}

double curve_set_horizon(const struct curve_set *set)
{
    return set->horizon;
}

double curve_set_end(const struct curve_set *set, size_t i)
{
    return unscaled(set, set->ends[i]);
}

double curve_set_best(const struct curve_set *set)
{
    return unscaled(set, set->best);
}

bool curve_set_forecast(const struct curve_set *set, const struct curve_points *mine,
                        double prior_mean, double prior_deviation, struct forecast *ret)
{
    if (mine->n < 3 || !(set->unit > 0))
        return false;
    double age = mine->ages[mine->n - 1];
    if (age < FIRST * set->horizon || age > LAST * set->horizon)
        return false;
    struct trace trace;
    struct look look;
    struct law law;
    trace_init(&trace, set, mine);
    trace_look(&trace, log(age), &look);
    law_init(&law, set, log(age));
    law_forecast(&law, set, &look, scaled(set, prior_mean), prior_deviation / set->unit, ret);
    ret->mean = unscaled(set, ret->mean);
    ret->deviation *= set->unit;
    trace_release(&trace);
    return true;
}

/* The best end among those worse than curve i; NaN: it is the worst. */
static double next_best(const struct curve_set *set, size_t i)
{
    double next = INFINITY;
    for (size_t k = 0; k < set->n; k++)
        if (set->ends[k] > set->ends[i])
            next = fmin(next, set->ends[k]);
    return isinf(next) ? NAN : next;
}

/* Raise every curve's score to what the forecasts at age exp(x) say of it. */
static void score_at(const struct curve_set *set, double x, const double *nexts, double *scores)
{
    struct law law;
    law_init(&law, set, x);
    for (size_t i = 0; i < set->n; i++) {
        struct look look;
        struct forecast forecast;
        if (isnan(nexts[i]) || !trace_look(&set->traces[i], x, &look))
            continue;
        struct law others = law;
        law_add(&others, -1, &look, set->ends[i]);
        law_forecast(&others, set, &look, set->priors[i], set->deviations[i], &forecast);
        scores[i] = fmax(scores[i], (forecast.mean - nexts[i]) / forecast.deviation);
    }
}

double curve_set_margin(const struct curve_set *set, double risk)
{
    autofree(mem) double *nexts = xcalloc(2 * set->n, sizeof(*nexts));
    double *scores = nexts + set->n;
    size_t longest = 0, n = 0;
    for (size_t i = 0; i < set->n; i++) {
        nexts[i] = next_best(set, i);
        n += !isnan(nexts[i]);
        if (set->traces[i].n > set->traces[longest].n)
            longest = i;
    }
    const struct trace *grid = &set->traces[longest];
    double from = log(FIRST * set->horizon), until = log(LAST * set->horizon);
    size_t stride = grid->n / LOOKS + 1;
    for (size_t k = 2; k < grid->n; k += stride)
        if (grid->x[k] >= from && grid->x[k] <= until)
            score_at(set, grid->x[k], nexts, scores);
    double worst = LEAST;
    for (size_t i = 0; i < set->n; i++)
        worst = fmax(worst, scores[i]);
    return worst * fmax(pow((double)(n + 1) * risk, -1 / TAIL), 1);
}

double curve_set_chance(const struct curve_set *set, const struct forecast *forecast, double value)
{
    /* Student's t as Wallace (1959) brings it to the normal distribution. */
    double t = (forecast->mean - value) / forecast->deviation, nu = fmax((double)set->n - 1, 1);
    double z = (8 * nu + 1) / (8 * nu + 3) * sqrt(nu * log1p(t * t / nu));
    return normal_cdf(t > 0 ? -z : z);
}
