/* SPDX-License-Identifier: MIT */
/*
 * codec_xor.c — what changed since the value before (Gorilla: Pelkonen et al. 2015). Best where
 * values repeat: a repetition is one bit. After the first value, whole, each is
 *
 *     0                                    the same again
 *     10 bits of the window                changed bits lie in the last window
 *     11 leading (5) length−1 (6) bits     a new window
 *
 * written from the lowest bit up.
 */
#include "series/codec.h"

#define LEADING_MAX 31

struct window {
    unsigned leading, length;
};

/* Does the change lie in the window? If not, sets it to the change's own. change ≠ 0. */
static inline bool window_holds(struct window *window, uint64_t change)
{
    unsigned leading = MIN((unsigned)__builtin_clzll(change), (unsigned)LEADING_MAX);
    unsigned trailing = (unsigned)__builtin_ctzll(change);
    if (window->length && leading >= window->leading &&
        trailing >= 64 - window->leading - window->length)
        return true;
    *window = (struct window){leading, 64 - leading - trailing};
    return false;
}

static size_t count_repeats(const uint64_t *bits, size_t n)
{
    size_t repeats = 0;
    for (size_t i = 1; i < n; i++)
        repeats += bits[i] == bits[i - 1];
    return repeats;
}

static size_t plan_xor(const uint64_t *bits, size_t n, size_t limit, struct codec_plan *ret UNUSED)
{
    struct window window = {0, 0};
    size_t size = 64;
    if (count_repeats(bits, n) < n / 16) /* then the order of floats is always shorter */
        return CODEC_CANNOT;
    for (size_t i = 1; i < n; i++) {
        uint64_t change = bits[i] ^ bits[i - 1];
        size++;
        if (change)
            size += (window_holds(&window, change) ? 1 : 12) + window.length;
        if (i % 64 == 0 && size / 8 >= limit)
            return CODEC_CANNOT;
    }
    return (size + 7) / 8;
}

/* ---- a stream of bits ---- */
struct bits_out {
    unsigned char *to;
    uint64_t word;
    unsigned filled; /* < 64 */
};

static inline void out_bits(struct bits_out *out, uint64_t value, unsigned n)
{
    out->word |= value << out->filled;
    out->filled += n;
    if (out->filled >= 64) {
        store_u64(out->to, out->word);
        out->to += 8;
        out->filled -= 64;
        out->word = out->filled ? value >> (n - out->filled) : 0;
    }
}

static unsigned char *out_end(struct bits_out *out)
{
    for (; out->filled > 0; out->filled -= MIN(out->filled, 8U), out->word >>= 8)
        *out->to++ = (unsigned char)out->word;
    return out->to;
}

static unsigned char *put_xor(const uint64_t *bits, size_t n, const struct codec_plan *plan UNUSED,
                              unsigned char *to)
{
    struct bits_out out = {to, 0, 0};
    struct window window = {0, 0};
    out_bits(&out, bits[0], 64);
    for (size_t i = 1; i < n; i++) {
        uint64_t change = bits[i] ^ bits[i - 1];
        if (!change) {
            out_bits(&out, 0, 1);
            continue;
        }
        if (window_holds(&window, change))
            out_bits(&out, 1, 2);
        else
            out_bits(&out, 3 | window.leading << 2 | (window.length - 1) << 7, 13);
        out_bits(&out, change >> (64 - window.leading - window.length), window.length);
    }
    return out_end(&out);
}

/* n ≤ 64 bits from place `bit` on; up to 9 bytes from there are read. */
static inline uint64_t in_bits(const unsigned char *from, size_t bit, unsigned n)
{
    unsigned skip = bit & 7;
    uint64_t value = load_u64(from + bit / 8) >> skip;
    if (skip)
        value |= (uint64_t)from[bit / 8 + 8] << (64 - skip);
    return n < 64 ? value & ((UINT64_C(1) << n) - 1) : value;
}

/* Moves *bit behind the value; false: no window could be so. */
static inline bool next_xor(const unsigned char *from, size_t *bit, struct window *window,
                            uint64_t *value)
{
    uint64_t head = in_bits(from, *bit, 13);
    if ((head & 1) == 0) {
        *bit += 1;
        return true;
    }
    if (head & 2)
        *window = (struct window){head >> 2 & 31, (unsigned)(head >> 7) + 1};
    if (window->length == 0 || window->leading + window->length > 64)
        return false;
    *bit += head & 2 ? 13 : 2;
    *value ^= in_bits(from, *bit, window->length) << (64 - window->leading - window->length);
    *bit += window->length;
    return true;
}

static bool get_xor(struct bytes_in *in, size_t n, uint64_t *ret)
{
    struct window window = {0, 0};
    size_t bit = 64, limit = in_left(in) * 8;
    if (limit < 64)
        return false;
    ret[0] = load_u64(in->at);
    for (size_t i = 1; i < n; i++) {
        ret[i] = ret[i - 1];
        if (bit >= limit || !next_xor(in->at, &bit, &window, &ret[i]))
            return false; /* one step reads less than IN_PAD bytes beyond the limit */
    }
    if (bit > limit)
        return false;
    in->at += (bit + 7) / 8;
    return true;
}

const struct codec codec_xor = {.name = "xor", .plan = plan_xor, .put = put_xor, .get = get_xor};
