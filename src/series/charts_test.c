/* SPDX-License-Identifier: MIT */
/*
 * charts_test.c — a picture from the cache is that of query.h over all values: at first, again, and
 * after the series grew in every way it can.
 */
#include "series/charts.h"
#include "series/db_fixture.h"

#include <errno.h>
#include <math.h>

static double value_at(int64_t i)
{
    return i % 997 == 3 ? NAN : (double)((i * 7919) % 1013) / 100;
}

static void put_some(struct series_db *db, int64_t trial, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        assert_int_equal(put1(db, source_of(1, trial), (uint64_t)i + 1, i, "loss", value_at(i)), 0);
    assert_int_equal(series_db_flush(db, NULL), 0);
}

static void flush(struct series_db *db)
{
    assert_int_equal(series_db_flush(db, NULL), 0);
}

/* The picture of all that is stored, sorted by x. */
static struct query_chart *draw_full(struct series_db *db, const struct charts_ask *ask,
                                     int64_t trial)
{
    struct points points = points_of(db, source_of(1, trial), "loss");
    struct query_smooth smooth = {.weight = ask->weight, .scale = ask->scale};
    struct query_chart *chart = query_chart_new(&ask->view);
    VEC(double) x = {0};

    for (size_t i = 0; i < points.values.len; i++)
        vec_push(&x, ask->x == CHARTS_TIME ? (double)points.times.at[i] / 1e9
                                           : (double)points.steps.at[i]);
    query_sort(x.at, points.values.at, x.len);
    if (smooth.weight > 0 || smooth.scale > 0)
        query_smooth_feed(&smooth, x.at, points.values.at, x.len, points.values.at);
    query_chart_feed(chart, x.at, points.values.at, x.len);
    vec_release(&x);
    points_release(&points);
    return chart;
}

static void check_same_line(const struct query_chart *got, const struct query_chart *want)
{
    struct query_line a = query_chart_line(got), b = query_chart_line(want);

    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.x, b.x, a.n * sizeof(double));
    assert_memory_equal(a.y, b.y, a.n * sizeof(double));
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

static void check_drawn(struct charts *charts, struct series_db *db, const struct charts_ask *ask,
                        int64_t trials)
{
    struct charts_line lines[8];
    const struct query_chart *drawn[8];
    struct err err = ERR_INIT;

    for (int64_t i = 0; i < trials; i++)
        lines[i] = (struct charts_line){1, i + 1, "loss"};
    assert_ok(charts_draw(charts, ask, lines, (size_t)trials, drawn, &err), &err);
    for (int64_t i = 0; i < trials; i++) {
        autofree(query_chart) struct query_chart *full = draw_full(db, ask, i + 1);
        check_equal(drawn[i], full);
    }
}

static const struct charts_ask plain = {.bands = true, .view = {0, 5000, 100}};
static const struct charts_ask smooth = {.bands = true, .view = {100, 4000, 70}, .weight = 0.9};
static const struct charts_ask by_time = {
    .bands = true, .x = CHARTS_TIME, .view = {0, 0.005, 50}, .scale = 0.0001};

struct fixture {
    char *home;
    struct series_db *db;
    struct charts *charts;
};

static void fixture_init(struct fixture *fixture, size_t threads, size_t bytes)
{
    struct err err = ERR_INIT;

    fixture->home = home_new();
    fixture->db = must_open(fixture->home, SERIES_WRITE);
    assert_ok(charts_open(fixture->home, threads, bytes, &fixture->charts, &err), &err);
}

static void fixture_release(struct fixture *fixture)
{
    charts_free(fixture->charts);
    series_db_free(fixture->db);
    home_end(fixture->home);
}

TEST(a_picture_is_that_of_all_values_at_first_and_again)
{
    struct fixture fixture;

    fixture_init(&fixture, 2, CHARTS_BYTES);
    for (int64_t trial = 1; trial <= 5; trial++)
        put_some(fixture.db, trial, 0, 1000 * trial);
    check_drawn(fixture.charts, fixture.db, &plain, 5);
    check_drawn(fixture.charts, fixture.db, &smooth, 5);
    check_drawn(fixture.charts, fixture.db, &by_time, 5);
    struct charts_counts once = charts_counts(fixture.charts);
    assert_int_equal(once.drawn, 15);
    check_drawn(fixture.charts, fixture.db, &smooth, 5);
    struct charts_counts again = charts_counts(fixture.charts);
    assert_true(again.values == once.values && again.kept == 15);
    fixture_release(&fixture);
}

