/* SPDX-License-Identifier: MIT */
/*
 * merge_plan.h — which neighbouring segments are worth merging, from their sizes alone.
 *
 * A segment's level is the power of eight of its size. More than eight neighbours of one level are
 * merged into one of the next; so each value is written once a level, whatever the store grows to.
 */
#ifndef HONE_SERIES_MERGE_PLAN_H
#define HONE_SERIES_MERGE_PLAN_H

#include "base/base.h"

struct merge_piece {
    uint64_t bytes;
    bool fixed; /* a log: not to be merged */
    bool apart; /* from the one before: no merge reaches over what lies between them */
};

/* The next run to merge: how many pieces from *ret_from on; 0: none. */
size_t merge_plan(const struct merge_piece *pieces, size_t n, size_t *ret_from);
/* The same for somebody who asked for it: two neighbours below 1 GiB are enough. */
size_t merge_plan_small(const struct merge_piece *pieces, size_t n, size_t *ret_from);

#endif
