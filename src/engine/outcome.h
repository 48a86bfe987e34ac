/* SPDX-License-Identifier: MIT */
/*
 * outcome.h — what the end of an attempt means for its trial. A pure table.
 */
#ifndef HONE_OUTCOME_H
#define HONE_OUTCOME_H

#include "agent/agent.h"
#include "model/trial.h"

/* What is known when an attempt has ended. */
struct attempt_facts {
    const struct ending *ending;
    enum reason asked;   /* why we asked it to end; REASON_NONE: we did not */
    bool obeyed;         /* it answered our request before it ended */
    bool paused;         /* a rule had paused it */
    bool still;          /* … and nothing of it ran */
    bool reached_target; /* it is the one that reached objective.target */
    bool has_value;      /* the objective was reported, or there is none */
    bool new_checkpoint; /* there is a newer checkpoint than the one it started from */
    int64_t retries;     /* made so far */
    int64_t retries_allowed;
    bool code_listed; /* its exit status is listed under retry: */
};

enum verdict {
    VERDICT_COMPLETED,
    VERDICT_STOPPED,
    VERDICT_FAILED,
    VERDICT_REQUEUE, /* at once, not counted as a retry */
    VERDICT_RETRY,   /* after back-off, counted */
    VERDICT_PARK,    /* stays paused, without an attempt: with a checkpoint, or interrupted */
};
struct outcome {
    enum verdict verdict;
    enum reason reason;
};
struct outcome outcome_of(const struct attempt_facts *facts);

#define EXIT_CHECKPOINTED 85

#endif
