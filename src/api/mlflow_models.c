/* SPDX-License-Identifier: MIT */
/*
 * mlflow_models.c — models that runs log (MLflow 3): made as pending, filled with files, then
 * ready. A model is kept as the JSON that clients read: {"info":{…},"data":{…}}.
 */
#include "api/mlflow_internal.h"
#include "base/rng.h"

#include <errno.h>

#define MODELS_MAX  100000
#define PAIRS_MAX   1000
#define RESULTS_MAX 1000

static json_t *info_of(const struct tracked_model *model)
{
    return json_object_get(model->json, "info");
}

/* ---- made ---- */

static int copy_pairs(const json_t *list, const char *what, json_t *to, struct err *err)
{
    size_t i;
    json_t *pair;

    json_array_foreach((json_t *)list, i, pair)
    {
        const char *key, *value;
        int r = mlflow_json_text(pair, what, "key", &key, err);
        if (r == 0)
            r = mlflow_json_text(pair, what, "value", &value, err);
        if (r == 0)
            r = mlflow_check_key("key", key, err);
        if (r == 0 && json_array_size(to) >= PAIRS_MAX)
            r = err_set(err, EINVAL, "A model can have at most %d %s.", PAIRS_MAX, what);
        if (r != 0)
            return r;
        json_array_append_new(to, json_pack("{s:s,s:s}", "key", key, "value", value ? value : ""));
    }
    return 0;
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text && *text)
        json_object_set_new(object, key, json_string(text));
}

static int fill_info(struct mlflow_call *call, const struct tracked_experiment *experiment,
                     const char *id, json_t *info, struct err *err)
{
    static const char *const texts[] = {"name", "model_type", "source_run_id"};
    autofree(mem) char *number = xasprintf("%lld", (long long)tracked_number(experiment));
    autofree(mem) char *uri = xasprintf("mlflow-artifacts:/%lld/models/%s/artifacts",
                                        (long long)experiment->experiment.id, id);
    int r = 0;

    json_object_set_new(info, "model_id", json_string(id));
    json_object_set_new(info, "experiment_id", json_string(number));
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(texts); i++) {
        const char *text = NULL;
        r = mlflow_text(call, texts[i], &text, err);
        set_text(info, texts[i], text);
    }
    if (!json_object_get(info, "name"))
        set_text(info, "name", id);
    set_text(info, "artifact_uri", uri);
    set_text(info, "status", "LOGGED_MODEL_PENDING");
    json_object_set_new(info, "creation_timestamp_ms", json_integer(call->now.wall_us / 1000));
    json_object_set_new(info, "last_updated_timestamp_ms", json_integer(call->now.wall_us / 1000));
    return r;
}

static void answer(struct mlflow_call *call, const struct tracked_model *model)
{
    json_key(&call->out, "model");
    json_begin_object(&call->out);
    json_key(&call->out, "info");
    json_value(&call->out, info_of(model));
    json_key(&call->out, "data");
    json_value(&call->out, json_object_get(model->json, "data"));
    json_end_object(&call->out);
}

static int make(struct mlflow_call *call, struct tracked_experiment *experiment, json_t *info,
                json_t *data, struct err *err)
{
    char id[40];
    const json_t *tags, *params;
    json_t *kept_tags = json_array(), *kept_params = json_array();
    int r = mlflow_list(call, "tags", &tags, err);

    json_object_set_new(info, "tags", kept_tags);
    json_object_set_new(data, "params", kept_params);
    json_object_set_new(data, "metrics", json_array());
    snprintf(id, sizeof(id), "m-%016llx%016llx", (unsigned long long)random_u64(),
             (unsigned long long)random_u64());
    if (r == 0)
        r = mlflow_list(call, "params", &params, err);
    if (r == 0)
        r = copy_pairs(tags, "tags", kept_tags, err);
    if (r == 0)
        r = copy_pairs(params, "params", kept_params, err);
    if (r == 0)
        r = fill_info(call, experiment, id, info, err);
    if (r != 0)
        return r;
    const struct tracked_model *model =
        tracked_add_model(experiment, id, json_pack("{s:O,s:O}", "info", info, "data", data));
    tracked_put_model(call->tracked, model);
    answer(call, model);
    call->commits = true;
    return 0;
}

int mlflow_models_create(struct mlflow_call *call, struct err *err)
{
    struct tracked_experiment *experiment;
    autofree(json) json_t *info = json_object(), *data = json_object();
    int r = mlflow_experiment(call, &experiment, err);

    if (r == 0 && tracked_models(call->tracked) >= MODELS_MAX)
        r = err_set(err, EINVAL, "there are %d models: no more are made here", MODELS_MAX);
    if (r != 0)
        return r;
    if (!experiment->experiment.id)
        tracked_put_experiment(experiment, call->now); /* Default gets its number */
    return make(call, experiment, info, data, err);
}

/* ---- found and changed ---- */

