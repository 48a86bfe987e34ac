/* SPDX-License-Identifier: MIT */
/*
 * lex.c — the text of an expression as tokens. Numbers may have a unit right behind them (2h30m,
 * 500ms, 1G, 3%); a name with odd characters stands in backquotes; a quote inside quotes is
 * written twice. A backslash is nothing special, so regular expressions are written as they are.
 */
#include "base/clock.h"
#include "base/units.h"
#include "expr/internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <strings.h>

#define NUMBER_MAX 64 /* characters */

void *expr_refuse(struct parser *p, const char *fmt, ...)
{
    autorelease(str) struct str text = STR_INIT;
    va_list ap;

    va_start(ap, fmt);
    str_addv(&text, fmt, ap);
    va_end(ap);
    err_set_(p->err, EINVAL, "%s", text.s);
    return NULL;
}

/* Bytes of the text as they may be shown. */
static char *printable(struct parser *p, size_t at, size_t end)
{
    autorelease(str) struct str text = STR_INIT;
    bool cut = end - at > 40;

    if (cut)
        end = at + 40;
    while (cut && end > at && ((unsigned char)p->text[end] & 0xc0) == 0x80)
        end--;
    str_add_printable(&text, p->text + at, end - at);
    return arena_strdup(&p->expr->arena, text.s);
}

const char *expr_token_words(struct parser *p)
{
    if (p->token.kind == TOKEN_END)
        return "the end";
    autofree(mem) char *words =
        xasprintf("'%s' (character %zu)", printable(p, p->token.at, p->token.end), p->token.at + 1);
    return arena_strdup(&p->expr->arena, words);
}

const char *expr_node_words(struct parser *p, const struct node *node)
{
    return printable(p, node->at, node->end);
}

