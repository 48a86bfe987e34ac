/* SPDX-License-Identifier: MIT */
/*
 * query_test.c — pictures from few points are those from all of them, pixel for pixel; smoothing
 * against its plain definition.
 */
#include "series/query.h"

#include "base/wide.h"
#include "tests/test.h"

#include <errno.h>
#include <float.h>
#include <math.h>

/* ---- a small raster with Bresenham's lines ---- */
#define COLUMNS 37
#define LINES   23

struct raster {
    bool on[LINES][COLUMNS];
};

static void dot(struct raster *raster, int64_t column, int64_t line)
{
    if (column >= 0 && column < COLUMNS && line >= 0 && line < LINES)
        raster->on[line][column] = true;
}

static void draw(struct raster *raster, int64_t x0, int64_t y0, int64_t x1, int64_t y1)
{
    int64_t dx = llabs(x1 - x0), dy = -llabs(y1 - y0), error = dx + dy;
    int64_t step_x = x0 < x1 ? 1 : -1, step_y = y0 < y1 ? 1 : -1;
    for (;;) {
        dot(raster, x0, y0);
        if (x0 == x1 && y0 == y1)
            return;
        int64_t twice = 2 * error;
        if (twice >= dy) {
            error += dy;
            x0 += step_x;
        }
        if (twice <= dx) {
            error += dx;
            y0 += step_y;
        }
    }
}

struct pen {
    struct raster raster;
    const struct query_view *view;
    double y0, y1; /* some of the values may lie above or below the picture */
    int64_t x, y;
};

static void pen_to(struct pen *pen, struct query_point at, bool gap)
{
    int64_t x = query_column_of(pen->view, at.x);
    int64_t y = (int64_t)floor((at.y - pen->y0) / (pen->y1 - pen->y0) * LINES);
    if (gap)
        dot(&pen->raster, x, y);
    else
        draw(&pen->raster, pen->x, pen->y, x, y);
    pen->x = x;
    pen->y = y;
}

static void draw_all(struct pen *pen, const double *x, const double *y, size_t n)
{
    bool gap = true;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(y[i]))
            pen_to(pen, (struct query_point){x[i], y[i]}, gap);
        gap = !isfinite(y[i]);
    }
}

static void draw_line(struct pen *pen, const struct query_chart *chart)
{
    struct query_line line = query_chart_line(chart);
    for (size_t i = 0; i < line.n; i++)
        assert_true(i == 0 || line.x[i] >= line.x[i - 1]);
    draw_all(pen, line.x, line.y, line.n);
}

/* ---- random series ---- */
#define POINTS 3000
struct data {
    size_t n;
    double x[POINTS], y[POINTS];
};

static void make_data(struct data *data, struct rng *rng, double gap_chance)
{
    double x = -50, y = 0, pace = rng_unit(rng) * 2;
    data->n = 1 + rng_below(rng, POINTS);
    for (size_t i = 0; i < data->n; i++) {
        x += rng_chance(rng, 0.2) ? 0 : pace * rng_unit(rng);
        y = rng_chance(rng, 0.05) ? 10 * rng_normal(rng) : 0.9 * y + rng_normal(rng);
        data->x[i] = rng_chance(rng, 0.3) ? floor(x) : x;
        data->y[i] = rng_chance(rng, 0.01) ? floor(y) : y;
        if (rng_chance(rng, gap_chance))
            data->y[i] = rng_chance(rng, 0.7) ? NAN : rng_chance(rng, 0.5) ? INFINITY : -INFINITY;
    }
    query_sort(data->x, data->y, data->n);
}

static struct query_view random_view(const struct data *data, struct rng *rng)
{
    double left = data->x[0], right = data->x[data->n - 1], span = right - left;
    struct query_view view = {left, right, COLUMNS};
    if (rng_chance(rng, 0.5)) { /* zoomed in, or out */
        view.x0 = left + span * (rng_unit(rng) * 1.2 - 0.2);
        view.x1 = view.x0 + span * rng_unit(rng);
    }
    return view;
}

static struct query_chart *chart_of(const struct query_view *view, const struct data *data,
                                    struct rng *rng)
{
    struct query_chart *chart = query_chart_new(view);
    for (size_t at = 0, n; at < data->n; at += n) {
        size_t piece = 1 + rng_below(rng, 400);
        n = MIN(piece, data->n - at);
        query_chart_feed(chart, data->x + at, data->y + at, n);
    }
    return chart;
}

