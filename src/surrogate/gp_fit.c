/* SPDX-License-Identifier: MIT */
/*
 * gp_fit.c — the hyper-parameters with the largest posterior density, by their analytic gradient.
 *
 *     −ln p = ½ yᵀK⁻¹y + Σ ln L_ii + Σ ½((θ − mean)/sd)² + ½(ν ln noise + S/noise)
 *     ∂/∂θ  = −½ tr((ααᵀ − K⁻¹) ∂K/∂θ)
 *
 * ν and S are the degrees and squares of repeats about their means, which the rows hold.
 * Squared differences of all pairs are computed once; the gradient of every length is then
 * one pass over the pairs. With warping they are computed anew at each evaluation.
 */
#include "base/rng.h"
#include "linalg/lbfgsb.h"
#include "linalg/linalg.h"
#include "surrogate/gp_internal.h"

#include <math.h>

#define BOUND_SD 4.0 /* the hyper-parameters stay within so many deviations of their priors */

size_t gp_parameters(const struct gp *gp)
{
    return 3 * gp->d + 2;
}

static void prior_of(const struct gp *gp, size_t k, double *ret_mean, double *ret_sd)
{
    const struct gp_prior *prior = &gp->prior;
    size_t d = gp->d;

    *ret_mean = k < d ? prior->length_mean : k == d ? prior->signal_mean : prior->noise_mean;
    if (k < d && gp->category[k])
        *ret_mean += prior->category_longer;
    *ret_sd = k < d ? prior->length_sd : k == d ? prior->signal_sd : prior->noise_sd;
    if (k > d + 1) {
        *ret_mean = 0;
        *ret_sd = gp->category[(k - d - 2) % d] ? 0 : prior->warp_sd;
    }
}

void gp_reset(struct gp *gp)
{
    double sd;
    if (!gp->inverse_length)
        gp->inverse_length = xcalloc(gp->d + 1, sizeof(double));
    for (size_t k = 0; k < gp_parameters(gp); k++)
        prior_of(gp, k, &gp->theta[k], &sd);
}

void gp_get(const struct gp *gp, double *ret)
{
    memcpy(ret, gp->theta, gp_parameters(gp) * sizeof(*ret));
}

bool gp_put(struct gp *gp, const double *parameters)
{
    for (size_t k = 0; k < gp_parameters(gp); k++) {
        double mean, sd;
        prior_of(gp, k, &mean, &sd);
        if (!(fabs(parameters[k] - mean) <= BOUND_SD * sd + 1e-9))
            return false;
    }
    memcpy(gp->theta, parameters, gp_parameters(gp) * sizeof(*parameters));
    return true;
}

/* Workspace of a fit over n rows: everything that an evaluation needs. */
struct fit {
    const struct gp *gp;
    size_t n, d, pairs;
    bool warp;
    double *squares; /* (d, pairs): Δ² of each feature; with warping as of the last evaluation */
    double *warped;  /* (d, n) */
    double *slopes;  /* (2, n): ∂w/∂ln p, ∂w/∂ln q of one feature */
    double *r2, *k, *slope, *weight; /* (pairs) */
    double *matrix;                  /* (n, n) */
    double *alpha;                   /* (n) */
    double *block;
};

static void fit_init(struct fit *fit, const struct gp *gp)
{
    size_t n = gp->n, d = gp->d, pairs = n * (n - 1) / 2;

    *fit = (struct fit){.gp = gp, .n = n, .d = d, .pairs = pairs, .warp = gp->prior.warp_sd > 0};
    fit->block = xmalloc(((d + 4) * pairs + d * n + 3 * n + n * n + 1) * sizeof(double));
    fit->squares = fit->block;
    fit->r2 = fit->squares + d * pairs;
    fit->k = fit->r2 + pairs;
    fit->slope = fit->k + pairs;
    fit->weight = fit->slope + pairs;
    fit->warped = fit->weight + pairs;
    fit->slopes = fit->warped + d * n;
    fit->alpha = fit->slopes + 2 * n;
    fit->matrix = fit->alpha + n;
}

/* Pairs are (1,0), (2,0), (2,1), (3,0), … */
static void square_feature(struct fit *fit, size_t j)
{
    double *to = fit->squares + j * fit->pairs;
    const double *w = fit->warped + j * fit->n;

    for (size_t a = 1; a < fit->n; a++)
        for (size_t b = 0; b < a; b++)
            *to++ = fit->gp->category[j] ? w[a] != w[b] : (w[a] - w[b]) * (w[a] - w[b]);
}

static void warp_feature(struct fit *fit, const double *theta, size_t j)
{
    double *w = fit->warped + j * fit->n;
    const struct gp *gp = fit->gp;
    double p = exp(theta[theta_p(gp, j)]), q = exp(theta[theta_q(gp, j)]);
    bool flat = gp->category[j] || (p == 1 && q == 1);

    for (size_t i = 0; i < fit->n; i++) {
        double x = gp->x[i * fit->d + j], u = WARP_EDGE + (1 - 2 * WARP_EDGE) * x;
        w[i] = flat ? x : 1 - pow(1 - pow(u, p), q);
    }
    square_feature(fit, j);
}

