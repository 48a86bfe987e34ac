/* SPDX-License-Identifier: MIT */
/*
 * filter.c — the condition of a function, made quick for many points. Most conditions compare a
 * part of the point with something that is the same for all points, joined by `and`: these become
 * bounds of step, time and value that are found once. Then a point is tested in about a nanosecond,
 * and a source knows which steps and times are asked for at all. What is no bound is evaluated for
 * each point that lies within them.
 */
#include "expr/internal.h"

#include <math.h>

enum { BOUNDS_STEP = 1, BOUNDS_TIME = 2, BOUNDS_VALUE = 4 }; /* filter.parts */

/* a op b, the other way round. */
static enum token_kind mirrored(enum token_kind op)
{
    switch (op) {
    case TOKEN_LESS:
        return TOKEN_MORE;
    case TOKEN_LESS_EQUAL:
        return TOKEN_MORE_EQUAL;
    case TOKEN_MORE:
        return TOKEN_LESS;
    case TOKEN_MORE_EQUAL:
        return TOKEN_LESS_EQUAL;
    default:
        return op;
    }
}

/* A whole number and what it lacks, as the steps have it; at their ends one beyond all of them. */
static __int128 to_step(double x, double rest)
{
    double most = 1e19;
    return (__int128)(x < -most ? -most : x > most ? most : x) + (__int128)rest;
}

/* Nothing passes: NaN is beyond every value. */
static void close_filter(struct filter *filter)
{
    filter->parts |= BOUNDS_VALUE;
    filter->min_value = NAN;
}

static void raise_step(struct filter *filter, __int128 least)
{
    if (least > INT64_MAX)
        close_filter(filter);
    else if (least > filter->range.min_step)
        filter->range.min_step = (int64_t)least;
}

static void lower_step(struct filter *filter, __int128 most)
{
    if (most <= INT64_MIN)
        close_filter(filter);
    else if (most < filter->range.max_step)
        filter->range.max_step = (int64_t)most;
}

static void raise_low(struct filter *filter, enum point_part part, const struct expr_value *value,
                      bool strict)
{
    double bound = value->number, least = strict ? nextafter(bound, INFINITY) : bound;

    if (strict && bound == INFINITY)
        close_filter(filter);
    else if (part == POINT_STEP)
        raise_step(filter, to_step(strict ? floor(bound) : ceil(bound), value->rest) + strict);
    else if (part == POINT_TIME)
        filter->range.min_time_s = MAX(filter->range.min_time_s, least);
    else if (!isnan(filter->min_value))
        filter->min_value = MAX(filter->min_value, least);
}

static void lower_high(struct filter *filter, enum point_part part, const struct expr_value *value,
                       bool strict)
{
    double bound = value->number, most = strict ? nextafter(bound, -INFINITY) : bound;

    if (strict && bound == -INFINITY)
        close_filter(filter);
    else if (part == POINT_STEP)
        lower_step(filter, to_step(strict ? ceil(bound) : floor(bound), value->rest) - strict);
    else if (part == POINT_TIME)
        filter->range.max_time_s = MIN(filter->range.max_time_s, most);
    else
        filter->max_value = MIN(filter->max_value, most);
}

static void add_bound(struct filter *filter, enum point_part part, enum token_kind op,
                      const struct expr_value *bound)
{
    static const unsigned parts[] = {
        [POINT_STEP] = BOUNDS_STEP, [POINT_TIME] = BOUNDS_TIME, [POINT_VALUE] = BOUNDS_VALUE};

    filter->parts |= parts[part];
    if (part == POINT_STEP) /* what has no step is below them all */
        filter->range.min_step = MAX(filter->range.min_step, INT64_MIN + 1);
    if (isnan(bound->number)) {
        close_filter(filter);
        return;
    }
    if (op == TOKEN_EQUAL || op == TOKEN_MORE || op == TOKEN_MORE_EQUAL)
        raise_low(filter, part, bound, op == TOKEN_MORE);
    if (op == TOKEN_EQUAL || op == TOKEN_LESS || op == TOKEN_LESS_EQUAL)
        lower_high(filter, part, bound, op == TOKEN_LESS);
}

