/* SPDX-License-Identifier: MIT */
/*
 * series_log_fuzz.c — any bytes as a log of series: what is whole is taken in, the rest is passed
 * over. If the first byte is odd, the checksums are made to fit, so that what is inside is read.
 */
#include "base/crc32c.h"
#include "series/intern.h"
#include "series/memory.h"
#include "series/wal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void mend(unsigned char *bytes, size_t n)
{
    for (size_t at = 0; n - at >= WAL_HEAD;) {
        uint32_t size, crc;
        memcpy(&size, bytes + at, sizeof(size));
        if (size > n - at - WAL_HEAD)
            return;
        crc = crc32c(0, bytes + at, 4);
        crc = crc32c(crc, bytes + at + 8, (size_t)size + 1);
        memcpy(bytes + at + 4, &crc, sizeof(crc));
        at += WAL_HEAD + size;
    }
}

static void check(const struct memory *memory)
{
    vec_foreach (source, &memory->sources)
        vec_foreach (column, &(*source)->columns) {
            const struct series_info *info = memory_column_info(*source, column);
            if (!info->stats.count || info->stats.count > (*source)->rows * 64)
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    autofree(mem) unsigned char *copy = n > 1 ? xmemdup(bytes + 1, n - 1) : NULL;
    autorelease(intern) struct intern intern = {0};
    autofree(memory) struct memory *memory = memory_new(1, &intern);
    struct wal_record record;
    size_t end = 0;

    if (!copy)
        return 0;
    if (bytes[0] & 1)
        mend(copy, n - 1);
    while (wal_next(copy, n - 1, end, &record)) {
        struct err err = ERR_INIT;
        if (record.at < end || record.end <= record.at || record.end > n - 1)
            abort();
        int r = memory_replay(memory, &intern, &record, &err);
        if (r < 0 && !err.text)
            abort();
        err_release(&err);
        end = record.end;
    }
    check(memory);
    return 0;
}
