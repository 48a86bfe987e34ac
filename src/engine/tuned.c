/* SPDX-License-Identifier: MIT */
/*
 * tuned.c — at the end of each window: keep the configuration, try another, adopt it, take it back.
 * The rules are in tune/decide.c; here they are given what they need, and their decisions are told.
 */
#include "base/units.h"
#include "engine/internal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>

#define RESTARTS_MAX    6   /* of a trial, to change something */
#define AFTER_TRIALS    100 /* to come, that count */
#define PATIENT_WINDOWS 4   /* within which a program that saves itself has done so */
#define BLAMES_MAX      2   /* failures of a trial that are laid on a configuration */

void tuned_note(const struct live *live, struct now now, const char *fmt, ...)
{
    autorelease(str) struct str json = STR_INIT, text = STR_INIT;
    struct run *run = live->run;
    struct json_out out = event_begin(&json, "tune_note", run, run_trial(run, live->attempt.trial));
    va_list args;

    va_start(args, fmt);
    str_addv(&text, fmt, args);
    va_end(args);
    json_put_text(&out, "text", text.s);
    json_end_object(&out);
    engine_event(run, live->attempt.trial, &json, now);
}

/* ---- what may be chosen from ---- */

/* Can the knob be moved under this attempt? */
static bool movable(const struct live *live, const struct knob *knob)
{
    const struct tuned *tuned = live->tuned;

    if (live->run->tuning->frozen[knob - live->run->tuning->knobs])
        return false;
    if (knob->restart)
        return tuned->sdk && tuned->restarts && !tuned->by_use;
    return !tuning_inside(knob) || (tuned->sdk && !tuned->by_use);
}

/* Did this trial fail while it was tried? */
static bool is_suspect(const struct live *live, const double *row)
{
    struct tuning *tuning = live->run->tuning;
    const bool *suspects = tuning_trial(tuning, live->attempt.trial)->suspects;
    size_t place = tuning_find(tuning, row);

    return suspects && place != SIZE_MAX && suspects[place];
}

static bool reachable(const struct live *live, const double *row)
{
    const struct tuning *tuning = live->run->tuning;

    if (!speed_feasible(tuning->speed, row) || is_suspect(live, row))
        return false;
    for (size_t j = 0; j < tuning->n; j++)
        if (row[j] != live->tuned->now[j] && !movable(live, &tuning->knobs[j]))
            return false;
    return true;
}

static void make_decide(struct live *live)
{
    const struct tuning *tuning = live->run->tuning;
    struct tuned *tuned = live->tuned;
    autofree(mem) double *rows = xcalloc(tuning->n_list * tuning->n + 1, sizeof(*rows));
    size_t n = 0;

    for (size_t i = 0; i < tuning->n_list; i++) {
        const double *row = tuning->list + i * tuning->n;
        if (reachable(live, row))
            memcpy(rows + n++ * tuning->n, row, tuning->n * sizeof(*row));
    }
    if (tuned->decide)
        decide_free(tuned->decide);
    tuned->decide = decide_new(tuning->speed, rows, n, NULL);
    tuned->n_list = n;
    decide_learning(tuned->decide, tuning_learning(live->run, live->attempt.trial));
    decide_begin(tuned->decide, progress_key(live), tuned->now);
}

/* What can be reached has changed: the program answers, or has a checkpoint to go on from. */
static void see_reach(struct live *live)
{
    struct tuned *tuned = live->tuned;
    bool restarts = tuned->restarts, some = false;

    const struct trial_tuning *past = tuning_trial(live->run->tuning, live->attempt.trial);
    for (size_t j = 0; j < live->run->tuning->n; j++)
        some |= live->run->tuning->knobs[j].restart;
    if (some && !restarts && live->sdk && !past->stays && past->restarts < RESTARTS_MAX)
        restarts = launch_new_checkpoint(live);
    if (tuned->decide && tuned->sdk == live->sdk && tuned->restarts == restarts)
        return;
    if (tuned->trying)
        return; /* first it is settled */
    tuned->sdk = live->sdk;
    tuned->restarts = restarts;
    make_decide(live);
}

