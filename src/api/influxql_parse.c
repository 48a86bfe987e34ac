/* SPDX-License-Identifier: MIT */
/*
 * influxql_parse.c — a query's text becomes its tree, by recursive descent with one token in hand.
 * What does not fit is told in InfluxDB's words.
 */
#include "api/influxql_parser.h"
#include "base/json.h"

#include <errno.h>
#include <strings.h>

#define TEXT_MAX (1 << 20)

/* ---- FROM ---- */

/* m, "rp"."m", db.rp.m, db..m: policies are one and the same here. */
static int parse_measurement(struct parser *p)
{
    struct match match = {.op = MATCH_IS};
    const char *parts[3] = {NULL, NULL, NULL};
    size_t n = 0;

    if (p->token.kind == TOKEN_REGEX) {
        int r = compile(p, &match, MATCH_LIKE);
        if (r == 0)
            vec_push(&p->statement->from, match);
        return r;
    }
    for (;;) {
        int r = n == 1 && at_mark(p, ".") ? 0 : want_name(p, &parts[n]);
        if (r < 0)
            return r;
        n++;
        if (n == 3 || !at_mark(p, "."))
            break;
        next_regex(p);
        if (p->token.kind == TOKEN_REGEX)
            return parse_measurement(p);
    }
    if (n == 3)
        p->statement->db = parts[0];
    match.text = parts[n - 1];
    vec_push(&p->statement->from, match);
    return 0;
}

static int parse_from(struct parser *p)
{
    int r;

    do {
        next_regex(p); /* FROM or the comma is in hand */
        r = parse_measurement(p);
    } while (r == 0 && at_mark(p, ","));
    return r;
}

/* ---- limits and order ---- */

static int parse_count(struct parser *p, const char *word, int64_t *ret)
{
    if (!eat_word(p, word))
        return 0;
    if (p->token.kind != TOKEN_INTEGER)
        return expected(p, "integer");
    *ret = p->token.integer;
    next(p);
    return 0;
}

static int parse_tail(struct parser *p)
{
    struct statement *s = p->statement;
    int r = 0;

    if (eat_word(p, "ORDER")) {
        const char *by = NULL;
        r = want_word(p, "BY");
        if (r == 0)
            r = want_name(p, &by);
        if (r == 0 && strcasecmp(by, "time") != 0)
            return err_set(p->err, EINVAL,
                           "error parsing query: only ORDER BY time supported at this time");
        s->descending = r == 0 && eat_word(p, "DESC");
        if (r == 0 && !s->descending)
            eat_word(p, "ASC");
    }
    r = r < 0 ? r : parse_count(p, "LIMIT", &s->limit);
    r = r < 0 ? r : parse_count(p, "OFFSET", &s->offset);
    r = r < 0 ? r : parse_count(p, "SLIMIT", &s->slimit);
    return r < 0 ? r : parse_count(p, "SOFFSET", &s->soffset);
}

/* ---- SELECT ---- */

/* The time is the first column anyway; it may be given another name. */
static int parse_selected(struct parser *p)
{
    struct selected one = {.term = NULL};
    int r = parse_term(p, &one.term);

    if (r == 0 && eat_word(p, "AS"))
        r = want_name(p, &one.alias);
    if (r < 0)
        return r;
    if (one.term->kind != TERM_FIELD || !str_eq(one.term->field, "time"))
        vec_push(&p->statement->selected, one);
    else if (one.alias)
        p->statement->time_name = one.alias;
    return 0;
}

static int parse_group_time(struct parser *p)
{
    struct statement *s = p->statement;

    if (p->token.kind != TOKEN_DURATION || p->token.integer <= 0)
        return expected(p, "duration");
    s->interval_ns = p->token.integer;
    next(p);
    if (eat_mark(p, ",")) {
        bool minus = eat_mark(p, "-");
        if (p->token.kind != TOKEN_DURATION)
            return expected(p, "duration");
        s->offset_ns = (minus ? -1 : 1) * (p->token.integer % s->interval_ns);
        next(p);
    }
    return want_mark(p, ")");
}

static int parse_dimension(struct parser *p)
{
    struct statement *s = p->statement;
    const char *name = NULL;
    bool bare = p->token.kind == TOKEN_WORD;

    enum cast cast = CAST_NONE; /* whatever it says, one groups by tags */
    if (eat_mark(p, "*")) {
        s->by_all = true;
        return parse_cast(p, &cast);
    }
    int r = want_name(p, &name);
    if (r == 0 && bare && strcasecmp(name, "time") == 0) {
        r = want_mark(p, "(");
        return r < 0 ? r : parse_group_time(p);
    }
    r = r < 0 ? r : parse_cast(p, &cast);
    if (r == 0)
        vec_push(&s->by, name);
    return r;
}

