/* SPDX-License-Identifier: MIT */
/*
 * random.c — independent uniform draws in the unit cube of the parameters (so a log scale is
 * uniform in the logarithm). The yardstick that every other algorithm has to beat.
 */
#include "search/draw.h"

static void random_next(struct draw *d, double *ret_x)
{
    const struct space *space = d->base.space;
    for (size_t i = 0; i < space->n; i++)
        ret_x[i] = param_from_unit(&space->params[i], rng_unit(&d->base.rng));
}

static int random_init(struct search *s, struct err *err UNUSED)
{
    draw_init((struct draw *)s, random_next);
    return 0;
}

const struct search_ops search_random = {
    .name = "random",
    .help = "independent random settings",
    .size = sizeof(struct draw),
    .init = random_init,
    .ask = draw_ask,
    .save = draw_save,
    .load = draw_load,
    .release = draw_release,
};
