/* SPDX-License-Identifier: MIT */
/*
 * codec_digits.c — doubles that were written with so many significant digits, as %g does it. The
 * smaller such a number, the closer are its neighbours: 0.0998765 has a decimal more than 0.101234,
 * and codec_decimal would write both with seven. Here a value is its place among all numbers of
 * so many digits:
 *
 *     … 0.0999998  0.0999999  0.100000  0.100001 …     values of 6 digits
 *          899999     900000    900001    900002       keys, from the decade of the smallest on
 *
 * Zero is 0, and negative values have negative keys. m × 10^-k is rounded once, so it gives the
 * very double that reading the text gives. NaN, ±Inf, −0 and what has more digits are patches.
 */
#include "series/codec.h"

#include <math.h>

#define DIGITS_MAX 14
#define POWER_MAX  22       /* 10^22 is the last power of ten that is exact */
#define MAGIC      0x1.8p52 /* added, it leaves the nearest whole number in the low bits */
#define INFINITE   (UINT64_C(0x7ff) << 53) /* without the sign */
#define SAMPLES    32
#define DECADE_0   64 /* stored as so much more */

static const double powers[POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                             1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                             1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

struct digits {
    uint64_t m; /* of so many digits … */
    int decade; /* … the first of which stands for so many powers of ten */
};

/* m × 10^-k */
static inline double scaled(double m, int k)
{
    return k >= 0 ? m / powers[k] : m * powers[-k];
}

static inline bool has_power(int k)
{
    return k >= -POWER_MAX && k <= POWER_MAX;
}

/* Its digits, if `digits` are enough for every bit of it. */
static inline bool to_digits(uint64_t bits, unsigned digits, struct digits *ret)
{
    double x = fabs(double_of(bits));
    int log2 = (int)(bits >> 52 & 0x7ff) - 1023;
    int decade = (log2 * 1233) >> 12; /* right, or one too few */
    int k = (int)digits - 1 - decade;

    if (bits << 1 == 0 || !has_power(k) || !has_power(k - 1))
        return false;
    double m = scaled(x, -k) + MAGIC - MAGIC;
    if (m >= powers[digits]) {
        k--;
        decade++;
        m = scaled(x, -k) + MAGIC - MAGIC;
    }
    *ret = (struct digits){(uint64_t)m, decade};
    return m >= powers[digits - 1] && m < powers[digits] && bits_of(scaled(m, k)) == bits_of(x);
}

/* The fewest from `digits` on that are enough; above DIGITS_MAX: none are. */
static unsigned digits_of(uint64_t bits, unsigned digits)
{
    struct digits unused;

    while (digits <= DIGITS_MAX && !to_digits(bits, digits, &unused))
        digits++;
    return digits;
}

/* Those of a sample. A value that has none is passed over, as long as few are so. */
static unsigned sample_digits(const uint64_t *bits, size_t n)
{
    unsigned digits = 1, tried = 0, without = 0;
    size_t stride = n / SAMPLES + 1;

    for (size_t i = 0; i < n; i += stride) {
        if (bits[i] == 0)
            continue;
        unsigned found = digits_of(bits[i], digits);
        tried++;
        without += found > DIGITS_MAX;
        if (without * 4 > tried + 4)
            return DIGITS_MAX + 1;
        digits = found > DIGITS_MAX ? digits : found;
    }
    return tried ? digits : DIGITS_MAX + 1;
}

/* Do they lie in more than one decade? If not, codec_decimal says the same in less time. */
static bool has_decades(const uint64_t *bits, size_t n)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t magnitude = bits[i] << 1; /* in the order of the values */
        if (magnitude == 0 || magnitude >= INFINITE)
            continue;
        least = MIN(least, magnitude);
        most = MAX(most, magnitude);
    }
    return least < most &&
           floor(log10(double_of(least >> 1))) != floor(log10(double_of(most >> 1)));
}

/* Keys of a decade. */
static uint64_t span_of(unsigned digits)
{
    return 9 * (uint64_t)powers[digits - 1];
}

