/* SPDX-License-Identifier: MIT */
/*
 * rules.c — the patterns of a spec: compiled once, matched against each line of output that has a
 * number in it.
 *
 *     loss: 'train loss is ([0-9.]+)'            the one plain group is the value of `loss`
 *     'ep (?<epoch>\d+) tr=(?<loss>\S+)'         every named group is a metric, or the axis
 *
 * Matching is POSIX (leftmost, longest) by the C library; pattern.c translates what people write.
 * Only the first 4 KiB of a line are looked at: the library's time grows faster than the line.
 */
#include "metrics/pattern.h"
#include "metrics/token.h"

#include <errno.h>

#define MATCH_MAX 4096

struct rule {
    regex_t regex;
    char *metric; /* of the plain group; NULL: only named groups */
    struct pattern pattern;
};

struct metrics_rules {
    VEC(struct rule) rules;
    bool builtin;
};

static int compile(struct rule *rule, const char *text, struct err *err)
{
    int flags = REG_EXTENDED | (rule->pattern.ignore_case ? REG_ICASE : 0);
    int r = regcomp(&rule->regex, rule->pattern.posix.s, flags);
    if (r == 0)
        return 0;
    char why[160];
    regerror(r, &rule->regex, why, sizeof(why));
    return err_set(err, r == REG_ESPACE ? ENOMEM : EINVAL, "'%s': %s", text, why);
}

static int check_groups(const struct rule *rule, const char *text, struct err *err)
{
    size_t named = 0;
    vec_foreach (group, &rule->pattern.groups)
        named += group->name != NULL;
    size_t plain = rule->pattern.groups.len - named;
    if (!rule->metric && !named)
        return err_set(err, EINVAL, "'%s' has no named group: write (?<name>…) around a number",
                       text);
    if (rule->metric && plain == 0)
        return err_set(err, EINVAL, "'%s' has no group: put (…) around the number", text);
    if (rule->metric && plain > 1)
        return err_set(err, EINVAL,
                       "'%s' has %zu groups: keep one around the number, write the others (?:…)",
                       text, plain);
    return 0;
}

static int rule_init(struct rule *rule, const struct text_pair *pair, struct err *err)
{
    *rule = (struct rule){.pattern = PATTERN_INIT};
    int r = pattern_parse(pair->value, &rule->pattern, err);
    if (r < 0)
        return r;
    rule->metric = *pair->key ? xstrdup(pair->key) : NULL;
    r = check_groups(rule, pair->value, err);
    if (r == 0)
        r = compile(rule, pair->value, err);
    if (r < 0) {
        free(rule->metric);
        pattern_release(&rule->pattern);
    }
    return r;
}

static void rule_release(struct rule *rule)
{
    regfree(&rule->regex);
    free(rule->metric);
    pattern_release(&rule->pattern);
}

static int name_pattern(const char *metric, struct err *err)
{
    return *metric ? err_context(err, "pattern of metric '%s'", metric)
                   : err_context(err, "pattern");
}

int metrics_check(const char *metric, const char *pattern, struct err *err)
{
    struct text_pair pair = {(char *)metric, (char *)pattern};
    struct rule rule;
    int r = rule_init(&rule, &pair, err);

    if (r < 0)
        return name_pattern(metric, err);
    rule_release(&rule);
    return 0;
}

int metrics_rules_new(const struct spec *spec, struct metrics_rules **ret, struct err *err)
{
    autofree(metrics_rules) struct metrics_rules *rules = xcalloc(1, sizeof(*rules));
    rules->builtin = !spec->patterns_only;
    vec_foreach (pair, &spec->patterns) {
        struct rule rule;
        int r = rule_init(&rule, pair, err);
        if (r < 0)
            return name_pattern(pair->key, err);
        vec_push(&rules->rules, rule);
    }
    *ret = TAKE(rules);
    return 0;
}

void metrics_rules_free(struct metrics_rules *rules)
{
    vec_foreach (rule, &rules->rules)
        rule_release(rule);
    vec_release(&rules->rules);
    free(rules);
}

bool metrics_rules_builtin(const struct metrics_rules *rules)
{
    return !rules || rules->builtin;
}

/* What a group matched: a number, whatever clings to it ("93.1%", " 0.5s"). */
static bool group_value(const char *s, const char *end, double *ret)
{
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    return value_parse(s, end, ret) > 0;
}

static void take_group(struct line *line, const char *name, double value)
{
    enum axis axis = axis_find(name, strlen(name));
    if (axis == AXIS_NONE || !line_set_axis(line, axis, value))
        line_add_output(line, name, strlen(name), value, false);
}

static void match(const struct rule *rule, struct line *line, const char *s)
{
    regmatch_t found[PATTERN_GROUPS_MAX + 1];
    if (regexec(&rule->regex, s, ARRAY_LEN(found), found, 0) != 0)
        return;
    vec_foreach (group, &rule->pattern.groups) {
        const regmatch_t *at = &found[group->index];
        const char *name = group->name ? group->name : rule->metric;
        double value;
        if (name && at->rm_so >= 0 && group_value(s + at->rm_so, s + at->rm_eo, &value))
            take_group(line, name, value);
    }
}

void metrics_rules_match(const struct metrics_rules *rules, struct line *line, const char *s,
                         size_t n)
{
    if (!rules || !rules->rules.len)
        return;
    struct str *text = &line->work[0]; /* regexec wants a NUL at the end */
    str_cut(text, 0);
    str_add_n(text, s, MIN(n, MATCH_MAX));
    vec_foreach (rule, &rules->rules)
        match(rule, line, text->s);
}
