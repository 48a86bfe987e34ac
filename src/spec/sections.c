/* SPDX-License-Identifier: MIT */
/*
 * sections.c — keys with a form of their own: the name, the command, metrics, knowledge, and short
 * forms. (Larger ones have a file: params.c, goals.c, stopping.c, forbid.c, tries.c.)
 */
#include "spec/reader.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/shell.h"
#include "base/units.h"

#include <errno.h>

int read_name(struct reader *reader, const struct yaml_node *node)
{
    const char *name;
    int r = read_text(reader, node, "name", &name);

    if (r < 0)
        return r;
    if (str_eq(name, "last"))
        return yaml_err(reader->err, node,
                        "'last' cannot be a name: it means the newest experiment");
    if (!spec_name_valid(name)) {
        autofree(mem) char *better = spec_name_from(name);
        return yaml_err(reader->err, node, "'%s' cannot be a name; it would be '%s'", name, better);
    }
    free(reader->spec->name);
    reader->spec->name = xstrdup(name);
    return 0;
}

/* ---- command ---- */

static int split_command(struct reader *reader, const struct yaml_node *node)
{
    struct words words = {0};
    int r = shell_split(node->text, &words, reader->err);

    if (r < 0)
        r = yaml_err(reader->err, node, "'command': %s", reader->err ? reader->err->text : "");
    for (size_t i = 0; r == 0 && i < words.list.len; i++)
        vec_push(&reader->spec->command, TAKE(words.list.at[i]));
    words_release(&words);
    return r;
}

int read_command(struct reader *reader, const struct yaml_node *node)
{
    const char *word;

    if (node->kind == YAML_MAP)
        return yaml_err(reader->err, node,
                        "'command' must be a text or a list of words, not a mapping");
    if (node->kind == YAML_SCALAR)
        return split_command(reader, node);
    for (size_t i = 0; i < node->n; i++) {
        int r = read_text(reader, node->items[i], "command", &word);
        if (r < 0)
            return r;
        vec_push(&reader->spec->command, xstrdup(word));
    }
    return 0;
}

/* ---- metrics ---- */

#define SHORTEST_US 100000 /* between two looks at the machine */

static int check_pattern(struct reader *reader, const char *metric, const char *pattern,
                         const struct yaml_node *node)
{
    autorelease(err) struct err why = ERR_INIT;

    if (!reader->overrides || !reader->overrides->check_pattern ||
        reader->overrides->check_pattern(metric, pattern, &why) >= 0)
        return 0;
    return yaml_err(reader->err, node, "'metrics': %s", err_text(&why));
}

static int add_pattern(struct reader *reader, const char *metric, const struct yaml_node *node)
{
    const char *pattern;
    int r = read_text(reader, node, "metrics", &pattern);

    if (r < 0)
        return r;
    if (!*pattern)
        return yaml_err(reader->err, node, "'metrics': an empty pattern matches nothing useful");
    if (*metric && !strchr(pattern, '('))
        return yaml_err(reader->err, node,
                        "'metrics': the pattern of '%s' needs a group (…) around its value",
                        metric);
    if (!*metric && !strstr(pattern, "(?<") && !strstr(pattern, "(?P<"))
        return yaml_err(reader->err, node,
                        "'metrics': a pattern in a list needs a named group like (?<loss>…)");
    r = check_pattern(reader, metric, pattern, node);
    if (r < 0)
        return r;
    struct text_pair pair = {xstrdup(metric), xstrdup(pattern)};
    vec_push(&reader->spec->patterns, pair);
    return 0;
}

