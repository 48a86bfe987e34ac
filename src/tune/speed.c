/* SPDX-License-Identifier: MIT */
/*
 * speed.c — what the speed model was told, kept small: one row for each trial, configuration and
 * load. speed_fit.c makes predictions of it.
 *
 * A row forgets: beyond MEMORY windows a new one replaces a share of the old, because the same
 * program is not equally fast in the morning and at night.
 * Invariant: every number in a row is finite. What is not never gets in.
 */
#include "tune/speed.h"
#include "tune/speed_internal.h"

#include <assert.h>
#include <math.h>

#define MEMORY      8    /* windows */
#define ROWS        400  /* the oldest are dropped */
#define FLOOR       1e-4 /* variance: no window is surer than 1 % */
#define CEILING     25   /* … and none less sure than this */
#define SAME        0.25 /* cores: loads that share a row */
#define ABOUT       0.5  /* cores */
#define LOAD_MOST   1e5  /* cores: more is no measurement */
#define EXTREME     50   /* |ln seconds|: more is no measurement */
#define DOUBT       0.15 /* deviation of what was measured before the machine changed */
#define PRIOR_DOUBT 1.0  /* … of knowledge that does not fit */
#define GUESS_N     1    /* windows that the guess of a change's cost counts as */
#define NUMBER      ((UINT64_C(1) << SPEED_UNIT_BIT) - 1)

static const double change_guess[CHANGE_KINDS] = {0, 0.1, 10};

struct speed *speed_new(const struct knob *knobs, size_t n)
{
    struct speed *speed = xcalloc(1, sizeof(*speed));

    speed->knobs = xmemdup(knobs, n * sizeof(*knobs));
    speed->n = n;
    speed->laws = xcalloc(n + 1, sizeof(*speed->laws));
    speed->stale = true;
    speed->many = knobs_size(knobs, n) > SPEED_RIDGE;
    return speed;
}

void speed_free(struct speed *speed)
{
    if (!speed)
        return;
    free(speed->knobs);
    free(speed->laws);
    free(speed->lengths);
    vec_release(&speed->configurations);
    vec_release(&speed->infeasible);
    vec_release(&speed->rows);
    vec_foreach (trial, &speed->trials)
        free(trial->params);
    vec_release(&speed->trials);
    speed_model_free(speed->model);
    free(speed);
}

const struct knob *speed_knobs(const struct speed *speed, size_t *ret_n)
{
    *ret_n = speed->n;
    return speed->knobs;
}

size_t speed_find(const struct speed *speed, const double *configuration)
{
    for (size_t c = 0; c < speed->infeasible.len; c++) {
        const double *other = speed->configurations.at + c * speed->n;
        size_t j = 0;
        while (j < speed->n && other[j] == configuration[j])
            j++;
        if (j == speed->n)
            return c;
    }
    return SIZE_MAX;
}

static size_t find_or_add(struct speed *speed, const double *configuration)
{
    size_t c = speed_find(speed, configuration);

    if (c != SIZE_MAX)
        return c;
    for (size_t j = 0; j < speed->n; j++)
        vec_push(&speed->configurations, configuration[j]);
    vec_push(&speed->infeasible, false);
    return speed->infeasible.len - 1;
}

static void forget_model(struct speed *speed)
{
    speed_model_free(speed->model);
    speed->model = NULL;
}

static bool is_sound(const struct speed *speed, const double *configuration, double value,
                     double variance)
{
    for (size_t j = 0; j < speed->n; j++)
        if (!isfinite(configuration[j]))
            return false;
    return fabs(value) < EXTREME && variance >= 0 && isfinite(variance);
}

static void add_row(struct speed *speed, struct speed_row row)
{
    if (speed->rows.len >= ROWS)
        vec_remove(&speed->rows, 0);
    vec_push(&speed->rows, row);
    speed->stale |= (row.windows & (row.windows - 1)) == 0; /* a new one, or twice as sure */
    forget_model(speed);
}

const struct speed_trial *speed_trial_of(const struct speed *speed, uint64_t trial)
{
    vec_foreach (known, &speed->trials)
        if (known->number == (trial & NUMBER))
            return known;
    return NULL;
}

static struct speed_trial *find_or_add_trial(struct speed *speed, uint64_t trial)
{
    forget_model(speed);
    vec_foreach (known, &speed->trials)
        if (known->number == (trial & NUMBER))
            return known;
    if (speed->trials.len >= ROWS) {
        free(speed->trials.at[0].params);
        vec_remove(&speed->trials, 0);
    }
    vec_push(&speed->trials, ((struct speed_trial){.number = trial & NUMBER}));
    return vec_last(&speed->trials);
}

void speed_size(struct speed *speed, uint64_t trial, double ln_size)
{
    if (!(fabs(ln_size) < EXTREME))
        return;
    find_or_add_trial(speed, trial)->ln_size = ln_size;
    speed->sized = true;
}

void speed_params(struct speed *speed, uint64_t trial, const double *params, size_t n)
{
    struct speed_trial *known = find_or_add_trial(speed, trial);

    assert(!speed->d || speed->d == n);
    speed->d = n;
    known->params = xrealloc(known->params, n * sizeof(*params));
    for (size_t i = 0; i < n; i++)
        known->params[i] = params[i] >= 0 && params[i] <= 1 ? params[i] : 0.5;
}

