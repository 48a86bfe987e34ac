/* SPDX-License-Identifier: MIT */
/*
 * acquire.c — the search inside the search: candidates over the whole space and around the best
 * settings are scored; the most promising climb on, free floats by their gradient, the other
 * parameters by trying their neighbours.
 *
 * Only fresh settings are taken (new, not forbidden); a climb may pass through others.
 */
#include "search/acquire.h"
#include "linalg/lbfgsb.h"
#include "search/draw.h"
#include "search/sobol_set.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#define CANDIDATES 400
#define STARTS     5
#define ROUNDS     8  /* of a climb */
#define FEW        10 /* a parameter with up to so many values has all as neighbours */
#define MUTANTS    20 /* around each of the best */
#define ALONG      30 /* parameters along which a round looks; of more, by chance */

/* Settings in a row, with what they scored. */
struct pool {
    const struct acquire *a;
    size_t n;          /* how many */
    VEC(double) x;     /* (n, space->n) */
    VEC(double) score; /* (n) */
};

static void pool_release(struct pool *pool)
{
    vec_release(&pool->x);
    vec_release(&pool->score);
}

static void pool_add(struct pool *pool, const double *x)
{
    size_t d = pool->a->s->space->n;
    vec_reserve(&pool->x, (pool->n + 1) * d + 1);
    assert(pool->x.at);
    memcpy(pool->x.at + pool->n * d, x, d * sizeof(*x));
    pool->n++;
}

static void pool_score(struct pool *pool)
{
    const struct encoder *encoder = pool->a->encoder;
    size_t d = pool->a->s->space->n, f = encoder->d;
    autofree(mem) double *features = xcalloc(pool->n * f + 1, sizeof(*features));

    for (size_t i = 0; i < pool->n; i++)
        encode(encoder, pool->x.at + i * d, features + i * f);
    vec_reserve(&pool->score, pool->n + 1);
    pool->score.len = pool->n;
    if (pool->n)
        pool->a->score(features, pool->n, pool->score.at, pool->a->arg);
}

/* Give active parameters that have no value one, and take it from the inactive. */
static void complete(const struct space *space, struct rng *rng, double *x)
{
    for (size_t i = 0; i < space->n; i++)
        if (!param_active(&space->params[i], x))
            x[i] = NAN;
        else if (isnan(x[i]))
            x[i] = draw_param(&space->params[i], true, rng);
}

/* A nearby value: numbers move by a normal step on their axis, at least one of their own steps. */
static double move(const struct param *param, double x, double width, struct rng *rng)
{
    double size = param_size(param);

    if (param->type == PARAM_CHOICE && !param->ordered)
        return (double)rng_below(rng, param->n_choices);
    double u = param_to_unit(param, x) + width * rng_normal(rng);
    double y = param_from_unit(param, fabs(u) > 1 ? 2 - fabs(u) < 0 ? rng_unit(rng) : 2 - fabs(u)
                                                  : fabs(u));
    if (y != x || isinf(size) || size < 2)
        return y;
    double k = param_index(param, x) + (rng_chance(rng, 0.5) ? 1 : -1);
    return param_value_at(param, k < 0 ? 1 : k >= size ? size - 2 : k);
}

/* Change one parameter for certain and others with chance 1/d. */
static void mutate(const struct acquire *a, const double *from, struct rng *rng, double *ret_x)
{
    static const double widths[] = {0.2, 0.05, 0.01};
    const struct encoder *encoder = a->encoder;
    double width = widths[rng_below(rng, ARRAY_LEN(widths))];
    size_t sure = rng_below(rng, encoder->d);

    memcpy(ret_x, from, a->s->space->n * sizeof(*ret_x));
    for (size_t j = 0; j < encoder->d; j++) {
        size_t i = encoder->param[j];
        bool change = j == sure || rng_chance(rng, 1.0 / (double)encoder->d);
        if (change && !isnan(ret_x[i]))
            ret_x[i] = move(&a->s->space->params[i], ret_x[i], width, rng);
    }
    complete(a->s->space, rng, ret_x);
}

static void add_if_fresh(struct pool *pool, const double *x)
{
    if (draw_is_fresh(pool->a->s, x))
        pool_add(pool, x);
}

/* Is parameter i a free float that is to stay near? */
static bool is_held(const struct acquire *a, size_t i)
{
    return a->reach > 0 && a->n_near && isinf(param_size(&a->s->space->params[i])) &&
           !isnan(a->near[i]);
}

/* The bounds of a free float that began at `from`, on the unit axis. */
static void bounds_of(const struct acquire *a, size_t i, double from, double *ret_low,
                      double *ret_high)
{
    bool held = is_held(a, i);
    double centre = param_to_unit(&a->s->space->params[i], held ? a->near[i] : from);
    double far = held ? a->reach : a->climb > 0 ? a->climb : 1;

    *ret_low = fmax(centre - far, 0);
    *ret_high = fmin(centre + far, 1);
}

