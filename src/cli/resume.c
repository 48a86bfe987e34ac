/* SPDX-License-Identifier: MIT */
/*
 * resume.c — hone resume: go on with an experiment that was interrupted or whose engine died.
 */
#include "cli/checkout.h"
#include "cli/detach.h"
#include "cli/find.h"
#include "cli/follow.h"
#include "cli/output.h"

#include <errno.h>

static const struct cmd_option options[] = {
    {"detach", 'd', NULL, "go on in the background and return"},
    {NULL, 0, NULL, NULL},
};

struct pick {
    int64_t id;
};

/* Without a name: the newest one that is not finished. */
static int pick_unfinished(const struct experiment_row *row, void *arg)
{
    struct pick *pick = arg;
    if (row->experiment.state != EXPERIMENT_RUNNING &&
        row->experiment.state != EXPERIMENT_INTERRUPTED)
        return 0;
    pick->id = row->experiment.id;
    return 1;
}

/* The words that name it: "last", "fashion", "7". Free them. */
static int find_ref(struct cmd_call *call, struct store *store, char **ret, struct err *err)
{
    struct pick pick = {0};

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
    if (r >= 0 && target.experiment.experiment.state != EXPERIMENT_FINISHED)
        r = checkout_restore(call->home, target.experiment.experiment.code, &target.spec, err);
    target_release(&target);
    return r;
}

static int resume_and_follow(struct cmd_call *call, int64_t id, struct detach *detach)
{
    struct follow_options how = {.quiet = detach != NULL};
    struct follow *follow = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int code = follow_open(call, &how, &follow);

    if (code)
        return code;
    int r = session_resume(follow_session(follow), id, &err);
    if (r < 0) {
        follow_close(follow);
        return cmd_fail(call, r == -EINVAL ? CMD_USAGE : CMD_FAILED, &err);
    }
    if (detach)
        detach_ready(detach, id);
    return follow_run(follow, id);
}

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    struct detach detach;
    int64_t id = 0;
    int code = 0;

    if (find_one(call, &id, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (!cmd_flag(call, "detach"))
        return resume_and_follow(call, id, NULL);
    if (detach_fork(call, &detach, &code))
        return code;
    return resume_and_follow(call, id, &detach);
}

const struct cmd cmd_resume = {
    .name = "resume",
    .args = "[EXPERIMENT]",
    .help = "go on with an interrupted experiment; what still runs is adopted",
    .details = "Trials that still run under their keepers are adopted, those that do not are "
               "started again (from their newest checkpoint if they wrote one), nothing runs "
               "twice. Without a name: the newest experiment that is not finished.",
    .min_args = 0,
    .max_args = 1,
    .options = options,
    .run = run,
};
