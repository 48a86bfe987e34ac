/* SPDX-License-Identifier: MIT */
/*
 * v1_series_test.c — what is asked for curves, and the bytes of the answer.
 */
#include "api/v1_series.h"
#include "base/wide.h"
#include "tests/test.h"

#include <endian.h>
#include <errno.h>
#include <float.h>
#include <math.h>

/* ---- the question ---- */

static int parse(const char *text, struct series_ask *ret, struct err *err)
{
    autofree(json) json_t *body = NULL;

    assert_int_equal(json_parse(text, strlen(text), &body, NULL), 0);
    return series_ask_parse(body, ret, err);
}

TEST(a_question_has_defaults)
{
    autorelease(series_ask) struct series_ask ask = {.width = 0};
    struct err err = ERR_INIT;

    assert_ok(
        parse("{\"lines\":[{\"trial\":\"3.7\",\"metric\":\"loss\"}],\"from\":null}", &ask, &err),
        &err);
    assert_true(ask.x == CHARTS_STEP && isnan(ask.from) && isnan(ask.to) && ask.width == 1000);
    assert_true(ask.smooth == 0 && !ask.grouped && !ask.median && ask.band == BAND_MINMAX);
    assert_int_equal(ask.lines.len, 1);
    assert_string_equal(ask.lines.at[0].trial, "3.7");
    assert_string_equal(ask.lines.at[0].metric, "loss");
}

TEST(everything_that_is_asked_is_read)
{
    autorelease(series_ask) struct series_ask ask = {.width = 0};
    struct err err = ERR_INIT;

    assert_ok(parse("{\"x\":\"relative\",\"from\":-1,\"to\":2.5,\"width\":7,\"smooth\":0.5,"
                    "\"lines\":[{\"trial\":\"a.1\",\"metric\":\"m\"},{\"trial\":\"a.2\","
                    "\"metric\":\"m\"}],\"groups\":[[0,1],[],[1]],\"middle\":\"median\","
                    "\"band\":\"interval\"}",
                    &ask, &err),
              &err);
    assert_true(ask.x == CHARTS_RELATIVE && ask.from == -1 && ask.to == 2.5 && ask.width == 7);
    assert_true(ask.smooth == 0.5 && ask.grouped && ask.median && ask.band == BAND_INTERVAL);
    assert_int_equal(ask.groups.len, 3);
    assert_int_equal(ask.groups.at[0].lines.len, 2);
    assert_int_equal(ask.groups.at[2].lines.at[0], 1);
}

