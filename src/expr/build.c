/* SPDX-License-Identifier: MIT */
/*
 * build.c — nodes of the tree, each with its type; what does not fit is refused here, with what
 * would be right. A node keeps where it stands in the text, for sentences about it.
 */
#include "base/suggest.h"
#include "base/units.h"
#include "expr/internal.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>

#define PATTERN_MAX 500  /* bytes of a regular expression */
#define REPEATS_MAX 1000 /* product of all {n} in it */

const char *expr_type_words(enum expr_type type)
{
    static const char *const words[] = {
        [EXPR_NULL] = "null",           [EXPR_NUMBER] = "a number", [EXPR_BOOL] = "true or false",
        [EXPR_TEXT] = "text",           [EXPR_LIST] = "a list",     [EXPR_TIME] = "a time",
        [EXPR_ANY] = "not of one kind", [EXPR_UNKNOWN] = "unknown",
    };
    return words[type];
}

struct node *expr_node_new(struct parser *p, enum node_kind kind, enum expr_type type, size_t at,
                           struct node *const *args, size_t n)
{
    struct node *node = arena_alloc(&p->expr->arena, sizeof(*node));

    *node = (struct node){.kind = kind, .type = type, .at = at, .end = p->token.at, .n = n};
    for (size_t i = 0; i < n; i++) {
        node->depth = MAX(node->depth, args[i]->depth);
        node->of_point |= args[i]->of_point;
    }
    node->depth++;
    if (node->depth > EXPR_DEPTH_MAX)
        return expr_refuse(p, "the expression is nested more than %d deep at character %zu",
                           EXPR_DEPTH_MAX, at + 1);
    if (n) {
        node->args = arena_memdup(&p->expr->arena, args, n * sizeof(*args));
        node->end = args[n - 1]->end;
    }
    return node;
}

struct node *expr_node_const(struct parser *p, struct expr_value value, size_t at)
{
    struct node *node = expr_node_new(p, NODE_CONST, value.type, at, NULL, 0);
    if (node)
        node->value = value;
    return node;
}

/* ---- conditions and numbers ---- */

struct node *build_condition(struct parser *p, struct node *node)
{
    if (!node || node->type == EXPR_BOOL || node->type == EXPR_ANY)
        return node;
    const char *words = expr_node_words(p, node);
    bool text = node->type == EXPR_TEXT || node->type == EXPR_LIST;
    return expr_refuse(p, "'%s' is %s, not a condition: compare it, as in %s %s", words,
                       expr_type_words(node->type), words, text ? "= 'x'" : "> 0");
}

struct node *build_number(struct parser *p, struct node *node)
{
    if (!node || node->type == EXPR_NUMBER || node->type == EXPR_TIME || node->type == EXPR_ANY)
        return node;
    return expr_refuse(p, "'%s' is %s: a number is needed there", expr_node_words(p, node),
                       expr_type_words(node->type));
}

struct node *build_logic(struct parser *p, enum node_kind kind, struct node *const *args, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!build_condition(p, args[i]))
            return NULL;
    return expr_node_new(p, kind, EXPR_BOOL, args[0]->at, args, n);
}

struct node *build_arithmetic(struct parser *p, enum token_kind op, struct node *a, struct node *b)
{
    if (!build_number(p, a) || !build_number(p, b))
        return NULL;
    bool adds = op == TOKEN_PLUS || op == TOKEN_MINUS;
    bool time = adds && (a->type == EXPR_TIME) != (b->type == EXPR_TIME);
    struct node *node = expr_node_new(p, NODE_ARITHMETIC, time ? EXPR_TIME : EXPR_NUMBER, a->at,
                                      (struct node *[]){a, b}, 2);
    if (node)
        node->op = op;
    return node;
}

/* ---- comparisons ---- */

/* "2026-11-15", "2026-11-15 18:00", RFC 3339; "18:00" is the last such time. */
static int parse_moment(const struct parser *p, const char *text, double *ret)
{
    autofree(mem) char *midnight = xasprintf("%s 00:00", text);
    bool clock = !strchr(text, '-');
    int64_t us;

    if (moment_parse(text, p->scope->now_us, &us) < 0 &&
        moment_parse(midnight, p->scope->now_us, &us) < 0)
        return -EINVAL;
    *ret = (double)us / 1e6;
    if (clock && us > p->scope->now_us)
        *ret -= 86400;
    return 0;
}

