/* SPDX-License-Identifier: MIT */
/*
 * db_test.c — the store keeps what it is given: bit for bit, once, in order, for every reader.
 */
#include "series/db_fixture.h"

#include "base/clock.h"
#include "base/rng.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <sys/stat.h>

static void append_range(struct series_db *db, struct series_source source, int64_t from,
                         int64_t to)
{
    for (int64_t i = from; i < to; i++)
        assert_int_equal(
            put2(db, source, (uint64_t)i + 1, i, "loss", 1.0 / (double)(i + 1), "acc", (double)i),
            0);
}

static void check_range(struct series_db *db, struct series_source source, int64_t to)
{
    struct points loss = points_of(db, source, "loss"), acc = points_of(db, source, "acc");

    assert_int_equal(loss.values.len, to);
    assert_int_equal(acc.values.len, to);
    for (int64_t i = 0; i < to; i++) {
        assert_true(loss.steps.at[i] == i && loss.times.at[i] == i * 1000);
        assert_true(loss.values.at[i] == 1.0 / (double)(i + 1));
        assert_true(acc.values.at[i] == (double)i);
    }
    points_release(&loss);
    points_release(&acc);
}

TEST(rows_come_back_at_once_after_opening_again_and_after_sealing)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);

    append_range(db, source_of(1, 2), 0, 3000);
    check_range(db, source_of(1, 2), 3000);
    series_db_free(db);
    db = must_open(home, SERIES_WRITE);
    check_range(db, source_of(1, 2), 3000);
    append_range(db, source_of(1, 2), 3000, 5000);
    check_range(db, source_of(1, 2), 5000);
    assert_int_equal(series_db_compact(db, NULL), 0);
    check_range(db, source_of(1, 2), 5000);
    append_range(db, source_of(1, 2), 5000, 5100);
    check_range(db, source_of(1, 2), 5100);
    assert_int_equal(wrong_in(db), 0);
    series_db_free(db);
    db = must_open(home, SERIES_READ);
    check_range(db, source_of(1, 2), 5100);
    assert_null(series_db_notes(db)[0]);
    series_db_free(db);
    home_end(home);
}

static size_t segments_in(const char *home)
{
    autofree(mem) char *pattern = xasprintf("%s/series/*.seg", home);
    glob_t found = {0};

    glob(pattern, 0, NULL, &found);
    size_t n = found.gl_pathc;
    globfree(&found);
    return n;
}

TEST(a_log_that_is_not_small_is_sealed_when_asked_to)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);

    append_range(db, source_of(1, 1), 0, 10);
    assert_int_equal(series_db_sync(db, NULL), 0);
    assert_int_equal(series_db_seal(db, NULL), 0);
    assert_int_equal(segments_in(home), 0);
    append_range(db, source_of(1, 2), 0, 20000);
    assert_int_equal(series_db_sync(db, NULL), 0);
    assert_int_equal(series_db_seal(db, NULL), 0);
    assert_int_equal(segments_in(home), 1);
    check_range(db, source_of(1, 1), 10);
    check_range(db, source_of(1, 2), 20000);
    series_db_free(db);
    db = must_open(home, SERIES_READ);
    check_range(db, source_of(1, 2), 20000);
    assert_int_equal(series_db_seal(db, NULL), -EROFS);
    series_db_free(db);
    home_end(home);
}

TEST(what_a_file_told_is_never_taken_twice)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source source = source_of(1, 1);

    for (int round = 0; round < 3; round++) {
        append_range(db, source, 0, 100 + round);
        assert_int_equal(count_of(db, source, "loss"), 100 + round);
        assert_int_equal(series_db_end(db, &source), 100 + round);
        if (round == 1)
            assert_int_equal(series_db_compact(db, NULL), 0);
        series_db_free(db);
        db = must_open(home, SERIES_WRITE);
        assert_int_equal(series_db_end(db, &source), 100 + round);
    }
    /* Rows that share an end come together; what is from no file always counts. */
    uint32_t name = name_of(db, "loss");
    double x = 1;
    struct series_row rows[3] = {
        {500, 1, 1, 1, &name, &x}, {500, 2, 2, 1, &name, &x}, {0, 3, 3, 1, &name, &x}};
    assert_int_equal(series_db_append(db, &source, rows, 3, NULL), 0);
    assert_int_equal(series_db_append(db, &source, rows, 3, NULL), 0);
    assert_int_equal(count_of(db, source, "loss"), 102 + 3 + 1);
    series_db_free(db);
    home_end(home);
}

