/* SPDX-License-Identifier: MIT */
/*
 * overrides.c — options that change a spec. The short ones are other spellings of --set, in a
 * table, so the spec alone knows what a value may be; it says so by the name that was typed.
 */
#include "cli/overrides.h"
#include "base/clock.h"

static const struct {
    const char *option, *key, *value; /* value NULL: what was given */
} spellings[] = {
    {"name", "name", NULL},
    {"trials", "search.trials", NULL},
    {"parallel", "search.parallel", NULL},
    {"seed", "search.seed", NULL},
    {"time", "limits.time", NULL},
    {"minimize", "objective.metric", NULL},
    {"minimize", "objective.goal", "minimize"},
    {"maximize", "objective.metric", NULL},
    {"maximize", "objective.goal", "maximize"},
};

static void add_set(struct spec_overrides *ret, char *set, char *typed)
{
    vec_push(&ret->set, set);
    vec_push(&ret->typed, typed);
}

static void read_one(const char *option, const char *value, struct spec_overrides *ret)
{
    if (str_eq(option, "set"))
        add_set(ret, xstrdup(value), NULL);
    else if (str_eq(option, "fix"))
        vec_push(&ret->fix, xstrdup(value));
    else if (str_eq(option, "param"))
        vec_push(&ret->param, xstrdup(value));
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
        if (str_eq(option, spellings[i].option))
            add_set(ret,
                    xasprintf("%s=%s", spellings[i].key,
                              spellings[i].value ? spellings[i].value : value),
                    xasprintf("--%s %s", option, value));
}

void overrides_read(const struct cmd_call *call, struct spec_overrides *ret)
{
    *ret = (struct spec_overrides){.now_us = clock_wall_us()};
    for (size_t i = 0; i < call->n_given; i++)
        if (call->given[i].value)
            read_one(call->given[i].option->name, call->given[i].value, ret);
    if (call->n_rest > 0) {
        ret->command = (const char *const *)call->rest;
        ret->n_command = (size_t)call->n_rest;
    }
}
