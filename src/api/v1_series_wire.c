/* SPDX-License-Identifier: MIT */
/*
 * v1_series_wire.c — pictures become the bytes of an answer (v1_series.h). Pure.
 */
#include "api/v1_series.h"

#include "base/wide.h"

#include <assert.h>
#include <endian.h>
#include <math.h>

#define LEVEL         0.95
#define RESAMPLES_MIN 100
#define RESAMPLES_MAX 1000
#define DRAWS         20000000 /* of the bootstrap, in one answer */

static void put_u32(struct str *to, uint32_t x)
{
    x = htole32(x);
    str_add_n(to, (const char *)&x, sizeof(x));
}

static void put_u64(struct str *to, uint64_t x)
{
    x = htole64(x);
    str_add_n(to, (const char *)&x, sizeof(x));
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "doubles are sent as they lie");

static void put_doubles(struct str *to, const double *values, size_t n)
{
    if (n)
        str_add_n(to, (const char *)values, n * sizeof(double));
}

/* Where a column is: in its middle, or at the step in it. */
static double column_x(const struct series_ask *ask, const struct query_view *view, size_t column)
{
    double part = (view->x1 - view->x0) / (double)view->width;
    double x = view->x0 + ((double)column + 0.5) * part;
    double step = round(x);

    if (view->x1 <= view->x0)
        return view->x0;
    return ask->x == CHARTS_STEP && query_column_of(view, step) == (int64_t)column ? step : x;
}

/* ---- in half the room ---- */
#define HALF_STEP 64 /* looked at before it is asked whether all of them fit */

typedef double four __attribute__((vector_size(4 * sizeof(double))));
typedef float four_f32 __attribute__((vector_size(4 * sizeof(float))));
typedef int32_t four_i32 __attribute__((vector_size(4 * sizeof(int32_t))));
typedef int64_t four_i64 __attribute__((vector_size(4 * sizeof(int64_t))));

#define INLINE __attribute__((always_inline)) static inline

/* n: of fours. False: not all of them are floats or NaN. */
INLINE bool to_floats(const double *from, size_t n, unsigned char *to)
{
    four_i64 wrong = {0, 0, 0, 0};

    for (size_t i = 0; i < n; i += 4, to += sizeof(four_f32)) {
        four all;
        memcpy(&all, from + i, sizeof(all));
        four_f32 half = __builtin_convertvector(all, four_f32);
        wrong |= (__builtin_convertvector(half, four) != all) & (all == all); // NOLINT: not NaN
        memcpy(to, &half, sizeof(half));
    }
    return !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
}

/* n: of fours. False: not all of them are first + k / per. */
INLINE bool to_counts(const double *from, size_t n, double first, double per, unsigned char *to)
{
    four firsts = {first, first, first, first}, pers = {per, per, per, per};
    four_i64 wrong = {0, 0, 0, 0};

    for (size_t i = 0; i < n; i += 4, to += sizeof(four_i32)) {
        four all;
        memcpy(&all, from + i, sizeof(all));
        four count = (all - firsts) * pers + 0.5;
        four_i64 fits = (count >= 0) & (count < INT32_MAX);
        four_i32 k = __builtin_convertvector((four)((four_i64)count & fits), four_i32);
        wrong |= ~fits | (firsts + __builtin_convertvector(k, four) / pers != all);
        memcpy(to, &k, sizeof(k));
    }
    return !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
}

struct half { /* how it is done: per is 0 for floats */
    double first, per;
};

