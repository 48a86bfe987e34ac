/* SPDX-License-Identifier: MIT */
/*
 * bytes.h — numbers and texts to bytes and back. Reading never goes past the end: after the first
 * value that is not there, `bad` stays set and every further one is 0.
 */
#ifndef HONE_LIB_BYTES_H
#define HONE_LIB_BYTES_H

#include "base/str.h"

static inline void put_u64(struct str *to, uint64_t x)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(x >> (8 * i));
    str_add_n(to, (const char *)bytes, sizeof(bytes));
}

static inline void put_double(struct str *to, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    put_u64(to, bits);
}

/* Length, then the bytes. */
static inline void put_bytes(struct str *to, const void *bytes, size_t n)
{
    put_u64(to, n);
    str_add_n(to, bytes, n);
}

struct bytes_in {
    const unsigned char *at;
    size_t left;
    bool bad;
};

static inline uint64_t take_u64(struct bytes_in *in)
{
    uint64_t x = 0;

    if (in->bad || in->left < 8) {
        in->bad = true;
        return 0;
    }
    for (int i = 0; i < 8; i++)
        x |= (uint64_t)in->at[i] << (8 * i);
    in->at += 8;
    in->left -= 8;
    return x;
}

static inline double take_double(struct bytes_in *in)
{
    uint64_t bits = take_u64(in);
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* How many items of at least `size` bytes follow: never more than there is room for. */
static inline size_t take_count(struct bytes_in *in, size_t size)
{
    uint64_t n = take_u64(in);
    if (n <= in->left / size)
        return (size_t)n;
    in->bad = true;
    return 0;
}

/* Points into what is read. */
static inline const void *take_bytes(struct bytes_in *in, size_t *ret_n)
{
    const unsigned char *bytes = in->at;
    *ret_n = take_count(in, 1);
    bytes = in->at;
    in->at += *ret_n;
    in->left -= *ret_n;
    return bytes;
}

#endif
