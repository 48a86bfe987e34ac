/* SPDX-License-Identifier: MIT */
/*
 * attach.c — hone attach: the live view of an experiment that runs elsewhere. Ctrl-C only leaves.
 */
#include "api/find.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/remote.h"

#include <errno.h>

static int find_running(struct cmd_call *call, int64_t *ret_id, struct err *err)
{
    autofree(store) struct store *store = NULL;
    struct target target;
    int r = store_open_read(call->home, &store, err);

    if (r < 0)
        return r;
    r = target_find(store, call->n_args ? call->args[0] : "last", FIND_EXPERIMENT, &target, err);
    if (r >= 0) {
        const struct experiment *experiment = &target.experiment.experiment;
        enum experiment_state state = shown_state(experiment, home_has_engine(call->home));
        long long id = experiment->id;
        *ret_id = id;
        if (state == EXPERIMENT_INTERRUPTED)
            r = err_set(err, ENOENT, "experiment %lld is interrupted: 'hone resume %lld' goes on",
                        id, id);
        else if (state != EXPERIMENT_RUNNING)
            r = err_set(err, ENOENT, "experiment %lld %s%s: 'hone show %lld' tells about it", id,
                        state == EXPERIMENT_FAILED ? "" : "is ", experiment_state_name(state), id);
    }
    target_release(&target);
    return r;
}

static int find_there(struct cmd_call *call, int64_t *ret_id, struct err *err)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *shown = NULL;
    int r = remote_open(call, &remote, err);

    if (r >= 0)
        r = remote_show(remote, call->n_args ? call->args[0] : "last", &shown, err);
    if (r < 0)
        return r;
    const char *state = json_get_text(shown, "state", "");
    *ret_id = json_get_int(shown, "experiment", 0);
    if (!json_is_null(json_object_get(shown, "trial")))
        return err_set(err, EINVAL, "%s is a trial: name its experiment", call->args[0]);
    if (!str_eq(state, "running"))
        return err_set(err, ENOENT, "experiment %lld is %s: 'hone show %lld' tells about it",
                       (long long)*ret_id, state, (long long)*ret_id);
    return 0;
}

static int attach_there(struct cmd_call *call)
{
    struct follow_options how = {.join_only = true, .from_now = true};
    struct follow *follow = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int64_t id = 0;

    if (find_there(call, &id, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int code = follow_open(call, &how, &follow);
    return code ? code : follow_run(follow, id);
}

static int run(struct cmd_call *call)
{
    struct follow_options how = {.join_only = true};
    struct follow *follow = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int64_t id = 0;

    if (call->server)
        return attach_there(call);
    if (find_running(call, &id, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int code = follow_open(call, &how, &follow);
    if (code)
        return code;
    if (session_watch(follow_session(follow), id, &err) < 0) {
        follow_close(follow);
        return cmd_fail(call, CMD_FAILED, &err);
    }
    return follow_run(follow, id);
}

const struct cmd cmd_attach = {
    .name = "attach",
    .args = "[EXPERIMENT]",
    .help = "watch an experiment that runs elsewhere; Ctrl-C only leaves it",
    .min_args = 0,
    .max_args = 1,
    .run = run,
};
