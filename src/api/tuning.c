/* SPDX-License-Identifier: MIT */
/*
 * tuning.c — the phases of a trial's configuration.
 *
 *     attempt 1                     attempt 2
 *     |---- threads=2 ----|-- 1 --| |-- threads=1 workers=4 --|
 *     beginning           tuned,    tuned, restart: in force when
 *                         live      the next attempt starts
 *
 * A decision in place counts from its event. One that starts the program again counts from the next
 * attempt. An attempt without decisions has what its row says. What was in force before the first
 * decision is what that decision says it came from.
 *
 * A decision in place is first asked for. It counts once the agent said that it is there, or what
 * came of it was seen: its cost, or the next decision in that attempt. Else nothing has changed.
 */
#include "api/tuning.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

/* ---- system parameters ---- */

size_t system_count(const struct spec *spec)
{
    if (!spec_has_system(spec))
        return 0;
    return spec->joint_n ? spec->joint_n : spec->system.n;
}

const char *system_name_at(const struct spec *spec, size_t i)
{
    if (!spec->joint_n)
        return spec->system.params[i].name;
    return spec->space.params[spec->space.n - spec->joint_n + i].name;
}

/* Where they start, as an object; NULL if that is not said. */
static json_t *starts_of(const struct spec *spec)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    size_t n = spec->joint_n ? 0 : system_count(spec);
    autofree(mem) double *point = xcalloc(n + 1, sizeof(*point));
    json_t *object = NULL;

    if (n == 0 || !spec->settings)
        return NULL;
    for (size_t i = 0; i < n; i++)
        point[i] = spec->settings[i].start;
    space_json(&spec->system, point, &out);
    json_parse(text.s, text.len, &object, NULL);
    return object;
}

/* ---- phases ---- */

/* Something that put a configuration, or a part of one, in force. */
struct mark {
    int64_t since_us, attempt, generation;
    double step;
    json_t *set, *from; /* owned; from: NULL, or what it was asked to go on from */
    bool asked;         /* and so far nobody said that it is there */
    bool refused;
};

struct building {
    struct tuning *tuning;
    const struct spec *spec;
    VEC(struct mark) marks;
    VEC(json_t *) before; /* objects that tell the first values, the surest first; owned */
};

static void building_release(struct building *building)
{
    vec_foreach (mark, &building->marks) {
        json_decref(mark->set);
        json_decref(mark->from);
    }
    vec_release(&building->marks);
    vec_foreach (object, &building->before)
        json_decref(*object);
    vec_release(&building->before);
}

/* The attempt that ran then; NULL if none had begun. */
static const struct tuning_attempt *attempt_of(const struct tuning *tuning, int64_t time_us)
{
    const struct tuning_attempt *found = NULL;
    vec_foreach (attempt, &tuning->attempts)
        if (attempt->started_us && attempt->started_us <= time_us)
            found = attempt;
    return found;
}

static int64_t attempt_at(const struct tuning *tuning, int64_t time_us)
{
    const struct tuning_attempt *attempt = attempt_of(tuning, time_us);

    return attempt ? attempt->number : 0;
}

/* The first attempt that began after `time_us`; NULL if there is none. */
static const struct tuning_attempt *attempt_after(const struct tuning *tuning, int64_t time_us)
{
    vec_foreach (attempt, &tuning->attempts)
        if (attempt->started_us > time_us)
            return attempt;
    return NULL;
}

static bool is_restart(const json_t *event)
{
    return str_eq(json_get_text(event, "kind", ""), "restart");
}

static int64_t generation_of(const json_t *event)
{
    return MAX(json_get_int(event, "generation", 0), 0);
}

static void add_mark(struct building *building, struct mark mark, json_t *set)
{
    mark.set = json_incref(set);
    vec_push(&building->marks, mark);
}

static bool decided_in(const struct building *building, int64_t attempt)
{
    vec_foreach (mark, &building->marks)
        if (mark->attempt == attempt)
            return true;
    return false;
}

/* Who decides again has seen a window of what was there before. */
static void settle(struct building *building, int64_t attempt)
{
    vec_foreach (mark, &building->marks)
        if (mark->attempt == attempt && !mark->refused)
            mark->asked = false;
}

static void on_tuned(struct building *building, const json_t *event, int64_t time_us)
{
    json_t *to = json_object_get(event, "to"), *from = json_object_get(event, "from");
    struct mark mark = {.since_us = time_us,
                        .attempt = attempt_at(building->tuning, time_us),
                        .generation = generation_of(event),
                        .step = json_get_double(event, "step", NAN)};

    settle(building, mark.attempt);
    if (json_is_object(from))
        vec_push(&building->before, json_incref(from));
    if (!json_is_object(to) || str_eq(json_get_text(event, "kind", "none"), "none"))
        return;
    if (is_restart(event)) {
        const struct tuning_attempt *next = attempt_after(building->tuning, time_us);
        if (!next) {
            building->tuning->asked++; /* decided, not yet in force */
            return;
        }
        mark.since_us = next->started_us;
        mark.attempt = next->number;
        mark.step = NAN;
    } else if (json_is_object(from)) {
        mark.asked = true;
        mark.from = json_incref(from);
    }
    add_mark(building, mark, to);
}

