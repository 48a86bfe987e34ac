/* SPDX-License-Identifier: MIT */
/*
 * stop.c — hone stop: end an experiment, or one of its trials, for good.
 *
 * Through the engine that runs it; without one this command is the engine for a moment: it adopts
 * what still runs and ends it.
 */
#include "api/find.h"
#include "cli/ask.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/remote.h"

#include <errno.h>

static const struct cmd_option options[] = {
    {"drain", 0, NULL, "start nothing more, but let running trials finish"},
    {NULL, 0, NULL, NULL},
};

struct named {
    int64_t experiment;
    int64_t trial; /* 0: the experiment is meant */
    char *name;    /* "3" or "3.7" */
};

static void named_release(struct named *named)
{
    free(named->name);
}

static int find_open(struct cmd_call *call, struct named *ret, struct err *err)
{
    autofree(store) struct store *store = NULL;
    struct target target;
    int r = store_open_read(call->home, &store, err);

    if (r < 0)
        return r;
    r = target_find(store, call->args[0], FIND_ANY, &target, err);
    if (r >= 0) {
        const struct experiment *experiment = &target.experiment.experiment;
        *ret = (struct named){experiment->id, target.has_trial ? target.trial.trial.number : 0,
                              target_name(&target)};
        if (ended_words(experiment->state))
            r = err_set(err, EALREADY, "experiment %lld %s already", (long long)experiment->id,
                        ended_words(experiment->state));
    }
    target_release(&target);
    return r;
}

static int refuse_drain(const struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;

    err_set(&err, EINVAL,
            "--drain is for an experiment: a trial that is let finish is not stopped");
    return cmd_fail(call, CMD_USAGE, &err);
}

/* Nobody runs it: bring it back only to end it. */
static int stop_alone(struct cmd_call *call, struct follow *follow, int64_t id, enum stop_mode mode,
                      struct err *err)
{
    int r = session_resume(follow_session(follow), id, err);
    if (r >= 0)
        r = session_stop(follow_session(follow), id, mode, err);
    if (r < 0) {
        follow_close(follow);
        return cmd_fail(call, CMD_FAILED, err);
    }
    follow_run(follow, id);
    return CMD_OK;
}

static void say(const struct cmd_call *call, const struct named *named, bool drain)
{
    const char *id = named->name;

    if (call->json && named->trial)
        printf("{\"experiment\":%lld,\"trial\":\"%s\"}\n", (long long)named->experiment, id);
    else if (call->json)
        printf("{\"experiment\":%s,\"drain\":%s}\n", id, drain ? "true" : "false");
    else if (named->trial)
        printf("trial %s is told to stop; the others go on\n", id);
    else
        printf("experiment %s %s\n", id,
               drain ? "ends when its running trials have finished" : "is told to stop");
}

static int name_there(struct cmd_call *call, struct named *ret, struct err *err)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *shown = NULL;
    int r = remote_open(call, &remote, err);

    if (r >= 0)
        r = remote_show(remote, call->args[0], &shown, err);
    if (r < 0)
        return r;
    int64_t experiment = json_get_int(shown, "experiment", 0);
    const char *trial = json_get_text(shown, "trial", NULL);
    *ret = (struct named){experiment, trial != NULL,
                          trial ? xstrdup(trial) : xasprintf("%lld", (long long)experiment)};
    return 0;
}

static int stop_there(struct cmd_call *call, struct named *named, bool drain)
{
    autorelease(err) struct err err = ERR_INIT;

    if (name_there(call, named, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (named->trial && drain)
        return refuse_drain(call);
    return remote_act(call, named->trial ? "trials" : "experiments", named->name, "stop",
                      drain ? "{\"mode\":\"drain\"}" : "{}");
}

static int stop_trial_here(struct cmd_call *call, const struct named *named)
{
    autofree(mem) char *request = xasprintf("{\"do\":\"stop\",\"experiment\":%lld,\"trial\":%lld}",
                                            (long long)named->experiment, (long long)named->trial);

    return ask_engine(call, named->experiment, request, NULL);
}

static int stop_experiment_here(struct cmd_call *call, int64_t id, enum stop_mode mode)
{
    struct follow_options how = {.quiet = true};
    struct follow *follow = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int code = follow_open(call, &how, &follow);

    if (code)
        return code;
    if (session_is_engine(follow_session(follow)))
        return stop_alone(call, follow, id, mode, &err);
    int r = session_stop(follow_session(follow), id, mode, &err);
    follow_close(follow);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
}

static int stop_here(struct cmd_call *call, struct named *named, bool drain)
{
    autorelease(err) struct err err = ERR_INIT;

    if (find_open(call, named, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (named->trial)
        return drain ? refuse_drain(call) : stop_trial_here(call, named);
    return stop_experiment_here(call, named->experiment, drain ? STOP_DRAIN : STOP_NOW);
}

static int run(struct cmd_call *call)
{
    bool drain = cmd_flag(call, "drain");
    autorelease(named) struct named named = {0};
    int code = call->server ? stop_there(call, &named, drain) : stop_here(call, &named, drain);

    if (code == CMD_OK)
        say(call, &named, drain);
    return code;
}

const struct cmd cmd_stop = {
    .name = "stop",
    .args = "EXPERIMENT|TRIAL",
    .help = "ask its trials, or this one alone, to stop now; --drain lets them finish",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
