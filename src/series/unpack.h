/* SPDX-License-Identifier: MIT */
/*
 * unpack.h — the inner loops of reading blocks, four or eight values at a time where the processor
 * can (base/wide.h). Every way gives the same bits; the plain ones are what they mean.
 */
#ifndef HONE_UNPACK_H
#define HONE_UNPACK_H

#include "base/base.h"

#define UNPACK_WIDTH_MAX 56 /* found by one load and a shift */

/* Where the next n ones stand in `left` bytes, counted in bits from the lowest of the first byte;
 * seven bytes behind them are readable. ret has room for UNPACK_ROOM more than n, and may get
 * rubbish there. False: there are not so many, as far as the last word of eight bytes tells. */
#define UNPACK_ROOM 68
bool unpack_ones(const unsigned char *bytes, size_t left, size_t n, uint32_t *ret);
bool unpack_ones_plain(const unsigned char *bytes, size_t left, size_t n, uint32_t *ret);

/* A run of pack.c: what each number adds to `before`, or to the number before it. */
struct unpack {
    const unsigned char *low; /* `width` bits each; eight bytes behind the last are readable */
    unsigned width;           /* ≤ UNPACK_WIDTH_MAX */
    /* Rice: where the ones of their quotients stand, (n + 1) rising, the first UINT32_MAX, which is
     * one before 0. NULL: they have no quotients, and are not zigzag. */
    const uint32_t *ones;
    uint64_t base; /* added to each */
    uint64_t before;
    bool delta;
};
void unpack_run(const struct unpack *run, size_t n, uint64_t *ret);
void unpack_run_plain(const struct unpack *run, size_t n, uint64_t *ret);

/* Keys of codec_float.c in their place become the bits of doubles: a magnitude without its `zeros`
 * low bits and less `before`, with the key's sign; 0 stays 0. */
void unpack_floats(uint64_t *keys, size_t n, unsigned zeros, uint64_t before);
void unpack_floats_plain(uint64_t *keys, size_t n, unsigned zeros, uint64_t before);

/* Counts of units in their place become the numbers: first + unit × key, modulo 2^64. */
void unpack_scale(uint64_t *keys, size_t n, uint64_t unit, uint64_t first);
void unpack_scale_plain(uint64_t *keys, size_t n, uint64_t unit, uint64_t first);

#endif
