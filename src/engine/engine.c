/* SPDX-License-Identifier: MIT */
/*
 * engine.c — the engine's memory, and the life of a tick: collected, cut, committed.
 */
#include "engine/internal.h"

#include <assert.h>
#include <errno.h>

static struct tick *tick_new(void)
{
    struct tick *tick = xcalloc(1, sizeof(*tick));
    tick->txn = txn_new();
    return tick;
}

void tick_free(struct tick *tick)
{
    vec_foreach (effect, &tick->effects)
        free(effect->text);
    vec_foreach (run, &tick->ended)
        run_free(*run);
    vec_release(&tick->effects);
    vec_release(&tick->ended);
    txn_free(tick->txn);
    free(tick);
}

const struct txn *tick_txn(const struct tick *tick)
{
    return tick->txn;
}

static void machine_copy(struct machine *to, const struct machine *from)
{
    *to = *from;
    to->name = xstrdup(from->name ? from->name : "localhost");
    to->cpu_list = from->cpu_list ? xstrdup(from->cpu_list) : NULL;
    to->cpus_used = 0;
    to->mem_used = 0;
    for (int i = 0; i < from->n_gpus; i++) {
        to->gpu_ids[i] = xstrdup(from->gpu_ids[i]);
        to->gpu_used[i] = false;
    }
}

struct engine *engine_new(const struct engine_options *options)
{
    struct engine *engine = xcalloc(1, sizeof(*engine));

    engine->options = *options;
    engine->home = xstrdup(options->home);
    engine->home_id = xstrdup(options->home_id);
    engine->python_path = options->python_path ? xstrdup(options->python_path) : NULL;
    machine_copy(&engine->machine, options->machine);
    rng_init(&engine->rng, options->seed, 0);
    engine->tick = tick_new();
    engine->next_experiment = engine->next_attempt = 1;
    return engine;
}

void engine_free(struct engine *engine)
{
    vec_foreach (run, &engine->runs)
        run_free(*run);
    vec_release(&engine->runs);
    vec_foreach (user, &engine->users)
        free(*user);
    vec_release(&engine->users);
    vec_release(&engine->ending);
    map_release(&engine->live);
    tick_free(engine->tick);
    machine_release(&engine->machine);
    free(engine->home);
    free(engine->home_id);
    free(engine->python_path);
    free(engine->held_up);
    free(engine);
}

void live_free(struct live *live)
{
    attempt_release(&live->attempt);
    curve_release(&live->curve);
    curve_release(&live->before);
    curve_release(&live->stood);
    tuned_free(live->tuned);
    free(live->progress.metric);
    vec_release(&live->recent);
    workers_forget(live);
    vec_release(&live->workers);
    vec_foreach (summary, &live->summaries)
        summary_release(summary);
    vec_release(&live->summaries);
    free(live);
}

void run_free(struct run *run)
{
    vec_foreach (live, &run->live)
        live_free(*live);
    vec_foreach (trial, &run->trials)
        trial_release(trial);
    vec_foreach (curve, &run->finished_curves)
        curve_release(curve);
    vec_foreach (curve, &run->parked)
        curve_release(curve);
    vec_release(&run->parked);
    vec_release(&run->live);
    vec_release(&run->trials);
    vec_release(&run->waiting);
    vec_release(&run->finished_curves);
    ask_close(run);
    knowledge_release(&run->knowledge);
    tuning_close(run);
    alerts_close(run);
    vec_release(&run->lengths);
    if (run->rules)
        metrics_rules_free(run->rules);
    experiment_release(&run->experiment);
    spec_release(&run->spec);
    for (char **p = run->envp; p && *p; p++)
        free(*p);
    free(run->envp);
    free(run->code);
    free(run->key);
    free(run);
}

struct run *engine_find(const struct engine *engine, int64_t experiment)
{
    vec_foreach (run, &engine->runs)
        if ((*run)->experiment.id == experiment)
            return *run;
    return NULL;
}

bool engine_has(const struct engine *engine, int64_t experiment)
{
    return engine_find(engine, experiment) != NULL;
}

size_t engine_experiments(const struct engine *engine)
{
    return engine->runs.len;
}

