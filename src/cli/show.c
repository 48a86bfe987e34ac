/* SPDX-License-Identifier: MIT */
/*
 * show.c — hone show: everything that is known of one experiment (show_experiment.c) or of one
 * trial (show_trial.c). Answers "what is it, how does it stand, and why" in that order. Here is
 * what both tell.
 */
#include "cli/show.h"
#include "base/clock.h"
#include "base/shell.h"
#include "api/tuning.h"
#include "cli/view.h"
#include "cli/width.h"

#define LABEL_COLUMNS 12
#define RING          20 /* events looked at; a start is not worth a line */

void show_line(const struct show *show, const char *label, enum colour colour, const char *fmt, ...)
{
    autorelease(str) struct str text = STR_INIT, clean = STR_INIT;
    bool wanted = show->call->colour;
    va_list ap;

    va_start(ap, fmt);
    str_addv(&text, fmt, ap);
    va_end(ap);
    str_add_printable(&clean, text.s, text.len);
    int gap = LABEL_COLUMNS - (int)MIN(text_width(label), (size_t)LABEL_COLUMNS);
    printf("%s%s%*s%s %s%s%s\n", colour_on(wanted, DIM), label, gap, "", colour_off(wanted, DIM),
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

/* "2026-11-15 23:15 to 23:20, ran 4m": the day is said once, and so is a minute. */
static void add_span(struct str *to, int64_t from_us, int64_t until_us)
{
    autorelease(str) struct str from = STR_INIT, until = STR_INIT;
    size_t day = strlen("2026-11-15 ");

    str_add_when(&from, from_us);
    str_add_when(&until, until_us);
    str_add(to, from.s);
    if (until_us == 0 || str_eq(from.s, until.s))
        return;
    bool same_day = from.len > day && strncmp(from.s, until.s, day) == 0;
    str_addf(to, " to %s", until.s + (same_day ? day : 0));
}

void show_times(const struct show *show, int64_t started_us, int64_t ended_us, int64_t run_us)
{
    autorelease(str) struct str text = STR_INIT;

    if (started_us == 0)
        return;
    add_span(&text, started_us, ended_us);
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

static void git_line(const struct show *show, const json_t *git)
{
    const char *commit = json_get_text(git, "commit", NULL);
    const char *branch = json_get_text(git, "branch", NULL);

    if (commit)
        show_line(show, "git", PLAIN, "%.12s%s%s%s", commit, branch ? " on " : "",
                  branch ? branch : "",
                  json_get_bool(git, "dirty", false) ? ", with changes not committed" : "");
}

/* A command as one would type it. */
static void add_words(struct str *to, const json_t *list)
{
    const json_t *word;
    size_t i;

    json_array_foreach(list, i, word)
    {
        str_add(to, i ? " " : "");
        if (json_is_string(word))
            shell_quote(json_string_value(word), to);
    }
}

/* The facts one looks for first; --json has all of them. */
void show_environment(const struct show *show)
{
    static const char *const keys[] = {"host", "cpu",     "cpus",     "kernel",
                                       "user", "command", "imported", "file"};
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
        else if (json_is_array(value))
            add_words(&text, value);
        else
            json_value(&out, value);
        show_line(show, keys[i], PLAIN, "%s", text.s);
    }
    const json_t *python = json_object_get(environment, "python");
    if (json_get_text(python, "version", NULL))
        show_line(show, "python", PLAIN, "%s", json_get_text(python, "version", ""));
    git_line(show, json_object_get(environment, "git"));
}

/* ---- events ---- */

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

/* Decisions about a trial's machine have a place of their own, and would push out all others. */
static bool is_tuning(const char *json)
{
    autofree(json) json_t *event = NULL;

    if (!strstr(json, "\"tuned\"") && !strstr(json, "\"changed\"") &&
        !strstr(json, "\"tune_note\""))
        return false;
    return json_parse(json, strlen(json), &event, NULL) == 0 && tuning_is_event(event);
}

static int on_event(int64_t id UNUSED, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    struct ring *ring = arg;
    size_t i = ring->n % RING;

    if ((ring->trial && trial != ring->trial) || (trial && is_tuning(json)))
        return 0;
    free(ring->events[i].json);
    ring->events[i].json = xstrdup(json);
    ring->events[i].time_us = time_us;
    ring->n++;
    return 0;
}

/* One line each; long lists of parameters are cut on a terminal, and what a failed trial said is
 * shown elsewhere. */
static void event_line(int64_t time_us, const char *json)
{
    autofree(json) json_t *event = NULL;
    autorelease(str) struct str line = STR_INIT, clean = STR_INIT, cut = STR_INIT;
    size_t width = (size_t)terminal_width();

    str_add_when(&line, time_us);
    str_add(&line, "  ");
    if (json_parse(json, strlen(json), &event, NULL) < 0 || !view_event_line(event, &line))
        return;
    str_add_printable(&clean, line.s, strcspn(line.s, "\n"));
    str_add_fitted(&cut, clean.s, view_event_may_cut(event) && width > 2 ? width - 2 : SIZE_MAX);
    printf("  %s\n", cut.s);
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

/* ---- the command ---- */

static void print(const struct show *show)
{
    if (show->target->has_trial && show->call->json)
        show_trial_json(show);
    else if (show->target->has_trial)
        show_trial(show);
    else if (show->call->json)
        show_experiment_json(show);
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
    autofree(fresh) struct fresh *fresh = r == 0 ? fresh_new(call->home, &target.spec) : NULL;
    struct show show = {call, store, &target, home_has_engine(call->home), fresh};
    if (r == 0 && target.has_trial)
        fresh_trial(fresh, &target.trial.trial);
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
