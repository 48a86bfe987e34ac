/* SPDX-License-Identifier: MIT */
/*
 * bbob_functions.c — the 24 functions and their list, after "Real-parameter black-box optimization
 * benchmarking 2009: noiseless functions definitions" (INRIA RR-6829). What the report leaves open
 * is as in COCO.
 */
#include "bbob_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WAVES 12 /* of Weierstrass */

/* ---- 1 to 5: separable ---- */

static double sphere(struct bbob *b, const double *x)
{
    return bbob_squares(bbob_shift(b, x), 0, b->dim);
}

static double ellipsoid(struct bbob *b, const double *x)
{
    return bbob_ellipsoid_of(b, 1e6, bbob_oscillate(b, bbob_shift(b, x)));
}

static double rastrigin(struct bbob *b, const double *x)
{
    return bbob_rastrigin_of(
        b, bbob_stretch(b, 10, bbob_skew(b, 0.2, bbob_oscillate(b, bbob_shift(b, x)))));
}

static void bueche_prepare(struct bbob *b)
{
    for (size_t i = 0; i < b->dim; i += 2)
        b->xopt[i] = fabs(b->xopt[i]);
}

static double bueche(struct bbob *b, const double *x)
{
    double *z = bbob_stretch(b, 10, bbob_oscillate(b, bbob_shift(b, x)));
    for (size_t i = 0; i < b->dim; i += 2)
        z[i] *= z[i] > 0 ? 10 : 1;
    return bbob_rastrigin_of(b, z);
}

static void slope_prepare(struct bbob *b)
{
    for (size_t i = 0; i < b->dim; i++)
        b->xopt[i] = b->xopt[i] < 0 ? -5 : 5;
}

static double slope(struct bbob *b, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < b->dim; i++) {
        double at = x[i] * b->xopt[i] < 25 ? x[i] : b->xopt[i];
        double s = copysign(pow(10, bbob_part(b, i)), b->xopt[i]);
        sum += 5 * fabs(s) - s * at;
    }
    return sum;
}

/* ---- 6 to 9: of moderate condition ---- */

static double sector(struct bbob *b, const double *x)
{
    double sum = 0, *z = bbob_ellipse(b, 10, bbob_shift(b, x));
    for (size_t i = 0; i < b->dim; i++) {
        double s = z[i] * b->xopt[i] > 0 ? 100 : 1;
        sum += s * s * z[i] * z[i];
    }
    return pow(bbob_oscillate_one(sum), 0.9);
}

static double step(struct bbob *b, const double *x)
{
    double *z = bbob_stretch(b, 10, bbob_rotate(b, b->q, bbob_shift(b, x)));
    double first = fabs(z[0]);
    for (size_t i = 0; i < b->dim; i++)
        z[i] = fabs(z[i]) > 0.5 ? floor(z[i] + 0.5) : floor(10 * z[i] + 0.5) / 10;
    return 0.1 * fmax(first * 1e-4, bbob_ellipsoid_of(b, 100, bbob_rotate(b, b->r, z)));
}

static void rosenbrock_prepare(struct bbob *b)
{
    for (size_t i = 0; i < b->dim; i++)
        b->xopt[i] *= 0.75;
}

static double rosenbrock(struct bbob *b, const double *x)
{
    double *z = bbob_shift(b, x);
    for (size_t i = 0; i < b->dim; i++)
        z[i] = bbob_valley_scale(b) * z[i] + 1;
    return bbob_rosenbrock_of(b, z);
}

/* The valley of 9 and 19 has its end where scale · Q x + 1/2 is 1 everywhere. */
static void valley_prepare(struct bbob *b)
{
    for (size_t j = 0; j < b->dim; j++) {
        b->xopt[j] = 0;
        for (size_t i = 0; i < b->dim; i++)
            b->xopt[j] += b->q[i * b->dim + j] / (2 * bbob_valley_scale(b));
    }
}

static double *valley(struct bbob *b, const double *x)
{
    memcpy(b->z, x, b->dim * sizeof(*x));
    bbob_rotate(b, b->q, b->z);
    for (size_t i = 0; i < b->dim; i++)
        b->z[i] = bbob_valley_scale(b) * b->z[i] + 0.5;
    return b->z;
}

