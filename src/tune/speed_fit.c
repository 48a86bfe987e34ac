/* SPDX-License-Identifier: MIT */
/*
 * speed_fit.c — fit the speed model: scalability laws first, then ridge regression of what they
 * leave, then, where there are many configurations, a Gaussian process over them.
 *
 * What is a trial's own, u ~ N(0, τ²), is taken out of the normal equations in closed form: with W
 * the sum of a trial's weights, V = W + 1/τ², s = Σ w·x of its features and r what the laws leave,
 *     A = P + Σ_trials (Σ w·x·xᵀ − s·sᵀ/V),   b = Σ_trials (Σ w·x·r − s·Σ w·r/V),   θ = A⁻¹b,
 * and u = Σ w·(r − x·θ)/V. So a thousand trials cost no more than their rows. τ follows from the u
 * of all trials; that of knowledge, which has no level, and of a trial alone is infinite.
 */
#include "linalg/linalg.h"
#include "tune/speed_internal.h"

#include <math.h>

#define OTHER_SD    0.05 /* an effect differs so much from trial to trial */
#define LOAD_SD     0.3  /* … and by so much for a core of load */
#define LAW_SD      0.15 /* points lie so far off their law */
#define SLOPE_SD    0.4  /* of a knob's slope beside the law */
#define LOADED_SD   1.0  /* of the slope by load */
#define SIZE_SD     0.3  /* of a count's slope for each e-fold of a step's size */
#define LEVEL_SD    20   /* of the level of a unit */
#define PARAM_SD    1.0  /* of what a hyperparameter does over its whole range */
#define APART_SD    0.5  /* of a trial's own, as good as APART_N trials */
#define APART_N     3
#define APART_FITS  3
#define EFFECT_SD   0.3 /* of a configuration's own effect */
#define UNKNOWN     5.0 /* deviation of a base of which nothing is known */
#define MEMORY      8
#define GP_STEPS    30
#define GP_SD       0.6 /* what the process is expected to explain, as good as GP_SD_N rows */
#define GP_SD_N     3
#define GP_FIT_FROM 5 /* fewer rows make it believe too much */

void speed_model_free(struct speed_model *model)
{
    if (!model)
        return;
    free(model->feature_of);
    free(model->theta);
    free(model->covariance);
    free(model->units);
    free(model->centre);
    free(model->first);
    free(model->row_base);
    gp_free(model->gp);
    free(model);
}

static const double *configuration_of(const struct speed *speed, const struct speed_row *row)
{
    return speed->configurations.at + row->configuration * speed->n;
}

/* How far to trust a row when the question is about this trial at this load. */
static double row_variance(const struct speed_row *row, uint64_t trial, double load)
{
    double variance = row->variance / (double)MAX(MIN(row->windows, MEMORY), 1);
    bool own = !row->knowledge && row->trial == trial;
    double apart = row->knowledge ? 0 : LOAD_SD * (row->load - load);

    return variance + (own ? 0 : OTHER_SD * OTHER_SD) + apart * apart;
}

/* Number the trials that rows are of; all knowledge is one. Returns how many there are. */
static size_t group_rows(const struct speed *speed, size_t *ret_group)
{
    size_t groups = 0;

    for (size_t i = 0; i < speed->rows.len; i++) {
        const struct speed_row *row = &speed->rows.at[i];
        size_t j = 0;
        while (j < i && (speed->rows.at[j].knowledge != row->knowledge ||
                         (!row->knowledge && speed->rows.at[j].trial != row->trial)))
            j++;
        ret_group[i] = j < i ? ret_group[j] : groups++;
    }
    return groups;
}