/* 1: the pictures are the same; 0: ours has more; −1: ours lacks a pixel. */
static int compare_pictures(const struct data *data, const struct query_chart *chart)
{
    struct pen all = {.view = query_chart_view(chart), .y0 = -4, .y1 = 3}, few = all;
    draw_all(&all, data->x, data->y, data->n);
    draw_line(&few, chart);
    int verdict = 1;
    for (size_t line = 0; line < LINES; line++)
        for (size_t column = 0; column < COLUMNS; column++) {
            if (all.raster.on[line][column] && !few.raster.on[line][column])
                return -1;
            if (all.raster.on[line][column] != few.raster.on[line][column])
                verdict = 0;
        }
    return verdict;
}

TEST(few_points_draw_the_same_pixels_as_all)
{
    autofree(mem) struct data *data = xcalloc(1, sizeof(*data));
    struct rng rng;
    rng_init(&rng, 1, 0);
    for (int round = 0; round < 300; round++) {
        make_data(data, &rng, 0);
        struct query_view view = random_view(data, &rng);
        autofree(query_chart) struct query_chart *chart = chart_of(&view, data, &rng);
        assert_int_equal(compare_pictures(data, chart), 1);
    }
}

/* Has no column more pieces than are kept? */
static bool gaps_fit(const struct data *data, const struct query_view *view)
{
    size_t pieces[COLUMNS] = {0};
    bool gap = true;
    int64_t last = -1;
    for (size_t i = 0; i < data->n; i++) {
        int64_t column = query_column_of(view, data->x[i]);
        if (isfinite(data->y[i]) && column >= 0 && column < COLUMNS && (gap || column != last))
            pieces[column]++;
        gap = !isfinite(data->y[i]);
        last = column;
    }
    for (size_t c = 0; c < COLUMNS; c++)
        if (pieces[c] > QUERY_PIECES)
            return false;
    return true;
}

TEST(gaps_are_drawn_as_gaps_and_too_many_in_one_column_only_add_to_it)
{
    autofree(mem) struct data *data = xcalloc(1, sizeof(*data));
    struct rng rng;
    int exact = 0, closed = 0;
    rng_init(&rng, 2, 0);
    for (int round = 0; round < 400; round++) {
        make_data(data, &rng, round % 2 ? 0.01 : 0.3);
        struct query_view view = random_view(data, &rng);
        autofree(query_chart) struct query_chart *chart = chart_of(&view, data, &rng);
        bool fits = gaps_fit(data, &view);
        assert_true(compare_pictures(data, chart) >= (fits ? 1 : 0));
        exact += fits;
        closed += !fits;
        assert_true(query_chart_line(chart).n <= 5 * QUERY_PIECES * COLUMNS + 2);
    }
    assert_true(exact > 50 && closed > 50);
}

static void check_same_line(const struct query_chart *got, const struct query_chart *want)
{
    struct query_line a = query_chart_line(got), b = query_chart_line(want);
    struct query_counts m = query_chart_counts(got), n = query_chart_counts(want);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.x, b.x, a.n * sizeof(double));
    assert_memory_equal(a.y, b.y, a.n * sizeof(double));
    assert_true(m.finite == n.finite && m.odd == n.odd);
}

static void check_equal(const struct query_chart *got, const struct query_chart *want)
{
    check_same_line(got, want);
    size_t width = query_chart_view(got)->width, bytes = width * sizeof(struct query_column);
    autofree(mem) struct query_column *p = xcalloc(1, bytes), *q = xcalloc(1, bytes);
    query_chart_columns(got, p);
    query_chart_columns(want, q);
    assert_memory_equal(p, q, bytes);
}

