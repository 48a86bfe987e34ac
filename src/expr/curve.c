/* SPDX-License-Identifier: MIT */
/*
 * curve.c — the value of a function over one metric of a row: from its stats if these tell, else
 * by one pass over its points, or over its blocks as far as these tell enough. Where no points may
 * be read (expr_decide) the stats still bound it: a minimum over some points is not below that of
 * all, and a condition that no value between min and max can fulfil holds nowhere.
 */
#include "expr/internal.h"

#include <errno.h>
#include <math.h>

static bool is_plain(const struct call *call)
{
    return !call->condition && !call->number && call->window.kind == WINDOW_ALL;
}

/* ---- from stats ---- */

static bool has(const struct expr_stats *stats, unsigned bits)
{
    return (stats->has & bits) == bits;
}

/* Could a value be NaN or infinite? */
static bool all_finite(const struct expr_stats *stats)
{
    return has(stats, EXPR_HAS_NANS | EXPR_HAS_INFS | EXPR_HAS_RANGE) && !stats->nans &&
           !stats->infs && stats->min <= stats->max;
}

static struct expr_value anything(bool sure)
{
    return value_between(-INFINITY, INFINITY, sure);
}

/* A mean may be off by its rounding. */
static struct expr_value range_of(const struct expr_stats *stats)
{
    return value_between(stats->min - fabs(stats->min) * 1e-12,
                         stats->max + fabs(stats->max) * 1e-12, false);
}

static struct expr_value bounds(const struct function *function, const struct expr_stats *stats)
{
    switch (function->bound) {
    case BOUND_FINITE:
        if (has(stats, EXPR_HAS_RANGE) && isnan(stats->min))
            return expr_null();
        return has(stats, EXPR_HAS_RANGE) ? range_of(stats) : anything(false);
    case BOUND_VALUES:
        return all_finite(stats) ? range_of(stats) : anything(false);
    case BOUND_COUNT:
        return value_between(0, has(stats, EXPR_HAS_COUNT) ? (double)stats->count : INFINITY, true);
    case BOUND_STEPS:
        if (has(stats, EXPR_HAS_STEPS))
            return stats->first_step == EXPR_NO_STEP
                       ? expr_null()
                       : steps_between(stats->first_step, stats->last_step);
        return anything(false);
    case BOUND_NONE:
    default:
        return anything(false);
    }
}

/* Does the condition hold at no point, whichever these are? */
static bool holds_nowhere(struct run *run, const struct call *call, const struct expr_stats *stats)
{
    const struct expr_stats *outer = run->range;

    if (!call->condition)
        return false;
    run->range = stats;
    struct expr_value value = expr_node_value(run, call->condition);
    run->range = outer;
    return value.type != EXPR_UNKNOWN && !value_true(&value);
}

/* ---- over points ---- */

static size_t window_count(const struct window *window, size_t n)
{
    double k = window->kind == WINDOW_SHARE ? ceil((double)n * window->size - 1e-9) : window->size;
    return k >= (double)n ? n : k > 0 ? (size_t)k : 0;
}

/* Where a point is on the axis of the window; NaN: nowhere. */
static double axis_of(const struct window *window, const struct expr_point *point)
{
    if (window->kind == WINDOW_SECONDS)
        return point->time_s;
    return point->step == EXPR_NO_STEP ? NAN : (double)point->step;
}

/* So many steps or seconds back from the last point, or on from the first. */
static void cut_by_axis(struct curve *curve)
{
    const struct window *window = &curve->call->window;
    size_t n = curve->points.len;
    double end = axis_of(window, &curve->points.at[window->first ? 0 : n - 1]);

    curve->from = 0;
    curve->to = isnan(end) ? 0 : n;
    while (window->first && curve->to > 0 &&
           !(axis_of(window, &curve->points.at[curve->to - 1]) < end + window->size))
        curve->to--;
    while (!window->first && curve->from < curve->to &&
           !(axis_of(window, &curve->points.at[curve->from]) > end - window->size))
        curve->from++;
}

static void cut_window(struct curve *curve)
{
    const struct window *window = &curve->call->window;
    size_t n = curve->points.len;

    if (window->kind == WINDOW_STEPS || window->kind == WINDOW_SECONDS) {
        cut_by_axis(curve);
        return;
    }
    size_t k = window_count(window, n);
    curve->from = window->first ? 0 : n - k;
    curve->to = window->first ? k : n;
}

static bool on_points(const struct expr_point *points, size_t n, void *arg)
{
    struct curve *curve = arg;
    const struct function *function = curve->call->function;
    bool gather = curve->call->window.kind != WINDOW_ALL;
    bool enough = !gather && function->form & FORM_ENOUGH;

    for (size_t i = 0; i < n && !(enough && curve->n); i++) {
        if (!filter_passes(&curve->filter, curve->run, &points[i]))
            continue;
        curve->count++;
        if (gather)
            vec_push(&curve->points, points[i]);
        else
            function->add(curve, &points[i]);
    }
    return !(enough && curve->n);
}