static int find(struct mlflow_call *call, struct tracked_model **ret, struct err *err)
{
    const char *id = http_segment(call->web->request, 0);

    *ret = tracked_model(call->tracked, id ? id : "");
    if (!*ret || json_get_bool((*ret)->json, "deleted", false))
        return err_set(err, ENOENT, "Logged model with ID '%.100s' not found.", id ? id : "");
    return 0;
}

static void changed(struct mlflow_call *call, struct tracked_model *model)
{
    json_object_set_new(info_of(model), "last_updated_timestamp_ms",
                        json_integer(call->now.wall_us / 1000));
    tracked_put_model(call->tracked, model);
    call->commits = true;
}

int mlflow_models_get(struct mlflow_call *call, struct err *err)
{
    struct tracked_model *model;
    int r = find(call, &model, err);

    if (r == 0)
        answer(call, model);
    return r;
}

int mlflow_models_finalize(struct mlflow_call *call, struct err *err)
{
    struct tracked_model *model;
    const char *status;
    int r = find(call, &model, err);

    if (r == 0)
        r = mlflow_need_text(call, "status", &status, err);
    if (r == 0 && !str_starts(status, "LOGGED_MODEL_"))
        r = err_set(err, EINVAL, "Invalid model status: %.100s", status);
    if (r != 0)
        return r;
    json_object_set_new(info_of(model), "status", json_string(status));
    changed(call, model);
    answer(call, model);
    return 0;
}

int mlflow_models_delete(struct mlflow_call *call, struct err *err)
{
    struct tracked_model *model;
    int r = find(call, &model, err);

    if (r == 0)
        r = mlflow_may_change(call->web, call->tracked, model->experiment, 0, err);
    if (r != 0)
        return r;
    json_object_set_new(model->json, "deleted", json_true());
    changed(call, model);
    return 0;
}

static void drop_pair(json_t *list, const char *key)
{
    for (size_t i = json_array_size(list); i-- > 0;)
        if (str_eq(json_get_text(json_array_get(list, i), "key", ""), key))
            json_array_remove(list, i);
}

int mlflow_models_set_tags(struct mlflow_call *call, struct err *err)
{
    struct tracked_model *model;
    const json_t *tags;
    autofree(json) json_t *fresh = json_array();
    int r = find(call, &model, err);

    if (r == 0)
        r = mlflow_list(call, "tags", &tags, err);
    if (r == 0)
        r = copy_pairs(tags, "tags", fresh, err);
    if (r != 0)
        return r;
    json_t *kept = json_object_get(info_of(model), "tags");
    for (size_t i = 0; i < json_array_size(fresh); i++)
        drop_pair(kept, json_get_text(json_array_get(fresh, i), "key", ""));
    if (json_array_size(kept) + json_array_size(fresh) > PAIRS_MAX)
        return err_set(err, EINVAL, "A model can have at most %d tags.", PAIRS_MAX);
    json_array_extend(kept, fresh);
    changed(call, model);
    answer(call, model);
    return 0;
}

int mlflow_models_delete_tag(struct mlflow_call *call, struct err *err)
{
    struct tracked_model *model;
    const char *key = http_segment(call->web->request, 1);
    int r = find(call, &model, err);

    if (r != 0)
        return r;
    drop_pair(json_object_get(info_of(model), "tags"), key ? key : "");
    changed(call, model);
    answer(call, model);
    return 0;
}

int mlflow_models_params(struct mlflow_call *call, struct err *err)
{
    struct tracked_model *model;
    const json_t *params;
    int r = find(call, &model, err);

    if (r == 0)
        r = mlflow_list(call, "params", &params, err);
    if (r == 0)
        r = copy_pairs(params, "params",
                       json_object_get(json_object_get(model->json, "data"), "params"), err);
    if (r != 0)
        return r;
    changed(call, model);
    return 0;
}

/* ---- searched ---- */

static const struct mlflow_attribute attributes[] = {
    {"name", 0, false, false},
    {"model_id", 0, false, true},
    {"model_type", 0, false, false},
    {"status", 0, false, false},
    {"source_run_id", 0, false, true},
    {"creation_timestamp", 1, true, false},
    {"creation_time", 1, true, false},
    {"last_updated_timestamp", 2, true, false},
    {"last_updated_time", 2, true, false},
    {NULL, 0, false, false},
};
static const struct mlflow_language language = {attributes, true};

static const char *pair_value(const json_t *list, const char *key)
{
    size_t i;
    json_t *pair;

    json_array_foreach((json_t *)list, i, pair)
    {
        if (str_eq(json_get_text(pair, "key", ""), key))
            return json_get_text(pair, "value", NULL);
    }
    return NULL;
}

static struct mlflow_value get(const void *arg, const struct mlflow_name *name)
{
    const struct tracked_model *model = arg;
    const json_t *info = info_of(model);
    const char *text = NULL;

