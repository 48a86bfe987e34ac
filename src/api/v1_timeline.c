/* SPDX-License-Identifier: MIT */
/*
 * v1_timeline.c — GET /v1/experiments/E/timeline: which attempts ran when, where, beside which
 * others, and when they stood still.
 */
#include "api/etag.h"
#include "api/tables.h"
#include "api/tuning.h"
#include "api/web_route.h"
#include "base/clock.h"
#include "base/map.h"
#include "exec/cpus.h"
#include "spec/parse.h"

#include <math.h>

#define ATTEMPTS_DEFAULT 20000
#define ATTEMPTS_MAX     200000
#define SLOTS_MAX        1024 /* more at once share the last row */

struct ran {
    int64_t trial, number, started_us, ended_us; /* ended 0: it runs */
    enum reason reason;
    size_t slot;
    char *host, *gpus, *code; /* as of its attempt; NULL: not known, none, that of the experiment */
};
struct pause {
    int64_t trial, from_us, to_us; /* to 0: until the end of its attempt */
};
struct timeline {
    VEC(struct ran) list;
    VEC(struct pause) pauses; /* by trial, then by time */
    struct tuning_log log;    /* to which processors they were held; none without such a setting */
    double cpus;              /* granted to each; which ones is the kernel's choice if not held */
    bool ended;               /* the experiment has: nothing of it comes any more */
};

static void timeline_release(struct timeline *timeline)
{
    vec_foreach (ran, &timeline->list) {
        free(ran->host);
        free(ran->gpus);
        free(ran->code);
    }
    vec_release(&timeline->list);
    vec_release(&timeline->pauses);
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

/* ---- pauses ---- */

struct pausing {
    struct timeline *timeline;
    struct map open; /* trial → place of its last pause + 1 */
};

static int on_pause(int64_t id UNUSED, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    struct pausing *pausing = arg;
    struct timeline *timeline = pausing->timeline;
    uintptr_t last = (uintptr_t)map_find(&pausing->open, (uint64_t)trial);

    if (str_starts(json, STORE_RESUMED) && last && !timeline->pauses.at[last - 1].to_us)
        timeline->pauses.at[last - 1].to_us = time_us;
    if (!str_starts(json, STORE_PAUSED))
        return 0;
    vec_push(&timeline->pauses, ((struct pause){.trial = trial, .from_us = time_us}));
    map_put(&pausing->open, (uint64_t)trial, (void *)(uintptr_t)timeline->pauses.len);
    return 0;
}

static int by_trial(const void *a, const void *b)
{
    const struct pause *x = a, *y = b;
    if (x->trial != y->trial)
        return x->trial < y->trial ? -1 : 1;
    return x->from_us < y->from_us ? -1 : x->from_us > y->from_us;
}

static int pauses_load(struct timeline *timeline, struct store *store, int64_t experiment,
                       struct err *err)
{
    struct pausing pausing = {.timeline = timeline};
    int r = store_pauses(store, experiment, on_pause, &pausing, err);

    map_release(&pausing.open);
    if (timeline->pauses.len)
        qsort(timeline->pauses.at, timeline->pauses.len, sizeof(*timeline->pauses.at), by_trial);
    return r;
}

/* The first pause of a trial, or where it would be. */
static size_t first_pause(const struct timeline *timeline, int64_t trial)
{
    size_t low = 0, high = timeline->pauses.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (timeline->pauses.at[middle].trial < trial)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* When it stood still; one that the attempt did not outlive has no end. */
static void put_paused(struct json_out *out, const struct timeline *timeline, const struct ran *ran)
{
    int64_t end_us = ran->ended_us ? ran->ended_us : INT64_MAX;

    json_key(out, "paused");
    json_begin_array(out);
    for (size_t i = first_pause(timeline, ran->trial); i < timeline->pauses.len; i++) {
        const struct pause *pause = &timeline->pauses.at[i];
        if (pause->trial != ran->trial)
            break;
        if (pause->from_us < ran->started_us || pause->from_us >= end_us)
            continue;
        bool outlived = pause->to_us && pause->to_us <= end_us;
        json_begin_object(out);
        json_put_double(out, "from", (double)pause->from_us / US_PER_S);
        json_put_known(out, "to", outlived ? (double)pause->to_us / US_PER_S : NAN);
        json_end_object(out);
    }
    json_end_array(out);
}

/* ---- attempts ---- */

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
        return row < trial_table_rows(table) && states[row] == TRIAL_PAUSED ? "paused" : "running";
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
    put_paused(out, timeline, ran);
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

/* What was granted to each of its trials, where they were held, and when they stood still. */
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
        r = pauses_load(timeline, call->store, experiment, err);
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
    int r = timeline_json(call, &text, &err);

    if (r < 0)
        web_fail(call, r, &err);
    else
        etag_json(call, &text);
}

const struct web_route v1_timeline_routes[] = {
    {"GET", "/v1/experiments/*/timeline", ROLE_VIEWER, DESK_READ, get_timeline, 0,
     "Which attempts ran when, where, and beside which others.", 0},
    {0},
};
