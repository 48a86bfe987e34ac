/* SPDX-License-Identifier: MIT */
/*
 * eval.c — the value of a node for a row. The tree was typed when it was built, so a value of
 * another kind than expected means null, or a column that differs from row to row: then nothing
 * compares.
 *
 * For expr_decide() a value may be unknown but bounded: what follows from the bounds is decided,
 * the rest stays unknown (Kleene's logic).
 */
#include "expr/internal.h"

#include <errno.h>
#include <math.h>

static struct expr_value unknown(void)
{
    return value_between(-INFINITY, INFINITY, false);
}

/* ---- numbers ---- */

static struct expr_value eval_point(const struct run *run, enum point_part part)
{
    const struct expr_point *point = run->point;
    const struct expr_stats *range = run->range;

    if (point && part == POINT_STEP)
        return point->step == EXPR_NO_STEP ? expr_null() : expr_integer(point->step);
    if (point && part == POINT_TIME)
        return isnan(point->time_s) ? expr_null() : expr_number(point->time_s);
    if (point)
        return expr_number(point->value);
    if (!range || part == POINT_TIME)
        return unknown();
    unsigned finite = EXPR_HAS_RANGE | EXPR_HAS_NANS | EXPR_HAS_INFS;
    if (part == POINT_VALUE && (range->has & finite) == finite && !range->nans && !range->infs)
        return value_between(range->min, range->max, true);
    if (part == POINT_STEP && range->has & EXPR_HAS_STEPS)
        return range->first_step == EXPR_NO_STEP
                   ? expr_null()
                   : steps_between(range->first_step, range->last_step);
    return unknown();
}

static struct expr_value eval_negate(struct run *run, const struct node *node)
{
    struct expr_value a = expr_node_value(run, node->args[0]);

    if (a.type == EXPR_UNKNOWN)
        return value_between(-a.high, -a.number, a.sure);
    return a.type == EXPR_NUMBER ? number_negated(a) : expr_null();
}

static double compute(enum token_kind op, double a, double b)
{
    switch (op) {
    case TOKEN_PLUS:
        return a + b;
    case TOKEN_MINUS:
        return a - b;
    case TOKEN_TIMES:
        return a * b;
    default:
        if (b == 0) /* as the machine has it, said in words that no checker doubts */
            return a == 0 || isnan(a) ? NAN : copysign(INFINITY, a) * copysign(1, b);
        return a / b;
    }
}

static struct expr_value eval_arithmetic(struct run *run, const struct node *node)
{
    struct expr_value a = expr_node_value(run, node->args[0]),
                      b = expr_node_value(run, node->args[1]);

    if (a.type == EXPR_NUMBER && b.type == EXPR_NUMBER)
        return expr_number(compute(node->op, a.number, b.number));
    bool open = (a.type == EXPR_UNKNOWN || a.type == EXPR_NUMBER) &&
                (b.type == EXPR_UNKNOWN || b.type == EXPR_NUMBER);
    return open ? unknown() : expr_null();
}

static struct expr_value eval_math(struct run *run, const struct node *node)
{
    struct expr_value a = expr_node_value(run, node->args[0]);

    if (a.type == EXPR_UNKNOWN)
        return unknown();
    return a.type == EXPR_NUMBER ? expr_number(node->math(a.number)) : expr_null();
}

/* ---- comparisons ---- */

static double low_of(const struct expr_value *value)
{
    return value->number;
}

static double high_of(const struct expr_value *value)
{
    return value->type == EXPR_UNKNOWN ? value->high : value->number;
}

/* 1: every number of a is before every one of b, 0: none is, -1: it depends. */
static int before(const struct expr_value *a, const struct expr_value *b, bool or_equal)
{
    double least = low_of(a), most = high_of(a), from = low_of(b), to = high_of(b);

    if (or_equal ? most <= from : most < from)
        return 1;
    return (or_equal ? least > to : least >= to) ? 0 : -1;
}

static int compare_ranges(enum token_kind op, const struct expr_value *a,
                          const struct expr_value *b)
{
    switch (op) {
    case TOKEN_LESS:
    case TOKEN_LESS_EQUAL:
        return before(a, b, op == TOKEN_LESS_EQUAL);
    case TOKEN_MORE:
    case TOKEN_MORE_EQUAL:
        return before(b, a, op == TOKEN_MORE_EQUAL);
    default:
        if (before(a, b, false) != 1 && before(b, a, false) != 1)
            return -1;
        return op == TOKEN_NOT_EQUAL;
    }
}

