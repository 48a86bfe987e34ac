/* SPDX-License-Identifier: MIT */
/*
 * rows.c — rows of the database as JSON objects. A number that is unknown is null; numbers are
 * exact.
 */
#include "api/rows.h"
#include "api/rows_text.h"
#include "base/clock.h"
#include "base/fs.h"
#include "store/artifact.h"
#include "store/secret.h"

#include <fcntl.h>
#include <math.h>

bool home_has_engine(const char *home)
{
    autofree(mem) char *path = xasprintf("%s/engine.lock", home);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && fs_locked(fd);
}

const char *ended_words(enum experiment_state state)
{
    static const char *const words[EXPERIMENT_STATES] = {
        [EXPERIMENT_FINISHED] = "has finished",
        [EXPERIMENT_STOPPED] = "was stopped",
        [EXPERIMENT_FAILED] = "has failed",
    };
    return words[state];
}

enum experiment_state shown_state(const struct experiment *experiment, bool engine)
{
    if (experiment->state == EXPERIMENT_RUNNING && !engine)
        return EXPERIMENT_INTERRUPTED;
    return experiment->state;
}

enum experiment_state shown_row_state(const struct experiment_row *row, bool engine)
{
    if (row->experiment.state == EXPERIMENT_FINISHED && row->counts[TRIAL_RUNNING] > 0)
        return EXPERIMENT_RUNNING;
    return shown_state(&row->experiment, engine);
}

char *shown_spec(const char *spec_json)
{
    struct str shown = STR_INIT;
    struct json_out out = JSON_OUT(&shown);
    autofree(json) json_t *spec = NULL;
    const char *name;
    json_t *value;

    if (spec_json && !strstr(spec_json, "\"env\":{\""))
        return xstrdup(spec_json);
    if (!spec_json || json_parse(spec_json, strlen(spec_json), &spec, NULL) < 0)
        return xstrdup("null");
    json_object_foreach(json_object_get(spec, "env"), name, value)
    {
        if (json_is_string(value) && is_secret(name, json_string_value(value)))
            json_string_set(value, "•••");
    }
    json_value(&out, spec);
    return str_take(&shown);
}

static void rows_step(struct json_out *out, int64_t step)
{
    if (step == STEP_NONE)
        json_null_out(out);
    else
        rows_int(out, step);
}

static void put_marks(struct json_out *out, bool starred, const char *note, char *const *tags,
                      size_t n_tags)
{
    ROWS_PUT(out, bool, "starred", starred);
    ROWS_KEY(out, "tags");
    json_begin_array(out);
    for (size_t i = 0; i < n_tags; i++)
        json_text(out, tags[i]);
    json_end_array(out);
    ROWS_PUT(out, text, "note", note);
}

/* "3.7"; null if there is none. */
static void put_id(struct json_out *out, int64_t experiment, int64_t trial)
{
    if (!trial) {
        json_null_out(out);
        return;
    }
    json_raw(out, "\"");
    rows_digits(out->to, experiment);
    str_add_char(out->to, '.');
    rows_digits(out->to, trial);
    str_add_char(out->to, '"');
}

/* Why it was made and ended, where that is kept: {"why":"model","by":"bayes",…}. */
static void put_reasons(struct json_out *out, const struct trial *trial)
{
    ROWS_KEY(out, "repeat_of");
    put_id(out, trial->experiment, trial->repeat_of);
    ROWS_PUT(out, raw, "why", trial->why ? trial->why : "null");
    ROWS_PUT(out, raw, "verdict", trial->verdict ? trial->verdict : "null");
}

void rows_put_trial(struct json_out *out, const char *name, const struct trial_row *row, bool more)
{
    const struct trial *trial = &row->trial;

    json_begin_object(out);
    ROWS_PUT(out, int, "experiment", trial->experiment);
    ROWS_PUT(out, text, "name", name);
    ROWS_KEY(out, "trial");
    put_id(out, trial->experiment, trial->number);
    ROWS_PUT(out, text, "state", trial_state_name(trial->state));
    ROWS_PUT(out, text, "reason", reason_name(trial->reason));
    ROWS_PUT(out, known, "value", trial->value);
    ROWS_PUT(out, known, "best", trial->best);
    ROWS_PUT(out, raw, "params", row->params_json ? row->params_json : "{}");
    ROWS_PUT(out, int, "attempts", trial->attempts);
    ROWS_PUT(out, step, "step", trial->last_step);
    ROWS_PUT(out, step, "first_nan_step", trial->first_nan_step);
    ROWS_PUT(out, double, "seconds", (double)trial->run_us / US_PER_S);
    ROWS_PUT(out, time, "created", trial->created_us);
    ROWS_PUT(out, time, "started", trial->started_us);
    ROWS_PUT(out, time, "ended", trial->ended_us);
    put_marks(out, row->starred, row->note, row->tags.at, row->tags.len);
    put_reasons(out, trial);
    if (!more)
        json_end_object(out);
}

