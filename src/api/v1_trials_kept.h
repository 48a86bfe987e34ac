/* SPDX-License-Identifier: MIT */
/*
 * v1_trials_kept.h — answers about single trials, kept by the http thread until one of their rows
 * is written or their experiment gets another name or owner: pages ask for the same trial again and
 * again. Names of experiments are kept, too: a trial that is read does not ask for its own each
 * time.
 */
#ifndef HONE_V1_TRIALS_KEPT_H
#define HONE_V1_TRIALS_KEPT_H

#include "api/etag.h"
#include "store/changes.h"
#include "store/store.h"

#define KEPT_BYTES ((size_t)16 << 20)

struct kept_trials;
/* `changes` is borrowed. Beyond bytes_max the oldest are forgotten. */
struct kept_trials *kept_trials_new(struct changes *changes, size_t bytes_max);
void kept_trials_free(struct kept_trials *kept);

struct kept_trial {
    struct kept_trial *older, *newer;
    uint64_t key;
    char etag[ETAG_SIZE];
    size_t n;
    char body[]; /* n bytes */
};
/* Forget what was written since. Before a view of the database begins: what is read in it may be
 * kept. */
void kept_trials_refresh(struct kept_trials *kept);
/* As of the last kept_trials_refresh() or later; NULL: not kept. Lives until the next call. */
const struct kept_trial *kept_trials_find(struct kept_trials *kept, struct store *store,
                                          int64_t experiment, int64_t trial);
/* The name of an experiment, as of the last kept_trials_refresh() or later; *ret lives until the
 * next one. -ENOENT with a sentence: there is no such experiment. */
int kept_trials_name(struct kept_trials *kept, struct store *store, int64_t experiment,
                     const char **ret, struct err *err);
/* Was this trial asked for here lately? Then its answer is worth to be kept: who walks over all
 * trials leaves what others ask for again and again where it is. */
bool kept_trials_again(struct kept_trials *kept, int64_t experiment, int64_t trial);
/* Keep a copy of what was read after the last kept_trials_refresh(), with the name that
 * kept_trials_name() told. */
void kept_trials_put(struct kept_trials *kept, int64_t experiment, int64_t trial,
                     const struct str *body, const char *etag);

#endif
