/* SPDX-License-Identifier: MIT */
/*
 * gp.c — the Gaussian process: kernel, factor, prediction. gp_fit.c finds its hyper-parameters.
 *
 * The features are kept feature by feature, warped and divided by their lengths, so that the
 * distances of one point to all rows are d passes over contiguous numbers.
 * Invariant: l is the factor of K + diag(noise·scale + extra + jitter) over the rows, and
 * alpha = K⁻¹y.
 */
#include "surrogate/gp.h"
#include "linalg/linalg.h"
#include "surrogate/gp_internal.h"

#include <assert.h>
#include <math.h>

struct gp_prior gp_prior_for(size_t d)
{
    return (struct gp_prior){
        .length_mean = log(0.5) + 0.5 * log(fmax((double)d, 1) / 4),
        .length_sd = 1.0,
        .category_longer = log(2),
        .signal_mean = 0,
        .signal_sd = 1,
        .noise_mean = log(0.01),
        .noise_sd = 2.5, /* from none at all to most of it */
        .warp_sd = 0.3,
    };
}

struct gp_prior gp_prior_noisy(size_t d)
{
    struct gp_prior prior = gp_prior_for(d);

    prior.noise_mean = log(0.02);
    prior.noise_sd = 1.5;
    return prior;
}

struct gp *gp_new(size_t d, const bool *category, const struct gp_prior *prior)
{
    struct gp *gp = xcalloc(1, sizeof(*gp));
    gp->d = d;
    gp->prior = *prior;
    gp->category = xmemdup(category, d * sizeof(*category));
    gp->theta = xcalloc(gp_parameters(gp), sizeof(double));
    gp_reset(gp);
    return gp;
}

void gp_free(struct gp *gp)
{
    if (!gp)
        return;
    free(gp->category);
    free(gp->theta);
    free(gp->inverse_length);
    free(gp->x);
    free(gp->z);
    free(gp->y);
    free(gp->scale);
    free(gp->extra);
    free(gp->l);
    free(gp->alpha);
    free(gp);
}

size_t gp_rows(const struct gp *gp)
{
    return gp->n;
}

/* e^x for x ≤ 0 to 1e-15, in steps that compilers turn into vector code: 2^k · e^r with |r| ≤
 * ln2/2.
 */
static inline double exp_down(double x)
{
    const double shift = 0x1.8p52;
    union {
        double d;
        int64_t i;
    } scale;
    x = x < -700 ? -700 : x;
    scale.d = x * 1.4426950408889634 + shift;
    double k = scale.d - shift;
    double r = (x - k * 0.693145751953125) - k * 1.42860682030941723212e-6;
    double p = 1.6059043836821613e-10;
    p = p * r + 2.0876756987868100e-09;
    p = p * r + 2.5052108385441720e-08;
    p = p * r + 2.7557319223985888e-07;
    p = p * r + 2.7557319223985893e-06;
    p = p * r + 2.4801587301587302e-05;
    p = p * r + 1.9841269841269841e-04;
    p = p * r + 1.3888888888888889e-03;
    p = p * r + 8.3333333333333332e-03;
    p = p * r + 4.1666666666666664e-02;
    p = p * r + 1.6666666666666666e-01;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    scale.i = (int64_t)((uint64_t)scale.i << 52) + 0x3ff0000000000000;
    return p * scale.d;
}

void gp_matern(const double *r2, size_t n, double *ret_k, double *ret_slope)
{
    for (size_t i = 0; i < n; i++) {
        double s = sqrt(5 * r2[i]);
        double e = exp_down(-s);
        ret_k[i] = (1 + s + s * s / 3) * e;
        if (ret_slope)
            ret_slope[i] = -(5.0 / 6) * (1 + s) * e;
    }
}

double gp_warp(const struct gp *gp, size_t j, double x)
{
    if (!gp->warped || gp->category[j])
        return x;
    double u = WARP_EDGE + (1 - 2 * WARP_EDGE) * x;
    return 1 - pow(1 - pow(u, exp(gp->theta[theta_p(gp, j)])), exp(gp->theta[theta_q(gp, j)]));
}

