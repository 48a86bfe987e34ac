/* SPDX-License-Identifier: MIT */
/*
 * overrides.c — the command line's changes, made on the tree before it is read: so they are checked
 * like the file, and their errors name the option instead of a line.
 *
 * Trees may share branches (aliases), so every map on the way to a change is copied first.
 */
#include "spec/reader.h"
#include "base/suggest.h"

#include <errno.h>

/* A place that is an option: "--set search.parallel=4". */
static struct yaml_node *place_of(struct reader *reader, const char *option, const char *text)
{
    struct yaml_node *place = arena_alloc(&reader->arena, sizeof(*place));
    autofree(mem) char *source = xasprintf("%s %s", option, text);

    place->source = arena_strdup(&reader->arena, source);
    place->text = "";
    return place;
}

/* Split NAME=VALUE. */
static int split(struct reader *reader, const struct yaml_node *place, const char *text,
                 const char **ret_name, const char **ret_value)
{
    const char *equal = strchr(text, '=');

    if (!equal || equal == text)
        return yaml_err(reader->err, place, "must be NAME=VALUE");
    if (!equal[1])
        return yaml_err(reader->err, place, "the value is missing");
    char *name = arena_memdup(&reader->arena, text, (size_t)(equal - text) + 1);
    name[equal - text] = '\0';
    *ret_name = name;
    *ret_value = equal + 1;
    return 0;
}

/* The node came from an option: that is its place. */
void move_to(struct yaml_node *node, const char *source)
{
    if (node->line == 0)
        return; /* reached before, by an alias */
    node->line = 0;
    node->source = source;
    for (size_t i = 0; i < node->n; i++) {
        if (node->kind == YAML_MAP) {
            node->keys[i]->line = 0;
            node->keys[i]->source = source;
        }
        move_to(node->items[i], source);
    }
}

static int parse_value(struct reader *reader, const struct yaml_node *place, const char *yaml,
                       struct yaml_node **ret)
{
    struct err why = ERR_INIT;
    int r = yaml_parse(yaml, strlen(yaml), "", &reader->arena, ret, &why);

    if (r < 0) { /* the sentence without its line and column: there is but one line */
        const char *sentence = strstr(err_text(&why), ": ");
        r = yaml_err(reader->err, place, "%s", sentence ? sentence + 2 : err_text(&why));
    } else {
        move_to(*ret, place->source);
    }
    err_release(&why);
    return r;
}

/* The map at `key` in `map`, as a copy that may be changed; made if it is missing. */
static struct yaml_node *open_map(struct reader *reader, struct yaml_node *map, const char *key,
                                  const struct yaml_node *place)
{
    struct yaml_node *inner = yaml_find(map, key), *copy;

    if (inner && inner->kind == YAML_MAP)
        copy = yaml_copy(&reader->arena, inner);
    else
        copy = yaml_map(&reader->arena, place);
    if (inner && inner->kind == YAML_SCALAR && !yaml_is_null(inner)) { /* a short form */
        if (str_eq(key, "objective"))
            yaml_put(&reader->arena, copy, "metric", inner);
        if (str_eq(key, "code"))
            yaml_put(&reader->arena, copy, "path", inner);
    }
    yaml_put(&reader->arena, map, key, copy);
    return copy;
}

/* ---- --set ---- */

/* params.NAME or params.NAME.KEY, where NAME may have dots: an existing one wins. `section` is
 * params or system. */
static void set_param(struct reader *reader, struct yaml_node *root, const char *section,
                      const char *rest, struct yaml_node *value)
{
    struct yaml_node *params = open_map(reader, root, section, value);

    for (size_t i = 0; i < params->n; i++) {
        const char *name = params->keys[i]->text;
        size_t n = strlen(name);
        if (str_starts(rest, name) && rest[n] == '.' && params->items[i]->kind == YAML_MAP) {
            struct yaml_node *param = open_map(reader, params, name, value);
            yaml_put(&reader->arena, param, rest + n + 1, value);
            return;
        }
    }
    yaml_put(&reader->arena, params, rest, value);
}

static int set_value(struct reader *reader, struct yaml_node *root, const char *path,
                     struct yaml_node *value, const struct yaml_node *place)
{
    const char *dot = strchr(path, '.');
    autofree(mem) char *top = dot ? xstrndup(path, (size_t)(dot - path)) : xstrdup(path);
    const struct option *option = option_find(top);
    bool has_params = str_eq(top, "params") || str_eq(top, "system");
    bool is_free = option && (option->type == OPTION_PAIRS || str_eq(top, "metrics"));