/* Free floats that are to stay near: from the whole axis into their bounds (spread), or cut off. */
static void hold_near(const struct acquire *a, bool spread, double *x)
{
    for (size_t i = 0; i < a->s->space->n; i++) {
        const struct param *param = &a->s->space->params[i];
        double low, high;
        if (isnan(x[i]) || !is_held(a, i))
            continue;
        bounds_of(a, i, x[i], &low, &high);
        double u = param_to_unit(param, x[i]);
        u = spread ? low + u * (high - low) : fmin(fmax(u, low), high);
        x[i] = param_from_unit(param, u);
    }
}

static void add_over_space(struct pool *pool, size_t n, struct rng *rng)
{
    const struct space *space = pool->a->s->space;
    autofree(mem) double *x = xcalloc(space->n + 1, sizeof(*x));
    struct sobol_set set;
    bool priors = draw_has_prior(space);

    sobol_set_init(&set, space, rng_u64(rng));
    for (size_t i = 0; i < n; i++) {
        if (priors && i % 2)
            for (size_t k = 0; k < space->n; k++)
                x[k] = draw_param(&space->params[k], true, rng);
        else
            sobol_set_point(&set, i, x);
        hold_near(pool->a, true, x);
        space_settle(space, x);
        add_if_fresh(pool, x);
    }
    sobol_set_release(&set);
}

static void add_mutants(struct pool *pool, size_t each, struct rng *rng)
{
    const struct acquire *a = pool->a;
    autofree(mem) double *x = xcalloc(a->s->space->n + 1, sizeof(*x));

    if (a->encoder->d == 0)
        return;
    for (size_t i = 0; i < a->n_near; i++)
        for (size_t k = 0; k < each; k++) {
            mutate(a, a->near + i * a->s->space->n, rng, x);
            hold_near(a, false, x);
            add_if_fresh(pool, x);
        }
}

/* All settings that differ from x in parameter i by a neighbouring value. */
static void add_neighbours_along(struct pool *pool, const double *x, size_t i, struct rng *rng,
                                 double *scratch)
{
    const struct space *space = pool->a->s->space;
    const struct param *param = &space->params[i];
    double size = param_size(param), k = isinf(size) ? 0 : param_index(param, x[i]);
    bool far = size <= FEW || (param->type == PARAM_CHOICE && !param->ordered);
    size_t tries = isinf(size) ? 4 : (size_t)fmin(far ? size - 1 : 5, 2 * FEW);

    for (size_t t = 0; t < tries; t++) {
        static const double steps[] = {1, -1, 2, -2};
        memcpy(scratch, x, space->n * sizeof(*x));
        double to = k + 1 + (double)t;
        if (isinf(size) || (!far && t >= ARRAY_LEN(steps)) || (far && size - 1 > 2 * FEW))
            scratch[i] = move(param, x[i], t % 2 ? 0.02 : 0.1, rng);
        else if (far)
            scratch[i] = param_value_at(param, to >= size ? to - size : to);
        else if (k + steps[t] < 0 || k + steps[t] >= size)
            continue;
        else
            scratch[i] = param_value_at(param, k + steps[t]);
        complete(space, rng, scratch);
        add_if_fresh(pool, scratch);
    }
}

/* floats: free floats too (else their gradient is followed). */
static void add_neighbours(struct pool *pool, const double *x, bool floats, struct rng *rng)
{
    const struct acquire *a = pool->a;
    autofree(mem) double *scratch = xcalloc(a->s->space->n + 1, sizeof(*scratch));

    for (size_t j = 0; j < a->encoder->d; j++) {
        size_t i = a->encoder->param[j];
        bool look = a->encoder->d <= ALONG || rng_below(rng, a->encoder->d) < ALONG;
        if (look && !isnan(x[i]) && (floats || !isinf(param_size(&a->s->space->params[i]))))
            add_neighbours_along(pool, x, i, rng, scratch);
    }
}

static size_t pool_best(const struct pool *pool)
{
    size_t best = 0;
    for (size_t i = 1; i < pool->n; i++)
        if (pool->score.at[i] > pool->score.at[best])
            best = i;
    return best;
}

/* Free floats that are active at x, as features; how many. */
static size_t free_features(const struct acquire *a, const double *x, size_t *ret)
{
    size_t n = 0;
    for (size_t j = 0; j < a->encoder->d; j++) {
        size_t i = a->encoder->param[j];
        if (!isnan(x[i]) && isinf(param_size(&a->s->space->params[i])))
            ret[n++] = j;
    }
    return n;
}

struct climb {
    const struct acquire *a;
    const size_t *which; /* (n) features that move */
    double *features;    /* all of them */
    double *slope;
};

