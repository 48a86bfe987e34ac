/* SPDX-License-Identifier: MIT */
/*
 * alerts.c — looking at a running trial, and what an alert that begins to hold does.
 *
 *     numbers came, or a silence is too long ──► each alert: does it hold? ──► it did not before:
 *     event, stop or requeue, notification
 *
 * Whether an alert holds is known by trial, not by attempt: one that was started again and still
 * has what was complained about is not complained about again.
 *
 * Conditions that need whole curves read them again and again while these grow. So that this stays
 * a small share of the work, long curves are read only when they have grown by a fiftieth.
 */
#include "engine/alerts.h"
#include "base/log.h"
#include "engine/internal.h"
#include "metrics/metrics.h"
#include "spec/alert_columns.h"

#include <errno.h>
#include <math.h>

#define READ_ALWAYS 2000 /* samples: below this curves are read at every look */
#define READ_SHARE  50

struct alerts {
    struct arena arena;
    const struct expr_column *columns;
    size_t n_columns;
    VEC(uint32_t) holds; /* by trial: a bit for each alert */
    bool complained;     /* that samples cannot be read */
};

static const char *const words[] = {
    [ALERT_DIVERGED] = "diverged", [ALERT_PLATEAU] = "plateau", [ALERT_STALL] = "stall"};

static const char *name_of(const struct alert *alert)
{
    return alert->kind == ALERT_CONDITION ? alert->condition : words[alert->kind];
}

int alerts_open(struct run *run, struct err *err)
{
    const struct spec *spec = &run->spec;

    if (!spec->alerts.len)
        return 0;
    struct alerts *alerts = run->alerts = xcalloc(1, sizeof(*alerts));
    alerts->columns = alert_columns(spec, &alerts->arena, &alerts->n_columns);
    vec_foreach (alert, &spec->alerts) {
        autofree(expr) struct expr *expr = NULL;
        int r = !alert->condition ? 0
                                  : alert_condition_parse(alert->condition, alerts->columns,
                                                          alerts->n_columns, 0, true, &expr, err);
        if (r < 0)
            return r;
    }
    return 0;
}

void alerts_close(struct run *run)
{
    if (!run->alerts)
        return;
    arena_release(&run->alerts->arena);
    vec_release(&run->alerts->holds);
    free(TAKE(run->alerts));
}

static uint32_t *holds_of(struct alerts *alerts, int64_t trial)
{
    while (alerts->holds.len < (size_t)trial)
        vec_push(&alerts->holds, 0);
    return &alerts->holds.at[trial - 1];
}

/* ---- a running trial as a row ---- */

struct row {
    const struct live *live;
    const struct expr *expr;
    struct now now;
};

static const char *metric_at(const struct row *row, size_t column)
{
    const struct alerts *alerts = row->live->run->alerts;
    size_t n;
    const struct expr_need *needs = expr_needs(row->expr, &n);

    if (column < alerts->n_columns)
        return alerts->columns[column].name;
    for (size_t i = 0; i < n; i++)
        if (needs[i].column == column)
            return needs[i].name;
    return "";
}

static struct expr_value row_field(size_t column, void *arg)
{
    const struct row *row = arg;
    struct run *run = row->live->run;
    const struct trial *trial = run_trial(run, row->live->attempt.trial);

    return alert_field(&run->spec, trial, trial->run_us + live_elapsed_us(row->live, row->now),
                       column);
}

static const struct summary *find_summary(const struct live *live, const char *metric)
{
    vec_foreach (summary, &live->summaries)
        if (str_eq(summary->metric, metric))
            return summary;
    return NULL;
}

