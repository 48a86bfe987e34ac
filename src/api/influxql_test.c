/* SPDX-License-Identifier: MIT */
/*
 * influxql_test.c — queries over a few series in memory; answers as InfluxDB 1.x words them.
 */
#include "api/influxql.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

#define S   1000000000LL
#define NOW (100 * S)

/* ---- the source ---- */

static const struct influxql_tag a[] = {{"gpu", "0"}, {"run", "a"}};
static const struct influxql_tag b[] = {{"gpu", "1"}, {"run", "b"}};
static const struct influxql_tag c[] = {{"gpu", "2"}, {"run", "c"}};
static const struct influxql_series all[] = {
    {"cpu.busy", a, 2, 0, NULL}, {"cpu.idle", a, 2, 1, NULL}, {"cpu.busy", b, 2, 2, NULL},
    {"loss", a, 2, 3, NULL},     {"a.b.c", NULL, 0, 4, NULL}, {"odd", NULL, 0, 5, NULL},
    {"tie.v", a, 2, 6, NULL},    {"tie.v", b, 2, 7, NULL},    {"tie.v", c, 2, 8, NULL},
};
struct test_point {
    uint64_t id;
    int64_t ns;
    double value;
};
static const struct test_point points[] = {
    {0, 10 * S, 1}, {0, 20 * S, 2},  {0, 30 * S, 3},       {0, 30 * S, 4}, /* the same time: counts
                                                                              once */
    {1, 10 * S, 9}, {2, 20 * S, 10}, {2, 15 * S, 20},      {3, 1500000001, 0.5}, {4, 5 * S, 1},
    {6, 1 * S, 5},  {7, 1 * S, 9},   {8, 1 * S, 2},        {6, 7 * S, 3},        {7, 7 * S, 1},
    {8, 7 * S, 2},  {5, 1 * S, NAN}, {5, 2 * S, INFINITY}, {5, 3 * S, 7},
};

static int databases(void *arg, influxql_name_fn *fn, void *to)
{
    (void)arg;
    fn("test", to);
    return fn("other", to);
}

static int series(void *arg, const char *db, influxql_series_fn *fn, void *to)
{
    (void)arg;
    if (!str_eq(db, "test"))
        return -ENOENT;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        fn(&all[i], to);
    return 0;
}

static int read_points(void *arg, const char *db, const struct influxql_series *of, int64_t min_ns,
                       int64_t max_ns, influxql_points_fn *fn, void *to)
{
    (void)arg, (void)db, (void)min_ns, (void)max_ns; /* others may come, too */
    for (size_t i = 0; i < ARRAY_LEN(points); i++) {
        struct influxql_points point = {1, &points[i].ns, &points[i].value, NULL};
        int r = points[i].id == of->id ? fn(&point, to) : 0;
        if (r)
            return r;
    }
    return 0;
}

static const char *type(void *arg, const char *db, const char *measurement, const char *field)
{
    (void)arg, (void)db;
    if (str_eq(measurement, "a.b.c") && str_eq(field, "value"))
        return "boolean";
    return str_eq(measurement, "cpu") && str_eq(field, "idle") ? "integer" : NULL;
}

static char made[32];
static int create(void *arg, const char *db, struct err *err)
{
    (void)arg;
    snprintf(made, sizeof(made), "+%s", db);
    return str_eq(db, "bad") ? err_set(err, EINVAL, "no") : 0;
}

static int drop(void *arg, const char *db, struct err *err)
{
    (void)arg, (void)err;
    snprintf(made, sizeof(made), "-%s", db);
    return 0;
}

static const struct influxql_source source = {.databases = databases,
                                              .series = series,
                                              .points = read_points,
                                              .type = type,
                                              .create = create,
                                              .drop = drop};

static char *ask(const char *text, const char *epoch, enum influxql_format format)
{
    struct str answer = STR_INIT;
    autofree(influxql) struct influxql *query = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct influxql_options options = {.db = "test", .epoch = epoch, .format = format};

    if (influxql_parse(text, NOW, &query, &err) < 0)
        str_add(&answer, err_text(&err));
    else
        influxql_run(query, &source, &options, &answer);
    return str_take(&answer);
}

/* What stands between {"results":[{"statement_id":0 and }]} */
static void assert_series(const char *text, const char *expected)
{
    autofree(mem) char *answer = ask(text, "s", INFLUXQL_JSON);
    autofree(mem) char *whole =
        *expected ? xasprintf("{\"results\":[{\"statement_id\":0,\"series\":[%s]}]}\n", expected)
                  : xstrdup("{\"results\":[{\"statement_id\":0}]}\n");
    if (!str_eq(answer, whole))
        fail_msg("%s:\n%s%s", text, answer, whole);
}

static void assert_error(const char *text, const char *part)
{
    autofree(mem) char *answer = ask(text, NULL, INFLUXQL_JSON);
    if (!strstr(answer, part))
        fail_msg("%s: %s", text, answer);
}

/* ---- sentences ---- */