TEST(bits_are_kept)
{
    static const uint64_t bits[] = {0x7ff8000000000001u, 0xfff0dead0000beefu, 0x7ff0000000000000u,
                                    0xfff0000000000000u, 0x8000000000000000u, 1,
                                    0x7fefffffffffffffu, 0x3ff0000000000000u};
    static const int64_t times[] = {
        INT64_MIN, INT64_MIN + 1, -9223372036854775000, -1, 0, 1, 9223372036854775807, 5};
    static const int64_t steps[] = {STEP_NONE, INT64_MAX, INT64_MIN + 1, 0, 5, 4, -3, STEP_NONE};
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source source = source_of(1, 1);
    uint32_t name = name_of(db, "x");

    for (size_t i = 0; i < ARRAY_LEN(bits); i++) {
        double x;
        memcpy(&x, &bits[i], sizeof(x));
        struct series_row row = {0, steps[i], times[i], 1, &name, &x};
        assert_int_equal(series_db_append(db, &source, &row, 1, NULL), 0);
    }
    for (int round = 0; round < 3; round++) {
        struct points points = points_of(db, source, "x");
        assert_int_equal(points.values.len, ARRAY_LEN(bits));
        assert_memory_equal(points.values.at, bits, sizeof(bits));
        assert_memory_equal(points.times.at, times, sizeof(times));
        assert_memory_equal(points.steps.at, steps, sizeof(steps));
        points_release(&points);
        if (round == 0) {
            series_db_free(db);
            db = must_open(home, SERIES_WRITE);
        } else if (round == 1) {
            assert_int_equal(series_db_compact(db, NULL), 0);
        }
    }
    series_db_free(db);
    home_end(home);
}

TEST(another_handle_sees_rows_after_flush_and_refresh)
{
    char *home = home_new();
    struct series_db *reader = must_open(home, SERIES_READ);
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source source = source_of(1, 1);

    assert_int_equal(count_of(reader, source, "loss"), 0);
    for (int64_t n = 0; n < 40; n++) {
        append_range(db, source, n * 100, n * 100 + 100);
        if (n % 7 == 3)
            assert_int_equal(series_db_compact(db, NULL), 0);
        assert_int_equal(series_db_flush(db, NULL), 0);
        assert_int_equal(series_db_refresh(reader, NULL), 0);
        check_range(reader, source, n * 100 + 100);
        assert_int_equal(series_db_end(reader, &source), n * 100 + 100);
    }
    assert_int_equal(series_db_drop(db, 1, 0, NULL), 0);
    assert_int_equal(series_db_flush(db, NULL), 0);
    assert_int_equal(series_db_refresh(reader, NULL), 0);
    assert_int_equal(count_of(reader, source, "loss"), 0);
    assert_int_equal(series_db_append(reader, &source, NULL, 0, NULL), -EROFS);
    series_db_free(db);
    series_db_free(reader);
    home_end(home);
}

TEST(rows_of_different_groups_are_told_in_the_order_in_which_they_came)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source source = source_of(3, 1);
    struct rng rng;
    int64_t n = 0;

    rng_init(&rng, 7, 0);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 1500; i++, n++) {
            uint64_t what = rng_below(&rng, 3);
            if (what == 0)
                put1(db, source, 0, n, "x", (double)n);
            else
                put2(db, source, 0, n, what == 1 ? "x" : "y", (double)n, what == 1 ? "y" : "x",
                     (double)n);
        }
        struct points points = points_of(db, source, "x");
        assert_int_equal(points.values.len, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(points.values.at[i] == (double)i && points.steps.at[i] == i);
        points_release(&points);
        if (round % 2)
            assert_int_equal(series_db_compact(db, NULL), 0);
    }
    assert_int_equal(wrong_in(db), 0);
    series_db_free(db);
    home_end(home);
}

struct listed {
    size_t n;
    struct series_info at[8];
};
static int take_info(const struct series_info *info, void *arg)
{
    struct listed *listed = arg;
    if (listed->n < ARRAY_LEN(listed->at))
        listed->at[listed->n] = *info;
    listed->n++;
    return 0;
}