static int read_pattern_map(struct reader *reader, const struct yaml_node *map)
{
    for (size_t i = 0; i < map->n; i++) {
        if (!*map->keys[i]->text)
            return yaml_err(reader->err, map->keys[i], "'metrics': a metric needs a name");
        int r = add_pattern(reader, map->keys[i]->text, map->items[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* name: regex, …; or a list of regexes with named groups and of such mappings. */
static int read_patterns(struct reader *reader, const struct yaml_node *node)
{
    if (node->kind == YAML_MAP)
        return read_pattern_map(reader, node);
    for (size_t i = 0; node->kind == YAML_LIST && i < node->n; i++) {
        const struct yaml_node *item = node->items[i];
        int r =
            item->kind == YAML_MAP ? read_pattern_map(reader, item) : add_pattern(reader, "", item);
        if (r < 0)
            return r;
    }
    return node->kind == YAML_LIST ? 0 : add_pattern(reader, "", node);
}

static int read_only(struct reader *reader, const struct yaml_node *node)
{
    if (node->kind != YAML_SCALAR || (!str_eq(node->text, "true") && !str_eq(node->text, "false")))
        return yaml_err(reader->err, node, "'metrics.only' must be true or false, not %s",
                        yaml_describe(node, &reader->arena));
    reader->spec->patterns_only = str_eq(node->text, "true");
    return 0;
}

static int read_tensorboard(struct reader *reader, const struct yaml_node *node)
{
    const char *folder;

    free(reader->spec->tensorboard);
    reader->spec->tensorboard = NULL;
    if (yaml_is_null(node))
        return 0;
    int r = read_text(reader, node, "metrics.tensorboard", &folder);
    if (r < 0)
        return r;
    if (!*folder)
        return yaml_err(reader->err, node,
                        "'metrics.tensorboard' is the folder of the event files; '.' is where the "
                        "trial runs");
    reader->spec->tensorboard = xstrdup(folder);
    return 0;
}

/* A metric of that name is one of `patterns`. */
static int read_figures(struct reader *reader, const struct yaml_node *node)
{
    int64_t *us = &reader->spec->figures_us;
    bool off = node->kind == YAML_SCALAR && str_eq(node->text, "off");

    *us = off ? 0 : FIGURES_US;
    if (off || yaml_is_null(node))
        return 0;
    if (node->kind == YAML_SCALAR && duration_parse(node->text, us) == 0 && *us >= SHORTEST_US)
        return 0;
    return yaml_err(reader->err, node,
                    "'metrics.system' must be off or how often to look, 100ms or longer, not %s; a "
                    "metric called so belongs under 'patterns'",
                    yaml_describe(node, &reader->arena));
}

/* Everything but some keys, which have been read. */
static struct yaml_node *map_without(struct reader *reader, const struct yaml_node *node,
                                     const char *const *keys)
{
    struct yaml_node *rest = yaml_map(&reader->arena, node);

    for (size_t i = 0; i < node->n; i++) {
        bool left_out = false;
        for (const char *const *key = keys; *key; key++)
            left_out = left_out || str_eq(node->keys[i]->text, *key);
        if (left_out)
            continue;
        yaml_put(&reader->arena, rest, node->keys[i]->text, node->items[i]);
        rest->keys[rest->n - 1] = node->keys[i];
    }
    return rest;
}

int read_metrics(struct reader *reader, const struct yaml_node *node)
{
    static const char *const own[] = {"only", "tensorboard", "system", NULL};
    const struct yaml_node *patterns = yaml_find(node, "patterns");
    bool mixed = patterns;

    for (size_t i = 0; own[i]; i++)
        mixed = mixed || yaml_find(node, own[i]);
    if (!mixed)
        return read_patterns(reader, node);
    for (size_t i = 0; i < node->n; i++) {
        const char *key = node->keys[i]->text;
        int r = str_eq(key, "only")          ? read_only(reader, node->items[i])
                : str_eq(key, "tensorboard") ? read_tensorboard(reader, node->items[i])
                : str_eq(key, "system")      ? read_figures(reader, node->items[i])
                : str_eq(key, "patterns")    ? read_patterns(reader, node->items[i])
                : patterns                   ? yaml_err(reader->err, node->keys[i],
                                                        "'metrics': '%s' belongs under 'patterns'", key)
                                             : 0;
        if (r < 0)
            return r;
    }
    if (patterns)
        return 0;
    return read_pattern_map(reader, map_without(reader, node, own)); /* {only: true, loss: …} */
}

/* A share strictly between 0 and 1, or never. */
int read_improvement(struct reader *reader, const struct yaml_node *node)
{
    double *share = &reader->spec->until_improvement;

    *share = 0;
    if (node->kind == YAML_SCALAR && str_eq(node->text, "never"))
        return 0;
    if (node->kind == YAML_SCALAR && percent_parse(node->text, share) == 0 && *share > 0 &&
        *share < 1)
        return 0;
    return yaml_err(reader->err, node,
                    "'until.improvement' must be a share between 0 and 1 like 0.1%%, or never, not "
                    "%s",
                    yaml_describe(node, &reader->arena));
}

/* ---- knowledge ---- */

static bool is_experiment(const char *text)
{
    char *end;

    if (*text >= '1' && *text <= '9')
        return strtoll(text, &end, 10) < INT64_MAX && !*end;
    return spec_name_valid(text);
}

static int add_experiment(struct reader *reader, const struct yaml_node *node)
{
    const char *text = node->kind == YAML_SCALAR ? node->text : "";

    if (!is_experiment(text))
        return yaml_err(reader->err, node,
                        "'knowledge' must be auto, off, or experiments by name or number, not %s",
                        yaml_describe(node, &reader->arena));
    vec_push(&reader->spec->knowledge_from, xstrdup(text));
    return 0;
}

/* In a list, auto and off are names like any other. */
int read_knowledge(struct reader *reader, const struct yaml_node *node)
{
    struct spec *spec = reader->spec;
    bool word = node->kind == YAML_SCALAR;

    if (word && str_eq(node->text, "auto"))
        spec->knowledge = KNOWLEDGE_AUTO;
    else if ((word && str_eq(node->text, "off")) || (node->kind == YAML_LIST && node->n == 0))
        spec->knowledge = KNOWLEDGE_OFF;
    else
        spec->knowledge = KNOWLEDGE_LIST;
    if (spec->knowledge != KNOWLEDGE_LIST)
        return 0;
    for (size_t i = 0; i < (node->kind == YAML_LIST ? node->n : 1); i++) {
        int r = add_experiment(reader, node->kind == YAML_LIST ? node->items[i] : node);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- when, what, where ---- */

int read_deadline(struct reader *reader, const struct yaml_node *node)
{
    struct spec *spec = reader->spec;

    if (node->kind != YAML_SCALAR ||
        moment_parse(node->text, reader->now_us, &spec->deadline_us) < 0)
        return yaml_err(reader->err, node,
                        "'limits.deadline' must be a time like 18:00 or 2026-11-20 18:00, not %s",
                        yaml_describe(node, &reader->arena));
    if (spec->deadline_us <= reader->now_us)
        reader_note(reader, "limits.deadline: %s is already past", node->text);
    free(spec->deadline);
    spec->deadline = xstrdup(node->text);
    return 0;
}

int read_code_path(struct reader *reader, const struct yaml_node *node)
{
    const char *path;
    int r = read_text(reader, node, "code.path", &path);

    if (r < 0)
        return r;
    free(reader->spec->code);
    reader->spec->code = NULL;
    if (str_eq(path, "none"))
        return 0;
    while (str_starts(path, "./"))
        path += 2;
    if (path[0] == '/')
        reader->spec->code = xstrdup(path);
    else if (str_eq(path, ".") || !*path)
        reader->spec->code = xstrdup(reader->dir);
    else
        reader->spec->code = xasprintf("%s/%s", reader->dir, path);
    return 0;
}

int read_code_short(struct reader *reader, const struct yaml_node *node)
{
    if (node->kind == YAML_LIST)
        return yaml_err(reader->err, node,
                        "'code' must be a folder, a mapping, or none, not a list");
    return read_code_path(reader, node);
}

int read_keep_checkpoints(struct reader *reader, const struct yaml_node *node)
{
    struct spec *spec = reader->spec;
    const char *text = node->kind == YAML_SCALAR ? node->text : "";
    long long n = 1;
    int end = 0;

    if (str_eq(text, "all")) {
        spec->keep_checkpoints = KEEP_ALL;
        spec->keep_checkpoints_n = 0;
        return 0;
    }
    bool best = str_starts(text, "best"), last = str_starts(text, "last");
    if ((best || last) && text[4] &&
        (text[4] != ' ' || sscanf(text + 4, " %9lld%n", &n, &end) != 1 || text[4 + end] || n < 1))
        best = last = false;
    if (!best && !last)
        return yaml_err(reader->err, node,
                        "'keep.checkpoints' must be all, best N or last N, not %s",
                        yaml_describe(node, &reader->arena));
    spec->keep_checkpoints = best ? KEEP_BEST : KEEP_LAST;
    spec->keep_checkpoints_n = n;
    return 0;
}
