/* SPDX-License-Identifier: MIT */
/*
 * belief.h — what a search believes, whatever its algorithm: a model of each objective and
 * constraint over all results, and what earlier experiments teach. Private to search/.
 *
 * It is made when it is first asked for and follows the history from then on.
 */
#ifndef HONE_SEARCH_BELIEF_H
#define HONE_SEARCH_BELIEF_H

#include "search/model.h"

struct transfer;

struct belief {
    struct encoder encoder;
    struct model *models; /* objectives, then constraints, then cost where it is weighed */
    size_t n_models;
    bool weigh_cost;
    struct transfer *transfer; /* NULL: nothing is known */
};
/* NULL if there is no linear algebra. Up to date with the history; *ret_ready: the objective has a
 * model. */
struct belief *belief_of(struct search *s, bool *ret_ready);
/* Can its predictions be told in the objective's units? Not from a single setting. */
bool belief_has_unit(const struct belief *belief);
/* The model of ln cost; NULL: it is not weighed, or none is known. */
const struct model *belief_cost(const struct belief *belief);
void belief_free(struct belief *belief);
/* Does the setting of a model's row keep all constraints, by what was measured? */
bool belief_feasible(const struct search *s, size_t first);
/* Rows of the objective's model that keep the constraints, lowest posterior mean first; at most
 * `max`. ret_mean, ret_deviation (max) scaled, of each; NULL: not wanted. */
size_t belief_top(struct search *s, const struct belief *belief, size_t max, size_t *ret_rows,
                  double *ret_mean, double *ret_deviation);

#endif
