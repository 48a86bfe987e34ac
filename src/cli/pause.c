/* SPDX-License-Identifier: MIT */
/*
 * pause.c — hone pause: an experiment, or the whole queue, starts no more trials until it is
 * resumed.
 */
#include "api/change.h"
#include "api/find.h"
#include "api/wire.h"
#include "cli/ask.h"
#include "cli/remote.h"

#include <errno.h>

static const struct cmd_option options[] = {
    {"freeze", 0, NULL, "running trials stand still, too, and give their cpus to others"},
    {"all", 'a', NULL, "the whole queue: no experiment starts a trial"},
    {NULL, 0, NULL, NULL},
};

static int pause_one(const struct cmd_call *call, const char *ref, bool freeze)
{
    autofree(mem) char *body = xasprintf("{\"mode\":\"%s\"}", freeze ? "freeze" : "starts");
    int64_t id = 0;

    if (call->server)
        return remote_act(call, "experiments", ref, "pause", body);
    int code = ask_find(call, ref, &id);
    if (code)
        return code;
    autofree(mem) char *request =
        xasprintf("{\"do\":\"pause\",\"experiment\":%lld,\"mode\":\"%s\"}", (long long)id,
                  freeze ? "freeze" : "starts");
    return ask_engine(call, id, request, NULL);
}

static int run(struct cmd_call *call)
{
    bool all = cmd_flag(call, "all"), freeze = cmd_flag(call, "freeze");

    if (all == (call->n_args > 0))
        return cmd_usage(call, "name an experiment, or say --all");
    if (all && freeze)
        return cmd_usage(call, "--freeze is for one experiment");
    int code = all ? ask_queue_pause(call, true) : pause_one(call, call->args[0], freeze);
    if (code)
        return code;
    if (call->json)
        puts("{\"ok\":true}");
    else if (all)
        puts("the queue is paused: 'hone resume --all' lets it go on");
    else
        printf("experiment %s %s: 'hone resume %s' lets it go on\n", call->args[0],
               freeze ? "stands still" : "starts no more trials", call->args[0]);
    return CMD_OK;
}

const struct cmd cmd_pause = {
    .name = "pause",
    .args = "[EXPERIMENT]",
    .help = "start no more trials of an experiment, or of the whole queue",
    .details = "Trials that run go on; with --freeze they stand still where they are (their "
               "processes are stopped, not ended) and give their cpus to others, but keep their "
               "memory and GPUs. A pause is kept over restarts; 'hone resume' ends it, and so does "
               "'hone resume --all' that of the queue.",
    .min_args = 0,
    .max_args = 1,
    .options = options,
    .run = run,
};
