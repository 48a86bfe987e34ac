/* SPDX-License-Identifier: MIT */
/*
 * mlflow_experiments.c — experiments of MLflow: made, read, renamed, tagged, hidden.
 */
#include "api/mlflow_internal.h"

#include <errno.h>

#define NAME_BYTES     2000 /* 500 characters */
#define TAG_CHARS      20000
#define LOCATION_BYTES 2048

static int check_name(const struct mlflow_call *call, const char *name, struct err *err)
{
    if (!name || !*name)
        return err_set(err, EINVAL, "Invalid experiment name: ''");
    if (strlen(name) > NAME_BYTES)
        return err_set(err, EINVAL, "'name' exceeds the maximum length of %d characters",
                       NAME_BYTES / 4);
    if (tracked_named(call->tracked, name))
        return err_set(err, EEXIST, "Experiment(name=%.500s) already exists.", name);
    return 0;
}

static int active_experiment(struct mlflow_call *call, struct tracked_experiment **ret,
                             struct err *err)
{
    int r = mlflow_experiment(call, ret, err);

    if (r == 0)
        r = mlflow_may_change(call->web, call->tracked, (*ret)->experiment.id, 0, err);
    if (r == 0 && (*ret)->deleted)
        r = err_set(err, EINVAL,
                    "The experiment %lld must be in the 'active' state. Current state is deleted.",
                    (long long)tracked_number(*ret));
    return r;
}

static int read_tags(const json_t *tags, struct tracked_pairs *ret, struct err *err)
{
    size_t i;
    json_t *tag;

    json_array_foreach((json_t *)tags, i, tag)
    {
        const char *key = NULL, *value = NULL;
        int r = mlflow_pair(tag, "tags", &key, &value, err);
        if (r != 0)
            return r;
        autofree(mem) char *text = mlflow_cut(value, TAG_CHARS);
        tracked_set(ret, key, text);
    }
    return 0;
}

static void release_tags(struct tracked_pairs *tags)
{
    while (tags->len)
        tracked_unset(tags, tags->at[0].key);
    vec_release(tags);
}

int mlflow_experiments_create(struct mlflow_call *call, struct err *err)
{
    const char *name, *location;
    const json_t *list;
    struct tracked_pairs tags = {NULL, 0, 0};
    struct tracked_experiment *experiment = NULL;

    int r = mlflow_need_text(call, "name", &name, err);
    if (r == 0)
        r = check_name(call, name, err);
    if (r == 0)
        r = mlflow_text(call, "artifact_location", &location, err);
    if (r == 0 && location && strlen(location) > LOCATION_BYTES)
        r = err_set(err, EINVAL,
                    "Invalid artifact path length. The length of the artifact path "
                    "cannot be greater than %d characters.",
                    LOCATION_BYTES);
    if (r == 0)
        r = mlflow_list(call, "tags", &list, err);
    if (r == 0)
        r = read_tags(list, &tags, err);
    if (r == 0)
        r = tracked_make(call->tracked, name, call->web->who.user, call->now, &experiment, err);
    if (r != 0) {
        release_tags(&tags);
        return r;
    }
    experiment->tags = tags;
    experiment->artifacts = location && *location ? xstrdup(location) : NULL;
    tracked_put_experiment(experiment, call->now);
    char id[24];
    snprintf(id, sizeof(id), "%lld", (long long)tracked_number(experiment));
    json_put_text(&call->out, "experiment_id", id);
    call->commits = true;
    return 0;
}

int mlflow_experiments_get(struct mlflow_call *call, struct err *err)
{
    struct tracked_experiment *experiment;
    int r = mlflow_experiment(call, &experiment, err);

    if (r != 0)
        return r;
    json_key(&call->out, "experiment");
    mlflow_put_experiment(&call->out, experiment);
    return 0;
}

int mlflow_experiments_get_by_name(struct mlflow_call *call, struct err *err)
{
    const char *name;
    int r = mlflow_need_text(call, "experiment_name", &name, err);
    struct tracked_experiment *experiment = r != 0 ? NULL : tracked_named(call->tracked, name);

    if (r != 0)
        return r;
    if (!experiment)
        return err_set(err, ENOENT, "Could not find experiment with name '%.500s'", name);
    json_key(&call->out, "experiment");
    mlflow_put_experiment(&call->out, experiment);
    return 0;
}

static void put(struct mlflow_call *call, struct tracked_experiment *experiment)
{
    experiment->updated_ms = call->now.wall_us / 1000;
    tracked_put_experiment(experiment, call->now);
    call->commits = true;
}

int mlflow_experiments_update(struct mlflow_call *call, struct err *err)
{
    struct tracked_experiment *experiment;
    const char *name;
    int r = active_experiment(call, &experiment, err);

    if (r == 0)
        r = mlflow_need_text(call, "new_name", &name, err);
    if (r == 0 && !str_eq(name, experiment->name))
        r = check_name(call, name, err);
    if (r != 0)
        return r;
    char *copy = xstrdup(name);
    free(experiment->name);
    experiment->name = copy;
    put(call, experiment);
    return 0;
}

int mlflow_experiments_delete(struct mlflow_call *call, struct err *err)
{
    struct tracked_experiment *experiment;
    int r = active_experiment(call, &experiment, err);

    if (r != 0)
        return r;
    tracked_hide_experiment(experiment, true, call->now);
    call->commits = true;
    return 0;
}

int mlflow_experiments_restore(struct mlflow_call *call, struct err *err)
{
    struct tracked_experiment *experiment;
    int r = mlflow_experiment(call, &experiment, err);

    if (r == 0)
        r = mlflow_may_change(call->web, call->tracked, experiment->experiment.id, 0, err);
    if (r != 0)
        return r;
    if (!experiment->deleted)
        return err_set(err, EINVAL,
                       "The experiment %lld must be in the 'deleted' state. Current state is "
                       "active.",
                       (long long)tracked_number(experiment));
    tracked_hide_experiment(experiment, false, call->now);
    call->commits = true;
    return 0;
}

int mlflow_experiments_set_tag(struct mlflow_call *call, struct err *err)
{
    struct tracked_experiment *experiment;
    const char *key, *value;
    int r = active_experiment(call, &experiment, err);

    if (r == 0)
        r = mlflow_need_text(call, "key", &key, err);
    if (r == 0)
        r = mlflow_text(call, "value", &value, err);
    if (r == 0)
        r = mlflow_check_key("key", key, err);
    if (r != 0)
        return r;
    autofree(mem) char *text = mlflow_cut(value ? value : "", TAG_CHARS);
    tracked_set(&experiment->tags, key, text);
    put(call, experiment);
    return 0;
}

int mlflow_experiments_delete_tag(struct mlflow_call *call, struct err *err)
{
    struct tracked_experiment *experiment;
    const char *key;
    int r = active_experiment(call, &experiment, err);

    if (r == 0)
        r = mlflow_need_text(call, "key", &key, err);
    if (r != 0)
        return r;
    if (!tracked_unset(&experiment->tags, key))
        return err_set(err, ENOENT, "No tag with name: %.260s in experiment with id %lld", key,
                       (long long)tracked_number(experiment));
    put(call, experiment);
    return 0;
}
