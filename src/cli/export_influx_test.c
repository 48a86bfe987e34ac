/* SPDX-License-Identifier: MIT */
/*
 * export_influx_test.c — what export --influx decides without a server: names, times, batches, the
 * cursor, URLs and what an answer means.
 */
#include "base/rng.h"
#include "cli/help.h"
#include "cli/influx_send.h"
#include "cli/influx_sheet.h"
#include "series/db_fixture.h"

#include <errno.h>
#include <math.h>

/* help.c lists the commands of the program; here there are none. */
const struct cmd *const cmd_list[] = {NULL};

static void check_names(const char *metric, const char *measurement, const char *field)
{
    autorelease(str) struct str a = STR_INIT;
    autorelease(str) struct str b = STR_INIT;
    influx_measurement(metric, &a);
    influx_field(metric, &b);
    assert_string_equal(a.s, measurement);
    assert_string_equal(b.s, field);
}

TEST(the_first_part_of_a_name_is_the_measurement)
{
    check_names("train/loss", "train", "loss");
    check_names("train/top/1", "train", "top/1");
    check_names("loss", "hone", "loss");
    check_names("/loss", "hone", "/loss");
    check_names("loss/", "hone", "loss/");
}

TEST(names_are_escaped_and_never_end_a_line)
{
    check_names("a b,c=d/e f,g=h", "a\\ b\\,c=d", "e\\ f\\,g\\=h");
    check_names("a\nb/c\td", "a_b", "c_d");
    check_names("a\\/b\\", "a_", "b_");
    check_names("#a/b", "_a", "b");
    check_names("run/time", "run", "time_");
    check_names("step", "hone", "step_");
}

TEST(an_empty_tag_is_none)
{
    autorelease(str) struct str tags = STR_INIT;
    influx_tag("lr", "0.1", &tags);
    influx_tag("none", "", &tags);
    influx_tag("a b", "c,d=e", &tags);
    assert_string_equal(tags.s, ",lr=0.1,a\\ b=c\\,d\\=e");
}

TEST(no_parameter_takes_the_name_of_another_tag)
{
    static const char *const taken[] = {"experiment", "trial",        "attempt", "source",
                                        "_field",     "_measurement", "time"};

    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        autorelease(str) struct str tags = STR_INIT;
        autofree(mem) char *name = xasprintf("%s_", taken[i]);
        autofree(mem) char *want = xasprintf(",%s_=1,%s__=2", taken[i], taken[i]);
        influx_param_tag(taken[i], "1", &tags);
        influx_param_tag(name, "2", &tags);
        assert_string_equal(tags.s, want);
    }
    autorelease(str) struct str tags = STR_INIT;
    influx_param_tag("field_", "1", &tags);
    influx_param_tag("trials", "2", &tags);
    influx_param_tag("_", "3", &tags);
    assert_string_equal(tags.s, ",field_=1,trials=2,_=3");
}

TEST(times_are_kept_unless_they_would_meet)
{
    struct influx_stamp stamp = INFLUX_STAMP_INIT(50);
    assert_int_equal(influx_stamp(&stamp, INFLUX_NO_TIME), 50);
    assert_int_equal(influx_stamp(&stamp, INFLUX_NO_TIME), 51);
    assert_int_equal(influx_stamp(&stamp, 100), 100);
    assert_int_equal(influx_stamp(&stamp, 100), 101);
    assert_int_equal(influx_stamp(&stamp, 100), 102);
    assert_int_equal(influx_stamp(&stamp, 101), 103); /* not that of the second */
    assert_int_equal(influx_stamp(&stamp, 200), 200);
    assert_int_equal(influx_stamp(&stamp, 150), 150); /* went back */
    assert_int_equal(influx_stamp(&stamp, INFLUX_NO_TIME), 151);
}

TEST(times_at_the_ends_are_those_that_influxdb_takes)
{
    struct influx_stamp stamp = INFLUX_STAMP_INIT(0);
    assert_true(influx_stamp(&stamp, INT64_MIN + 1) == INT64_MIN + 2);
    assert_true(influx_stamp(&stamp, INT64_MAX) == INT64_MAX - 1);
    assert_true(influx_stamp(&stamp, INT64_MAX) == INT64_MAX - 1);
}

