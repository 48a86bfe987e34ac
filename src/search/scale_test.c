/* SPDX-License-Identifier: MIT */
/*
 * scale_test.c — results as models see them: the scale (order, outliers, extremes) and the rows.
 */
#include <math.h>

#include "search/data.h"
#include "search/test_search.h"

#define N 40

static double at(const struct scale *scale, double value)
{
    double scaled = scale_apply(scale, value);
    assert_true(isfinite(scaled));
    return scaled;
}

static void draw_values(double *values, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed, 0);
    for (size_t i = 0; i < N; i++)
        values[i] = i % 7 ? 3 + rng_normal(&rng) * (i % 5 ? 1 : 1000) : 2.5;
}

TEST(the_order_is_kept)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double values[N], more[N];
        struct scale scale;
        draw_values(values, seed);
        draw_values(more, seed + 100);
        scale_init(&scale, values, N, seed % 2 ? SHAPE_PLAIN : SHAPE_FINE);
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < N; k++) {
                assert_true((values[i] < values[k]) ==
                            (at(&scale, values[i]) < at(&scale, values[k])));
                if (more[i] < more[k])
                    assert_true(at(&scale, more[i]) <= at(&scale, more[k]));
            }
        scale_release(&scale);
    }
}

static void check_mean_and_deviation(enum shape shape)
{
    double values[N], sum = 0, squares = 0;
    struct scale scale;
    draw_values(values, 3);
    scale_init(&scale, values, N, shape);
    for (size_t i = 0; i < N; i++) {
        sum += at(&scale, values[i]);
        squares += pow(at(&scale, values[i]), 2);
    }
    assert_true(fabs(sum / N) < 1e-12 && fabs(squares / N - 1) < 1e-12);
    scale_release(&scale);
}

TEST(scaled_values_are_of_mean_0_and_deviation_1)
{
    check_mean_and_deviation(SHAPE_PLAIN);
    check_mean_and_deviation(SHAPE_FINE);
}

static void check_there_and_back(enum shape shape)
{
    double values[N], least = INFINITY;
    struct scale scale;
    draw_values(values, 4);
    scale_init(&scale, values, N, shape);
    for (size_t i = 0; i < N; i++) {
        least = fmin(least, values[i]);
        double back = scale_undo(&scale, at(&scale, values[i]));
        assert_true(fabs(back - values[i]) < 1e-9 * (1 + fabs(values[i])));
        double between = values[i] / 2 + values[(i + 1) % N] / 2;
        back = scale_undo(&scale, at(&scale, between));
        assert_true(fabs(back - between) < 1e-9 * (1 + fabs(between)));
    }
    for (double below = least; below > least - 100; below -= 7) /* better than any seen */
        assert_true(fabs(scale_undo(&scale, at(&scale, below)) - below) < 1e-9 * (1 + fabs(below)));
    scale_release(&scale);
}

TEST(there_and_back)
{
    check_there_and_back(SHAPE_PLAIN);
    check_there_and_back(SHAPE_FINE);
}

/* How much of the better half's room the best tenth of its values has. */
static double room_of_the_best(const double *values, size_t n, enum shape shape)
{
    struct scale scale;
    scale_init(&scale, values, n, shape);
    double room = (at(&scale, 0.05) - at(&scale, 0)) / (at(&scale, 0.5) - at(&scale, 0));
    scale_release(&scale);
    return room;
}

TEST(the_fine_shape_gives_the_best_more_room)
{
    double values[21];
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        values[i] = (double)i / 20;
    assert_true(fabs(room_of_the_best(values, 21, SHAPE_PLAIN) - 0.1) < 1e-12);
    assert_true(room_of_the_best(values, 21, SHAPE_FINE) > 0.14);
}

/* From the best to the median, in units of the scale, with and without disasters. */
static double room_of_the_better_half(const double *values, size_t n)
{
    struct scale scale;
    scale_init(&scale, values, n, SHAPE_PLAIN);
    double room = at(&scale, 0.5) - at(&scale, 0);
    scale_release(&scale);
    return room;
}

TEST(a_disaster_does_not_flatten_what_matters)
{
    double values[26];
    for (size_t i = 0; i <= 20; i++)
        values[i] = (double)i / 20;
    double room = room_of_the_better_half(values, 21);
    for (size_t i = 21; i < 26; i++)
        values[i] = pow(10, (double)(i - 18) * 3);
    assert_true(room_of_the_better_half(values, 26) > room / 3);
    values[21] = 1e300;
    assert_true(room_of_the_better_half(values, 22) > room / 2);
}

TEST(constants_and_a_single_value)
{
    double values[5] = {7, 7, 7, 7, 7};
    for (size_t n = 1; n <= 5; n++) {
        struct scale scale;
        scale_init(&scale, values, n, n % 2 ? SHAPE_FINE : SHAPE_PLAIN);
        assert_true(at(&scale, 7) == 0 && scale_undo(&scale, 0) == 7);
        assert_true(at(&scale, 6) < 0 && scale_undo(&scale, -1) < 7);
        scale_release(&scale);
    }
}

