/* SPDX-License-Identifier: MIT */
/*
 * bbob_parts.c — what the BBOB functions are put together from: the random numbers of an instance,
 * the transformations of the space, and shapes that several of them share.
 *
 * The numbers are those of 2009, which every published result depends on: Park and Miller's
 * generator behind a shuffle table.
 */
#include "bbob_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *bbob_vector(size_t n)
{
    double *v = calloc(n ? n : 1, sizeof(double));
    if (!v)
        abort();
    return v;
}

/* ---- random numbers of 2009 ---- */

static long next_seed(long seed)
{
    long high = seed / 127773;
    seed = 16807 * (seed - high * 127773) - 2836 * high;
    return seed < 0 ? seed + 2147483647 : seed;
}

/* n numbers in (0, 1). */
void bbob_draw_uniform(double *r, size_t n, long seed)
{
    long shuffle[32] = {0};
    seed = seed < 1 ? 1 : seed;
    for (int i = 39; i >= 0; i--) {
        seed = next_seed(seed);
        if (i < 32)
            shuffle[i] = seed;
    }
    long last = shuffle[0];
    for (size_t i = 0; i < n; i++) {
        seed = next_seed(seed);
        long slot = last / 67108865;
        last = shuffle[slot];
        shuffle[slot] = seed;
        r[i] = last ? (double)last / 2147483647.0 : 1e-99;
    }
}

/* n standard normal numbers (Box and Muller, the first half of the draws with the second). */
void bbob_draw_normal(double *g, size_t n, long seed)
{
    double *u = bbob_vector(2 * n);
    bbob_draw_uniform(u, 2 * n, seed);
    for (size_t i = 0; i < n; i++) {
        g[i] = sqrt(-2 * log(u[i])) * cos(2 * PI * u[n + i]);
        if (g[i] == 0)
            g[i] = 1e-99;
    }
    free(u);
}

/* A random rotation: normal columns, made orthonormal one after the other (Gram, Schmidt). */
double *bbob_draw_rotation(size_t dim, long seed)
{
    double *g = bbob_vector(dim * dim), *m = bbob_vector(dim * dim);
    bbob_draw_normal(g, dim * dim, seed);
    for (size_t c = 0; c < dim; c++) {
        double *column = g + c * dim, norm = 0;
        for (size_t earlier = 0; earlier < c; earlier++) {
            double dot = 0;
            for (size_t k = 0; k < dim; k++)
                dot += column[k] * g[earlier * dim + k];
            for (size_t k = 0; k < dim; k++)
                column[k] -= dot * g[earlier * dim + k];
        }
        for (size_t k = 0; k < dim; k++)
            norm += column[k] * column[k];
        for (size_t k = 0; k < dim; k++)
            m[k * dim + c] = column[k] /= sqrt(norm);
    }
    free(g);
    return m;
}

void bbob_draw_xopt(struct bbob *b, long seed)
{
    bbob_draw_uniform(b->xopt, b->dim, seed);
    for (size_t i = 0; i < b->dim; i++) {
        b->xopt[i] = 8 * floor(1e4 * b->xopt[i]) / 1e4 - 4;
        if (b->xopt[i] == 0)
            b->xopt[i] = -1e-5;
    }
}

double bbob_draw_fopt(long seed)
{
    double a, b;
    bbob_draw_normal(&a, 1, seed);
    bbob_draw_normal(&b, 1, seed + 1);
    return fmin(1000, fmax(-1000, floor(100 * 100 * a / b + 0.5) / 100));
}

/* ---- transformations: in place on a vector of b->dim, or from one into another ---- */

/* Where i stands between the first coordinate (0) and the last (1). */
double bbob_part(const struct bbob *b, size_t i)
{
    return (double)i / (double)(b->dim - 1);
}

double *bbob_shift(struct bbob *b, const double *x)
{
    for (size_t i = 0; i < b->dim; i++)
        b->z[i] = x[i] - b->xopt[i];
    return b->z;
}

double *bbob_rotate(struct bbob *b, const double *m, double *z)
{
    for (size_t i = 0; i < b->dim; i++) {
        b->y[i] = 0;
        for (size_t j = 0; j < b->dim; j++)
            b->y[i] += m[i * b->dim + j] * z[j];
    }
    return memcpy(z, b->y, b->dim * sizeof(*z));
}

/* Λ^alpha: the last coordinate is stretched by the root of alpha. */
double *bbob_stretch(const struct bbob *b, double alpha, double *z)
{
    for (size_t i = 0; i < b->dim; i++)
        z[i] *= pow(sqrt(alpha), bbob_part(b, i));
    return z;
}

/* R Λ^alpha Q z */
double *bbob_ellipse(struct bbob *b, double alpha, double *z)
{
    return bbob_rotate(b, b->r, bbob_stretch(b, alpha, bbob_rotate(b, b->q, z)));
}

double bbob_oscillate_one(double v)
{
    if (v == 0)
        return 0;
    double l = log(fabs(v));
    return copysign(exp(l + 0.049 * (sin((v > 0 ? 10 : 5.5) * l) + sin((v > 0 ? 7.9 : 3.1) * l))),
                    v);
}

double *bbob_oscillate(const struct bbob *b, double *z)
{
    for (size_t i = 0; i < b->dim; i++)
        z[i] = bbob_oscillate_one(z[i]);
    return z;
}

double *bbob_skew(const struct bbob *b, double beta, double *z)
{
    for (size_t i = 0; i < b->dim; i++)
        if (z[i] > 0)
            z[i] = pow(z[i], 1 + beta * bbob_part(b, i) * sqrt(z[i]));
    return z;
}

double bbob_penalty(const struct bbob *b, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < b->dim; i++) {
        double beyond = fabs(x[i]) - 5;
        sum += beyond > 0 ? beyond * beyond : 0;
    }
    return sum;
}

/* ---- shapes ---- */

double bbob_squares(const double *z, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += z[i] * z[i];
    return sum;
}

double bbob_ellipsoid_of(const struct bbob *b, double condition, const double *z)
{
    double sum = 0;
    for (size_t i = 0; i < b->dim; i++)
        sum += pow(condition, bbob_part(b, i)) * z[i] * z[i];
    return sum;
}

double bbob_rastrigin_of(const struct bbob *b, const double *z)
{
    double waves = 0;
    for (size_t i = 0; i < b->dim; i++)
        waves += cos(2 * PI * z[i]);
    return 10 * ((double)b->dim - waves) + bbob_squares(z, 0, b->dim);
}

/* One term of Rosenbrock's valley, between z[0] and z[1]. */
double bbob_rosenbrock_term(const double *z)
{
    double across = z[0] * z[0] - z[1], along = z[0] - 1;
    return 100 * across * across + along * along;
}

double bbob_rosenbrock_of(const struct bbob *b, const double *z)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < b->dim; i++)
        sum += bbob_rosenbrock_term(z + i);
    return sum;
}

/* The scale of functions 8, 9 and 19. */
double bbob_valley_scale(const struct bbob *b)
{
    return fmax(1, sqrt((double)b->dim) / 8);
}