static int parse_fill(struct parser *p)
{
    static const char *const words[] = {"null", "none", "previous", "linear"};
    struct statement *s = p->statement;
    int r = want_mark(p, "(");

    s->has_fill = true;
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (eat_word(p, words[i])) {
            s->fill = (enum fill)i;
            return want_mark(p, ")");
        }
    bool minus = eat_mark(p, "-");
    if (p->token.kind != TOKEN_INTEGER && p->token.kind != TOKEN_NUMBER)
        return expected(p, "none, null, previous, linear, number");
    s->fill = FILL_NUMBER;
    s->fill_number = minus ? -p->token.number : p->token.number;
    next(p);
    return want_mark(p, ")");
}

static int parse_group(struct parser *p)
{
    int r = eat_word(p, "GROUP") ? want_word(p, "BY") : 1;

    if (r)
        return r < 0 ? r : 0;
    do {
        r = parse_dimension(p);
    } while (r == 0 && eat_mark(p, ","));
    return r == 0 && eat_word(p, "fill") ? parse_fill(p) : r;
}

/* tz('UTC') at the end. Other zones would shift buckets and the times in texts. */
static int parse_zone(struct parser *p)
{
    if (!eat_word(p, "tz"))
        return 0;
    int r = want_mark(p, "(");
    if (r == 0 && p->token.kind != TOKEN_STRING)
        return expected(p, "string");
    const char *zone = p->token.text;
    if (r == 0 && *zone && !str_eq(zone, "UTC") && !str_eq(zone, "Etc/UTC"))
        return err_set(p->err, EINVAL,
                       "error parsing query: tz('%.100s') is not known here, only tz('UTC')", zone);
    next(p);
    return r < 0 ? r : want_mark(p, ")");
}

static int parse_select(struct parser *p)
{
    int r;

    p->statement->kind = STATEMENT_SELECT;
    do {
        r = parse_selected(p);
    } while (r == 0 && eat_mark(p, ","));
    if (r == 0)
        r = at_word(p, "FROM") ? parse_from(p) : expected(p, "FROM");
    r = r < 0 ? r : parse_where(p);
    r = r < 0 ? r : parse_group(p);
    r = r < 0 ? r : parse_tail(p);
    r = r < 0 ? r : parse_zone(p);
    if (r == 0)
        p->statement->error = terms_check(&p->query->arena, p->statement);
    return r;
}

/* ---- SHOW ---- */

static int parse_key_list(struct parser *p, struct match *ret)
{
    VEC(const char *) list = {0};
    int r = want_mark(p, "(");

    do {
        const char *name = NULL;
        r = r < 0 ? r : want_name(p, &name);
        vec_push(&list, name);
    } while (r == 0 && eat_mark(p, ","));
    r = r < 0 ? r : want_mark(p, ")");
    *ret = (struct match){.op = MATCH_IN, .n_list = list.len};
    ret->list = arena_memdup(&p->query->arena, list.at, list.len * sizeof(*list.at));
    vec_release(&list);
    return r;
}

static int parse_with(struct parser *p)
{
    struct statement *s = p->statement;
    bool values = s->kind == STATEMENT_TAG_VALUES;

    if (!eat_word(p, "WITH"))
        return values ? expected(p, "WITH") : 0;
    int r = want_word(p, values ? "KEY" : "MEASUREMENT");
    s->has_with = true;
    if (r == 0 && values && eat_word(p, "IN"))
        return parse_key_list(p, &s->with);
    return r < 0 ? r : parse_match(p, true, &s->with);
}

static int parse_show_rest(struct parser *p)
{
    int r = 0;

    if (eat_word(p, "ON"))
        r = want_name(p, &p->statement->db);
    if (r == 0 && at_word(p, "FROM"))
        r = parse_from(p);
    if (r == 0 && (p->statement->kind == STATEMENT_TAG_VALUES ||
                   p->statement->kind == STATEMENT_MEASUREMENTS))
        r = parse_with(p);
    r = r < 0 ? r : parse_where(p);
    if (r == 0 && p->statement->by_fields)
        return err_set(p->err, EINVAL,
                       "error parsing query: conditions on fields stand in SELECT alone");
    return r < 0 ? r : parse_tail(p);
}

