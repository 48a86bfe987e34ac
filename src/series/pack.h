/* SPDX-License-Identifier: MIT */
/*
 * pack.h — whole numbers as few bits, 128 at a time: what is left when a prediction and the
 * smallest remainder are taken out. All arithmetic is modulo 2^64, so nothing overflows.
 */
#ifndef HONE_PACK_H
#define HONE_PACK_H

#include "series/bits.h"
#include "series/block.h"

#define PACK_RUN  128
#define PACK_RUNS (BLOCK_VALUES / PACK_RUN)

/* What a number is predicted by. */
enum pack_mode {
    PACK_LEVEL, /* the last number of the run before */
    PACK_DELTA, /* the number before */
    PACK_LINE,  /* the last number of the run before and a slope */
};

struct pack_plan {
    size_t bytes;
    struct pack_run {
        enum pack_mode mode;
        bool rice;      /* remainders by Golomb and Rice: quotients in unary */
        unsigned width; /* bits of a remainder: 0 … 61 or 64; rice: of its low part, 0 … 56 */
        uint64_t base;  /* smallest remainder, signed; rice: the mean one */
        uint64_t slope; /* per number, signed, 1/256 */
        size_t bytes;
    } runs[PACK_RUNS];
};

/* How to write keys[n] with the fewest bytes. With `lines`, slopes are tried, too: clocks have
 * them, measurements hardly ever. */
void pack_plan(const uint64_t *keys, size_t n, bool lines, struct pack_plan *ret);
unsigned char *pack_put(const uint64_t *keys, size_t n, const struct pack_plan *plan,
                        unsigned char *to);
bool pack_get(struct bytes_in *in, size_t n, uint64_t *ret);

/* Numbers that are all so many units apart (µs in a clock of ns, pages in bytes): counts of units
 * from the first take their place. */
struct pack_scale {
    uint64_t unit;  /* 1: nothing was taken out */
    uint64_t first; /* signed */
};
struct pack_scale pack_scale(uint64_t *keys, size_t n);
size_t pack_scale_size(const struct pack_scale *scale);
unsigned char *pack_put_scale(const struct pack_scale *scale, unsigned char *to);
bool pack_get_scale(struct bytes_in *in, struct pack_scale *ret);
void pack_unscale(const struct pack_scale *scale, uint64_t *keys, size_t n);

#endif
