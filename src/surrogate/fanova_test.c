/* SPDX-License-Identifier: MIT */
/*
 * fanova_test.c — the parts of functions whose parts are known, and of a forest by brute force.
 */
#include "surrogate/fanova.h"
#include "tests/test.h"

#include <math.h>

#define N 400

static void set_axis(struct fanova_axis *axis, size_t n, bool categorical)
{
    axis->n = n;
    for (size_t i = 0; i < n; i++) {
        axis->at[i] = categorical ? (double)i : ((double)i + 0.5) / (double)n;
        axis->weight[i] = 1 / (double)n;
    }
}

/* Brute force: the marginal means of a forest over two small axes. */
TEST(marginals_are_the_averages_of_predictions)
{
    double x[N * 2], y[N], means[4 * 3], unused;
    size_t categories[2] = {0, 3}, pairs[1][2] = {{0, 1}};
    struct fanova_axis axes[2];
    struct rng rng;
    rng_init(&rng, 1, 0);
    for (size_t i = 0; i < N; i++) {
        x[i * 2] = rng_unit(&rng) < 0.2 ? NAN : rng_unit(&rng);
        x[i * 2 + 1] = (double)rng_below(&rng, 3);
        y[i] = (isnan(x[i * 2]) ? 3 : x[i * 2]) * (1 + x[i * 2 + 1]);
    }
    set_axis(&axes[0], 4, false);
    set_axis(&axes[1], 3, true);
    axes[0].at[3] = NAN;
    axes[0].weight[0] = 0.4;
    axes[0].weight[1] = 0.3;
    axes[0].weight[2] = 0.1;
    axes[0].weight[3] = 0.2;
    autofree(forest) struct forest *forest =
        forest_fit(x, y, NULL, N, 2, categories, &(struct forest_options){.trees = 7}, &rng);

    double single[2], both[1], centre = 0, va = 0, vb = 0, vab = 0;
    fanova_measure(forest, axes, (const size_t(*)[2])pairs, 1, single, both);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 3; k++) {
            double at[2] = {axes[0].at[i], axes[1].at[k]};
            forest_predict(forest, at, 1, &means[i * 3 + k], &unused);
            centre += axes[0].weight[i] / 3 * means[i * 3 + k];
        }
    for (size_t i = 0; i < 4; i++) {
        double row = 0;
        for (size_t k = 0; k < 3; k++) {
            row += means[i * 3 + k] / 3;
            vab += axes[0].weight[i] / 3 * pow(means[i * 3 + k] - centre, 2);
        }
        va += axes[0].weight[i] * pow(row - centre, 2);
    }
    for (size_t k = 0; k < 3; k++) {
        double column = 0;
        for (size_t i = 0; i < 4; i++)
            column += axes[0].weight[i] * means[i * 3 + k];
        vb += pow(column - centre, 2) / 3;
    }
    assert_true(fabs(single[0] - va) < 1e-12 && fabs(single[1] - vb) < 1e-12);
    assert_true(fabs(both[0] - (vab - va - vb)) < 1e-12);
    assert_true(fabs(fanova_variance(forest, axes, 20000, &rng) / vab - 1) < 0.05);
}

TEST(a_sum_has_no_interaction_and_a_parity_nothing_else)
{
    double x[N * 3], sum[N], parity[N], single[3], both[3];
    size_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    struct fanova_axis axes[3];
    struct rng rng;
    rng_init(&rng, 2, 0);
    for (size_t i = 0; i < N; i++) {
        for (int j = 0; j < 3; j++)
            x[i * 3 + (size_t)j] = rng_unit(&rng);
        sum[i] = 2 * x[i * 3] + x[i * 3 + 1];
        parity[i] = (x[i * 3] > 0.5) ^ (x[i * 3 + 2] > 0.5);
    }
    for (int j = 0; j < 3; j++)
        set_axis(&axes[j], 32, false);
    struct forest_options options = {.trees = 30};
    autofree(forest) struct forest *f = forest_fit(x, sum, NULL, N, 3, NULL, &options, &rng);
    fanova_measure(f, axes, (const size_t(*)[2])pairs, 3, single, both);
    assert_true(fabs(single[0] / single[1] - 4) < 1); /* 4/12 and 1/12 of the sum's variance */
    assert_true(single[2] < 0.02 * single[0] && both[0] < 0.05 * single[0]);

    autofree(forest) struct forest *g = forest_fit(x, parity, NULL, N, 3, NULL, &options, &rng);
    fanova_measure(g, axes, (const size_t(*)[2])pairs, 3, single, both);
    assert_true(both[1] > 10 * (single[0] + single[1] + single[2]));
    assert_true(both[1] > 10 * fmax(both[0], both[2]));
}

TEST_MAIN
