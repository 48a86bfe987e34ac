/* SPDX-License-Identifier: MIT */
/*
 * query_columns.c — many short columns at once. How many values a column has, and which of them is
 * the smallest, is as good as random: loops and branches over them are guessed wrong by the
 * processor more often than not. So a column is eight lanes, of which some count.
 */
#include "series/query_columns.h"

#include "base/wide.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define LANES 8

/* Four lanes and four more. */
struct eight {
    __m256d low, high;
};

WIDE_256_INLINE struct eight eight_at(const double *from)
{
    return (struct eight){_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)};
}

/* A bit for each lane, the lowest for the first. */
WIDE_256_INLINE unsigned bits_of(struct eight lanes)
{
    return (unsigned)_mm256_movemask_pd(lanes.low) | (unsigned)_mm256_movemask_pd(lanes.high) << 4;
}

WIDE_256_INLINE struct eight lanes_below(struct eight values, double bound)
{
    __m256d all = _mm256_set1_pd(bound);
    return (struct eight){_mm256_cmp_pd(values.low, all, _CMP_LT_OQ),
                          _mm256_cmp_pd(values.high, all, _CMP_LT_OQ)};
}

WIDE_256_INLINE unsigned first_equal(struct eight values, __m256d to)
{
    struct eight equal = {_mm256_cmp_pd(values.low, to, _CMP_EQ_OQ),
                          _mm256_cmp_pd(values.high, to, _CMP_EQ_OQ)};
    return _blsi_u32(bits_of(equal));
}

/* x − x is 0 of finite numbers only. */
WIDE_256_INLINE bool all_finite(struct eight values)
{
    __m256d none = _mm256_or_pd(_mm256_sub_pd(values.low, values.low),
                                _mm256_sub_pd(values.high, values.high));
    return _mm256_testz_si256(_mm256_castpd_si256(none), _mm256_castpd_si256(none));
}

/* Lanes that do not count repeat the first. */
WIDE_256_INLINE struct eight only_lanes(struct eight values, struct eight lanes)
{
    __m256d first = _mm256_broadcastsd_pd(_mm256_castpd256_pd128(values.low));
    return (struct eight){_mm256_blendv_pd(first, values.low, lanes.low),
                          _mm256_blendv_pd(first, values.high, lanes.high)};
}

/* In all lanes of the answer. */
WIDE_256_INLINE __m256d smallest(struct eight values)
{
    __m256d four = _mm256_min_pd(values.low, values.high);
    four = _mm256_min_pd(four, _mm256_permute2f128_pd(four, four, 1));
    return _mm256_min_pd(four, _mm256_permute_pd(four, 5));
}

WIDE_256_INLINE __m256d largest(struct eight values)
{
    __m256d four = _mm256_max_pd(values.low, values.high);
    four = _mm256_max_pd(four, _mm256_permute2f128_pd(four, four, 1));
    return _mm256_max_pd(four, _mm256_permute_pd(four, 5));
}

/* Those of four lanes that have a bit, closed up; rubbish behind them. */
WIDE_256_INLINE __m256d close_up(__m256d four, unsigned bits)
{
    static const uint64_t halves[16] = {
        /* of lanes, a byte each, the lowest for the first */
        0x0000000000000000, 0x0000000000000100, 0x0000000000000302, 0x0000000003020100,
        0x0000000000000504, 0x0000000005040100, 0x0000000005040302, 0x0000050403020100,
        0x0000000000000706, 0x0000000007060100, 0x0000000007060302, 0x0000070603020100,
        0x0000000007060504, 0x0000070605040100, 0x0000070605040302, 0x0706050403020100};
    __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)halves[bits]));
    return _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(four), order));
}

/* Lanes that have a bit go to `to`, which has room for eight. */
WIDE_256_INLINE void put_lanes(struct eight lanes, unsigned bits, double *to)
{
    _mm256_storeu_pd(to, close_up(lanes.low, bits & 15));
    _mm256_storeu_pd(to + __builtin_popcount(bits & 15), close_up(lanes.high, bits >> 4));
}

