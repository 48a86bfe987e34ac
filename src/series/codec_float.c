/* SPDX-License-Identifier: MIT */
/*
 * codec_float.c — doubles as whole numbers in the same order, packed. The low bits that are zero in
 * all of them are left out: of a double that was a float32 that is 29, of a bfloat16 45, so that
 * such a block costs what it would cost in that format.
 *
 * ±0, ±Inf and NaN lie far from everything in that order, so they are patches, and so are the few
 * full doubles among many float32.
 */
#include "series/codec.h"

#define SIGN          (UINT64_C(1) << 63)
#define INFINITE      (UINT64_C(0x7ff) << 52)
#define FLOAT32_ZEROS 29

/* Sign and magnitude ↔ two's complement: the order of the doubles is that of signed numbers. */
static inline uint64_t order(uint64_t bits)
{
    return bits & SIGN ? bits ^ ~SIGN : bits;
}

/* Neither ±0 nor ±Inf nor NaN. */
static inline bool is_plain(uint64_t bits)
{
    return (bits & ~SIGN) - 1 < INFINITE - 1;
}

/* Low bits to leave out: those of all, or a float32's if all but a few do without them. */
static unsigned common_zeros(const uint64_t *bits, size_t n)
{
    uint64_t all = 0, low = (UINT64_C(1) << FLOAT32_ZEROS) - 1;
    size_t plain = 0, full = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t mask = 0 - (uint64_t)is_plain(bits[i]);
        all |= bits[i] & mask;
        plain += mask & 1;
        full += (bits[i] & mask & low) != 0;
    }
    if (plain == 0)
        return 64;
    unsigned zeros = (unsigned)__builtin_ctzll(all | SIGN);
    return zeros < FLOAT32_ZEROS && full * 16 < plain ? FLOAT32_ZEROS : MIN(zeros, 52U);
}

static size_t plan_float(const uint64_t *bits, size_t n, size_t limit, struct codec_plan *ret)
{
    struct patches *patches = &ret->patches;
    unsigned zeros = common_zeros(bits, n);
    /* Full mantissas are noise, and what is known already takes less than they could. */
    if (zeros > 52 || (zeros < FLOAT32_ZEROS && limit < n * 4))
        return CODEC_CANNOT;
    uint64_t low = (UINT64_C(1) << zeros) - 1;
    size_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        patches->at[bad] = (uint16_t)i;
        bad += !is_plain(bits[i]) || (bits[i] & low) != 0;
        ret->keys[i] = (uint64_t)((int64_t)order(bits[i]) >> zeros);
    }
    patches->n = bad;
    ret->parameter = zeros;
    size_t patched = patches_size(patches, bits);
    if (patched >= limit)
        return CODEC_CANNOT;
    patches_hide(patches, ret->keys, n);
    pack_plan(ret->keys, n, /* lines= */ false, &ret->pack);
    return 1 + ret->pack.bytes + patched;
}

static unsigned char *put_float(const uint64_t *bits, size_t n, const struct codec_plan *plan,
                                unsigned char *to)
{
    *to++ = (unsigned char)plan->parameter;
    to = pack_put(plan->keys, n, &plan->pack, to);
    return patches_put(&plan->patches, bits, to);
}

static bool get_float(struct bytes_in *in, size_t n, uint64_t *ret)
{
    unsigned zeros;
    if (!get_byte(in, &zeros) || zeros > 52 || !pack_get(in, n, ret))
        return false;
    uint64_t low = (UINT64_C(1) << zeros) - 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t negative = 0 - (ret[i] >> 63);
        ret[i] = (ret[i] << zeros | (low & negative)) ^ (negative & ~SIGN);
    }
    return patches_get(in, n, ret);
}

const struct codec codec_float = {
    .name = "float", .plan = plan_float, .put = put_float, .get = get_float};