/* ---- lines ---- */

static struct influx_column column(const char *field, const int64_t *steps, const int64_t *times,
                                   const double *values, size_t n)
{
    return (struct influx_column){
        .field = field, .n = n, .steps = steps, .times_ns = times, .values = values};
}

TEST(what_was_told_together_is_one_line)
{
    const int64_t steps[] = {1, 2, 3}, times[] = {10, 20, 30}, some[] = {1, 3}, at[] = {10, 30};
    const double loss[] = {0.5, 0.25, 1e-5}, acc[] = {-0.0, 3};
    struct influx_column columns[] = {column("loss", steps, times, loss, 3),
                                      column("acc", some, at, acc, 2)};
    struct influx_table table = {"train,trial=1", INFLUX_STAMP_INIT(0), columns, 2, false};
    struct influx_batch batch = INFLUX_BATCH_INIT;

    assert_int_equal(influx_batch_add(&batch, &table, true), INFLUX_DONE);
    assert_string_equal(batch.text.s, "train,trial=1 loss=0.5,acc=-0,step=1i 10\n"
                                      "train,trial=1 loss=0.25,step=2i 20\n"
                                      "train,trial=1 loss=1e-05,acc=3,step=3i 30\n");
    assert_int_equal(batch.points, 5);
    influx_batch_release(&batch);
}

TEST(a_field_with_whole_numbers_that_no_double_holds_is_one_of_integers)
{
    const int64_t steps[] = {1, 2, 3}, times[] = {10, 20, 30};
    const double n[] = {9007199254740992, 5, 0.5}, loss[] = {5, 6, 7};
    const uint16_t rests[] = {1025, 0, 0};
    struct influx_column columns[] = {column("n", steps, times, n, 3),
                                      column("loss", steps, times, loss, 3)};
    struct influx_table table = {"train", INFLUX_STAMP_INIT(0), columns, 2, false};
    struct influx_batch batch = INFLUX_BATCH_INIT;

    columns[0].rests = rests;
    columns[0].whole = true;
    assert_int_equal(influx_batch_add(&batch, &table, true), INFLUX_DONE);
    assert_string_equal(batch.text.s, "train n=9007199254740993i,loss=5,step=1i 10\n"
                                      "train n=5i,loss=6,step=2i 20\n"
                                      "train n=0.5,loss=7,step=3i 30\n");
    influx_batch_release(&batch);
}

TEST(steps_of_one_instant_do_not_overwrite_each_other)
{
    const int64_t steps[] = {1, 2, 3}, times[] = {10, 10, 10}, some[] = {2, STEP_NONE};
    const double loss[] = {1, 2, 3}, acc[] = {4, 5};
    struct influx_column columns[] = {column("loss", steps, times, loss, 3),
                                      column("acc", some, times, acc, 2)};
    struct influx_table table = {"m", INFLUX_STAMP_INIT(0), columns, 2, false};
    struct influx_batch batch = INFLUX_BATCH_INIT;

    influx_batch_add(&batch, &table, true);
    assert_string_equal(batch.text.s, "m loss=1,step=1i 10\n"
                                      "m loss=2,acc=4,step=2i 11\n"
                                      "m acc=5 12\n"
                                      "m loss=3,step=3i 13\n");
    influx_batch_release(&batch);
}

TEST(times_that_come_again_in_a_batch_do_not_overwrite_each_other)
{
    const int64_t steps[] = {1, 2, 3, 4}, times[] = {10, 5, 10, 5};
    const double loss[] = {1, 2, 3, 4};
    struct influx_column columns[] = {column("loss", steps, times, loss, 4)};
    struct influx_table table = {"m", INFLUX_STAMP_INIT(0), columns, 1, false};
    struct influx_batch batch = INFLUX_BATCH_INIT;

    influx_batch_add(&batch, &table, true);
    assert_string_equal(batch.text.s, "m loss=1,step=1i 10\nm loss=2,step=2i 5\n"
                                      "m loss=3,step=3i 11\nm loss=4,step=4i 6\n");
    influx_batch_release(&batch);
}

