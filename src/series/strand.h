/* SPDX-License-Identifier: MIT */
/*
 * strand.h — a column as it lies in one row group, read a chunk at a time; and several of them
 * told as one, in the order of their rows' numbers.
 */
#ifndef HONE_SERIES_STRAND_H
#define HONE_SERIES_STRAND_H

#include "series/db.h"

struct strand_rows { /* a chunk; pointers into the buffers or into memory that stays */
    size_t n;
    const int64_t *steps, *times_ns;
    const uint64_t *rows;
    const double *values, *rests; /* rests NULL: none */
    struct block_stats stats;
    int64_t first_step, last_step, first_ns, last_ns;
};
struct strand;
/* Load the next chunk into strand->now. 1, or 0 at the end. */
typedef int strand_load_fn(struct strand *strand);
struct strand {
    strand_load_fn *load;
    const void *from, *group; /* where it lies: the loader's business */
    const void *rest;         /* … and its rests; NULL: it has none */
    uint32_t place, rest_place;
    uint64_t next;
    const struct series_range *range;
    void *arg;
    struct strand_rows now;
    size_t at; /* rows of `now` that were told */
    int64_t steps[BLOCK_VALUES], times_ns[BLOCK_VALUES];
    uint64_t rows[BLOCK_VALUES];
    double values[BLOCK_VALUES], rests[BLOCK_VALUES];
};

/* Everything that `n` strands hold, at most BLOCK_VALUES at a time; fn's answer if it is not 0. */
int strands_read(struct strand *strands, size_t n, series_chunk_fn *fn, void *arg);
int strand_rows_tell(const struct strand_rows *rows, series_chunk_fn *fn, void *arg);
/* What a chunk must tell beside its values, from the rows themselves. */
void strand_rows_measure(struct strand_rows *rows);
bool range_meets(const struct series_range *range, const struct strand_rows *rows);

#endif
