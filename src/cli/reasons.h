/* SPDX-License-Identifier: MIT */
/*
 * reasons.h — why a trial was made, and why it was ended early, as sentences from the numbers that
 * are kept with it (trial.why, trial.verdict).
 */
#ifndef HONE_REASONS_H
#define HONE_REASONS_H

#include "base/str.h"
#include "model/trial.h"

/* "suggested by bayes after 17 results: …". `known` names the experiments that taught the search
 * ("experiment 4"), NULL: none. False: nothing is kept. */
bool reason_made(const struct trial *trial, const char *known, struct str *to);
/* "stopped by curve at step 12: …". False: no rule has judged it. */
bool reason_ended(const struct trial *trial, struct str *to);

/* "0.9298 ± 0.0011": the deviation as half of a 95 % interval, the mean to its digits. A deviation
 * that is not known (NaN) is left out. */
void str_add_interval(struct str *to, double mean, double deviation);
/* "0.4 %", "under 0.01 %" */
void str_add_chance(struct str *to, double chance);

#endif