/* Where one of both is only bounded. Infinite bounds exclude nothing: NaN may be between them. */
static struct expr_value compare_bounds(enum token_kind op, const struct expr_value *a,
                                        const struct expr_value *b)
{
    bool number = (a->type == EXPR_NUMBER || a->type == EXPR_UNKNOWN) &&
                  (b->type == EXPR_NUMBER || b->type == EXPR_UNKNOWN);
    bool sure = (a->type != EXPR_UNKNOWN || a->sure) && (b->type != EXPR_UNKNOWN || b->sure);

    if (a->type == EXPR_NULL || b->type == EXPR_NULL)
        return expr_bool(false);
    if (!number || !isfinite(low_of(a)) || !isfinite(low_of(b)) || !isfinite(high_of(a)) ||
        !isfinite(high_of(b)))
        return unknown();
    int holds = compare_ranges(op, a, b);
    return holds < 0 || (holds && !sure) ? unknown() : expr_bool(holds);
}

static bool in_list(const struct expr_value *list, const char *text)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->list[i], text))
            return true;
    return false;
}

static bool equal_words(const struct expr_value *a, const struct expr_value *b)
{
    if (a->type == EXPR_TEXT && b->type == EXPR_TEXT)
        return str_eq(a->text, b->text);
    if (a->type == EXPR_LIST && b->type == EXPR_TEXT)
        return in_list(a, b->text);
    if (a->type == EXPR_TEXT && b->type == EXPR_LIST)
        return in_list(b, a->text);
    for (size_t i = 0; a->type == EXPR_LIST && b->type == EXPR_LIST && i < a->n; i++)
        if (in_list(b, a->list[i]))
            return true;
    return false;
}

static struct expr_value compare(enum token_kind op, const struct expr_value *a,
                                 const struct expr_value *b)
{
    if (a->type == EXPR_NUMBER && b->type == EXPR_NUMBER)
        return expr_bool(a->number == b->number ? expr_compare(op, a->rest, b->rest)
                                                : expr_compare(op, a->number, b->number));
    if (a->type == EXPR_UNKNOWN || b->type == EXPR_UNKNOWN)
        return compare_bounds(op, a, b);
    if (a->type == EXPR_NULL || b->type == EXPR_NULL)
        return expr_bool(false);
    if (op != TOKEN_EQUAL && op != TOKEN_NOT_EQUAL) /* a column of several kinds */
        return expr_bool(false);
    bool same =
        a->type == EXPR_BOOL && b->type == EXPR_BOOL ? a->number == b->number : equal_words(a, b);
    return expr_bool(same == (op == TOKEN_EQUAL));
}

static struct expr_value eval_compare(struct run *run, const struct node *node)
{
    struct expr_value a = expr_node_value(run, node->args[0]),
                      b = expr_node_value(run, node->args[1]);
    return compare(node->op, &a, &b);
}

static struct expr_value eval_in(struct run *run, const struct node *node)
{
    struct expr_value item = expr_node_value(run, node->args[0]);
    bool open = false;

    if (item.type == EXPR_NULL)
        return expr_bool(false);
    for (size_t i = 1; i < node->n; i++) {
        struct expr_value other = expr_node_value(run, node->args[i]);
        struct expr_value same = compare(TOKEN_EQUAL, &item, &other);
        if (value_true(&same))
            return expr_bool(!node->negated);
        open |= same.type == EXPR_UNKNOWN;
    }
    if (item.type == EXPR_UNKNOWN && !item.sure && node->negated)
        open = true; /* it may be null, then neither holds */
    return open ? unknown() : expr_bool(node->negated);
}

static bool matches(const regex_t *regex, const char *text)
{
    return regexec(regex, text, 0, NULL, 0) == 0;
}

static struct expr_value eval_match(struct run *run, const struct node *node)
{
    struct expr_value a = expr_node_value(run, node->args[0]);
    bool found = false;

    if (a.type != EXPR_TEXT && a.type != EXPR_LIST)
        return expr_bool(false);
    if (a.type == EXPR_TEXT)
        found = matches(node->regex, a.text);
    for (size_t i = 0; a.type == EXPR_LIST && i < a.n && !found; i++)
        found = matches(node->regex, a.list[i]);
    return expr_bool(found != node->negated);
}

/* Null is neither finite nor not finite: only `is null` speaks of it, and of an empty list. */
static struct expr_value eval_is(struct run *run, const struct node *node)
{
    struct expr_value a = expr_node_value(run, node->args[0]);
    bool number = a.type == EXPR_NUMBER, holds = false;

