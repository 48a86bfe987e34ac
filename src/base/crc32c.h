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
    const unsigned char *p = bytes;
    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
    }
    return ~crc;
}

#endif
