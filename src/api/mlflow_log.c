/* SPDX-License-Identifier: MIT */
/*
 * mlflow_log.c — what runs tell: metrics, parameters, tags, datasets and models.
 *
 * Metrics alone need no commit: they are answered when the kernel has them. A batch is checked
 * whole before any of it is taken.
 */
#include "api/mlflow_internal.h"
#include "series/series.h"

#include <errno.h>

#define METRICS_MAX 1000
#define PAIRS_MAX   100
#define PARAM_CHARS 6000
#define TAG_CHARS   8000
#define INPUTS_MAX  1000
#define MODEL_BYTES ((size_t)256 << 10) /* of all models that a run logged, as a tag */
#define MODELS_TAG  "mlflow.log-model.history"

/* ---- one metric ---- */

static int read_sample(const json_t *object, const char *path, struct tracked_sample *ret,
                       struct err *err)
{
    int r = mlflow_json_text(object, path, "key", &ret->key, err);

    if (r == 0)
        r = mlflow_check_key("name", ret->key, err);
    if (r == 0)
        r = mlflow_json_double(object, path, "value", &ret->value, err);
    if (r == 0)
        r = mlflow_json_int(object, path, "timestamp", -1, &ret->time_ms, err);
    if (r == 0)
        r = mlflow_json_int(object, path, "step", 0, &ret->step, err);
    if (r != 0)
        return r;
    if (ret->time_ms < 0 || ret->time_ms > TRACKED_MS_MAX)
        return err_set(err, EINVAL,
                       "Invalid value for parameter 'timestamp' supplied: metric '%.250s'. "
                       "Timestamp must be a nonnegative number of milliseconds",
                       ret->key);
    if (ret->step == STEP_NONE)
        return err_set(err, EINVAL, "Invalid value for parameter 'step' supplied: metric '%.250s'",
                       ret->key);
    return 0;
}

int mlflow_log_metric(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    struct tracked_sample sample;
    int r = mlflow_active_run(call, &run, err);

    if (r == 0)
        r = read_sample(call->body, "", &sample, err);
    return r != 0 ? r : tracked_log(run, &sample, 1, err);
}

/* ---- parameters and tags ---- */

/* A parameter stays as it was told first. */
static int check_param(const struct tracked_run *run, const char *key, const char *value,
                       struct err *err)
{
    const char *before = tracked_find(&run->params, key);
    autofree(mem) char *text = mlflow_cut(value, PARAM_CHARS);

    if (!before || str_eq(before, text))
        return 0;
    return err_set(err, EINVAL,
                   "Changing param values is not allowed. Param with key='%s' was already logged "
                   "with value='%.200s' for run ID='%s'. Attempted logging new value '%.200s'.",
                   key, before, run->id, text);
}

static void set_param(struct tracked_run *run, const char *key, const char *value)
{
    autofree(mem) char *text = mlflow_cut(value, PARAM_CHARS);
    tracked_set(&run->params, key, text);
}

static void put(struct mlflow_call *call, struct tracked_run *run)
{
    tracked_put_run(run);
    call->commits = true;
}

int mlflow_log_param(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    const char *key, *value;
    int r = mlflow_active_run(call, &run, err);

    if (r == 0)
        r = mlflow_pair(call->body, "", &key, &value, err);
    if (r == 0)
        r = check_param(run, key, value, err);
    if (r != 0)
        return r;
    set_param(run, key, value);
    put(call, run);
    return 0;
}

int mlflow_set_tag(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    const char *key, *value;
    int r = mlflow_active_run(call, &run, err);

    if (r == 0)
        r = mlflow_pair(call->body, "", &key, &value, err);
    if (r != 0)
        return r;
    autofree(mem) char *text = mlflow_cut(value, TAG_CHARS);
    tracked_tag(run, key, text);
    put(call, run);
    return 0;
}

int mlflow_delete_tag(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    const char *key;
    int r = mlflow_active_run(call, &run, err);

    if (r == 0)
        r = mlflow_need_text(call, "key", &key, err);
    if (r != 0)
        return r;
    if (!tracked_find(&run->tags, key))
        return err_set(err, ENOENT, "No tag with name: %.260s in run with id %s", key, run->id);
    tracked_tag(run, key, NULL);
    put(call, run);
    return 0;
}

/* ---- many at once ---- */

struct batch {
    const json_t *metrics, *params, *tags;
    struct tracked_sample *samples; /* of metrics */
};

