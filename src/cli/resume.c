/* SPDX-License-Identifier: MIT */
/*
 * resume.c — hone resume: go on with an experiment that was interrupted or whose engine died, or
 * with one that is finished and is given more trials.
 */
#include "api/checkout.h"
#include "api/rows.h"
#include "cli/ask.h"
#include "cli/detach.h"
#include "api/find.h"
#include "cli/follow.h"
#include "cli/import.h"
#include "cli/output.h"
#include "cli/remote.h"

#include <errno.h>

static const struct cmd_option options[] = {
    {"detach", 'd', NULL, "go on in the background and return"},
    {"all", 'a', NULL, "let a paused queue go on"},
    {"trials", 0, "+N|N", "so many trials more, or in all; a finished experiment goes on, too"},
    {NULL, 0, NULL, NULL},
};

struct pick {
    int64_t id;
    bool any; /* --trials: a finished one will do */
};

/* Without a name: the newest one that is not finished. */
static int pick_unfinished(const struct experiment_row *row, void *arg)
{
    struct pick *pick = arg;
    if (!pick->any && row->experiment.state != EXPERIMENT_RUNNING &&
        row->experiment.state != EXPERIMENT_INTERRUPTED)
        return 0;
    pick->id = row->experiment.id;
    return 1;
}

/* The words that name it: "last", "fashion", "7". Free them. */
static int find_ref(struct cmd_call *call, struct store *store, char **ret, struct err *err)
{
    struct pick pick = {.any = cmd_value(call, "trials") != NULL};

    if (call->n_args) {
        *ret = xstrdup(call->args[0]);
        return 0;
    }
    int r = store_experiments(store, 0, pick_unfinished, &pick, err);
    if (r < 0)
        return r;
    if (!pick.id)
        return err_set(err, ENOENT, "there is nothing to resume: 'hone ls' lists the experiments");
    *ret = xasprintf("%lld", (long long)pick.id);
    return 0;
}

/* Find it; `gc` may have taken the checkout of one that was stopped. */
static int find_one(struct cmd_call *call, int64_t *ret_id, struct err *err)
{
    autofree(store) struct store *store = NULL;
    autofree(mem) char *ref = NULL;
    struct target target;
    int r = store_open_read(call->home, &store, err);

    if (r >= 0)
        r = find_ref(call, store, &ref, err);
    if (r < 0)
        return r;
    r = target_find(store, ref, FIND_EXPERIMENT, &target, err);
    *ret_id = target.experiment.experiment.id;
    if (r >= 0 && spec_has_no_program(&target.spec))
        r = err_set(err, ENOENT,
                    "experiment %lld was imported without a command: there is nothing to run; "
                    "'knowledge: %s' in a spec learns from it",
                    (long long)*ret_id, target.spec.name);
    if (r >= 0 &&
        (target.experiment.experiment.state != EXPERIMENT_FINISHED || cmd_value(call, "trials")))
        r = checkout_restore(call->home, target.experiment.experiment.code, &target.spec, err);
    target_release(&target);
    return r;
}

/* "+50": so many more, "150": so many in all. 0, or CMD_USAGE after having said what is wrong. */
static int read_trials(const struct cmd_call *call, struct extension *ret)
{
    const char *text = cmd_value(call, "trials");
    char *end = NULL;

    *ret = (struct extension){0};
    if (!text)
        return 0;
    errno = 0;
    long long n = *text >= '+' ? strtoll(text, &end, 10) : 0;
    if (errno || n < 1 || n > 1000000000 || *end)
        return cmd_usage(call, "--trials wants +N for so many more, or N in all, not '%s'", text);
    if (*text == '+')
        ret->add = n;
    else
        ret->total = n;
    return 0;
}

static int resume_and_follow(struct cmd_call *call, int64_t id, const struct extension *extension,
                             struct detach *detach)
{
    struct follow_options how = {.quiet = detach != NULL};
    struct follow *follow = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int code = follow_open(call, &how, &follow);

    if (code)
        return code;
    struct session *session = follow_session(follow);
    int r = extension->add || extension->total ? session_extend(session, id, extension, &err)
                                               : session_resume(session, id, &err);
    if (r < 0) {
        follow_close(follow);
        return cmd_fail(call, r == -EINVAL ? CMD_USAGE : CMD_FAILED, &err);
    }
    if (detach)
        detach_ready(detach, id);
    return follow_run(follow, id);
}

