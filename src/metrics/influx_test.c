/* SPDX-License-Identifier: MIT */
/*
 * influx_test.c — line protocol from outside: what is ours in it, that series and names are found
 * again, and that memory is flat. The verdicts on odd lines are in influx_verdicts_test.c.
 */
#include "base/rng.h"
#include "metrics/test_influx.h"

/* ---- what is ours ---- */

static void check_body(const char *body, int status, const char *stored)
{
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&wide, 1);
    for (int i = 0; i < 2; i++) { /* at first strictly, then quickly */
        autorelease(outcome) struct outcome ours;
        read_body(keys, body, strlen(body), "n", &ours);
        assert_string_equal(ours.stored.s, stored);
        assert_int_equal(ours.status, status);
    }
}

TEST(nan_and_inf_are_floats_however_they_are_written)
{
    static const char *const words[] = {"nan", "NaN",  "NAN",  "inf",  "Inf",     "+inf",
                                        "INF", "-inf", "-Inf", "+Inf", "Infinity"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        autofree(mem) char *body = xasprintf("m f=%s,g=1 5", words[i]);
        autofree(mem) char *stored =
            xasprintf("\"m\"{} \"f\"=float %.17g,\"g\"=float 1 @5", strtod(words[i], NULL));
        check_body(body, 204, stored);
    }
    check_body("m f=nan", 204, "\"m\"{} \"f\"=float nan @now");
    check_body("m f=nano", 400, "");
    check_body("m f=infx 1", 400, "");
}

TEST(a_tag_and_a_field_may_share_a_name)
{
    check_body("m,f=v f=1 1", 204, "\"m\"{\"f\"=\"v\"} \"f\"=float 1 @1");
    check_body("m,m=m m=1i 1", 204, "\"m\"{\"m\"=\"m\"} \"m\"=integer 1 @1");
}

TEST(the_last_of_equal_fields_counts)
{
    check_body("m a=1,b=2,a=3,b=4i,c=t 1", 204,
               "\"m\"{} \"a\"=float 3,\"b\"=integer 4,\"c\"=boolean true @1");
}

TEST(names_with_odd_characters_do_not_make_bad_lines_good)
{
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&wide, 1);
    static const struct {
        const char *body;
        int status;
    } rows[] = {
        {"m a\\,b=1 1", 204}, {"m a,b=1 1", 400},    {"m c\\ d=1 1", 204},   {"m c d=1 1", 400},
        {"m e\\=f=1 1", 204}, {"m e=f=1 1", 400},    {"m x=1,\tg=1 1", 204}, {"m \tg=1 1", 204},
        {"m,t=v x=1", 204},   {"m,t=v x=1 1x", 400}, {"m,t=v x=1x 1", 400},  {"m,t=v x=1 1", 204},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autorelease(outcome) struct outcome ours;
        read_body(keys, rows[i].body, strlen(rows[i].body), "n", &ours);
        assert_int_equal(ours.status, rows[i].status);
        if (i == 7) /* the tab is a blank here, and was part of the name before */
            assert_string_equal(ours.stored.s, "\"m\"{} \"g\"=float 1 @1");
    }
}

TEST(a_line_without_a_time_gets_that_of_the_request_cut_to_its_precision)
{
    static const struct {
        const char *precision;
        int64_t ns, cut_ns;
    } rows[] = {{"n", 1, NOW_NS},
                {"", 1, NOW_NS},
                {"u", 1000, 1700000000123456000},
                {"ms", 1000000, 1700000000123000000},
                {"s", 1000000000, 1700000000000000000},
                {"m", 60000000000, 1699999980000000000},
                {"h", 3600000000000, 1699999200000000000},
                {"parsec", 1, NOW_NS}};
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&wide, 1);
    autofree(influx_reader) struct influx_reader *reader = influx_reader_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct influx_line line;
        assert_int_equal(influx_precision_ns(rows[i].precision), rows[i].ns);
        influx_reader_begin(reader, keys, "m f=1\nm f=1 -7\n", 15, rows[i].ns, NOW_NS);
        assert_true(influx_reader_next(reader, &line));
        assert_int_equal(line.time_ns, rows[i].cut_ns);
        assert_true(influx_reader_next(reader, &line));
        assert_int_equal(line.time_ns, -7 * rows[i].ns);
        assert_false(influx_reader_next(reader, &line));
    }
}

