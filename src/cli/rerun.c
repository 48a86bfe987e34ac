/* SPDX-License-Identifier: MIT */
/*
 * rerun.c — hone rerun: repeat a trial exactly: same parameters, command and seeds, in a checkout
 * of the code it ran with. A new experiment of one trial that remembers where it came from.
 */
#include "api/checkout.h"
#include "api/rerun.h"
#include "base/rng.h"
#include "cli/follow.h"
#include "cli/influx_cursor.h"
#include "cli/prepare.h"
#include "cli/program.h"
#include "cli/remote_submit.h"

#include <errno.h>

/* It runs in a checkout, and that is its record: no snapshot of it is taken. */
static int prepare_rerun(const struct cmd_call *call, struct spec *spec, struct prepared *ret,
                         struct err *err)
{
    char *code = TAKE(spec->code);
    int r = prepare(call, spec, ret, err);
    spec->code = code;
    return r;
}

static int submit(struct cmd_call *call, struct target *target, const char *code)
{
    struct follow_options how = {0};
    struct follow *follow = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct prepared prepared;
    int64_t id = 0;

    if (code && checkout_make(call->home, code, &target->spec, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    rerun_name(&target->spec);
    if (program_check(&target->spec, &err) < 0 ||
        prepare_rerun(call, &target->spec, &prepared, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    struct submission submission = prepared_submission(&prepared, &target->spec);
    submission.code = code;
    submission.point = target->trial.trial.point;
    submission.rerun_of_experiment = target->trial.trial.experiment;
    submission.rerun_of_trial = target->trial.trial.number;
    int exit_code = follow_open(call, &how, &follow);
    if (exit_code == 0) {
        if (session_submit(follow_session(follow), &submission, &id, &err) < 0) {
            follow_close(follow);
            exit_code = cmd_fail(call, CMD_FAILED, &err);
        } else {
            exit_code = follow_run(follow, id);
        }
    }
    prepared_release(&prepared);
    return exit_code;
}

/* The server has all that it takes. */
static int rerun_there(struct cmd_call *call)
{
    autofree(remote) struct remote *remote = NULL;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str path = STR_INIT;
    autofree(mem) char *body = xasprintf("{\"key\":\"%016llx\"}", (unsigned long long)random_u64());
    struct follow_options how = {0};
    struct follow *follow = NULL;
    int64_t id = 0;
    int r = remote_open(call, &remote, &err);

    str_add(&path, "/v1/trials/");
    percent_encode(call->args[0], "", &path);
    str_add(&path, "/rerun");
    if (r >= 0)
        r = remote_post(remote, path.s, body, &id, &err);
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    int code = follow_open(call, &how, &follow);
    return code ? code : follow_run(follow, id);
}

static int run(struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct target target;
    int code;

    if (call->server)
        return rerun_there(call);
    if (store_open_read(call->home, &store, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (target_find(store, call->args[0], FIND_TRIAL, &target, &err) < 0) {
        code = cmd_fail(call, CMD_FAILED, &err);
    } else {
        autofree(mem) char *sha256 = rerun_code(store, &target);
        code = submit(call, &target, sha256);
    }
    target_release(&target);
    return code;
}

const struct cmd cmd_rerun = {
    .name = "rerun",
    .args = "TRIAL",
    .help = "repeat a trial exactly: same parameters, same code",
    .details = "Runs in a checkout of the code that the trial ran with, as a new experiment of one "
               "trial, called NAME-rerun. 'hone diff' compares the two.",
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
