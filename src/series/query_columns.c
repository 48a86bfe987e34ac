/* SPDX-License-Identifier: MIT */
/*
 * query_columns.c — many short columns at once. How many values a column has, and which of them is
 * the smallest, is as good as random: loops and branches over them are guessed wrong by the
 * processor more often than not. So a column is eight lanes, of which some count.
 */
#include "series/query_columns.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define LANES       8
#define WIDE        __attribute__((target("avx2,bmi")))
#define WIDE_INLINE __attribute__((target("avx2,bmi"), always_inline)) inline

/* Four lanes and four more. */
struct eight {
    __m256d low, high;
};

WIDE_INLINE static struct eight eight_at(const double *from)
{
    return (struct eight){_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)};
}

/* The first n lanes. */
WIDE_INLINE static struct eight first_lanes(size_t n)
{
    static const int64_t ones[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return eight_at((const double *)(const void *)(ones + LANES - n));
}

WIDE_INLINE static unsigned lanes_of(__m256d low, __m256d high)
{
    return (unsigned)_mm256_movemask_pd(low) | (unsigned)_mm256_movemask_pd(high) << 4;
}

WIDE_INLINE static unsigned lanes_below(struct eight values, double bound)
{
    __m256d all = _mm256_set1_pd(bound);
    return lanes_of(_mm256_cmp_pd(values.low, all, _CMP_LT_OQ),
                    _mm256_cmp_pd(values.high, all, _CMP_LT_OQ));
}

WIDE_INLINE static unsigned lanes_equal(struct eight values, __m256d to)
{
    return lanes_of(_mm256_cmp_pd(values.low, to, _CMP_EQ_OQ),
                    _mm256_cmp_pd(values.high, to, _CMP_EQ_OQ));
}

/* x − x is 0 of finite numbers only. */
WIDE_INLINE static unsigned lanes_finite(struct eight values)
{
    struct eight none = {_mm256_sub_pd(values.low, values.low),
                         _mm256_sub_pd(values.high, values.high)};
    return lanes_equal(none, _mm256_setzero_pd());
}

/* Lanes that do not count repeat the first. */
WIDE_INLINE static struct eight only_lanes(struct eight values, struct eight lanes)
{
    __m256d first = _mm256_broadcastsd_pd(_mm256_castpd256_pd128(values.low));
    return (struct eight){_mm256_blendv_pd(first, values.low, lanes.low),
                          _mm256_blendv_pd(first, values.high, lanes.high)};
}

/* In all lanes of the answer. */
WIDE_INLINE static __m256d smallest(struct eight values)
{
    __m256d four = _mm256_min_pd(values.low, values.high);
    four = _mm256_min_pd(four, _mm256_permute2f128_pd(four, four, 1));
    return _mm256_min_pd(four, _mm256_permute_pd(four, 5));
}

WIDE_INLINE static __m256d largest(struct eight values)
{
    __m256d four = _mm256_max_pd(values.low, values.high);
    four = _mm256_max_pd(four, _mm256_permute2f128_pd(four, four, 1));
    return _mm256_max_pd(four, _mm256_permute_pd(four, 5));
}

WIDE static size_t draw_wide(const struct query_view *view, const double *x, const double *y,
                             size_t n, int64_t *column, double *until, double *to_x, double *to_y,
                             size_t *ret_points)
{
    int64_t now = *column, last = (int64_t)view->width - 2;
    size_t i = 0, points = 0;

    while (now < last && i + LANES <= n) {
        double end = column_begin(view, (double)(now + 2));
        unsigned inside = lanes_below(eight_at(x + i), end);
        size_t count = _tzcnt_u32(~inside);
        struct eight values = eight_at(y + i);
        if (count == 0 || count == LANES || (inside & ~lanes_finite(values)))
            break;
        values = only_lanes(values, first_lanes(count));
        size_t min_at = _tzcnt_u32(lanes_equal(values, smallest(values)));
        size_t max_at = _tzcnt_u32(lanes_equal(values, largest(values)));
        points += column_put(x + i, y + i, count, min_at, max_at, to_x + points, to_y + points);
        i += count;
        now++;
        *until = end;
    }
    *column = now;
    *ret_points = points;
    return i;
}

size_t columns_draw_short(const struct query_view *view, const double *x, const double *y, size_t n,
                          int64_t *column, double *until, double *to_x, double *to_y,
                          size_t *ret_points)
{
    *ret_points = 0;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi"))
        return 0;
    return draw_wide(view, x, y, n, column, until, to_x, to_y, ret_points);
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