/* A column that comes at once is drawn in another way than one whose points come one by one. */
TEST(the_line_does_not_depend_on_how_the_points_come)
{
    autofree(mem) struct data *data = xcalloc(1, sizeof(*data));
    struct rng rng;
    rng_init(&rng, 3, 0);
    for (int round = 0; round < 300; round++) {
        wide_limit((unsigned)round % 3 * 256);
        make_data(data, &rng, round / 3 % 2 ? 0.02 : 0.0005);
        for (size_t i = 0; i < data->n; i++) /* zeros of both signs, and sums that are too large */
            if (rng_chance(&rng, 0.05))
                data->y[i] = rng_chance(&rng, 0.5) ? -0.0 : round / 3 % 8 ? 0 : DBL_MAX;
        for (size_t i = 1; i < data->n; i++) /* points told twice; which zero stays is open */
            if (data->y[i - 1] != 0 && rng_chance(&rng, 0.1)) {
                data->x[i] = data->x[i - 1];
                data->y[i] = data->y[i - 1];
            }
        struct query_view view = random_view(data, &rng);
        view.width = 1 + (size_t)rng_below(&rng, 3 * COLUMNS);
        autofree(query_chart) struct query_chart *pieces = chart_of(&view, data, &rng);
        autofree(query_chart) struct query_chart *whole = query_chart_new(&view);
        autofree(query_chart) struct query_chart *single = query_chart_new(&view);
        query_chart_feed(whole, data->x, data->y, data->n);
        for (size_t i = 0; i < data->n; i++)
            query_chart_feed(single, data->x + i, data->y + i, 1);
        check_equal(pieces, single);
        check_equal(whole, single);
        autofree(query_chart) struct query_chart *plain = query_chart_new_line(&view);
        query_chart_feed(plain, data->x, data->y, data->n);
        check_same_line(plain, single);
    }
}

/* Times that come about as often as columns do, some twice, some in bursts, some late. */
static void make_short_columns(struct data *data, struct rng *rng)
{
    double x = 0, pace = 0.05 + rng_unit(rng);

    for (data->n = 0; data->n < POINTS; data->n++) {
        x += rng_chance(rng, 0.1) ? 0 : pace * (rng_chance(rng, 0.01) ? 9 : 0.5 + rng_unit(rng));
        data->x[data->n] = rng_chance(rng, 0.5) ? floor(4 * x) / 4 : x;
        data->y[data->n] = rng_chance(rng, 0.001) ? NAN : floor(4 * rng_normal(rng));
    }
    query_sort(data->x, data->y, data->n);
}

TEST(short_columns_are_the_same_however_wide_the_loops_are)
{
    autofree(mem) struct data *data = xcalloc(1, sizeof(*data));
    struct rng rng;
    rng_init(&rng, 32, 0);
    for (int round = 0; round < 300; round++) {
        make_short_columns(data, &rng);
        double end = data->x[data->n - 1];
        struct query_view view = {round % 2 ? 0 : -3.7, end * (0.5 + rng_unit(&rng)),
                                  1 + (size_t)(end * (0.3 + rng_unit(&rng)))};
        autofree(query_chart) struct query_chart *plain = query_chart_new_line(&view);
        wide_limit(0);
        query_chart_feed(plain, data->x, data->y, data->n);
        for (unsigned bits = 256; bits <= 512; bits *= 2) {
            autofree(query_chart) struct query_chart *wide = query_chart_new_line(&view);
            wide_limit(bits);
            size_t part = 1 + (size_t)rng_below(&rng, 2 * POINTS);
            for (size_t at = 0; at < data->n; at += part)
                query_chart_feed(wide, data->x + at, data->y + at, MIN(part, data->n - at));
            check_same_line(wide, plain);
        }
    }
}

/* First, smallest, largest and last of each column by a plain walk over its points. */
static void walk_column(const struct data *data, size_t from, size_t to, struct data *ret)
{
    size_t min = from, max = from, last = SIZE_MAX;
    for (size_t i = from; i < to; i++) {
        min = data->y[i] < data->y[min] ? i : min;
        max = data->y[i] > data->y[max] ? i : max;
    }
    const size_t places[] = {from, MIN(min, max), MAX(min, max), to - 1};
    for (size_t k = 0; k < ARRAY_LEN(places); k++) {
        size_t at = places[k];
        if (last != SIZE_MAX && data->x[at] == data->x[last] && data->y[at] == data->y[last])
            continue;
        ret->x[ret->n] = data->x[at];
        ret->y[ret->n++] = data->y[at];
        last = at;
    }
}

