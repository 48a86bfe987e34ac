/* SPDX-License-Identifier: MIT */
/*
 * ask.c — requests to the engine at work.
 */
#include "cli/ask.h"
#include "api/change.h"
#include "api/find.h"
#include "api/wire.h"
#include "base/fs.h"
#include "cli/remote.h"

#include <errno.h>

int ask_find(const struct cmd_call *call, const char *ref, int64_t *ret)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct target target;

    if (store_open_read(call->home, &store, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int r = target_find(store, ref, FIND_EXPERIMENT, &target, &err);
    *ret = target.experiment.experiment.id;
    target_release(&target);
    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : 0;
}

int ask_engine(const struct cmd_call *call, int64_t id, const char *request, json_t **ret)
{
    autofree(json) json_t *reply = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int r = wire_call(call->home, request, &reply, &err);

    if (r == -ENOENT || r == -ECONNREFUSED || r == -EPIPE)
        err_set(&err, ENOENT,
                "experiment %lld is not running: 'hone show %lld' tells how it stands",
                (long long)id, (long long)id);
    if (r < 0)
        return cmd_fail(call, r == -ERANGE || r == -EINVAL ? CMD_USAGE : CMD_FAILED, &err);
    if (ret)
        *ret = TAKE(reply);
    return 0;
}

static int pause_server(const struct cmd_call *call, const char *body, struct err *err)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *reply = NULL;
    int r = remote_open(call, &remote, err);

    return r < 0 ? r : remote_call(remote, "POST", "/v1/queue", body, &reply, err);
}

int ask_queue_pause(const struct cmd_call *call, bool paused)
{
    autofree(mem) char *request = xasprintf(
        "{%s\"paused\":%s}", call->server ? "" : "\"do\":\"queue\",", paused ? "true" : "false");
    autorelease(err) struct err err = ERR_INIT;
    autofree(json) json_t *reply = NULL;
    int r = 0;

    if (!call->server)
        r = fs_make_dirs(call->home, 0700, &err); /* it may be said before anything else */
    if (r >= 0)
        r = call->server ? pause_server(call, request, &err)
                         : home_change(call->home, request, &reply, &err);

    return r < 0 ? cmd_fail(call, CMD_FAILED, &err) : 0;
}
