/* SPDX-License-Identifier: MIT */
/*
 * pattern.c — from the regular expressions of Perl and Python to those of POSIX, as far as the two
 * mean the same. Where they do not (lazy quantifiers change what a group holds) we refuse, since a
 * pattern that silently matches something else would record wrong numbers.
 */
#include "metrics/pattern.h"

#include <ctype.h>
#include <errno.h>

struct translator {
    const char *text, *p;
    struct pattern *to;
    size_t opened; /* groups so far, those that do not capture included */
    struct err *err;
};

static int refuse(struct translator *t, const char *why)
{
    return err_set(t->err, EINVAL, "'%s': %s", t->text, why);
}

/* (?<name> and (?P<name>; t->p is at the name. */
static int name_group(struct translator *t, char **ret)
{
    const char *close = strchr(t->p, '>');
    if (!close || close == t->p)
        return refuse(t, "a group's name is not finished");
    for (const char *c = t->p; c < close; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_./-", *c))
            return refuse(t, "a group's name may have letters, digits, '_', '.', '/' and '-' only");
    *ret = xstrndup(t->p, (size_t)(close - t->p));
    t->p = close + 1;
    return 0;
}

static int open_group(struct translator *t)
{
    char *name = NULL;
    bool captures = true;
    t->p++;
    if (str_starts(t->p, "?:")) {
        captures = false;
        t->p += 2;
    } else if (str_starts(t->p, "?<=") || str_starts(t->p, "?<!") || str_starts(t->p, "?=") ||
               str_starts(t->p, "?!")) {
        return refuse(t, "looking around, as (?=…) does, is not supported");
    } else if (str_starts(t->p, "?<") || str_starts(t->p, "?P<")) {
        t->p += t->p[1] == 'P' ? 3 : 2;
        int r = name_group(t, &name);
        if (r < 0)
            return r;
    } else if (*t->p == '?') {
        return refuse(t, "a group may begin with (?: or (?<name>, no other (?");
    }
    struct pattern_group group = {.index = ++t->opened, .name = name};
    if (captures)
        vec_push(&t->to->groups, group);
    if (t->opened > PATTERN_GROUPS_MAX)
        return refuse(t, "too many groups");
    str_add_char(&t->to->posix, '(');
    return 0;
}

/* \d and the like; inside [ ] only the members. */
static const char *class_of(char c, bool inside)
{
    static const struct {
        char letter;
        const char *outside, *inside; /* NULL: cannot stand there */
    } classes[] = {
        {'d', "[0-9]", "0-9"},
        {'D', "[^0-9]", NULL},
        {'w', "[[:alnum:]_]", "[:alnum:]_"},
        {'W', "[^[:alnum:]_]", NULL},
        {'s', "[[:space:]]", "[:space:]"},
        {'S', "[^[:space:]]", NULL},
        {'b', "\\b", NULL},
        {'B', "\\B", NULL},
        {'t', "\t", "\t"},
    };
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (classes[i].letter == c)
            return inside ? classes[i].inside : classes[i].outside;
    return NULL;
}

static int translate_escape(struct translator *t)
{
    char c = t->p[1];
    if (c == '\0')
        return refuse(t, "ends with a lone backslash");
    const char *class = class_of(c, false);
    if (class)
        str_add(&t->to->posix, class);
    else if (isdigit((unsigned char)c))
        return refuse(t, "back references are not supported");
    else if (isalpha((unsigned char)c))
        return refuse(t, "unknown escape; \\d \\w \\s \\b \\t and their capitals are known");
    else if (strchr("^$.[]|()*+?{}\\", c))
        str_addf(&t->to->posix, "\\%c", c);
    else
        str_add_char(&t->to->posix, c);
    t->p += 2;
    return 0;
}

/* POSIX has no escapes in [ ]: members that would end or negate it are put where they cannot. */
static int translate_bracket(struct translator *t)
{
    autorelease(str) struct str members = STR_INIT;
    bool close = false, minus = false, caret = false;
    t->p++;
    bool negated = *t->p == '^';
    t->p += negated;
    for (bool first = true; *t->p && (*t->p != ']' || first); first = false) {
        if (*t->p != '\\') {
            const char *posix = *t->p == '[' && t->p[1] == ':' ? strstr(t->p, ":]") : NULL;
            size_t n = posix ? (size_t)(posix + 2 - t->p) : 1;
            if (*t->p == ']')
                close = true;
            else if (*t->p == '-' && (first || t->p[1] == ']'))
                minus = true;
            else if (*t->p == '^')
                caret = true;
            else
                str_add_n(&members, t->p, n);
            t->p += n;
            continue;
        }
        char c = t->p[1];
        const char *class = class_of(c, true);
        if (class)
            str_add(&members, class);
        else if (c == '\0' || isalnum((unsigned char)c))
            return refuse(t, "unknown escape inside [ ]");
        else if (c == ']')
            close = true;
        else if (c == '-')
            minus = true;
        else if (c == '^')
            caret = true;
        else
            str_add_char(&members, c);
        t->p += 2;
    }
    if (*t->p != ']')
        return refuse(t, "a [ is not closed");
    t->p++;
    if (caret && !negated && !close && !members.len && !minus) {
        str_add(&t->to->posix, "\\^");
        return 0;
    }
    str_addf(&t->to->posix, "[%s%s%s%s%s]", negated ? "^" : "", close ? "]" : "", members.s,
             caret ? "^" : "", minus ? "-" : "");
    return 0;
}

static bool is_quantifier(char c)
{
    return c == '*' || c == '+' || c == '?' || c == '}';
}

static int translate_plain(struct translator *t)
{
    char c = *t->p++;
    str_add_char(&t->to->posix, c);
    if (is_quantifier(c) && *t->p == '?')
        return refuse(t, "lazy quantifiers (as in .*?) are not supported: "
                         "exclude what may not be skipped, as in [^,]*");
    if (is_quantifier(c) && *t->p == '+')
        return refuse(t, "possessive quantifiers (*+ ++) are not supported");
    return 0;
}

static int translate(struct translator *t)
{
    if (str_starts(t->p, "(?i)")) {
        t->to->ignore_case = true;
        t->p += 4;
    }
    while (*t->p) {
        int r = *t->p == '\\'  ? translate_escape(t)
                : *t->p == '[' ? translate_bracket(t)
                : *t->p == '(' ? open_group(t)
                               : translate_plain(t);
        if (r < 0)
            return r;
    }
    return 0;
}

int pattern_parse(const char *text, struct pattern *ret, struct err *err)
{
    *ret = (struct pattern)PATTERN_INIT;
    struct translator t = {.text = text, .p = text, .to = ret, .err = err};
    int r = *text ? translate(&t) : refuse(&t, "an empty pattern matches nothing");
    if (r < 0)
        pattern_release(ret);
    return r;
}

void pattern_release(struct pattern *pattern)
{
    str_release(&pattern->posix);
    vec_foreach (group, &pattern->groups)
        free(group->name);
    vec_release(&pattern->groups);
}