size_t engine_active(const struct engine *engine)
{
    return engine->live.len;
}

struct trial *run_trial(struct run *run, int64_t number)
{
    assert(number >= 1 && (size_t)number <= run->trials.len);
    return &run->trials.at[number - 1];
}

struct live *run_live_of(struct run *run, int64_t trial)
{
    vec_foreach (live, &run->live)
        if ((*live)->attempt.trial == trial)
            return *live;
    return NULL;
}

struct demand run_demand(const struct run *run)
{
    return (struct demand){run->spec.cpus, run->spec.memory_bytes, (int)run->spec.gpus};
}

void engine_effect(struct engine *engine, struct effect effect)
{
    vec_push(&engine->tick->effects, effect);
}

struct txn *engine_txn(struct engine *engine)
{
    return engine->tick->txn;
}

int64_t engine_next_experiment(const struct engine *engine)
{
    return engine->next_experiment;
}

void engine_take_experiment(struct engine *engine)
{
    engine->next_experiment++;
}

void engine_when_committed(struct engine *engine, void (*fn)(void *), void *arg)
{
    engine_effect(engine, (struct effect){.kind = EFFECT_CALL, .fn = fn, .arg = arg});
}

const char *engine_held_up(const struct engine *engine)
{
    return engine->held_up;
}

void engine_hold_up(struct engine *engine, const char *why)
{
    char *kept = why ? xstrdup(why) : NULL;
    free(engine->held_up);
    engine->held_up = kept;
}

struct json_out event_begin(struct str *json, const char *event, const struct run *run,
                            const struct trial *trial)
{
    struct json_out out = JSON_OUT(json);
    json_begin_object(&out);
    json_put_text(&out, "event", event);
    json_put_int(&out, "experiment", run->experiment.id);
    if (trial) {
        autofree(mem) char *id =
            xasprintf("%lld.%lld", (long long)trial->experiment, (long long)trial->number);
        json_put_text(&out, "trial", id);
    }
    return out;
}

void engine_event(struct run *run, int64_t trial, struct str *json, struct now now)
{
    struct engine *engine = run->engine;
    txn_put_event(engine->tick->txn, now.wall_us, run->experiment.id, trial, json->s);
    engine_effect(
        engine,
        (struct effect){.kind = EFFECT_EVENT, .id = run->experiment.id, .text = xstrdup(json->s)});
}

void trial_become(struct run *run, struct trial *trial, enum trial_state state, enum reason reason)
{
    assert(trial_may_become(trial->state, state));
    run->counts[trial->state]--;
    run->counts[state]++;
    trial->state = state;
    trial->reason = reason;
}

void run_save_trial(struct run *run, const struct trial *trial, bool with_params)
{
    const struct live *live = run_live_of(run, trial->number);
    autorelease(str) struct str params = STR_INIT;
    struct trial row = *trial; /* borrowed */

    if (live && live->attempt.state != ATTEMPT_ENDED)
        row.run_us += live->ran_us;
    if (with_params) {
        struct json_out out = JSON_OUT(&params);
        space_json(&run->spec.space, trial->point, &out);
    }
    txn_put_trial(run->engine->tick->txn, &row, run->spec.space.n, with_params ? params.s : NULL);
}

static void save_start(struct live *live, struct now now)
{
    struct txn *txn = live->run->engine->tick->txn;

    if (txn_empty(txn) && now.mono_us - live->started_mono_us < SAVE_START_US)
        return;
    live->start_unsaved = false;
    txn_put_attempt(txn, &live->attempt);
}

static void save_dirty(struct engine *engine, struct now now)
{
    vec_foreach (run, &engine->runs) {
        vec_foreach (live, &(*run)->live)
            if ((*live)->start_unsaved)
                save_start(*live, now);
        vec_foreach (live, &(*run)->live)
            if (now.mono_us >= live_save_us(*live))
                live_save(*live, now);
        if ((*run)->dirty)
            txn_put_experiment(engine->tick->txn, &(*run)->experiment);
        (*run)->dirty = false;
    }
}

