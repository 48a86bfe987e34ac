/* SPDX-License-Identifier: MIT */
/*
 * bayes.c — Bayesian optimisation: a Gaussian process over the results, and the setting of which
 * it expects most (log expected improvement over the best posterior mean).
 *
 * The first settings come from a Sobol sequence. What is in flight counts as if it had come out as
 * expected, so any number may be asked at once.
 */
#include "linalg/linalg.h"
#include "linalg/normal.h"
#include "search/acquire.h"
#include "search/draw.h"
#include "search/model.h"
#include "search/sobol_set.h"

#include <math.h>

struct bayes {
    struct search base;
    struct encoder encoder;
    struct model model;
    struct sobol_set sobol;
    uint64_t drawn;
    double target; /* scaled: what is to be improved on */
};

static int bayes_init(struct search *s, struct err *err)
{
    struct bayes *bayes = (struct bayes *)s;
    int r = linalg_open(err);

    if (r < 0)
        return r;
    encoder_init(&bayes->encoder, s->space);
    struct gp_prior prior = gp_prior_for(bayes->encoder.d);
    model_init(&bayes->model, &bayes->encoder, &prior);
    sobol_set_init(&bayes->sobol, s->space, s->problem.seed);
    return 0;
}

static void bayes_release(struct search *s)
{
    struct bayes *bayes = (struct bayes *)s;
    encoder_release(&bayes->encoder);
    if (bayes->model.gp)
        model_release(&bayes->model);
    sobol_set_release(&bayes->sobol);
}

static void score(const double *features, size_t m, double *ret_score, void *arg)
{
    struct bayes *bayes = arg;
    autofree(mem) double *block = xcalloc(2 * m + 1, sizeof(*block));
    double unused;

    model_predict(&bayes->model, features, m, block, block + m);
    for (size_t i = 0; i < m; i++)
        ret_score[i] = log_ei((bayes->target - block[i]) / block[m + i], &unused) + log(block[m + i]);
}

static double slope(const double *features, double *ret_slope, void *arg)
{
    struct bayes *bayes = arg;
    size_t d = bayes->encoder.d;
    double mean, deviation, by_z;
    autofree(mem) double *block = xcalloc(2 * d + 1, sizeof(*block));

    gp_gradient(bayes->model.gp, features, &mean, &deviation, block, block + d);
    double z = (bayes->target - mean) / deviation;
    double value = log_ei(z, &by_z) + log(deviation);
    for (size_t j = 0; j < d; j++)
        ret_slope[j] = by_z * (-block[j] - z * block[d + j]) / deviation + block[d + j] / deviation;
    return value;
}

static void sobol_point(const struct search *s, uint64_t number, double *ret_x)
{
    sobol_set_point(&((const struct bayes *)s)->sobol, number, ret_x);
}

static size_t first_points(const struct bayes *bayes)
{
    const char *e = getenv("INIT");
    return e ? (size_t)atoi(e) : MIN(4 + bayes->encoder.d / 2, (size_t)12);
}

#define NEAR 4 /* of the best settings have their surroundings looked at */

/* Settings with the lowest posterior means, (≤ NEAR, space->n). */
static size_t best_settings(struct bayes *bayes, double *ret_x)
{
    struct search *s = &bayes->base;
    size_t n = bayes->model.rows.len, found = 0;
    autofree(mem) double *mean = xcalloc(n + 1, sizeof(*mean));

    model_predict(&bayes->model, bayes->model.features.at, n, mean, NULL);
    for (; found < MIN(NEAR, n); found++) {
        size_t best = 0;
        for (size_t i = 1; i < n; i++)
            if (mean[i] < mean[best])
                best = i;
        if (found == 0)
            bayes->target = mean[best];
        mean[best] = INFINITY;
        memcpy(ret_x + found * s->space->n,
               history_x(&s->history, bayes->model.rows.at[best].first),
               s->space->n * sizeof(*ret_x));
    }
    return found;
}

static int bayes_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    struct bayes *bayes = (struct bayes *)s;
    struct rng rng = search_rng(s, 1);

    if (s->history.n + s->history.n_pending < first_points(bayes) ||
        !model_update(&bayes->model, s, 0))
        return draw_fresh(s, sobol_point, &bayes->drawn, ret->x, err);
    autofree(mem) double *near = xcalloc(NEAR * s->space->n + 1, sizeof(*near));
    struct acquire a = {.s = s,
                        .encoder = &bayes->encoder,
                        .score = score,
                        .slope = slope,
                        .arg = bayes,
                        .near = near};
    a.n_near = best_settings(bayes, near);
    a.only_near = getenv("NEAR8") && s->asks % 8 == 7;
    model_imagine(&bayes->model, &s->history);
    int r = acquire(&a, &rng, ret->x, &ret->acquisition, err);
    if (r < 0)
        return r;
    double mean, deviation;
    autofree(mem) double *features = xcalloc(bayes->encoder.d + 1, sizeof(*features));
    encode(&bayes->encoder, ret->x, features);
    model_predict(&bayes->model, features, 1, &mean, &deviation);
    model_unscale(&bayes->model, mean, deviation, &ret->mean, &ret->deviation);
    ret->why = WHY_MODEL;
    return 0;
}

const struct search_ops search_bayes = {
    .name = "bayes",
    .help = "Bayesian optimisation with a Gaussian process",
    .size = sizeof(struct bayes),
    .init = bayes_init,
    .ask = bayes_ask,
    .release = bayes_release,
};
