/* SPDX-License-Identifier: MIT */
/*
 * segment_write.c — blocks into a buffer, the buffer into a file. An error is kept and told at the
 * end, so that those who fill it need not look after each call.
 */
#include "series/segment_write.h"

#include "base/crc32c.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define WRITE_BYTES (1 << 20)

const struct series_io series_io = {pwrite, fdatasync};

int series_pwrite(const struct series_io *io, int fd, const char *bytes, size_t n, uint64_t at,
                  size_t *ret_done)
{
    *ret_done = 0;
    while (*ret_done < n) {
        ssize_t done = io->pwrite(fd, bytes + *ret_done, n - *ret_done, (off_t)(at + *ret_done));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        *ret_done += (size_t)done;
    }
    return 0;
}

int segment_writer_open(struct segment_writer *writer, int dir_fd, const char *name,
                        const struct series_io *io, struct err *err)
{
    *writer = (struct segment_writer){.io = io, .buffer = STR_INIT};
    index_init(&writer->index);
    writer->fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (writer->fd < 0)
        return err_errno(err, errno, "cannot write %s", name);
    str_add_n(&writer->buffer, SEGMENT_MAGIC, 8);
    return 0;
}

void segment_writer_release(struct segment_writer *writer)
{
    fd_autoclose(&writer->fd);
    str_release(&writer->buffer);
    index_release(&writer->index);
}

static void flush(struct segment_writer *writer)
{
    size_t done = 0;

    if (!writer->error)
        writer->error = series_pwrite(writer->io, writer->fd, writer->buffer.s, writer->buffer.len,
                                      writer->at, &done);
    writer->at += writer->buffer.len;
    str_cut(&writer->buffer, 0);
}

/* ---- blocks ---- */
static uint64_t put_block(struct segment_writer *writer, struct segment_head *head,
                          const void *payload)
{
    unsigned char bytes[SEGMENT_HEAD_MAX];
    uint64_t offset = writer->at + writer->buffer.len;

    head->crc = crc32c_fast(0, payload, head->size);
    str_add_n(&writer->buffer, (const char *)bytes, segment_head_put(head, bytes));
    str_add_n(&writer->buffer, payload, head->size);
    if (writer->buffer.len >= WRITE_BYTES)
        flush(writer);
    return offset;
}

uint32_t segment_put_name(struct segment_writer *writer, const char *text, size_t n)
{
    uint32_t number = (uint32_t)writer->index.name_ends.len;
    struct segment_head head = {.kind = SEGMENT_NAME, .name = number, .size = (uint32_t)n};

    put_block(writer, &head, text);
    index_name(&writer->index, text, n);
    return number;
}

void segment_put_drop(struct segment_writer *writer, const struct memory_drop *drop)
{
    struct segment_head head = {.kind = SEGMENT_DROP, .size = sizeof(*drop)};

    put_block(writer, &head, drop);
    index_drop(&writer->index, drop->experiment, drop->trial);
}

void segment_put_source(struct segment_writer *writer, const struct segment_key *key)
{
    struct segment_head head = {
        .kind = SEGMENT_SOURCE, .source = writer->sources++, .size = sizeof(*key)};

    put_block(writer, &head, key);
    bool in_order = index_source(&writer->index, key);
    assert(in_order);
    (void)in_order;
    writer->groups = 0;
}

void segment_put_group(struct segment_writer *writer)
{
    writer->groups++;
    index_group(&writer->index);
}

static struct segment_head column_head(const struct segment_writer *writer, enum segment_kind kind)
{
    assert(writer->sources && writer->groups);
    return (struct segment_head){
        .kind = (uint16_t)kind,
        .source = writer->sources - 1,
        .group = writer->groups - 1,
        .row = writer->row,
        .count = (uint16_t)writer->n,
    };
}

