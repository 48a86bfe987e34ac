/* SPDX-License-Identifier: MIT */
/*
 * directory.h — where the rows of each source lie: in which segments and logs, oldest first.
 *
 * A layer is one segment or the memory of one log; it covers the numbers of the logs from which it
 * was made. What a layer drops is gone from every layer below it.
 */
#ifndef HONE_SERIES_DIRECTORY_H
#define HONE_SERIES_DIRECTORY_H

#include "series/memory.h"

struct segment;
struct layer {
    uint64_t first, last;    /* numbers of logs */
    struct memory *memory;   /* owned; NULL: a segment */
    struct segment *segment; /* owned; NULL: a log */
    uint64_t read_to;        /* of a log: the bytes that are in memory */
    int fd;                  /* of a log that was written and waits to be sealed; -1: none */
    bool unsynced;           /* … and not all of it is known to be on the disk */
    bool suspect;            /* a sync of the log failed: only memory is sure to have its rows */
};
struct part {
    struct layer *layer;
    struct memory_source *memory; /* of a log */
    uint32_t index;               /* of a segment: the source's place in it, … */
    uint64_t end;                 /* … and how far it goes */
};
struct place {
    struct series_source key;
    uint64_t end;           /* highest of all parts */
    VEC(struct part) parts; /* oldest first */
};
struct directory {
    VEC(struct place *) places;
    bool sorted; /* places, by source */
    struct map by_key;
    struct map drops; /* hash of experiment and trial → number of the log + 1 */
};

void directory_release(struct directory *directory);
/* NULL if nothing is known of it. */
struct place *directory_find(const struct directory *directory, const struct series_source *key);
struct place *directory_place(struct directory *directory, const struct series_source *key);
/* Before any layer below it is added, or after: what it drops is not shown. */
void directory_add(struct directory *directory, struct layer *layer);
/* Ends stay if what was there lies in another layer now; else they are those of what is left. */
void directory_remove(struct directory *directory, const struct layer *layer, bool keep_ends);
/* A source's first row in a log. */
void directory_add_memory(struct directory *directory, struct layer *layer,
                          struct memory_source *source);
/* Log `number` says that this is gone from everything below it. */
void directory_drop(struct directory *directory, int64_t experiment, int64_t trial,
                    uint64_t number);
/* True if that layer's rows of the source were dropped. */
bool directory_dropped(const struct directory *directory, const struct series_source *key,
                       const struct layer *layer);
/* The first place whose source is not before (experiment, trial); places.len: none. Sorts. */
size_t directory_from(struct directory *directory, int64_t experiment, int64_t trial);

#endif
