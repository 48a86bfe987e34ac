/* SPDX-License-Identifier: MIT */
/*
 * system.c — the `system` section: what may be changed about the machine under a running trial.
 *
 *     threads: [1, 2, 4]                           starts with the first
 *     cpus: {min: 1, max: 4, start: 2}             whole numbers
 *     memory: [512M, 2G]                           bytes, shown as they are written
 *     workers: {min: 0, max: 4, apply: live}       the program's own: passed like a parameter
 *     replicas: {min: 1, max: 8, learning: true}   it changes what a step teaches, too
 *     threads: auto                                from 1 to what the machine has (resolve.c)
 *
 * Values are read as those of `params`, then held against the row of their name. Under `tune:
 * joint` all of them go to the end of the space, before `forbid` and `try` look at it.
 */
#include "base/suggest.h"
#include "base/units.h"
#include "spec/params.h"

#include <errno.h>
#include <math.h>

#define AUTO_MAX          4096 /* end of `auto` while the machine is not known */
#define SYSTEM_VALUES_MAX 1000 /* in a list: each is a configuration to be timed */
#define EXACT_MAX         0x1p53
#define COUNT_MAX         100000

/* ---- what a value must be ---- */

/* The number that a text like "2G" stands for; false if it is none. */
typedef bool measure_fn(const char *text, double *ret);

struct rule {
    const char *name;
    double min, max;
    const char *form;
    bool whole;
    bool may_be_auto;
    measure_fn *measure; /* NULL: it is a number already */
};

static bool measure_size(const char *text, double *ret)
{
    uint64_t bytes = 0;
    bool ok = size_parse(text, &bytes) == 0;
    *ret = (double)bytes;
    return ok;
}

/* In kHz, as the kernel counts. */
static bool measure_frequency(const char *text, double *ret)
{
    static const struct {
        const char *unit;
        double khz;
    } units[] = {{"GHz", 1e6}, {"MHz", 1e3}, {"kHz", 1}, {"", 1}};
    char *end;
    double x = strtod(text, &end);

    if (end == text || !isfinite(x))
        return false;
    end += strspn(end, " ");
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq(end, units[i].unit)) {
            *ret = nearbyint(x * units[i].khz);
            return true;
        }
    return false;
}

static const struct rule rules[] = {
    {"cpus", 1, COUNT_MAX, "a whole number of 1 or more", true, true, NULL},
    {"threads", 1, COUNT_MAX, "a whole number of 1 or more", true, true, NULL},
    {"interop", 1, COUNT_MAX, "a whole number of 1 or more", true, false, NULL},
    {"workers", 0, COUNT_MAX, "a whole number of 0 or more", true, false, NULL},
    {"worker", 1, COUNT_MAX, "a whole number of 1 or more", true, false, NULL},
    {"ps", 0, COUNT_MAX, "a whole number of 0 or more", true, false, NULL},
    {"cpu_quota", 0.01, COUNT_MAX, "a number of 0.01 or more", false, false, NULL},
    {"nice", -20, 19, "a whole number from -20 to 19", true, false, NULL},
    {"memory", 1, EXACT_MAX, "a size like 512M or 2G", true, false, measure_size},
    {"frequency", 1, EXACT_MAX, "a frequency like 2.4GHz, or a number of kHz", true, false,
     measure_frequency},
};

static const struct rule *rule_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (str_eq(rules[i].name, name))
            return &rules[i];
    return NULL;
}

static bool rule_allows(const struct rule *rule, double x)
{
    return x >= rule->min && x <= rule->max && (!rule->whole || x == nearbyint(x));
}

/* Make it the number it stands for, the text stays; false if the rule does not allow it. */
static bool value_fit(const struct rule *rule, struct value *value)
{
    bool number = value->kind == VALUE_INT || value->kind == VALUE_FLOAT;

    if (rule->measure) {
        if (!rule->measure(value->text, &value->number))
            return false;
        value->kind = VALUE_INT;
    } else if (!number) {
        return false;
    }
    return rule_allows(rule, value->number);
}

static bool value_is_number(const char *text)
{
    struct value value = value_guess(text, false);
    bool number = value.kind == VALUE_INT || value.kind == VALUE_FLOAT;

    value_release(&value);
    return number;
}

