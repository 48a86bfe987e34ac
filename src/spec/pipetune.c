/* SPDX-License-Identifier: MIT */
/*
 * pipetune.c — PipeTune's pipetune.conf, with the BigDL application file it names.
 *
 *     {"bigdlConf": "app.json", "hyperParameters": {"batch": [32, 64]},
 *      "systemParameters": {"cores": [4, 8], "memory": ["8g"]}, "nodes": […], "powerMeter": "pdu"}
 *
 * becomes a spark-submit command with the hyperparameters as choices, the system parameters under
 * `system`, and accuracy, read from the log, as the objective. PipeTune's executors are a quarter
 * of the cores each (four nodes). Where the cores vary no size is given: Spark's master then
 * spreads them evenly over its nodes. Its memory is the executors', not what Hone would limit: it
 * gets another name.
 */
#include "spec/reader.h"
#include "base/fs.h"

#include <errno.h>

bool is_pipetune(const struct yaml_node *root)
{
    return root->kind == YAML_MAP && yaml_find(root, "bigdlConf") &&
           (yaml_find(root, "hyperParameters") || yaml_find(root, "systemParameters"));
}

struct pipetune {
    struct reader *reader;
    const struct yaml_node *conf, *app;
    struct yaml_node *command; /* list of words */
    struct yaml_node *system;  /* what varies of systemParameters */
};

/* A literal word: braces doubled, so that none is taken for a parameter. */
static void add_word(struct pipetune *p, const char *text)
{
    autorelease(str) struct str word = STR_INIT;

    for (; *text; text++) {
        str_add_char(&word, *text);
        if (*text == '{' || *text == '}')
            str_add_char(&word, *text);
    }
    yaml_add(&p->reader->arena, p->command, yaml_scalar(&p->reader->arena, p->app, word.s, true));
}

static void add_flag(struct pipetune *p, const char *flag, const char *value)
{
    autofree(mem) char *dashed = xasprintf("--%s", flag);

    add_word(p, dashed);
    add_word(p, value);
}

static int load_app(struct pipetune *p)
{
    struct reader *reader = p->reader;
    const struct yaml_node *path = yaml_find(p->conf, "bigdlConf");
    autorelease(str) struct str text = STR_INIT;
    struct yaml_node *app;

    if (path->kind != YAML_SCALAR)
        return yaml_err(reader->err, path, "'bigdlConf' must be the path of the application file");
    autofree(mem) char *full =
        path->text[0] == '/' ? xstrdup(path->text) : xasprintf("%s/%s", reader->dir, path->text);
    struct err why = ERR_INIT;
    int r = fs_read(full, YAML_TEXT_MAX, &text, &why);
    if (r < 0)
        r = yaml_err(reader->err, path, "'bigdlConf': %s", err_text(&why));
    err_release(&why);
    if (r < 0)
        return r;
    r = yaml_parse(text.s, text.len, path->text, &reader->arena, &app, reader->err);
    if (r == 0 && app->kind != YAML_MAP)
        r = yaml_err(reader->err, app, "the application file must be a mapping");
    p->app = app;
    return r;
}

/* systemParameters.NAME, NULL if it is not given. */
static struct yaml_node *system_values(struct pipetune *p, const char *name)
{
    const struct yaml_node *system = yaml_find(p->conf, "systemParameters");
    return system ? yaml_find(system, name) : NULL;
}

/* Its only value, NULL if there is none or it varies. */
static const char *only_value(const struct yaml_node *values)
{
    if (values && values->kind == YAML_LIST && values->n == 1)
        values = values->items[0];
    return values && values->kind == YAML_SCALAR ? values->text : NULL;
}

static void add_app_flag(struct pipetune *p, const char *key, const char *flag, const char *instead)
{
    const struct yaml_node *node = yaml_find(p->app, key);

    if (instead)
        add_flag(p, flag, instead);
    else if (node && node->kind == YAML_SCALAR && !yaml_is_null(node) && *node->text)
        add_flag(p, flag, node->text);
}

/* A flag with systemParameters.KEY: its only value, else {name}, tuned as system.NAME; without, the
 * application's own. */
static void add_system_flag(struct pipetune *p, const char *key, const char *name,
                            const char *app_key, const char *flag)
{
    struct arena *arena = &p->reader->arena;
    struct yaml_node *values = system_values(p, key);
    const char *only = only_value(values);

    if (!values || only) {
        add_app_flag(p, app_key, flag, only);
        return;
    }
    autofree(mem) char *dashed = xasprintf("--%s", flag);
    autofree(mem) char *braced = xasprintf("{%s}", name);
    add_word(p, dashed);
    yaml_add(arena, p->command, yaml_scalar(arena, values, braced, true));
    yaml_put(arena, p->system, name, values);
}

static void add_executor_cores(struct pipetune *p)
{
    const struct yaml_node *values = system_values(p, "cores");
    const char *cores = only_value(values);
    long n = cores ? strtol(cores, NULL, 10) : 0;
    autofree(mem) char *executor = xasprintf("%ld", MAX(n / 4, 1));

    if (!values || cores)
        add_app_flag(p, "executor_cores", "executor-cores", cores ? executor : NULL);
}