/* Is the last of a column's points the same as one before? That can be only where two have one x,
 * and is for column_put(). */
WIDE_256_INLINE bool has_tie(const double *x, size_t count)
{
    return count > 1 && x[count - 1] == x[count - 2];
}

WIDE_256 static size_t draw_wide(const struct query_view *view, const double *x, const double *y,
                                 size_t n, int64_t *column, double *until, double *to_x,
                                 double *to_y, size_t *ret_points)
{
    const struct query_view in = *view; /* which no store could change */
    int64_t now = *column, last = (int64_t)in.width - 2;
    double end = *until;
    size_t i = 0, points = 0;

    while (now < last && i + LANES <= n) {
        double next = column_begin(&in, (double)(now + 2));
        struct eight at = eight_at(x + i), inside = lanes_below(at, next);
        unsigned bits = bits_of(inside);
        size_t count = _tzcnt_u32(~bits);
        struct eight values = only_lanes(eight_at(y + i), inside);
        if (count == 0 || count == LANES || !all_finite(values))
            break;
        unsigned least = first_equal(values, smallest(values));
        unsigned most = first_equal(values, largest(values));
        if (has_tie(x + i, count)) {
            points += column_put(x + i, y + i, count, _tzcnt_u32(least), _tzcnt_u32(most),
                                 to_x + points, to_y + points);
        } else {
            unsigned kept = 1 | least | most | (bits & ~(bits >> 1));
            put_lanes(at, kept, to_x + points);
            put_lanes(values, kept, to_y + points);
            points += (size_t)__builtin_popcount(kept);
        }
        i += count;
        now++;
        end = next;
    }
    *column = now;
    *until = end;
    *ret_points = points;
    return i;
}

/* ---- all lanes in one ----
 * What takes longest is to know where the next column begins: that is known only when the one
 * before it is. So where they begin is guessed for many at once, and then only checked. */
#define AHEAD 1024 /* values whose columns are guessed at a time */

struct guesses {
    uint32_t at[AHEAD + 2 * LANES]; /* where a column begins, in the values from `from` on */
    size_t n, next, from;
};

WIDE_512 static void guess_columns(const struct query_view *view, const double *x, size_t n,
                                   int64_t column, struct guesses *ret)
{
    const __m512d x0 = _mm512_set1_pd(view->x0);
    const __m512d per = _mm512_set1_pd((double)view->width / (view->x1 - view->x0));
    __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i before = _mm256_set1_epi32((int)column);

    ret->n = ret->next = 0;
    for (size_t i = 0; i + LANES <= n; i += LANES) {
        __m512d in = _mm512_mul_pd(_mm512_sub_pd(_mm512_loadu_pd(x + i), x0), per);
        __m256i now = _mm512_cvttpd_epi32(in);
        __mmask8 begins = _mm256_cmpneq_epi32_mask(now, _mm256_alignr_epi32(now, before, 7));
        _mm256_storeu_si256((__m256i *)(ret->at + ret->n),
                            _mm256_maskz_compress_epi32(begins, places));
        ret->n += (size_t)_mm_popcnt_u32(begins);
        places = _mm256_add_epi32(places, _mm256_set1_epi32(LANES));
        before = now;
    }
}

/* As smallest() and largest(). */
WIDE_512_INLINE __m512d smallest_of_eight(__m512d all)
{
    all = _mm512_min_pd(all, _mm512_shuffle_f64x2(all, all, 0x4e));
    all = _mm512_min_pd(all, _mm512_permutex_pd(all, 0x4e));
    return _mm512_min_pd(all, _mm512_permute_pd(all, 0x55));
}

WIDE_512_INLINE __m512d largest_of_eight(__m512d all)
{
    all = _mm512_max_pd(all, _mm512_shuffle_f64x2(all, all, 0x4e));
    all = _mm512_max_pd(all, _mm512_permutex_pd(all, 0x4e));
    return _mm512_max_pd(all, _mm512_permute_pd(all, 0x55));
}