TEST(show_tells_what_there_is)
{
    assert_series("SHOW DATABASES", "{\"name\":\"databases\",\"columns\":[\"name\"],"
                                    "\"values\":[[\"other\"],[\"test\"]]}");
    assert_series("show measurements",
                  "{\"name\":\"measurements\",\"columns\":[\"name\"],"
                  "\"values\":[[\"a.b\"],[\"cpu\"],[\"loss\"],[\"odd\"],[\"tie\"]]}");
    assert_series("SHOW MEASUREMENTS WITH MEASUREMENT =~ /^l/ LIMIT 1",
                  "{\"name\":\"measurements\",\"columns\":[\"name\"],\"values\":[[\"loss\"]]}");
    assert_series("SHOW MEASUREMENTS LIMIT 1 OFFSET 1",
                  "{\"name\":\"measurements\",\"columns\":[\"name\"],\"values\":[[\"cpu\"]]}");
    assert_series("SHOW TAG KEYS FROM cpu",
                  "{\"name\":\"cpu\",\"columns\":[\"tagKey\"],\"values\":[[\"gpu\"],[\"run\"]]}");
    assert_series("SHOW FIELD KEYS FROM \"cpu\"",
                  "{\"name\":\"cpu\",\"columns\":[\"fieldKey\",\"fieldType\"],"
                  "\"values\":[[\"busy\",\"float\"],[\"idle\",\"integer\"]]}");
    assert_series("SHOW FIELD KEYS FROM \"a.b\"",
                  "{\"name\":\"a.b\",\"columns\":[\"fieldKey\",\"fieldType\"],"
                  "\"values\":[[\"c\",\"boolean\"]]}");
    assert_series("SHOW SERIES FROM cpu WHERE run = 'b'",
                  "{\"columns\":[\"key\"],\"values\":[[\"cpu,gpu=1,run=b\"]]}");
    assert_series("SHOW RETENTION POLICIES ON test",
                  "{\"columns\":[\"name\",\"duration\",\"shardGroupDuration\",\"replicaN\","
                  "\"default\"],\"values\":[[\"autogen\",\"0s\",\"168h0m0s\",1,true]]}");
}

static int escaped_series(void *arg, const char *db, influxql_series_fn *fn, void *to)
{
    static const struct influxql_tag odd[] = {{"t a,g", "x y=z"}, {"u", "a\\b"}};
    static const struct influxql_series one = {"o d,d=.v", odd, 2, 0, NULL};

    (void)arg, (void)db;
    return fn(&one, to);
}

TEST(series_are_told_as_line_protocol_writes_them)
{
    struct influxql_source escaped = {.series = escaped_series};
    struct influxql_options options = {.db = "test"};
    autofree(influxql) struct influxql *query = NULL;
    autorelease(str) struct str answer = STR_INIT;

    assert_int_equal(influxql_parse("SHOW SERIES", NOW, &query, NULL), 0);
    influxql_run(query, &escaped, &options, &answer);
    assert_non_null(strstr(answer.s, "[\"o\\\\ d\\\\,d=,t\\\\ a\\\\,g=x\\\\ y\\\\=z,u=a\\\\b\"]"));
}

TEST(values_of_tags_are_found_by_key)
{
    static const char both[] = "{\"name\":\"cpu\",\"columns\":[\"key\",\"value\"],"
                               "\"values\":[[\"run\",\"a\"],[\"run\",\"b\"]]}";
    assert_series("SHOW TAG VALUES FROM cpu WITH KEY = run", both);
    assert_series("SHOW TAG VALUES FROM \"cpu\" WITH KEY = \"run\"", both);
    assert_series("SHOW TAG VALUES FROM cpu WITH KEY =~ /^r.n$/", both);
    assert_series("SHOW TAG VALUES FROM cpu WITH KEY IN (run, nothing)", both);
    assert_series(
        "SHOW TAG VALUES FROM cpu WITH KEY = \"run\" WHERE gpu = '1'",
        "{\"name\":\"cpu\",\"columns\":[\"key\",\"value\"],\"values\":[[\"run\",\"b\"]]}");
}

TEST(points_come_as_they_are)
{
    assert_series("SELECT value FROM loss",
                  "{\"name\":\"loss\",\"columns\":[\"time\",\"value\"],\"values\":[[1,0.5]]}");
    assert_series("SELECT busy, idle FROM cpu WHERE run = 'a'",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"busy\",\"idle\"],"
                  "\"values\":[[10,1,9],[20,2,null],[30,4,null]]}");
    assert_series("SELECT * FROM cpu WHERE run = 'a' AND time < 20s",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"busy\",\"gpu\",\"idle\",\"run\"],"
                  "\"values\":[[10,1,\"0\",9,\"a\"]]}");
    assert_series("SELECT busy FROM cpu ORDER BY time DESC LIMIT 2",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"busy\"],"
                  "\"values\":[[30,4],[20,10]]}");
    assert_series("SELECT busy AS x FROM cpu LIMIT 1 OFFSET 1",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"x\"],\"values\":[[15,20]]}");
    assert_series("SELECT nothing FROM cpu", "");
    assert_series("SELECT run FROM cpu", "");
}

TEST(a_metric_is_found_however_its_dots_are_divided)
{
    assert_series("SELECT c FROM \"a.b\"",
                  "{\"name\":\"a.b\",\"columns\":[\"time\",\"c\"],\"values\":[[5,1]]}");
    assert_series("SELECT \"b.c\" FROM a",
                  "{\"name\":\"a\",\"columns\":[\"time\",\"b.c\"],\"values\":[[5,1]]}");
    assert_series("SELECT value FROM \"a.b.c\"",
                  "{\"name\":\"a.b.c\",\"columns\":[\"time\",\"value\"],\"values\":[[5,1]]}");
}

TEST(groups_are_told_apart_by_tags)
{
    assert_series("SELECT last(busy) FROM cpu GROUP BY run",
                  "{\"name\":\"cpu\",\"tags\":{\"run\":\"a\"},\"columns\":[\"time\",\"last\"],"
                  "\"values\":[[30,4]]},"
                  "{\"name\":\"cpu\",\"tags\":{\"run\":\"b\"},\"columns\":[\"time\",\"last\"],"
                  "\"values\":[[20,10]]}");
    assert_series("SELECT busy FROM cpu GROUP BY * SLIMIT 1 SOFFSET 1",
                  "{\"name\":\"cpu\",\"tags\":{\"gpu\":\"1\",\"run\":\"b\"},"
                  "\"columns\":[\"time\",\"busy\"],\"values\":[[15,20],[20,10]]}");
    assert_series("SELECT max(*) FROM /^(cpu|loss)$/ WHERE run =~ /a/ AND gpu !~ /[1-9]/",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"max_busy\",\"max_idle\"],"
                  "\"values\":[[0,4,9]]},"
                  "{\"name\":\"loss\",\"columns\":[\"time\",\"max_value\"],\"values\":[[1,0.5]]}");
}