bool speed_tell(struct speed *speed, uint64_t trial, const double *configuration, double load,
                double ln_seconds, double variance)
{
    if (!is_sound(speed, configuration, ln_seconds, variance) || !(fabs(load) <= LOAD_MOST))
        return false;

    size_t c = find_or_add(speed, configuration);
    const struct speed_trial *known = speed_trial_of(speed, trial);
    struct speed_row row = {trial, false, c, load, 0, 0, 0, known ? known->ln_size : 0};
    for (size_t i = 0; i < speed->rows.len; i++) {
        struct speed_row *old = &speed->rows.at[i];
        if (!old->knowledge && old->trial == trial && old->configuration == c &&
            fabs(old->load - load) < SAME) {
            row = *old;
            vec_remove(&speed->rows, i);
            break;
        }
    }
    row.windows++;
    double share = 1 / (double)MIN(row.windows, MEMORY);
    row.mean += share * (ln_seconds - row.mean);
    row.variance += share * (fmin(fmax(variance, FLOOR), CEILING) - row.variance);
    add_row(speed, row);
    return true;
}

bool speed_prior(struct speed *speed, const double *configuration, double ln_effect,
                 double deviation)
{
    if (!is_sound(speed, configuration, ln_effect, deviation * deviation) || !(deviation >= 0))
        return false;
    add_row(speed, (struct speed_row){.knowledge = true,
                                      .configuration = find_or_add(speed, configuration),
                                      .windows = 1,
                                      .mean = ln_effect,
                                      .variance = fmax(deviation * deviation, FLOOR)});
    return true;
}

void speed_doubt_prior(struct speed *speed)
{
    vec_foreach (row, &speed->rows)
        if (row->knowledge)
            row->variance = fmax(row->variance, PRIOR_DOUBT * PRIOR_DOUBT);
    forget_model(speed);
}

void speed_doubt(struct speed *speed, uint64_t trial, const double *except)
{
    size_t c = speed_find(speed, except);

    vec_foreach (row, &speed->rows) {
        if (row->knowledge || row->trial != trial || row->configuration == c)
            continue;
        row->windows = 0;
        row->variance = fmax(row->variance, DOUBT * DOUBT);
    }
    forget_model(speed);
}

void speed_infeasible(struct speed *speed, const double *configuration)
{
    if (!is_sound(speed, configuration, 0, 0))
        return;
    size_t c = find_or_add(speed, configuration);
    speed->infeasible.at[c] = true;
    forget_model(speed);
}

bool speed_feasible(const struct speed *speed, const double *configuration)
{
    size_t c = speed_find(speed, configuration);
    return c == SIZE_MAX || !speed->infeasible.at[c];
}

/* The model for this trial at this load; fitted anew only when something was told since. */
static const struct speed_model *model_for(struct speed *speed, uint64_t trial, double load)
{
    struct speed_model *model = speed->model;

    if (!(fabs(load) <= LOAD_MOST))
        load = 0;
    if (model && (model->trial != trial || model->load != load))
        forget_model(speed);
    if (!speed->model)
        speed->model = speed_fit(speed, trial, load);
    return speed->model;
}

struct belief_ln speed_predict(struct speed *speed, uint64_t trial, const double *configuration,
                               double load)
{
    return speed_model_predict(speed, model_for(speed, trial, load), configuration);
}

struct belief_ln speed_compare(struct speed *speed, uint64_t trial, const double *a,
                               const double *b, double load)
{
    struct belief_ln belief;

    speed_compare_all(speed, trial, a, 1, b, load, &belief);
    return belief;
}

void speed_compare_all(struct speed *speed, uint64_t trial, const double *configurations, size_t m,
                       const double *b, double load, struct belief_ln *ret)
{
    speed_model_compare(speed, model_for(speed, trial, load), configurations, m, b, ret);
}

/* The row at the nearest load, no further than `reach` cores from this one. */
static const struct speed_row *find_row(const struct speed *speed, uint64_t trial,
                                        const double *configuration, double load, double reach)
{
    const struct speed_row *found = NULL;
    size_t c = speed_find(speed, configuration);

    for (size_t i = 0; i < speed->rows.len; i++) {
        const struct speed_row *row = &speed->rows.at[i];
        double apart = fabs(row->load - load);
        if (!row->knowledge && row->trial == trial && row->configuration == c && apart <= reach &&
            (!found || apart < fabs(found->load - load)))
            found = row;
    }
    return found;
}

size_t speed_windows(const struct speed *speed, uint64_t trial, const double *configuration,
                     double load)
{
    const struct speed_row *row = find_row(speed, trial, configuration, load, ABOUT);
    return row ? row->windows : 0;
}

double speed_measured(const struct speed *speed, uint64_t trial, const double *configuration,
                      double load)
{
    const struct speed_row *row = find_row(speed, trial, configuration, load, INFINITY);
    return row ? row->mean : NAN;
}

void speed_tell_change(struct speed *speed, enum change_kind kind, double seconds)
{
    if (!(seconds >= 0) || !isfinite(seconds))
        return;
    speed->change_sum[kind] += seconds;
    speed->change_count[kind]++;
}

double speed_change_cost(const struct speed *speed, enum change_kind kind)
{
    if (kind == CHANGE_NONE)
        return 0;
    return (speed->change_sum[kind] + GUESS_N * change_guess[kind]) /
           (double)(speed->change_count[kind] + GUESS_N);
}