static double rosenbrock_rotated(struct bbob *b, const double *x)
{
    return bbob_rosenbrock_of(b, valley(b, x));
}

/* ---- 10 to 14: ill-conditioned ---- */

static double ellipsoid_rotated(struct bbob *b, const double *x)
{
    return bbob_ellipsoid_of(b, 1e6, bbob_oscillate(b, bbob_rotate(b, b->r, bbob_shift(b, x))));
}

static double discus(struct bbob *b, const double *x)
{
    double *z = bbob_oscillate(b, bbob_rotate(b, b->r, bbob_shift(b, x)));
    return 1e6 * z[0] * z[0] + bbob_squares(z, 1, b->dim);
}

static void cigar_prepare(struct bbob *b)
{
    bbob_draw_xopt(b, b->seed + SECOND_SEED);
}

static double cigar(struct bbob *b, const double *x)
{
    double *z = bbob_rotate(b, b->r, bbob_skew(b, 0.5, bbob_rotate(b, b->r, bbob_shift(b, x))));
    return z[0] * z[0] + 1e6 * bbob_squares(z, 1, b->dim);
}

static double ridge(struct bbob *b, const double *x)
{
    double *z = bbob_ellipse(b, 10, bbob_shift(b, x));
    return z[0] * z[0] + 100 * sqrt(bbob_squares(z, 1, b->dim));
}

static double powers(struct bbob *b, const double *x)
{
    double sum = 0, *z = bbob_rotate(b, b->r, bbob_shift(b, x));
    for (size_t i = 0; i < b->dim; i++)
        sum += pow(fabs(z[i]), 2 + 4 * bbob_part(b, i));
    return sqrt(sum);
}

/* ---- 15 to 19: multi-modal, with a shape over all ---- */

static double rastrigin_rotated(struct bbob *b, const double *x)
{
    double *z = bbob_oscillate(b, bbob_rotate(b, b->r, bbob_shift(b, x)));
    return bbob_rastrigin_of(b, bbob_ellipse(b, 10, bbob_skew(b, 0.2, z)));
}

static double weierstrass_wave(double at)
{
    double sum = 0, weight = 1, frequency = 1;
    for (int k = 0; k < WAVES; k++, weight /= 2, frequency *= 3)
        sum += weight * cos(2 * PI * at * frequency);
    return sum;
}

static double weierstrass(struct bbob *b, const double *x)
{
    double sum = 0,
           *z = bbob_ellipse(b, 0.01, bbob_oscillate(b, bbob_rotate(b, b->r, bbob_shift(b, x))));
    for (size_t i = 0; i < b->dim; i++)
        sum += weierstrass_wave(z[i] + 0.5);
    double height = sum / (double)b->dim - weierstrass_wave(0.5);
    return 10 * height * height * height + 10 / (double)b->dim * bbob_penalty(b, x);
}

static double schaffers(struct bbob *b, const double *x, double condition)
{
    double sum = 0, *z = bbob_skew(b, 0.5, bbob_rotate(b, b->r, bbob_shift(b, x)));
    bbob_stretch(b, condition, bbob_rotate(b, b->q, z));
    for (size_t i = 0; i + 1 < b->dim; i++) {
        double s = z[i] * z[i] + z[i + 1] * z[i + 1], wave = sin(50 * pow(s, 0.1));
        sum += pow(s, 0.25) * (1 + wave * wave);
    }
    sum /= (double)(b->dim - 1);
    return sum * sum;
}

static double schaffers_10(struct bbob *b, const double *x)
{
    return schaffers(b, x, 10);
}

static double schaffers_1000(struct bbob *b, const double *x)
{
    return schaffers(b, x, 1000);
}

static double griewank(struct bbob *b, const double *x)
{
    double sum = 0, *z = valley(b, x);
    for (size_t i = 0; i + 1 < b->dim; i++) {
        double s = bbob_rosenbrock_term(z + i);
        sum += s / 4000 - cos(s);
    }
    return 10 * sum / (double)(b->dim - 1) + 10;
}