TEST(of_a_series_that_grew_only_the_new_part_is_read)
{
    const struct charts_ask *asks[] = {&plain, &smooth, &by_time};
    struct fixture fixture;
    int64_t n = 10;

    fixture_init(&fixture, 1, CHARTS_BYTES);
    put_some(fixture.db, 1, 0, n);
    for (int round = 0; round < 6; round++) {
        for (size_t i = 0; i < ARRAY_LEN(asks); i++)
            check_drawn(fixture.charts, fixture.db, asks[i], 1);
        if (round == 3)
            assert_int_equal(series_db_compact(fixture.db, NULL), 0);
        put_some(fixture.db, 1, n, n + 700);
        n += 700;
    }
    struct charts_counts counts = charts_counts(fixture.charts);
    assert_int_equal(counts.drawn, 3);
    assert_int_equal(counts.grown, 15);
    assert_int_equal(counts.values, 3 * (n - 700));
    fixture_release(&fixture);
}

/* ---- told one after the other ---- */

struct telling {
    struct series_db *db;
    const struct charts_ask *ask;
    const struct charts_line *lines;
    size_t n;
};

static void on_told(const struct query_chart *chart, size_t line, void *arg)
{
    struct telling *told = arg;
    autofree(query_chart) struct query_chart *full =
        draw_full(told->db, told->ask, told->lines[line].trial);

    assert_int_equal(line, told->n++);
    check_same_line(chart, full);
}

static void check_told(const struct fixture *fixture, const struct charts_ask *like,
                       const struct charts_line *lines, size_t n)
{
    struct charts_ask ask = *like;
    struct telling told = {fixture->db, &ask, lines, 0};
    struct err err = ERR_INIT;

    ask.bands = false;
    assert_ok(charts_tell(fixture->charts, &ask, lines, n, on_told, &told, &err), &err);
    assert_int_equal(told.n, n);
}

TEST(what_is_told_is_kept_from_the_second_time_on)
{
    static const struct charts_line lines[] = {
        {1, 1, "loss"}, {1, 9, "loss"}, {1, 2, "loss"}, {1, 3, "loss"}, {1, 9, "loss"}};
    struct fixture fixture;

    fixture_init(&fixture, 1, CHARTS_BYTES); /* one thread: it is not a matter of time */
    for (int64_t trial = 1; trial <= 3; trial++)
        put_some(fixture.db, trial, 0, 900 * trial);
    check_told(&fixture, &plain, lines, 4);
    check_told(&fixture, &smooth, lines, 4);
    struct charts_counts counts = charts_counts(fixture.charts);
    assert_true(counts.kept == 0 && counts.drawn == 8);
    check_told(&fixture, &plain, lines, 4);
    counts = charts_counts(fixture.charts);
    assert_true(counts.kept == 4 && counts.drawn == 12);
    check_told(&fixture, &plain, lines, 5);
    assert_int_equal(charts_counts(fixture.charts).drawn, 12);
    put_some(fixture.db, 2, 1800, 1900);
    check_told(&fixture, &plain, lines, 5);
    assert_int_equal(charts_counts(fixture.charts).grown, 1);
    check_drawn(fixture.charts, fixture.db, &plain, 3);
    check_told(&fixture, &by_time, lines + 1, 1); /* nothing, where something was drawn before */
    fixture_release(&fixture);
}

TEST(another_view_of_a_line_asked_for_twice_reads_nothing)
{
    static const struct charts_line lines[] = {{1, 1, "loss"}, {1, 2, "loss"}};
    struct fixture fixture;
    struct rng rng;

    fixture_init(&fixture, 1, CHARTS_BYTES);
    rng_init(&rng, 1, 0);
    put_some(fixture.db, 1, 0, 5000);
    put_some(fixture.db, 2, 700, 3000);
    check_told(&fixture, &plain, lines, 2);
    check_told(&fixture, &smooth, lines, 2);
    struct charts_counts before = charts_counts(fixture.charts);
    assert_true(before.traces == 2 && before.kept == 0);
    for (int i = 0; i < 300; i++) { /* of any width, and begun anywhere */
        double x0 = (double)rng_below(&rng, 5200) - 100, x1 = x0 + (double)rng_below(&rng, 3000);
        struct charts_ask ask = {.view = {x0, x1, 1 + rng_below(&rng, 1500)},
                                 .weight = i % 3 ? 0 : 0.8};
        check_told(&fixture, &ask, lines, 2);
    }
    struct charts_counts after = charts_counts(fixture.charts);
    assert_int_equal(after.values, before.values);
    assert_int_equal(after.drawn, before.drawn + 600);
    check_drawn(fixture.charts, fixture.db, &plain, 2); /* bands, from the same points */
    assert_int_equal(charts_counts(fixture.charts).values, before.values);
    fixture_release(&fixture);
}