static int parse_show(struct parser *p)
{
    static const struct {
        const char *first, *second;
        enum statement_kind kind;
    } shows[] = {
        {"DATABASES", NULL, STATEMENT_DATABASES},
        {"MEASUREMENTS", NULL, STATEMENT_MEASUREMENTS},
        {"FIELD", "KEYS", STATEMENT_FIELD_KEYS},
        {"RETENTION", "POLICIES", STATEMENT_POLICIES},
        {"SERIES", NULL, STATEMENT_SERIES},
        {"USERS", NULL, STATEMENT_USERS},
        {"CONTINUOUS", "QUERIES", STATEMENT_CONTINUOUS},
    };
    if (eat_word(p, "TAG")) {
        bool keys = at_word(p, "KEYS");
        if (!keys && !at_word(p, "VALUES"))
            return expected(p, "KEYS, VALUES");
        next(p);
        p->statement->kind = keys ? STATEMENT_TAG_KEYS : STATEMENT_TAG_VALUES;
        return parse_show_rest(p);
    }
    for (size_t i = 0; i < ARRAY_LEN(shows); i++) {
        if (!eat_word(p, shows[i].first))
            continue;
        p->statement->kind = shows[i].kind;
        int r = shows[i].second ? want_word(p, shows[i].second) : 0;
        return r < 0 ? r : parse_show_rest(p);
    }
    return expected(p, "CONTINUOUS, DATABASES, FIELD, MEASUREMENTS, RETENTION, SERIES, TAG, USERS");
}

/* ---- the whole ---- */

static int parse_statement(struct parser *p)
{
    if (eat_word(p, "SELECT"))
        return parse_select(p);
    if (eat_word(p, "SHOW"))
        return parse_show(p);
    if (eat_word(p, "CREATE"))
        return parse_create(p);
    if (eat_word(p, "DROP"))
        return parse_drop(p);
    if (eat_word(p, "ALTER"))
        return parse_alter(p);
    if (eat_word(p, "DELETE"))
        return parse_delete(p);
    return expected(p, "SELECT, DELETE, SHOW, CREATE, DROP, ALTER");
}

static int parse_all(struct parser *p)
{
    next(p);
    do {
        while (eat_mark(p, ";"))
            ;
        if (p->token.kind == TOKEN_END && p->query->statements.len)
            return 0;
        vec_push(&p->query->statements,
                 ((struct statement){.max_ns = INT64_MAX, .min_ns = INT64_MIN}));
        p->statement = vec_last(&p->query->statements);
        int r = parse_statement(p);
        if (r < 0)
            return r;
    } while (at_mark(p, ";"));
    return p->token.kind == TOKEN_END ? 0 : expected(p, "; or EOF");
}

static int parse_params(const char *text, json_t **ret, struct err *err)
{
    if (!text || !*text)
        return 0;
    if (json_parse(text, strlen(text), ret, NULL) < 0 || !json_is_object(*ret))
        return err_set(err, EINVAL, "error parsing query parameters: they are no JSON object");
    return 0;
}

int influxql_parse_bound(const char *text, const char *params, int64_t now_ns,
                         struct influxql **ret, struct err *err)
{
    autofree(influxql) struct influxql *query = xcalloc(1, sizeof(*query));
    struct parser parser = {
        .lexer = {.s = text, .arena = &query->arena}, .query = query, .err = err};
    autofree(json) json_t *values = NULL;

    if (parse_params(params, &values, err) < 0)
        return -EINVAL;
    parser.lexer.params = values;
    query->now_ns = now_ns;
    if (strlen(text) > TEXT_MAX)
        return err_set(err, EINVAL, "error parsing query: longer than %d bytes", TEXT_MAX);
    int r = parse_all(&parser);
    if (r < 0)
        return r;
    *ret = TAKE(query);
    return 0;
}

int influxql_parse(const char *text, int64_t now_ns, struct influxql **ret, struct err *err)
{
    return influxql_parse_bound(text, NULL, now_ns, ret, err);
}

void influxql_free(struct influxql *query)
{
    vec_foreach (statement, &query->statements) {
        vec_release(&statement->selected);
        vec_release(&statement->from);
        vec_release(&statement->by);
    }
    vec_release(&query->statements);
    vec_foreach (regex, &query->regexes) {
        regfree(*regex);
        free(*regex);
    }
    vec_release(&query->regexes);
    arena_release(&query->arena);
    free(query);
}

bool statement_changes(const struct statement *statement)
{
    return statement->kind == STATEMENT_CREATE || statement->kind == STATEMENT_DROP ||
           statement->kind == STATEMENT_POLICY || statement->kind == STATEMENT_REFUSED;
}

bool influxql_only_creates(const struct influxql *query)
{
    vec_foreach (statement, &query->statements)
        if (statement_changes(statement) && statement->kind != STATEMENT_CREATE)
            return false;
    return true;
}

bool influxql_writes(const struct influxql *query)
{
    vec_foreach (statement, &query->statements)
        if (statement_changes(statement))
            return true;
    return false;
}
