/* SPDX-License-Identifier: MIT */
/*
 * pause.c — trials that stand still: paused by a rule, woken when the rule has a slot for them.
 *
 *     running ──rule──► paused, cpus held ──PAUSED──► paused, cpus given back ──promoted──► running
 *                                                         │
 *                          too much memory is held:       ├──► checkpoint, then no attempt: parked
 *                          the least likely winner        └──► stopped (pruned)
 *
 * An interrupt parks what a rule has paused, with or without a checkpoint: what it has shown stays,
 * and it starts again only when it is promoted. Until it has got as far as it was, it stands there.
 *
 * A person may hold the running trials of an experiment, too: these (REASON_HELD) are no rule's,
 * and are the first to go on when the experiment does.
 *
 * The trial's state is what is wanted; the agent tells how it stands, by numbered turns (exec.h).
 * Where the two differ the next turn is sent, and again until it is answered. So whatever gets
 * lost, and whichever engine looks, the attempt ends up as the database says.
 *
 * A paused attempt keeps its memory and its devices: they are its own, however still it stands. A
 * slot that waits only for these is made free by giving a paused trial up.
 */
#include "engine/internal.h"

#include <math.h>

static bool wants_still(const struct live *live)
{
    const struct trial *trial = run_trial(live->run, live->attempt.trial);
    return trial->state == TRIAL_PAUSED && live->asked == REASON_NONE;
}

/* Ask for the next turn, if it is not what was asked last. What its keeper was told to end, it
 * wakes for that by itself. */
static void ask_turn(struct live *live, struct now now)
{
    if (live->term_sent || turn_paused(live->turn) == wants_still(live))
        return;
    live->turn++;
    live->turn_awaited = true;
    live->sent_mono_us = now.mono_us;
    engine_effect(live->run->engine,
                  (struct effect){.kind = EFFECT_TURN, .id = live->attempt.id, .turn = live->turn});
}

static void announce(struct run *run, const struct trial *trial, const char *event,
                     const struct pause_result *told, struct now now)
{
    autorelease(str) struct str json = STR_INIT, words = STR_INIT;
    struct json_out out = event_begin(&json, event, run, trial);

    space_words(&run->spec.space, trial->point, &words);
    json_put_known(&out, "value", trial->value);
    if (trial->last_step != STEP_NONE)
        json_put_int(&out, "step", trial->last_step);
    json_put_text(&out, "words", words.s);
    if (str_eq(event, "trial_parked"))
        json_put_text(&out, "reason", reason_name(trial->reason));
    if (told)
        told_put_pause(run, told, &out);
    json_end_object(&out);
    engine_event(run, trial->number, &json, now);
}

static void begin(struct live *live, enum reason why, struct now now)
{
    struct run *run = live->run;
    struct trial *trial = run_trial(run, live->attempt.trial);

    trial_become(run, trial, TRIAL_PAUSED, why);
    live->ran_us = live_elapsed_us(live, now);
    run_save_trial(run, trial, false);
    struct trial by_now = *trial;
    by_now.run_us += live->ran_us;
    announce(run, trial, "trial_paused", why == REASON_HELD ? NULL : ask_tell_paused(run, &by_now),
             now);
    ask_turn(live, now);
}

void pause_begin(struct live *live, struct now now)
{
    begin(live, REASON_NONE, now);
}

void pause_hold(struct run *run, struct now now)
{
    vec_foreach (live, &run->live)
        if ((*live)->asked == REASON_NONE &&
            run_trial(run, (*live)->attempt.trial)->state == TRIAL_RUNNING)
            begin(*live, REASON_HELD, now);
}

void pause_resume(struct run *run, struct trial *trial, struct now now)
{
    struct live *live = run_live_of(run, trial->number);
    struct grant grant;

    if (live->paused) {
        struct demand demand = pause_demand(run, trial->number);
        if (!machine_take(&run->engine->machine, &demand, &grant))
            abort(); /* sched_next() said that it fits */
        live->grant.demand.cpus = grant.demand.cpus;
        live->paused = false;
    }
    trial_become(run, trial, TRIAL_RUNNING, REASON_NONE);
    run_save_trial(run, trial, false);
    announce(run, trial, "trial_resumed", NULL, now);
    ask_turn(live, now);
}

/* Nothing of it runs: others may have its cpus. */
static void give_cpus(struct live *live)
{
    struct grant cpus = {.demand = {.cpus = live->grant.demand.cpus}};

    machine_give(&live->run->engine->machine, &cpus);
    live->grant.demand.cpus = 0;
}

