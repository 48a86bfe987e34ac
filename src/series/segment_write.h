/* SPDX-License-Identifier: MIT */
/*
 * segment_write.h — writes a segment from front to back, with little in memory but its index.
 */
#ifndef HONE_SERIES_SEGMENT_WRITE_H
#define HONE_SERIES_SEGMENT_WRITE_H

#include "series/index.h"

#include <sys/types.h>

/* How files are written: the kernel's calls, or a test's that fail. */
struct series_io {
    ssize_t (*pwrite)(int fd, const void *bytes, size_t n, off_t at);
    int (*sync)(int fd); /* a file's data, or a folder */
};
extern const struct series_io series_io;
/* Write all of it, or -errno; *ret_done says how much. EINTR is retried. */
int series_pwrite(const struct series_io *io, int fd, const char *bytes, size_t n, uint64_t at,
                  size_t *ret_done);

struct segment_writer {
    const struct series_io *io;
    int fd;
    int error; /* the first one; from there on nothing is written */
    struct str buffer;
    uint64_t at; /* where the buffer goes */
    struct index index;
    uint32_t sources, groups; /* begun */
    uint64_t row;             /* of the chunk in hand */
    size_t n;                 /* its rows */
};

int segment_writer_open(struct segment_writer *writer, int dir_fd, const char *name,
                        const struct series_io *io, struct err *err);
/* Its number in this file. */
uint32_t segment_put_name(struct segment_writer *writer, const char *text, size_t n);
void segment_put_drop(struct segment_writer *writer, const struct memory_drop *drop);
/* Sources in order of source_compare. */
void segment_put_source(struct segment_writer *writer, const struct segment_key *key);
void segment_put_group(struct segment_writer *writer);
/* Begin a chunk of 1 … BLOCK_VALUES rows; their numbers ascend. */
void segment_put_chunk(struct segment_writer *writer, size_t n, const int64_t *steps,
                       const int64_t *times_ns, const uint64_t *rows);
void segment_put_values(struct segment_writer *writer, uint32_t name, const double *values);
/* Index and trailer; all of it is on the disk when this returns 0. */
int segment_writer_finish(struct segment_writer *writer, struct err *err);
void segment_writer_release(struct segment_writer *writer);

#endif
