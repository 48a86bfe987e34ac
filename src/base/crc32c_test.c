/* SPDX-License-Identifier: MIT */
/*
 * crc32c_test.c — the fast ways of the checksum against the small one.
 */
#include "base/crc32c.h"
#include "base/rng.h"

#include "tests/test.h"

typedef uint32_t crc_fn(uint32_t crc, const void *bytes, size_t n);

static crc_fn *const ways[] = {crc32c_fast, crc32c_tables};

static unsigned char *random_bytes(size_t n)
{
    unsigned char *bytes = xmalloc(n + 1);
    struct rng rng;
    rng_init(&rng, 32, 0);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)rng_u64(&rng);
    return bytes;
}

TEST(every_way_gives_the_known_sums)
{
    char zeros[32] = {0}, ones[32];
    memset(ones, 0xff, sizeof(ones));
    for (size_t w = 0; w < ARRAY_LEN(ways); w++) {
        assert_int_equal(ways[w](0, "123456789", 9), 0xe3069283);
        assert_int_equal(ways[w](0, zeros, 32), 0x8a9136aa); /* RFC 3720, B.4 */
        assert_int_equal(ways[w](0, ones, 32), 0x62a8ab43);
        assert_int_equal(ways[w](0, "", 0), 0);
        assert_int_equal(ways[w](0x1234, "", 0), 0x1234);
    }
}

TEST(every_way_agrees_at_every_length_and_alignment)
{
    autofree(mem) unsigned char *bytes = random_bytes(5000);
    for (size_t w = 0; w < ARRAY_LEN(ways); w++) {
        for (size_t n = 0; n < 100; n++)
            for (size_t at = 0; at < 9; at++)
                assert_int_equal(ways[w](7, bytes + at, n), crc32c(7, bytes + at, n));
        for (size_t n = 1500; n < 4990; n += 31) /* around one, two and three turns of the lanes */
            assert_int_equal(ways[w](0, bytes + n % 8, n), crc32c(0, bytes + n % 8, n));
        for (size_t n = 1535; n <= 1537; n++)
            assert_int_equal(ways[w](0, bytes, n), crc32c(0, bytes, n));
    }
}

TEST(a_sum_may_be_fed_in_pieces)
{
    enum { N = 4000 };
    autofree(mem) unsigned char *bytes = random_bytes(N);
    uint32_t whole = crc32c(0, bytes, N);
    for (size_t w = 0; w < ARRAY_LEN(ways); w++)
        for (size_t cut = 0; cut <= N; cut += 97)
            assert_int_equal(ways[w](ways[w](0, bytes, cut), bytes + cut, N - cut), whole);
}

TEST_MAIN