TEST(an_empty_body_is_fine)
{
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&wide, 1);
    autofree(influx_reader) struct influx_reader *reader = influx_reader_new();
    autorelease(str) struct str error = STR_INIT;
    struct influx_line line;
    influx_reader_begin(reader, keys, NULL, 0, 1, NOW_NS);
    assert_false(influx_reader_next(reader, &line));
    assert_int_equal(influx_reader_status(reader, &error), 204);
    assert_int_equal(error.len, 0);
}

/* ---- keys ---- */

static struct influx_line read_one(struct influx_reader *reader, struct influx_keys *keys,
                                   const char *body)
{
    struct influx_line line = {0};
    influx_reader_begin(reader, keys, body, strlen(body), 1, NOW_NS);
    influx_reader_next(reader, &line);
    return line;
}

TEST(a_series_is_the_same_in_whatever_order_its_tags_are_written)
{
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&wide, 1);
    autofree(influx_reader) struct influx_reader *reader = influx_reader_new();
    struct influx_series *series = read_one(reader, keys, "m,a=1,b=2 f=1").series;
    assert_non_null(series);
    series->handle = 7;
    assert_ptr_equal(read_one(reader, keys, "m,b=2,a=1 f=1").series, series);
    assert_ptr_equal(read_one(reader, keys, "m,b=2,a=1 f=1").series, series);
    assert_ptr_equal(read_one(reader, keys, "m,a=1,b=2 f=1").series, series);
    assert_ptr_not_equal(read_one(reader, keys, "m,a=1,b=3 f=1").series, series);
    assert_ptr_not_equal(read_one(reader, keys, "m,a=1 f=1").series, series);
    assert_int_equal(series->handle, 7);
}

TEST(a_name_belongs_to_its_measurement_and_keeps_its_handle)
{
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&wide, 1);
    autofree(influx_reader) struct influx_reader *reader = influx_reader_new();
    struct influx_name *name = read_one(reader, keys, "m,t=1 f=1,g=2").fields[0].name;
    assert_int_equal(name->handle, INFLUX_NO_HANDLE);
    name->handle = 3;
    assert_int_equal(read_one(reader, keys, "m,t=2 g=1,f=1").fields[1].name->handle, 3);
    assert_int_equal(read_one(reader, keys, "m,t=2 f=1").fields[0].name->handle, 3);
    assert_ptr_not_equal(read_one(reader, keys, "n f=1").fields[0].name, name);
}

static size_t flood(struct influx_keys *keys, const char *format, size_t n)
{
    autofree(influx_reader) struct influx_reader *reader = influx_reader_new();
    autorelease(str) struct str body = STR_INIT, error = STR_INIT;
    struct influx_line line;
    size_t good = 0;
    for (size_t i = 0; i < n; i++) {
        autofree(mem) char *number = xasprintf("%zu", i);
        for (const char *p = format; *p; p++)
            *p == '#' ? str_add(&body, number) : str_add_char(&body, *p);
        str_add_char(&body, '\n');
    }
    influx_reader_begin(reader, keys, body.s, body.len, 1, NOW_NS);
    while (influx_reader_next(reader, &line))
        good++;
    int status = influx_reader_status(reader, &error);
    assert_int_equal(status, good == n ? 204 : 400);
    if (good < n)
        assert_true(has(error.s, "limit exceeded: ("));
    assert_int_equal(influx_reader_counts(reader).dropped, n - good);
    return good;
}

TEST(a_flood_of_names_is_refused_and_memory_stays_flat)
{
    struct influx_limits limits = {.series = 100, .names = 50, .bytes = 1u << 20};
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&limits, 1);
    assert_int_equal(flood(keys, "m,t=# f=1", 20000), 100);
    size_t bytes = influx_keys_bytes(keys);
    assert_int_equal(flood(keys, "m,u=# f=1", 20000), 0);
    assert_int_equal(flood(keys, "m#,t=1 f=1", 20000), 0);
    assert_int_equal(influx_keys_bytes(keys), bytes);
    assert_int_equal(flood(keys, "m,t=1 f#=1", 20000), 49); /* f is one already */
    bytes = influx_keys_bytes(keys);
    assert_int_equal(flood(keys, "m,t=1 f#=1", 20000), 49);
    assert_int_equal(influx_keys_bytes(keys), bytes);
    assert_int_equal(flood(keys, "m,t=# f=1", 100), 100); /* what is known goes on */
}