TEST(nan_and_infinity_are_left_out_and_counted)
{
    const int64_t steps[] = {1, 2}, times[] = {10, 20};
    const double loss[] = {NAN, 2}, acc[] = {INFINITY, -INFINITY};
    struct influx_column columns[] = {column("loss", steps, times, loss, 2),
                                      column("acc", steps, times, acc, 2)};
    struct influx_table table = {"m", INFLUX_STAMP_INIT(0), columns, 2, false};
    struct influx_batch batch = INFLUX_BATCH_INIT;

    influx_batch_add(&batch, &table, true);
    assert_string_equal(batch.text.s, "m loss=2,step=2i 20\n");
    assert_int_equal(batch.left_out, 3);
    assert_int_equal(batch.points, 1);
    influx_batch_release(&batch);
}

#define MANY 12000
static int64_t many_steps[MANY], many_times[MANY];
static double many_values[MANY];

static void fill_many(void)
{
    for (int i = 0; i < MANY; i++) {
        many_steps[i] = i;
        many_times[i] = 1000 + i / 7 * 3;
        many_values[i] = i / 3.0;
    }
}

/* All lines of a table in batches, and how many batches; a window of `window` values at a time. */
static size_t all_lines(const char *head, size_t window, struct str *ret)
{
    struct influx_column columns[1];
    struct influx_table table = {head, INFLUX_STAMP_INIT(0), columns, 1, false};
    struct influx_batch batch = INFLUX_BATCH_INIT;
    size_t batches = 0, from = 0;
    bool begin = true;
    enum influx_filled filled = INFLUX_MORE;

    while (filled != INFLUX_DONE) {
        if (filled == INFLUX_MORE) {
            size_t n = MIN(window, MANY - from);
            columns[0] = column("v", many_steps + from, many_times + from, many_values + from, n);
            columns[0].more = from + n < MANY;
            from += n;
        }
        filled = influx_batch_add(&batch, &table, begin);
        begin = false;
        assert_true(batch.lines <= INFLUX_LINES_MAX && batch.text.len <= INFLUX_BYTES_MAX);
        if (filled == INFLUX_MORE)
            continue;
        str_add_n(ret, batch.text.s, batch.text.len);
        influx_batch_clear(&batch);
        begin = true;
        batches++;
    }
    influx_batch_release(&batch);
    return batches;
}

TEST(batches_have_at_most_5000_lines_and_a_megabyte_and_windows_do_not_show)
{
    autorelease(str) struct str whole = STR_INIT;
    autorelease(str) struct str pieces = STR_INIT;
    autorelease(str) struct str longer = STR_INIT;
    char head[1001] = "m,tag=";

    fill_many();
    assert_int_equal(all_lines("m", MANY, &whole), 3);
    assert_int_equal(all_lines("m", 777, &pieces), 3);
    assert_string_equal(whole.s, pieces.s);
    memset(head + strlen(head), 'x', sizeof(head) - 1 - strlen("m,tag="));
    assert_int_equal(all_lines(head, MANY, &longer), 12);
}

/* ---- a batch made again ---- */

#define WIDE 3
#define LONG 4000
struct chance { /* columns whose times and steps come again and go back */
    int64_t steps[WIDE][LONG], times[WIDE][LONG];
    double values[WIDE][LONG];
    struct influx_column columns[WIDE];
};

