/* SPDX-License-Identifier: MIT */
/*
 * lbfgsb_test.c — known minima, bounds that bind, starts that must not disturb each other.
 */
#include "base/rng.h"
#include "linalg/lbfgsb.h"
#include "tests/test.h"

#include <math.h>

#define D_MAX 20

/* A function of one point, and how often it was asked. */
struct problem {
    double (*one)(const double *x, size_t d, double *ret_g);
    size_t rows;
};

static void evaluate(const double *x, const size_t *index UNUSED, size_t m, size_t d, double *ret_f,
                     double *ret_g, void *arg)
{
    struct problem *problem = arg;
    for (size_t r = 0; r < m; r++)
        ret_f[r] = problem->one(x + r * d, d, ret_g + r * d);
    problem->rows += m;
}

static double bowl(const double *x, size_t d, double *ret_g)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        double scale = pow(10, (double)i / 4), off = x[i] - 0.1 * (double)i;
        sum += scale * off * off;
        ret_g[i] = 2 * scale * off;
    }
    return sum;
}

static double valley(const double *x, size_t d, double *ret_g)
{
    double sum = 0;
    memset(ret_g, 0, d * sizeof(*ret_g));
    for (size_t i = 0; i + 1 < d; i++) {
        double rise = x[i + 1] - x[i] * x[i], off = 1 - x[i];
        sum += 100 * rise * rise + off * off;
        ret_g[i] += -400 * rise * x[i] - 2 * off;
        ret_g[i + 1] += 200 * rise;
    }
    return sum;
}

static double flat(const double *x UNUSED, size_t d, double *ret_g)
{
    memset(ret_g, 0, d * sizeof(*ret_g));
    return 4;
}

static double slope(const double *x, size_t d, double *ret_g)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        ret_g[i] = i % 2 ? -1e-3 : 1e3;
        sum += ret_g[i] * x[i];
    }
    return sum;
}

/* −ln x and its cliff: no value at x ≤ 0. */
static double cliff(const double *x, size_t d, double *ret_g)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += x[i] > 0 ? x[i] - 1e-3 * log(x[i]) : NAN;
        ret_g[i] = 1 - 1e-3 / x[i];
    }
    return sum;
}

static double hills(const double *x, size_t d, double *ret_g)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += 0.1 * x[i] * x[i] + cos(3 * x[i]);
        ret_g[i] = 0.2 * x[i] - 3 * sin(3 * x[i]);
    }
    return sum;
}

static double huge(const double *x, size_t d, double *ret_g)
{
    double f = bowl(x, d, ret_g) * 1e200;
    for (size_t i = 0; i < d; i++)
        ret_g[i] *= 1e200;
    return f;
}

static double nowhere(const double *x UNUSED, size_t d, double *ret_g)
{
    for (size_t i = 0; i < d; i++)
        ret_g[i] = NAN;
    return NAN;
}

static void fill(double *a, size_t n, double value)
{
    for (size_t i = 0; i < n; i++)
        a[i] = value;
}

/* One start at `x` in [low, high]^d; the number of evaluations. */
static size_t minimize(double (*one)(const double *, size_t, double *), double *x, size_t d,
                       double low, double high, double *ret_f)
{
    struct problem problem = {one, 0};
    struct lbfgsb_options options = {
        .max_iterations = 500, .gradient_tol = 1e-8, .value_tol = 1e-15};
    double lows[D_MAX], highs[D_MAX];
    fill(lows, d, low);
    fill(highs, d, high);
    size_t calls = lbfgsb_minimize(evaluate, &problem, x, 1, d, lows, highs, &options, ret_f);
    assert_int_equal(calls, problem.rows);
    return calls;
}

TEST(a_quadratic_is_solved_in_a_few_steps)
{
    for (size_t d = 1; d <= 10; d++) {
        double x[D_MAX], f;
        fill(x, d, -3);
        assert_in_range(minimize(bowl, x, d, -10, 10, &f), 2, 120);
        for (size_t i = 0; i < d; i++)
            assert_true(fabs(x[i] - 0.1 * (double)i) < 1e-6);
        assert_true(f < 1e-10);
    }
}

TEST(rosenbrocks_valley_is_followed_to_its_end)
{
    for (size_t d = 2; d <= D_MAX; d += 3) {
        double x[D_MAX], f;
        for (size_t i = 0; i < d; i++)
            x[i] = i % 2 ? 1 : -1.2;
        assert_in_range(minimize(valley, x, d, -5, 5, &f), 2, 250);
        assert_true(f < 1e-10);
    }
}

TEST(the_valley_from_a_near_start_ends_at_ones)
{
    for (size_t d = 2; d <= D_MAX; d++) {
        double x[D_MAX], f;
        fill(x, d, 0.5);
        minimize(valley, x, d, -5, 5, &f);
        assert_true(f < 1e-10);
    }
}