    if (name->entity == MLFLOW_TAG)
        text = pair_value(json_object_get(info, "tags"), name->key);
    else if (name->entity == MLFLOW_PARAM)
        text =
            pair_value(json_object_get(json_object_get(model->json, "data"), "params"), name->key);
    else if (name->entity == MLFLOW_ATTRIBUTE && name->numeric)
        return (struct mlflow_value){
            true,
            (double)json_get_int(
                info, name->attribute == 1 ? "creation_timestamp_ms" : "last_updated_timestamp_ms",
                0),
            NULL};
    else if (name->entity == MLFLOW_ATTRIBUTE)
        text = json_get_text(info, name->key, NULL);
    if (text && str_starts(text, "LOGGED_MODEL_") && str_eq(name->key, "status"))
        text += strlen("LOGGED_MODEL_");
    return (struct mlflow_value){.there = text != NULL, .text = text};
}

struct orders {
    struct mlflow_order at[8];
    size_t len;
};

static int read_orders(struct mlflow_call *call, struct orders *ret, struct err *err)
{
    const json_t *list;
    int r = mlflow_list(call, "order_by", &list, err);

    for (size_t i = 0; r == 0 && i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (ret->len == ARRAY_LEN(ret->at))
            return err_set(err, EINVAL, "order_by has at most %zu fields", ARRAY_LEN(ret->at));
        struct mlflow_order *order = &ret->at[ret->len++];
        r = mlflow_order_parse(json_get_text(one, "field_name", ""), &language, order, err);
        order->descending = !json_get_bool(one, "ascending", true);
    }
    return r;
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct tracked_model *const *x = a, *const *y = b;
    const struct orders *orders = arg;

    for (size_t i = 0; i < orders->len; i++) {
        struct mlflow_value u = get(*x, &orders->at[i].name), v = get(*y, &orders->at[i].name);
        int less = mlflow_compare(&orders->at[i], &u, &v);
        if (less)
            return less;
    }
    int64_t s = json_get_int(info_of(*x), "creation_timestamp_ms", 0),
            t = json_get_int(info_of(*y), "creation_timestamp_ms", 0);
    return s != t ? (s < t) - (s > t) : strcmp((*x)->id, (*y)->id);
}

struct found {
    VEC(const struct tracked_model *) models;
};

static bool is_asked_for(const json_t *ids, const struct tracked_model *model)
{
    const char *of = json_get_text(info_of(model), "experiment_id", "");
    size_t i;
    json_t *id;

    json_array_foreach((json_t *)ids, i, id)
    {
        if (json_is_string(id) && str_eq(json_string_value(id), of))
            return true;
    }
    return false;
}

static int choose(struct mlflow_call *call, struct found *found, struct err *err)
{
    struct mlflow_filter filter = {NULL, 0, 0};
    const char *text;
    const json_t *ids = NULL;
    int r = mlflow_text(call, "filter", &text, err);

    if (r == 0)
        r = mlflow_list(call, "experiment_ids", &ids, err);
    if (r == 0)
        r = mlflow_filter_parse(text, &language, &filter, err);
    for (size_t i = 0; r == 0 && i < tracked_models(call->tracked); i++) {
        const struct tracked_model *model = tracked_model_at(call->tracked, i);
        if (!json_get_bool(model->json, "deleted", false) && is_asked_for(ids, model) &&
            mlflow_matches(&filter, model, get, NULL))
            vec_push(&found->models, model);
    }
    mlflow_filter_release(&filter);
    return r;
}

static void put_found(struct mlflow_call *call, const struct found *found, size_t from,
                      int64_t limit)
{
    size_t at = from;

    json_key(&call->out, "models");
    json_begin_array(&call->out);
    for (; at < found->models.len && at - from < (size_t)limit; at++) {
        const struct tracked_model *model = found->models.at[at];
        json_begin_object(&call->out);
        json_key(&call->out, "info");
        json_value(&call->out, info_of(model));
        json_key(&call->out, "data");
        json_value(&call->out, json_object_get(model->json, "data"));
        json_end_object(&call->out);
    }
    json_end_array(&call->out);
    if (at < found->models.len) {
        autofree(mem) char *token = xasprintf("%zu", at);
        json_put_text(&call->out, "next_page_token", token);
    }
}

int mlflow_models_search(struct mlflow_call *call, struct err *err)
{
    struct found found = {{NULL, 0, 0}};
    struct orders orders = {.len = 0};
    int64_t limit;
    size_t from;
    int r = mlflow_limit(call, 100, RESULTS_MAX, &limit, err);

    if (r == 0)
        r = mlflow_page(call, &from, err);
    if (r == 0)
        r = read_orders(call, &orders, err);
    if (r == 0)
        r = choose(call, &found, err);
    if (r == 0 && found.models.len)
        qsort_r(found.models.at, found.models.len, sizeof(*found.models.at), compare, &orders);
    if (r == 0)
        put_found(call, &found, from, limit);
    for (size_t i = 0; i < orders.len; i++)
        mlflow_order_release(&orders.at[i]);
    vec_release(&found.models);
    return r;
}
