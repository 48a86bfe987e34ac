/* SPDX-License-Identifier: MIT */
/*
 * influxql_whole.c — functions over the whole range that need no more of a series than its points
 * one after the other, so that `SELECT count(loss) FROM ml` answers however many there are.
 */
#include "api/influxql_rows.h"

#include <errno.h>
#include <math.h>

bool whole_can(enum function function)
{
    return function == FUNCTION_COUNT || function == FUNCTION_SUM || function == FUNCTION_MEAN ||
           function == FUNCTION_MAX || function == FUNCTION_MIN || function == FUNCTION_SPREAD ||
           function == FUNCTION_FIRST || function == FUNCTION_LAST;
}

static bool is_better(const struct point *point, const struct point *best, int sign)
{
    if (isnan(point->value))
        return false;
    int order = sign * point_order(point, best);
    if (isnan(best->value) || order > 0)
        return true;
    return order == 0 && point->time_ns < best->time_ns; /* of equals the earliest */
}

/* Later (sign 1) or earlier (-1); of several series at the same time the larger one. */
static bool is_nearer(const struct point *point, const struct point *best, int sign)
{
    if (point->time_ns != best->time_ns)
        return sign > 0 ? point->time_ns > best->time_ns : point->time_ns < best->time_ns;
    return point_order(point, best) > 0;
}

void whole_merge(struct whole *whole, const struct whole *with)
{
    if (!whole->n || !with->n) {
        *whole = whole->n ? *whole : *with;
        return;
    }
    whole->n += with->n;
    whole->sum += with->sum;
    if (is_better(&with->max, &whole->max, 1))
        whole->max = with->max;
    if (is_better(&with->min, &whole->min, -1))
        whole->min = with->min;
    if (is_nearer(&with->first, &whole->first, -1))
        whole->first = with->first;
    if (is_nearer(&with->last, &whole->last, 1))
        whole->last = with->last;
}

void whole_add(struct whole *whole, const struct point *point)
{
    whole_merge(whole, &(struct whole){1, point->value, *point, *point, *point, *point});
}

static bool choose(enum function function, const struct whole *whole, struct point *ret)
{
    switch (function) {
    case FUNCTION_MAX:
        *ret = whole->max;
        return !isnan(ret->value);
    case FUNCTION_MIN:
        *ret = whole->min;
        return !isnan(ret->value);
    case FUNCTION_FIRST:
        *ret = whole->first;
        return true;
    default:
        *ret = whole->last;
        return true;
    }
}

bool whole_apply(enum function function, const struct whole *whole, struct point *ret)
{
    struct point chosen;

    if (!whole->n)
        return false;
    switch (function) {
    case FUNCTION_COUNT:
        ret->value = (double)whole->n;
        return true;
    case FUNCTION_SUM:
        ret->value = whole->sum;
        return true;
    case FUNCTION_MEAN:
        ret->value = whole->sum / (double)whole->n;
        return true;
    case FUNCTION_SPREAD:
        ret->value = whole->max.value - whole->min.value;
        return true;
    default:
        break;
    }
    if (!choose(function, whole, &chosen))
        return false;
    *ret = chosen;
    return true;
}
