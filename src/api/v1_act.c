/* SPDX-License-Identifier: MIT */
/*
 * v1_act.c — what people do to experiments over HTTP: stop, resume, pause, put forward, and the
 * table of all that act. Submissions are in v1_submit.c, changes of what is recorded in
 * v1_change.c.
 */
#include "api/checkout.h"
#include "api/rerun.h"
#include "api/rows.h"
#include "api/web_act.h"
#include "spec/parse.h"

#include <errno.h>

#define BODY_MAX     ((size_t)1 << 20)
#define IMPORT_MAX   ((size_t)16 << 20) /* as much as the home's socket takes */
#define SAMPLES_MAX  ((size_t)1 << 30)
#define OBJECT_MAX   ((size_t)600 << 20) /* a snapshot has at most 500 MB */
#define PRIORITY_MAX 100                 /* as the engine has it; so many trials, too */
#define TRIALS_MAX   1000000

static const struct web_key stop_keys[] = {
    {.name = "mode", .type = KEY_WORD, .words = "now drain interrupt kill"},
    {0},
};
static const struct web_key no_keys[] = {{0}};
static const struct web_key trials_keys[] = {
    {.name = "add", .type = KEY_INT, .min = 1, .max = TRIALS_MAX},
    {.name = "set", .type = KEY_INT, .min = 1, .max = TRIALS_MAX},
    {0},
};
static const struct web_key resume_keys[] = {
    {.name = "trials", .type = KEY_OBJECT, .keys = trials_keys},
    {0},
};
static const struct web_key pause_keys[] = {
    {.name = "mode", .type = KEY_WORD, .words = "starts freeze none"},
    {0},
};
static const struct web_key priority_keys[] = {
    {.name = "priority",
     .type = KEY_INT,
     .flags = KEY_NEEDED,
     .min = -PRIORITY_MAX,
     .max = PRIORITY_MAX},
    {0},
};

/* ---- acts on one experiment ---- */

/* The body as a request of routes.h about the experiment in the path; NULL: it is answered. */
static json_t *begin_act(struct web_call *call, const char *what, const struct web_key *keys)
{
    json_t *request = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int64_t id = 0;
    int r = web_experiment_ref(call, 0, &id, &err);

    if (r >= 0)
        r = web_may_change(call, id, &err);
    if (r >= 0)
        r = web_keys(call, keys, &request, &err);
    if (r < 0) {
        web_fail(call, r, &err);
        json_decref(request);
        return NULL;
    }
    json_object_set_new(request, "do", json_string(what));
    json_object_set_new(request, "experiment", json_integer(id));
    return request;
}

static void act(struct web_call *call, const char *what, const struct web_key *keys)
{
    autofree(json) json_t *request = begin_act(call, what, keys);

    if (request)
        web_act(call, request, 200);
}

static int check_open(struct web_call *call, int64_t experiment, struct err *err)
{
    autorelease(experiment_row) struct experiment_row row = {0};
    autofree(mem) char *ref = xasprintf("%lld", (long long)experiment);
    int r = store_find_experiment(call->store, ref, false, &row, err);

    if (r >= 0 && ended_words(row.experiment.state))
        r = err_set(err, EBUSY, "experiment %s %s already", ref, ended_words(row.experiment.state));
    return r;
}

static void on_stop(struct web_call *call)
{
    autofree(json) json_t *request = begin_act(call, "stop", stop_keys);
    autorelease(err) struct err err = ERR_INIT;

    if (!request)
        return;
    int r = check_open(call, json_get_int(request, "experiment", 0), &err);
    if (r < 0)
        web_fail(call, r, &err);
    else
        web_act(call, request, 200);
}

static void on_stop_trial(struct web_call *call)
{
    autofree(json) json_t *request = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int64_t experiment = 0, trial = 0;
    int r = web_trial_ref(call, 0, &experiment, &trial, &err);

    if (r >= 0)
        r = web_may_change(call, experiment, &err);
    if (r >= 0)
        r = web_keys(call, no_keys, &request, &err);
    if (r >= 0)
        r = check_open(call, experiment, &err);
    if (r < 0) {
        web_fail(call, r, &err);
        return;
    }
    json_object_set_new(request, "do", json_string("stop"));
    json_object_set_new(request, "experiment", json_integer(experiment));
    json_object_set_new(request, "trial", json_integer(trial));
    web_act(call, request, 200);
}

/* ---- resume: what was put off goes on; what was interrupted starts again, in its checkout, which
 * `gc` may have taken ---- */

struct resuming {
    struct web *web;
    struct http_request *request;
    json_t *body;
    struct experiment_row row;
    struct spec spec;
    char *home;
    struct err err;
    int r;
};

