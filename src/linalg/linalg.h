/* SPDX-License-Identifier: MIT */
/*
 * linalg.h — dense linear algebra: OpenBLAS and its LAPACK behind our names, opened at first use
 * with one thread, so that commands that compute nothing start without it.
 *
 * Matrices are column-major: a(i,j) is a[i + j·ld]. Symmetric ones and Cholesky factors use
 * the lower triangle only. Call linalg_open() before anything else here.
 */
#ifndef HONE_LINALG_H
#define HONE_LINALG_H

#include "base/err.h"

/* Load the library; again: nothing. Thread-safe. -ENOENT with a sentence if it is not there. */
int linalg_open(struct err *err);
/* The kernel that the library took for this CPU ("Haswell"): results are the same to the bit only
 * where it is the same. */
const char *linalg_kernel(void);

/* a = L·Lᵀ in place. False if a is not positive definite (a is destroyed). */
bool chol(double *a, size_t n, size_t ld);
/* B := L⁻¹B, or L⁻ᵀB; B is (n, m). */
void chol_solve_lower(const double *l, size_t n, size_t ld, double *b, size_t m, size_t ldb);
void chol_solve_upper(const double *l, size_t n, size_t ld, double *b, size_t m, size_t ldb);
/* From L, the lower triangle of (L·Lᵀ)⁻¹, in place. */
void chol_inverse(double *l, size_t n, size_t ld);
/* C(m,n) := alpha·op(A)·op(B) + beta·C with inner length k. */
void mat_mul(bool ta, bool tb, size_t m, size_t n, size_t k, double alpha, const double *a,
             size_t lda, const double *b, size_t ldb, double beta, double *c, size_t ldc);
/* y := alpha·op(A)·x + beta·y; A is (m, n). */
void mat_vec(bool ta, size_t m, size_t n, double alpha, const double *a, size_t lda,
             const double *x, double beta, double *y);
/* Lower triangle of C(n,n) := alpha·A·Aᵀ + beta·C; A is (n, k). */
void mat_rank(size_t n, size_t k, double alpha, const double *a, size_t lda, double beta, double *c,
              size_t ldc);
double vec_dot(const double *x, const double *y, size_t n);
/* Eigenvalues (rising) into w and eigenvectors over a (columns). False: no convergence. */
bool sym_eigen(double *a, size_t n, size_t ld, double *ret_w);

#endif
