/* SPDX-License-Identifier: MIT */
/*
 * index.h — makes the index of a segment from its blocks in the order in which they lie: a source,
 * its groups, their chunks, their values. Used by who writes a segment and by who finds its index
 * damaged.
 */
#ifndef HONE_SERIES_INDEX_H
#define HONE_SERIES_INDEX_H

#include "base/str.h"
#include "series/segment.h"

struct index_strand { /* of the source in hand */
    uint32_t column, group;
    uint64_t first_offset;
};
struct index_column {
    struct segment_column column;
    uint64_t first_row, last_row; /* whose values are first and last */
};
struct index_cell { /* a block of values of the group in hand */
    uint32_t column, chunk;
    uint64_t offset;
};
struct index {
    VEC(struct segment_source) sources;
    VEC(struct segment_group) groups;
    VEC(struct segment_chunk) chunks;
    VEC(struct segment_column) columns;
    VEC(struct segment_strand) strands;
    VEC(struct segment_by_name) by_name;
    VEC(uint64_t) offsets;
    VEC(struct memory_drop) drops;
    VEC(uint64_t) name_ends;
    struct str name_text;
    /* the source and group in hand */
    bool in_source, in_group;
    VEC(struct index_column) now;
    VEC(struct index_strand) now_strands;
    VEC(struct index_cell) cells;
    struct map by_column; /* name → now + 1 */
};

void index_init(struct index *index);
void index_release(struct index *index);
/* Its number in this file is the count of those before. */
void index_name(struct index *index, const char *text, size_t n);
void index_drop(struct index *index, int64_t experiment, int64_t trial);
/* Sources come in order; false: this one is not behind the last one. */
bool index_source(struct index *index, const struct segment_key *key);
void index_group(struct index *index);
void index_chunk(struct index *index, uint64_t first_row, uint32_t count);
/* Of the chunk in hand. */
void index_steps(struct index *index, uint64_t offset, const struct segment_span *span);
void index_times(struct index *index, uint64_t offset, const struct segment_span *span);
void index_rising(struct index *index, enum segment_rising rising);
void index_rows(struct index *index, uint64_t offset, uint64_t last_row);
void index_values(struct index *index, uint32_t name, uint64_t offset,
                  const struct block_stats *stats);
/* The whole index as bytes. */
void index_finish(struct index *index, struct str *ret);

#endif
