/* SPDX-License-Identifier: MIT */
/*
 * overrides.c — options that change a spec. The short ones are other spellings of --set, in a
 * table, so the spec alone knows what a value may be; it says so by the name that was typed.
 * --minimize and --maximize are one objective each: several make the list that a spec would hold.
 */
#include "cli/overrides.h"
#include "base/clock.h"
#include "base/fs.h"
#include "metrics/metrics.h"

static const struct {
    const char *option, *key, *value; /* value NULL: what was given */
} spellings[] = {
    {"name", "name", NULL},
    {"trials", "search.trials", NULL},
    {"parallel", "search.parallel", NULL},
    {"seed", "search.seed", NULL},
    {"time", "limits.time", NULL},
    {"priority", "priority", NULL},
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

/* ---- several objectives ---- */

static bool is_goal(const struct cmd_given *given)
{
    return str_eq(given->option->name, "minimize") || str_eq(given->option->name, "maximize");
}

static size_t count_goals(const struct cmd_call *call)
{
    size_t n = 0;

    for (size_t i = 0; i < call->n_given; i++)
        n += is_goal(&call->given[i]);
    return n;
}

/* objective=[{metric: a, goal: minimize}, …], in JSON. */
static void read_goals(const struct cmd_call *call, struct spec_overrides *ret)
{
    struct str set = STR_INIT, typed = STR_INIT;
    struct json_out out = JSON_OUT(&set);

    str_add(&set, "objective=");
    json_begin_array(&out);
    for (size_t i = 0; i < call->n_given; i++)
        if (is_goal(&call->given[i])) {
            const char *goal = call->given[i].option->name;
            json_begin_object(&out);
            json_put_text(&out, "metric", call->given[i].value);
            json_put_text(&out, "goal", goal);
            json_end_object(&out);
            str_addf(&typed, "%s--%s %s", typed.len ? " " : "", goal, call->given[i].value);
        }
    json_end_array(&out);
    add_set(ret, str_take(&set), str_take(&typed));
}

void overrides_read(const struct cmd_call *call, struct spec_overrides *ret)
{
    bool several = count_goals(call) > 1;

    *ret = (struct spec_overrides){.now_us = clock_wall_us(), .check_pattern = metrics_check};
    if (several)
        read_goals(call, ret);
    for (size_t i = 0; i < call->n_given; i++)
        if (call->given[i].value && !(several && is_goal(&call->given[i])))
            read_one(call->given[i].option->name, call->given[i].value, ret);
    if (call->n_rest > 0) {
        ret->command = (const char *const *)call->rest;
        ret->n_command = (size_t)call->n_rest;
    }
}

int overrides_file(struct cmd_call *call)
{
    static char usual[] = "hone.yaml";

    if (call->n_args || call->n_rest)
        return 0;
    if (!fs_exists(usual))
        return cmd_usage(call, "name a spec file, or give the program after --");
    call->args = xrealloc(call->args, sizeof(*call->args));
    call->args[call->n_args++] = usual;
    fprintf(stderr, "note: no file is named: it is %s of this folder\n", usual);
    return 0;
}