TEST(what_cannot_be_asked_is_told_in_a_sentence)
{
    static const struct {
        const char *body, *sentence;
    } bad[] = {
        {"{}", "lines: a list is wanted"},
        {"{\"lines\":{}}", "lines: a list is wanted"},
        {"{\"lines\":[7]}", "lines: {\"trial\":\"3.7\",\"metric\":\"loss\"} is wanted"},
        {"{\"lines\":[{\"trial\":3.7,\"metric\":\"m\"}]}", "lines: {\"trial\""},
        {"{\"x\":\"steps\",\"lines\":[]}", "x: one of step, time, relative is wanted"},
        {"{\"x\":4,\"lines\":[]}", "x: one of step"},
        {"{\"width\":0,\"lines\":[]}", "width: a whole number from 1 to 16384 is wanted"},
        {"{\"width\":1e9,\"lines\":[]}", "width: "},
        {"{\"width\":\"9\",\"lines\":[]}", "width: "},
        {"{\"smooth\":1,\"lines\":[]}", "smooth: a number from 0 to 0.9999 is wanted"},
        {"{\"smooth\":-0.1,\"lines\":[]}", "smooth: "},
        {"{\"from\":1e301,\"lines\":[]}", "from: "},
        {"{\"from\":2,\"to\":1,\"lines\":[]}", "from: 2 is behind to: 1"},
        {"{\"middle\":\"mode\",\"lines\":[]}", "middle: one of mean, median is wanted"},
        {"{\"band\":\"sd\",\"lines\":[]}", "band: one of minmax, quartiles, interval is wanted"},
        {"{\"groups\":7,\"lines\":[]}", "groups: a list of at most 1000 lists is wanted"},
        {"{\"groups\":[7],\"lines\":[]}", "groups: a list of lists is wanted"},
        {"{\"groups\":[[0]],\"lines\":[]}", "groups: places of lines"},
        {"{\"groups\":[[1]],\"lines\":[{\"trial\":\"1.1\",\"metric\":\"m\"}]}",
         "groups: places of lines, from 0 to 0, are wanted"},
        {"{\"groups\":[[-1]],\"lines\":[{\"trial\":\"1.1\",\"metric\":\"m\"}]}", "groups: places"},
        {"{\"groups\":[[0.5]],\"lines\":[{\"trial\":\"1.1\",\"metric\":\"m\"}]}", "groups: places"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        autorelease(series_ask) struct series_ask ask = {.width = 0};
        autorelease(err) struct err err = ERR_INIT;
        assert_int_equal(parse(bad[i].body, &ask, &err), -EINVAL);
        if (strncmp(err_text(&err), bad[i].sentence, strlen(bad[i].sentence)) != 0)
            fail_msg("%s: %s", bad[i].body, err_text(&err));
    }
}

TEST(too_many_lines_and_too_large_groups_are_refused)
{
    autorelease(str) struct str many = STR_INIT;
    autorelease(err) struct err err = ERR_INIT, again = ERR_INIT;
    autorelease(series_ask) struct series_ask ask = {.width = 0}, wide = {.width = 0};

    str_add(&many, "{\"width\":16384,\"lines\":[");
    for (size_t i = 0; i <= SERIES_ASK_LINES; i++)
        str_addf(&many, "%s{\"trial\":\"1.%zu\",\"metric\":\"m\"}", i ? "," : "", i + 1);
    str_add(&many, "]}");
    assert_int_equal(parse(many.s, &ask, &err), -EINVAL);
    assert_string_equal(err_text(&err), "lines: at most 1000, not 1001");
    str_cut(&many, 0);
    str_add(&many,
            "{\"width\":16384,\"lines\":[{\"trial\":\"1.1\",\"metric\":\"m\"}],\"groups\":[");
    for (size_t i = 0; i < 257; i++)
        str_addf(&many, "%s[0]", i ? "," : "");
    str_add(&many, "]}");
    assert_int_equal(parse(many.s, &wide, &again), -EINVAL);
    assert_string_equal(err_text(&again), "groups: too many lines for a width of 16384");
}

/* ---- the answer ---- */

struct reader {
    const char *at, *end;
};

static uint32_t get_u32(struct reader *reader)
{
    uint32_t x;
    assert_true(reader->end - reader->at >= 4);
    memcpy(&x, reader->at, 4);
    reader->at += 4;
    return le32toh(x);
}

static uint64_t get_u64(struct reader *reader)
{
    uint64_t low = get_u32(reader);
    return low | (uint64_t)get_u32(reader) << 32;
}

static double get_f64(struct reader *reader)
{
    uint64_t bits = get_u64(reader);
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static void check_doubles(struct reader *reader, const double *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x = get_f64(reader);
        if (isnan(want[i]))
            assert_true(isnan(x));
        else
            assert_true(x == want[i]);
    }
}

/* How the points of a line are told, and as many of them. */
static void check_points(struct reader *reader, double per, uint64_t bytes, const double *x,
                         const double *y, size_t n)
{
    double first = get_f64(reader), pers = get_f64(reader);

    assert_true(pers == per);
    assert_int_equal(get_u64(reader), bytes);
    for (size_t i = 0; i < n && per > 0; i++)
        assert_true(first + get_u32(reader) / per == x[i]);
    if (per > 0 && n % 2)
        get_u32(reader);
    if (!(per > 0))
        check_doubles(reader, x, n);
    for (size_t i = 0; i < n && bytes == sizeof(float); i++) {
        uint32_t bits = get_u32(reader);
        float z;
        memcpy(&z, &bits, sizeof(z));
        assert_true(isnan(y[i]) ? isnan(z) : (double)z == y[i] && !signbit(z) == !signbit(y[i]));
    }
    if (bytes == sizeof(float) && n % 2)
        get_u32(reader);
    if (bytes != sizeof(float))
        check_doubles(reader, y, n);
}

static struct reader begin(const struct str *bytes, uint32_t kind, uint32_t n,
                           const struct query_view *view)
{
    struct reader reader = {bytes->s, bytes->s + bytes->len};

    assert_int_equal(bytes->len % 8, 0);
    assert_memory_equal(bytes->s, "HSR2", 4);
    reader.at += 4;
    assert_int_equal(get_u32(&reader), kind);
    assert_int_equal(get_u32(&reader), n);
    assert_int_equal(get_u32(&reader), 0);
    check_doubles(&reader, (double[]){view->x0, view->x1}, 2);
    return reader;
}

static const struct query_view ten = {0, 9, 10};

TEST(a_line_has_its_points_gaps_and_marks)
{
    static const double x[] = {0, 1, 2, 3, 4}, y[] = {5, 6, NAN, 7, INFINITY};
    autorelease(series_ask) struct series_ask ask = {.width = 0};
    autofree(query_chart) struct query_chart *chart = query_chart_new(&ten);
    autofree(query_chart) struct query_chart *empty = query_chart_new(&ten);
    const struct query_chart *const charts[] = {chart, empty};
    autorelease(str) struct str bytes = STR_INIT;
    struct err err = ERR_INIT;

    assert_ok(parse("{\"lines\":[{\"trial\":\"1.1\",\"metric\":\"m\"},{\"trial\":\"1.2\","
                    "\"metric\":\"m\"}],\"width\":10}",
                    &ask, &err),
              &err);
    query_chart_feed(chart, x, y, 5);
    series_answer(&ask, &ten, charts, &bytes);
    struct reader reader = begin(&bytes, 0, 2, &ten);
    assert_int_equal(get_u32(&reader), 4);
    assert_int_equal(get_u32(&reader), 2);
    assert_int_equal(get_u64(&reader), 5);
    assert_int_equal(get_u64(&reader), 2);
    check_points(&reader, 1, 4, (double[]){0, 1, 3, 3}, (double[]){5, 6, NAN, 7}, 4);
    check_doubles(&reader, (double[]){2, 4}, 2);
    assert_int_equal(get_u64(&reader), 0);
    assert_int_equal(get_u64(&reader), 0);
    assert_int_equal(get_u64(&reader), 0);
    check_points(&reader, 1, 4, NULL, NULL, 0);
    assert_ptr_equal(reader.at, reader.end);
}

TEST(points_take_half_the_room_where_that_is_exact)
{
    static const struct {
        double x[3], y[3], per;
        uint64_t bytes;
    } cases[] = {
        {{1, 2, 1000000}, {0.5, -0.0, 3e38f}, 1, 4},
        {{1700000000.125, 1700000000.126, 1700000777.5}, {1, 2, 0x1p-149}, 1e3, 4},
        {{0.1, 0.3, 0.700001}, {1, 2, 0x1p-150}, 1e6, 8},
        {{1700000000.1, 1700000000.2, 1700000000.3}, {1, 2, 3}, 1e3, 4},
        {{1700000000.125, 1700000000.1250004, 1700000001}, {1, 1e300, 2}, 0, 8},
        {{0, 1, 4e9}, {0.1, 0.2, 0.3}, 0, 8},
        {{-7, -6.5, 0}, {0.1, 0, 0}, 1e3, 8},
        {{-8e307, 0, 8e307}, {16777216, 16777217, 0}, 0, 8},
        {{0x1p53, 0x1p53 + 2, 0x1p53 + 4}, {DBL_MAX, 0, 0}, 1, 8},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const double *x = cases[i].x, *y = cases[i].y;
        struct query_view view = {x[0], x[2], 16384};
        struct series_ask ask = {.width = 0};
        autofree(query_chart) struct query_chart *chart = query_chart_new(&view);
        autorelease(str) struct str bytes = STR_INIT;

        query_chart_feed(chart, x, y, 3);
        series_answer_line(&ask, chart, 1, &bytes);
        struct reader reader = {bytes.s, bytes.s + bytes.len};
        assert_int_equal(get_u32(&reader), 3);
        assert_int_equal(get_u32(&reader), 0);
        assert_int_equal(get_u64(&reader), 3);
        assert_int_equal(get_u64(&reader), 0);
        check_points(&reader, cases[i].per, cases[i].bytes, x, y, 3);
        assert_ptr_equal(reader.at, reader.end);
    }
}

/* `odd`: one in so many numbers takes all its room. */
static void answer_random_points(uint64_t seed, int odd, struct str *to)
{
    double x[100], y[100];
    size_t n = 1 + seed % ARRAY_LEN(x);
    struct rng rng;

    rng_init(&rng, seed, 0);
    for (size_t i = 0; i < n; i++) {
        x[i] = 1700000000 + (double)(i * 1000 + rng_below(&rng, 1000)) / 1e3;
        y[i] = rng_chance(&rng, 0.1) ? 0 : (float)rng_normal(&rng);
        if (odd && rng_below(&rng, (uint64_t)odd) == 0)
            *(rng_chance(&rng, 0.5) ? &x[i] : &y[i]) += 1e-7;
    }
    struct query_view view = {x[0], x[n - 1], 16384};
    struct series_ask ask = {.width = 0};
    autofree(query_chart) struct query_chart *chart = query_chart_new_line(&view);
    query_chart_feed(chart, x, y, n);
    series_answer_line(&ask, chart, 1, to);
}

TEST(an_answer_has_the_same_bytes_however_wide_the_loops_are)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        autorelease(str) struct str plain = STR_INIT;
        int odd = seed % 2 ? 0 : 200;
        wide_limit(0);
        answer_random_points(seed, odd, &plain);
        for (unsigned bits = 256; bits <= 512; bits *= 2) {
            autorelease(str) struct str wide = STR_INIT;
            wide_limit(bits);
            answer_random_points(seed, odd, &wide);
            assert_int_equal(wide.len, plain.len);
            assert_memory_equal(wide.s, plain.s, plain.len);
        }
    }
}

