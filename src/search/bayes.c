/* SPDX-License-Identifier: MIT */
/*
 * bayes.c — Bayesian optimisation: Gaussian processes over the results, and the setting of which
 * they expect most (log expected improvement over the best posterior mean; for several objectives
 * the volume that a hopeful outcome would add).
 */
#include "search/guided.h"

static int bayes_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    return guided_ask(s, GUIDE_BAYES, false, ret, err);
}

const struct search_ops search_bayes = {
    .name = "bayes",
    .help = "Bayesian optimisation with Gaussian processes",
    .size = sizeof(struct guided),
    .init = guided_init,
    .ask = bayes_ask,
    .save = guided_save,
    .load = guided_load,
    .release = guided_release,
    .several = true,
};
