/* SPDX-License-Identifier: MIT */
/*
 * unpack.c — each loop twice. The wide one does as many as it can four at a time, and leaves the
 * rest to the plain one.
 */
#include "series/unpack.h"

#include "series/bits.h"

#define SIGN (UINT64_C(1) << 63)

static uint64_t mask_of(const struct unpack *run)
{
    return (UINT64_C(1) << run->width) - 1;
}

/* ---- one after the other ---- */
static inline uint64_t bits_at(const unsigned char *from, size_t bit, uint64_t mask)
{
    return load_u64(from + bit / 8) >> (bit & 7) & mask;
}

/* From the i-th on. `level` is what it adds to. */
static void plain_from(const struct unpack *run, size_t i, size_t n, uint64_t level, uint64_t *ret)
{
    uint64_t moves = run->delta ? UINT64_MAX : 0, mask = mask_of(run), base = run->base;
    const uint32_t *ones = run->ones;
    unsigned width = run->width;

    for (size_t bit = i * width; i < n; i++, bit += width) {
        uint64_t rest = bits_at(run->low, bit, mask);
        if (ones)
            rest = unzigzag(rest | (uint64_t)(ones[i + 1] - ones[i] - 1) << width);
        rest += base;
        ret[i] = level + rest;
        level += rest & moves;
    }
}

void unpack_run_plain(const struct unpack *run, size_t n, uint64_t *ret)
{
    plain_from(run, 0, n, run->before, ret);
}

bool unpack_ones_plain(const unsigned char *bytes, size_t left, size_t n, uint32_t *ret)
{
    size_t i = 0;

    for (size_t at = 0; i < n; at += 8) {
        if (at >= left)
            return false;
        for (uint64_t word = load_u64(bytes + at); word; word &= word - 1)
            ret[i++] = (uint32_t)(at * 8) + (uint32_t)__builtin_ctzll(word);
    }
    return true;
}

void unpack_floats_plain(uint64_t *keys, size_t n, unsigned zeros, uint64_t before)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t sign = 0 - (keys[i] >> 63), magnitude = (keys[i] ^ sign) - sign;
        keys[i] = magnitude ? (magnitude + before) << zeros | (sign & SIGN) : 0;
    }
}

void unpack_scale_plain(uint64_t *keys, size_t n, uint64_t unit, uint64_t first)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = first + unit * keys[i];
}

/* ---- four at a time ---- */
#if defined(__x86_64__)
#include <immintrin.h>

#define WIDE        __attribute__((target("avx2,bmi,popcnt")))
#define WIDE_INLINE __attribute__((target("avx2,bmi,popcnt"), always_inline)) inline

static inline bool wide_at_hand(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt");
}

/* The places of the ones of each byte, a byte for each, the first in the lowest. */
#define PLACE(b, j)                                                                                \
    ((uint64_t)((b) >> (j)&1) * (j) << 8 * __builtin_popcount((b) & ((1u << (j)) - 1)))
#define PLACES(b)                                                                                  \
    (PLACE(b, 0) | PLACE(b, 1) | PLACE(b, 2) | PLACE(b, 3) | PLACE(b, 4) | PLACE(b, 5) |           \
     PLACE(b, 6) | PLACE(b, 7))
#define PLACES_4(b)  PLACES(b), PLACES(b + 1), PLACES(b + 2), PLACES(b + 3)
#define PLACES_16(b) PLACES_4(b), PLACES_4(b + 4), PLACES_4(b + 8), PLACES_4(b + 12)
#define PLACES_64(b) PLACES_16(b), PLACES_16(b + 16), PLACES_16(b + 32), PLACES_16(b + 48)
static const uint64_t places_of[256] = {PLACES_64(0u), PLACES_64(64u), PLACES_64(128u),
                                        PLACES_64(192u)};

/* Eight numbers, of which those behind the last one are rubbish. A loop over the ones of a word
 * would end where the processor does not expect it. */
WIDE_INLINE static void put_places(unsigned byte, uint32_t from, uint32_t *ret)
{
    __m128i places = _mm_loadl_epi64((const __m128i *)&places_of[byte]);
    __m256i all = _mm256_add_epi32(_mm256_cvtepu8_epi32(places), _mm256_set1_epi32((int)from));
    _mm256_storeu_si256((__m256i *)ret, all);
}

