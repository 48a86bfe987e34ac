/* SPDX-License-Identifier: MIT */
/*
 * block.h — up to 1,024 values of one column as bytes, and back, bit for bit: NaN payloads, ±Inf
 * and −0 included. The codec is chosen for each block by trying them. Pure; no allocation. CRC and
 * framing are the segment's.
 */
#ifndef HONE_BLOCK_H
#define HONE_BLOCK_H

#include "base/base.h"

#define BLOCK_VALUES    1024
#define BLOCK_BYTES_MAX (BLOCK_VALUES * 8 + 64) /* no block is longer */

/* The first byte of a block; stored, so numbers never change. */
enum block_codec {
    CODEC_RAW = 0,
    CODEC_CONSTANT = 1, /* all have the same bits */
    CODEC_INTEGER = 2,  /* ints: unit taken out, then from a level, a line or the one before */
    CODEC_DECIMAL = 3,  /* doubles: m × 10^-e where that is exact, m as integers (whole: e = 0) */
    CODEC_FLOAT = 4,    /* doubles: their bits as ordered integers, without low zeros (float32) */
    CODEC_XOR = 5,      /* doubles: Gorilla's, for many repetitions */
    CODEC_RUNS = 6,     /* ints: runs of equal deltas */
    CODEC_DIGITS = 7,   /* doubles: their places among all numbers of so many digits */
    BLOCK_CODECS
};

/* 1 ≤ n ≤ BLOCK_VALUES. Returns the bytes written to `to` (of BLOCK_BYTES_MAX). */
size_t block_put_doubles(const double *values, size_t n, unsigned char *to);
/* Steps and times. */
size_t block_put_ints(const int64_t *values, size_t n, unsigned char *to);
/* Exactly n values, or -EBADMSG: the bytes are no block of n values. Whatever the bytes are,
 * nothing outside `bytes` is read and nothing outside ret[n] written. */
int block_get_doubles(const unsigned char *bytes, size_t size, size_t n, double *ret);
int block_get_ints(const unsigned char *bytes, size_t size, size_t n, int64_t *ret);

/* What tables and coarse charts need of a block without decoding it. min, max, sum and squares are
 * over finite values; NaN, NaN, 0, 0 if there is none. first and last are any values, NaN if
 * count is 0. */
struct block_stats {
    uint32_t count, nans, infs; /* count includes both */
    double min, max, sum, squares, first, last;
};
void block_stats(const double *values, size_t n, struct block_stats *ret);
/* `next` comes after `to`. An empty one (count 0) changes nothing. */
void block_stats_add(struct block_stats *to, const struct block_stats *next);

#endif
