/* SPDX-License-Identifier: MIT */
/*
 * bbob.c — an instance of a BBOB function, from its seed to its value.
 *
 * Each function is a simple shape, seen through a chain of transformations: the optimum is moved
 * to xopt, the space rotated by R and Q, stretched by Λ^α, made irregular by T_osz and asymmetric
 * by T_asy (bbob_parts.c); the value is lifted by fopt. An instance is its seed: the number of the
 * function (two borrow another's) + 10000 · instance; R comes from seed + 1000000, Q from seed.
 *
 * bbob_check.py holds every function against COCO's own values.
 */
#include "bbob_parts.h"

#include <stdlib.h>

struct bbob *bbob_new(int function, size_t dim, int instance)
{
    if (function < 1 || function > BBOB_FUNCTIONS || dim < 2 || instance < 1)
        return NULL;
    struct bbob *b = calloc(1, sizeof(*b));
    if (!b)
        abort();
    b->kind = &bbob_kinds[function - 1];
    b->dim = dim;
    b->seed = b->kind->seed + 10000L * instance;
    b->fopt = bbob_draw_fopt(b->seed);
    b->xopt = bbob_vector(dim);
    b->y = bbob_vector(dim);
    b->z = bbob_vector(dim);
    b->r = bbob_draw_rotation(dim, b->seed + SECOND_SEED);
    b->q = bbob_draw_rotation(dim, b->seed);
    bbob_draw_xopt(b, b->seed);
    if (b->kind->prepare)
        b->kind->prepare(b);
    return b;
}

void bbob_free(struct bbob *b)
{
    if (!b)
        return;
    double *const vectors[] = {b->xopt, b->y, b->z, b->r, b->q, b->peak_at, b->peak_scale};
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
        free(vectors[i]);
    free(b);
}

double bbob_value(struct bbob *b, const double *x)
{
    double beyond = b->kind->penalty > 0 ? b->kind->penalty * bbob_penalty(b, x) : 0;
    return b->kind->value(b, x) + beyond + b->fopt;
}

double bbob_best(const struct bbob *b)
{
    return b->fopt;
}

const char *bbob_name(const struct bbob *b)
{
    return b->kind->name;
}

const double *bbob_optimum(const struct bbob *b)
{
    return b->xopt;
}
