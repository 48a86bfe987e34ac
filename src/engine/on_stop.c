/* SPDX-License-Identifier: MIT */
/*
 * on_stop.c — ending things on purpose: a request of the user, a rule, a limit.
 *
 * A running program is asked first. One that looks at its control page gets a word there and the
 * grace to act on it; every other gets SIGTERM at once, and then the grace. What does not end in
 * time is killed by its keeper with all its tree.
 */
#include "engine/internal.h"

#include <errno.h>

/* The reason goes with the row, so that an engine that takes over ends it too. */
void run_close(struct run *run, enum experiment_state state, enum reason reason)
{
    run->closing = true;
    run->experiment.paused = HELD_NOT; /* what stands still is ended */
    run->end_state = state;
    run->end_reason = run->experiment.reason = reason;
    run->dirty = true;
}

static void send_control(struct live *live)
{
    engine_effect(live->run->engine, (struct effect){
                                         .kind = EFFECT_CONTROL,
                                         .id = live->attempt.id,
                                         .text = xstrdup("{\"stop\":true,\"checkpoint\":true}"),
                                     });
}

static void send_stop(struct live *live, struct now now)
{
    live->term_sent = true;
    live->sent_mono_us = now.mono_us + live->run->spec.grace_us;
    engine_effect(
        live->run->engine,
        (struct effect){.kind = EFFECT_STOP, .id = live->attempt.id, .kill = live->killing});
}

/* Kept with the attempt, so that an engine that adopts it knows why it ends. */
static void set_asked(struct live *live, enum reason why, struct now now)
{
    live->asked_us = now.wall_us;
    live->asked = live->attempt.reason = why;
    txn_put_attempt(live->run->engine->tick->txn, &live->attempt);
}

/* Is it to end only to be run again? */
static bool comes_again(enum reason asked)
{
    return asked == REASON_INTERRUPTED || asked == REASON_CHECKPOINT ||
           asked == REASON_RECONFIGURED || asked == REASON_REQUEUED;
}

void live_ask(struct live *live, enum reason why, bool kill, struct now now)
{
    bool first = live->asked == REASON_NONE;
    bool for_good = why == REASON_DIVERGED || why == REASON_BY_HAND;

    /* One that diverged, or that the user stopped, is not run again, whichever came first. */
    if (first || (for_good && comes_again(live->asked)))
        set_asked(live, why, now);
    if (!first && (live->killing || !kill))
        return;
    live->killing = kill;
    if (first)
        send_control(live);
    if (kill || !live->sdk) {
        send_stop(live, now); /* ends a pause too */
        return;
    }
    live->term_at_us = now.mono_us + live->run->spec.grace_us;
    pause_wake(live, now);
}

/* Commands and answers may get lost between machines: what is not answered is said again. */
void live_timers(struct live *live, struct now now)
{
    struct engine *engine = live->run->engine;

    if (live->asked != REASON_NONE && !live->term_sent && now.mono_us >= live->term_at_us)
        send_stop(live, now);
    if (live->sent_mono_us && now.mono_us >= live->sent_mono_us + ASK_AGAIN_US) {
        live->sent_mono_us = now.mono_us;
        if (live->attempt.state == ATTEMPT_STARTING)
            engine_effect(engine, (struct effect){.kind = EFFECT_START, .id = live->attempt.id});
        else if (live->term_sent)
            engine_effect(engine, (struct effect){.kind = EFFECT_STOP,
                                                  .id = live->attempt.id,
                                                  .kill = live->killing});
        else if (live->turn_awaited)
            engine_effect(
                engine,
                (struct effect){.kind = EFFECT_TURN, .id = live->attempt.id, .turn = live->turn});
        else
            engine_effect(engine, (struct effect){.kind = EFFECT_ADOPT, .id = live->attempt.id});
    }
    if (now.mono_us >= live->heard_mono_us + SILENCE_US) {
        live->heard_mono_us = now.mono_us;
        if (live->attempt.state == ATTEMPT_RUNNING)
            engine_effect(engine, (struct effect){.kind = EFFECT_ADOPT, .id = live->attempt.id});
    }
    configure_timer(live, now);
    progress_timer(live, now);
    alerts_timer(live, now);
}