static void fill_by_chance(struct chance *chance, uint64_t seed)
{
    static const char *const fields[WIDE] = {"a", "b", "c"};
    struct rng rng;
    rng_init(&rng, seed, 0);
    for (size_t i = 0; i < WIDE; i++) {
        int64_t time = 1000;
        for (size_t j = 0; j < LONG; j++) {
            time += (int64_t)rng_below(&rng, 4) - (rng_chance(&rng, 0.02) ? 50 : 0);
            chance->times[i][j] = rng_chance(&rng, 0.02) ? INFLUX_NO_TIME : time;
            chance->steps[i][j] = rng_chance(&rng, 0.1) ? STEP_NONE : (int64_t)j / 3;
            chance->values[i][j] = rng_chance(&rng, 0.05) ? NAN : rng_unit(&rng);
        }
        chance->columns[i] =
            column(fields[i], chance->steps[i], chance->times[i], chance->values[i], LONG);
    }
}

/* No two lines of a batch have the same time: a series of InfluxDB would keep one. */
static void check_times_differ(const struct influx_batch *batch)
{
    struct map seen = MAP_INIT;
    size_t lines = 0;
    for (const char *at = batch->text.s; (at = strchr(at, '\n')); at++, lines++) {
        const char *time = at;
        while (time[-1] != ' ')
            time--;
        uint64_t ns = (uint64_t)strtoll(time, NULL, 10);
        assert_null(map_find(&seen, ns));
        map_put(&seen, ns, &seen);
    }
    assert_int_equal(lines, batch->lines);
    map_release(&seen);
}

TEST(a_batch_is_made_again_from_its_ends_whatever_came_behind_them)
{
    autofree(mem) struct chance *chance = xcalloc(1, sizeof(*chance));
    for (uint64_t seed = 1; seed <= 20; seed++) {
        fill_by_chance(chance, seed);
        struct influx_table table = {"m", INFLUX_STAMP_INIT(7), chance->columns, WIDE, false};
        struct influx_batch first = INFLUX_BATCH_INIT, again = INFLUX_BATCH_INIT;
        assert_int_equal(influx_batch_add(&first, &table, true), INFLUX_FULL);
        check_times_differ(&first);
        struct influx_stamp stamp = table.stamp;
        for (size_t i = 0; i < WIDE; i++) {
            chance->columns[i].n = chance->columns[i].at;
            chance->columns[i].at = 0;
        }
        table.stamp = (struct influx_stamp)INFLUX_STAMP_INIT(7);
        assert_int_equal(influx_batch_add(&again, &table, true), INFLUX_DONE);
        assert_string_equal(first.text.s, again.text.s);
        assert_int_equal(first.left_out, again.left_out);
        assert_true(stamp.raw == table.stamp.raw && stamp.out == table.stamp.out);
        influx_batch_release(&first);
        influx_batch_release(&again);
    }
}

/* ---- from the store ---- */

TEST(a_series_longer_than_a_window_is_read_on_where_it_was)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source from = source_of(3, 1);
    autorelease(influx_cursor) struct influx_cursor cursor;
    autorelease(influx_sheet) struct influx_sheet sheet = {.head = STR_INIT};
    struct influx_batch batch = INFLUX_BATCH_INIT;
    struct samples *samples = samples_of_home(home, NULL, db, NULL);
    size_t rows = INFLUX_WINDOW + 1000, told = 0;

    for (size_t i = 0; i < rows; i++)
        assert_int_equal(put2(db, from, i + 1, (int64_t)i, "t/a", (double)i, "t/b", 1), 0);
    influx_cursor_init(&cursor, 0);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "t/b" : "t/a";
        struct influx_metric *metric = influx_cursor_metric(&cursor, &from, name);
        metric->id = name_of(db, name);
        metric->total = rows;
    }
    assert_int_equal(cursor.units.len, 1);
    struct influx_unit *unit = cursor.units.at[0];
    while (influx_sheet_load(&sheet, samples, unit, false, NULL) > 0) {
        assert_int_equal(sheet.table.n, 2);
        assert_true(sheet.columns.at[0].values[0] == (double)told);
        influx_batch_clear(&batch);
        influx_batch_add(&batch, &sheet.table, true);
        assert_true(batch.lines > 0);
        told += batch.lines;
        influx_sheet_told(&sheet, unit);
    }
    assert_int_equal(told, rows);
    assert_int_equal(unit->metrics.at[0].at, rows);
    assert_int_equal(unit->metrics.at[1].at, rows);
    influx_batch_release(&batch);
    samples_free(samples);
    series_db_free(db);
    home_end(home);
}

