/* SPDX-License-Identifier: MIT */
/*
 * plan.c — once a tick: what has run out of time, what may start, what has ended.
 *
 * Trials are asked from the search only when there is room to run them (ask.c), so it always knows
 * the newest results, and nothing waits in a queue but what was started before.
 */
#include "engine/internal.h"

#include <math.h>

#define FRONT_MAX 1000 /* trials named in an event */

void run_count_time(struct run *run, struct now now)
{
    run->experiment.run_us += MAX(0, now.mono_us - run->since_mono_us);
    run->since_mono_us = now.mono_us;
}

static bool out_of_time(struct run *run, struct now now)
{
    int64_t ran_us = run->experiment.run_us + now.mono_us - run->since_mono_us;

    if (run->spec.time_us && ran_us >= run->spec.time_us)
        return true;
    if (!run->spec.deadline_us)
        return false;
    run->look_us = now.mono_us + US_PER_S;
    return now.wall_us >= run->spec.deadline_us;
}

static void check_time(struct run *run, struct now now)
{
    if (run_held(run) && !run_busy(run))
        run->since_mono_us = now.mono_us; /* it does not run */
    if (now.mono_us - run->since_mono_us >= COUNT_TIME_US) {
        run_count_time(run, now);
        run->dirty = true;
    }
    if (!run->closing && out_of_time(run, now)) {
        run_close(run, EXPERIMENT_FINISHED, REASON_TIMEOUT);
        vec_foreach (live, &run->live)
            live_ask(*live, REASON_TIMEOUT, false, now);
    }
    vec_foreach (live, &run->live)
        live_timers(*live, now);
    parallel_turn(run, now);
    vec_foreach (waiting, &run->waiting)
        if (waiting->not_before_us <= now.mono_us)
            waiting->not_before_us = 0;
}

/* It ended only to go on with another configuration: as if it ran. */
static bool goes_on(const struct run *run, int64_t trial)
{
    return run->trials.at[trial - 1].reason == REASON_RECONFIGURED;
}

static bool is_ready(const struct run *run, const struct waiting *waiting)
{
    bool only_those = run->closing || run_held(run);
    return waiting->not_before_us == 0 && (!only_those || goes_on(run, waiting->trial));
}

static size_t ready_waiting(const struct run *run)
{
    size_t n = 0;
    vec_foreach (waiting, &run->waiting)
        n += is_ready(run, waiting);
    return n;
}

/* `paused`: one of them may go on. */
static int64_t run_wants(const struct run *run, bool paused)
{
    if ((run->closing && !run->draining) || run->experiment.paused == HELD_FROZEN)
        return 0;
    if (run->closing || run_held(run))
        return (int64_t)ready_waiting(run);
    int64_t ready = (int64_t)ready_waiting(run) + paused;
    int64_t fresh = run->exhausted ? 0 : run->budget - (int64_t)run->trials.len;
    int64_t room = parallel_most(run) - run_busy(run);
    if (!run->spec.parallel) /* a width that shrank does not make wait who ran before */
        vec_foreach (waiting, &run->waiting)
            room = MAX(room, goes_on(run, waiting->trial));
    return MAX(0, MIN(room, ready + MIN(fresh, INT64_MAX / 4)));
}

struct trial *run_add_trial(struct run *run, double *point, struct now now)
{
    struct trial trial = {
        .experiment = run->experiment.id,
        .number = (int64_t)run->trials.len + 1,
        .state = TRIAL_QUEUED,
        .point = point,
        .value = NAN,
        .best = NAN,
        .last_step = STEP_NONE,
        .first_nan_step = STEP_NONE,
        .created_us = now.wall_us,
    };
    vec_push(&run->trials, trial);
    run->counts[TRIAL_QUEUED]++;
    return vec_last(&run->trials);
}

/* Number of a trial to start: a paused one that deserves it, one that waits, or a new point. 0 if
 * there is none just now. */
static int64_t next_trial(struct run *run, struct now now)
{
    int64_t paused = pause_may(run) ? pause_next(run) : 0;

    if (paused)
        return paused;
    for (size_t i = 0; i < run->waiting.len; i++)
        if (is_ready(run, &run->waiting.at[i])) {
            int64_t number = run->waiting.at[i].trial;
            vec_remove(&run->waiting, i);
            return number;
        }
    if (!run->search || run->closing || run_held(run) || run->exhausted ||
        (int64_t)run->trials.len >= run->budget)
        return 0;
    return ask_next(run, now);
}

struct live *live_new(struct run *run, const struct attempt *attempt, struct now now)
{
    struct live *live = xcalloc(1, sizeof(*live));
    live->run = run;
    live->attempt = *attempt;
    live->start_step = -1;
    live->judged_step = STEP_NONE;
    live->taken_mono_us = now.mono_us;
    live->curve.trial = attempt->trial;
    live->started_mono_us = live->heard_mono_us = live->saved_mono_us = now.mono_us;
    vec_push(&run->live, live);
    map_put(&run->engine->live, (uint64_t)attempt->id, live);
    return live;
}

