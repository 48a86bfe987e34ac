/* SPDX-License-Identifier: MIT */
/*
 * param.c — one parameter: its values, their cells in the unit interval, their texts.
 *
 * A finite parameter (INT, CHOICE, FLOAT with a step) has K values, numbered from 0. Each owns an
 * equal cell of [0,1]: the bounds are widened by half a step, so that the first and the last
 * are as likely as those between. In log scale the widened bounds are mapped, so a cell is as wide
 * as its value's share of the logarithm:
 *
 *     linear, 1..4   |   1   |   2   |   3   |   4   |        log   |      1      |   2   |  3  | 4
 * | 0.5     1.5     2.5     3.5     4.5            0.5           1.5     2.5   3.5 4.5
 *
 * Invariant: param_from_unit(param_to_unit(x)) is x for every value of a finite parameter.
 */
#include "model/space.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>

static double step_of(const struct param *param)
{
    return param->step > 0 ? param->step : param->type == PARAM_INT ? 1 : 0;
}

double param_size(const struct param *param)
{
    double step = step_of(param);

    if (param->type == PARAM_CHOICE)
        return (double)param->n_choices;
    if (step > 0)
        return floor((param->max - param->min) / step + 1e-9) + 1;
    return param->min == param->max ? 1 : INFINITY;
}

/* 0.1 + 2·0.1 is 0.30000000000000004; the user means 0.3. Nine decimals are enough for steps
 * that people write; what does not come out within rounding stays as it is. */
static double tidy(const struct param *param, double x)
{
    double rounded = nearbyint(x * 1e9) / 1e9;
    double room = 8 * DBL_EPSILON * fmax(fabs(param->min), fabs(param->max));
    return fabs(rounded - x) <= room ? rounded : x;
}

double param_value_at(const struct param *param, double k)
{
    if (param->type == PARAM_CHOICE)
        return k;
    double x = param->min + k * step_of(param);
    if (param->type == PARAM_INT || k == 0)
        return x;
    return fmin(tidy(param, x), param->max);
}

double param_index(const struct param *param, double x)
{
    double step = step_of(param);

    if (param->type == PARAM_CHOICE)
        return nearbyint(x);
    return step > 0 ? nearbyint((x - param->min) / step) : 0;
}

static double clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* The logarithm of the bounds, widened by half a step; never down to zero. */
static void log_bounds(const struct param *param, double *ret_lo, double *ret_hi)
{
    double half = step_of(param) / 2, last = param->max;
    if (half > 0)
        last = param_value_at(param, param_size(param) - 1);
    *ret_lo = log(param->min - fmin(half, param->min / 2));
    *ret_hi = log(last + half);
}

static double free_from_unit(const struct param *param, double u)
{
    double x, lo, hi;
    if (param->scale == SCALE_LOG) {
        log_bounds(param, &lo, &hi);
        x = exp((1 - u) * lo + u * hi);
    } else {
        x = (1 - u) * param->min + u * param->max; /* max - min may overflow */
    }
    return clamp(x, param->min, param->max);
}

double param_from_unit(const struct param *param, double u)
{
    double n = param_size(param), lo, hi;

    assert(u >= 0 && u <= 1);
    if (n == 1)
        return param_value_at(param, 0);
    if (isinf(n))
        return free_from_unit(param, u);
    if (param->type == PARAM_CHOICE || param->scale == SCALE_LINEAR)
        return param_value_at(param, fmin(floor(u * n), n - 1));
    log_bounds(param, &lo, &hi);
    double x = exp((1 - u) * lo + u * hi);
    return param_value_at(param, clamp(param_index(param, x), 0, n - 1));
}

static double free_to_unit(const struct param *param, double x)
{
    double lo = param->min / 2, hi = param->max / 2;
    if (param->scale == SCALE_LOG) {
        log_bounds(param, &lo, &hi);
        return clamp((log(x) - lo) / (hi - lo), 0, 1);
    }
    return clamp((x / 2 - lo) / (hi - lo), 0, 1);
}

double param_to_unit(const struct param *param, double x)
{
    double n = param_size(param), half = step_of(param) / 2, lo, hi;

    if (isnan(x) || n == 1)
        return 0.5;
    if (isinf(n))
        return free_to_unit(param, x);
    if (param->type == PARAM_CHOICE || param->scale == SCALE_LINEAR)
        return (param_index(param, x) + 0.5) / n;
    log_bounds(param, &lo, &hi);
    double from = x - half > 0 ? fmax(log(x - half), lo) : lo;
    return clamp(((from + log(x + half)) / 2 - lo) / (hi - lo), 0, 1);
}