/* The agent's answer. */
static void on_answer(struct building *building, const json_t *event)
{
    int64_t generation = generation_of(event);
    bool applied = json_get_bool(event, "applied", false);

    vec_foreach (mark, &building->marks)
        if (mark->generation == generation) {
            mark->asked = mark->asked && !applied;
            mark->refused = !applied;
        }
}

/* Tells the cost. Of a change that nobody announced it is the only word. */
static void on_changed(struct building *building, const json_t *event, int64_t time_us)
{
    struct tuning *tuning = building->tuning;
    json_t *set = json_object_get(event, "system");
    int64_t generation = generation_of(event);
    double cost_s = json_get_double(event, "cost_s", NAN);
    struct tuning_cost *cost = is_restart(event) ? &tuning->restart : &tuning->live;

    if (isfinite(cost_s)) {
        cost->n++;
        cost->sum_s += cost_s;
    }
    vec_foreach (mark, &building->marks)
        if (mark->generation == generation) {
            mark->asked = false;
            return;
        }
    if (!json_is_object(set))
        return;
    struct mark mark = {.since_us = time_us,
                        .attempt = attempt_at(tuning, time_us),
                        .generation = generation,
                        .step = json_get_double(event, "step", NAN)};
    if (is_restart(event) && !decided_in(building, mark.attempt)) {
        const struct tuning_attempt *attempt = attempt_of(tuning, time_us);
        mark.since_us = attempt ? attempt->started_us : time_us;
        mark.step = NAN;
    }
    add_mark(building, mark, set);
}

/* Of notes those count that tell of a clock. */
static void on_note(struct tuning *tuning, const json_t *event)
{
    struct tuning_jump jump = {.attempt = json_get_int(event, "attempt", 0)};
    int64_t from_us, to_us;

    if (time_parse(json_get_text(event, "clock_from", ""), &from_us) < 0 ||
        time_parse(json_get_text(event, "clock_to", ""), &to_us) < 0)
        return;
    jump.from_us = MIN(from_us, to_us);
    jump.to_us = MAX(from_us, to_us);
    vec_push(&tuning->jumps, jump);
}

static void read_events(struct building *building, const struct tuning_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        autofree(json) json_t *event = NULL;
        if (json_parse(events[i].json, strlen(events[i].json), &event, NULL) < 0)
            continue;
        if (str_eq(json_get_text(event, "event", ""), "tuned"))
            on_tuned(building, event, events[i].time_us);
        else if (str_eq(json_get_text(event, "event", ""), "changed"))
            on_changed(building, event, events[i].time_us);
        else if (str_eq(json_get_text(event, "event", ""), "answered"))
            on_answer(building, event);
        else if (str_eq(json_get_text(event, "event", ""), "tune_note"))
            on_note(building->tuning, event);
    }
}

/* What was asked for and never was there leaves what it was asked to go on from. */
static void drop_asked(struct building *building)
{
    vec_foreach (mark, &building->marks) {
        if (!mark->asked)
            continue;
        json_decref(mark->set);
        mark->set = TAKE(mark->from);
        mark->generation = MAX(mark->generation - 1, 0);
        building->tuning->asked++;
    }
}