/* Where the i-th value stands. */
static const struct yaml_node *value_node(const struct yaml_node *node, size_t i)
{
    const struct yaml_node *list = yaml_find(node, "values") ?: node;
    return list->kind == YAML_LIST && i < list->n ? list->items[i] : node;
}

static const char *describe_value(struct reader *reader, const struct yaml_node *node)
{
    const struct yaml_node *raw = yaml_find(node, "raw");
    return yaml_describe(raw ? raw : node, &reader->arena);
}

static int refuse_value(struct reader *reader, const struct rule *rule, const char *name,
                        double number, const char *shown, const struct yaml_node *at)
{
    char most[DOUBLE_TEXT_SIZE];

    if (at->kind == YAML_SCALAR && at->quoted && value_is_number(at->text))
        return yaml_err(reader->err, at,
                        "'system.%s' must be %s, not the text %s: leave out the "
                        "quotes",
                        name, rule->form, shown);
    if (rule->max == COUNT_MAX && number > rule->max)
        return yaml_err(reader->err, at, "'system.%s' may be at most %s, not %s", name,
                        double_text(most, rule->max), shown);
    return yaml_err(reader->err, at, "'system.%s' must be %s, not %s", name, rule->form, shown);
}

/* Two texts may be one size. */
static int check_new(struct reader *reader, const struct param *param, size_t i,
                     const struct yaml_node *node)
{
    for (size_t k = 0; k < i; k++)
        if (value_equal(&param->choices[k], &param->choices[i]))
            return yaml_err(reader->err, value_node(node, i), "system.%s: %s and %s are the same",
                            param->name, param->choices[k].text, param->choices[i].text);
    return 0;
}

static int fit_choices(struct reader *reader, const struct rule *rule, struct param *param,
                       const struct yaml_node *node)
{
    for (size_t i = 0; i < param->n_choices; i++) {
        const struct yaml_node *at = value_node(node, i);
        int r = 0;
        if (!value_fit(rule, &param->choices[i]))
            r = refuse_value(reader, rule, param->name, param->choices[i].number,
                             describe_value(reader, at), at);
        if (r == 0 && rule->measure)
            r = check_new(reader, param, i, node);
        if (r < 0)
            return r;
    }
    param->ordered = param->n_choices > 1;
    return 0;
}

static int fit_bounds(struct reader *reader, const struct rule *rule, const struct param *param,
                      const struct yaml_node *node)
{
    const double bounds[] = {param->min, param->max};
    char text[DOUBLE_TEXT_SIZE];

    if (rule->measure)
        return yaml_err(reader->err, node, "system.%s: give a list instead of a range",
                        param->name);
    for (size_t i = 0; i < 2; i++)
        if (!rule_allows(rule, bounds[i]))
            return refuse_value(reader, rule, param->name, bounds[i], double_text(text, bounds[i]),
                                yaml_find(node, i ? "max" : "min") ?: node);
    return 0;
}

static int fit_values(struct reader *reader, struct param *param, const struct yaml_node *node)
{
    const struct rule *rule = rule_find(param->name);
    char text[3][DOUBLE_TEXT_SIZE];

    if (param->n_choices > SYSTEM_VALUES_MAX)
        return yaml_err(reader->err, node, "system.%s: a list may hold at most %d values",
                        param->name, SYSTEM_VALUES_MAX);
    int r = 0;
    if (rule)
        r = param->type == PARAM_CHOICE ? fit_choices(reader, rule, param, node)
                                        : fit_bounds(reader, rule, param, node);
    if (r == 0 && param->type != PARAM_CHOICE && param_size(param) > SYSTEM_VALUES_MAX)
        return yaml_err(reader->err, node,
                        "system.%s: from %s to %s are %s values; a range may hold at most %d: "
                        "give it a smaller 'max' or a larger 'step'",
                        param->name, double_text(text[0], param->min),
                        double_text(text[1], param->max), double_text(text[2], param_size(param)),
                        SYSTEM_VALUES_MAX);
    return r;
}

/* ---- one system parameter ---- */

