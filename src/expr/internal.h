/* SPDX-License-Identifier: MIT */
/*
 * internal.h — what the files of expr/ share: tokens, the parser, the tree and the functions.
 *
 *     text ──lex.c──► tokens ──parse.c──► typed nodes (build.c, names.c, call.c) ──► struct expr
 *     struct expr + a row ──► eval.c ──► value; curve.c: a function (functions.c) over points
 */
#ifndef HONE_EXPR_INTERNAL_H
#define HONE_EXPR_INTERNAL_H

#include "base/arena.h"
#include "base/str.h"
#include "expr/expr.h"

#include <math.h>
#include <regex.h>

/* ---- tokens ---- */
enum token_kind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_TEXT,
    TOKEN_NAME,
    TOKEN_OR,
    TOKEN_AND,
    TOKEN_NOT,
    TOKEN_IN,
    TOKEN_IS,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_NULL,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_MORE,
    TOKEN_MORE_EQUAL,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_MATCH,
    TOKEN_NO_MATCH,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_TIMES,
    TOKEN_OVER,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_COMMA,
};
enum unit { UNIT_NONE, UNIT_PERCENT, UNIT_SECONDS, UNIT_BYTES };
struct token {
    enum token_kind kind;
    size_t at, end;      /* in the text */
    double number, rest; /* as in expr_value */
    enum unit unit;
    char *text;  /* TEXT without its quotes, NAME; of the arena */
    bool quoted; /* NAME: in backquotes */
};

/* ---- the tree ---- */
enum node_kind {
    NODE_CONST,
    NODE_COLUMN,
    NODE_POINT, /* of the point that a condition is about */
    NODE_CALL,  /* a function over a curve */
    NODE_MATH,
    NODE_NEGATE,
    NODE_ARITHMETIC,
    NODE_COMPARE,
    NODE_MATCH,
    NODE_IN,
    NODE_IS,
    NODE_NOT,
    NODE_AND,
    NODE_OR,
};
enum point_part { POINT_STEP, POINT_TIME, POINT_VALUE };
enum is { IS_NULL, IS_FINITE, IS_NAN, IS_INF };

struct node {
    enum node_kind kind;
    enum expr_type type;
    unsigned depth;
    size_t at, end; /* in the text */
    struct node **args;
    size_t n;
    union {
        struct expr_value value;
        size_t column;
        enum point_part part;
        struct call *call;
        double (*math)(double);
        enum token_kind op; /* COMPARE, ARITHMETIC */
        const regex_t *regex;
        enum is is;
    };
    bool negated;  /* MATCH, IN, IS */
    bool of_point; /* it differs from point to point */
};

/* Which of the points that pass the condition count: the first or last so many. */
enum window_kind { WINDOW_ALL, WINDOW_POINTS, WINDOW_SHARE, WINDOW_STEPS, WINDOW_SECONDS };
struct window {
    enum window_kind kind;
    bool first; /* else the last ones */
    double size;
};

/* What can be said of a function's value from the stats of all points, whatever the condition. */
enum bound {
    BOUND_NONE,
    BOUND_FINITE, /* between min and max */
    BOUND_VALUES, /* one of the values */
    BOUND_COUNT,
    BOUND_STEPS,
};
enum form {
    FORM_CONDITION = 1, /* f(condition) besides f(metric, …) */
    FORM_NEEDED = 2,    /* … and it needs one */
    FORM_NUMBER = 4,    /* quantile(m, 0.9), at(m, 100) */
    FORM_BETTER = 8,    /* improved(m, max) */
    FORM_COUNTS = 16,   /* without points it is 0 or false */
    FORM_BEFORE = 32,   /* it looks at the points before its window, too */
    FORM_ENOUGH = 64,   /* the first point that counts is enough */
    FORM_ANYHOW = 128,  /* the order of points does not matter */
};
struct curve;
struct function {
    const char *name, *help;
    enum expr_type type;
    enum bound bound;
    unsigned
        stats;     /* what it can be told from when there is no condition and no window; 0: never */
    unsigned form; /* bits of enum form */
    void (*add)(struct curve *curve, const struct expr_point *point);
    /* At least one point was added; without one it is null, and false or 0 for COUNTS. */
    struct expr_value (*finish)(struct curve *curve);
    /* -EAGAIN: these do not tell. NULL if `stats` is 0. */
    int (*from_stats)(const struct expr_stats *stats, struct expr_value *ret);
    /* Add a block of which all points count (`whole`), or some. False: its points are needed. NULL:
     * they always are. */
    bool (*add_block)(struct curve *curve, const struct expr_block *block, bool whole);
};
const struct function *expr_function_find(const char *name);
double (*expr_math_find(const char *name))(double);

struct call {
    const struct function *function;
    size_t column;
    size_t inner, slot;     /* slots inner … slot-1 are those of functions inside of it */
    struct node *condition; /* NULL: none */
    struct node *number;    /* NULL: none; a value for each row */
    struct window window;
    int better;
};

struct expr {
    struct arena arena;
    const char *text;
    struct node *root;
    VEC(struct call *) calls; /* inner ones first; slot is the index */
    VEC(struct expr_need) needs;
    VEC(regex_t *) regexes;
    bool points;
};

/* ---- the parser ---- */
struct parser {
    struct expr *expr;
    const struct expr_scope *scope;
    struct err *err;
    const char *text;
    size_t at; /* behind the token */
    struct token token;
    unsigned depth;
    struct call *call; /* the function whose condition is being read, NULL: none */
};