static void fit_laws(struct speed *speed, const struct speed_model *model, const size_t *group,
                     size_t groups)
{
    size_t rows = speed->rows.len, k = 0;
    autofree(mem) size_t *which = xcalloc(speed->n + 1, sizeof(*which));
    autofree(mem) double *block = xcalloc(rows * (speed->n + 2) + 1, sizeof(*block));
    autofree(mem) struct usl *laws = xcalloc(speed->n + 1, sizeof(*laws));
    double *y = block, *weight = y + rows, *counts = weight + rows;

    for (size_t j = 0; j < speed->n; j++)
        if (speed->knobs[j].kind == KNOB_COUNT)
            which[k++] = j;
    for (size_t i = 0; i < rows; i++) {
        const struct speed_row *row = &speed->rows.at[i];
        y[i] = row->mean;
        weight[i] = 1 / (row_variance(row, model->trial, model->load) + LAW_SD * LAW_SD);
        for (size_t j = 0; j < k; j++)
            counts[i * k + j] = fmax(configuration_of(speed, row)[which[j]], 1);
    }
    usl_fit(counts, k, y, weight, group, groups, rows, laws);
    for (size_t j = 0; j < k; j++)
        speed->laws[which[j]] = laws[j];
}

static double law_effect(const struct speed *speed, const double *configuration)
{
    double sum = 0;

    for (size_t j = 0; j < speed->n; j++)
        if (speed->knobs[j].kind == KNOB_COUNT)
            sum += usl_effect(speed->laws[j], fmax(configuration[j], 1));
    return sum;
}

/* Σ over the counts: what steps of another size make of them. */
static double by_size(const struct speed *speed, const struct speed_model *model,
                      const struct speed_row *row, double *x)
{
    double delta = row->knowledge ? 0 : row->size - model->size, sum = 0;
    const double *configuration = configuration_of(speed, row);

    for (size_t j = 0; j < speed->n && speed->sized; j++) {
        size_t k = model->first[speed->n] + 1 + j;
        if (speed->knobs[j].kind != KNOB_COUNT)
            continue;
        double feature = delta * (knob_feature(&speed->knobs[j], configuration[j]) - 0.5);
        if (x)
            x[k] = feature;
        sum += model->theta[k] * feature;
    }
    return sum;
}

/* x (f): a slope or the values' effects for each knob, the load, and the configuration's own
 * effect. Returns the variance of its own effect where that has no feature. */
static double features(const struct speed *speed, const struct speed_model *model,
                       const double *configuration, double load, double *ret_x)
{
    size_t c = speed_find(speed, configuration);

    memset(ret_x, 0, model->f * sizeof(*ret_x));
    for (size_t j = 0; j < speed->n; j++) {
        double place = knob_feature(&speed->knobs[j], configuration[j]);
        if (speed->knobs[j].kind == KNOB_COUNT)
            ret_x[model->first[j]] = place - 0.5;
        else if (place >= 0)
            ret_x[model->first[j] + (size_t)place] = 1;
    }
    ret_x[model->first[speed->n]] = load - model->load;
    if (c == SIZE_MAX || model->feature_of[c] == SIZE_MAX)
        return EFFECT_SD * EFFECT_SD;
    ret_x[model->feature_of[c]] = 1;
    return 0;
}

/* What a trial's level and hyperparameters are, beside what features() says. False: its unit is not
 * known. */
static bool trial_features(const struct speed *speed, const struct speed_model *model,
                           uint64_t trial, double *x)
{
    const struct speed_trial *known = speed_trial_of(speed, trial);
    size_t unit = 0;

    while (unit < model->n_units && model->units[unit] != trial >> SPEED_UNIT_BIT)
        unit++;
    if (unit == model->n_units)
        return false;
    x[model->levels + unit] = 1;
    for (size_t j = 0; known && known->params && j < speed->d; j++)
        x[model->params + j] = known->params[j] - 0.5;
    return true;
}

static void number_units(const struct speed *speed, struct speed_model *model)
{
    model->units = xcalloc(speed->rows.len + 1, sizeof(*model->units));
    vec_foreach (row, &speed->rows) {
        uint64_t unit = row->trial >> SPEED_UNIT_BIT;
        size_t i = 0;
        while (i < model->n_units && model->units[i] != unit)
            i++;
        if (!row->knowledge && i == model->n_units)
            model->units[model->n_units++] = unit;
    }
    model->levels = model->f;
    model->params = model->f += model->n_units;
    model->f += speed->d;
}

