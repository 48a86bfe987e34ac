/* SPDX-License-Identifier: MIT */
/*
 * knob_test.c — every configuration can be reached, both ends of a range included.
 */
#include "tests/test.h"
#include "tune/knob.h"

static const double sizes[] = {4, 8, 16};
static const struct knob knobs[] = {
    {.name = "threads", .min = 1, .max = 4},
    {.name = "memory", .kind = KNOB_CHOICE, .values = sizes, .n = 3, .restart = true},
};

/* Truncation of u·(max − min) + min never gave the last value. */
TEST(truncation_reaches_both_ends_of_an_integer_range)
{
    size_t seen[5] = {0};

    for (size_t i = 0; i <= 1000; i++)
        seen[(size_t)knob_at(&knobs[0], (double)i / 1000)]++;
    for (size_t n = 1; n <= 4; n++)
        assert_in_range(seen[n], 249, 251);
    assert_true(knob_at(&knobs[0], -3) == 1 && knob_at(&knobs[0], 7) == 4);
}

TEST(a_small_product_is_listed_whole)
{
    autofree(mem) double *rows = NULL;
    size_t n = knobs_list(knobs, 2, 100, &rows);

    assert_int_equal(n, 12);
    assert_int_equal(knobs_size(knobs, 2), 12);
    for (size_t i = 0; i < n; i++) {
        assert_true(knobs_contain(knobs, 2, rows + 2 * i));
        for (size_t j = 0; j < i; j++)
            assert_true(knobs_change(knobs, 2, rows + 2 * i, rows + 2 * j) != CHANGE_NONE);
    }
}

TEST(a_large_product_is_thinned_but_keeps_its_corners)
{
    const struct knob large[] = {{.name = "a", .min = 1, .max = 1000},
                                 {.name = "b", .min = 2, .max = 500}};
    autofree(mem) double *rows = NULL;
    size_t n = knobs_list(large, 2, 200, &rows), corners = 0;

    assert_in_range(n, 100, 200);
    for (size_t i = 0; i < n; i++) {
        const double *c = rows + 2 * i;
        assert_true(knobs_contain(large, 2, c));
        corners += (c[0] == 1 || c[0] == 1000) && (c[1] == 2 || c[1] == 500);
    }
    assert_int_equal(corners, 4);
}

TEST(a_value_between_the_values_is_not_contained)
{
    assert_false(knobs_contain(knobs, 2, (double[]){1.5, 4}));
    assert_false(knobs_contain(knobs, 2, (double[]){5, 4}));
    assert_false(knobs_contain(knobs, 2, (double[]){1, 5}));
    assert_true(knobs_contain(knobs, 2, (double[]){4, 16}));
}

TEST(a_count_may_begin_at_0)
{
    const struct knob workers = {.name = "workers", .min = 0, .max = 8};

    assert_true(knob_at(&workers, 0) == 0 && knob_at(&workers, 1) == 8);
    assert_true(knob_feature(&workers, 0) == 0 && knob_feature(&workers, 8) == 1);
    assert_true(knob_feature(&workers, 1) > 0 && knob_feature(&workers, 1) < 0.5);
}

TEST(one_knob_that_needs_a_restart_makes_the_change_one)
{
    const double a[] = {1, 4}, b[] = {2, 4}, c[] = {2, 8};

    assert_int_equal(knobs_change(knobs, 2, a, a), CHANGE_NONE);
    assert_int_equal(knobs_change(knobs, 2, a, b), CHANGE_LIVE);
    assert_int_equal(knobs_change(knobs, 2, a, c), CHANGE_RESTART);
}

TEST_MAIN
