/* SPDX-License-Identifier: MIT */
/*
 * parse.c — the grammar, one function for each rank, the loosest first:
 *
 *     or  ▸  and  ▸  not  ▸  < <= > >= = != ~ in is  ▸  + -  ▸  * /  ▸  sign  ▸  value
 *
 * Only parentheses, functions and chains of `not` and signs recurse, and their depth is counted.
 */
#include "expr/internal.h"

#include <errno.h>
#include <math.h>

#define ITEMS_MAX 4096 /* of `and`, `or` and `in` */

typedef VEC(struct node *) node_list;

static struct node *go_deeper(struct parser *p, struct node *(*rule)(struct parser *p))
{
    if (p->depth == EXPR_DEPTH_MAX)
        return expr_refuse(p, "the expression is nested more than %d deep at character %zu",
                           EXPR_DEPTH_MAX, p->token.at + 1);
    p->depth++;
    struct node *node = rule(p);
    p->depth--;
    return node;
}

/* The token is taken; the next one is read. */
static bool take(struct parser *p, enum token_kind kind, bool *failed)
{
    if (*failed || p->token.kind != kind)
        return false;
    *failed = expr_lex(p) < 0;
    return !*failed;
}

/* ---- values ---- */

static struct node *const_token(struct parser *p, struct expr_value value)
{
    size_t at = p->token.at, end = p->token.end;

    if (expr_lex(p) < 0)
        return NULL;
    struct node *node = expr_node_const(p, value, at);
    if (node)
        node->end = end;
    return node;
}

static struct node *parse_group(struct parser *p)
{
    bool failed = expr_lex(p) < 0;
    struct node *node = failed ? NULL : go_deeper(p, expr_parse_or);

    if (!node)
        return NULL;
    if (p->token.kind != TOKEN_CLOSE)
        return expr_refuse(p, "a ) is missing before %s", expr_token_words(p));
    return expr_lex(p) < 0 ? NULL : node;
}

static struct node *parse_name(struct parser *p)
{
    struct token name = p->token;

    if (expr_lex(p) < 0)
        return NULL;
    if (p->token.kind == TOKEN_OPEN && !name.quoted)
        return call_node(p, &name);
    return name_node(p, &name);
}

static struct node *parse_value(struct parser *p)
{
    switch (p->token.kind) {
    case TOKEN_NUMBER:
        return const_token(p, (struct expr_value){.type = EXPR_NUMBER,
                                                  .number = p->token.number,
                                                  .rest = p->token.rest});
    case TOKEN_TEXT:
        return const_token(p, expr_text(p->token.text));
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        return const_token(p, expr_bool(p->token.kind == TOKEN_TRUE));
    case TOKEN_NULL:
        return const_token(p, expr_null());
    case TOKEN_OPEN:
        return parse_group(p);
    case TOKEN_NAME:
        return parse_name(p);
    default:
        return expr_refuse(p, "a value is missing before %s", expr_token_words(p));
    }
}

static struct node *parse_signed(struct parser *p)
{
    size_t at = p->token.at;

    if (p->token.kind != TOKEN_MINUS && p->token.kind != TOKEN_PLUS)
        return parse_value(p);
    bool minus = p->token.kind == TOKEN_MINUS;
    if (expr_lex(p) < 0)
        return NULL;
    struct node *node = build_number(p, go_deeper(p, parse_signed));
    if (!node || !minus)
        return node;
    if (node->kind == NODE_CONST) {
        node->value = number_negated(node->value);
        node->at = at;
        return node;
    }
    return expr_node_new(p, NODE_NEGATE, EXPR_NUMBER, at, &node, 1);
}

/* a op b op c, from the left. */
static struct node *parse_chain(struct parser *p, enum token_kind one, enum token_kind other,
                                struct node *(*part)(struct parser *p))
{
    struct node *node = part(p);

    while (node && (p->token.kind == one || p->token.kind == other)) {
        enum token_kind op = p->token.kind;
        struct node *right = expr_lex(p) < 0 ? NULL : part(p);
        node = right ? build_arithmetic(p, op, node, right) : NULL;
    }
    return node;
}

static struct node *parse_product(struct parser *p)
{
    return parse_chain(p, TOKEN_TIMES, TOKEN_OVER, parse_signed);
}

struct node *expr_parse_sum(struct parser *p)
{
    return parse_chain(p, TOKEN_PLUS, TOKEN_MINUS, parse_product);
}

/* ---- comparisons ---- */

static bool is_order(enum token_kind kind)
{
    return kind >= TOKEN_LESS && kind <= TOKEN_MORE_EQUAL;
}

static struct node *parse_compare(struct parser *p, struct node *left)
{
    struct node *both[2];
    enum token_kind op = p->token.kind;
    struct node *right = expr_lex(p) < 0 ? NULL : expr_parse_sum(p);

    both[0] = right ? build_compare(p, op, left, right) : NULL;
    if (!both[0] || !is_order(op) || !is_order(p->token.kind))
        return both[0];
    op = p->token.kind; /* 0.1 < x < 0.5 */
    struct node *last = expr_lex(p) < 0 ? NULL : expr_parse_sum(p);
    both[1] = last ? build_compare(p, op, right, last) : NULL;
    return both[1] ? build_logic(p, NODE_AND, both, 2) : NULL;
}