/* Of a trial that was started again the summaries tell only of its last attempt. */
static bool row_stats(size_t column, struct expr_stats *ret, void *arg)
{
    const struct row *row = arg;
    const struct summary *summary = find_summary(row->live, metric_at(row, column));
    bool again = row->live->attempt.number > 1;

    *ret = (struct expr_stats){.first_nan = EXPR_NO_STEP};
    if (!summary)
        return again; /* nothing is known of it */
    ret->has = EXPR_HAS_LAST;
    ret->last = summary->last;
    if (again)
        return true;
    ret->has |= EXPR_HAS_COUNT | EXPR_HAS_RANGE;
    ret->count = (uint64_t)summary->count;
    ret->min = summary->min;
    ret->max = summary->max;
    if (summary->first_nan_step == STEP_NONE)
        ret->has |= EXPR_HAS_NANS | EXPR_HAS_INFS | EXPR_HAS_FIRST_NAN;
    return true;
}

static int row_points(size_t column, const struct expr_range *range UNUSED, expr_points_fn *fn,
                      void *fn_arg, void *arg, struct err *err)
{
    const struct row *row = arg;
    return live_points(row->live, metric_at(row, column), fn, fn_arg, err);
}

/* ---- does it hold? ---- */

/* "loss > 2 holds at step 7: loss is 3" */
static char *condition_text(const struct live *live, const struct alert *alert,
                            const struct expr *expr)
{
    const struct trial *trial = run_trial(live->run, live->attempt.trial);
    autorelease(str) struct str text = STR_INIT;
    const char *gap = ": ";
    size_t n, told = 0;
    const struct expr_need *needs = expr_needs(expr, &n);

    str_addf(&text, "%s holds", alert->condition);
    if (trial->last_step != STEP_NONE)
        str_addf(&text, " at step %lld", (long long)trial->last_step);
    for (size_t i = 0; i < n && told < 3; i++) {
        const struct summary *summary =
            needs[i].kind == EXPR_METRIC ? find_summary(live, needs[i].name) : NULL;
        if (!summary)
            continue;
        str_addf(&text, "%s%s is %.5g", gap, needs[i].name, summary->last);
        gap = ", ";
        told++;
    }
    return str_take(&text);
}

static void complain(struct run *run, const struct err *err)
{
    if (!run->alerts->complained)
        log_warn("alerts of experiment %lld: %s", (long long)run->experiment.id, err_text(err));
    run->alerts->complained = true;
}

/* May curves be read at this look? */
static bool may_read(const struct live *live)
{
    int64_t before = live->watch.read_at;
    return before < READ_ALWAYS || live->samples_seen >= before + before / READ_SHARE;
}

/* 1 and a sentence, 0, or -EAGAIN: not known at this look. */
static int condition_holds(struct live *live, const struct alert *alert, struct now now, bool *read,
                           char **ret_text)
{
    struct alerts *alerts = live->run->alerts;
    autorelease(err) struct err err = ERR_INIT;
    autofree(expr) struct expr *expr = NULL;
    struct row row = {.live = live, .now = now};
    struct expr_source source = {
        .arg = &row, .field = row_field, .stats = row_stats, .points = row_points};

    int r = alert_condition_parse(alert->condition, alerts->columns, alerts->n_columns, now.wall_us,
                                  true, &expr, &err);
    row.expr = expr;
    if (r >= 0)
        r = expr_decide(expr, &source);
    if (r == -EAGAIN && may_read(live)) {
        *read = true;
        r = expr_test(expr, &source, &err);
    }
    if (r < 0 && r != -EAGAIN) {
        complain(live->run, &err);
        return -EAGAIN;
    }
    if (r == 1)
        *ret_text = condition_text(live, alert, expr);
    return r;
}

static struct alert_curve curve_of(const struct live *live)
{
    const struct trial *trial = run_trial(live->run, live->attempt.trial);

    return (struct alert_curve){&live->run->spec.objective, live->curve.steps.at,
                                live->curve.values.at, live->curve.values.len, trial->best};
}

static char *diverged(const struct live *live)
{
    struct alert_curve curve = curve_of(live);

    vec_foreach (summary, &live->summaries)
        if (summary->count > 0 && !isfinite(summary->last) &&
            metric_diverges(live->run, summary->metric))
            return xasprintf("%s became NaN or infinite at step %lld", summary->metric,
                             (long long)summary->first_nan_step);
    return curve.objective->metric ? alert_rising(&curve) : NULL;
}