WIDE static bool wide_ones(const unsigned char *bytes, size_t left, size_t n, uint32_t *ret)
{
    size_t i = 0;

    for (size_t at = 0; i < n; at += 8) {
        if (at >= left)
            return false;
        for (size_t k = 0; k < 8; k++) {
            put_places(bytes[at + k], (uint32_t)(at + k) * 8, ret + i);
            i += (size_t)_mm_popcnt_u32(bytes[at + k]);
        }
    }
    return true;
}

WIDE_INLINE static __m256i quotients_at(const uint32_t *ones)
{
    __m128i from = _mm_loadu_si128((const __m128i *)ones);
    __m128i to = _mm_loadu_si128((const __m128i *)(ones + 1));
    __m128i zeros = _mm_add_epi32(_mm_sub_epi32(to, from), _mm_set1_epi32(-1));

    return _mm256_cvtepu32_epi64(zeros);
}

WIDE_INLINE static __m256i wide_unzigzag(__m256i z)
{
    __m256i sign =
        _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(z, _mm256_set1_epi64x(1)));
    return _mm256_xor_si256(_mm256_srli_epi64(z, 1), sign);
}

/* a, a + b, a + b + c, a + b + c + d */
WIDE_INLINE static __m256i running_sums(__m256i x)
{
    x = _mm256_add_epi64(x, _mm256_slli_si256(x, 8));
    __m256i halves = _mm256_permute4x64_epi64(x, 0x50); /* a, a, a + b, a + b */
    return _mm256_add_epi64(x, _mm256_blend_epi32(_mm256_setzero_si256(), halves, 0xf0));
}

/* Eight numbers take `width` bytes: where each begins in them is the same for all eights. */
struct places {
    size_t byte[8];
    __m256i shift[2];
};

WIDE_INLINE static void find_places(unsigned width, struct places *ret)
{
    int64_t shifts[8];

    for (size_t k = 0; k < 8; k++) {
        ret->byte[k] = k * width / 8;
        shifts[k] = (int64_t)(k * width % 8);
    }
    ret->shift[0] = _mm256_loadu_si256((const __m256i *)shifts);
    ret->shift[1] = _mm256_loadu_si256((const __m256i *)(shifts + 4));
}

WIDE_INLINE static __m256i load_four(const unsigned char *from, const size_t byte[4])
{
    return _mm256_set_epi64x((int64_t)load_u64(from + byte[3]), (int64_t)load_u64(from + byte[2]),
                             (int64_t)load_u64(from + byte[1]), (int64_t)load_u64(from + byte[0]));
}

struct wide { /* the same of a run four times */
    __m256i mask, base;
    __m128i width;
};

/* What four numbers add: their parts at ones[0 … 4], in `rest` the low ones. */
WIDE_INLINE static __m256i four_rests(const struct wide *wide, __m256i rest, const uint32_t *ones,
                                      bool rice)
{
    rest = _mm256_and_si256(rest, wide->mask);
    if (rice) {
        __m256i high = _mm256_sll_epi64(quotients_at(ones), wide->width);
        rest = wide_unzigzag(_mm256_or_si256(rest, high));
    }
    return _mm256_add_epi64(rest, wide->base);
}

/* With `delta` the level moves on: by the sum of the four, which is there before the level is. */
WIDE_INLINE static __m256i put_four(__m256i rest, bool delta, __m256i level, uint64_t *ret)
{
    __m256i sums = delta ? running_sums(rest) : rest;

    _mm256_storeu_si256((__m256i *)ret, _mm256_add_epi64(level, sums));
    return delta ? _mm256_add_epi64(level, _mm256_permute4x64_epi64(sums, 0xff)) : level;
}

/* Returns how many: as many eights as there are. */
WIDE_INLINE static size_t eights(const struct unpack *run, size_t n, bool rice, bool delta,
                                 uint64_t *ret)
{
    __m256i level = _mm256_set1_epi64x((int64_t)run->before);
    struct wide wide = {_mm256_set1_epi64x((int64_t)mask_of(run)),
                        _mm256_set1_epi64x((int64_t)run->base),
                        _mm_cvtsi64_si128((int64_t)run->width)};
    const unsigned char *low = run->low;
    const uint32_t *ones = run->ones;
    struct places places;
    size_t i = 0;

    find_places(run->width, &places);
    for (; i + 8 <= n; i += 8, low += run->width) {
        __m256i first = _mm256_srlv_epi64(load_four(low, places.byte), places.shift[0]);
        __m256i second = _mm256_srlv_epi64(load_four(low, places.byte + 4), places.shift[1]);
        first = four_rests(&wide, first, rice ? ones + i : NULL, rice);
        second = four_rests(&wide, second, rice ? ones + i + 4 : NULL, rice);
        level = put_four(first, delta, level, ret + i);
        level = put_four(second, delta, level, ret + i + 4);
    }
    return i;
}

