/* SPDX-License-Identifier: MIT */
/*
 * rng.c — xoshiro256** and the mixes it is seeded with.
 */
#include "base/rng.h"

#include <math.h>
#include <sys/random.h>

uint64_t hash_u64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = hash_u64(seed ^ n), word;

    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&word, p, 8);
        h = hash_u64(h ^ word);
    }
    word = 0;
    memcpy(&word, p, n);
    return hash_u64(h ^ word);
}

void rng_init(struct rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t x = hash_u64(seed) ^ hash_u64(~stream);
    for (int i = 0; i < 4; i++)
        rng->s[i] = hash_u64(x + (uint64_t)i * 0x9e3779b97f4a7c15ULL);
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_u64(struct rng *rng)
{
    uint64_t *s = rng->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

double rng_unit(struct rng *rng)
{
    return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

uint64_t rng_below(struct rng *rng, uint64_t n)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;
    do
        x = rng_u64(rng);
    while (x >= limit);
    return x % n;
}

double rng_normal(struct rng *rng)
{
    double u = 1.0 - rng_unit(rng), v = rng_unit(rng);
    return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v);
}

bool rng_chance(struct rng *rng, double p)
{
    return rng_unit(rng) < p;
}

uint64_t random_u64(void)
{
    uint64_t x = 0;
    while (getrandom(&x, sizeof(x), 0) != (ssize_t)sizeof(x))
        ;
    return x;
}
