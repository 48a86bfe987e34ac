/* SPDX-License-Identifier: MIT */
/*
 * width_fit.c — the rate over the width: an effect for each width that has run, and a scalability
 * law through them for those that have not.
 *
 * A trial's level is random about a common one, as far off as trials are seen to be. So two widths
 * are compared within the trials that ran under both, and between trials where none did; the closed
 * form does both at once. With W the sum of a trial's weights, x its widths, r what was measured
 * less the overall mean, A = P + Σ_trials (Σ w·x·xᵀ − (Σ w·x)(Σ w·x)ᵀ / (W + 1/τ²)), b = Σ_trials
 * (Σ w·x·r − (Σ w·x)(Σ w·r) / (W + 1/τ²)),   θ = A⁻¹b.
 */
#include "linalg/linalg.h"
#include "tune/width_internal.h"

#include <assert.h>
#include <math.h>

#define MEMORY   8    /* windows */
#define LEVEL_SD 0.2  /* τ: trials differ at least so much beyond their bases */
#define FREE_SD  1.0  /* an effect differs so much if all cores were taken by others */
#define FLAT_SD  5.0  /* of an effect before anything is seen */
#define LAW_SD   0.15 /* points lie so far off the law */
#define FIRST    0.85 /* first guess: w have w^FIRST of the rate of one */
#define FIRST_SD 0.3  /* … per unit of ln w */
#define INSIDE   0.15 /* deviation between widths seen, per unit of ln width to the nearest */
#define OUTSIDE  0.35 /* … beyond them */
#define BLIND    0.45 /* … where only one was seen, or none */
#define SHARED   0.25 /* share of cores: free ones that count as about the same */

size_t width_windows(const struct width_row *rows, size_t n, size_t width, double free_cores)
{
    size_t most = 0;

    for (size_t i = 0; i < n; i++)
        if (rows[i].width == width &&
            fabs(rows[i].free - free_cores) <= SHARED * fmax(rows[i].free, free_cores))
            most = MAX(most, rows[i].windows);
    return most;
}

/* Place of the width among those seen, in order. */
static size_t place_of(const struct width_model *model, size_t width)
{
    size_t i = 0;
    while (i < model->widths.len && model->widths.at[i] < width)
        i++;
    return i;
}

static void add_width(struct width_model *model, size_t width)
{
    size_t i = place_of(model, width);

    if (i < model->widths.len && model->widths.at[i] == width)
        return;
    vec_push(&model->widths, width);
    for (size_t k = model->widths.len - 1; k > i; k--)
        model->widths.at[k] = model->widths.at[k - 1];
    model->widths.at[i] = width;
}

static double row_weight(const struct width_row *row, double free_cores)
{
    double apart = FREE_SD * (row->free - free_cores) / fmax(fmax(row->free, free_cores), 1);
    return 1 / (row->variance / (double)MAX(MIN(row->windows, MEMORY), 1) + apart * apart);
}

/* One trial, whose rows follow each other from `first`, into the normal equations. Returns where
 * the next begins. x is (widths) of workspace. */
static size_t add_trial(struct width_model *model, const struct width_row *rows, size_t n,
                        size_t first, double free_cores, struct belief_ln level, double *x)
{
    size_t f = model->widths.len, i = first;
    double total = 1 / (level.deviation * level.deviation), sum = 0;

    memset(x, 0, f * sizeof(*x));
    for (; i < n && rows[i].trial == rows[first].trial; i++) {
        double w = row_weight(&rows[i], free_cores), r = rows[i].mean - level.mean;
        size_t k = place_of(model, rows[i].width);
        total += w;
        sum += w * r;
        x[k] += w;
        model->mean[k] += w * r;
        model->covariance[k + k * f] += w;
    }
    for (size_t k = 0; k < f; k++) {
        model->mean[k] -= x[k] * sum / total;
        for (size_t l = 0; l <= k; l++)
            model->covariance[k + l * f] -= x[k] * x[l] / total;
    }
    return i;
}

static double covariance_of(const struct width_model *model, size_t a, size_t b)
{
    return model->covariance[MAX(a, b) + MIN(a, b) * model->widths.len];
}

static double variance_between(const struct width_model *model, size_t a, size_t b)
{
    return fmax(covariance_of(model, a, a) + covariance_of(model, b, b) -
                    2 * covariance_of(model, a, b),
                0);
}