TEST(lists_tell_statistics_over_logs_and_segments)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);

    for (int64_t i = 0; i < 4000; i++) {
        put2(db, source_of(1, 1), 0, i, "loss", (double)(4000 - i), "acc", i == 7 ? NAN : 1);
        put1(db, source_of(1, 2), 0, i, "loss", 2);
        if (i % 100 == 0)
            put1(db, source_of(1, 1), 0, i, "loss", -1);
        if (i == 1000 || i == 2500)
            assert_int_equal(series_db_compact(db, NULL), 0);
    }
    put1(db, source_of(2, 1), 0, STEP_NONE, "other", 1);
    struct listed listed = {0};
    assert_int_equal(series_db_list(db, 1, -1, SERIES_NAME_NONE, take_info, &listed), 0);
    assert_int_equal(listed.n, 3);
    const struct series_info *loss = &listed.at[0];
    assert_string_equal(series_db_name_text(db, loss->name), "loss");
    assert_int_equal(loss->source.trial, 1);
    assert_int_equal(loss->stats.count, 4040);
    assert_true(loss->stats.min == -1 && loss->stats.max == 4000);
    assert_true(loss->stats.first == 4000 && loss->stats.last == 1);
    assert_true(loss->first_step == 0 && loss->last_step == 3999 && loss->last_ns == 3999000);
    assert_int_equal(listed.at[1].stats.nans, 1);
    assert_int_equal(listed.at[2].source.trial, 2);
    listed.n = 0;
    assert_int_equal(series_db_list(db, 1, 2, name_of(db, "loss"), take_info, &listed), 0);
    assert_int_equal(listed.n, 1);
    assert_true(listed.at[0].stats.sum == 8000);
    listed.n = 0;
    assert_int_equal(series_db_list(db, 2, 1, SERIES_NAME_NONE, take_info, &listed), 0);
    assert_true(listed.n == 1 && listed.at[0].first_step == STEP_NONE);
    struct points heads = {0};
    struct series_source source = source_of(1, 2);
    assert_int_equal(series_db_headers(db, &source, name_of(db, "loss"), take_chunk, &heads), 0);
    assert_int_equal(heads.counted, 4000);
    series_db_free(db);
    home_end(home);
}

TEST(whole_blocks_outside_a_range_are_left_out)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source source = source_of(1, 1);
    struct series_range range = series_all;

    range.min_step = 5000;
    range.max_step = 5001;
    append_range(db, source, 0, 10000);
    for (int round = 0; round < 2; round++) {
        struct points points = {0};
        assert_int_equal(
            series_db_read(db, &source, name_of(db, "loss"), &range, take_chunk, &points), 0);
        assert_int_equal(points.values.len, BLOCK_VALUES);
        points_release(&points);
        assert_int_equal(series_db_compact(db, NULL), 0);
    }
    series_db_free(db);
    home_end(home);
}

struct wanted {
    bool steps, times; /* in every chunk so far */
    size_t n;
};

static int take_wanted(const struct series_chunk *chunk, void *arg)
{
    struct wanted *wanted = arg;

    wanted->steps &= chunk->steps != NULL;
    wanted->times &= chunk->times_ns != NULL;
    for (size_t i = 0; i < chunk->n; i++) {
        int64_t step = (int64_t)chunk->values[i];
        assert_true(!chunk->steps || chunk->steps[i] == step);
        assert_true(!chunk->times_ns || chunk->times_ns[i] == step * 1000);
    }
    wanted->n += chunk->n;
    return 0;
}

TEST(steps_and_times_that_nobody_wants_are_not_read_from_segments)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source source = source_of(1, 1);

    for (int64_t step = 0; step < 3000; step++)
        assert_int_equal(put1(db, source, (uint64_t)step + 1, step, "loss", (double)step), 0);
    for (unsigned compacted = 0; compacted < 2; compacted++) {
        for (unsigned round = 0; round < 4; round++) {
            struct series_range range = series_all;
            struct wanted wanted = {.steps = true, .times = true};
            range.no_steps = round & 1;
            range.no_times = round & 2;
            assert_int_equal(
                series_db_read(db, &source, name_of(db, "loss"), &range, take_wanted, &wanted), 0);
            assert_int_equal(wanted.n, 3000);
            assert_int_equal(wanted.steps, !compacted || !range.no_steps);
            assert_int_equal(wanted.times, !compacted || !range.no_times);
        }
        assert_int_equal(series_db_compact(db, NULL), 0);
    }
    series_db_free(db);
    home_end(home);
}

