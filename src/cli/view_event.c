/* SPDX-License-Identifier: MIT */
/*
 * view_event.c — events of an experiment as lines for people. A start is not worth a line: the
 * live view shows what runs, and the end of a trial tells its parameters.
 */
#include "base/clock.h"
#include "cli/output.h"
#include "cli/view.h"

#include <math.h>

/* Every line made printable, those after the first indented. */
static void add_lines(struct str *to, const char *text)
{
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        if (line > text)
            str_add(to, "\n    ");
        str_add_printable(to, line, n);
        line += n + (line[n] == '\n');
    }
}

static void add_seconds(struct str *to, const json_t *event)
{
    str_add_duration(to, (int64_t)(fmin(json_get_double(event, "seconds", 0), 1e12) * 1e6));
}

static void add_words(struct str *to, const json_t *event)
{
    const char *words = json_get_text(event, "words", "");
    if (!*words)
        return;
    str_add(to, "  ");
    str_add_printable(to, words, strlen(words));
}

static bool has_value(const json_t *event)
{
    const json_t *value = json_object_get(event, "value");
    return value && !json_is_null(value);
}

static void add_failure(const json_t *event, struct str *to)
{
    const char *error = json_get_text(event, "error", "");
    str_add(to, " failed after ");
    add_seconds(to, event);
    add_words(to, event);
    str_add(to, "\n    ");
    add_lines(to, *error ? error : json_get_text(event, "reason", "for an unknown reason"));
}

static bool trial_ended(const json_t *event, struct str *to)
{
    const char *state = json_get_text(event, "state", "completed");
    const char *reason = json_get_text(event, "reason", "");

    str_addf(to, "trial %s", json_get_text(event, "trial", "?"));
    if (str_eq(state, "failed")) {
        add_failure(event, to);
        return true;
    }
    str_addf(to, " %s", state);
    if (*reason)
        str_addf(to, " (%s)", reason);
    str_add(to, " after ");
    add_seconds(to, event);
    if (has_value(event))
        str_addf(to, ": %.5g", json_get_double(event, "value", NAN));
    if (json_get_bool(event, "best", false))
        str_add(to, " (best so far)");
    add_words(to, event);
    return true;
}

static bool trial_retry(const json_t *event, struct str *to)
{
    const char *reason = json_get_text(event, "reason", "unknown");
    double wait_s = fmin(json_get_double(event, "wait_s", 0), 1e12);

    str_addf(to, "trial %s was ended (%s) and starts again ", json_get_text(event, "trial", "?"),
             reason);
    if (wait_s <= 0 && str_eq(reason, "interrupted")) { /* Ctrl-C: nothing starts now */
        str_add(to, "with 'hone resume'");
        return true;
    }
    str_add(to, "in ");
    str_add_duration(to, (int64_t)(wait_s * 1e6));
    return true;
}

/* It stands still (paused, parked), or goes on. */
static bool trial_paused(const json_t *event, struct str *to)
{
    const char *name = json_get_text(event, "event", "");
    const json_t *step = json_object_get(event, "step");
    bool interrupted = str_eq(json_get_text(event, "reason", ""), "interrupted");

    str_addf(to, "trial %s %s", json_get_text(event, "trial", "?"),
             str_eq(name, "trial_paused")    ? "paused"
             : !str_eq(name, "trial_parked") ? "goes on"
             : interrupted                   ? "interrupted, still paused"
                                             : "ended with a checkpoint, still paused");
    if (json_is_integer(step))
        str_addf(to, " at step %lld", (long long)json_integer_value(step));
    if (has_value(event))
        str_addf(to, ": %.5g", json_get_double(event, "value", NAN));
    add_words(to, event);
    return true;
}

static bool started(const json_t *event, struct str *to)
{
    str_addf(to, "experiment %lld started: ", (long long)json_get_int(event, "experiment", 0));
    add_lines(to, json_get_text(event, "name", ""));
    return true;
}

static bool finished(const json_t *event, struct str *to)
{
    const json_t *trials = json_object_get(event, "trials"), *best = json_object_get(event, "best");

    str_addf(to, "experiment %lld %s: %lld completed, %lld stopped, %lld failed",
             (long long)json_get_int(event, "experiment", 0),
             json_get_text(event, "state", "finished"),
             (long long)json_get_int(trials, "completed", 0),
             (long long)json_get_int(trials, "stopped", 0),
             (long long)json_get_int(trials, "failed", 0));
    if (json_is_object(best))
        str_addf(to, "; best %.5g in trial %s", json_get_double(best, "value", NAN),
                 json_get_text(best, "trial", "?"));
    return true;
}

static bool notice(const json_t *event, struct str *to)
{
    add_lines(to, json_get_text(event, "text", ""));
    return true;
}

/* The search begins with what others found. */
static bool knowledge(const json_t *event, struct str *to)
{
    const json_t *from = json_object_get(event, "from"),
                 *results = json_object_get(event, "results");
    size_t n = json_array_size(from);
    int64_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += json_integer_value(json_array_get(results, i));
    str_addf(to, "learning from %lld results of experiment%s ", (long long)total,
             n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++)
        str_addf(to, "%s%lld", i ? ", " : "",
                 (long long)json_integer_value(json_array_get(from, i)));
    return n > 0;
}

