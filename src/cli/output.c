/* SPDX-License-Identifier: MIT */
/*
 * output.c — rows as JSON objects and as words. A number that is unknown is null in JSON and a dash
 * for people; numbers are exact in JSON and have six digits for people.
 */
#include "cli/output.h"
#include "base/clock.h"
#include "base/fs.h"

#include <fcntl.h>
#include <math.h>
#include <time.h>

bool home_has_engine(const char *home)
{
    autofree(mem) char *path = xasprintf("%s/engine.lock", home);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && fs_locked(fd);
}

enum experiment_state shown_state(const struct experiment *experiment, bool engine)
{
    if (experiment->state == EXPERIMENT_RUNNING && !engine)
        return EXPERIMENT_INTERRUPTED;
    return experiment->state;
}

static void put_step(struct json_out *out, const char *key, int64_t step)
{
    json_key(out, key);
    if (step == STEP_NONE)
        json_null_out(out);
    else
        json_int(out, step);
}

static void put_marks(struct json_out *out, bool starred, const char *note, char *const *tags,
                      size_t n_tags)
{
    json_put_bool(out, "starred", starred);
    json_key(out, "tags");
    json_begin_array(out);
    for (size_t i = 0; i < n_tags; i++)
        json_text(out, tags[i]);
    json_end_array(out);
    json_put_text(out, "note", note);
}

/* Why it was made and ended, where that is kept: {"why":"model","by":"bayes",…}. */
static void put_reasons(struct json_out *out, const struct trial *trial)
{
    autofree(mem) char *of =
        xasprintf("%lld.%lld", (long long)trial->experiment, (long long)trial->repeat_of);

    json_put_text(out, "repeat_of", trial->repeat_of ? of : NULL);
    json_put_raw(out, "why", trial->why ? trial->why : "null");
    json_put_raw(out, "verdict", trial->verdict ? trial->verdict : "null");
}

void output_trial(struct json_out *out, const char *name, const struct trial_row *row, bool more)
{
    const struct trial *trial = &row->trial;
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)trial->experiment, (long long)trial->number);

    json_begin_object(out);
    json_put_int(out, "experiment", trial->experiment);
    json_put_text(out, "name", name);
    json_put_text(out, "trial", id);
    json_put_text(out, "state", trial_state_name(trial->state));
    json_put_text(out, "reason", reason_name(trial->reason));
    json_put_known(out, "value", trial->value);
    json_put_known(out, "best", trial->best);
    json_put_raw(out, "params", row->params_json ? row->params_json : "{}");
    json_put_int(out, "attempts", trial->attempts);
    put_step(out, "step", trial->last_step);
    put_step(out, "first_nan_step", trial->first_nan_step);
    json_put_double(out, "seconds", (double)trial->run_us / US_PER_S);
    json_put_time(out, "created", trial->created_us);
    json_put_time(out, "started", trial->started_us);
    json_put_time(out, "ended", trial->ended_us);
    put_marks(out, row->starred, row->note, row->tags.at, row->tags.len);
    put_reasons(out, trial);
    if (!more)
        json_end_object(out);
}

static void put_best(struct json_out *out, const struct experiment_row *row, const char *params)
{
    json_key(out, "best");
    if (row->best_trial == 0) {
        json_null_out(out);
        return;
    }
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)row->experiment.id, (long long)row->best_trial);
    json_begin_object(out);
    json_put_text(out, "trial", id);
    json_put_known(out, "value", row->best_value);
    json_put_raw(out, "params", params ? params : "{}");
    json_end_object(out);
}

void output_experiment(struct json_out *out, const struct experiment_row *row, bool engine,
                       const char *best_params, int64_t attempts, bool more)
{
    const struct experiment *experiment = &row->experiment;

    json_begin_object(out);
    json_put_int(out, "experiment", experiment->id);
    json_put_text(out, "name", experiment->name);
    json_put_text(out, "trial", NULL);
    json_put_text(out, "state", experiment_state_name(shown_state(experiment, engine)));
    json_put_text(out, "reason", reason_name(experiment->reason));
    json_put_known(out, "value", row->best_value);
    json_put_raw(out, "params", best_params ? best_params : "null");
    json_put_int(out, "attempts", attempts);
    json_put_double(out, "seconds", (double)experiment->run_us / US_PER_S);
    json_put_time(out, "created", experiment->created_us);
    json_put_time(out, "started", experiment->created_us);
    json_put_time(out, "ended", experiment->ended_us);
    json_key(out, "trials");
    json_begin_object(out);
    for (int i = 0; i < TRIAL_STATES; i++)
        json_put_int(out, trial_state_name((enum trial_state)i), row->counts[i]);
    json_end_object(out);
    put_best(out, row, best_params);
    json_put_text(out, "error", experiment->error);
    put_marks(out, row->starred, row->note, row->tags.at, row->tags.len);
    if (!more)
        json_end_object(out);
}

