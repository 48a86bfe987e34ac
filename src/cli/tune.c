/* SPDX-License-Identifier: MIT */
/*
 * tune.c — hone tune: one long job, whose machine is tuned while it runs. It is `run` with other
 * beginnings: one trial, threads and cpus as system parameters where nothing else is said, no
 * objective needed. All of it becomes changes of the spec, so the spec alone knows what is valid,
 * and its errors name what was typed.
 */
#include "base/fs.h"
#include "base/yaml.h"
#include "cli/run.h"

#include <errno.h>
#include <sched.h>

static const struct cmd_option options[] = {
    {"system", 0, "NAME=VALUES",
     "tune this: threads=1,2,4, cpus=1..4, workers=0..4:restart (threads and cpus)"},
    {"target", 0, "METRIC<=X", "stop when the metric is there: loss<=0.1, accuracy>=0.93"},
    {"average", 0, "N", "compare the mean of the last N values with the target"},
    {"workers", 0, "WHICH", "how many of its workers must be at the target: all, 90% or any (all)"},
    {"fixed", 0, "NAME=VALUE", "tune nothing, run with this: the baseline to compare with"},
    RUN_OPTIONS,
    {NULL, 0, NULL, NULL},
};

static const char *const tuned_names[] = {"threads", "cpus"}; /* where nothing is said */

/* What the file says of its own accord. */
struct said {
    bool trials, system;
    bool params[ARRAY_LEN(tuned_names)]; /* a parameter is called so */
};

static bool has(const struct yaml_node *root, const char *section, const char *key)
{
    const struct yaml_node *map = yaml_find(root, section);
    return map && yaml_find(map, key);
}

/* Formats that are no YAML, and files that cannot be read, are told by who reads the spec. */
static struct said look_into(const char *path)
{
    autorelease(arena) struct arena arena = ARENA_INIT;
    autorelease(str) struct str text = STR_INIT;
    struct yaml_node *root = NULL;
    struct said said = {.trials = false};

    if (!path || fs_read(path, YAML_TEXT_MAX, &text, NULL) < 0 ||
        yaml_parse(text.s, text.len, path, &arena, &root, NULL) < 0)
        return said;
    said.trials = has(root, "search", "trials");
    said.system = yaml_find(root, "system") != NULL;
    for (size_t i = 0; i < ARRAY_LEN(tuned_names); i++)
        said.params[i] = has(root, "params", tuned_names[i]);
    return said;
}

static void set(struct spec_overrides *to, const char *typed, const char *fmt, ...) PRINTF(3, 4);
static void set(struct spec_overrides *to, const char *typed, const char *fmt, ...)
{
    struct str text = STR_INIT;
    va_list ap;

    va_start(ap, fmt);
    str_addv(&text, fmt, ap);
    va_end(ap);
    vec_push(&to->set, str_take(&text));
    vec_push(&to->typed, typed ? xstrdup(typed) : NULL);
}

/* NAME=VALUE: how long is the name? */
static int name_length(const char *option, const char *given, size_t *ret, struct err *err)
{
    *ret = strcspn(given, "=");
    if (*ret == 0 || !given[*ret] || !given[*ret + 1])
        return err_set(err, EINVAL, "--%s %s: must be NAME=VALUE, like threads=%s", option, given,
                       str_eq(option, "fixed") ? "2" : "1,2,4");
    return 0;
}

/* One word for a name, or nobody knows which counts. */
static int refuse_twice(const struct cmd_call *call, struct err *err)
{
    for (size_t i = 0; i < call->n_given; i++)
        for (size_t k = 0; k < i; k++) {
            const char *option = call->given[i].option->name, *other = call->given[k].option->name;
            if (!str_eq(option, other) || (!str_eq(option, "system") && !str_eq(option, "fixed")))
                continue;
            const char *a = call->given[k].value, *b = call->given[i].value;
            size_t n = strcspn(a, "=");
            if (n == strcspn(b, "=") && strncmp(a, b, n) == 0)
                return err_set(err, EINVAL, "--%s %s and --%s %s: %.*s is given twice", option, a,
                               option, b, (int)n, a);
        }
    return 0;
}

