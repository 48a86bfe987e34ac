/* SPDX-License-Identifier: MIT */
/*
 * mlflow.c — MLflow's tracking server as its stock clients see it: MLFLOW_TRACKING_URI alone makes
 * them log here. One table of endpoints, each under /api/2.0/mlflow and under the address that
 * MLflow's own pages use.
 *
 * Endpoints run on the engine's loop. What changes rows is answered after the commit, metrics when
 * the kernel has them: an answered call survives kill -9.
 */
#include "api/mlflow_internal.h"
#include "api/web_act.h"

#include <errno.h>

#define BODY_MAX     ((size_t)1 << 20)
#define BATCH_MAX    ((size_t)2 << 20)
#define ARTIFACT_MAX ((size_t)1 << 40) /* the disk is the limit */
#define VERSION      "2.22.0"          /* whose answers these are */
#define JSON         "application/json"

/* ---- answers ---- */

static const struct {
    int error;
    unsigned status;
    const char *code;
} codes[] = {
    {EINVAL, 400, "INVALID_PARAMETER_VALUE"}, {ENOENT, 404, "RESOURCE_DOES_NOT_EXIST"},
    {EEXIST, 400, "RESOURCE_ALREADY_EXISTS"}, {ENOSYS, 404, "ENDPOINT_NOT_FOUND"},
    {ENOSPC, 503, "TEMPORARILY_UNAVAILABLE"}, {EDQUOT, 503, "TEMPORARILY_UNAVAILABLE"},
    {EAGAIN, 503, "TEMPORARILY_UNAVAILABLE"}, {EPERM, 403, "PERMISSION_DENIED"},
};

void mlflow_fail(struct http_request *request, int r, const struct err *err)
{
    struct str answer = STR_INIT;
    struct json_out out = JSON_OUT(&answer);
    unsigned status = 500;
    const char *code = "INTERNAL_ERROR";

    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i].error == -r) {
            status = codes[i].status;
            code = codes[i].code;
        }
    json_begin_object(&out);
    json_put_text(&out, "error_code", code);
    json_put_text(&out, "message", err_text(err));
    json_end_object(&out);
    http_reply(request, status, JSON, &answer, NULL);
}

/* Freed by the commit that it waits for. */
struct answer {
    struct http_request *request;
    struct str answer;
};

static void on_committed(void *arg)
{
    struct answer *kept = arg;

    http_reply(kept->request, 200, JSON, &kept->answer, NULL);
    free(kept);
}

void mlflow_answer_committed(struct engine *engine, struct http_request *request,
                             struct str *answer)
{
    struct answer *kept = xcalloc(1, sizeof(*kept));

    *kept = (struct answer){request, *answer};
    *answer = (struct str)STR_INIT;
    engine_when_committed(engine, on_committed, kept);
}

struct tracked *mlflow_tracked(const struct web_call *call)
{
    return observe_tracked(ingest_observe(call->web->ingest));
}

int mlflow_may_change(const struct web_call *call, struct tracked *tracked, int64_t experiment,
                      int64_t trial, struct err *err)
{
    const char *owner = tracked_owner(tracked, experiment, trial);
    return owner ? web_is_owner(call, owner, experiment, trial, err) : 0;
}

static int read_body(struct mlflow_call *call, struct err *err)
{
    if (str_eq(http_method(call->web->request), "GET") ||
        str_eq(http_method(call->web->request), "HEAD"))
        return 0;
    return web_body(call->web, &call->body, err);
}

static void serve(struct web_call *web, mlflow_fn *fn)
{
    struct mlflow_call call = {
        .web = web,
        .tracked = mlflow_tracked(web),
        .now = runtime_now(),
        .answer = STR_INIT,
    };
    autorelease(err) struct err err = ERR_INIT;

    call.out = (struct json_out)JSON_OUT(&call.answer);
    json_begin_object(&call.out);
    int r = read_body(&call, &err);
    if (r == 0)
        r = fn(&call, &err);
    json_end_object(&call.out);
    if (r < 0)
        mlflow_fail(web->request, r, &err);
    else if (call.commits)
        mlflow_answer_committed(tracked_engine(call.tracked), web->request, &call.answer);
    else
        http_reply(web->request, 200, JSON, &call.answer, NULL);
    str_release(&call.answer);
    json_decref(call.body);
}