static void number_features(const struct speed *speed, struct speed_model *model)
{
    size_t m = speed->infeasible.len;

    model->feature_of = xcalloc(m + 1, sizeof(*model->feature_of));
    for (size_t c = 0; c < m; c++)
        model->feature_of[c] = SIZE_MAX;
    model->first = xcalloc(speed->n + 1, sizeof(*model->first));
    for (size_t j = 0; j < speed->n; j++) {
        model->first[j] = model->f;
        model->f += speed->knobs[j].kind == KNOB_COUNT ? 1 : speed->knobs[j].n;
    }
    model->first[speed->n] = model->f++;
    if (speed->sized)
        model->f += speed->n;
    number_units(speed, model);
    for (size_t i = 0; i < speed->rows.len; i++) {
        size_t *feature = &model->feature_of[speed->rows.at[i].configuration];
        if (*feature == SIZE_MAX)
            *feature = model->f++;
    }
}

static void set_prior(const struct speed *speed, struct speed_model *model)
{
    size_t load = model->first[speed->n];

    for (size_t k = 0; k < model->f; k++) {
        double sd = k < load                       ? SLOPE_SD
                    : k == load                    ? LOADED_SD
                    : k < model->levels            ? SIZE_SD
                    : k < model->params            ? LEVEL_SD
                    : k < model->params + speed->d ? PARAM_SD
                                                   : EFFECT_SD;
        model->covariance[k + k * model->f] = 1 / (sd * sd);
    }
}

/* One trial's rows into the normal equations. Leaves s/V in `centre`, V in *ret_weight, and returns
 * Σ w·r/V. No group is empty. */
static double add_group(const struct speed *speed, struct speed_model *model, const size_t *group,
                        size_t g, double *centre, double *x, double *ret_weight)
{
    size_t f = model->f;
    double *a = model->covariance, total = 0, level = 0;

    memset(centre, 0, f * sizeof(*centre));
    for (size_t i = 0; i < speed->rows.len; i++) {
        const struct speed_row *row = &speed->rows.at[i];
        const double *configuration = configuration_of(speed, row);
        if (group[i] != g)
            continue;
        double w = 1 / row_variance(row, model->trial, model->load);
        double r = row->mean - law_effect(speed, configuration);
        features(speed, model, configuration, row->knowledge ? model->load : row->load, x);
        by_size(speed, model, row, x);
        if (!row->knowledge)
            trial_features(speed, model, row->trial, x);
        if (total == 0 && !row->knowledge)
            total = 1 / (model->apart * model->apart); /* 0 if it is infinite */
        total += w;
        level += w * r;
        for (size_t k = 0; k < f; k++) {
            centre[k] += w * x[k];
            model->theta[k] += w * x[k] * r;
            for (size_t l = 0; l <= k && x[k] != 0; l++)
                a[k + l * f] += w * x[k] * x[l];
        }
    }
    for (size_t k = 0; k < f; k++) {
        model->theta[k] -= centre[k] * level / total;
        for (size_t l = 0; l <= k; l++)
            a[k + l * f] -= centre[k] * centre[l] / total;
    }
    for (size_t k = 0; k < f; k++)
        centre[k] /= total;
    *ret_weight = total;
    return level / total;
}

/* The base of the trial asked for; of one not seen yet, what its hyperparameters say, and of one in
 * a unit not seen yet, what the others' are like. */
