/* SPDX-License-Identifier: MIT */
/*
 * series_body_fuzz.c — any bytes as the body of POST /v1/series. What must hold: no crash; what is
 * refused has a sentence; what is taken keeps to its limits, and its answer has exactly the size
 * that its own counts tell, with every part aligned.
 */
#include "api/v1_series.h"

#include <assert.h>
#include <endian.h>
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t get_u32(const struct str *bytes, size_t at)
{
    uint32_t x;
    assert(at + sizeof(x) <= bytes->len);
    memcpy(&x, bytes->s + at, sizeof(x));
    return le32toh(x);
}

static double get_f64(const struct str *bytes, size_t at)
{
    double x;
    assert(at + sizeof(x) <= bytes->len);
    memcpy(&x, bytes->s + at, sizeof(x));
    return x;
}

/* Of the line that begins there: what is half as wide is filled up to 8 bytes. */
static size_t line_size(const struct str *bytes, size_t at)
{
    size_t points = get_u32(bytes, at), marks = get_u32(bytes, at + 4);
    size_t half = (4 * points + 7) / 8 * 8, y_bytes = get_u32(bytes, at + 40);
    double per = get_f64(bytes, at + 32);

    assert(per == 0 || per == 1 || per == 1e3 || per == 1e6);
    assert(y_bytes == 4 || y_bytes == 8);
    return 48 + (per > 0 ? half : 8 * points) + (y_bytes == 4 ? half : 8 * points) + 8 * marks;
}

static void check_answer(const struct series_ask *ask, const struct str *bytes)
{
    size_t at = 32, n = ask->grouped ? ask->groups.len : ask->lines.len;

    assert(bytes->len % 8 == 0 && get_u32(bytes, 4) == (ask->grouped ? 1 : 0));
    assert(get_u32(bytes, 8) == n);
    for (size_t i = 0; i < n; i++)
        at += ask->grouped ? 8 + 32 * (size_t)get_u32(bytes, at) : line_size(bytes, at);
    assert(at == bytes->len);
}

static void check_ask(const struct series_ask *ask)
{
    assert(ask->width >= 1 && ask->width <= SERIES_ASK_WIDTH);
    assert(ask->lines.len <= SERIES_ASK_LINES && ask->groups.len <= SERIES_ASK_LINES);
    assert(ask->smooth >= 0 && ask->smooth < 1);
    vec_foreach (group, &ask->groups)
        vec_foreach (line, &group->lines)
            assert(*line < ask->lines.len);
}

/* All lines get the same picture of a few values, some of them no numbers. */
static void answer(const struct series_ask *ask)
{
    static const double x[] = {-1e300, -1, 0, 1, 2, 3, 1000, 1e18, 1e300};
    static const double y[] = {1, NAN, 2, -3, INFINITY, 4, -INFINITY, 1e308, -1e308};
    struct query_view view = {isnan(ask->from) ? 0 : ask->from, 0, ask->width};
    autorelease(str) struct str bytes = STR_INIT;

    view.x1 = isnan(ask->to) ? fmax(view.x0, 10) : ask->to;
    if (query_view_check(&view, NULL) < 0)
        return;
    autofree(query_chart) struct query_chart *chart = query_chart_new(&view);
    query_chart_feed(chart, x, y, ARRAY_LEN(x));
    autofree(mem) const struct query_chart **charts = xcalloc(ask->lines.len + 1, sizeof(*charts));
    for (size_t i = 0; i < ask->lines.len; i++)
        charts[i] = chart;
    series_answer(ask, &view, charts, &bytes);
    check_answer(ask, &bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(series_ask) struct series_ask ask = {.width = 0};
    autofree(json) json_t *body = NULL;

    if (json_parse((const char *)data, size, &body, NULL) < 0 || !json_is_object(body))
        return 0;
    if (series_ask_parse(body, &ask, &err) < 0) {
        assert(*err_text(&err));
        return 0;
    }
    check_ask(&ask);
    if (ask.width * (ask.lines.len + ask.groups.len + 1) < 100000) /* quick enough to try often */
        answer(&ask);
    return 0;
}