TEST(what_is_dropped_is_gone_and_what_comes_later_is_not)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_size before, after;

    append_range(db, source_of(1, 1), 0, 5000);
    append_range(db, source_of(1, 2), 0, 5000);
    append_range(db, source_of(2, 1), 0, 100);
    assert_int_equal(series_db_compact(db, NULL), 0);
    append_range(db, source_of(1, 2), 5000, 5010);
    series_db_size(db, &before);
    assert_int_equal(series_db_drop(db, 1, 2, NULL), 0);
    assert_int_equal(count_of(db, source_of(1, 2), "loss"), 0);
    append_range(db, source_of(1, 2), 0, 3);
    for (int round = 0; round < 4; round++) {
        check_range(db, source_of(1, 1), 5000);
        check_range(db, source_of(1, 2), 3);
        check_range(db, source_of(2, 1), 100);
        if (round == 1)
            assert_int_equal(series_db_compact(db, NULL), 0);
        series_db_free(db);
        db = must_open(home, SERIES_WRITE);
    }
    series_db_size(db, &after);
    assert_true(after.bytes < before.bytes * 2 / 3);
    assert_int_equal(after.rows, 5103);
    assert_int_equal(after.values, 2 * 5103);
    assert_int_equal(series_db_drop(db, 1, 0, NULL), 0);
    assert_int_equal(series_db_compact(db, NULL), 0);
    assert_int_equal(count_of(db, source_of(1, 1), "loss"), 0);
    check_range(db, source_of(2, 1), 100);
    assert_int_equal(wrong_in(db), 0);
    series_db_free(db);
    home_end(home);
}

TEST(what_is_dropped_gives_its_room_back_while_others_are_written)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_size before, after;

    append_range(db, source_of(1, 1), 0, 5000);
    append_range(db, source_of(2, 1), 0, 5000);
    assert_int_equal(series_db_compact(db, NULL), 0);
    series_db_size(db, &before);
    struct series_db *reader = must_open(home, SERIES_READ);
    check_range(reader, source_of(1, 1), 5000);
    assert_false(series_db_has_dropped(db));
    assert_int_equal(series_db_drop(db, 1, 0, NULL), 0);
    assert_true(series_db_has_dropped(db));
    for (int64_t end_us = clock_mono_us() + 60 * US_PER_S; series_db_has_dropped(db);) {
        assert_true(clock_mono_us() < end_us);
        assert_int_equal(series_db_refresh(db, NULL), 0);
    }
    series_db_size(db, &after);
    assert_true(after.bytes < before.bytes * 2 / 3);
    check_range(db, source_of(2, 1), 5000);
    /* one who reads beside lets go of the old file, too */
    assert_int_equal(series_db_flush(db, NULL), 0);
    assert_int_equal(series_db_refresh(reader, NULL), 0);
    series_db_size(reader, &after);
    assert_true(after.bytes < before.bytes * 2 / 3);
    check_range(reader, source_of(2, 1), 5000);
    series_db_free(reader);
    series_db_free(db);
    home_end(home);
}

TEST(a_reader_knows_no_end_of_what_was_dropped_and_merged_away)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source gone = source_of(1, 1), kept = source_of(1, 2);

    append_range(db, gone, 0, 100);
    append_range(db, kept, 0, 50);
    assert_int_equal(series_db_compact(db, NULL), 0);
    struct series_db *reader = must_open(home, SERIES_READ);
    assert_int_equal(series_db_end(reader, &gone), 100);
    assert_int_equal(series_db_drop(db, 1, 1, NULL), 0);
    assert_int_equal(series_db_compact(db, NULL), 0);
    assert_int_equal(series_db_refresh(reader, NULL), 0);
    assert_int_equal(series_db_end(reader, &gone), 0);
    assert_int_equal(series_db_end(reader, &kept), 50);
    append_range(db, gone, 0, 7);
    assert_int_equal(series_db_flush(db, NULL), 0);
    assert_int_equal(series_db_refresh(reader, NULL), 0);
    assert_int_equal(series_db_end(reader, &gone), 7);
    check_range(reader, gone, 7);
    series_db_free(reader);
    series_db_free(db);
    home_end(home);
}

TEST(random_subsets_of_metrics_make_no_group_each)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source source = source_of(1, 1);
    struct rng rng;
    size_t want[12] = {0};
    uint32_t all[12];

    rng_init(&rng, 3, 0);
    for (uint32_t i = 0; i < 12; i++) {
        char text[16];
        snprintf(text, sizeof(text), "m%u", i);
        all[i] = name_of(db, text);
    }
    for (int i = 0; i < 4000; i++) {
        uint32_t names[12];
        double values[12];
        size_t n = 0;
        for (uint32_t j = 0; j < 12; j++)
            if (rng_chance(&rng, 0.5)) {
                names[n] = all[j];
                values[n++] = (double)want[j]++;
            }
        struct series_row row = {0, i, i, n, names, values};
        if (n)
            assert_int_equal(series_db_append(db, &source, &row, 1, NULL), 0);
        if (i % 900 == 899)
            assert_int_equal(series_db_compact(db, NULL), 0);
    }
    assert_in_range(db->layers.at[0]->segment->counts[TABLE_GROUPS], 12, 2 * MEMORY_GROUPS);
    for (uint32_t j = 0; j < 12; j++) {
        struct points points = points_of(db, source, series_db_name_text(db, all[j]));
        assert_int_equal(points.values.len, want[j]);
        for (size_t i = 0; i < points.values.len; i++)
            assert_true(points.values.at[i] == (double)i);
        points_release(&points);
    }
    series_db_free(db);
    home_end(home);
}