/* What is the same for all numbers is not asked for each. */
WIDE static size_t wide_run(const struct unpack *run, size_t n, uint64_t *ret)
{
    if (run->ones)
        return run->delta ? eights(run, n, true, true, ret) : eights(run, n, true, false, ret);
    return run->delta ? eights(run, n, false, true, ret) : eights(run, n, false, false, ret);
}

WIDE static size_t wide_floats(uint64_t *keys, size_t n, unsigned zeros, uint64_t before)
{
    __m256i zero = _mm256_setzero_si256(), add = _mm256_set1_epi64x((int64_t)before);
    __m256i top = _mm256_set1_epi64x(INT64_MIN);
    __m128i shift = _mm_cvtsi64_si128((int64_t)zeros);
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        __m256i key = _mm256_loadu_si256((const __m256i *)(keys + i));
        __m256i sign = _mm256_cmpgt_epi64(zero, key);
        __m256i magnitude = _mm256_sub_epi64(_mm256_xor_si256(key, sign), sign);
        __m256i bits = _mm256_or_si256(_mm256_sll_epi64(_mm256_add_epi64(magnitude, add), shift),
                                       _mm256_and_si256(sign, top));
        bits = _mm256_andnot_si256(_mm256_cmpeq_epi64(magnitude, zero), bits);
        _mm256_storeu_si256((__m256i *)(keys + i), bits);
    }
    return i;
}

/* By the products of halves: that of two upper ones is beyond 2^64. */
WIDE static size_t wide_scale(uint64_t *keys, size_t n, uint64_t unit, uint64_t first)
{
    __m256i low = _mm256_set1_epi64x((int64_t)unit), add = _mm256_set1_epi64x((int64_t)first);
    size_t i = 0;

    if (unit > UINT32_MAX)
        return 0;
    for (; i + 4 <= n; i += 4) {
        __m256i key = _mm256_loadu_si256((const __m256i *)(keys + i));
        __m256i upper = _mm256_mul_epu32(_mm256_srli_epi64(key, 32), low);
        key = _mm256_add_epi64(_mm256_mul_epu32(key, low), _mm256_slli_epi64(upper, 32));
        _mm256_storeu_si256((__m256i *)(keys + i), _mm256_add_epi64(key, add));
    }
    return i;
}
#else
static bool wide_at_hand(void)
{
    return false;
}

static bool wide_ones(const unsigned char *bytes, size_t left, size_t n, uint32_t *ret)
{
    return unpack_ones_plain(bytes, left, n, ret);
}

static size_t wide_run(const struct unpack *run UNUSED, size_t n UNUSED, uint64_t *ret UNUSED)
{
    return 0;
}

static size_t wide_floats(uint64_t *keys UNUSED, size_t n UNUSED, unsigned zeros UNUSED,
                          uint64_t before UNUSED)
{
    return 0;
}

static size_t wide_scale(uint64_t *keys UNUSED, size_t n UNUSED, uint64_t unit UNUSED,
                         uint64_t first UNUSED)
{
    return 0;
}
#endif

bool unpack_ones(const unsigned char *bytes, size_t left, size_t n, uint32_t *ret)
{
    return (wide_at_hand() ? wide_ones : unpack_ones_plain)(bytes, left, n, ret);
}

void unpack_run(const struct unpack *run, size_t n, uint64_t *ret)
{
    size_t done = wide_at_hand() ? wide_run(run, n, ret) : 0;

    plain_from(run, done, n, done && run->delta ? ret[done - 1] : run->before, ret);
}

void unpack_floats(uint64_t *keys, size_t n, unsigned zeros, uint64_t before)
{
    size_t done = wide_at_hand() ? wide_floats(keys, n, zeros, before) : 0;

    unpack_floats_plain(keys + done, n - done, zeros, before);
}

void unpack_scale(uint64_t *keys, size_t n, uint64_t unit, uint64_t first)
{
    size_t done = wide_at_hand() ? wide_scale(keys, n, unit, first) : 0;

    unpack_scale_plain(keys + done, n - done, unit, first);
}
