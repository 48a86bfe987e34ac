/* SPDX-License-Identifier: MIT */
/*
 * race.c — racing over folds or instances: a trial is compared with the best one on the instances
 * that both have run, pair by pair, since instances differ more than settings do.
 *
 * It has lost when its mean there is worse and the signed-rank test says so. The test is made
 * after every instance, so its level falls with their number: .1 while they are few (below 4 pairs
 * it cannot be reached), then .02, near Pocock's level for ten looks.
 */
#include "lib/internal.h"

#include <math.h>

#define FEW_PAIRS  8
#define LEVEL_FEW  0.1
#define LEVEL_MANY 0.02

struct pairs {
    double *mine, *best; /* (n) */
    size_t n;
};

static void pairs_release(struct pairs *pairs)
{
    free(pairs->mine);
    free(pairs->best);
}

double race_mean(const hone_search *s, const struct asked *asked, size_t objective)
{
    double mean = 0;
    for (size_t i = 0; i < asked->instances.len; i++)
        mean += (asked->scores.at[i * s->n_objectives + objective] - mean) / (double)(i + 1);
    return mean;
}

/* The completed trial with the lowest mean over its instances; NULL: there is none. */
static const struct asked *leader(const hone_search *s)
{
    const struct asked *best = NULL;

    for (size_t i = 0; i < s->trials.len; i++) {
        const struct asked *asked = s->trials.at[i];
        if (asked->state == ASKED_COMPLETED && asked->instances.len &&
            (!best || asked->values[0] < best->values[0]))
            best = asked;
    }
    return best;
}

static struct pairs pair_up(const hone_search *s, const struct asked *mine,
                            const struct asked *best)
{
    size_t n = best->instances.len, k = s->n_objectives;
    struct pairs pairs = {xcalloc(n, sizeof(double)), xcalloc(n, sizeof(double)), 0};

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < mine->instances.len; j++) {
            if (mine->instances.at[j] != best->instances.at[i])
                continue;
            pairs.mine[pairs.n] = mine->scores.at[j * k];
            pairs.best[pairs.n++] = best->scores.at[i * k];
        }
    return pairs;
}

/* Mean and deviation (of that mean) of mine − best. */
static double mean_difference(const struct pairs *pairs, double *ret_deviation)
{
    double mean = 0, squares = 0, n = (double)pairs->n;

    for (size_t i = 0; i < pairs->n; i++) {
        double difference = pairs->mine[i] - pairs->best[i], off = difference - mean;
        mean += off / (double)(i + 1);
        squares += off * (difference - mean);
    }
    *ret_deviation = n > 1 ? sqrt(squares / (n - 1) / n) : 0;
    return mean;
}

bool race_lost(const hone_search *s, const struct asked *asked)
{
    const struct asked *best = s->n_objectives == 1 ? leader(s) : NULL;
    double deviation;

    if (!best)
        return false;
    autorelease(pairs) struct pairs pairs = pair_up(s, asked, best);
    double level = pairs.n < FEW_PAIRS ? LEVEL_FEW : LEVEL_MANY;
    return pairs.n > 0 && mean_difference(&pairs, &deviation) > 0 &&
           race_worse(pairs.mine, pairs.best, pairs.n) < level;
}

void race_estimate(const hone_search *s, const struct asked *asked, double *ret_mean,
                   double *ret_deviation)
{
    const struct asked *best = leader(s);

    *ret_mean = race_mean(s, asked, 0);
    *ret_deviation = 0;
    if (!best || s->n_objectives > 1)
        return;
    autorelease(pairs) struct pairs pairs = pair_up(s, asked, best);
    if (pairs.n)
        *ret_mean = best->values[0] + mean_difference(&pairs, ret_deviation);
}
