/* SPDX-License-Identifier: MIT */
/*
 * learning.h — how much a step teaches under each configuration, where settings of the machine
 * change learning itself: asynchronous workers make steps that are quicker and worth less.
 *
 *     learning_configure(l, configuration);     it runs under this one from now on
 *     learning_tell(l, step, loss);             … for each value
 *     learning_compare(l, a, b)                 ln(worth of a step under a / under b)
 *
 * Seconds per step less this are seconds per unit of learning, which is what counts. Before the
 * loss has told anything a step is worth the same under all, give or take LEARNING_DEVIATION.
 * Only knobs that change learning tell configurations apart here. Pure; call linalg_open() before.
 */
#ifndef HONE_TUNE_LEARNING_H
#define HONE_TUNE_LEARNING_H

#include "tune/speed.h"

#define LEARNING_DEVIATION 0.15 /* of ln(worth of a step) under one configuration, before */

struct learning;

/* The knobs' array is copied. */
struct learning *learning_new(const struct knob *knobs, size_t n);
void learning_free(struct learning *learning);
DEFINE_AUTOFREE(learning);
/* Is there a knob that changes learning? */
bool knobs_learn(const struct knob *knobs, size_t n);

void learning_configure(struct learning *learning, const double *configuration);
/* The loss (lower is better) at a step. Steps that go back are learned anew from there. No numbers,
 * and what comes before the first configuration, are not heard. */
void learning_tell(struct learning *learning, double step, double loss);
/* Below 0: a step under a teaches less. Exactly 0 where no such knob differs. Always finite. */
struct belief_ln learning_compare(struct learning *learning, const double *a, const double *b);

#endif