/* 1,2,4 is a list, 1..4 a range, and so is 0..8..2, in steps; a word behind a colon says how it is
 * applied. */
static void add_values(struct str *to, const char *values)
{
    const char *colon = strrchr(values, ':');
    size_t n = colon ? (size_t)(colon - values) : strlen(values);
    autofree(mem) char *what = xstrndup(values, n);
    char *end = strstr(what, ".."), *step = end ? strstr(end + 2, "..") : NULL;

    if (step)
        *step = '\0';
    if (end) {
        *end = '\0';
        str_addf(to, "{min: %s, max: %s", what, end + 2);
        if (step)
            str_addf(to, ", step: %s", step + 2);
    } else if (colon) {
        str_addf(to, "{values: [%s]", what);
    } else {
        str_addf(to, strchr(what, ',') ? "[%s]" : "%s", what);
    }
    if (colon)
        str_addf(to, ", apply: %s", colon + 1);
    str_add(to, end || colon ? "}" : "");
}

static int add_system(struct spec_overrides *to, const char *given, struct err *err)
{
    autofree(mem) char *typed = xasprintf("--system %s", given);
    autorelease(str) struct str values = STR_INIT;
    size_t n;
    int r = name_length("system", given, &n, err);

    if (r < 0)
        return r;
    add_values(&values, given + n + 1);
    set(to, typed, "system.%.*s=%s", (int)n, given, values.s);
    return 0;
}

static int add_fixed(struct spec_overrides *to, const char *given, struct err *err)
{
    autofree(mem) char *typed = xasprintf("--fixed %s", given);
    size_t n;
    int r = name_length("fixed", given, &n, err);

    if (r < 0)
        return r;
    if (given[n + 1 + strcspn(given + n + 1, ",:[{")] || strstr(given + n + 1, ".."))
        return err_set(err, EINVAL, "%s: must be one value; --system tunes among several", typed);
    set(to, typed, "system.%.*s=%s", (int)n, given, given + n + 1);
    return 0;
}

/* loss<=0.1 */
static int add_target(struct spec_overrides *to, const char *given, struct err *err)
{
    autofree(mem) char *typed = xasprintf("--target %s", given);
    size_t n = strcspn(given, "<>");
    bool least = given[n] == '>';

    if (n == 0 || !given[n] || given[n + 1] != '=' || !given[n + 2])
        return err_set(err, EINVAL, "%s: must be METRIC<=NUMBER or METRIC>=NUMBER", typed);
    set(to, typed, "objective.metric=%.*s", (int)n, given);
    set(to, typed, "objective.goal=%s", least ? "maximize" : "minimize");
    set(to, typed, "objective.target=%s", given + n + 2);
    return 0;
}

static int add_option(struct spec_overrides *to, const char *option, const char *value,
                      struct err *err)
{
    autofree(mem) char *typed = xasprintf("--%s %s", option, value);

    if (str_eq(option, "system"))
        return add_system(to, value, err);
    if (str_eq(option, "fixed"))
        return add_fixed(to, value, err);
    if (str_eq(option, "target"))
        return add_target(to, value, err);
    if (str_eq(option, "average"))
        set(to, typed, "objective.average=%s", value);
    if (str_eq(option, "workers"))
        set(to, typed, "objective.workers=%s", value);
    return 0;
}

static bool is_param(const struct cmd_call *call, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < call->n_given; i++)
        if (str_eq(call->given[i].option->name, "param") &&
            str_starts(call->given[i].value, name) && call->given[i].value[n] == '=')
            return true;
    return false;
}

static unsigned cpus_here(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 1;
}

/* A job alone begins with all that the machine has, as it would without Hone: what does not listen
 * cannot be given more threads later. Of many cpus not every number is tried. */
static void tune_from_all(struct spec_overrides *to, const char *name)
{
    autorelease(str) struct str list = STR_INIT;
    unsigned n = cpus_here(), before = 0;

    for (unsigned i = n; i >= 1; i = n <= 16 ? i - 1 : i * 3 / 4) {
        if (i != before)
            str_addf(&list, "%s%u", list.len ? ", " : "", i);
        before = i;
    }
    if (n > 16 && before != 1)
        str_add(&list, ", 1");
    set(to, NULL, "system.%s=[%s]", name, list.s);
}

