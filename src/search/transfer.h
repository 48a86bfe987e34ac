/* SPDX-License-Identifier: MIT */
/*
 * transfer.h — what earlier experiments teach this one. Private to search/.
 *
 * Each task (struct task in search.h) becomes a process of its own, fitted once. Its predictions
 * are a guess of this experiment's results, believed as far as they fit what has been seen: weights
 * by ridge regression around the belief that the tasks are alike.
 */
#ifndef HONE_SEARCH_TRANSFER_H
#define HONE_SEARCH_TRANSFER_H

#include "search/encode.h"
#include "search/search.h"

struct transfer;
/* NULL if no task has enough results. */
struct transfer *transfer_new(const struct search *s, const struct encoder *encoder);
void transfer_free(struct transfer *transfer);
size_t transfer_tasks(const struct transfer *transfer);
/* Scaled predictions of all tasks at m points: ret (m, tasks). */
void transfer_predict(const struct transfer *transfer, const double *features, size_t m,
                      double *ret);
/* How far results at n points should lie apart, by what the tasks predict there (n, tasks): at most
 * 1, their deviation where tasks saw all of the space. */
double transfer_spread(const struct transfer *transfer, const double *known, size_t n);
/* Weights (tasks) that fit the targets (n) to the tasks' predictions there (n, tasks). */
void transfer_weigh(const struct transfer *transfer, const double *known, const double *target,
                    size_t n, double *ret_weights);
/* Add the weighed predictions at one point and their slopes. */
void transfer_add_slope(const struct transfer *transfer, const double *features,
                        const double *weights, double *mean, double *slope);
/* The k-th setting to run first (space->n doubles): of the tasks' best, those that the tasks
 * together think best, unlike each other. False: no more. */
bool transfer_first(const struct transfer *transfer, size_t k, double *ret_x);

#endif