TEST(a_group_has_its_middle_and_its_band_where_something_was_told)
{
    static const double x[] = {0, 3}, a[] = {1, 2}, b[] = {3, 4}, c[] = {8, 9};
    static const struct {
        const char *how;
        double middle[2], low[2], high[2];
    } cases[] = {
        {"\"middle\":\"mean\",\"band\":\"minmax\"", {4, 5}, {1, 2}, {8, 9}},
        {"\"middle\":\"median\",\"band\":\"quartiles\"", {3, 4}, {2, 3}, {5.5, 6.5}},
    };
    autofree(query_chart) struct query_chart *one = query_chart_new(&ten);
    autofree(query_chart) struct query_chart *two = query_chart_new(&ten);
    autofree(query_chart) struct query_chart *three = query_chart_new(&ten);
    const struct query_chart *const charts[] = {one, two, three};

    query_chart_feed(one, x, a, 2);
    query_chart_feed(two, x, b, 2);
    query_chart_feed(three, x, c, 2);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autorelease(series_ask) struct series_ask ask = {.width = 0};
        autorelease(str) struct str bytes = STR_INIT;
        struct err err = ERR_INIT;
        autofree(mem) char *body = xasprintf(
            "{\"width\":10,%s,\"groups\":[[0,1,2],[]],\"lines\":[{\"trial\":\"1.1\",\"metric\":"
            "\"m\"},{\"trial\":\"1.2\",\"metric\":\"m\"},{\"trial\":\"1.3\",\"metric\":\"m\"}]}",
            cases[i].how);
        assert_ok(parse(body, &ask, &err), &err);
        series_answer(&ask, &ten, charts, &bytes);
        struct reader reader = begin(&bytes, 1, 2, &ten);
        assert_int_equal(get_u32(&reader), 2);
        assert_int_equal(get_u32(&reader), 3);
        check_doubles(&reader, x, 2);
        check_doubles(&reader, cases[i].middle, 2);
        check_doubles(&reader, cases[i].low, 2);
        check_doubles(&reader, cases[i].high, 2);
        assert_int_equal(get_u64(&reader), 0);
        assert_ptr_equal(reader.at, reader.end);
    }
}

