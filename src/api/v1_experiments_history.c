/* SPDX-License-Identifier: MIT */
/*
 * v1_experiments_history.c — what an experiment has told and done: its metrics, its events, and
 * which attempts ran when beside which others.
 */
#include "api/etag.h"
#include "api/tables.h"
#include "api/tuning.h"
#include "api/web_route.h"
#include "base/clock.h"
#include "base/map.h"
#include "exec/cpus.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

#define EVENTS_DEFAULT   500
#define EVENTS_MAX       10000
#define ATTEMPTS_DEFAULT 20000
#define ATTEMPTS_MAX     200000
#define SLOTS_MAX        1024 /* more at once share the last row */

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

/* ---- GET /v1/experiments/E/timeline ---- */

struct ran {
    int64_t trial, number, started_us, ended_us; /* ended 0: it runs */
    enum reason reason;
    size_t slot;
    char *host, *gpus, *code; /* as of its attempt; NULL: not known, none, that of the experiment */
};
struct timeline {
    VEC(struct ran) list;
    struct tuning_log log; /* to which processors they were held; none without such a setting */
    double cpus;           /* granted to each; which ones is the kernel's choice if not held */
    bool ended;            /* the experiment has: nothing of it comes any more */
};

static void timeline_release(struct timeline *timeline)
{
    vec_foreach (ran, &timeline->list) {
        free(ran->host);
        free(ran->gpus);
        free(ran->code);
    }
    vec_release(&timeline->list);
    tuning_log_release(&timeline->log);
}

static int on_attempt(const struct attempt *attempt, void *arg)
{
    struct timeline *timeline = arg;
    struct ran ran = {.trial = attempt->trial,
                      .number = attempt->number,
                      .started_us = attempt->started_us,
                      .ended_us = attempt->state == ATTEMPT_ENDED ? attempt->ended_us : 0,
                      .reason = attempt->reason};
    if (!ran.started_us)
        return 0;
    ran.host = attempt->host ? xstrdup(attempt->host) : NULL;
    ran.gpus = attempt->gpus ? xstrdup(attempt->gpus) : NULL;
    ran.code = attempt->code ? xstrdup(attempt->code) : NULL;
    vec_push(&timeline->list, ran);
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct ran *x = a, *y = b;
    if (x->started_us != y->started_us)
        return x->started_us < y->started_us ? -1 : 1;
    return x->trial < y->trial ? -1 : x->trial > y->trial;
}

/* Each takes the lowest row that is free when it starts, so that rows are as few as ran at once. */
static void place(struct ran *list, size_t n)
{
    VEC(int64_t) free_at = {0};

    for (size_t i = 0; i < n; i++) {
        size_t slot = 0;
        while (slot < free_at.len && free_at.at[slot] > list[i].started_us)
            slot++;
        list[i].slot = slot;
        if (slot == SLOTS_MAX)
            continue;
        if (slot == free_at.len)
            vec_push(&free_at, 0);
        free_at.at[slot] = list[i].ended_us ? list[i].ended_us : INT64_MAX;
    }
    vec_release(&free_at);
}

/* How it ended: the last attempt as its trial did, others did not get that far. */
static const char *state_of(const struct ran *ran, const struct trial_table *table,
                            const double *states, const double *attempts)
{
    size_t row = trial_table_find(table, ran->trial);

    if (!ran->ended_us)
        return "running";
    if (row == trial_table_rows(table) || ran->number < (int64_t)attempts[row])
        return ran->reason == REASON_NONE ? "stopped" : "failed";
    return trial_state_name((enum trial_state)states[row]);
}

static void put_cpus(struct json_out *out, const char *list)
{
    struct cpus cpus = {0};

    cpus_parse(list, &cpus); /* ours; were it none, none is told */
    json_begin_array(out);
    for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (cpus_has(&cpus, cpu))
            json_int(out, (int64_t)cpu);
    json_end_array(out);
}

/* From when on it was held to which processors; nothing: to none in particular. */
static void put_held(struct json_out *out, const struct tuning_log *log, const struct ran *ran)
{
    size_t n = 0;
    const struct tuning_event *events = tuning_log_find(log, ran->trial, &n);

    json_key(out, "held");
    json_begin_array(out);
    for (size_t i = 0; i < n; i++) {
        autofree(json) json_t *event = NULL;
        if (json_parse(events[i].json, strlen(events[i].json), &event, NULL) < 0 ||
            !str_eq(json_get_text(event, "event", ""), "pinned") ||
            json_get_int(event, "attempt", 0) != ran->number)
            continue;
        json_begin_object(out);
        json_put_double(out, "from", (double)events[i].time_us / US_PER_S);
        json_key(out, "cpus");
        put_cpus(out, json_get_text(event, "cpus", ""));
        json_end_object(out);
    }
    json_end_array(out);
}

