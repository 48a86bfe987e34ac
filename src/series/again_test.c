/* SPDX-License-Identifier: MIT */
/*
 * again_test.c — of points of lines with the same time the last counts, wherever they lie: chunks,
 * lists, headers and rows agree with a plain look at all that was told.
 */
#include "base/rng.h"
#include "series/db_fixture.h"
#include "series/rows.h"

static struct series_source lines_of(int64_t trial)
{
    return (struct series_source){1, trial, 0, SERIES_OUTSIDE};
}

static void put_at(struct series_db *db, struct series_source source, int64_t ns, const char *name,
                   double value, const char *other)
{
    uint32_t names[] = {name_of(db, name), name_of(db, other ? other : "x")};
    double values[] = {value, -value};
    struct series_row row = {0, STEP_NONE, ns, other ? 2 : 1, names, values};

    assert_int_equal(series_db_append(db, &source, &row, 1, NULL), 0);
}

struct shadow { /* what was told, and what counts of it */
    VEC(int64_t) times;
    VEC(double) values;
};

static void shadow_add(struct shadow *shadow, int64_t ns, double value)
{
    for (size_t i = 0; i < shadow->times.len; i++)
        if (shadow->times.at[i] == ns) {
            size_t behind = shadow->times.len - i - 1;
            memmove(&shadow->times.at[i], &shadow->times.at[i + 1], behind * sizeof(int64_t));
            memmove(&shadow->values.at[i], &shadow->values.at[i + 1], behind * sizeof(double));
            shadow->times.len--;
            shadow->values.len--;
            break;
        }
    vec_push(&shadow->times, ns);
    vec_push(&shadow->values, value);
}

static void shadow_release(struct shadow *shadow)
{
    vec_release(&shadow->times);
    vec_release(&shadow->values);
}

struct seen {
    const struct shadow *shadow;
    size_t n;
    uint32_t name;
    double sum, first, last;
};

static void take_cell(const struct series_cell *cell, void *arg)
{
    struct seen *seen = arg;

    if (cell->name != seen->name)
        return;
    assert_true(seen->n < seen->shadow->times.len);
    assert_int_equal(cell->time_ns, seen->shadow->times.at[seen->n]);
    assert_true(cell->value == seen->shadow->values.at[seen->n++]);
}

static int take_info(const struct series_info *info, void *arg)
{
    struct seen *seen = arg;
    seen->n += info->stats.count;
    seen->sum += info->stats.sum;
    seen->first = info->stats.first;
    seen->last = info->stats.last;
    return 0;
}

static int take_header(const struct series_chunk *chunk, void *arg)
{
    struct seen *seen = arg;
    seen->n += chunk->stats->count;
    seen->sum += chunk->stats->sum;
    return 0;
}

/* First and last are those in time. */
static void check_ends(const struct shadow *shadow, const struct seen *listed)
{
    size_t first = 0, last = 0;

    for (size_t i = 1; i < shadow->times.len; i++) {
        first = shadow->times.at[i] < shadow->times.at[first] ? i : first;
        last = shadow->times.at[i] > shadow->times.at[last] ? i : last;
    }
    if (shadow->times.len)
        assert_true(listed->first == shadow->values.at[first] &&
                    listed->last == shadow->values.at[last]);
}

static void check_sums(struct series_db *db, const struct shadow *shadow, uint32_t name)
{
    struct series_source source = lines_of(1);
    struct seen listed = {.shadow = shadow}, headed = {.shadow = shadow};
    double sum = 0;

    for (size_t i = 0; i < shadow->values.len; i++)
        sum += shadow->values.at[i];
    series_db_list(db, 1, 1, name, take_info, &listed);
    series_db_headers(db, &source, name, take_header, &headed);
    assert_int_equal(listed.n, shadow->values.len);
    assert_int_equal(headed.n, shadow->values.len);
    assert_true(listed.sum == sum && headed.sum == sum);
    check_ends(shadow, &listed);
}

static void check(struct series_db *db, const struct shadow *shadow, const char *name)
{
    struct series_source source = lines_of(1);
    struct points points = points_of(db, source, name);
    struct seen seen = {.shadow = shadow, .name = name_of(db, name)};

    assert_int_equal(points.values.len, shadow->values.len);
    for (size_t i = 0; i < points.values.len; i++) {
        assert_int_equal(points.times.at[i], shadow->times.at[i]);
        assert_true(points.values.at[i] == shadow->values.at[i]);
    }
    points_release(&points);
    series_db_rows(db, &source, take_cell, &seen);
    assert_int_equal(seen.n, shadow->values.len);
    check_sums(db, shadow, seen.name);
}

static void check_closed(char *home, struct series_db *db, const struct shadow *shadow)
{
    check(db, shadow, "v");
    assert_int_equal(series_db_compact(db, NULL), 0);
    check(db, shadow, "v");
    series_db_free(db);
    db = must_open(home, SERIES_READ);
    check(db, shadow, "v");
    series_db_free(db);
}

