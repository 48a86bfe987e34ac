/* SPDX-License-Identifier: MIT */
/*
 * rng.h — reproducible randomness: xoshiro256** seeded by splitmix64 (Blackman, Vigna 2018).
 * The struct is its whole state: copy it to save, assign it to restore.
 */
#ifndef HONE_RNG_H
#define HONE_RNG_H

#include "base/base.h"

struct rng {
    uint64_t s[4];
};

/* Different streams of one seed are independent. */
void rng_init(struct rng *rng, uint64_t seed, uint64_t stream);
uint64_t rng_u64(struct rng *rng);
double rng_unit(struct rng *rng);                /* [0, 1) */
uint64_t rng_below(struct rng *rng, uint64_t n); /* [0, n), no bias; n > 0 */
double rng_normal(struct rng *rng);              /* mean 0, variance 1 */
bool rng_chance(struct rng *rng, double p);
/* A good 64-bit mix of a number: splitmix64's finaliser. */
uint64_t hash_u64(uint64_t x);
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed);
/* From the kernel, for seeds and ids that nobody may guess. */
uint64_t random_u64(void);

#endif