void output_attempt(struct json_out *out, const struct attempt *attempt)
{
    json_begin_object(out);
    json_put_int(out, "attempt", attempt->number);
    json_put_int(out, "id", attempt->id);
    json_put_text(out, "state", attempt_state_name(attempt->state));
    json_put_text(out, "reason", reason_name(attempt->reason));
    json_key(out, "exit");
    if (attempt->state == ATTEMPT_ENDED && attempt->exit_status >= 0)
        json_int(out, attempt->exit_status);
    else
        json_null_out(out);
    json_put_int(out, "signal", attempt->signal);
    json_put_bool(out, "oom", attempt->reason == REASON_OOM);
    json_put_double(out, "seconds", (double)attempt->run_us / US_PER_S);
    json_put_double(out, "cpu_seconds", (double)attempt->cpu_us / US_PER_S);
    json_put_int(out, "max_rss_bytes", (int64_t)attempt->max_rss_bytes);
    json_put_int(out, "dropped_bytes", (int64_t)attempt->dropped_bytes);
    json_put_time(out, "started", attempt->started_us);
    json_put_time(out, "ended", attempt->ended_us);
    json_put_text(out, "host", attempt->host);
    json_put_text(out, "gpus", attempt->gpus);
    json_put_text(out, "code", attempt->code);
    json_put_text(out, "error", attempt->error);
    json_end_object(out);
}

void output_summary(struct json_out *out, const struct summary *summary)
{
    json_begin_object(out);
    json_put_text(out, "metric", summary->metric);
    json_put_int(out, "count", summary->count);
    json_put_double(out, "last", summary->last);
    json_put_known(out, "min", summary->min);
    json_put_known(out, "max", summary->max);
    put_step(out, "step", summary->last_step);
    put_step(out, "first_nan_step", summary->first_nan_step);
    json_end_object(out);
}

void output_line(const struct str *text)
{
    fwrite(text->s, 1, text->len, stdout);
    putchar('\n');
}

static int add_attempts(const struct trial_row *row, void *arg)
{
    *(int64_t *)arg += row->trial.attempts;
    return 0;
}

int64_t count_attempts(struct store *store, int64_t experiment)
{
    struct trial_query query = {.experiment = experiment, .bare = true};
    int64_t n = 0;
    store_trials(store, &query, add_attempts, &n, NULL);
    return n;
}

static int keep_params(const struct trial_row *row, void *arg)
{
    *(char **)arg = row->params_json ? xstrdup(row->params_json) : NULL;
    return 1;
}

char *trial_params(struct store *store, int64_t experiment, int64_t trial)
{
    struct trial_query query = {.experiment = experiment, .number = trial};
    char *params = NULL;
    if (trial > 0)
        store_trials(store, &query, keep_params, &params, NULL);
    return params;
}

void str_add_number(struct str *to, double x)
{
    if (isnan(x))
        str_add_char(to, '-');
    else
        str_addf(to, "%.6g", x);
}

void str_add_size(struct str *to, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double x = (double)bytes / 1000;
    size_t i = 0;

    if (bytes < 1000) {
        str_addf(to, "%d bytes", (int)bytes);
        return;
    }
    for (; x >= 999.5 && i + 1 < ARRAY_LEN(units); i++)
        x /= 1000;
    str_addf(to, x < 9.95 ? "%.1f %s" : "%.0f %s", x, units[i]);
}

void str_add_when(struct str *to, int64_t wall_us)
{
    time_t s = (time_t)(wall_us / US_PER_S);
    struct tm tm;

    if (wall_us == 0 || !localtime_r(&s, &tm)) {
        str_add_char(to, '-');
        return;
    }
    str_addf(to, "%04d-%02d-%02d %02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
             tm.tm_hour, tm.tm_min);
}

static void add_flat_value(struct str *to, const json_t *value)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    if (json_is_number(value)) {
        str_add_number(to, json_number_value(value));
    } else if (json_is_string(value)) {
        str_add(to, json_string_value(value));
    } else {
        json_value(&out, value);
        str_add(to, text.s);
    }
}

void str_add_flat(struct str *to, const char *json)
{
    autofree(json) json_t *object = NULL;
    const char *key;
    json_t *value;
    size_t start = to->len;

    if (!json || json_parse(json, strlen(json), &object, NULL) < 0)
        return;
    json_object_foreach(object, key, value)
    {
        str_addf(to, "%s%s=", to->len > start ? " " : "", key);
        add_flat_value(to, value);
    }
}

enum colour trial_colour(enum trial_state state)
{
    static const enum colour colours[TRIAL_STATES] = {
        [TRIAL_QUEUED] = DIM,      [TRIAL_RUNNING] = CYAN,   [TRIAL_PAUSED] = YELLOW,
        [TRIAL_COMPLETED] = GREEN, [TRIAL_STOPPED] = YELLOW, [TRIAL_FAILED] = RED,
    };
    return colours[state];
}

enum colour experiment_colour(enum experiment_state state)
{
    static const enum colour colours[EXPERIMENT_STATES] = {
        [EXPERIMENT_RUNNING] = CYAN,       [EXPERIMENT_FINISHED] = GREEN,
        [EXPERIMENT_STOPPED] = YELLOW,     [EXPERIMENT_FAILED] = RED,
        [EXPERIMENT_INTERRUPTED] = YELLOW,
    };
    return colours[state];
}

void str_add_state(struct str *to, const char *state, enum reason reason)
{
    str_add(to, state);
    if (reason != REASON_NONE && !str_eq(reason_name(reason), state)) /* interrupted */
        str_addf(to, " (%s)", reason_name(reason));
}