TEST(a_name_twice_in_a_row_keeps_both_values)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);

    assert_int_equal(put2(db, source_of(1, 1), 0, 1, "x", 1, "x", 2), 0);
    assert_int_equal(count_of(db, source_of(1, 1), "x"), 2);
    series_db_free(db);
    home_end(home);
}

TEST(bad_rows_are_refused)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source source = source_of(1, 1), odd = {1, 1, 1, (enum series_file)99};
    uint32_t name = 77;
    double x = 1;
    struct series_row row = {0, 1, 1, 1, &name, &x}, empty = {0, 1, 1, 0, &name, &x};
    char longest[SERIES_NAME_MAX + 1];

    assert_int_equal(series_db_append(db, &source, &row, 1, NULL), -EINVAL);
    assert_int_equal(series_db_append(db, &source, &empty, 1, NULL), -EINVAL);
    assert_int_equal(series_db_append(db, &odd, &row, 0, NULL), -EINVAL);
    memset(longest, 'n', sizeof(longest));
    assert_int_equal(series_db_name(db, longest, sizeof(longest)), SERIES_NAME_NONE);
    assert_int_equal(series_db_name(db, "", 0), SERIES_NAME_NONE);
    assert_int_equal(series_db_name(db, "a\0b", 3), SERIES_NAME_NONE);
    assert_int_not_equal(series_db_name(db, longest, SERIES_NAME_MAX), SERIES_NAME_NONE);
    assert_null(series_db_name_text(db, 12345));
    series_db_free(db);
    home_end(home);
}

TEST(many_small_segments_are_merged_by_themselves)
{
    char *home = home_new();
    struct series_size size;
    struct series_source source = source_of(1, 1);
    enum { N = 14, ROWS = 13000, WIDTH = 10 };
    uint32_t names[WIDTH];
    double values[WIDTH] = {0};
    static const char *const texts[WIDTH] = {"loss", "acc", "a", "b", "c", "d", "e", "f", "g", "h"};

    /* A log of more than 1 MiB is sealed when the home is closed. */
    for (int i = 0; i < N; i++) {
        struct series_db *db = must_open(home, SERIES_WRITE);
        for (int j = 0; j < WIDTH; j++)
            names[j] = name_of(db, texts[j]);
        for (int j = 0; j < ROWS; j++) {
            int64_t step = (int64_t)i * ROWS + j;
            values[0] = 1.0 / (double)(step + 1);
            values[1] = (double)step;
            struct series_row row = {(uint64_t)step + 1, step, step * 1000, WIDTH, names, values};
            assert_int_equal(series_db_append(db, &source, &row, 1, NULL), 0);
        }
        series_db_free(db);
    }
    struct series_db *db = must_open(home, SERIES_READ);
    series_db_size(db, &size);
    assert_in_range(size.segments, 1, 8);
    assert_int_equal(size.rows, N * ROWS);
    check_range(db, source, (int64_t)N * ROWS);
    assert_int_equal(wrong_in(db), 0);
    series_db_free(db);
    home_end(home);
}

TEST(a_home_without_series_is_empty_and_one_of_read_only_files_can_be_read)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_READ);
    struct series_size size;

    series_db_size(db, &size);
    assert_int_equal(size.bytes, 0);
    assert_int_equal(series_db_refresh(db, NULL), 0);
    series_db_free(db);
    db = must_open(home, SERIES_WRITE);
    append_range(db, source_of(1, 1), 0, 10);
    series_db_free(db);
    autofree(mem) char *folder = xasprintf("%s/series", home);
    assert_int_equal(chmod(folder, 0500), 0);
    db = must_open(home, SERIES_READ);
    check_range(db, source_of(1, 1), 10);
    series_db_free(db);
    assert_int_equal(chmod(folder, 0700), 0);
    home_end(home);
}

TEST_MAIN
