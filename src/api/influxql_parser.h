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
int want_name(struct parser *p, const char **ret);
/* The regular expression in hand. */
int compile(struct parser *p, struct match *match, enum match_op op);
/* =~ /x/, !~ /x/, = 'x', != 'x' behind the name; where `names`, = x, too. */
int parse_match(struct parser *p, bool names, struct match *ret);
/* WHERE …, if it is there. */
int parse_where(struct parser *p);

#endif