static void convert(const uint64_t *bits, size_t n, unsigned digits, struct codec_plan *ret)
{
    struct patches *patches = &ret->patches;
    struct digits found[BLOCK_VALUES];
    uint64_t span = span_of(digits), first = (uint64_t)powers[digits - 1];
    int64_t least = INT16_MAX;
    size_t bad = 0;

    for (size_t i = 0; i < n; i++) {
        bool good = to_digits(bits[i], digits, &found[i]);
        patches->at[bad] = (uint16_t)i;
        bad += !good && bits[i] != 0;
        least = good ? MIN(least, found[i].decade) : least;
        found[i].m = good ? found[i].m : 0;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t sign = 0 - (bits[i] >> 63), key = 0;
        if (found[i].m)
            key = (uint64_t)(found[i].decade - least) * span + (found[i].m - first) + 1;
        ret->keys[i] = (key ^ sign) - sign;
    }
    patches->n = bad;
    ret->parameters[0] = digits;
    ret->parameters[1] = (uint64_t)(least + DECADE_0);
}

/* The sample may have missed the longest ones: then the first patches tell. */
static unsigned patched_digits(const uint64_t *bits, const struct patches *patches, unsigned digits)
{
    for (size_t i = 0; i < MIN(patches->n, (size_t)SAMPLES); i++) {
        unsigned found = digits_of(bits[patches->at[i]], digits);
        digits = found > DIGITS_MAX ? digits : found;
    }
    return digits;
}

static size_t plan_digits(const uint64_t *bits, size_t n, size_t limit, struct codec_plan *ret)
{
    unsigned digits = sample_digits(bits, n);

    if (digits > DIGITS_MAX || !has_decades(bits, n))
        return CODEC_CANNOT;
    convert(bits, n, digits, ret);
    if (ret->patches.n > 0) {
        unsigned longer = patched_digits(bits, &ret->patches, digits);
        if (longer > digits)
            convert(bits, n, longer, ret);
    }
    size_t patched = patches_size(&ret->patches, bits);
    if (ret->patches.n == n || patched >= limit)
        return CODEC_CANNOT;
    patches_hide(&ret->patches, ret->keys, n);
    pack_plan(ret->keys, n, /* lines= */ false, &ret->pack);
    return 2 + ret->pack.bytes + patched;
}

static unsigned char *put_digits(const uint64_t *bits, size_t n, const struct codec_plan *plan,
                                 unsigned char *to)
{
    *to++ = (unsigned char)plan->parameters[0];
    *to++ = (unsigned char)plan->parameters[1];
    to = pack_put(plan->keys, n, &plan->pack, to);
    return patches_put(&plan->patches, bits, to);
}

/* Keys to values. Most lie in the decade of the one before. False: there is no such decade. */
static bool from_keys(uint64_t *keys, size_t n, unsigned digits, int least)
{
    uint64_t span = span_of(digits), begin = 0, first = (uint64_t)powers[digits - 1];
    int k = (int)digits - 1 - least;

    for (size_t i = 0; i < n; i++) {
        uint64_t sign = 0 - (keys[i] >> 63), key = (keys[i] ^ sign) - sign;
        if (key == 0)
            continue;
        if (--key - begin >= span) {
            uint64_t decade = key / span;
            if (decade > 2 * POWER_MAX)
                return false;
            begin = decade * span;
            k = (int)digits - 1 - least - (int)decade;
        }
        if (!has_power(k))
            return false;
        double x = scaled((double)(int64_t)(key - begin + first), k);
        keys[i] = bits_of(x) | (sign & UINT64_C(1) << 63);
    }
    return true;
}

static bool get_digits(struct bytes_in *in, size_t n, uint64_t *ret)
{
    unsigned digits, least;

    if (!get_byte(in, &digits) || digits < 1 || digits > DIGITS_MAX || !get_byte(in, &least) ||
        !pack_get(in, n, ret) || !from_keys(ret, n, digits, (int)least - DECADE_0))
        return false;
    return patches_get(in, n, ret);
}

const struct codec codec_digits = {
    .name = "digits", .plan = plan_digits, .put = put_digits, .get = get_digits};
