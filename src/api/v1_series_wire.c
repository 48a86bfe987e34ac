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

static void store_f64(char *to, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    bits = htole64(bits);
    memcpy(to, &bits, sizeof(bits));
}

/* n doubles that are stored already. */
static void grow(struct str *to, size_t n)
{
    to->len += n * sizeof(double);
    to->s[to->len] = '\0';
}

static void put_doubles(struct str *to, const double *values, size_t n)
{
    str_reserve(to, n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        store_f64(to->s + to->len + i * sizeof(double), values[i]);
    grow(to, n);
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

struct drawn {
    VEC(double) y;
    VEC(double) marks;
    uint64_t count, nans;
};

static void drawn_release(struct drawn *drawn)
{
    vec_release(&drawn->y);
    vec_release(&drawn->marks);
}

/* x goes to where it belongs, y is kept; how many. Four points of each piece are written, though
 * fewer may count: that is quicker than to look. */
static size_t add_pieces(struct drawn *drawn, const struct query_piece *pieces, size_t n, char *to)
{
    size_t len = 0;
    double *y = drawn->y.at;

    assert(y);
    for (size_t i = 0; i < n; i++) {
        struct query_point points[4] = {{0, 0}};
        size_t k = query_piece_points(&pieces[i], points);
        if (i && pieces[i].gap) {
            store_f64(to + len * sizeof(double), points[0].x);
            y[len++] = NAN;
        }
        for (size_t p = 0; p < 4; p++) {
            store_f64(to + (len + p) * sizeof(double), points[p].x);
            y[len + p] = points[p].y;
        }
        len += k;
    }
    return len;
}

static void add_marks(struct drawn *drawn, const struct series_ask *ask,
                      const struct query_chart *chart)
{
    const struct query_view *view = query_chart_view(chart);
    const struct query_column *columns = query_chart_columns(chart);

    for (size_t c = 0; c < view->width; c++) {
        uint64_t odd = columns[c].nans + columns[c].infs;
        drawn->count += columns[c].count + odd;
        drawn->nans += odd;
        if (odd)
            vec_push(&drawn->marks, column_x(ask, view, c));
    }
}

/* `drawn` is room that all lines share. */
static void make_line(const struct series_ask *ask, const struct query_chart *chart,
                      struct drawn *drawn, struct str *to)
{
    size_t n, at = to->len;
    const struct query_piece *pieces = query_chart_pieces(chart, &n);

    drawn->count = drawn->nans = 0;
    drawn->marks.len = 0;
    add_marks(drawn, ask, chart);
    put_u32(to, 0);
    put_u32(to, (uint32_t)drawn->marks.len);
    put_u64(to, drawn->count);
    put_u64(to, drawn->nans);
    str_reserve(to, (5 * n + 4) * sizeof(double));
    vec_reserve(&drawn->y, 5 * n + 4);
    size_t points = add_pieces(drawn, pieces, n, to->s + to->len);
    uint32_t count = htole32((uint32_t)points);
    memcpy(to->s + at, &count, sizeof(count));
    grow(to, points);
    put_doubles(to, drawn->y.at, points);
    put_doubles(to, drawn->marks.at, drawn->marks.len);
}

/* The bytes of a line stay with its picture from the second time on: few have grown since, but many
 * views are asked for only once. */
static void put_line(const struct series_ask *ask, const struct query_chart *chart,
                     struct drawn *drawn, struct str *to)
{
    struct query_kept *kept = query_chart_kept(chart);

    if (!kept->wanted) {
        kept->wanted = true;
        make_line(ask, chart, drawn, to);
        return;
    }
    if (!kept->bytes.len)
        make_line(ask, chart, drawn, &kept->bytes);
    str_add_n(to, kept->bytes.s, kept->bytes.len);
}

static void put_lines(const struct series_ask *ask, const struct query_chart *const *charts,
                      struct str *to)
{
    autorelease(drawn) struct drawn drawn = {.count = 0};
    size_t bytes = 0, n = ask->lines.len;

    for (size_t i = 0; i < n; i++) {
        size_t pieces, kept = query_chart_kept(charts[i])->bytes.len;
        query_chart_pieces(charts[i], &pieces);
        bytes += kept ? kept : LINE_HEAD + 4 * pieces * sizeof(struct query_point);
    }
    str_reserve(to, bytes);
    for (size_t i = 0; i < n; i++)
        put_line(ask, charts[i], &drawn, to);
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
    const struct query_column *columns = query_chart_columns(chart);
    size_t width = query_chart_view(chart)->width, c = 0;

    while (c < width && !columns[c].count)
        c++;
    return c < width;
}

/* Has one of them a value of its own there? Between, all only go on as they were. */
static bool is_told(const struct series_ask_group *group, const struct query_chart *const *charts,
                    size_t column)
{
    vec_foreach (line, &group->lines)
        if (query_chart_columns(charts[*line])[column].count)
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

void series_answer(const struct series_ask *ask, const struct query_view *view,
                   const struct query_chart *const *charts, struct str *to)
{
    str_add(to, "HSR1");
    put_u32(to, ask->grouped ? 1 : 0);
    put_u32(to, (uint32_t)(ask->grouped ? ask->groups.len : ask->lines.len));
    put_u32(to, 0);
    put_doubles(to, &view->x0, 1);
    put_doubles(to, &view->x1, 1);
    if (!ask->grouped)
        put_lines(ask, charts, to);
    else
        vec_foreach (group, &ask->groups)
            put_group(ask, view, group, charts, to);
}
