/* SPDX-License-Identifier: MIT */
/*
 * star.c — hone star: mark what is worth keeping. `hone gc` never removes a starred trial.
 */
#include "cli/mark.h"

static const struct cmd_option options[] = {
    {"off", 0, NULL, "take the star off"},
    {NULL, 0, NULL, NULL},
};

static int run(struct cmd_call *call)
{
    bool on = !cmd_flag(call, "off");
    autorelease(str) struct str request = STR_INIT;
    struct json_out out = JSON_OUT(&request);
    struct target target;
    int code = mark_find(call, call->args[0], &target);

    if (code == 0) {
        mark_begin(&out, "star", &target);
        json_put_bool(&out, "star", on);
        code = mark_send(call, &out);
    }
    if (code == 0)
        mark_done(call, &target, on ? "star" : "unstar", on ? "starred" : "not starred any more");
    target_release(&target);
    return code;
}

const struct cmd cmd_star = {
    .name = "star",
    .args = "EXPERIMENT|TRIAL",
    .help = "mark an experiment or trial as worth keeping",
    .details = "'hone gc' never removes starred trials.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
