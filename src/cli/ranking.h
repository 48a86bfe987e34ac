/* SPDX-License-Identifier: MIT */
/*
 * ranking.h — which trials of an experiment are the best: by value, with the search's choice first
 * where it made one; with several objectives those that no other one beats in all of them.
 */
#ifndef HONE_RANKING_H
#define HONE_RANKING_H

#include "api/results.h"

struct ranking {
    struct results results;
    VEC(size_t)
    order;          /* rows of results, best first; those that break a constraint are not there */
    bool completed; /* some trial completed with a value */
    bool repeated;  /* some setting was run more than once */
};

int ranking_load(struct store *store, const struct target *target, struct ranking *ret,
                 struct err *err);
void ranking_release(struct ranking *ranking);
/* The i-th best. */
const struct outcome *ranking_at(const struct ranking *ranking, size_t i);
/* How often this setting was run to its end. */
size_t ranking_runs(const struct ranking *ranking, const struct outcome *row);
/* Has the search's model something to say about it? */
bool ranking_has_model(const struct target *target, const struct outcome *row);
/* "hypervolume 57, 59.4% of the box between the worst (8, 18) and the best of each objective".
 * Nothing where there is one objective, or no such box. */
void ranking_cover_words(const struct ranking *ranking, const struct target *target,
                         struct str *to);
/* "best 0.9312 (model 0.9298 ± 0.0011, run 3 times): trial 3.12", or how many are on the front.
 * Nothing where the value says it all. */
void ranking_words(const struct ranking *ranking, const struct target *target, struct str *to);

#endif
