/* SPDX-License-Identifier: MIT */
/*
 * series_segment_fuzz.c — any bytes as a segment of series: opened or refused, listed, read and
 * verified without a fault. Bits of the first byte make checksums fit: 1 those of index and
 * trailer, 2 those of blocks.
 */
#include "base/crc32c.h"
#include "series/intern.h"
#include "series/segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void mend_index(unsigned char *bytes, size_t n)
{
    struct segment_trailer trailer;

    if (n < sizeof(trailer))
        return;
    memcpy(&trailer, bytes + n - sizeof(trailer), sizeof(trailer));
    if (trailer.index_at > n || trailer.index_size > n - trailer.index_at)
        return;
    memcpy(trailer.magic, SEGMENT_MAGIC, 8);
    trailer.index_crc = crc32c(0, bytes + trailer.index_at, trailer.index_size);
    trailer.trailer_crc = crc32c(0, &trailer, offsetof(struct segment_trailer, trailer_crc));
    memcpy(bytes + n - sizeof(trailer), &trailer, sizeof(trailer));
}

/* The head at `at` with the CRC of a head of that length: is it one? Then its payload's, too. */
static bool mend_block(unsigned char *bytes, size_t n, size_t at, size_t length)
{
    const size_t summed = 7; /* bytes before what the CRC is of; the kind is, too */
    struct segment_head head;
    uint32_t crc = crc32c(crc32c(0, bytes + at + 2, 1), bytes + at + summed, length - summed);

    memcpy(bytes + at + 3, &crc, 4);
    if (!segment_head_get(bytes, n, at, &head) || head.length != length)
        return false;
    crc = crc32c(0, bytes + at + length, head.size);
    memcpy(bytes + at + summed, &crc, 4);
    crc = crc32c(crc32c(0, bytes + at + 2, 1), bytes + at + summed, length - summed);
    memcpy(bytes + at + 3, &crc, 4);
    return true;
}

static void mend_blocks(unsigned char *bytes, size_t n)
{
    for (size_t at = 8; at + 20 < n; at++) {
        if (bytes[at] != 's' || bytes[at + 1] != 2)
            continue;
        unsigned char before[4];
        bool mended = false;
        memcpy(before, bytes + at + 3, 4);
        for (size_t length = 19; !mended && length <= SEGMENT_HEAD_MAX && at + length <= n;
             length++)
            mended = mend_block(bytes, n, at, length);
        if (!mended)
            memcpy(bytes + at + 3, before, 4);
    }
}

static void ignore(const char *sentence, void *arg UNUSED)
{
    if (!*sentence)
        abort();
}

static int count(const struct series_chunk *chunk, void *arg)
{
    if (!chunk->n || chunk->n > BLOCK_VALUES)
        abort();
    *(size_t *)arg += chunk->n;
    return *(size_t *)arg > 1u << 20; /* one block may be meant thousands of times */
}

static void read_column(const struct segment *segment, const struct segment_column *column)
{
    struct segment_reader reader = {segment, ignore, NULL};
    uint32_t n = MIN(column->strands, 100);
    struct strand *strands = xmalloc(n * sizeof(*strands));
    size_t values = 0;

    for (uint32_t i = 0; i < n; i++)
        segment_strand_init(&strands[i], &reader, column, column, i, &series_all);
    strands_read(strands, n, count, &values);
    free(strands);
}

static void read_all(struct segment *segment)
{
    struct segment_reader reader = {segment, ignore, NULL};

    for (uint32_t i = 0; i < segment_sources(segment); i++) {
        const struct segment_source *source = segment_source(segment, i);
        for (uint32_t j = 0; j < source->groups && j < 100; j++)
            segment_group_rises(segment, &reader, source->first_group + j);
        for (uint32_t j = 0; j < source->columns && j < 100; j++) {
            const struct segment_column *column = &segment->columns[source->first_column + j];
            struct series_info info;
            segment_info(segment, column, &info);
            segment_column(segment, i, info.name);
            read_column(segment, column);
        }
    }
    segment_verify(segment, ignore, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    autofree(mem) unsigned char *copy = n > 1 ? xmemdup(bytes + 1, n - 1) : NULL;
    autorelease(intern) struct intern intern = {0};
    autofree(segment) struct segment *segment = NULL;
    struct err err = ERR_INIT;

    if (!copy)
        return 0;
    if (bytes[0] & 2)
        mend_blocks(copy, n - 1);
    if (bytes[0] & 1)
        mend_index(copy, n - 1);
    int r = segment_open_bytes("fuzz", copy, n - 1, &intern, ignore, NULL, &segment, &err);
    if (r < 0 && !err.text)
        abort();
    err_release(&err);
    if (r == 0)
        read_all(segment);
    return 0;
}
