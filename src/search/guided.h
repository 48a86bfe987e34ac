/* SPDX-License-Identifier: MIT */
/*
 * guided.h — searches that are led by a model: bayes, forest, and auto, which takes the better of
 * the two. They differ in the model; design, acquisition and climbing are shared. Private to
 * search/.
 *
 *     few results ──► a Sobol sequence
 *     else        ──► the setting with the largest score:
 *                     one objective: ln EI + Σ ln P(constraint kept) − ln cost
 *                     several: the volume that a hopeful outcome would add to the front
 *
 * What is in flight counts, to processes and forest alike, as if it had come out as expected.
 */
#ifndef HONE_SEARCH_GUIDED_H
#define HONE_SEARCH_GUIDED_H

#include "search/belief.h"
#include "search/sobol_set.h"
#include "surrogate/forest.h"

struct guided {
    struct search base;
    struct sobol_set sobol;
    uint64_t drawn;
    size_t compared_at; /* results when auto compared the models last */
    bool forest;        /* … and this is what it found */
};
int guided_init(struct search *s, struct err *err);
void guided_release(struct search *s);
void guided_save(const struct search *s, struct str *to);
int guided_load(struct search *s, const void *bytes, size_t n, struct err *err);

enum guide { GUIDE_BAYES, GUIDE_FOREST };
/* near: look only at the neighbours of the best. Else three asks in four of the processes, for one
 * objective, keep free floats around the best, and the fourth looks everywhere. */
int guided_ask(struct search *s, enum guide guide, bool near, struct suggestion *ret,
               struct err *err);
/* Is it time for the model yet? */
bool guided_ready(struct search *s);

/* The setting from which most is to be expected, whatever the algorithm: its prediction, scaled.
 * False: there is none. Changes nothing. One objective only; the belief must be ready. */
bool guided_look(struct search *s, double *ret_mean, double *ret_deviation);

/* The forest's predictions at n points given as features. */
void guided_forest_predict(const struct forest *forest, const struct encoder *encoder,
                           const double *features, size_t n, double *ret_mean,
                           double *ret_deviation);
/* The forest over the objective's targets as they are. NULL: too little is known. Free it. */
struct forest *guided_forest(const struct search *s, const struct data *data, const size_t *rows,
                             size_t n, struct rng *rng);

#endif
