/* SPDX-License-Identifier: MIT */
/*
 * functions.c — the functions, a row each. `add` sees each point that counts, `finish` makes the
 * value of them; `from_stats` makes the same value from what is known without reading points, and
 * `add_block` adds many points at once.
 *
 * min, max, mean, median, quantile, sum, std, slope, argmin, argmax are of finite values; count,
 * first, last, at see all of them. Without a point that counts a value is null.
 */
#include "expr/internal.h"

#include <errno.h>
#include <math.h>

static bool is_finite(const struct expr_point *point)
{
    return isfinite(point->value);
}

static struct expr_value kept(const struct curve *curve, double x)
{
    return curve->n ? expr_number(x) : expr_null();
}

static struct expr_value step_value(int64_t step)
{
    return step == EXPR_NO_STEP ? expr_null() : expr_integer(step);
}

static int known(double x, struct expr_value *ret)
{
    *ret = isnan(x) ? expr_null() : expr_number(x);
    return 0;
}

static uint64_t finite_count(const struct expr_stats *stats)
{
    uint64_t odd = stats->nans + stats->infs;
    return stats->count > odd ? stats->count - odd : 0;
}

/* ---- the smallest and the largest ---- */

static void add_min(struct curve *curve, const struct expr_point *point)
{
    if (is_finite(point) && (!curve->n++ || point->value < curve->a)) {
        curve->a = point->value;
        curve->step = point->step;
    }
}

static void add_max(struct curve *curve, const struct expr_point *point)
{
    if (is_finite(point) && (!curve->n++ || point->value > curve->a)) {
        curve->a = point->value;
        curve->step = point->step;
    }
}

/* Where the smallest stands the points must tell; but most blocks hold none that is smaller. */
static bool pass_min(struct curve *curve, const struct expr_block *block, bool whole UNUSED)
{
    return isnan(block->stats.min) || (curve->n && block->stats.min >= curve->a);
}

static bool pass_max(struct curve *curve, const struct expr_block *block, bool whole UNUSED)
{
    return isnan(block->stats.max) || (curve->n && block->stats.max <= curve->a);
}

static bool block_min(struct curve *curve, const struct expr_block *block, bool whole)
{
    if (pass_min(curve, block, whole))
        return true;
    if (whole) {
        curve->n++;
        curve->a = block->stats.min;
    }
    return whole;
}

static bool block_max(struct curve *curve, const struct expr_block *block, bool whole)
{
    if (pass_max(curve, block, whole))
        return true;
    if (whole) {
        curve->n++;
        curve->a = block->stats.max;
    }
    return whole;
}

static struct expr_value finish_a(struct curve *curve)
{
    return kept(curve, curve->a);
}

static struct expr_value finish_step(struct curve *curve)
{
    return curve->n ? step_value(curve->step) : expr_null();
}

static int stats_min(const struct expr_stats *stats, struct expr_value *ret)
{
    return known(stats->min, ret);
}

static int stats_max(const struct expr_stats *stats, struct expr_value *ret)
{
    return known(stats->max, ret);
}

/* ---- moments ---- */

static void add_sum(struct curve *curve, const struct expr_point *point)
{
    if (!is_finite(point))
        return;
    curve->n++;
    curve->a += point->value;
}

static bool block_sum(struct curve *curve, const struct expr_block *block, bool whole)
{
    if (whole) {
        curve->n += finite_count(&block->stats);
        curve->a += block->stats.sum;
    }
    return whole;
}

static struct expr_value finish_mean(struct curve *curve)
{
    return curve->n ? expr_number(curve->a / (double)curve->n) : expr_null();
}

static int stats_sum(const struct expr_stats *stats, struct expr_value *ret)
{
    *ret = finite_count(stats) ? expr_number(stats->sum) : expr_null();
    return 0;
}