/* ---- what is not served here ---- */

static void on_version(struct web_call *call)
{
    struct str text = STR_INIT;

    str_add(&text, VERSION);
    http_reply(call->request, 200, "text/plain", &text, NULL);
}

static void on_unknown(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;

    err_set(&err, ENOSYS, "%.200s is not served here", http_path(call->request));
    mlflow_fail(call->request, -ENOSYS, &err);
}

/* ---- the table: methods, path, role, flags, bytes of a body, endpoint, what it does ---- */

#define ENDPOINTS(X)                                                                               \
    X("POST", "experiments/create", USER, 0, BODY_MAX, experiments_create, "A new experiment.")    \
    X("GET", "experiments/get", VIEWER, WEB_SOON, 0, experiments_get,                              \
      "An experiment by its number.")                                                              \
    X("GET", "experiments/get-by-name", VIEWER, WEB_SOON, 0, experiments_get_by_name,              \
      "An experiment by its name.")                                                                \
    X("GET POST", "experiments/search", VIEWER, 0, BODY_MAX, experiments_search,                   \
      "Experiments that a filter string chooses.")                                                 \
    X("POST", "experiments/update", USER, 0, BODY_MAX, experiments_update, "Another name.")        \
    X("POST", "experiments/delete", USER, 0, BODY_MAX, experiments_delete,                         \
      "Hide an experiment with its runs.")                                                         \
    X("POST", "experiments/restore", USER, 0, BODY_MAX, experiments_restore, "Show it again.")     \
    X("POST", "experiments/set-experiment-tag", USER, 0, BODY_MAX, experiments_set_tag,            \
      "Tag an experiment.")                                                                        \
    X("POST", "experiments/delete-experiment-tag", USER, 0, BODY_MAX, experiments_delete_tag,      \
      "Take a tag away.")                                                                          \
    X("POST", "runs/create", USER, 0, BODY_MAX, runs_create, "A run begins.")                      \
    X("POST", "runs/update", USER, 0, BODY_MAX, runs_update, "A run's state, end and name.")       \
    X("GET", "runs/get", VIEWER, WEB_SOON, 0, runs_get, "A run with all it told.")                 \
    X("POST", "runs/delete", USER, 0, BODY_MAX, runs_delete, "Hide a run.")                        \
    X("POST", "runs/restore", USER, 0, BODY_MAX, runs_restore, "Show it again.")                   \
    X("POST", "runs/search", VIEWER, 0, BODY_MAX, runs_search,                                     \
      "Runs that a filter string chooses, in order, a page at a time.")                            \
    X("POST", "runs/log-metric", USER, WEB_SOON, BODY_MAX, log_metric, "A value of a metric.")     \
    X("POST", "runs/log-batch", USER, WEB_SOON, BATCH_MAX, log_batch,                              \
      "Metrics, parameters and tags.")                                                             \
    X("POST", "runs/log-parameter", USER, 0, BODY_MAX, log_param, "A parameter.")                  \
    X("POST", "runs/set-tag", USER, 0, BODY_MAX, set_tag, "Tag a run.")                            \
    X("POST", "runs/delete-tag", USER, 0, BODY_MAX, delete_tag, "Take a tag away.")                \
    X("POST", "runs/log-inputs", USER, 0, BATCH_MAX, log_inputs, "Datasets that a run used.")      \
    X("POST", "runs/outputs", USER, 0, BODY_MAX, log_outputs, "Models that a run made.")           \
    X("POST", "runs/log-model", USER, 0, BODY_MAX, log_model, "A model of a run.")                 \
    X("GET", "metrics/get-history", VIEWER, 0, 0, history, "All values of a metric.")              \
    X("GET", "artifacts/list", VIEWER, 0, 0, artifacts_list, "Files of a run.")                    \
    X("POST", "logged-models", USER, 0, BODY_MAX, models_create, "A new model.")                   \
    X("POST", "logged-models/search", VIEWER, 0, BODY_MAX, models_search,                          \
      "Models that a filter string chooses.")                                                      \
    X("GET", "logged-models/*", VIEWER, 0, 0, models_get, "A model.")                              \
    X("PATCH", "logged-models/*", USER, 0, BODY_MAX, models_finalize, "A model's state.")          \
    X("DELETE", "logged-models/*", USER, 0, BODY_MAX, models_delete, "Hide a model.")              \
    X("PATCH POST", "logged-models/*/tags", USER, 0, BODY_MAX, models_set_tags, "Tag a model.")    \
    X("DELETE", "logged-models/*/tags/*", USER, 0, BODY_MAX, models_delete_tag,                    \
      "Take a model's tag away.")                                                                  \
    X("POST", "logged-models/*/params", USER, 0, BODY_MAX, models_params, "Parameters of a model.")