int64_t live_wake_us(const struct live *live)
{
    int64_t wake = live->heard_mono_us + SILENCE_US;
    if (live->asked != REASON_NONE && !live->term_sent)
        wake = MIN(wake, live->term_at_us);
    if (live->sent_mono_us)
        wake = MIN(wake, live->sent_mono_us + ASK_AGAIN_US);
    wake = MIN(wake, live_save_us(live));
    if (live->start_unsaved)
        wake = MIN(wake, live->started_mono_us + SAVE_START_US);
    wake = MIN(wake, alerts_wake_us(live));
    return MIN(wake, configure_wake_us(live));
}

int engine_stop(struct engine *engine, int64_t experiment, enum stop_mode mode, struct now now,
                struct err *err)
{
    static const struct {
        enum experiment_state state;
        enum reason reason;
    } ends[] = {
        [STOP_DRAIN] = {EXPERIMENT_STOPPED, REASON_CANCELLED},
        [STOP_NOW] = {EXPERIMENT_STOPPED, REASON_CANCELLED},
        [STOP_INTERRUPT] = {EXPERIMENT_INTERRUPTED, REASON_INTERRUPTED},
        [STOP_KILL] = {EXPERIMENT_INTERRUPTED, REASON_INTERRUPTED},
    };
    struct run *run = engine_find(engine, experiment);

    if (!run)
        return err_set(err, ENOENT, "experiment %lld is not running", (long long)experiment);
    /* An end that was decided for a better reason (target, time) stays. */
    bool settled = run->closing && run->end_state == EXPERIMENT_FINISHED;
    if (!settled)
        run_close(run, ends[mode].state, ends[mode].reason);
    run->draining = mode == STOP_DRAIN;
    if (mode == STOP_DRAIN)
        return 0;
    vec_foreach (live, &run->live)
        live_ask(*live, ends[mode].reason, mode == STOP_KILL, now);
    return 0;
}

static void forget_waiting(struct run *run, int64_t trial)
{
    for (size_t i = 0; i < run->waiting.len; i++)
        if (run->waiting.at[i].trial == trial) {
            vec_remove(&run->waiting, i);
            return;
        }
}

/* Nothing of it runs: it waits to be started, or has saved itself and is paused. */
static void stop_resting(struct run *run, struct trial *trial, struct now now)
{
    forget_waiting(run, trial->number);
    struct curve_data curve = pause_unpark(run, trial->number);
    curve_release(&curve);
    trial_drop(run, trial, REASON_BY_HAND, now);
    trial_announce_end(run, trial, NULL, false, now);
}

int engine_stop_trial(struct engine *engine, int64_t experiment, int64_t number, struct now now,
                      struct err *err)
{
    struct run *run = engine_find(engine, experiment);
    long long id = (long long)experiment, n = (long long)number;

    if (!run)
        return err_set(err, ENOENT, "experiment %lld is not running", id);
    struct trial *trial =
        number >= 1 && number <= (int64_t)run->trials.len ? run_trial(run, number) : NULL;
    if (!trial || !trial->experiment)
        return err_set(err, ENOENT, "experiment %lld has no trial %lld", id, n);
    struct live *live = run_live_of(run, number);
    bool ending = live && live->asked != REASON_NONE && !comes_again(live->asked);
    if (trial_state_ended(trial->state) || ending)
        return err_set(err, EBUSY, "trial %lld.%lld %s", id, n,
                       ending ? "is ending already" : "has ended already");
    if (live)
        live_ask(live, REASON_BY_HAND, false, now);
    else
        stop_resting(run, trial, now);
    return 0;
}
