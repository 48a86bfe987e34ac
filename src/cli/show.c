/* SPDX-License-Identifier: MIT */
/*
 * show.c — hone show: everything that is known of one experiment, or of one trial
 * (show_trial.c). Answers "what is it, how does it stand, and why" in that order.
 */
#include "cli/show.h"
#include "base/clock.h"
#include "base/shell.h"
#include "cli/view.h"

#include <math.h>

#define BEST_SHOWN 5
#define RING       24 /* events kept; a start and the like is not worth a line */

void show_line(const struct show *show, const char *label, enum colour colour, const char *fmt, ...)
{
    autorelease(str) struct str text = STR_INIT, clean = STR_INIT;
    bool wanted = show->call->colour;
    va_list ap;

    va_start(ap, fmt);
    str_addv(&text, fmt, ap);
    va_end(ap);
    str_add_printable(&clean, text.s, text.len);
    printf("%s%-12s%s %s%s%s\n", colour_on(wanted, DIM), label, colour_off(wanted, DIM),
           colour_on(wanted, colour), clean.s, colour_off(wanted, colour));
}

void show_head(const struct show *show, const char *title)
{
    bool wanted = show->call->colour;
    printf("\n%s%s%s\n", colour_on(wanted, BOLD), title, colour_off(wanted, BOLD));
}

void show_block(const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        autorelease(str) struct str line = STR_INIT;
        str_add_printable(&line, text, n);
        printf("  %s\n", line.s);
        text += n + (text[n] == '\n');
    }
}

void show_times(const struct show *show, int64_t started_us, int64_t ended_us, int64_t run_us)
{
    autorelease(str) struct str text = STR_INIT;

    if (started_us == 0)
        return;
    str_add_when(&text, started_us);
    if (ended_us) {
        str_add(&text, " to ");
        str_add_when(&text, ended_us);
    }
    if (run_us > 0) {
        str_add(&text, ", ran ");
        str_add_duration(&text, run_us);
    }
    show_line(show, "started", PLAIN, "%s", text.s);
}

void show_marks(const struct show *show, bool starred, const char *note, char *const *tags,
                size_t n_tags)
{
    autorelease(str) struct str text = STR_INIT;

    for (size_t i = 0; i < n_tags; i++)
        str_addf(&text, "%s%s", i ? " " : "", tags[i]);
    if (starred)
        show_line(show, "starred", YELLOW, "★");
    if (n_tags)
        show_line(show, "tags", YELLOW, "%s", text.s);
    if (note) {
        show_head(show, "note");
        show_block(note);
    }
}

/* ---- environment ---- */

static void show_git(const struct show *show, const json_t *environment)
{
    const json_t *git = json_object_get(environment, "git");
    const char *commit = json_get_text(git, "commit", NULL);

    if (!commit)
        return;
    show_line(show, "git", PLAIN, "%.12s%s%s%s", commit,
              json_get_text(git, "branch", NULL) ? " on " : "", json_get_text(git, "branch", ""),
              json_get_bool(git, "dirty", false) ? ", with changes not committed" : "");
}

/* The facts one looks for first; --json has all of them. */
void show_environment(const struct show *show)
{
    static const char *const keys[] = {"host", "cpu", "cpus", "kernel", "user", "command"};
    const struct experiment *experiment = &show->target->experiment.experiment;
    autofree(json) json_t *environment = NULL;

    if (!experiment->environment ||
        json_parse(experiment->environment, strlen(experiment->environment), &environment, NULL) <
            0)
        return;
    show_head(show, "environment");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        autorelease(str) struct str text = STR_INIT;
        struct json_out out = JSON_OUT(&text);
        const json_t *value = json_object_get(environment, keys[i]);
        if (!value || json_is_null(value))
            continue;
        if (json_is_string(value))
            str_add(&text, json_string_value(value));
        else
            json_value(&out, value);
        show_line(show, keys[i], PLAIN, "%s", text.s);
    }
    const json_t *python = json_object_get(environment, "python");
    if (json_get_text(python, "version", NULL))
        show_line(show, "python", PLAIN, "%s", json_get_text(python, "version", ""));
    show_git(show, environment);
}

/* ---- the experiment ---- */

static void add_counts(struct str *to, const int64_t *counts)
{
    size_t start = to->len;
    for (int i = 0; i < TRIAL_STATES; i++)
        if (counts[i])
            str_addf(to, "%s%lld %s", to->len > start ? ", " : "", (long long)counts[i],
                     trial_state_name((enum trial_state)i));
    if (to->len == start)
        str_add(to, "none yet");
}

static int on_best(const struct trial_row *row, void *arg)
{
    const struct show *show = arg;
    autorelease(str) struct str words = STR_INIT, value = STR_INIT;
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)row->trial.experiment, (long long)row->trial.number);

    space_words(&show->target->spec.space, row->trial.point, &words);
    str_add_number(&value, row->trial.value);
    show_line(show, id, PLAIN, "%-10s %s", value.s, words.s);
    return 0;
}

static void show_best(const struct show *show)
{
    const struct spec *spec = &show->target->spec;
    struct trial_query query = {.experiment = show->target->experiment.experiment.id,
                                .order = ORDER_BEST,
                                .goal = spec->objective.goal,
                                .limit = BEST_SHOWN};

    if (!spec->objective.metric || show->target->experiment.best_trial == 0)
        return;
    show_head(show, "best trials");
    store_trials(show->store, &query, on_best, (void *)show, NULL);
}

