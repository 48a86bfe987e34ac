/* SPDX-License-Identifier: MIT */
/*
 * curve.c — extrapolation of learning curves, calibrated on those that have ended.
 *
 * What a curve shows at age a are its level and its fall: by how much it fell while its age
 * doubled, by least squares on ln(age) over the window (a/2, a]. Power laws, exponentials,
 * logarithms and Hill's curves agree that the fall still to come is about proportional to the last
 * one, with a factor that depends on the shape and on how much of the way is left: 1 − a/horizon
 * for 1/age, the number of doublings left for a logarithm. The factor is learned from the ended
 * curves at the same age, drawn towards the former, and so is the spread around it. A curve that
 * still moves may surprise more: to go on in a straight line in ln(age), or to gather way as it did
 * until now, is two deviations.
 *
 * Noise is told from shape by second differences: a smooth curve's level is its last value, a
 * noisy one's is the fitted one.
 *
 * The margin is a conformal one (Vovk et al. 2005). An ended curve is the winner among those that
 * ended no better, so its score — the worst that the forecasts, made from the others, said of it
 * against the next best — is a draw of the winner's score. With n of them the next one exceeds the
 * largest with chance 1/(n+1); beyond it a Pareto tail is assumed. It is never set below the
 * largest: curves that were stopped are missing here, and large scores are what they were stopped
 * for. Nor is it set below Student's quantile, which is what speaks while n is small.
 */
#include "surrogate/curve.h"

#include "linalg/normal.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#define LOOKS   48   /* ages at which the calibration looks, at most */
#define FIRST   0.1  /* nothing is forecast before this share of the way: curves may start slowly */
#define LAST    0.9  /* nor after it: there is nothing left to save */
#define SHRINK  2.0  /* the factor of 1/age counts as so many curves */
#define OWN     0.5  /* deviations for what an optimist would say */
#define GROWTH  2.0  /* who falls more with each doubling does so in a straight line at most */
#define SPREAD  0.01 /* no forecast is surer than this share of the spread of the ends */
#define LEAST   1e-4 /* … nor than this share of the range of all values */
#define TAIL    2.0  /* index of the Pareto tail */
#define SPANS   3.0  /* looks that count as independent: about the doublings from FIRST to LAST */
#define SAMPLES 8    /* points of a curve that tell its units */
#define FAR     10.0 /* scaled values are cut off here: a curve that exploded is just bad */

enum { SX, SXX, SY, SXY, SYY, SE, SUMS };

struct trace { /* a curve with its sums from the start */
    size_t n;
    double *x, *y;        /* (n) ln age, scaled value */
    double (*sums)[SUMS]; /* (n + 1) */
};

struct look {
    double level;
    double fall;   /* while its age doubled */
    double growth; /* of the fall from doubling to doubling, from 1 to GROWTH */
};

struct law { /* sums over the ended curves at one age: d is the fall that was still to come */
    double n, pp, dp, dd;
    double rest;      /* share of the way that is left */
    double doublings; /* of the age that are left */
};

