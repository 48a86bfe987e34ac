/* SPDX-License-Identifier: MIT */
/*
 * grid.c — every combination, in the order of the file, the last parameter fastest.
 *
 * Its state is the setting where the walk stands. At the end it looks once more for settings that
 * were given back.
 */
#include "search/draw.h"
#include "search/walk.h"

#include <errno.h>
#include <math.h>

struct grid {
    struct search base;
    double *x; /* where the walk stands */
    bool begun;
};

static int grid_init(struct search *s, struct err *err)
{
    struct grid *grid = (struct grid *)s;
    const struct param *obstacle = walk_obstacle(s->space);

    if (obstacle)
        return err_set(err, EINVAL,
                       "grid search cannot try every value of parameter '%s'; give it a step or a "
                       "list of values, or take another algorithm",
                       obstacle->name);
    grid->x = xcalloc(s->space->n + 1, sizeof(*grid->x));
    return 0;
}

static int grid_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    struct grid *grid = (struct grid *)s;
    bool begun = grid->begun;

    if (!begun)
        walk_first(s->space, grid->x);
    grid->begun = true;
    if (begun || !draw_is_fresh(s, grid->x)) {
        int r = draw_walk(s, begun, grid->x, err);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < s->space->n; i++)
        ret->x[i] = grid->x[i];
    ret->why = WHY_WALK;
    return 0;
}

static void grid_save(const struct search *s, struct str *to)
{
    const struct grid *grid = (const struct grid *)s;
    if (grid->begun)
        str_add_n(to, (const char *)grid->x, s->space->n * sizeof(*grid->x));
}

/* Is x a stop of the walk: a setting, though maybe a forbidden one? */
static bool is_stop(const struct space *space, const double *x)
{
    for (size_t i = 0; i < space->n; i++)
        if (param_active(&space->params[i], x) ? !param_contains(&space->params[i], x[i])
                                               : !isnan(x[i]))
            return false;
    return true;
}

static int grid_load(struct search *s, const void *bytes, size_t n, struct err *err)
{
    struct grid *grid = (struct grid *)s;
    size_t size = s->space->n * sizeof(*grid->x);
    autofree(mem) double *x = xmemdup(bytes, n);

    if (n != 0 && (n != size || !is_stop(s->space, x)))
        return err_set(err, EINVAL, "the saved state of grid search is no setting of this space");
    memcpy(grid->x, x, n);
    grid->begun = n > 0;
    return 0;
}

static void grid_release(struct search *s)
{
    free(((struct grid *)s)->x);
}

const struct search_ops search_grid = {
    .name = "grid",
    .help = "every combination, in the order of the file",
    .size = sizeof(struct grid),
    .init = grid_init,
    .ask = grid_ask,
    .save = grid_save,
    .load = grid_load,
    .release = grid_release,
    .several = true,
    .blind = true,
};
