/* SPDX-License-Identifier: MIT */
/*
 * stream_points.h — samples of some tenths of a second, gathered by series, as events for viewers.
 * A series that tells more than POINTS_MAX of them in that time is thinned, every other one at a
 * time: viewers who want all of them ask for the curve. Pure.
 */
#ifndef HONE_STREAM_POINTS_H
#define HONE_STREAM_POINTS_H

#include "base/str.h"
#include "series/db.h"

#define POINTS_MAX    64   /* of one series in one batch; even */
#define POINTS_SERIES 2000 /* in one batch; others are left out of it */

struct points_batch;
struct points_batch *points_batch_new(void);
void points_batch_free(struct points_batch *batch);
DEFINE_AUTOFREE(points_batch);

/* `name` is kept as it is until the batch is told. In one attempt a metric comes from its most
 * trusted source: what a lesser one tells is left out. */
void points_batch_add(struct points_batch *batch, const struct series_source *source,
                      const struct series_row *row);
bool points_batch_empty(const struct points_batch *batch);
/* One event for each series of this experiment, as text for a stream:
 * "event: points\ndata: {"experiment":3,"trial":7,"metric":"loss","step":[…],"time":[…s],
 * "value":[…]}\n\n". step: null where the program told none. `fn` gets some of them at a time. */
typedef void points_text_fn(int64_t experiment, const struct str *text, void *arg);
void points_batch_tell(struct points_batch *batch, const struct series_db *db, points_text_fn *fn,
                       void *arg);
/* Forget which sources were trusted: nobody watches any more. */
void points_batch_forget(struct points_batch *batch);

#endif
