/* SPDX-License-Identifier: MIT */
/*
 * influxql_term.c — what is selected: fields, functions of them, and arithmetic of both.
 *
 *     mean("a") * 100        non_negative_derivative(mean(x), 1s)        "a" + "b"
 *
 * A leaf of a term is a field or a whole call: what is read and computed for itself. A row has a
 * cell for each leaf, in the order in which they are written; arithmetic makes one of them. Where
 * one is null, so is the whole; what is divided by 0 is 0, as InfluxDB has it.
 */
#include "api/influxql_parser.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <strings.h>

#define TERMS_MAX 100 /* joined on one level */

const char *const function_names[FUNCTIONS] = {
    [FUNCTION_NONE] = "",
    [FUNCTION_MEAN] = "mean",
    [FUNCTION_MAX] = "max",
    [FUNCTION_MIN] = "min",
    [FUNCTION_SUM] = "sum",
    [FUNCTION_COUNT] = "count",
    [FUNCTION_LAST] = "last",
    [FUNCTION_FIRST] = "first",
    [FUNCTION_SPREAD] = "spread",
    [FUNCTION_STDDEV] = "stddev",
    [FUNCTION_MEDIAN] = "median",
    [FUNCTION_PERCENTILE] = "percentile",
    [FUNCTION_DERIVATIVE] = "derivative",
    [FUNCTION_RISE] = "non_negative_derivative",
    [FUNCTION_DIFFERENCE] = "difference",
    [FUNCTION_INCREASE] = "non_negative_difference",
    [FUNCTION_MOVING_AVERAGE] = "moving_average",
    [FUNCTION_CUMULATIVE_SUM] = "cumulative_sum",
    [FUNCTION_ELAPSED] = "elapsed",
};

bool function_transforms(enum function function)
{
    return function >= FUNCTION_DERIVATIVE;
}

/* ---- parsing ---- */

static int parse_sum(struct parser *p, struct term **ret);

static struct term *term_new(struct parser *p, struct term term)
{
    return arena_memdup(&p->query->arena, &term, sizeof(term));
}

static int parse_arguments(struct parser *p, struct term *call)
{
    VEC(struct term *) args = {0};
    int r = 0;

    next(p);
    while (r == 0 && !at_mark(p, ")")) {
        struct term *arg = NULL;
        r = args.len ? want_mark(p, ",") : 0;
        r = r < 0 ? r : parse_sum(p, &arg);
        vec_push(&args, arg);
    }
    call->n_args = args.len;
    call->args = arena_memdup(&p->query->arena, args.at, args.len * sizeof(*args.at));
    vec_release(&args);
    return r < 0 ? r : want_mark(p, ")");
}

static int parse_name(struct parser *p, struct term **ret)
{
    bool bare = p->token.kind == TOKEN_WORD;
    struct term term = {.kind = TERM_FIELD};
    int r = want_name(p, &term.field);

    if (r == 0 && bare && at_mark(p, "(")) {
        term.kind = TERM_CALL;
        for (size_t i = 1; i < FUNCTIONS; i++)
            if (strcasecmp(function_names[i], term.field) == 0)
                term.function = (enum function)i;
        r = parse_arguments(p, &term);
    } else if (r == 0) {
        r = parse_cast(p, &term.cast);
    }
    *ret = term_new(p, term);
    return r;
}

static bool parse_literal(struct parser *p, struct term **ret)
{
    static const enum term_kind kinds[] = {[TOKEN_INTEGER] = TERM_INTEGER,
                                           [TOKEN_NUMBER] = TERM_NUMBER,
                                           [TOKEN_DURATION] = TERM_DURATION};
    const struct token *t = &p->token;

    if (t->kind != TOKEN_INTEGER && t->kind != TOKEN_NUMBER && t->kind != TOKEN_DURATION)
        return false;
    *ret = term_new(p, (struct term){.kind = kinds[t->kind],
                                     .number = t->number,
                                     .integer = t->integer,
                                     .text = t->text});
    next(p);
    return true;
}

static struct term *negate(struct parser *p, struct term *term)
{
    assert(term);
    if (term->kind == TERM_INTEGER || term->kind == TERM_NUMBER || term->kind == TERM_DURATION) {
        term->number = -term->number;
        term->integer = -term->integer;
        return term;
    }
    struct term *minus = term_new(p, (struct term){.kind = TERM_INTEGER, .number = -1});
    return term_new(p, (struct term){.kind = TERM_BINARY, .op = '*', .left = minus, .right = term});
}

