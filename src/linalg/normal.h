/* SPDX-License-Identifier: MIT */
/*
 * normal.h — the normal distribution and what search computes from it, accurate in the tails.
 */
#ifndef HONE_NORMAL_H
#define HONE_NORMAL_H

double normal_pdf(double z);
double normal_cdf(double z);
double normal_log_cdf(double z);  /* ln Φ(z), finite for any finite z */
double normal_quantile(double p); /* Φ⁻¹; ∓INFINITY at 0 and 1 */
double erf_scaled(double x);      /* exp(x²)·erfc(x) */

/* ln(φ(z) + zΦ(z)) and its derivative by z: log expected improvement without its ln σ. */
double log_ei(double z, double *ret_slope);
/* Expected improvement below `best` of a normal value (Jones, Schonlau, Welch 1998). */
double expected_improvement(double mean, double deviation, double best);

#endif
