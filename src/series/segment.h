/* SPDX-License-Identifier: MIT */
/*
 * segment.h — sealed rows in a file that never changes.
 *
 *     magic │ block block block … │ index │ trailer
 *
 * A block is a head (segment_head.c) and its payload, each with a CRC32C: the text of a name, the
 * key of a source, or a column of a chunk (≤ 1,024 rows of one group): steps, times, rows' numbers,
 * values. Blocks tell themselves what they are, so that the index can be made anew from them.
 *
 * The index is arrays of the structs below, used as they lie in the mapped file:
 *
 *     source ──► columns ──► strands (one for each group that has the metric) ──► offsets of blocks
 *           └──► groups ──► chunks (offsets and ranges of steps and times)
 */
#ifndef HONE_SERIES_SEGMENT_H
#define HONE_SERIES_SEGMENT_H

#include "series/memory.h"
#include "series/strand.h"

#define SEGMENT_MAGIC   "HONESEG2"
#define SEGMENT_MAGIC_1 "HONESEG1" /* of the first version: read, no more written */

enum segment_kind { /* stored: numbers never change */
                    SEGMENT_NAME = 1,
                    SEGMENT_SOURCE = 2,
                    SEGMENT_DROP = 3,
                    SEGMENT_STEPS = 4,
                    SEGMENT_TIMES = 5,
                    SEGMENT_ROWS = 6,
                    SEGMENT_VALUES = 7,
                    SEGMENT_KINDS
};

struct segment_numbers {
    double min, max, sum, squares, first, last;
};
struct segment_span { /* smallest and largest */
    int64_t first, last;
};
struct segment_head {
    uint32_t length;    /* of its bytes in the file */
    uint32_t size, crc; /* of the payload behind it */
    uint32_t source, group, name;
    uint16_t count, kind, nans, infs; /* count: rows */
    uint64_t row;                     /* number of the chunk's first one */
    union {
        struct segment_numbers numbers; /* of values */
        struct segment_span span;       /* of steps, times and rows */
    };
};
#define SEGMENT_HEAD_MAX 160
/* Fills in head->length. */
size_t segment_head_put(struct segment_head *head, unsigned char to[SEGMENT_HEAD_MAX]);
/* False: there is no sound head, or its payload goes beyond the n bytes. */
bool segment_head_get(const unsigned char *bytes, size_t n, uint64_t at, struct segment_head *ret);

/* ---- in the file: little-endian, no padding ---- */
struct segment_key { /* payload of a source */
    int64_t experiment, trial, attempt;
    uint64_t file, end, rows;
};

struct segment_source {
    int64_t experiment, trial, attempt;
    uint64_t end, rows;
    uint32_t file, first_group, groups, first_column, columns, reserved;
};
struct segment_group {
    uint32_t first_chunk, chunks;
};
/* Is each time above the one before? Stored: 0 in files of before, and where the index was made
 * anew. */
enum segment_rising { RISING_UNKNOWN, RISING, RISING_NOT };
struct segment_chunk {
    uint64_t steps, times, rows; /* offsets; 0: none has one; rows 0: they follow one another */
    int64_t first_step, last_step, first_ns, last_ns;
    uint64_t first_row, last_row;
    uint32_t count, rising; /* enum segment_rising: of its times */
};
struct segment_column {
    uint32_t name, first_strand, strands;
    uint32_t count, nans, infs;
    struct segment_numbers numbers;
    int64_t first_step, last_step, first_ns, last_ns;
};
struct segment_strand {
    uint32_t group, reserved;
    uint64_t first_offset; /* one for each chunk of the group; 0: lost */
};
struct segment_by_name { /* of a source: its columns in order of names' numbers */
    uint32_t name, column;
};
enum segment_table { /* the order in which they lie in the index */
                     TABLE_SOURCES,
                     TABLE_GROUPS,
                     TABLE_CHUNKS,
                     TABLE_COLUMNS,
                     TABLE_STRANDS,
                     TABLE_BY_NAME,
                     TABLE_OFFSETS,   /* uint64_t */
                     TABLE_DROPS,     /* struct memory_drop */
                     TABLE_NAME_ENDS, /* uint64_t: where a name ends in … */
                     TABLE_NAME_TEXT, /* char */
                     SEGMENT_TABLES
};
struct segment_index_head {
    uint64_t counts[SEGMENT_TABLES];
};
struct segment_trailer {
    uint64_t index_at, index_size;
    uint32_t index_crc, trailer_crc; /* the latter of what is before it */
    char magic[8];
};

