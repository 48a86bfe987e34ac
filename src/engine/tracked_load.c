/* SPDX-License-Identifier: MIT */
/*
 * tracked_load.c — what tracking clients told, found again after a restart; forgotten.
 *
 * Summaries and the latest values are written about once a second. What came after the last time
 * is in the store of series: runs that have more there than their summaries tell of are read anew.
 */
#include "base/clock.h"
#include "engine/observe_internal.h"
#include "engine/outside.h"
#include "engine/tracked_internal.h"

#include <errno.h>

/* ---- JSON beside the rows ---- */

static const char *const statuses[TRACKED_STATUSES] = {"running", "scheduled", "finished", "failed",
                                                       "killed"};

static void put_pairs(struct json_out *out, const char *key, const struct tracked_pairs *pairs)
{
    json_key(out, key);
    json_begin_object(out);
    vec_foreach (pair, pairs)
        json_put_text(out, pair->key, pair->value);
    json_end_object(out);
}

static void get_pairs(const json_t *object, struct tracked_pairs *ret)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value)
    {
        if (json_is_string(value))
            tracked_set(ret, key, json_string_value(value));
    }
}

char *tracked_environment(const struct tracked_experiment *experiment)
{
    struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_begin_object(&out);
    json_key(&out, "mlflow");
    json_begin_object(&out);
    json_put_text(&out, "name", experiment->name);
    if (experiment->artifacts)
        json_put_text(&out, "artifact_location", experiment->artifacts);
    json_put_int(&out, "created_ms", experiment->created_ms);
    json_put_int(&out, "updated_ms", experiment->updated_ms);
    json_put_bool(&out, "default", experiment->fallback);
    json_put_bool(&out, "deleted", experiment->deleted);
    put_pairs(&out, "tags", &experiment->tags);
    json_end_object(&out);
    json_end_object(&out);
    return str_take(&text);
}

void tracked_run_json(const struct tracked_run *run, struct str *to)
{
    struct json_out out = JSON_OUT(to);

    json_begin_object(&out);
    json_put_text(&out, "name", run->name);
    json_put_text(&out, "user", run->user);
    if (run->owner)
        json_put_text(&out, "owner", run->owner);
    json_put_text(&out, "status", statuses[run->status]);
    json_put_int(&out, "start_ms", run->start_ms);
    json_put_int(&out, "end_ms", run->end_ms);
    json_put_bool(&out, "deleted", run->deleted);
    put_pairs(&out, "params", &run->params);
    put_pairs(&out, "tags", &run->tags);
    json_key(&out, "inputs");
    json_value(&out, run->inputs);
    json_key(&out, "outputs");
    json_value(&out, run->outputs);
    json_key(&out, "metrics");
    json_begin_object(&out);
    vec_foreach (metric, &run->metrics) {
        json_key(&out, metric->key);
        json_begin_object(&out);
        json_put_double(&out, "value", metric->value);
        json_put_int(&out, "time_ms", metric->time_ms);
        json_put_int(&out, "step", metric->step);
        json_end_object(&out);
    }
    json_end_object(&out);
    json_end_object(&out);
}

static enum tracked_status read_status(const char *name)
{
    for (size_t i = 0; i < TRACKED_STATUSES; i++)
        if (str_eq(statuses[i], name))
            return (enum tracked_status)i;
    return TRACKED_FINISHED;
}

static void keep_array(json_t **array, json_t *found)
{
    if (!json_is_array(found))
        return;
    json_decref(*array);
    *array = json_incref(found);
}

static void read_metrics(struct tracked_run *run, const json_t *metrics)
{
    struct series_db *db = run->of->tracked->db;
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)metrics, key, value)
    {
        struct tracked_sample sample = {key, json_get_double(value, "value", 0),
                                        json_get_int(value, "time_ms", 0),
                                        json_get_int(value, "step", 0)};
        tracked_take_latest(run, &sample, series_db_name(db, key, strlen(key)));
    }
}

static int on_run(int64_t number, const char *text, void *arg)
{
    struct tracked_experiment *experiment = arg;
    autofree(json) json_t *json = NULL;

    if (number < 1 || json_parse(text, strlen(text), &json, NULL) < 0)
        return 0;
    struct tracked_run *run = tracked_add_run(experiment, number);
    const char *owner = json_get_text(json, "owner", NULL);
    free(run->name);
    free(run->user);
    run->name = xstrdup(json_get_text(json, "name", ""));
    run->user = xstrdup(json_get_text(json, "user", ""));
    run->owner = owner ? xstrdup(owner) : NULL;
    run->status = read_status(json_get_text(json, "status", ""));
    run->start_ms = json_get_int(json, "start_ms", 0);
    run->end_ms = json_get_int(json, "end_ms", 0);
    run->deleted = json_get_bool(json, "deleted", false);
    run->committed = true;
    get_pairs(json_object_get(json, "params"), &run->params);
    get_pairs(json_object_get(json, "tags"), &run->tags);
    keep_array(&run->inputs, json_object_get(json, "inputs"));
    keep_array(&run->outputs, json_object_get(json, "outputs"));
    read_metrics(run, json_object_get(json, "metrics"));
    return 0;
}