TEST(the_line_has_four_points_of_each_column)
{
    autofree(mem) struct data *data = xcalloc(1, sizeof(*data));
    autofree(mem) struct data *want = xcalloc(1, sizeof(*want));
    struct rng rng;
    rng_init(&rng, 31, 0);
    for (int round = 0; round < 200; round++) {
        make_data(data, &rng, 0);
        struct query_view view = {data->x[0], data->x[data->n - 1],
                                  1 + (size_t)rng_below(&rng, 4 * COLUMNS)};
        autofree(query_chart) struct query_chart *chart = chart_of(&view, data, &rng);
        want->n = 0;
        for (size_t from = 0, to; from < data->n; from = to) {
            int64_t column = query_column_of(&view, data->x[from]);
            for (to = from; to < data->n && query_column_of(&view, data->x[to]) == column;)
                to++;
            walk_column(data, from, to, want);
        }
        struct query_line line = query_chart_line(chart);
        assert_int_equal(line.n, want->n);
        assert_memory_equal(line.x, want->x, line.n * sizeof(double));
        assert_memory_equal(line.y, want->y, line.n * sizeof(double));
    }
}

TEST(blocks_give_the_same_picture_without_their_values)
{
    enum { BLOCK = 20 };
    autofree(mem) struct data *data = xcalloc(1, sizeof(*data));
    struct rng rng;
    size_t taken = 0;
    rng_init(&rng, 4, 0);
    for (int round = 0; round < 200; round++) {
        make_data(data, &rng, 0.005);
        struct query_view view = random_view(data, &rng);
        autofree(query_chart) struct query_chart *chart = query_chart_new(&view);
        autofree(query_chart) struct query_chart *full = chart_of(&view, data, &rng);
        for (size_t at = 0; at < data->n; at += BLOCK) {
            size_t n = MIN((size_t)BLOCK, data->n - at);
            struct block_stats stats;
            block_stats(data->y + at, n, &stats);
            bool took = query_chart_feed_block(chart, data->x[at], data->x[at + n - 1], &stats);
            taken += took;
            if (!took)
                query_chart_feed(chart, data->x + at, data->y + at, n);
        }
        if (gaps_fit(data, &view))
            assert_int_equal(compare_pictures(data, chart), 1);
        struct query_column a[COLUMNS], b[COLUMNS];
        query_chart_columns(chart, a);
        query_chart_columns(full, b);
        for (size_t c = 0; c < COLUMNS; c++) {
            assert_true(a[c].count == b[c].count && a[c].nans == b[c].nans);
            assert_true(a[c].count == 0 ||
                        (a[c].min == b[c].min && a[c].max == b[c].max && a[c].last == b[c].last));
            assert_true(fabs(a[c].sum - b[c].sum) <= 1e-9 * (1 + fabs(b[c].sum)));
        }
    }
    assert_true(taken > 500);
}

TEST(bands_tell_of_finite_values_and_count_the_others)
{
    const double x[] = {0, 0, 1, 2, 2, 2, 9, 10};
    const double y[] = {1, 3, NAN, 5, -INFINITY, 4, NAN, 7};
    struct query_view view = {0, 10, 5};
    autofree(query_chart) struct query_chart *chart = query_chart_new(&view);
    query_chart_feed(chart, x, y, ARRAY_LEN(x));
    struct query_column columns[5];
    query_chart_columns(chart, columns);
    assert_true(columns[0].count == 2 && columns[0].nans == 1 && columns[0].sum == 4);
    assert_true(columns[0].min == 1 && columns[0].max == 3 && columns[0].last == 3);
    assert_true(columns[1].count == 2 && columns[1].infs == 1 && columns[1].last == 4);
    assert_true(columns[2].count == 0 && isnan(columns[2].min) && isnan(columns[2].last));
    assert_true(columns[4].count == 1 && columns[4].nans == 1 && columns[4].max == 7);
}

TEST(the_line_leads_in_from_the_left_and_out_to_the_right)
{
    const double x[] = {0, 1, 5, 9, 10}, y[] = {1, 2, 3, 4, 5};
    struct query_view view = {4, 6, 10};
    autofree(query_chart) struct query_chart *chart = query_chart_new(&view);
    query_chart_feed(chart, x, y, ARRAY_LEN(x));
    struct query_line line = query_chart_line(chart);
    assert_int_equal(line.n, 3);
    assert_memory_equal(line.x, ((const double[]){1, 5, 9}), 3 * sizeof(double));
    assert_memory_equal(line.y, ((const double[]){2, 3, 4}), 3 * sizeof(double));
    assert_int_equal(query_chart_count(chart, 5), 1);
    view = (struct query_view){6, 8, 10}; /* and through it, where there is no point */
    autofree(query_chart) struct query_chart *between = query_chart_new(&view);
    query_chart_feed(between, x, y, ARRAY_LEN(x));
    line = query_chart_line(between);
    assert_int_equal(line.n, 2);
    assert_memory_equal(line.x, ((const double[]){5, 9}), 2 * sizeof(double));
}

