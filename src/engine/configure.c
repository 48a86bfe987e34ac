/* SPDX-License-Identifier: MIT */
/*
 * configure.c — putting a configuration in place: through the agent and the control page while the
 * program runs, or by starting it again from its checkpoint; and what each change has cost.
 *
 *     live:     row, SYSTEM ──► agent ──► EVENT_SYSTEM: windows count again
 *     restart:  row, CONTROL ──► it saves itself and ends ──► queued ──► next attempt, other words
 *
 * The row is written first, so an engine that takes over knows what was asked for, and asks again:
 * the same twice does no harm.
 */
#include "engine/internal.h"

#include <errno.h>
#include <math.h>

#define LOOK_US US_PER_S
#define RESENDS 3 /* then it is taken as in place: what is to be said was said */

/* ---- what the agent is told ---- */

/* The processors that the fewest attempts are pinned to, the first ones at a tie. */
static void choose_cpus(struct live *live, size_t wanted, struct cpus *ret)
{
    const struct engine *engine = live->run->engine;
    struct cpus all = {0};
    unsigned used[CPUS_MAX] = {0};

    *ret = (struct cpus){0};
    if (!engine->machine.cpu_list || cpus_parse(engine->machine.cpu_list, &all) < 0 ||
        wanted >= cpus_count(&all)) {
        if (engine->machine.cpu_list)
            *ret = all;
        return;
    }
    vec_foreach (run, &engine->runs)
        vec_foreach (other, &(*run)->live)
            for (size_t cpu = 0; *other != live && (*other)->tuned && cpu < CPUS_MAX; cpu++)
                used[cpu] += cpus_has(&(*other)->tuned->cpus, cpu);
    for (; wanted > 0; wanted--) {
        size_t best = CPUS_MAX;
        for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
            if (cpus_has(&all, cpu) && !cpus_has(ret, cpu) &&
                (best == CPUS_MAX || used[cpu] < used[best]))
                best = cpu;
        cpus_add(ret, best);
    }
}

/* What is moved from outside. False: nothing is. */
static bool make_levers(struct live *live, struct lever_values *ret)
{
    const struct tuning *tuning = live->run->tuning;
    const struct space *space = &live->run->tuning->space;
    autofree(mem) double *point = xcalloc(tuning->n, sizeof(*point));
    bool some = false;

    *ret = (struct lever_values){0};
    tuning_point(live->run, live->tuned->now, point);
    for (size_t j = 0; j < tuning->n; j++) {
        enum system_name name = system_name_of(tuning->knobs[j].name);
        struct value value = param_value(&space->params[j], point[j]);
        double number = value.number;
        value_release(&value);
        if (name >= SYSTEM_THREADS || tuning->frozen[j])
            continue;
        ret->given[name] = some = true;
        if (name == SYSTEM_CPUS) {
            choose_cpus(live, (size_t)MAX(1, number), &live->tuned->cpus);
            ret->cpus = live->tuned->cpus;
            ret->given[name] = cpus_count(&ret->cpus) > 0;
        } else if (name == SYSTEM_CPU_QUOTA) {
            ret->quota_cpus = number;
        } else if (name == SYSTEM_MEMORY) {
            ret->memory_bytes = (uint64_t)number;
        } else if (name == SYSTEM_NICE) {
            ret->nice = (int)number;
        } else {
            ret->frequency_khz = (uint64_t)number;
        }
    }
    return some;
}

static char *control_text(const struct live *live)
{
    autorelease(str) struct str text = STR_INIT;

    str_addf(&text, "{\"system\":%s}", live->attempt.system);
    return str_take(&text);
}

void configure_send(struct live *live)
{
    struct engine *engine = live->run->engine;
    struct lever_values levers;
    autofree(mem) char *control = NULL;
    struct agent_command command = {.kind = COMMAND_SYSTEM,
                                    .attempt = live->attempt.id,
                                    .generation = live->attempt.generation};

    if (!live->tuned)
        return;
    if (make_levers(live, &levers))
        command.levers = &levers;
    if (live->asked == REASON_NONE) /* else the page says that it is to end */
        command.control_json = control = control_text(live);
    engine->options.send(&command, engine->options.arg);
}

static void send_soon(struct live *live, struct now now)
{
    live->tuned->sent_mono_us = now.mono_us;
    engine_effect(live->run->engine,
                  (struct effect){.kind = EFFECT_SYSTEM, .id = live->attempt.id});
}

/* ---- changes ---- */

