/* SPDX-License-Identifier: MIT */
/*
 * grid.c — every combination, in the order of the file, the last parameter fastest.
 *
 * Its state is one number: how many were asked. Loading walks there again, which takes well under
 * a microsecond a setting.
 */
#include "search/search.h"
#include "search/walk.h"

#include <errno.h>

struct grid {
    struct search base;
    uint64_t asked;
    double *x; /* the last one asked */
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
    if (grid->asked == 0)
        walk_first(grid->base.space, grid->x);
    else if (!walk_next(grid->base.space, grid->x))
        return false;
    grid->asked++;
    return true;
}

static int grid_ask(struct search *s, double *ret_x, struct err *err)
{
    struct grid *grid = (struct grid *)s;
    if (!advance(grid))
        return err_set(err, ENODATA, "every setting was tried");
    for (size_t i = 0; i < s->space->n; i++)
        ret_x[i] = grid->x[i];
    return 0;
}

static void grid_save(const struct search *s, struct str *to)
{
    const struct grid *grid = (const struct grid *)s;
    str_add_n(to, (const char *)&grid->asked, sizeof(grid->asked));
}

static int grid_load(struct search *s, const void *bytes, size_t n, struct err *err)
{
    struct grid *grid = (struct grid *)s;
    uint64_t asked;

    if (n != sizeof(asked))
        return err_set(err, EINVAL, "the saved state of grid search has %zu bytes, not %zu", n,
                       sizeof(asked));
    memcpy(&asked, bytes, n);
    grid->asked = 0;
    while (grid->asked < asked)
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
};
