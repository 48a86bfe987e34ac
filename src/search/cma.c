/* SPDX-License-Identifier: MIT */
/*
 * cma.c — one normal distribution that follows its successes.
 *
 * The mean moves to the weighted best; the covariance learns from the steps that led there (rank μ)
 * and from the path of the mean (rank one); the step size grows while the path is longer than
 * chance would make it. The eigenvectors are worked out only when the covariance has
 * changed enough to matter.
 */
#include "search/cma.h"
#include "linalg/linalg.h"

#include <math.h>

#define STEP_LEAST 1e-6 /* of the unit cube */
#define UNEVEN     1e7  /* longest over shortest axis */

static void set_rates(struct cma *c)
{
    double d = (double)c->d, sum = 0, squares = 0;
    c->mu = c->lambda / 2;
    c->weights = xcalloc(c->mu, sizeof(*c->weights));
    for (size_t i = 0; i < c->mu; i++) {
        c->weights[i] = log(((double)c->lambda + 1) / 2) - log((double)i + 1);
        sum += c->weights[i];
    }
    for (size_t i = 0; i < c->mu; i++) {
        c->weights[i] /= sum;
        squares += c->weights[i] * c->weights[i];
    }
    double eff = c->mu_eff = 1 / squares;
    c->c_sigma = (eff + 2) / (d + eff + 5);
    c->d_sigma = 1 + 2 * fmax(0, sqrt((eff - 1) / (d + 1)) - 1) + c->c_sigma;
    c->c_c = (4 + eff / d) / (d + 4 + 2 * eff / d);
    c->c_1 = 2 / ((d + 1.3) * (d + 1.3) + eff);
    c->c_mu = fmin(1 - c->c_1, 2 * (eff - 2 + 1 / eff) / ((d + 2) * (d + 2) + eff));
    c->chi = sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d));
}

void cma_init(struct cma *cma, size_t d, size_t lambda, const double *mean, double sigma,
              const double *deviations)
{
    *cma = (struct cma){.d = d, .lambda = MAX(lambda, (size_t)4), .sigma = sigma};
    cma->start_sigma = sigma;
    set_rates(cma);
    cma->mean = xmemdup(mean, d * sizeof(*mean));
    cma->cov = xcalloc(d * d, sizeof(*cma->cov));
    cma->basis = xcalloc(d * d, sizeof(*cma->basis));
    cma->axes = xcalloc(d, sizeof(*cma->axes));
    cma->path = xcalloc(d, sizeof(*cma->path));
    cma->path_sigma = xcalloc(d, sizeof(*cma->path_sigma));
    cma->work = xcalloc(3 * d, sizeof(*cma->work));
    for (size_t i = 0; i < d; i++) {
        double wide = deviations ? deviations[i] : 1;
        cma->cov[i * d + i] = wide * wide;
        cma->basis[i * d + i] = 1;
        cma->axes[i] = wide;
    }
}

void cma_release(struct cma *cma)
{
    free(cma->weights);
    free(cma->mean);
    free(cma->cov);
    free(cma->basis);
    free(cma->axes);
    free(cma->path);
    free(cma->path_sigma);
    free(cma->work);
    *cma = (struct cma){0};
}

double cma_deviation(const struct cma *cma, size_t i)
{
    return cma->sigma * sqrt(fmax(cma->cov[i * cma->d + i], 0));
}

void cma_draw(const struct cma *cma, double reach, struct rng *rng, double *ret_x)
{
    size_t d = cma->d;
    memcpy(ret_x, cma->mean, d * sizeof(*ret_x));
    for (size_t k = 0; k < d; k++) {
        double z = reach * cma->sigma * cma->axes[k] * rng_normal(rng);
        for (size_t i = 0; i < d; i++)
            ret_x[i] += z * cma->basis[k * d + i];
    }
}

/* ret := basis·diag(1/axes)·basisᵀ·y, the step as a sphere would have it. */
static void whiten(const struct cma *c, const double *y, double *ret)
{
    size_t d = c->d;
    memset(ret, 0, d * sizeof(*ret));
    for (size_t k = 0; k < d; k++) {
        double along = 0;
        for (size_t i = 0; i < d; i++)
            along += c->basis[k * d + i] * y[i];
        along /= c->axes[k];
        for (size_t i = 0; i < d; i++)
            ret[i] += along * c->basis[k * d + i];
    }
}

