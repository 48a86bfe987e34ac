/* SPDX-License-Identifier: MIT */
/*
 * chart_scale.c — axes: from values to places and to ticks at round numbers.
 *
 * Differences are taken by halves: an axis may reach from -1e308 to 1e308.
 */
#include "cli/chart.h"

#include <float.h>
#include <math.h>

#define MARGIN 0.04 /* of the axis, free at either end */

static double clamp_finite(double x)
{
    return fmin(fmax(x, -DBL_MAX), DBL_MAX);
}

/* Bounds apart from each other, a little wider than given. */
static void widen(struct axis *axis)
{
    axis->low = axis->min;
    axis->high = axis->max;
    if (axis->kind == AXIS_LOG) {
        double more = fmax((log(axis->max) - log(axis->min)) * MARGIN, 0.1);
        axis->min = fmax(axis->min * exp(-more), DBL_TRUE_MIN);
        axis->max = clamp_finite(axis->max * exp(more));
        return;
    }
    double more = (axis->max / 2 - axis->min / 2) * 2 * MARGIN;
    if (!(axis->max > axis->min))
        more = axis->max != 0 ? fmax(fabs(axis->max) * 0.1, DBL_MIN) : 0.5;
    axis->min = clamp_finite(axis->min - more);
    axis->max = clamp_finite(axis->max + more);
}

void axis_tighten(struct axis *axis)
{
    if (axis->kind == AXIS_NAMES || !(axis->high > axis->low))
        return;
    axis->min = axis->low;
    axis->max = axis->high;
}

void axis_of_values(struct axis *axis, const char *title, bool log, const double *x, size_t n)
{
    double min = INFINITY, max = -INFINITY;

    *axis = (struct axis){.title = xstrdup(title), .min = 0, .max = 1};
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) {
            min = fmin(min, x[i]);
            max = fmax(max, x[i]);
        }
    if (!(max >= min))
        return;
    axis->min = min;
    axis->max = max;
    axis->kind = log && min > 0 ? AXIS_LOG : AXIS_LINEAR;
    widen(axis);
}

void axis_of_param(struct axis *axis, const struct param *param)
{
    *axis = (struct axis){.title = xstrdup(param->name), .min = param->min, .max = param->max};
    if (param->type == PARAM_CHOICE) {
        axis->kind = AXIS_NAMES;
        axis->min = -0.5;
        axis->max = (double)param->n_choices - 0.5;
        for (size_t i = 0; i < param->n_choices; i++)
            vec_push(&axis->names, xstrdup(param->choices[i].text));
        return;
    }
    axis->whole = param->type == PARAM_INT;
    axis->kind = param->scale == SCALE_LOG && param->min > 0 ? AXIS_LOG : AXIS_LINEAR;
    widen(axis);
}

double axis_place(const struct axis *axis, double x)
{
    if (axis->kind == AXIS_LOG)
        return x > 0 ? (log(x) - log(axis->min)) / (log(axis->max) - log(axis->min)) : NAN;
    return (x / 2 - axis->min / 2) / (axis->max / 2 - axis->min / 2);
}

double axis_value(const struct axis *axis, double place)
{
    if (axis->kind == AXIS_LOG)
        return exp(log(axis->min) + place * (log(axis->max) - log(axis->min)));
    return axis->min * (1 - place) + axis->max * place;
}

void ticks_release(struct ticks *ticks)
{
    vec_foreach (tick, &ticks->list)
        free(tick->text);
    vec_release(&ticks->list);
}

void axis_release(struct axis *axis)
{
    free(axis->title);
    vec_foreach (name, &axis->names)
        free(*name);
    vec_release(&axis->names);
    *axis = (struct axis){0};
}

/* ---- ticks ---- */

static void add_tick(struct ticks *ticks, double at)
{
    struct tick tick = {at, xasprintf("%.6g", at)};
    vec_push(&ticks->list, tick);
}

/* The smallest of 1, 2, 5 · 10^k that is not below x. */
static double round_up(double x)
{
    double ten = pow(10, floor(log10(x)));
    static const double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (steps[i] * ten >= x * (1 - 1e-9))
            return steps[i] * ten;
    return 10 * ten;
}

static void linear_ticks(const struct axis *axis, size_t most, struct ticks *ret)
{
    double step = round_up((axis->max / 2 - axis->min / 2) / (double)(most - 1) * 2);

    if (axis->whole)
        step = fmax(step, 1);
    if (!isfinite(step) || step <= 0) { /* at the limits of double */
        add_tick(ret, axis->min);
        add_tick(ret, axis->max);
        return;
    }
    double first = ceil(axis->min / step - 1e-9);
    for (size_t i = 0; i <= most; i++) {
        double at = (first + (double)i) * step;
        if (at > axis->max + step * 1e-9)
            break;
        add_tick(ret, fabs(at) < step * 1e-9 ? 0 : at);
    }
}

static size_t add_powers(const struct axis *axis, int low, int high, int stride,
                         const double *factors, size_t n, struct ticks *ret)
{
    for (int k = low; k <= high; k += stride)
        for (size_t i = 0; i < n; i++) {
            double at = factors[i] * pow(10, k);
            if (at >= axis->min * (1 - 1e-9) && at <= axis->max * (1 + 1e-9))
                add_tick(ret, at);
        }
    return ret->list.len;
}

/* Whole decades, with 2 and 5 (or 3) between where there is room; a narrow axis gets round numbers
 * like a linear one. */
static void log_ticks(const struct axis *axis, size_t most, struct ticks *ret)
{
    static const double one[] = {1}, two[] = {1, 3}, three[] = {1, 2, 5};
    int low = (int)floor(log10(axis->min)), high = (int)ceil(log10(axis->max));
    double decades = log10(axis->max) - log10(axis->min);

    if (decades < 1) {
        linear_ticks(axis, most, ret);
        return;
    }
    int whole = (int)(floor(log10(axis->max)) - ceil(log10(axis->min))) + 1; /* powers inside */
    int stride = MAX(1, (whole + (int)most - 1) / (int)most);
    if (decades * 3 + 1 <= (double)most)
        add_powers(axis, low, high, 1, three, 3, ret);
    else if (decades * 2 + 1 <= (double)most)
        add_powers(axis, low, high, 1, two, 2, ret);
    else
        add_powers(axis, low - (low % stride), high, stride, one, 1, ret);
}

static void name_ticks(const struct axis *axis, size_t most, struct ticks *ret)
{
    size_t n = axis->names.len, stride = MAX(1, (n + most - 1) / most);
    for (size_t i = 0; i < n; i += stride) {
        struct tick tick = {(double)i, xstrdup(axis->names.at[i])};
        vec_push(&ret->list, tick);
    }
}

void axis_ticks(const struct axis *axis, size_t most, struct ticks *ret)
{
    *ret = (struct ticks){{0}};
    if (axis->kind == AXIS_NAMES)
        name_ticks(axis, most, ret);
    else if (axis->kind == AXIS_LOG)
        log_ticks(axis, most, ret);
    else
        linear_ticks(axis, most, ret);
}
