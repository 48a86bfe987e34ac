/* SPDX-License-Identifier: MIT */
/*
 * alert_rules.c — what diverged, plateau and stall mean, as pure functions.
 */
#include "base/clock.h"
#include "engine/alerts.h"

#include <assert.h>
#include <math.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *x, size_t n)
{
    assert(n > 0);
    qsort(x, n, sizeof(*x), by_size);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* How much worse a is than b: negative if it is better. */
static double worse_by(const struct alert_curve *curve, double a, double b)
{
    return curve->objective->goal == GOAL_MAXIMIZE ? b - a : a - b;
}

/* ---- diverged ---- */

/* What "times its best" is measured by. A curve that has gained nothing may have begun near zero by
 * its nature: there the range in which its first n values were says more. 0: nothing to measure by.
 */
static double scale_of(const struct alert_curve *curve, size_t n)
{
    double low = curve->values[0], high = low;

    if (worse_by(curve, curve->values[0], curve->best) > 0)
        return fabs(curve->best);
    for (size_t i = 1; i < n; i++) {
        low = fmin(low, curve->values[i]);
        high = fmax(high, curve->values[i]);
    }
    return fmax(fabs(curve->best), high - low);
}

/* A curve that falls towards zero is often a multiple of its best by mere noise: so it must have
 * lost all that it had gained, too. */
char *alert_rising(const struct alert_curve *curve)
{
    size_t n = curve->n;

    if (n <= DIVERGED_RISES)
        return NULL;
    double last = curve->values[n - 1];
    for (size_t i = n - DIVERGED_RISES; i < n; i++)
        if (!(worse_by(curve, curve->values[i], curve->values[i - 1]) > 0))
            return NULL;
    double scale = scale_of(curve, n - DIVERGED_RISES);
    if (!(worse_by(curve, last, curve->values[0]) > 0) || scale == 0 ||
        !(worse_by(curve, last, curve->best) > (DIVERGED_TIMES - 1) * scale))
        return NULL;
    return xasprintf("%s is %.5g at step %lld, worse than %g times its best (%.5g), and getting "
                     "worse",
                     curve->objective->metric, last, (long long)curve->steps[n - 1], DIVERGED_TIMES,
                     curve->best);
}

/* ---- plateau ---- */

/* How far values typically are from a middle; x is used up. */
static double spread_around(double *x, size_t n, double middle)
{
    for (size_t i = 0; i < n; i++)
        x[i] = fabs(x[i] - middle);
    return 1.4826 * median(x, n);
}

/* The spread of a value around the trend, from the differences of neighbours: robust against both
 * the trend and outliers. Of values that go up and down by the same amount (0.5, 0.5001, 0.5, …)
 * the median difference is one of the two, and most have none from it: there the mean tells. */
static double noise_of(const double *values, size_t n)
{
    autofree(mem) double *steps = xcalloc(n, sizeof(*steps));

    assert(n > 1);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 1; i < n; i++)
            steps[i - 1] = values[i] - values[i - 1];
        double trend =
            round == 0 ? median(steps, n - 1) : (values[n - 1] - values[0]) / (double)(n - 1);
        double spread = spread_around(steps, n - 1, trend) / M_SQRT2;
        if (spread > 0)
            return spread;
    }
    return 0;
}

static double best_of(const struct alert_curve *curve, size_t from, size_t to)
{
    double best = curve->values[from];

    for (size_t i = from + 1; i < to; i++)
        if (worse_by(curve, curve->values[i], best) < 0)
            best = curve->values[i];
    return best;
}

char *alert_plateau(const struct alert_curve *curve, double steps)
{
    size_t n = curve->n, from = n;

    if (n < PLATEAU_POINTS)
        return NULL;
    double last = (double)curve->steps[n - 1];
    if (steps <= 0)
        steps = PLATEAU_SHARE * (last - (double)curve->steps[0]);
    while (from > 0 && (double)curve->steps[from - 1] > last - steps)
        from--;
    if (from == 0 || n - from < 3)
        return NULL;
    double before = best_of(curve, 0, from), now = best_of(curve, from, n);
    double noise = noise_of(curve->values + from, n - from);
    if (worse_by(curve, before, now) > noise)
        return NULL;
    return xasprintf("%s has not improved by more than its noise (%.2g) over the last %.0f steps: "
                     "%.5g at best, %.5g before",
                     curve->objective->metric, noise, steps, now, before);
}

/* ---- stall ---- */

void alert_watch_point(struct alert_watch *watch, int64_t us)
{
    if (watch->points > 0)
        watch->between_us[(watch->points - 1) % ALERT_INTERVALS] = MAX(0, us - watch->last_us);
    watch->points++;
    watch->last_us = us;
}

int64_t alert_stall_us(const struct alert_watch *watch, double times)
{
    double between[ALERT_INTERVALS] = {0};
    size_t n = (size_t)MIN(watch->points - 1, (int64_t)ALERT_INTERVALS);

    if (watch->points < ALERT_STALL_POINTS)
        return INT64_MAX;
    for (size_t i = 0; i < n; i++)
        between[i] = (double)watch->between_us[i];
    double usual = MAX(median(between, n), (double)watch->mean_us);
    return (int64_t)MAX(times * usual, (double)ALERT_STALL_US);
}