static int add_item(struct parser *p, node_list *list, struct node *node)
{
    if (!node)
        return -EINVAL;
    if (list->len == ITEMS_MAX)
        return err_set(p->err, EINVAL, "a list has more than %d members", ITEMS_MAX);
    vec_push(list, node);
    return 0;
}

/* (1, 2, 3); or one value that is a list: 'x' in tags */
static int parse_items(struct parser *p, node_list *list)
{
    bool failed = false;

    if (!take(p, TOKEN_OPEN, &failed))
        return failed ? -EINVAL : add_item(p, list, expr_parse_sum(p));
    do
        failed = add_item(p, list, expr_parse_sum(p)) < 0;
    while (take(p, TOKEN_COMMA, &failed));
    if (!failed && p->token.kind != TOKEN_CLOSE)
        return err_set(p->err, EINVAL, "a , or ) is missing before %s", expr_token_words(p));
    return failed ? -EINVAL : expr_lex(p);
}

static struct node *parse_in(struct parser *p, struct node *item, bool negated)
{
    node_list list = {0};
    struct node *node = NULL;

    if (expr_lex(p) == 0 && parse_items(p, &list) == 0)
        node = build_in(p, item, list.at, list.len, negated);
    vec_release(&list);
    return node;
}

static struct node *parse_is(struct parser *p, struct node *node)
{
    bool failed = expr_lex(p) < 0, negated = take(p, TOKEN_NOT, &failed);
    return failed ? NULL : build_is(p, node, negated);
}

static struct node *parse_match(struct parser *p, struct node *node)
{
    bool negated = p->token.kind == TOKEN_NO_MATCH;
    return expr_lex(p) < 0 ? NULL : build_match(p, node, negated);
}

static struct node *parse_comparison(struct parser *p)
{
    struct node *node = expr_parse_sum(p);
    bool failed = false;

    if (!node)
        return NULL;
    if (p->token.kind >= TOKEN_LESS && p->token.kind <= TOKEN_NOT_EQUAL)
        return parse_compare(p, node);
    if (p->token.kind == TOKEN_MATCH || p->token.kind == TOKEN_NO_MATCH)
        return parse_match(p, node);
    if (p->token.kind == TOKEN_IS)
        return parse_is(p, node);
    bool negated = take(p, TOKEN_NOT, &failed);
    if (failed)
        return NULL;
    if (p->token.kind == TOKEN_IN)
        return parse_in(p, node, negated);
    return negated ? expr_refuse(p, "'in' is missing before %s", expr_token_words(p)) : node;
}

/* ---- not, and, or ---- */

static struct node *parse_not(struct parser *p)
{
    size_t at = p->token.at;

    if (p->token.kind != TOKEN_NOT)
        return parse_comparison(p);
    if (expr_lex(p) < 0)
        return NULL;
    struct node *node = build_condition(p, go_deeper(p, parse_not));
    return node ? expr_node_new(p, NODE_NOT, EXPR_BOOL, at, &node, 1) : NULL;
}

static struct node *parse_logic(struct parser *p, enum token_kind sign, enum node_kind kind,
                                struct node *(*part)(struct parser *p))
{
    node_list list = {0};
    bool failed = false;

    do
        failed = add_item(p, &list, part(p)) < 0;
    while (take(p, sign, &failed));
    struct node *node = failed          ? NULL
                        : list.len == 1 ? list.at[0]
                                        : build_logic(p, kind, list.at, list.len);
    vec_release(&list);
    return node;
}

static struct node *parse_and(struct parser *p)
{
    return parse_logic(p, TOKEN_AND, NODE_AND, parse_not);
}

struct node *expr_parse_or(struct parser *p)
{
    return parse_logic(p, TOKEN_OR, NODE_OR, parse_and);
}

/* ---- the whole ---- */

static struct node *parse_all(struct parser *p, enum expr_type want)
{
    if (expr_lex(p) < 0)
        return NULL;
    if (p->token.kind == TOKEN_END)
        return expr_refuse(p, "the expression is empty");
    struct node *node = expr_parse_or(p);
    if (!node)
        return NULL;
    if (p->token.kind != TOKEN_END)
        return expr_refuse(p, "an operator such as 'and' is missing before %s",
                           expr_token_words(p));
    return want == EXPR_BOOL ? build_condition(p, node) : node;
}

int expr_parse(const char *text, const struct expr_scope *scope, enum expr_type want,
               struct expr **ret, struct err *err)
{
    if (strlen(text) > EXPR_TEXT_MAX)
        return err_set(err, EINVAL, "the expression is longer than %d bytes", EXPR_TEXT_MAX);
    autofree(expr) struct expr *expr = xcalloc(1, sizeof(*expr));
    expr->text = arena_strdup(&expr->arena, text);
    struct parser p = {.expr = expr, .scope = scope, .err = err, .text = expr->text};
    expr->root = parse_all(&p, want);
    if (!expr->root)
        return -EINVAL;
    *ret = TAKE(expr);
    return 0;
}

void expr_free(struct expr *expr)
{
    if (!expr)
        return;
    vec_foreach (regex, &expr->regexes)
        regfree(*regex);
    vec_release(&expr->regexes);
    vec_release(&expr->calls);
    vec_release(&expr->needs);
    arena_release(&expr->arena);
    free(expr);
}
