/* SPDX-License-Identifier: MIT */
/*
 * attach.c — hone attach: the live view of an experiment that runs elsewhere. Ctrl-C only leaves.
 */
#include "cli/find.h"
#include "cli/follow.h"
#include "cli/output.h"

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

static int run(struct cmd_call *call)
{
    struct follow_options how = {.join_only = true};
    struct follow *follow = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int64_t id = 0;

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
