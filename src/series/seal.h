/* SPDX-License-Identifier: MIT */
/*
 * seal.h — makes segments: of the rows of a log, or of other segments. Runs on a worker's thread:
 * touches nothing but its arguments and the folder.
 */
#ifndef HONE_SERIES_SEAL_H
#define HONE_SERIES_SEAL_H

#include "series/directory.h"
#include "series/segment_write.h"

#define SEAL_NAME_SIZE 64
/* "00000007.seg", "00000001-00000009.seg" */
void seal_name(char ret[SEAL_NAME_SIZE], uint64_t first, uint64_t last);
void wal_name(char ret[SEAL_NAME_SIZE], uint64_t number);

struct seal_folder {
    int dir_fd;
    const struct series_io *io;
};
/* Written beside, synced, renamed, and the folder synced. 0: nothing was worth a file; 1: there is
 * one. */
int seal_memory(const struct seal_folder *folder, const struct memory *memory, struct err *err);

struct merge_input {
    const struct segment *segment;
    const bool *dropped; /* (sources) leave them out; NULL: none */
};
/* The same of adjacent segments, oldest first, that cover `first` … `last`. `keep_drops`: there are
 * older segments, so what these drop must be told on. Streams: memory does not grow with the rows.
 */
int seal_merge(const struct seal_folder *folder, const struct merge_input *inputs, size_t n,
               uint64_t first, uint64_t last, bool keep_drops, struct err *err);
/* In seal.c, for merge.c. */
int seal_commit(const struct seal_folder *folder, struct segment_writer *writer, uint64_t first,
                uint64_t last, struct err *err);
int seal_begin(const struct seal_folder *folder, struct segment_writer *writer, uint64_t first,
               uint64_t last, struct err *err);

#endif
