/* SPDX-License-Identifier: MIT */
/*
 * codec_float.c — doubles as whole numbers in the same order, packed. The low bits that are zero in
 * all of them are left out: of a double that was a float32 that is 29, of a bfloat16 45, so that
 * such a block costs what it would cost in that format. And so are the numbers between zero and the
 * value nearest to it, of which the order of floats has more than all others together:
 *
 *     … −2  −1  0  1  2 …      keys
 *       │   │   │  │  │
 *      −b  −a   0  a  b        values; a is the nearest to zero, b the next float
 *
 * NaN, ±Inf and −0 are patches, and so are the few full doubles among many float32.
 */
#include "series/codec.h"
#include "series/unpack.h"

#define SIGN          (UINT64_C(1) << 63)
#define INFINITE      (UINT64_C(0x7ff) << 52)
#define FLOAT32_ZEROS 29
#define ZEROS_MAX     52

struct shape {
    unsigned zeros;  /* low bits left out */
    uint64_t before; /* magnitudes below the smallest, without those bits */
};

static inline bool is_plain(uint64_t bits)
{
    return (bits & INFINITE) != INFINITE && bits != SIGN;
}

/* Low bits to leave out: those of all, or a float32's if all but a few do without them. */
static struct shape shape_of(const uint64_t *bits, size_t n)
{
    uint64_t all = 0, smallest = INFINITE, low = (UINT64_C(1) << FLOAT32_ZEROS) - 1;
    size_t full = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t magnitude = is_plain(bits[i]) ? bits[i] & ~SIGN : 0;
        all |= magnitude;
        full += (magnitude & low) != 0;
        smallest = MIN(smallest, magnitude - 1); /* 0 is none */
    }
    struct shape shape = {MIN((unsigned)__builtin_ctzll(all | SIGN), ZEROS_MAX), 0};
    if (shape.zeros < FLOAT32_ZEROS && full * 16 < n)
        shape.zeros = FLOAT32_ZEROS;
    if (smallest < INFINITE)
        shape.before = smallest >> shape.zeros;
    return shape;
}

static inline uint64_t to_key(uint64_t bits, const struct shape *shape)
{
    uint64_t sign = 0 - (bits >> 63), magnitude = (bits & ~SIGN) >> shape->zeros;
    uint64_t key = magnitude ? magnitude - shape->before : 0;
    return (key ^ sign) - sign;
}

static size_t plan_float(const uint64_t *bits, size_t n, size_t limit, struct codec_plan *ret)
{
    struct patches *patches = &ret->patches;
    struct shape shape = shape_of(bits, n);
    /* Full mantissas are noise, and what is known already takes less than they could. */
    if (shape.zeros < FLOAT32_ZEROS && limit < n * 4)
        return CODEC_CANNOT;
    uint64_t low = (UINT64_C(1) << shape.zeros) - 1;
    size_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        patches->at[bad] = (uint16_t)i;
        bad += !is_plain(bits[i]) || (bits[i] & low) != 0;
        ret->keys[i] = to_key(bits[i], &shape);
    }
    patches->n = bad;
    ret->parameters[0] = shape.zeros;
    ret->parameters[1] = shape.before;
    size_t patched = patches_size(patches, bits);
    if (patched >= limit)
        return CODEC_CANNOT;
    patches_hide(patches, ret->keys, n);
    pack_plan(ret->keys, n, /* lines= */ false, &ret->pack);
    return 1 + varint_size(shape.before) + ret->pack.bytes + patched;
}

static unsigned char *put_float(const uint64_t *bits, size_t n, const struct codec_plan *plan,
                                unsigned char *to)
{
    *to++ = (unsigned char)plan->parameters[0];
    to = put_varint(to, plan->parameters[1]);
    to = pack_put(plan->keys, n, &plan->pack, to);
    return patches_put(&plan->patches, bits, to);
}

static bool get_float(struct bytes_in *in, size_t n, uint64_t *ret)
{
    struct shape shape;
    if (!get_byte(in, &shape.zeros) || shape.zeros > ZEROS_MAX || !get_varint(in, &shape.before) ||
        !pack_get(in, n, ret))
        return false;
    unpack_floats(ret, n, shape.zeros, shape.before);
    return patches_get(in, n, ret);
}

const struct codec codec_float = {
    .name = "float", .plan = plan_float, .put = put_float, .get = get_float};
