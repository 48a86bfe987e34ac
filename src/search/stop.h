/* SPDX-License-Identifier: MIT */
/*
 * stop.h — rules that end a poor trial early. Pure: curves in, a verdict out.
 */
#ifndef HONE_SEARCH_STOP_H
#define HONE_SEARCH_STOP_H

#include "base/err.h"
#include "model/spec.h"

/* The objective of one trial by step; steps rise, values finite, always to be minimised. */
struct curve {
    const int64_t *steps;
    const double *values;
    size_t n;
};

struct stop_ops {
    const char *name, *help;
    /* Should the running trial `mine` stop now? `finished`: curves of trials that completed. */
    bool (*check)(const struct curve *mine, const struct curve *finished, size_t n_finished);
};
/* NULL if unknown. */
const struct stop_ops *stop_find(const char *name);
size_t stop_count(void);
const struct stop_ops *stop_at(size_t i);

#endif
