/* SPDX-License-Identifier: MIT */
/*
 * learning.c — the worth of a step under each configuration, from one curve of the loss.
 *
 * The loss is a smooth function of what was learned, and what was learned is the sum of the steps,
 * each worth e^θ of its configuration:
 *
 *     loss ▲ ·
 *          │  ··  A
 *          │    ···_____ B: the same steps, less learned
 *          │            ···  A
 *          └──────────────────► Σ steps · e^θ     where θ is right, the three are one curve
 *
 * So θ is what makes all points fit one curve best (a polynomial of the logarithm, fitted anew for
 * each θ), held to 0 by its prior: where the loss is flat or noisy, 0 is what remains. One factor
 * for all of θ changes nothing, as the abscissa is taken in parts of its whole. Before anything is
 * told the θ of counts that are near each other are alike: 20 workers teach about as 24 do, so what
 * few of them told holds for all.
 *
 * Points are kept as bins; when there are too many, neighbours become one.
 */
#include "tune/learning.h"

#include "linalg/linalg.h"

#include <assert.h>
#include <math.h>

#define BINS     256
#define KEYS     64 /* configurations told apart; more count as the first */
#define BASIS    5
#define LEAST    12   /* bins before the curve is asked */
#define NEAR     2e-3 /* in parts of all that was learned: where the logarithm begins to matter */
#define STEPS    8    /* of Gauss and Newton */
#define STEP     0.02 /* of a difference */
#define STEP_MAX 0.5
#define FLOOR    1e-12
#define REACH    0.5 /* of a count's range: so far apart they are hardly alike */
#define SMOOTH   0.9 /* of the prior's variance is shared with neighbours */

struct bin {
    size_t key;
    double first, steps; /* covered, and the step before them */
    double sum, n;       /* of the loss */
};

struct learning {
    struct knob *knobs;
    size_t n;
    double *keys; /* (n_keys, n) */
    size_t n_keys, key;
    VEC(struct bin) bins;
    double grain; /* values in a bin */
    double last;  /* step; NaN: none */
    bool stale;
    double theta[KEYS];
    double covariance[KEYS * KEYS]; /* (n_keys, n_keys), of theta */
    double precision[KEYS * KEYS];  /* the same before anything was told, inverted */
};

bool knobs_learn(const struct knob *knobs, size_t n)
{
    for (size_t j = 0; j < n; j++)
        if (knobs[j].learning)
            return true;
    return false;
}

struct learning *learning_new(const struct knob *knobs, size_t n)
{
    struct learning *l = xcalloc(1, sizeof(*l));

    l->knobs = xmemdup(knobs, n * sizeof(*knobs));
    l->n = n;
    l->keys = xcalloc(KEYS * n + 1, sizeof(*l->keys));
    l->key = SIZE_MAX;
    l->grain = 1;
    l->last = NAN;
    l->stale = true;
    return l;
}

void learning_free(struct learning *l)
{
    if (!l)
        return;
    free(l->knobs);
    free(l->keys);
    vec_release(&l->bins);
    free(l);
}

/* ---- what was told ---- */

static bool same(const struct learning *l, const double *a, const double *b)
{
    for (size_t j = 0; j < l->n; j++)
        if (l->knobs[j].learning && a[j] != b[j])
            return false;
    return true;
}

static size_t find(const struct learning *l, const double *configuration)
{
    for (size_t k = 0; k < l->n_keys; k++)
        if (same(l, l->keys + k * l->n, configuration))
            return k;
    return SIZE_MAX;
}

void learning_configure(struct learning *l, const double *configuration)
{
    l->key = find(l, configuration);
    if (l->key != SIZE_MAX)
        return;
    l->stale = true;
    l->key = 0;
    if (l->n_keys == KEYS)
        return;
    l->key = l->n_keys++;
    memcpy(l->keys + l->key * l->n, configuration, l->n * sizeof(*configuration));
}