TEST(a_trace_grows_with_its_line_and_goes_with_it)
{
    static const struct charts_line line = {1, 1, "loss"};
    struct series_source source = source_of(1, 1);
    struct charts_ask ask = {.view = {0, 9000, 200}};
    struct fixture fixture;

    fixture_init(&fixture, 1, CHARTS_BYTES);
    put_some(fixture.db, 1, 0, 1500);
    for (int64_t i = 0; i < 5; i++) {
        ask.view.width++;
        check_told(&fixture, &ask, &line, 1);
        put_some(fixture.db, 1, 1500 + 700 * i, 2200 + 700 * i);
    }
    /* At first by itself, then as the trace, then 700 more each time. */
    assert_int_equal(charts_counts(fixture.charts).values, 1500 + 2200 + 3 * 700);
    for (int64_t step = 700; step < 710; step++) /* they fall: all are sorted */
        assert_int_equal(put1(fixture.db, source, (uint64_t)step + 9000, step, "loss", 77), 0);
    flush(fixture.db);
    for (int i = 0; i < 3; i++) {
        ask.view.width++;
        check_told(&fixture, &ask, &line, 1);
    }
    assert_int_equal(series_db_drop(fixture.db, 1, 1, NULL), 0);
    flush(fixture.db);
    ask.view.width++;
    check_told(&fixture, &ask, &line, 1);
    put_some(fixture.db, 1, 100, 1200);
    ask.view.width++;
    check_told(&fixture, &ask, &line, 1);
    fixture_release(&fixture);
}

TEST(a_line_that_is_too_long_leaves_no_trace)
{
    static const struct charts_line line = {1, 1, "loss"};
    struct charts_ask ask = {.view = {0, 3000, 20}};
    struct fixture fixture;

    fixture_init(&fixture, 1, 1 << 20); /* a 64th of it holds 1,024 points */
    put_some(fixture.db, 1, 0, 3000);
    for (int i = 0; i < 4; i++) {
        ask.view.width++;
        check_told(&fixture, &ask, &line, 1);
    }
    struct charts_counts counts = charts_counts(fixture.charts);
    assert_int_equal(counts.values, 4 * 3000);
    assert_true(counts.bytes < 20000);
    fixture_release(&fixture);
}

TEST(what_takes_long_is_told_in_the_same_order)
{
    struct charts_line lines[12];
    struct fixture fixture;

    fixture_init(&fixture, 3, CHARTS_BYTES);
    for (int64_t trial = 1; trial <= 12; trial++) {
        lines[trial - 1] = (struct charts_line){1, trial, "loss"};
        put_some(fixture.db, trial, 0, 40000);
    }
    for (int round = 0; round < 3; round++)
        check_told(&fixture, &by_time, lines, ARRAY_LEN(lines));
    fixture_release(&fixture);
}

TEST(steps_told_again_and_steps_that_fall_are_drawn_as_they_are)
{
    struct fixture fixture;
    struct series_source source = source_of(1, 1);

    fixture_init(&fixture, 1, CHARTS_BYTES);
    put_some(fixture.db, 1, 0, 1500);
    check_drawn(fixture.charts, fixture.db, &smooth, 1);
    for (uint64_t i = 0; i < 3; i++) { /* the last step once more, one at a time */
        assert_int_equal(put1(fixture.db, source, 2000 + i, 1499, "loss", 50 + (double)i), 0);
        flush(fixture.db);
        check_drawn(fixture.charts, fixture.db, &smooth, 1);
    }
    assert_int_equal(charts_counts(fixture.charts).grown, 3);
    for (int64_t step = 700; step < 710; step++)
        assert_int_equal(put1(fixture.db, source, (uint64_t)step + 3000, step, "loss", 77), 0);
    flush(fixture.db);
    check_drawn(fixture.charts, fixture.db, &smooth, 1);
    put_some(fixture.db, 1, 5000, 5010);
    check_drawn(fixture.charts, fixture.db, &smooth, 1);
    fixture_release(&fixture);
}

