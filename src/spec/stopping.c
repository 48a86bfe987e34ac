/* SPDX-License-Identifier: MIT */
/*
 * stopping.c — the rule that ends poor trials early, with its numbers.
 *
 *     stop: curve                         the name alone: with the rule's defaults
 *     stop: {curve: 2%}                   chance of stopping the eventual winner, per experiment
 *     stop: {asha: {eta: 4, min: 1, max: 81, pause: false}}
 */
#include "base/suggest.h"
#include "base/units.h"
#include "spec/reader.h"

#include <errno.h>
#include <math.h>

#define CHANCE_MAX 0.5

/* A number of a rule. */
struct number {
    const char *key;
    size_t offset; /* in struct stop_settings, int64_t */
    double min, max;
};
static const struct number numbers[] = {
    {"eta", offsetof(struct stop_settings, eta), 2, 1000},
    {"min", offsetof(struct stop_settings, min_step), 1, 1e15},
    {"max", offsetof(struct stop_settings, max_step), 1, 1e15},
};

static int read_chance(struct reader *reader, const struct yaml_node *node)
{
    double *chance = &reader->spec->stop.chance;

    if (node->kind == YAML_SCALAR && percent_parse(node->text, chance) == 0 && *chance > 0 &&
        *chance <= CHANCE_MAX)
        return 0;
    return yaml_err(reader->err, node,
                    "'search.stop: curve' takes a chance above 0 and up to 50%%, like 2%%, not %s",
                    yaml_describe(node, &reader->arena));
}

static int read_count(struct reader *reader, const struct number *number,
                      const struct yaml_node *node)
{
    struct value value = {0};

    if (node->kind == YAML_SCALAR)
        value = value_guess(node->text, node->quoted);
    bool good = (value.kind == VALUE_INT || value.kind == VALUE_FLOAT) &&
                value.number == nearbyint(value.number) && value.number >= number->min &&
                value.number <= number->max;
    if (good)
        *(int64_t *)((char *)&reader->spec->stop + number->offset) = (int64_t)value.number;
    value_release(&value);
    if (good)
        return 0;
    return yaml_err(
        reader->err, node, "'search.stop: %s': '%s' must be a whole number of %.0f or more, not %s",
        reader->spec->stop.rule, number->key, number->min, yaml_describe(node, &reader->arena));
}

static int read_pause(struct reader *reader, const struct yaml_node *node)
{
    const char *text = node->kind == YAML_SCALAR ? node->text : "";

    if (!str_eq(text, "true") && !str_eq(text, "false"))
        return yaml_err(reader->err, node,
                        "'search.stop: asha': 'pause' must be true or false, not %s",
                        yaml_describe(node, &reader->arena));
    reader->spec->stop.end = str_eq(text, "false");
    return 0;
}

static int unknown_key(struct reader *reader, const struct yaml_node *key)
{
    static const char *const keys[] = {"eta", "min", "max", "pause"};
    const char *rule = reader->spec->stop.rule;
    size_t n = str_eq(rule, "asha") ? 4 : str_eq(rule, "hyperband") ? 3 : 0;

    return yaml_err(reader->err, key, "'search.stop: %s': unknown key '%s'%s", rule, key->text,
                    did_you_mean(reader, suggest(key->text, keys, n)));
}

static int read_rungs(struct reader *reader, const struct yaml_node *map)
{
    const struct stop_settings *stop = &reader->spec->stop;

    for (size_t i = 0; i < map->n; i++) {
        const char *key = map->keys[i]->text;
        size_t k = 0;
        int r;
        while (k < ARRAY_LEN(numbers) && !str_eq(numbers[k].key, key))
            k++;
        if (k < ARRAY_LEN(numbers))
            r = read_count(reader, &numbers[k], map->items[i]);
        else if (str_eq(key, "pause") && str_eq(stop->rule, "asha"))
            r = read_pause(reader, map->items[i]);
        else
            r = unknown_key(reader, map->keys[i]);
        if (r < 0)
            return r;
    }
    if (stop->max_step > 0 && stop->min_step >= stop->max_step)
        return yaml_err(reader->err, map, "'search.stop: %s': min %lld must be below max %lld",
                        stop->rule, (long long)stop->min_step, (long long)stop->max_step);
    return 0;
}

static int read_rule(struct reader *reader, const struct yaml_node *node)
{
    const char *rule = reader->spec->stop.rule;

    if (yaml_is_null(node) || (node->kind == YAML_MAP && node->n == 0))
        return 0;
    if (str_eq(rule, "curve"))
        return read_chance(reader, node);
    if (node->kind != YAML_MAP)
        return yaml_err(reader->err, node, "'search.stop: %s' takes a mapping, not %s", rule,
                        yaml_describe(node, &reader->arena));
    if (str_eq(rule, "asha") || str_eq(rule, "hyperband"))
        return read_rungs(reader, node);
    return unknown_key(reader, node->keys[0]);
}

int read_stop(struct reader *reader, const struct yaml_node *node)
{
    struct stop_settings *stop = &reader->spec->stop;

    if (node->kind == YAML_MAP && node->n != 1)
        return yaml_err(reader->err, node, "'search.stop' takes one rule, like {curve: 2%%}");
    const struct option_word *word = read_word(reader, option_find("search.stop"),
                                               node->kind == YAML_MAP ? node->keys[0] : node);
    if (!word)
        return -EINVAL;
    free(stop->rule);
    *stop = (struct stop_settings){.rule = xstrdup(word->word), .chance = NAN};
    return node->kind == YAML_MAP ? read_rule(reader, node->items[0]) : 0;
}

void write_stop(const struct spec *spec, struct json_out *out)
{
    const struct stop_settings *stop = &spec->stop;

    if (isnan(stop->chance) && !stop->eta && !stop->min_step && !stop->max_step && !stop->end) {
        json_text(out, stop->rule);
        return;
    }
    json_begin_object(out);
    json_key(out, stop->rule);
    if (str_eq(stop->rule, "curve")) {
        json_double(out, stop->chance);
    } else {
        json_begin_object(out);
        for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
            int64_t x = *(const int64_t *)((const char *)stop + numbers[i].offset);
            if (x > 0)
                json_put_int(out, numbers[i].key, x);
        }
        if (str_eq(stop->rule, "asha"))
            json_put_bool(out, "pause", !stop->end);
        json_end_object(out);
    }
    json_end_object(out);
}