static void fill_matrix(struct fit *fit, double signal, double noise)
{
    const struct gp *gp = fit->gp;
    size_t n = fit->n, pair = 0;

    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < a; b++)
            fit->matrix[a + b * n] = signal * fit->k[pair++];
        fit->matrix[a + a * n] = signal * (1 + 1e-10) + noise * gp->scale[a] + gp->extra[a];
    }
}

/* From K⁻¹ in the matrix and alpha: the weight of each pair, (ααᵀ − K⁻¹)_ab. */
static void weigh_pairs(struct fit *fit)
{
    size_t n = fit->n, pair = 0;
    for (size_t a = 1; a < n; a++)
        for (size_t b = 0; b < a; b++)
            fit->weight[pair++] = fit->alpha[a] * fit->alpha[b] - fit->matrix[a + b * n];
}

/* ∂w/∂ln p and ∂w/∂ln q of feature j at every row. */
static void warp_slopes(struct fit *fit, const double *theta, size_t j)
{
    const struct gp *gp = fit->gp;
    double p = exp(theta[theta_p(gp, j)]), q = exp(theta[theta_q(gp, j)]);

    for (size_t i = 0; i < fit->n; i++) {
        double u = WARP_EDGE + (1 - 2 * WARP_EDGE) * gp->x[i * fit->d + j];
        double up = pow(u, p), rest = 1 - up;
        fit->slopes[i] = p * q * pow(rest, q - 1) * up * log(u);
        fit->slopes[fit->n + i] = -q * pow(rest, q) * log(rest);
    }
}

/* fit->weight holds (ααᵀ − K⁻¹)·s²·∂M/∂r² by now. */
static void warp_gradient(struct fit *fit, const double *theta, size_t j, double *ret)
{
    const double *w = fit->warped + j * fit->n;
    double p = 0, q = 0, inverse = exp(-2 * theta[j]);
    size_t pair = 0;

    warp_slopes(fit, theta, j);
    for (size_t a = 1; a < fit->n; a++)
        for (size_t b = 0; b < a; b++) {
            double by = fit->weight[pair++] * 2 * (w[a] - w[b]);
            p += by * (fit->slopes[a] - fit->slopes[b]);
            q += by * (fit->slopes[fit->n + a] - fit->slopes[fit->n + b]);
        }
    ret[theta_p(fit->gp, j)] = -p * inverse;
    ret[theta_q(fit->gp, j)] = -q * inverse;
}

static void gradient(struct fit *fit, const double *theta, double *ret)
{
    const struct gp *gp = fit->gp;
    size_t n = fit->n, d = fit->d;
    double signal = exp(theta[d]), noise = exp(theta[d + 1]), by_signal = 0, by_noise = 0;

    chol_inverse(fit->matrix, n, n);
    weigh_pairs(fit);
    for (size_t i = 0; i < fit->pairs; i++)
        by_signal += 2 * fit->weight[i] * fit->k[i];
    for (size_t a = 0; a < n; a++) {
        double own = fit->alpha[a] * fit->alpha[a] - fit->matrix[a + a * n];
        by_signal += own;
        by_noise += own * gp->scale[a];
    }
    ret[d] = -0.5 * signal * by_signal;
    ret[d + 1] = -0.5 * noise * by_noise;
    for (size_t i = 0; i < fit->pairs; i++)
        fit->weight[i] *= signal * fit->slope[i];
    for (size_t j = 0; j < d; j++) { /* ∂r²/∂ln ℓ = −2Δ²/ℓ², each pair counts twice */
        ret[j] = 2 * exp(-2 * theta[j]) *
                 vec_dot(fit->weight, fit->squares + j * fit->pairs, fit->pairs);
        if (fit->warp && !gp->category[j])
            warp_gradient(fit, theta, j, ret);
    }
}

static double evaluate(struct fit *fit, const double *theta, double *ret_gradient)
{
    size_t n = fit->n, d = fit->d;
    double value = 0;

    memset(fit->r2, 0, fit->pairs * sizeof(double));
    for (size_t j = 0; j < d; j++) {
        if (fit->warp)
            warp_feature(fit, theta, j);
        const double *square = fit->squares + j * fit->pairs;
        double w = exp(-2 * theta[j]);
        for (size_t i = 0; i < fit->pairs; i++)
            fit->r2[i] += w * square[i];
    }
    gp_matern(fit->r2, fit->pairs, fit->k, fit->slope);
    fill_matrix(fit, exp(theta[d]), exp(theta[d + 1]));
    if (!chol(fit->matrix, n, n))
        return INFINITY;
    memcpy(fit->alpha, fit->gp->y, n * sizeof(double));
    chol_solve_lower(fit->matrix, n, n, fit->alpha, 1, n);
    value = 0.5 * vec_dot(fit->alpha, fit->alpha, n);
    chol_solve_upper(fit->matrix, n, n, fit->alpha, 1, n);
    for (size_t i = 0; i < n; i++)
        value += log(fit->matrix[i + i * n]);
    if (ret_gradient)
        gradient(fit, theta, ret_gradient);
    return value;
}

