/* SPDX-License-Identifier: MIT */
/*
 * draw.c — draws without repetition.
 *
 * The hash of every setting given out is remembered, and a candidate that was given out before is
 * drawn again. When TRIES candidates in a row are old, the space is nearly full (or its
 * conditions make a few settings very likely), and the next fresh setting is found by walking:
 * from a random place forward, round the end, and on from there the next time. The walk passes each
 * setting at most twice over all asks, so an ask takes constant time on average and the space
 * ends exactly when every setting was given out.
 *
 * Settings with an active free float are not remembered, nor those of a finite space so large that
 * none comes twice in practice. In an infinite space whose conditions also allow settings without a
 * free float, those are not repeated either, until TRIES draws in a row find nothing else.
 *
 * The saved state is counters and the random state. Loading draws everything again, which
 * rebuilds the memory of settings; where there is none to rebuild, it just sets the counters.
 */
#include "search/draw.h"
#include "search/walk.h"

#include <errno.h>
#include <math.h>

#define TRIES         16
#define STATE_VERSION 1
#define NEVER         1e-24 /* a million draws repeat with a chance of 1e-12: less than hashes meet */

static char seen_mark;

/* An upper bound of the chance that two draws are the same setting: the product of the widest cells
 * (in log scale the first value's) of the parameters that are always active; a free float: 0. */
static double chance_of_repeat(const struct space *space)
{
    double chance = 1;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        double size = param_size(param);
        if (param->n_when == 0 && size > 1)
            chance *= isinf(size) ? 0 : 2 * param_to_unit(param, param_value_at(param, 0));
    }
    return chance;
}

void draw_init(struct draw *d, draw_fn *next)
{
    d->next = next;
    d->start = d->base.rng;
    d->watch = chance_of_repeat(d->base.space) > NEVER;
    d->finite = !walk_obstacle(d->base.space);
}

static void forget(struct draw *d)
{
    map_release(&d->seen);
    free(d->cursor);
    free(d->begin);
    d->cursor = d->begin = NULL;
    d->exhausted = false;
    d->drawn = d->asked = 0;
    d->base.rng = d->start;
}

void draw_release(struct search *s)
{
    forget((struct draw *)s);
}

static bool has_free_float(const struct space *space, const double *x)
{
    for (size_t i = 0; i < space->n; i++)
        if (!isnan(x[i]) && isinf(param_size(&space->params[i])))
            return true;
    return false;
}

/* Note that x is given out; false if it was before. */
static bool note(struct draw *d, const double *x)
{
    const struct space *space = d->base.space;
    if (!d->watch || (!d->finite && has_free_float(space, x)))
        return true;
    uint64_t hash = point_hash(x, space->n);
    if (map_find(&d->seen, hash))
        return false;
    map_put(&d->seen, hash, &seen_mark);
    return true;
}

static void draw_one(struct draw *d, double *ret_x)
{
    d->next(d, ret_x);
    d->drawn++;
    space_settle(d->base.space, ret_x);
}

/* Find a fresh setting by walking on; `from` is where the first walk begins. */
static bool walk_on(struct draw *d, const double *from, double *ret_x)
{
    const struct space *space = d->base.space;
    size_t size = space->n * sizeof(*from);

    if (!d->cursor) {
        d->cursor = xmemdup(from, size);
        d->begin = xmemdup(from, size);
    }
    do {
        if (!walk_next(space, d->cursor))
            walk_first(space, d->cursor);
        if (note(d, d->cursor)) {
            memcpy(ret_x, d->cursor, size);
            return true;
        }
    } while (!point_equal(d->cursor, d->begin, space->n));
    return false;
}

int draw_ask(struct search *s, double *ret_x, struct err *err)
{
    struct draw *d = (struct draw *)s;
    bool fresh = false;

    for (int i = 0; i < TRIES && !fresh && !d->exhausted; i++) {
        draw_one(d, ret_x);
        fresh = note(d, ret_x);
    }
    if (!fresh && d->finite && !d->exhausted) {
        fresh = walk_on(d, ret_x, ret_x);
        d->exhausted = !fresh;
    }
    if (d->exhausted)
        return err_set(err, ENODATA, "every setting was tried");
    d->asked++;
    return 0;
}

struct draw_state {
    uint64_t version, drawn, asked, exhausted;
    struct rng rng;
};

void draw_save(const struct search *s, struct str *to)
{
    const struct draw *d = (const struct draw *)s;
    struct draw_state state = {STATE_VERSION, d->drawn, d->asked, d->exhausted, s->rng};
    str_add_n(to, (const char *)&state, sizeof(state));
}

static int replay(struct draw *d, const struct draw_state *state, struct err *err)
{
    autofree(mem) double *x = xcalloc(d->base.space->n, sizeof(*x));
    uint64_t asks = state->asked + (state->exhausted ? 1 : 0);

    while (asks-- && d->drawn < state->drawn)
        draw_ask(&d->base, x, NULL);
    if (d->drawn != state->drawn || d->asked != state->asked ||
        memcmp(&d->base.rng, &state->rng, sizeof(state->rng)) != 0)
        return err_set(err, EINVAL, "the saved state of %s search does not fit this space and seed",
                       d->base.ops->name);
    return 0;
}

int draw_load(struct search *s, const void *bytes, size_t n, struct err *err)
{
    struct draw *d = (struct draw *)s;
    struct draw_state state;

    if (n != sizeof(state))
        return err_set(err, EINVAL, "the saved state of %s search has %zu bytes, not %zu",
                       s->ops->name, n, sizeof(state));
    memcpy(&state, bytes, n);
    if (state.version != STATE_VERSION)
        return err_set(err, EINVAL, "the saved state of %s search is of another version",
                       s->ops->name);
    forget(d);
    if (d->watch)
        return replay(d, &state, err);
    d->drawn = state.drawn;
    d->asked = state.asked;
    s->rng = state.rng;
    return 0;
}