static void set_base(const struct speed *speed, struct speed_model *model)
{
    autofree(mem) double *x = xcalloc(model->f, sizeof(*x));
    double mean = 0, squares = 0, n = 0;

    for (size_t i = 0; i < speed->rows.len; i++) {
        const struct speed_row *row = &speed->rows.at[i];
        if (row->knowledge)
            continue;
        if (row->trial == model->trial) {
            model->base = model->row_base[i];
            model->alike = true;
            return;
        }
        double before = model->row_base[i] - mean;
        mean += before / ++n;
        squares += before * (model->row_base[i] - mean);
    }
    model->base = mean;
    model->spread = n > 0 ? sqrt((squares + 1) / n) : UNKNOWN;
    model->alike = isfinite(model->apart) && trial_features(speed, model, model->trial, x);
    if (!model->alike)
        return;
    model->base = vec_dot(x, model->theta, model->f);
    model->spread = model->apart;
}

/* What is a group's own once theta is known, and with it the base of its rows; the spread and the
 * centre are of the trial asked for. */
static double set_group_base(const struct speed *speed, struct speed_model *model,
                             const size_t *group, size_t g, const double *centre, double level,
                             double weight)
{
    double own = level - vec_dot(centre, model->theta, model->f);
    autofree(mem) double *x = xcalloc(model->f, sizeof(*x));

    for (size_t i = 0; i < speed->rows.len; i++) {
        const struct speed_row *row = &speed->rows.at[i];
        if (group[i] != g)
            continue;
        if (!row->knowledge)
            trial_features(speed, model, row->trial, x);
        model->row_base[i] = own + vec_dot(x, model->theta, model->f);
        if (!row->knowledge && row->trial == model->trial) {
            model->spread = sqrt(1 / weight);
            memcpy(model->centre, centre, model->f * sizeof(*centre));
        }
    }
    return own;
}

static void solve(struct speed_model *model)
{
    size_t f = model->f;

    if (chol(model->covariance, f, f)) {
        chol_solve_lower(model->covariance, f, f, model->theta, 1, f);
        chol_solve_upper(model->covariance, f, f, model->theta, 1, f);
        chol_inverse(model->covariance, f, f);
        return;
    }
    /* cannot be but by rounding: then only the bases are known */
    memset(model->theta, 0, f * sizeof(double));
    memset(model->covariance, 0, f * f * sizeof(double));
    for (size_t k = 0; k < f; k++)
        model->covariance[k + k * f] = EFFECT_SD * EFFECT_SD;
}

static bool is_knowledge(const struct speed *speed, const size_t *group, size_t g)
{
    size_t i = 0;

    while (group[i] != g)
        i++;
    return speed->rows.at[i].knowledge;
}

/* Once, with τ as it is; returns what τ then looks like. */
static double fit_once(const struct speed *speed, struct speed_model *model, const size_t *group,
                       size_t groups)
{
    size_t f = model->f;
    autofree(mem) double *block = xcalloc(groups * (f + 2) + f + 1, sizeof(*block));
    double *levels = block, *weights = levels + groups, *x = weights + groups, *centres = x + f;
    double squares = APART_N * APART_SD * APART_SD, n = APART_N;

    memset(model->theta, 0, f * sizeof(double));
    memset(model->covariance, 0, f * f * sizeof(double));
    set_prior(speed, model);
    for (size_t g = 0; g < groups; g++)
        levels[g] = add_group(speed, model, group, g, centres + g * f, x, &weights[g]);
    solve(model);
    for (size_t g = 0; g < groups; g++) {
        double own = set_group_base(speed, model, group, g, centres + g * f, levels[g], weights[g]);
        if (is_knowledge(speed, group, g))
            continue;
        squares += own * own + 1 / weights[g];
        n++;
    }
    return sqrt(squares / n);
}

static void fit_ridge(const struct speed *speed, struct speed_model *model, const size_t *group,
                      size_t groups)
{
    size_t trials = groups;

    for (size_t g = 0; g < groups; g++)
        trials -= is_knowledge(speed, group, g);
    model->apart = trials > 1 ? APART_SD : INFINITY;
    double apart = fit_once(speed, model, group, groups);
    for (int i = 1; i < APART_FITS && trials > 1; i++) {
        model->apart = apart;
        apart = fit_once(speed, model, group, groups);
    }
    set_base(speed, model);
}

