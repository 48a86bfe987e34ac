/* SPDX-License-Identifier: MIT */
/*
 * params.c — the `params` section to a space.
 *
 *     seed: 7                                   a constant
 *     batch: [32, 64]                           choices
 *     lr: {min: 1e-4, max: 1e-1, scale: log}    numbers between bounds
 *     epochs: {range: [5, 20, 5]}               half-open (range.c)
 *     opt: {values: [sgd, adam], when: {…}}     choices, with a condition
 *     lr: {…, prior: 0.01}                      and where good values are expected (prior.c)
 *
 * Conditions are resolved when all parameters are known (when.c).
 */
#include "spec/params.h"
#include "base/map.h"
#include "base/suggest.h"

#include <errno.h>
#include <math.h>

bool param_name_valid(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char later[] = "0123456789.-";

    if (!*name || !strchr(first, *name))
        return false;
    for (const char *p = name; *p; p++)
        if (!strchr(first, *p) && !strchr(later, *p))
            return false;
    return true;
}

/* ---- values ---- */

int read_value(struct reader *reader, const struct yaml_node *node, const char *name,
               struct value *ret)
{
    const struct yaml_node *raw = yaml_find(node, "raw");

    if (raw && node->n == 1 && raw->kind == YAML_SCALAR) {
        *ret = value_guess(raw->text, false);
        return 0;
    }
    if (node->kind != YAML_SCALAR)
        return yaml_err(reader->err, node,
                        "parameter '%s': a value must be a number or a text, not %s", name,
                        yaml_describe(node, &reader->arena));
    *ret = value_guess(node->text, node->quoted);
    return 0;
}

/* Equal values have equal keys: 1 and 1.0, but not 1 and '1'. */
static char *value_key(const struct value *value)
{
    char buf[DOUBLE_TEXT_SIZE];
    bool number = value->kind == VALUE_INT || value->kind == VALUE_FLOAT;

    if (number && fabs(value->number) < 0x1p53)
        return xasprintf("n%s", double_text(buf, value->number + 0.0));
    if (value->kind == VALUE_BOOL || value->kind == VALUE_NULL)
        return xasprintf("%d:%g", (int)value->kind, value->number); /* True is true */
    return xasprintf("%d%s", value->kind == VALUE_INT ? VALUE_FLOAT : (int)value->kind,
                     value->text);
}

static int check_duplicates(struct reader *reader, const struct param *param,
                            const struct yaml_node *list)
{
    struct map_text seen = MAP_TEXT_INIT;
    int r = 0;

    for (size_t i = 0; i < param->n_choices && r == 0; i++) {
        autofree(mem) char *key = value_key(&param->choices[i]);
        if (map_text_find(&seen, key))
            r = yaml_err(reader->err, list->items[i], "parameter '%s': the value %s stands twice",
                         param->name, yaml_describe(list->items[i], &reader->arena));
        else
            map_text_put(&seen, key, &param->choices[i]);
    }
    map_text_release(&seen);
    return r;
}

static bool all_numbers(const struct param *param)
{
    for (size_t i = 0; i < param->n_choices; i++)
        if (param->choices[i].kind != VALUE_INT && param->choices[i].kind != VALUE_FLOAT)
            return false;
    return true;
}

static int read_choices(struct reader *reader, struct param *param, const struct yaml_node *list)
{
    if (list->kind != YAML_LIST)
        return yaml_err(reader->err, list, "parameter '%s': 'values' must be a list, not %s",
                        param->name, yaml_describe(list, &reader->arena));
    if (list->n == 0)
        return yaml_err(reader->err, list,
                        "parameter '%s': the list is empty, so there is nothing to try",
                        param->name);
    if (list->n > VALUES_MAX)
        return yaml_err(reader->err, list,
                        "parameter '%s': a list may hold at most %d values; use min and max",
                        param->name, VALUES_MAX);
    param->type = PARAM_CHOICE;
    param->choices = xcalloc(list->n, sizeof(*param->choices));
    for (; param->n_choices < list->n; param->n_choices++) {
        int r = read_value(reader, list->items[param->n_choices], param->name,
                           &param->choices[param->n_choices]);
        if (r < 0)
            return r;
    }
    param->ordered = param->n_choices > 1 && all_numbers(param);
    return check_duplicates(reader, param, list);
}

void param_set_constant(struct param *param, struct value value)
{
    param->type = PARAM_CHOICE;
    param->choices = xcalloc(1, sizeof(*param->choices));
    param->choices[0] = value;
    param->n_choices = 1;
}

/* ---- bounds ---- */

