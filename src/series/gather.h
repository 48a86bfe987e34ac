/* SPDX-License-Identifier: MIT */
/*
 * gather.h — from samples, as readers of files tell them one by one, to rows for the store.
 *
 *     loss: 0.5 acc: 0.8      ──► one row: step 3, two values, end 25
 *
 * The samples of one line with one step and time are one row. A line that tells more than one step
 * gives several; each has an end of its own inside the line, so that ends rise with every row, and
 * a file that is read again adds exactly the rows that were not stored. All of a line's samples
 * come before gather_end() or those of the next.
 */
#ifndef HONE_GATHER_H
#define HONE_GATHER_H

#include "series/db.h"

typedef void gather_fn(const struct series_source *source, const struct series_row *row, void *arg);
struct gather_sample { /* as a reader tells it */
    const char *metric;
    int64_t step, time_ns; /* INT64_MIN: none */
    double value;
    uint16_t rest; /* base/rest.h */
};
struct gathered {
    uint32_t name;
    uint16_t rest;
    int64_t step, time_ns;
    double value;
};
struct gather {
    struct series_db *db; /* borrowed: it numbers the names */
    gather_fn *fn;
    void *arg;
    struct series_source source;
    uint64_t end; /* of the line */
    VEC(struct gathered) line;
    VEC(uint32_t) names;
    VEC(double) values;
};
void gather_init(struct gather *gather, struct series_db *db, gather_fn *fn, void *arg);
void gather_release(struct gather *gather);
/* A word for Hone itself (metric_is_word) or a name that the store does not take is left out. */
void gather_sample(struct gather *gather, const struct series_source *source, uint64_t end,
                   const struct gather_sample *sample);
void gather_end(struct gather *gather);

#endif
