/* SPDX-License-Identifier: MIT */
/*
 * bits.h — the small change of the codecs: little-endian words, varints, zigzag, and a reader of
 * bytes that nobody vouches for.
 *
 * A reader's bytes are followed by IN_PAD readable ones, so that a decoder may load eight bytes
 * anywhere and look once for each piece whether it went too far.
 */
#ifndef HONE_BITS_H
#define HONE_BITS_H

#include "base/base.h"

#include <endian.h>

#define IN_PAD     16
#define VARINT_MAX 10 /* bytes */

struct bytes_in {
    const unsigned char *at, *end;
};

static inline size_t in_left(const struct bytes_in *in)
{
    return (size_t)(in->end - in->at);
}

static inline uint64_t load_u64(const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof(w));
    return le64toh(w);
}

static inline void store_u64(unsigned char *p, uint64_t w)
{
    w = htole64(w);
    memcpy(p, &w, sizeof(w));
}

/* Small numbers of either sign become small ones without: 0 −1 1 −2 … → 0 1 2 3 … */
static inline uint64_t zigzag(uint64_t signed_bits)
{
    return (signed_bits << 1) ^ (0 - (signed_bits >> 63));
}

static inline uint64_t unzigzag(uint64_t z)
{
    return (z >> 1) ^ (0 - (z & 1));
}

static inline unsigned bit_width(uint64_t x)
{
    return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

static inline size_t varint_size(uint64_t x)
{
    return x ? (bit_width(x) + 6) / 7 : 1;
}

static inline unsigned char *put_varint(unsigned char *to, uint64_t x)
{
    for (; x >= 128; x >>= 7)
        *to++ = (unsigned char)(x | 128);
    *to++ = (unsigned char)x;
    return to;
}

/* false: the bytes end within it, or it has more than 64 bits. */
static inline bool get_varint(struct bytes_in *in, uint64_t *ret)
{
    uint64_t x = 0;
    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        uint64_t byte = *in->at++;
        if (shift == 63 && byte > 1)
            return false;
        x |= (byte & 127) << shift;
        if (byte < 128) {
            *ret = x;
            return true;
        }
    }
    return false;
}

static inline bool get_byte(struct bytes_in *in, unsigned *ret)
{
    if (in->at >= in->end)
        return false;
    *ret = *in->at++;
    return true;
}

static inline double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

#endif