void on_turn(struct live *live, const struct agent_event *event, struct now now)
{
    if (event->turn < live->turn)
        return; /* how it was before what we asked for meanwhile */
    if (event->turn > live->turn || live->turn_awaited)
        progress_changed(live, now);
    live->turn = event->turn;
    live->turn_awaited = false;
    live->paused_us = event->paused_us;
    live->still_mono_us = now.mono_us - MAX(0, now.wall_us - event->turn_us);
    if (event->kind == EVENT_PAUSED)
        live->used_bytes = event->used_bytes;
    if (turn_paused(live->turn) && wants_still(live) && !live->paused) {
        live->paused = true;
        give_cpus(live);
    }
    ask_turn(live, now);
}

int64_t live_elapsed_us(const struct live *live, struct now now)
{
    int64_t paused_us = live->paused_us;

    if (turn_paused(live->turn) && !live->turn_awaited)
        paused_us += MAX(0, now.mono_us - live->still_mono_us);
    return MAX(0, now.mono_us - live->started_mono_us - paused_us);
}

int64_t run_busy(const struct run *run)
{
    int64_t n = 0;

    vec_foreach (live, &run->live)
        n += !(*live)->paused;
    return n;
}

/* ---- which one goes on, which one is given up ---- */

/* By a rule. */
static bool is_paused(const struct run *run, const struct live *live)
{
    const struct trial *trial = &run->trials.at[live->attempt.trial - 1];
    return trial->state == TRIAL_PAUSED && trial->reason != REASON_HELD;
}

/* Held by a person, and not to end: the first of them; 0: none. */
static int64_t first_held(const struct run *run)
{
    vec_foreach (live, &run->live) {
        const struct trial *trial = &run->trials.at[(*live)->attempt.trial - 1];
        if (trial->state == TRIAL_PAUSED && trial->reason == REASON_HELD &&
            (*live)->asked == REASON_NONE)
            return trial->number;
    }
    return 0;
}

bool pause_may(const struct run *run)
{
    const struct machine *machine = &run->engine->machine;

    return run->counts[TRIAL_PAUSED] && !run->closing && !run_held(run) &&
           run_busy(run) < parallel_most(run) &&
           run->spec.cpus <= machine->cpus - machine->cpus_used + 1e-3;
}

int64_t pause_next(struct run *run)
{
    struct view view;
    int64_t number = first_held(run);

    if (number && !run->closing)
        return number;
    number = 0;
    if (run->closing || !run->stop || !run->stop->promote || !run->counts[TRIAL_PAUSED])
        return 0;
    view_init(&view, run);
    ptrdiff_t i = run->stop->promote(&view.base);
    if (i >= 0 && (size_t)i < view.trials.len && view.trials.at[i].state == CURVE_PAUSED)
        number = view.trials.at[i].number;
    view_release(&view);
    return number;
}

struct demand pause_demand(struct run *run, int64_t trial)
{
    const struct live *live = run_live_of(run, trial);

    if (!live)
        return run_demand(run);
    return (struct demand){.cpus = live->paused ? run->spec.cpus : 0};
}

/* Paused, and not asked to end yet; NULL: none. */
static struct live *least_likely(struct run *run)
{
    struct live *worst = NULL;
    struct view view;
    ptrdiff_t named = -1;

    view_init(&view, run);
    if (run->stop && run->stop->give_up)
        named = run->stop->give_up(&view.base);
    vec_foreach (live, &run->live) {
        if (!is_paused(run, *live) || (*live)->asked != REASON_NONE)
            continue;
        if (named >= 0 && (size_t)named < view.trials.len &&
            view.trials.at[named].number == (*live)->attempt.trial) {
            worst = *live;
            break;
        }
        double value = run_trial(run, (*live)->attempt.trial)->value;
        if (!worst || objective_better(&run->spec.objective,
                                       run_trial(run, worst->attempt.trial)->value, value))
            worst = *live;
    }
    view_release(&view);
    return worst;
}

/* One that looks at its control page can save itself and be started again. */
static void give_up(struct run *run, bool for_good, struct now now)
{
    struct live *live = least_likely(run);

    if (live)
        live_ask(live, live->sdk && !for_good ? REASON_CHECKPOINT : REASON_PRUNED, false, now);
}

/* ---- what keeps paused trials from standing still for ever ---- */

static bool one_is_ending(const struct run *run)
{
    vec_foreach (live, &run->live)
        if (is_paused(run, *live) && (*live)->asked != REASON_NONE)
            return true;
    return false;
}

static double held_bytes(const struct run *run)
{
    double sum = 0;

    vec_foreach (live, &run->live)
        if ((*live)->paused && is_paused(run, *live))
            sum += (double)((*live)->used_bytes ? (*live)->used_bytes : run->spec.memory_bytes);
    return sum;
}