static int check_keys(struct reader *reader, const char *name, const struct yaml_node *map)
{
    static const char *const known[] = {"min",   "max",      "scale",  "type",  "step", "start",
                                        "apply", "learning", "values", "range", "raw"};

    for (size_t i = 0; map->kind == YAML_MAP && i < map->n; i++) {
        const char *key = map->keys[i]->text;
        size_t k = 0;
        while (k < ARRAY_LEN(known) && !str_eq(known[k], key))
            k++;
        if (str_eq(key, "when") || str_eq(key, "prior"))
            return yaml_err(reader->err, map->keys[i],
                            "system.%s: '%s' goes with hyperparameters only", name, key);
        if (k == ARRAY_LEN(known))
            return yaml_err(reader->err, map->keys[i], "system.%s: unknown key '%s'%s", name, key,
                            did_you_mean(reader, suggest(key, known, ARRAY_LEN(known) - 1)));
    }
    return 0;
}

/* min and max are of whole numbers here, also without `type: int`. */
static int make_whole(struct reader *reader, const char *name, const struct yaml_node **node)
{
    static const char *const keys[] = {"min", "max", "step"};
    const struct yaml_node *map = *node, *type = yaml_find(map, "type");
    double x;

    if (map->kind != YAML_MAP || yaml_find(map, "values") || yaml_find(map, "range") ||
        yaml_find(map, "raw"))
        return 0;
    if (type && type->kind == YAML_SCALAR && str_eq(type->text, "float"))
        return yaml_err(reader->err, type, "system.%s: a range has whole numbers; list others",
                        name);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct yaml_node *bound = yaml_find(map, keys[i]);
        if (bound && bound->quoted && value_is_number(bound->text))
            return yaml_err(reader->err, bound,
                            "system.%s: '%s' must be a number, not the text %s: leave out the "
                            "quotes",
                            name, keys[i], yaml_describe(bound, &reader->arena));
        if (bound && !whole_number(bound, &x))
            return yaml_err(reader->err, bound,
                            "system.%s: a range has whole numbers, so '%s' cannot be %s; list "
                            "others",
                            name, keys[i], yaml_describe(bound, &reader->arena));
    }
    if (!type) {
        struct yaml_node *copy = yaml_copy(&reader->arena, map);
        yaml_put(&reader->arena, copy, "type", yaml_scalar(&reader->arena, map, "int", false));
        *node = copy;
    }
    return 0;
}

static bool is_auto(const char *name, const struct yaml_node *node)
{
    static const char *const others[] = {"min", "max", "scale", "type", "step", "range"};
    const struct rule *rule = rule_find(name);
    const struct yaml_node *value = yaml_find(node, "values") ?: node;

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (yaml_find(node, others[i]))
            return false; /* and refused where these are read */
    return rule && rule->may_be_auto && value->kind == YAML_SCALAR && str_eq(value->text, "auto");
}

static int read_values(struct reader *reader, struct param *param, struct system_setting *setting,
                       const struct yaml_node *node)
{
    const struct yaml_node *whole = node;

    if (is_auto(param->name, node)) {
        param->type = PARAM_INT;
        param->min = 1;
        param->max = AUTO_MAX;
        setting->is_auto = true;
        return 0;
    }
    int r = make_whole(reader, param->name, &whole);
    if (r == 0)
        r = read_param_values(reader, param, whole);
    return r < 0 ? r : fit_values(reader, param, node);
}

static int read_start(struct reader *reader, const struct param *param,
                      struct system_setting *setting, const struct yaml_node *node)
{
    const struct yaml_node *start = yaml_find(node, "start");
    const struct rule *rule = rule_find(param->name);
    struct err why = ERR_INIT;
    struct value value;

    setting->start = param->type == PARAM_CHOICE ? 0 : rule && rule->may_be_auto ? NAN : param->min;
    if (!start || yaml_is_null(start))
        return 0;
    int r = read_value(reader, start, param->name, &value);
    if (r < 0)
        return r;
    if (rule)
        value_fit(rule, &value); /* what it does not allow is no value of the parameter either */
    if (param_parse(param, &value, &setting->start, &why) < 0)
        r = yaml_err(reader->err, start, "system.%s: 'start' must be one of its values, not %s",
                     param->name, describe_value(reader, start));
    err_release(&why);
    value_release(&value);
    return r;
}