/* ---- what summaries do not tell ---- */

struct reading {
    struct tracked_run *run;
    uint32_t name;
};

static int on_value(const struct series_chunk *chunk, void *arg)
{
    struct reading *reading = arg;
    const char *key = series_db_name_text(reading->run->of->tracked->db, reading->name);

    for (size_t i = 0; i < chunk->n; i++) {
        struct tracked_sample sample = {key, chunk->values[i], chunk->times_ns[i] / 1000000,
                                        chunk->steps[i]};
        tracked_take_latest(reading->run, &sample, reading->name);
    }
    return 0;
}

struct names {
    VEC(uint32_t) list;
};

static int on_name(const struct series_info *info, void *arg)
{
    struct names *names = arg;
    vec_push(&names->list, info->name);
    return 0;
}

static void read_anew(struct tracked_run *run)
{
    struct series_db *db = run->of->tracked->db;
    struct series_source source = tracked_source(run);
    struct names names = {{NULL, 0, 0}};

    series_db_list(db, source.experiment, source.trial, SERIES_NAME_NONE, on_name, &names);
    vec_foreach (metric, &names.list) {
        struct reading reading = {run, *metric};
        series_db_read(db, &source, *metric, &series_all, on_value, &reading);
    }
    vec_release(&names.list);
    tracked_mark(run);
}

/* Rows go before samples do: a crash may have left samples of a run that is gone. */
static int drop_leftovers(struct tracked_experiment *experiment, const struct untold *untold,
                          struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < untold->len; i++)
        if (untold->at[i] && (i >= experiment->runs.len || !experiment->runs.at[i]))
            r = series_db_drop(experiment->tracked->db, experiment->experiment.id, (int64_t)i + 1,
                               err);
    return r;
}

static void find_untold(const struct tracked_experiment *experiment, struct untold *ret)
{
    const struct tracked *tracked = experiment->tracked;
    untold_find(tracked->db, tracked->reader, experiment->experiment.id, ret);
}

int tracked_load(struct tracked_experiment *experiment, struct err *err)
{
    struct untold untold = {NULL, 0, 0};
    int r =
        store_runs(experiment->tracked->reader, experiment->experiment.id, on_run, experiment, err);

    if (r >= 0) {
        find_untold(experiment, &untold);
        r = drop_leftovers(experiment, &untold, err);
    }
    experiment->loaded = r >= 0;
    for (size_t i = 0; r >= 0 && i < untold.len && i < experiment->runs.len; i++)
        if (untold.at[i] && experiment->runs.at[i])
            read_anew(experiment->runs.at[i]);
    vec_release(&untold);
    return r < 0 ? r : 0;
}

/* Those of which an earlier server did not write all summaries are loaded at once. */
static void load_stale(struct tracked_experiment *experiment)
{
    struct untold untold = {NULL, 0, 0};

    find_untold(experiment, &untold);
    if (untold_any(&untold))
        tracked_load(experiment, NULL);
    vec_release(&untold);
}

/* ---- found again ---- */

static void take(struct tracked *tracked, struct experiment_row *row, const json_t *told)
{
    struct tracked_experiment *experiment =
        tracked_add(tracked, json_get_text(told, "name", row->experiment.name));
    const char *artifacts = json_get_text(told, "artifact_location", NULL);

    experiment->experiment = row->experiment;
    row->experiment = (struct experiment){.id = 0};
    experiment->artifacts = artifacts ? xstrdup(artifacts) : NULL;
    experiment->created_ms = json_get_int(told, "created_ms", 0);
    experiment->updated_ms = json_get_int(told, "updated_ms", 0);
    experiment->fallback = json_get_bool(told, "default", false);
    experiment->deleted = json_get_bool(told, "deleted", false);
    get_pairs(json_object_get(told, "tags"), &experiment->tags);
    map_put(&tracked->by_id, (uint64_t)experiment->experiment.id, experiment);
}

static int on_experiment(const struct experiment_row *seen, void *arg)
{
    struct tracked *tracked = arg;
    autorelease(experiment_row) struct experiment_row row = {.starred = false};
    autofree(json) json_t *environment = NULL;
    autofree(mem) char *ref = xasprintf("%lld", (long long)seen->experiment.id);

    if (!seen->experiment.spec_json || !strstr(seen->experiment.spec_json, OBSERVED_PROGRAM) ||
        store_find_experiment(tracked->reader, ref, true, &row, NULL) < 0 ||
        !row.experiment.environment)
        return 0;
    const char *text = row.experiment.environment;
    if (json_parse(text, strlen(text), &environment, NULL) < 0)
        return 0;
    const json_t *told = json_object_get(environment, "mlflow");
    if (json_is_object(told))
        take(tracked, &row, told);
    return 0;
}

