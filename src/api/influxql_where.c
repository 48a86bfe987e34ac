/* SPDX-License-Identifier: MIT */
/*
 * influxql_where.c — tokens in hand, matches of texts, times and conditions. Bounds of time are
 * taken out of the condition while it is read: they must stand outside of any OR.
 */
#include "api/influxql_parser.h"
#include "base/clock.h"

#include <errno.h>
#include <strings.h>

#define REGEX_MAX 1024

/* ---- tokens ---- */

void next(struct parser *p)
{
    p->token = lex(&p->lexer, false);
}

void next_regex(struct parser *p)
{
    p->token = lex(&p->lexer, true);
}

int expected(struct parser *p, const char *what)
{
    const struct token *t = &p->token;

    if (t->kind == TOKEN_UNBOUND)
        return err_set(p->err, EINVAL, "error parsing query: missing parameter: %.100s", t->text);
    return err_set(p->err, EINVAL,
                   "error parsing query: found %.100s, expected %s at line %d, char %d",
                   t->kind == TOKEN_END ? "EOF" : t->text, what, t->line + 1, t->column + 1);
}

bool at_word(const struct parser *p, const char *word)
{
    return p->token.kind == TOKEN_WORD && strcasecmp(p->token.text, word) == 0;
}

bool at_mark(const struct parser *p, const char *mark)
{
    return p->token.kind == TOKEN_MARK && str_eq(p->token.text, mark);
}

bool eat_word(struct parser *p, const char *word)
{
    bool there = at_word(p, word);
    if (there)
        next(p);
    return there;
}

bool eat_mark(struct parser *p, const char *mark)
{
    bool there = at_mark(p, mark);
    if (there)
        next(p);
    return there;
}

int want_word(struct parser *p, const char *word)
{
    return eat_word(p, word) ? 0 : expected(p, word);
}

int want_mark(struct parser *p, const char *mark)
{
    return eat_mark(p, mark) ? 0 : expected(p, mark);
}

static bool reserved(const char *word)
{
    static const char *const words[] = {"FROM",   "WHERE", "GROUP", "ORDER", "LIMIT", "AND", "OR",
                                        "SELECT", "SHOW",  "BY",    "WITH",  "ON",    "AS",  "IN"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasecmp(word, words[i]) == 0)
            return true;
    return false;
}

bool at_name(const struct parser *p)
{
    return p->token.kind == TOKEN_NAME || (p->token.kind == TOKEN_WORD && !reserved(p->token.text));
}

int want_name(struct parser *p, const char **ret)
{
    if (!at_name(p))
        return expected(p, "identifier");
    *ret = p->token.text;
    next(p);
    return 0;
}

int parse_cast(struct parser *p, enum cast *ret)
{
    static const char *const words[] = {
        [CAST_FLOAT] = "float",   [CAST_INTEGER] = "integer", [CAST_UNSIGNED] = "unsigned",
        [CAST_STRING] = "string", [CAST_BOOLEAN] = "boolean", [CAST_FIELD] = "field",
        [CAST_TAG] = "tag",
    };

    if (!eat_mark(p, "::"))
        return 0;
    for (size_t i = CAST_FLOAT; i < ARRAY_LEN(words); i++)
        if (eat_word(p, words[i])) {
            *ret = (enum cast)i;
            return 0;
        }
    return expected(p, "float, integer, unsigned, string, boolean, field, tag");
}

/* ---- matches ---- */

int compile(struct parser *p, struct match *match, enum match_op op)
{
    const char *text = p->token.text;

    if (p->token.kind != TOKEN_REGEX)
        return expected(p, "regex");
    regex_t *regex = xcalloc(1, sizeof(*regex));
    if (strlen(text) > REGEX_MAX || !regex_compile(regex, text)) {
        free(regex);
        return err_set(p->err, EINVAL,
                       "error parsing query: error parsing regexp: '%.100s' at line %d, char %d",
                       text, p->token.line + 1, p->token.column + 1);
    }
    vec_push(&p->query->regexes, regex);
    *match = (struct match){.op = op, .text = text, .regex = regex};
    next(p);
    return 0;
}

