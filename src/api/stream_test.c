/* SPDX-License-Identifier: MIT */
/*
 * stream_test.c — the texts that viewers get: changes with cursors, points in batches.
 */
#include "api/stream_points.h"
#include "api/stream_ring.h"
#include "series/db_fixture.h"

#include <errno.h>
#include <math.h>

/* ---- changes ---- */

static void add(struct ring *ring, int64_t trial)
{
    autofree(mem) char *json = xasprintf(
        "{\"event\":\"trial_ended\",\"experiment\":3,\"trial\":\"3.%lld\"}", (long long)trial);
    ring_add(ring, 3, json, 1000000);
}

static char *cursor_of(const struct ring *ring)
{
    struct str text = STR_INIT;
    ring_cursor(ring, &text);
    return str_take(&text);
}

TEST(a_change_has_a_cursor_a_number_for_its_trial_and_the_time)
{
    autofree(ring) struct ring *ring = ring_new(0xabc, 10, 10000);
    const struct str *text = ring_add(
        ring, 3, "{\"event\":\"trial_ended\",\"experiment\":3,\"trial\":\"3.7\",\"value\":0.5}",
        1500000);

    assert_string_equal(
        text->s, "id: 0000000000000abc-1\nevent: change\ndata: {\"experiment\":3,\"trial\":7,"
                 "\"time\":\"1970-01-01T00:00:01.500000Z\",\"event\":\"trial_ended\",\"value\":0.5}"
                 "\n\n");
    text =
        ring_add(ring, 4, "{\"event\":\"started\",\"experiment\":4,\"name\":\"a\\nb\"}", 1500000);
    assert_string_equal(
        text->s,
        "id: 0000000000000abc-2\nevent: change\ndata: {\"experiment\":4,\"trial\":null,"
        "\"time\":\"1970-01-01T00:00:01.500000Z\",\"event\":\"started\",\"name\":\"a\\nb\"}"
        "\n\n");
}

TEST(who_comes_back_hears_what_it_missed_and_nothing_else)
{
    autofree(ring) struct ring *ring = ring_new(7, 10, 100000);
    autofree(mem) char *at_first = cursor_of(ring);
    autorelease(str) struct str missed = STR_INIT;

    add(ring, 1);
    autofree(mem) char *after_one = cursor_of(ring);
    add(ring, 2);
    add(ring, 3);
    assert_int_equal(ring_after(ring, after_one, 100000, &missed), 0);
    assert_null(strstr(missed.s, "\"trial\":1,"));
    const char *two = strstr(missed.s, "\"trial\":2,"), *three = strstr(missed.s, "\"trial\":3,");
    assert_true(two && three && two < three);
    str_cut(&missed, 0);
    assert_int_equal(ring_after(ring, at_first, 100000, &missed), 0);
    assert_non_null(strstr(missed.s, "\"trial\":1,"));
    autofree(mem) char *newest = cursor_of(ring);
    str_cut(&missed, 0);
    assert_int_equal(ring_after(ring, newest, 100000, &missed), 0);
    assert_int_equal(missed.len, 0);
}

TEST(a_cursor_that_is_too_old_or_none_of_ours_is_stale)
{
    static const char *const others[] = {"",
                                         "x",
                                         "0000000000000008-1",
                                         "0000000000000007-",
                                         "0000000000000007-99",
                                         "0000000000000007--1",
                                         "0000000000000007- 3",
                                         "7-3",
                                         "0000000000000007-3x",
                                         "0000000000000007-18446744073709551616",
                                         "0000000000000007-03"};
    autofree(ring) struct ring *ring = ring_new(7, 3, 100000);
    autorelease(str) struct str missed = STR_INIT;

    for (int64_t i = 1; i <= 5; i++)
        add(ring, i);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_int_equal(ring_after(ring, others[i], 100000, &missed), -ESTALE);
    assert_int_equal(ring_after(ring, "0000000000000007-1", 100000, &missed), -ESTALE);
    assert_int_equal(ring_after(ring, "0000000000000007-2", 100, &missed), -ESTALE);
    assert_int_equal(missed.len, 0);
    assert_int_equal(ring_after(ring, "0000000000000007-2", 100000, &missed), 0);
    assert_non_null(strstr(missed.s, "\"trial\":5,"));
}

TEST(the_cursor_for_other_threads_is_that_of_the_newest_change)
{
    autofree(ring) struct ring *ring = ring_new(7, 3, 100000);
    char now[RING_CURSOR_SIZE];

    for (int64_t i = 0; i <= 5; i++) {
        autofree(mem) char *newest = cursor_of(ring);
        ring_cursor_now(ring, now);
        assert_string_equal(now, newest);
        add(ring, i + 1);
    }
}

TEST(the_oldest_changes_go_when_there_are_too_many_bytes)
{
    autofree(ring) struct ring *ring = ring_new(7, 1000, 1000);
    autorelease(str) struct str missed = STR_INIT;

    for (int64_t i = 1; i <= 100; i++)
        add(ring, i);
    assert_int_equal(ring_after(ring, "0000000000000007-50", 100000, &missed), -ESTALE);
    assert_int_equal(ring_after(ring, "0000000000000007-98", 100000, &missed), 0);
    assert_true(missed.len > 100 && missed.len < 1000);
}

/* ---- points ---- */

struct fixture {
    char *home;
    struct series_db *db;
    struct points_batch *batch;
    struct str told;
    size_t pieces;
};

