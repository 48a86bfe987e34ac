/* SPDX-License-Identifier: MIT */
/*
 * draw.c — draws without repetition.
 *
 * A candidate that was given out before, or is forbidden, is drawn again. When TRIES in a row were
 * given out, the space is nearly full (or its conditions make a few settings very likely), and the
 * next fresh setting is found by walking on from the last candidate, round the end. So the
 * space ends exactly when every setting was given out.
 */
#include "search/draw.h"
#include "search/walk.h"

#include <errno.h>
#include <math.h>

#define WALK_MAX     (4 << 20) /* steps: seconds; forbidden combinations may be a riddle */
#define TRIES        24        /* candidates in a row that were given out before */
#define SAME_TRIES   1000      /* in an infinite space, of those without a free float */
#define BARRED_TRIES 1000      /* candidates, most of them forbidden */
#define FREE_TRIES   20000     /* in an infinite space: the allowed part is too small to be hit */

bool draw_is_fresh(const struct search *s, const double *x)
{
    return space_contains(s->space, x) && !history_given(&s->history, x);
}

static int refuse_forbidden(struct err *err)
{
    return err_set(err, ENODATA, "no setting was found that `forbid` allows");
}

int draw_walk(const struct search *s, bool again, double *x, struct err *err)
{
    for (size_t i = 0; i < WALK_MAX; i++) {
        if (!walk_past(s->space, x)) {
            if (!again)
                return err_set(err, ENODATA, "every setting was tried");
            again = false;
            walk_first(s->space, x);
        }
        if (draw_is_fresh(s, x))
            return 0;
    }
    return refuse_forbidden(err);
}

static bool has_free_float(const struct space *space, const double *x)
{
    for (size_t i = 0; i < space->n; i++)
        if (!isnan(x[i]) && isinf(param_size(&space->params[i])))
            return true;
    return false;
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

bool draw_has_prior(const struct space *space)
{
    for (size_t i = 0; i < space->n; i++)
        if (space->params[i].prior.weights || space->params[i].prior.sd > 0)
            return true;
    return false;
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

/* Where candidates come from: a numbered sequence, or chance. */
struct source {
    draw_fn *next;
    uint64_t *drawn;
    struct rng *rng;
    bool by_prior;
};

static void next_candidate(const struct search *s, const struct source *from, double *ret_x)
{
    if (from->next)
        from->next(s, (*from->drawn)++, ret_x);
    for (size_t i = 0; i < s->space->n && from->rng; i++)
        ret_x[i] = draw_param(&s->space->params[i], from->by_prior, from->rng);
    space_settle(s->space, ret_x);
}

/* `old` counts allowed candidates that were given out before; free floats are no sign that there
 * are no others. */
static int draw(const struct search *s, const struct source *from, double *ret_x, struct err *err)
{
    bool finite = !walk_obstacle(s->space);
    int max = finite ? BARRED_TRIES : FREE_TRIES, max_old = finite ? TRIES : SAME_TRIES, old = 0;
    autofree(mem) double *spare = NULL;

    for (int i = 0; i < max && old < max_old; i++) {
        next_candidate(s, from, ret_x);
        if (!space_contains(s->space, ret_x))
            continue;
        if (!history_given(&s->history, ret_x))
            return 0;
        old = has_free_float(s->space, ret_x) ? 0 : old + 1;
        if (!finite && !spare)
            spare = xmemdup(ret_x, s->space->n * sizeof(*ret_x));
    }
    if (finite)
        return draw_walk(s, true, ret_x, err);
    if (!spare)
        return refuse_forbidden(err);
    memcpy(ret_x, spare, s->space->n * sizeof(*ret_x));
    return 0;
}

int draw_fresh(const struct search *s, draw_fn *next, uint64_t *drawn, double *ret_x,
               struct err *err)
{
    return draw(s, &(struct source){.next = next, .drawn = drawn}, ret_x, err);
}

int draw_random(const struct search *s, struct rng *rng, bool by_prior, double *ret_x,
                struct err *err)
{
    return draw(s, &(struct source){.rng = rng, .by_prior = by_prior}, ret_x, err);
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