/* Derivative of the warp by x. */
static double warp_slope(const struct gp *gp, size_t j, double x)
{
    if (!gp->warped || gp->category[j])
        return 1;
    double u = WARP_EDGE + (1 - 2 * WARP_EDGE) * x;
    double p = exp(gp->theta[theta_p(gp, j)]), q = exp(gp->theta[theta_q(gp, j)]);
    return (1 - 2 * WARP_EDGE) * p * q * pow(u, p - 1) * pow(1 - pow(u, p), q - 1);
}

/* A feature on the axis where distances are taken: categories stay as they are. */
static double place(const struct gp *gp, size_t j, double x)
{
    return gp->category[j] ? x : gp_warp(gp, j, x) * gp->inverse_length[j];
}

static void note_theta(struct gp *gp)
{
    for (size_t j = 0; j < gp->d; j++)
        gp->inverse_length[j] = exp(-gp->theta[j]);
    gp->signal = exp(gp->theta[gp->d]);
    gp->noise = exp(gp->theta[gp->d + 1]);
    gp->warped = false;
    for (size_t j = 0; j < 2 * gp->d; j++)
        gp->warped |= gp->theta[gp->d + 2 + j] != 0;
}

/* r² of a point (placed) to the first n rows. */
static void distances(const struct gp *gp, const double *z, size_t n, double *ret_r2)
{
    memset(ret_r2, 0, n * sizeof(*ret_r2));
    for (size_t j = 0; j < gp->d; j++) {
        const double *row = gp->z + j * gp->cap;
        double a = z[j], w = gp->inverse_length[j] * gp->inverse_length[j];
        if (gp->category[j])
            for (size_t i = 0; i < n; i++)
                ret_r2[i] += row[i] != a ? w : 0;
        else
            for (size_t i = 0; i < n; i++)
                ret_r2[i] += (row[i] - a) * (row[i] - a);
    }
}

static void kernel_row(const struct gp *gp, const double *z, size_t n, double *ret_k)
{
    distances(gp, z, n, ret_k);
    gp_matern(ret_k, n, ret_k, NULL);
    for (size_t i = 0; i < n; i++)
        ret_k[i] *= gp->signal;
}

static void place_row(const struct gp *gp, const double *x, double *ret_z)
{
    for (size_t j = 0; j < gp->d; j++)
        ret_z[j] = place(gp, j, x[j]);
}

static double diagonal(const struct gp *gp, size_t i)
{
    return gp->signal + gp->noise * gp->scale[i] + gp->extra[i] + gp->jitter;
}

static void fill_kernel(const struct gp *gp)
{
    autofree(mem) double *z = xcalloc(gp->d + 1, sizeof(*z));

    for (size_t i = 0; i < gp->n; i++) {
        for (size_t j = 0; j < gp->d; j++)
            z[j] = gp->z[j * gp->cap + i];
        double *column = gp->l + i * gp->cap; /* symmetric: row i of the upper is column i of L */
        kernel_row(gp, z, gp->n, column);
        column[i] = diagonal(gp, i);
    }
}

static void solve_alpha(struct gp *gp)
{
    memcpy(gp->alpha, gp->y, gp->n * sizeof(*gp->y));
    chol_solve_lower(gp->l, gp->n, gp->cap, gp->alpha, 1, gp->cap);
    chol_solve_upper(gp->l, gp->n, gp->cap, gp->alpha, 1, gp->cap);
}

/* The jitter grows by tens until K is positive definite: at last it is mostly noise. */
static void factor(struct gp *gp)
{
    double jitter = 1e-10;

    gp->jitter = 0;
    for (int i = 0; i < 22; i++) {
        fill_kernel(gp);
        if (chol(gp->l, gp->n, gp->cap))
            break;
        gp->jitter = jitter * gp->signal;
        jitter *= 10;
    }
    solve_alpha(gp);
}

