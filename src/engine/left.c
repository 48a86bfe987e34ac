/* SPDX-License-Identifier: MIT */
/*
 * left.c — how long a trial still runs: to the steps that it makes, or to the target. Counted from
 * now, at the pace of the windows just gone by and of the one that is not complete yet. Before the
 * first is complete that one alone tells, which is less sure. Windows under another configuration
 * count as they would have been under the one that is asked for.
 *
 * How many steps a trial makes is what the program said, what the completed trials of the
 * experiment made, or a parameter that is called so.
 */
#include "engine/internal.h"

#include <math.h>

#define LENGTHS   64   /* completed trials that tell how long one is */
#define UNKNOWN_S 30.0 /* nothing is known: as long as it has run, and at least this */

/* The median step at which the newest completed trials ended, counted as this one; NaN: none. */
static double usual_length(const struct run *run, uint64_t unit)
{
    double sorted[LENGTHS];
    size_t n = 0;

    for (size_t i = run->lengths.len; i-- > 0 && n < LENGTHS;) {
        if (run->lengths.at[i].unit != unit)
            continue;
        size_t k = n++;
        for (; k > 0 && sorted[k - 1] > run->lengths.at[i].step; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = run->lengths.at[i].step;
    }
    return n ? sorted[n / 2] : NAN;
}

/* A hyperparameter that tells how long it trains; NaN: none does. */
static double length_param(const struct run *run, const struct trial *trial)
{
    static const char *const names[] = {"epochs",     "steps",    "iterations", "max_steps",
                                        "max_epochs", "n_epochs", "n_steps"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        ptrdiff_t at = space_find(&run->spec.space, names[i]);
        if (at < 0 || isnan(trial->point[at]))
            continue;
        struct value value = param_value(&run->spec.space.params[at], trial->point[at]);
        double number = value.number;
        value_release(&value);
        return number > 0 ? number : NAN;
    }
    return NAN;
}

/* The step at which it ends; NaN: not known. Who counts from 0 ends one before the number that a
 * parameter says. */
static double last_step(const struct live *live)
{
    const struct run *run = live->run;
    const struct progress *progress = &live->progress;
    double param = length_param(run, run_trial((struct run *)run, live->attempt.trial));

    if (progress->total >= progress->step)
        return progress->total;
    if (param >= progress->step)
        return fmax(param - progress->from_0, progress->step);
    double usual = usual_length(run, progress->unit);
    return isnan(usual) ? NAN : fmax(usual, progress->step);
}

/* Seconds under one configuration over those under another of the list. */
static struct belief_ln effect_of(const struct live *live, const double *under, size_t place)
{
    const struct tuning *tuning = live->run->tuning;

    if (!under || !tuning->speed || place == SIZE_MAX || place == tuning_find(tuning, under))
        return (struct belief_ln){0, 0};
    return speed_compare(tuning->speed, progress_key(live), under, tuning->list + place * tuning->n,
                         live->tuned->load);
}

/* A window as it would have been; what is not known of that is added to the doubt. */
static struct pace_window as_under(const struct live *live, const double *under,
                                   struct pace_window window, size_t place, double *doubt)
{
    struct belief_ln effect = effect_of(live, under, place);

    window.seconds *= exp(effect.mean);
    *doubt = fmax(*doubt, effect.deviation);
    return window;
}

/* What the window that is not complete says so far. */
static struct pace_window open_window(const struct live *live, const double *under, double *doubt)
{
    struct window_result result;
    const struct tuned *tuned = live->tuned;
    size_t place = tuned ? tuning_find(live->run->tuning, tuned->now) : SIZE_MAX;

    if (!window_so_far(&live->progress.window, &result))
        return (struct pace_window){0, 0};
    struct pace_window window = {result.steps, result.seconds};
    return as_under(live, under, window, place, doubt);
}

/* `under` NULL: nothing is tuned. */
static bool pace_of(const struct live *live, const double *under, struct pace *ret)
{
    const struct progress *progress = &live->progress;
    struct pace_window windows[PACE_WINDOWS];
    struct pace_window all = {progress->step - progress->first_step,
                              progress->at_s - progress->first_s};
    size_t n = MIN(progress->n_windows, PACE_WINDOWS);
    double doubt = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = (progress->n_windows - n + i) % PACE_WINDOWS;
        windows[i] = as_under(live, under, progress->windows[at], progress->places[at], &doubt);
    }
    if (!pace_so_far(ret, windows, n, open_window(live, under, &doubt), all))
        return false;
    ret->doubt = hypot(ret->doubt, doubt);
    return true;
}

/* Off what was known at the newest step, what has passed since. */
static struct remaining since(struct remaining left, double passed_s)
{
    left.middle = fmax(0, left.middle - passed_s);
    left.low = fmax(0, left.low - passed_s);
    left.high = fmax(0, left.high - passed_s);
    return left;
}

static double passed_s(const struct live *live, struct now now)
{
    return fmax(0, stamps_now_s(&live->progress, now) - live->progress.at_s);
}

static bool left_of_steps(const struct live *live, const double *under, struct now now,
                          struct remaining *ret)
{
    struct pace pace;
    double last = last_step(live);

