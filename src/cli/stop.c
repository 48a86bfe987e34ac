/* SPDX-License-Identifier: MIT */
/*
 * stop.c — hone stop: end an experiment for good.
 *
 * Through the engine that runs it; without one this command is the engine for a moment: it adopts
 * what still runs and ends it.
 */
#include "api/find.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/remote.h"

#include <errno.h>

static const struct cmd_option options[] = {
    {"drain", 0, NULL, "start nothing more, but let running trials finish"},
    {NULL, 0, NULL, NULL},
};

static int find_open(struct cmd_call *call, int64_t *ret_id, struct err *err)
{
    autofree(store) struct store *store = NULL;
    struct target target;
    int r = store_open_read(call->home, &store, err);

    if (r < 0)
        return r;
    r = target_find(store, call->args[0], FIND_EXPERIMENT, &target, err);
    if (r >= 0) {
        const struct experiment *experiment = &target.experiment.experiment;
        *ret_id = experiment->id;
        if (ended_words(experiment->state))
            r = err_set(err, EALREADY, "experiment %lld %s already", (long long)experiment->id,
                        ended_words(experiment->state));
    }
    target_release(&target);
    return r;
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

static void say(const struct cmd_call *call, const char *id, bool drain)
{
    if (call->json)
        printf("{\"experiment\":%s,\"drain\":%s}\n", id, drain ? "true" : "false");
    else
        printf("experiment %s %s\n", id,
               drain ? "ends when its running trials have finished" : "is told to stop");
}

static int stop_there(struct cmd_call *call, bool drain)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *shown = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int r = remote_open(call, &remote, &err);

    if (r >= 0)
        r = remote_show(remote, call->args[0], &shown, &err);
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    autofree(mem) char *id = xasprintf("%lld", (long long)json_get_int(shown, "experiment", 0));
    int code = remote_act(call, id, "stop", drain ? "{\"mode\":\"drain\"}" : "{}");
    if (code == 0)
        say(call, id, drain);
    return code;
}

static int run(struct cmd_call *call)
{
    enum stop_mode mode = cmd_flag(call, "drain") ? STOP_DRAIN : STOP_NOW;
    struct follow_options how = {.quiet = true};
    struct follow *follow = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int64_t id = 0;

    if (call->server)
        return stop_there(call, mode == STOP_DRAIN);
    if (find_open(call, &id, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int code = follow_open(call, &how, &follow);
    if (code)
        return code;
    if (session_is_engine(follow_session(follow))) {
        code = stop_alone(call, follow, id, mode, &err);
    } else {
        int r = session_stop(follow_session(follow), id, mode, &err);
        follow_close(follow);
        code = r < 0 ? cmd_fail(call, CMD_FAILED, &err) : CMD_OK;
    }
    autofree(mem) char *name = xasprintf("%lld", (long long)id);
    if (code == CMD_OK)
        say(call, name, mode == STOP_DRAIN);
    return code;
}

const struct cmd cmd_stop = {
    .name = "stop",
    .args = "EXPERIMENT",
    .help = "ask its trials to stop now; --drain lets them finish",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