/* The user has said how many threads there are to be. */
static bool is_set_outside(const char *name)
{
    return str_eq(name, "threads") && getenv("OMP_NUM_THREADS");
}

static void add_tuned(const struct cmd_call *call, const struct said *said,
                      struct spec_overrides *to)
{
    bool alone = !said->trials && !cmd_value(call, "trials") && !call->server;

    for (size_t i = 0; i < ARRAY_LEN(tuned_names); i++) {
        const char *name = tuned_names[i];
        if (said->params[i] || is_param(call, name) || is_set_outside(name))
            continue;
        if (alone)
            tune_from_all(to, name);
        else
            set(to, NULL, "system.%s=auto", name);
    }
}

/* What holds unless more is said; what the user says comes later and wins. */
static void add_defaults(const struct cmd_call *call, struct spec_overrides *to)
{
    struct said said = look_into(call->n_args ? call->args[0] : NULL);
    bool fixed = cmd_value(call, "fixed") != NULL;

    set(to, NULL, "tune=%s", fixed ? "hyper" : "pipelined");
    if (!said.trials)
        set(to, NULL, "search.trials=1");
    if (!said.system && !fixed && !cmd_value(call, "system"))
        add_tuned(call, &said, to);
}

static int make_overrides(const struct cmd_call *call, struct spec_overrides *ret, struct err *err)
{
    struct spec_overrides first = {.now_us = 0};
    int r = refuse_twice(call, err);

    overrides_read(call, ret);
    add_defaults(call, &first);
    for (size_t i = 0; r == 0 && i < call->n_given; i++)
        if (call->given[i].value)
            r = add_option(&first, call->given[i].option->name, call->given[i].value, err);
    vec_foreach (text, &ret->set)
        vec_push(&first.set, *text);
    vec_foreach (text, &ret->typed)
        vec_push(&first.typed, *text);
    vec_release(&ret->set);
    vec_release(&ret->typed);
    ret->set = first.set;
    ret->typed = first.typed;
    return r;
}

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct spec_overrides overrides;
    int code = overrides_file(call);

    if (code)
        return code;
    if (call->n_args && str_eq(call->args[0], "-"))
        return cmd_usage(call, "the spec must be a file, not standard input");
    if (cmd_value(call, "system") && cmd_value(call, "fixed"))
        return cmd_usage(call, "--system tunes and --fixed does not: one of them");
    if (cmd_value(call, "target") && (cmd_value(call, "minimize") || cmd_value(call, "maximize")))
        return cmd_usage(call, "--target says the metric and which way is better: leave out "
                               "--minimize and --maximize");
    if (cmd_value(call, "average") && !cmd_value(call, "target"))
        return cmd_usage(call, "--average is about a target: give it by --target");
    if (cmd_value(call, "workers") && !cmd_value(call, "target"))
        return cmd_usage(call, "--workers is about a target: give it by --target");
    if (make_overrides(call, &overrides, &err) < 0)
        code = cmd_fail(call, CMD_USAGE, &err);
    else
        code = run_spec(call, &overrides);
    spec_overrides_release(&overrides);
    return code;
}

const struct cmd cmd_tune = {
    .name = "tune",
    .args = "[FILE] [-- COMMAND]",
    .help = "run one job, and find the threads and cpus that make it fastest while it runs",
    .details =
        "hone tune -- python3 train.py\n\n"
        "Nothing of the training is lost: configurations are tried on its real steps. Every "
        "decision is told with what was predicted, what it costs and what came of it; "
        "'hone show last.1' lists them, 'hone export last --iterations' has every step with its "
        "configuration. docs/tuning.md says what can be tuned, and what a program has to do for "
        "it: the threads of one that does not use the SDK stay as they are, all cpus' or "
        "OMP_NUM_THREADS.\n\n"
        "With --fixed nothing is tuned: the same job in one configuration, to compare with. A FILE "
        "is a spec as for 'hone run'; it runs one trial unless it says how many.",
    .min_args = 0,
    .max_args = 1,
    .options = options,
    .run = run,
};