void tuned_again(struct live *live)
{
    struct tuned *tuned = live->tuned;

    if (tuned->decide)
        decide_free(tuned->decide);
    tuned->decide = NULL;
    tuned->trying = false;
}

/* The knobs that stay as they are under this attempt: "threads, workers". */
static void add_stuck(const struct live *live, struct str *to)
{
    const struct tuning *tuning = live->run->tuning;

    for (size_t j = 0; j < tuning->n; j++)
        if (tuning->knobs[j].n > 1 && !tuning->frozen[j] && !movable(live, &tuning->knobs[j]))
            str_addf(to, "%s%s", to->len ? ", " : "", tuning->knobs[j].name);
}

/* Say once why nothing happens here, or not with all. */
static void note_stuck(struct live *live, struct now now)
{
    struct tuning *tuning = live->run->tuning;
    autorelease(str) struct str names = STR_INIT;

    if (tuning->n_list < 2 || tuning->stuck_noted || live->sdk)
        return;
    add_stuck(live, &names);
    if (!names.len)
        return;
    tuning->stuck_noted = true;
    bool none = live->tuned->n_list < 2;
    tuned_note(live, now,
               "%s%s cannot be changed while it runs: threads and settings of its own need a "
               "program that uses the SDK, and a restart needs its checkpoints%s",
               none ? "nothing is tuned: " : "", names.s,
               live->run->budget > (int64_t)live->run->trials.len
                   ? "; trials to come may begin otherwise"
                   : "");
}

/* Say once that what needs a restart stays, where no checkpoint has come for a while. */
static void note_no_checkpoint(struct live *live, struct now now)
{
    struct tuning *tuning = live->run->tuning;
    autorelease(str) struct str names = STR_INIT;

    if (!live->sdk || live->tuned->restarts || tuning->restart_noted ||
        live->tuned->windows < PATIENT_WINDOWS)
        return;
    add_stuck(live, &names);
    if (!names.len)
        return;
    tuning->restart_noted = true;
    tuned_note(live, now,
               "%s can be changed by a restart only, and there is no checkpoint to start from",
               names.s);
}

/* Say once that what changes learning cannot be judged by it. */
static void note_blind(struct live *live, struct now now)
{
    struct tuning *tuning = live->run->tuning;

    if (live->run->spec.objective.metric || tuning->blind_noted ||
        !knobs_learn(tuning->knobs, tuning->n))
        return;
    tuning->blind_noted = true;
    tuned_note(live, now,
               "some settings change learning itself, and without an objective nobody sees how: "
               "they are judged by steps");
}

/* ---- decisions ---- */

static void put_configuration(struct json_out *out, const struct run *run, const char *key,
                              const double *configuration)
{
    autofree(mem) double *point = xcalloc(run->tuning->n, sizeof(*point));

    tuning_point(run, configuration, point);
    json_key(out, key);
    space_json(&run->tuning->space, point, out);
}

static void put_numbers(struct json_out *out, const struct decision *decision)
{
    struct belief_ln predicted = decision->predicted;

    json_put_known(out, "predicted", expm1(predicted.mean));
    json_put_known(out, "predicted_low", expm1(predicted.mean - 2 * predicted.deviation));
    json_put_known(out, "predicted_high", expm1(predicted.mean + 2 * predicted.deviation));
    json_put_known(out, "measured", expm1(decision->measured));
    json_put_known(out, "cost_s", decision->cost_s);
    json_put_known(out, "saving_s", decision->saving_s);
    json_put_known(out, "remaining_s", decision->remaining_s);
}

static void announce(struct live *live, const struct decision *decision, enum change_kind kind,
                     struct now now)
{
    autorelease(str) struct str json = STR_INIT, words = STR_INIT;
    struct run *run = live->run;
    const struct trial *trial = run_trial(run, live->attempt.trial);
    struct json_out out = event_begin(&json, "tuned", run, trial);

