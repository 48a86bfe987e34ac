/* SPDX-License-Identifier: MIT */
/*
 * stop_curve.c — the default rule: end a trial when its learning curve will hardly become the best.
 *
 * surrogate/curve.h forecasts the end from the curve so far and from the trials that have
 * completed, and says by how many deviations a forecast may be behind before one may believe it: so
 * many that the winner of the experiment is stopped, at any of its looks, with at most the chance
 * that the user set. Only one trial wins, so the risk need not be shared out over the trials.
 */
#include "search/stop.h"

#include "surrogate/curve.h"

#include <math.h>

#define MIN_CURVES  5
#define MIN_POINTS  3
#define MOST_CURVES 200 /* the rule learns from so many: the best half and the latest */
#define MOST_POINTS 100 /* of a curve; longer ones are averaged in groups */
#define CHANCE      0.05

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
        if (age <= 0)
            continue;
        plain->ages[plain->n] = age;
        plain->values[plain->n++] = value;
    }
}

static const struct curve *objective(const struct stop_trial *trial, size_t k)
{
    return k ? &trial->others[k - 1] : &trial->curve;
}

static bool teaches(const struct stop_view *view, const struct stop_trial *trial)
{
    if (trial->state != CURVE_COMPLETED)
        return false;
    for (size_t k = 0; k <= view->n_others; k++)
        if (objective(trial, k)->n < MIN_POINTS)
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
        if (teaches(view, &view->trials[i]))
            ret[n++] = &view->trials[i];
    if (n <= MOST_CURVES || view->n_others)
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
    double margin;
};

static bool aspect_init(struct aspect *aspect, const struct stop_trial *const *teachers, size_t n,
                        const struct stop_trial *trial, size_t k, double risk)
{
    autofree(mem) struct plain *plains = xcalloc(n + 1, sizeof(*plains));
    autofree(mem) struct curve_points *points = xcalloc(n + 1, sizeof(*points));
    autofree(mem) double *priors = xcalloc(2 * n, sizeof(*priors));
    double birth = find_birth(teachers, n, k);
    for (size_t i = 0; i <= n; i++) {
        const struct stop_trial *from = i < n ? teachers[i] : trial;
        plain_init(&plains[i], objective(from, k), birth);
        points[i] = (struct curve_points){plains[i].ages, plains[i].values, plains[i].n};
        if (i < n) {
            priors[i] = k ? NAN : from->prior_mean;
            priors[n + i] = from->prior_deviation;
        }
    }
    aspect->set = curve_set_new(points, priors, priors + n, n);
    bool known = curve_set_forecast(aspect->set, &points[n], k ? NAN : trial->prior_mean,
                                    trial->prior_deviation, &aspect->forecast);
    for (size_t i = 0; i <= n; i++)
        free(plains[i].ages);
    if (known)
        aspect->margin = curve_set_margin(aspect->set, risk);
    return known;
}

static void judge_alone(struct aspect *aspect, struct stop_verdict *ret)
{
    const struct forecast *forecast = &aspect->forecast;
    double best = curve_set_best(aspect->set);
    double limit = best + aspect->margin * forecast->deviation;
    struct forecast at_limit = {limit, forecast->deviation};

    ret->chance = curve_set_chance(aspect->set, forecast, best);
    ret->threshold = curve_set_chance(aspect->set, &at_limit, best);
    ret->mean = forecast->mean;
    ret->deviation = forecast->deviation;
    if (forecast->mean > limit)
        ret->action = STOP_END;
}

static void curve_judge(const struct stop_view *view, size_t mine, struct stop_verdict *ret)
{
    const struct stop_trial *trial = &view->trials[mine];
    autofree(mem) const struct stop_trial **teachers = xcalloc(view->n, sizeof(*teachers));

    stop_verdict_init(view, mine, ret);
    size_t n = find_teachers(view, teachers);
    if (n < MIN_CURVES || trial->curve.n < MIN_POINTS)
        return;
    double risk = isnan(view->settings->chance) ? CHANCE : view->settings->chance;
    struct aspect aspect = {0};
    if (aspect_init(&aspect, teachers, n, trial, 0, risk))
        judge_alone(&aspect, ret);
    curve_set_free(aspect.set);
}

const struct stop_ops stop_curve = {
    .name = "curve",
    .help = "stop when the curve will hardly become the best; the chance to err is yours to set",
    .judge = curve_judge,
};
