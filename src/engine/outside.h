/* SPDX-License-Identifier: MIT */
/*
 * outside.h — what trials from outside share, those of lines (observe.h) and of tracking clients
 * (tracked.h): their summaries, and which of these were not written when an earlier server died.
 */
#ifndef HONE_OUTSIDE_H
#define HONE_OUTSIDE_H

#include "series/db.h"
#include "store/store.h"

/* By number − 1: values that are stored, less those that summaries tell of. A trial some of whose
 * values do not count (series_db_lines) is among them, and is summed up once more. */
struct untold {
    int64_t *at; /* a VEC */
    size_t len, cap;
};
void untold_find(struct series_db *db, struct store *reader, int64_t experiment,
                 struct untold *ret);
bool untold_any(const struct untold *untold);

/* Its text is borrowed from `db`. */
struct summary outside_summary(struct series_db *db, const struct series_info *info);

#endif