static void join(struct bin *into, const struct bin *bin)
{
    into->steps += bin->steps;
    into->sum += bin->sum;
    into->n += bin->n;
}

/* Neighbours of one configuration become one; it doubles what a bin holds. */
static void coarsen(struct learning *l)
{
    size_t n = 0;

    l->grain *= 2;
    vec_foreach (bin, &l->bins) {
        struct bin *before = n ? &l->bins.at[n - 1] : NULL;
        if (before && before->key == bin->key && before->n + bin->n <= l->grain)
            join(before, bin);
        else
            l->bins.at[n++] = *bin;
    }
    l->bins.len = n;
}

/* It went on from a checkpoint: what was learned after it is lost. */
static void go_back(struct learning *l, double step)
{
    while (l->bins.len > 0 && vec_last(&l->bins)->first + vec_last(&l->bins)->steps >= step)
        l->bins.len--;
    l->last = l->bins.len ? vec_last(&l->bins)->first + vec_last(&l->bins)->steps : NAN;
}

void learning_tell(struct learning *l, double step, double loss)
{
    if (!isfinite(step) || !isfinite(loss) || l->key == SIZE_MAX || step == l->last)
        return;
    if (step < l->last)
        go_back(l, step);
    double from = isnan(l->last) ? step - 1 : l->last;
    struct bin mine = {l->key, from, step - from, loss, 1};

    l->last = step;
    l->stale = true;
    if (l->bins.len && vec_last(&l->bins)->key == l->key && vec_last(&l->bins)->n + 1 <= l->grain)
        join(vec_last(&l->bins), &mine);
    else
        vec_push(&l->bins, mine);
    if (l->bins.len >= BINS)
        coarsen(l);
    if (l->bins.len >= BINS) /* changed at each step: the oldest tell least */
        vec_remove(&l->bins, 0);
}

/* ---- one curve ---- */

struct fit {
    const struct learning *l;
    size_t m;
    bool logarithm; /* of the loss: all of it is above 0 */
    double *y, *r;  /* (m) weighed loss; what the curve leaves of it */
    double *basis;  /* (BASIS, m) */
};

static double at_bin(const struct fit *fit, const struct bin *bin)
{
    double mean = bin->sum / bin->n;
    return sqrt(bin->n) * (fit->logarithm ? log(mean) : mean);
}

/* What was learned in the middle of each bin, in parts of all: the columns of the basis. */
static void make_basis(const struct fit *fit, const double *theta)
{
    const struct learning *l = fit->l;
    double total = 0, done = 0;

    vec_foreach (bin, &l->bins)
        total += bin->steps * exp(theta[bin->key]);
    assert(total > 0);
    for (size_t i = 0; i < fit->m; i++) {
        const struct bin *bin = &l->bins.at[i];
        double part = bin->steps * exp(theta[bin->key]) / total, weight = sqrt(bin->n);
        double x = done + part / 2, u = 1 + 2 * log((x + NEAR) / (1 + NEAR)) / -log(NEAR);
        const double row[BASIS] = {1, u, u * u, u * u * u, x};
        for (size_t k = 0; k < BASIS; k++)
            fit->basis[k * fit->m + i] = weight * row[k];
        done += part;
    }
}

static void take_off(double *from, const double *unit, size_t m)
{
    double along = vec_dot(from, unit, m);
    for (size_t i = 0; i < m; i++)
        from[i] -= along * unit[i];
}

/* What the best curve leaves, by Gram and Schmidt. */
static void leave(const struct fit *fit, const double *theta, double *ret)
{
    size_t m = fit->m;

    make_basis(fit, theta);
    memcpy(ret, fit->y, m * sizeof(*ret));
    for (size_t k = 0; k < BASIS; k++) {
        double *column = fit->basis + k * m;
        double whole = vec_dot(column, column, m);
        for (size_t b = 0; b < k; b++)
            take_off(column, fit->basis + b * m, m);
        double length = vec_dot(column, column, m);
        bool nothing = !(length > 1e-12 * whole);
        for (size_t i = 0; i < m; i++)
            column[i] = nothing ? 0 : column[i] / sqrt(length);
        take_off(ret, column, m);
    }
}

