/* SPDX-License-Identifier: MIT */
/*
 * crc32c.c — Castagnoli's CRC at the speed of memory: the processor's own instruction where there
 * is one (asked once, at run time on x86), else eight tables, eight bytes a turn (Kounavis, Berry
 * 2005). All ways give what crc32c() gives.
 *
 * The instruction has a latency of three cycles, so three lanes of LANE bytes run side by side, and
 * of what is left three of SHORT_LANE; their sums are joined by shifting the earlier ones over the
 * later lanes' zeros, which is linear and so four look-ups.
 */
#include "base/crc32c.h"

#include "base/base.h"

#include <pthread.h>

#define POLY       0x82f63b78u /* reflected */
#define LANE       512
#define SHORT_LANE 64

struct tables {
    uint32_t slice[8][256]; /* slice[k][b]: byte b followed by k zero bytes */
    /* shift[k][b]: byte k of a sum is b; LANE zero bytes follow, or SHORT_LANE */
    uint32_t shift[4][256], short_shift[4][256];
};
static struct tables tables;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t over_zeros(uint32_t crc, size_t n)
{
    while (n--)
        crc = (crc >> 8) ^ tables.slice[0][crc & 255];
    return crc;
}

static void make_tables(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? POLY : 0);
        tables.slice[0][b] = crc;
    }
    for (uint32_t b = 0; b < 256; b++) {
        for (int k = 1; k < 8; k++)
            tables.slice[k][b] = over_zeros(tables.slice[k - 1][b], 1);
        for (int k = 0; k < 4; k++) {
            tables.short_shift[k][b] = over_zeros(b << (8 * k), SHORT_LANE);
            tables.shift[k][b] = over_zeros(tables.short_shift[k][b], LANE - SHORT_LANE);
        }
    }
}

static inline uint64_t word(const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof(w));
    return w;
}

/* ---- the processor's instruction: `step` takes eight bytes, `step1` one ---- */
#if defined(__x86_64__)
#define HARDWARE           __attribute__((target("sse4.2")))
#define step(crc, w)       ((uint32_t)__builtin_ia32_crc32di((crc), (w)))
#define step1(crc, b)      __builtin_ia32_crc32qi((crc), (b))
#define hardware_at_hand() __builtin_cpu_supports("sse4.2")
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32) &&                                      \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_acle.h>
#define HARDWARE
#define step(crc, w)       __crc32cd((crc), (w))
#define step1(crc, b)      __crc32cb((crc), (b))
#define hardware_at_hand() true /* the compiler was told so */
#endif

#ifdef HARDWARE
static inline uint32_t over_lane(const uint32_t shift[4][256], uint32_t crc)
{
    return shift[0][crc & 255] ^ shift[1][crc >> 8 & 255] ^ shift[2][crc >> 16 & 255] ^
           shift[3][crc >> 24];
}

/* Of the next 3 × lane bytes. */
HARDWARE static inline uint32_t by_lanes(uint32_t crc, const unsigned char *p, size_t lane,
                                         const uint32_t shift[4][256])
{
    uint32_t second = 0, third = 0;

    for (size_t i = 0; i < lane; i += 8) {
        crc = step(crc, word(p + i));
        second = step(second, word(p + lane + i));
        third = step(third, word(p + 2 * lane + i));
    }
    return over_lane(shift, over_lane(shift, crc) ^ second) ^ third;
}

HARDWARE static uint32_t by_hardware(uint32_t crc, const unsigned char *p, size_t n)
{
    for (; n >= 3 * LANE; p += 3 * LANE, n -= 3 * LANE)
        crc = by_lanes(crc, p, LANE, tables.shift);
    for (; n >= 3 * SHORT_LANE; p += 3 * SHORT_LANE, n -= 3 * SHORT_LANE)
        crc = by_lanes(crc, p, SHORT_LANE, tables.short_shift);
    for (; n >= 8; p += 8, n -= 8)
        crc = step(crc, word(p));
    for (; n; p++, n--)
        crc = step1(crc, *p);
    return crc;
}
#endif

static uint32_t by_tables(uint32_t crc, const unsigned char *p, size_t n)
{
    for (; n >= 8; p += 8, n -= 8) {
        uint32_t first = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                                (uint32_t)p[3] << 24);
        crc = tables.slice[7][first & 255] ^ tables.slice[6][first >> 8 & 255] ^
              tables.slice[5][first >> 16 & 255] ^ tables.slice[4][first >> 24] ^
              tables.slice[3][p[4]] ^ tables.slice[2][p[5]] ^ tables.slice[1][p[6]] ^
              tables.slice[0][p[7]];
    }
    for (; n; p++, n--)
        crc = (crc >> 8) ^ tables.slice[0][(crc ^ *p) & 255];
    return crc;
}

uint32_t crc32c_tables(uint32_t crc, const void *bytes, size_t n)
{
    pthread_once(&once, make_tables);
    return ~by_tables(~crc, bytes, n);
}

uint32_t crc32c_fast(uint32_t crc, const void *bytes, size_t n)
{
#ifdef HARDWARE
    if (hardware_at_hand()) {
        pthread_once(&once, make_tables);
        return ~by_hardware(~crc, bytes, n);
    }
#endif
    return crc32c_tables(crc, bytes, n);
}
