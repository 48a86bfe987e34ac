/* SPDX-License-Identifier: MIT */
/*
 * influxql_parser.h — what the two halves of the parser share: one token in hand, and conditions.
 */
#ifndef HONE_INFLUXQL_PARSER_H
#define HONE_INFLUXQL_PARSER_H

#include "api/influxql_internal.h"

struct parser {
    struct lexer lexer;
    struct token token; /* in hand */
    struct influxql *query;
    struct statement *statement;
    int times; /* comparisons of time so far */
    int depth;
    struct err *err;
};

#define DEPTH_MAX 100 /* of parentheses and calls */

/* ---- influxql_where.c ---- */
void next(struct parser *p);
void next_regex(struct parser *p); /* a '/' begins a regular expression */
/* "found x, expected y" for what is in hand; -EINVAL. */
int expected(struct parser *p, const char *what);
bool at_word(const struct parser *p, const char *word);
bool at_mark(const struct parser *p, const char *mark);
bool eat_word(struct parser *p, const char *word); /* true: it was there, and is passed */
bool eat_mark(struct parser *p, const char *mark);
int want_word(struct parser *p, const char *word);
int want_mark(struct parser *p, const char *mark);
bool at_name(const struct parser *p);
int want_name(struct parser *p, const char **ret);
/* "::tag", "::float" … behind a name, if it is there. */
int parse_cast(struct parser *p, enum cast *ret);
/* The regular expression in hand. */
int compile(struct parser *p, struct match *match, enum match_op op);
/* =~ /x/, !~ /x/, = 'x', != 'x' behind the name; where `names`, = x, too. */
int parse_match(struct parser *p, bool names, struct match *ret);
/* ---- influxql_term.c ---- */
/* A field, a function, or arithmetic of these. */
int parse_term(struct parser *p, struct term **ret);
/* What is wrong with what is selected, as a sentence of the arena or a constant; NULL: nothing. */
const char *terms_check(struct arena *arena, const struct statement *statement);

/* ---- influxql_regex.c ---- */
/* False: it is none, or has something that is not known here. */
bool regex_compile(regex_t *regex, const char *text);

/* ---- influxql_change.c: what comes behind CREATE, DROP, ALTER, DELETE ---- */
int parse_create(struct parser *p);
int parse_drop(struct parser *p);
int parse_alter(struct parser *p);
int parse_delete(struct parser *p);

/* WHERE …, if it is there. */
int parse_where(struct parser *p);

#endif
