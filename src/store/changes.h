/* SPDX-License-Identifier: MIT */
/*
 * changes.h — which experiments and trials were written lately, for readers of the same process
 * that keep copies of rows. The writer tells it after each commit; a reader asks for what came
 * since it last asked, and then reads these rows anew.
 *
 *     writer: store_apply() ──► ring of the last CHANGES_KEPT ◄── reader: changes_since(seen)
 *
 * Who asks before reading misses nothing: what is committed was told before its answer left.
 */
#ifndef HONE_STORE_CHANGES_H
#define HONE_STORE_CHANGES_H

#include "base/base.h"

#define CHANGES_KEPT 65536

struct change {
    int64_t experiment, trial; /* trial 0: the experiment's own row, or all of it */
    bool removed;
};
struct changes;
struct txn;
struct changes *changes_new(void);
void changes_free(struct changes *changes);
DEFINE_AUTOFREE(changes);

/* A transaction was committed. From any thread, as all of these. */
void changes_tell(struct changes *changes, const struct txn *txn);
/* How many there have been. */
uint64_t changes_count(struct changes *changes);
/* Those behind the first `seen`, oldest first: their number, at most `max` of them in ret; ask
 * again until it is 0. -ENOBUFS: some are forgotten, nothing that was copied can be trusted. */
int changes_since(struct changes *changes, uint64_t seen, struct change *ret, size_t max);

/* Call `fn` after each commit, on the writer's thread and before it is told above; NULL: no longer,
 * and it does not run any more. There is one at most. */
typedef void changes_fn(void *arg);
void changes_listen(struct changes *changes, changes_fn *fn, void *arg);

/* How often tokens have changed: who keeps a copy reads them anew when it has grown. */
uint64_t changes_tokens(struct changes *changes);

#endif