TEST(a_series_that_went_and_came_again_is_drawn_anew)
{
    struct fixture fixture;

    fixture_init(&fixture, 1, CHARTS_BYTES);
    put_some(fixture.db, 1, 0, 1500);
    check_drawn(fixture.charts, fixture.db, &plain, 1);
    assert_int_equal(series_db_drop(fixture.db, 1, 1, NULL), 0);
    flush(fixture.db);
    check_drawn(fixture.charts, fixture.db, &plain, 1);
    put_some(fixture.db, 1, 100, 1200);
    check_drawn(fixture.charts, fixture.db, &plain, 1);
    assert_int_equal(series_db_drop(fixture.db, 1, 1, NULL), 0);
    put_some(fixture.db, 1, 50, 1150); /* as many, none of them the same */
    check_drawn(fixture.charts, fixture.db, &plain, 1);
    assert_int_equal(charts_counts(fixture.charts).grown, 0);
    fixture_release(&fixture);
}

TEST(pictures_that_were_not_asked_for_lately_go_first)
{
    struct fixture fixture;
    struct charts_ask asks[3] = {plain, plain, plain};

    fixture_init(&fixture, 1, 30000);
    put_some(fixture.db, 1, 0, 3000);
    for (size_t i = 0; i < 3; i++) {
        asks[i].view.width += i;
        check_drawn(fixture.charts, fixture.db, &asks[0], 1);
        check_drawn(fixture.charts, fixture.db, &asks[i], 1);
    }
    struct charts_counts counts = charts_counts(fixture.charts);
    assert_true(counts.bytes <= 30000 && counts.kept < 3);
    uint64_t drawn = counts.drawn;
    check_drawn(fixture.charts, fixture.db, &asks[2], 1);
    assert_int_equal(charts_counts(fixture.charts).drawn, drawn);
    check_drawn(fixture.charts, fixture.db, &asks[1], 1);
    assert_int_equal(charts_counts(fixture.charts).drawn, drawn + 1);
    fixture_release(&fixture);
}

/* ---- lines of several sources ---- */

struct told {
    int64_t attempt;
    enum series_file file;
    int64_t step;
    double value;
};

static void put_told(struct series_db *db, const struct told *told, size_t n)
{
    static uint64_t end;

    for (size_t i = 0; i < n; i++) {
        struct series_source source = {1, 1, told[i].attempt, told[i].file};
        assert_int_equal(put1(db, source, ++end, told[i].step, "loss", told[i].value), 0);
    }
    flush(db);
}

static void check_line(struct charts *charts, const struct charts_ask *ask, const double *x,
                       const double *y, size_t n)
{
    struct charts_line line = {1, 1, "loss"};
    const struct query_chart *drawn;
    struct err err = ERR_INIT;

    assert_ok(charts_draw(charts, ask, &line, 1, &drawn, &err), &err);
    autofree(query_chart) struct query_chart *want = query_chart_new(&ask->view);
    query_chart_feed(want, x, y, n);
    check_equal(drawn, want);
}

static const struct charts_ask few = {.bands = true, .view = {0, 10, 20}};

TEST(a_later_attempt_takes_the_place_of_what_an_earlier_one_told)
{
    static const struct told first[] = {{1, SERIES_METRICS, 0, 1},
                                        {1, SERIES_METRICS, 1, 2},
                                        {1, SERIES_METRICS, 2, 3},
                                        {1, SERIES_STDOUT, 0, 99}};
    static const struct told second[] = {
        {2, SERIES_STDOUT, 1, 99}, {2, SERIES_METRICS, 1, 20}, {2, SERIES_METRICS, 2, 30}};
    static const struct told more[] = {{2, SERIES_METRICS, 3, 40}};
    static const double x[] = {0, 1, 2, 3}, y1[] = {1, 2, 3}, y2[] = {1, 20, 30, 40};
    struct charts_line line = {1, 1, "loss"};
    struct fixture fixture;
    double x0, x1;

    fixture_init(&fixture, 1, CHARTS_BYTES);
    put_told(fixture.db, first, ARRAY_LEN(first));
    check_line(fixture.charts, &few, x, y1, 3);
    put_told(fixture.db, second, ARRAY_LEN(second));
    check_line(fixture.charts, &few, x, y2, 3);
    put_told(fixture.db, more, 1);
    check_line(fixture.charts, &few, x, y2, 4);
    assert_int_equal(charts_counts(fixture.charts).grown, 1);
    assert_true(charts_extent(fixture.charts, CHARTS_STEP, &line, 1, &x0, &x1));
    assert_true(x0 == 0 && x1 == 3);
    fixture_release(&fixture);
}