/* An attempt in which nothing was decided has one configuration. */
static void read_attempts(struct building *building)
{
    size_t n_events = building->marks.len;

    vec_foreach (attempt, &building->tuning->attempts) {
        autofree(json) json_t *set = NULL;
        bool decided = false;
        for (size_t i = 0; i < n_events; i++)
            decided |= building->marks.at[i].attempt == attempt->number;
        if (!attempt->system ||
            json_parse(attempt->system, strlen(attempt->system), &set, NULL) < 0 ||
            !json_is_object(set))
            continue;
        vec_push(&building->before, json_incref(set));
        if (!decided)
            add_mark(building,
                     (struct mark){.since_us = attempt->started_us,
                                   .attempt = attempt->number,
                                   .generation = attempt->generation,
                                   .step = NAN},
                     set);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    if (x->since_us != y->since_us)
        return x->since_us < y->since_us ? -1 : 1;
    return x->generation < y->generation ? -1 : x->generation > y->generation;
}

static json_t *first_value(const struct building *building, const char *name)
{
    vec_foreach (object, &building->before) {
        json_t *value = json_object_get(*object, name);
        if (value && !json_is_null(value))
            return json_incref(value);
    }
    return NULL;
}

static void begin_phases(struct building *building)
{
    struct tuning *tuning = building->tuning;
    struct tuning_phase phase = {.since_us = INT64_MIN, .step = NAN};

    phase.values = xcalloc(tuning->n_values + 1, sizeof(*phase.values));
    for (size_t i = 0; i < tuning->n_values; i++)
        phase.values[i] = first_value(building, system_name_at(building->spec, i));
    if (building->marks.len)
        phase.generation = MAX(building->marks.at[0].generation - 1, 0);
    vec_push(&tuning->phases, phase);
}

static void phase_release(struct tuning_phase *phase, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_decref(phase->values[i]);
    free(phase->values);
}

/* The same again is no phase of its own; it may come with a new number. */
static void add_phase(struct building *building, const struct mark *mark)
{
    struct tuning *tuning = building->tuning;
    const struct tuning_phase *last = vec_last(&tuning->phases);
    struct tuning_phase phase = {mark->since_us, mark->attempt, mark->step, mark->generation, NULL};

    phase.values = xcalloc(tuning->n_values + 1, sizeof(*phase.values));
    for (size_t i = 0; i < tuning->n_values; i++) {
        json_t *value = json_object_get(mark->set, system_name_at(building->spec, i));
        bool known = value && !json_is_null(value);
        phase.values[i] = json_incref(known ? value : last->values[i]);
    }
    vec_push(&tuning->phases, phase);
    bool same = tuning_same_values(tuning, tuning->phases.len - 2, tuning->phases.len - 1);
    tuning->changes += !same;
    if (same && (tuning->phases.len == 2 ||
                 tuning->phases.at[tuning->phases.len - 2].generation == mark->generation)) {
        tuning->phases.at[tuning->phases.len - 2].generation = mark->generation;
        phase_release(vec_last(&tuning->phases), tuning->n_values);
        tuning->phases.len--;
    }
}

static int keep_attempt(const struct attempt *attempt, void *arg)
{
    struct tuning *tuning = arg;
    vec_push(&tuning->attempts,
             ((struct tuning_attempt){attempt->number, attempt->started_us, attempt->generation,
                                      attempt->system ? xstrdup(attempt->system) : NULL}));
    return 0;
}

int tuning_load(struct tuning *tuning, struct store *store, const struct spec *spec,
                const struct trial_row *row, const struct tuning_log *log, struct err *err)
{
    autorelease(building) struct building building = {.tuning = tuning, .spec = spec};
    size_t n = 0;
    const struct tuning_event *events = tuning_log_find(log, row->trial.number, &n);
    json_t *object = NULL;

    *tuning = (struct tuning){.n_values = system_count(spec)};
    int r = store_attempts(store, row->trial.experiment, row->trial.number, false, keep_attempt,
                           tuning, err);
    read_events(&building, events, n);
    drop_asked(&building);
    read_attempts(&building);
    if (row->params_json &&
        json_parse(row->params_json, strlen(row->params_json), &object, NULL) == 0)
        vec_push(&building.before, object); /* under joint */
    object = starts_of(spec);
    if (object)
        vec_push(&building.before, object);
    if (building.marks.len)
        qsort(building.marks.at, building.marks.len, sizeof(*building.marks.at), by_time);
    begin_phases(&building);
    vec_foreach (mark, &building.marks)
        add_phase(&building, mark);
    return r;
}

void tuning_release(struct tuning *tuning)
{
    vec_foreach (phase, &tuning->phases)
        phase_release(phase, tuning->n_values);
    vec_release(&tuning->phases);
    vec_foreach (attempt, &tuning->attempts)
        free(attempt->system);
    vec_release(&tuning->attempts);
    vec_release(&tuning->jumps);
}

/* ---- questions ---- */

bool tuning_jumped(const struct tuning *tuning, int64_t attempt, int64_t from_us, int64_t to_us)
{
    vec_foreach (jump, &tuning->jumps)
        if (jump->attempt == attempt &&
            (!to_us || (from_us < jump->to_us && to_us > jump->from_us)))
            return true;
    return false;
}

static bool has_begun(const struct tuning_phase *phase, int64_t attempt, int64_t time_us,
                      int64_t step)
{
    if (time_us)
        return time_us >= phase->since_us;
    if (phase->attempt != attempt)
        return phase->attempt < attempt;
    return isnan(phase->step) || (step != STEP_NONE && (double)step > phase->step);
}

size_t tuning_phase_at(const struct tuning *tuning, int64_t attempt, int64_t time_us, int64_t step)
{
    for (size_t i = tuning->phases.len - 1; i > 0; i--)
        if (has_begun(&tuning->phases.at[i], attempt, time_us, step))
            return i;
    return 0;
}

bool tuning_same_values(const struct tuning *tuning, size_t a, size_t b)
{
    for (size_t i = 0; i < tuning->n_values; i++) {
        const json_t *x = tuning->phases.at[a].values[i], *y = tuning->phases.at[b].values[i];
        bool numbers = json_is_number(x) && json_is_number(y);
        if (numbers ? json_number_value(x) != json_number_value(y) : x != y && !json_equal(x, y))
            return false;
    }
    return true;
}
