/* SPDX-License-Identifier: MIT */
/*
 * grid.c — every combination, in the order of the file, the last parameter fastest.
 *
 * Its state is one number: how far it walked. Loading walks there again, which takes well under a
 * microsecond a setting.
 */
#include "search/draw.h"
#include "search/walk.h"

#include <errno.h>

struct grid {
    struct search base;
    uint64_t walked;
    double *x; /* where the walk stands */
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
    grid->x = xcalloc(s->space->n, sizeof(*grid->x));
    return 0;
}

static bool advance(struct grid *grid)
{
    if (grid->walked == 0)
        walk_first(grid->base.space, grid->x);
    else if (!walk_next(grid->base.space, grid->x))
        return false;
    grid->walked++;
    return true;
}

static int grid_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    struct grid *grid = (struct grid *)s;

    do
        if (!advance(grid))
            return err_set(err, ENODATA, "every setting was tried");
    while (!draw_is_fresh(s, grid->x));
    for (size_t i = 0; i < s->space->n; i++)
        ret->x[i] = grid->x[i];
    ret->why = WHY_WALK;
    return 0;
}

static void grid_save(const struct search *s, struct str *to)
{
    draw_save(((const struct grid *)s)->walked, to);
}

static int grid_load(struct search *s, const void *bytes, size_t n, struct err *err)
{
    struct grid *grid = (struct grid *)s;
    uint64_t walked = 0;
    int r = draw_load(bytes, n, &walked, err);

    if (r < 0)
        return r;
    grid->walked = 0;
    while (grid->walked < walked)
        if (!advance(grid))
            return err_set(err, EINVAL, "the saved state of grid search is past the space's end");
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
};