static int parse_primary(struct parser *p, struct term **ret)
{
    int r = 0;

    if (++p->depth > DEPTH_MAX)
        return expected(p, "fewer parentheses");
    if (eat_mark(p, "-")) {
        r = parse_primary(p, ret);
        if (r == 0)
            *ret = negate(p, *ret);
    } else if (eat_mark(p, "(")) {
        r = parse_sum(p, ret);
        r = r < 0 ? r : want_mark(p, ")");
    } else if (eat_mark(p, "*")) {
        struct term star = {.kind = TERM_STAR};
        r = parse_cast(p, &star.cast);
        *ret = term_new(p, star);
    } else if (at_name(p)) {
        r = parse_name(p, ret);
    } else if (!parse_literal(p, ret)) {
        r = expected(p, "identifier, string, number, bool");
    }
    p->depth--;
    return r;
}

/* Terms of one level, joined by one of the marks. */
static int parse_joined(struct parser *p, const char *marks, struct term **ret,
                        int (*parse)(struct parser *, struct term **))
{
    int r = parse(p, ret);
    int terms = 0;

    while (r == 0 && p->token.kind == TOKEN_MARK && strlen(p->token.text) == 1 &&
           strchr(marks, *p->token.text)) {
        struct term both = {.kind = TERM_BINARY, .op = *p->token.text, .left = *ret};
        if (++terms > TERMS_MAX)
            return expected(p, "fewer terms");
        next(p);
        r = parse(p, &both.right);
        *ret = term_new(p, both);
    }
    return r;
}

static int parse_product(struct parser *p, struct term **ret)
{
    return parse_joined(p, "*/%", ret, parse_primary);
}

static int parse_sum(struct parser *p, struct term **ret)
{
    return parse_joined(p, "+-", ret, parse_product);
}

int parse_term(struct parser *p, struct term **ret)
{
    return parse_sum(p, ret);
}

/* ---- leaves ---- */

void term_leaves(const struct term *term, struct terms *to)
{
    if (term->kind == TERM_BINARY) {
        term_leaves(term->left, to);
        term_leaves(term->right, to);
    } else if (term->kind == TERM_FIELD || term->kind == TERM_STAR || term->kind == TERM_CALL) {
        vec_push(to, term);
    }
}

const struct term *term_inside(const struct term *leaf)
{
    while (leaf->kind == TERM_CALL && leaf->n_args)
        leaf = leaf->args[0];
    return leaf;
}

static double compute(char op, double a, double b)
{
    switch (op) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '%':
        return b == 0 ? 0 : fmod(a, b);
    default:
        return b == 0 ? 0 : a / b;
    }
}

struct cell term_value(const struct term *term, const struct cell **leaves)
{
    if (term->kind == TERM_INTEGER || term->kind == TERM_NUMBER)
        return (struct cell){.kind = CELL_NUMBER, .number = term->number};
    if (term->kind != TERM_BINARY)
        return *(*leaves)++;
    struct cell a = term_value(term->left, leaves), b = term_value(term->right, leaves);
    if (a.kind != CELL_NUMBER || b.kind != CELL_NUMBER)
        return (struct cell){.kind = CELL_NULL};
    return (struct cell){.kind = CELL_NUMBER, .number = compute(term->op, a.number, b.number)};
}

/* ---- mistakes, in InfluxDB's words; NULL: none ---- */

struct checking {
    struct arena *arena;
    bool buckets; /* GROUP BY time() */
    size_t fields, calls;
};

static const char *mistake(struct checking *checking, const char *fmt, ...) PRINTF(2, 3);
static const char *mistake(struct checking *checking, const char *fmt, ...)
{
    autorelease(str) struct str text = STR_INIT;
    va_list ap;

    va_start(ap, fmt);
    str_addv(&text, fmt, ap);
    va_end(ap);
    return arena_strdup(checking->arena, text.s);
}

static const char *kind_name(const struct term *term)
{
    static const char *const names[] = {
        [TERM_FIELD] = "VarRef",
        [TERM_STAR] = "Wildcard",
        [TERM_INTEGER] = "IntegerLiteral",
        [TERM_NUMBER] = "NumberLiteral",
        [TERM_DURATION] = "DurationLiteral",
        [TERM_CALL] = "Call",
        [TERM_BINARY] = "BinaryExpr",
    };
    return names[term->kind];
}

static const char *check_count(struct checking *checking, const struct term *call, size_t least,
                               size_t most)
{
    const char *name = function_names[call->function];

    if (call->n_args >= least && call->n_args <= most)
        return NULL;
    if (least == most)
        return mistake(checking, "invalid number of arguments for %s, expected %zu, got %zu", name,
                       least, call->n_args);
    return mistake(checking,
                   "invalid number of arguments for %s, expected at least %zu but no more than "
                   "%zu, got %zu",
                   name, least, most, call->n_args);
}