static void gp_features(const struct speed *speed, const double *configuration, double *ret_x)
{
    for (size_t j = 0; j < speed->n; j++)
        ret_x[j] = knob_feature(&speed->knobs[j], configuration[j]);
}

/* What base, law and load leave of each configuration, and how sure that is. */
static size_t collect_effects(const struct speed *speed, const struct speed_model *model, double *x,
                              double *y, double *variance)
{
    double by_load = model->theta[model->first[speed->n]];
    size_t n = 0;

    for (size_t c = 0; c < speed->infeasible.len; c++) {
        const double *configuration = speed->configurations.at + c * speed->n;
        double total = 0, sum = 0;
        for (size_t i = 0; i < speed->rows.len; i++) {
            const struct speed_row *row = &speed->rows.at[i];
            if (row->configuration != c)
                continue;
            double w = 1 / row_variance(row, model->trial, model->load);
            double loaded = row->knowledge ? 0 : by_load * (row->load - model->load);
            total += w;
            sum += w * (row->mean - model->row_base[i] - loaded - by_size(speed, model, row, NULL));
        }
        if (total == 0)
            continue;
        gp_features(speed, configuration, x + n * speed->n);
        y[n] = sum / total - law_effect(speed, configuration);
        variance[n++] = 1 / total;
    }
    return n;
}

static void fit_process(struct speed *speed, struct speed_model *model)
{
    size_t d = speed->n, m = speed->infeasible.len;
    autofree(mem) double *block = xcalloc(m * (d + 3) + 1, sizeof(*block));
    autofree(mem) bool *category = xcalloc(d + 1, sizeof(*category));
    double *y = block, *variance = y + m, *scale = variance + m, *x = scale + m;
    struct gp_prior prior = gp_prior_noisy(d);
    size_t n = collect_effects(speed, model, x, y, variance);
    double squares = GP_SD_N * GP_SD * GP_SD;

    for (size_t i = 0; i < n; i++)
        squares += y[i] * y[i];
    model->gp_scale = sqrt(squares / (double)(GP_SD_N + n));
    for (size_t i = 0; i < n; i++) {
        y[i] /= model->gp_scale;
        variance[i] /= model->gp_scale * model->gp_scale;
        scale[i] = 0.1;
    }
    for (size_t j = 0; j < d; j++)
        category[j] = speed->knobs[j].kind == KNOB_CHOICE;
    prior.warp_sd = 0;
    prior.signal_sd = 0.5;
    model->gp = gp_new(d, category, &prior);
    if (speed->lengths && !speed->stale)
        gp_put(model->gp, speed->lengths);
    gp_set(model->gp, x, y, scale, variance, n);
    if (!speed->stale || n < GP_FIT_FROM)
        return;
    gp_fit(model->gp, GP_STEPS);
    speed->lengths = xrealloc(speed->lengths, gp_parameters(model->gp) * sizeof(double));
    gp_get(model->gp, speed->lengths);
}

struct speed_model *speed_fit(struct speed *speed, uint64_t trial, double load)
{
    struct speed_model *model = xcalloc(1, sizeof(*model));
    autofree(mem) size_t *group = xcalloc(speed->rows.len + 1, sizeof(*group));
    size_t groups = group_rows(speed, group);

    model->trial = trial;
    model->load = load;
    const struct speed_trial *known = speed_trial_of(speed, trial);
    model->size = known ? known->ln_size : 0;
    if (speed->stale)
        fit_laws(speed, model, group, groups);
    number_features(speed, model);
    model->theta = xcalloc(model->f, sizeof(double));
    model->centre = xcalloc(model->f, sizeof(double));
    model->covariance = xcalloc(model->f * model->f, sizeof(double));
    model->row_base = xcalloc(speed->rows.len + 1, sizeof(double));
    fit_ridge(speed, model, group, groups);
    if (speed->many && speed->rows.len > 0)
        fit_process(speed, model);
    speed->stale = false;
    return model;
}