TEST(many_databases_share_a_limit_of_series)
{
    struct influx_all all = {.most_series = 150};
    struct influx_limits limits = {.series = 100, .names = 50, .bytes = 1u << 20, .all = &all};
    struct influx_keys *first = influx_keys_new(&limits, 1);
    autofree(influx_keys) struct influx_keys *second = influx_keys_new(&limits, 2);
    assert_int_equal(flood(first, "m,t=# f=1", 1000), 100);
    assert_int_equal(flood(second, "m,t=# f=1", 1000), 50);
    assert_int_equal(flood(second, "m,t=# f=1", 50), 50); /* what is known goes on */
    influx_keys_free(first);
    assert_int_equal(flood(second, "m,t=# f=1", 1000), 100);
}

TEST(the_bytes_of_all_names_have_a_limit_too)
{
    struct influx_limits limits = {.series = 1000000, .names = 1000000, .bytes = 300000};
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&limits, 1);
    size_t series = flood(keys, "m,t=# f=1", 5000), names = flood(keys, "m,t=1 f#=1", 5000);
    assert_in_range(series, 100, 2000);
    assert_in_range(names, 0, 2000);
    assert_true(influx_keys_bytes(keys) <= limits.bytes);
}

TEST(kinds_may_change_unless_they_are_fixed)
{
    struct influx_limits limits = wide;
    for (int fixed = 0; fixed < 2; fixed++) {
        limits.fixed_kinds = fixed;
        autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&limits, 1);
        autorelease(outcome) struct outcome ours;
        read_body(keys, "m f=1i 1\nm f=0.5 2\nm f=3i 3", 27, "n", &ours);
        assert_int_equal(ours.status, fixed ? 400 : 204);
        assert_int_equal(has(ours.stored.s, "0.5"), !fixed);
        if (fixed)
            assert_string_equal(ours.error.s,
                                "partial write: field type conflict: input field \"f\" on "
                                "measurement \"m\" is type float, already exists as type integer "
                                "dropped=1");
    }
}

TEST(a_body_of_nothing_but_bad_lines_gets_an_answer_of_bounded_length)
{
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&wide, 1);
    autorelease(str) struct str body = STR_INIT;
    autorelease(outcome) struct outcome ours;
    for (int i = 0; i < 50000; i++)
        str_add(&body, "bad line of some bytes\n");
    read_body(keys, body.s, body.len, "n", &ours);
    assert_int_equal(ours.status, 400);
    assert_in_range(ours.error.len, 200000, 300000);
    assert_true(has(ours.error.s, " more lines"));
}

/* ---- two readers, one grammar ---- */

/* A line of usual parts, some of them odd. */
static void random_line(struct rng *rng, struct str *to)
{
    static const char *const heads[] = {"m",     "m,t=v",   "m,a=1,b=2", "m,b=2,a=1",
                                        "n\\ o", "m,t=\\,", "m,",        ""};
    static const char *const names[] = {"f",    "g", "loss", "a\\,b", "a\"b",
                                        "time", "",  "\tx",  "x y"};
    static const char *const values[] = {"1",
                                         "-2.5",
                                         "3i",
                                         "t",
                                         "False",
                                         "nan",
                                         "1e5",
                                         "1e-400",
                                         "\"s\"",
                                         "\"a b\"",
                                         "\"q\\\"q\"",
                                         "1x",
                                         "",
                                         "9223372036854775807i",
                                         "9223372036854775808i",
                                         "1e400",
                                         ".5",
                                         "-"};
    static const char *const times[] = {"",    " 1", " -5", " 1 ",
                                        "  7", " x", "\t1", " 9223372036854775807"};
#define PICK(words)                                                                                \
    words[rng_chance(rng, 0.7) ? rng_below(rng, 2) : rng_below(rng, ARRAY_LEN(words))]
    str_add(to, PICK(heads));
    for (uint64_t i = 0, n = 1 + rng_below(rng, 4); i < n; i++)
        str_addf(to, "%c%s=%s", i ? ',' : ' ', PICK(names), PICK(values));
    str_add(to, PICK(times));
#undef PICK
}

TEST(what_is_known_never_changes_what_a_line_means)
{
    struct rng rng;
    rng_init(&rng, 3, 0);
    autofree(influx_keys) struct influx_keys *known = influx_keys_new(&wide, 1);
    for (int i = 0; i < 20000; i++) {
        autofree(influx_keys) struct influx_keys *fresh = influx_keys_new(&wide, 1);
        autorelease(str) struct str line = STR_INIT;
        autorelease(outcome) struct outcome quick, strict;
        random_line(&rng, &line);
        read_body(known, line.s, line.len, "n", &quick);
        read_body(fresh, line.s, line.len, "n", &strict);
        assert_string_equal(quick.stored.s, strict.stored.s);
        assert_string_equal(quick.error.s, strict.error.s);
    }
}

TEST_MAIN