static double noise(const struct fit *fit)
{
    double freedom = (double)fit->m - BASIS - 1;
    return fmax(vec_dot(fit->r, fit->r, fit->m) / fmax(freedom, 1), FLOOR);
}

static double misfit(const struct fit *fit, const double *r, const double *theta, double variance)
{
    const struct learning *l = fit->l;
    double prior = 0;

    for (size_t k = 0; k < l->n_keys; k++)
        prior += theta[k] * vec_dot(l->precision + k * l->n_keys, theta, l->n_keys);
    return vec_dot(r, r, fit->m) / variance + prior;
}

/* Gradient and curvature of the misfit at theta; the curvature as its Cholesky factor. */
static bool look_around(const struct fit *fit, const double *theta, double variance,
                        double *ret_gradient, double *ret_factor)
{
    const double *precision = fit->l->precision;
    size_t m = fit->m, n = fit->l->n_keys;
    double moved[KEYS];
    autofree(mem) double *slopes = xcalloc(m * n, sizeof(*slopes));

    for (size_t k = 0; k < n; k++) {
        memcpy(moved, theta, n * sizeof(*moved));
        moved[k] += STEP;
        leave(fit, moved, slopes + k * m);
        for (size_t i = 0; i < m; i++)
            slopes[k * m + i] = (slopes[k * m + i] - fit->r[i]) / STEP;
    }
    for (size_t k = 0; k < n; k++) {
        ret_gradient[k] =
            vec_dot(slopes + k * m, fit->r, m) / variance + vec_dot(precision + k * n, theta, n);
        for (size_t b = 0; b <= k; b++)
            ret_factor[k + b * n] =
                vec_dot(slopes + k * m, slopes + b * m, m) / variance + precision[k + b * n];
    }
    return chol(ret_factor, n, n);
}

/* One step down, halved until it helps. False: there is none. */
static bool go_down(struct fit *fit, double *theta, double variance)
{
    size_t n = fit->l->n_keys;
    double now = misfit(fit, fit->r, theta, variance), step[KEYS], moved[KEYS];
    autofree(mem) double *factor = xcalloc(n * n, sizeof(*factor));
    autofree(mem) double *r = xcalloc(fit->m, sizeof(*r));

    if (!look_around(fit, theta, variance, step, factor))
        return false;
    chol_solve_lower(factor, n, n, step, 1, n);
    chol_solve_upper(factor, n, n, step, 1, n);
    for (int halves = 0; halves < 4; halves++) {
        double share = ldexp(1, -halves);
        for (size_t k = 0; k < n; k++)
            moved[k] = theta[k] - fmin(fmax(share * step[k], -STEP_MAX), STEP_MAX);
        leave(fit, moved, r);
        double then = misfit(fit, r, moved, variance);
        if (!(then < now))
            continue;
        memcpy(theta, moved, n * sizeof(*moved));
        memcpy(fit->r, r, fit->m * sizeof(*r));
        return now - then > 1e-3;
    }
    return false;
}

/* ---- before anything was told ---- */

/* Covariance of the worth of a step under two configurations. */
static double prior_of(const struct learning *l, const double *a, const double *b)
{
    double apart = 0;

    for (size_t j = 0; j < l->n; j++) {
        const struct knob *knob = &l->knobs[j];
        if (!knob->learning || a[j] == b[j])
            continue;
        double d = (knob_feature(knob, a[j]) - knob_feature(knob, b[j])) / REACH;
        apart += knob->kind == KNOB_COUNT ? d * d : INFINITY;
    }
    double alike = SMOOTH * exp(-apart / 2) + (same(l, a, b) ? 1 - SMOOTH : 0);
    return LEARNING_DEVIATION * LEARNING_DEVIATION * alike;
}