static double repeats_posterior(const struct gp *gp, const double *theta, double *gradient_sum)
{
    double noise = theta[gp->d + 1], share = gp->squares * exp(-noise);

    if (gradient_sum)
        gradient_sum[gp->d + 1] += 0.5 * (gp->degrees - share);
    return 0.5 * (gp->degrees * noise + share);
}

/* Adds the priors; parameters without freedom get no slope. */
static double posterior(struct fit *fit, const double *theta, double *ret_gradient)
{
    size_t m = gp_parameters(fit->gp);
    if (ret_gradient)
        memset(ret_gradient, 0, m * sizeof(*ret_gradient));
    double value = evaluate(fit, theta, ret_gradient);

    for (size_t k = 0; k < m; k++) {
        double mean, sd;
        prior_of(fit->gp, k, &mean, &sd);
        if (sd == 0)
            continue;
        double t = (theta[k] - mean) / sd;
        value += 0.5 * t * t;
        if (ret_gradient)
            ret_gradient[k] += t / sd;
    }
    return value + repeats_posterior(fit->gp, theta, ret_gradient);
}

static void fit_fn(const double *x, const size_t *index UNUSED, size_t m, size_t d, double *ret_f,
                   double *ret_g, void *arg)
{
    for (size_t i = 0; i < m; i++)
        ret_f[i] = posterior(arg, x + i * d, ret_g + i * d);
}

static void fit_open(struct fit *fit, const struct gp *gp)
{
    fit_init(fit, gp);
    for (size_t j = 0; j < gp->d && !fit->warp; j++)
        warp_feature(fit, gp->theta, j);
}

void gp_fit(struct gp *gp, size_t max_iterations)
{
    size_t m = gp_parameters(gp);
    autofree(mem) double *block = xcalloc(3 * m, sizeof(*block));
    double *low = block, *high = low + m, *x = high + m, value;
    struct fit fit;

    if (gp->n < 2)
        return;
    fit_open(&fit, gp);
    gp_get(gp, x);
    for (size_t k = 0; k < m; k++) {
        double mean, sd;
        prior_of(gp, k, &mean, &sd);
        low[k] = mean - BOUND_SD * sd;
        high[k] = mean + BOUND_SD * sd;
    }
    struct lbfgsb_options options = {
        .max_iterations = max_iterations, .gradient_tol = 1e-2, .value_tol = 1e-6};
    lbfgsb_minimize(fit_fn, &fit, x, 1, m, low, high, &options, &value);
    free(fit.block);
    if (isfinite(value))
        memcpy(gp->theta, x, m * sizeof(*x));
    gp_refactor(gp);
}

/* One parameter by the slice sampler, the width being its prior's deviation. */
static void slice(struct fit *fit, double *theta, size_t k, struct rng *rng)
{
    double mean, sd, from = theta[k], now = -posterior(fit, theta, NULL);

    prior_of(fit->gp, k, &mean, &sd);
    if (sd == 0 || !isfinite(now))
        return;
    double level = now + log(1 - rng_unit(rng));
    double low = fmax(from - sd * rng_unit(rng), mean - BOUND_SD * sd);
    double high = fmin(low + sd, mean + BOUND_SD * sd);
    for (int i = 0; i < 10; i++) {
        theta[k] = low + (high - low) * rng_unit(rng);
        if (-posterior(fit, theta, NULL) > level)
            return;
        *(theta[k] < from ? &low : &high) = theta[k];
    }
    theta[k] = from;
}

void gp_sample(struct gp *gp, size_t sweeps, struct rng *rng)
{
    struct fit fit;

    if (gp->n < 2)
        return;
    fit_open(&fit, gp);
    if (fit.warp) /* the warp stays as it is: its features are computed once */
        for (size_t j = 0; j < gp->d; j++)
            warp_feature(&fit, gp->theta, j);
    fit.warp = false;
    for (size_t i = 0; i < sweeps; i++)
        for (size_t k = 0; k < gp->d + 2; k++)
            slice(&fit, gp->theta, k, rng);
    free(fit.block);
    gp_refactor(gp);
}

double gp_posterior(const struct gp *gp, const double *theta, double *ret_gradient)
{
    struct fit fit;
    fit_open(&fit, gp);
    double value = posterior(&fit, theta, ret_gradient);
    free(fit.block);
    return value;
}

double gp_evidence(const struct gp *gp)
{
    return -gp_posterior(gp, gp->theta, NULL);
}
