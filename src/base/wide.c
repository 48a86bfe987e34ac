/* SPDX-License-Identifier: MIT */
/*
 * wide.c — asked once. 512 is what has bytes permuted and compressed, too (Ice Lake, Zen 4 and
 * later): those before it slow down for wide loops.
 */
#include "base/wide.h"

#include "base/base.h"

#include <stdatomic.h>

#define UNKNOWN 1

static _Atomic unsigned known = UNKNOWN, most = 512;

static unsigned ask(void)
{
#if defined(__x86_64__)
    bool narrow = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("popcnt");
    bool wide = narrow && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
                __builtin_cpu_supports("avx512vbmi2");
    return wide ? 512 : narrow ? 256 : 0;
#else
    return 0;
#endif
}

unsigned wide_bits(void)
{
    unsigned bits = atomic_load_explicit(&known, memory_order_relaxed);

    if (bits == UNKNOWN)
        atomic_store(&known, bits = ask());
    return MIN(bits, atomic_load_explicit(&most, memory_order_relaxed));
}

void wide_limit(unsigned bits)
{
    atomic_store(&most, bits);
}