/* Batches that are sent again, values that come late, in several logs, segments and groups. */
static void tell_some(struct series_db *db, struct shadow *shadow, struct rng *rng)
{
    int64_t now = 1000;

    for (int batch = 0; batch < 60; batch++) {
        bool again = rng_below(rng, 4) == 0, late = rng_below(rng, 8) == 0;
        int64_t from = again ? MAX(0, now - 50) : late ? (int64_t)rng_below(rng, 2000) : now;
        for (int64_t i = 0; i < 50; i++) {
            double value = (double)rng_below(rng, 1000);
            put_at(db, lines_of(1), from + i, "v", value, rng_below(rng, 5) ? NULL : "w");
            shadow_add(shadow, from + i, value);
        }
        now = MAX(now, from + 50);
        if (batch % 20 == 19)
            assert_int_equal(db_seal_all(db, NULL), 0);
    }
}

TEST(of_points_with_the_same_time_the_last_counts_everywhere)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        char *home = home_new();
        struct series_db *db = must_open(home, SERIES_WRITE);
        struct rng rng;
        struct shadow shadow = {0};

        rng_init(&rng, seed, 0);
        assert_int_equal(series_db_lines(db, 1, NULL), 0);
        tell_some(db, &shadow, &rng);
        check_closed(home, db, &shadow);
        shadow_release(&shadow);
        home_end(home);
    }
}

TEST(points_in_order_are_told_as_they_are_and_one_that_comes_again_is_found_at_once)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct shadow shadow = {0};

    assert_int_equal(series_db_lines(db, 1, NULL), 0);
    for (int64_t i = 0; i < 3000; i++) {
        put_at(db, lines_of(1), i, "v", (double)i, NULL);
        shadow_add(&shadow, i, (double)i);
        if (i % 1000 == 999)
            check(db, &shadow, "v");
        if (i == 1500)
            assert_int_equal(db_seal_all(db, NULL), 0);
    }
    for (int64_t i = 100; i < 2900; i += 700) {
        put_at(db, lines_of(1), i, "v", -1, NULL);
        shadow_add(&shadow, i, -1);
        check(db, &shadow, "v");
    }
    check_closed(home, db, &shadow);
    shadow_release(&shadow);
    home_end(home);
}

TEST(the_last_in_time_is_the_last_also_if_older_ones_come_after_it)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct shadow shadow = {0};
    static const int64_t begins[] = {5000, 3000, 7000, 1000}; /* of runs that do not meet */

    assert_int_equal(series_db_lines(db, 1, NULL), 0);
    for (size_t run = 0; run < ARRAY_LEN(begins); run++) {
        for (int64_t i = 0; i < 20; i++) { /* two groups in turn; the last row is not the latest */
            int64_t ns = begins[run] + (i == 19 ? 5 : i * 10);
            put_at(db, lines_of(1), ns, "v", (double)ns, i % 2 ? "w" : NULL);
            shadow_add(&shadow, ns, (double)ns);
        }
        check(db, &shadow, "v");
        if (run % 2 == 0)
            assert_int_equal(db_seal_all(db, NULL), 0);
        check(db, &shadow, "v");
    }
    check_closed(home, db, &shadow);
    shadow_release(&shadow);
    home_end(home);
}

TEST(elsewhere_points_of_one_time_are_several)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source other = {1, 1, 1, SERIES_METRICS}, tracked = {2, 1, 0, SERIES_OUTSIDE};

    assert_int_equal(series_db_lines(db, 1, NULL), 0);
    for (int i = 0; i < 2; i++) {
        put_at(db, other, 7, "v", i, NULL);
        put_at(db, tracked, 7, "v", i, NULL);
        put_at(db, lines_of(1), 7, "v", i, NULL);
        put_at(db, lines_of(1), INT64_MIN, "untimed", i, NULL);
    }
    assert_int_equal(count_of(db, other, "v"), 2);
    assert_int_equal(count_of(db, tracked, "v"), 2);
    assert_int_equal(count_of(db, lines_of(1), "untimed"), 2);
    assert_int_equal(count_of(db, lines_of(1), "v"), 1);
    series_db_every(db, true); /* positions */
    assert_int_equal(count_of(db, lines_of(1), "v"), 2);
    series_db_every(db, false);
    series_db_free(db);
    home_end(home);
}

static int count_info(const struct series_info *info UNUSED, void *arg)
{
    ++*(int *)arg;
    return 0;
}

TEST(the_mark_is_told_by_no_list_and_goes_with_its_experiment)
{
    char *home = home_new();
    struct series_db *db = must_open(home, SERIES_WRITE);
    struct series_source source = lines_of(1);
    int told = 0;

    assert_int_equal(series_db_lines(db, 1, NULL), 0);
    assert_int_equal(series_db_lines(db, 1, NULL), 0);
    assert_true(series_db_is_lines(db, &source));
    series_db_list(db, 1, -1, SERIES_NAME_NONE, count_info, &told);
    series_db_list(db, 1, 0, SERIES_NAME_NONE, count_info, &told);
    assert_int_equal(told, 0);
    assert_int_equal(series_db_drop(db, 1, 1, NULL), 0);
    assert_true(series_db_is_lines(db, &source));
    assert_int_equal(series_db_drop(db, 1, 0, NULL), 0);
    assert_false(series_db_is_lines(db, &source));
    assert_int_equal(series_db_lines(db, 1, NULL), 0);
    assert_true(series_db_is_lines(db, &source));
    series_db_free(db);
    home_end(home);
}

TEST_MAIN
