/* SPDX-License-Identifier: MIT */
/*
 * curves.c — the objectives of trials over their steps, as early stopping looks at them.
 *
 * A running trial's curve belongs to its attempt, as the user counts. When the trial ends by itself
 * or by a rule, it is turned around (smaller is better), thinned and kept; so is that of a paused
 * trial that lives on as a checkpoint only.
 */
#include "engine/internal.h"
#include "series/series.h"

#include <math.h>

void curve_release(struct curve_data *curve)
{
    for (size_t i = 0; i < curve->n_others; i++)
        curve_release(&curve->others[i]);
    free(curve->others);
    vec_release(&curve->steps);
    vec_release(&curve->values);
    *curve = (struct curve_data){0};
}

/* When full, every other point goes. A repeated step: it went back to a checkpoint. */
void curve_add(struct curve_data *curve, int64_t step, double value)
{
    while (curve->steps.len && *vec_last(&curve->steps) >= step) {
        curve->steps.len--;
        curve->values.len--;
    }
    if (curve->steps.len >= CURVE_MAX) {
        for (size_t i = 0; i < CURVE_MAX / 2; i++) {
            curve->steps.at[i] = curve->steps.at[2 * i];
            curve->values.at[i] = curve->values.at[2 * i];
        }
        curve->steps.len = curve->values.len = CURVE_MAX / 2;
    }
    vec_push(&curve->steps, step);
    vec_push(&curve->values, value);
}

static void others_make(struct curve_data *curve, size_t n)
{
    if (curve->others || !n)
        return;
    curve->others = xcalloc(n, sizeof(*curve->others));
    curve->n_others = n;
}

void curve_note_other(struct live *live, const struct agent_sample *sample)
{
    const struct spec *spec = &live->run->spec;

    if (!isfinite(sample->value))
        return;
    for (size_t i = 0; i < spec->others.len; i++) {
        if (!str_eq(spec->others.at[i].metric, sample->metric))
            continue;
        others_make(&live->curve, spec->others.len);
        curve_add(&live->curve.others[i], sample->step == STEP_NONE ? 0 : sample->step,
                  sample->value);
    }
}

static void curve_set(struct curve_data *to, const struct curve_data *from)
{
    to->steps.len = to->values.len = 0;
    for (size_t i = 0; i < from->steps.len; i++)
        curve_add(to, from->steps.at[i], from->values.at[i]);
}

void curve_begin(struct live *live)
{
    const struct curve_data none = {0};

    curve_set(&live->curve, &live->before);
    for (size_t i = 0; i < live->curve.n_others; i++)
        curve_set(&live->curve.others[i],
                  i < live->before.n_others ? &live->before.others[i] : &none);
}

/* At most CURVE_KEPT points, evenly spread, the first and the last among them. */
static void thin(struct curve_data *curve)
{
    size_t n = curve->steps.len;

    if (n <= CURVE_KEPT)
        return;
    for (size_t i = 0; i < CURVE_KEPT; i++) {
        size_t from = i * (n - 1) / (CURVE_KEPT - 1);
        curve->steps.at[i] = curve->steps.at[from];
        curve->values.at[i] = curve->values.at[from];
    }
    curve->steps.len = curve->values.len = CURVE_KEPT;
}

static void turn_around(struct curve_data *curve, enum goal goal)
{
    if (goal != GOAL_MAXIMIZE)
        return;
    vec_foreach (value, &curve->values)
        *value = -*value;
}

/* As rules want it. */
static void prepare(const struct run *run, struct curve_data *curve)
{
    turn_around(curve, run->spec.objective.goal);
    thin(curve);
    for (size_t i = 0; i < curve->n_others; i++) {
        turn_around(&curve->others[i], run->spec.others.at[i].goal);
        thin(&curve->others[i]);
    }
}

static double last_value(const struct curve_data *curve)
{
    return *vec_last(&curve->values);
}

/* Of too many, the oldest goes that ended in the same way; never the best, which all are measured
 * against. */