/* ---- what was only paused goes on where it is ---- */

static int say_goes_on(const struct cmd_call *call, int64_t id)
{
    if (call->json)
        printf("{\"experiment\":%lld}\n", (long long)id);
    else
        printf("experiment %lld goes on\n", (long long)id);
    return CMD_OK;
}

static int resume_queue(struct cmd_call *call)
{
    if (call->n_args || cmd_value(call, "trials"))
        return cmd_usage(call, "--all is for the queue, not for one experiment");
    int code = ask_queue_pause(call, false);
    if (code == 0)
        puts(call->json ? "{\"ok\":true}" : "the queue goes on");
    return code;
}

static bool is_paused(struct cmd_call *call, int64_t id)
{
    autofree(store) struct store *store = NULL;
    autorelease(experiment_row) struct experiment_row row = {0};
    autofree(mem) char *ref = xasprintf("%lld", (long long)id);

    return home_has_engine(call->home) && store_open_read(call->home, &store, NULL) >= 0 &&
           store_find_experiment(store, ref, false, &row, NULL) >= 0 &&
           row.experiment.state == EXPERIMENT_RUNNING && row.experiment.paused != HELD_NOT;
}

static int unpause(struct cmd_call *call, int64_t id)
{
    autofree(mem) char *request =
        xasprintf("{\"do\":\"pause\",\"experiment\":%lld,\"mode\":\"none\"}", (long long)id);
    int code = ask_engine(call, id, request, NULL);
    return code ? code : say_goes_on(call, id);
}

/* ---- at a server ---- */

static bool is_paused_there(struct remote *remote, int64_t id)
{
    autofree(json) json_t *queue = NULL;

    if (remote_call(remote, "GET", "/v1/queue", NULL, &queue, NULL) < 0)
        return false;
    const json_t *list = json_object_get(queue, "experiments");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_get_int(json_array_get(list, i), "experiment", 0) == id)
            return json_get_bool(json_array_get(list, i), "paused", false);
    return false;
}

static int resume_there(struct cmd_call *call, const struct extension *extension)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *shown = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct follow_options how = {.from_now = true};
    struct follow *follow = NULL;
    autofree(mem) char *body =
        extension->add || extension->total
            ? xasprintf("{\"trials\":{\"%s\":%lld}}", extension->add ? "add" : "set",
                        (long long)(extension->add ? extension->add : extension->total))
            : xstrdup("{}");
    int r = remote_open(call, &remote, &err);

    if (r >= 0)
        r = remote_show(remote, call->n_args ? call->args[0] : "last", &shown, &err);
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int64_t id = json_get_int(shown, "experiment", 0);
    bool paused = is_paused_there(remote, id);
    autofree(mem) char *ref = xasprintf("%lld", (long long)id);
    int code = remote_act(call, "experiments", ref, "resume", body);
    if (code || paused)
        return code ? code : say_goes_on(call, id);
    if (cmd_flag(call, "detach"))
        return detach_say(call, id);
    code = follow_open(call, &how, &follow);
    return code ? code : follow_run(follow, id);
}

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct extension extension;
    struct detach detach;
    int64_t id = 0;
    int code = read_trials(call, &extension);

    if (code)
        return code;
    if (cmd_flag(call, "all"))
        return resume_queue(call);
    if (call->server)
        return resume_there(call, &extension);
    if (find_one(call, &id, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (!cmd_value(call, "trials") && is_paused(call, id))
        return unpause(call, id);
    if (!cmd_flag(call, "detach"))
        return resume_and_follow(call, id, &extension, NULL);
    if (detach_fork(call, &detach, &code))
        return code;
    return resume_and_follow(call, id, &extension, &detach);
}

const struct cmd cmd_resume = {
    .name = "resume",
    .args = "[EXPERIMENT]",
    .help = "go on with a paused or interrupted experiment; what still runs is adopted",
    .details = "Trials that still run under their keepers are adopted, those that do not are "
               "started again (from their newest checkpoint if they wrote one), nothing runs "
               "twice. Without a name: the newest experiment that is not finished. One that 'hone "
               "pause' put off goes on where it is; --all is for a queue that was paused.\n\n"
               "--trials +50 gives it fifty trials more than it was to have, --trials 150 so many "
               "in all; then a finished or stopped experiment goes on as well, and its search "
               "knows all that was found.",
    .min_args = 0,
    .max_args = 1,
    .options = options,
    .run = run,
};