TEST(functions_over_everything)
{
    assert_series("SELECT mean(busy), max(busy), min(busy), sum(busy), count(busy), spread(busy), "
                  "median(busy), percentile(busy, 50), first(busy), mean(busy) FROM cpu",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"mean\",\"max\",\"min\",\"sum\","
                  "\"count\",\"spread\",\"median\",\"percentile\",\"first\",\"mean_1\"],"
                  "\"values\":[[0,7.4,20,1,37,5,19,4,4,1,7.4]]}");
    assert_series("SELECT stddev(busy) FROM cpu WHERE run='a' AND time <= 20s",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"stddev\"],"
                  "\"values\":[[0,0.7071067811865476]]}");
    assert_series("SELECT stddev(value) FROM loss",
                  "{\"name\":\"loss\",\"columns\":[\"time\",\"stddev\"],\"values\":[[0,null]]}");
    assert_series("SELECT max(busy) FROM cpu WHERE time >= 1s AND time < 30s",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"max\"],\"values\":[[15,20]]}");
    assert_series("SELECT max(value), min(value) FROM odd",
                  "{\"name\":\"odd\",\"columns\":[\"time\",\"max\",\"min\"],"
                  "\"values\":[[0,null,7]]}");
}

TEST(of_several_series_at_the_first_or_last_time_the_largest_counts)
{
    assert_series("SELECT first(v) FROM tie",
                  "{\"name\":\"tie\",\"columns\":[\"time\",\"first\"],\"values\":[[1,9]]}");
    assert_series("SELECT last(v) FROM tie",
                  "{\"name\":\"tie\",\"columns\":[\"time\",\"last\"],\"values\":[[7,3]]}");
    assert_series("SELECT first(v), last(v) FROM tie WHERE time >= 0 AND time < 8s "
                  "GROUP BY time(4s)",
                  "{\"name\":\"tie\",\"columns\":[\"time\",\"first\",\"last\"],"
                  "\"values\":[[0,9,9],[4,3,3]]}");
}

TEST(a_percentile_of_no_rank_is_no_row)
{
    assert_series("SELECT percentile(busy, 0) FROM cpu", "");
    assert_series("SELECT percentile(busy, 0) * 2 FROM cpu", "");
    assert_series("SELECT percentile(busy, 200) FROM cpu", "");
    assert_series("SELECT percentile(busy, 0) FROM cpu WHERE time >= 0 AND time < 20s "
                  "GROUP BY time(10s)",
                  "");
    assert_series("SELECT percentile(busy, 0), max(busy) FROM cpu",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"percentile\",\"max\"],"
                  "\"values\":[[0,null,20]]}");
}

TEST(time_is_the_first_column_whoever_asks_for_it)
{
    assert_series("SELECT value, time FROM loss",
                  "{\"name\":\"loss\",\"columns\":[\"time\",\"value\"],\"values\":[[1,0.5]]}");
    assert_series("SELECT time AS t, last(value) FROM loss",
                  "{\"name\":\"loss\",\"columns\":[\"t\",\"last\"],\"values\":[[1,0.5]]}");
    assert_error("SELECT time FROM loss",
                 "\"error\":\"at least 1 non-time field must be queried\"");
}

TEST(newest_first_is_also_last_series_first)
{
    assert_series("SELECT idle, value FROM cpu, loss GROUP BY run ORDER BY time DESC",
                  "{\"name\":\"loss\",\"tags\":{\"run\":\"a\"},\"columns\":[\"time\",\"idle\","
                  "\"value\"],\"values\":[[1,null,0.5]]},"
                  "{\"name\":\"cpu\",\"tags\":{\"run\":\"a\"},\"columns\":[\"time\",\"idle\","
                  "\"value\"],\"values\":[[10,9,null]]}");
    assert_series("SELECT last(busy) FROM cpu GROUP BY run ORDER BY time DESC",
                  "{\"name\":\"cpu\",\"tags\":{\"run\":\"b\"},\"columns\":[\"time\",\"last\"],"
                  "\"values\":[[20,10]]},"
                  "{\"name\":\"cpu\",\"tags\":{\"run\":\"a\"},\"columns\":[\"time\",\"last\"],"
                  "\"values\":[[30,4]]}");
    assert_series("SELECT last(busy) FROM cpu GROUP BY run ORDER BY time DESC SLIMIT 1",
                  "{\"name\":\"cpu\",\"tags\":{\"run\":\"a\"},\"columns\":[\"time\",\"last\"],"
                  "\"values\":[[30,4]]}");
}