static void mirror(double *a, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (size_t b = 0; b < k; b++)
            a[b + k * n] = a[k + b * n];
}

static void know_nothing(struct learning *l)
{
    size_t n = l->n_keys;

    memset(l->theta, 0, sizeof(l->theta));
    for (size_t k = 0; k < n; k++)
        for (size_t b = 0; b < n; b++)
            l->covariance[k + b * n] = prior_of(l, l->keys + k * l->n, l->keys + b * l->n);
    memcpy(l->precision, l->covariance, n * n * sizeof(*l->precision));
    bool definite = chol(l->precision, n, n);
    assert(definite); /* each has a share of its own */
    (void)definite;
    chol_inverse(l->precision, n, n);
    mirror(l->precision, n);
}

static bool all_above_0(const struct learning *l)
{
    vec_foreach (bin, &l->bins)
        if (!(bin->sum > 0))
            return false;
    return true;
}

/* The noise is what the curve leaves, so both are found in turns; begun where it was last. */
static void fit_worth(struct learning *l)
{
    size_t m = l->bins.len, n = l->n_keys;
    double theta[KEYS], gradient[KEYS];

    memcpy(theta, l->theta, sizeof(theta));
    l->stale = false;
    know_nothing(l);
    if (m < LEAST || n < 2)
        return;
    autofree(mem) double *block = xcalloc(m * (BASIS + 2), sizeof(*block));
    struct fit fit = {l, m, all_above_0(l), block, block + m, block + 2 * m};
    for (size_t i = 0; i < m; i++)
        fit.y[i] = at_bin(&fit, &l->bins.at[i]);
    leave(&fit, theta, fit.r);
    for (size_t i = 0; i < STEPS && go_down(&fit, theta, noise(&fit)); i++) {
    }
    if (!look_around(&fit, theta, noise(&fit), gradient, l->covariance)) {
        know_nothing(l);
        return;
    }
    chol_inverse(l->covariance, n, n);
    mirror(l->covariance, n);
    memcpy(l->theta, theta, n * sizeof(*theta));
}

/* What those that ran tell of a configuration: its θ is Σ weights · theta. One that ran itself has
 * the weight 1. */
static void from_known(const struct learning *l, const double *configuration, double *ret_weights)
{
    size_t n = l->n_keys;
    double prior[KEYS];

    for (size_t k = 0; k < n; k++)
        prior[k] = prior_of(l, configuration, l->keys + k * l->n);
    for (size_t k = 0; k < n; k++)
        ret_weights[k] = vec_dot(l->precision + k * n, prior, n);
}

/* The covariance of two that this leaves; `weights` are those of a. */
static double left_of(const struct learning *l, const double *weights, const double *a,
                      const double *b)
{
    double left = prior_of(l, a, b);

    for (size_t k = 0; k < l->n_keys; k++)
        left -= weights[k] * prior_of(l, b, l->keys + k * l->n);
    return left;
}

struct belief_ln learning_compare(struct learning *l, const double *a, const double *b)
{
    double of_a[KEYS] = {0}, of_b[KEYS] = {0}, by[KEYS] = {0};
    size_t n;

    if (same(l, a, b))
        return (struct belief_ln){0, 0};
    if (l->stale)
        fit_worth(l);
    n = l->n_keys;
    from_known(l, a, of_a);
    from_known(l, b, of_b);
    double variance = left_of(l, of_a, a, a) + left_of(l, of_b, b, b) - 2 * left_of(l, of_a, a, b);
    for (size_t k = 0; k < n; k++)
        by[k] = of_a[k] - of_b[k];
    for (size_t k = 0; k < n; k++)
        variance += by[k] * vec_dot(l->covariance + k * n, by, n);
    return (struct belief_ln){vec_dot(by, l->theta, n), sqrt(fmax(variance, 0))};
}
