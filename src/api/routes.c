/* SPDX-License-Identifier: MIT */
/*
 * routes.c — submit, resume, stop, watch, live, pause, the queue, and the changes of change.c.
 */
#include "api/routes.h"
#include "api/submitted.h"
#include "api/change.h"
#include "api/import.h"
#include "base/log.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

struct call {
    struct runtime *runtime;
    const json_t *request;
    struct json_out *out; /* inside the reply object */
    int64_t watch;
};

static int64_t experiment_of(const struct call *call)
{
    return json_get_int(call->request, "experiment", 0);
}

/* ---- submit ---- */

void route_submit_text(const struct submission *submission, struct str *to)
{
    struct json_out out = JSON_OUT(to);
    autorelease(str) struct str spec = STR_INIT;

    spec_json(submission->spec, &spec);
    json_begin_object(&out);
    json_put_text(&out, "do", "submit");
    json_put_raw(&out, "spec", spec.s);
    json_put_text(&out, "owner", submission->owner);
    json_put_text(&out, "key", submission->key);
    json_put_text(&out, "code", submission->code);
    json_put_int(&out, "code_size", (int64_t)submission->code_size);
    json_put_text(&out, "environment", submission->environment);
    json_put_int(&out, "rerun_of_experiment", submission->rerun_of_experiment);
    json_put_int(&out, "rerun_of_trial", submission->rerun_of_trial);
    json_key(&out, "env");
    json_begin_array(&out);
    for (char *const *p = submission->envp; p && *p; p++)
        json_text(&out, *p);
    json_end_array(&out);
    if (submission->point) {
        json_key(&out, "point");
        json_begin_array(&out);
        for (size_t i = 0; i < submission->spec->space.n; i++)
            json_double(&out, submission->point[i]);
        json_end_array(&out);
    }
    json_end_object(&out);
}

/* Arrays of the request as C arrays, owned by the caller's arena. */
static char **read_env(const json_t *list, struct arena *arena)
{
    size_t n = json_array_size(list);
    char **env = arena_alloc(arena, (n + 1) * sizeof(*env));
    for (size_t i = 0, k = 0; i < n; i++)
        if (json_is_string(json_array_get(list, i)))
            env[k++] = (char *)json_string_value(json_array_get(list, i));
    return n ? env : NULL;
}

static double *read_point(const json_t *list, size_t n, struct arena *arena)
{
    if (json_array_size(list) != n)
        return NULL;
    double *point = arena_alloc(arena, (n + 1) * sizeof(*point));
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(list, i);
        point[i] = json_is_number(x) ? json_number_value(x) : NAN;
    }
    return point;
}

static int route_submit(struct call *call, struct err *err)
{
    autorelease(arena) struct arena arena = ARENA_INIT;
    autorelease(spec) struct spec spec;
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    struct engine *engine = runtime_engine(call->runtime);
    struct store *reader = runtime_reader(call->runtime);
    const char *owner = json_get_text(call->request, "owner", NULL);
    const char *key = json_get_text(call->request, "key", NULL);
    int64_t id = 0;

    spec_init(&spec);
    json_value(&out, json_object_get(call->request, "spec"));
    int r = spec_parse(text.s, text.len, "spec", "/", NULL, &spec, NULL, err);
    if (r >= 0)
        r = submitted_find(engine, reader, owner, key, &spec, &id, err);
    if (r < 0)
        return r;
    if (id) {
        json_put_int(call->out, "experiment", id);
        json_put_bool(call->out, "known", true);
        call->watch = id;
        return 0;
    }
    const json_t *point = json_object_get(call->request, "point");
    struct submission submission = {
        .spec = &spec,
        .code = json_get_text(call->request, "code", NULL),
        .code_size = (uint64_t)json_get_int(call->request, "code_size", 0),
        .environment = json_get_text(call->request, "environment", NULL),
        .envp = read_env(json_object_get(call->request, "env"), &arena),
        .point = point ? read_point(point, spec.space.n, &arena) : NULL,
        .rerun_of_experiment = json_get_int(call->request, "rerun_of_experiment", 0),
        .rerun_of_trial = json_get_int(call->request, "rerun_of_trial", 0),
        .owner = owner,
        .key = key,
    };
    r = engine_submit(engine, reader, &submission, runtime_now(), &id, err);
    if (r < 0)
        return r;
    json_put_int(call->out, "experiment", id);
    call->watch = id;
    return 0;
}

/* ---- the others ---- */