    if (a.type == EXPR_UNKNOWN)
        return node->is == IS_NULL && a.sure ? expr_bool(node->negated) : unknown();
    bool empty = a.type == EXPR_NULL || (a.type == EXPR_LIST && !a.n);
    if (node->is == IS_NULL)
        return expr_bool(empty != node->negated);
    if (!number)
        return expr_bool(false);
    if (node->is == IS_FINITE)
        holds = isfinite(a.number);
    else
        holds = node->is == IS_NAN ? isnan(a.number) : isinf(a.number);
    return expr_bool(holds != node->negated);
}

/* ---- logic ---- */

static struct expr_value eval_not(struct run *run, const struct node *node)
{
    struct expr_value a = expr_node_value(run, node->args[0]);
    return a.type == EXPR_UNKNOWN ? a : expr_bool(!value_true(&a));
}

/* `and` ends at the first that does not hold, `or` at the first that does. */
static struct expr_value eval_logic(struct run *run, const struct node *node)
{
    bool ends = node->kind == NODE_OR, open = false;

    for (size_t i = 0; i < node->n; i++) {
        struct expr_value a = expr_node_value(run, node->args[i]);
        if (a.type == EXPR_UNKNOWN)
            open = true;
        else if (value_true(&a) == ends)
            return expr_bool(ends);
    }
    return open ? unknown() : expr_bool(!ends);
}

struct expr_value expr_node_value(struct run *run, const struct node *node)
{
    switch (node->kind) {
    case NODE_CONST:
        return node->value;
    case NODE_COLUMN:
        return run->source->field(node->column, run->source->arg);
    case NODE_POINT:
        return eval_point(run, node->part);
    case NODE_CALL:
        return expr_call_value(run, node->call);
    case NODE_MATH:
        return eval_math(run, node);
    case NODE_NEGATE:
        return eval_negate(run, node);
    case NODE_ARITHMETIC:
        return eval_arithmetic(run, node);
    case NODE_COMPARE:
        return eval_compare(run, node);
    case NODE_MATCH:
        return eval_match(run, node);
    case NODE_IN:
        return eval_in(run, node);
    case NODE_IS:
        return eval_is(run, node);
    case NODE_NOT:
        return eval_not(run, node);
    case NODE_AND:
    case NODE_OR:
        return eval_logic(run, node);
    }
    return expr_null();
}

/* ---- the whole ---- */

static struct expr_value evaluate(const struct expr *expr, const struct expr_source *source,
                                  bool decide, struct err *err, int *ret_error)
{
    struct run run; /* memo is set as `known` tells */

    run.expr = expr;
    run.source = source;
    run.point = NULL;
    run.range = NULL;
    run.decide = decide;
    run.known = 0;
    run.err = err;
    run.error = 0;
    struct expr_value value = expr_node_value(&run, expr->root);
    *ret_error = run.error;
    return value;
}

int expr_eval(const struct expr *expr, const struct expr_source *source, struct expr_value *ret,
              struct err *err)
{
    int r;

    *ret = evaluate(expr, source, false, err, &r);
    return r;
}

int expr_decide(const struct expr *expr, const struct expr_source *source)
{
    int r;
    struct expr_value value = evaluate(expr, source, true, NULL, &r);

    return value.type == EXPR_UNKNOWN ? -EAGAIN : value_true(&value);
}

int expr_test(const struct expr *expr, const struct expr_source *source, struct err *err)
{
    int r = expr_decide(expr, source);

    if (r >= 0)
        return r;
    struct expr_value value = evaluate(expr, source, false, err, &r);
    return r < 0 ? r : value_true(&value);
}

const struct expr_need *expr_needs(const struct expr *expr, size_t *ret_n)
{
    *ret_n = expr->needs.len;
    return expr->needs.at;
}

bool expr_needs_points(const struct expr *expr)
{
    return expr->points;
}

/* ---- order ---- */

/* Numbers and truths, texts, NaN, null: of different kinds the earlier one comes first. */
static int rank(const struct expr_value *value)
{
    bool number = value->type == EXPR_NUMBER || value->type == EXPR_BOOL;

    if (number)
        return isnan(value->number) ? 2 : 0;
    return value->type == EXPR_TEXT ? 1 : 3;
}

int expr_value_compare(const struct expr_value *a, const struct expr_value *b, bool desc)
{
    int x = rank(a), y = rank(b), order = 0;

    if (x != y)
        return x < y ? -1 : 1;
    if (x == 0)
        order = a->number != b->number ? (a->number < b->number ? -1 : 1)
                                       : (a->rest > b->rest) - (a->rest < b->rest);
    else if (x == 1)
        order = strcmp(a->text, b->text);
    return desc ? -order : order;
}
