/* SPDX-License-Identifier: MIT */
/*
 * unpack_test.c — the wide loops give the bits of the plain ones.
 */
#include "series/unpack.h"
#include "base/rng.h"
#include "base/wide.h"
#include "tests/test.h"

#define MOST 300

static uint64_t any_number(struct rng *rng)
{
    uint64_t x = rng_u64(rng);

    return rng_chance(rng, 0.2) ? x : rng_chance(rng, 0.1) ? 0 : x >> rng_below(rng, 64);
}

/* All bytes that are read, and not one more: a sanitizer looks. */
static unsigned char *random_bytes(struct rng *rng, size_t n, unsigned width)
{
    size_t size = (n * width + 7) / 8 + 8;
    unsigned char *bytes = xmalloc(size);

    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)rng_u64(rng);
    return bytes;
}

static void random_ones(struct rng *rng, size_t n, uint32_t *ret)
{
    uint32_t at = UINT32_MAX;

    ret[0] = at;
    for (size_t i = 1; i <= n; i++)
        ret[i] = at += 1 + (uint32_t)rng_below(rng, rng_chance(rng, 0.9) ? 4 : 200);
}

TEST(ones_are_found_as_one_by_one)
{
    struct rng rng;

    rng_init(&rng, 3, 0);
    for (int round = 0; round < 6000; round++) {
        wide_limit((unsigned)round % 3 * 256);
        size_t n = rng_below(&rng, round / 3 % 2 ? 20 : MOST), left = rng_below(&rng, 80);
        autofree(mem) unsigned char *bytes = random_bytes(&rng, left, 8);
        uint32_t wide[MOST + UNPACK_ROOM], plain[MOST + UNPACK_ROOM];
        for (size_t i = 0; i < left; i++)
            bytes[i] &= (unsigned char)(rng_chance(&rng, 0.3) ? 0 : rng_u64(&rng));
        bool found = unpack_ones(bytes, left, n, wide);
        assert_int_equal(found, unpack_ones_plain(bytes, left, n, plain));
        if (found)
            assert_memory_equal(wide, plain, n * sizeof(*wide));
    }
}

TEST(runs_are_unpacked_as_one_by_one)
{
    struct rng rng;

    rng_init(&rng, 1, 0);
    for (int round = 0; round < 6000; round++) {
        wide_limit((unsigned)round % 3 * 256);
        size_t n = rng_below(&rng, round / 3 % 2 ? 20 : MOST);
        uint64_t wide[MOST + 1], plain[MOST + 1];
        uint32_t ones[MOST + 1];
        unsigned width = (unsigned)rng_below(&rng, UNPACK_WIDTH_MAX + 1);
        autofree(mem) unsigned char *low = random_bytes(&rng, n, width);
        struct unpack run = {.low = low,
                             .width = width,
                             .ones = rng_chance(&rng, 0.5) ? ones : NULL,
                             .base = any_number(&rng),
                             .before = any_number(&rng),
                             .delta = rng_chance(&rng, 0.5)};
        random_ones(&rng, n, ones);
        wide[n] = plain[n] = 42; /* stays */
        unpack_run(&run, n, wide);
        unpack_run_plain(&run, n, plain);
        assert_memory_equal(wide, plain, (n + 1) * sizeof(*wide));
        assert_int_equal(wide[n], 42);
    }
}

TEST(keys_become_floats_as_one_by_one)
{
    struct rng rng;

    rng_init(&rng, 2, 0);
    for (int round = 0; round < 6000; round++) {
        wide_limit((unsigned)round % 3 * 256);
        size_t n = rng_below(&rng, round / 3 % 2 ? 20 : MOST);
        uint64_t wide[MOST + 1], plain[MOST + 1], before = any_number(&rng);
        unsigned zeros = (unsigned)rng_below(&rng, 53);
        for (size_t i = 0; i <= n; i++)
            wide[i] = plain[i] = any_number(&rng);
        unpack_floats(wide, n, zeros, before);
        unpack_floats_plain(plain, n, zeros, before);
        assert_memory_equal(wide, plain, (n + 1) * sizeof(*wide));
    }
}

TEST(scales_are_undone_as_one_by_one)
{
    struct rng rng;

    rng_init(&rng, 6, 0);
    for (int round = 0; round < 6000; round++) {
        wide_limit((unsigned)round % 3 * 256);
        size_t n = rng_below(&rng, 40);
        uint64_t wide[40], plain[40], unit = any_number(&rng), first = any_number(&rng);
        for (size_t i = 0; i < n; i++)
            wide[i] = plain[i] = any_number(&rng);
        unpack_scale(wide, n, unit, first);
        unpack_scale_plain(plain, n, unit, first);
        assert_memory_equal(wide, plain, n * sizeof(*wide));
    }
}

TEST_MAIN
