/* SPDX-License-Identifier: MIT */
/* attempt_files.c — the files of an attempt's folder, read piece by piece. */
#include "series/attempt_files.h"

#include <errno.h>
#include <unistd.h>

const struct attempt_file attempt_files[ATTEMPT_FILES] = {
    {"metrics", METRICS_FILE, SERIES_METRICS},
    {"events", METRICS_FILE, SERIES_EVENTS}, /* what TensorBoard's event files told */
    {NULL, METRICS_FILE, SERIES_OUTSIDE},
    {"stdout", METRICS_OUTPUT, SERIES_STDOUT},
    {"stderr", METRICS_OUTPUT, SERIES_STDERR},
    {NULL, METRICS_FILE, SERIES_SYSTEM},
};

/* Where data goes on at or after `offset`; the end of the file if there is none. */
static off_t skip_hole(int fd, off_t offset)
{
    off_t data = lseek(fd, offset, SEEK_DATA);
    if (data >= 0)
        return data;
    return errno == ENXIO ? lseek(fd, 0, SEEK_END) : offset;
}

ssize_t attempt_file_feed(int fd, struct metrics_parser *parser, char *block, off_t *offset)
{
    off_t data = skip_hole(fd, *offset);
    ssize_t n;

    if (data > *offset) {
        memset(block, 0,
               ATTEMPT_FILE_BLOCK); /* a block of zeros tells the parser as much as a terabyte */
        metrics_parser_feed(parser, block, (size_t)MIN(data - *offset, ATTEMPT_FILE_BLOCK), 0);
        *offset = data;
        metrics_parser_at(parser, (uint64_t)data);
    }
    do
        n = pread(fd, block, ATTEMPT_FILE_BLOCK, *offset);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    metrics_parser_feed(parser, block, (size_t)n, 0);
    *offset += n;
    return n;
}
