/* SPDX-License-Identifier: MIT */
/*
 * units_test.c — the ways people write times and sizes; what is written reads back.
 */
#include "base/units.h"
#include "base/clock.h"
#include "base/rng.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#define S US_PER_S

TEST(durations_read_the_way_people_write_them)
{
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        {"90", 90 * S},
        {"90s", 90 * S},
        {"1.5h", 5400 * S},
        {"2h30m", 9000 * S},
        {"10 min", 600 * S},
        {"3d", 3 * 86400 * S},
        {"250ms", 250000},
        {"0", 0},
        {" 5 minutes ", 300 * S},
        {"1d 2h 3m 4s", 93784 * S},
        {".5s", 500000},
        {"7us", 7},
        {"2 weeks", 14 * 86400 * S},
        {"1 hour", 3600 * S},
        {"1.", S},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t us = -1;
        assert_int_equal(duration_parse(rows[i].text, &us), 0);
        assert_int_equal(us, rows[i].us);
    }
}

TEST(what_is_no_duration_is_refused)
{
    static const char *const texts[] = {"",    "s",   "soon", "-3s", "5x", "1h30", "1e3",
                                        "nan", "inf", "0x10", "3 3", ".",  "5s,"};
    int64_t us;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_int_equal(duration_parse(texts[i], &us), -EINVAL);
    assert_int_equal(duration_parse("99999999999999999999d", &us), -ERANGE);
}

TEST(sizes_are_powers_of_1024)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        {"2G", 2ull << 30},
        {"2GiB", 2ull << 30},
        {"512 MB", 512 << 20},
        {"1.5g", 3ull << 29},
        {"4096", 4096},
        {"1k", 1024},
        {"3T", 3ull << 40},
        {"10b", 10},
        {"7 bytes", 7},
        {"1KB", 1024},
        {"0", 0},
        {"1P", 1ull << 50},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t bytes = 1;
        assert_int_equal(size_parse(rows[i].text, &bytes), 0);
        assert_int_equal(bytes, rows[i].bytes);
    }
}

TEST(what_is_no_size_is_refused)
{
    static const char *const texts[] = {"", "G", "big", "-1G", "2X", "2GG", "2 G B", "1e9", "iB"};
    uint64_t bytes;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_int_equal(size_parse(texts[i], &bytes), -EINVAL);
    assert_int_equal(size_parse("999999999P", &bytes), -ERANGE);
}

TEST(formatted_units_read_back_exactly)
{
    struct rng rng;

    rng_init(&rng, 1, 0);
    for (int i = 0; i < 2000; i++) {
        autorelease(str) struct str text = STR_INIT;
        uint64_t x = rng_u64(&rng) >> (12 + rng_below(&rng, 50)), bytes;
        int64_t us;
        duration_format((int64_t)x, &text);
        assert_int_equal(duration_parse(text.s, &us), 0);
        assert_int_equal(us, (int64_t)x);
        str_cut(&text, 0);
        size_format(x << rng_below(&rng, 11), &text);
        assert_int_equal(size_parse(text.s, &bytes), 0);
        str_cut(&text, 0);
        size_format(x, &text);
        assert_int_equal(size_parse(text.s, &bytes), 0);
        assert_int_equal(bytes, x);
    }
}

TEST(units_are_formatted_for_people)
{
    autorelease(str) struct str text = STR_INIT;

    duration_format(9000 * S, &text);
    str_add_char(&text, ' ');
    duration_format(250000, &text);
    str_add_char(&text, ' ');
    duration_format(0, &text);
    str_add_char(&text, ' ');
    size_format(2ull << 30, &text);
    str_add_char(&text, ' ');
    size_format(1000, &text);
    assert_string_equal(text.s, "2h30m 250ms 0s 2G 1000");
}

TEST(percentages_are_hundredths)
{
    double x;

    assert_int_equal(percent_parse("2%", &x), 0);
    assert_true(x == 0.02);
    assert_int_equal(percent_parse("0.02", &x), 0);
    assert_true(x == 0.02);
    assert_int_equal(percent_parse("-1.5e3 %", &x), 0);
    assert_true(x == -15);
    assert_int_equal(percent_parse("nan", &x), -EINVAL);
    assert_int_equal(percent_parse("inf", &x), -EINVAL);
    assert_int_equal(percent_parse("0x10", &x), -EINVAL);
    assert_int_equal(percent_parse("5%%", &x), -EINVAL);
    assert_int_equal(percent_parse("", &x), -EINVAL);
}

TEST(a_time_of_day_is_the_next_such_time)
{
    setenv("TZ", "UTC", 1);
    tzset();
    int64_t now = 1700000000 * S, at; /* 2023-11-14T22:13:20Z */

    assert_int_equal(moment_parse("23:00", now, &at), 0);
    assert_int_equal(at, 1700002800 * S);
    assert_int_equal(moment_parse("18:00", now, &at), 0);
    assert_int_equal(at, 1700071200 * S);
    assert_int_equal(moment_parse("22:13:20", now, &at), 0);
    assert_int_equal(at, now + 86400 * S);
    assert_int_equal(moment_parse("2023-11-20 18:00", now, &at), 0);
    assert_int_equal(at, 1700503200 * S);
    assert_int_equal(moment_parse("2023-11-20T18:00:00+02:00", now, &at), 0);
    assert_int_equal(at, 1700496000 * S);
    assert_int_equal(moment_parse("2023-02-30 18:00", now, &at), -EINVAL);
    assert_int_equal(moment_parse("25:00", now, &at), -EINVAL);
    assert_int_equal(moment_parse("12:00x", now, &at), -EINVAL);
    assert_int_equal(moment_parse("noon", now, &at), -EINVAL);
}

TEST_MAIN