    if (!option ||
        (dot && !is_free && !has_params && option->type != OPTION_LATER && !option_find(path)))
        return yaml_err(reader->err, place, "unknown key '%s'%s", path,
                        did_you_mean(reader, option_suggest(path)));
    const struct yaml_node *old = yaml_find(root, top);
    if (dot && old && old->kind == YAML_LIST)
        return yaml_err(reader->err, place, "'%s' is a list: give it whole, --set %s=[…]", top,
                        top);
    if (!dot)
        yaml_put(&reader->arena, root, path, value);
    else if (has_params)
        set_param(reader, root, top, dot + 1, value);
    else
        yaml_put(&reader->arena, open_map(reader, root, top, place), dot + 1, value);
    return 0;
}

/* `typed`: its shorter spelling, NULL if it was --set. */
static int apply_set(struct reader *reader, struct yaml_node *root, const char *text,
                     const char *typed)
{
    struct yaml_node *place = place_of(reader, "--set", text), *value = NULL;
    const char *path, *yaml;
    if (typed)
        place->source = arena_strdup(&reader->arena, typed);
    int r = split(reader, place, text, &path, &yaml);

    if (r == 0)
        r = parse_value(reader, place, yaml, &value);
    return r < 0 ? r : set_value(reader, root, path, value, place);
}

/* ---- -p ---- */

static int unknown_param(struct reader *reader, const struct yaml_node *place,
                         const struct yaml_node *params, const char *name, const char *value)
{
    const char **names = arena_alloc(&reader->arena, (params->n + 1) * sizeof(*names));

    for (size_t i = 0; i < params->n; i++)
        names[i] = params->keys[i]->text;
    const char *closest = suggest(name, names, params->n);
    if (!closest)
        return yaml_err(reader->err, place, "there is no parameter '%s'; --param %s=%s adds it",
                        name, name, value);
    return yaml_err(reader->err, place, "there is no parameter '%s'%s", name,
                    did_you_mean(reader, closest));
}

/* Its `when` stays: a fixed parameter is still inactive where it was. */
static int apply_fix(struct reader *reader, struct yaml_node *root, const char *text)
{
    struct yaml_node *place = place_of(reader, "-p", text);
    const char *name, *value;
    int r = split(reader, place, text, &name, &value);

    if (r < 0)
        return r;
    struct yaml_node *system = yaml_find(root, "system");
    bool is_system = system && yaml_find(system, name);
    struct yaml_node *params = open_map(reader, root, is_system ? "system" : "params", place);
    const struct yaml_node *old = yaml_find(params, name);
    if (!old)
        return unknown_param(reader, place, params, name, value);
    struct yaml_node *scalar = yaml_scalar(&reader->arena, place, value, false), *fixed = scalar;
    if (yaml_find(old, "when")) {
        struct yaml_node *values = yaml_list(&reader->arena, place);
        yaml_add(&reader->arena, values, scalar);
        fixed = yaml_map(&reader->arena, place);
        yaml_put(&reader->arena, fixed, "values", values);
        yaml_put(&reader->arena, fixed, "when", yaml_find(old, "when"));
    }
    yaml_put(&reader->arena, params, name, fixed);
    return 0;
}

/* ---- --param ---- */

static bool is_number(const char *text)
{
    struct value value = value_guess(text, false);
    bool number = value.kind == VALUE_INT || value.kind == VALUE_FLOAT;
    value_release(&value);
    return number;
}

static void put_text(struct reader *reader, struct yaml_node *map, const char *key,
                     const char *text)
{
    yaml_put(&reader->arena, map, key, yaml_scalar(&reader->arena, map, text, false));
}

/* ":log:int" */
static int apply_suffixes(struct reader *reader, struct yaml_node *map, char *suffix)
{
    for (char *next; suffix; suffix = next) {
        next = strchr(suffix, ':');
        if (next)
            *next++ = '\0';
        if (str_eq(suffix, "log") || str_eq(suffix, "linear"))
            put_text(reader, map, "scale", suffix);
        else if (str_eq(suffix, "int") || str_eq(suffix, "float"))
            put_text(reader, map, "type", suffix);
        else
            return yaml_err(reader->err, map,
                            "':%s' is unknown; there are :log, :linear, :int, :float", suffix);
    }
    return 0;
}

/* "A..B", "A..B..STEP", with suffixes; NULL in *ret if it is none of these. */
static int parse_interval(struct reader *reader, const struct yaml_node *place, const char *text,
                          struct yaml_node **ret)
{
    char *copy = arena_strdup(&reader->arena, text), *dots = strstr(copy, "..");
    char *suffix = strchr(copy, ':');

