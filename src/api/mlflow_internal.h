/* SPDX-License-Identifier: MIT */
/*
 * mlflow_internal.h — what the files of the MLflow part share. An endpoint reads its arguments,
 * changes what is tracked, and writes its answer; mlflow.c waits for the commit and sends it.
 */
#ifndef HONE_MLFLOW_INTERNAL_H
#define HONE_MLFLOW_INTERNAL_H

#include "api/mlflow_filter.h"
#include "api/web_internal.h"
#include "engine/tracked.h"

struct mlflow_call {
    struct web_call *web;
    struct tracked *tracked;
    json_t *body; /* NULL: arguments are in the address */
    struct now now;
    struct str answer;
    struct json_out out;
    bool commits; /* it is answered after the next commit */
};
/* 0, or < 0: -EINVAL 400 INVALID_PARAMETER_VALUE, -ENOENT 404 RESOURCE_DOES_NOT_EXIST, -EEXIST 400
 * RESOURCE_ALREADY_EXISTS, -ENOSYS 404 ENDPOINT_NOT_FOUND, -ENOSPC and -EAGAIN 503, others 500. The
 * answer is a JSON object that is open already: members are put into call->out. */
typedef int mlflow_fn(struct mlflow_call *call, struct err *err);

/* ---- mlflow_args.c: arguments, from the body or the address ---- */
/* Texts are borrowed; *ret is NULL (or `otherwise`) if it is not given. */
int mlflow_text(struct mlflow_call *call, const char *name, const char **ret, struct err *err);
int mlflow_need_text(struct mlflow_call *call, const char *name, const char **ret, struct err *err);
int mlflow_int(struct mlflow_call *call, const char *name, int64_t otherwise, int64_t *ret,
               struct err *err);
/* The member is an array, or absent (NULL). */
int mlflow_list(struct mlflow_call *call, const char *name, const json_t **ret, struct err *err);
/* The same of a JSON object; `path` names it in sentences. */
int mlflow_json_text(const json_t *object, const char *path, const char *name, const char **ret,
                     struct err *err);
int mlflow_json_int(const json_t *object, const char *path, const char *name, int64_t otherwise,
                    int64_t *ret, struct err *err);
int mlflow_json_double(const json_t *object, const char *path, const char *name, double *ret,
                       struct err *err);
/* A time in ms that has a place in a series. */
int mlflow_time(struct mlflow_call *call, const char *name, int64_t otherwise, int64_t *ret,
                struct err *err);
/* A name of a metric, parameter or tag as MLflow takes it. */
int mlflow_check_key(const char *path, const char *key, struct err *err);
/* "key", checked, and "value" ("" if there is none): a parameter or a tag. */
int mlflow_pair(const json_t *object, const char *path, const char **ret_key,
                const char **ret_value, struct err *err);
/* Cut to so many characters. */
char *mlflow_cut(const char *text, size_t characters);
/* The n of "page_token": where to go on. */
int mlflow_page(struct mlflow_call *call, size_t *ret, struct err *err);
/* max_results in [1, most]. */
int mlflow_limit(struct mlflow_call *call, int64_t otherwise, int64_t most, int64_t *ret,
                 struct err *err);
/* The run of argument run_id (or run_uuid). */
int mlflow_run(struct mlflow_call *call, struct tracked_run **ret, struct err *err);
/* The same, and it is the caller's to change; and it is not deleted, too. */
int mlflow_own_run(struct mlflow_call *call, struct tracked_run **ret, struct err *err);
int mlflow_active_run(struct mlflow_call *call, struct tracked_run **ret, struct err *err);
int mlflow_experiment(struct mlflow_call *call, struct tracked_experiment **ret, struct err *err);
enum { MLFLOW_ACTIVE = 1, MLFLOW_DELETED = 2, MLFLOW_ALL = 3 };
int mlflow_view(struct mlflow_call *call, const char *name, int *ret, struct err *err);

/* ---- mlflow_json.c: what answers hold ---- */
void mlflow_put_double(struct json_out *out, const char *key, double x); /* "NaN", "Infinity" */
void mlflow_put_experiment(struct json_out *out, const struct tracked_experiment *experiment);
void mlflow_put_run(struct json_out *out, const struct tracked_run *run);
void mlflow_put_info(struct json_out *out, const char *key, const struct tracked_run *run);
void mlflow_put_pairs(struct json_out *out, const char *key, const struct tracked_pairs *pairs);
const char *mlflow_status_name(enum tracked_status status);
char *mlflow_artifact_uri(const struct tracked_run *run); /* free it */

/* ---- endpoints ---- */
mlflow_fn mlflow_experiments_create, mlflow_experiments_get, mlflow_experiments_get_by_name,
    mlflow_experiments_update, mlflow_experiments_delete, mlflow_experiments_restore,
    mlflow_experiments_set_tag, mlflow_experiments_delete_tag, mlflow_experiments_search,
    mlflow_runs_create, mlflow_runs_update, mlflow_runs_get, mlflow_runs_delete,
    mlflow_runs_restore, mlflow_runs_search, mlflow_log_metric, mlflow_log_batch, mlflow_log_param,
    mlflow_set_tag, mlflow_delete_tag, mlflow_history, mlflow_log_inputs, mlflow_log_outputs,
    mlflow_log_model, mlflow_artifacts_list, mlflow_models_create, mlflow_models_get,
    mlflow_models_finalize, mlflow_models_search, mlflow_models_delete, mlflow_models_set_tags,
    mlflow_models_delete_tag, mlflow_models_params;
/* Artifacts by their path: these answer by themselves. */
web_handler mlflow_artifact_put, mlflow_artifact_get, mlflow_artifact_list, mlflow_artifact_delete;

void mlflow_fail(struct http_request *request, int r, const struct err *err);
struct tracked *mlflow_tracked(const struct web_call *call);
/* A run is changed by who made it and by admins, an experiment (trial 0: its name, tags, and
 * whether it is seen at all) by its owner and admins; what is nobody's is everybody's. Everybody
 * may begin a run in everybody's experiment. -EPERM with a sentence. */
int mlflow_may_change(const struct web_call *call, struct tracked *tracked, int64_t experiment,
                      int64_t trial, struct err *err);
/* Answer {…} when everything that was decided so far is committed; `answer` is taken. */
void mlflow_answer_committed(struct engine *engine, struct http_request *request,
                             struct str *answer);

#endif