    decision_format(decision, run->tuning->knobs, run->tuning->n, &words);
    json_put_text(&out, "advice", advice_name(decision->advice));
    json_put_text(&out, "kind",
                  kind == CHANGE_RESTART ? "restart"
                  : kind == CHANGE_LIVE  ? "live"
                                         : "none");
    put_configuration(&out, run, "from", decision->from);
    put_configuration(&out, run, "to", decision->to);
    json_put_text(&out, "why", decision->why);
    put_numbers(&out, decision);
    json_put_int(&out, "generation", live->attempt.generation + (kind != CHANGE_NONE));
    json_put_known(&out, "step", live->progress.step);
    json_put_text(&out, "words", words.s);
    json_end_object(&out);
    engine_event(run, trial->number, &json, now);
}

static void act(struct live *live, const struct decision *decision, struct now now)
{
    const struct tuning *tuning = live->run->tuning;
    enum change_kind kind = knobs_change(tuning->knobs, tuning->n, decision->from, decision->to);

    if (decision->advice != ADVICE_KEEP) {
        announce(live, decision, kind, now);
        if (kind != CHANGE_NONE)
            configure(live, decision->to, kind, now);
    }
    live->tuned->trying = knobs_change(tuning->knobs, tuning->n, decide_held(live->tuned->decide),
                                       live->tuned->now) != CHANGE_NONE;
}

/* Seconds of the trials that have not begun yet: what is learned serves them all. */
static double after_s(const struct live *live, struct now now)
{
    const struct run *run = live->run;
    double to_come = (double)MIN(run->budget - (int64_t)run->trials.len, AFTER_TRIALS);
    double each = run->mean_run_us
                      ? (double)run->mean_run_us / 1e6
                      : (double)live_elapsed_us(live, now) / 1e6 + live_left_s(live, now);

    return run->exhausted ? 0 : fmax(0, to_come) * each;
}

static struct decide_input input_of(const struct live *live, struct now now)
{
    const struct tuned *tuned = live->tuned;
    double now_s = (double)now.wall_us / 1e6;

    return (struct decide_input){
        .now_s = now_s,
        .remaining_s = live_left_s(live, now),
        .remaining_at_s = now_s,
        .after_s = after_s(live, now),
        .load = tuned->load,
        .idle = tuned->idle,
        .ln_seconds = NAN,
        .variance = NAN,
    };
}

/* With the trials that run, or when it is to end, or stands still, nothing is changed. */
static bool settled(const struct live *live)
{
    return live->asked != REASON_NONE || live->run->closing || live->paused ||
           run_trial(live->run, live->attempt.trial)->state != TRIAL_RUNNING;
}

/* What this trial's windows say of all trials. */
static void note_manner(const struct live *live)
{
    struct tuning *tuning = live->run->tuning;

    tuning->deaf = !live->sdk;
    tuning->by_steps |= !live->tuned->by_use;
}

static void note_measured(const struct live *live, const struct window_result *window)
{
    const struct tuning *tuning = live->run->tuning;
    size_t place = tuning_find(tuning, live->tuned->now);

    if (place != SIZE_MAX && !window->bound)
        tuning->measured[place] = true;
}

/* Where nothing is to be decided; else decide.c does. */
static void tell_speed(const struct live *live, const struct window_result *window)
{
    speed_tell(live->run->tuning->speed, progress_key(live), live->tuned->now, live->tuned->load,
               window->ln_seconds, window->error * window->error);
}

/* The trial works under this one. */
static void note_good(struct live *live)
{
    struct tuning *tuning = live->run->tuning;
    struct trial_tuning *past = tuning_trial(tuning, live->attempt.trial);

    if (live->tuned->trying)
        return;
    if (!past->good)
        past->good = xcalloc(tuning->n, sizeof(*past->good));
    memcpy(past->good, live->tuned->now, tuning->n * sizeof(*past->good));
}