/* How many of the next values lie below `next`, of which `inside` has bits. A guess that is right
 * is a branch that the processor goes on behind at once. */
WIDE_512_INLINE size_t count_inside(struct guesses *guesses, size_t i, unsigned inside)
{
    size_t count = guesses->at[guesses->next] + guesses->from - i;

    guesses->next++;
    if (count >= LANES ||
        _bzhi_u32(inside, (unsigned)count + 1) != _bzhi_u32(255, (unsigned)count)) {
        count = _tzcnt_u32(~inside);
        __asm__("" : "+r"(count)); /* else it would be computed each time, and waited for */
    }
    return count;
}

WIDE_512 static size_t draw_wider(const struct query_view *view, const double *x, const double *y,
                                  size_t n, int64_t *column, double *until, double *to_x,
                                  double *to_y, size_t *ret_points)
{
    const struct query_view in = *view;
    int64_t now = *column, last = (int64_t)in.width - 2;
    struct guesses guesses = {.n = 0};
    double end = *until;
    size_t i = 0, points = 0;

    while (now < last && i + LANES <= n) {
        if (guesses.next >= guesses.n) {
            guesses.from = i;
            guess_columns(&in, x + i, MIN(n - i, AHEAD), now + 1, &guesses);
            guesses.at[guesses.n] = 0; /* where there is none */
        }
        double next = column_begin(&in, (double)(now + 2));
        __m512d at = _mm512_loadu_pd(x + i);
        unsigned inside = _mm512_cmp_pd_mask(at, _mm512_set1_pd(next), _CMP_LT_OQ);
        size_t count = count_inside(&guesses, i, inside);
        if (count == 0 || count == LANES)
            break;
        __mmask8 lanes = (__mmask8)_bzhi_u32(255, (unsigned)count);
        __m512d values = _mm512_set1_pd(y[i]);
        values = _mm512_mask_loadu_pd(values, lanes, y + i); /* others repeat the first */
        if (_mm512_fpclass_pd_mask(values, 0x99))            /* NaN, infinite */
            break;
        unsigned least = _mm512_cmp_pd_mask(values, smallest_of_eight(values), _CMP_EQ_OQ);
        unsigned most = _mm512_cmp_pd_mask(values, largest_of_eight(values), _CMP_EQ_OQ);
        if (has_tie(x + i, count)) {
            points += column_put(x + i, y + i, count, _tzcnt_u32(least), _tzcnt_u32(most),
                                 to_x + points, to_y + points);
        } else {
            unsigned kept = 1 | _blsi_u32(least) | _blsi_u32(most) | (lanes ^ lanes >> 1);
            _mm512_storeu_pd(to_x + points, _mm512_maskz_compress_pd((__mmask8)kept, at));
            _mm512_storeu_pd(to_y + points, _mm512_maskz_compress_pd((__mmask8)kept, values));
            points += (size_t)_mm_popcnt_u32(kept);
        }
        i += count;
        now++;
        end = next;
    }
    *column = now;
    *until = end;
    *ret_points = points;
    return i;
}

size_t columns_draw_short(const struct query_view *view, const double *x, const double *y, size_t n,
                          int64_t *column, double *until, double *to_x, double *to_y,
                          size_t *ret_points)
{
    unsigned bits = wide_bits();

    *ret_points = 0;
    if (bits == 0)
        return 0;
    return (bits == 512 ? draw_wider : draw_wide)(view, x, y, n, column, until, to_x, to_y,
                                                  ret_points);
}
#else
size_t columns_draw_short(const struct query_view *view UNUSED, const double *x UNUSED,
                          const double *y UNUSED, size_t n UNUSED, int64_t *column UNUSED,
                          double *until UNUSED, double *to_x UNUSED, double *to_y UNUSED,
                          size_t *ret_points)
{
    *ret_points = 0;
    return 0;
}
#endif
