/* SPDX-License-Identifier: MIT */
/*
 * import.c — rows of an experiment that ran elsewhere.
 */
#include "api/import.h"
#include "api/wire.h"
#include "base/clock.h"
#include "base/fs.h"
#include "engine/migrate.h"
#include "engine/runtime.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

struct import {
    const json_t *request;
    struct spec spec;
    struct experiment experiment;
    struct txn *txn;
    int64_t told;     /* results so far */
    int64_t ended_us; /* the last trial; 0: not known */
};

static double number_at(const json_t *list, size_t i)
{
    const json_t *x = json_array_get(list, i);
    return json_is_number(x) ? json_number_value(x) : NAN; /* "nan", "inf" too */
}

/* ---- trials ---- */

static int read_state(const json_t *json, struct trial *trial, struct err *err)
{
    const char *state = json_get_text(json, "state", ""),
               *reason = json_get_text(json, "reason", "");

    if (trial_state_parse(state, &trial->state) < 0 || reason_parse(reason, &trial->reason) < 0 ||
        !trial_state_ended(trial->state))
        return err_set(err, EINVAL, "trial %lld: '%s %s' is not how a trial ends",
                       (long long)trial->number, state, reason);
    return 0;
}

/* Inactive or in bounds; a program elsewhere may have left a value out where ours would not. */
static int read_point(const struct import *import, const json_t *json, struct trial *trial,
                      struct err *err)
{
    const struct space *space = &import->spec.space;
    const json_t *list = json_object_get(json, "point");

    if (json_array_size(list) != space->n)
        return err_set(err, EINVAL, "trial %lld: the point has not %zu numbers",
                       (long long)trial->number, space->n);
    trial->point = xcalloc(space->n + 1, sizeof(double));
    for (size_t i = 0; i < space->n; i++) {
        trial->point[i] = number_at(list, i);
        if (!isnan(trial->point[i]) && !param_contains(&space->params[i], trial->point[i]))
            return err_set(err, EINVAL, "trial %lld: %g is no value of parameter '%s'",
                           (long long)trial->number, trial->point[i], space->params[i].name);
    }
    return 0;
}

static void read_values(const struct import *import, const json_t *json, struct trial *trial)
{
    const json_t *values = json_object_get(json, "values");
    int64_t repeat_of = json_get_int(json, "repeat_of", 0);

    trial->repeat_of = repeat_of > 0 && repeat_of < trial->number ? repeat_of : 0;
    trial->value = trial->best = number_at(values, 0);
    trial->last_step = json_get_int(json, "step", STEP_NONE);
    trial->first_nan_step = STEP_NONE;
    trial->n_extra = import->spec.others.len + import->spec.constraints.len;
    trial->extra = xcalloc(trial->n_extra + 1, sizeof(double));
    for (size_t i = 0; i < trial->n_extra; i++)
        trial->extra[i] = number_at(values, i + 1);
}

static void put_summary(const struct import *import, const struct trial *trial, const json_t *json)
{
    struct summary summary = {
        .metric = import->spec.objective.metric,
        .count = json_get_int(json, "samples", 1),
        .last = trial->value,
        .min = json_get_double(json, "min", trial->value),
        .max = json_get_double(json, "max", trial->value),
        .last_step = trial->last_step,
        .first_nan_step = STEP_NONE,
    };
    if (isfinite(trial->value) && summary.metric)
        txn_put_summary(import->txn, trial->experiment, trial->number, &summary);
}

/* All metrics of a run, where the request has them. */
static void put_summaries(const struct import *import, const struct trial *trial,
                          const json_t *metrics)
{
    const json_t *json;
    size_t i;

    json_array_foreach(metrics, i, json)
    {
        struct summary summary = {
            .metric = (char *)json_get_text(json, "metric", ""),
            .count = json_get_int(json, "samples", 1),
            .last = json_get_double(json, "last", NAN),
            .min = json_get_double(json, "min", NAN),
            .max = json_get_double(json, "max", NAN),
            .last_step = json_get_int(json, "step", STEP_NONE),
            .first_nan_step = json_get_int(json, "first_nan", STEP_NONE),
        };
        if (*summary.metric)
            txn_put_summary(import->txn, trial->experiment, trial->number, &summary);
    }
}