/* ---- the cursor ---- */

static const struct series_source source = {3, 7, 1, SERIES_STDOUT};

TEST(a_cursor_comes_back_as_it_was_written)
{
    autorelease(influx_cursor) struct influx_cursor a, b;
    autorelease(str) struct str first = STR_INIT;
    autorelease(str) struct str second = STR_INIT;
    struct influx_batch batch = INFLUX_BATCH_INIT;
    struct err err = ERR_INIT;

    influx_cursor_init(&a, 1000);
    influx_cursor_init(&b, 1000);
    influx_cursor_metric(&a, &source, "train/l\xff%s \"")->at = 4;
    influx_cursor_metric(&a, &source, "train/acc")->at = 2;
    influx_cursor_send(&a, a.units.at[0]);
    influx_cursor_done(&a, &batch);
    influx_cursor_metric(&a, &source, "train/acc")->at = 9;
    influx_cursor_metric(&a, &source, "loss");
    influx_cursor_send(&a, a.units.at[0]);
    influx_cursor_format(&a, "x", &first);
    assert_ok(influx_cursor_parse(first.s, first.len, 3, &b, &err), &err);
    influx_cursor_format(&b, "x", &second);
    assert_string_equal(first.s, second.s);
    assert_int_equal(b.sending.len, 1);
    assert_int_equal(influx_cursor_metric(&b, &source, "train/l\xff%s \"")->done, 4);
    assert_int_equal(influx_cursor_metric(&b, &source, "train/acc")->done, 2);
    assert_int_equal(influx_cursor_metric(&b, &source, "train/acc")->at, 9);
    assert_int_equal(b.units.len, 2);
}

TEST(a_field_keeps_the_kind_of_the_first_value_that_was_sent)
{
    struct series_source one = {3, 1, 1, SERIES_METRICS}, other = {3, 2, 1, SERIES_METRICS};
    autorelease(influx_cursor) struct influx_cursor a, b;
    autorelease(str) struct str text = STR_INIT;
    struct err err = ERR_INIT;

    influx_cursor_init(&a, 0);
    influx_cursor_init(&b, 0);
    influx_cursor_metric(&a, &one, "n,\xff")->whole = true;
    influx_cursor_metric(&a, &other, "sent")->at = 4;
    influx_cursor_settle(&a);
    assert_true(influx_cursor_metric(&a, &one, "n,\xff")->whole);
    influx_cursor_metric(&a, &one, "sent")->whole = true;
    influx_cursor_settle(&a);
    assert_false(influx_cursor_metric(&a, &one, "sent")->whole);
    influx_cursor_metric(&a, &one, "n,\xff")->at = 2;
    influx_cursor_send(&a, a.units.at[0]);
    influx_cursor_format(&a, "x", &text);
    assert_ok(influx_cursor_parse(text.s, text.len, 3, &b, &err), &err);
    influx_cursor_settle(&b); /* of one that was sent so, also if nobody says it */
    assert_true(influx_cursor_metric(&b, &one, "n,\xff")->whole);
}

TEST(points_of_lines_keep_their_times)
{
    const int64_t steps[] = {STEP_NONE, STEP_NONE, STEP_NONE}, times[] = {20, 10, 20};
    const double values[] = {1, 2, 3};
    struct influx_column columns[] = {column("v", steps, times, values, 3)};
    struct influx_table table = {"m", INFLUX_STAMP_INIT(0), columns, 1, true};
    struct influx_batch batch = INFLUX_BATCH_INIT;

    influx_batch_add(&batch, &table, true);
    assert_string_equal(batch.text.s, "m v=1 20\nm v=2 10\nm v=3 20\n");
    influx_batch_release(&batch);
}

