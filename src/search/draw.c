/* SPDX-License-Identifier: MIT */
/*
 * draw.c — draws without repetition.
 *
 * A candidate that was given out before, or is forbidden, is drawn again. When TRIES candidates in
 * a row are no good, the space is nearly full (or its conditions make a few settings very likely),
 * and the next fresh setting is found by walking on from the last candidate, round the end. So the
 * space ends exactly when every setting was given out.
 */
#include "search/draw.h"
#include "search/walk.h"

#include <errno.h>
#include <math.h>

#define TRIES      24
#define SAME_TRIES 1000  /* in an infinite space: of settings without a free float, in a row */
#define FREE_TRIES 20000 /* in an infinite space: then the allowed part is too small to be hit */

bool draw_is_fresh(const struct search *s, const double *x)
{
    return space_contains(s->space, x) && !history_given(&s->history, x);
}

static int refuse(struct err *err)
{
    return err_set(err, ENODATA, "every setting was tried");
}

/* From x on, round the end, to the first fresh setting. */
static int walk_on(const struct search *s, double *x, struct err *err)
{
    size_t size = s->space->n * sizeof(*x);
    autofree(mem) double *begin = xmemdup(x, size);

    do {
        if (!walk_next(s->space, x))
            walk_first(s->space, x);
        if (draw_is_fresh(s, x))
            return 0;
    } while (!point_equal(x, begin, s->space->n));
    return refuse(err);
}

static bool has_free_float(const struct space *space, const double *x)
{
    for (size_t i = 0; i < space->n; i++)
        if (!isnan(x[i]) && isinf(param_size(&space->params[i])))
            return true;
    return false;
}

int draw_fresh(const struct search *s, draw_fn *next, uint64_t *drawn, double *ret_x,
               struct err *err)
{
    bool finite = !walk_obstacle(s->space);
    autofree(mem) double *spare = NULL;
    int same = 0;

    for (int i = 0; i < (finite ? TRIES : FREE_TRIES); i++) {
        next(s, (*drawn)++, ret_x);
        space_settle(s->space, ret_x);
        if (draw_is_fresh(s, ret_x))
            return 0;
        if (finite || !space_contains(s->space, ret_x))
            continue;
        if (!spare)
            spare = xmemdup(ret_x, s->space->n * sizeof(*ret_x));
        same = has_free_float(s->space, ret_x) ? 0 : same + 1;
        if (same >= SAME_TRIES) /* only settings without a free float are left to be drawn */
            break;
    }
    if (finite)
        return walk_on(s, ret_x, err);
    if (!spare)
        return err_set(err, ENODATA, "no setting was found that `forbid` allows");
    memcpy(ret_x, spare, s->space->n * sizeof(*ret_x));
    return 0;
}

static size_t draw_weighted(const double *weights, size_t n, struct rng *rng)
{
    double u = rng_unit(rng);
    for (size_t i = 0; i + 1 < n; i++) {
        u -= weights[i];
        if (u < 0)
            return i;
    }
    return n - 1;
}

double draw_param(const struct param *param, bool by_prior, struct rng *rng)
{
    const struct prior *prior = &param->prior;

    if (by_prior && prior->weights && param->n_choices)
        return (double)draw_weighted(prior->weights, param->n_choices, rng);
    if (!by_prior || !(prior->sd > 0))
        return param_from_unit(param, rng_unit(rng));
    for (int i = 0; i < TRIES; i++) {
        double u = prior->mean + prior->sd * rng_normal(rng);
        if (u >= 0 && u <= 1)
            return param_from_unit(param, u);
    }
    return param_from_unit(param, fmin(fmax(prior->mean, 0), 1));
}

int draw_random(const struct search *s, struct rng *rng, bool by_prior, double *ret_x,
                struct err *err)
{
    bool finite = !walk_obstacle(s->space);

    for (int i = 0; i < (finite ? TRIES : FREE_TRIES); i++) {
        for (size_t k = 0; k < s->space->n; k++)
            ret_x[k] = draw_param(&s->space->params[k], by_prior, rng);
        space_settle(s->space, ret_x);
        if (draw_is_fresh(s, ret_x) || (i >= SAME_TRIES && space_contains(s->space, ret_x)))
            return 0;
    }
    return finite ? walk_on(s, ret_x, err)
                  : err_set(err, ENODATA, "no setting was found that `forbid` allows");
}

void draw_save(uint64_t drawn, struct str *to)
{
    str_add_n(to, (const char *)&drawn, sizeof(drawn));
}

int draw_load(const void *bytes, size_t n, uint64_t *ret_drawn, struct err *err)
{
    if (n != sizeof(*ret_drawn))
        return err_set(err, EINVAL, "the saved state of the search has %zu bytes, not %zu", n,
                       sizeof(*ret_drawn));
    memcpy(ret_drawn, bytes, n);
    return 0;
}
