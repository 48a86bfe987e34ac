/* SPDX-License-Identifier: MIT */
/*
 * cma_test.c — the strategy alone: it converges on uneven bowls, turns its axes, knows when it is
 * spent.
 */
#include "linalg/linalg.h"
#include "search/cma.h"
#include "tests/test.h"

#include <math.h>

#define D      6
#define LAMBDA 10

/* Turned and a thousand times longer than wide; minimum at 0.3. */
static double ridge(const double *x)
{
    double sum = 0;
    for (int i = 0; i < D; i++) {
        double turned = 0;
        for (int k = 0; k < D; k++)
            turned += sin(1 + 2.3 * i * k + i) * (x[k] - 0.3);
        sum += pow(10, i) * turned * turned;
    }
    return sum;
}

struct drawn {
    double x[D], f;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct drawn *)a)->f, y = ((const struct drawn *)b)->f;
    return (x > y) - (x < y);
}

/* The best value after so many generations. */
static double run(struct cma *cma, double (*f)(const double *), int generations, struct rng *rng)
{
    struct drawn drawn[LAMBDA];
    double best[LAMBDA * D], least = INFINITY;
    for (int g = 0; g < generations; g++) {
        for (int k = 0; k < LAMBDA; k++) {
            cma_draw(cma, 1, rng, drawn[k].x);
            drawn[k].f = f(drawn[k].x);
        }
        qsort(drawn, LAMBDA, sizeof(*drawn), by_value);
        for (int k = 0; k < LAMBDA / 2; k++)
            memcpy(best + k * D, drawn[k].x, sizeof(drawn[k].x));
        cma_update(cma, best);
        least = fmin(least, drawn[0].f);
    }
    return least;
}

static void begin(struct cma *cma, struct rng *rng)
{
    double mean[D];
    for (int i = 0; i < D; i++)
        mean[i] = 0.6;
    assert_int_equal(linalg_open(NULL), 0);
    rng_init(rng, 3, 0);
    cma_init(cma, D, LAMBDA, mean, 0.25, NULL);
}

TEST(a_turned_and_uneven_bowl_is_followed_to_its_bottom)
{
    struct cma cma;
    struct rng rng;
    begin(&cma, &rng);
    assert_true(run(&cma, ridge, 400, &rng) < 1e-8);
    for (int i = 0; i < D; i++)
        assert_true(fabs(cma.mean[i] - 0.3) < 1e-3);
    cma_release(&cma);
}

static double flat(const double *x)
{
    return x[0] < -100;
}

TEST(the_axes_and_the_covariance_stay_one)
{
    struct cma cma;
    struct rng rng;
    begin(&cma, &rng);
    run(&cma, ridge, 60, &rng);
    cma.decomposed = cma.generation;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double sum = 0, product = 0;
            for (size_t k = 0; k < D; k++) {
                sum += cma.axes[k] * cma.axes[k] * cma.basis[k * D + i] * cma.basis[k * D + j];
                product += cma.basis[i * D + k] * cma.basis[j * D + k];
            }
            double size = sqrt(cma.cov[i * D + i] * cma.cov[j * D + j]);
            assert_true(fabs(sum - cma.cov[j * D + i]) < 0.2 * size); /* it lags by a few steps */
            assert_true(fabs(product - (i == j)) < 1e-10);
        }
    cma_release(&cma);
}

TEST(it_knows_when_it_is_spent)
{
    struct cma cma;
    struct rng rng;
    begin(&cma, &rng);
    assert_false(cma_is_spent(&cma));
    run(&cma, ridge, 2000, &rng);
    assert_true(cma_is_spent(&cma));
    cma_release(&cma);
}

TEST(a_flat_function_and_points_from_far_away_do_no_harm)
{
    struct cma cma;
    struct rng rng;
    begin(&cma, &rng);
    run(&cma, flat, 300, &rng);
    double far[LAMBDA * D];
    for (int i = 0; i < LAMBDA * D; i++)
        far[i] = i % 2 ? 1 : 0;
    for (int g = 0; g < 300; g++)
        cma_update(&cma, far);
    for (size_t i = 0; i < D; i++) {
        assert_true(isfinite(cma_deviation(&cma, i)));
        assert_true(cma.mean[i] >= 0 && cma.mean[i] <= 1);
    }
    cma_release(&cma);
}

TEST_MAIN
