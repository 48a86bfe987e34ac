/* SPDX-License-Identifier: MIT */
/*
 * shell.c — one walk over the text; `quote` is the quote that is open.
 */
#include "base/shell.h"

#include <errno.h>

void words_release(struct words *words)
{
    vec_foreach (word, &words->list)
        free(*word);
    vec_release(&words->list);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Does a backslash before c mean c alone? */
static bool escapes(char quote, char c)
{
    return quote == '\0' || (quote == '"' && strchr("$`\"\\\n", c));
}

/* Copy the word at p (not blank) into `word`; returns what follows it, NULL if a quote stays open.
 */
static const char *take_word(const char *p, struct str *word, char *ret_quote)
{
    char quote = '\0';

    for (; *p && (quote || !is_blank(*p)); p++) {
        if (quote == '\0' && (*p == '\'' || *p == '"'))
            quote = *p;
        else if (quote && *p == quote)
            quote = '\0';
        else if (*p == '\\' && quote != '\'' && p[1] && escapes(quote, p[1])) {
            if (*++p != '\n') /* backslash and newline: the line goes on */
                str_add_char(word, *p);
        } else
            str_add_char(word, *p);
    }
    *ret_quote = quote;
    return p;
}

int shell_split(const char *text, struct words *ret, struct err *err)
{
    struct str word = STR_INIT;
    char quote;

    for (;;) {
        while (is_blank(*text) || (text[0] == '\\' && text[1] == '\n'))
            text += *text == '\\' ? 2 : 1;
        if (!*text)
            return 0;
        text = take_word(text, &word, &quote);
        if (quote) {
            str_release(&word);
            return err_set(err, EINVAL, "a quote %c is opened and never closed", quote);
        }
        vec_push(&ret->list, str_take(&word));
    }
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_-+=.,/:@%^", c));
}

void shell_quote(const char *word, struct str *to)
{
    size_t plain = 0;

    while (is_plain(word[plain]))
        plain++;
    if (word[0] && !word[plain]) {
        str_add(to, word);
        return;
    }
    str_add_char(to, '\'');
    for (const char *p = word; *p; p++)
        if (*p == '\'')
            str_add(to, "'\\''");
        else
            str_add_char(to, *p);
    str_add_char(to, '\'');
}
