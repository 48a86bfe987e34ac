/* SPDX-License-Identifier: MIT */
/*
 * choose.c — which of the settings that were run is the best: the one with the lowest posterior
 * mean. The luckiest result is not: with noise it is often just that.
 */
#include "linalg/linalg.h"
#include "search/model.h"

#include <errno.h>
#include <math.h>

/* The model is made when it is first asked for, by any algorithm, and follows the history. */
struct chooser {
    struct encoder encoder;
    struct model model;
};

static struct chooser *chooser_of(struct search *s)
{
    struct chooser *chooser = s->noise;

    if (chooser)
        return chooser;
    if (linalg_open(NULL) < 0)
        return NULL;
    chooser = xcalloc(1, sizeof(*chooser));
    encoder_init(&chooser->encoder, s->space);
    struct gp_prior prior = gp_prior_for(chooser->encoder.d);
    model_init(&chooser->model, &chooser->encoder, &prior);
    s->noise = chooser;
    return chooser;
}

int search_best(struct search *s, struct best *ret)
{
    struct chooser *chooser = chooser_of(s);

    if (!chooser || !model_update(&chooser->model, s, 0))
        return -ENODATA;
    double mean, deviation;
    size_t best = model_best(&chooser->model, &mean);
    const struct model_row *row = &chooser->model.rows.at[best];
    model_predict(&chooser->model, chooser->model.features.at + best * chooser->encoder.d, 1, &mean, &deviation);
    *ret = (struct best){.x = history_x(&s->history, row->first), .row = row->first, .repeats = row->count};
    model_unscale(&chooser->model, mean, deviation, &ret->mean, &ret->deviation);
    return 0;
}