/* "trials": {"add": 50} or {"set": 200} gives it more than it had. */
static int route_resume(struct call *call, struct err *err)
{
    struct engine *engine = runtime_engine(call->runtime);
    struct store *reader = runtime_reader(call->runtime);
    const json_t *trials = json_object_get(call->request, "trials");
    struct extension extension = {json_get_int(trials, "add", 0), json_get_int(trials, "set", 0)};
    int r;

    if (trials)
        r = engine_extend(engine, reader, experiment_of(call), &extension, runtime_now(), err);
    else
        r = engine_resume(engine, reader, experiment_of(call), runtime_now(), err);
    if (r < 0 && (trials || r != -EEXIST))
        return r;
    call->watch = experiment_of(call);
    return 0;
}

static int route_stop(struct call *call, struct err *err)
{
    static const char *const modes[] = {
        [STOP_DRAIN] = "drain",
        [STOP_NOW] = "now",
        [STOP_INTERRUPT] = "interrupt",
        [STOP_KILL] = "kill",
    };
    const char *mode = json_get_text(call->request, "mode", "now");
    int64_t id = experiment_of(call);
    int64_t trial = json_get_int(call->request, "trial", 0);
    struct engine *engine = runtime_engine(call->runtime);

    if (trial)
        return engine_stop_trial(engine, id, trial, runtime_now(), err);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (!str_eq(modes[i], mode))
            continue;
        if (!engine_has(engine, id) && (i == STOP_NOW || i == STOP_DRAIN)) {
            /* An interrupted one is brought back only to be ended. */
            int r = engine_resume(engine, runtime_reader(call->runtime), id, runtime_now(), err);
            if (r < 0)
                return r;
        }
        return engine_stop(engine, id, (enum stop_mode)i, runtime_now(), err);
    }
    return err_set(err, EINVAL, "unknown mode '%s'", mode);
}

static int route_watch(struct call *call, struct err *err)
{
    (void)err;
    call->watch = experiment_of(call);
    return 0;
}

/* What the live view would show now, once. */
static int route_live(struct call *call, struct err *err)
{
    autorelease(str) struct str live = STR_INIT;
    int64_t id = experiment_of(call);
    int r = engine_live(runtime_engine(call->runtime), id, runtime_now(), &live);

    if (r < 0)
        return err_set(err, ESRCH, "experiment %lld is not running", (long long)id);
    json_put_raw(call->out, "live", live.s);
    return 0;
}

static int route_import(struct call *call, struct err *err)
{
    struct engine *engine = runtime_engine(call->runtime);
    int64_t id = engine_next_experiment(engine);
    int r = import_rows(call->request, id, runtime_now().wall_us, engine_txn(engine), err);

    if (r < 0)
        return r;
    engine_take_experiment(engine);
    json_put_int(call->out, "experiment", id);
    return 0;
}

static int route_gather(struct call *call, struct err *err)
{
    if (experiment_of(call) < 1)
        return err_set(err, EINVAL, "the request names no experiment");
    runtime_gather(call->runtime, experiment_of(call));
    return 0;
}

static bool is_running(int64_t experiment, void *arg)
{
    struct runtime *runtime = arg;
    return engine_has(runtime_engine(runtime), experiment);
}

/* ---- the queue ---- */

/* "starts": nothing new; "freeze": what runs stands still, too; "none": it goes on. */
static int route_pause(struct call *call, struct err *err)
{
    static const char *const modes[] = {
        [HELD_NOT] = "none", [HELD_STARTS] = "starts", [HELD_FROZEN] = "freeze"};
    const char *mode = json_get_text(call->request, "mode", "starts");

    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        if (str_eq(modes[i], mode))
            return engine_hold(runtime_engine(call->runtime), experiment_of(call), (enum held)i,
                               runtime_now(), err);
    return err_set(err, EINVAL, "unknown mode '%s'", mode);
}

static int route_priority(struct call *call, struct err *err)
{
    return engine_prioritise(runtime_engine(call->runtime), experiment_of(call),
                             json_get_int(call->request, "priority", 0), runtime_now(), err);
}

static void put_entry(const struct queue_entry *entry, void *arg)
{
    struct json_out *out = arg;

    json_begin_object(out);
    json_put_int(out, "experiment", entry->experiment);
    json_put_text(out, "name", entry->name);
    json_put_text(out, "owner", entry->owner);
    json_put_int(out, "priority", entry->priority);
    json_put_text(out, "state", entry->ending ? "ending" : "running");
    json_put_int(out, "running", entry->running);
    json_key(out, "wanted");
    if (entry->wanted < 0)
        json_null_out(out);
    else
        json_int(out, entry->wanted);
    json_put_bool(out, "paused", entry->held != HELD_NOT);
    json_put_bool(out, "frozen", entry->held == HELD_FROZEN);
    json_end_object(out);
}

