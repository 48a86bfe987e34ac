/* SPDX-License-Identifier: MIT */
/*
 * state.h — the states of experiments, trials and attempts, the reasons beside them, and which
 * change is lawful. The names are the same in C, SQL, JSON, the command line and the browser.
 */
#ifndef HONE_STATE_H
#define HONE_STATE_H

#include "base/base.h"

enum experiment_state {
    EXPERIMENT_RUNNING,
    EXPERIMENT_FINISHED,
    EXPERIMENT_STOPPED,     /* by the user; `resume` can go on with it */
    EXPERIMENT_FAILED,      /* no trial completed */
    EXPERIMENT_INTERRUPTED, /* may be resumed */
    EXPERIMENT_STATES
};

enum trial_state {
    TRIAL_QUEUED,
    TRIAL_RUNNING,
    TRIAL_PAUSED,
    TRIAL_COMPLETED,
    TRIAL_STOPPED,
    TRIAL_FAILED,
    TRIAL_STATES
};

enum attempt_state {
    ATTEMPT_STARTING, /* committed; its keeper may or may not exist */
    ATTEMPT_RUNNING,  /* its keeper was seen */
    ATTEMPT_ENDED,
    ATTEMPT_STATES
};

/* Why something ended, or waits. */
enum reason {
    REASON_NONE,
    REASON_EXIT,         /* exit status not 0 */
    REASON_SIGNAL,       /* a signal that we did not send */
    REASON_OOM,          /* over its memory */
    REASON_TIMEOUT,      /* over limits.trial_time, or the experiment over limits.time/deadline */
    REASON_LOST,         /* its keeper or machine is gone */
    REASON_SPAWN,        /* could not be started */
    REASON_NO_METRIC,    /* exit 0 without the objective metric */
    REASON_DIVERGED,     /* NaN or Inf where it counts */
    REASON_PRUNED,       /* stopped early by a rule */
    REASON_TARGET,       /* reached objective.target, or the experiment did */
    REASON_CANCELLED,    /* the user said stop */
    REASON_INTERRUPTED,  /* Ctrl-C or the end of the engine: goes on with resume */
    REASON_CHECKPOINT,   /* exit 85: checkpointed, start me again */
    REASON_EXHAUSTED,    /* the whole space was tried */
    REASON_RETRY,        /* an exit code listed under retry: */
    REASON_SATISFIED,    /* `until`: no more improvement was to be expected */
    REASON_RECONFIGURED, /* started again from its checkpoint with another configuration */
    REASON_ALERT,        /* an alert said stop */
    REASON_REQUEUED,     /* an alert said: start it again from its checkpoint */
    REASON_HELD,         /* stands still because the user said so */
    REASON_BY_HAND,      /* the user said stop of this trial alone */
    REASON_FORBIDDEN,    /* no more setting was found that `forbid` allows */
    REASONS
};

const char *experiment_state_name(enum experiment_state state);
const char *trial_state_name(enum trial_state state);
const char *attempt_state_name(enum attempt_state state);
const char *reason_name(enum reason reason); /* REASON_NONE: "" */
/* The sentence for people: "over its memory limit". */
const char *reason_help(enum reason reason);
/* 0, or -EINVAL for an unknown name. "" is REASON_NONE. */
int experiment_state_parse(const char *name, enum experiment_state *ret);
int trial_state_parse(const char *name, enum trial_state *ret);
int attempt_state_parse(const char *name, enum attempt_state *ret);
int reason_parse(const char *name, enum reason *ret);

bool trial_state_ended(enum trial_state state);
/* Staying as it is, is not a change: x may not become x. */
bool trial_may_become(enum trial_state from, enum trial_state to);
bool experiment_may_become(enum experiment_state from, enum experiment_state to);

#endif