TEST(bounds_that_bind_hold_the_solution)
{
    double x[D_MAX], f, g[D_MAX];
    fill(x, 10, 0.45);
    minimize(bowl, x, 10, 0.25, 0.5, &f);
    for (size_t i = 0; i < 10; i++)
        assert_true(fabs(x[i] - fmin(fmax(0.1 * (double)i, 0.25), 0.5)) < 1e-6);

    double y[2] = {-1, 0.2}; /* the valley's minimum within y ≤ 0.5 is (√½, ½) or near it */
    minimize(valley, y, 2, -2, 0.5, &f);
    valley(y, 2, g);
    for (int i = 0; i < 2; i++)
        assert_true(fabs(g[i]) < 1e-5 || (y[i] == 0.5 && g[i] < 0) || (y[i] == -2 && g[i] > 0));
}

TEST(a_slope_ends_in_its_corner)
{
    double x[6], f;
    fill(x, 6, 0.3);
    minimize(slope, x, 6, 0, 1, &f);
    for (int i = 0; i < 6; i++)
        assert_true(x[i] == (i % 2 ? 1 : 0));
}

TEST(a_constant_function_is_left_at_once)
{
    double x[3] = {0.2, 0.3, 0.4}, f;
    assert_int_equal(minimize(flat, x, 3, 0, 1, &f), 1);
    assert_true(f == 4 && x[0] == 0.2 && x[1] == 0.3 && x[2] == 0.4);
}

TEST(values_that_are_not_finite_shorten_the_step)
{
    double x[4], f;
    fill(x, 4, 5);
    minimize(cliff, x, 4, -10, 10, &f);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(x[i] - 1e-3) < 1e-5);
}

TEST(a_start_without_a_value_stays_where_it_is)
{
    double x[2] = {0.25, 0.75}, f;
    assert_int_equal(minimize(nowhere, x, 2, 0, 1, &f), 1);
    assert_true(f == INFINITY && x[0] == 0.25 && x[1] == 0.75);
}

TEST(one_dimension_and_huge_values_are_no_exception)
{
    double x = 0.9, y[3] = {1, 1, 1}, f;
    minimize(hills, &x, 1, 0, 1.5, &f);
    assert_true(fabs(0.2 * x - 3 * sin(3 * x)) < 1e-6);
    minimize(huge, y, 3, -2, 2, &f);
    assert_true(f < 1e198);
    double z = 7;
    minimize(bowl, &z, 1, 2, 2, &f);
    assert_true(z == 2 && f == 4);
}

TEST(the_ends_of_hilly_paths_are_never_above_their_starts)
{
    struct rng rng;
    rng_init(&rng, 1, 1);
    for (int k = 0; k < 200; k++) {
        double x[D_MAX], g[D_MAX], f;
        size_t d = 1 + (size_t)k % D_MAX;
        for (size_t i = 0; i < d; i++)
            x[i] = rng_unit(&rng) * 8 - 4;
        double before = hills(x, d, g);
        minimize(hills, x, d, -4, 4, &f);
        assert_true(f <= before && f == hills(x, d, g));
        for (size_t i = 0; i < d; i++)
            assert_true(fabs(g[i]) < 1e-3 || fabs(x[i]) == 4);
    }
}

TEST(starts_together_walk_as_each_alone)
{
    enum { M = 9, D = 5 };
    double low[D], high[D], together[M * D], alone[M * D], f[M], g;
    struct problem problem = {hills, 0};
    struct rng rng;
    rng_init(&rng, 7, 0);
    fill(low, D, -4);
    fill(high, D, 3);
    for (int i = 0; i < M * D; i++)
        together[i] = alone[i] = rng_unit(&rng) * 7 - 4;

    size_t calls = lbfgsb_minimize(evaluate, &problem, together, M, D, low, high, NULL, f), sum = 0;
    for (int k = 0; k < M; k++) {
        sum += lbfgsb_minimize(evaluate, &problem, alone + k * D, 1, D, low, high, NULL, &g);
        assert_memory_equal(&f[k], &g, sizeof(g));
    }
    assert_int_equal(sum, calls);
    assert_memory_equal(together, alone, sizeof(alone));
}

TEST(no_start_takes_more_calls_than_allowed)
{
    double x[D_MAX], low[D_MAX], high[D_MAX], f;
    struct problem problem = {valley, 0};
    fill(low, D_MAX, -5);
    fill(high, D_MAX, 5);
    for (size_t most = 1; most < 20; most++) {
        struct lbfgsb_options options = {.max_calls = most};
        fill(x, D_MAX, -1.2);
        assert_in_range(lbfgsb_minimize(evaluate, &problem, x, 1, D_MAX, low, high, &options, &f),
                        1, most);
    }
    assert_int_equal(lbfgsb_minimize(evaluate, &problem, x, 0, D_MAX, low, high, NULL, &f), 0);
}

TEST_MAIN