static void set_row(struct live *live, const double *configuration)
{
    struct run *run = live->run;
    autorelease(str) struct str json = STR_INIT;

    memmove(live->tuned->now, configuration, run->tuning->n * sizeof(*configuration));
    tuning_json(run, live->tuned->now, &json);
    free(live->attempt.system);
    live->attempt.system = str_take(&json);
    live->attempt.generation++;
    txn_put_attempt(run->engine->tick->txn, &live->attempt);
}

void configure(struct live *live, const double *configuration, enum change_kind kind,
               struct now now)
{
    struct tuned *tuned = live->tuned;

    tuned->change = kind;
    tuned->failed = false;
    tuned->changed_s = live->progress.at_s;
    tuned->changed_step = live->progress.step;
    tuned->changed_ahead_s = live->progress.ahead_s;
    if (kind == CHANGE_RESTART) {
        tuning_trial(live->run->tuning, live->attempt.trial)->restarts++;
        tuning_pend(live->run, live->attempt.trial, configuration, kind, &live->progress);
        live_ask(live, REASON_RECONFIGURED, false, now);
        return;
    }
    set_row(live, configuration);
    tuned->resends = 0;
    send_soon(live, now);
}

void configure_failed(struct live *live, const double *configuration)
{
    const struct tuned *tuned = live->tuned;
    struct tuning *tuning = live->run->tuning;
    struct progress since = live->progress;

    if (tuned->change != CHANGE_NONE) {
        since.at_s = tuned->changed_s;
        since.step = tuned->changed_step;
        since.ahead_s = tuned->changed_ahead_s;
    }
    tuning_pend(live->run, live->attempt.trial, configuration, CHANGE_RESTART, &since);
    struct pending *pending = map_find(&tuning->pending, (uint64_t)live->attempt.trial);
    pending->failed = true;
}

void configure_started(struct live *live, struct now now)
{
    struct lever_values levers;

    if (!live->tuned || live->tuned->sent_mono_us)
        return;
    /* What an engine before this one decided may not have left it. */
    if (make_levers(live, &levers) || live->adopted || live->attempt.generation > 1)
        send_soon(live, now);
}

void configure_timer(struct live *live, struct now now)
{
    struct tuned *tuned = live->tuned;

    if (!tuned || !tuned->sent_mono_us || now.mono_us < tuned->sent_mono_us + ASK_AGAIN_US)
        return;
    if (tuned->resends++ < RESENDS && live->attempt.state == ATTEMPT_RUNNING) {
        send_soon(live, now);
        return;
    }
    tuned->sent_mono_us = 0;
    progress_changed(live, now);
}

int64_t configure_wake_us(const struct live *live)
{
    if (!live->tuned)
        return INT64_MAX;
    if (live->tuned->sent_mono_us)
        return live->tuned->sent_mono_us + ASK_AGAIN_US;
    /* A configuration on trial that brings no step is noticed. */
    return live->tuned->trying ? live->tuned->looked_us + LOOK_US : INT64_MAX;
}

/* ---- answers ---- */

/* Levers that are not to be had on this machine stay where they are. True: all that the sentence
 * names were known as such, so what else was asked for is in place. */
static bool freeze(struct live *live, const char *text)
{
    struct tuning *tuning = live->run->tuning;
    bool known = false, fresh = false;

    for (size_t j = 0; j < tuning->n; j++) {
        const char *name = tuning->knobs[j].name;
        const char *at = text ? strstr(text, name) : NULL;
        if (!at || at[strlen(name)] != ':')
            continue;
        known |= tuning->frozen[j];
        fresh |= !tuning->frozen[j];
        tuning->frozen[j] = true;
    }
    return known && !fresh;
}

/* Whether a change under way is in place: nobody could say it later. */
static void tell_answer(struct live *live, bool applied, struct now now)
{
    autorelease(str) struct str json = STR_INIT;
    struct run *run = live->run;
    bool handed_over = live->adopted && live->attempt.generation > 1;

    if (live->tuned->change != CHANGE_LIVE && !handed_over)
        return;
    struct json_out out = event_begin(&json, "answered", run, run_trial(run, live->attempt.trial));
    json_put_int(&out, "attempt", live->attempt.number);
    json_put_int(&out, "generation", live->attempt.generation);
    json_put_bool(&out, "applied", applied);
    json_end_object(&out);
    engine_event(run, live->attempt.trial, &json, now);
}

/* "threads=2 memory=400M: memory: not possible: …" */
static void note_refusal(struct live *live, const char *why, struct now now)
{
    struct run *run = live->run;
    autofree(mem) double *point = xcalloc(run->tuning->n, sizeof(*point));
    autorelease(str) struct str words = STR_INIT;

    tuning_point(run, live->tuned->now, point);
    space_words(&run->tuning->space, point, &words);
    if (words.len)
        tuned_note(live, now, "%s: %s", words.s, why);
    else
        tuned_note(live, now, "%s", why);
}

