/* SPDX-License-Identifier: MIT */
/*
 * sobol.c — the points of a scrambled Sobol sequence, one after another.
 */
#include "search/sobol_set.h"
#include "search/draw.h"

struct sobol {
    struct search base;
    struct sobol_set set;
    uint64_t drawn;
};

static void sobol_point(const struct search *s, uint64_t number, double *ret_x)
{
    sobol_set_point(&((const struct sobol *)s)->set, number, ret_x);
}

static int sobol_init(struct search *s, struct err *err UNUSED)
{
    sobol_set_init(&((struct sobol *)s)->set, s->space, s->problem.seed);
    return 0;
}

static int sobol_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    return draw_fresh(s, sobol_point, &((struct sobol *)s)->drawn, ret->x, err);
}

static void sobol_save(const struct search *s, struct str *to)
{
    draw_save(((const struct sobol *)s)->drawn, to);
}

static int sobol_load(struct search *s, const void *bytes, size_t n, struct err *err)
{
    return draw_load(bytes, n, &((struct sobol *)s)->drawn, err);
}

static void sobol_release(struct search *s)
{
    sobol_set_release(&((struct sobol *)s)->set);
}

const struct search_ops search_sobol = {
    .name = "sobol",
    .help = "a scrambled Sobol sequence: fills the space evenly",
    .size = sizeof(struct sobol),
    .init = sobol_init,
    .ask = sobol_ask,
    .save = sobol_save,
    .load = sobol_load,
    .release = sobol_release,
    .several = true,
    .blind = true,
};
