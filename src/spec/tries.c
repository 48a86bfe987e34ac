/* SPDX-License-Identifier: MIT */
/*
 * tries.c — settings to run first.
 *
 *     try:
 *     - {lr: 0.01, optimizer: adam}       what is not given, the search fills in
 *
 * Read when the space is known, forbidden combinations included.
 */
#include "spec/params.h"

#include <errno.h>
#include <math.h>

/* *ret_fixed: the parameter was fixed to another value. */
static int read_try_value(struct reader *reader, const struct yaml_node *key,
                          const struct yaml_node *node, double *x, const char **ret_fixed)
{
    const struct space *space = &reader->spec->space;
    ptrdiff_t i = space_find(space, key->text);
    struct err why = ERR_INIT;
    struct value value;

    if (i < 0)
        return yaml_err(reader->err, key, "'try' names an unknown parameter '%s'%s", key->text,
                        closest_param(reader, space, key->text));
    int r = read_value(reader, node, key->text, &value);
    if (r < 0)
        return r;
    r = param_parse(&space->params[i], &value, &x[i], &why);
    value_release(&value);
    if (r < 0 && param_size(&space->params[i]) == 1)
        *ret_fixed = key->text;
    else if (r < 0)
        r = yaml_err(reader->err, node, "'try': %s", err_text(&why));
    err_release(&why);
    return *ret_fixed ? 0 : r;
}

/* Can the parameter be active, as far as the values before it are given? */
static bool may_be_active(const struct param *param, const double *x)
{
    for (size_t w = 0; w < param->n_when; w++) {
        const struct condition *when = &param->when[w];
        size_t k = 0;
        while (k < when->n_values && when->values[k] != x[when->param])
            k++;
        if (k == when->n_values && (x[when->param] != TRY_FREE || when->n_values == 0))
            return false;
    }
    return true;
}

/* Constants are filled in, what cannot be active becomes NaN. */
static int settle_try(struct reader *reader, const struct yaml_node *map, double *x)
{
    const struct space *space = &reader->spec->space;

    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        bool active = may_be_active(param, x);
        if (!active && x[i] != TRY_FREE && param_size(param) > 1)
            return yaml_err(reader->err, yaml_find(map, param->name),
                            "'try': parameter '%s' is not active in this setting", param->name);
        if (!active)
            x[i] = NAN;
        else if (x[i] == TRY_FREE && param_size(param) == 1)
            x[i] = param_value_at(param, 0);
    }
    return 0;
}

/* ---- what is left open ---- */

#define FILLS_MAX 100000 /* completions that are looked at */

/* Has the setting, given up to parameter i, a completion that is not forbidden? `fill` holds what
 * is chosen so far. True, too, if nobody can tell: there are too many, or free floats that count
 * as allowed. */
static bool may_be_filled(const struct space *space, const double *given, size_t i, double *fill,
                          size_t *left)
{
    if (i == space->n)
        return *left == 0 || !space_forbids(space, fill) || --*left == 0;
    const struct param *param = &space->params[i];
    bool active = param_active(param, fill), open = active && given[i] == TRY_FREE;

    fill[i] = active ? given[i] : NAN;
    if (!open || isinf(param_size(param)))
        return may_be_filled(space, given, i + 1, fill, left);
    for (size_t k = 0; (double)k < param_size(param); k++) {
        fill[i] = param_value_at(param, (double)k);
        if (may_be_filled(space, given, i + 1, fill, left))
            return true;
    }
    return false;
}

static bool is_hopeless(const struct space *space, const double *given)
{
    autofree(mem) double *fill = xcalloc(space->n + 1, sizeof(*fill));
    size_t left = FILLS_MAX;

    return space->n_forbids && !may_be_filled(space, given, 0, fill, &left);
}

static bool is_complete(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] == TRY_FREE)
            return false;
    return true;
}

/* Is the newest one, with all its values given, there already? */
static bool stands_before(const struct spec *spec)
{
    const double *x = *vec_last(&spec->tries);

    if (!is_complete(x, spec->space.n))
        return false;
    for (size_t i = 0; i + 1 < spec->tries.len; i++)
        if (point_equal(spec->tries.at[i], x, spec->space.n))
            return true;
    return false;
}

static void drop_last(struct spec *spec)
{
    free(*vec_last(&spec->tries));
    spec->tries.len--;
}

static int read_try(struct reader *reader, const struct yaml_node *map, size_t number)
{
    struct spec *spec = reader->spec;
    double *x = xmalloc((spec->space.n + 1) * sizeof(*x));
    const char *fixed = NULL;

    vec_push(&spec->tries, x);
    if (map->kind != YAML_MAP)
        return yaml_err(reader->err, map,
                        "'try': a setting is a mapping of parameters to values, not %s",
                        yaml_describe(map, &reader->arena));
    for (size_t i = 0; i < spec->space.n; i++)
        x[i] = TRY_FREE;
    for (size_t i = 0; i < map->n; i++) {
        int r = read_try_value(reader, map->keys[i], map->items[i], x, &fixed);
        if (r < 0)
            return r;
    }
    int r = fixed ? 0 : settle_try(reader, map, x);
    if (r < 0)
        return r;
    if (!fixed && space_forbids(&spec->space, x))
        return yaml_err(reader->err, map, "'try': this setting is forbidden by 'forbid'");
    if (!fixed && is_hopeless(&spec->space, x))
        return yaml_err(reader->err, map,
                        "'try': whatever fills in this setting, 'forbid' forbids it");
    if (fixed)
        reader_note(reader, "try: setting %zu is left out, '%s' is fixed to another value", number,
                    fixed);
    if (fixed || stands_before(spec))
        drop_last(spec);
    return 0;
}

int read_tries(struct reader *reader, const struct yaml_node *node)
{
    size_t n = node->kind == YAML_LIST ? node->n : 1;

    if (n > TRIES_MAX)
        return yaml_err(reader->err, node->items[TRIES_MAX], "'try': more than %d settings",
                        TRIES_MAX);
    for (size_t i = 0; i < n; i++) {
        int r = read_try(reader, node->kind == YAML_LIST ? node->items[i] : node, i + 1);
        if (r < 0)
            return r;
    }
    return 0;
}