/* Events come oldest first and there may be very many: the last ones are kept as they are, and
 * only those are put into words. */
struct ring {
    int64_t trial; /* 0: all */
    struct {
        int64_t time_us;
        char *json;
    } events[RING];
    size_t n;
};

static int on_event(int64_t id UNUSED, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    struct ring *ring = arg;
    size_t i = ring->n % RING;

    if (ring->trial && trial != ring->trial)
        return 0;
    free(ring->events[i].json);
    ring->events[i].json = xstrdup(json);
    ring->events[i].time_us = time_us;
    ring->n++;
    return 0;
}

static void event_line(int64_t time_us, const char *json)
{
    autofree(json) json_t *event = NULL;
    autorelease(str) struct str line = STR_INIT;

    str_add_when(&line, time_us);
    str_add(&line, "  ");
    if (json_parse(json, strlen(json), &event, NULL) == 0 && view_event_line(event, &line))
        show_block(line.s);
}

void show_events(const struct show *show)
{
    const struct target *target = show->target;
    struct ring ring = {.trial = target->has_trial ? target->trial.trial.number : 0};

    store_events(show->store, target->experiment.experiment.id, 0, 0, on_event, &ring, NULL);
    if (ring.n)
        show_head(show, "last events");
    for (size_t i = ring.n > RING ? ring.n - RING : 0; i < ring.n; i++)
        event_line(ring.events[i % RING].time_us, ring.events[i % RING].json);
    for (size_t i = 0; i < RING; i++)
        free(ring.events[i].json);
}

static void show_objective(const struct show *show)
{
    const struct objective *objective = &show->target->spec.objective;
    autorelease(str) struct str text = STR_INIT;

    if (!objective->metric)
        return;
    str_addf(&text, "%s %s", objective->goal == GOAL_MAXIMIZE ? "maximize" : "minimize",
             objective->metric);
    if (!isnan(objective->target)) {
        str_add(&text, " until ");
        str_add_number(&text, objective->target);
    }
    show_line(show, "objective", PLAIN, "%s", text.s);
}

static void show_command(const struct show *show)
{
    const struct spec *spec = &show->target->spec;
    autorelease(str) struct str text = STR_INIT;

    for (size_t i = 0; i < spec->command.len; i++) {
        str_add(&text, i ? " " : "");
        shell_quote(spec->command.at[i], &text);
    }
    show_line(show, "command", PLAIN, "%s", text.s);
    if (spec->dir)
        show_line(show, "folder", PLAIN, "%s", spec->dir);
}

static void show_experiment(const struct show *show)
{
    const struct experiment_row *row = &show->target->experiment;
    const struct experiment *e = &row->experiment;
    enum experiment_state state = shown_state(e, show->engine);
    autorelease(str) struct str counts = STR_INIT;

    add_counts(&counts, row->counts);
    show_line(show, "experiment", BOLD, "%lld %s", (long long)e->id, e->name);
    if (show->target->spec.description)
        show_line(show, "", PLAIN, "%s", show->target->spec.description);
    show_line(show, "state", experiment_colour(state), "%s%s%s", experiment_state_name(state),
              e->reason ? ": " : "", e->reason ? reason_help(e->reason) : "");
    if (state == EXPERIMENT_INTERRUPTED)
        show_line(show, "", PLAIN, "'hone resume %lld' goes on with it", (long long)e->id);
    if (e->rerun_of_experiment)
        show_line(show, "rerun of", PLAIN, "%lld.%lld", (long long)e->rerun_of_experiment,
                  (long long)e->rerun_of_trial);
    show_line(show, "trials", PLAIN, "%s", counts.s);
    show_objective(show);
    show_command(show);
    show_times(show, e->created_us, e->ended_us, e->run_us);
    if (e->code)
        show_line(show, "code", PLAIN, "%.12s", e->code);
    show_marks(show, row->starred, row->note, row->tags.at, row->tags.len);
    if (e->error) {
        show_head(show, "error");
        show_block(e->error);
    }
    show_best(show);
    show_environment(show);
    show_events(show);
}

static void put_json(struct json_out *out, const char *key, const char *json)
{
    json_put_raw(out, key, json ? json : "null");
}

static void experiment_json(const struct show *show)
{
    const struct experiment_row *row = &show->target->experiment;
    autofree(mem) char *params = trial_params(show->store, row->experiment.id, row->best_trial);
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    output_experiment(&out, row, show->engine, params,
                      count_attempts(show->store, row->experiment.id), true);
    json_put_text(&out, "code", row->experiment.code);
    put_json(&out, "environment", row->experiment.environment);
    put_json(&out, "spec", row->experiment.spec_json);
    json_end_object(&out);
    output_line(&text);
}

static void print(const struct show *show)
{
    if (show->target->has_trial && show->call->json)
        show_trial_json(show);
    else if (show->target->has_trial)
        show_trial(show);
    else if (show->call->json)
        experiment_json(show);
    else
        show_experiment(show);
}

static int run(struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct target target;

    if (store_open_read(call->home, &store, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int r = target_find(store, call->args[0], FIND_ANY, &target, &err);
    struct show show = {call, store, &target, home_has_engine(call->home)};
    if (r == 0)
        print(&show);
    target_release(&target);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_show = {
    .name = "show",
    .args = "EXPERIMENT|TRIAL",
    .help = "everything about an experiment or a trial",
    .details = "EXPERIMENT is a number, a name (the newest of that name) or 'last'; TRIAL is "
               "EXPERIMENT.NUMBER or EXPERIMENT.last.",
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
