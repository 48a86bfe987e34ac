/* SPDX-License-Identifier: MIT */
/*
 * walk.c — an odometer over the space. A condition looks at earlier parameters only; so when a
 * wheel turns, the wheels behind it are set anew: to their first value where they are active,
 * to NaN where they are not. No setting comes twice, and none is left out.
 */
#include "search/walk.h"

#include <math.h>

const struct param *walk_obstacle(const struct space *space)
{
    for (size_t i = 0; i < space->n; i++)
        if (isinf(param_size(&space->params[i])))
            return &space->params[i];
    return NULL;
}

static void reset_from(const struct space *space, size_t i, double *x)
{
    for (; i < space->n; i++)
        x[i] = param_active(&space->params[i], x) ? param_value_at(&space->params[i], 0) : NAN;
}

void walk_first(const struct space *space, double *ret_x)
{
    reset_from(space, 0, ret_x);
}

/* Turn the last of the first n wheels that can turn. */
static bool turn(const struct space *space, size_t n, double *x)
{
    for (size_t i = n; i-- > 0;) {
        const struct param *param = &space->params[i];
        double k = isnan(x[i]) ? INFINITY : param_index(param, x[i]) + 1;
        if (k >= param_size(param))
            continue;
        x[i] = param_value_at(param, k);
        reset_from(space, i + 1, x);
        return true;
    }
    return false;
}

bool walk_next(const struct space *space, double *x)
{
    return turn(space, space->n, x);
}

bool walk_past(const struct space *space, double *x)
{
    size_t wheels = space->n;

    for (size_t i = 0; i < space->n_forbids; i++) {
        const struct forbid *forbid = &space->forbids[i];
        size_t last = 0;
        for (size_t k = 0; k < forbid->n; k++)
            last = MAX(last, forbid->clauses[k].param);
        if (last + 1 < wheels && forbid_holds(forbid, x))
            wheels = last + 1;
    }
    return turn(space, wheels, x);
}