#define HANDLER(methods, path, role, flags, max, name, help)                                       \
    static void on_##name(struct web_call *call)                                                   \
    {                                                                                              \
        serve(call, mlflow_##name);                                                                \
    }
ENDPOINTS(HANDLER)

#define ROUTE(methods, path, role, flags, max, name, help)                                         \
    {methods, "/api/2.0/mlflow/" path, ROLE_##role, DESK_LOOP, on_##name, max,                     \
     help,    WEB_STOCK | (flags)},                                                                \
        {methods, "/ajax-api/2.0/mlflow/" path, ROLE_##role, DESK_LOOP, on_##name, max,            \
         help,    WEB_STOCK | (flags)},
#define FILES   "/api/2.0/mlflow-artifacts/artifacts"
#define UNKNOWN "Nothing: ENDPOINT_NOT_FOUND, which clients understand."

const struct web_route mlflow_routes[] = {
    ENDPOINTS(ROUTE){"PUT", FILES "/**", ROLE_USER, DESK_LOOP, mlflow_artifact_put, ARTIFACT_MAX,
                     "A file of a run or model comes.", WEB_STOCK | WEB_SPOOL},
    {"GET HEAD", FILES "/**", ROLE_VIEWER, DESK_READ, mlflow_artifact_get, 0,
     "A file of a run or model.", WEB_STOCK},
    {"DELETE", FILES "/**", ROLE_USER, DESK_LOOP, mlflow_artifact_delete, BODY_MAX,
     "Take away a file, or a folder of them.", WEB_STOCK},
    {"GET", FILES, ROLE_VIEWER, DESK_READ, mlflow_artifact_list, 0, "Files in a folder.",
     WEB_STOCK},
    {"GET HEAD", "/version", ROLE_NONE, DESK_HTTP, on_version, 0, "Whose answers these are.", 0},
    {"GET POST PUT PATCH DELETE", "/api/2.0/mlflow/**", ROLE_VIEWER, DESK_HTTP, on_unknown,
     BODY_MAX, UNKNOWN, WEB_STOCK},
    {"GET POST PUT PATCH DELETE", "/ajax-api/2.0/mlflow/**", ROLE_VIEWER, DESK_HTTP, on_unknown,
     BODY_MAX, UNKNOWN, WEB_STOCK},
    {"GET POST PUT PATCH DELETE", "/api/3.0/mlflow/**", ROLE_VIEWER, DESK_HTTP, on_unknown,
     BODY_MAX, UNKNOWN, WEB_STOCK},
    {NULL, NULL, ROLE_NONE, DESK_HTTP, NULL, 0, NULL, 0},
};

void mlflow_drain(struct web *web)
{
    while (web->uploads > 0)
        uv_run(web->loop, UV_RUN_ONCE);
}