/* ---- reading ---- */
struct intern;
struct mapping;
struct segment {
    char *path;
    const unsigned char *bytes;
    size_t size;
    struct mapping *mapping;       /* of the bytes; NULL: they are borrowed */
    void *heap;                    /* an index that was made anew; NULL: it lies in the file */
    size_t blocks_end, index_size; /* the latter in the file */
    const struct segment_source *sources;
    const struct segment_group *groups;
    const struct segment_chunk *chunks;
    const struct segment_column *columns;
    const struct segment_strand *strands;
    const struct segment_by_name *by_name;
    const uint64_t *offsets;
    const struct memory_drop *drops;
    uint64_t *name_ends; /* owned, as is the text */
    char *name_text;
    uint64_t counts[SEGMENT_TABLES];
    uint32_t *handle_name; /* (names) their numbers in the handle */
    uint32_t *local_name;  /* (locals) by number of the handle; NONE: it has none */
    size_t locals;
    uint64_t values, rows;
    uint64_t inode;
    unsigned char *rising; /* (groups) what segment_group_rises() found; NULL: it was not asked */
};

/* Map a file; names get numbers in `intern`. `note` is called with a sentence for what is wrong but
 * could be helped. -EBADMSG: it is no segment at all. */
typedef void note_fn(const char *sentence, void *arg);
int segment_open(int dir_fd, const char *folder, const char *name, struct intern *intern,
                 note_fn *note, void *arg, struct segment **ret, struct err *err);
/* The same of bytes that outlive it. */
int segment_open_bytes(const char *path, const unsigned char *bytes, size_t n,
                       struct intern *intern, note_fn *note, void *arg, struct segment **ret,
                       struct err *err);
void segment_free(struct segment *segment);
/* Is the index gone that lay in the file? It is empty in places then: open the file anew. */
bool segment_index_lost(const struct segment *segment);
/* For whoever must not see the index change under it: the segment with a copy of its index in *ret
 * (the rest is borrowed; free ret->heap), or -EIO. */
int segment_index_copy(const struct segment *segment, struct segment *ret, struct err *err);
DEFINE_AUTOFREE(segment);

static inline const struct segment_source *segment_source(const struct segment *segment, uint32_t i)
{
    return &segment->sources[i];
}
static inline uint32_t segment_sources(const struct segment *segment)
{
    return (uint32_t)segment->counts[TABLE_SOURCES];
}
static inline size_t segment_drops(const struct segment *segment)
{
    return segment->counts[TABLE_DROPS];
}
static inline struct memory_drop segment_drop(const struct segment *segment, size_t i)
{
    return segment->drops[i];
}
struct series_source segment_key(const struct segment *segment, uint32_t i);
/* NULL: the source has no such metric. `name` is of the handle. */
const struct segment_column *segment_column(const struct segment *segment, uint32_t source,
                                            uint32_t name);
/* `ret` is filled but for its source. */
void segment_info(const struct segment *segment, const struct segment_column *column,
                  struct series_info *ret);

/* Does a file begin, or end, like a segment? */
bool segment_is(const unsigned char *bytes, size_t n);
/* A block whose head and payload are sound: its payload, or NULL. `kind` is what it must be. */
const unsigned char *segment_block(const struct segment *segment, uint64_t offset,
                                   enum segment_kind kind, struct segment_head *ret);
/* Where the i-th block of a strand begins; 0: lost. */
uint64_t segment_offset(const struct segment *segment, const struct segment_strand *strand,
                        uint32_t i);
/* The statistics in a block's head. False: it is damaged. */
bool segment_stats(const struct segment *segment, uint64_t offset, struct block_stats *ret);
/* Make ready to read one strand of a column, with what it has of `rests` (NULL: none); lost blocks
 * are left out and told to `note`. */
struct segment_reader {
    const struct segment *segment;
    note_fn *note;
    void *arg;
};
void segment_strand_init(struct strand *strand, const struct segment_reader *reader,
                         const struct segment_column *column, const struct segment_column *rests,
                         uint32_t i, const struct series_range *range);
/* Steps, times and numbers of a chunk's rows, each of BLOCK_VALUES; lost ones are told and become
 * none. NULL: not wanted. */
void segment_chunk_rows(const struct segment_reader *reader, const struct segment_chunk *chunk,
                        int64_t *ret_steps, int64_t *ret_times, uint64_t *ret_rows);
/* Is each time of a group above the one before? Where chunks do not say, times are looked at once.
 */
bool segment_group_rises(struct segment *segment, const struct segment_reader *reader,
                         uint32_t group);
/* False: there is none, or it is damaged. */
bool segment_chunk_values(const struct segment_reader *reader, uint64_t offset, size_t n,
                          double *ret, struct block_stats *ret_stats);

/* The bytes of an index that begins so; 0: none does. */
uint64_t segment_index_size(const struct segment_index_head *head);
/* Make the index anew from the blocks. */
struct str;
void segment_rebuild(struct segment *segment, struct str *ret);
/* The first sound block head at or behind `from`; false: none. */
bool segment_next(const unsigned char *bytes, size_t n, size_t from, uint64_t *ret_offset,
                  struct segment_head *ret);
/* Read every byte; a sentence for each thing that is wrong. Returns how many. */
int segment_verify(const struct segment *segment, note_fn *note, void *arg);

#endif