/* Read the next token. 0 or -EINVAL. */
int expr_lex(struct parser *p);
/* Set an error; NULL, for `return`. */
void *expr_refuse(struct parser *p, const char *fmt, ...) PRINTF(2, 3);
/* What stands at the token, for errors: "'foo'", "the end". */
const char *expr_token_words(struct parser *p);

/* parse.c */
struct node *expr_parse_or(struct parser *p);
struct node *expr_parse_sum(struct parser *p);

/* build.c: NULL after an error, as for all that takes nodes. */
struct node *expr_node_new(struct parser *p, enum node_kind kind, enum expr_type type, size_t at,
                           struct node *const *args, size_t n);
struct node *expr_node_const(struct parser *p, struct expr_value value, size_t at);
struct node *build_condition(struct parser *p, struct node *node);
struct node *build_number(struct parser *p, struct node *node);
struct node *build_logic(struct parser *p, enum node_kind kind, struct node *const *args, size_t n);
struct node *build_arithmetic(struct parser *p, enum token_kind op, struct node *a, struct node *b);
struct node *build_compare(struct parser *p, enum token_kind op, struct node *a, struct node *b);
struct node *build_in(struct parser *p, struct node *item, struct node *const *list, size_t n,
                      bool negated);
struct node *build_match(struct parser *p, struct node *text, bool negated);
struct node *build_is(struct parser *p, struct node *node, bool negated);
/* The text of a node as it was written, for errors. */
const char *expr_node_words(struct parser *p, const struct node *node);
const char *expr_type_words(enum expr_type type); /* "a number" */

/* names.c */
struct node *name_node(struct parser *p, const struct token *name);
/* The metric of that name; -1 after an error. */
ptrdiff_t name_metric(struct parser *p, const struct token *name);
/* Is there a metric of that name? No error if not. */
bool name_is_metric(struct parser *p, const struct token *name);
const char *expr_column_name(const struct parser *p, size_t column);
/* Note that the column is used. */
void expr_need_column(struct parser *p, size_t column, unsigned stats, bool points);

/* call.c: the token behind `name` is "(". */
struct node *call_node(struct parser *p, const struct token *name);
/* The last value of a metric, as its bare name means. */
struct node *call_last(struct parser *p, size_t column, const struct token *name);

/* ---- evaluating ---- */
struct run {
    const struct expr *expr;
    const struct expr_source *source;
    const struct expr_point *point; /* NULL: no condition is being looked at */
    const struct expr_stats *range; /* … or it is about all points of a metric at once */
    bool decide;                    /* no points are read */
    uint64_t known;                 /* slots that are set */
    struct expr_value memo[EXPR_CALLS_MAX];
    struct err *err;
    int error; /* of reading points */
};
struct expr_value expr_node_value(struct run *run, const struct node *node);
struct expr_value expr_call_value(struct run *run, const struct call *call);

static inline bool expr_compare(enum token_kind op, double a, double b)
{
    switch (op) {
    case TOKEN_LESS:
        return a < b;
    case TOKEN_LESS_EQUAL:
        return a <= b;
    case TOKEN_MORE:
        return a > b;
    case TOKEN_MORE_EQUAL:
        return a >= b;
    case TOKEN_EQUAL:
        return a == b;
    default:
        return a != b;
    }
}

/* filter.c: a condition on points, quick where it is simple. */
struct filter {
    unsigned parts;          /* which of the following bound anything */
    struct expr_range range; /* of steps and times */
    double min_value, max_value;
    const struct node *condition; /* to be evaluated for those within; NULL: they all pass */
};
/* Functions inside of the condition were evaluated before. condition NULL: all pass. */
void filter_init(struct filter *filter, struct run *run, const struct node *condition);
bool filter_passes(const struct filter *filter, struct run *run, const struct expr_point *point);
/* How many of a block's points pass; SOME: perhaps. */
enum cover { COVER_NONE, COVER_SOME, COVER_ALL };
enum cover filter_cover(const struct filter *filter, const struct expr_block *block);

/* A function on its way over the points of a metric. */
struct curve {
    const struct call *call;
    struct run *run;
    struct filter filter;
    double number, rest; /* of FORM_NUMBER */
    uint64_t count;      /* points added */
    uint64_t n;          /* those of them that the function keeps */
    double a, b, c, d;
    int64_t step;
    VEC(double) values;
    VEC(struct expr_point) points;                     /* where there is a window */
    size_t from, to;                                   /* the window, in points */
    enum { SHIFT_ONLY, SHIFT_WHOLE, SHIFT_CUT } shift; /* which blocks are looked at */
};
struct expr_value expr_curve_null(const struct function *function);

static inline struct expr_value value_between(double low, double high, bool sure)
{
    return (struct expr_value){.type = EXPR_UNKNOWN, .number = low, .high = high, .sure = sure};
}
static inline struct expr_value number_negated(struct expr_value x)
{
    x.number = -x.number;
    x.rest = -x.rest;
    return x;
}
/* Doubles that hold all of these steps between them; from 2^53 on they may round. */
static inline struct expr_value steps_between(int64_t first, int64_t last)
{
    const int64_t exact = INT64_C(1) << 53;
    double low = (double)first, high = (double)last;

    if (first <= -exact || first >= exact)
        low = nextafter(low, -INFINITY);
    if (last <= -exact || last >= exact)
        high = nextafter(high, INFINITY);
    return value_between(low, high, false);
}
static inline bool value_true(const struct expr_value *value)
{
    return value->type == EXPR_BOOL && value->number != 0;
}

#endif