bool match_text(const struct match *match, const char *text)
{
    switch (match->op) {
    case MATCH_IS:
        return str_eq(match->text, text);
    case MATCH_NOT:
        return !str_eq(match->text, text);
    case MATCH_LIKE:
        return regexec(match->regex, text, 0, NULL, 0) == 0;
    case MATCH_UNLIKE:
        return regexec(match->regex, text, 0, NULL, 0) != 0;
    case MATCH_IN:
        for (size_t i = 0; i < match->n_list; i++)
            if (str_eq(match->list[i], text))
                return true;
    }
    return false;
}

int parse_match(struct parser *p, bool names, struct match *ret)
{
    bool like = at_mark(p, "=~"), unlike = at_mark(p, "!~");
    bool is = at_mark(p, "="), not = at_mark(p, "!=") || at_mark(p, "<>");

    if (!like && !unlike && !is && !not )
        return expected(p, "=, !=, =~, !~");
    if (like || unlike) {
        next_regex(p);
        return compile(p, ret, like ? MATCH_LIKE : MATCH_UNLIKE);
    }
    next(p);
    if (p->token.kind != TOKEN_STRING && !(names && at_name(p)))
        return expected(p, names ? "identifier" : "string");
    *ret = (struct match){.op = is ? MATCH_IS : MATCH_NOT, .text = p->token.text};
    next(p);
    return 0;
}

/* ---- time ---- */

static int time_of_text(struct parser *p, const char *text, int64_t *ret_ns)
{
    autofree(mem) char *full = xstrdup(text);
    int64_t us;

    if (strlen(full) == 10) { /* a day */
        free(full);
        full = xasprintf("%sT00:00:00Z", text);
    } else if (strlen(full) > 10 && full[10] == ' ') {
        free(full);
        full = xasprintf("%.10sT%s%s", text, text + 11, strchr(text, 'Z') ? "" : "Z");
    }
    if (time_parse(full, &us) < 0 || __builtin_mul_overflow(us, 1000, ret_ns))
        return err_set(p->err, EINVAL, "invalid operation: time and '%.50s' are not compatible",
                       text);
    return 0;
}

static int parse_time_base(struct parser *p, int64_t *ret_ns)
{
    struct token t = p->token;
    bool minus = false;

    if (at_mark(p, "-")) {
        minus = true;
        next(p);
        t = p->token;
    }
    if (!minus && eat_word(p, "now")) {
        *ret_ns = p->query->now_ns;
        int r = want_mark(p, "(");
        return r < 0 ? r : want_mark(p, ")");
    }
    if (t.kind == TOKEN_STRING && !minus) {
        next(p);
        return time_of_text(p, t.text, ret_ns);
    }
    if (t.kind != TOKEN_INTEGER && t.kind != TOKEN_DURATION)
        return expected(p, "duration, string, number");
    *ret_ns = minus ? -t.integer : t.integer;
    next(p);
    return 0;
}

/* now() - 1h, '2026-01-01T00:00:00Z' + 3s, 1600000000000000000 */
static int parse_time(struct parser *p, int64_t *ret_ns)
{
    int r = parse_time_base(p, ret_ns);

    while (r == 0 && (at_mark(p, "+") || at_mark(p, "-"))) {
        bool plus = at_mark(p, "+");
        next(p);
        if (p->token.kind != TOKEN_DURATION && p->token.kind != TOKEN_INTEGER)
            return expected(p, "duration");
        if (plus ? __builtin_add_overflow(*ret_ns, p->token.integer, ret_ns)
                 : __builtin_sub_overflow(*ret_ns, p->token.integer, ret_ns))
            return err_set(p->err, EINVAL, "error parsing query: time outside range");
        next(p);
    }
    return r;
}