/* xᵀ·C·x of the lower triangle. */
static double quadratic(const double *c, size_t n, const double *x)
{
    double sum = 0;

    for (size_t l = 0; l < n; l++) {
        if (x[l] == 0)
            continue;
        sum += c[l + l * n] * x[l] * x[l];
        for (size_t k = l + 1; k < n; k++)
            sum += 2 * c[k + l * n] * x[k] * x[l];
    }
    return fmax(sum, 0);
}

/* Effects of m configurations by the process, the law included. */
static void effects_by_process(const struct speed *speed, const struct speed_model *model,
                               const double *configurations, size_t m, struct belief_ln *ret)
{
    size_t d = speed->n;
    autofree(mem) double *block = xcalloc(m * (d + 2) + 1, sizeof(*block));
    double *mean = block, *deviation = mean + m, *x = deviation + m;

    for (size_t i = 0; i < m; i++)
        gp_features(speed, configurations + i * d, x + i * d);
    gp_predict(model->gp, x, m, mean, deviation);
    for (size_t i = 0; i < m; i++)
        ret[i] = (struct belief_ln){mean[i] * model->gp_scale +
                                        law_effect(speed, configurations + i * d),
                                    deviation[i] * model->gp_scale};
}

struct belief_ln speed_model_predict(const struct speed *speed, const struct speed_model *model,
                                     const double *configuration)
{
    autofree(mem) double *x = xcalloc(model->f, sizeof(*x));
    double rest = features(speed, model, configuration, model->load, x);
    struct belief_ln belief;

    if (model->gp) {
        effects_by_process(speed, model, configuration, 1, &belief);
        belief.mean += model->base;
        belief.deviation = hypot(belief.deviation, model->spread);
        return belief;
    }
    belief.mean =
        model->base + law_effect(speed, configuration) + vec_dot(x, model->theta, model->f);
    if (model->alike)
        trial_features(speed, model, model->trial, x);
    for (size_t k = 0; k < model->f; k++)
        x[k] -= model->centre[k];
    belief.deviation =
        sqrt(quadratic(model->covariance, model->f, x) + rest + model->spread * model->spread);
    return belief;
}

static struct belief_ln compare_by_ridge(const struct speed *speed, const struct speed_model *model,
                                         const double *a, const double *b)
{
    autofree(mem) double *block = xcalloc(2 * model->f, sizeof(*block));
    double *x = block, *y = x + model->f;
    double rest = features(speed, model, a, model->load, x);

    rest += features(speed, model, b, model->load, y);
    for (size_t k = 0; k < model->f; k++)
        x[k] -= y[k];
    return (struct belief_ln){law_effect(speed, a) - law_effect(speed, b) +
                                  vec_dot(x, model->theta, model->f),
                              sqrt(quadratic(model->covariance, model->f, x) + rest)};
}

void speed_model_compare(const struct speed *speed, const struct speed_model *model,
                         const double *configurations, size_t m, const double *b,
                         struct belief_ln *ret)
{
    struct belief_ln effect_b = {0, 0};

    if (model->gp) {
        effects_by_process(speed, model, configurations, m, ret);
        effects_by_process(speed, model, b, 1, &effect_b);
    }
    for (size_t i = 0; i < m; i++) {
        const double *a = configurations + i * speed->n;
        if (knobs_change(speed->knobs, speed->n, a, b) == CHANGE_NONE)
            ret[i] = (struct belief_ln){0, 0};
        else if (!model->gp)
            ret[i] = compare_by_ridge(speed, model, a, b);
        else
            ret[i] = (struct belief_ln){ret[i].mean - effect_b.mean,
                                        hypot(ret[i].deviation, effect_b.deviation)};
    }
}