static bool holds_too_much(const struct run *run)
{
    const struct machine *machine = &run->engine->machine;
    return held_bytes(run) > run->spec.paused_memory * (double)machine->mem_bytes;
}

/* Is there a trial to start for which there are cpus, but not what paused ones hold? */
static bool slot_waits(struct run *run)
{
    struct machine *machine = &run->engine->machine;
    struct demand whole = run_demand(run), cpus = {.cpus = whole.cpus};
    struct grant grant;
    bool ready = run->search && !run->exhausted && !run->ask.stalled &&
                 (int64_t)run->trials.len < run->budget;

    vec_foreach (waiting, &run->waiting)
        ready = ready || waiting->not_before_us == 0;
    if (!ready || run_busy(run) >= parallel_most(run))
        return false;
    if (machine_take(machine, &whole, &grant)) {
        machine_give(machine, &grant);
        return false;
    }
    if (!machine_take(machine, &cpus, &grant))
        return false;
    machine_give(machine, &grant);
    return true;
}

/* What an earlier engine paused is not judged before it has told its curve again; or, if it never
 * does, after some time. */
static bool all_known(const struct run *run, struct now now)
{
    vec_foreach (live, &run->live)
        if (is_paused(run, *live) && (*live)->asked == REASON_NONE &&
            !((*live)->paused && (*live)->curve.steps.len) &&
            now.mono_us < (*live)->taken_mono_us + 2 * SILENCE_US)
            return false;
    return true;
}

/* Does anything else run, or may something start, that could bring a change? */
static bool something_moves(const struct run *run)
{
    vec_foreach (live, &run->live)
        if (!is_paused(run, *live) || (*live)->asked != REASON_NONE)
            return true;
    return run->waiting.len > 0;
}

static void end_parked(struct run *run, enum reason reason, struct now now)
{
    vec_foreach (curve, &run->parked) {
        trial_drop(run, run_trial(run, curve->trial), reason, now);
        curve_release(curve);
    }
    run->parked.len = 0;
}

static void end_all(struct run *run, enum reason reason, struct now now)
{
    vec_foreach (live, &run->live)
        if (run_trial(run, (*live)->attempt.trial)->state == TRIAL_PAUSED)
            live_ask(*live, reason, false, now);
    if (reason != REASON_INTERRUPTED)
        end_parked(run, reason, now);
}

/* The run starts nothing more. What has a checkpoint waits for `resume`, if there may be one. */
static void end_closing(struct run *run, struct now now)
{
    switch (run->end_reason) {
    case REASON_INTERRUPTED:
    case REASON_TARGET:
    case REASON_TIMEOUT:
        end_all(run, run->end_reason, now);
        break;
    default:
        end_all(run, run->end_state == EXPERIMENT_FINISHED ? REASON_PRUNED : REASON_CANCELLED, now);
    }
}

void pause_settle(struct run *run, struct now now)
{
    if (!run->counts[TRIAL_PAUSED])
        return;
    if (run->closing) {
        end_closing(run, now);
        return;
    }
    if (run_held(run) || one_is_ending(run))
        return;
    if (holds_too_much(run) || slot_waits(run)) {
        give_up(run, false, now);
        return;
    }
    if (something_moves(run) || !all_known(run, now) || pause_next(run))
        return;
    if (run->exhausted || (int64_t)run->trials.len >= run->budget)
        end_all(run, REASON_PRUNED, now); /* the rule has no use for them any more */
    else if (run->ask.stalled)
        give_up(run, true, now); /* the search waits for a result */
}

/* ---- the end of an attempt ---- */

void pause_wake(struct live *live, struct now now)
{
    ask_turn(live, now);
}

void pause_ended(struct live *live)
{
    struct run *run = live->run;
    struct trial *trial = run_trial(run, live->attempt.trial);

    if (trial->state == TRIAL_PAUSED)
        trial_become(run, trial, TRIAL_RUNNING, REASON_NONE);
}

void pause_park(struct live *live, struct trial *trial, enum reason reason, struct now now)
{
    struct run *run = live->run;

    trial_become(run, trial, TRIAL_PAUSED, reason);
    run_park_curve(run, &live->curve);
    announce(run, trial, "trial_parked", NULL, now);
}

struct curve_data pause_unpark(struct run *run, int64_t trial)
{
    struct curve_data curve = {0};

    for (size_t i = 0; i < run->parked.len; i++)
        if (run->parked.at[i].trial == trial) {
            curve = run->parked.at[i];
            vec_remove(&run->parked, i);
            break;
        }
    return curve;
}