static int check_limit(const char *what, size_t most, size_t n, struct err *err)
{
    if (n <= most)
        return 0;
    return err_set(err, EINVAL,
                   "A batch logging request can contain at most %zu %s. Got %zu %s. Please split "
                   "up %s across multiple requests and try again.",
                   most, what, n, what, what);
}

static int check_limits(const struct batch *batch, struct err *err)
{
    size_t metrics = json_array_size(batch->metrics), params = json_array_size(batch->params),
           tags = json_array_size(batch->tags);
    int r = check_limit("metrics", METRICS_MAX, metrics, err);

    if (r == 0)
        r = check_limit("params", PAIRS_MAX, params, err);
    if (r == 0)
        r = check_limit("tags", PAIRS_MAX, tags, err);
    if (r == 0)
        r = check_limit("metrics, params, and tags", METRICS_MAX, metrics + params + tags, err);
    return r;
}

static int check_metrics(struct batch *batch, struct err *err)
{
    size_t n = json_array_size(batch->metrics);
    int r = 0;

    batch->samples = xcalloc(n + 1, sizeof(*batch->samples));
    for (size_t i = 0; r == 0 && i < n; i++) {
        char path[32];
        snprintf(path, sizeof(path), "metrics[%zu]", i);
        r = read_sample(json_array_get(batch->metrics, i), path, &batch->samples[i], err);
    }
    return r;
}

static int check_repeat(const json_t *params, size_t n, const char *key, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(json_get_text(json_array_get(params, i), "key", ""), key))
            return err_set(err, EINVAL,
                           "Duplicate parameter keys have been submitted: ['%s']. Please ensure "
                           "the request contains only one param value per param key.",
                           key);
    return 0;
}

static int check_pairs(const struct batch *batch, const struct tracked_run *run, struct err *err)
{
    const char *key, *value;
    int r = 0;

    for (size_t i = 0; r == 0 && i < json_array_size(batch->params); i++) {
        r = mlflow_pair(json_array_get(batch->params, i), "params", &key, &value, err);
        if (r == 0)
            r = check_repeat(batch->params, i, key, err);
        if (r == 0)
            r = check_param(run, key, value, err);
    }
    for (size_t i = 0; r == 0 && i < json_array_size(batch->tags); i++)
        r = mlflow_pair(json_array_get(batch->tags, i), "tags", &key, &value, err);
    return r;
}

static void take_pairs(const struct batch *batch, struct tracked_run *run)
{
    const char *key, *value;

    for (size_t i = 0; i < json_array_size(batch->params); i++)
        if (mlflow_pair(json_array_get(batch->params, i), "", &key, &value, NULL) == 0)
            set_param(run, key, value);
    for (size_t i = 0; i < json_array_size(batch->tags); i++)
        if (mlflow_pair(json_array_get(batch->tags, i), "", &key, &value, NULL) == 0) {
            autofree(mem) char *text = mlflow_cut(value, TAG_CHARS);
            tracked_tag(run, key, text);
        }
}

static int take_batch(struct mlflow_call *call, struct batch *batch, struct err *err)
{
    struct tracked_run *run;
    int r = mlflow_active_run(call, &run, err);

    if (r == 0)
        r = check_limits(batch, err);
    if (r == 0)
        r = check_metrics(batch, err);
    if (r == 0)
        r = check_pairs(batch, run, err);
    if (r == 0)
        r = tracked_log(run, batch->samples, json_array_size(batch->metrics), err);
    if (r != 0 || json_array_size(batch->params) + json_array_size(batch->tags) == 0)
        return r;
    take_pairs(batch, run);
    put(call, run);
    return 0;
}

int mlflow_log_batch(struct mlflow_call *call, struct err *err)
{
    struct batch batch = {.samples = NULL};
    int r = mlflow_list(call, "metrics", &batch.metrics, err);

    if (r == 0)
        r = mlflow_list(call, "params", &batch.params, err);
    if (r == 0)
        r = mlflow_list(call, "tags", &batch.tags, err);
    if (r == 0)
        r = take_batch(call, &batch, err);
    free(batch.samples);
    return r;
}

/* ---- all values of a metric ---- */