static int read_apply(struct reader *reader, const char *name, struct system_setting *setting,
                      const struct yaml_node *node)
{
    static const char *const words[] = {"live", "restart"};
    const struct yaml_node *apply = yaml_find(node, "apply");
    enum system_name kind = system_name_of(name);

    setting->restart = kind == SYSTEM_OTHER || kind == SYSTEM_INTEROP;
    if (!apply || yaml_is_null(apply))
        return 0;
    const char *text = apply->kind == YAML_SCALAR ? apply->text : "";
    setting->restart = str_eq(text, "restart");
    if (!setting->restart && !str_eq(text, "live"))
        return yaml_err(reader->err, apply, "system.%s: 'apply' must be live or restart, not %s%s",
                        name, yaml_describe(apply, &reader->arena),
                        did_you_mean(reader, suggest(text, words, ARRAY_LEN(words))));
    if (!setting->restart && system_needs_restart(name))
        return yaml_err(reader->err, apply,
                        "system.%s: it cannot be changed in a running program; 'apply' must be "
                        "restart",
                        name);
    return 0;
}

static int read_learning(struct reader *reader, const char *name, struct system_setting *setting,
                         const struct yaml_node *node)
{
    const struct yaml_node *learning = yaml_find(node, "learning");

    setting->learning = system_changes_learning(name);
    if (!learning || yaml_is_null(learning))
        return 0;
    struct value value =
        value_guess(learning->kind == YAML_SCALAR ? learning->text : "", learning->quoted);
    bool known = value.kind == VALUE_BOOL;
    setting->learning = value.number != 0;
    value_release(&value);
    if (!known)
        return yaml_err(reader->err, learning,
                        "system.%s: 'learning' must be true or false, not %s", name,
                        yaml_describe(learning, &reader->arena));
    if (setting->learning && system_name_of(name) != SYSTEM_OTHER)
        return yaml_err(reader->err, learning,
                        "system.%s: it does not change learning; that goes with settings of the "
                        "program's own",
                        name);
    return 0;
}

static int read_one(struct reader *reader, struct param *param, struct system_setting *setting,
                    const struct yaml_node *node)
{
    int r = check_keys(reader, param->name, node);

    if (r == 0)
        r = read_values(reader, param, setting, node);
    if (r == 0)
        r = read_start(reader, param, setting, node);
    if (r == 0)
        r = read_apply(reader, param->name, setting, node);
    return r < 0 ? r : read_learning(reader, param->name, setting, node);
}

/* ---- all of them ---- */

static int check_system_name(struct reader *reader, const struct yaml_node *key)
{
    const char *names[ARRAY_LEN(rules)];
    int r = check_param_name(reader, key);

    if (r < 0)
        return r;
    if (space_find(&reader->spec->space, key->text) >= 0)
        return yaml_err(reader->err, key,
                        "system.%s: '%s' stands in 'params' too; it must be one or the other",
                        key->text, key->text);
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        names[i] = rules[i].name;
    const char *close = rule_find(key->text) ? NULL : suggest(key->text, names, ARRAY_LEN(rules));
    if (close)
        reader_note(reader, "system.%s: Hone has no such one, so it is passed to the program%s",
                    key->text, did_you_mean(reader, close));
    return 0;
}

static void join_space(struct spec *spec)
{
    struct space *space = &spec->space, *system = &spec->system;

    space->params = xrealloc(space->params, (space->n + system->n) * sizeof(*space->params));
    for (size_t i = 0; i < system->n; i++)
        space->params[space->n + i] = system->params[i];
    space->n += system->n;
    spec->joint_n = system->n;
    system->n = 0; /* the parameters have moved */
    space_release(system);
}

int read_system(struct reader *reader, const struct yaml_node *node)
{
    struct spec *spec = reader->spec;
    struct space *system = &spec->system;

    if (node->kind != YAML_MAP)
        return yaml_err(reader->err, node,
                        "'system' must be a mapping of system parameters, not %s",
                        yaml_describe(node, &reader->arena));
    if (node->n > SYSTEM_MAX)
        return yaml_err(reader->err, node->keys[SYSTEM_MAX], "more than %d system parameters",
                        SYSTEM_MAX);
    system->params = xcalloc(node->n, sizeof(*system->params));
    spec->settings = xcalloc(node->n, sizeof(*spec->settings));
    for (size_t i = 0; i < node->n; i++) {
        int r = check_system_name(reader, node->keys[i]);
        if (r < 0)
            return r;
        system->params[system->n++].name = xstrdup(node->keys[i]->text);
        r = read_one(reader, &system->params[i], &spec->settings[i], node->items[i]);
        if (r < 0)
            return r;
    }
    if (spec->tune == TUNE_JOINT && system->n > 0)
        join_space(spec);
    return 0;
}