/* Room for n rows; the factor is lost. */
static void make_room(struct gp *gp, size_t n)
{
    if (gp->cap >= n && gp->cap)
        return;
    gp->cap = MAX(n + n / 4, (size_t)16);
    gp->x = xrealloc(gp->x, gp->cap * gp->d * sizeof(double));
    gp->z = xrealloc(gp->z, (gp->cap * gp->d + 1) * sizeof(double));
    gp->y = xrealloc(gp->y, gp->cap * sizeof(double));
    gp->scale = xrealloc(gp->scale, gp->cap * sizeof(double));
    gp->extra = xrealloc(gp->extra, gp->cap * sizeof(double));
    gp->alpha = xrealloc(gp->alpha, gp->cap * sizeof(double));
    gp->l = xrealloc(gp->l, gp->cap * gp->cap * sizeof(double));
}

static void put_row(struct gp *gp, size_t i, const double *x, double y, double scale, double extra)
{
    memcpy(gp->x + i * gp->d, x, gp->d * sizeof(*x));
    for (size_t j = 0; j < gp->d; j++)
        gp->z[j * gp->cap + i] = place(gp, j, x[j]);
    gp->y[i] = y;
    gp->scale[i] = scale;
    gp->extra[i] = extra;
}

void gp_refactor(struct gp *gp)
{
    note_theta(gp);
    for (size_t i = 0; i < gp->n; i++)
        for (size_t j = 0; j < gp->d; j++)
            gp->z[j * gp->cap + i] = place(gp, j, gp->x[i * gp->d + j]);
    factor(gp);
}

void gp_set(struct gp *gp, const double *x, const double *y, const double *scale,
            const double *extra, size_t n)
{
    make_room(gp, n);
    note_theta(gp);
    gp->n = n;
    for (size_t i = 0; i < n; i++)
        put_row(gp, i, x + i * gp->d, y[i], scale ? scale[i] : 1, extra ? extra[i] : 0);
    factor(gp);
}

void gp_repeats(struct gp *gp, double degrees, double squares)
{
    gp->degrees = degrees;
    gp->squares = squares;
}

void gp_share(struct gp *gp, const struct gp *from)
{
    gp_repeats(gp, from->degrees, from->squares);
    gp_set(gp, from->x, from->y, from->scale, from->extra, from->n);
}

/* Room for one more without losing the factor. */
static void widen(struct gp *gp)
{
    size_t old = gp->cap, n = gp->n;
    autofree(mem) double *z = gp->z, *l = gp->l;

    gp->z = gp->l = NULL;
    make_room(gp, old + 1);
    assert(gp->z && gp->l);
    for (size_t j = 0; j < gp->d; j++)
        memcpy(gp->z + j * gp->cap, z + j * old, n * sizeof(*z));
    for (size_t j = 0; j < n; j++)
        memcpy(gp->l + j * gp->cap, l + j * old, n * sizeof(*l));
}

void gp_append(struct gp *gp, const double *x, double y, double scale, double extra)
{
    if (gp->n == gp->cap)
        widen(gp);
    size_t n = gp->n;
    autofree(mem) double *k = xcalloc(n + 1, sizeof(*k)), *z = xcalloc(gp->d + 1, sizeof(*z));

    put_row(gp, n, x, y, scale, extra);
    place_row(gp, x, z);
    kernel_row(gp, z, n, k);
    chol_solve_lower(gp->l, n, gp->cap, k, 1, gp->cap);
    double left = diagonal(gp, n) - vec_dot(k, k, n);
    gp->n++;
    if (!(left > 1e-12 * gp->signal)) { /* nearly a copy of what is there: find the jitter anew */
        factor(gp);
        return;
    }
    for (size_t j = 0; j < n; j++)
        gp->l[n + j * gp->cap] = k[j];
    gp->l[n + n * gp->cap] = sqrt(left);
    solve_alpha(gp);
}

void gp_values(struct gp *gp, const double *y)
{
    memcpy(gp->y, y, gp->n * sizeof(*y));
    solve_alpha(gp);
}

void gp_cut(struct gp *gp, size_t n)
{
    if (n >= gp->n)
        return;
    gp->n = n;
    solve_alpha(gp);
}