static bool name_starts(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool name_goes_on(char c)
{
    return name_starts(c) || isdigit((unsigned char)c) || c == '.';
}

/* ---- numbers ---- */

static const char *skip_digits(const char *s)
{
    while (isdigit((unsigned char)*s))
        s++;
    return s;
}

/* Behind 12, 1.5, .5, 1e-3. */
static const char *plain_end(const char *s)
{
    s = skip_digits(s);
    if (*s == '.')
        s = skip_digits(s + 1);
    const char *e = s;
    if (*e == 'e' || *e == 'E') {
        e++;
        if (*e == '+' || *e == '-')
            e++;
        if (isdigit((unsigned char)*e))
            s = skip_digits(e);
    }
    return s;
}

static int read_unit(const char *word, struct token *token)
{
    int64_t us;
    uint64_t bytes;

    if (duration_parse(word, &us) == 0) {
        token->number = (double)us / US_PER_S;
        token->unit = UNIT_SECONDS;
        return 0;
    }
    if (size_parse(word, &bytes) == 0) {
        token->number = (double)bytes;
        token->unit = UNIT_BYTES;
        return 0;
    }
    return -EINVAL;
}

/* What the nearest double lacks of these digits. */
static double rest_of(const char *digits)
{
    errno = 0;
    long long x = strtoll(digits, NULL, 10);
    return errno ? 0 : expr_integer(x).rest;
}

static int lex_number(struct parser *p)
{
    struct token *token = &p->token;
    const char *start = p->text + token->at, *plain = plain_end(start), *end = plain;
    char word[NUMBER_MAX + 1];

    while (name_goes_on(*end))
        end++;
    bool percent = end == plain && *end == '%';
    token->kind = TOKEN_NUMBER;
    token->end = p->at = (size_t)(end + percent - p->text);
    if (end - start > NUMBER_MAX)
        return err_set(p->err, EINVAL, "the number %s is too long", expr_token_words(p));
    memcpy(word, start, (size_t)(end - start));
    word[end - start] = '\0';
    token->rest = 0;
    if (end == plain) {
        token->number = strtod(word, NULL) / (percent ? 100 : 1);
        token->unit = percent ? UNIT_PERCENT : UNIT_NONE;
        if (!percent && skip_digits(start) == end)
            token->rest = rest_of(start);
        return 0;
    }
    if (read_unit(word, token) < 0)
        return err_set(
            p->err, EINVAL,
            "%s is no number with a unit: times are 2h, 30m, 10s, 500ms, 1d, sizes 512M, "
            "1G, shares 3%%",
            expr_token_words(p));
    return 0;
}

/* ---- texts and names ---- */

/* From a quote to its partner; a doubled one stands for itself. */
static int lex_quoted(struct parser *p, size_t at, struct str *ret)
{
    const char quote = p->text[at], *s = p->text + at + 1;

    for (; *s && (*s != quote || s[1] == quote); s++) {
        str_add_char(ret, *s);
        s += *s == quote;
    }
    if (!*s)
        return err_set(p->err, EINVAL, "a %c at character %zu is not closed by another %c", quote,
                       at + 1, quote);
    p->token.end = p->at = (size_t)(s + 1 - p->text);
    return 0;
}

static int lex_text(struct parser *p)
{
    autorelease(str) struct str text = STR_INIT;
    int r = lex_quoted(p, p->token.at, &text);

    p->token.kind = TOKEN_TEXT;
    p->token.text = arena_strdup(&p->expr->arena, text.s);
    return r;
}

static enum token_kind keyword(const char *name)
{
    static const struct {
        const char *name;
        enum token_kind kind;
    } words[] = {
        {"or", TOKEN_OR}, {"and", TOKEN_AND},   {"not", TOKEN_NOT},     {"in", TOKEN_IN},
        {"is", TOKEN_IS}, {"true", TOKEN_TRUE}, {"false", TOKEN_FALSE}, {"null", TOKEN_NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasecmp(name, words[i].name) == 0)
            return words[i].kind;
    return TOKEN_NAME;
}

/* loss, param.lr, `train/loss`, metric.`train/loss` */
static int lex_name(struct parser *p)
{
    autorelease(str) struct str name = STR_INIT;
    struct token *token = &p->token;
    const char *s = p->text + token->at;

    for (; name_goes_on(*s); s++)
        str_add_char(&name, *s);
    token->end = p->at = (size_t)(s - p->text);
    token->quoted = *s == '`' && (!name.len || s[-1] == '.');
    if (token->quoted && lex_quoted(p, p->at, &name) < 0)
        return -EINVAL;
    if (!name.len)
        return err_set(p->err, EINVAL, "there is no name between the backquotes at character %zu",
                       token->at + 1);
    token->kind = token->quoted ? TOKEN_NAME : keyword(name.s);
    token->text = arena_strdup(&p->expr->arena, name.s);
    return 0;
}

/* ---- the rest ---- */

static const struct {
    const char *text;
    enum token_kind kind;
} signs[] = {
    /* longer ones first */
    {"&&", TOKEN_AND},        {"||", TOKEN_OR},    {"<=", TOKEN_LESS_EQUAL},
    {">=", TOKEN_MORE_EQUAL}, {"==", TOKEN_EQUAL}, {"!=", TOKEN_NOT_EQUAL},
    {"<>", TOKEN_NOT_EQUAL},  {"=~", TOKEN_MATCH}, {"!~", TOKEN_NO_MATCH},
    {"<", TOKEN_LESS},        {">", TOKEN_MORE},   {"=", TOKEN_EQUAL},
    {"~", TOKEN_MATCH},       {"!", TOKEN_NOT},    {"+", TOKEN_PLUS},
    {"-", TOKEN_MINUS},       {"*", TOKEN_TIMES},  {"/", TOKEN_OVER},
    {"(", TOKEN_OPEN},        {")", TOKEN_CLOSE},  {",", TOKEN_COMMA},
};

static int lex_sign(struct parser *p)
{
    const char *s = p->text + p->token.at;

    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_starts(s, signs[i].text)) {
            p->token.kind = signs[i].kind;
            p->token.end = p->at = p->token.at + strlen(signs[i].text);
            return 0;
        }
    p->token.kind = TOKEN_TEXT;
    p->token.end = p->token.at + 1;
    return err_set(p->err, EINVAL, "%s cannot stand in an expression", expr_token_words(p));
}

int expr_lex(struct parser *p)
{
    while (isspace((unsigned char)p->text[p->at]))
        p->at++;
    const char *s = p->text + p->at;
    p->token = (struct token){.kind = TOKEN_END, .at = p->at, .end = p->at};
    if (!*s)
        return 0;
    if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])))
        return lex_number(p);
    if (*s == '\'' || *s == '"')
        return lex_text(p);
    if (name_starts(*s) || *s == '`')
        return lex_name(p);
    return lex_sign(p);
}
