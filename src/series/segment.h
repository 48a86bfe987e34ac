/* SPDX-License-Identifier: MIT */
/*
 * segment.h — sealed rows in a file that never changes.
 *
 *     magic │ block block block … │ index │ trailer
 *
 * A block is a head of 48 bytes and its payload, each with a CRC32C: the text of a name, the key of
 * a source, or a column of a chunk (≤ 1,024 rows of one group): steps, times, rows' numbers,
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

#define SEGMENT_MAGIC "HONESEG1"
#define BLOCK_MAGIC   0x4b4c4273u /* "sBLK" */

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

/* ---- in the file: little-endian, no padding ---- */
struct segment_head {
    uint32_t magic, head_crc; /* of what follows it in the head, and of the extra bytes */
    uint32_t size, crc;       /* of the payload */
    uint32_t source, group, name;
    uint16_t count, extra; /* rows; bytes of statistics between head and payload */
    uint16_t kind, nans, infs, reserved;
    uint64_t row; /* number of the chunk's first one */
} __attribute__((packed));
struct segment_numbers { /* extra of values */
    double min, max, sum, squares, first, last;
};
struct segment_span { /* extra of steps, times and rows: smallest and largest */
    int64_t first, last;
};
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
struct segment_chunk {
    uint64_t steps, times, rows; /* offsets; 0: none has one; rows 0: they follow one another */
    int64_t first_step, last_step, first_ns, last_ns;
    uint64_t first_row, last_row;
    uint32_t count, reserved;
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
struct segment {
    char *path;
    const unsigned char *bytes;
    size_t size;
    bool mapped; /* the bytes; else they are borrowed */
    void *heap;  /* an index that was made anew; NULL: it lies in the file */
    size_t blocks_end;
    const struct segment_source *sources;
    const struct segment_group *groups;
    const struct segment_chunk *chunks;
    const struct segment_column *columns;
    const struct segment_strand *strands;
    const struct segment_by_name *by_name;
    const uint64_t *offsets;
    const struct memory_drop *drops;
    const uint64_t *name_ends;
    const char *name_text;
    uint64_t counts[SEGMENT_TABLES];
    uint32_t *handle_name; /* (names) their numbers in the handle */
    uint32_t *local_name;  /* (locals) by number of the handle; NONE: it has none */
    size_t locals;
    uint64_t values, rows;
    uint64_t inode;
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

/* A block whose head and payload are sound: its payload, or NULL. `kind` is what it must be. */
const unsigned char *segment_block(const struct segment *segment, uint64_t offset,
                                   enum segment_kind kind, struct segment_head *ret);
/* The statistics in a block's head. False: it is damaged. */
bool segment_stats(const struct segment *segment, uint64_t offset, struct block_stats *ret);
/* Make ready to read one strand of a column; lost blocks are left out and told to `note`. */
struct segment_reader {
    const struct segment *segment;
    note_fn *note;
    void *arg;
};
void segment_strand_init(struct strand *strand, const struct segment_reader *reader,
                         const struct segment_column *column, uint32_t i,
                         const struct series_range *range);
/* Steps, times and numbers of a chunk's rows, each of BLOCK_VALUES; lost ones are told and become
 * none. */
void segment_chunk_rows(const struct segment_reader *reader, const struct segment_chunk *chunk,
                        int64_t *ret_steps, int64_t *ret_times, uint64_t *ret_rows);
/* False: there is none, or it is damaged. */
bool segment_chunk_values(const struct segment_reader *reader, uint64_t offset, size_t n,
                          double *ret, struct block_stats *ret_stats);

/* Make the index anew from the blocks. */
struct str;
void segment_rebuild(struct segment *segment, struct str *ret);
/* The first sound block head at or behind `from`; false: none. */
bool segment_next(const unsigned char *bytes, size_t n, size_t from, uint64_t *ret_offset,
                  struct segment_head *ret);
/* Read every byte; a sentence for each thing that is wrong. Returns how many. */
int segment_verify(const struct segment *segment, note_fn *note, void *arg);

#endif
