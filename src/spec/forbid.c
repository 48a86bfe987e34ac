/* SPDX-License-Identifier: MIT */
/*
 * forbid.c — combinations that must not be tried.
 *
 *     forbid:
 *     - {optimizer: adam, lr: {min: 0.1}}        all of a combination must hold: adam from 0.1 up
 *     - {layers: 4, width: [512, 1024]}
 *
 * Read when the space is known. Where a parameter was fixed to another value (-p), the combination
 * cannot come up and is left out.
 */
#include "spec/params.h"

#include <errno.h>
#include <math.h>

#define CLAUSE_VALUES_MAX 1000

/* ---- one clause ---- */

static int read_clause_values(struct reader *reader, const struct param *param,
                              const struct yaml_node *node, struct clause *clause)
{
    size_t n = node->kind == YAML_LIST ? node->n : 1;

    if (n == 0 || n > CLAUSE_VALUES_MAX)
        return yaml_err(reader->err, node, "'forbid': give 1 to %d values of '%s'",
                        CLAUSE_VALUES_MAX, param->name);
    clause->values = xcalloc(n, sizeof(*clause->values));
    for (size_t i = 0; i < n; i++) {
        const struct yaml_node *item = node->kind == YAML_LIST ? node->items[i] : node;
        struct err why = ERR_INIT;
        struct value value;
        int r = read_value(reader, item, param->name, &value);
        if (r < 0)
            return r;
        r = param_parse(param, &value, &clause->values[clause->n_values], &why);
        value_release(&value);
        if (r == 0)
            clause->n_values++;
        else if (param_size(param) != 1)
            r = yaml_err(reader->err, item, "'forbid': %s", err_text(&why));
        else
            r = 0; /* it was fixed to another value */
        err_release(&why);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Choices that are numbers, by their number. */
static int choose_between(struct reader *reader, const struct param *param,
                          const struct yaml_node *node, struct clause *clause)
{
    bool numbers = false;

    clause->values = xcalloc(param->n_choices, sizeof(*clause->values));
    for (size_t i = 0; i < param->n_choices; i++) {
        const struct value *choice = &param->choices[i];
        if (choice->kind != VALUE_INT && choice->kind != VALUE_FLOAT)
            continue;
        numbers = true;
        if (choice->number >= clause->min && choice->number <= clause->max)
            clause->values[clause->n_values++] = (double)i;
    }
    if (clause->n_values > 0 || param_size(param) == 1)
        return 0;
    return yaml_err(reader->err, node,
                    numbers ? "'forbid': no value of '%s' lies there"
                            : "'forbid': the values of '%s' are no numbers; list them",
                    param->name);
}

static int read_clause_bounds(struct reader *reader, const struct param *param,
                              const struct yaml_node *map, struct clause *clause)
{
    double *const bounds[] = {&clause->min, &clause->max};

    for (size_t i = 0; i < map->n; i++) {
        const char *key = map->keys[i]->text;
        struct value value;
        if (!str_eq(key, "min") && !str_eq(key, "max"))
            return yaml_err(reader->err, map->keys[i],
                            "'forbid': '%s' takes a value, a list, or {min: …, max: …}, not '%s'",
                            param->name, key);
        int r = read_bound(reader, map->items[i], param->name, key, &value);
        if (r < 0)
            return r;
        *bounds[str_eq(key, "max")] = value.number;
        value_release(&value);
    }
    if (map->n == 0 || clause->min > clause->max)
        return yaml_err(reader->err, map, "'forbid': '%s' needs a min, or a max above it",
                        param->name);
    if (param->type == PARAM_CHOICE)
        return choose_between(reader, param, map, clause);
    if (clause->min > param->max || clause->max < param->min)
        return yaml_err(reader->err, map, "'forbid': no value of '%s' lies there", param->name);
    return 0;
}

/* *ret_never: it cannot hold. */
static int read_clause(struct reader *reader, const struct yaml_node *key,
                       const struct yaml_node *node, struct clause *clause, bool *ret_never)
{
    const struct space *space = &reader->spec->space;
    ptrdiff_t i = space_find(space, key->text);
    bool bounds = node->kind == YAML_MAP && !yaml_find(node, "raw");

    if (i < 0)
        return yaml_err(reader->err, key, "'forbid' names an unknown parameter '%s'%s", key->text,
                        closest_param(reader, space, key->text));
    const struct param *param = &space->params[i];
    *clause = (struct clause){.param = (size_t)i, .min = -INFINITY, .max = INFINITY};
    int r = bounds ? read_clause_bounds(reader, param, node, clause)
                   : read_clause_values(reader, param, node, clause);
    if (clause->values && clause->n_values == 0)
        *ret_never = true;
    return r;
}

/* ---- combinations ---- */

static void drop_last(struct space *space)
{
    struct forbid *forbid = &space->forbids[--space->n_forbids];

    for (size_t i = 0; i < forbid->n; i++)
        free(forbid->clauses[i].values);
    free(forbid->clauses);
    *forbid = (struct forbid){0};
}

static int read_combination(struct reader *reader, const struct yaml_node *map)
{
    struct space *space = &reader->spec->space;
    struct forbid *forbid = &space->forbids[space->n_forbids];
    bool never = false;

    if (map->kind != YAML_MAP || map->n == 0)
        return yaml_err(reader->err, map,
                        "'forbid': a combination is a mapping like {optimizer: adam, lr: {min: "
                        "0.1}}, not %s",
                        map->kind == YAML_MAP ? "an empty one"
                                              : yaml_describe(map, &reader->arena));
    space->n_forbids++;
    forbid->clauses = xcalloc(map->n, sizeof(*forbid->clauses));
    for (size_t i = 0; i < map->n; i++) {
        int r =
            read_clause(reader, map->keys[i], map->items[i], &forbid->clauses[forbid->n++], &never);
        if (r < 0)
            return r;
    }
    if (never)
        drop_last(space);
    return 0;
}

int read_forbid(struct reader *reader, const struct yaml_node *node)
{
    struct space *space = &reader->spec->space;
    size_t n = node->kind == YAML_LIST ? node->n : 1;

    if (n > FORBIDS_MAX)
        return yaml_err(reader->err, node->items[FORBIDS_MAX],
                        "'forbid': more than %d combinations", FORBIDS_MAX);
    space->forbids = xcalloc(n, sizeof(*space->forbids));
    for (size_t i = 0; i < n; i++) {
        int r = read_combination(reader, node->kind == YAML_LIST ? node->items[i] : node);
        if (r < 0)
            return r;
    }
    return 0;
}