TEST(a_line_that_grew_is_sent_as_if_it_were_new)
{
    static const double x[] = {0, 1, 4, 5}, y[] = {5, 6, 7, 8};
    autorelease(series_ask) struct series_ask ask = {.width = 0};
    autofree(query_chart) struct query_chart *grown = query_chart_new(&ten);
    autofree(query_chart) struct query_chart *fresh = query_chart_new(&ten);
    autorelease(str) struct str bytes = STR_INIT;
    struct err err = ERR_INIT;

    assert_ok(parse("{\"lines\":[{\"trial\":\"1.1\",\"metric\":\"m\"}],\"width\":10}", &ask, &err),
              &err);
    query_chart_feed(fresh, x, y, 4);
    for (size_t i = 0; i < 4; i++) {
        str_cut(&bytes, 0);
        query_chart_feed(grown, x + i, y + i, 1);
        series_answer(&ask, &ten, (const struct query_chart *const[]){grown}, &bytes);
        for (int again = 0; again < 2; again++) {
            struct reader reader = begin(&bytes, 0, 1, &ten);
            assert_int_equal(get_u32(&reader), i + 1);
            str_cut(&bytes, 0);
            series_answer(&ask, &ten, (const struct query_chart *const[]){grown}, &bytes);
        }
    }
    autorelease(str) struct str whole = STR_INIT;
    series_answer(&ask, &ten, (const struct query_chart *const[]){fresh}, &whole);
    assert_int_equal(bytes.len, whole.len);
    assert_memory_equal(bytes.s, whole.s, whole.len);
}

