/* SPDX-License-Identifier: MIT */
/*
 * parzen_test.c — densities sum to one, draws follow them, and rows come and go without a trace.
 */
#include "model/test_space.h"
#include "search/parzen.h"
#include "tests/test.h"

#include <math.h>

/* Rows at random, `n` of them in slots 0…n−1. */
static void fill(struct parzen *p, const struct space *space, size_t n, struct rng *rng)
{
    double x[8];
    for (size_t slot = 0; slot < n; slot++) {
        for (size_t i = 0; i < space->n; i++)
            x[i] = param_from_unit(&space->params[i], pow(rng_unit(rng), 2));
        space_settle(space, x);
        parzen_add(p, slot, x);
    }
    parzen_prepare(p);
}

/* Of a space of one parameter: the sum over its values, or the integral over its axis. */
static double total(struct parzen *p, const struct param *param)
{
    double sum = 0, size = param_size(param), x;
    size_t n = isinf(size) ? 20000 : (size_t)size;
    for (size_t k = 0; k < n; k++) {
        x = isinf(size) ? param_from_unit(param, ((double)k + 0.5) / (double)n)
                        : param_value_at(param, (double)k);
        sum += exp(parzen_log_density(p, &x));
    }
    return isinf(size) ? sum / (double)n : sum;
}

static struct param with_prior(struct param param)
{
    param.prior = (struct prior){.mean = 0.8, .sd = 0.1};
    return param;
}

TEST(a_density_sums_to_one)
{
    struct param params[] = {
        param_float(-3, 5),
        param_number(PARAM_FLOAT, SCALE_LOG, 1e-5, 1, 0),
        param_int(1, 2),
        param_int(1, 16),
        param_number(PARAM_INT, SCALE_LOG, 1, 12, 0),
        CHOICE("a", "b", "c"),
        with_prior(param_float(0, 1)),
        with_prior(param_int(0, 9)),
    };
    struct rng rng;
    rng_init(&rng, 1, 0);
    for (size_t i = 0; i < ARRAY_LEN(params); i++) {
        struct space space = {0};
        space_add(&space, params[i]);
        for (size_t n = 0; n < 300; n = 2 * n + 1) {
            struct parzen p;
            parzen_init(&p, &space);
            fill(&p, &space, n, &rng);
            double sum = total(&p, &space.params[0]);
            if (!(fabs(sum - 1) < 1e-3))
                fail_msg("parameter %zu with %zu rows sums to %g", i, n, sum);
            parzen_release(&p);
        }
        space_release(&space);
    }
}

/* Many values: the widened kernel stands in for the cells, near enough. */
TEST(a_long_range_of_whole_numbers_sums_to_nearly_one)
{
    struct rng rng;
    rng_init(&rng, 2, 0);
    for (double top = 33; top < 2000; top *= 3) {
        struct space space = {0};
        struct parzen p;
        space_add(&space, param_int(1, top));
        parzen_init(&p, &space);
        fill(&p, &space, 120, &rng);
        assert_true(fabs(total(&p, &space.params[0]) / top - 1) < 0.05);
        parzen_release(&p);
        space_release(&space);
    }
}

TEST(draws_follow_the_density)
{
    struct space space = {0};
    struct parzen p;
    struct rng rng;
    double counts[4][3] = {{0}}, x[2];
    enum { DRAWS = 20000 };
    rng_init(&rng, 3, 0);
    space_add(&space, param_int(1, 4));
    space_add(&space, CHOICE("a", "b", "c"));
    parzen_init(&p, &space);
    fill(&p, &space, 7, &rng);
    p.weight[2] = 5;
    parzen_prepare(&p);
    for (int i = 0; i < DRAWS; i++) {
        parzen_draw(&p, &rng, x);
        assert_true(space_contains(&space, x));
        counts[(size_t)x[0] - 1][(size_t)x[1]]++;
    }
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 3; b++) {
            double share = exp(parzen_log_density(&p, (double[]){(double)a + 1, (double)b}));
            double error = 5 * sqrt(share / DRAWS);
            assert_true(fabs(counts[a][b] / DRAWS - share) < error + 1e-4);
        }
    parzen_release(&p);
    space_release(&space);
}

static void conditional(struct space *space)
{
    space_add(space, CHOICE("sgd", "adam"));
    space_add(space, param_float(0, 1));
    space_when(space, 0, 0, 0);
    space_add(space, param_int(1, 3));
    space_when(space, 0, 1, 1);
}

TEST(a_conditional_space_sums_to_one_over_its_branches)
{
    struct space space = {0};
    struct parzen p;
    struct rng rng;
    double sum = 0;
    rng_init(&rng, 4, 0);
    conditional(&space);
    parzen_init(&p, &space);
    fill(&p, &space, 20, &rng);
    for (int k = 0; k < 4000; k++)
        sum += exp(parzen_log_density(&p, (double[]){0, (k + 0.5) / 4000, NAN})) / 4000;
    for (double k = 1; k <= 3; k++)
        sum += exp(parzen_log_density(&p, (double[]){1, NAN, k}));
    assert_true(fabs(sum - 1) < 1e-3);
    for (int i = 0; i < 1000; i++) {
        double x[3];
        parzen_draw(&p, &rng, x);
        assert_true(space_contains(&space, x));
    }
    parzen_release(&p);
    space_release(&space);
}

TEST(a_row_that_comes_and_goes_leaves_no_trace)
{
    struct space space = {0};
    struct parzen p;
    struct rng rng;
    double x[6], before[20], at[20][6];
    rng_init(&rng, 5, 0);
    conditional(&space);
    space_add(&space, param_number(PARAM_FLOAT, SCALE_LOG, 1e-3, 1, 0));
    space_add(&space, param_int(1, 100));
    space_add(&space, param_int(1, 5));
    parzen_init(&p, &space);
    fill(&p, &space, 50, &rng);
    for (int i = 0; i < 20; i++) {
        parzen_draw(&p, &rng, at[i]);
        before[i] = parzen_log_density(&p, at[i]);
    }
    for (size_t k = 0; k < 200; k++) {
        parzen_draw(&p, &rng, x);
        parzen_add(&p, 50 + k, x);
        if (k % 3 == 0)
            parzen_prepare(&p);
        if (k % 2)
            parzen_remove(&p, 50 + k);
    }
    for (size_t k = 0; k < 200; k += 2)
        parzen_remove(&p, 50 + k);
    parzen_prepare(&p);
    for (int i = 0; i < 20; i++)
        assert_true(parzen_log_density(&p, at[i]) == before[i]);
    parzen_release(&p);
    space_release(&space);
}

TEST(a_prior_outside_the_range_is_survived)
{
    struct space space = {0};
    struct parzen p;
    struct rng rng;
    double x[2];
    rng_init(&rng, 6, 0);
    space_add(&space, param_float(0, 1));
    space_add(&space, param_int(1, 5));
    space.params[0].prior = space.params[1].prior = (struct prior){.mean = 50, .sd = 0.01};
    parzen_init(&p, &space);
    parzen_prepare(&p);
    for (int i = 0; i < 100; i++) {
        parzen_draw(&p, &rng, x);
        assert_true(space_contains(&space, x));
        assert_false(isnan(parzen_log_density(&p, x)));
    }
    parzen_release(&p);
    space_release(&space);
}

TEST_MAIN