static double length(const double *x, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* y := the step from the mean to x in units of sigma, not longer than draws are. */
static void take_step(const struct cma *c, const double *x, double *y, double *white)
{
    double d = (double)c->d, most = sqrt(d) + 2 * d / (d + 2);
    for (size_t i = 0; i < c->d; i++)
        y[i] = (x[i] - c->mean[i]) / c->sigma;
    whiten(c, y, white);
    double far = length(white, c->d);
    for (size_t i = 0; far > most && i < c->d; i++)
        y[i] *= most / far;
}

/* cov += rate·y·yᵀ */
static void add_outer(struct cma *c, double rate, const double *y)
{
    for (size_t j = 0; j < c->d; j++)
        for (size_t i = 0; i < c->d; i++)
            c->cov[j * c->d + i] += rate * y[i] * y[j];
}

/* Both paths, with the mean step `step`; false while sigma's path is too long for rank one. */
static bool update_paths(struct cma *c, const double *step)
{
    double *white = c->work + 2 * c->d, d = (double)c->d;
    double keep = 1 - c->c_sigma, add = sqrt(c->c_sigma * (2 - c->c_sigma) * c->mu_eff);
    whiten(c, step, white);
    for (size_t i = 0; i < c->d; i++)
        c->path_sigma[i] = keep * c->path_sigma[i] + add * white[i];
    double norm = length(c->path_sigma, c->d);
    double settled = sqrt(1 - pow(keep, 2 * ((double)c->generation + 1)));
    bool steady = norm / settled / c->chi < 1.4 + 2 / (d + 1);
    add = steady ? sqrt(c->c_c * (2 - c->c_c) * c->mu_eff) : 0;
    for (size_t i = 0; i < c->d; i++)
        c->path[i] = (1 - c->c_c) * c->path[i] + add * step[i];
    c->sigma *= exp(fmin(1, c->c_sigma / c->d_sigma * (norm / c->chi - 1)));
    c->sigma = fmin(c->sigma, 4 * c->start_sigma); /* the cube ends there */
    return steady;
}

/* Eigenvectors of the covariance; what rounding made of the smallest ones is lifted. */
static void decompose(struct cma *c)
{
    size_t d = c->d;
    double gap = 1 / (10 * (double)d * (c->c_1 + c->c_mu));
    if ((double)(c->generation - c->decomposed) < gap)
        return;
    c->decomposed = c->generation;
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < j; i++)
            c->cov[j * d + i] = c->cov[i * d + j] = (c->cov[j * d + i] + c->cov[i * d + j]) / 2;
    memcpy(c->basis, c->cov, d * d * sizeof(*c->cov));
    if (!sym_eigen(c->basis, d, d, c->axes)) {
        memset(c->basis, 0, d * d * sizeof(*c->basis));
        for (size_t i = 0; i < d; i++) {
            c->basis[i * d + i] = 1;
            c->axes[i] = c->cov[i * d + i];
        }
    }
    double most = 0;
    for (size_t i = 0; i < d; i++)
        most = fmax(most, c->axes[i]);
    for (size_t i = 0; i < d; i++)
        c->axes[i] = sqrt(fmax(c->axes[i], fmax(most, 1e-30) * 1e-16));
}

void cma_update(struct cma *c, const double *best)
{
    size_t d = c->d;
    double *y = c->work, *step = c->work + d, *white = c->work + 2 * d;
    autofree(mem) double *steps = xcalloc(c->mu * d, sizeof(*steps));

    memset(step, 0, d * sizeof(*step));
    for (size_t k = 0; k < c->mu; k++) {
        take_step(c, best + k * d, y, white);
        memcpy(steps + k * d, y, d * sizeof(*y));
        for (size_t i = 0; i < d; i++)
            step[i] += c->weights[k] * y[i];
    }
    for (size_t i = 0; i < d; i++)
        c->mean[i] = fmin(fmax(c->mean[i] + c->sigma * step[i], 0), 1);
    bool steady = update_paths(c, step);
    double keep = 1 - c->c_1 - c->c_mu + (steady ? 0 : c->c_1 * c->c_c * (2 - c->c_c));
    for (size_t i = 0; i < d * d; i++)
        c->cov[i] *= keep;
    add_outer(c, c->c_1, c->path);
    for (size_t k = 0; k < c->mu; k++)
        add_outer(c, c->c_mu * c->weights[k], steps + k * d);
    c->generation++;
    decompose(c);
}

bool cma_is_spent(const struct cma *c)
{
    double widest = 0, shortest = INFINITY, longest = 0;
    for (size_t i = 0; i < c->d; i++) {
        widest = fmax(widest, cma_deviation(c, i));
        shortest = fmin(shortest, c->axes[i]);
        longest = fmax(longest, c->axes[i]);
    }
    return !(widest > STEP_LEAST) || !isfinite(widest) || longest > UNEVEN * shortest;
}