static int on_model(int64_t experiment, const char *id, const char *text, void *arg)
{
    struct tracked *tracked = arg;
    struct tracked_experiment *of = map_find(&tracked->by_id, (uint64_t)experiment);
    json_t *json = NULL;

    if (of && json_parse(text, strlen(text), &json, NULL) == 0)
        tracked_add_model(of, id, json);
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const struct tracked_experiment *const *x = a, *const *y = b;
    int64_t i = (*x)->experiment.id, j = (*y)->experiment.id;
    return (i > j) - (i < j);
}

static void add_fallback(struct tracked *tracked)
{
    vec_foreach (experiment, &tracked->all)
        if ((*experiment)->fallback)
            return;
    struct tracked_experiment *experiment = tracked_add(tracked, TRACKED_DEFAULT);
    experiment->fallback = experiment->loaded = true;
    experiment->created_ms = experiment->updated_ms = clock_wall_us() / 1000;
}

int tracked_new(struct engine *engine, struct store *reader, struct series_db *db,
                struct tracked **ret, struct err *err)
{
    autofree(tracked) struct tracked *tracked = xcalloc(1, sizeof(*tracked));

    tracked->engine = engine;
    tracked->reader = reader;
    tracked->db = db;
    int r = store_experiments(reader, INT64_MAX, on_experiment, tracked, err);
    if (r >= 0)
        r = store_models(reader, on_model, tracked, err);
    if (r < 0)
        return r;
    add_fallback(tracked);
    qsort(tracked->all.at, tracked->all.len, sizeof(*tracked->all.at), by_number);
    vec_foreach (experiment, &tracked->all)
        if ((*experiment)->experiment.id)
            load_stale(*experiment);
    *ret = TAKE(tracked);
    return 0;
}

/* ---- forgotten ---- */

void tracked_run_free(struct tracked_run *run)
{
    tracked_untell(run);
    vec_foreach (metric, &run->metrics)
        free(metric->key);
    vec_release(&run->metrics);
    tracked_release_pairs(&run->params);
    tracked_release_pairs(&run->tags);
    json_decref(run->inputs);
    json_decref(run->outputs);
    free(run->name);
    free(run->user);
    free(run->owner);
    free(run);
}

static void experiment_free(struct tracked_experiment *experiment)
{
    vec_foreach (run, &experiment->runs)
        if (*run)
            tracked_run_free(*run);
    vec_release(&experiment->runs);
    vec_release(&experiment->changed);
    tracked_release_pairs(&experiment->tags);
    experiment_release(&experiment->experiment);
    free(experiment->name);
    free(experiment->artifacts);
    free(experiment);
}

static void model_free(struct tracked_model *model)
{
    json_decref(model->json);
    free(model->id);
    free(model);
}

void tracked_free(struct tracked *tracked)
{
    vec_foreach (experiment, &tracked->all)
        experiment_free(*experiment);
    vec_foreach (model, &tracked->models)
        model_free(*model);
    vec_release(&tracked->all);
    vec_release(&tracked->models);
    map_release(&tracked->by_id);
    free(tracked);
}

void tracked_forget(struct tracked_experiment *experiment)
{
    struct tracked *tracked = experiment->tracked;
    int64_t id = experiment->experiment.id;
    size_t kept = 0;

    vec_foreach (model, &tracked->models) {
        if (id && (*model)->experiment == id)
            model_free(*model);
        else
            tracked->models.at[kept++] = *model;
    }
    tracked->models.len = kept;
    if (id)
        map_remove(&tracked->by_id, (uint64_t)id);
    for (size_t i = 0; i < tracked->all.len; i++)
        if (tracked->all.at[i] == experiment) {
            vec_remove(&tracked->all, i);
            break;
        }
    experiment_free(experiment);
}

void tracked_removed(struct tracked *tracked, int64_t experiment, int64_t trial)
{
    struct tracked_experiment *of = map_find(&tracked->by_id, (uint64_t)experiment);

    if (!of)
        return;
    if (!trial) {
        tracked_forget(of);
        add_fallback(tracked);
        return;
    }
    if (!of->loaded)
        tracked_load(of, NULL);
    if (trial < 1 || trial > (int64_t)of->runs.len || !of->runs.at[trial - 1])
        return;
    tracked_run_free(of->runs.at[trial - 1]);
    of->runs.at[trial - 1] = NULL;
}
