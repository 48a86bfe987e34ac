/* SPDX-License-Identifier: MIT */
/*
 * influxql_change.c — statements that make, alter or drop. Databases come and go. Policies are
 * taken and do nothing: Hone forgets nothing by itself. Parts of a database cannot be dropped, and
 * who asks for it is told so.
 */
#include "api/influxql_parser.h"

static void skip_statement(struct parser *p)
{
    while (p->token.kind != TOKEN_END && p->token.kind != TOKEN_BAD && !at_mark(p, ";"))
        next(p);
}

/* POLICY x ON db DURATION 3d REPLICATION 1 SHARD DURATION 1h DEFAULT, in any order. */
static int parse_policy(struct parser *p, bool dropped)
{
    static const char *const words[] = {"DURATION", "REPLICATION", "SHARD", "DEFAULT"};
    const char *name = NULL;
    int r = want_word(p, "POLICY");

    p->statement->kind = STATEMENT_POLICY;
    r = r < 0 ? r : want_name(p, &name);
    r = r < 0 ? r : want_word(p, "ON");
    r = r < 0 ? r : want_name(p, &p->statement->db);
    if (r < 0 || dropped)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (at_word(p, words[i])) {
            skip_statement(p);
            return 0;
        }
    return expected(p, "DURATION, REPLICATION, SHARD, DEFAULT");
}

/* DATABASE x WITH DURATION …: what comes behind is for a store that forgets. */
int parse_create(struct parser *p)
{
    if (eat_word(p, "RETENTION"))
        return parse_policy(p, false);
    if (!eat_word(p, "DATABASE"))
        return expected(p, "DATABASE, RETENTION");
    p->statement->kind = STATEMENT_CREATE;
    int r = want_name(p, &p->statement->db);
    if (r == 0 && eat_word(p, "WITH"))
        skip_statement(p);
    return r;
}

int parse_alter(struct parser *p)
{
    return eat_word(p, "RETENTION") ? parse_policy(p, false) : expected(p, "RETENTION");
}

int parse_delete(struct parser *p)
{
    p->statement->kind = STATEMENT_REFUSED;
    p->statement->error = "a part of a database cannot be dropped here, only all of it: DROP "
                          "DATABASE, or 'hone rm' of an experiment or a trial";
    skip_statement(p);
    return 0;
}

int parse_drop(struct parser *p)
{
    if (eat_word(p, "RETENTION"))
        return parse_policy(p, true);
    if (at_word(p, "MEASUREMENT") || at_word(p, "SERIES"))
        return parse_delete(p);
    if (!eat_word(p, "DATABASE"))
        return expected(p, "DATABASE, MEASUREMENT, RETENTION, SERIES");
    p->statement->kind = STATEMENT_DROP;
    return want_name(p, &p->statement->db);
}