static const char *check_unit(struct checking *checking, const struct term *call)
{
    const struct term *unit = call->n_args > 1 ? call->args[1] : NULL;

    if (unit && unit->kind != TERM_DURATION)
        return mistake(checking, "second argument to %s must be a duration, got *influxql.%s",
                       function_names[call->function], kind_name(unit));
    if (unit && unit->integer <= 0)
        return mistake(checking, "duration argument must be positive, got %s%s",
                       unit->integer < 0 ? "-" : "", unit->text);
    return NULL;
}

static const char *check_window(struct checking *checking, const struct term *call)
{
    const struct term *window = call->args[1];

    if (window->kind != TERM_INTEGER)
        return mistake(checking,
                       "second argument for moving_average must be an integer, got *influxql.%s",
                       kind_name(window));
    if (window->integer <= 1)
        return mistake(checking, "moving_average window must be greater than 1, got %lld",
                       (long long)window->integer);
    if (window->integer > POINTS_MAX)
        return mistake(checking, "moving_average window must be at most %d", POINTS_MAX);
    return NULL;
}

static const char *check_call(struct checking *checking, const struct term *call);

/* Of points as they are, or of a function by buckets. */
static const char *check_transform(struct checking *checking, const struct term *call)
{
    bool window = call->function == FUNCTION_MOVING_AVERAGE;
    bool unit = call->function == FUNCTION_DERIVATIVE || call->function == FUNCTION_RISE ||
                call->function == FUNCTION_ELAPSED;
    const char *name = function_names[call->function];
    const char *wrong = check_count(checking, call, window ? 2 : 1, window || unit ? 2 : 1);

    wrong = wrong ? wrong : unit ? check_unit(checking, call) : NULL;
    wrong = wrong || !window ? wrong : check_window(checking, call);
    if (wrong)
        return wrong;
    const struct term *arg = call->args[0];
    if (arg->kind == TERM_CALL && !checking->buckets)
        return mistake(checking, "%s aggregate requires a GROUP BY interval", name);
    if (arg->kind == TERM_CALL)
        return check_call(checking, arg);
    if (checking->buckets)
        return mistake(checking, "aggregate function required inside the call to %s", name);
    if (arg->kind != TERM_FIELD && arg->kind != TERM_STAR)
        return mistake(checking, "expected field argument in %s()", name);
    return NULL;
}

static const char *check_call(struct checking *checking, const struct term *call)
{
    const char *name = function_names[call->function];
    bool percentile = call->function == FUNCTION_PERCENTILE;

    if (call->function == FUNCTION_NONE)
        return mistake(checking, "undefined function %.100s()", call->field);
    if (function_transforms(call->function))
        return check_transform(checking, call);
    const char *wrong = check_count(checking, call, percentile ? 2 : 1, percentile ? 2 : 1);
    if (wrong)
        return wrong;
    if (call->args[0]->kind != TERM_FIELD && call->args[0]->kind != TERM_STAR)
        return mistake(checking, "expected field argument in %s()", name);
    if (percentile && call->args[1]->kind != TERM_INTEGER && call->args[1]->kind != TERM_NUMBER)
        return mistake(checking, "expected float argument in percentile()");
    return NULL;
}

static const char *check_term(struct checking *checking, const struct term *term, bool alone)
{
    const char *wrong = NULL;

    switch (term->kind) {
    case TERM_CALL:
        checking->calls++;
        if (!alone && term_inside(term)->kind == TERM_STAR)
            return "unsupported expression with wildcard";
        return check_call(checking, term);
    case TERM_BINARY:
        wrong = check_term(checking, term->left, false);
        return wrong ? wrong : check_term(checking, term->right, false);
    case TERM_STAR:
        checking->fields++;
        return alone ? NULL : "unsupported expression with wildcard";
    case TERM_FIELD:
        checking->fields++;
        return NULL;
    case TERM_DURATION:
        return "a duration is no value";
    case TERM_INTEGER:
    case TERM_NUMBER:
    default:
        return NULL;
    }
}

const char *terms_check(struct arena *arena, const struct statement *s)
{
    struct checking checking = {.arena = arena, .buckets = s->interval_ns != 0};

    if (!s->selected.len)
        return "at least 1 non-time field must be queried";
    vec_foreach (one, &s->selected) {
        size_t before = checking.fields + checking.calls;
        const char *wrong = check_term(&checking, one->term, true);
        if (!wrong && checking.fields + checking.calls == before)
            wrong = "field must contain at least one variable";
        if (wrong)
            return wrong;
    }
    if (checking.calls && checking.fields)
        return "mixing aggregate and non-aggregate queries is not supported";
    if (!checking.calls && s->interval_ns)
        return "GROUP BY requires at least one aggregate function";
    return NULL;
}