TEST(the_ends_of_the_numbers)
{
    static const double ends[][4] = {
        {1.7e308, -1.7e308, 0, 1},
        {1e300, 1e-300, -1e300, 2e300},
        {1e-300, 2e-300, 3e-300, 0},
        {5e-324, 1e-323, 0, 2e-323},
        {1, 1, 1, 1 + 2.3e-16},
        {-1.7e308, -1.7e308, 3, 4},
        {1e308, 1.1e308, 1.2e308, 1.3e308},
        {0, 1e-305, 3e-305, 1e300},
    };
    for (size_t both = 0; both < 2 * ARRAY_LEN(ends); both++) {
        struct scale scale;
        const double *end = ends[both / 2];
        scale_init(&scale, end, 4, both % 2 ? SHAPE_FINE : SHAPE_PLAIN);
        for (size_t i = 0; i < 4; i++) {
            at(&scale, end[i]);
            assert_false(isnan(scale_undo(&scale, at(&scale, end[i]))));
        }
        assert_false(isnan(scale_undo(&scale, -3)) || isnan(scale_undo(&scale, 3)));
        scale_release(&scale);
    }
}

/* ---- rows ---- */

struct fixture {
    struct space space;
    struct encoder encoder;
    struct search *s;
};

static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){0};
    space_add(&f->space, param_int(0, 1000));
    encoder_init(&f->encoder, &f->space);
    f->s = search_for("random", &(struct problem){.space = &f->space, .n_constraints = 1});
}

static void fixture_release(struct fixture *f)
{
    search_free(f->s);
    encoder_release(&f->encoder);
    space_release(&f->space);
}

TEST(results_of_one_setting_are_one_row_and_failures_are_the_worst)
{
    struct fixture f;
    struct data data;
    double x[] = {1, 2, 3}, excess = -2;
    fixture_init(&f);
    data_init(&data, &f.encoder, NULL, 0);
    search_tell(f.s, &x[1], &(struct result){.kind = RESULT_FAILED});
    assert_false(data_update(&data, f.s, 1));
    tell_value(f.s, &x[0], 4);
    search_tell(f.s, &x[0], &(struct result){.value = 6, .deviation = 1, .excess = &excess});
    tell_value(f.s, &x[2], 100);
    search_tell(f.s, &x[0], &(struct result){RESULT_STOPPED, .value = NAN});
    assert_true(data_update(&data, f.s, f.s->history.n));
    assert_int_equal(data.rows.len, 3);
    assert_true(data.rows.at[1].mean == 5 && data.rows.at[1].count == 3);
    assert_true(data.rows.at[1].finite == 2 && data.rows.at[1].deviation == 0.5);
    assert_true(data.target.at[0] == data.target.at[2] && data.target.at[1] < data.target.at[0]);
    assert_true(data_noise_scale(&data, 1) == 0.5 && data_noise_scale(&data, 2) == 1);
    assert_true(data_noise_extra(&data, 1) > 0 && data_noise_extra(&data, 2) == 0);
    data_release(&data);
    data_init(&data, &f.encoder, NULL, 1); /* the constraint */
    assert_true(data_update(&data, f.s, f.s->history.n));
    assert_true(data.rows.at[1].finite == 1 && data.rows.at[1].mean == -2);
    data_release(&data);
    fixture_release(&f);
}

TEST(a_paused_trials_value_counts_until_the_next_result_of_its_setting)
{
    struct fixture f;
    struct data data;
    double x[] = {1, 2}, broken = 1, kept = -1;
    fixture_init(&f);
    data_init(&data, &f.encoder, NULL, 0);
    struct result at_a_rung = {RESULT_STOPPED, .value = 9, .excess = &broken, .passing = true};
    search_tell(f.s, &x[0], &at_a_rung);
    tell_value(f.s, &x[1], 4);
    assert_true(data_update(&data, f.s, 2));
    assert_true(data.rows.at[0].mean == 9 && data.rows.at[0].passing && !data.rows.at[1].passing);
    at_a_rung.value = 7;
    at_a_rung.replaces = true;
    search_tell(f.s, &x[0], &at_a_rung);
    assert_true(data_update(&data, f.s, 3));
    assert_true(data.rows.at[0].mean == 7 && data.rows.at[0].count == 1);
    search_tell(f.s, &x[0], &(struct result){.value = 5, .excess = &kept, .replaces = true});
    assert_true(data_update(&data, f.s, 4));
    assert_int_equal(data.rows.len, 2);
    assert_true(data.rows.at[0].mean == 5 && data.rows.at[0].count == 1);
    assert_true(data.rows.at[0].first == 3 && !data.rows.at[0].passing);
    search_tell(f.s, &x[1], &at_a_rung); /* of a repeat */
    assert_true(data_update(&data, f.s, 5));
    assert_true(data.rows.at[1].mean == 4 && data.rows.at[1].count == 1);
    data_release(&data);
    fixture_release(&f);
}

TEST(rows_that_matter_are_the_best_the_newest_and_some_between)
{
    struct fixture f;
    struct data data;
    size_t rows[30], best = 0, newest = 0;
    fixture_init(&f);
    data_init(&data, &f.encoder, NULL, 0);
    for (double x = 0; x < 300; x++)
        tell_value(f.s, &x, fmod(x * 71, 300)); /* each of 0 … 299 once */
    assert_true(data_update(&data, f.s, 300));
    size_t n = data_choose(&data, 30, rows);
    assert_in_range(n, 20, 30);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || rows[i] > rows[i - 1]);
        best += data.rows.at[rows[i]].mean < 10;
        newest += rows[i] >= 290;
    }
    assert_true(best == 10 && newest == 10);
    assert_int_equal(data_choose(&data, 0, rows), 0);
    data_release(&data);
    fixture_release(&f);
}

TEST_MAIN
