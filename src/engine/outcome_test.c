/* SPDX-License-Identifier: MIT */
/*
 * outcome_test.c — every way an attempt can end, and what its trial becomes.
 */
#include "engine/outcome.h"
#include "tests/test.h"

struct row {
    const char *story;
    enum reason ended;
    int status;
    bool transient;
    enum reason asked;
    bool obeyed, paused, still, reached, has_value, new_checkpoint, listed;
    int64_t retries;
    enum verdict verdict;
    enum reason reason;
};

static const struct row rows[] = {
    {"exit 0", REASON_NONE, .has_value = true, .verdict = VERDICT_COMPLETED},
    {"exit 0 without the objective", REASON_NONE, .verdict = VERDICT_FAILED,
     .reason = REASON_NO_METRIC},
    {"exit 1", REASON_EXIT, 1, .has_value = true, .verdict = VERDICT_FAILED, .reason = REASON_EXIT},
    {"a listed code", REASON_EXIT, 7, .listed = true, .verdict = VERDICT_RETRY,
     .reason = REASON_RETRY},
    {"a listed code too often", REASON_EXIT, 7, .listed = true, .retries = 2,
     .verdict = VERDICT_FAILED, .reason = REASON_RETRY},
    {"85 with a checkpoint", REASON_EXIT, 85, .new_checkpoint = true, .retries = 2,
     .verdict = VERDICT_REQUEUE, .reason = REASON_CHECKPOINT},
    {"85 without one", REASON_EXIT, 85, .verdict = VERDICT_RETRY, .reason = REASON_CHECKPOINT},
    {"85 without one, too often", REASON_EXIT, 85, .retries = 2, .verdict = VERDICT_FAILED,
     .reason = REASON_CHECKPOINT},
    {"asked to start again otherwise", REASON_NONE, .asked = REASON_RECONFIGURED, .obeyed = true,
     .has_value = true, .verdict = VERDICT_REQUEUE, .reason = REASON_RECONFIGURED},
    {"… but it was done", REASON_NONE, .asked = REASON_RECONFIGURED, .has_value = true,
     .verdict = VERDICT_COMPLETED},
    {"an alert said stop", REASON_CANCELLED, -1, .asked = REASON_ALERT, .has_value = true,
     .verdict = VERDICT_STOPPED, .reason = REASON_ALERT},
    {"an alert said: start again", REASON_CANCELLED, -1, .asked = REASON_REQUEUED,
     .verdict = VERDICT_RETRY, .reason = REASON_REQUEUED},
    {"… too often", REASON_CANCELLED, -1, .asked = REASON_REQUEUED, .retries = 2,
     .verdict = VERDICT_FAILED, .reason = REASON_ALERT},
    {"… and its keeper was lost then", REASON_LOST, -1, true, .asked = REASON_REQUEUED,
     .verdict = VERDICT_RETRY, .reason = REASON_REQUEUED},
    {"… but it had run to its end", REASON_NONE, .asked = REASON_REQUEUED, .has_value = true,
     .verdict = VERDICT_COMPLETED},
    {"its own signal", REASON_SIGNAL, -1, .verdict = VERDICT_FAILED, .reason = REASON_SIGNAL},
    {"out of memory", REASON_OOM, -1, .verdict = VERDICT_FAILED, .reason = REASON_OOM},
    {"over its time", REASON_TIMEOUT, -1, .has_value = true, .verdict = VERDICT_FAILED,
     .reason = REASON_TIMEOUT},
    {"lost", REASON_LOST, -1, true, .verdict = VERDICT_RETRY, .reason = REASON_LOST},
    {"lost too often", REASON_LOST, -1, true, .retries = 2, .verdict = VERDICT_FAILED,
     .reason = REASON_LOST},
    {"could not be started just then", REASON_SPAWN, -1, true, .verdict = VERDICT_RETRY,
     .reason = REASON_SPAWN},
    {"cannot be started", REASON_SPAWN, -1, false, .verdict = VERDICT_FAILED,
     .reason = REASON_SPAWN},
    {"preempted by others", REASON_CANCELLED, -1, .verdict = VERDICT_RETRY,
     .reason = REASON_INTERRUPTED},
    {"pruned", REASON_CANCELLED, -1, .asked = REASON_PRUNED, .has_value = true,
     .verdict = VERDICT_STOPPED, .reason = REASON_PRUNED},
    {"cancelled, exit 0", REASON_NONE, 0, .asked = REASON_CANCELLED, .has_value = true,
     .verdict = VERDICT_STOPPED, .reason = REASON_CANCELLED},
    {"cancelled, exit 1", REASON_EXIT, 1, .asked = REASON_CANCELLED, .verdict = VERDICT_STOPPED,
     .reason = REASON_CANCELLED},
    {"diverged", REASON_CANCELLED, -1, .asked = REASON_DIVERGED, .has_value = true,
     .verdict = VERDICT_FAILED, .reason = REASON_DIVERGED},
    {"reached the target", REASON_CANCELLED, -1, .asked = REASON_TARGET, .reached = true,
     .has_value = true, .verdict = VERDICT_COMPLETED, .reason = REASON_TARGET},
    {"another reached the target", REASON_CANCELLED, -1, .asked = REASON_TARGET, .has_value = true,
     .verdict = VERDICT_STOPPED, .reason = REASON_TARGET},
    {"interrupted", REASON_CANCELLED, -1, .asked = REASON_INTERRUPTED, .has_value = true,
     .verdict = VERDICT_REQUEUE, .reason = REASON_INTERRUPTED},
    {"interrupted, but done by itself", REASON_NONE, 0, .asked = REASON_INTERRUPTED,
     .has_value = true, .verdict = VERDICT_COMPLETED},
    {"interrupted, broke off as told", REASON_NONE, 0, .asked = REASON_INTERRUPTED, .obeyed = true,
     .has_value = true, .verdict = VERDICT_REQUEUE, .reason = REASON_INTERRUPTED},
    {"interrupted and lost", REASON_LOST, -1, true, .asked = REASON_INTERRUPTED, .retries = 2,
     .verdict = VERDICT_REQUEUE, .reason = REASON_INTERRUPTED},
    {"interrupted while paused", REASON_CANCELLED, -1, .asked = REASON_INTERRUPTED, .paused = true,
     .has_value = true, .verdict = VERDICT_PARK, .reason = REASON_INTERRUPTED},
    {"interrupted while it stood still, exit 0", REASON_NONE, 0, .asked = REASON_INTERRUPTED,
     .paused = true, .still = true, .has_value = true, .verdict = VERDICT_PARK,
     .reason = REASON_INTERRUPTED},
    {"… to be paused, but done by itself", REASON_NONE, 0, .asked = REASON_INTERRUPTED,
     .paused = true, .has_value = true, .verdict = VERDICT_COMPLETED},
    {"interrupted while paused, and lost", REASON_LOST, -1, true, .asked = REASON_INTERRUPTED,
     .paused = true, .verdict = VERDICT_PARK, .reason = REASON_INTERRUPTED},
    {"cancelled and lost", REASON_LOST, -1, true, .asked = REASON_CANCELLED,
     .verdict = VERDICT_STOPPED, .reason = REASON_CANCELLED},
};

TEST(every_end_has_its_verdict)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        struct ending ending = {
            .reason = row->ended, .exit_status = row->status, .transient = row->transient};
        struct attempt_facts facts = {
            .ending = &ending,
            .asked = row->asked,
            .obeyed = row->obeyed,
            .paused = row->paused,
            .still = row->still,
            .reached_target = row->reached,
            .has_value = row->has_value,
            .new_checkpoint = row->new_checkpoint,
            .retries = row->retries,
            .retries_allowed = 2,
            .code_listed = row->listed,
        };
        struct outcome outcome = outcome_of(&facts);
        if (outcome.verdict != row->verdict || outcome.reason != row->reason)
            fail_msg("%s: verdict %d, reason '%s'", row->story, (int)outcome.verdict,
                     reason_name(outcome.reason));
    }
}

TEST_MAIN