static void put_ran(struct json_out *out, const struct timeline *timeline, const struct ran *ran,
                    const char *state)
{
    json_begin_object(out);
    json_put_int(out, "trial", ran->trial);
    json_put_int(out, "attempt", ran->number);
    json_put_double(out, "started", (double)ran->started_us / US_PER_S);
    json_put_known(out, "ended", ran->ended_us ? (double)ran->ended_us / US_PER_S : NAN);
    json_put_text(out, "state", state);
    json_put_text(out, "reason", reason_name(ran->reason));
    json_put_double(out, "cpus", timeline->cpus);
    put_held(out, &timeline->log, ran);
    json_put_text(out, "host", ran->host);
    json_put_text(out, "gpus", ran->gpus);
    if (ran->code)
        json_put_text(out, "code", ran->code);
    json_put_int(out, "slot", (int64_t)ran->slot);
    json_end_object(out);
}

/* The newest `limit` of them. */
static void put_timeline(struct json_out *out, struct timeline *timeline,
                         const struct trial_table *table, int64_t limit)
{
    struct table_column state = {0}, attempts = {0};
    size_t n = timeline->list.len, first = n > (size_t)limit ? n - (size_t)limit : 0;

    if (n)
        qsort(timeline->list.at, n, sizeof(*timeline->list.at), by_start);
    if (n)
        place(timeline->list.at + first, n - first);
    trial_table_column(table, "state", &state, NULL);
    trial_table_column(table, "attempts", &attempts, NULL);
    const double *states = trial_table_cells(table, &state);
    const double *counts = trial_table_cells(table, &attempts);
    json_begin_object(out);
    json_key(out, "attempts");
    json_begin_array(out);
    for (size_t i = first; i < n; i++)
        put_ran(out, timeline, &timeline->list.at[i],
                state_of(&timeline->list.at[i], table, states, counts));
    json_end_array(out);
    json_put_int(out, "total", (int64_t)n);
    json_end_object(out);
}

/* What was granted to each of its trials, and where they were held. */
static int timeline_load(struct web_call *call, int64_t experiment, struct timeline *timeline,
                         struct err *err)
{
    char ref[24];
    autorelease(experiment_row) struct experiment_row row = {0};
    autorelease(spec) struct spec spec;

    spec_init(&spec);
    snprintf(ref, sizeof(ref), "%lld", (long long)experiment);
    int r = store_find_bare(call->store, ref, &row, err);
    if (r >= 0 && row.experiment.spec_json)
        r = spec_parse(row.experiment.spec_json, strlen(row.experiment.spec_json), "spec", "/",
                       NULL, &spec, NULL, err);
    timeline->ended = row.experiment.state != EXPERIMENT_RUNNING;
    timeline->cpus = spec.cpus;
    if (r >= 0 && system_count(&spec))
        r = tuning_log_load(&timeline->log, call->store, experiment, 0, err);
    if (r >= 0)
        r = store_attempts(call->store, experiment, 0, false, on_attempt, timeline, err);
    return r;
}

/* A hundred thousand attempts take a tenth of a second: of what has ended the answer is kept. */
static int read_timeline(struct web_call *call, int64_t experiment, int64_t limit, struct str *to,
                         struct err *err)
{
    struct json_out out = JSON_OUT(to);
    autorelease(timeline) struct timeline timeline = {.log = TUNING_LOG_INIT};
    struct trial_table *table = NULL;
    int r = tables_get(call->tables, call->store, experiment, &table, err);

    if (r >= 0)
        r = timeline_load(call, experiment, &timeline, err);
    if (r < 0)
        return r;
    put_timeline(&out, &timeline, table, limit);
    if (timeline.ended)
        tables_keep_answer(call->tables, experiment, limit, to);
    return 0;
}

static int timeline_json(struct web_call *call, struct str *to, struct err *err)
{
    int64_t experiment, limit;
    int r = web_experiment_ref(call, 0, &experiment, err);

    if (r >= 0)
        r = web_number(call, "limit", 1, ATTEMPTS_MAX, ATTEMPTS_DEFAULT, &limit, err);
    if (r < 0)
        return r;
    const struct str *kept = tables_answer(call->tables, experiment, limit);
    if (!kept)
        return read_timeline(call, experiment, limit, to, err);
    str_add_n(to, kept->s, kept->len);
    return 0;
}

static void get_timeline(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;
    answer(call, timeline_json(call, &text, &err), &text, &err);
}

const struct web_route v1_history_routes[] = {
    {"GET", "/v1/experiments/*/metrics", ROLE_VIEWER, DESK_READ, get_metrics, 0,
     "The metrics that trials of an experiment have told, and the figures of the machine.", 0},
    {"GET", "/v1/experiments/*/events", ROLE_VIEWER, DESK_READ, get_events, 0,
     "What happened in an experiment, oldest first; after= goes on behind an "
     "event, before= goes back from one, or with 0 from the last.",
     0},
    {"GET", "/v1/experiments/*/timeline", ROLE_VIEWER, DESK_READ, get_timeline, 0,
     "Which attempts ran when, where, and beside which others.", 0},
    {0},
};
