/* SPDX-License-Identifier: MIT */
/*
 * influxql_lex.c — words, names, texts, numbers and durations of a query.
 */
#include "api/influxql_internal.h"

#include <ctype.h>
#include <errno.h>

static void step(struct lexer *lexer)
{
    if (*lexer->s == '\n') {
        lexer->line++;
        lexer->column = 0;
    } else {
        lexer->column++;
    }
    lexer->s++;
}

static void skip_comment(struct lexer *lexer, const char *end)
{
    while (*lexer->s && !str_starts(lexer->s, end))
        step(lexer);
    for (size_t i = 0; *lexer->s && i < strlen(end); i++)
        step(lexer);
}

/* Blanks, "-- comments" to the end of a line, and those between slashes and stars. */
static void skip_blank(struct lexer *lexer)
{
    for (;;) {
        while (*lexer->s && isspace((unsigned char)*lexer->s))
            step(lexer);
        if (str_starts(lexer->s, "--"))
            skip_comment(lexer, "\n");
        else if (str_starts(lexer->s, "/*"))
            skip_comment(lexer, "*/");
        else
            return;
    }
}

static const char *keep(struct lexer *lexer, const struct str *text)
{
    return arena_strdup(lexer->arena, text->s);
}

static void take(struct lexer *lexer, struct str *to)
{
    str_add_char(to, *lexer->s);
    step(lexer);
}

/* Between quotes or slashes; a backslash keeps the next quote, and in texts also n and itself. */
static void lex_quoted(struct lexer *lexer, struct token *token, char quote, enum token_kind kind)
{
    autorelease(str) struct str text = STR_INIT;

    step(lexer);
    while (*lexer->s && *lexer->s != quote) {
        bool escape = lexer->s[0] == '\\' && lexer->s[1];
        bool known = escape && (lexer->s[1] == quote || (quote != '/' && lexer->s[1] == '\\'));
        if (escape && quote != '/' && lexer->s[1] == 'n') {
            step(lexer);
            step(lexer);
            str_add_char(&text, '\n');
            continue;
        }
        if (known)
            step(lexer);
        else if (escape)
            take(lexer, &text);
        take(lexer, &text);
    }
    token->kind = *lexer->s ? kind : TOKEN_BAD;
    token->text = keep(lexer, &text);
    if (*lexer->s)
        step(lexer);
}

static bool word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static const struct {
    const char *text;
    int64_t ns;
} units[] = {
    {"ns", 1},
    {"ms", 1000000},
    {"us", 1000},
    {"u", 1000},
    {"\xc2\xb5", 1000},
    {"s", 1000000000},
    {"m", 60 * 1000000000LL},
    {"h", 3600 * 1000000000LL},
    {"d", 86400 * 1000000000LL},
    {"w", 7 * 86400 * 1000000000LL},
};

static int64_t unit_ns(const char **s)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (!str_starts(*s, units[i].text))
            continue;
        *s += strlen(units[i].text);
        return units[i].ns;
    }
    return 0;
}

/* "1h30m" as a whole, or nothing. */
static bool read_duration(const char *s, const char **ret_end, int64_t *ret_ns)
{
    int64_t sum = 0;

    while (isdigit((unsigned char)*s)) {
        errno = 0;
        long long n = strtoll(s, (char **)&s, 10);
        int64_t unit = unit_ns(&s), part;
        if (!unit || errno || __builtin_mul_overflow(n, unit, &part) ||
            __builtin_add_overflow(sum, part, &sum))
            return false;
    }
    *ret_end = s;
    *ret_ns = sum;
    return !word_byte(*s);
}

static void lex_number(struct lexer *lexer, struct token *token)
{
    autorelease(str) struct str text = STR_INIT;
    const char *end = lexer->s + strspn(lexer->s, "0123456789");
    bool whole = *end != '.';
    const char *after = NULL;

    if (whole && read_duration(lexer->s, &after, &token->integer)) {
        token->kind = TOKEN_DURATION;
        end = after;
    } else {
        if (!whole)
            end += 1 + strspn(end + 1, "0123456789");
        token->kind = whole ? TOKEN_INTEGER : TOKEN_NUMBER;
    }
    while (lexer->s < end)
        take(lexer, &text);
    token->text = keep(lexer, &text);
    if (token->kind == TOKEN_DURATION)
        return;
    token->number = strtod(text.s, NULL);
    errno = 0;
    token->integer = strtoll(text.s, NULL, 10);
    if (whole && errno)
        token->kind = TOKEN_BAD;
}

static void lex_mark(struct lexer *lexer, struct token *token)
{
    static const char *const marks[] = {"=~", "!~", "!=", "<>", "<=", ">=", "::"};
    autorelease(str) struct str text = STR_INIT;

    token->kind = strchr("=<>,().;*+-/%", *lexer->s) ? TOKEN_MARK : TOKEN_BAD;
    for (size_t i = 0; i < ARRAY_LEN(marks) && !text.len; i++) {
        if (!str_starts(lexer->s, marks[i]))
            continue;
        take(lexer, &text);
        token->kind = TOKEN_MARK;
    }
    take(lexer, &text);
    token->text = keep(lexer, &text);
}

static void lex_word(struct lexer *lexer, struct token *token)
{
    autorelease(str) struct str text = STR_INIT;

    while (word_byte(*lexer->s))
        take(lexer, &text);
    token->kind = TOKEN_WORD;
    token->text = keep(lexer, &text);
}

/* $name, $"a name" */
static void lex_bound(struct lexer *lexer, struct token *token)
{
    step(lexer);
    if (*lexer->s == '"')
        lex_quoted(lexer, token, '"', TOKEN_NAME);
    else
        lex_word(lexer, token);
    if (token->kind != TOKEN_BAD)
        bind_token(lexer, token);
}

struct token lex(struct lexer *lexer, bool regex)
{
    skip_blank(lexer);
    struct token token = {.line = lexer->line, .column = lexer->column, .text = ""};
    char c = *lexer->s;

    if (!c) {
        token.column++; /* as InfluxDB counts */
        return token;
    }
    if (c == '"') {
        lex_quoted(lexer, &token, '"', TOKEN_NAME);
    } else if (c == '$') {
        lex_bound(lexer, &token);
    } else if (c == '\'') {
        lex_quoted(lexer, &token, '\'', TOKEN_STRING);
    } else if (c == '/' && regex) {
        lex_quoted(lexer, &token, '/', TOKEN_REGEX);
    } else if (isdigit((unsigned char)c)) {
        lex_number(lexer, &token);
    } else if (word_byte(c)) {
        lex_word(lexer, &token);
    } else {
        lex_mark(lexer, &token);
    }
    return token;
}