struct curve_set {
    size_t n;
    double low, unit; /* scaled = (value − low) / unit */
    bool flat;        /* all values are equal */
    double horizon;   /* an age */
    double spread;    /* deviation of the ends */
    struct trace *traces;
    double *ends; /* (n) scaled */
    double best;
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double scaled(const struct curve_set *set, double value)
{
    double y = (value / 2 - set->low / 2) / set->unit * 2;
    return fmax(fmin(y, FAR), -FAR);
}

static double unscaled(const struct curve_set *set, double y)
{
    return fmax(fmin(set->low + y * set->unit, DBL_MAX / 4), -DBL_MAX / 4);
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

/* How many of the rising numbers are ≤ x. */
static size_t count_until(const double *rising, size_t n, double x)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rising[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Level and fall as the points up to ln(age) = x show them; false if there is none. */
static bool trace_fit(const struct trace *trace, double x, struct look *ret)
{
    size_t end = count_until(trace->x, trace->n, x + 1e-9);
    if (end == 0)
        return false;
    double last = trace->x[end - 1];
    size_t start = count_until(trace->x, end, last - M_LN2 - 1e-9);
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

static bool trace_look(const struct trace *trace, double x, struct look *ret)
{
    struct look before;
    *ret = (struct look){.level = NAN, .growth = 1};
    if (!trace_fit(trace, x, ret))
        return false;
    if (ret->fall > 0 && trace_fit(trace, x - M_LN2, &before))
        ret->growth = before.fall > 0 ? fmax(fmin(ret->fall / before.fall, GROWTH), 1) : GROWTH;
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

/* The law at age exp(x); ret_looks (n) are the curves there, with level NaN where there is none. */
static void law_init(struct law *law, const struct curve_set *set, double x, struct look *ret_looks)
{
    *law = (struct law){.rest = share_left(set, x),
                        .doublings = fmax(log(set->horizon) - x, 0) / M_LN2};
    for (size_t i = 0; i < set->n; i++) {
        if (trace_look(&set->traces[i], x, &ret_looks[i]))
            law_add(law, 1, &ret_looks[i], set->ends[i]);
    }
}

/* The sum of the falls to come if each is `growth` times the one before. */
static double optimism(const struct look *look, double doublings)
{
    double g = look->growth;
    return look->fall * (g > 1.001 ? g * (pow(g, doublings) - 1) / (g - 1) : doublings);
}

static void law_forecast(const struct law *law, const struct curve_set *set,
                         const struct look *look, struct forecast *ret)
{
    double n = fmax(law->n, 1), ridge = SHRINK * fmax(law->pp, 0) / n + 1e-12;
    double factor = fmax((law->dp + ridge * law->rest) / (fmax(law->pp, 0) + ridge), 0);
    double rest = law->dd - 2 * factor * law->dp + factor * factor * law->pp;
    double floor = fmax(SPREAD * set->spread, LEAST), own = OWN * optimism(look, law->doublings);
    double variance = fmax(rest, 0) / fmax(n - 1, 1) + own * own + floor * floor;
    ret->mean = look->level - factor * look->fall;
    ret->deviation = sqrt(variance);
}

/* Units in which the ended curves differ by about one; what is far above is cut off, so that a
 * curve that exploded does not make all others equal. A few points of each curve tell enough. */
static void find_units(struct curve_set *set, const struct curve_points *ended, size_t n)
{
    autofree(mem) double *values = xcalloc(n * SAMPLES, sizeof(*values));
    double low = INFINITY, high = -INFINITY;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < ended[i].n; j++) {
            low = fmin(low, ended[i].values[j]);
            high = fmax(high, ended[i].values[j]);
        }
        for (size_t j = 0; j < SAMPLES; j++)
            values[k++] = ended[i].values[j * (ended[i].n - 1) / (SAMPLES - 1)];
    }
    qsort(values, k, sizeof(*values), compare_doubles);
    set->low = low;
    set->unit = values[k - 1 - k / 10] / 2 - low / 2;
    if (!(set->unit > 0))
        set->unit = high / 2 - low / 2;
    set->flat = !(set->unit > 0);
    if (set->flat)
        set->unit = 1;
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

struct curve_set *curve_set_new(const struct curve_points *ended, size_t n)
{
    assert(n > 0);
    struct curve_set *set = xcalloc(1, sizeof(*set));
    set->n = n;
    set->horizon = median_age(ended, n);
    set->traces = xcalloc(n, sizeof(*set->traces));
    set->ends = xcalloc(n, sizeof(double));
    find_units(set, ended, n);
    for (size_t i = 0; i < n; i++)
        trace_init(&set->traces[i], set, &ended[i]);
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
                        struct forecast *ret)
{
    if (mine->n < 3 || set->flat)
        return false;
    double age = mine->ages[mine->n - 1];
    if (age < FIRST * set->horizon || age > LAST * set->horizon)
        return false;
    autofree(mem) struct look *looks = xcalloc(set->n, sizeof(*looks));
    struct trace trace;
    struct look look;
    struct law law;
    trace_init(&trace, set, mine);
    trace_look(&trace, log(age), &look);
    law_init(&law, set, log(age), looks);
    law_forecast(&law, set, &look, ret);
    ret->mean = unscaled(set, ret->mean);
    ret->deviation = fmin(ret->deviation * set->unit, DBL_MAX / 4);
    trace_release(&trace);
    return true;
}

/* The best end among those worse than each curve's; NaN: it is the worst. How many have one. */
static size_t find_nexts(const struct curve_set *set, double *ret_nexts)
{
    autofree(mem) double *sorted = xmemdup(set->ends, set->n * sizeof(*sorted));
    size_t found = 0;
    qsort(sorted, set->n, sizeof(*sorted), compare_doubles);
    for (size_t i = 0; i < set->n; i++) {
        size_t above = count_until(sorted, set->n, set->ends[i]);
        ret_nexts[i] = above < set->n ? sorted[above] : NAN;
        found += above < set->n;
    }
    return found;
}

/* Raise every curve's score to what the forecasts at age exp(x) say of it. */
static void score_at(const struct curve_set *set, double x, const double *nexts, struct look *looks,
                     double *scores)
{
    struct law law;
    law_init(&law, set, x, looks);
    for (size_t i = 0; i < set->n; i++) {
        struct forecast forecast;
        if (isnan(nexts[i]) || isnan(looks[i].level))
            continue;
        struct law others = law;
        law_add(&others, -1, &looks[i], set->ends[i]);
        law_forecast(&others, set, &looks[i], &forecast);
        scores[i] = fmax(scores[i], (forecast.mean - nexts[i]) / forecast.deviation);
    }
}

double curve_set_least_margin(const struct curve_set *set, double risk)
{
    /* Student's quantile, as Wallace (1959) brings it to the normal one. */
    double nu = fmax((double)set->n - 1, 1);
    double z = fmax(-normal_quantile(risk / SPANS), 0) * (8 * nu + 3) / (8 * nu + 1);
    return sqrt(nu * expm1(z * z / nu));
}

/* The largest score of the curves that ended better than some other; how many those are. */
static double worst_score(const struct curve_set *set, size_t *ret_n)
{
    autofree(mem) double *nexts = xcalloc(2 * set->n, sizeof(*nexts));
    autofree(mem) struct look *looks = xcalloc(set->n, sizeof(*looks));
    double *scores = nexts + set->n, worst = 0;
    size_t longest = 0;
    *ret_n = find_nexts(set, nexts);
    for (size_t i = 0; i < set->n; i++)
        if (set->traces[i].n > set->traces[longest].n)
            longest = i;
    const struct trace *grid = &set->traces[longest];
    double from = log(FIRST * set->horizon), until = log(LAST * set->horizon);
    for (size_t k = 2; k < grid->n; k += grid->n / LOOKS + 1)
        if (grid->x[k] >= from && grid->x[k] <= until)
            score_at(set, grid->x[k], nexts, looks, scores);
    for (size_t i = 0; i < set->n; i++)
        worst = fmax(worst, scores[i]);
    return worst;
}

double curve_set_margin(const struct curve_set *set, double risk)
{
    size_t n;
    double worst = set->flat ? 0 : worst_score(set, &n);
    double beyond = set->flat ? 1 : fmax(pow((double)(n + 1) * risk, -1 / TAIL), 1);
    return fmax(curve_set_least_margin(set, risk), worst * beyond);
}

double curve_set_chance(const struct curve_set *set, const struct forecast *forecast, double value)
{
    double t = (forecast->mean - value) / forecast->deviation, nu = fmax((double)set->n - 1, 1);
    double z = (8 * nu + 1) / (8 * nu + 3) * sqrt(nu * log1p(t * t / nu));
    return normal_cdf(t > 0 ? -z : z);
}