/* Points are handled in blocks, so that a block's kernel stays in the cache. */
#define BLOCK 64

static void predict_block(const struct gp *gp, const double *x, size_t m, double *k,
                          double *ret_mean, double *ret_deviation)
{
    double z[256];
    autofree(mem) double *large = gp->d > ARRAY_LEN(z) ? xcalloc(gp->d, sizeof(*large)) : NULL;

    for (size_t i = 0; i < m; i++) {
        double *row = k + i * gp->n;
        place_row(gp, x + i * gp->d, large ? large : z);
        kernel_row(gp, large ? large : z, gp->n, row);
        ret_mean[i] = vec_dot(row, gp->alpha, gp->n);
    }
    if (!ret_deviation)
        return;
    chol_solve_lower(gp->l, gp->n, gp->cap, k, m, gp->n);
    for (size_t i = 0; i < m; i++) {
        const double *row = k + i * gp->n;
        ret_deviation[i] = sqrt(fmax(gp->signal - vec_dot(row, row, gp->n), 1e-12 * gp->signal));
    }
}

void gp_predict(const struct gp *gp, const double *x, size_t m, double *ret_mean,
                double *ret_deviation)
{
    autofree(mem) double *k = xmalloc((MIN(m, BLOCK) * gp->n + 1) * sizeof(*k));

    for (size_t i = 0; i < m; i += BLOCK)
        predict_block(gp, x + i * gp->d, MIN(m - i, BLOCK), k, ret_mean + i,
                      ret_deviation ? ret_deviation + i : NULL);
}

void gp_gradient(const struct gp *gp, const double *x, double *ret_mean, double *ret_deviation,
                 double *ret_mean_slope, double *ret_deviation_slope)
{
    size_t n = gp->n;
    autofree(mem) double *block = xcalloc(4 * n + gp->d + 1, sizeof(*block));
    double *k = block, *slope = k + n, *v = slope + n, *weight = v + n, *z = weight + n;

    place_row(gp, x, z);
    distances(gp, z, n, v);
    gp_matern(v, n, k, slope);
    for (size_t i = 0; i < n; i++)
        v[i] = k[i] = k[i] * gp->signal;
    *ret_mean = vec_dot(k, gp->alpha, n);
    chol_solve_lower(gp->l, n, gp->cap, v, 1, n);
    *ret_deviation = sqrt(fmax(gp->signal - vec_dot(v, v, n), 1e-12 * gp->signal));
    chol_solve_upper(gp->l, n, gp->cap, v, 1, n); /* v = K⁻¹k */
    for (size_t j = 0; j < gp->d; j++) {
        double mean = 0, variance = 0;
        const double *row = gp->z + j * gp->cap;
        for (size_t i = 0; i < n && !gp->category[j]; i++) {
            double dk = 2 * gp->signal * slope[i] * (z[j] - row[i]);
            mean += dk * gp->alpha[i];
            variance -= 2 * dk * v[i];
        }
        double chain = gp->category[j] ? 0 : gp->inverse_length[j] * warp_slope(gp, j, x[j]);
        ret_mean_slope[j] = mean * chain;
        ret_deviation_slope[j] = variance * chain / (2 * *ret_deviation);
    }
}

void gp_leave_one_out(const struct gp *gp, double *ret_mean, double *ret_deviation)
{
    size_t n = gp->n;
    autofree(mem) double *inverse = xmalloc((n * n + 1) * sizeof(*inverse));

    for (size_t j = 0; j < n; j++)
        memcpy(inverse + j * n, gp->l + j * gp->cap, n * sizeof(*inverse));
    chol_inverse(inverse, n, n);
    for (size_t i = 0; i < n; i++) {
        double own = inverse[i * n + i];
        ret_mean[i] = gp->y[i] - gp->alpha[i] / own;
        ret_deviation[i] = sqrt(1 / own);
    }
}

double gp_noise(const struct gp *gp)
{
    return sqrt(gp->noise);
}

double gp_length(const struct gp *gp, size_t feature)
{
    return exp(gp->theta[feature]);
}