static void bound_below(struct statement *s, int64_t ns)
{
    s->min_ns = s->has_min ? MAX(s->min_ns, ns) : ns;
    s->has_min = true;
}

static void bound_above(struct statement *s, int64_t ns)
{
    s->max_ns = s->has_max ? MIN(s->max_ns, ns) : ns;
    s->has_max = true;
}

static int parse_time_condition(struct parser *p)
{
    const char *op = p->token.text;
    int64_t ns = 0;

    if (p->token.kind != TOKEN_MARK || !strchr("=<>", *op) || str_eq(op, "=~"))
        return expected(p, "=, <, <=, >, >=");
    next(p);
    int r = parse_time(p, &ns);
    if (r < 0)
        return r;
    p->times++;
    if (*op == '>' || *op == '=')
        bound_below(p->statement, ns + (str_eq(op, ">") && ns < INT64_MAX));
    if (*op == '<' || *op == '=')
        bound_above(p->statement, ns - (str_eq(op, "<") && ns > INT64_MIN));
    return 0;
}

/* ---- conditions; a NULL one always holds ---- */

static int parse_or(struct parser *p, struct cond **ret);

static struct cond *join(struct parser *p, enum cond_kind kind, struct cond *a, struct cond *b)
{
    struct cond *cond = arena_alloc(&p->query->arena, sizeof(*cond));
    *cond = (struct cond){.kind = kind, .left = a, .right = b};
    return cond;
}

static int parse_comparison(struct parser *p, struct cond **ret)
{
    const char *key = "";

    *ret = NULL;
    if (eat_mark(p, "(")) {
        int r = ++p->depth > DEPTH_MAX ? expected(p, "fewer parentheses") : parse_or(p, ret);
        p->depth--;
        return r < 0 ? r : want_mark(p, ")");
    }
    enum cast cast = CAST_NONE;
    int r = want_name(p, &key);
    r = r < 0 ? r : parse_cast(p, &cast);
    if (r < 0)
        return r;
    if (strcasecmp(key, "time") == 0)
        return parse_time_condition(p);
    if (at_mark(p, "<") || at_mark(p, ">") || at_mark(p, "<=") || at_mark(p, ">="))
        return err_set(p->err, EINVAL,
                       "error parsing query: conditions on fields (%.100s) are not known here, "
                       "only on tags and time",
                       key);
    struct cond *cond = join(p, COND_TAG, NULL, NULL);
    cond->key = key;
    cond->no_tag = cast != CAST_NONE && cast != CAST_TAG;
    *ret = cond;
    return parse_match(p, false, &cond->match);
}

static int parse_and(struct parser *p, struct cond **ret)
{
    int r = parse_comparison(p, ret);

    while (r == 0 && eat_word(p, "AND")) {
        struct cond *right = NULL;
        r = parse_comparison(p, &right);
        *ret = *ret && right ? join(p, COND_AND, *ret, right) : *ret ? *ret : right;
    }
    return r;
}

static int parse_or(struct parser *p, struct cond **ret)
{
    int times = p->times;
    int r = parse_and(p, ret);

    while (r == 0 && at_word(p, "OR")) {
        struct cond *right = NULL;
        next(p);
        r = parse_and(p, &right);
        if (r == 0 && p->times != times)
            return err_set(p->err, EINVAL,
                           "error parsing query: cannot use OR with time conditions");
        if (r == 0)
            *ret = join(p, COND_OR, *ret, right);
    }
    return r;
}

int parse_where(struct parser *p)
{
    return eat_word(p, "WHERE") ? parse_or(p, &p->statement->where) : 0;
}

bool cond_holds(const struct cond *cond, const struct influxql_series *series)
{
    if (!cond)
        return true;
    if (cond->kind == COND_AND)
        return cond_holds(cond->left, series) && cond_holds(cond->right, series);
    if (cond->kind == COND_OR)
        return cond_holds(cond->left, series) || cond_holds(cond->right, series);
    return !cond->no_tag && match_text(&cond->match, series_tag(series, cond->key));
}
