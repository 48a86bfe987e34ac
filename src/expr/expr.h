/* SPDX-License-Identifier: MIT */
/*
 * expr.h — one small language for every filter: which trials, which experiments, when an alert.
 *
 *     min(val_loss, step > 1000) < 0.3 and time_to(acc >= 0.9) < 2h and last(grad_norm) is finite
 *
 * An expression is parsed once against the columns that there are, so every mistake is told before
 * the first row is looked at; then it is evaluated for each row. A value that a row does not have
 * is null: a comparison with it is false, `is null` tells it. Pure: no clock, no I/O. What a text
 * can cost is bounded: by its length, by its depth, and by one pass over a metric's points for each
 * function in it. docs/expressions.md is the manual.
 */
#ifndef HONE_EXPR_H
#define HONE_EXPR_H

#include "base/err.h"

#define EXPR_TEXT_MAX  16384 /* bytes of an expression */
#define EXPR_DEPTH_MAX 100   /* of its tree */
#define EXPR_CALLS_MAX 64    /* functions over curves in it */
#define EXPR_NO_STEP   INT64_MIN

/* What a column or a value is. TIME, ANY and UNKNOWN: see below. */
enum expr_type {
    EXPR_NULL,
    EXPR_NUMBER,
    EXPR_BOOL,
    EXPR_TEXT,
    EXPR_LIST,   /* of texts: tags */
    EXPR_TIME,   /* columns only: its values are numbers, seconds since 1970 */
    EXPR_ANY,    /* columns only: differs from row to row */
    EXPR_UNKNOWN /* inside expr_decide only */
};
struct expr_value {
    enum expr_type type;
    bool sure;   /* UNKNOWN: it is not null */
    size_t n;    /* LIST */
    double high; /* UNKNOWN: a number between `number` and this, or NaN where these are infinite */
    double rest; /* NUMBER: what a whole one from 2^53 on, as a step may be, has above `number` */
    union {
        double number; /* NUMBER; BOOL: 0 or 1 */
        const char *text;
        const char *const *list;
    };
};

static inline UNUSED struct expr_value expr_number(double x)
{
    return (struct expr_value){.type = EXPR_NUMBER, .number = x};
}
static inline UNUSED struct expr_value expr_integer(int64_t x) /* exact; so it is compared */
{
    double near = (double)x;
    return (struct expr_value){
        .type = EXPR_NUMBER, .number = near, .rest = (double)((__int128)x - (__int128)near)};
}
static inline UNUSED struct expr_value expr_bool(bool x)
{
    return (struct expr_value){.type = EXPR_BOOL, .number = x};
}
static inline UNUSED struct expr_value expr_null(void)
{
    return (struct expr_value){.type = EXPR_NULL};
}
static inline UNUSED struct expr_value expr_text(const char *text) /* NULL: null */
{
    return (struct expr_value){.type = text ? EXPR_TEXT : EXPR_NULL, .text = text};
}

/* ---- the columns ---- */
enum expr_kind { EXPR_FIELD, EXPR_PARAM, EXPR_METRIC };
struct expr_column {
    const char *name;
    enum expr_kind kind;
    enum expr_type type;      /* of a metric: NUMBER, its last value */
    const char *const *words; /* all that a text may be, up to a NULL; NULL: anything */
    int better;               /* of a metric: -1 lower values, 1 higher ones, 0 not known */
};
struct expr_scope {
    const char *noun; /* "trial": what a row is, and the prefix of its fields */
    const struct expr_column *columns;
    size_t n;
    int64_t now_us;            /* `now`, wall */
    bool open;                 /* a name that is not listed is a metric that may still come */
    const char *const *absent; /* … but not these, fields that rows have elsewhere; NULL: none */
    bool lenient;              /* it was taken before: what can never hold is let be */
};

struct expr;
/* `want` is EXPR_BOOL for a condition, EXPR_ANY for a value to sort by. The scope is used by this
 * call only. 0, or -EINVAL with a sentence that names what is wrong and what would be right. */
int expr_parse(const char *text, const struct expr_scope *scope, enum expr_type want,
               struct expr **ret, struct err *err);
void expr_free(struct expr *expr);
DEFINE_AUTOFREE(expr);

