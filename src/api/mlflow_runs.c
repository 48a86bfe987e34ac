/* SPDX-License-Identifier: MIT */
/*
 * mlflow_runs.c — runs of MLflow: begun, ended, read, hidden.
 */
#include "api/mlflow_internal.h"
#include "base/rng.h"

#include <errno.h>

#define RUN_NAME  "mlflow.runName"
#define TAG_CHARS 8000

/* A name for a run that was given none. */
static char *make_name(void)
{
    static const char *const kinds[] = {"able",  "brave", "calm",  "clear", "crisp", "deft",
                                        "eager", "fair",  "fleet", "fond",  "glad",  "keen",
                                        "kind",  "light", "lucid", "merry", "neat",  "nimble",
                                        "proud", "quick", "quiet", "sharp", "sound", "warm"};
    static const char *const things[] = {"ant",   "bear", "crane", "deer",  "dove", "eel",
                                         "finch", "fox",  "goat",  "hare",  "hawk", "heron",
                                         "ibex",  "jay",  "lark",  "lynx",  "mole", "newt",
                                         "otter", "owl",  "seal",  "shrew", "swan", "wren"};
    uint64_t x = random_u64();
    return xasprintf("%s-%s-%u", kinds[x % ARRAY_LEN(kinds)], things[(x >> 16) % ARRAY_LEN(things)],
                     (unsigned)(x >> 32) % 1000);
}

/* The tags that came with it, checked before anything is made. */
static int check_tags(const json_t *tags, const char **ret_name, struct err *err)
{
    size_t i;
    json_t *tag;

    json_array_foreach((json_t *)tags, i, tag)
    {
        const char *key, *value;
        int r = mlflow_pair(tag, "tags", &key, &value, err);
        if (r != 0)
            return r;
        if (str_eq(key, RUN_NAME) && *value)
            *ret_name = value;
    }
    return 0;
}

static void set_tags(struct tracked_run *run, const json_t *tags)
{
    size_t i;
    json_t *tag;

    json_array_foreach((json_t *)tags, i, tag)
    {
        const char *value = json_get_text(tag, "value", "");
        autofree(mem) char *text = mlflow_cut(value, TAG_CHARS);
        tracked_tag(run, json_get_text(tag, "key", ""), text);
    }
}

static int begin(struct mlflow_call *call, struct tracked_experiment *experiment, const char *name,
                 const json_t *tags, struct err *err)
{
    int64_t start_ms;
    const char *user;
    int r = mlflow_time(call, "start_time", call->now.wall_us / 1000, &start_ms, err);

    if (r == 0)
        r = mlflow_text(call, "user_id", &user, err);
    struct tracked_run *run =
        r != 0 ? NULL : tracked_start(experiment, call->web->who.user, start_ms, call->now);
    if (!run)
        return r != 0 ? r : err_set(err, EIO, "the run could not be made");
    autofree(mem) char *made = name && *name ? mlflow_cut(name, TAG_CHARS) : make_name();
    free(run->user);
    run->user = xstrdup(user ? user : "");
    set_tags(run, tags);
    tracked_tag(run, RUN_NAME, made);
    tracked_put_run(run);
    json_key(&call->out, "run");
    mlflow_put_run(&call->out, run);
    call->commits = true;
    return 0;
}

int mlflow_runs_create(struct mlflow_call *call, struct err *err)
{
    struct tracked_experiment *experiment = NULL;
    const char *name = NULL, *tag_name = NULL, *id = NULL;
    const json_t *tags = NULL;
    int r = mlflow_text(call, "experiment_id", &id, NULL);

    if (r == 0 && (!id || !*id))
        experiment = tracked_experiment(call->tracked, "0");
    else
        r = mlflow_experiment(call, &experiment, err);
    if (r == 0 && experiment && experiment->deleted)
        r = err_set(err, EINVAL,
                    "The experiment %lld must be in the 'active' state. Current state is deleted.",
                    (long long)tracked_number(experiment));
    if (r == 0)
        r = mlflow_text(call, "run_name", &name, err);
    if (r == 0)
        r = mlflow_list(call, "tags", &tags, err);
    if (r == 0)
        r = check_tags(tags, &tag_name, err);
    if (r == 0 && name && *name && tag_name && !str_eq(name, tag_name))
        r = err_set(err, EINVAL,
                    "Both 'run_name' argument and 'mlflow.runName' tag are specified, but with "
                    "different values (run_name='%.200s', mlflow.runName='%.200s').",
                    name, tag_name);
    return r != 0 ? r : begin(call, experiment, name && *name ? name : tag_name, tags, err);
}

static int read_status(struct mlflow_call *call, enum tracked_status *ret, struct err *err)
{
    static const enum tracked_status numbered[] = {
        TRACKED_RUNNING, TRACKED_SCHEDULED, TRACKED_FINISHED, TRACKED_FAILED, TRACKED_KILLED};
    const json_t *value = json_object_get(call->body, "status");
    const char *name = json_string_value(value);

    if (!value || json_is_null(value))
        return 0;
    if (json_is_integer(value) && json_integer_value(value) >= 1 &&
        json_integer_value(value) <= 5) {
        *ret = numbered[json_integer_value(value) - 1];
        return 0;
    }
    for (int i = 0; name && i < TRACKED_STATUSES; i++)
        if (str_eq(mlflow_status_name((enum tracked_status)i), name)) {
            *ret = (enum tracked_status)i;
            return 0;
        }
    return err_set(err, EINVAL,
                   "Invalid value for parameter 'status' supplied: RUNNING, "
                   "SCHEDULED, FINISHED, FAILED or KILLED is wanted");
}

int mlflow_runs_update(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    enum tracked_status status;
    const char *name;
    int64_t end_ms;
    int r = mlflow_active_run(call, &run, err);

    if (r != 0)
        return r;
    status = run->status;
    r = read_status(call, &status, err);
    if (r == 0)
        r = mlflow_time(call, "end_time", run->end_ms, &end_ms, err);
    if (r == 0)
        r = mlflow_text(call, "run_name", &name, err);
    if (r != 0)
        return r;
    run->end_ms = end_ms;
    tracked_end(run, status, call->now);
    if (name && *name) {
        autofree(mem) char *text = mlflow_cut(name, TAG_CHARS);
        tracked_tag(run, RUN_NAME, text);
    }
    tracked_put_run(run);
    mlflow_put_info(&call->out, "run_info", run);
    call->commits = true;
    return 0;
}

int mlflow_runs_get(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    int r = mlflow_run(call, &run, err);

    if (r != 0)
        return r;
    json_key(&call->out, "run");
    mlflow_put_run(&call->out, run);
    return 0;
}

/* Of a run that nobody is known to have made the owner of the experiment decides. */
static int hide(struct mlflow_call *call, bool hidden, struct err *err)
{
    struct tracked_run *run;
    int r = mlflow_run(call, &run, err);

    if (r == 0)
        r = mlflow_may_change(call->web, call->tracked, run->of->experiment.id, run->number, err);
    if (r != 0)
        return r;
    tracked_hide(run, hidden);
    call->commits = true;
    return 0;
}

int mlflow_runs_delete(struct mlflow_call *call, struct err *err)
{
    return hide(call, true, err);
}

int mlflow_runs_restore(struct mlflow_call *call, struct err *err)
{
    return hide(call, false, err);
}
