/* SPDX-License-Identifier: MIT */
/*
 * v1_series_wire.c — pictures become the bytes of an answer (v1_series.h). Pure.
 */
#include "api/v1_series.h"

#include <assert.h>
#include <endian.h>
#include <math.h>

#define LINE_HEAD     24
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

void series_answer_line(const struct series_ask *ask, const struct query_chart *chart, size_t left,
                        struct str *to)
{
    struct query_line line = query_chart_line(chart);
    struct query_counts counts = query_chart_counts(chart);
    struct marks marks = {NULL, 0, 0};

    if (counts.odd)
        find_marks(ask, chart, &marks);
    size_t bytes = LINE_HEAD + (2 * line.n + marks.len) * sizeof(double);
    if (to->cap - to->len <= bytes) /* the others may be somewhat longer */
        str_reserve_filled(to, left * (bytes + bytes / 8));
    put_u32(to, (uint32_t)line.n);
    put_u32(to, (uint32_t)marks.len);
    put_u64(to, counts.finite + counts.odd);
    put_u64(to, counts.odd);
    put_doubles(to, line.x, line.n);
    put_doubles(to, line.y, line.n);
    put_doubles(to, marks.at, marks.len);
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
    str_add(to, "HSR1");
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
