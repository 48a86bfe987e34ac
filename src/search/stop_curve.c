/* SPDX-License-Identifier: MIT */
/*
 * stop_curve.c — the default rule: end a trial when its learning curve will hardly become the best.
 *
 * surrogate/curve.h forecasts the end from the curve so far and from the trials that have
 * completed, and says by how many deviations a forecast must be behind before it may be believed:
 * so many that the winner of the experiment is stopped, at any of its looks, with at most the
 * chance that the user set. Only one trial wins, so the risk need not be shared out over the
 * trials. What the search's model expected of a trial is not used: the completed trials come
 * without it, so its part in a forecast could not be calibrated.
 *
 * With several objectives each is forecast alone, and a trial ends when one completed trial is
 * better in all of them by that much; each shares the risk.
 */
#include "search/stop.h"

#include "surrogate/curve.h"

#include <math.h>

#define MIN_CURVES  5
#define MIN_POINTS  3
#define MOST_CURVES 200  /* the rule learns from so many: the best ones and the latest */
#define MOST_POINTS 100  /* of a curve; longer ones are averaged in groups */
#define CHANCE      0.05 /* default of stop_settings.chance */

struct plain { /* a curve with ages instead of steps */
    double *ages, *values;
    size_t n;
};

static double spacing(const struct curve *curve)
{
    double span = (double)curve->steps[curve->n - 1] - (double)curve->steps[0];
    return curve->n > 1 ? span / (double)(curve->n - 1) : 1;
}

/* Ages count from `birth`; points before it are left out. */
static void plain_init(struct plain *plain, const struct curve *curve, double birth)
{
    size_t group = (curve->n + MOST_POINTS - 1) / MOST_POINTS;
    plain->n = 0;
    plain->ages = xcalloc(2 * curve->n + 2, sizeof(double));
    plain->values = plain->ages + curve->n + 1;
    for (size_t i = 0; i < curve->n; i += group) {
        double age = 0, value = 0, n = (double)MIN(group, curve->n - i);
        for (size_t k = i; k < MIN(i + group, curve->n); k++) {
            age += ((double)curve->steps[k] - birth) / n;
            value += curve->values[k] / n;
        }
        double before = plain->n ? plain->ages[plain->n - 1] : 0;
        if (!(age > before * (1 + 1e-12)))
            continue;
        plain->ages[plain->n] = age;
        plain->values[plain->n++] = value;
    }
}

static const struct curve *objective(const struct stop_trial *trial, size_t k)
{
    return k ? &trial->others[k - 1] : &trial->curve;
}

/* Has it values to learn from or to judge by? */
static bool long_enough(const struct stop_view *view, const struct stop_trial *trial)
{
    for (size_t k = 0; k <= view->n_others; k++)
        if ((k && !trial->others) || objective(trial, k)->n < MIN_POINTS)
            return false;
    return true;
}

static double final_value(const struct stop_trial *trial)
{
    return trial->curve.values[trial->curve.n - 1];
}

static int by_final(const void *a, const void *b)
{
    double x = final_value(*(const struct stop_trial *const *)a);
    double y = final_value(*(const struct stop_trial *const *)b);
    return (x > y) - (x < y);
}

/* The trials to learn from, into ret[view->n]; how many. */
static size_t find_teachers(const struct stop_view *view, const struct stop_trial **ret)
{
    size_t n = 0;
    for (size_t i = 0; i < view->n; i++)
        if (view->trials[i].state == CURVE_COMPLETED && long_enough(view, &view->trials[i]))
            ret[n++] = &view->trials[i];
    if (n <= MOST_CURVES)
        return n;
    size_t late = MOST_CURVES / 2, early = n - late;
    qsort(ret, early, sizeof(*ret), by_final);
    memmove(ret + late, ret + early, late * sizeof(*ret));
    return MOST_CURVES;
}

static double find_birth(const struct stop_trial *const *teachers, size_t n, size_t k)
{
    double birth = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const struct curve *curve = objective(teachers[i], k);
        birth = fmin(birth, (double)curve->steps[0] - spacing(curve));
    }
    return birth;
}

/* What is known of one objective. */
struct aspect {
    struct curve_set *set;
    struct forecast forecast;
    bool known;
    double margin; /* at least; `exact` makes it so */
    bool exact;
};