    if (isnan(last) || isnan(live->progress.step) || !pace_of(live, under, &pace))
        return false;
    struct remaining left = remaining_of_length(last - live->progress.step, &pace);
    *ret = since(left, passed_s(live, now));
    return true;
}

/* ---- to a target ---- */

static void add_curve(struct curve_points *points, const struct curve_data *curve, double sign)
{
    size_t n = curve->values.len;
    double *ages = xcalloc(n + 1, sizeof(*ages)), *values = xcalloc(n + 1, sizeof(*values));

    for (size_t i = 0; i < n; i++) {
        ages[i] = (double)curve->steps.at[i] + 1;
        values[i] = sign * curve->values.at[i];
    }
    *points = (struct curve_points){.ages = ages, .values = values, .n = n};
}

static void free_curve(struct curve_points *points)
{
    free((void *)points->ages);
    free((void *)points->values);
}

/* Seconds a step of the objective takes: of all of the attempt, as steps of an objective are few.
 */
static bool objective_pace(const struct live *live, struct now now, struct pace *ret)
{
    const struct curve_data *curve = &live->curve;
    size_t n = curve->steps.len;

    if (n < 2 || curve->steps.at[n - 1] <= curve->steps.at[0])
        return false;
    double steps = (double)curve->steps.at[n - 1] - (double)MAX(live->start_step, -1);
    struct pace_window window = {steps, (double)live_elapsed_us(live, now) / 1e6};
    return steps > 0 && pace_init(ret, &window, 1);
}

static bool left_to_target(const struct live *live, struct now now, struct remaining *ret)
{
    const struct run *run = live->run;
    const struct objective *objective = &run->spec.objective;
    double sign = run_sign(run);
    struct target target = {sign * objective->target, false, (size_t)MAX(1, objective->average)};
    struct curve_points mine;
    VEC(struct curve_points) ended = {0};
    struct remaining steps;
    struct pace pace;

    if (!objective->metric || isnan(objective->target) || !objective_pace(live, now, &pace))
        return false;
    vec_foreach (curve, &run->finished_curves) {
        vec_push(&ended, (struct curve_points){0});
        add_curve(vec_last(&ended), curve, 1);
    }
    add_curve(&mine, &live->curve, sign);
    struct remaining_model *model = remaining_model_new(ended.at, ended.len, &target, 0);
    bool known = remaining_to_target(model, &mine, &steps);
    if (known)
        *ret = remaining_in_seconds(&steps, &pace);
    remaining_model_free(model);
    vec_foreach (points, &ended)
        free_curve(points);
    vec_release(&ended);
    free_curve(&mine);
    return known;
}

static void cap(struct remaining *left, double most_s)
{
    left->low = fmin(left->low, most_s);
    left->middle = fmin(left->middle, most_s);
    left->high = fmin(left->high, most_s);
}

/* What limits leave of it; INFINITY: there are none. */
static double limit_s(const struct live *live, struct now now)
{
    const struct run *run = live->run;
    const struct spec *spec = &run->spec;
    double left = INFINITY;

    if (spec->trial_time_us)
        left = (double)(spec->trial_time_us - live_elapsed_us(live, now)) / 1e6;
    if (spec->time_us)
        left = fmin(left, (double)(spec->time_us - run->experiment.run_us -
                                   (now.mono_us - run->since_mono_us)) /
                              1e6);
    if (spec->deadline_us)
        left = fmin(left, (double)(spec->deadline_us - now.wall_us) / 1e6);
    return fmax(0, left);
}

/* The configuration that it goes on with; NULL: nothing is tuned. */
static const double *held_by(const struct live *live)
{
    const struct tuned *tuned = live->tuned;

    if (!tuned)
        return NULL;
    return tuned->trying && tuned->decide ? decide_held(tuned->decide) : tuned->now;
}

bool live_left(const struct live *live, struct now now, struct remaining *ret, bool *ret_target)
{
    struct remaining target;
    bool known = left_of_steps(live, held_by(live), now, ret);

    *ret_target = left_to_target(live, now, &target);
    if (*ret_target && (!known || (remaining_is_sure(&target) && target.middle < ret->middle)))
        *ret = target;
    else if (*ret_target && !remaining_is_sure(&target))
        ret->chance = target.chance; /* it ends by its steps, and may not have reached it */
    if (!known && !*ret_target)
        return false;
    if (isfinite(ret->middle))
        cap(ret, limit_s(live, now));
    return true;
}

double live_left_s(const struct live *live, struct now now)
{
    double elapsed = (double)live_elapsed_us(live, now) / 1e6;
    double mean = (double)live->run->mean_run_us / 1e6;
    struct remaining left;
    double seconds = fmax(UNKNOWN_S, elapsed);
    const double *under = live->tuned ? live->tuned->now : NULL;

    if (left_of_steps(live, under, now, &left) && isfinite(left.middle))
        seconds = left.middle;
    else if (mean > elapsed)
        seconds = mean - elapsed;
    return fmin(seconds, limit_s(live, now));
}