TEST(output_that_repeats_a_step_is_one_point_the_last)
{
    static const struct told bar[] = {{1, SERIES_STDOUT, 0, 1},
                                      {1, SERIES_STDOUT, 1, 7},
                                      {1, SERIES_STDOUT, 1, 8},
                                      {1, SERIES_STDOUT, 1, 9},
                                      {1, SERIES_STDOUT, 2, 3}};
    static const struct told again[] = {{1, SERIES_STDOUT, 2, 4}};
    static const double x[] = {0, 1, 2}, y[] = {1, 9, 3}, y_again[] = {1, 9, 4};
    struct fixture fixture;

    fixture_init(&fixture, 1, CHARTS_BYTES);
    put_told(fixture.db, bar, 2);
    check_line(fixture.charts, &few, x, (const double[]){1, 7}, 2);
    for (size_t i = 2; i < ARRAY_LEN(bar); i++) {
        put_told(fixture.db, &bar[i], 1);
        check_line(fixture.charts, &few, x, (const double[]){1, bar[MIN(i, 3)].value, 3},
                   i < 4 ? 2 : 3);
    }
    check_line(fixture.charts, &few, x, y, 3);
    put_told(fixture.db, again, 1);
    check_line(fixture.charts, &few, x, y_again, 3);
    fixture_release(&fixture);
}

TEST(relative_time_begins_with_the_first_value_of_the_line)
{
    static const struct told told[] = {{1, SERIES_METRICS, 1000000, 1},
                                       {1, SERIES_METRICS, 3000000, 2}};
    static const double x[] = {0, 2}, y[] = {1, 2};
    struct charts_line line = {1, 1, "loss"}, none = {1, 2, "loss"};
    struct charts_ask ask = few;
    struct fixture fixture;
    double x0, x1;

    ask.x = CHARTS_RELATIVE;
    fixture_init(&fixture, 1, CHARTS_BYTES);
    put_told(fixture.db, told, 2);
    check_line(fixture.charts, &ask, x, y, 2);
    assert_true(charts_extent(fixture.charts, CHARTS_RELATIVE, &line, 1, &x0, &x1));
    assert_true(x0 == 0 && x1 == 2);
    assert_true(charts_extent(fixture.charts, CHARTS_TIME, &line, 1, &x0, &x1));
    assert_true(x0 == 1 && x1 == 3);
    assert_false(charts_extent(fixture.charts, CHARTS_TIME, &none, 1, &x0, &x1));
    fixture_release(&fixture);
}

TEST(what_cannot_be_drawn_is_refused_and_what_is_not_there_is_empty)
{
    struct charts_line line = {9, 9, "never told"};
    struct charts_line twice[2] = {{1, 1, "loss"}, {1, 1, "loss"}};
    const struct query_chart *drawn[2];
    autorelease(err) struct err err = ERR_INIT;
    struct charts_ask ask = plain;
    struct fixture fixture;

    fixture_init(&fixture, 2, CHARTS_BYTES);
    put_some(fixture.db, 1, 0, 10);
    ask.weight = 1;
    assert_int_equal(charts_draw(fixture.charts, &ask, &line, 1, drawn, &err), -EINVAL);
    ask.weight = 0;
    ask.view.width = 0;
    assert_int_equal(charts_draw(fixture.charts, &ask, &line, 1, drawn, &err), -EINVAL);
    assert_int_equal(charts_draw(fixture.charts, &plain, &line, 1, drawn, &err), 0);
    assert_int_equal(query_chart_line(drawn[0]).n, 0);
    assert_int_equal(charts_draw(fixture.charts, &plain, twice, 2, drawn, &err), 0);
    assert_ptr_equal(drawn[0], drawn[1]);
    fixture_release(&fixture);
}

TEST_MAIN
