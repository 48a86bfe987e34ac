/* SPDX-License-Identifier: MIT */
/*
 * unpack.c — each loop three times. The wide ones do as many as they can four or eight at a time,
 * and leave the rest to the plain one.
 */
#include "series/unpack.h"

#include "base/wide.h"
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
WIDE_256_INLINE void put_places(unsigned byte, uint32_t from, uint32_t *ret)
{
    __m128i places = _mm_loadl_epi64((const __m128i *)&places_of[byte]);
    __m256i all = _mm256_add_epi32(_mm256_cvtepu8_epi32(places), _mm256_set1_epi32((int)from));
    _mm256_storeu_si256((__m256i *)ret, all);
}

WIDE_256 static bool wide_ones(const unsigned char *bytes, size_t left, size_t n, uint32_t *ret)
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

WIDE_256_INLINE __m256i quotients_at(const uint32_t *ones)
{
    __m128i from = _mm_loadu_si128((const __m128i *)ones);
    __m128i to = _mm_loadu_si128((const __m128i *)(ones + 1));
    __m128i zeros = _mm_add_epi32(_mm_sub_epi32(to, from), _mm_set1_epi32(-1));

    return _mm256_cvtepu32_epi64(zeros);
}

WIDE_256_INLINE __m256i wide_unzigzag(__m256i z)
{
    __m256i sign =
        _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(z, _mm256_set1_epi64x(1)));
    return _mm256_xor_si256(_mm256_srli_epi64(z, 1), sign);
}

/* a, a + b, a + b + c, a + b + c + d */
WIDE_256_INLINE __m256i running_sums(__m256i x)
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

WIDE_256_INLINE void find_places(unsigned width, struct places *ret)
{
    int64_t shifts[8];

    for (size_t k = 0; k < 8; k++) {
        ret->byte[k] = k * width / 8;
        shifts[k] = (int64_t)(k * width % 8);
    }
    ret->shift[0] = _mm256_loadu_si256((const __m256i *)shifts);
    ret->shift[1] = _mm256_loadu_si256((const __m256i *)(shifts + 4));
}

WIDE_256_INLINE __m256i load_four(const unsigned char *from, const size_t byte[4])
{
    return _mm256_set_epi64x((int64_t)load_u64(from + byte[3]), (int64_t)load_u64(from + byte[2]),
                             (int64_t)load_u64(from + byte[1]), (int64_t)load_u64(from + byte[0]));
}

struct wide { /* the same of a run four times */
    __m256i mask, base;
    __m128i width;
};