static void refuse(struct live *live, const struct agent_event *event, struct now now)
{
    struct tuned *tuned = live->tuned;
    bool never = event->error == -ENOTSUP || event->error == -EPERM;
    struct decision decision = {.advice = ADVICE_KEEP};

    bool rest = never && freeze(live, event->text);
    tell_answer(live, rest, now);
    if (rest)
        return;
    note_refusal(live, event->text ? event->text : strerror(-event->error), now);
    if (!live->run->tuning->speed || !tuned->decide)
        return;
    struct decide_input input = {.now_s = (double)now.wall_us / 1e6,
                                 .remaining_s = live_left_s(live, now),
                                 .remaining_at_s = (double)now.wall_us / 1e6,
                                 .load = tuned->load,
                                 .ln_seconds = NAN,
                                 .variance = NAN};
    decide_on_refusal(tuned->decide, &input, &decision);
    tuned->trying = false;
    autofree(mem) double *to =
        xmemdup(decision.to ? decision.to : tuned->now, live->run->tuning->n * sizeof(double));
    if (never)
        tuned_again(live);
    if (decision.advice == ADVICE_REVERT)
        configure(live, to, CHANGE_LIVE, now);
}

/* Which processors it is held to from now on: nobody could say it later. */
static void tell_cpus(struct live *live, struct now now)
{
    autorelease(str) struct str json = STR_INIT, list = STR_INIT;
    struct tuned *tuned = live->tuned;
    struct run *run = live->run;

    if (!cpus_count(&tuned->cpus) || cpus_equal(&tuned->cpus, &tuned->cpus_told))
        return;
    tuned->cpus_told = tuned->cpus;
    cpus_format(&tuned->cpus, &list);
    struct json_out out = event_begin(&json, "pinned", run, run_trial(run, live->attempt.trial));
    json_put_int(&out, "attempt", live->attempt.number);
    json_put_text(&out, "cpus", list.s);
    json_end_object(&out);
    engine_event(run, live->attempt.trial, &json, now);
}

void on_system(struct live *live, const struct agent_event *event, struct now now)
{
    struct tuned *tuned = live->tuned;

    if (!tuned || event->generation != live->attempt.generation || !tuned->sent_mono_us)
        return;
    tuned->sent_mono_us = 0;
    progress_changed(live, now);
    if (event->error == 0) {
        tell_answer(live, true, now);
        tell_cpus(live, now);
    }
    if (event->error < 0 && event->error != -ESRCH)
        refuse(live, event, now);
    else if (event->text && *event->text)
        tuned_note(live, now, "%s", event->text);
}

/* ---- cost ---- */

static void announce(struct live *live, double cost_s, struct now now)
{
    autorelease(str) struct str json = STR_INIT;
    struct run *run = live->run;
    autofree(mem) double *point = xcalloc(run->tuning->n, sizeof(*point));
    struct json_out out = event_begin(&json, "changed", run, run_trial(run, live->attempt.trial));

    tuning_point(run, live->tuned->now, point);
    json_put_int(&out, "generation", live->attempt.generation);
    json_put_text(&out, "kind", live->tuned->change == CHANGE_RESTART ? "restart" : "live");
    json_key(&out, "system");
    space_json(&run->tuning->space, point, &out);
    json_put_double(&out, "cost_s", round(cost_s * 1e3) / 1e3);
    json_put_known(&out, "step", live->progress.step);
    json_end_object(&out);
    engine_event(run, live->attempt.trial, &json, now);
}

/* From the last step before the change to the first of the window: what that took beyond what the
 * same steps take now. */
void configure_cost(struct live *live, const struct window_result *window, struct now now)
{
    struct tuned *tuned = live->tuned;
    const struct progress *progress = &live->progress;

    if (tuned->change == CHANGE_NONE || window->bound)
        return;
    double start_s = progress->at_s - window->seconds, start = progress->step - window->steps;
    double took = start_s - tuned->changed_s, steps = start - tuned->changed_step; /* < 0: lost */
    double cost_s = took - steps * exp(window->ln_seconds);
    if (isfinite(cost_s) && !tuned->by_use && stamps_same_clock(progress, tuned->changed_ahead_s)) {
        if (live->run->tuning->speed && !tuned->failed)
            speed_tell_change(live->run->tuning->speed, tuned->change, fmax(0, cost_s));
        announce(live, fmax(0, cost_s), now);
    }
    tuned->change = CHANGE_NONE;
}