static int stats_mean(const struct expr_stats *stats, struct expr_value *ret)
{
    uint64_t n = finite_count(stats);
    *ret = n ? expr_number(stats->sum / (double)n) : expr_null();
    return 0;
}

/* Welford's: a is the mean, b the sum of squares around it. */
static void add_std(struct curve *curve, const struct expr_point *point)
{
    if (!is_finite(point))
        return;
    curve->n++;
    double d = point->value - curve->a;
    curve->a += d / (double)curve->n;
    curve->b += d * (point->value - curve->a);
}

static struct expr_value finish_std(struct curve *curve)
{
    return curve->n > 1 ? expr_number(sqrt(curve->b / (double)(curve->n - 1))) : expr_null();
}

/* The difference of two sums; where it cancels, only the points can tell. */
static int stats_std(const struct expr_stats *stats, struct expr_value *ret)
{
    uint64_t n = finite_count(stats);

    if (n < 2) {
        *ret = expr_null();
        return 0;
    }
    double around = stats->squares - stats->sum * stats->sum / (double)n;
    if (!isfinite(around) || around < 1e-6 * stats->squares)
        return -EAGAIN;
    *ret = expr_number(sqrt(around / (double)(n - 1)));
    return 0;
}

/* Least squares over steps: a, b are the means of step and value, c, d their products around. */
static void add_slope(struct curve *curve, const struct expr_point *point)
{
    if (!is_finite(point) || point->step == EXPR_NO_STEP)
        return;
    curve->n++;
    double x = (double)point->step, dx = x - curve->a, n = (double)curve->n;
    curve->a += dx / n;
    curve->b += (point->value - curve->b) / n;
    curve->c += dx * (point->value - curve->b);
    curve->d += dx * (x - curve->a);
}

static struct expr_value finish_slope(struct curve *curve)
{
    return curve->d > 0 ? expr_number(curve->c / curve->d) : expr_null();
}

/* ---- ranks ---- */

