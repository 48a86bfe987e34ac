/* SPDX-License-Identifier: MIT */
/*
 * call.c — functions: f(metric, argument, …) or f(condition). An argument is a window (last 10%,
 * first 100, last 5m, last 500 steps), a number where the function takes one, or a condition on
 * the points; several conditions must all hold.
 */
#include "base/suggest.h"
#include "expr/internal.h"

#include <errno.h>

#define COLUMN_UNBOUND SIZE_MAX

/* What decides about a function from the stats of all points when these do not tell its value. */
#define STATS_OF_BOUNDS                                                                            \
    (EXPR_HAS_COUNT | EXPR_HAS_RANGE | EXPR_HAS_NANS | EXPR_HAS_INFS | EXPR_HAS_STEPS)

static struct call *call_new(struct parser *p, const struct function *function)
{
    struct call *call = arena_alloc(&p->expr->arena, sizeof(*call));

    call->function = function;
    call->column = COLUMN_UNBOUND;
    call->inner = p->expr->calls.len;
    return call;
}

/* The function is read: give it its slot and say what it needs. */
static struct node *call_finish(struct parser *p, struct call *call, const struct token *name)
{
    const struct function *function = call->function;
    bool plain = !call->condition && !call->number && call->window.kind == WINDOW_ALL;
    bool points = !plain || !function->stats || function->stats & EXPR_HAS_SQUARES; /* may cancel */
    struct node *args[2];
    size_t n = 0;

    if (p->expr->calls.len == EXPR_CALLS_MAX)
        return expr_refuse(p, "more than %d metrics and functions of metrics in one expression",
                           EXPR_CALLS_MAX);
    if (call->condition)
        args[n++] = call->condition;
    if (call->number)
        args[n++] = call->number;
    struct node *node = expr_node_new(p, NODE_CALL, function->type, name->at, args, n);
    if (!node)
        return NULL;
    call->slot = p->expr->calls.len;
    vec_push(&p->expr->calls, call);
    expr_need_column(p, call->column, function->stats | (points ? STATS_OF_BOUNDS : 0), points);
    node->call = call;
    node->of_point = false; /* its condition has points of its own */
    node->end = name->end;
    return node;
}

struct node *call_last(struct parser *p, size_t column, const struct token *name)
{
    const struct function *last = expr_function_find("last");

    vec_foreach (one, &p->expr->calls) {
        struct call *call = *one;
        if (call->function != last || call->column != column || call->condition ||
            call->window.kind != WINDOW_ALL)
            continue;
        struct node *node = expr_node_new(p, NODE_CALL, EXPR_NUMBER, name->at, NULL, 0);
        if (node) {
            node->call = call;
            node->end = name->end;
        }
        return node;
    }
    struct call *call = call_new(p, last);
    call->column = column;
    return call_finish(p, call, name);
}

/* ---- arguments ---- */

/* The kind of the token behind the present one, which stays. */
static enum token_kind peek(struct parser *p)
{
    struct parser ahead = *p;
    ahead.err = NULL;
    return expr_lex(&ahead) < 0 ? TOKEN_END : ahead.token.kind;
}

static bool at_word(const struct parser *p, const char *word)
{
    return p->token.kind == TOKEN_NAME && !p->token.quoted && str_eq(p->token.text, word);
}

static int window_unit(struct parser *p, struct window *window)
{
    static const enum window_kind kinds[] = {[UNIT_NONE] = WINDOW_POINTS,
                                             [UNIT_PERCENT] = WINDOW_SHARE,
                                             [UNIT_SECONDS] = WINDOW_SECONDS,
                                             [UNIT_BYTES] = WINDOW_ALL};
    bool bare = p->token.unit == UNIT_NONE;

    window->kind = kinds[p->token.unit];
    window->size = p->token.number;
    if (window->kind == WINDOW_ALL || (window->kind == WINDOW_SHARE && window->size > 1))
        return err_set(
            p->err, EINVAL,
            "a part of a curve is last 10%%, last 100, last 500 steps or last 5m, not %s",
            expr_token_words(p));
    if (expr_lex(p) < 0)
        return -EINVAL;
    if (!bare || (!at_word(p, "steps") && !at_word(p, "points")))
        return 0;
    window->kind = at_word(p, "steps") ? WINDOW_STEPS : WINDOW_POINTS;
    return expr_lex(p);
}

static int parse_window(struct parser *p, struct call *call)
{
    if (call->window.kind != WINDOW_ALL)
        return err_set(p->err, EINVAL, "%s() has two windows: write only one",
                       call->function->name);
    call->window.first = at_word(p, "first");
    return expr_lex(p) < 0 ? -EINVAL : window_unit(p, &call->window);
}

/* A condition on the points, joined to what is there. */
static int parse_condition(struct parser *p, struct call *call)
{
    struct call *outer = p->call;

    p->call = call;
    struct node *node = build_condition(p, expr_parse_or(p));
    p->call = outer;
    if (node && call->condition)
        node = build_logic(p, NODE_AND, (struct node *[]){call->condition, node}, 2);
    call->condition = node;
    return node ? 0 : -EINVAL;
}

/* A share that is written down is one, from 0 to 1. */
static int check_share(struct parser *p, const struct call *call)
{
    const struct node *node = call->number;

    if (node->kind != NODE_CONST || !str_eq(call->function->name, "quantile") ||
        p->scope->lenient || (node->value.number >= 0 && node->value.number <= 1))
        return 0;
    return err_set(p->err, EINVAL,
                   "quantile() takes a share from 0 to 1, as 0.9 or 90%%, not %s (character %zu)",
                   expr_node_words(p, node), node->at + 1);
}

