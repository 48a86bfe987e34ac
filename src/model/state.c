/* SPDX-License-Identifier: MIT */
/*
 * state.c — the names of states and reasons, and the lawful changes as tables.
 *
 *     queued ⇄ running ⇄ paused        running → completed, stopped, failed
 *
 * An ended trial never changes again: what was reported about it stays true.
 */
#include "model/state.h"

#include <assert.h>
#include <errno.h>

static const char *const experiment_names[EXPERIMENT_STATES] = {
    [EXPERIMENT_RUNNING] = "running",         [EXPERIMENT_FINISHED] = "finished",
    [EXPERIMENT_STOPPED] = "stopped",         [EXPERIMENT_FAILED] = "failed",
    [EXPERIMENT_INTERRUPTED] = "interrupted",
};

static const char *const trial_names[TRIAL_STATES] = {
    [TRIAL_QUEUED] = "queued",       [TRIAL_RUNNING] = "running", [TRIAL_PAUSED] = "paused",
    [TRIAL_COMPLETED] = "completed", [TRIAL_STOPPED] = "stopped", [TRIAL_FAILED] = "failed",
};

static const char *const attempt_names[ATTEMPT_STATES] = {
    [ATTEMPT_STARTING] = "starting",
    [ATTEMPT_RUNNING] = "running",
    [ATTEMPT_ENDED] = "ended",
};

static const struct {
    const char *name, *help;
} reasons[REASONS] = {
    [REASON_NONE] = {"", ""},
    [REASON_EXIT] = {"exit", "the program ended with an error"},
    [REASON_SIGNAL] = {"signal", "ended by a signal that Hone did not send"},
    [REASON_OOM] = {"oom", "over its memory limit"},
    [REASON_TIMEOUT] = {"timeout", "over its time limit"},
    [REASON_LOST] = {"lost", "its keeper or machine is gone"},
    [REASON_SPAWN] = {"spawn", "the program could not be started"},
    [REASON_NO_METRIC] = {"no_metric", "ended without writing the objective metric"},
    [REASON_DIVERGED] = {"diverged", "a metric became NaN or infinite"},
    [REASON_PRUNED] = {"pruned", "stopped early: worse than the others"},
    [REASON_TARGET] = {"target", "the objective reached its target"},
    [REASON_CANCELLED] = {"cancelled", "stopped by the user"},
    [REASON_INTERRUPTED] = {"interrupted", "interrupted; goes on with hone resume"},
    [REASON_CHECKPOINT] = {"checkpoint", "checkpointed and asked to be started again"},
    [REASON_EXHAUSTED] = {"exhausted", "the whole space was tried"},
    [REASON_FORBIDDEN] = {"forbidden", "no more setting was found that is not forbidden"},
    [REASON_RETRY] = {"retry", "ended with an exit code that is to be retried"},
    [REASON_SATISFIED] = {"satisfied", "no more improvement is to be expected"},
    [REASON_RECONFIGURED] = {"reconfigured", "starts again with another configuration"},
    [REASON_ALERT] = {"alert", "stopped by an alert"},
    [REASON_REQUEUED] = {"requeued", "ended by an alert, to start again"},
    [REASON_BY_HAND] = {"by_hand", "stopped by hand"},
    [REASON_HELD] = {"held", "stands still as the user said; goes on with hone resume"},
};

const char *experiment_state_name(enum experiment_state state)
{
    assert(state < EXPERIMENT_STATES);
    return experiment_names[state];
}

const char *trial_state_name(enum trial_state state)
{
    assert(state < TRIAL_STATES);
    return trial_names[state];
}

const char *attempt_state_name(enum attempt_state state)
{
    assert(state < ATTEMPT_STATES);
    return attempt_names[state];
}

const char *reason_name(enum reason reason)
{
    assert(reason < REASONS);
    return reasons[reason].name;
}

const char *reason_help(enum reason reason)
{
    assert(reason < REASONS);
    return reasons[reason].help;
}

/* Index of `name`, or -EINVAL. */
static int find_name(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (str_eq(names[i], name))
            return i;
    return -EINVAL;
}

int experiment_state_parse(const char *name, enum experiment_state *ret)
{
    int i = find_name(experiment_names, EXPERIMENT_STATES, name);
    if (i < 0)
        return i;
    *ret = (enum experiment_state)i;
    return 0;
}

int trial_state_parse(const char *name, enum trial_state *ret)
{
    int i = find_name(trial_names, TRIAL_STATES, name);
    if (i < 0)
        return i;
    *ret = (enum trial_state)i;
    return 0;
}

int attempt_state_parse(const char *name, enum attempt_state *ret)
{
    int i = find_name(attempt_names, ATTEMPT_STATES, name);
    if (i < 0)
        return i;
    *ret = (enum attempt_state)i;
    return 0;
}

int reason_parse(const char *name, enum reason *ret)
{
    for (int i = 0; i < REASONS; i++)
        if (str_eq(reasons[i].name, name)) {
            *ret = (enum reason)i;
            return 0;
        }
    return -EINVAL;
}

bool trial_state_ended(enum trial_state state)
{
    return state == TRIAL_COMPLETED || state == TRIAL_STOPPED || state == TRIAL_FAILED;
}

#define BIT(state) (1u << (state))

bool trial_may_become(enum trial_state from, enum trial_state to)
{
    static const unsigned lawful[TRIAL_STATES] = {
        /* a queued trial may fail when it could not be started often enough */
        [TRIAL_QUEUED] = BIT(TRIAL_RUNNING) | BIT(TRIAL_STOPPED) | BIT(TRIAL_FAILED),
        [TRIAL_RUNNING] = BIT(TRIAL_QUEUED) | BIT(TRIAL_PAUSED) | BIT(TRIAL_COMPLETED) |
                          BIT(TRIAL_STOPPED) | BIT(TRIAL_FAILED),
        [TRIAL_PAUSED] =
            BIT(TRIAL_QUEUED) | BIT(TRIAL_RUNNING) | BIT(TRIAL_STOPPED) | BIT(TRIAL_FAILED),
    };
    assert(from < TRIAL_STATES && to < TRIAL_STATES);
    return lawful[from] & BIT(to);
}

bool experiment_may_become(enum experiment_state from, enum experiment_state to)
{
    static const unsigned lawful[EXPERIMENT_STATES] = {
        [EXPERIMENT_RUNNING] = BIT(EXPERIMENT_FINISHED) | BIT(EXPERIMENT_STOPPED) |
                               BIT(EXPERIMENT_FAILED) | BIT(EXPERIMENT_INTERRUPTED),
        [EXPERIMENT_INTERRUPTED] = BIT(EXPERIMENT_RUNNING) | BIT(EXPERIMENT_STOPPED),
        /* `resume` goes on with what is left of the budget */
        [EXPERIMENT_STOPPED] = BIT(EXPERIMENT_RUNNING),
        [EXPERIMENT_FAILED] = BIT(EXPERIMENT_RUNNING),
        /* … or with more than it had */
        [EXPERIMENT_FINISHED] = BIT(EXPERIMENT_RUNNING),
    };
    assert(from < EXPERIMENT_STATES && to < EXPERIMENT_STATES);
    return lawful[from] & BIT(to);
}
