/* SPDX-License-Identifier: MIT */
/*
 * influxql_regex.c — regular expressions as InfluxDB's clients write them, said in the words of
 * POSIX: (?i) in front, (?: ), \d \w \s also in brackets, and escapes in brackets, where POSIX
 * knows none. What is left (named groups, \p, \A …) is refused, not taken for something else.
 */
#include "api/influxql_parser.h"

#include <ctype.h>

static const struct {
    char letter;
    const char *outside, *inside; /* of brackets; NULL: it cannot stand there */
} escapes[] = {
    {'d', "[0-9]", "0-9"},
    {'D', "[^0-9]", NULL},
    {'w', "[A-Za-z0-9_]", "A-Za-z0-9_"},
    {'W', "[^A-Za-z0-9_]", NULL},
    {'s', "[ \t\n\f\r]", " \t\n\f\r"},
    {'S', "[^ \t\n\f\r]", NULL},
    {'t', "\t", "\t"},
    {'n', "\n", "\n"},
    {'r', "\r", "\r"},
    {'f', "\f", "\f"},
    {'b', "\\b", NULL},
    {'B', "\\B", NULL},
};

/* A letter behind a backslash; false: nobody knows it. */
static bool add_letter(struct str *to, char letter, bool inside)
{
    for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
        const char *said = inside ? escapes[i].inside : escapes[i].outside;
        if (escapes[i].letter != letter)
            continue;
        if (said)
            str_add(to, said);
        return said != NULL;
    }
    return false;
}

/* A backslash with what it escapes is at `s`. */
static bool add_escape(struct str *to, const char *s, bool inside)
{
    if (!s[1] || isalnum((unsigned char)s[1]))
        return s[1] && add_letter(to, s[1], inside);
    if (inside && strchr("]-^[", s[1]))
        str_addf(to, "[.%c.]", s[1]); /* it means itself wherever it stands */
    else if (inside)
        str_add_char(to, s[1]);
    else
        str_add_n(to, s, 2);
    return true;
}

/* What stands in brackets, up to the one that closes them. NULL: it is not known here. */
static const char *add_brackets(struct str *to, const char *s)
{
    const char *first = s + 1 + (s[1] == '^');

    str_add_n(to, s, (size_t)(first - s));
    for (s = first; *s; s++) {
        const char *named = s[0] == '[' && s[1] == ':' ? strstr(s, ":]") : NULL;
        if (*s == ']' && s != first)
            break;
        if (*s == '\\' && !add_escape(to, s, true))
            return NULL;
        if (*s == '\\')
            s++;
        else if (named) {
            str_add_n(to, s, (size_t)(named + 2 - s));
            s = named + 1;
        } else if (*s == '[')
            str_add(to, "[.[.]");
        else
            str_add_char(to, *s);
    }
    if (*s)
        str_add_char(to, *s);
    return *s ? s : NULL;
}

bool regex_compile(regex_t *regex, const char *s)
{
    autorelease(str) struct str text = STR_INIT;
    int flags = REG_EXTENDED | REG_NOSUB;

    if (str_starts(s, "(?i)")) {
        flags |= REG_ICASE;
        s += strlen("(?i)");
    }
    for (; *s; s++) {
        bool group = str_starts(s, "(?:");
        if (*s == '\\' && !add_escape(&text, s, false))
            return false;
        if (*s == '[') {
            s = add_brackets(&text, s);
            if (!s)
                return false;
        } else if (*s == '\\') {
            s++;
        } else {
            str_add_char(&text, *s);
            s += group ? 2 : 0;
        }
    }
    return regcomp(regex, text.s, flags) == 0;
}