void tuned_on_window(struct live *live, const struct window_result *window, struct now now)
{
    struct tuned *tuned = live->tuned;
    struct decision decision;

    if (!tuned || settled(live))
        return;
    configure_cost(live, window, now);
    if (!live->run->tuning->speed)
        return;
    note_manner(live);
    note_measured(live, window);
    if (!window->bound)
        note_good(live);
    workloads_look(live, now);
    workloads_fit(live, window, now);
    see_reach(live);
    tuned->windows++;
    note_stuck(live, now);
    note_no_checkpoint(live, now);
    note_blind(live, now);
    if (tuned->n_list < 2 && !tuned->trying) {
        tell_speed(live, window);
        return;
    }
    struct decide_input input = input_of(live, now);
    input.ln_seconds = window->ln_seconds;
    input.variance = window->error * window->error;
    input.cut = window->cut;
    decide_on_window(tuned->decide, &input, &decision);
    act(live, &decision, now);
    window_bar(&live->progress.window, decide_bar(tuned->decide, tuned->load));
}

void tuned_on_rest(struct live *live, const struct window_result *rest)
{
    if (!live->run->tuning->speed)
        return;
    note_manner(live);
    note_measured(live, rest);
    tell_speed(live, rest);
}

/* What is busy beside this experiment's trials. */
static void note_outside(struct run *run, double busy)
{
    double ours = 0;

    vec_foreach (live, &run->live)
        if ((*live)->tuned && !(*live)->paused)
            ours += (*live)->tuned->used;
    run->tuning->outside = fmax(0, busy - ours);
}

void tuned_on_use(struct live *live, const struct attempt_use *use, struct now now)
{
    struct tuned *tuned = live->tuned;

    if (!tuned || !live->run->tuning->speed || !(use->seconds > 0))
        return;
    double used = use->cpu_s / use->seconds;
    if (use->machine_busy_cpus >= 0 && used >= 0) {
        tuned->load = live->run->tuning->load = fmax(0, use->machine_busy_cpus - used);
        tuned->idle = fmax(0, use->machine_cpus - use->machine_busy_cpus);
        tuned->used = used;
        note_outside(live->run, use->machine_busy_cpus);
    }
    tuned->peak_bytes = MAX(tuned->peak_bytes, use->memory_bytes);
    if (!tuned->decide && !settled(live))
        see_reach(live);
    (void)now;
}

/* ---- failures ---- */

static bool program_failed(const struct ending *ending)
{
    return ending->reason == REASON_EXIT || ending->reason == REASON_SIGNAL ||
           ending->reason == REASON_OOM;
}

/* The bytes that a configuration allows; NaN: it says nothing of them, or is not obeyed. */
static double memory_of(const struct run *run, const double *configuration)
{
    const struct tuning *tuning = run->tuning;
    autofree(mem) double *point = xcalloc(tuning->n, sizeof(*point));

    tuning_point(run, configuration, point);
    for (size_t j = 0; j < tuning->n; j++)
        if (system_name_of(tuning->knobs[j].name) == SYSTEM_MEMORY && !tuning->frozen[j]) {
            struct value value = param_value(&tuning->space.params[j], point[j]);
            double bytes = value.number;
            value_release(&value);
            return bytes;
        }
    return NAN;
}

uint64_t tuned_most_memory(const struct live *live)
{
    const struct tuning *tuning = live->tuned ? live->run->tuning : NULL;
    double most = 0;

    for (size_t i = 0; tuning && i < tuning->n_list; i++)
        most = fmax(most, memory_of(live->run, tuning->list + i * tuning->n)); /* NaN: not */
    return (uint64_t)most;
}

char *tuned_memory_limit(const struct live *live)
{
    autorelease(str) struct str text = STR_INIT;
    double bytes = live->tuned ? memory_of(live->run, live->tuned->now) : NAN;

    if (!(bytes > 0))
        return NULL;
    size_format((uint64_t)bytes, &text);
    return str_take(&text);
}

/* May the trial go on with this one, after it failed under what is in force? */
static bool is_refuge(const struct live *live, const double *row, bool memory)
{
    const struct run *run = live->run;

    return row &&
           knobs_change(run->tuning->knobs, run->tuning->n, live->tuned->now, row) != CHANGE_NONE &&
           speed_feasible(run->tuning->speed, row) && !is_suspect(live, row) &&
           (!memory || memory_of(run, row) > memory_of(run, live->tuned->now));
}