static void aspect_init(struct aspect *aspect, const struct stop_trial *const *teachers, size_t n,
                        const struct stop_trial *trial, size_t k, double risk)
{
    autofree(mem) struct plain *plains = xcalloc(n + 1, sizeof(*plains));
    autofree(mem) struct curve_points *points = xcalloc(n + 1, sizeof(*points));
    double birth = find_birth(teachers, n, k);
    for (size_t i = 0; i <= n; i++) {
        plain_init(&plains[i], objective(i < n ? teachers[i] : trial, k), birth);
        points[i] = (struct curve_points){plains[i].ages, plains[i].values, plains[i].n};
    }
    aspect->set = curve_set_new(points, n);
    aspect->known = curve_set_forecast(aspect->set, &points[n], &aspect->forecast);
    aspect->margin = curve_set_least_margin(aspect->set, risk);
    for (size_t i = 0; i <= n; i++)
        free(plains[i].ages);
}

/* Is the forecast above `value` by more than the margin? The dear part of the margin is computed
 * only where it matters. */
static bool surely_above(struct aspect *aspect, double value, double risk)
{
    double behind = (aspect->forecast.mean - value) / aspect->forecast.deviation;
    if (behind > aspect->margin && !aspect->exact) {
        aspect->margin = curve_set_margin(aspect->set, risk);
        aspect->exact = true;
    }
    return behind > aspect->margin;
}

/* The chance that a forecast leaves when it is behind by just the margin. */
static double chance_at_margin(const struct aspect *aspect)
{
    struct forecast unit = {aspect->margin, 1};
    return curve_set_chance(aspect->set, &unit, 0);
}

/* The chance that completed trial i does not dominate; *ret_surely: it does, in every objective. */
static double chance_against(struct aspect *aspects, size_t n_aspects, size_t i, double risk,
                             bool *ret_surely)
{
    double worse = 1;
    *ret_surely = true;
    for (size_t k = 0; k < n_aspects; k++) {
        double end = curve_set_end(aspects[k].set, i);
        worse *= 1 - curve_set_chance(aspects[k].set, &aspects[k].forecast, end);
        *ret_surely = *ret_surely && surely_above(&aspects[k], end, risk);
    }
    return 1 - worse;
}

static void judge_aspects(struct aspect *aspects, size_t n_aspects, size_t n, double risk,
                          struct stop_verdict *ret)
{
    double worse = 1;
    for (size_t k = 0; k < n_aspects; k++)
        if (!aspects[k].known)
            return;
    ret->chance = 1;
    ret->mean = aspects[0].forecast.mean;
    ret->deviation = aspects[0].forecast.deviation;
    for (size_t i = 0; i < n; i++) {
        bool surely;
        double chance = chance_against(aspects, n_aspects, i, risk, &surely);
        ret->chance = fmin(ret->chance, chance);
        if (surely)
            ret->action = STOP_END;
    }
    for (size_t k = 0; k < n_aspects; k++)
        worse *= 1 - chance_at_margin(&aspects[k]);
    ret->threshold = 1 - worse;
}

static double risk_of(const struct stop_view *view)
{
    double chance = view->settings->chance;
    return isnan(chance) ? CHANCE : fmin(fmax(chance, 1e-6), 0.5);
}

static void curve_judge(const struct stop_view *view, size_t mine, struct stop_verdict *ret)
{
    const struct stop_trial *trial = &view->trials[mine];
    autofree(mem) const struct stop_trial **teachers = xcalloc(view->n, sizeof(*teachers));
    size_t n_aspects = view->n_others + 1;
    double risk = risk_of(view) / (double)n_aspects;

    stop_verdict_init(view, mine, ret);
    size_t n = find_teachers(view, teachers);
    if (n < MIN_CURVES || !long_enough(view, trial))
        return;
    autofree(mem) struct aspect *aspects = xcalloc(n_aspects, sizeof(*aspects));
    for (size_t k = 0; k < n_aspects; k++)
        aspect_init(&aspects[k], teachers, n, trial, k, risk);
    judge_aspects(aspects, n_aspects, n, risk, ret);
    for (size_t k = 0; k < n_aspects; k++)
        curve_set_free(aspects[k].set);
}

const struct stop_ops stop_curve = {
    .name = "curve",
    .help = "stop when the curve will hardly become the best; the chance to err is yours to set",
    .judge = curve_judge,
};
