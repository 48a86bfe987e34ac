/* SPDX-License-Identifier: MIT */
/*
 * codec_decimal.c — doubles that were written with few digits: m × 10^-e, m whole and packed, one e
 * for the block. As ALP (Afroozeh, Kuffó, Boncz 2023), but for the division: m / 10^e is rounded
 * once, so it gives the very double that reading the decimal text gives.
 *
 * The smallest e that a sample of the values needs is found first: where m / 10^e is x, m·10 /
 * 10^(e+1) is, too. Then all are converted with it; those that do not come back bit for bit are
 * patches.
 */
#include "series/codec.h"

#include <math.h>

#define EXPONENT_MAX 22       /* 10^22 is the last power of ten that is exact */
#define WHOLE_MAX    0x1p51   /* below it, adding MAGIC leaves the nearest whole number … */
#define MAGIC        0x1.8p52 /* … in the low bits of the sum */
#define SAMPLES      32

static const double powers[EXPONENT_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* x is *ret × 10^-e, in every bit. */
static inline bool to_whole(double x, double power, uint64_t *ret)
{
    double scaled = x * power, sum = scaled + MAGIC;
    *ret = bits_of(sum) - bits_of(MAGIC);
    return fabs(scaled) < WHOLE_MAX && bits_of((sum - MAGIC) / power) == bits_of(x);
}

/* The smallest exponent from e on that x comes back with; above EXPONENT_MAX: none. */
static unsigned exponent_of(double x, unsigned e)
{
    uint64_t whole;
    while (e <= EXPONENT_MAX && fabs(x) * powers[e] < WHOLE_MAX) {
        if (to_whole(x, powers[e], &whole))
            return e;
        e++;
    }
    return EXPONENT_MAX + 1;
}

/* That of a sample. A value that has none is passed over, as long as few are so. */
static unsigned sample_exponent(const uint64_t *bits, size_t n)
{
    unsigned e = 0, tried = 0, without = 0;
    size_t stride = n / SAMPLES + 1;
    for (size_t i = 0; i < n; i += stride) {
        double x = double_of(bits[i]);
        if (!isfinite(x) || (x == 0 && signbit(x)))
            continue;
        unsigned found = exponent_of(x, e);
        tried++;
        without += found > EXPONENT_MAX;
        if (without * 4 > tried + 4)
            return EXPONENT_MAX + 1;
        e = found > EXPONENT_MAX ? e : found;
    }
    return tried ? e : EXPONENT_MAX + 1;
}

static void convert(const uint64_t *bits, size_t n, unsigned e, struct codec_plan *ret)
{
    struct patches *patches = &ret->patches;
    double power = powers[e];
    size_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        patches->at[bad] = (uint16_t)i;
        bad += !to_whole(double_of(bits[i]), power, &ret->keys[i]);
    }
    patches->n = bad;
    ret->parameters[0] = e;
}

/* The sample may have missed the longest ones: then the first patches tell. */
static unsigned patched_exponent(const uint64_t *bits, const struct patches *patches, unsigned e)
{
    for (size_t i = 0; i < MIN(patches->n, (size_t)SAMPLES); i++) {
        unsigned found = exponent_of(double_of(bits[patches->at[i]]), e);
        e = found > EXPONENT_MAX ? e : found;
    }
    return e;
}

static size_t plan_decimal(const uint64_t *bits, size_t n, size_t limit, struct codec_plan *ret)
{
    unsigned e = sample_exponent(bits, n);
    if (e > EXPONENT_MAX)
        return CODEC_CANNOT;
    convert(bits, n, e, ret);
    if (ret->patches.n > 0) {
        unsigned longer = patched_exponent(bits, &ret->patches, e);
        if (longer > e)
            convert(bits, n, longer, ret);
    }
    size_t patched = patches_size(&ret->patches, bits);
    if (ret->patches.n == n || patched >= limit)
        return CODEC_CANNOT;
    patches_hide(&ret->patches, ret->keys, n);
    ret->scale = pack_scale(ret->keys, n);
    pack_plan(ret->keys, n, /* lines= */ false, &ret->pack);
    return 1 + pack_scale_size(&ret->scale) + ret->pack.bytes + patched;
}

static unsigned char *put_decimal(const uint64_t *bits, size_t n, const struct codec_plan *plan,
                                  unsigned char *to)
{
    *to++ = (unsigned char)plan->parameters[0];
    to = pack_put_scale(&plan->scale, to);
    to = pack_put(plan->keys, n, &plan->pack, to);
    return patches_put(&plan->patches, bits, to);
}

/* m → m / 10^e, two at a time: the division is what it costs. */
static void from_whole(uint64_t *keys, size_t n, double power)
{
    typedef uint64_t words __attribute__((vector_size(16)));
    typedef double doubles __attribute__((vector_size(16)));
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        words pair;
        memcpy(&pair, keys + i, sizeof(pair));
        pair += bits_of(MAGIC);
        pair = (words)(((doubles)pair - MAGIC) / power);
        memcpy(keys + i, &pair, sizeof(pair));
    }
    if (i < n)
        keys[i] = bits_of((double_of(keys[i] + bits_of(MAGIC)) - MAGIC) / power);
}

static bool get_decimal(struct bytes_in *in, size_t n, uint64_t *ret)
{
    struct pack_scale scale;
    unsigned e;
    if (!get_byte(in, &e) || e > EXPONENT_MAX || !pack_get_scale(in, &scale) ||
        !pack_get(in, n, ret))
        return false;
    pack_unscale(&scale, ret, n);
    from_whole(ret, n, powers[e]);
    return patches_get(in, n, ret);
}

const struct codec codec_decimal = {
    .name = "decimal", .plan = plan_decimal, .put = put_decimal, .get = get_decimal};