/* A number for each row: names in it are the row's, not the points'. */
static int parse_number(struct parser *p, struct call *call)
{
    struct call *outer = p->call;

    p->call = NULL;
    call->number = build_number(p, expr_parse_sum(p));
    p->call = outer;
    return call->number ? check_share(p, call) : -EINVAL;
}

static int parse_argument(struct parser *p, struct call *call)
{
    unsigned form = call->function->form;
    bool better = form & FORM_BETTER && peek(p) != TOKEN_OPEN;

    if ((at_word(p, "last") || at_word(p, "first")) && peek(p) == TOKEN_NUMBER)
        return parse_window(p, call);
    if (better && (at_word(p, "min") || at_word(p, "max"))) {
        call->better = at_word(p, "min") ? -1 : 1;
        return expr_lex(p);
    }
    if (form & FORM_NUMBER && !call->number)
        return parse_number(p, call);
    return parse_condition(p, call);
}

/* f(metric … or f(condition …; which one is seen from what is behind the name. */
static int parse_first(struct parser *p, struct call *call)
{
    unsigned form = call->function->form;
    enum token_kind next = p->token.kind == TOKEN_NAME ? peek(p) : TOKEN_END;

    if (form & FORM_CONDITION && next != TOKEN_COMMA && next != TOKEN_CLOSE)
        return parse_condition(p, call);
    if (p->token.kind != TOKEN_NAME)
        return err_set(p->err, EINVAL, "%s() is of a metric, as in %s(loss%s), not of %s",
                       call->function->name, call->function->name,
                       form & FORM_NUMBER ? ", 0.9" : "", expr_token_words(p));
    ptrdiff_t column = name_metric(p, &p->token);
    if (column < 0)
        return -EINVAL;
    call->column = (size_t)column;
    return expr_lex(p);
}

static int parse_arguments(struct parser *p, struct call *call)
{
    int r = expr_lex(p) < 0 ? -EINVAL : parse_first(p, call);

    while (r == 0 && p->token.kind == TOKEN_COMMA) {
        r = expr_lex(p);
        if (r == 0)
            r = parse_argument(p, call);
    }
    if (r == 0 && p->token.kind != TOKEN_CLOSE)
        return err_set(p->err, EINVAL, "a , or ) is missing in %s() before %s",
                       call->function->name, expr_token_words(p));
    return r;
}

/* ---- the whole ---- */

static int check_call(struct parser *p, struct call *call)
{
    const struct function *function = call->function;

    if (call->column == COLUMN_UNBOUND)
        return err_set(p->err, EINVAL, "no metric is named in the condition of %s()",
                       function->name);
    if (function->form & FORM_NEEDED && !call->condition)
        return err_set(p->err, EINVAL, "%s() needs a condition, as in %s(%s >= 0.9)",
                       function->name, function->name, expr_column_name(p, call->column));
    if (function->form & FORM_NUMBER && !call->number)
        return err_set(p->err, EINVAL, "%s(%s) needs a number: %s(%s, %s)", function->name,
                       expr_column_name(p, call->column), function->name,
                       expr_column_name(p, call->column),
                       str_eq(function->name, "at") ? "100" : "0.9");
    if (!(function->form & FORM_BETTER))
        return 0;
    if (call->window.kind == WINDOW_ALL)
        call->window = (struct window){.kind = WINDOW_SHARE, .size = 0.2};
    if (!call->better && call->column < p->scope->n)
        call->better = p->scope->columns[call->column].better;
    if (!call->better)
        return err_set(p->err, EINVAL, "%s(%s): say which way is better, %s(%s, min) or with max",
                       function->name, expr_column_name(p, call->column), function->name,
                       expr_column_name(p, call->column));
    return 0;
}

static struct node *math_node(struct parser *p, const struct token *name, double (*math)(double))
{
    struct node *arg = expr_lex(p) < 0 ? NULL : build_number(p, expr_parse_sum(p));

    if (!arg)
        return NULL;
    struct token close = p->token;
    if (close.kind != TOKEN_CLOSE)
        return expr_refuse(p, "a ) is missing in %s() before %s", name->text, expr_token_words(p));
    struct node *node =
        expr_lex(p) < 0 ? NULL : expr_node_new(p, NODE_MATH, EXPR_NUMBER, name->at, &arg, 1);
    if (!node)
        return NULL;
    node->math = math;
    node->end = close.end;
    return node;
}

static struct node *refuse_function(struct parser *p, const struct token *name)
{
    VEC(const char *) names = {0};
    const char *one;

    for (size_t i = 0; (one = expr_function(i, NULL)); i++)
        vec_push(&names, one);
    const char *meant = suggest(name->text, names.at, names.len);
    vec_release(&names);
    if (meant)
        return expr_refuse(p, "no function is called '%s': did you mean '%s'?", name->text, meant);
    return expr_refuse(
        p, "no function is called '%s': min, max, mean, last, time_to and others are", name->text);
}

static struct node *curve_node(struct parser *p, const struct token *name,
                               const struct function *function)
{
    struct call *call = call_new(p, function);

    if (parse_arguments(p, call) < 0 || check_call(p, call) < 0)
        return NULL;
    struct token close = p->token;
    struct node *node = expr_lex(p) < 0 ? NULL : call_finish(p, call, name);
    if (node)
        node->end = close.end;
    return node;
}

struct node *call_node(struct parser *p, const struct token *name)
{
    const struct function *function = expr_function_find(name->text);
    double (*math)(double) = expr_math_find(name->text);

    if (!function && !math)
        return refuse_function(p, name);
    if (p->depth == EXPR_DEPTH_MAX)
        return expr_refuse(p, "the expression is nested more than %d deep at character %zu",
                           EXPR_DEPTH_MAX, name->at + 1);
    p->depth++;
    struct node *node = function ? curve_node(p, name, function) : math_node(p, name, math);
    p->depth--;
    return node;
}