static void announce_start(struct run *run, const struct trial *trial, struct now now)
{
    autorelease(str) struct str json = STR_INIT, words = STR_INIT;
    struct json_out out = event_begin(&json, "trial_started", run, trial);

    space_words(&run->spec.space, trial->point, &words);
    json_put_int(&out, "attempt", trial->attempts);
    json_put_text(&out, "words", words.s);
    json_end_object(&out);
    engine_event(run, trial->number, &json, now);
}

static struct live *start_attempt(struct run *run, struct trial *trial, struct now now)
{
    struct engine *engine = run->engine;
    struct demand demand = run_demand(run);
    struct grant grant;

    if (!machine_take(&engine->machine, &demand, &grant))
        abort(); /* sched_next() said that it fits */
    trial->attempts++;
    struct attempt attempt = {
        .id = engine->next_attempt++,
        .experiment = trial->experiment,
        .trial = trial->number,
        .number = trial->attempts,
        .state = ATTEMPT_STARTING,
        .started_us = now.wall_us,
        .exit_status = -1,
        .host = xstrdup(engine->machine.name),
        .code = run->code ? xstrdup(run->code) : NULL,
    };
    autorelease(str) struct str gpus = STR_INIT;
    grant_gpus(&engine->machine, &grant, &gpus);
    attempt.gpus = gpus.len ? str_take(&gpus) : NULL;

    run->code_due = true;
    struct live *live = live_new(run, &attempt, now);
    live->grant = grant;
    live->sent_mono_us = now.mono_us;
    tuning_begin(live, now);
    if (!trial->started_us)
        trial->started_us = now.wall_us;
    trial_become(run, trial, TRIAL_RUNNING, REASON_NONE);
    txn_put_attempt(engine->tick->txn, &live->attempt);
    run_save_trial(run, trial, trial->attempts == 1);
    announce_start(run, trial, now);
    engine_effect(engine, (struct effect){.kind = EFFECT_START, .id = attempt.id});
    return live;
}

/* The machine may have less than when the experiment was submitted: say so, do not wait for ever.
 */
static void close_if_too_large(struct run *run)
{
    struct demand demand = run_demand(run);
    autorelease(err) struct err err = ERR_INIT;

    if (run_wants(run, false) == 0 || machine_can(&run->engine->machine, &demand, &err) == 0)
        return;
    run_close(run, EXPERIMENT_INTERRUPTED, REASON_INTERRUPTED);
    free(run->experiment.error);
    run->experiment.error = xstrdup(err_text(&err));
}

struct claim run_claim(struct run *run)
{
    int64_t paused = pause_may(run) ? pause_next(run) : 0;

    return (struct claim){
        .experiment = run->experiment.id,
        .demand = paused ? pause_demand(run, paused) : run_demand(run),
        .running = run_busy(run),
        .wanted = run_wants(run, paused != 0),
        .priority = run->experiment.priority,
        .user = run->user,
    };
}

static void start_trial(struct run *run, struct trial *trial, struct now now)
{
    if (trial->state == TRIAL_PAUSED && run_live_of(run, trial->number)) {
        pause_resume(run, trial, now);
        return;
    }
    struct curve_data stood = pause_unpark(run, trial->number);
    int64_t judged = trial->state == TRIAL_PAUSED ? trial->last_step : STEP_NONE;
    struct live *live = start_attempt(run, trial, now);
    live->stood = stood;
    live->judged_step = judged; /* it was promoted from there */
}

static void start_what_fits(struct engine *engine, struct now now)
{
    size_t n = engine->runs.len;
    autofree(mem) struct claim *claims = xcalloc(n, sizeof(*claims));
    ptrdiff_t i;

    for (size_t k = 0; k < n; k++)
        claims[k] = run_claim(engine->runs.at[k]);
    sched_share(claims, n);
    while ((i = sched_next(&engine->machine, claims, n)) >= 0) {
        struct run *run = engine->runs.at[i];
        int64_t number = next_trial(run, now);
        if (!number) {
            claims[i].wanted = 0;
            continue;
        }
        start_trial(run, run_trial(run, number), now);
        claims[i] = run_claim(run);
        sched_share(claims, n);
    }
}

static bool run_is_over(struct run *run)
{
    bool all_run = !run->waiting.len && !run->parked.len &&
                   (run->exhausted || (int64_t)run->trials.len >= run->budget);
    bool stays = run->closing && run->draining && ready_waiting(run);
    return !run->live.len && !stays && (run->closing || all_run) && ask_settled(run);
}

static void put_best(struct json_out *out, struct run *run)
{
    const struct trial *best = run_trial(run, run->best);
    autofree(mem) char *id =
        xasprintf("%lld.%lld", (long long)best->experiment, (long long)best->number);

    json_begin_object(out);
    json_put_text(out, "trial", id);
    json_put_double(out, "value", best->value);
    if (run->experiment.best_trial == run->best && isfinite(run->experiment.best_mean)) {
        json_put_double(out, "mean", run->experiment.best_mean);
        json_put_known(out, "deviation", run->experiment.best_deviation);
        json_put_int(out, "repeats", run->best_repeats);
    }
    json_key(out, "params");
    space_json(&run->spec.space, best->point, out);
    json_end_object(out);
}