static void climb_fn(const double *x, const size_t *index UNUSED, size_t m, size_t d, double *ret_f,
                     double *ret_g, void *arg)
{
    struct climb *climb = arg;
    for (size_t i = 0; i < m; i++) {
        for (size_t k = 0; k < d; k++)
            climb->features[climb->which[k]] = x[i * d + k];
        ret_f[i] = -climb->a->slope(climb->features, climb->slope, climb->a->arg);
        for (size_t k = 0; k < d; k++)
            ret_g[i * d + k] = -climb->slope[climb->which[k]];
    }
}

/* Move the free floats of x uphill; the climb began at `from`. */
static void climb_gradient(const struct acquire *a, const double *from, double *x)
{
    size_t f = a->encoder->d;
    autofree(mem) size_t *which = xcalloc(f + 1, sizeof(*which));
    autofree(mem) double *block = xcalloc(5 * f + 1, sizeof(*block));
    struct climb climb = {.a = a, .which = which, .features = block, .slope = block + f};
    double *u = block + 2 * f, *low = u + f, *high = low + f, value;
    size_t n = free_features(a, x, which);

    if (!n)
        return;
    encode(a->encoder, x, climb.features);
    for (size_t k = 0; k < n; k++) {
        size_t i = a->encoder->param[which[k]];
        bounds_of(a, i, isnan(from[i]) ? x[i] : from[i], &low[k], &high[k]);
        u[k] = fmin(fmax(climb.features[which[k]], low[k]), high[k]);
    }
    struct lbfgsb_options options = {
        .max_iterations = 15, .max_calls = 20, .gradient_tol = 1e-3, .value_tol = 1e-5};
    lbfgsb_minimize(climb_fn, &climb, u, 1, n, low, high, &options, &value);
    for (size_t k = 0; k < n; k++) {
        size_t i = a->encoder->param[which[k]];
        x[i] = param_from_unit(&a->s->space->params[i], u[k]);
    }
}

static double score_one(const struct acquire *a, const double *x)
{
    double score;
    autofree(mem) double *features = xcalloc(a->encoder->d + 1, sizeof(*features));
    encode(a->encoder, x, features);
    a->score(features, 1, &score, a->arg);
    return score;
}

/* From x uphill until no neighbour is better. */
static double climb_from(const struct acquire *a, struct rng *rng, double *x, double score)
{
    size_t d = a->s->space->n;
    autofree(mem) double *y = xcalloc(d + 1, sizeof(*y)), *from = xcalloc(d + 1, sizeof(*from));

    memcpy(from, x, d * sizeof(*x));
    for (int round = 0; round < ROUNDS; round++) {
        double before = score;
        struct pool pool = {.a = a};
        memcpy(y, x, d * sizeof(*x));
        if (a->slope)
            climb_gradient(a, from, y);
        double moved = a->slope && draw_is_fresh(a->s, y) ? score_one(a, y) : -INFINITY;
        if (moved > score) {
            memcpy(x, y, d * sizeof(*x));
            score = moved;
        }
        add_neighbours(&pool, x, !a->slope, rng);
        pool_score(&pool);
        size_t best = pool.n ? pool_best(&pool) : 0;
        if (pool.n && pool.score.at[best] > score) {
            memcpy(x, pool.x.at + best * d, d * sizeof(*x));
            score = pool.score.at[best];
        }
        pool_release(&pool);
        if (!(score > before + 1e-6 * (1 + fabs(before))))
            break;
    }
    return score;
}

/* Climb from the best few of the pool; the summit replaces the start. */
static void climb_best(struct pool *pool, struct rng *rng)
{
    size_t d = pool->a->s->space->n;
    autofree(mem) bool *used = xcalloc(pool->n + 1, sizeof(*used));

    for (size_t t = 0; t < MIN(STARTS, pool->n); t++) {
        size_t best = pool->n;
        for (size_t i = 0; i < pool->n; i++)
            if (!used[i] && (best == pool->n || pool->score.at[i] > pool->score.at[best]))
                best = i;
        used[best] = true;
        pool->score.at[best] =
            climb_from(pool->a, rng, pool->x.at + best * d, pool->score.at[best]);
    }
}

int acquire(const struct acquire *a, struct rng *rng, double *ret_x, double *ret_score,
            struct err *err)
{
    size_t d = a->s->space->n;
    struct pool pool = {.a = a};

    if (a->only_near && a->n_near)
        add_neighbours(&pool, a->near, true, rng);
    if (pool.n == 0) {
        add_over_space(&pool, a->candidates ? a->candidates : CANDIDATES, rng);
        add_mutants(&pool, MUTANTS, rng);
    }
    pool_score(&pool);
    if (!a->only_near)
        climb_best(&pool, rng);
    *ret_score = NAN;
    int r = 0;
    if (pool.n) {
        size_t best = pool_best(&pool);
        memcpy(ret_x, pool.x.at + best * d, d * sizeof(*ret_x));
        *ret_score = pool.score.at[best];
    } else {
        r = draw_random(a->s, rng, true, ret_x, err);
    }
    pool_release(&pool);
    return r;
}