static bool extended(const json_t *event, struct str *to)
{
    str_addf(to, "experiment %lld goes on to %lld trials",
             (long long)json_get_int(event, "experiment", 0),
             (long long)json_get_int(event, "trials", 0));
    if (json_get_int(event, "from", 0))
        str_addf(to, ", %lld before", (long long)json_get_int(event, "from", 0));
    return true;
}

/* What people said about the order. */
static bool held(const json_t *event, struct str *to)
{
    const char *name = json_get_text(event, "event", "");
    long long id = json_get_int(event, "experiment", 0);

    if (str_eq(name, "paused"))
        str_addf(to, "experiment %lld starts no more trials until 'hone resume %lld'", id, id);
    else if (str_eq(name, "frozen"))
        str_addf(to, "experiment %lld stands still until 'hone resume %lld'", id, id);
    else
        str_addf(to, "experiment %lld goes on", id);
    return true;
}

static bool queue(const json_t *event, struct str *to)
{
    bool paused = str_eq(json_get_text(event, "event", ""), "queue_paused");

    str_add(to, paused ? "the queue is paused until 'hone resume --all'" : "the queue goes on");
    return true;
}

static bool priority(const json_t *event, struct str *to)
{
    str_addf(to, "experiment %lld has priority %lld now",
             (long long)json_get_int(event, "experiment", 0),
             (long long)json_get_int(event, "priority", 0));
    return true;
}

/* "alert in trial 1.3: no number for 12 s …; requeued" */
static bool alert(const json_t *event, struct str *to)
{
    const json_t *did = json_object_get(event, "did");
    const char *trial = json_get_text(event, "trial", "?");

    str_add(to, "alert in trial ");
    str_add_printable(to, trial, strlen(trial));
    str_add(to, ": ");
    add_lines(to, json_get_text(event, "text", ""));
    for (size_t i = 0; i < json_array_size(did); i++) {
        const char *word = json_string_value(json_array_get(did, i));
        if (word && !str_eq(word, "notify"))
            str_addf(to, "; %s", str_eq(word, "stop") ? "it is stopped" : "it is started again");
    }
    return true;
}

/* ---- tuning the machine ---- */

static void add_object(struct str *to, const json_t *object)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);

    if (!json_is_object(object))
        return;
    json_value(&out, object);
    str_add_configuration(to, json.s);
}

static void add_trial(struct str *to, const json_t *event)
{
    const char *trial = json_get_text(event, "trial", "?");
    str_add_printable(to, trial, strlen(trial));
    str_add(to, "  ");
}

/* A decision in its own words. That all stays as it is is no news. */
static bool tuned(const json_t *event, struct str *to)
{
    const char *words = json_get_text(event, "words", "");

    if (str_eq(json_get_text(event, "advice", "keep"), "keep"))
        return false;
    add_trial(to, event);
    str_add_printable(to, words, strlen(words));
    if (!*words) {
        add_object(to, json_object_get(event, "from"));
        str_add(to, " → ");
        add_object(to, json_object_get(event, "to"));
    }
    return true;
}

/* Told when its cost has been measured. */
static bool changed(const json_t *event, struct str *to)
{
    double cost_s = json_get_double(event, "cost_s", NAN);

    if (isnan(cost_s))
        return false;
    add_trial(to, event);
    add_object(to, json_object_get(event, "system"));
    str_addf(to, ": the %s cost %.2g s",
             str_eq(json_get_text(event, "kind", ""), "restart") ? "restart" : "change", cost_s);
    return true;
}

/* Of a trial, or of the whole experiment. */
static bool tune_note(const json_t *event, struct str *to)
{
    if (json_get_text(event, "trial", NULL))
        add_trial(to, event);
    add_lines(to, json_get_text(event, "text", ""));
    return true;
}

static const struct {
    const char *event;
    bool (*format)(const json_t *event, struct str *to);
} formats[] = {
    {"started", started},
    {"trial_ended", trial_ended},
    {"trial_retry", trial_retry},
    {"finished", finished},
    {"notice", notice},
    {"knowledge", knowledge},
    {"extended", extended},
    {"paused", held},
    {"frozen", held},
    {"unpaused", held},
    {"queue_paused", queue},
    {"queue_unpaused", queue},
    {"priority", priority},
    {"trial_paused", trial_paused},
    {"trial_resumed", trial_paused},
    {"trial_parked", trial_paused},
    {"alert", alert},
    {"tuned", tuned},
    {"changed", changed},
    {"tune_note", tune_note},
};

bool view_event_may_cut(const json_t *event)
{
    const char *name = json_get_text(event, "event", "");
    return str_eq(name, "changed") || (str_starts(name, "trial_") && !str_eq(name, "trial_retry") &&
                                       !str_eq(json_get_text(event, "state", ""), "failed"));
}

bool view_event_line(const json_t *event, struct str *to)
{
    const char *name = json_get_text(event, "event", "");
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (str_eq(formats[i].event, name))
            return formats[i].format(event, to);
    return false;
}