static int read_stored(struct resuming *resuming, struct store *store)
{
    autofree(mem) char *ref =
        xasprintf("%lld", (long long)json_get_int(resuming->body, "experiment", 0));
    int r = store_find_experiment(store, ref, true, &resuming->row, &resuming->err);

    if (r < 0)
        return r;
    const char *text = resuming->row.experiment.spec_json;
    r = spec_parse(text ? text : "", text ? strlen(text) : 0, "stored spec", "/", NULL,
                   &resuming->spec, NULL, &resuming->err);
    if (r >= 0 && !spec_has_program(&resuming->spec))
        r = err_set(&resuming->err, EBUSY,
                    "experiment %s was not run by Hone: there is nothing to run", ref);
    return r;
}

static void restore_code(void *arg)
{
    struct resuming *resuming = arg;
    resuming->r = checkout_restore(resuming->home, resuming->row.experiment.code, &resuming->spec,
                                   &resuming->err);
}

static void on_restored(void *arg, bool closing)
{
    struct resuming *resuming = arg;
    struct web_call call = {
        .request = resuming->request,
        .web = resuming->web,
        .home = resuming->home,
        .runtime = resuming->web->runtime,
    };

    if (resuming->r >= 0 && closing)
        resuming->r = err_set(&resuming->err, EAGAIN, "the server stops");
    if (resuming->r < 0)
        web_fail(&call, resuming->r, &resuming->err);
    else
        web_act(&call, resuming->body, 200);
    json_decref(resuming->body);
    experiment_row_release(&resuming->row);
    spec_release(&resuming->spec);
    err_release(&resuming->err);
    free(resuming->home);
    free(resuming);
}

static int check_extension(const json_t *body, struct err *err)
{
    const json_t *trials = json_object_get(body, "trials");

    if (trials && json_object_size(trials) != 1)
        return err_set(err, EINVAL, "trials: either add or set is wanted");
    return 0;
}

static void on_resume(struct web_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    json_t *body = begin_act(call, "resume", resume_keys);

    if (!body)
        return;
    if (check_extension(body, &err) < 0) {
        web_fail(call, -EINVAL, &err);
        json_decref(body);
        return;
    }
    struct resuming *resuming = xcalloc(1, sizeof(*resuming));
    *resuming = (struct resuming){.web = call->web,
                                  .request = call->request,
                                  .body = body,
                                  .home = xstrdup(call->home),
                                  .err = ERR_INIT};
    spec_init(&resuming->spec);
    resuming->r = read_stored(resuming, call->store);
    if (resuming->r < 0)
        on_restored(resuming, false);
    else
        web_work(call->web, restore_code, on_restored, resuming);
}

static void on_pause(struct web_call *call)
{
    act(call, "pause", pause_keys);
}

static void on_priority(struct web_call *call)
{
    act(call, "priority", priority_keys);
}

const struct web_route v1_act_routes[] = {
    {"POST", "/v1/experiments", ROLE_USER, DESK_LOOP, submit_asked, BODY_MAX,
     "Submit an experiment. The same key of the same user names the same experiment for ever.", 0},
    {"POST", "/v1/trials/*/rerun", ROLE_USER, DESK_LOOP, rerun_asked, BODY_MAX,
     "Submit a trial once more, with its code: a new experiment of one trial.", 0},
    {"POST", "/v1/trials/*/stop", ROLE_USER, DESK_LOOP, on_stop_trial, BODY_MAX,
     "Stop one trial; the others go on.", 0},
    {"POST", "/v1/imports", ROLE_USER, DESK_LOOP, import_asked, IMPORT_MAX,
     "Results made elsewhere become a finished experiment.", 0},
    {"PUT", "/v1/trials/*/samples", ROLE_USER, DESK_READ, samples_sent, SAMPLES_MAX,
     "The samples of an imported trial, as line protocol.", WEB_SPOOL},
    {"POST", "/v1/experiments/*/gather", ROLE_USER, DESK_LOOP, gather_asked, BODY_MAX,
     "All samples of an imported experiment are sent: put them with the others.", 0},
    {"POST", "/v1/experiments/*/stop", ROLE_USER, DESK_LOOP, on_stop, BODY_MAX,
     "Stop an experiment: mode now, or drain to let its running trials finish.", 0},
    {"POST", "/v1/experiments/*/resume", ROLE_USER, DESK_LOOP, on_resume, BODY_MAX,
     "Go on with an experiment that is paused or interrupted, or give it more trials.", 0},
    {"POST", "/v1/experiments/*/pause", ROLE_USER, DESK_LOOP, on_pause, BODY_MAX,
     "Start no more trials of it (mode starts), or let its running ones stand still (freeze).", 0},
    {"POST", "/v1/experiments/*/priority", ROLE_USER, DESK_LOOP, on_priority, BODY_MAX,
     "Its place in the queue: higher ones are served first.", 0},
    {"POST", "/v1/changes", ROLE_USER, DESK_LOOP, change_asked, BODY_MAX,
     "Tag, note, star or remove an experiment or a trial.", 0},
    {"HEAD", "/v1/objects/*", ROLE_USER, DESK_HTTP, object_asked, 0, "Is this code snapshot here?",
     0},
    {"PUT", "/v1/objects/*", ROLE_USER, DESK_LOOP, object_sent, OBJECT_MAX, "Send a code snapshot.",
     WEB_SPOOL},
    {0},
};
