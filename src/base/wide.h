/* SPDX-License-Identifier: MIT */
/*
 * wide.h — loops over many numbers, as wide as the processor can: which is asked at run time. Every
 * such loop has a plain one beside it that gives the same bits.
 */
#ifndef HONE_WIDE_H
#define HONE_WIDE_H

#if defined(__x86_64__)
#define WIDE_256        __attribute__((target("avx2,bmi,popcnt")))
#define WIDE_256_INLINE __attribute__((target("avx2,bmi,popcnt"), always_inline)) static inline
#define WIDE_512                                                                                   \
    __attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,"    \
                          "avx512vbmi2")))
#define WIDE_512_INLINE WIDE_512 __attribute__((always_inline)) static inline
#endif

/* Which loops may run: 512, 256 or (plain ones) 0. */
unsigned wide_bits(void);
/* From now on at most these, for tests. */
void wide_limit(unsigned bits);

#endif