TEST(what_is_no_cursor_is_refused_with_a_sentence)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"version\":2}",
        "{\"version\":1,\"series\":[3]}",
        "{\"version\":1,\"series\":[{\"trial\":1,\"attempt\":1,\"file\":9,\"done\":{\"a\":1}}]}",
        "{\"version\":1,\"series\":[{\"trial\":1,\"attempt\":1,\"file\":0,\"done\":{}}]}"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        autorelease(influx_cursor) struct influx_cursor cursor;
        autorelease(err) struct err err = ERR_INIT;
        influx_cursor_init(&cursor, 0);
        assert_true(influx_cursor_parse(texts[i], strlen(texts[i]), 3, &cursor, &err) < 0);
        assert_true(*err_text(&err) != '\0');
    }
}

TEST(different_targets_have_different_files)
{
    autofree(mem) char *a = influx_cursor_name(3, "http://a:8086 database x/y");
    autofree(mem) char *b = influx_cursor_name(3, "http://a:8086 database x_y");
    assert_string_not_equal(a, b);
    assert_null(strchr(a, '/'));
}

/* ---- the server ---- */

static void check_address(const char *url, const char *db, const char *want, const char *user)
{
    struct influx_target target = {.url = url, .db = db, .org = "my org", .bucket = "b&c"};
    autorelease(influx_address) struct influx_address address;
    struct err err = ERR_INIT;
    assert_ok(influx_address_make(&target, &address, &err), &err);
    assert_string_equal(address.url, want);
    assert_string_equal(address.user ? address.user : "", user);
    assert_null(strchr(address.shown, '@'));
}

TEST(both_write_apis_have_their_url)
{
    check_address("http://h:8086", "a b", "http://h:8086/write?db=a%20b&precision=ns", "");
    check_address("https://me:p%40ss@h/influx//", "x", "https://h/influx/write?db=x&precision=ns",
                  "me:p@ss");
    check_address("http://h:8086/", NULL,
                  "http://h:8086/api/v2/write?org=my%20org&bucket=b%26c&precision=ns", "");
}

TEST(what_is_no_url_is_refused)
{
    static const char *const urls[] = {
        "",          "h:8086",    "ftp://h",       "http://",
        "http://@/", "http:///x", "http://h/?q=1", "file:///etc/passwd"};
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct influx_target target = {.url = urls[i], .db = "x"};
        autorelease(influx_address) struct influx_address address;
        autorelease(err) struct err err = ERR_INIT;
        assert_int_equal(influx_address_make(&target, &address, &err), -EINVAL);
    }
}

TEST(an_answer_says_whether_to_go_on_wait_or_stop)
{
    assert_int_equal(influx_verdict(204, ""), INFLUX_TAKEN);
    assert_int_equal(influx_verdict(400, "partial write: … dropped=1"), INFLUX_PARTLY);
    assert_int_equal(influx_verdict(422, "failure …: partial write: … dropped=1"), INFLUX_PARTLY);
    assert_int_equal(influx_verdict(422, "failure …"), INFLUX_REFUSED);
    assert_int_equal(influx_verdict(400, "database is required"), INFLUX_REFUSED);
    assert_int_equal(influx_verdict(401, "authorization failed"), INFLUX_REFUSED);
    assert_int_equal(influx_verdict(404, "database not found"), INFLUX_REFUSED);
    assert_int_equal(influx_verdict(429, ""), INFLUX_LATER);
    assert_int_equal(influx_verdict(503, "partial write"), INFLUX_LATER);
}

static void check_sentence(const char *body, const char *want)
{
    autorelease(str) struct str sentence = STR_INIT;
    influx_sentence(401, body, strlen(body), &sentence);
    assert_string_equal(sentence.s, want);
}

TEST(the_servers_sentence_is_found_and_harmless)
{
    check_sentence("{\"error\":\"database not found: \\\"x\\\"\"}", "database not found: \"x\"");
    check_sentence("{\"code\":\"unauthorized\",\"message\":\"no\\u001b[2J\"}", "no?[2J");
    check_sentence("<html>\nmore", "<html>");
    check_sentence("", "status 401");
}

TEST_MAIN