int read_bound(struct reader *reader, const struct yaml_node *node, const char *name,
               const char *key, struct value *ret)
{
    struct value value = {0};

    if (node->kind == YAML_SCALAR)
        value = value_guess(node->text, node->quoted);
    if ((value.kind != VALUE_INT && value.kind != VALUE_FLOAT) || !isfinite(value.number)) {
        value_release(&value);
        return yaml_err(reader->err, node, "parameter '%s': '%s' must be a number, not %s", name,
                        key, yaml_describe(node, &reader->arena));
    }
    *ret = value;
    return 0;
}

struct bounds { /* what the mapping of a number says */
    struct value min, max, step;
    const struct yaml_node *min_node, *max_node, *step_node, *type_node, *scale_node;
    bool is_int, is_log;
};

static void bounds_release(struct bounds *bounds)
{
    value_release(&bounds->min);
    value_release(&bounds->max);
    value_release(&bounds->step);
}

static int read_bound_word(struct reader *reader, const struct yaml_node *node, const char *name,
                           const char *key, const char *const words[2], bool *ret)
{
    if (!node)
        return 0;
    for (int i = 0; i < 2; i++)
        if (node->kind == YAML_SCALAR && str_eq(node->text, words[i])) {
            *ret = i == 1;
            return 0;
        }
    const char *close = node->kind == YAML_SCALAR ? suggest(node->text, words, 2) : NULL;
    return yaml_err(reader->err, node, "parameter '%s': '%s' must be %s or %s, not %s%s", name, key,
                    words[0], words[1], yaml_describe(node, &reader->arena),
                    did_you_mean(reader, close));
}

static int read_bounds(struct reader *reader, const struct yaml_node *map, const char *name,
                       struct bounds *b)
{
    static const char *const scales[2] = {"linear", "log"}, *const types[2] = {"float", "int"};

    b->min_node = yaml_find(map, "min");
    b->max_node = yaml_find(map, "max");
    b->step_node = yaml_find(map, "step");
    b->type_node = yaml_find(map, "type");
    b->scale_node = yaml_find(map, "scale");
    if (!b->min_node || !b->max_node)
        return yaml_err(reader->err, map, "parameter '%s': needs min and max, or values, or range",
                        name);
    int r = read_bound(reader, b->min_node, name, "min", &b->min);
    if (r == 0)
        r = read_bound(reader, b->max_node, name, "max", &b->max);
    if (r == 0 && b->step_node)
        r = read_bound(reader, b->step_node, name, "step", &b->step);
    if (r == 0)
        r = read_bound_word(reader, b->scale_node, name, "scale", scales, &b->is_log);
    if (r == 0)
        r = read_bound_word(reader, b->type_node, name, "type", types, &b->is_int);
    return r;
}

static int check_bounds(struct reader *reader, const char *name, const struct bounds *b)
{
    if (b->min.number > b->max.number)
        return yaml_err(reader->err, b->min_node, "parameter '%s': min %s is above max %s", name,
                        b->min.text, b->max.text);
    if (b->is_log && b->min.number <= 0)
        return yaml_err(reader->err, b->min_node,
                        "parameter '%s': with scale: log, min must be above 0, not %s", name,
                        b->min.text);
    if (b->step_node && b->step.number <= 0)
        return yaml_err(reader->err, b->step_node, "parameter '%s': step must be above 0, not %s",
                        name, b->step.text);
    if (!b->is_int)
        return 0;
    const struct value *const values[] = {&b->min, &b->max, &b->step};
    const struct yaml_node *const nodes[] = {b->min_node, b->max_node, b->step_node};
    for (size_t i = 0; i < 3; i++)
        if (nodes[i] &&
            (values[i]->number != nearbyint(values[i]->number) || fabs(values[i]->number) > 0x1p53))
            return yaml_err(reader->err, nodes[i],
                            "parameter '%s': with type: int, %s must be a whole number below 2^53",
                            name, values[i]->text);
    return 0;
}

static int read_numbers(struct reader *reader, struct param *param, const struct yaml_node *map)
{
    struct bounds b = {0};
    int r = read_bounds(reader, map, param->name, &b);

    if (r == 0)
        r = check_bounds(reader, param->name, &b);
    if (r == 0 && b.min.number == b.max.number) {
        param_set_constant(param, value_copy(&b.min));
    } else if (r == 0) {
        param->type = b.is_int ? PARAM_INT : PARAM_FLOAT;
        param->scale = b.is_log ? SCALE_LOG : SCALE_LINEAR;
        param->min = b.min.number;
        param->max = b.max.number;
        param->step = b.step_node ? b.step.number : 0;
    }
    bounds_release(&b);
    return r;
}

/* ---- one parameter ---- */