/* A text beside a time is a time. */
static int settle_time(struct parser *p, const struct node *time, struct node *text)
{
    double seconds;

    if (time->type != EXPR_TIME || text->kind != NODE_CONST || text->type != EXPR_TEXT)
        return 0;
    if (parse_moment(p, text->value.text, &seconds) < 0)
        return err_set(p->err, EINVAL,
                       "'%s' is a time, %s is none: write '2026-11-15', '2026-11-15 18:00', or "
                       "now - 2h",
                       expr_node_words(p, time), expr_node_words(p, text));
    text->value = expr_number(seconds);
    text->type = EXPR_TIME;
    return 0;
}

/* A text beside a column that has only certain words must be one of these. */
static int check_word(struct parser *p, const struct node *column, const struct node *text)
{
    if (column->kind != NODE_COLUMN || text->kind != NODE_CONST || text->type != EXPR_TEXT ||
        column->column >= p->scope->n || !p->scope->columns[column->column].words)
        return 0;
    const char *const *words = p->scope->columns[column->column].words;
    size_t n = 0;
    for (; words[n]; n++)
        if (str_eq(words[n], text->value.text))
            return 0;
    const char *meant = suggest(text->value.text, words, n);
    autorelease(str) struct str list = STR_INIT;
    for (size_t i = 0; i < n && i < 12; i++)
        str_addf(&list, "%s%s", i ? ", " : "", words[i]);
    if (meant)
        return err_set(p->err, EINVAL, "%s is never %s: did you mean '%s'?",
                       expr_node_words(p, column), expr_node_words(p, text), meant);
    return err_set(p->err, EINVAL, "%s is never %s: it is one of %s%s", expr_node_words(p, column),
                   expr_node_words(p, text), list.s, n > 12 ? ", …" : "");
}

static bool is_number(const struct node *node)
{
    return node->type == EXPR_NUMBER || node->type == EXPR_TIME;
}

static bool is_words(const struct node *node)
{
    return node->type == EXPR_TEXT || node->type == EXPR_LIST;
}

static int refuse_pair(struct parser *p, const struct node *a, const struct node *b)
{
    const char *hint = "they cannot be compared";

    if (is_words(a) && b->kind == NODE_CONST && b->type == EXPR_NUMBER)
        hint = "a text is written in quotes";
    else if (is_number(a) && b->kind == NODE_CONST && b->type == EXPR_TEXT)
        hint = "a number is written without quotes";
    else if (a->type == EXPR_BOOL)
        hint = "write = true or = false";
    return err_set(p->err, EINVAL, "'%s' is %s, '%s' is %s: %s", expr_node_words(p, a),
                   expr_type_words(a->type), expr_node_words(p, b), expr_type_words(b->type), hint);
}

/* May they be asked for equality, or for their order? */
static int check_pair(struct parser *p, bool order, struct node *a, struct node *b)
{
    if (settle_time(p, a, b) < 0 || settle_time(p, b, a) < 0)
        return -EINVAL;
    const struct node *other = b->type == EXPR_NULL ? a : b;
    if (a->type == EXPR_NULL || b->type == EXPR_NULL)
        return err_set(p->err, EINVAL, "nothing compares with null: write %s is null",
                       expr_node_words(p, other));
    if (is_number(a) && is_number(b))
        return 0;
    const struct node *odd = is_number(a) || a->type == EXPR_ANY ? b : a;
    if (order && !is_number(odd) && odd->type != EXPR_ANY)
        return err_set(p->err, EINVAL, "'%s' is %s, which has no order: use =, !=%s",
                       expr_node_words(p, odd), expr_type_words(odd->type),
                       is_words(odd) ? ", ~ or in" : "");
    bool same = a->type == b->type && a->type != EXPR_LIST;
    if (!same && a->type != EXPR_ANY && b->type != EXPR_ANY && !(is_words(a) && is_words(b)))
        return refuse_pair(p, a, b);
    return check_word(p, a, b) < 0 || check_word(p, b, a) < 0 ? -EINVAL : 0;
}

struct node *build_compare(struct parser *p, enum token_kind op, struct node *a, struct node *b)
{
    if (check_pair(p, op != TOKEN_EQUAL && op != TOKEN_NOT_EQUAL, a, b) < 0)
        return NULL;
    struct node *node =
        expr_node_new(p, NODE_COMPARE, EXPR_BOOL, a->at, (struct node *[]){a, b}, 2);
    if (node)
        node->op = op;
    return node;
}

