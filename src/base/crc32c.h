/* SPDX-License-Identifier: MIT */
/*
 * crc32c.h — Castagnoli's CRC, as in iSCSI and ext4. Start with 0; feed in pieces if need be.
 */
#ifndef HONE_CRC32C_H
#define HONE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t crc32c(uint32_t crc, const void *bytes, size_t n)
{
    /* The remainder of each half byte: 64 bytes of table, so that the keeper stays small. */
    static const uint32_t half[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    const unsigned char *p = bytes;

    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        crc = (crc >> 4) ^ half[crc & 15];
        crc = (crc >> 4) ^ half[crc & 15];
    }
    return ~crc;
}

/* The same at the speed of memory, for whole files: by the processor's instruction, or else by
 * tables of 16 KiB. Any thread. (crc32c.c; the keeper, which is small, does without.) */
uint32_t crc32c_fast(uint32_t crc, const void *bytes, size_t n);
/* What it does on a processor without that instruction; for its test. */
uint32_t crc32c_tables(uint32_t crc, const void *bytes, size_t n);

#endif
