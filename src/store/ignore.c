/* SPDX-License-Identifier: MIT */
/*
 * ignore.c — the matcher of .gitignore rules (gitignore(5)).
 *
 * A rule is cut at its slashes, a path too, and part is matched with part by fnmatch(3); "**" is
 * a part that stands for any number of folders. A rule without a slash (but for one at its end)
 * matches a name at any depth: it gets a "**" in front.
 */
#include "store/ignore.h"

#include <fnmatch.h>

/* The end of the rule without spaces that were not escaped. */
static size_t trimmed(const char *line, size_t n)
{
    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\r' || line[n - 1] == '\t'))
        if (n > 1 && line[n - 2] == '\\')
            return n;
        else
            n--;
    return n;
}

static void add_parts(struct ignore_rule *rule, const char *text, size_t n)
{
    const char *end = text + n;
    bool anchored = memchr(text, '/', n) != NULL;
    if (!anchored)
        vec_push(&rule->parts, xstrdup("**"));
    while (text < end) {
        const char *slash = memchr(text, '/', (size_t)(end - text));
        size_t len = (size_t)((slash ? slash : end) - text);
        if (len > 0)
            vec_push(&rule->parts, xstrndup(text, len));
        text += len + 1;
    }
}

static void add_rule(struct ignore *ignore, const char *line, size_t n)
{
    struct ignore_rule rule = {.negated = false};
    n = trimmed(line, n);
    if (n == 0 || line[0] == '#')
        return;
    if (line[0] == '!') {
        rule.negated = true;
        line++, n--;
    }
    if (n > 0 && line[n - 1] == '/') {
        rule.only_dirs = true;
        n--;
    }
    if (n == 0)
        return;
    add_parts(&rule, line, n);
    vec_push(&ignore->rules, rule);
}

void ignore_parse(struct ignore *ignore, const char *text, size_t n)
{
    const char *end = text + n;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t len = (size_t)((newline ? newline : end) - text);
        add_rule(ignore, text, len);
        text += len + 1;
    }
}

static bool part_matches(const char *pattern, const char *part, size_t n)
{
    char buf[256]; /* NAME_MAX and its NUL */
    if (n >= sizeof(buf))
        return false;
    memcpy(buf, part, n);
    buf[n] = '\0';
    return fnmatch(pattern, buf, 0) == 0;
}

static const char *next_part(const char *path)
{
    const char *slash = strchr(path, '/');
    return slash ? slash + 1 : path + strlen(path);
}

static size_t part_len(const char *path)
{
    return strcspn(path, "/");
}

/* Parts against path, as one matches characters against `*`: remember the last "**" and let it
 * take one folder more whenever the rest does not fit. */
static bool rule_matches(const struct ignore_rule *rule, const char *path)
{
    const char *retry = NULL;
    size_t at = 0, retry_at = 0;

    for (;;) {
        bool stars = at < rule->parts.len && str_eq(rule->parts.at[at], "**");
        if (stars && at + 1 == rule->parts.len)
            return *path != '\0'; /* what is inside the folder, not the folder itself */
        if (stars) {
            retry_at = ++at;
            retry = path;
        } else if (*path && at < rule->parts.len &&
                   part_matches(rule->parts.at[at], path, part_len(path))) {
            at++;
            path = next_part(path);
            continue;
        } else if (!*path && at == rule->parts.len) {
            return true;
        } else if (retry && *retry) {
            retry = path = next_part(retry);
            at = retry_at;
        } else {
            return false;
        }
    }
}

bool ignore_match(const struct ignore *ignore, const char *path, bool is_dir)
{
    for (size_t i = ignore->rules.len; i-- > 0;) {
        const struct ignore_rule *rule = &ignore->rules.at[i];
        if ((is_dir || !rule->only_dirs) && rule_matches(rule, path))
            return !rule->negated;
    }
    return false;
}

void ignore_release(struct ignore *ignore)
{
    vec_foreach (rule, &ignore->rules) {
        vec_foreach (part, &rule->parts)
            free(*part);
        vec_release(&rule->parts);
    }
    vec_release(&ignore->rules);
}
