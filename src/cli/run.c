/* SPDX-License-Identifier: MIT */
/*
 * run.c — hone run: read a spec, submit it, stay until it ends.
 */
#include "cli/run.h"
#include "base/log.h"
#include "cli/detach.h"
#include "cli/follow.h"
#include "cli/prepare.h"
#include "cli/program.h"
#include "cli/remote_submit.h"

#include <errno.h>

static const struct cmd_option options[] = {
    RUN_OPTIONS,
    {NULL, 0, NULL, NULL},
};

int run_read_spec(struct cmd_call *call, const struct spec_overrides *overrides, struct spec *spec)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str notes = STR_INIT;

    if (call->n_args && program_refuse(call->cmd, call->args[0], &err) < 0)
        return cmd_fail(call, CMD_USAGE, &err);
    int r = spec_load(call->n_args ? call->args[0] : NULL, overrides, spec, &notes, &err);
    if (r >= 0 && !call->server) /* there it may be another */
        r = program_check(spec, &err);
    if (notes.len)
        fputs(notes.s, stderr);
    return r < 0 ? cmd_fail(call, CMD_USAGE, &err) : 0;
}

/* Else one would wait and not know for what. */
static void warn_if_paused(const struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    bool paused = false;

    if (store_open_read(call->home, &store, NULL) >= 0 &&
        store_queue_paused(store, &paused, NULL) >= 0 && paused)
        log_warn("the queue of this home is paused: 'hone resume --all' lets it go on");
}

static int submit_and_follow(struct cmd_call *call, struct spec *spec,
                             const struct prepared *prepared, struct detach *detach)
{
    struct follow_options how = {.quiet = detach != NULL, .detach = detach};
    struct submission submission = prepared_submission(prepared, spec);
    struct follow *follow = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int64_t id = 0;
    int code = follow_open(call, &how, &follow);

    if (code)
        return code;
    int r = session_submit(follow_session(follow), &submission, &id, &err);
    if (r < 0) {
        follow_close(follow);
        return cmd_fail(call, r == -EINVAL || r == -ERANGE ? CMD_USAGE : CMD_FAILED, &err);
    }
    warn_if_paused(call);
    if (detach && !session_is_engine(follow_session(follow)))
        detach_ready(detach, id); /* the engine answered, so it is kept */
    return follow_run(follow, id);
}

static int run_prepared(struct cmd_call *call, struct spec *spec)
{
    struct prepared prepared;
    autorelease(err) struct err err = ERR_INIT;
    struct detach detach, *background = NULL;
    int code = 0;

    if (prepare(call, spec, &prepared, &err) < 0) {
        prepared_release(&prepared);
        return cmd_fail(call, CMD_FAILED, &err);
    }
    if (cmd_flag(call, "detach")) {
        if (detach_fork(call, &detach, &code)) {
            prepared_release(&prepared);
            return code; /* the terminal's side */
        }
        background = &detach;
    }
    code = submit_and_follow(call, spec, &prepared, background);
    prepared_release(&prepared);
    return code;
}

static void warn_if_paused_there(struct remote *remote)
{
    autofree(json) json_t *queue = NULL;

    if (remote_call(remote, "GET", "/v1/queue", NULL, &queue, NULL) >= 0 &&
        json_get_bool(queue, "paused", false))
        log_warn("the queue of %s is paused", remote_url(remote));
}

/* At a server: there is nothing to be the engine of. */
static int run_there(struct cmd_call *call, struct spec *spec)
{
    struct follow_options how = {0};
    autofree(remote) struct remote *remote = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct follow *follow = NULL;
    int64_t id = 0;
    int r = remote_open(call, &remote, &err);

    if (r >= 0)
        r = remote_submit(call, remote, spec, NULL, &id, &err);
    if (r < 0)
        return cmd_fail(call, r == -EINVAL || r == -ERANGE ? CMD_USAGE : CMD_FAILED, &err);
    warn_if_paused_there(remote);
    if (cmd_flag(call, "detach"))
        return detach_say(call, id);
    int code = follow_open(call, &how, &follow);
    return code ? code : follow_run(follow, id);
}

int run_spec(struct cmd_call *call, const struct spec_overrides *overrides)
{
    autorelease(spec) struct spec spec;

    spec_init(&spec);
    int code = run_read_spec(call, overrides, &spec);
    if (code)
        return code;
    return call->server ? run_there(call, &spec) : run_prepared(call, &spec);
}

static int run(struct cmd_call *call)
{
    struct spec_overrides overrides;
    int code = overrides_file(call);

    if (code)
        return code;
    overrides_read(call, &overrides);
    code = run_spec(call, &overrides);
    spec_overrides_release(&overrides);
    return code;
}

const struct cmd cmd_run = {
    .name = "run",
    .args = "[FILE] [-- COMMAND]",
    .help = "run an experiment: trials side by side, the best settings at the end",
    .details = "FILE is a spec (docs/spec.md), or mlframework's parameters.yml, or PipeTune's "
               "pipetune.conf. Without one it is hone.yaml of this folder; or name no file and "
               "give a program: hone run --param lr=0.001..0.1:log --minimize loss "
               "-- python3 train.py\n\n"
               "Ctrl-C once asks running trials for a checkpoint and ends; 'hone resume' goes on. "
               "Twice kills them. If another hone works in this home, the experiment joins it.\n\n"
               "Exit status: 0 finished as asked; 1 no trial completed, or the engine failed; 2 "
               "wrong usage or spec; 130 interrupted, can be resumed.",
    .min_args = 0,
    .max_args = 1,
    .options = options,
    .run = run,
};
