/* SPDX-License-Identifier: MIT */
/*
 * fresh.h — figures of trials that nobody writes down any more. The engine puts values and
 * summaries into the database about once a second, samples into the store of series at once. When
 * it was killed, samples tell more: a home without an engine is read with these.
 *
 * Taken from samples are trials that were running, and those from outside, which have no end.
 */
#ifndef HONE_FRESH_H
#define HONE_FRESH_H

#include "store/store.h"

struct fresh;
/* Borrows both. NULL: an engine is at work, which tells the newest itself. */
struct fresh *fresh_new(const char *home, const struct spec *spec);
void fresh_free(struct fresh *fresh);
DEFINE_AUTOFREE(fresh);

/* Bring its value, its best and its steps up to date; what cannot be read stays as it is. `fresh`
 * NULL: nothing to do. */
void fresh_trial(struct fresh *fresh, struct trial *trial);
/* store_summaries() of this trial, by name of the metric. `fresh` NULL: just that. */
int fresh_summaries(struct fresh *fresh, struct store *store, const struct trial *trial,
                    summary_fn *fn, void *arg, struct err *err);

#endif