/* ---- 20 to 24: multi-modal, with little of it ---- */

static void schwefel_prepare(struct bbob *b)
{
    bbob_draw_uniform(b->xopt, b->dim, b->seed);
    for (size_t i = 0; i < b->dim; i++)
        b->xopt[i] = copysign(4.2096874637 / 2, b->xopt[i] - 0.5);
}

static double schwefel(struct bbob *b, const double *x)
{
    const double edge = 4.2096874637;
    double sum = 0, before = 0;
    for (size_t i = 0; i < b->dim; i++) {
        double mirrored = copysign(2, b->xopt[i]) * x[i];
        b->z[i] = mirrored - edge + (i ? 0.25 * (before - edge) : 0);
        before = mirrored;
    }
    bbob_stretch(b, 10, b->z);
    for (size_t i = 0; i < b->dim; i++)
        b->z[i] += edge;
    for (size_t i = 0; i < b->dim; i++)
        sum += 100 * b->z[i] * sin(sqrt(fabs(100 * b->z[i])));
    return 0.01 * (418.9828872724339 - sum / (double)b->dim) + 100 * bbob_penalty(b, b->z);
}

struct ranked {
    double key;
    size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->key, y = ((const struct ranked *)b)->key;
    return (x > y) - (x < y);
}

/* A random order of 0…n-1. */
static void draw_order(struct ranked *order, size_t n, long seed)
{
    double *u = bbob_vector(n);
    bbob_draw_uniform(u, n, seed);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){u[i], i};
    qsort(order, n, sizeof(*order), compare_ranked);
    free(u);
}

/* Each peak is an ellipsoid of its own condition, its axes in an order of their own. */
static void draw_peak_scales(struct bbob *b, double best_condition)
{
    size_t n = b->peaks, most = n > b->dim ? n : b->dim;
    struct ranked *order = calloc(most, sizeof(*order));
    double *condition = bbob_vector(n);
    if (!order)
        abort();
    draw_order(order, n - 1, b->seed);
    condition[0] = best_condition;
    for (size_t p = 1; p < n; p++)
        condition[p] = pow(1000, (double)order[p - 1].index / (double)(n - 2));
    for (size_t p = 0; p < n; p++) {
        draw_order(order, b->dim, b->seed + 1000 * (long)p);
        for (size_t i = 0; i < b->dim; i++)
            b->peak_scale[p * b->dim + i] = pow(condition[p], bbob_part(b, order[i].index) - 0.5);
    }
    free(condition);
    free(order);
}

static void gallagher_prepare(struct bbob *b, size_t peaks, double width, double best_condition)
{
    b->peaks = peaks;
    b->peak_at = bbob_vector(peaks * b->dim);
    b->peak_scale = bbob_vector(peaks * b->dim);
    draw_peak_scales(b, best_condition);
    bbob_draw_uniform(b->peak_at, peaks * b->dim, b->seed);
    for (size_t i = 0; i < peaks * b->dim; i++)
        b->peak_at[i] = (width * b->peak_at[i] - width / 2) * (i < b->dim ? 0.8 : 1);
    memcpy(b->xopt, b->peak_at, b->dim * sizeof(double));
    for (size_t p = 0; p < peaks; p++)
        bbob_rotate(b, b->q, b->peak_at + p * b->dim);
}

static void gallagher_101_prepare(struct bbob *b)
{
    gallagher_prepare(b, 101, 10, sqrt(1000));
}

static void gallagher_21_prepare(struct bbob *b)
{
    gallagher_prepare(b, 21, 9.8, 1000);
}

static double gallagher(struct bbob *b, const double *x)
{
    double highest = 0;
    memcpy(b->z, x, b->dim * sizeof(*x));
    bbob_rotate(b, b->q, b->z);
    for (size_t p = 0; p < b->peaks; p++) {
        double far = 0;
        double weight = p ? 1.1 + 8 * (double)(p - 1) / (double)(b->peaks - 2) : 10;
        for (size_t i = 0; i < b->dim; i++) {
            double d = b->z[i] - b->peak_at[p * b->dim + i];
            far += b->peak_scale[p * b->dim + i] * d * d;
        }
        highest = fmax(highest, weight * exp(-far / (2 * (double)b->dim)));
    }
    double depth = bbob_oscillate_one(10 - highest);
    return depth * depth;
}

