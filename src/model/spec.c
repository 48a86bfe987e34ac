/* SPDX-License-Identifier: MIT */
/*
 * spec.c — the life of a struct spec, and what "better" means under its objective.
 */
#include "model/spec.h"

#include <assert.h>
#include <math.h>

void spec_init(struct spec *spec)
{
    *spec = (struct spec){.objective = {.target = NAN, .average = 1},
                          .stop = {.chance = NAN},
                          .figures_us = FIGURES_US};
}

enum system_name system_name_of(const char *name)
{
    static const char *const names[] = {
        [SYSTEM_CPUS] = "cpus",           [SYSTEM_CPU_QUOTA] = "cpu_quota",
        [SYSTEM_MEMORY] = "memory",       [SYSTEM_NICE] = "nice",
        [SYSTEM_FREQUENCY] = "frequency", [SYSTEM_THREADS] = "threads",
        [SYSTEM_INTEROP] = "interop",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(names[i], name))
            return (enum system_name)i;
    return SYSTEM_OTHER;
}

struct unit {
    const char *name;
    double size;
};

/* In the largest unit in which it is a whole number; the last has the size 1. */
static void add_in_units(struct str *to, const struct unit *unit, double value)
{
    while (fmod(value, unit->size) != 0)
        unit++;
    str_addf(to, "%.0f%s", value / unit->size, unit->name);
}

bool system_add_typed(const char *name, double value, struct str *to)
{
    static const struct unit sizes[] = {
        {"T", 0x1p40}, {"G", 0x1p30}, {"M", 0x1p20}, {"K", 0x1p10}, {"", 1}};
    static const struct unit frequencies[] = {{"MHz", 1e3}, {"kHz", 1}};
    enum system_name system = system_name_of(name);

    if (!(value > 0) || value > 0x1p53 || value != nearbyint(value))
        return false;
    if (system == SYSTEM_MEMORY)
        add_in_units(to, sizes, value);
    else if (system == SYSTEM_FREQUENCY && value >= 1e6 && fmod(value, 1e3) == 0)
        str_addf(to, "%.15gGHz", value / 1e6);
    else if (system == SYSTEM_FREQUENCY)
        add_in_units(to, frequencies, value);
    else
        return false;
    return true;
}

const struct param *spec_system_params(const struct spec *spec, size_t *ret_n)
{
    assert(spec->joint_n <= spec->space.n);
    *ret_n = spec->joint_n ? spec->joint_n : spec->system.n;
    return spec->joint_n ? spec->space.params + (spec->space.n - spec->joint_n)
                         : spec->system.params;
}

bool spec_has_system(const struct spec *spec)
{
    bool off = spec->tune == TUNE_OFF || spec->tune == TUNE_OFF_RAW;
    return !off && (spec->system.n > 0 || spec->joint_n > 0);
}

bool system_needs_restart(const char *name)
{
    return str_eq(name, "interop") || str_eq(name, "ps") || str_eq(name, "worker");
}

bool system_changes_learning(const char *name)
{
    return str_eq(name, "ps") || str_eq(name, "worker");
}

static void free_texts(char **at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(at[i]);
}

static void free_pairs(struct text_pair *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(at[i].key);
        free(at[i].value);
    }
}

static void release_search(struct spec *spec)
{
    vec_foreach (objective, &spec->others)
        free(objective->metric);
    vec_foreach (constraint, &spec->constraints)
        free(constraint->metric);
    vec_foreach (point, &spec->tries)
        free(*point);
    free_texts(spec->knowledge_from.at, spec->knowledge_from.len);
    vec_release(&spec->others);
    vec_release(&spec->constraints);
    vec_release(&spec->tries);
    vec_release(&spec->knowledge_from);
}

static void release_alerts(struct spec *spec)
{
    vec_foreach (alert, &spec->alerts) {
        free(alert->condition);
        free(alert->webhook);
        free_texts(alert->command.at, alert->command.len);
        vec_release(&alert->command);
    }
    vec_release(&spec->alerts);
}

void spec_release(struct spec *spec)
{
    char *const texts[] = {spec->name,     spec->description, spec->file,
                           spec->dir,      spec->algorithm,   spec->stop.rule,
                           spec->deadline, spec->code,        spec->objective.metric};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(texts[i]);
    free_texts(spec->command.at, spec->command.len);
    free_texts(spec->tags.at, spec->tags.len);
    free_texts(spec->diverge.at, spec->diverge.len);
    free_pairs(spec->env.at, spec->env.len);
    free_pairs(spec->patterns.at, spec->patterns.len);
    vec_release(&spec->command);
    vec_release(&spec->tags);
    vec_release(&spec->diverge);
    vec_release(&spec->env);
    vec_release(&spec->patterns);
    space_release(&spec->system);
    free(spec->tensorboard);
    free(spec->settings);
    vec_release(&spec->retry_codes);
    release_search(spec);
    release_alerts(spec);
    space_release(&spec->space);
    spec_init(spec);
}

bool objective_better(const struct objective *objective, double a, double b)
{
    if (isnan(a))
        return false;
    if (isnan(b))
        return true;
    return objective->goal == GOAL_MAXIMIZE ? a > b : a < b;
}
