/* SPDX-License-Identifier: MIT */
/*
 * mlframework.c — mlframework's parameters.yml: a flat mapping, every combination is one task.
 *
 *     epochs: [10, 20]                         each
 *     batch: !!python/tuple [100, 400, 100]    half-open range, step 1 if left out
 *     dropout: 0.5                             one value
 *     verbose: true                            the bare flag --verbose; false: nothing
 *
 * Other kinds of values were ignored there, with a warning; so here. The command stood in
 * the user's own script, so it comes after -- on the command line.
 */
#include "spec/reader.h"
#include "base/suggest.h"

#include <errno.h>

static bool is_tuple(const struct yaml_node *node)
{
    return node->kind == YAML_LIST && node->tag && strstr(node->tag, "python/tuple");
}

/* A spec with a mistyped key must get its error, not another meaning. */
static bool looks_like_spec_key(const char *key)
{
    static const char *const telling[] = {"params", "command"};
    const struct option *option = option_find(key);

    return (option && !option->internal) || suggest(key, telling, ARRAY_LEN(telling));
}

bool is_mlframework(const struct yaml_node *root)
{
    bool values = false;

    if (root->kind != YAML_MAP)
        return false;
    for (size_t i = 0; i < root->n; i++)
        if (is_tuple(root->items[i]))
            return true;
    for (size_t i = 0; i < root->n; i++) {
        if (looks_like_spec_key(root->keys[i]->text))
            return false;
        values = values || (root->items[i]->kind != YAML_MAP && !yaml_is_null(root->items[i]));
    }
    return values;
}

/* Hone's form of one value; NULL: left out. */
static struct yaml_node *convert(struct reader *reader, const struct yaml_node *key,
                                 struct yaml_node *value)
{
    bool is_bool = value->kind == YAML_SCALAR && !value->quoted;

    if (value->kind == YAML_MAP || yaml_is_null(value)) {
        reader_note(
            reader,
            "%s:%d:%d: '%s' is %s; parameters.yml gives no meaning to that, so it is left out",
            key->source, key->line, key->column, key->text,
            value->kind == YAML_MAP ? "a mapping" : "empty");
        return NULL;
    }
    if (is_bool && (str_eq(value->text, "false") || str_eq(value->text, "False")))
        return NULL;
    if (!is_tuple(value))
        return value;
    struct yaml_node *map = yaml_map(&reader->arena, value);
    yaml_put(&reader->arena, map, "range", value);
    return map;
}

int import_mlframework(struct reader *reader, struct yaml_node **root)
{
    struct yaml_node *old = *root, *spec = yaml_map(&reader->arena, old);
    struct yaml_node *params = yaml_map(&reader->arena, old);
    struct yaml_node *search = yaml_map(&reader->arena, old);

    if (!reader->overrides || reader->overrides->n_command == 0)
        return yaml_err(
            reader->err, old,
            "this has no key of a Hone spec, so it is read as mlframework's "
            "parameters.yml; give the program after --: hone run %s -- python3 train.py",
            reader->name);
    if (old->n > PARAMS_MAX)
        return yaml_err(reader->err, old->keys[PARAMS_MAX], "more than %d parameters", PARAMS_MAX);
    for (size_t i = 0; i < old->n; i++) {
        struct yaml_node *value = convert(reader, old->keys[i], old->items[i]);
        if (!value)
            continue;
        yaml_put(&reader->arena, params, old->keys[i]->text, value);
        params->keys[params->n - 1] = old->keys[i];
    }
    yaml_put(&reader->arena, search, "algorithm", yaml_scalar(&reader->arena, old, "grid", true));
    yaml_put(&reader->arena, spec, "params", params);
    yaml_put(&reader->arena, spec, "search", search);
    reader_note(reader, "%s is read as mlframework's parameters.yml: every combination is a trial",
                reader->name);
    *root = spec;
    return 0;
}