TEST(any_range_of_numbers_has_its_columns)
{
    static const struct query_view views[] = {
        {0, 0, 3},           {1e15, 1e15 + 1, 1000}, {-DBL_MAX / 4, DBL_MAX / 4, 7},
        {0, DBL_MIN / 8, 9}, {1.7e18, 1.7e18, 1},    {0, 1e-300, QUERY_WIDTH_MAX},
    };
    struct rng rng;
    rng_init(&rng, 5, 0);
    for (size_t v = 0; v < ARRAY_LEN(views); v++) {
        const struct query_view *view = &views[v];
        assert_int_equal(query_view_check(view, NULL), 0);
        assert_in_range(query_column_of(view, view->x0), 0, view->width - 1);
        assert_int_equal(query_column_of(view, view->x1), view->width - 1);
        assert_true(query_column_of(view, nextafter(view->x0, -INFINITY)) < 0);
        assert_true(query_column_of(view, nextafter(view->x1, INFINITY)) >= (int64_t)view->width);
        assert_true(query_column_of(view, -INFINITY) < 0);
        assert_true(query_column_of(view, INFINITY) >= (int64_t)view->width);
        double last = view->x0;
        for (int i = 0; i < 1000; i++) { /* never falling */
            double x = last + (view->x1 - last) * rng_unit(&rng) * 0.01;
            assert_true(query_column_of(view, last) <= query_column_of(view, x));
            last = x;
        }
    }
}

TEST(points_that_come_one_by_one_lie_in_their_columns)
{
    struct rng rng;

    rng_init(&rng, 21, 0);
    for (int round = 0; round < 300; round++) {
        double x0 = rng_normal(&rng) * pow(10, 9 * rng_unit(&rng)), x = x0;
        struct query_view view = {x0, x0 + 10 * rng_unit(&rng), 1 + (size_t)rng_below(&rng, 900)};
        autofree(query_chart) struct query_chart *chart = query_chart_new(&view);
        uint64_t counts[900] = {0};
        for (; x <= view.x1; x += 20 * rng_unit(&rng) / (double)view.width) {
            query_chart_feed(chart, &x, &(double){1}, 1);
            counts[query_column_of(&view, x)]++;
        }
        for (size_t c = 0; c < view.width; c++)
            assert_int_equal(query_chart_count(chart, c), counts[c]);
    }
}

TEST(a_view_that_is_none_is_told_in_a_sentence)
{
    struct err err = ERR_INIT;
    static const struct query_view wrong[] = {
        {0, 1, 0}, {0, 1, QUERY_WIDTH_MAX + 1}, {NAN, 1, 5}, {0, INFINITY, 5},
        {2, 1, 5}, {-DBL_MAX, DBL_MAX, 5},
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(query_view_check(&wrong[i], &err), -EINVAL);
        assert_true(strlen(err_text(&err)) > 10);
        err_release(&err);
    }
}

/* ---- points ---- */
TEST(sorting_keeps_the_order_of_equal_x)
{
    enum { N = 1000 };
    double x[N], y[N];
    struct rng rng;
    rng_init(&rng, 6, 0);
    for (size_t n = 0; n < N; n = n * 2 + 1) {
        for (size_t i = 0; i < n; i++) {
            x[i] = (double)rng_below(&rng, 50);
            y[i] = (double)i;
        }
        query_sort(x, y, n);
        for (size_t i = 1; i < n; i++)
            assert_true(x[i - 1] < x[i] || (x[i - 1] == x[i] && y[i - 1] < y[i]));
    }
}

TEST(a_range_has_both_its_ends)
{
    const double x[] = {1, 2, 2, 2, 3, 5};
    size_t first;
    assert_int_equal(query_range(x, 6, 2, 3, &first), 4);
    assert_int_equal(first, 1);
    assert_int_equal(query_range(x, 6, 2.5, 2.7, &first), 0);
    assert_int_equal(query_range(x, 6, 5, 2, &first), 0);
    assert_int_equal(query_range(x, 6, -INFINITY, INFINITY, &first), 6);
    assert_int_equal(first, 0);
    assert_int_equal(query_range(x, 0, 0, 9, &first), 0);
    assert_int_equal(query_range(x, 6, 4, 9, &first), 1);
    assert_int_equal(first, 5);
}