/* What four numbers add: their parts at ones[0 … 4], in `rest` the low ones. */
WIDE_256_INLINE __m256i four_rests(const struct wide *wide, __m256i rest, const uint32_t *ones,
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
WIDE_256_INLINE __m256i put_four(__m256i rest, bool delta, __m256i level, uint64_t *ret)
{
    __m256i sums = delta ? running_sums(rest) : rest;

    _mm256_storeu_si256((__m256i *)ret, _mm256_add_epi64(level, sums));
    return delta ? _mm256_add_epi64(level, _mm256_permute4x64_epi64(sums, 0xff)) : level;
}

/* Returns how many: as many eights as there are. */
WIDE_256_INLINE size_t eights(const struct unpack *run, size_t n, bool rice, bool delta,
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
WIDE_256 static size_t wide_run(const struct unpack *run, size_t n, uint64_t *ret)
{
    if (run->ones)
        return run->delta ? eights(run, n, true, true, ret) : eights(run, n, true, false, ret);
    return run->delta ? eights(run, n, false, true, ret) : eights(run, n, false, false, ret);
}

WIDE_256 static size_t wide_floats(uint64_t *keys, size_t n, unsigned zeros, uint64_t before)
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
WIDE_256 static size_t wide_scale(uint64_t *keys, size_t n, uint64_t unit, uint64_t first)
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

/* ---- eight at a time ---- */

WIDE_512 static bool wider_ones(const unsigned char *bytes, size_t left, size_t n, uint32_t *ret)
{
    static const unsigned char count[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i all = _mm512_loadu_si512(count);
    size_t i = 0;

    for (size_t at = 0; i < n; at += 8) {
        if (at >= left)
            return false;
        uint64_t word = load_u64(bytes + at);
        __m512i places = _mm512_maskz_compress_epi8(word, all);
        __m512i from = _mm512_set1_epi32((int)at * 8);
        __m128i parts[4] = {_mm512_castsi512_si128(places), _mm512_extracti32x4_epi32(places, 1),
                            _mm512_extracti32x4_epi32(places, 2),
                            _mm512_extracti32x4_epi32(places, 3)};
        for (size_t k = 0; k < 4; k++)
            _mm512_storeu_si512(ret + i + 16 * k,
                                _mm512_add_epi32(_mm512_cvtepu8_epi32(parts[k]), from));
        i += (size_t)_mm_popcnt_u64(word);
    }
    return true;
}

/* Where the bytes of eight numbers are in the `width` that they take, and how far to shift them. */
struct spread {
    __m512i bytes, shifts;
    uint64_t readable; /* a bit for each byte */
};

WIDE_512_INLINE void find_spread(unsigned width, struct spread *ret)
{
    unsigned char bytes[64];
    uint64_t shifts[8];

    for (size_t k = 0; k < 8; k++) {
        for (size_t i = 0; i < 8; i++)
            bytes[8 * k + i] = (unsigned char)(k * width / 8 + i);
        shifts[k] = k * width % 8;
    }
    ret->bytes = _mm512_loadu_si512(bytes);
    ret->shifts = _mm512_loadu_si512(shifts);
    ret->readable = UINT64_MAX >> (64 - (7 * width / 8 + 8));
}

WIDE_512_INLINE __m512i eight_quotients(const uint32_t *ones)
{
    __m256i from = _mm256_loadu_si256((const __m256i *)ones);
    __m256i to = _mm256_loadu_si256((const __m256i *)(ones + 1));

    return _mm512_cvtepu32_epi64(
        _mm256_add_epi32(_mm256_sub_epi32(to, from), _mm256_set1_epi32(-1)));
}

/* a, a + b, a + b + c, … */
WIDE_512_INLINE __m512i eight_sums(__m512i x)
{
    const __m512i zero = _mm512_setzero_si512();

    x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 7));
    x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 6));
    return _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 4));
}

/* As eights(). */
WIDE_512_INLINE size_t wider_eights(const struct unpack *run, size_t n, bool rice, bool delta,
                                    uint64_t *ret)
{
    const __m512i mask = _mm512_set1_epi64((int64_t)mask_of(run)), last = _mm512_set1_epi64(7);
    const __m512i base = _mm512_set1_epi64((int64_t)run->base), one = _mm512_set1_epi64(1);
    const __m128i width = _mm_cvtsi64_si128((int64_t)run->width);
    __m512i level = _mm512_set1_epi64((int64_t)run->before);
    const unsigned char *low = run->low;
    const uint32_t *ones = run->ones;
    struct spread spread;
    size_t i = 0;

    find_spread(run->width, &spread);
    for (; i + 8 <= n; i += 8, low += run->width) {
        __m512i rest = _mm512_maskz_loadu_epi8(spread.readable, low);
        rest = _mm512_srlv_epi64(_mm512_permutexvar_epi8(spread.bytes, rest), spread.shifts);
        rest = _mm512_and_si512(rest, mask);
        if (rice) {
            rest = _mm512_or_si512(rest, _mm512_sll_epi64(eight_quotients(ones + i), width));
            __m512i sign = _mm512_sub_epi64(_mm512_setzero_si512(), _mm512_and_si512(rest, one));
            rest = _mm512_xor_si512(_mm512_srli_epi64(rest, 1), sign);
        }
        rest = _mm512_add_epi64(rest, base);
        if (delta)
            rest = eight_sums(rest);
        _mm512_storeu_si512(ret + i, _mm512_add_epi64(level, rest));
        if (delta)
            level = _mm512_add_epi64(level, _mm512_permutexvar_epi64(last, rest));
    }
    return i;
}