static void on_rows(const struct series_source *source, const struct series_row *rows, size_t n,
                    void *arg)
{
    struct fixture *fixture = arg;
    for (size_t i = 0; i < n; i++)
        points_batch_add(fixture->batch, source, &rows[i]);
}

static void fixture_init(struct fixture *fixture)
{
    *fixture = (struct fixture){.home = home_new(), .told = STR_INIT};
    fixture->db = must_open(fixture->home, SERIES_WRITE);
    fixture->batch = points_batch_new();
    series_db_on_rows(fixture->db, on_rows, fixture);
}

static void fixture_release(struct fixture *fixture)
{
    points_batch_free(fixture->batch);
    series_db_free(fixture->db);
    home_end(fixture->home);
    str_release(&fixture->told);
}

static void on_text(int64_t experiment, const struct str *text, void *arg)
{
    struct fixture *fixture = arg;
    str_addf(&fixture->told, "[%lld]", (long long)experiment);
    str_add(&fixture->told, text->s);
    fixture->pieces++;
}

static void tell(struct fixture *fixture)
{
    str_cut(&fixture->told, 0);
    points_batch_tell(fixture->batch, fixture->db, on_text, fixture);
    assert_true(points_batch_empty(fixture->batch));
}

static void put(struct fixture *fixture, struct series_source source, int64_t step,
                const char *metric, double value)
{
    static uint64_t end;
    assert_int_equal(put1(fixture->db, source, ++end, step, metric, value), 0);
}

TEST(samples_are_told_by_series_with_words_for_what_json_has_no_number)
{
    struct fixture fixture;

    fixture_init(&fixture);
    assert_true(points_batch_empty(fixture.batch));
    put(&fixture, source_of(4, 1), 1000000, "acc", 1);
    put(&fixture, source_of(3, 7), 1000000, "loss", 0.5);
    put(&fixture, source_of(3, 7), 2500000, "loss", NAN);
    put(&fixture, source_of(3, 7), 2500001, "loss", -INFINITY);
    put(&fixture, source_of(3, 7), STEP_NONE, "loss", INFINITY);
    assert_false(points_batch_empty(fixture.batch));
    tell(&fixture);
    assert_string_equal(
        fixture.told.s,
        "[3]event: points\ndata: {\"experiment\":3,\"trial\":7,\"metric\":\"loss\","
        "\"step\":[1000000,2500000,2500001,null],\"time\":[1.000000,2.500000,2.500001,null],"
        "\"value\":[0.5,\"NaN\",\"-Infinity\",\"Infinity\"]}\n\n"
        "[4]event: points\ndata: {\"experiment\":4,\"trial\":1,\"metric\":\"acc\","
        "\"step\":[1000000],\"time\":[1.000000],\"value\":[1]}\n\n");
    fixture_release(&fixture);
}

TEST(a_row_that_was_stored_before_is_not_told_again)
{
    struct fixture fixture;

    fixture_init(&fixture);
    assert_int_equal(put1(fixture.db, source_of(3, 7), 10, 1, "loss", 1), 0);
    tell(&fixture);
    assert_int_equal(put1(fixture.db, source_of(3, 7), 10, 1, "loss", 1), 0);
    assert_true(points_batch_empty(fixture.batch));
    fixture_release(&fixture);
}

TEST(what_a_lesser_source_repeats_is_left_out)
{
    struct series_source output = {3, 7, 1, SERIES_STDOUT}, again = {3, 7, 2, SERIES_STDOUT};
    struct fixture fixture;

    fixture_init(&fixture);
    put(&fixture, source_of(3, 7), 1, "loss", 1);
    put(&fixture, output, 1, "loss", 100);
    put(&fixture, output, 1, "printed", 5);
    put(&fixture, again, 2, "loss", 7);
    tell(&fixture);
    assert_non_null(strstr(fixture.told.s, "\"value\":[1,7]"));
    assert_non_null(strstr(fixture.told.s, "\"value\":[5]"));
    assert_null(strstr(fixture.told.s, "100"));
    fixture_release(&fixture);
}

static size_t count(const char *text, char c)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == c;
    return n;
}

TEST(a_series_that_tells_a_lot_is_thinned_evenly)
{
    struct fixture fixture;

    fixture_init(&fixture);
    for (int64_t i = 0; i < 1000; i++)
        put(&fixture, source_of(3, 7), i, "loss", (double)i);
    tell(&fixture);
    const char *values = strstr(fixture.told.s, "\"value\":[");
    assert_non_null(values);
    assert_true(count(values, ',') >= POINTS_MAX / 2 - 1 && count(values, ',') <= POINTS_MAX);
    assert_non_null(strstr(values, "[0,16,32,"));
    assert_non_null(strstr(values, "\"left_out\":937"));
    fixture_release(&fixture);
}

TEST(many_series_come_in_pieces_and_each_once)
{
    struct fixture fixture;

    fixture_init(&fixture);
    for (int64_t i = 1; i <= POINTS_SERIES + 10; i++)
        put(&fixture, source_of(3, i), 1, "a_metric_with_a_rather_long_name_of_its_own", 1);
    tell(&fixture);
    assert_true(fixture.pieces > 1);
    assert_int_equal(count(fixture.told.s, '{'), POINTS_SERIES);
    fixture_release(&fixture);
}

TEST_MAIN
