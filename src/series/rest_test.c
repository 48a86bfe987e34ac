/* SPDX-License-Identifier: MIT */
/*
 * rest_test.c — whole numbers of 64 bits come back exactly, wherever their rows are.
 */
#include "base/rest.h"
#include "series/db_fixture.h"
#include "series/rows.h"

#include <math.h>

static const int64_t numbers[] = {
    9007199254740993,    9007199254740992,
    9007199254740994,    5,
    -9007199254740993,   INT64_MAX,
    INT64_MAX - 1,       INT64_MIN,
    INT64_MIN + 1,       1152921504606846976,
    1000000000000000001, 0,
    4611686018427387905, -4611686018427388161,
    9223372036854775295, 9223372036854775296,
};

TEST(a_double_and_its_rest_are_any_whole_number)
{
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uint16_t rest = rest_of(numbers[i]);
        double value = (double)numbers[i];
        assert_int_equal(rest != 0, rest_needed(numbers[i]));
        assert_int_equal(rest_checked(value, rest), rest);
        if (rest)
            assert_int_equal(rest_whole(value, rest), numbers[i]);
    }
    assert_int_equal(rest_checked(NAN, 1024), 0);
    assert_int_equal(rest_checked(1e300, 1024), 0);
    assert_int_equal(rest_checked(0x1p60, NAN), 0);
    assert_int_equal(rest_checked(0x1p60, 5000), 0);
    assert_int_equal(rest_checked(7, 1024), 0);
}

/* A row of a whole number, and of `other` if it is not NULL. */
static void put(struct series_db *db, int64_t step, const char *name, int64_t number,
                const char *other)
{
    struct series_source source = source_of(1, 1);
    uint32_t names[3];
    double values[3];
    size_t n = 0;

    if (other) {
        names[n] = name_of(db, other);
        values[n++] = 0.5;
    }
    names[n] = name_of(db, name);
    values[n++] = (double)number;
    if (rest_needed(number)) {
        names[n] = series_db_rest(db, names[n - 1]);
        values[n++] = rest_of(number);
    }
    struct series_row row = {0, step, step * 1000, n, names, values};
    assert_int_equal(series_db_append(db, &source, &row, 1, NULL), 0);
}

static int take_number(const struct series_chunk *chunk, void *arg)
{
    size_t *seen = arg;

    for (size_t i = 0; i < chunk->n; i++) {
        uint16_t rest = series_chunk_rest(chunk, i);
        int64_t number = rest ? rest_whole(chunk->values[i], rest) : (int64_t)chunk->values[i];
        assert_int_equal(number, numbers[chunk->steps[i] % (int64_t)ARRAY_LEN(numbers)]);
        assert_int_equal(chunk->steps[i], *seen);
        ++*seen;
    }
    return 0;
}

static void take_cell(const struct series_cell *cell, void *arg)
{
    size_t *seen = arg;

    if (cell->value == 0.5)
        return;
    int64_t number = cell->rest ? rest_whole(cell->value, cell->rest) : (int64_t)cell->value;
    assert_int_equal(number, numbers[cell->step % (int64_t)ARRAY_LEN(numbers)]);
    ++*seen;
}

static int take_info(const struct series_info *info, void *arg)
{
    struct series_db *db = arg;
    assert_null(strchr(series_db_name_text(db, info->name), '\x01'));
    return 0;
}

static void check_numbers(struct series_db *db, const char *name, size_t n)
{
    struct series_source source = source_of(1, 1);
    size_t seen = 0, cells = 0;

    assert_int_equal(
        series_db_read(db, &source, name_of(db, name), &series_all, take_number, &seen), 0);
    assert_int_equal(seen, n);
    series_db_rows(db, &source, take_cell, &cells);
    assert_true(cells >= n);
    assert_int_equal(series_db_list(db, 1, -1, SERIES_NAME_NONE, take_info, db), 0);
    assert_true(series_db_has_rests(db, 1, name_of(db, name)));
}

/* As they are, by another handle, sealed, merged, opened again. */
static void check_everywhere(char *home, struct series_db *db, const char *name, size_t n)
{
    check_numbers(db, name, n);
    assert_int_equal(series_db_flush(db, NULL), 0);
    struct series_db *reader = must_open(home, SERIES_READ);
    check_numbers(reader, name, n);
    series_db_free(reader);
    assert_int_equal(series_db_compact(db, NULL), 0);
    check_numbers(db, name, n);
    series_db_free(db);
    reader = must_open(home, SERIES_READ);
    check_numbers(reader, name, n);
    assert_int_equal(series_db_verify(reader, true, print_sentence, NULL), 0);
    series_db_free(reader);
}

TEST(whole_numbers_are_exact_in_logs_and_segments_beside_small_ones)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);

    for (int64_t step = 0; step < 5000; step++) {
        put(db, step, "n", numbers[step % (int64_t)ARRAY_LEN(numbers)], step % 3 ? NULL : "other");
        if (step == 2000)
            assert_int_equal(db_seal_all(db, NULL), 0);
    }
    check_everywhere(home, db, "n", 5000);
    home_end(home);
}

/* So many sets of metrics that memory takes rows apart, and a merge groups. */
TEST(whole_numbers_are_exact_in_rows_that_are_taken_apart)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    char other[32];

    for (int64_t step = 0; step < 600; step++) {
        snprintf(other, sizeof(other), "o%lld", (long long)step % 200);
        put(db, step, "n", numbers[step % (int64_t)ARRAY_LEN(numbers)], other);
        if (step % 150 == 149)
            assert_int_equal(db_seal_all(db, NULL), 0);
    }
    check_everywhere(home, db, "n", 600);
    home_end(home);
}

TEST(a_metric_cannot_be_called_as_the_rests_of_one)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    uint32_t n = name_of(db, "n"), rest = series_db_rest(db, n);
    char longest[SERIES_NAME_MAX + 1];

    assert_true(series_db_is_rest(db, rest));
    assert_false(series_db_is_rest(db, n));
    assert_int_equal(series_db_rest(db, n), rest);
    assert_int_equal(name_of(db, series_db_name_text(db, rest)), SERIES_NAME_NONE);
    memset(longest, 'x', SERIES_NAME_MAX);
    longest[SERIES_NAME_MAX] = '\0';
    assert_int_equal(series_db_rest(db, name_of(db, longest)), SERIES_NAME_NONE);
    assert_false(series_db_has_rests(db, 1, n));
    series_db_free(db);
    home_end(home);
}

TEST_MAIN
