/* SPDX-License-Identifier: MIT */
#ifndef BENCH_SEARCH_BBOB_PARTS_H
#define BENCH_SEARCH_BBOB_PARTS_H

#include "bbob.h"

/* Inside of the BBOB functions; users include bbob.h. */

#define PI          3.14159265358979323846
#define SECOND_SEED 1000000 /* R and, for one function, xopt are drawn from seed + this */

struct bbob_kind {
    const char *name;
    double (*value)(struct bbob *b, const double *x); /* above fopt, without the penalty */
    void (*prepare)(struct bbob *b); /* optional: xopt and more, beyond the usual */
    int seed;
    double penalty; /* weight of the squared distance to the box */
};
extern const struct bbob_kind bbob_kinds[BBOB_FUNCTIONS];

struct bbob {
    const struct bbob_kind *kind;
    size_t dim;
    long seed;
    double fopt;
    double *xopt;       /* (dim) */
    double *r, *q;      /* (dim, dim) rotations, by rows */
    double *y, *z;      /* (dim) scratch */
    size_t peaks;       /* of Gallagher's */
    double *peak_at;    /* (peaks, dim), rotated */
    double *peak_scale; /* (peaks, dim) */
};

/* Random numbers of an instance: n of them in (0, 1) or standard normal, a rotation by rows, the
 * usual optimum, the least value. Vectors and matrices are the caller's to free. */
double *bbob_vector(size_t n);
void bbob_draw_uniform(double *r, size_t n, long seed);
void bbob_draw_normal(double *g, size_t n, long seed);
double *bbob_draw_rotation(size_t dim, long seed);
void bbob_draw_xopt(struct bbob *b, long seed);
double bbob_draw_fopt(long seed);

/* Where i stands between the first coordinate (0) and the last (1). */
double bbob_part(const struct bbob *b, size_t i);

/* Transformations. They work in place and return z, so that they can be nested; shift begins a
 * chain in b->z. stretch is Λ^alpha: the last coordinate times the root of alpha; ellipse is
 * R Λ^alpha Q; oscillate is T_osz; skew is T_asy. */
double *bbob_shift(struct bbob *b, const double *x);
double *bbob_rotate(struct bbob *b, const double *m, double *z);
double *bbob_stretch(const struct bbob *b, double alpha, double *z);
double *bbob_ellipse(struct bbob *b, double alpha, double *z);
double bbob_oscillate_one(double v);
double *bbob_oscillate(const struct bbob *b, double *z);
double *bbob_skew(const struct bbob *b, double beta, double *z);

/* The squared distance to [-5, 5]^dim. */
double bbob_penalty(const struct bbob *b, const double *x);

/* Shapes over coordinates that are transformed already. */
double bbob_squares(const double *z, size_t from, size_t to);
double bbob_ellipsoid_of(const struct bbob *b, double condition, const double *z);
double bbob_rastrigin_of(const struct bbob *b, const double *z);
double bbob_rosenbrock_term(const double *z);
double bbob_rosenbrock_of(const struct bbob *b, const double *z);

/* How much wider the valleys of functions 8, 9 and 19 become with the dimension. */
double bbob_valley_scale(const struct bbob *b);

#endif