static bool stands_still(const struct live *live)
{
    return live->paused || turn_paused(live->turn) || live->turn_awaited;
}

static double stall_times(const struct alert *alert)
{
    return alert->number > 0 ? alert->number : ALERT_STALL_TIMES;
}

static char *stalled(const struct live *live, const struct alert *alert, struct now now)
{
    const struct alert_watch *watch = &live->watch;
    int64_t limit_us = alert_stall_us(watch, stall_times(alert));
    int64_t silent_us = live_elapsed_us(live, now) - watch->last_us;

    if (stands_still(live) || silent_us < limit_us)
        return NULL;
    return xasprintf("no number for %.3g s; more than %.3g s are unusual for it",
                     (double)silent_us / US_PER_S, (double)limit_us / US_PER_S);
}

static int alert_holds(struct live *live, const struct alert *alert, struct now now, bool *read,
                       char **ret_text)
{
    struct alert_curve curve = curve_of(live);

    switch (alert->kind) {
    case ALERT_DIVERGED:
        *ret_text = diverged(live);
        break;
    case ALERT_PLATEAU:
        *ret_text = alert_plateau(&curve, alert->number);
        break;
    case ALERT_STALL:
        *ret_text = stalled(live, alert, now);
        break;
    case ALERT_CONDITION:
        return condition_holds(live, alert, now, read, ret_text);
    }
    return *ret_text != NULL;
}

/* ---- it begins to hold ---- */

/* For the runtime: whom to tell, and what. */
static void send_notification(struct run *run, const struct alert *alert, const char *event)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);

    json_begin_object(&out);
    json_put_text(&out, "dir", run->spec.dir);
    json_put_text(&out, "webhook", alert->webhook);
    json_key(&out, "command");
    json_begin_array(&out);
    vec_foreach (word, &alert->command)
        json_text(&out, *word);
    json_end_array(&out);
    json_put_raw(&out, "alert", event);
    json_end_object(&out);
    engine_effect(
        run->engine,
        (struct effect){.kind = EFFECT_NOTIFY, .id = run->experiment.id, .text = str_take(&json)});
}

static void fire(struct live *live, const struct alert *alert, const char *text, struct now now)
{
    struct run *run = live->run;
    struct trial *trial = run_trial(run, live->attempt.trial);
    bool ends = (alert->actions & (ALERT_STOP | ALERT_REQUEUE)) && live->asked == REASON_NONE;
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = event_begin(&json, "alert", run, trial);

    json_put_text(&out, "name", run->experiment.name);
    json_put_text(&out, "alert", name_of(alert));
    json_put_text(&out, "text", text);
    json_key(&out, "did");
    json_begin_array(&out);
    if (alert->actions & ALERT_NOTIFY)
        json_text(&out, "notify");
    if (ends)
        json_text(&out, alert->actions & ALERT_STOP ? "stop" : "requeue");
    json_end_array(&out);
    json_end_object(&out);
    engine_event(run, trial->number, &json, now);
    if (alert->command.len || alert->webhook)
        send_notification(run, alert, json.s);
    if (ends)
        live_ask(live, alert->actions & ALERT_STOP ? REASON_ALERT : REASON_REQUEUED, false, now);
}

/* One that is to end is looked at no more, but that it diverged is still told. */
static void look(struct live *live, struct now now)
{
    struct run *run = live->run;
    uint32_t *holds = holds_of(run->alerts, live->attempt.trial);
    bool ending = live->asked != REASON_NONE, read = false;

    live->watch.looked_us = now.mono_us;
    live->watch.due = false;
    for (size_t i = 0; i < run->spec.alerts.len; i++) {
        const struct alert *alert = &run->spec.alerts.at[i];
        autofree(mem) char *text = NULL;
        uint32_t bit = UINT32_C(1) << i;
        if (ending && (live->asked != REASON_DIVERGED || alert->kind != ALERT_DIVERGED))
            continue;
        int r = alert_holds(live, alert, now, &read, &text);
        if (r == 1 && !(*holds & bit))
            fire(live, alert, text, now);
        if (r >= 0)
            *holds = r ? *holds | bit : *holds & ~bit;
    }
    if (read)
        live->watch.read_at = live->samples_seen;
}