static void add_spark_flags(struct pipetune *p)
{
    add_word(p, "spark-submit");
    add_app_flag(p, "master", "master", NULL);
    add_app_flag(p, "driver_memory", "driver-memory", NULL);
    add_system_flag(p, "cores", "cores", "total_executor_cores", "total-executor-cores");
    add_executor_cores(p);
    add_system_flag(p, "memory", "executor_memory", "executor_memory", "executor-memory");
    add_app_flag(p, "py_files", "py-files", NULL);
    add_app_flag(p, "properties_file", "properties-file", NULL);
    add_app_flag(p, "jars", "jars", NULL);
}

static int add_application(struct pipetune *p, const struct yaml_node *hyper)
{
    const struct yaml_node *app = yaml_find(p->app, "conf"), *extras = yaml_find(p->app, "extras");

    if (!app || app->kind != YAML_SCALAR || !*app->text)
        return yaml_err(p->reader->err, p->app, "'conf', the application's program, is missing");
    add_word(p, app->text);
    for (size_t i = 0; extras && extras->kind == YAML_MAP && i < extras->n; i++)
        if (extras->items[i]->kind == YAML_SCALAR &&
            !(hyper && yaml_find(hyper, extras->keys[i]->text)))
            add_flag(p, extras->keys[i]->text, extras->items[i]->text);
    for (size_t i = 0; hyper && i < hyper->n; i++) {
        autofree(mem) char *flag = xasprintf("--%s", hyper->keys[i]->text);
        autofree(mem) char *word = xasprintf("{%s}", hyper->keys[i]->text);
        add_word(p, flag);
        yaml_add(&p->reader->arena, p->command, yaml_scalar(&p->reader->arena, hyper, word, true));
    }
    return 0;
}

static void put_text(struct pipetune *p, struct yaml_node *map, const char *key, const char *text)
{
    yaml_put(&p->reader->arena, map, key, yaml_scalar(&p->reader->arena, p->conf, text, true));
}

static struct yaml_node *make_spec(struct pipetune *p, struct yaml_node *hyper)
{
    struct arena *arena = &p->reader->arena;
    struct yaml_node *spec = yaml_map(arena, p->conf), *objective = yaml_map(arena, p->conf);
    struct yaml_node *metrics = yaml_map(arena, p->conf);

    put_text(p, objective, "metric", "accuracy");
    put_text(p, objective, "goal", "maximize");
    put_text(p, metrics, "accuracy", "accuracy: ([0-9.]+)");
    yaml_put(arena, spec, "command", p->command);
    if (hyper)
        yaml_put(arena, spec, "params", hyper);
    if (p->system->n > 0)
        yaml_put(arena, spec, "system", p->system);
    yaml_put(arena, spec, "objective", objective);
    yaml_put(arena, spec, "metrics", metrics);
    return spec;
}

static void say_what_is_left_out(struct pipetune *p)
{
    struct reader *reader = p->reader;

    reader_note(reader, "%s is read as PipeTune's pipetune.conf", reader->name);
    if (yaml_find(p->system, "cores"))
        reader_note(reader,
                    "executor_cores: left out where cores vary; Spark spreads them over its nodes");
    if (yaml_find(p->conf, "nodes"))
        reader_note(reader, "nodes: left out; Spark's master knows its nodes");
    if (yaml_find(p->conf, "powerMeter"))
        reader_note(reader, "powerMeter: left out; Hone looks for power meters itself");
}

static int check_keys(struct pipetune *p)
{
    static const char *const known[] = {"bigdlConf", "systemParameters", "hyperParameters", "nodes",
                                        "powerMeter"};
    for (size_t i = 0; i < p->conf->n; i++) {
        size_t k = 0;
        while (k < ARRAY_LEN(known) && !str_eq(known[k], p->conf->keys[i]->text))
            k++;
        if (k == ARRAY_LEN(known))
            return yaml_err(p->reader->err, p->conf->keys[i], "unknown key '%s' in pipetune.conf",
                            p->conf->keys[i]->text);
    }
    return 0;
}

static int check_system(struct pipetune *p)
{
    const struct yaml_node *system = yaml_find(p->conf, "systemParameters");

    if (!system || yaml_is_null(system))
        return 0;
    if (system->kind != YAML_MAP)
        return yaml_err(p->reader->err, system, "'systemParameters' must be a mapping of lists");
    for (size_t i = 0; i < system->n; i++)
        if (!str_eq(system->keys[i]->text, "cores") && !str_eq(system->keys[i]->text, "memory"))
            return yaml_err(p->reader->err, system->keys[i],
                            "'systemParameters' has cores and memory, not '%s'",
                            system->keys[i]->text);
    return 0;
}

int import_pipetune(struct reader *reader, struct yaml_node **root)
{
    struct pipetune p = {.reader = reader, .conf = *root};
    struct yaml_node *hyper = yaml_find(*root, "hyperParameters");

    int r = check_keys(&p);
    if (r == 0)
        r = check_system(&p);
    if (r == 0)
        r = load_app(&p);
    if (r < 0)
        return r;
    if (hyper && hyper->kind != YAML_MAP)
        return yaml_err(reader->err, hyper, "'hyperParameters' must be a mapping of lists");
    p.command = yaml_list(&reader->arena, *root);
    p.system = yaml_map(&reader->arena, *root);
    add_spark_flags(&p);
    r = add_application(&p, hyper);
    if (r < 0)
        return r;
    say_what_is_left_out(&p);
    *root = make_spec(&p, hyper);
    return 0;
}
