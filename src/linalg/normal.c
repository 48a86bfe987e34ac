/* SPDX-License-Identifier: MIT */
/*
 * normal.c — the normal distribution in its tails.
 *
 * Far below the mean Φ underflows and φ + zΦ cancels, so everything there goes through Mills'
 * ratio Φ(z)/φ(z) = √(π/2)·erfcx(−z/√2), which neither under- nor overflows; and below DEEP
 * through the asymptotic series, where even the ratio would cancel. The stable form of log
 * expected improvement is that of Ament, Daulton, Eriksson, Balandat, Bakshy (2023).
 */
#include "linalg/normal.h"

#include <float.h>
#include <math.h>

#define SQRT_2PI    2.50662827463100050242
#define LN_SQRT_2PI 0.91893853320467274178
#define SQRT_PI     1.77245385090551602730
#define SQRT_HALFPI 1.25331413731550025121
#define DEEP        (-14.0) /* from here on the series is exact to the last digits */

double normal_pdf(double z)
{
    return exp(-0.5 * z * z) / SQRT_2PI;
}

double normal_cdf(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* Σ (−1)^k·(2k−1)!!·u^k for u ≤ 1/196: each term is the one before times −(2k−1)u. */
static double odd_series(double u, int first)
{
    double sum = 1, term = 1;
    for (int k = first; k < first + 18; k++) {
        term *= -(2 * k - 1) * u;
        sum += term;
    }
    return sum;
}

/* exp(x²) is split into the rounded square and what the rounding lost. */
double erf_scaled(double x)
{
    if (x < 0)
        return 2 * exp(x * x) - erf_scaled(-x);
    if (x >= -DEEP * M_SQRT1_2)
        return odd_series(0.5 / x / x, 1) / (x * SQRT_PI);
    double square = x * x;
    return exp(square) * (1 + fma(x, x, -square)) * erfc(x);
}

/* Φ(z)/φ(z). */
static double mills(double z)
{
    return SQRT_HALFPI * erf_scaled(-z * M_SQRT1_2);
}

static double no_less(double value)
{
    return value < -DBL_MAX ? -DBL_MAX : value;
}

double normal_log_cdf(double z)
{
    if (z > 1)
        return log1p(-0.5 * erfc(z * M_SQRT1_2));
    if (z > -1)
        return log(normal_cdf(z));
    return no_less(-0.5 * z * z - LN_SQRT_2PI + log(mills(z)));
}

/* Halley's step for a function with value f and first two derivatives. */
static double halley(double f, double first, double second)
{
    return 2 * f * first / (2 * first * first - f * second);
}

/* Φ(z) = 1/2 + q near the middle, from the series of the inverse. */
static double middle_quantile(double q)
{
    double w = 2 * M_PI * q * q;
    double z = SQRT_2PI * q * (1 + w / 6 * (1 + w * 7 / 20));
    for (int i = 0; i < 2; i++) {
        double slope = normal_pdf(z);
        z -= halley(0.5 * erf(z * M_SQRT1_2) - q, slope, -z * slope);
    }
    return z;
}

/* ln Φ(z) = ln p in the lower tail, from the rational start of Abramowitz and Stegun (26.2.23). */
static double tail_quantile(double p)
{
    double goal = log(p), t = sqrt(-2 * goal);
    double z = (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
               t;
    for (int i = 0; i < 2; i++) {
        double slope = 1 / mills(z);
        z -= halley(normal_log_cdf(z) - goal, slope, -slope * (z + slope));
    }
    return z;
}

double normal_quantile(double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -INFINITY : INFINITY;
    if (fabs(p - 0.5) <= 0.25)
        return middle_quantile(p - 0.5);
    return p < 0.5 ? tail_quantile(p) : -tail_quantile(1 - p);
}

/* With m = Φ/φ: φ + zΦ = φ·(1 + z·m), in the depth φ·(1 − 3/z² + 15/z⁴ − …)/z². */
double log_ei(double z, double *ret_slope)
{
    if (z > -1) {
        double sum = normal_pdf(z) + z * normal_cdf(z);
        *ret_slope = normal_cdf(z) / sum;
        return log(sum);
    }
    double m = mills(z), head = -0.5 * z * z - LN_SQRT_2PI;
    if (z > DEEP) {
        double rest = 1 + z * m;
        *ret_slope = m / rest;
        return head + log(rest);
    }
    double series = odd_series(1 / z / z, 2);
    *ret_slope = m * -z * -z / series;
    return no_less(head - 2 * log(-z) + log(series));
}

double expected_improvement(double mean, double deviation, double best)
{
    if (!(deviation > 0))
        return fmax(best - mean, 0);
    double slope, z = (best - mean) / deviation;
    if (z > -1)
        return deviation * (normal_pdf(z) + z * normal_cdf(z));
    return deviation * exp(log_ei(z, &slope));
}