    *ret = NULL;
    if (!dots || (suffix && suffix < dots))
        return 0;
    if (suffix)
        *suffix++ = '\0';
    char *to = dots + 2, *more = strstr(to, "..");
    *dots = '\0';
    if (more)
        *more = '\0';
    if (!is_number(copy) || !is_number(to) || (more && !is_number(more + 2)))
        return 0;
    struct yaml_node *map = *ret = yaml_map(&reader->arena, place);
    if (!more) {
        put_text(reader, map, "min", copy);
        put_text(reader, map, "max", to);
        return apply_suffixes(reader, map, suffix);
    }
    struct yaml_node *range = yaml_list(&reader->arena, place);
    yaml_add(&reader->arena, range, yaml_scalar(&reader->arena, place, copy, false));
    yaml_add(&reader->arena, range, yaml_scalar(&reader->arena, place, to, false));
    yaml_add(&reader->arena, range, yaml_scalar(&reader->arena, place, more + 2, false));
    yaml_put(&reader->arena, map, "range", range);
    return apply_suffixes(reader, map, suffix);
}

/* "0.001-0.1": meant as a range. A number itself may have a '-' in it. */
static bool is_span(const char *text)
{
    autofree(mem) char *from = xstrndup(text, strcspn(text, ":"));

    if (!*from || is_number(from))
        return false;
    for (char *dash = from + 1; (dash = strchr(dash, '-')); *dash++ = '-') {
        *dash = '\0';
        if (is_number(from) && is_number(dash + 1))
            return true;
    }
    return false;
}

/* What was meant as a range and is none would be a text, and the same in every trial. Dots in a
 * path are no range. */
static int refuse_range(struct reader *reader, const struct yaml_node *place, const char *name,
                        const char *text)
{
    if (strchr(text, '/') || !(strstr(text, "..") || is_span(text)))
        return 0;
    return yaml_err(reader->err, place,
                    "'%s' is no range: a range is written 0.001..0.1; if it is a text, say --set "
                    "params.%s='%s'",
                    text, name, text);
}

static struct yaml_node *parse_list(struct reader *reader, const struct yaml_node *place,
                                    const char *text)
{
    struct yaml_node *list = yaml_list(&reader->arena, place);
    char *copy = arena_strdup(&reader->arena, text);

    for (char *next; copy; copy = next) {
        next = strchr(copy, ',');
        if (next)
            *next++ = '\0';
        yaml_add(&reader->arena, list, yaml_scalar(&reader->arena, place, copy, false));
    }
    return list;
}

static int apply_param(struct reader *reader, struct yaml_node *root, const char *text)
{
    struct yaml_node *place = place_of(reader, "--param", text), *node = NULL;
    const char *name, *value;
    int r = split(reader, place, text, &name, &value);

    if (r == 0)
        r = parse_interval(reader, place, value, &node);
    if (r == 0 && !node)
        r = refuse_range(reader, place, name, value);
    if (r < 0)
        return r;
    if (!node)
        node = strchr(value, ',') ? parse_list(reader, place, value)
                                  : yaml_scalar(&reader->arena, place, value, false);
    yaml_put(&reader->arena, open_map(reader, root, "params", place), name, node);
    return 0;
}

/* ---- all of them ---- */

static void apply_command(struct reader *reader, struct yaml_node *root)
{
    const struct spec_overrides *o = reader->overrides;
    struct yaml_node *place = place_of(reader, "the command", "line");
    struct yaml_node *list = yaml_list(&reader->arena, place);

    for (size_t i = 0; i < o->n_command; i++)
        yaml_add(&reader->arena, list, yaml_scalar(&reader->arena, place, o->command[i], true));
    yaml_put(&reader->arena, root, "command", list);
}

int apply_overrides(struct reader *reader, struct yaml_node **root)
{
    const struct spec_overrides *o = reader->overrides;
    int r = 0;

    if (!o || (*root)->kind != YAML_MAP)
        return 0;
    struct yaml_node *copy = yaml_copy(&reader->arena, *root);
    if (o->command && o->n_command > 0)
        apply_command(reader, copy);
    for (size_t i = 0; r == 0 && i < o->param.len; i++)
        r = apply_param(reader, copy, o->param.at[i]);
    for (size_t i = 0; r == 0 && i < o->set.len; i++)
        r = apply_set(reader, copy, o->set.at[i], i < o->typed.len ? o->typed.at[i] : NULL);
    for (size_t i = 0; r == 0 && i < o->fix.len; i++)
        r = apply_fix(reader, copy, o->fix.at[i]);
    *root = copy;
    return r;
}