int mlflow_history(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    struct tracked_history history = {NULL, 0, 0};
    const char *key = NULL;
    int64_t most = 0;
    size_t at = 0;
    int r = mlflow_run(call, &run, err);

    if (r == 0)
        r = mlflow_need_text(call, "metric_key", &key, err);
    if (r == 0)
        r = mlflow_limit(call, SERIES_POINTS_MAX, SERIES_POINTS_MAX, &most, err);
    if (r == 0)
        r = mlflow_page(call, &at, err);
    if (r == 0)
        r = tracked_history(run, key, &history);
    json_key(&call->out, "metrics");
    json_begin_array(&call->out);
    for (; r == 0 && at < history.len && most > 0; at++, most--) {
        json_begin_object(&call->out);
        json_put_text(&call->out, "key", key);
        mlflow_put_double(&call->out, "value", history.at[at].value);
        json_put_int(&call->out, "timestamp", history.at[at].time_ms);
        json_put_int(&call->out, "step", history.at[at].step);
        json_end_object(&call->out);
    }
    json_end_array(&call->out);
    if (r == 0 && at < history.len) {
        char token[24];
        snprintf(token, sizeof(token), "%zu", at);
        json_put_text(&call->out, "next_page_token", token);
    }
    vec_release(&history);
    return r;
}

/* ---- datasets and models ---- */

/* The same dataset, or the same model, again. */
static bool is_known(const json_t *list, const json_t *fresh)
{
    size_t i;
    json_t *one;

    json_array_foreach((json_t *)list, i, one)
    {
        if (json_equal(one, fresh))
            return true;
    }
    return false;
}

static int check_all(const json_t *to, const json_t *list, const char *what, struct err *err)
{
    size_t i;
    json_t *one;

    if (json_array_size(to) + json_array_size(list) > INPUTS_MAX)
        return err_set(err, EINVAL, "A run can have at most %d %s.", INPUTS_MAX, what);
    json_array_foreach((json_t *)list, i, one)
    {
        if (!json_is_object(one))
            return err_set(err, EINVAL, "Invalid value for parameter '%s' supplied.", what);
    }
    return 0;
}

static void add_all(json_t *to, const json_t *list)
{
    size_t i;
    json_t *one;

    json_array_foreach((json_t *)list, i, one)
    {
        if (!is_known(to, one))
            json_array_append(to, one);
    }
}

int mlflow_log_inputs(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    const json_t *datasets, *models;
    int r = mlflow_active_run(call, &run, err);

    if (r == 0)
        r = mlflow_list(call, "datasets", &datasets, err);
    if (r == 0)
        r = mlflow_list(call, "models", &models, err);
    if (r == 0)
        r = check_all(run->inputs, datasets, "datasets", err);
    if (r == 0)
        r = check_all(run->outputs, models, "models", err);
    if (r != 0)
        return r;
    add_all(run->inputs, datasets);
    add_all(run->outputs, models);
    put(call, run);
    return 0;
}

int mlflow_log_outputs(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    const json_t *models;
    int r = mlflow_active_run(call, &run, err);
    size_t i;
    json_t *one;

    if (r == 0)
        r = mlflow_list(call, "models", &models, err);
    if (r != 0)
        return r;
    json_array_foreach((json_t *)models, i, one)
    {
        if (json_is_object(one) && !json_object_get(one, "step"))
            json_object_set_new(one, "step", json_integer(0)); /* what tells it from an input */
    }
    r = check_all(run->outputs, models, "models", err);
    if (r != 0)
        return r;
    add_all(run->outputs, models);
    put(call, run);
    return 0;
}

int mlflow_log_model(struct mlflow_call *call, struct err *err)
{
    struct tracked_run *run;
    const char *text, *before;
    autofree(json) json_t *model = NULL, *all = NULL;
    autorelease(str) struct str value = STR_INIT;
    struct json_out out = JSON_OUT(&value);
    int r = mlflow_active_run(call, &run, err);

    if (r == 0)
        r = mlflow_need_text(call, "model_json", &text, err);
    if (r != 0)
        return r;
    if (json_parse(text, strlen(text), &model, NULL) < 0 || !json_is_object(model))
        return err_set(err, EINVAL, "Malformed model info. Could not be parsed as JSON.");
    before = tracked_find(&run->tags, MODELS_TAG);
    if (!before || json_parse(before, strlen(before), &all, NULL) < 0 || !json_is_array(all)) {
        json_decref(all);
        all = json_array();
    }
    json_array_append(all, model);
    json_value(&out, all);
    if (value.len > MODEL_BYTES)
        return err_set(err, EINVAL, "'value' exceeds the maximum length of %zu bytes", MODEL_BYTES);
    tracked_tag(run, MODELS_TAG, value.s);
    put(call, run);
    return 0;
}
