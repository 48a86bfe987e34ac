/* SPDX-License-Identifier: MIT */
/*
 * influxql_internal.h — the tree of a query, and the tables that answer it.
 */
#ifndef HONE_INFLUXQL_INTERNAL_H
#define HONE_INFLUXQL_INTERNAL_H

#include "api/influxql.h"
#include "base/arena.h"

#include <regex.h>

#define MEASUREMENTS_MAX 10000
#define BUCKETS_MAX      100000  /* of one GROUP BY time() over its range */
#define POINTS_MAX       5000000 /* that a statement holds at once */

/* ---- the tree; everything lies in the query's arena but the regular expressions ---- */
enum match_op { MATCH_IS, MATCH_NOT, MATCH_LIKE, MATCH_UNLIKE, MATCH_IN };
struct match { /* of a text */
    enum match_op op;
    const char *text;
    regex_t *regex;
    const char **list; /* MATCH_IN: (n_list) */
    size_t n_list;
};
struct term;
enum cond_kind { COND_AND, COND_OR, COND_TAG, COND_FIELD };
enum compare_op {
    COMPARE_IS,
    COMPARE_NOT,
    COMPARE_LESS,
    COMPARE_MOST,
    COMPARE_MORE,
    COMPARE_LEAST
};
struct cond {
    enum cond_kind kind;
    struct cond *left, *right;
    const char *key; /* COND_TAG */
    bool no_tag;     /* it is called a field: texts of fields are not kept, so it never holds */
    struct match match;
    enum compare_op op; /* COND_FIELD: of numbers */
    struct term *a, *b;
};

enum statement_kind {
    STATEMENT_CREATE,
    STATEMENT_DROP,
    STATEMENT_POLICY,  /* is made, altered or dropped: nothing happens */
    STATEMENT_REFUSED, /* `error` says why */
    STATEMENT_DATABASES,
    STATEMENT_MEASUREMENTS,
    STATEMENT_TAG_KEYS,
    STATEMENT_TAG_VALUES,
    STATEMENT_FIELD_KEYS,
    STATEMENT_SERIES,
    STATEMENT_POLICIES,
    STATEMENT_USERS,
    STATEMENT_CONTINUOUS,
    STATEMENT_SELECT
};
enum function {
    FUNCTION_NONE,
    FUNCTION_MEAN,
    FUNCTION_MAX,
    FUNCTION_MIN,
    FUNCTION_SUM,
    FUNCTION_COUNT,
    FUNCTION_LAST,
    FUNCTION_FIRST,
    FUNCTION_SPREAD,
    FUNCTION_STDDEV,
    FUNCTION_MEDIAN,
    FUNCTION_PERCENTILE,
    FUNCTION_DERIVATIVE, /* from here on: points to points */
    FUNCTION_RISE,       /* non_negative_derivative */
    FUNCTION_DIFFERENCE,
    FUNCTION_INCREASE, /* non_negative_difference */
    FUNCTION_MOVING_AVERAGE,
    FUNCTION_CUMULATIVE_SUM,
    FUNCTION_ELAPSED,
    FUNCTIONS
};
extern const char *const function_names[FUNCTIONS];
bool function_transforms(enum function function);

enum cast { /* x::tag; of fields the type that they are to have */
            CAST_NONE,
            CAST_FLOAT,
            CAST_INTEGER,
            CAST_UNSIGNED,
            CAST_STRING, /* no field is one */
            CAST_BOOLEAN,
            CAST_FIELD,
            CAST_TAG
};
enum term_kind {
    TERM_FIELD, /* or a tag */
    TERM_STAR,
    TERM_INTEGER,
    TERM_NUMBER,
    TERM_DURATION, /* as an argument only */
    TERM_CALL,
    TERM_BINARY
};
struct term {
    enum term_kind kind;
    const char *field; /* FIELD; of a call its name as it was written */
    enum cast cast;    /* FIELD, STAR */
    double number;
    int64_t integer;  /* INTEGER; ns of a DURATION */
    const char *text; /* of a literal */
    char op;          /* BINARY: + - * / % */
    struct term *left, *right;
    enum function function; /* CALL */
    struct term **args;     /* (n_args) */
    size_t n_args;
};
struct terms {
    const struct term **at;
    size_t len, cap;
};
struct selected {
    struct term *term;
    const char *alias; /* NULL: none */
};
/* Fields and calls of a term in the order in which they are written. */
void term_leaves(const struct term *term, struct terms *to);
/* What the innermost call of a leaf is about: a field or *. */
const struct term *term_inside(const struct term *leaf);
enum fill { FILL_NULL, FILL_NONE, FILL_PREVIOUS, FILL_LINEAR, FILL_NUMBER };

