/* SPDX-License-Identifier: MIT */
/*
 * rest.h — whole numbers of 64 bits beside doubles. Beyond ±2^53 a double cannot hold them all:
 * such a one is the nearest double and a rest, by which it is written exactly.
 *
 *     9007199254740993  =  9007199254740992.0, rest 1025        (rest − 1024 is added: ±512 at
 * most)
 *
 * A rest of 0 says that the double is all there is; who knows of no rests leaves it so.
 */
#ifndef HONE_REST_H
#define HONE_REST_H

#include "base/base.h"

#define REST_ZERO 1024
#define REST_MOST 512 /* away from that */

static inline bool rest_needed(int64_t x)
{
    return x > (1LL << 53) || x < -(1LL << 53);
}

/* The rest of a number whose double is (double)x; 0: it needs none. */
static inline uint16_t rest_of(int64_t x)
{
    return rest_needed(x) ? (uint16_t)(x - (__int128)(double)x + REST_ZERO) : 0;
}

/* A rest as it was stored beside a value, whatever that is: 0 if the two are no whole number. */
static inline uint16_t rest_checked(double value, double rest)
{
    double size = value < 0 ? -value : value;
    bool wide = size >= 0x1p53 && size <= 0x1p63;
    return wide && rest >= REST_ZERO - REST_MOST && rest <= REST_ZERO + REST_MOST ? (uint16_t)rest
                                                                                  : 0;
}

/* The number; `rest` is not 0 and belongs to the value. */
static inline int64_t rest_whole(double value, uint16_t rest)
{
    __int128 x = (__int128)value + rest - REST_ZERO;
    return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : (int64_t)x;
}

#endif
