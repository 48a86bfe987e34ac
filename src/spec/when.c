/* SPDX-License-Identifier: MIT */
/*
 * when.c — conditions between parameters.
 *
 * A condition may name a later parameter; the space wants it earlier. So parameters are read in
 * file order, then put in an order in which each comes after those it depends on, file order where
 * that leaves a choice, and only then are conditions resolved.
 */
#include "base/suggest.h"
#include "spec/params.h"

#include <errno.h>

#define CONDITION_VALUES_MAX 1000

static const struct yaml_node *when_of(const struct yaml_node *params, size_t i)
{
    const struct yaml_node *when = yaml_find(params->items[i], "when");
    return when && !yaml_is_null(when) ? when : NULL;
}

const char *closest_param(struct reader *reader, const struct space *space, const char *name)
{
    const char **names = arena_alloc(&reader->arena, (space->n + 1) * sizeof(*names));

    for (size_t i = 0; i < space->n; i++)
        names[i] = space->params[i].name;
    return did_you_mean(reader, suggest(name, names, space->n));
}

static int check_when(struct reader *reader, const struct space *space,
                      const struct yaml_node *params, size_t i)
{
    const struct yaml_node *when = when_of(params, i);
    const char *name = params->keys[i]->text;

    if (!when)
        return 0;
    if (when->kind != YAML_MAP)
        return yaml_err(reader->err, when,
                        "parameter '%s': 'when' must be a mapping like {other: value}", name);
    for (size_t k = 0; k < when->n; k++) {
        if (space_find(space, when->keys[k]->text) >= 0)
            continue;
        return yaml_err(reader->err, when->keys[k],
                        "parameter '%s': 'when' names an unknown parameter '%s'%s", name,
                        when->keys[k]->text, closest_param(reader, space, when->keys[k]->text));
    }
    return 0;
}

/* The parameters that parameter i looks at, by index; their number is the condition's. */
static size_t *find_needs(struct reader *reader, const struct space *space,
                          const struct yaml_node *when)
{
    size_t *needs = arena_alloc(&reader->arena, (when ? when->n : 0) * sizeof(*needs));

    for (size_t k = 0; when && k < when->n; k++)
        needs[k] = (size_t)space_find(space, when->keys[k]->text);
    return needs;
}

/* May it come now, all that it looks at being placed? */
static bool is_ready(const struct yaml_node *when, const size_t *needs, const bool *placed)
{
    for (size_t k = 0; when && k < when->n; k++)
        if (!placed[needs[k]])
            return false;
    return true;
}

/* order[] of file indices, each after those it depends on. */
static int find_order(struct reader *reader, const struct space *space,
                      const struct yaml_node *params, size_t *order)
{
    bool *placed = arena_alloc(&reader->arena, space->n * sizeof(*placed));
    size_t **needs = arena_alloc(&reader->arena, space->n * sizeof(*needs));

    for (size_t i = 0; i < space->n; i++)
        needs[i] = find_needs(reader, space, when_of(params, i));
    for (size_t n = 0; n < space->n; n++) {
        size_t i = 0, stuck = 0;
        while (i < space->n && (placed[i] || !is_ready(when_of(params, i), needs[i], placed)))
            i++;
        while (i == space->n && placed[stuck])
            stuck++;
        if (i == space->n)
            return yaml_err(reader->err, when_of(params, stuck),
                            "parameter '%s': its 'when' leads back to itself",
                            params->keys[stuck]->text);
        placed[i] = true;
        order[n] = i;
    }
    return 0;
}

static int read_condition(struct reader *reader, const struct space *space, struct param *param,
                          const struct yaml_node *key, const struct yaml_node *node)
{
    const struct param *other = &space->params[space_find(space, key->text)];
    struct condition *condition = &param->when[param->n_when++];
    size_t n = node->kind == YAML_LIST ? node->n : 1;

    if (n > CONDITION_VALUES_MAX)
        return yaml_err(reader->err, node, "parameter '%s': 'when' may list at most %d values",
                        param->name, CONDITION_VALUES_MAX);
    condition->param = (size_t)(other - space->params);
    condition->values = xcalloc(n, sizeof(*condition->values));
    for (size_t i = 0; i < n; i++) {
        const struct yaml_node *item = node->kind == YAML_LIST ? node->items[i] : node;
        struct value value;
        int r = read_value(reader, item, param->name, &value);
        if (r < 0)
            return r;
        r = param_parse(other, &value, &condition->values[condition->n_values], NULL);
        value_release(&value);
        if (r == 0)
            condition->n_values++;
        else if (param_size(other) != 1) /* a constant may have lost the value: never active */
            return yaml_err(reader->err, item,
                            "parameter '%s': 'when' is never true: '%s' is no value of '%s'",
                            param->name, item->text, other->name);
    }
    return 0;
}

static int read_conditions(struct reader *reader, const struct space *space, struct param *param,
                           const struct yaml_node *when)
{
    if (!when)
        return 0;
    param->when = xcalloc(when->n, sizeof(*param->when));
    for (size_t k = 0; k < when->n; k++) {
        int r = read_condition(reader, space, param, when->keys[k], when->items[k]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Put the space in order and resolve the conditions. */
int connect_params(struct reader *reader, struct space *space, const struct yaml_node *params)
{
    size_t *order = arena_alloc(&reader->arena, space->n * sizeof(*order));
    int r = 0;

    for (size_t i = 0; i < space->n && r == 0; i++)
        r = check_when(reader, space, params, i);
    if (r == 0)
        r = find_order(reader, space, params, order);
    if (r < 0)
        return r;
    struct param *sorted = xcalloc(space->n, sizeof(*sorted));
    for (size_t i = 0; i < space->n; i++)
        sorted[i] = space->params[order[i]];
    free(space->params);
    space->params = sorted;
    for (size_t i = 0; i < space->n && r == 0; i++)
        r = read_conditions(reader, space, &space->params[i], when_of(params, order[i]));
    return r;
}
