/* SPDX-License-Identifier: MIT */
/*
 * attempt_files.h — where the samples of an attempt are, and how its files are read. Private to
 * series/.
 */
#ifndef HONE_ATTEMPT_FILES_H
#define HONE_ATTEMPT_FILES_H

#include "metrics/metrics.h"
#include "series/db.h"

#include <sys/types.h>

#define ATTEMPT_FILES      6
#define ATTEMPT_FILE_BLOCK (256 << 10)

/* In order of trust. Without a name: in the store only. */
struct attempt_file {
    const char *name;
    enum metrics_source source;
    enum series_file file;
};
extern const struct attempt_file attempt_files[ATTEMPT_FILES];

/* Feed the next piece of a file; bytes read, 0 at its end, or an error. `block` has
 * ATTEMPT_FILE_BLOCK bytes. A hole is jumped over. */
ssize_t attempt_file_feed(int fd, struct metrics_parser *parser, char *block, off_t *offset);

#endif
