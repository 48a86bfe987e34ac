/* SPDX-License-Identifier: MIT */
/*
 * usl.c — fit scalability laws by walking a grid, one law at a time, the others held.
 *
 * The law is not convex in α and β over noisy points, and a dozen points say little about it: a
 * grid with a prior cannot run away, and needs no start.
 */
#include "tune/usl.h"

#include <math.h>

static const double alphas[] = {0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1};
static const double betas[] = {0,    1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.02,
                               0.04, 0.08, 0.15, 0.3,  1,    3,    10};
#define SWEEPS 4

double usl_effect(struct usl law, double n)
{
    return log((1 + law.alpha * (n - 1) + law.beta * n * (n - 1)) / n);
}

/* −ln prior: α near a half, β small. */
static double surprise(struct usl law)
{
    double a = (law.alpha - 0.5) / 0.35, b = law.beta > 0 ? 1 + 0.15 * log(law.beta / 1e-4) : 0;
    return 0.5 * a * a + 0.5 * b;
}

/* Half the weighed squares about the level of each group. sums is (groups, 2) of workspace. */
static double misfit(const double *left, const double *weight, const size_t *group, size_t groups,
                     size_t rows, double *sums)
{
    double squares = 0;

    memset(sums, 0, 2 * groups * sizeof(*sums));
    for (size_t i = 0; i < rows; i++) {
        sums[2 * group[i]] += weight[i];
        sums[2 * group[i] + 1] += weight[i] * left[i];
        squares += weight[i] * left[i] * left[i];
    }
    for (size_t g = 0; g < groups; g++)
        if (sums[2 * g] > 0)
            squares -= sums[2 * g + 1] * sums[2 * g + 1] / sums[2 * g];
    return 0.5 * squares;
}

struct fit {
    const double *counts, *y, *weight;
    const size_t *group;
    size_t k, groups, rows;
    double *others, *left, *sums; /* (rows), (rows), (groups, 2): workspace */
};

static void fit_one(struct fit *f, size_t j, struct usl *laws)
{
    double least = INFINITY;

    for (size_t i = 0; i < f->rows; i++) {
        f->others[i] = f->y[i];
        for (size_t l = 0; l < f->k; l++)
            f->others[i] -= l == j ? 0 : usl_effect(laws[l], f->counts[i * f->k + l]);
    }
    for (size_t a = 0; a < ARRAY_LEN(alphas); a++) {
        for (size_t b = 0; b < ARRAY_LEN(betas); b++) {
            struct usl law = {alphas[a], betas[b]};
            for (size_t i = 0; i < f->rows; i++)
                f->left[i] = f->others[i] - usl_effect(law, f->counts[i * f->k + j]);
            double value =
                surprise(law) + misfit(f->left, f->weight, f->group, f->groups, f->rows, f->sums);
            if (value < least) {
                least = value;
                laws[j] = law;
            }
        }
    }
}

void usl_fit(const double *counts, size_t k, const double *y, const double *weight,
             const size_t *group, size_t groups, size_t rows, struct usl *ret)
{
    autofree(mem) double *block = xcalloc(2 * rows + 2 * groups + 1, sizeof(*block));
    struct fit f = {counts, y,    weight, group,        k,
                    groups, rows, block,  block + rows, block + 2 * rows};

    for (size_t j = 0; j < k; j++)
        ret[j] = USL_PRIOR;
    for (size_t sweep = 0; sweep < (k > 1 ? SWEEPS : 1) && rows > 0; sweep++)
        for (size_t j = 0; j < k; j++)
            fit_one(&f, j, ret);
}