TEST(an_interval_holds_the_mean_and_is_the_same_each_time)
{
    autorelease(series_ask) struct series_ask ask = {.width = 0};
    autorelease(str) struct str bytes = STR_INIT, again = STR_INIT;
    struct query_chart *charts[20];
    struct err err = ERR_INIT;
    autorelease(str) struct str body = STR_INIT;

    str_add(&body, "{\"width\":10,\"band\":\"interval\",\"lines\":[");
    for (size_t i = 0; i < 20; i++) {
        double x = 4, y = (double)i;
        charts[i] = query_chart_new(&ten);
        query_chart_feed(charts[i], &x, &y, 1);
        str_addf(&body, "%s{\"trial\":\"1.%zu\",\"metric\":\"m\"}", i ? "," : "", i + 1);
    }
    str_add(&body, "],\"groups\":[[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]]}");
    assert_ok(parse(body.s, &ask, &err), &err);
    series_answer(&ask, &ten, (const struct query_chart *const *)charts, &bytes);
    series_answer(&ask, &ten, (const struct query_chart *const *)charts, &again);
    assert_int_equal(bytes.len, again.len);
    assert_memory_equal(bytes.s, again.s, bytes.len);
    struct reader reader = begin(&bytes, 1, 1, &ten);
    assert_int_equal(get_u32(&reader), 1);
    assert_int_equal(get_u32(&reader), 20);
    check_doubles(&reader, (double[]){4, 9.5}, 2);
    double low = get_f64(&reader), high = get_f64(&reader);
    assert_true(low > 5 && low < 9 && high > 10 && high < 14);
    for (size_t i = 0; i < 20; i++)
        query_chart_free(charts[i]);
}

TEST_MAIN
