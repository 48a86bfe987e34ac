/* SPDX-License-Identifier: MIT */
/*
 * linalg_test.c — each name does what its formula says, checked by plain loops; leading dimensions
 * are larger than the matrices, and what lies between is left alone.
 */
#include "linalg/linalg.h"
#include "base/rng.h"
#include "tests/test.h"

#include <math.h>

#define LD  9
#define N   7
#define M   4
#define PAD 77.0

static void open_linalg(void)
{
    struct err err = ERR_INIT;
    assert_ok(linalg_open(&err), &err);
}

/* (rows, cols) of leading dimension LD; the rest is PAD. */
static void fill(double *a, size_t rows, size_t cols, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed, 0);
    for (size_t i = 0; i < (size_t)LD * LD; i++)
        a[i] = PAD;
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++)
            a[i + j * LD] = rng_normal(&rng);
}

/* B·Bᵀ + I, positive definite. */
static void fill_positive(double *a, size_t n, uint64_t seed)
{
    double b[LD * LD];
    fill(b, n, n, seed);
    fill(a, n, n, seed);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            a[i + j * LD] = i == j;
            for (size_t k = 0; k < n; k++)
                a[i + j * LD] += b[i + k * LD] * b[j + k * LD];
        }
}

static void check_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-10 * (1 + fabs(wanted))))
        fail_msg("%.17g, wanted %.17g", got, wanted);
}

static void check_padding(const double *a, size_t rows)
{
    for (size_t j = 0; j < LD; j++)
        for (size_t i = rows; i < LD; i++)
            assert_true(a[i + j * LD] == PAD);
}

TEST(it_opens_and_says_its_kernel)
{
    open_linalg();
    open_linalg();
    assert_true(*linalg_kernel());
    print_message("# kernel %s\n", linalg_kernel());
}

TEST(a_matrix_is_the_product_of_its_factor)
{
    double a[LD * LD], l[LD * LD];
    open_linalg();
    fill_positive(a, N, 1);
    memcpy(l, a, sizeof(a));
    assert_true(chol(l, N, LD));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k <= j; k++)
                sum += l[i + k * LD] * l[j + k * LD];
            check_near(sum, a[i + j * LD]);
        }
    check_padding(l, N);
}

TEST(what_is_not_positive_definite_has_no_factor)
{
    double a[LD * LD], zero = 0, nan = NAN;
    open_linalg();
    fill_positive(a, N, 2);
    a[N - 1 + (N - 1) * LD] = -1;
    assert_false(chol(a, N, LD));
    assert_false(chol(&zero, 1, 1));
    assert_false(chol(&nan, 1, 1));
    assert_true(chol(&zero, 0, 1));
}

/* L⁻ᵀL⁻¹B solves A·X = B. */
TEST(two_triangles_solve_a_system)
{
    double a[LD * LD], l[LD * LD], b[LD * LD], x[LD * LD];
    open_linalg();
    fill_positive(a, N, 3);
    fill(b, N, M, 4);
    memcpy(l, a, sizeof(a));
    memcpy(x, b, sizeof(b));
    assert_true(chol(l, N, LD));
    chol_solve_lower(l, N, LD, x, M, LD);
    chol_solve_upper(l, N, LD, x, M, LD);
    for (size_t j = 0; j < M; j++)
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t k = 0; k < N; k++)
                sum += a[i + k * LD] * x[k + j * LD];
            check_near(sum, b[i + j * LD]);
        }
    check_padding(x, N);
}

TEST(the_inverse_times_the_matrix_is_one)
{
    double a[LD * LD], l[LD * LD];
    open_linalg();
    fill_positive(a, N, 5);
    memcpy(l, a, sizeof(a));
    assert_true(chol(l, N, LD));
    chol_inverse(l, N, LD);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0;
            for (size_t k = 0; k < N; k++)
                sum += (i >= k ? l[i + k * LD] : l[k + i * LD]) * a[k + j * LD];
            check_near(sum, i == j);
        }
}

static double at(const double *a, bool transposed, size_t i, size_t j)
{
    return transposed ? a[j + i * LD] : a[i + j * LD];
}

TEST(products_are_sums_of_products)
{
    double a[LD * LD], b[LD * LD], c[LD * LD], before[LD * LD];
    open_linalg();
    for (int which = 0; which < 4; which++) {
        bool ta = which & 1, tb = which & 2;
        fill(a, ta ? 5 : N, ta ? N : 5, 6);
        fill(b, tb ? M : 5, tb ? 5 : M, 7);
        fill(c, N, M, 8);
        memcpy(before, c, sizeof(c));
        mat_mul(ta, tb, N, M, 5, 0.5, a, LD, b, LD, 2, c, LD);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < M; j++) {
                double sum = 2 * before[i + j * LD];
                for (size_t k = 0; k < 5; k++)
                    sum += 0.5 * at(a, ta, i, k) * at(b, tb, k, j);
                check_near(c[i + j * LD], sum);
            }
        check_padding(c, N);
    }
}

TEST(a_matrix_times_a_vector)
{
    double a[LD * LD], x[LD] = {1, -2, 3, 0.5, 7, 1, 1}, y[LD], wanted;
    open_linalg();
    fill(a, N, M, 9);
    for (int transposed = 0; transposed < 2; transposed++) {
        size_t rows = transposed ? M : N, cols = transposed ? N : M;
        for (size_t i = 0; i < LD; i++)
            y[i] = (double)i;
        mat_vec(transposed, N, M, 3, a, LD, x, -1, y);
        for (size_t i = 0; i < rows; i++) {
            wanted = -(double)i;
            for (size_t k = 0; k < cols; k++)
                wanted += 3 * at(a, transposed, i, k) * x[k];
            check_near(y[i], wanted);
        }
        assert_true(y[rows] == (double)rows);
    }
}

TEST(a_product_with_itself_fills_the_lower_triangle)
{
    double a[LD * LD], c[LD * LD], before[LD * LD];
    open_linalg();
    fill(a, N, M, 10);
    fill(c, N, N, 11);
    memcpy(before, c, sizeof(c));
    mat_rank(N, M, 2, a, LD, 0.5, c, LD);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0.5 * before[i + j * LD];
            for (size_t k = 0; k < M; k++)
                sum += 2 * a[i + k * LD] * a[j + k * LD];
            check_near(c[i + j * LD], i >= j ? sum : before[i + j * LD]);
        }
}

TEST(eigenvectors_rebuild_the_matrix)
{
    double a[LD * LD], v[LD * LD], w[N];
    open_linalg();
    fill_positive(a, N, 12);
    memcpy(v, a, sizeof(a));
    assert_true(sym_eigen(v, N, LD, w));
    for (size_t i = 0; i < N; i++) {
        assert_true(i == 0 || w[i] >= w[i - 1]);
        for (size_t j = 0; j < N; j++) {
            double sum = 0;
            for (size_t k = 0; k < N; k++)
                sum += w[k] * v[i + k * LD] * v[j + k * LD];
            check_near(sum, a[i + j * LD]);
        }
    }
}

TEST(a_dot_product_of_nothing_is_zero)
{
    double x[] = {1, 2, 3}, y[] = {4, 5, 6};
    assert_true(vec_dot(x, y, 0) == 0 && vec_dot(x, y, 3) == 32);
}

TEST_MAIN
