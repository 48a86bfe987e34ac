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

/* time `op` ns */
static void bound_time(struct parser *p, enum compare_op op, int64_t ns)
{
    p->times++;
    if (op == COMPARE_MORE || op == COMPARE_LEAST || op == COMPARE_IS)
        bound_below(p->statement, ns + (op == COMPARE_MORE && ns < INT64_MAX));
    if (op == COMPARE_LESS || op == COMPARE_MOST || op == COMPARE_IS)
        bound_above(p->statement, ns - (op == COMPARE_LESS && ns > INT64_MIN));
}

static const struct {
    const char *mark;
    enum compare_op op, turned; /* 5 < x: x > 5 */
} compares[] = {
    {"=", COMPARE_IS, COMPARE_IS},       {"!=", COMPARE_NOT, COMPARE_NOT},
    {"<>", COMPARE_NOT, COMPARE_NOT},    {"<", COMPARE_LESS, COMPARE_MORE},
    {"<=", COMPARE_MOST, COMPARE_LEAST}, {">", COMPARE_MORE, COMPARE_LESS},
    {">=", COMPARE_LEAST, COMPARE_MOST},
};

/* The mark in hand is passed; -EINVAL: it compares nothing. */
static int parse_compare(struct parser *p, enum compare_op *ret, enum compare_op *ret_turned)
{
    for (size_t i = 0; i < ARRAY_LEN(compares); i++)
        if (eat_mark(p, compares[i].mark)) {
            *ret = compares[i].op;
            *ret_turned = compares[i].turned;
            return 0;
        }
    return expected(p, "=, !=, <, <=, >, >=, =~, !~");
}

/* time > … */
static int parse_time_condition(struct parser *p)
{
    enum compare_op op = COMPARE_NOT, turned;
    int64_t ns = 0;

    if (at_mark(p, "!=") || at_mark(p, "<>"))
        return expected(p, "=, <, <=, >, >=");
    int r = parse_compare(p, &op, &turned);
    r = r < 0 ? r : parse_time(p, &ns);
    if (r == 0)
        bound_time(p, op, ns);
    return r;
}

/* … < time */
static int parse_turned_time(struct parser *p)
{
    enum compare_op op, turned = COMPARE_NOT;
    int64_t ns = 0;
    int r = parse_time(p, &ns);

    r = r < 0 ? r : parse_compare(p, &op, &turned);
    r = r < 0 ? r : want_word(p, "time");
    if (r == 0)
        bound_time(p, turned, ns);
    return r;
}

/* ---- conditions; a NULL one always holds ---- */

static int parse_or(struct parser *p, struct cond **ret);

static struct cond *join(struct parser *p, enum cond_kind kind, struct cond *a, struct cond *b)
{
    struct cond *cond = arena_alloc(&p->query->arena, sizeof(*cond));
    *cond = (struct cond){.kind = kind, .left = a, .right = b};
    return cond;
}

/* A text behind the name: of a tag. Texts do not come before or after each other. */
static int parse_text_condition(struct parser *p, const struct term *left, enum compare_op op,
                                struct cond *cond)
{
    if (left->kind != TERM_FIELD)
        return expected(p, "number");
    cond->kind = COND_TAG;
    cond->key = left->field;
    cond->no_tag = (left->cast != CAST_NONE && left->cast != CAST_TAG) ||
                   (op != COMPARE_IS && op != COMPARE_NOT);
    cond->match =
        (struct match){.op = op == COMPARE_IS ? MATCH_IS : MATCH_NOT, .text = p->token.text};
    next(p);
    return 0;
}

/* true and false are 1 and 0, as they are kept. */
static int parse_operand(struct parser *p, struct term **ret)
{
    bool yes = at_word(p, "true");
    struct term truth = {.kind = TERM_NUMBER, .number = yes, .text = p->token.text};

    if (!yes && !at_word(p, "false"))
        return parse_term(p, ret);
    next(p);
    *ret = arena_memdup(&p->query->arena, &truth, sizeof(truth));
    return 0;
}

static bool is_time(const struct term *term)
{
    return term->kind == TERM_FIELD && strcasecmp(term->field, "time") == 0;
}

/* Fields, numbers and arithmetic of these; not functions, * and durations. */
static bool is_operand(const struct term *term)
{
    if (term->kind == TERM_BINARY)
        return is_operand(term->left) && is_operand(term->right);
    return term->kind == TERM_FIELD || term->kind == TERM_INTEGER || term->kind == TERM_NUMBER;
}

/* Behind the left side: what it is compared with. */
static int parse_rest(struct parser *p, struct term *left, struct cond *cond)
{
    enum compare_op turned = COMPARE_NOT;

    cond->a = left;
    if (left->kind == TERM_FIELD && (at_mark(p, "=~") || at_mark(p, "!~"))) {
        cond->key = left->field;
        cond->no_tag = left->cast != CAST_NONE && left->cast != CAST_TAG;
        return parse_match(p, false, &cond->match);
    }
    int r = parse_compare(p, &cond->op, &turned);
    if (r == 0 && p->token.kind == TOKEN_STRING)
        return parse_text_condition(p, left, cond->op, cond);
    cond->kind = COND_FIELD;
    r = r < 0 ? r : parse_operand(p, &cond->b);
    if (r < 0)
        return r;
    if (!is_operand(left) || !is_operand(cond->b))
        return err_set(p->err, EINVAL,
                       "error parsing query: conditions are on tags, fields, numbers and time");
    if (!is_time(cond->b)) {
        p->statement->by_fields = true;
        return 0;
    }
    if (left->kind != TERM_INTEGER)
        return err_set(p->err, EINVAL, "error parsing query: time is compared with times alone");
    bound_time(p, turned, left->integer);
    return 0;
}

static int parse_comparison(struct parser *p, struct cond **ret)
{
    struct term *left = NULL;

    *ret = NULL;
    if (eat_mark(p, "(")) {
        int r = ++p->depth > DEPTH_MAX ? expected(p, "fewer parentheses") : parse_or(p, ret);
        p->depth--;
        return r < 0 ? r : want_mark(p, ")");
    }
    if (p->token.kind == TOKEN_DURATION || p->token.kind == TOKEN_STRING || at_word(p, "now"))
        return parse_turned_time(p);
    int r = parse_operand(p, &left);
    if (r < 0)
        return r;
    if (is_time(left))
        return parse_time_condition(p);
    struct cond *cond = join(p, COND_TAG, NULL, NULL);
    int times = p->times;
    r = parse_rest(p, left, cond);
    *ret = p->times == times ? cond : NULL;
    return r;
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
    if (cond->kind == COND_FIELD)
        return true;
    return !cond->no_tag && match_text(&cond->match, series_tag(series, cond->key));
}