/* Of all, the one with the least memory that is more than what was too little; NULL: none. */
static const double *next_memory(const struct live *live)
{
    const struct tuning *tuning = live->run->tuning;
    const double *found = NULL;

    for (size_t i = 0; i < tuning->n_list; i++) {
        const double *row = tuning->list + i * tuning->n;
        if (is_refuge(live, row, true) &&
            (!found || memory_of(live->run, row) < memory_of(live->run, found)))
            found = row;
    }
    return found;
}

/* Where the trial goes on: with what it worked under, or as trials begin, or with more memory.
 * NULL: nowhere. */
static const double *refuge_of(const struct live *live, bool memory)
{
    const struct tuning *tuning = live->run->tuning;
    const struct tuned *tuned = live->tuned;
    const double *some[] = {
        tuned->decide && tuned->trying ? decide_held(tuned->decide) : NULL,
        tuning_trial(live->run->tuning, live->attempt.trial)->good,
        tuning->start,
    };

    for (size_t i = 0; i < ARRAY_LEN(some); i++)
        if (is_refuge(live, some[i], memory))
            return some[i];
    return memory ? next_memory(live) : NULL;
}

/* Nobody tries it again; nor, if it had too little memory, those that have no more. */
static void condemn(struct live *live, const double *configuration, bool memory)
{
    const struct tuning *tuning = live->run->tuning;
    double most = memory_of(live->run, configuration);

    speed_infeasible(tuning->speed, configuration);
    workloads_fail(live, configuration);
    for (size_t i = 0; memory && i < tuning->n_list; i++) {
        const double *row = tuning->list + i * tuning->n;
        if (memory_of(live->run, row) <= most && speed_feasible(tuning->speed, row)) {
            speed_infeasible(tuning->speed, row);
            workloads_fail(live, row);
        }
    }
}

/* It had worked before, so it may be chance, or the trial's own fault: that is known when the trial
 * has ended without it. */
static void suspect(const struct live *live, size_t place)
{
    struct tuning *tuning = live->run->tuning;
    struct trial_tuning *past = tuning_trial(tuning, live->attempt.trial);

    if (!past->suspects)
        past->suspects = xcalloc(tuning->n_list + 1, sizeof(*past->suspects));
    past->suspects[place] = true;
}

void tuned_convict(struct live *live)
{
    struct tuning *tuning = live->run->tuning;
    const bool *suspects =
        live->tuned && tuning->speed ? tuning_trial(tuning, live->attempt.trial)->suspects : NULL;

    for (size_t i = 0; suspects && i < tuning->n_list; i++)
        if (suspects[i])
            condemn(live, tuning->list + i * tuning->n, false);
}

bool tuned_to_blame(struct live *live, const struct ending *ending, struct now now)
{
    struct run *run = live->run;
    struct tuned *tuned = live->tuned;
    const struct tuning *tuning = run->tuning;

    if (!tuned || !tuning->speed || live->asked != REASON_NONE || !program_failed(ending))
        return false;
    struct trial_tuning *past = tuning_trial(run->tuning, live->attempt.trial);
    bool memory = ending->reason == REASON_OOM && !isnan(memory_of(run, tuned->now));
    const double *to = refuge_of(live, memory);
    size_t place = tuning_find(tuning, tuned->now);
    bool proven = !memory && (place == SIZE_MAX || tuning->measured[place]);
    if (!to || (!tuned->trying && proven) || (!memory && past->blames >= BLAMES_MAX))
        return false;
    past->blames++;
    if (!proven)
        condemn(live, tuned->now, memory);
    else if (place != SIZE_MAX)
        suspect(live, place);
    autorelease(str) struct str bad = STR_INIT, good = STR_INIT;
    tuning_name_values(run, tuned->now, &bad);
    tuning_name_values(run, to, &good);
    tuned_note(live, now, "it failed under %s, which is not tried again%s; it goes on with %s",
               bad.s, proven ? " in this trial" : "", good.s);
    configure_failed(live, to);
    return true;
}
