/* SPDX-License-Identifier: MIT */
/*
 * random.c — independent draws: uniform in the unit cube of the parameters (so a log scale is
 * uniform in the logarithm), or by their priors. The yardstick that every other algorithm has to
 * beat.
 */
#include "search/draw.h"

static int random_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    struct rng rng = search_rng(s, 0);
    return draw_random(s, &rng, true, ret->x, err);
}

const struct search_ops search_random = {
    .name = "random",
    .help = "independent random settings",
    .size = sizeof(struct search),
    .ask = random_ask,
    .several = true,
    .blind = true,
};