static uint64_t put_ints(struct segment_writer *writer, enum segment_kind kind,
                         const int64_t *values, const struct segment_span *span)
{
    unsigned char payload[BLOCK_BYTES_MAX];
    struct segment_head head = column_head(writer, kind);

    head.size = (uint32_t)block_put_ints(values, writer->n, payload);
    head.span = *span;
    return put_block(writer, &head, payload);
}

static struct segment_span span_of(const int64_t *values, size_t n)
{
    struct segment_span span = {INT64_MIN, INT64_MIN};

    for (size_t i = 0; i < n; i++)
        range_add(values[i], &span.first, &span.last);
    return span;
}

static enum segment_rising rising_of(const int64_t *times_ns, size_t n)
{
    int64_t last = INT64_MIN;
    bool falls = false;

    for (size_t i = 0; i < n; i++) {
        falls |= times_ns[i] <= last;
        last = times_ns[i];
    }
    return falls ? RISING_NOT : RISING;
}

void segment_put_chunk(struct segment_writer *writer, size_t n, const int64_t *steps,
                       const int64_t *times_ns, const uint64_t *rows)
{
    struct segment_span span = span_of(steps, n);

    assert(n > 0 && n <= BLOCK_VALUES);
    writer->row = rows[0];
    writer->n = n;
    index_chunk(&writer->index, rows[0], (uint32_t)n);
    if (span.first != INT64_MIN)
        index_steps(&writer->index, put_ints(writer, SEGMENT_STEPS, steps, &span), &span);
    span = span_of(times_ns, n);
    if (span.first != INT64_MIN) {
        index_times(&writer->index, put_ints(writer, SEGMENT_TIMES, times_ns, &span), &span);
        index_rising(&writer->index, rising_of(times_ns, n));
    }
    if (rows[n - 1] - rows[0] == n - 1)
        return;
    span = (struct segment_span){(int64_t)rows[0], (int64_t)rows[n - 1]};
    uint64_t offset = put_ints(writer, SEGMENT_ROWS, (const int64_t *)rows, &span);
    index_rows(&writer->index, offset, rows[n - 1]);
}

void segment_put_values(struct segment_writer *writer, uint32_t name, const double *values)
{
    unsigned char payload[BLOCK_BYTES_MAX];
    struct segment_head head = column_head(writer, SEGMENT_VALUES);
    struct block_stats stats;

    block_stats(values, writer->n, &stats);
    head.numbers = (struct segment_numbers){stats.min,     stats.max,   stats.sum,
                                            stats.squares, stats.first, stats.last};
    head.name = name;
    head.nans = (uint16_t)stats.nans;
    head.infs = (uint16_t)stats.infs;
    head.size = (uint32_t)block_put_doubles(values, writer->n, payload);
    uint64_t offset = put_block(writer, &head, payload);
    index_values(&writer->index, name, offset, &stats);
}

/* ---- the end ---- */
static void put_index(struct segment_writer *writer)
{
    static const char zeros[8];
    struct segment_trailer trailer = {.magic = "HONESEG"};
    autorelease(str) struct str bytes = STR_INIT;

    str_add_n(&writer->buffer, zeros, (8 - (writer->at + writer->buffer.len) % 8) % 8);
    index_finish(&writer->index, &bytes);
    trailer.index_at = writer->at + writer->buffer.len;
    trailer.index_size = bytes.len;
    trailer.index_crc = crc32c_fast(0, bytes.s, bytes.len);
    trailer.trailer_crc = crc32c_fast(0, &trailer, offsetof(struct segment_trailer, trailer_crc));
    memcpy(trailer.magic, SEGMENT_MAGIC, 8);
    str_add_n(&writer->buffer, bytes.s, bytes.len);
    str_add_n(&writer->buffer, (const char *)&trailer, sizeof(trailer));
}

int segment_writer_finish(struct segment_writer *writer, struct err *err)
{
    put_index(writer);
    flush(writer);
    if (!writer->error && writer->io->sync(writer->fd) < 0)
        writer->error = -errno;
    return writer->error ? err_errno(err, -writer->error, "cannot seal series") : 0;
}