static void add_value(struct curve *curve, const struct expr_point *point)
{
    if (is_finite(point))
        vec_push(&curve->values, point->value);
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Between the two nearest ranks (Hyndman and Fan 1996, type 7). */
static struct expr_value quantile(struct curve *curve, double share)
{
    size_t n = curve->values.len;

    if (!n || !(share >= 0 && share <= 1))
        return expr_null();
    qsort(curve->values.at, n, sizeof(double), by_size);
    double rank = share * (double)(n - 1);
    size_t low = (size_t)rank, high = MIN(low + 1, n - 1);
    double a = curve->values.at[low], b = curve->values.at[high];
    return expr_number(a + (b - a) * (rank - (double)low));
}

static struct expr_value finish_median(struct curve *curve)
{
    return quantile(curve, 0.5);
}

static struct expr_value finish_quantile(struct curve *curve)
{
    return quantile(curve, curve->number);
}

/* ---- single points ---- */

static void add_first(struct curve *curve, const struct expr_point *point)
{
    if (curve->n++)
        return;
    curve->a = point->value;
    curve->b = point->time_s;
    curve->step = point->step;
}

static void add_last(struct curve *curve, const struct expr_point *point)
{
    curve->n++;
    curve->a = point->value;
}

static bool block_last(struct curve *curve, const struct expr_block *block, bool whole)
{
    if (whole) {
        curve->n += block->stats.count;
        curve->a = block->stats.last;
    }
    return whole;
}

static bool is_beyond(int64_t step, const struct curve *curve)
{
    struct expr_value x = expr_integer(step);
    return x.number > curve->number || (x.number == curve->number && x.rest > curve->rest);
}

/* The newest at or before that step. */
static void add_at(struct curve *curve, const struct expr_point *point)
{
    if (point->step == EXPR_NO_STEP || is_beyond(point->step, curve) ||
        (curve->n && point->step < curve->step))
        return;
    curve->n++;
    curve->a = point->value;
    curve->step = point->step;
}

static struct expr_value finish_time(struct curve *curve)
{
    return curve->n && !isnan(curve->b) ? expr_number(curve->b) : expr_null();
}

static int stats_first(const struct expr_stats *stats, struct expr_value *ret)
{
    *ret = expr_number(stats->first);
    return 0;
}

static int stats_last(const struct expr_stats *stats, struct expr_value *ret)
{
    *ret = expr_number(stats->last);
    return 0;
}

/* ---- counts ---- */

static void add_count(struct curve *curve, const struct expr_point *point UNUSED)
{
    curve->n++;
}

static void add_nan(struct curve *curve, const struct expr_point *point)
{
    if (isnan(point->value) && !curve->n++)
        curve->step = point->step;
}

static bool block_count(struct curve *curve, const struct expr_block *block, bool whole)
{
    curve->n += whole ? block->stats.count : 0;
    return whole;
}

static bool block_nans(struct curve *curve, const struct expr_block *block, bool whole)
{
    curve->n += whole ? block->stats.nans : 0;
    return whole || !block->stats.nans;
}

static bool block_no_nan(struct curve *curve UNUSED, const struct expr_block *block,
                         bool whole UNUSED)
{
    return !block->stats.nans;
}

static struct expr_value finish_count(struct curve *curve)
{
    return expr_number((double)curve->n);
}

static struct expr_value finish_any(struct curve *curve)
{
    return expr_bool(curve->n > 0);
}

static int stats_count(const struct expr_stats *stats, struct expr_value *ret)
{
    *ret = expr_number((double)stats->count);
    return 0;
}

static int stats_nans(const struct expr_stats *stats, struct expr_value *ret)
{
    *ret = expr_number((double)stats->nans);
    return 0;
}

static int stats_first_nan(const struct expr_stats *stats, struct expr_value *ret)
{
    *ret = step_value(stats->first_nan);
    return 0;
}

/* ---- improved: the best of the window against the best before it ---- */

static struct expr_value finish_improved(struct curve *curve)
{
    double before = NAN, within = NAN, sign = curve->call->better;

    for (size_t i = 0; i < curve->to; i++) {
        double *best = i < curve->from ? &before : &within, x = sign * curve->points.at[i].value;
        if (isfinite(x) && !(x <= *best))
            *best = x;
    }
    return isnan(before) ? expr_null() : expr_bool(within > before);
}

#define FINITE (EXPR_HAS_COUNT | EXPR_HAS_NANS | EXPR_HAS_INFS)
static const struct function functions[] = {
    {"min", "the smallest value", EXPR_NUMBER, BOUND_FINITE, EXPR_HAS_RANGE, FORM_ANYHOW, add_min,
     finish_a, stats_min, block_min},
    {"max", "the largest value", EXPR_NUMBER, BOUND_FINITE, EXPR_HAS_RANGE, FORM_ANYHOW, add_max,
     finish_a, stats_max, block_max},
    {"mean", "the mean", EXPR_NUMBER, BOUND_FINITE, EXPR_HAS_SUM | FINITE, 0, add_sum, finish_mean,
     stats_mean, block_sum},
    {"median", "the value in the middle", EXPR_NUMBER, BOUND_FINITE, 0, 0, add_value, finish_median,
     NULL, NULL},
    {"sum", "the sum", EXPR_NUMBER, BOUND_NONE, EXPR_HAS_SUM | FINITE, 0, add_sum, finish_a,
     stats_sum, block_sum},
    {"std", "the standard deviation", EXPR_NUMBER, BOUND_NONE,
     EXPR_HAS_SUM | EXPR_HAS_SQUARES | FINITE, 0, add_std, finish_std, stats_std, NULL},
    {"count", "how many points", EXPR_NUMBER, BOUND_COUNT, EXPR_HAS_COUNT,
     FORM_CONDITION | FORM_COUNTS, add_count, finish_count, stats_count, block_count},
    {"first", "the first value", EXPR_NUMBER, BOUND_VALUES, EXPR_HAS_FIRST, FORM_ENOUGH, add_first,
     finish_a, stats_first, NULL},
    {"last", "the last value", EXPR_NUMBER, BOUND_VALUES, EXPR_HAS_LAST, 0, add_last, finish_a,
     stats_last, block_last},
    {"argmin", "the step of the smallest value", EXPR_NUMBER, BOUND_STEPS, 0, 0, add_min,
     finish_step, NULL, pass_min},
    {"argmax", "the step of the largest value", EXPR_NUMBER, BOUND_STEPS, 0, 0, add_max,
     finish_step, NULL, pass_max},
    {"quantile", "the value below which this share lies", EXPR_NUMBER, BOUND_FINITE, 0, FORM_NUMBER,
     add_value, finish_quantile, NULL, NULL},
    {"slope", "change for each step, by least squares", EXPR_NUMBER, BOUND_NONE, 0, 0, add_slope,
     finish_slope, NULL, NULL},
    {"at", "the value at a step, or the last one before it", EXPR_NUMBER, BOUND_VALUES, 0,
     FORM_NUMBER, add_at, finish_a, NULL, NULL},
    {"time_to", "seconds until a condition first held", EXPR_NUMBER, BOUND_NONE, 0,
     FORM_CONDITION | FORM_NEEDED | FORM_ENOUGH, add_first, finish_time, NULL, NULL},
    {"step_to", "the step at which a condition first held", EXPR_NUMBER, BOUND_STEPS, 0,
     FORM_CONDITION | FORM_NEEDED | FORM_ENOUGH, add_first, finish_step, NULL, NULL},
    {"any", "did a condition hold at some point?", EXPR_BOOL, BOUND_NONE, 0,
     FORM_CONDITION | FORM_NEEDED | FORM_ENOUGH | FORM_COUNTS, add_count, finish_any, NULL,
     block_count},
    {"improved", "is the best of the window better than all before it?", EXPR_BOOL, BOUND_NONE, 0,
     FORM_BETTER | FORM_BEFORE, NULL, finish_improved, NULL, NULL},
    {"nans", "how many values are NaN", EXPR_NUMBER, BOUND_COUNT, EXPR_HAS_NANS, FORM_COUNTS,
     add_nan, finish_count, stats_nans, block_nans},
    {"first_nan", "the step of the first NaN", EXPR_NUMBER, BOUND_STEPS, EXPR_HAS_FIRST_NAN,
     FORM_ENOUGH, add_nan, finish_step, stats_first_nan, block_no_nan},
};

static const struct {
    const char *name, *help;
    double (*math)(double);
} maths[] = {
    {"abs", "without its sign", fabs},     {"sqrt", "square root", sqrt},
    {"exp", "e to the power of it", exp},  {"log", "natural logarithm", log},
    {"log10", "decimal logarithm", log10}, {"floor", "rounded down", floor},
    {"ceil", "rounded up", ceil},          {"round", "rounded to a whole number", round},
};

const struct function *expr_function_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (str_eq(functions[i].name, name))
            return &functions[i];
    return NULL;
}

double (*expr_math_find(const char *name))(double)
{
    for (size_t i = 0; i < ARRAY_LEN(maths); i++)
        if (str_eq(maths[i].name, name))
            return maths[i].math;
    return NULL;
}

const char *expr_function(size_t i, const char **ret_help)
{
    bool math = i >= ARRAY_LEN(functions);
    size_t k = math ? i - ARRAY_LEN(functions) : i;

    if (math && k >= ARRAY_LEN(maths))
        return NULL;
    if (ret_help)
        *ret_help = math ? maths[k].help : functions[k].help;
    return math ? maths[k].name : functions[k].name;
}

struct expr_value expr_curve_null(const struct function *function)
{
    if (!(function->form & FORM_COUNTS))
        return expr_null();
    return function->type == EXPR_BOOL ? expr_bool(false) : expr_number(0);
}
