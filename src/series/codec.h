/* SPDX-License-Identifier: MIT */
/*
 * codec.h — one way of writing a block, for block.c, which tries them all. To codecs values are 64
 * bits each: of doubles, or of whole numbers with sign.
 */
#ifndef HONE_CODEC_H
#define HONE_CODEC_H

#include "series/pack.h"

/* Values that do not fit a codec's idea of them, by their place; written whole. */
struct patches {
    size_t n;
    uint16_t at[BLOCK_VALUES]; /* (n) rising */
};
size_t patches_size(const struct patches *patches, const uint64_t *bits);
unsigned char *patches_put(const struct patches *patches, const uint64_t *bits, unsigned char *to);
/* Puts them into ret[n]. */
bool patches_get(struct bytes_in *in, size_t n, uint64_t *ret);
/* In place of a patched key stands the one before, or the next that is none: it costs no bits.
 * All patched: 0. */
void patches_hide(const struct patches *patches, uint64_t *keys, size_t n);

/* What a codec found out while it was tried. */
struct codec_plan {
    uint64_t keys[BLOCK_VALUES];
    struct pack_plan pack;
    struct pack_scale scale;
    struct patches patches;
    uint64_t parameters[2]; /* its own */
};

#define CODEC_CANNOT SIZE_MAX
/* The bytes that it takes, or CODEC_CANNOT; `limit` or more is as good as that. */
typedef size_t codec_plan_fn(const uint64_t *bits, size_t n, size_t limit, struct codec_plan *ret);
/* Writes exactly so many, and returns where they end. */
typedef unsigned char *codec_put_fn(const uint64_t *bits, size_t n, const struct codec_plan *plan,
                                    unsigned char *to);
/* false: these bytes say no n values. */
typedef bool codec_get_fn(struct bytes_in *in, size_t n, uint64_t *ret);

struct codec {
    const char *name;
    codec_plan_fn *plan;
    codec_put_fn *put;
    codec_get_fn *get;
};

extern const struct codec codec_raw, codec_constant, codec_integer, codec_decimal, codec_float,
    codec_xor, codec_runs, codec_digits;

#endif