/* ---- what it takes to evaluate it ---- */
enum { /* bits: what is known of a metric without its points */
       EXPR_HAS_COUNT = 1,
       EXPR_HAS_LAST = 2,
       EXPR_HAS_FIRST = 4,
       EXPR_HAS_RANGE = 8, /* min and max */
       EXPR_HAS_SUM = 16,
       EXPR_HAS_SQUARES = 32,
       EXPR_HAS_NANS = 64, /* nans */
       EXPR_HAS_INFS = 128,
       EXPR_HAS_STEPS = 256, /* first_step, last_step */
       EXPR_HAS_FIRST_NAN = 512
};
struct expr_stats {
    unsigned has; /* which of these are set */
    uint64_t count, nans, infs;
    double first, last;            /* any value */
    double min, max, sum, squares; /* over finite values; NaN, NaN, 0, 0: there is none */
    int64_t first_step, last_step; /* smallest and largest; EXPR_NO_STEP: none */
    int64_t first_nan;             /* step; EXPR_NO_STEP: there is no NaN */
};
struct expr_need {
    size_t column;    /* scope.n and above: one that was not listed (scope.open) */
    const char *name; /* lives as long as the expression */
    enum expr_kind kind;
    unsigned stats; /* of a metric: these would suffice where points are not needed */
    bool points;    /* of a metric: its points may be asked for, even with those at hand */
};
/* Every column that is named, once. */
const struct expr_need *expr_needs(const struct expr *expr, size_t *ret_n);
bool expr_needs_points(const struct expr *expr);

/* ---- evaluating ---- */
struct expr_point {
    int64_t step;  /* EXPR_NO_STEP: none */
    double time_s; /* since the row's start; NaN: not known */
    double value;
};
typedef bool expr_points_fn(const struct expr_point *points, size_t n,
                            void *arg); /* false: enough */
/* Which points are asked for, bounds included; others may come, too. */
struct expr_range {
    int64_t min_step, max_step;    /* INT64_MIN (EXPR_NO_STEP), INT64_MAX: all */
    double min_time_s, max_time_s; /* -INFINITY, INFINITY: all */
};
/* A piece of a curve of which only this is known, all of `stats` but FIRST_NAN and perhaps STEPS
 * set. Of times: the smallest and largest, NaN: none has one. */
struct expr_block {
    struct expr_stats stats; /* EXPR_HAS_STEPS: every point has a step */
    double first_s, last_s;
};
enum expr_verdict {
    EXPR_TAKEN,  /* go on with the next block */
    EXPR_POINTS, /* tell its points first */
    EXPR_ENOUGH  /* no more */
};
typedef enum expr_verdict expr_block_fn(const struct expr_block *block, void *arg);
/* A row. Texts and lists live until the evaluation is over, and longer if its value is used. */
struct expr_source {
    void *arg;
    struct expr_value (*field)(size_t column, void *arg); /* fields and parameters */
    /* false: the row has no such metric. NULL: nothing is known without points. */
    bool (*stats)(size_t column, struct expr_stats *ret, void *arg);
    /* The points in their order, in pieces of any size, until fn has enough. 0, or an error. NULL:
     * metrics have none. */
    int (*points)(size_t column, const struct expr_range *range, expr_points_fn *fn, void *fn_arg,
                  void *arg, struct err *err);
    /* The same in blocks, so that most of them need not be read: `block` is asked about each in its
     * order, then `fn` gets the points of those that it wants. -EAGAIN before the first of them:
     * not known in blocks, ask for points. NULL: never. */
    int (*blocks)(size_t column, expr_block_fn *block, expr_points_fn *fn, void *fn_arg, void *arg,
                  struct err *err);
};
/* The value; or an error of source->points. Texts in it are the source's or the expression's. */
int expr_eval(const struct expr *expr, const struct expr_source *source, struct expr_value *ret,
              struct err *err);
/* Does the condition hold? 1, 0, or an error. Points are read only where expr_decide() could not
 * tell. */
int expr_test(const struct expr *expr, const struct expr_source *source, struct err *err);
/* The same from fields and stats alone: 1, 0, or -EAGAIN where only points can tell. */
int expr_decide(const struct expr *expr, const struct expr_source *source);
/* For sorting: numbers by size (NaN behind all), texts by bytes, false before true; null last.
 * `desc` turns the order of all but null and NaN, which stay last. */
int expr_value_compare(const struct expr_value *a, const struct expr_value *b, bool desc);

/* The functions, for help and completion: name and one line about it. NULL behind the last. */
const char *expr_function(size_t i, const char **ret_help);

#endif