static void put_trial(struct import *import, struct trial *trial, const json_t *json)
{
    autorelease(str) struct str params = STR_INIT;
    struct json_out out = JSON_OUT(&params);
    struct experiment *experiment = &import->experiment;

    trial->created_us = trial->started_us = json_get_int(json, "started_us", 0);
    trial->ended_us = json_get_int(json, "ended_us", 0);
    if (trial->started_us > 0 && trial->ended_us > trial->started_us)
        trial->run_us = trial->ended_us - trial->started_us;
    if (__builtin_add_overflow(experiment->run_us, trial->run_us, &experiment->run_us))
        experiment->run_us = INT64_MAX;
    import->ended_us = MAX(import->ended_us, trial->ended_us);
    if (trial->started_us > 0)
        experiment->created_us = MIN(experiment->created_us, trial->started_us);
    trial->told = ++import->told; /* that it failed is known, too */
    space_json(&import->spec.space, trial->point, &out);
    txn_put_trial(import->txn, trial, import->spec.space.n, params.s);
    if (json_get_text(json, "note", NULL))
        txn_note(import->txn, trial->experiment, trial->number, json_get_text(json, "note", NULL));
    if (json_object_get(json, "metrics"))
        put_summaries(import, trial, json_object_get(json, "metrics"));
    else
        put_summary(import, trial, json);
}

static int import_trial(struct import *import, int64_t number, const json_t *json, struct err *err)
{
    struct trial trial = {.experiment = import->experiment.id, .number = number};
    int r = read_state(json, &trial, err);

    if (r == 0)
        r = read_point(import, json, &trial, err);
    if (r == 0) {
        read_values(import, json, &trial);
        put_trial(import, &trial, json);
    }
    trial_release(&trial);
    return r;
}

/* ---- the experiment ---- */

static int read_spec(struct import *import, struct err *err)
{
    autorelease(str) struct str text = STR_INIT, whole = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_value(&out, json_object_get(import->request, "spec"));
    int r = spec_parse(text.s, text.len, "import", "/", NULL, &import->spec, NULL, err);
    if (r < 0)
        return r;
    spec_json(&import->spec, &whole);
    import->experiment.name = xstrdup(import->spec.name);
    import->experiment.spec_json = str_take(&whole);
    if (json_get_text(import->request, "owner", NULL))
        import->experiment.owner = xstrdup(json_get_text(import->request, "owner", NULL));
    return 0;
}

static void put_experiment(struct import *import, int64_t now_us)
{
    struct experiment *experiment = &import->experiment;
    autorelease(str) struct str environment = STR_INIT, event = STR_INIT;
    struct json_out out = JSON_OUT(&environment), note = JSON_OUT(&event);
    const json_t *given = json_object_get(import->request, "environment");

    if (json_is_object(given)) {
        json_value(&out, given);
        experiment->environment = xstrdup(environment.s);
    }
    experiment->ended_us =
        MAX(import->ended_us ? import->ended_us : now_us, experiment->created_us);
    txn_put_experiment(import->txn, experiment);
    vec_foreach (tag, &import->spec.tags)
        txn_tag(import->txn, experiment->id, 0, *tag, true);
    json_begin_object(&note);
    json_put_text(&note, "event", "notice");
    json_put_int(&note, "experiment", experiment->id);
    json_put_text(&note, "text", json_get_text(import->request, "text", "imported"));
    json_end_object(&note);
    txn_put_event(import->txn, now_us, experiment->id, 0, event.s);
}

static int import_all(struct import *import, int64_t now_us, struct err *err)
{
    const json_t *trials = json_object_get(import->request, "trials"), *trial;
    size_t i, n = json_array_size(trials);
    int r = read_spec(import, err);

    if (r == 0 && n == 0)
        r = err_set(err, EINVAL, "there are no trials to import");
    for (i = 0; i < n && r == 0; i++) {
        trial = json_array_get(trials, i);
        r = import_trial(import, (int64_t)i + 1, trial, err);
    }
    if (r == 0)
        put_experiment(import, now_us);
    return r;
}