void route_queue_text(struct runtime *runtime, struct json_out *out)
{
    json_put_bool(out, "paused", engine_queue_paused(runtime_engine(runtime)));
    json_key(out, "experiments");
    json_begin_array(out);
    engine_queue(runtime_engine(runtime), put_entry, out);
    json_end_array(out);
}

/* With "paused" it says so of the whole queue. */
static int route_queue(struct call *call, struct err *err)
{
    const json_t *paused = json_object_get(call->request, "paused");
    (void)err;

    if (json_is_boolean(paused))
        engine_pause_queue(runtime_engine(call->runtime), json_is_true(paused), runtime_now());
    route_queue_text(call->runtime, call->out);
    return 0;
}

static const struct {
    const char *name;
    int (*serve)(struct call *call, struct err *err);
} routes[] = {
    {"submit", route_submit}, {"resume", route_resume}, {"stop", route_stop},
    {"watch", route_watch},   {"live", route_live},     {"import", route_import},
    {"gather", route_gather}, {"pause", route_pause},   {"priority", route_priority},
    {"queue", route_queue},
};

/* ---- samples of what was removed go when its rows are gone ---- */

struct removal {
    struct runtime *runtime;
    json_t *request;
};

static void on_removed(void *arg)
{
    struct removal *removal = arg;
    autorelease(err) struct err err = ERR_INIT;

    if (change_series(removal->request, runtime_series(removal->runtime), &err) < 0)
        log_error("%s", err_text(&err));
    json_decref(removal->request);
    free(removal);
}

static void change_series_later(struct runtime *runtime, const json_t *request)
{
    if (!str_eq(json_get_text(request, "do", ""), "rm"))
        return;
    runtime_removed(runtime, json_get_int(request, "experiment", 0),
                    json_get_int(request, "trial", 0));
    struct removal *removal = xcalloc(1, sizeof(*removal));
    *removal = (struct removal){runtime, json_deep_copy(request)};
    engine_when_committed(runtime_engine(runtime), on_removed, removal);
}

int route_request(struct runtime *runtime, const json_t *request, struct str *reply,
                  int64_t *ret_watch, struct err *err)
{
    const char *name = json_get_text(request, "do", "");
    struct json_out out = JSON_OUT(reply);
    struct call call = {runtime, request, &out, 0};
    int r = -ENOENT;

    json_begin_object(&out);
    json_put_bool(&out, "ok", true);
    for (size_t i = 0; r == -ENOENT && i < ARRAY_LEN(routes); i++)
        if (str_eq(routes[i].name, name)) {
            r = routes[i].serve(&call, err);
            if (r < 0)
                return r;
        }
    if (r == -ENOENT) {
        r = change_rows(request, is_running, runtime, engine_txn(runtime_engine(runtime)), err);
        if (r >= 0)
            change_series_later(runtime, request);
    }
    if (r == -ENOENT)
        return err_set(err, EINVAL, "unknown request '%s'", name);
    json_end_object(&out);
    *ret_watch = call.watch;
    return r;
}

static int keep_last(int64_t id, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    char **last = arg;
    (void)id, (void)time_us, (void)trial;
    if (!strstr(json, "\"event\":\"finished\""))
        return 0;
    free(*last);
    *last = xstrdup(json);
    return 0;
}

char *last_event(struct store *store, int64_t experiment)
{
    char *last = NULL;
    store_events(store, experiment, 0, 0, keep_last, &last, NULL);
    return last;
}

struct listener {
    route_line_fn *fn;
    void *to;
};

static int pass_on(int64_t id, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    struct listener *listener = arg;
    (void)id, (void)time_us, (void)trial;
    listener->fn(listener->to, "event", json);
    return 0;
}

void route_catch_up(struct runtime *runtime, int64_t experiment, int64_t after, route_line_fn *fn,
                    void *to)
{
    struct listener listener = {fn, to};

    if (after >= 0) {
        store_events(runtime_reader(runtime), experiment, after, 0, pass_on, &listener, NULL);
        return;
    }
    if (engine_has(runtime_engine(runtime), experiment))
        return;
    autofree(mem) char *last = last_event(runtime_reader(runtime), experiment);
    if (last)
        fn(to, "event", last);
}
