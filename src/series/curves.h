/* SPDX-License-Identifier: MIT */
/*
 * curves.h — the metrics of an experiment's trials as expressions (expr/expr.h) ask for them: stats
 * of all trials by one pass over the store's index, blocks where a condition needs more, points of
 * those blocks alone that it cuts.
 *
 * What is told is what series_read() would tell. Where the store cannot vouch for that, it says so,
 * and the caller reads: trials that run, attempts that are in their files only, attempts that tell
 * steps again, output whose redraws count once, samples without steps.
 */
#ifndef HONE_CURVES_H
#define HONE_CURVES_H

#include "expr/expr.h"
#include "model/trial.h"
#include "series/db.h"

struct curves;
/* Look at the experiment's series as they are now. */
int curves_open(const char *home, int64_t experiment, struct curves **ret, struct err *err);
void curves_free(struct curves *curves);
DEFINE_AUTOFREE(curves);
/* For series_read(); lives as long as `curves`. */
struct series_db *curves_db(struct curves *curves);

/* Every metric that is stored of any trial, once. NULL behind the last. */
const char *curves_name(const struct curves *curves, size_t i);
/* Make ready to ask about a metric. Returns its number, the same for the same name. */
size_t curves_metric(struct curves *curves, const char *name);

enum curves_answer {
    CURVES_NONE,    /* the trial has no such metric */
    CURVES_UNKNOWN, /* series_read() knows, or the database's summary */
    CURVES_KNOWN
};
enum curves_answer curves_stats(struct curves *curves, size_t metric, const struct trial *trial,
                                struct expr_stats *ret);
/* As expr_source.blocks: 0, or -EAGAIN if only series_read() knows. */
int curves_blocks(struct curves *curves, size_t metric, const struct trial *trial,
                  expr_block_fn *block, expr_points_fn *fn, void *fn_arg);

#endif