struct statement {
    enum statement_kind kind;
    const char *db; /* NULL: the request's */
    VEC(struct selected) selected;
    const char *time_name;  /* of the first column; NULL: time */
    const char *error;      /* what is wrong with them, told when it is run; NULL: nothing */
    VEC(struct match) from; /* measurements; none: all */
    struct cond *where;     /* NULL: all */
    bool by_fields;         /* some of it is about fields */
    struct match with;      /* keys of SHOW TAG VALUES, measurements of SHOW MEASUREMENTS */
    bool has_with;
    int64_t min_ns, max_ns;
    bool has_min, has_max;
    int64_t interval_ns, offset_ns; /* 0: no GROUP BY time() */
    VEC(const char *) by;
    bool by_all;
    enum fill fill;
    bool has_fill;
    double fill_number;
    bool descending;
    int64_t limit, offset, slimit, soffset; /* limits: 0: all */
};
struct influxql {
    struct arena arena;
    VEC(struct statement) statements;
    VEC(regex_t *) regexes;
    int64_t now_ns;
};

bool statement_changes(const struct statement *statement);

bool match_text(const struct match *match, const char *text);
/* May it hold for points of the series? What is about fields may. */
bool cond_holds(const struct cond *cond, const struct influxql_series *series);
const char *series_tag(const struct influxql_series *series, const char *key); /* "": none */

/* A metric taken apart at its last dot; the field is "value" without one. */
struct metric_parts {
    char *measurement;
    const char *field; /* behind the measurement in the same memory, or a constant */
};
struct metric_parts metric_split(const char *metric); /* free(measurement) */

/* ---- answers ---- */
enum cell_kind { CELL_NULL, CELL_TIME, CELL_NUMBER, CELL_TEXT, CELL_BOOL };
struct cell {
    enum cell_kind kind;
    uint16_t rest; /* of a NUMBER: base/rest.h */
    union {
        int64_t time_ns;
        double number;    /* also of a BOOL */
        const char *text; /* in the result's arena */
    };
};
/* Of a row, from the cells of the term's leaves, which are passed over. */
struct cell term_value(const struct term *term, const struct cell **leaves);
struct table {
    const char *name; /* NULL: none */
    const struct influxql_tag *tags;
    size_t n_tags;
    const char **columns;
    size_t n_columns;
    VEC(struct cell) cells; /* rows of n_columns */
};
struct result {
    struct arena arena;
    VEC(struct table) tables;
    char *error;   /* NULL: none */
    char *warning; /* NULL: none */
};
void result_release(struct result *result);
/* Columns are copied, the other texts must be the arena's or constant. */
struct table *result_table(struct result *result, const char *name, const char *const *columns,
                           size_t n_columns);
void table_text(struct table *table, const char *text);
void result_format(const struct result *result, size_t statement,
                   const struct influxql_options *options, struct str *to);

/* influxql_show.c, influxql_select.c */
int database_exists(const struct influxql_source *source, const char *db, struct err *err);
int run_show(const struct statement *statement, const struct influxql_source *source,
             const char *db, struct result *result, struct err *err);
int run_select(const struct influxql *query, const struct statement *statement,
               const struct influxql_source *source, const char *db, struct result *result,
               struct err *err);

/* influxql_lex.c */
enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* bare: may be a keyword */
    TOKEN_NAME,   /* "quoted" */
    TOKEN_STRING, /* 'text' */
    TOKEN_INTEGER,
    TOKEN_NUMBER,
    TOKEN_DURATION,
    TOKEN_REGEX,
    TOKEN_MARK, /* = != =~ , ( … */
    TOKEN_BAD,
    TOKEN_UNBOUND /* $name of which nothing is told */
};
struct token {
    enum token_kind kind;
    const char *text; /* without quotes, in the arena */
    double number;
    int64_t integer; /* TOKEN_INTEGER; ns of TOKEN_DURATION */
    int line, column;
};
struct lexer {
    const char *s; /* what is left */
    int line, column;
    struct arena *arena;
    const struct json_t *params; /* what $names stand for; NULL: none do */
};
/* `token`, whose text is the name behind a $, becomes what it stands for (influxql_bind.c). */
void bind_token(struct lexer *lexer, struct token *token);
/* `regex`: a '/' begins a regular expression. */
struct token lex(struct lexer *lexer, bool regex);

#endif