/* Is it a bound? Then the filter has it. */
static bool take_bound(struct filter *filter, struct run *run, const struct node *node)
{
    if (node->kind != NODE_COMPARE || node->op == TOKEN_NOT_EQUAL)
        return false;
    const struct node *a = node->args[0], *b = node->args[1];
    bool turned = b->kind == NODE_POINT;
    const struct node *point = turned ? b : a, *bound = turned ? a : b;
    if (point->kind != NODE_POINT || bound->of_point)
        return false;
    struct expr_value value = expr_node_value(run, bound);
    if (value.type == EXPR_NULL)
        close_filter(filter);
    if (value.type == EXPR_NUMBER)
        add_bound(filter, point->part, turned ? mirrored(node->op) : node->op, &value);
    return value.type == EXPR_NULL || value.type == EXPR_NUMBER;
}

void filter_init(struct filter *filter, struct run *run, const struct node *condition)
{
    *filter = (struct filter){.range = {INT64_MIN, INT64_MAX, -INFINITY, INFINITY},
                              .min_value = -INFINITY,
                              .max_value = INFINITY};
    if (!condition)
        return;
    bool many = condition->kind == NODE_AND, all = true;
    if (!many)
        all = take_bound(filter, run, condition);
    for (size_t i = 0; many && i < condition->n; i++)
        all &= take_bound(filter, run, condition->args[i]);
    filter->condition = all ? NULL : condition;
}

static bool is_within(const struct filter *filter, const struct expr_point *point)
{
    const struct expr_range *range = &filter->range;
    unsigned parts = filter->parts;

    if (parts & BOUNDS_STEP && (point->step < range->min_step || point->step > range->max_step))
        return false;
    if (parts & BOUNDS_TIME &&
        !(point->time_s >= range->min_time_s && point->time_s <= range->max_time_s))
        return false;
    return !(parts & BOUNDS_VALUE) ||
           (point->value >= filter->min_value && point->value <= filter->max_value);
}

static bool holds(const struct filter *filter, struct run *run, const struct expr_point *point)
{
    run->point = point;
    struct expr_value value = expr_node_value(run, filter->condition);
    run->point = NULL;
    return value_true(&value);
}

bool filter_passes(const struct filter *filter, struct run *run, const struct expr_point *point)
{
    return is_within(filter, point) && (!filter->condition || holds(filter, run, point));
}

/* ---- blocks ---- */

/* Of numbers between first and last, all there are, within low and high. */
static enum cover cover_of(double first, double last, double low, double high)
{
    if (!(first <= high && last >= low))
        return COVER_NONE;
    return first >= low && last <= high ? COVER_ALL : COVER_SOME;
}

/* Steps are compared as they are: as doubles large ones would meet. */
static enum cover cover_steps(const struct expr_range *range, const struct expr_stats *stats)
{
    if (!(stats->has & EXPR_HAS_STEPS))
        return COVER_SOME;
    if (stats->first_step > range->max_step || stats->last_step < range->min_step)
        return COVER_NONE;
    return stats->first_step >= range->min_step && stats->last_step <= range->max_step ? COVER_ALL
                                                                                       : COVER_SOME;
}

/* A point without a time does not pass, and there may be some. */
static enum cover cover_times(const struct expr_range *range, const struct expr_block *block)
{
    return MIN(COVER_SOME,
               cover_of(block->first_s, block->last_s, range->min_time_s, range->max_time_s));
}

/* NaN passes no bound, an infinite value perhaps. */
static enum cover cover_values(const struct filter *filter, const struct expr_stats *stats)
{
    enum cover finite = cover_of(stats->min, stats->max, filter->min_value, filter->max_value);

    if (stats->infs)
        return isnan(filter->min_value) ? COVER_NONE : COVER_SOME;
    return stats->nans ? MIN(COVER_SOME, finite) : finite;
}

enum cover filter_cover(const struct filter *filter, const struct expr_block *block)
{
    enum cover cover = filter->condition ? COVER_SOME : COVER_ALL;

    if (filter->parts & BOUNDS_STEP)
        cover = MIN(cover, cover_steps(&filter->range, &block->stats));
    if (filter->parts & BOUNDS_TIME)
        cover = MIN(cover, cover_times(&filter->range, block));
    if (filter->parts & BOUNDS_VALUE)
        cover = MIN(cover, cover_values(filter, &block->stats));
    return cover;
}