/* As TensorBoard's line chart has it. */
static void smooth_as_tensorboard(const double *y, size_t n, double weight, double *ret)
{
    double last = 0;
    int count = 0;
    for (size_t i = 0; i < n; i++) {
        ret[i] = y[i];
        if (!isfinite(y[i]))
            continue;
        last = last * weight + (1 - weight) * y[i];
        count++;
        ret[i] = last / (1 - pow(weight, count));
    }
}

TEST(smoothing_is_that_of_tensorboard_and_nan_does_not_poison_it)
{
    enum { N = 2000 };
    static const double weights[] = {0, 0.3, 0.6, 0.9, 0.99, 0.999};
    double y[N], expected[N], got[N];
    struct rng rng;
    rng_init(&rng, 7, 0);
    for (size_t w = 0; w < ARRAY_LEN(weights); w++) {
        for (size_t i = 0; i < N; i++)
            y[i] = rng_chance(&rng, 0.05) ? (i % 2 ? NAN : INFINITY) : 5 + rng_normal(&rng);
        smooth_as_tensorboard(y, N, weights[w], expected);
        struct query_smooth smooth = {.weight = weights[w]};
        query_smooth_feed(&smooth, NULL, y, 700, got);
        query_smooth_feed(&smooth, NULL, y + 700, N - 700, got + 700);
        for (size_t i = 0; i < N; i++)
            assert_true(isnan(y[i])       ? isnan(got[i])
                        : !isfinite(y[i]) ? got[i] == y[i]
                                          : fabs(got[i] - expected[i]) < 1e-9);
    }
}

TEST(a_constant_stays_itself_however_it_is_smoothed)
{
    double x[500], y[500];
    struct query_smooth by_weight = {.weight = 0.97}, by_scale = {.scale = 3};
    for (size_t i = 0; i < 500; i++) {
        x[i] = (double)(i * i);
        y[i] = 0.1;
    }
    query_smooth_feed(&by_weight, x, y, 500, y);
    query_smooth_feed(&by_scale, x, y, 500, y);
    for (size_t i = 0; i < 500; i++)
        assert_true(y[i] == 0.1);
}

TEST(smoothing_by_distance_weighs_what_is_near)
{
    const double x[] = {0, 1, 1, 4, 100}, y[] = {1, 2, 3, 4, 5};
    double got[5];
    struct query_smooth smooth = {.scale = 2};
    query_smooth_feed(&smooth, x, y, 5, got);
    for (size_t i = 0; i < 5; i++) {
        double sum = 0, mass = 0;
        for (size_t j = 0; j <= i; j++) {
            sum += exp((x[j] - x[i]) / 2) * y[j];
            mass += exp((x[j] - x[i]) / 2);
        }
        assert_true(fabs(got[i] - sum / mass) < 1e-12);
    }
    struct query_smooth even = {.scale = -1 / log(0.9)}, weight = {.weight = 0.9};
    double steps[100], noise[100], a[100], b[100];
    for (size_t i = 0; i < 100; i++) {
        steps[i] = (double)i;
        noise[i] = (double)(i * 7919 % 13);
    }
    query_smooth_feed(&even, steps, noise, 100, a);
    query_smooth_feed(&weight, steps, noise, 100, b);
    for (size_t i = 0; i < 100; i++)
        assert_true(fabs(a[i] - b[i]) < 1e-9);
}

TEST(smoothing_huge_values_stays_finite)
{
    double y[] = {DBL_MAX, -DBL_MAX, DBL_MAX, -DBL_MAX};
    struct query_smooth smooth = {.weight = 0.9};
    query_smooth_feed(&smooth, NULL, y, 4, y);
    for (size_t i = 0; i < 4; i++)
        assert_true(isfinite(y[i]));
}

TEST(the_last_points_are_kept_in_order)
{
    double x[100];
    struct query_point points[7];
    for (size_t i = 0; i < 100; i++)
        x[i] = (double)i;
    for (size_t piece = 1; piece < 30; piece++) {
        struct query_last last = {.want = 7, .points = points};
        assert_int_equal(query_last_count(&last), 0);
        for (size_t at = 0; at < 100; at += piece) {
            query_last_feed(&last, x + at, x + at, MIN(piece, 100 - at));
            assert_int_equal(query_last_count(&last), MIN((size_t)7, last.seen));
        }
        for (size_t i = 0; i < 7; i++)
            assert_true(query_last_at(&last, i).x == 93 + (double)i);
    }
}

TEST_MAIN