static void solve(struct width_model *model)
{
    size_t f = model->widths.len;

    for (size_t k = 0; k < f; k++)
        model->covariance[k + k * f] += 1 / (FLAT_SD * FLAT_SD);
    bool definite = chol(model->covariance, f, f);
    assert(definite); /* a positive diagonal was added */
    (void)definite;
    chol_solve_lower(model->covariance, f, f, model->mean, 1, f);
    chol_solve_upper(model->covariance, f, f, model->mean, 1, f);
    chol_inverse(model->covariance, f, f);
}

/* Through what was seen, and, as a group of its own, through the first guess. */
static void fit_law(struct width_model *model, size_t full)
{
    size_t f = model->widths.len, n = f + 2;
    autofree(mem) double *block = xcalloc(3 * n, sizeof(*block));
    autofree(mem) size_t *group = xcalloc(n, sizeof(*group));
    double *counts = block, *y = counts + n, *weight = y + n;

    for (size_t k = 0; k < f; k++) {
        counts[k] = (double)model->widths.at[k];
        y[k] = model->mean[k] - log(counts[k]);
        weight[k] = 1 / (variance_between(model, k, f / 2) + LAW_SD * LAW_SD);
    }
    counts[f] = 1;
    counts[f + 1] = (double)MAX(full, 2);
    for (size_t k = f; k < n; k++) {
        group[k] = 1;
        y[k] = -FIRST * log(counts[k]);
        weight[k] = pow(FIRST_SD * log(counts[n - 1]), -2);
    }
    usl_fit(counts, 1, y, weight, group, 2, n, &model->law);
}

/* The level of all rows, and how far those of trials lie about it: too far rather than too near,
 * since what the widths do is in there, too. */
static struct belief_ln level_of(const struct width_row *rows, size_t n)
{
    double mean = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        mean += rows[i].mean / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (rows[i].mean - mean) * (rows[i].mean - mean) / (double)n;
    return (struct belief_ln){mean, sqrt(LEVEL_SD * LEVEL_SD + squares)};
}

void width_model_init(struct width_model *model, const struct width_row *rows, size_t n,
                      double free_cores, size_t full)
{
    struct belief_ln level = level_of(rows, n);

    *model = (struct width_model){0};
    for (size_t i = 0; i < n; i++)
        add_width(model, rows[i].width);
    size_t f = model->widths.len;
    autofree(mem) double *x = xcalloc(f + 1, sizeof(*x));
    model->mean = xcalloc(f + 1, sizeof(*model->mean));
    model->covariance = xcalloc(f * f + 1, sizeof(*model->covariance));
    for (size_t i = 0; i < n;)
        i = add_trial(model, rows, n, i, free_cores, level, x);
    if (f > 0)
        solve(model);
    fit_law(model, full);
}

void width_model_release(struct width_model *model)
{
    vec_release(&model->widths);
    free(model->mean);
    free(model->covariance);
}

/* The seen width that is nearest on a scale of ratios; SIZE_MAX: none was seen. */
static size_t nearest(const struct width_model *model, size_t width)
{
    size_t found = SIZE_MAX;
    double least = INFINITY;

    for (size_t k = 0; k < model->widths.len; k++) {
        double apart = fabs(log((double)model->widths.at[k] / (double)width));
        if (apart < least) {
            least = apart;
            found = k;
        }
    }
    return found;
}

/* ln rate of all at the width, as far as its nearest seen one does not tell: by the law. */
static double beyond(const struct width_model *model, size_t width, size_t near,
                     double *add_variance)
{
    double from = near == SIZE_MAX ? 1 : (double)model->widths.at[near], at = (double)width;
    bool inside =
        model->widths.len > 0 && width >= model->widths.at[0] && width <= *vec_last(&model->widths);
    double sd = (model->widths.len < 2 ? BLIND : inside ? INSIDE : OUTSIDE) * log(at / from);

    *add_variance += sd * sd;
    return usl_effect(model->law, from) - usl_effect(model->law, at);
}

struct belief_ln width_model_compare(const struct width_model *model, size_t a, size_t b)
{
    size_t near_a = nearest(model, a), near_b = nearest(model, b);
    double variance = 0, mean = 0;

    if (a == b)
        return (struct belief_ln){0, 0};
    mean += beyond(model, a, near_a, &variance) - beyond(model, b, near_b, &variance);
    if (near_a != near_b) {
        mean += log((double)model->widths.at[near_a] / (double)model->widths.at[near_b]);
        mean += model->mean[near_b] - model->mean[near_a];
        variance += variance_between(model, near_a, near_b);
    }
    return (struct belief_ln){mean, sqrt(variance)};
}
