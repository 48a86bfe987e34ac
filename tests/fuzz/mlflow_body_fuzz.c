/* SPDX-License-Identifier: MIT */
/*
 * mlflow_body_fuzz.c — any bytes as the body of a request of MLflow. The first byte chooses the
 * endpoint, the rest is JSON; "run_id":"R" and "experiment_id":"E" become those of a run that is
 * there. What must hold: no crash; a sentence where it is refused; an answer that is JSON.
 */
#include "api/mlflow_internal.h"
#include "base/fs.h"

#include <assert.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FRESH_EVERY 500 /* inputs */

static mlflow_fn *const endpoints[] = {
    mlflow_experiments_create,  mlflow_experiments_update,
    mlflow_experiments_delete,  mlflow_experiments_restore,
    mlflow_experiments_set_tag, mlflow_experiments_delete_tag,
    mlflow_experiments_search,  mlflow_runs_create,
    mlflow_runs_update,         mlflow_runs_delete,
    mlflow_runs_restore,        mlflow_runs_search,
    mlflow_log_metric,          mlflow_log_batch,
    mlflow_log_param,           mlflow_set_tag,
    mlflow_delete_tag,          mlflow_history,
    mlflow_log_inputs,          mlflow_log_outputs,
    mlflow_log_model,           mlflow_models_create,
    mlflow_models_search,       mlflow_runs_get,
};

static struct {
    char *home;
    struct store *store;
    struct series_db *db;
    struct engine *engine;
    struct tracked *tracked;
    char run[TRACKED_ID_SIZE];
    unsigned inputs;
} f;

static void commit(void)
{
    struct tick *tick = engine_tick(f.engine, (struct now){1700000000000000, 1});

    if (!tick)
        return;
    int r = store_apply(f.store, tick_txn(tick), NULL);
    assert(r == 0);
    (void)r;
    engine_committed(f.engine, tick);
}

static void send_nothing(const struct agent_command *command, void *arg)
{
    (void)command, (void)arg;
}

static void down(void)
{
    if (!f.home)
        return;
    tracked_free(f.tracked);
    engine_free(f.engine);
    series_db_free(f.db);
    store_free(f.store);
    fs_remove_tree(f.home, NULL);
    free(f.home);
    f.home = NULL;
}

static void up(void)
{
    static const struct machine machine = {.name = (char *)"here", .cpus = 1, .mem_bytes = 1 << 20};
    const struct now now = {1700000000000000, 1};
    const char *tmp = getenv("TMPDIR");
    static bool told;

    f.home = xasprintf("%s/hone-fuzz-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(f.home) || store_open_memory(&f.store, NULL) < 0 ||
        series_db_open(f.home, SERIES_WRITE, &f.db, NULL) < 0)
        abort();
    struct engine_options options = {.home = f.home,
                                     .home_id = store_home_id(f.store),
                                     .machine = &machine,
                                     .send = send_nothing};
    f.engine = engine_new(&options);
    if (tracked_new(f.engine, f.store, f.db, &f.tracked, NULL) < 0)
        abort();
    struct tracked_run *run = tracked_start(tracked_experiment(f.tracked, "0"), NULL, 1000, now);
    memcpy(f.run, run->id, sizeof(f.run));
    tracked_put_run(run);
    commit();
    if (!told)
        atexit(down);
    told = true;
}

static void name_them(json_t *body)
{
    const char *run = json_get_text(body, "run_id", ""),
               *experiment = json_get_text(body, "experiment_id", "");

    if (str_eq(run, "R"))
        json_object_set_new(body, "run_id", json_string(f.run));
    if (str_eq(experiment, "E"))
        json_object_set_new(body, "experiment_id", json_string("0"));
}

static void ask(mlflow_fn *endpoint, json_t *body)
{
    struct web_call web = {.store = f.store, .who = {.role = ROLE_ADMIN, .user = "ann"}};
    struct mlflow_call call = {
        .web = &web,
        .tracked = f.tracked,
        .body = body,
        .now = {1700000000000000, 1},
        .answer = STR_INIT,
    };
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *answer = NULL;

    call.out = (struct json_out)JSON_OUT(&call.answer);
    json_begin_object(&call.out);
    int r = endpoint(&call, &err);
    json_end_object(&call.out);
    assert(r == 0 || err_text(&err)[0]);
    if (r == 0)
        r = json_parse(call.answer.s, call.answer.len, &answer, NULL);
    assert(!answer || json_is_object(answer));
    (void)r;
    str_release(&call.answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *body = NULL;

    if (size < 1 || json_parse((const char *)data + 1, size - 1, &body, NULL) < 0)
        return 0;
    if (f.inputs++ % FRESH_EVERY == 0)
        down();
    if (!f.home)
        up();
    if (json_is_object(body)) {
        name_them(body);
        ask(endpoints[data[0] % ARRAY_LEN(endpoints)], body);
        commit();
        tracked_turn(f.tracked);
        commit();
    }
    json_decref(body);
    return 0;
}