INLINE bool halves(const struct half *how, const double *from, size_t n, unsigned char *to)
{
    return how->per > 0 ? to_counts(from, n, how->first, how->per, to) : to_floats(from, n, to);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define EIGHT 8

WIDE_256 static bool halves_wide(const struct half *how, const double *from, size_t n,
                                 unsigned char *to)
{
    return halves(how, from, n, to);
}

/* As to_floats() and to_counts(), of eights. */
WIDE_512_INLINE bool eights_to_floats(const double *from, size_t n, unsigned char *to)
{
    __mmask8 wrong = 0;

    for (size_t i = 0; i < n; i += EIGHT) {
        __m512d all = _mm512_loadu_pd(from + i);
        __m256 half = _mm512_cvtpd_ps(all);
        wrong |= _mm512_cmp_pd_mask(_mm512_cvtps_pd(half), all, _CMP_NEQ_OQ);
        _mm256_storeu_ps((float *)(to + i * sizeof(float)), half);
    }
    return !wrong;
}

WIDE_512_INLINE bool eights_to_counts(const struct half *how, const double *from, size_t n,
                                      unsigned char *to)
{
    const __m512d first = _mm512_set1_pd(how->first), per = _mm512_set1_pd(how->per);
    const __m512d zero = _mm512_setzero_pd(), most = _mm512_set1_pd(INT32_MAX);
    __mmask8 right = 0xff;

    for (size_t i = 0; i < n; i += EIGHT) {
        __m512d all = _mm512_loadu_pd(from + i);
        __m512d count = _mm512_mul_pd(_mm512_sub_pd(all, first), per);
        count = _mm512_add_pd(count, _mm512_set1_pd(0.5));
        right &= _mm512_cmp_pd_mask(count, zero, _CMP_GE_OQ);
        right &= _mm512_cmp_pd_mask(count, most, _CMP_LT_OQ);
        __m256i k = _mm512_cvttpd_epi32(count);
        __m512d back = _mm512_add_pd(first, _mm512_div_pd(_mm512_cvtepi32_pd(k), per));
        right &= _mm512_cmp_pd_mask(back, all, _CMP_EQ_OQ);
        _mm256_storeu_si256((__m256i *)(to + i * sizeof(uint32_t)), k);
    }
    return right == 0xff;
}

WIDE_512 static bool halves_wider(const struct half *how, const double *from, size_t n,
                                  unsigned char *to)
{
    size_t eights = n & ~(size_t)(EIGHT - 1);

    if (!(how->per > 0 ? eights_to_counts(how, from, eights, to)
                       : eights_to_floats(from, eights, to)))
        return false;
    return eights == n || halves(how, from + eights, n - eights, to + eights * sizeof(float));
}
#endif

static bool to_halves(const struct half *how, const double *from, size_t n, unsigned char *to)
{
#if defined(__x86_64__)
    unsigned bits = wide_bits();

    if (bits)
        return (bits == 512 ? halves_wider : halves_wide)(how, from, n, to);
#endif
    return halves(how, from, n, to);
}

/* False: that is not exact, and nothing was added. */
static bool put_halves(struct str *to, const struct half *how, const double *values, size_t n)
{
    size_t whole = n & ~(size_t)3;

    str_reserve(to, (whole + 4) * sizeof(float));
    unsigned char *at = (unsigned char *)to->s + to->len;
    for (size_t i = 0; i < whole; i += HALF_STEP)
        if (!to_halves(how, values + i, MIN(whole - i, HALF_STEP), at + i * sizeof(float)))
            return false;
    if (n > whole) {
        double rest[4];
        for (size_t i = 0; i < 4; i++)
            rest[i] = values[MIN(whole + i, n - 1)];
        if (!to_halves(how, rest, 4, at + whole * sizeof(float)))
            return false;
    }
    to->len += (n + n % 2) * sizeof(float);
    to->s[to->len] = '\0';
    return true;
}

/* ---- lines ---- */

struct marks {
    double *at; /* a VEC */
    size_t len, cap;
};

/* Columns with a value that is not finite. */
static void find_marks(const struct series_ask *ask, const struct query_chart *chart,
                       struct marks *ret)
{
    const struct query_view *view = query_chart_view(chart);

    for (size_t c = 0; c < view->width; c++)
        if (query_chart_odd(chart, c))
            vec_push(ret, column_x(ask, view, c));
}

static void put_points(struct str *to, const struct query_line *line)
{
    static const double pers[] = {1, 1e3, 1e6}; /* steps and seconds, milliseconds, microseconds */
    struct half how = {.first = line->n ? floor(line->x[0]) : 0}; /* a tenth would be rounded */
    size_t head = to->len;
    uint64_t bytes = sizeof(float);

    put_doubles(to, (double[]){how.first, 0}, 2);
    put_u64(to, 0);
    for (size_t i = 0; i < ARRAY_LEN(pers) && !how.per; i++)
        if (put_halves(to, &(struct half){how.first, pers[i]}, line->x, line->n))
            how.per = pers[i];
    if (!how.per)
        put_doubles(to, line->x, line->n);
    if (!put_halves(to, &(struct half){0, 0}, line->y, line->n)) {
        put_doubles(to, line->y, line->n);
        bytes = sizeof(double);
    }
    memcpy(to->s + head + sizeof(double), &how.per, sizeof(double));
    memcpy(to->s + head + 2 * sizeof(double), &bytes, sizeof(bytes));
}

void series_answer_line(const struct series_ask *ask, const struct query_chart *chart, size_t left,
                        struct str *to)
{
    struct query_line line = query_chart_line(chart);
    struct query_counts counts = query_chart_counts(chart);
    struct marks marks = {NULL, 0, 0};

    if (counts.odd)
        find_marks(ask, chart, &marks);
    size_t from = to->len;
    put_u32(to, (uint32_t)line.n);
    put_u32(to, (uint32_t)marks.len);
    put_u64(to, counts.finite + counts.odd);
    put_u64(to, counts.odd);
    put_points(to, &line);
    put_doubles(to, marks.at, marks.len);
    size_t bytes = to->len - from;
    if (left > 1 && to->cap - to->len <= bytes) /* the others may be somewhat longer */
        str_reserve_filled(to, (left - 1) * (bytes + bytes / 8));
    vec_release(&marks);
}

/* ---- groups ---- */

struct band {
    VEC(double) x;
    VEC(double) middle;
    VEC(double) low;
    VEC(double) high;
};

static void band_release(struct band *band)
{
    vec_release(&band->x);
    vec_release(&band->middle);
    vec_release(&band->low);
    vec_release(&band->high);
}

static bool has_values(const struct query_chart *chart)
{
    return query_chart_counts(chart).finite > 0;
}

/* Has one of them a value of its own there? Between, all only go on as they were. */
static bool is_told(const struct series_ask_group *group, const struct query_chart *const *charts,
                    size_t column)
{
    vec_foreach (line, &group->lines)
        if (query_chart_count(charts[*line], column))
            return true;
    return false;
}

/* Enough for an interval; fewer where there are many trials, whose means vary little. */
static size_t resamples_for(size_t n, size_t width)
{
    size_t draws = MAX(1, n * width);
    return MIN(MAX(DRAWS / draws, RESAMPLES_MIN), RESAMPLES_MAX);
}

static void add_column(struct band *band, const struct series_ask *ask,
                       const struct query_view *view, size_t column, const double *sorted, size_t n)
{
    struct query_summary summary;
    double low, high;

    query_summarise(sorted, n, &summary);
    low = summary.min;
    high = summary.max;
    if (ask->band == BAND_QUARTILES) {
        low = query_quantile(sorted, n, 0.25);
        high = query_quantile(sorted, n, 0.75);
    } else if (ask->band == BAND_INTERVAL) {
        struct rng rng;
        rng_init(&rng, column, n);
        query_bootstrap(sorted, n, LEVEL, resamples_for(n, view->width), &rng, &low, &high);
    }
    vec_push(&band->x, column_x(ask, view, column));
    vec_push(&band->middle, ask->median ? summary.median : summary.mean);
    vec_push(&band->low, low);
    vec_push(&band->high, high);
}

static void put_group(const struct series_ask *ask, const struct query_view *view,
                      const struct series_ask_group *group, const struct query_chart *const *charts,
                      struct str *to)
{
    autofree(query_across) struct query_across *across = query_across_new(view->width);
    autofree(mem) double *sorted = xcalloc(group->lines.len + 1, sizeof(*sorted));
    autorelease(band) struct band band = {.x = {NULL, 0, 0}};
    uint32_t trials = 0;

    vec_foreach (line, &group->lines) {
        query_across_add(across, charts[*line], QUERY_MEAN);
        trials += has_values(charts[*line]);
    }
    for (size_t c = 0; c < view->width; c++) {
        size_t n = is_told(group, charts, c) ? query_across_values(across, c, sorted) : 0;
        if (n)
            add_column(&band, ask, view, c, sorted, n);
    }
    put_u32(to, (uint32_t)band.x.len);
    put_u32(to, trials);
    put_doubles(to, band.x.at, band.x.len);
    put_doubles(to, band.middle.at, band.middle.len);
    put_doubles(to, band.low.at, band.low.len);
    put_doubles(to, band.high.at, band.high.len);
}

void series_answer_begin(const struct series_ask *ask, const struct query_view *view,
                         struct str *to)
{
    str_add(to, "HSR2");
    put_u32(to, ask->grouped ? 1 : 0);
    put_u32(to, (uint32_t)(ask->grouped ? ask->groups.len : ask->lines.len));
    put_u32(to, 0);
    put_doubles(to, &view->x0, 1);
    put_doubles(to, &view->x1, 1);
}

void series_answer(const struct series_ask *ask, const struct query_view *view,
                   const struct query_chart *const *charts, struct str *to)
{
    series_answer_begin(ask, view, to);
    for (size_t i = 0; !ask->grouped && i < ask->lines.len; i++)
        series_answer_line(ask, charts[i], ask->lines.len - i, to);
    for (size_t i = 0; ask->grouped && i < ask->groups.len; i++)
        put_group(ask, view, &ask->groups.at[i], charts, to);
}
