/* SPDX-License-Identifier: MIT */
/*
 * v1_experiments_history.c — what an experiment has told and done: its metrics and its events. Its
 * attempts: v1_timeline.c.
 */
#include "api/etag.h"
#include "api/tables.h"
#include "api/web_route.h"
#include "base/map.h"

#define EVENTS_DEFAULT 500
#define EVENTS_MAX     10000

static void answer(struct web_call *call, int r, struct str *text, const struct err *err)
{
    if (r < 0)
        web_fail(call, r, err);
    else
        etag_json(call, text);
}

/* ---- GET /v1/experiments/E/metrics ---- */

static void put_metric(struct json_out *out, const char *name, size_t trials, bool system)
{
    json_begin_object(out);
    json_put_text(out, "name", name);
    json_put_int(out, "trials", (int64_t)trials);
    json_put_bool(out, "system", system);
    json_end_object(out);
}

/* Figures of the machine have no summaries: the store of series lists them. */
struct figures {
    struct series_db *db;
    struct map counts;     /* name → trials, as a pointer */
    struct map last_trial; /* name → the last trial that was counted */
    VEC(uint32_t) order;
};

static int on_series(const struct series_info *info, void *arg)
{
    struct figures *figures = arg;
    const char *name = series_db_name_text(figures->db, info->name);
    uint64_t key = info->name;
    void *trial = (void *)((uintptr_t)info->source.trial + 1);

    if (!name || !str_starts(name, "system/"))
        return 0;
    uintptr_t n = (uintptr_t)map_find(&figures->counts, key);
    if (n && map_find(&figures->last_trial, key) == trial)
        return 0; /* another attempt of it */
    if (!n)
        vec_push(&figures->order, info->name);
    map_put(&figures->counts, key, (void *)(n + 1));
    map_put(&figures->last_trial, key, trial);
    return 0;
}

static void put_figures(struct json_out *out, struct series_db *db, int64_t experiment)
{
    struct figures figures = {.db = db};

    series_db_list(db, experiment, -1, SERIES_NAME_NONE, on_series, &figures);
    vec_foreach (name, &figures.order)
        put_metric(out, series_db_name_text(db, *name),
                   (size_t)(uintptr_t)map_find(&figures.counts, *name), true);
    map_release(&figures.counts);
    map_release(&figures.last_trial);
    vec_release(&figures.order);
}

static int metrics_json(struct web_call *call, struct str *to, struct err *err)
{
    struct json_out out = JSON_OUT(to);
    struct trial_table *table = NULL;
    struct table_column metric;
    int64_t experiment;
    int r = web_experiment_ref(call, 0, &experiment, err);

    if (r >= 0)
        r = tables_get(call->tables, call->store, experiment, &table, err);
    if (r >= 0)
        r = trial_table_metrics(table, call->store, err);
    if (r < 0)
        return r;
    json_begin_object(&out);
    json_key(&out, "metrics");
    json_begin_array(&out);
    for (size_t i = 0; trial_table_metric(table, i, &metric); i++)
        put_metric(&out, metric.name, trial_table_told(table, i), false);
    put_figures(&out, call->series, experiment);
    json_end_array(&out);
    json_end_object(&out);
    return 0;
}

static void get_metrics(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;
    answer(call, metrics_json(call, &text, &err), &text, &err);
}

/* ---- GET /v1/experiments/E/events ---- */

struct events {
    struct json_out *out;
    int64_t trial;   /* 0: all */
    int64_t down_to; /* going back, ids above this */
    int64_t left, last;
    bool more;
};

static void put_event(struct json_out *out, int64_t id, int64_t time_us, int64_t trial,
                      const json_t *event)
{
    const char *key;
    json_t *value;

    json_begin_object(out);
    json_put_int(out, "id", id);
    json_put_time(out, "time", time_us);
    json_key(out, "trial");
    if (trial)
        json_int(out, trial);
    else
        json_null_out(out);
    json_object_foreach((json_t *)event, key, value)
    {
        if (str_eq(key, "id") || str_eq(key, "time") || str_eq(key, "trial"))
            continue;
        json_key(out, key);
        json_value(out, value);
    }
    json_end_object(out);
}

static int on_event(int64_t id, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    struct events *events = arg;
    autofree(json) json_t *event = NULL;

    if (id <= events->down_to)
        return 1;
    if (events->trial && trial != events->trial)
        return 0;
    if (events->left == 0) {
        events->more = true;
        return 1;
    }
    events->left--;
    events->last = id;
    if (json_parse(json, strlen(json), &event, NULL) == 0)
        put_event(events->out, id, time_us, trial, event);
    return 0;
}

static int events_json(struct web_call *call, struct str *to, struct err *err)
{
    struct json_out out = JSON_OUT(to);
    struct events events = {.out = &out};
    bool back = http_param(call->request, "before") != NULL;
    int64_t experiment, after, before;
    int r = web_experiment_ref(call, 0, &experiment, err);

    if (r >= 0)
        r = web_number(call, "after", 0, INT64_MAX, 0, &after, err);
    if (r >= 0)
        r = web_number(call, "before", 0, INT64_MAX, 0, &before, err);
    if (r >= 0)
        r = web_number(call, "limit", 1, EVENTS_MAX, EVENTS_DEFAULT, &events.left, err);
    if (r >= 0)
        r = web_number(call, "trial", 0, INT64_MAX, 0, &events.trial, err);
    if (r < 0)
        return r;
    events.down_to = back ? after : 0;
    json_begin_object(&out);
    json_key(&out, "events");
    json_begin_array(&out);
    if (back)
        r = store_events_back(call->store, experiment,
                              before ? MIN(before, (int64_t)UINT32_MAX) : UINT32_MAX, on_event,
                              &events, err);
    else
        r = store_events(call->store, experiment, MIN(after, (int64_t)UINT32_MAX), 0, on_event,
                         &events, err);
    json_end_array(&out);
    json_key(&out, "next");
    if (events.more)
        json_int(&out, events.last);
    else
        json_null_out(&out);
    json_end_object(&out);
    return MIN(r, 0);
}

static void get_events(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;
    answer(call, events_json(call, &text, &err), &text, &err);
}

const struct web_route v1_history_routes[] = {
    {"GET", "/v1/experiments/*/metrics", ROLE_VIEWER, DESK_READ, get_metrics, 0,
     "The metrics that trials of an experiment have told, and the figures of the machine.", 0},
    {"GET", "/v1/experiments/*/events", ROLE_VIEWER, DESK_READ, get_events, 0,
     "What happened in an experiment, oldest first; after= goes on behind an "
     "event, before= goes back from one, or with 0 from the last.",
     0},
    {0},
};