/* ---- when to look ---- */

static bool tells_something(const struct agent_event *event)
{
    for (size_t i = 0; i < event->n_samples; i++)
        if (!metric_is_word(event->samples[i].metric))
            return true;
    return false;
}

/* Points of the metric that has most, for each of which so much time has passed. */
static int64_t mean_between_us(const struct live *live, int64_t elapsed_us)
{
    int64_t most = 1;

    vec_foreach (summary, &live->summaries)
        most = MAX(most, summary->count);
    return elapsed_us / most;
}

void alerts_on_samples(struct live *live, const struct agent_event *event, struct now now)
{
    struct alert_watch *watch = &live->watch;
    int64_t elapsed_us = live_elapsed_us(live, now);

    if (!live->run->alerts || !tells_something(event))
        return;
    if (event->first_sample == 0 && (live->adopted || watch->points)) {
        /* Files are read anew: no look before what is known again is known. */
        *watch = (struct alert_watch){.looked_us = now.mono_us};
        watch->mean_us = 1;
    }
    alert_watch_point(watch, elapsed_us);
    if (watch->mean_us)
        watch->mean_us = MAX(1, mean_between_us(live, elapsed_us));
    watch->due = true;
    alerts_timer(live, now);
}

/* When a silence would become a stall, mono; INT64_MAX: never. */
static int64_t stall_at_us(const struct live *live)
{
    const struct run *run = live->run;
    int64_t at_us = INT64_MAX;

    if (stands_still(live) || live->asked != REASON_NONE || live->attempt.trial < 1)
        return INT64_MAX;
    uint32_t *holds = holds_of(run->alerts, live->attempt.trial);
    for (size_t i = 0; i < run->spec.alerts.len; i++) {
        const struct alert *alert = &run->spec.alerts.at[i];
        if (alert->kind != ALERT_STALL || (*holds >> i & 1))
            continue;
        int64_t limit_us = alert_stall_us(&live->watch, stall_times(alert));
        if (limit_us < INT64_MAX / 4)
            at_us = MIN(at_us,
                        live->started_mono_us + live->paused_us + live->watch.last_us + limit_us);
    }
    return at_us;
}

int64_t alerts_wake_us(const struct live *live)
{
    if (!live->run->alerts)
        return INT64_MAX;
    int64_t wake = stall_at_us(live);
    if (live->watch.due)
        wake = MIN(wake, live->watch.looked_us + ALERT_LOOK_US);
    return wake;
}

void alerts_timer(struct live *live, struct now now)
{
    if (now.mono_us >= alerts_wake_us(live))
        look(live, now);
}

/* ---- after another engine ---- */

static int on_event(int64_t id UNUSED, int64_t time_us UNUSED, int64_t number, const char *json,
                    void *arg)
{
    struct run *run = arg;
    autofree(json) json_t *event = NULL;

    if (!str_starts(json, "{\"event\":\"alert\"") || number < 1 ||
        (size_t)number > run->trials.len || trial_state_ended(run_trial(run, number)->state) ||
        json_parse(json, strlen(json), &event, NULL) < 0)
        return 0;
    for (size_t i = 0; i < run->spec.alerts.len; i++)
        if (str_eq(name_of(&run->spec.alerts.at[i]), json_get_text(event, "alert", "")))
            *holds_of(run->alerts, number) |= UINT32_C(1) << i;
    return 0;
}

int alerts_load(struct run *run, struct store *store, struct err *err)
{
    if (!run->alerts)
        return 0;
    return store_events(store, run->experiment.id, 0, INT64_MAX, on_event, run, err);
}