static void put_front(struct json_out *out, const struct run *run)
{
    size_t n;
    autofree(mem) int64_t *front = run_front(run, &n);

    json_key(out, "front");
    json_begin_array(out);
    for (size_t i = 0; i < MIN(n, FRONT_MAX); i++) {
        autofree(mem) char *id =
            xasprintf("%lld.%lld", (long long)run->experiment.id, (long long)front[i]);
        json_text(out, id);
    }
    json_end_array(out);
}

/* The best value on the way of any trial; NaN: none was reported. */
static double best_on_the_way(const struct run *run)
{
    double sign = run_sign(run), best = NAN;

    vec_foreach (trial, &run->trials)
        best = fmin(best, sign * trial->best);
    return sign * best;
}

/* Did it end for good without its target? The mean of several values may not be there though one of
 * them was. */
static bool missed_target(const struct run *run, double best)
{
    const struct objective *objective = &run->spec.objective;
    enum experiment_state state = run->experiment.state;

    if (!objective->metric || isnan(objective->target) || run->experiment.reason == REASON_TARGET ||
        (state != EXPERIMENT_FINISHED && state != EXPERIMENT_STOPPED))
        return false;
    return isnan(best) || objective->average > 1 ||
           objective_better(objective, objective->target, best);
}

static void put_missed(struct json_out *out, const struct run *run)
{
    double best = best_on_the_way(run);

    if (!missed_target(run, best))
        return;
    json_key(out, "missed");
    json_begin_object(out);
    json_put_double(out, "target", run->spec.objective.target);
    json_put_int(out, "average", MAX(1, run->spec.objective.average));
    json_put_known(out, "best", best);
    json_end_object(out);
}

void run_announce_end(struct run *run, struct now now)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = event_begin(&json, "finished", run, NULL);

    json_put_text(&out, "name", run->experiment.name);
    json_put_text(&out, "state", experiment_state_name(run->experiment.state));
    json_put_text(&out, "reason", reason_name(run->experiment.reason));
    json_key(&out, "trials");
    json_begin_object(&out);
    json_put_int(&out, "completed", run->counts[TRIAL_COMPLETED]);
    json_put_int(&out, "stopped", run->counts[TRIAL_STOPPED]);
    json_put_int(&out, "failed", run->counts[TRIAL_FAILED]);
    json_end_object(&out);
    json_key(&out, "best");
    if (run->best)
        put_best(&out, run);
    else
        json_null_out(&out);
    if (run->spec.others.len)
        put_front(&out, run);
    put_missed(&out, run);
    if (run->experiment.error)
        json_put_text(&out, "error", run->experiment.error);
    json_end_object(&out);
    engine_event(run, 0, &json, now);
}

void trial_drop(struct run *run, struct trial *trial, enum reason reason, struct now now)
{
    trial_become(run, trial, TRIAL_STOPPED, reason);
    trial->ended_us = now.wall_us;
    ask_tell(run, trial);
    run_save_trial(run, trial, trial->attempts == 0);
}

/* What still waits when an experiment ends for good will not run. */
static void drop_waiting(struct run *run, enum reason reason, struct now now)
{
    vec_foreach (waiting, &run->waiting)
        trial_drop(run, run_trial(run, waiting->trial), reason, now);
    run->waiting.len = 0;
}

static void end_run(struct run *run, struct now now)
{
    struct experiment *experiment = &run->experiment;
    enum experiment_state state = run->closing ? run->end_state : EXPERIMENT_FINISHED;
    enum reason reason = run->closing ? run->end_reason : REASON_NONE;

    if (state == EXPERIMENT_FINISHED && !run->counts[TRIAL_COMPLETED])
        state = EXPERIMENT_FAILED;
    if (!run->closing && run->exhausted && (int64_t)run->trials.len < run->budget)
        reason = isinf(space_size(&run->spec.space)) ? REASON_FORBIDDEN : REASON_EXHAUSTED;
    if (state != EXPERIMENT_INTERRUPTED)
        drop_waiting(run, reason == REASON_NONE ? REASON_CANCELLED : reason, now);
    experiment->state = state;
    experiment->reason = reason;
    if (state == EXPERIMENT_FAILED && !experiment->error)
        experiment->error = xstrdup("no trial completed");
    if (state != EXPERIMENT_INTERRUPTED)
        experiment->ended_us = now.wall_us;
    run_count_time(run, now);
    run_announce_end(run, now);
    txn_put_experiment(run->engine->tick->txn, experiment);
    vec_push(&run->engine->tick->ended, run);
    vec_push(&run->engine->ending, experiment->id);
}

void plan(struct engine *engine, struct now now)
{
    vec_foreach (run, &engine->runs) {
        check_time(*run, now);
        close_if_too_large(*run);
    }
    start_what_fits(engine, now);
    vec_foreach (run, &engine->runs)
        pause_settle(*run, now);
    for (size_t i = 0; i < engine->runs.len;)
        if (run_is_over(engine->runs.at[i])) {
            end_run(engine->runs.at[i], now);
            vec_remove(&engine->runs, i);
        } else {
            i++;
        }
}
