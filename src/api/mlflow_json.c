/* SPDX-License-Identifier: MIT */
/*
 * mlflow_json.c — experiments and runs as MLflow's clients read them.
 */
#include "api/mlflow_internal.h"

#include <math.h>

void mlflow_put_double(struct json_out *out, const char *key, double x)
{
    if (isfinite(x))
        json_put_double(out, key, x);
    else
        json_put_text(out, key, isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity");
}

void mlflow_put_pairs(struct json_out *out, const char *key, const struct tracked_pairs *pairs)
{
    json_key(out, key);
    json_begin_array(out);
    vec_foreach (pair, pairs) {
        json_begin_object(out);
        json_put_text(out, "key", pair->key);
        json_put_text(out, "value", pair->value);
        json_end_object(out);
    }
    json_end_array(out);
}

static char *location(const struct tracked_experiment *experiment)
{
    if (experiment->artifacts)
        return xstrdup(experiment->artifacts);
    return xasprintf("mlflow-artifacts:/%lld", (long long)tracked_number(experiment));
}

char *mlflow_artifact_uri(const struct tracked_run *run)
{
    autofree(mem) char *base = location(run->of);
    size_t n = strlen(base);

    while (n && base[n - 1] == '/')
        base[--n] = '\0';
    return xasprintf("%s/%s/artifacts", base, run->id);
}

static void put_number_text(struct json_out *out, const char *key, int64_t x)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)x);
    json_put_text(out, key, text);
}

void mlflow_put_experiment(struct json_out *out, const struct tracked_experiment *experiment)
{
    autofree(mem) char *artifacts = location(experiment);

    json_begin_object(out);
    put_number_text(out, "experiment_id", tracked_number(experiment));
    json_put_text(out, "name", experiment->name);
    json_put_text(out, "artifact_location", artifacts);
    json_put_text(out, "lifecycle_stage", experiment->deleted ? "deleted" : "active");
    json_put_int(out, "creation_time", experiment->created_ms);
    json_put_int(out, "last_update_time", experiment->updated_ms);
    if (experiment->tags.len)
        mlflow_put_pairs(out, "tags", &experiment->tags);
    json_end_object(out);
}

const char *mlflow_status_name(enum tracked_status status)
{
    static const char *const names[TRACKED_STATUSES] = {"RUNNING", "SCHEDULED", "FINISHED",
                                                        "FAILED", "KILLED"};
    return names[status];
}

void mlflow_put_info(struct json_out *out, const char *key, const struct tracked_run *run)
{
    autofree(mem) char *artifacts = mlflow_artifact_uri(run);

    json_key(out, key);
    json_begin_object(out);
    json_put_text(out, "run_uuid", run->id);
    json_put_text(out, "run_id", run->id);
    json_put_text(out, "run_name", run->name);
    put_number_text(out, "experiment_id", tracked_number(run->of));
    json_put_text(out, "user_id", run->user);
    json_put_text(out, "status", mlflow_status_name(run->status));
    json_put_int(out, "start_time", run->start_ms);
    if (run->end_ms)
        json_put_int(out, "end_time", run->end_ms);
    json_put_text(out, "artifact_uri", artifacts);
    json_put_text(out, "lifecycle_stage", run->deleted ? "deleted" : "active");
    json_end_object(out);
}

static void put_metrics(struct json_out *out, const struct tracked_run *run)
{
    json_key(out, "metrics");
    json_begin_array(out);
    vec_foreach (metric, &run->metrics) {
        json_begin_object(out);
        json_put_text(out, "key", metric->key);
        mlflow_put_double(out, "value", metric->value);
        json_put_int(out, "timestamp", metric->time_ms);
        json_put_int(out, "step", metric->step);
        json_end_object(out);
    }
    json_end_array(out);
}

/* Models that it used or made: {"model_id":…,"step":…} as they were told. */
static void put_models(struct json_out *out, const char *key, const json_t *list, bool inputs)
{
    size_t i;
    json_t *one;

    json_key(out, key);
    json_begin_array(out);
    json_array_foreach((json_t *)list, i, one)
    {
        if (inputs == !json_object_get(one, "step"))
            json_value(out, one);
    }
    json_end_array(out);
}

void mlflow_put_run(struct json_out *out, const struct tracked_run *run)
{
    json_begin_object(out);
    mlflow_put_info(out, "info", run);
    json_key(out, "data");
    json_begin_object(out);
    if (run->metrics.len)
        put_metrics(out, run);
    if (run->params.len)
        mlflow_put_pairs(out, "params", &run->params);
    mlflow_put_pairs(out, "tags", &run->tags);
    json_end_object(out);
    json_key(out, "inputs");
    json_begin_object(out);
    json_key(out, "dataset_inputs");
    json_value(out, run->inputs);
    put_models(out, "model_inputs", run->outputs, true);
    json_end_object(out);
    json_key(out, "outputs");
    json_begin_object(out);
    put_models(out, "model_outputs", run->outputs, false);
    json_end_object(out);
    json_end_object(out);
}
