/* SPDX-License-Identifier: MIT */
/*
 * chart_test.c — axes with round ticks, and charts that keep to their frame whatever is drawn.
 */
#include "cli/chart.h"
#include "cli/help.h"
#include "cli/width.h"
#include "tests/test.h"

#include <float.h>
#include <math.h>

/* help.c lists the commands of the program; here there are none. */
const struct cmd *const cmd_list[] = {NULL};

static void check_ticks(double min, double max, bool log, size_t most, const char *expected)
{
    struct axis axis = {.title = xstrdup("x"), .min = min, .max = max};
    struct ticks ticks;
    autorelease(str) struct str text = STR_INIT;

    axis.kind = log ? AXIS_LOG : AXIS_LINEAR;
    axis_ticks(&axis, most, &ticks);
    vec_foreach (tick, &ticks.list)
        str_addf(&text, "%s%s", text.len ? " " : "", tick->text);
    assert_string_equal(text.s, expected);
    ticks_release(&ticks);
    axis_release(&axis);
}

TEST(ticks_are_round)
{
    check_ticks(0, 1, false, 6, "0 0.2 0.4 0.6 0.8 1");
    check_ticks(-0.04, 1.04, false, 6, "0 0.5 1");
    check_ticks(-7.3, 12, false, 5, "-5 0 5 10");
    check_ticks(1e-5, 3e-5, false, 5, "1e-05 1.5e-05 2e-05 2.5e-05 3e-05");
    check_ticks(1e-4, 1, true, 6, "0.0001 0.001 0.01 0.1 1");
    check_ticks(0.9e-4, 1.1, true, 20,
                "0.0001 0.0002 0.0005 0.001 0.002 0.005 0.01 0.02 0.05 0.1 "
                "0.2 0.5 1");
    check_ticks(1e-9, 1, true, 4, "1e-09 1e-06 0.001 1");
    check_ticks(20, 50, true, 5, "20 30 40 50");
}

TEST(whole_numbers_have_whole_ticks)
{
    struct param layers = {.name = (char *)"n", .type = PARAM_INT, .min = 1, .max = 3};
    struct axis axis;
    struct ticks ticks;

    axis_of_param(&axis, &layers);
    axis_ticks(&axis, 20, &ticks);
    assert_int_equal(ticks.list.len, 3);
    assert_string_equal(ticks.list.at[2].text, "3");
    ticks_release(&ticks);
    axis_release(&axis);
}

static void check_axis(const double *x, size_t n, bool log)
{
    struct axis axis;
    struct ticks ticks;

    axis_of_values(&axis, "value", log, x, n);
    assert_true(isfinite(axis.min) && isfinite(axis.max) && axis.min < axis.max);
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) {
            double place = axis_place(&axis, x[i]);
            assert_true(place >= 0 && place <= 1);
            assert_true(axis.kind == AXIS_LOG || isfinite(axis_value(&axis, place)));
        }
    axis_ticks(&axis, 5, &ticks);
    assert_in_range(ticks.list.len, 0, 7);
    ticks_release(&ticks);
    axis_release(&axis);
}

TEST(any_values_make_an_axis)
{
    static const double sets[][3] = {{1, 2, 3},
                                     {5, 5, 5},
                                     {0, 0, 0},
                                     {NAN, NAN, NAN},
                                     {-DBL_MAX, 0, DBL_MAX},
                                     {1e300, -1e300, 1e-300},
                                     {5e-324, 5e-324, 1e-300},
                                     {INFINITY, -INFINITY, 1},
                                     {1e-300, 1, 1e300},
                                     {1e15, 1e15 + 1, 1e15 + 2}};
    for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
        check_axis(sets[i], 3, false);
        check_axis(sets[i], 3, true);
    }
}

TEST(an_axis_of_choices_has_their_names)
{
    struct value values[] = {value_text("relu"), value_text("tanh"), value_int(3)};
    struct param param = {
        .name = (char *)"act", .type = PARAM_CHOICE, .choices = values, .n_choices = 3};
    struct axis axis;

    axis_of_param(&axis, &param);
    assert_int_equal(axis.kind, AXIS_NAMES);
    assert_string_equal(axis.names.at[2], "3");
    assert_true(fabs(axis_place(&axis, 1) - 0.5) < 1e-12);
    axis_release(&axis);
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        value_release(&values[i]);
}

/* ---- whole charts ---- */

static void fill(struct chart *chart)
{
    double x[] = {1, 40}, y[] = {1e-5, 3e4};

    *chart = (struct chart){.kind = "history", .experiment = 3};
    chart->title = xstrdup("3 größe <&> \"x\": a title that is far too long for a narrow terminal");
    axis_of_values(&chart->x, "trial", false, x, 2);
    axis_of_values(&chart->y, "loss & more", true, y, 2);
    for (int mark = 0; mark < MARKS; mark++) {
        struct chart_layer *layer = chart_add(chart, (enum mark)mark, mark_name((enum mark)mark));
        for (int i = 0; i < 5; i++)
            layer_add(layer, 1 + 9 * i, mark == MARK_FAILED ? NAN : pow(10, i - 2 * mark), 0.25 * i,
                      i + 1);
        layer_add(layer, -100, 1e300, NAN, 99); /* far out: at the edge */
    }
    chart->note = xstrdup("a note");
}

static void check_frame(const struct chart *chart, size_t columns, size_t rows, bool ascii)
{
    struct chart_frame frame = {.columns = columns, .rows = rows, .ascii = ascii};
    autorelease(str) struct str text = STR_INIT;

    chart_text(chart, &frame, &text);
    for (char *line = text.s, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        assert_true(text_width(line) <= columns);
        for (const char *p = line; ascii && *p; p++)
            assert_true((unsigned char)*p < 0x80);
    }
}

TEST(a_chart_keeps_to_its_frame)
{
    struct chart chart;

    fill(&chart);
    for (size_t columns = 40; columns <= 140; columns += 40)
        for (size_t rows = 8; rows < 40; rows += 10) {
            check_frame(&chart, columns, rows, false);
            check_frame(&chart, columns, rows, true);
        }
    chart_release(&chart);
}

TEST(an_svg_escapes_what_it_is_given_and_is_whole)
{
    struct chart chart;
    autorelease(str) struct str text = STR_INIT;

    fill(&chart);
    chart_svg(&chart, &text);
    assert_non_null(strstr(text.s, "größe &lt;&amp;&gt; &quot;x&quot;"));
    assert_non_null(strstr(text.s, "</svg>\n"));
    assert_null(strstr(text.s, "nan,"));
    assert_null(strstr(text.s, "\"nan"));
    assert_null(strstr(text.s, "inf"));
    chart_release(&chart);
}

TEST(an_empty_chart_is_drawn_all_the_same)
{
    struct chart chart = {.kind = "slice", .title = xstrdup("empty")};
    autorelease(str) struct str text = STR_INIT, json = STR_INIT;
    struct json_out out = JSON_OUT(&json);
    struct chart_frame frame = {.columns = 30, .rows = 10};

    axis_of_values(&chart.x, "x", false, NULL, 0);
    axis_of_values(&chart.y, "y", false, NULL, 0);
    chart_text(&chart, &frame, &text);
    chart_svg(&chart, &text);
    chart_json(&chart, &out);
    assert_non_null(strstr(json.s, "\"layers\":[]"));
    chart_release(&chart);
}

TEST_MAIN