WIDE_512 static size_t wider_run(const struct unpack *run, size_t n, uint64_t *ret)
{
    if (run->ones)
        return run->delta ? wider_eights(run, n, true, true, ret)
                          : wider_eights(run, n, true, false, ret);
    return run->delta ? wider_eights(run, n, false, true, ret)
                      : wider_eights(run, n, false, false, ret);
}

WIDE_512 static size_t wider_floats(uint64_t *keys, size_t n, unsigned zeros, uint64_t before)
{
    const __m512i add = _mm512_set1_epi64((int64_t)before), top = _mm512_set1_epi64(INT64_MIN);
    const __m128i shift = _mm_cvtsi64_si128((int64_t)zeros);
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m512i key = _mm512_loadu_si512(keys + i);
        __m512i sign = _mm512_srai_epi64(key, 63);
        __m512i magnitude = _mm512_sub_epi64(_mm512_xor_si512(key, sign), sign);
        __m512i bits = _mm512_or_si512(_mm512_sll_epi64(_mm512_add_epi64(magnitude, add), shift),
                                       _mm512_and_si512(sign, top));
        __mmask8 some = _mm512_test_epi64_mask(magnitude, magnitude);
        _mm512_storeu_si512(keys + i, _mm512_maskz_mov_epi64(some, bits));
    }
    return i;
}

WIDE_512 static size_t wider_scale(uint64_t *keys, size_t n, uint64_t unit, uint64_t first)
{
    const __m512i by = _mm512_set1_epi64((int64_t)unit), add = _mm512_set1_epi64((int64_t)first);
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m512i key = _mm512_mullo_epi64(_mm512_loadu_si512(keys + i), by);
        _mm512_storeu_si512(keys + i, _mm512_add_epi64(key, add));
    }
    return i;
}

/* ---- which ---- */

bool unpack_ones(const unsigned char *bytes, size_t left, size_t n, uint32_t *ret)
{
    unsigned bits = wide_bits();

    return (bits == 512   ? wider_ones
            : bits == 256 ? wide_ones
                          : unpack_ones_plain)(bytes, left, n, ret);
}

static size_t run_most(const struct unpack *run, size_t n, uint64_t *ret)
{
    unsigned bits = wide_bits();

    return bits == 512 ? wider_run(run, n, ret) : bits == 256 ? wide_run(run, n, ret) : 0;
}

static size_t floats_most(uint64_t *keys, size_t n, unsigned zeros, uint64_t before)
{
    unsigned bits = wide_bits();

    return bits == 512   ? wider_floats(keys, n, zeros, before)
           : bits == 256 ? wide_floats(keys, n, zeros, before)
                         : 0;
}

static size_t scale_most(uint64_t *keys, size_t n, uint64_t unit, uint64_t first)
{
    unsigned bits = wide_bits();

    return bits == 512   ? wider_scale(keys, n, unit, first)
           : bits == 256 ? wide_scale(keys, n, unit, first)
                         : 0;
}
#else
bool unpack_ones(const unsigned char *bytes, size_t left, size_t n, uint32_t *ret)
{
    return unpack_ones_plain(bytes, left, n, ret);
}

static size_t run_most(const struct unpack *run UNUSED, size_t n UNUSED, uint64_t *ret UNUSED)
{
    return 0;
}

static size_t floats_most(uint64_t *keys UNUSED, size_t n UNUSED, unsigned zeros UNUSED,
                          uint64_t before UNUSED)
{
    return 0;
}

static size_t scale_most(uint64_t *keys UNUSED, size_t n UNUSED, uint64_t unit UNUSED,
                         uint64_t first UNUSED)
{
    return 0;
}
#endif

void unpack_run(const struct unpack *run, size_t n, uint64_t *ret)
{
    size_t done = run_most(run, n, ret);

    plain_from(run, done, n, done && run->delta ? ret[done - 1] : run->before, ret);
}

void unpack_floats(uint64_t *keys, size_t n, unsigned zeros, uint64_t before)
{
    size_t done = floats_most(keys, n, zeros, before);

    unpack_floats_plain(keys + done, n - done, zeros, before);
}

void unpack_scale(uint64_t *keys, size_t n, uint64_t unit, uint64_t first)
{
    size_t done = scale_most(keys, n, unit, first);

    unpack_scale_plain(keys + done, n - done, unit, first);
}