TEST(few_rows_of_many_buckets_are_told)
{
    static const struct {
        const char *tail, *rows;
    } rows[] = {
        {"LIMIT 2", "[[10,1],[10,null]]"},
        {"fill(0) LIMIT 1 OFFSET 1", "[[10,0]]"},
        {"fill(none) LIMIT 2", NULL},
        {"ORDER BY time DESC LIMIT 2", "[[100,null],[99,null]]"},
        {"fill(7) ORDER BY time DESC LIMIT 1 OFFSET 1", "[[99,7]]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree(mem) char *text =
            xasprintf("SELECT mean(busy) FROM cpu WHERE run='a' AND time >= 10s "
                      "GROUP BY time(100u) %s",
                      rows[i].tail);
        autofree(mem) char *expected =
            xasprintf("{\"name\":\"cpu\",\"columns\":[\"time\",\"mean\"],"
                      "\"values\":%s}",
                      rows[i].rows);
        if (rows[i].rows)
            assert_series(text, expected);
        else
            assert_error(text, "max-select-buckets limit exceeded");
    }
    assert_series("SELECT mean(busy) FROM cpu WHERE run='a' AND time >= 10s "
                  "GROUP BY time(500u) fill(none) LIMIT 2",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"mean\"],\"values\":[[10,1],[20,2]]}");
    assert_series("SELECT difference(mean(busy)) FROM cpu WHERE run='a' AND time >= 10s "
                  "GROUP BY time(500u) LIMIT 2",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"difference\"],"
                  "\"values\":[[20,1],[30,2]]}");
}

TEST(buckets_of_time_are_filled_as_told)
{
    static const char head[] = "{\"name\":\"cpu\",\"columns\":[\"time\",\"mean\"],\"values\":";
    static const struct {
        const char *fill, *values;
    } rows[] = {
        {"", "[[0,null],[10,1],[20,2],[30,4],[40,null]]}"},
        {"fill(null)", "[[0,null],[10,1],[20,2],[30,4],[40,null]]}"},
        {"fill(none)", "[[10,1],[20,2],[30,4]]}"},
        {"fill(0)", "[[0,0],[10,1],[20,2],[30,4],[40,0]]}"},
        {"fill(-1.5)", "[[0,-1.5],[10,1],[20,2],[30,4],[40,-1.5]]}"},
        {"fill(previous)", "[[0,null],[10,1],[20,2],[30,4],[40,4]]}"},
        {"fill(linear)", "[[0,null],[10,1],[20,2],[30,4],[40,null]]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree(mem) char *text = xasprintf("SELECT mean(busy) FROM cpu WHERE run='a' AND "
                                             "time >= 0 AND time < 50s GROUP BY time(10s) %s",
                                             rows[i].fill);
        autofree(mem) char *expected = xasprintf("%s%s", head, rows[i].values);
        assert_series(text, expected);
    }
    assert_series("SELECT count(busy) FROM cpu WHERE run='b' AND time >= 0s AND time < 30s "
                  "GROUP BY time(10s) ORDER BY time DESC",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"count\"],"
                  "\"values\":[[20,1],[10,1],[0,0]]}");
    assert_series("SELECT sum(busy) FROM cpu WHERE run='a' AND time > now() - 95s AND "
                  "time < now() - 65s GROUP BY time(20s, 5s) fill(none)",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"sum\"],\"values\":[[5,3],[25,4]]}");
    assert_series("SELECT mean(busy) FROM cpu WHERE run='a' AND time >= 10s AND time <= 30s "
                  "GROUP BY time(5s) fill(linear)",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"mean\"],"
                  "\"values\":[[10,1],[15,1.5],[20,2],[25,3],[30,4]]}");
}

TEST(without_an_upper_bound_buckets_end_now)
{
    assert_series("SELECT last(busy) FROM cpu WHERE run='a' AND time >= 20s GROUP BY time(40s)",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"last\"],"
                  "\"values\":[[0,4],[40,null],[80,null]]}");
}

TEST(times_are_told_in_the_unit_asked_for)
{
    static const struct {
        const char *epoch, *time;
    } rows[] = {{NULL, "\"1970-01-01T00:00:01.500000001Z\""},
                {"ns", "1500000001"},
                {"u", "1500000"},
                {"ms", "1500"},
                {"s", "1"},
                {"m", "0"},
                {"h", "0"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree(mem) char *answer = ask("SELECT value FROM loss", rows[i].epoch, INFLUXQL_JSON);
        autofree(mem) char *part = xasprintf("\"values\":[[%s,0.5]]", rows[i].time);
        if (!strstr(answer, part))
            fail_msg("%s: %s", part, answer);
    }
}

TEST(bounds_of_time_may_be_written_in_many_ways)
{
    static const char *const bounds[] = {
        "time >= 30s",
        "time > 29s",
        "time = 30000000000",
        "time >= '1970-01-01T00:00:30Z'",
        "time >= '1970-01-01 00:00:30'",
        "time >= now() - 70s",
        "time > now() - 1m11s",
        "time >= 30000ms AND time <= 1h",
        "(time >= 30s)",
        "30s <= time",
        "29999999999 < time",
        "'1970-01-01T00:00:30Z' <= time",
        "now() - 70s <= time",
        "time >= '1970-01-01' + 30s",
    };
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        autofree(mem) char *text = xasprintf(
            "SELECT busy FROM test.autogen.cpu WHERE %s AND (run='a' OR run='c')", bounds[i]);
        assert_series(text,
                      "{\"name\":\"cpu\",\"columns\":[\"time\",\"busy\"],\"values\":[[30,4]]}");
    }
}

TEST(conditions_may_be_about_fields)
{
    static const struct {
        const char *where, *values; /* of busy */
    } rows[] = {
        {"busy > 3", "[[15,20],[20,10],[30,4]]"},
        {"busy >= 4 AND run = 'a'", "[[30,4]]"},
        {"idle = 9", "[[10,1]]"},
        {"busy < 2 OR run = 'b'", "[[10,1],[15,20],[20,10]]"},
        {"(busy < 2 OR busy > 19) AND time >= 0", "[[10,1],[15,20]]"},
        {"busy != 2 AND run =~ /a/", "[[10,1],[30,4]]"},
        {"2 < busy AND gpu = '0'", "[[30,4]]"},
        {"busy + idle = 10", "[[10,1]]"},
        {"busy * 2 < idle", "[[10,1]]"},
        {"busy <> -1 AND busy <= 1", "[[10,1]]"},
        {"busy::integer = 20", "[[15,20]]"},
        {"busy = true", "[[10,1]]"},
        {"nothing > 1", NULL},
        {"run > 5", NULL},
        {"run > 'a'", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree(mem) char *text = xasprintf("SELECT busy FROM cpu WHERE %s", rows[i].where);
        autofree(mem) char *expected =
            rows[i].values ? xasprintf("{\"name\":\"cpu\",\"columns\":[\"time\",\"busy\"],"
                                       "\"values\":%s}",
                                       rows[i].values)
                           : xstrdup("");
        assert_series(text, expected);
    }
    assert_series("SELECT count(busy), mean(busy) FROM cpu WHERE busy > 2 AND busy < 20",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"count\",\"mean\"],"
                  "\"values\":[[0,2,7]]}");
    assert_series("SELECT max(busy) FROM cpu WHERE busy < 20 AND time >= 10s AND time < 30s "
                  "GROUP BY time(10s), run",
                  "{\"name\":\"cpu\",\"tags\":{\"run\":\"a\"},\"columns\":[\"time\",\"max\"],"
                  "\"values\":[[10,1],[20,2]]},{\"name\":\"cpu\",\"tags\":{\"run\":\"b\"},"
                  "\"columns\":[\"time\",\"max\"],\"values\":[[10,null],[20,10]]}");
}

TEST(comments_are_passed_over)
{
    static const char loss[] =
        "{\"name\":\"loss\",\"columns\":[\"time\",\"value\"],\"values\":[[1,0.5]]}";

    assert_series("/* a */ SELECT value /* b\n * c **/ FROM loss -- d", loss);
    assert_series("SELECT value -- e\nFROM /* f */ /^loss$/ /**/", loss);
    assert_error("SELECT value /* FROM loss", "found EOF, expected FROM");
}

TEST(csv_has_a_head_for_each_table)
{
    autofree(mem) char *answer =
        ask("SELECT last(busy) FROM cpu GROUP BY gpu, run; SHOW DATABASES", NULL, INFLUXQL_CSV);

    assert_string_equal(answer, "name,tags,time,last\ncpu,\"gpu=0,run=a\",30000000000,4\n"
                                "\nname,tags,time,last\ncpu,\"gpu=1,run=b\",20000000000,10\n"
                                "\nname,tags,name\ndatabases,,other\ndatabases,,test\n");
}

static void assert_chunks(const char *text, size_t rows, const char *expected)
{
    autofree(influxql) struct influxql *query = NULL;
    autorelease(str) struct str answer = STR_INIT;
    struct influxql_options options = {
        .db = "test", .epoch = "s", .format = INFLUXQL_JSON, .chunk_rows = rows};

    assert_int_equal(influxql_parse(text, NOW, &query, NULL), 0);
    influxql_run(query, &source, &options, &answer);
    assert_string_equal(answer.s, expected);
}

/* Of what each line begins and ends with InfluxDB 1.6 says the same. */
TEST(in_chunks_every_few_rows_are_an_answer_of_their_own)
{
    assert_chunks("SELECT busy FROM cpu GROUP BY run", 2,
                  "{\"results\":[{\"statement_id\":0,\"series\":[{\"name\":\"cpu\",\"tags\":"
                  "{\"run\":\"a\"},\"columns\":[\"time\",\"busy\"],\"values\":[[10,1],[20,2]],"
                  "\"partial\":true}],\"partial\":true}]}\n"
                  "{\"results\":[{\"statement_id\":0,\"series\":[{\"name\":\"cpu\",\"tags\":"
                  "{\"run\":\"a\"},\"columns\":[\"time\",\"busy\"],\"values\":[[30,4]]}],"
                  "\"partial\":true}]}\n"
                  "{\"results\":[{\"statement_id\":0,\"series\":[{\"name\":\"cpu\",\"tags\":"
                  "{\"run\":\"b\"},\"columns\":[\"time\",\"busy\"],\"values\":[[15,20],[20,10]]}]"
                  "}]}\n");
    assert_chunks("SHOW DATABASES; SELECT nothing FROM cpu; SELECT v FROM none.autogen.m", 1,
                  "{\"results\":[{\"statement_id\":0,\"series\":[{\"name\":\"databases\","
                  "\"columns\":[\"name\"],\"values\":[[\"other\"],[\"test\"]]}]}]}\n"
                  "{\"results\":[{\"statement_id\":1}]}\n"
                  "{\"results\":[{\"statement_id\":2,\"error\":\"database not found: none\"}]}\n");
}

TEST(what_a_name_is_may_be_said_behind_it)
{
    static const char busy[] = "{\"name\":\"cpu\",\"columns\":[\"time\",\"busy\"],"
                               "\"values\":[[10,1],[20,2],[30,4]]}";
    static const char *const same[] = {
        "SELECT busy::field FROM cpu WHERE (\"run\"::tag = 'a')",
        "SELECT \"busy\"::float FROM cpu WHERE run::tag =~ /^a$/",
        "SELECT busy::integer FROM cpu WHERE run = 'a'",
    };
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        assert_series(same[i], busy);
    assert_series("SELECT mean(busy::float) FROM cpu WHERE time >= 0 AND time < 40s "
                  "GROUP BY time(40s), \"run\"::tag fill(null)",
                  "{\"name\":\"cpu\",\"tags\":{\"run\":\"a\"},\"columns\":[\"time\",\"mean\"],"
                  "\"values\":[[0,2.3333333333333335]]},{\"name\":\"cpu\",\"tags\":{\"run\":\"b\"},"
                  "\"columns\":[\"time\",\"mean\"],\"values\":[[0,15]]}");
    assert_series("SELECT run::tag, run::field, busy FROM cpu WHERE time = 15s",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"run\",\"run_1\",\"busy\"],"
                  "\"values\":[[15,\"b\",null,20]]}");
    assert_series("SELECT *::field FROM cpu WHERE time = 10s",
                  "{\"name\":\"cpu\",\"columns\":[\"time\",\"busy\",\"idle\"],"
                  "\"values\":[[10,1,9]]}");
    assert_series(
        "SELECT *::tag, busy FROM cpu WHERE time = 10s GROUP BY run::tag",
        "{\"name\":\"cpu\",\"tags\":{\"run\":\"a\"},\"columns\":[\"time\",\"gpu\",\"busy\"],"
        "\"values\":[[10,\"0\",1]]}");
    assert_series("SELECT busy::tag FROM cpu", "");
    assert_series("SELECT busy::string FROM cpu", "");
    assert_series("SELECT busy FROM cpu WHERE run::field = 'a'", "");
    assert_error("SELECT busy::frob FROM cpu", "found frob, expected float, integer, unsigned, "
                                               "string, boolean, field, tag at line 1, char 14");
}

TEST(integers_are_cut_off_where_they_are_asked_for)
{
    assert_series("SELECT value::integer FROM loss",
                  "{\"name\":\"loss\",\"columns\":[\"time\",\"value\"],\"values\":[[1,0]]}");
    assert_series("SELECT sum(value::integer) FROM loss",
                  "{\"name\":\"loss\",\"columns\":[\"time\",\"sum\"],\"values\":[[0,0]]}");
    assert_series("SELECT max(value::integer) FROM loss WHERE time >= 0 AND time < 2s "
                  "GROUP BY time(2s)",
                  "{\"name\":\"loss\",\"columns\":[\"time\",\"max\"],\"values\":[[0,0]]}");
}

TEST(regular_expressions_may_be_those_of_go)
{
    static const struct {
        const char *regex;
        bool matches; /* "loss" */
    } rows[] = {
        {"(?i)^LOSS$", true}, {"^LOSS$", false},      {"(?:lo|x)ss", true}, {"^\\w+$", true},
        {"\\d", false},       {"^[\\w]{4}$", true},   {"^l\\S+s\\b", true}, {"[\\d\\.]", false},
        {"[\\]\\-]", false},  {"^[^\\d\\s]+$", true}, {"^\\W", false},      {"[[:alpha:]]", true},
        {"[a-m][o]", true},   {"lo.*?s", true},       {"\\Bs", true},       {"^\\D\\D", true},
        {"[[]|oss", true},    {"[\\^]", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree(mem) char *text =
            xasprintf("SHOW MEASUREMENTS WITH MEASUREMENT =~ /%s/", rows[i].regex);
        autofree(mem) char *answer = ask(text, "s", INFLUXQL_JSON);
        if ((strstr(answer, "[\"loss\"]") != NULL) != rows[i].matches)
            fail_msg("%s: %s", rows[i].regex, answer);
    }
    assert_error("SELECT v FROM m WHERE run =~ /(?P<n>a)/", "error parsing regexp: '(?P<n>a)'");
    assert_error("SELECT v FROM m WHERE run =~ /\\pL/", "error parsing regexp");
    assert_error("SELECT v FROM m WHERE run =~ /[\\D]/", "error parsing regexp");
    assert_error("SELECT v FROM m WHERE run =~ /[a/", "error parsing regexp");
    assert_error("SELECT v FROM m WHERE run =~ /a\\", "error parsing");
}

TEST(times_are_of_utc_and_no_other_zone)
{
    assert_series("SELECT value FROM loss LIMIT 1 tz('UTC')",
                  "{\"name\":\"loss\",\"columns\":[\"time\",\"value\"],\"values\":[[1,0.5]]}");
    assert_error("SELECT value FROM loss tz('Europe/Berlin')",
                 "tz('Europe/Berlin') is not known here, only tz('UTC')");
    assert_error("SELECT value FROM loss tz(UTC)", "found UTC, expected string");
}

TEST(databases_are_made_and_dropped)
{
    assert_series("CREATE DATABASE \"new\" WITH DURATION 3d REPLICATION 1", "");
    assert_string_equal(made, "+new");
    assert_series("DROP DATABASE new", "");
    assert_string_equal(made, "-new");
    assert_error("CREATE DATABASE bad", "\"error\":\"no\"");
}

TEST(policies_are_taken_and_do_nothing)
{
    made[0] = '\0';
    assert_series("CREATE RETENTION POLICY \"p\" ON \"test\" DURATION 3d REPLICATION 1 SHARD "
                  "DURATION 0s DEFAULT",
                  "");
    assert_series("ALTER RETENTION POLICY p ON test DURATION INF", "");
    assert_series("DROP RETENTION POLICY p ON test", "");
    assert_string_equal(made, "");
    assert_error("CREATE RETENTION POLICY p ON none DURATION 1h REPLICATION 1",
                 "\"error\":\"database not found: none\"");
    assert_error("ALTER RETENTION POLICY p ON test",
                 "found EOF, expected DURATION, REPLICATION, SHARD, DEFAULT at line 1, char 34");
}

TEST(a_part_of_a_database_is_not_dropped)
{
    static const char *const texts[] = {"DROP MEASUREMENT cpu", "DROP SERIES FROM cpu",
                                        "DELETE FROM cpu WHERE run = 'a'"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_error(texts[i], "{\"statement_id\":0,\"error\":\"a part of a database cannot be "
                               "dropped here, only all of it: DROP DATABASE");
}

TEST(there_are_no_users_and_no_continuous_queries)
{
    assert_series("SHOW USERS", "{\"columns\":[\"user\",\"admin\"]}");
    assert_series("SHOW CONTINUOUS QUERIES",
                  "{\"name\":\"test\",\"columns\":[\"name\",\"query\"]},"
                  "{\"name\":\"other\",\"columns\":[\"name\",\"query\"]}");
}

static char *ask_bound(const char *text, const char *params)
{
    struct str answer = STR_INIT;
    autofree(influxql) struct influxql *query = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct influxql_options options = {.db = "test", .epoch = "s"};

    if (influxql_parse_bound(text, params, NOW, &query, &err) < 0)
        str_add(&answer, err_text(&err));
    else
        influxql_run(query, &source, &options, &answer);
    return str_take(&answer);
}

TEST(what_names_with_a_dollar_stand_for_is_told_beside_the_query)
{
    static const char *const rows[][3] = {
        {"SELECT busy FROM cpu WHERE run = $r LIMIT $n", "{\"r\":\"b\",\"n\":1}", "[[15,20]]"},
        {"SELECT busy FROM cpu WHERE time >= $t AND run = $\"the run\"",
         "{\"the run\":\"a\",\"t\":30000000000}", "[[30,4]]"},
        {"SELECT busy FROM cpu WHERE time > $t", "{\"t\":\"1970-01-01T00:00:20Z\"}", "[[30,4]]"},
        {"SELECT $f FROM cpu WHERE run =~ $r LIMIT 1",
         "{\"f\":{\"identifier\":\"busy\"},\"r\":{\"regex\":\"^b\"}}", "[[15,20]]"},
        {"SELECT busy FROM cpu WHERE run = $r", "{\"r\":\"a' OR run = 'b\"}",
         "{\"statement_id\":0}"},
        {"SELECT busy FROM cpu WHERE run = $r", "{\"s\":\"a\"}",
         "error parsing query: missing parameter: r"},
        {"SELECT busy FROM cpu WHERE run = $r", NULL, "error parsing query: missing parameter: r"},
        {"SELECT busy FROM cpu WHERE run = $r", "[]", "error parsing query parameters: "},
        {"SELECT busy FROM cpu WHERE run = $r", "{\"r\":", "error parsing query parameters: "},
        {"SELECT busy FROM cpu WHERE run = $r", "{\"r\":null}", "missing parameter: r"},
        {"SELECT busy FROM cpu WHERE run = $", "{}", "missing parameter: "},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree(mem) char *answer = ask_bound(rows[i][0], rows[i][1]);
        if (!strstr(answer, rows[i][2]))
            fail_msg("%s: %s", rows[i][0], answer);
    }
}

TEST(a_database_that_is_not_there_is_said_inside_the_result)
{
    assert_error("SELECT v FROM none.autogen.m", "\"error\":\"database not found: none\"");
    assert_error("SHOW MEASUREMENTS ON none; SHOW DATABASES", "\"statement_id\":1,\"series\"");
}

TEST(errors_are_told_in_the_words_of_influxdb)
{
    static const char *const rows[][2] = {
        {"", "error parsing query: found EOF, expected SELECT"},
        {"foo", "error parsing query: found foo, expected SELECT, DELETE, SHOW, CREATE, DROP, "
                "ALTER at line 1, char 1"},
        {"SELECT", "error parsing query: found EOF, expected identifier, string, number, bool at "
                   "line 1, char 8"},
        {"SELECT v", "found EOF, expected FROM at line 1, char 10"},
        {"SELECT v FROM", "found EOF, expected identifier at line 1, char 15"},
        {"SELECT v\nFROM m WHERE",
         "found EOF, expected identifier, string, number, bool at line 2, char 14"},
        {"SELECT v FROM m WHERE x", "found EOF, expected =, !=, <, <=, >, >=, =~, !~"},
        {"SELECT v FROM m LIMIT x", "found x, expected integer"},
        {"SELECT v FROM m GROUP BY time(x)", "found x, expected duration"},
        {"SELECT v FROM m GROUP BY time(10s)", "GROUP BY requires at least one aggregate function"},
        {"SELECT v, mean(v) FROM m", "mixing aggregate and non-aggregate queries"},
        {"SELECT frob(v) FROM m", "undefined function frob()"},
        {"SELECT v FROM m WHERE mean(v) > 5", "conditions are on tags, fields, numbers and time"},
        {"SELECT v FROM m WHERE v > 5s", "conditions are on tags, fields, numbers and time"},
        {"SELECT v FROM m WHERE 1.5 < time", "time is compared with times alone"},
        {"SELECT v FROM m WHERE time != 5", "expected =, <, <=, >, >="},
        {"SHOW SERIES WHERE v > 5", "conditions on fields stand in SELECT alone"},
        {"SELECT v FROM m WHERE run = 'a' OR time > 5", "cannot use OR with time conditions"},
        {"SELECT v FROM m WHERE run =~ /(/", "error parsing regexp"},
        {"SELECT v FROM m WHERE run = 'a", "error parsing query"},
        {"SELECT v FROM m ORDER BY run", "only ORDER BY time supported"},
        {"SELECT v FROM m; frob", "found frob, expected SELECT"},
        {"SELECT v FROM m frob", "found frob, expected ; or EOF"},
        {"SHOW TAG VALUES FROM m", "found EOF, expected WITH"},
        {"SHOW FROB", "found FROB, expected CONTINUOUS, DATABASES"},
        {"SELECT mean(busy) FROM cpu WHERE time > 0 AND time < 100002s GROUP BY time(1s)",
         "max-select-buckets limit exceeded: (100002/100000)"},
        {"SELECT mean(busy) FROM cpu WHERE time >= -9223372036854775806 GROUP BY time(1ns)",
         "max-select-buckets limit exceeded"},
        {"SELECT v FROM m WHERE time > 99999999999999999999", "error parsing query"},
        {"SELECT v FROM m WHERE time > 9223372036854775807 + 5s", "time outside range"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_error(rows[i][0], rows[i][1]);
}

TEST(depth_is_bounded)
{
    autorelease(str) struct str text = STR_INIT;

    str_add(&text, "SELECT v FROM m WHERE ");
    for (int i = 0; i < 100000; i++)
        str_add_char(&text, '(');
    assert_error(text.s, "fewer parentheses");
}

/* ---- more points than may be held at once ---- */

static int one_series(void *arg, const char *db, influxql_series_fn *fn, void *to)
{
    static const struct influxql_series one = {"ml.x", NULL, 0, 0, NULL};

    (void)arg, (void)db;
    fn(&one, to);
    return 0;
}

/* 0, 1, 2, … 5,999,999, one a second */
static int many_points(void *arg, const char *db, const struct influxql_series *of, int64_t min_ns,
                       int64_t max_ns, influxql_points_fn *fn, void *to)
{
    int64_t times[1000];
    double values[1000];
    int r = 0;

    (void)arg, (void)db, (void)of, (void)min_ns, (void)max_ns;
    for (int64_t i = 0; i < 6000000 && r == 0; i += 1000) {
        for (int64_t k = 0; k < 1000; k++) {
            times[k] = (i + k) * S;
            values[k] = (double)(i + k);
        }
        r = fn(&(struct influxql_points){1000, times, values, NULL}, to);
    }
    return r;
}

TEST(what_needs_no_points_at_once_is_told_of_any_number_of_them)
{
    struct influxql_source many = {.series = one_series, .points = many_points};
    struct influxql_options options = {.db = "test", .epoch = "s"};
    autofree(influxql) struct influxql *query = NULL, *median = NULL;
    autorelease(str) struct str answer = STR_INIT, refusal = STR_INIT;
    struct err err = ERR_INIT;

    assert_ok(influxql_parse("SELECT count(x), mean(x), max(x), last(x), spread(x) FROM ml", NOW,
                             &query, &err),
              &err);
    influxql_run(query, &many, &options, &answer);
    print_message("%s\n", answer.s);
    assert_non_null(strstr(answer.s, "[[0,6000000,2999999.5,5999999,5999999,5999999]]"));
    assert_ok(influxql_parse("SELECT median(x) FROM ml", NOW, &median, &err), &err);
    influxql_run(median, &many, &options, &refusal);
    assert_non_null(strstr(refusal.s, "max-select-point limit exceeded: (5000000)"));
}

/* ---- points a few nanoseconds apart ---- */

static int close_points(void *arg, const char *db, const struct influxql_series *of, int64_t min_ns,
                        int64_t max_ns, influxql_points_fn *fn, void *to)
{
    static const int64_t times[] = {1700000000000000001, 1700000000000000002, 1700000000000000102};
    static const double values[] = {1, 2, 4};
    struct influxql_points told = {3, times, values, NULL};

    (void)arg, (void)db, (void)of, (void)min_ns, (void)max_ns;
    return fn(&told, to);
}

TEST(derivatives_are_exact_to_the_nanosecond)
{
    struct influxql_source source_of_close = {.series = one_series, .points = close_points};
    struct influxql_options options = {.db = "test", .epoch = "ns"};
    autofree(influxql) struct influxql *query = NULL;
    autorelease(str) struct str answer = STR_INIT;

    assert_int_equal(influxql_parse("SELECT derivative(x, 1u) FROM ml; "
                                    "SELECT non_negative_derivative(x) FROM ml",
                                    NOW, &query, NULL),
                     0);
    influxql_run(query, &source_of_close, &options, &answer);
    assert_non_null(strstr(answer.s, "[[1700000000000000002,1000],[1700000000000000102,20]]"));
    assert_non_null(strstr(
        answer.s, "[[1700000000000000002,999999999.9999999],[1700000000000000102,20000000]]"));
}

/* ---- whole numbers that no double holds ---- */

static int exact_points(void *arg, const char *db, const struct influxql_series *of, int64_t min_ns,
                        int64_t max_ns, influxql_points_fn *fn, void *to)
{
    static const int64_t times[] = {1 * S, 2 * S, 3 * S, 4 * S};
    static const double values[] = {9007199254740992, 7, 0x1p63, 0x1p63};
    static const double rests[] = {1025, 0, 1022, 1023};
    struct influxql_points told = {4, times, values, rests};

    (void)arg, (void)db, (void)of, (void)min_ns, (void)max_ns;
    return fn(&told, to);
}

static void assert_exact(const char *text, enum influxql_format format, const char *expected)
{
    struct influxql_source exact = {.series = one_series, .points = exact_points};
    struct influxql_options options = {.db = "test", .epoch = "s", .format = format};
    autofree(influxql) struct influxql *query = NULL;
    autorelease(str) struct str answer = STR_INIT;
    struct err err = ERR_INIT;

    assert_ok(influxql_parse(text, NOW, &query, &err), &err);
    influxql_run(query, &exact, &options, &answer);
    print_message("%s\n", answer.s);
    assert_non_null(strstr(answer.s, expected));
}

TEST(whole_numbers_are_told_with_all_their_digits)
{
    assert_exact("SELECT x FROM ml", INFLUXQL_JSON,
                 "[[1,9007199254740993],[2,7],[3,9223372036854775806],[4,9223372036854775807]]");
    assert_exact("SELECT x FROM ml", INFLUXQL_CSV,
                 "ml,,1,9007199254740993\nml,,2,7\nml,,3,9223372036854775806\n");
    assert_exact("SELECT first(x), last(x) FROM ml", INFLUXQL_JSON,
                 "[[0,9007199254740993,9223372036854775807]]");
    assert_exact("SELECT max(x) FROM ml", INFLUXQL_JSON, "[[4,9223372036854775807]]");
    assert_exact("SELECT max(x) FROM ml WHERE time < 8s GROUP BY time(8s)", INFLUXQL_JSON,
                 "[[0,9223372036854775807]]");
    assert_exact("SELECT percentile(x, 50) FROM ml", INFLUXQL_JSON, "[[1,9007199254740993]]");
    assert_exact("SELECT min(x) FROM ml WHERE time < 4s GROUP BY time(4s)", INFLUXQL_JSON,
                 "[[0,7]]");
    assert_exact("SELECT difference(x) FROM ml WHERE time < 3s", INFLUXQL_JSON,
                 "[[2,-9007199254740985]]");
}

TEST_MAIN
