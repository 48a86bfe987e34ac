/* SPDX-License-Identifier: MIT */
/*
 * outcome.c — the verdict over an ended attempt.
 *
 * First what we asked for, then what it did by itself. What may pass (a lost keeper, a spawn that
 * the machine could not do just then, preemption, exit 85, listed codes) is tried again; what would
 * happen again (other exits, its own signals, memory, time) is not.
 */
#include "engine/outcome.h"

static struct outcome retry_or_fail(const struct attempt_facts *facts, enum reason reason)
{
    bool again = facts->retries < facts->retries_allowed;
    return (struct outcome){again ? VERDICT_RETRY : VERDICT_FAILED, reason};
}

/* It goes on with resume; a paused one only when its rule has a slot for it. */
static struct outcome after_interrupt(const struct attempt_facts *facts)
{
    return (struct outcome){facts->paused ? VERDICT_PARK : VERDICT_REQUEUE, REASON_INTERRUPTED};
}

/* It was asked to end, and did, one way or another. */
static struct outcome after_asking(const struct attempt_facts *facts)
{
    bool by_itself = facts->ending->reason == REASON_NONE && !facts->obeyed;

    switch (facts->asked) {
    case REASON_INTERRUPTED:
        /* Only a whole training counts: one that broke off at our word goes on with resume. */
        if (by_itself && facts->has_value && !facts->still)
            return (struct outcome){VERDICT_COMPLETED, REASON_NONE};
        return after_interrupt(facts);
    case REASON_CHECKPOINT: /* paused trials hold too much: this one was to save itself and end */
        if (by_itself && facts->has_value)
            return (struct outcome){VERDICT_COMPLETED, REASON_NONE};
        if (facts->new_checkpoint)
            return (struct outcome){VERDICT_PARK, REASON_CHECKPOINT};
        return (struct outcome){VERDICT_STOPPED, REASON_PRUNED};
    case REASON_RECONFIGURED: /* it goes on from its checkpoint */
        if (by_itself && facts->has_value)
            return (struct outcome){VERDICT_COMPLETED, REASON_NONE};
        return (struct outcome){VERDICT_REQUEUE, REASON_RECONFIGURED};
    case REASON_REQUEUED: /* an alert: it goes on from its checkpoint, as often as retries allow */
        if (by_itself && facts->has_value)
            return (struct outcome){VERDICT_COMPLETED, REASON_NONE};
        if (facts->retries < facts->retries_allowed)
            return (struct outcome){VERDICT_RETRY, REASON_REQUEUED};
        return (struct outcome){VERDICT_FAILED, REASON_ALERT};
    case REASON_DIVERGED:
        return (struct outcome){VERDICT_FAILED, REASON_DIVERGED};
    case REASON_TARGET:
        return (struct outcome){facts->reached_target ? VERDICT_COMPLETED : VERDICT_STOPPED,
                                REASON_TARGET};
    default:
        return (struct outcome){VERDICT_STOPPED, facts->asked};
    }
}

static struct outcome after_exit(const struct attempt_facts *facts)
{
    if (facts->ending->exit_status == EXIT_CHECKPOINTED) {
        if (facts->new_checkpoint)
            return (struct outcome){VERDICT_REQUEUE, REASON_CHECKPOINT};
        return retry_or_fail(facts, REASON_CHECKPOINT);
    }
    if (facts->code_listed)
        return retry_or_fail(facts, REASON_RETRY);
    return (struct outcome){VERDICT_FAILED, REASON_EXIT};
}

struct outcome outcome_of(const struct attempt_facts *facts)
{
    const struct ending *ending = facts->ending;

    if (facts->asked != REASON_NONE && ending->reason != REASON_LOST)
        return after_asking(facts);
    switch (ending->reason) {
    case REASON_NONE:
        if (!facts->has_value)
            return (struct outcome){VERDICT_FAILED, REASON_NO_METRIC};
        return (struct outcome){VERDICT_COMPLETED, REASON_NONE};
    case REASON_EXIT:
        return after_exit(facts);
    case REASON_LOST:
        if (facts->asked == REASON_INTERRUPTED)
            return after_interrupt(facts);
        if (facts->asked != REASON_NONE)
            return after_asking(facts);
        return retry_or_fail(facts, REASON_LOST);
    case REASON_SPAWN:
        return ending->transient ? retry_or_fail(facts, REASON_SPAWN)
                                 : (struct outcome){VERDICT_FAILED, REASON_SPAWN};
    case REASON_CANCELLED: /* somebody else asked its keeper to end: preempted */
        return retry_or_fail(facts, REASON_INTERRUPTED);
    default:
        return (struct outcome){VERDICT_FAILED, ending->reason};
    }
}