struct node *build_in(struct parser *p, struct node *item, struct node *const *list, size_t n,
                      bool negated)
{
    autofree(mem) struct node **args = xcalloc(n + 1, sizeof(struct node *));

    args[0] = item;
    for (size_t i = 0; i < n; i++) {
        if (check_pair(p, false, item, list[i]) < 0)
            return NULL;
        args[i + 1] = list[i];
    }
    struct node *node = expr_node_new(p, NODE_IN, EXPR_BOOL, item->at, args, n + 1);
    if (node)
        node->negated = negated;
    return node;
}

struct node *build_is(struct parser *p, struct node *node, bool negated)
{
    static const char *const names[] = {
        [IS_NULL] = "null", [IS_FINITE] = "finite", [IS_NAN] = "nan", [IS_INF] = "inf"};
    const struct token word = p->token;
    size_t is = 0;

    if (word.kind == TOKEN_NAME)
        while (is < ARRAY_LEN(names) && strcasecmp(names[is], word.text) != 0)
            is++;
    if (is == ARRAY_LEN(names) || (word.kind != TOKEN_NAME && word.kind != TOKEN_NULL))
        return expr_refuse(
            p,
            "'is' is followed by null, finite, nan or inf, or 'not' and one of these, "
            "not by %s",
            expr_token_words(p));
    if ((is != IS_NULL && !build_number(p, node)) || expr_lex(p) < 0)
        return NULL;
    struct node *made = expr_node_new(p, NODE_IS, EXPR_BOOL, node->at, &node, 1);
    if (!made)
        return NULL;
    made->is = (enum is)is;
    made->negated = negated;
    made->end = word.end;
    return made;
}

/* ---- regular expressions: POSIX extended, and \d ---- */

/* The number at s; large ones are cut. */
static unsigned count_at(const char *s)
{
    unsigned n = 0;
    for (; isdigit((unsigned char)*s) && n <= REPEATS_MAX; s++)
        n = n * 10 + (unsigned)(*s - '0');
    return n;
}

/* Back references and large repeats can take the time of ages: they are refused. */
static int translate(struct parser *p, const char *s, struct str *to)
{
    unsigned repeats = 1;

    for (; *s; s++) {
        if (*s == '{') {
            const char *comma = s + strcspn(s, ",}");
            repeats *= MAX(1, MAX(count_at(s + 1), *comma == ',' ? count_at(comma + 1) : 0));
            if (repeats > REPEATS_MAX)
                return err_set(p->err, EINVAL, "the regular expression repeats too much");
        }
        if (*s == '\\' && s[1] && strchr("123456789", s[1]))
            return err_set(p->err, EINVAL, "a regular expression cannot refer back to its groups");
        if (*s == '\\' && s[1] == 'd')
            str_add(to, "[0-9]");
        else if (*s == '\\' && s[1])
            str_add_n(to, s, 2);
        else
            str_add_char(to, *s);
        s += *s == '\\' && s[1];
    }
    return 0;
}

static const regex_t *compile(struct parser *p, const char *pattern)
{
    autorelease(str) struct str posix = STR_INIT;
    char why[200];

    if (strlen(pattern) > PATTERN_MAX)
        return expr_refuse(p, "the regular expression is longer than %d bytes", PATTERN_MAX);
    if (translate(p, pattern, &posix) < 0)
        return NULL;
    regex_t *regex = arena_alloc(&p->expr->arena, sizeof(*regex));
    int r = regcomp(regex, posix.s, REG_EXTENDED | REG_NOSUB);
    if (r != 0) {
        regerror(r, regex, why, sizeof(why));
        return expr_refuse(p, "the regular expression %s is wrong: %s", expr_token_words(p), why);
    }
    vec_push(&p->expr->regexes, regex);
    return regex;
}

struct node *build_match(struct parser *p, struct node *text, bool negated)
{
    size_t end = p->token.end;

    if (p->token.kind != TOKEN_TEXT)
        return expr_refuse(p, "~ is followed by a regular expression in quotes, not by %s",
                           expr_token_words(p));
    if (!is_words(text) && text->type != EXPR_ANY)
        return expr_refuse(p, "'%s' is %s: ~ is for text", expr_node_words(p, text),
                           expr_type_words(text->type));
    const regex_t *regex = compile(p, p->token.text);
    if (!regex || expr_lex(p) < 0)
        return NULL;
    struct node *node = expr_node_new(p, NODE_MATCH, EXPR_BOOL, text->at, &text, 1);
    if (!node)
        return NULL;
    node->regex = regex;
    node->negated = negated;
    node->end = end;
    return node;
}