static int check_param_keys(struct reader *reader, const char *name, const struct yaml_node *map)
{
    static const char *const known[] = {"min",    "max",   "scale", "type",  "step",
                                        "values", "range", "when",  "prior", "raw"};

    for (size_t i = 0; i < map->n; i++) {
        const char *key = map->keys[i]->text;
        size_t k = 0;
        while (k < ARRAY_LEN(known) && !str_eq(known[k], key))
            k++;
        if (k == ARRAY_LEN(known))
            return yaml_err(reader->err, map->keys[i], "parameter '%s': unknown key '%s'%s", name,
                            key, did_you_mean(reader, suggest(key, known, ARRAY_LEN(known) - 1)));
    }
    return 0;
}

/* values, range and min…max exclude each other. */
static int check_one_form(struct reader *reader, const char *name, const struct yaml_node *map)
{
    static const char *const bound_keys[] = {"min", "max", "scale", "type", "step"};
    const char *form = yaml_find(map, "values")  ? "values"
                       : yaml_find(map, "range") ? "range"
                                                 : NULL;

    if (!form)
        return 0;
    if (yaml_find(map, "values") && yaml_find(map, "range"))
        return yaml_err(reader->err, map, "parameter '%s': give values or range, not both", name);
    for (size_t i = 0; i < ARRAY_LEN(bound_keys); i++)
        if (yaml_find(map, bound_keys[i]))
            return yaml_err(reader->err, yaml_find(map, bound_keys[i]),
                            "parameter '%s': '%s' does not go with '%s'", name, bound_keys[i],
                            form);
    return 0;
}

int read_param_values(struct reader *reader, struct param *param, const struct yaml_node *node)
{
    if (node->kind == YAML_LIST)
        return read_choices(reader, param, node);
    if (node->kind == YAML_SCALAR && !node->quoted && !*node->text)
        return yaml_err(reader->err, node, "parameter '%s' has no value", param->name);
    if (node->kind == YAML_SCALAR || yaml_find(node, "raw")) {
        struct value value;
        int r = read_value(reader, node, param->name, &value);
        if (r == 0)
            param_set_constant(param, value);
        return r;
    }
    int r = check_one_form(reader, param->name, node);
    if (r < 0)
        return r;
    if (yaml_find(node, "values"))
        return read_choices(reader, param, yaml_find(node, "values"));
    if (yaml_find(node, "range"))
        return read_range(reader, param, yaml_find(node, "range"));
    return read_numbers(reader, param, node);
}

static int read_param(struct reader *reader, struct param *param, const struct yaml_node *node)
{
    bool is_map = node->kind == YAML_MAP && !yaml_find(node, "raw");
    int r = is_map ? check_param_keys(reader, param->name, node) : 0;

    if (r == 0)
        r = read_param_values(reader, param, node);
    const struct yaml_node *prior = yaml_find(node, "prior");
    return r < 0 || !prior || yaml_is_null(prior) ? r : read_prior(reader, param, prior);
}

/* ---- all of them ---- */

/* What is stored must be readable again, and ranges grow when they are written out. */
static int check_total(struct reader *reader, const struct yaml_node *node)
{
    const struct space *space = &reader->spec->space;
    size_t total = 0;

    for (size_t i = 0; i < space->n; i++) {
        total += space->params[i].n_choices;
        if (total > VALUES_TOTAL_MAX)
            return yaml_err(reader->err, node->items[i],
                            "more than %d values in the lists of all parameters; use min and max",
                            VALUES_TOTAL_MAX);
    }
    return 0;
}

int check_param_name(struct reader *reader, const struct yaml_node *key)
{
    if (str_eq(key->text, "checkpoint"))
        return yaml_err(reader->err, key,
                        "parameter name 'checkpoint' is taken: {checkpoint} is where a trial goes "
                        "on from");
    if (!param_name_valid(key->text))
        return yaml_err(reader->err, key,
                        "parameter name '%s' cannot be passed to a program; use letters, digits, "
                        "'_', '-', '.', and begin with a letter or '_'",
                        key->text);
    return 0;
}

int read_params(struct reader *reader, const struct yaml_node *node)
{
    struct space *space = &reader->spec->space;

    if (node->kind != YAML_MAP)
        return yaml_err(reader->err, node, "'params' must be a mapping of parameters, not %s",
                        yaml_describe(node, &reader->arena));
    if (node->n > PARAMS_MAX)
        return yaml_err(reader->err, node->keys[PARAMS_MAX], "more than %d parameters", PARAMS_MAX);
    space_release(space);
    space->params = xcalloc(node->n, sizeof(*space->params));
    for (size_t i = 0; i < node->n; i++) {
        int r = check_param_name(reader, node->keys[i]);
        if (r < 0)
            return r;
        space->params[space->n++].name = xstrdup(node->keys[i]->text);
        r = read_param(reader, &space->params[i], node->items[i]);
        if (r < 0)
            return r;
    }
    int r = check_total(reader, node);
    return r < 0 ? r : connect_params(reader, space, node);
}