double param_width(const struct param *param)
{
    double n = param_size(param), lo, hi;

    if (param->type == PARAM_CHOICE)
        return n;
    if (param->scale == SCALE_LOG) {
        log_bounds(param, &lo, &hi);
        return hi - lo;
    }
    return isinf(n) ? param->max - param->min : n * step_of(param);
}

bool param_active(const struct param *param, const double *x)
{
    for (size_t i = 0; i < param->n_when; i++) {
        const struct condition *when = &param->when[i];
        size_t k = 0;
        while (k < when->n_values && when->values[k] != x[when->param])
            k++;
        if (k == when->n_values)
            return false;
    }
    return true;
}

bool param_contains(const struct param *param, double x)
{
    double n = param_size(param);

    if (isnan(x))
        return false;
    if (isinf(n))
        return x >= param->min && x <= param->max;
    double k = param_index(param, x);
    return k >= 0 && k < n && param_value_at(param, k) == x;
}

void param_text(const struct param *param, double x, struct str *to)
{
    if (param->type == PARAM_CHOICE)
        str_add(to, param->choices[(size_t)x].text);
    else if (param->type == PARAM_INT)
        str_addf(to, "%.0f", x);
    else
        str_add_double(to, x);
}

void param_json(const struct param *param, double x, struct json_out *out)
{
    if (param->type == PARAM_CHOICE)
        value_json(out, &param->choices[(size_t)x]);
    else if (param->type == PARAM_INT)
        json_int(out, (int64_t)x);
    else
        json_double(out, x);
}

struct value param_value(const struct param *param, double x)
{
    if (param->type == PARAM_CHOICE)
        return value_copy(&param->choices[(size_t)x]);
    return param->type == PARAM_INT ? value_int((int64_t)x) : value_float(x);
}

#define CHOICES_SHOWN 8

static int refuse_choice(const struct param *param, const struct value *value, struct err *err)
{
    autorelease(str) struct str list = STR_INIT;
    for (size_t i = 0; i < param->n_choices && i < CHOICES_SHOWN; i++)
        str_addf(&list, "%s%s", i ? ", " : "", param->choices[i].text);
    if (param->n_choices > CHOICES_SHOWN)
        str_add(&list, ", …");
    return err_set(err, EINVAL, "parameter '%s': '%s' is none of %s", param->name, value->text,
                   list.s);
}

/* First by meaning (32 is 32.0), then by text: a quoted '32' is the 32 of the list. */
static int parse_choice(const struct param *param, const struct value *value, double *ret_x,
                        struct err *err)
{
    for (size_t i = 0; i < param->n_choices; i++)
        if (value_equal(&param->choices[i], value)) {
            *ret_x = (double)i;
            return 0;
        }
    for (size_t i = 0; i < param->n_choices; i++)
        if (str_eq(param->choices[i].text, value->text)) {
            *ret_x = (double)i;
            return 0;
        }
    return refuse_choice(param, value, err);
}

int param_parse(const struct param *param, const struct value *value, double *ret_x,
                struct err *err)
{
    char lo[DOUBLE_TEXT_SIZE], hi[DOUBLE_TEXT_SIZE];
    double x = value->number;

    if (param->type == PARAM_CHOICE)
        return parse_choice(param, value, ret_x, err);
    if ((value->kind != VALUE_INT && value->kind != VALUE_FLOAT) || isnan(x))
        return err_set(err, EINVAL, "parameter '%s': '%s' is not a number", param->name,
                       value->text);
    if (param->type == PARAM_INT && x != nearbyint(x))
        return err_set(err, EINVAL, "parameter '%s': %s is not an integer", param->name,
                       value->text);
    if (x < param->min || x > param->max)
        return err_set(err, EINVAL, "parameter '%s': %s is not in %s to %s", param->name,
                       value->text, double_text(lo, param->min), double_text(hi, param->max));
    double n = param_size(param);
    double on = isinf(n) ? x : param_value_at(param, fmin(param_index(param, x), n - 1));
    if (fabs(on - x) > 1e-9 * step_of(param))
        return err_set(err, EINVAL, "parameter '%s': %s is not on its steps, the nearest is %s",
                       param->name, value->text, double_text(lo, on));
    *ret_x = on;
    return 0;
}