struct tick *engine_tick(struct engine *engine, struct now now)
{
    plan(engine, now);
    save_dirty(engine, now);
    struct tick *tick = engine->tick;
    if (txn_empty(tick->txn) && !tick->effects.len && !tick->ended.len)
        return NULL;
    engine->tick = tick_new();
    return tick;
}

static void effect_apply(struct engine *engine, const struct effect *effect)
{
    struct live *live = NULL;
    struct agent_command command = {.attempt = effect->id, .kill = effect->kill};

    if (effect->kind == EFFECT_CALL) {
        effect->fn(effect->arg);
        return;
    }
    if (effect->kind == EFFECT_EVENT) {
        if (engine->options.on_event)
            engine->options.on_event(effect->id, effect->text, engine->options.arg);
        return;
    }
    if (effect->kind == EFFECT_NOTIFY) {
        if (engine->options.on_notify)
            engine->options.on_notify(effect->text, engine->options.arg);
        return;
    }
    live = map_find(&engine->live, (uint64_t)effect->id);
    if (!live)
        return; /* it ended while the commit was under way */
    switch (effect->kind) {
    case EFFECT_START:
    case EFFECT_ADOPT:
        launch_send(live, effect->kind == EFFECT_START ? COMMAND_START : COMMAND_ADOPT);
        return;
    case EFFECT_SYSTEM:
        configure_send(live);
        return;
    case EFFECT_STOP:
        command.kind = COMMAND_STOP;
        command.grace_us = live->run->spec.grace_us;
        break;
    case EFFECT_TURN:
        command.kind = turn_paused(effect->turn) ? COMMAND_PAUSE : COMMAND_RESUME;
        command.turn = effect->turn;
        break;
    default:
        command.kind = COMMAND_CONTROL;
        command.control_json = effect->text;
    }
    engine->options.send(&command, engine->options.arg);
}

void engine_committed(struct engine *engine, struct tick *tick)
{
    vec_foreach (effect, &tick->effects)
        effect_apply(engine, effect);
    for (size_t i = 0; i < tick->ended.len; i++)
        vec_remove(&engine->ending, 0); /* ticks are committed in order */
    tick_free(tick);
}

const struct attempt *engine_attempt(const struct engine *engine, int64_t attempt)
{
    const struct live *live = map_find(&engine->live, (uint64_t)attempt);
    return live ? &live->attempt : NULL;
}

void engine_on_event(struct engine *engine, const struct agent_event *event, struct now now)
{
    struct live *live = map_find(&engine->live, (uint64_t)event->attempt);
    if (!live)
        return; /* said twice, or of an attempt that was given up: its number fences it off */
    live->heard_mono_us = now.mono_us;
    switch (event->kind) {
    case EVENT_STARTED:
    case EVENT_PAUSED:
    case EVENT_RESUMED:
        on_started(live, event, now);
        break;
    case EVENT_SAMPLES:
        on_samples(live, event, now);
        alerts_on_samples(live, event, now);
        break;
    case EVENT_ENDED:
        on_ended(live, event, now);
        break;
    case EVENT_SYSTEM:
        on_system(live, event, now);
        break;
    case EVENT_USE:
        progress_use(live, &event->use, now);
        if (event->profile)
            workloads_profile(live, event->profile);
        break;
    case EVENT_FIGURES: /* kept as series by the runtime; nothing is decided by them */
        on_figures(live, event);
        break;
    }
}

static int64_t run_wake_us(const struct run *run)
{
    int64_t wake = INT64_MAX;
    if (!run->closing) {
        vec_foreach (waiting, &run->waiting)
            if (waiting->not_before_us)
                wake = MIN(wake, waiting->not_before_us);
        if (run->spec.time_us)
            wake = MIN(wake, run->since_mono_us + run->spec.time_us - run->experiment.run_us);
        if (run->spec.deadline_us)
            wake = MIN(wake, run->look_us);
    }
    wake = MIN(wake, parallel_wake_us(run));
    vec_foreach (live, &run->live)
        wake = MIN(wake, live_wake_us(*live));
    return wake;
}

int64_t engine_wake_us(const struct engine *engine)
{
    int64_t wake = INT64_MAX;
    vec_foreach (run, &engine->runs)
        wake = MIN(wake, run_wake_us(*run));
    return wake;
}