static void make_room(struct run *run, enum trial_state state)
{
    size_t n = 0, oldest = SIZE_MAX, best = SIZE_MAX;

    for (size_t i = 0; i < run->finished_curves.len; i++) {
        const struct curve_data *curve = &run->finished_curves.at[i];
        if (run_trial(run, curve->trial)->state != state)
            continue;
        n++;
        if (best == SIZE_MAX || last_value(curve) < last_value(&run->finished_curves.at[best]))
            best = i;
    }
    if (n < CURVES_MAX)
        return;
    for (size_t i = 0; i < run->finished_curves.len && oldest == SIZE_MAX; i++)
        if (i != best && run_trial(run, run->finished_curves.at[i].trial)->state == state)
            oldest = i;
    curve_release(&run->finished_curves.at[oldest]);
    vec_remove(&run->finished_curves, oldest);
}

void run_keep_curve(struct run *run, struct curve_data *curve)
{
    if (!run->stop || !curve->steps.len)
        return;
    make_room(run, run_trial(run, curve->trial)->state);
    prepare(run, curve);
    vec_push(&run->finished_curves, *curve);
    *curve = (struct curve_data){0};
}

void run_park_curve(struct run *run, struct curve_data *curve)
{
    prepare(run, curve);
    vec_push(&run->parked, *curve);
    *curve = (struct curve_data){0};
}

/* ---- after a restart ---- */

static void read_curve(const struct run *run, const struct trial *trial, const char *metric,
                       struct curve_data *ret)
{
    struct series_set set = {0};

    if (series_read(run->engine->options.series, run->engine->home, &run->spec, trial, metric, &set,
                    NULL) == 0 &&
        set.series.len)
        vec_foreach (point, &set.series.at[0].points)
            if (isfinite(point->value))
                curve_add(ret, point->step, point->value);
    series_set_release(&set);
}

static struct curve_data read_all(const struct run *run, const struct trial *trial)
{
    struct curve_data curve = {.trial = trial->number};

    read_curve(run, trial, run->spec.objective.metric, &curve);
    others_make(&curve, run->spec.others.len);
    for (size_t i = 0; i < curve.n_others; i++)
        read_curve(run, trial, run->spec.others.at[i].metric, &curve.others[i]);
    return curve;
}

void curve_load_before(struct live *live)
{
    struct run *run = live->run;
    struct trial earlier = *run_trial(run, live->attempt.trial);

    if (!run->stop || !run->spec.objective.metric || live->attempt.number < 2)
        return;
    earlier.attempts = live->attempt.number - 1;
    curve_release(&live->before);
    live->before = read_all(run, &earlier);
    others_make(&live->curve, run->spec.others.len);
    if (!live->samples_seen)
        curve_begin(live);
}

static bool wants(const struct run *run, const struct trial *trial, const int *n_read)
{
    if (!trial->experiment)
        return false;
    if (trial->number == run->record)
        return true; /* what all are measured against, however old */
    return n_read[trial->state] < CURVES_MAX &&
           (trial->state == TRIAL_COMPLETED ||
            (trial->state == TRIAL_STOPPED && trial->reason == REASON_PRUNED));
}

void curves_load(struct run *run)
{
    int n_read[TRIAL_STATES] = {0};

    if (!run->stop || !run->spec.objective.metric)
        return;
    for (size_t i = run->trials.len; i-- > 0;) {
        const struct trial *trial = &run->trials.at[i];
        if (!wants(run, trial, n_read))
            continue;
        n_read[trial->state]++;
        struct curve_data curve = read_all(run, trial);
        run_keep_curve(run, &curve);
        curve_release(&curve);
    }
}

void curves_load_parked(struct run *run)
{
    vec_foreach (trial, &run->trials)
        if (trial->experiment && trial->state == TRIAL_PAUSED && !run_live_of(run, trial->number)) {
            struct curve_data curve = read_all(run, trial);
            run_park_curve(run, &curve);
        }
}