static double katsuura(struct bbob *b, const double *x)
{
    double product = 1, dim = (double)b->dim, *z = bbob_ellipse(b, 100, bbob_shift(b, x));
    for (size_t i = 0; i < b->dim; i++) {
        double sum = 0;
        for (int j = 1; j <= 32; j++) {
            double v = ldexp(z[i], j);
            sum += ldexp(fabs(v - floor(v + 0.5)), -j);
        }
        product *= pow(1 + (double)(i + 1) * sum, 10 / pow(dim, 1.2));
    }
    return 10 / dim / dim * (product - 1);
}

static void lunacek_prepare(struct bbob *b)
{
    bbob_draw_normal(b->xopt, b->dim, b->seed);
    for (size_t i = 0; i < b->dim; i++)
        b->xopt[i] = copysign(1.25, b->xopt[i]);
}

static double lunacek(struct bbob *b, const double *x)
{
    const double mu0 = 2.5, dim = (double)b->dim, s = 1 - 1 / (2 * sqrt(dim + 20) - 8.2);
    const double mu1 = -sqrt((mu0 * mu0 - 1) / s);
    double near = 0, other = 0, waves = 0;
    for (size_t i = 0; i < b->dim; i++) {
        double v = copysign(2, b->xopt[i]) * x[i];
        near += (v - mu0) * (v - mu0);
        other += (v - mu1) * (v - mu1);
        b->z[i] = v - mu0;
    }
    bbob_ellipse(b, 100, b->z);
    for (size_t i = 0; i < b->dim; i++)
        waves += cos(2 * PI * b->z[i]);
    return fmin(near, dim + s * other) + 10 * (dim - waves);
}

/* ---- the list ---- */

const struct bbob_kind bbob_kinds[BBOB_FUNCTIONS] = {
    {"sphere", sphere, NULL, 1, 0},
    {"ellipsoid", ellipsoid, NULL, 2, 0},
    {"Rastrigin", rastrigin, NULL, 3, 0},
    {"Büche-Rastrigin", bueche, bueche_prepare, 3, 100},
    {"linear slope", slope, slope_prepare, 5, 0},
    {"attractive sector", sector, NULL, 6, 0},
    {"step ellipsoid", step, NULL, 7, 1},
    {"Rosenbrock", rosenbrock, rosenbrock_prepare, 8, 0},
    {"Rosenbrock, rotated", rosenbrock_rotated, valley_prepare, 9, 0},
    {"ellipsoid, rotated", ellipsoid_rotated, NULL, 10, 0},
    {"discus", discus, NULL, 11, 0},
    {"bent cigar", cigar, cigar_prepare, 12, 0},
    {"sharp ridge", ridge, NULL, 13, 0},
    {"different powers", powers, NULL, 14, 0},
    {"Rastrigin, rotated", rastrigin_rotated, NULL, 15, 0},
    {"Weierstrass", weierstrass, NULL, 16, 0}, /* its penalty depends on the dimension */
    {"Schaffers F7", schaffers_10, NULL, 17, 10},
    {"Schaffers F7, condition 1000", schaffers_1000, NULL, 17, 10},
    {"Griewank-Rosenbrock", griewank, valley_prepare, 19, 0},
    {"Schwefel", schwefel, schwefel_prepare, 20, 0}, /* penalises transformed coordinates */
    {"Gallagher, 101 peaks", gallagher, gallagher_101_prepare, 21, 1},
    {"Gallagher, 21 peaks", gallagher, gallagher_21_prepare, 22, 1},
    {"Katsuura", katsuura, NULL, 23, 1},
    {"Lunacek bi-Rastrigin", lunacek, lunacek_prepare, 24, 1e4},
};