/* ---- in blocks: those outside of the condition are passed over, those within are taken from their
 * stats, the others are read. Where the order does not matter, those that are cut come last: often
 * nothing in them can change what the whole ones told. ---- */

static enum expr_verdict on_block(const struct expr_block *block, void *arg)
{
    struct curve *curve = arg;
    const struct function *function = curve->call->function;
    enum cover cover = filter_cover(&curve->filter, block);
    bool whole = cover == COVER_ALL;

    if (cover == COVER_NONE || (curve->shift == SHIFT_WHOLE && !whole) ||
        (curve->shift == SHIFT_CUT && whole))
        return EXPR_TAKEN;
    if (curve->call->window.kind != WINDOW_ALL || !function->add_block ||
        !function->add_block(curve, block, whole))
        return EXPR_POINTS;
    if (whole)
        curve->count += block->stats.count;
    return function->form & FORM_ENOUGH && curve->n ? EXPR_ENOUGH : EXPR_TAKEN;
}

static int walk_blocks(struct run *run, const struct call *call, struct curve *curve)
{
    const struct expr_source *source = run->source;
    bool anyhow = call->window.kind == WINDOW_ALL && call->function->form & FORM_ANYHOW;

    curve->shift = anyhow ? SHIFT_WHOLE : SHIFT_ONLY;
    int r = source->blocks(call->column, on_block, on_points, curve, source->arg, run->err);
    curve->shift = SHIFT_CUT;
    if (r == 0 && anyhow)
        r = source->blocks(call->column, on_block, on_points, curve, source->arg, run->err);
    return r;
}

static int walk(struct run *run, const struct call *call, struct curve *curve)
{
    const struct expr_source *source = run->source;
    int r = source->blocks ? walk_blocks(run, call, curve) : -EAGAIN;

    if (r != -EAGAIN || !source->points)
        return r == -EAGAIN ? 0 : r;
    return source->points(call->column, &curve->filter.range, on_points, curve, source->arg,
                          run->err);
}

static struct expr_value finish(struct curve *curve)
{
    const struct function *function = curve->call->function;

    if (!curve->count)
        return expr_curve_null(function);
    if (curve->call->window.kind == WINDOW_ALL)
        return function->finish(curve);
    cut_window(curve);
    if (!(function->form & FORM_BEFORE))
        for (size_t i = curve->from; i < curve->to; i++)
            function->add(curve, &curve->points.at[i]);
    return curve->from < curve->to ? function->finish(curve) : expr_curve_null(function);
}

static struct expr_value read_curve(struct run *run, const struct call *call)
{
    struct curve curve = {.call = call, .run = run};
    struct expr_value value = expr_null();

    for (size_t i = call->inner; i < call->slot; i++) /* no reading inside of a reading */
        expr_call_value(run, run->expr->calls.at[i]);
    if (call->number) {
        struct expr_value number = expr_node_value(run, call->number);
        if (number.type != EXPR_NUMBER)
            return expr_null();
        curve.number = number.number;
        curve.rest = number.rest;
    }
    int r = run->error;
    filter_init(&curve.filter, run, call->condition);
    if (r == 0)
        r = walk(run, call, &curve);
    if (r < 0)
        run->error = r;
    else
        value = finish(&curve);
    vec_release(&curve.values);
    vec_release(&curve.points);
    return value;
}

/* ---- the value ---- */

static struct expr_value find_value(struct run *run, const struct call *call)
{
    const struct function *function = call->function;
    struct expr_stats stats = {0};
    struct expr_value value;

    if (run->source->stats && !run->source->stats(call->column, &stats, run->source->arg))
        return expr_curve_null(function);
    if (has(&stats, EXPR_HAS_COUNT) && !stats.count)
        return expr_curve_null(function);
    if (is_plain(call) && function->stats && has(&stats, function->stats) &&
        function->from_stats(&stats, &value) == 0)
        return value;
    if (!run->decide)
        return read_curve(run, call);
    return holds_nowhere(run, call, &stats) ? expr_curve_null(function) : bounds(function, &stats);
}

struct expr_value expr_call_value(struct run *run, const struct call *call)
{
    uint64_t bit = UINT64_C(1) << call->slot;

    if (!(run->known & bit)) {
        const struct expr_point *point = run->point;
        const struct expr_stats *range = run->range;
        run->point = NULL;
        run->range = NULL;
        run->memo[call->slot] = find_value(run, call);
        run->known |= bit;
        run->point = point;
        run->range = range;
    }
    return run->memo[call->slot];
}