void rows_put_values(struct json_out *out, const struct spec *spec, const struct trial *trial)
{
    if (!spec->others.len)
        return;
    ROWS_KEY(out, "values");
    json_begin_array(out);
    json_double(out, trial->value);
    for (size_t i = 0; i < spec->others.len; i++)
        json_double(out, i < trial->n_extra ? trial->extra[i] : NAN);
    json_end_array(out);
}

void rows_put_owner(struct json_out *out, struct store *store, const struct trial *trial)
{
    autofree(mem) char *owner = NULL;

    store_owner(store, trial->experiment, trial->number, &owner, NULL);
    ROWS_PUT(out, text, "owner", owner);
}

static void put_best(struct json_out *out, const struct experiment_row *row, const char *params)
{
    ROWS_KEY(out, "best");
    if (row->best_trial == 0) {
        json_null_out(out);
        return;
    }
    json_begin_object(out);
    ROWS_KEY(out, "trial");
    put_id(out, row->experiment.id, row->best_trial);
    ROWS_PUT(out, known, "value", row->best_value);
    ROWS_PUT(out, raw, "params", params ? params : "{}");
    json_end_object(out);
}

void rows_put_experiment(struct json_out *out, const struct experiment_row *row, bool engine,
                         const char *best_params, int64_t attempts, bool more)
{
    const struct experiment *experiment = &row->experiment;
    enum experiment_state state = shown_row_state(row, engine);

    json_begin_object(out);
    ROWS_PUT(out, int, "experiment", experiment->id);
    ROWS_PUT(out, text, "name", experiment->name);
    ROWS_PUT(out, text, "trial", NULL);
    ROWS_PUT(out, text, "state", experiment_state_name(state));
    ROWS_PUT(out, text, "reason", reason_name(experiment->reason));
    ROWS_PUT(out, known, "value", row->best_value);
    ROWS_PUT(out, raw, "params", best_params ? best_params : "null");
    ROWS_PUT(out, int, "attempts", attempts);
    ROWS_PUT(out, double, "seconds", (double)experiment->run_us / US_PER_S);
    ROWS_PUT(out, time, "created", experiment->created_us);
    ROWS_PUT(out, time, "started", experiment->created_us);
    ROWS_PUT(out, time, "ended", state == EXPERIMENT_RUNNING ? 0 : experiment->ended_us);
    ROWS_KEY(out, "trials");
    json_begin_object(out);
    for (int i = 0; i < TRIAL_STATES; i++)
        json_put_int(out, trial_state_name((enum trial_state)i), row->counts[i]);
    json_end_object(out);
    put_best(out, row, best_params);
    ROWS_PUT(out, text, "error", experiment->error);
    ROWS_PUT(out, text, "owner", experiment->owner);
    put_marks(out, row->starred, row->note, row->tags.at, row->tags.len);
    if (!more)
        json_end_object(out);
}

void rows_put_attempt(struct json_out *out, const struct attempt *attempt)
{
    json_begin_object(out);
    ROWS_PUT(out, int, "attempt", attempt->number);
    ROWS_PUT(out, int, "id", attempt->id);
    ROWS_PUT(out, text, "state", attempt_state_name(attempt->state));
    ROWS_PUT(out, text, "reason", reason_name(attempt->reason));
    ROWS_KEY(out, "exit");
    if (attempt->state == ATTEMPT_ENDED && attempt->exit_status >= 0)
        rows_int(out, attempt->exit_status);
    else
        json_null_out(out);
    ROWS_PUT(out, int, "signal", attempt->signal);
    ROWS_PUT(out, bool, "oom", attempt->reason == REASON_OOM);
    ROWS_PUT(out, double, "seconds", (double)attempt->run_us / US_PER_S);
    ROWS_PUT(out, double, "cpu_seconds", (double)attempt->cpu_us / US_PER_S);
    ROWS_PUT(out, int, "max_rss_bytes", (int64_t)attempt->max_rss_bytes);
    ROWS_PUT(out, int, "dropped_bytes", (int64_t)attempt->dropped_bytes);
    ROWS_PUT(out, time, "started", attempt->started_us);
    ROWS_PUT(out, time, "ended", attempt->ended_us);
    ROWS_PUT(out, text, "host", attempt->host);
    ROWS_PUT(out, text, "gpus", attempt->gpus);
    ROWS_PUT(out, text, "code", attempt->code);
    ROWS_PUT(out, text, "error", attempt->error);
    json_end_object(out);
}

void rows_put_summary(struct json_out *out, const struct summary *summary)
{
    json_begin_object(out);
    ROWS_PUT(out, text, "metric", summary->metric);
    ROWS_PUT(out, int, "count", summary->count);
    ROWS_PUT(out, double, "last", summary->last);
    ROWS_PUT(out, known, "min", summary->min);
    ROWS_PUT(out, known, "max", summary->max);
    ROWS_PUT(out, step, "step", summary->last_step);
    ROWS_PUT(out, step, "first_nan_step", summary->first_nan_step);
    json_end_object(out);
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
