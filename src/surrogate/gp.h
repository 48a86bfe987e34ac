/* SPDX-License-Identifier: MIT */
/*
 * gp.h — Gaussian-process regression with a Matérn-5/2 kernel and a length for each feature.
 *
 *     k(a, b) = s²·(1 + √5·r + 5r²/3)·exp(−√5·r),   r² = Σ_j Δ_j² / ℓ_j²
 *
 * A number's Δ is the difference of the warped features w(x) = 1 − (1 − x^p)^q (Kumaraswamy; p = q
 * = 1 leaves them as they are); a category's Δ² is 0 or 1. Features of numbers are in [0,1]. Values
 * should be of mean 0 and deviation 1. The observation's variance is noise·scale_i + extra_i.
 *
 * Call linalg_open() before.
 */
#ifndef HONE_GP_H
#define HONE_GP_H

#include "base/base.h"

struct gp;

/* What the hyper-parameters are expected to be: a normal prior on each logarithm. */
struct gp_prior {
    double length_mean, length_sd; /* of ln ℓ */
    double category_longer;        /* added to it for categories, which are all 1 apart */
    double signal_mean, signal_sd; /* of ln s² */
    double noise_mean, noise_sd;   /* of ln noise */
    double warp_sd;                /* of ln p and ln q; 0: no warping */
};
/* Good for d features of the unit cube. */
struct gp_prior gp_prior_for(size_t d);
/* The same for values that are never without noise. */
struct gp_prior gp_prior_noisy(size_t d);

/* category[j]: feature j is a category. */
struct gp *gp_new(size_t d, const bool *category, const struct gp_prior *prior);
void gp_free(struct gp *gp);
DEFINE_AUTOFREE(gp);

/* Replace the data: x (n, d) row by row, y (n), scale (n; NULL: 1), extra (n; NULL: 0). Copied.
 * Factors K with the hyper-parameters as they are; where it is not positive definite, jitter and
 * then noise is added until it is. */
void gp_set(struct gp *gp, const double *x, const double *y, const double *scale,
            const double *extra, size_t n);
/* One more row, in O(n²). */
void gp_append(struct gp *gp, const double *x, double y, double scale, double extra);
/* Other values for the same rows, in O(n²). */
void gp_values(struct gp *gp, const double *y);
/* Forget the rows from n on (those appended last), in O(n²). */
void gp_cut(struct gp *gp, size_t n);
size_t gp_rows(const struct gp *gp);
/* What repeats tell of the noise by themselves, where a row is the mean of several results: their
 * degrees of freedom and their squares about these means, summed. Counts until it is said anew. */
void gp_repeats(struct gp *gp, double degrees, double squares);

/* Put the hyper-parameters where the prior expects them. Call gp_set() after. */
void gp_reset(struct gp *gp);
/* Fit the hyper-parameters to the data (largest posterior) from where they are, then factor
 * anew. At most max_iterations of L-BFGS-B. */
void gp_fit(struct gp *gp, size_t max_iterations);
/* Draw lengths, signal and noise from their posterior instead: `sweeps` rounds of slice sampling
 * from where they are (Neal 2003); then factor anew. */
struct rng;
void gp_sample(struct gp *gp, size_t sweeps, struct rng *rng);
/* The data of another process over the same features, with these hyper-parameters. */
void gp_share(struct gp *gp, const struct gp *from);
/* ln of the posterior density of the hyper-parameters as they are, up to a constant. */
double gp_evidence(const struct gp *gp);

/* Mean and deviation of the true value (without noise) at m points (m, d). ret_deviation NULL: only
 * the mean, O(n) a point instead of O(n²). */
void gp_predict(const struct gp *gp, const double *x, size_t m, double *ret_mean,
                double *ret_deviation);
/* The same at one point with derivatives by each feature (0 for categories). */
void gp_gradient(const struct gp *gp, const double *x, double *ret_mean, double *ret_deviation,
                 double *ret_mean_slope, double *ret_deviation_slope);
/* Mean of row i if it were left out, and the deviation of its observation. (n) each. */
void gp_leave_one_out(const struct gp *gp, double *ret_mean, double *ret_deviation);
double gp_noise(const struct gp *gp); /* deviation of one observation */
double gp_length(const struct gp *gp, size_t feature);

/* The hyper-parameters as gp_parameters() logarithms, to save and restore. */
size_t gp_parameters(const struct gp *gp);
void gp_get(const struct gp *gp, double *ret);
/* False if they are out of bounds or no numbers; then nothing changes. Call gp_set() after. */
bool gp_put(struct gp *gp, const double *parameters);

#endif
