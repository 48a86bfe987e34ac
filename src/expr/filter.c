/* SPDX-License-Identifier: MIT */
/*
 * filter.c — the condition of a function, made quick for many points. What most conditions are, a
 * part of the point compared with something that is the same for all points, joined by `and`, is
 * looked at once: then a point is tested in a few nanoseconds, and a source knows which steps and
 * times are asked for at all. Other conditions are evaluated for each point.
 */
#include "expr/internal.h"

#include <math.h>

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

static bool add_test(struct filter *filter, struct run *run, const struct node *node)
{
    if (node->kind != NODE_COMPARE || filter->n == ARRAY_LEN(filter->tests))
        return false;
    const struct node *a = node->args[0], *b = node->args[1];
    bool turned = b->kind == NODE_POINT;
    const struct node *point = turned ? b : a, *bound = turned ? a : b;
    if (point->kind != NODE_POINT || bound->of_point)
        return false;
    struct expr_value value = expr_node_value(run, bound);
    struct filter_test test = {point->part, turned ? mirrored(node->op) : node->op, value.number};
    if (value.type == EXPR_NULL) /* it never holds */
        test = (struct filter_test){point->part, TOKEN_LESS, NAN};
    else if (value.type != EXPR_NUMBER)
        return false;
    filter->tests[filter->n++] = test;
    return true;
}

static int64_t to_step(double x)
{
    return x <= -9e18 ? INT64_MIN : x >= 9e18 ? INT64_MAX : (int64_t)x;
}

static void narrow_low(struct expr_range *range, const struct filter_test *test)
{
    double x = test->op == TOKEN_MORE ? floor(test->bound) + 1 : ceil(test->bound);

    if (test->part == POINT_STEP)
        range->min_step = MAX(range->min_step, to_step(x));
    else
        range->min_time_s = fmax(range->min_time_s, test->bound);
}

static void narrow_high(struct expr_range *range, const struct filter_test *test)
{
    double x = test->op == TOKEN_LESS ? ceil(test->bound) - 1 : floor(test->bound);

    if (test->part == POINT_STEP)
        range->max_step = MIN(range->max_step, to_step(x));
    else
        range->max_time_s = fmin(range->max_time_s, test->bound);
}

static void narrow(struct expr_range *range, const struct filter_test *test)
{
    bool equal = test->op == TOKEN_EQUAL;

    if (test->part == POINT_VALUE || isnan(test->bound))
        return;
    if (equal || test->op == TOKEN_MORE || test->op == TOKEN_MORE_EQUAL)
        narrow_low(range, test);
    if (equal || test->op == TOKEN_LESS || test->op == TOKEN_LESS_EQUAL)
        narrow_high(range, test);
}

void filter_init(struct filter *filter, struct run *run, const struct node *condition)
{
    *filter = (struct filter){.range = {INT64_MIN, INT64_MAX, -INFINITY, INFINITY}};
    if (!condition)
        return;
    bool all = condition->kind == NODE_AND, simple = true;
    if (!all)
        simple = add_test(filter, run, condition);
    for (size_t i = 0; all && i < condition->n; i++)
        simple &= add_test(filter, run, condition->args[i]);
    for (size_t i = 0; i < filter->n; i++)
        narrow(&filter->range, &filter->tests[i]);
    filter->condition = simple ? NULL : condition;
}

static bool holds(const struct filter_test *test, const struct expr_point *point)
{
    switch (test->part) {
    case POINT_STEP:
        return point->step != EXPR_NO_STEP &&
               expr_compare(test->op, (double)point->step, test->bound);
    case POINT_TIME:
        return !isnan(point->time_s) && expr_compare(test->op, point->time_s, test->bound);
    case POINT_VALUE:
    default:
        return expr_compare(test->op, point->value, test->bound);
    }
}

bool filter_passes(const struct filter *filter, struct run *run, const struct expr_point *point)
{
    for (size_t i = 0; i < filter->n; i++)
        if (!holds(&filter->tests[i], point))
            return false;
    if (!filter->condition)
        return true;
    run->point = point;
    struct expr_value value = expr_node_value(run, filter->condition);
    run->point = NULL;
    return value_true(&value);
}