static int fill(const json_t *request, int64_t id, int64_t now_us, struct txn *txn, struct err *err)
{
    struct import import = {
        .request = request,
        .txn = txn,
        .experiment = {.id = id,
                       .state = EXPERIMENT_FINISHED,
                       .created_us = now_us,
                       .ended_us = now_us,
                       .best_mean = NAN,
                       .best_deviation = NAN},
    };
    spec_init(&import.spec);
    int r = import_all(&import, now_us, err);
    spec_release(&import.spec);
    experiment_release(&import.experiment);
    return r;
}

/* All or nothing: the rows are made once for themselves, so that one which is refused leaves none
 * in a transaction that also holds others. */
int import_rows(const json_t *request, int64_t id, int64_t now_us, struct txn *txn, struct err *err)
{
    autofree(txn) struct txn *trial = txn_new();
    int r = fill(request, id, now_us, trial, err);
    return r < 0 ? r : fill(request, id, now_us, txn, err);
}

/* ---- into the home ---- */

static int import_offline(const char *home, const json_t *request, int64_t *ret, struct err *err)
{
    autoclose int lock = -1;
    autofree(store) struct store *store = NULL;
    autofree(txn) struct txn *txn = txn_new();
    int64_t high = 0, attempt = 0;
    int r = fs_make_dirs(home, 0700, err);

    if (r >= 0)
        r = home_lock(home, &lock, err);
    if (r >= 0)
        r = store_open(home, &store, err);
    if (r >= 0)
        r = store_high_water(store, &high, &attempt, err);
    if (r >= 0)
        r = import_rows(request, high + 1, clock_wall_us(), txn, err);
    if (r >= 0)
        r = store_apply(store, txn, err);
    *ret = high + 1;
    return r;
}

static int import_online(const char *home, const char *request, int64_t *ret, struct err *err)
{
    autofree(json) json_t *reply = NULL;
    int r;

    if (strlen(request) + 2 > WIRE_LINE_MAX)
        r = -ENOENT; /* too long for the socket: only without an engine */
    else
        r = wire_call(home, request, &reply, err);
    *ret = json_get_int(reply, "experiment", 0);
    return r;
}

int home_import(const char *home, const char *request, int64_t *ret_experiment, struct err *err)
{
    autofree(json) json_t *object = NULL;
    int r = json_parse(request, strlen(request), &object, err);

    if (r < 0)
        return r;
    for (int tries = 0; tries < 50; tries++) {
        r = import_online(home, request, ret_experiment, err);
        if (r != -ENOENT && r != -ECONNREFUSED)
            return r;
        r = import_offline(home, object, ret_experiment, err);
        if (r != -EAGAIN)
            return r;
        usleep(20000); /* an engine is coming up or going down: its socket or its lock will do */
    }
    return err_set(err, EAGAIN,
                   "another hone runs in %s, and this is too much for its socket: try again when "
                   "it has ended",
                   home);
}

static int gather_offline(const char *home, int64_t experiment, struct err *err)
{
    autoclose int lock = -1;
    autofree(store) struct store *store = NULL;
    autofree(series_db) struct series_db *series = NULL;
    autofree(migration) struct migration *migration = NULL;
    int r = home_lock(home, &lock, err);

    if (r >= 0)
        r = store_open_read(home, &store, err);
    if (r >= 0)
        r = series_db_open(home, SERIES_WRITE, &series, err);
    if (r < 0)
        return r;
    migration = migration_of(home, store, series, experiment);
    while (!migration_turn(migration))
        ;
    migration_free(TAKE(migration)); /* before what it borrowed */
    return 0;
}

int home_gather(const char *home, int64_t experiment, struct err *err)
{
    autofree(mem) char *request =
        xasprintf("{\"do\":\"gather\",\"experiment\":%lld}", (long long)experiment);
    int r = -EAGAIN;

    for (int tries = 0; r == -EAGAIN && tries < 50; tries++) {
        autofree(json) json_t *reply = NULL;
        r = wire_call(home, request, &reply, err);
        if (r != -ENOENT && r != -ECONNREFUSED && r != -EPIPE)
            return r;
        r = gather_offline(home, experiment, err);
        if (r == -EAGAIN)
            usleep(20000);
    }
    return r;
}
