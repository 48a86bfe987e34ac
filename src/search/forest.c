/* SPDX-License-Identifier: MIT */
/*
 * forest.c — Bayesian optimisation with a random forest as the model (as in SMAC): steps, choices
 * and conditions need no smoothness.
 */
#include "search/guided.h"

static int forest_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    return guided_ask(s, GUIDE_FOREST, false, ret, err);
}

const struct search_ops search_forest = {
    .name = "forest",
    .help = "Bayesian optimisation with a random forest",
    .size = sizeof(struct guided),
    .init = guided_init,
    .ask = forest_ask,
    .save = guided_save,
    .load = guided_load,
    .release = guided_release,
};
