/* SPDX-License-Identifier: MIT */
/*
 * pareto_test.c — fronts by brute force, volumes by counting cells and by known formulas.
 */
#include "base/rng.h"
#include "search/pareto.h"
#include "tests/test.h"

#include <math.h>

#define N     60
#define M_MAX 5

/* Coordinates on a small grid: many ties and duplicates. */
static void fill(double *values, size_t n, size_t m, uint64_t grid, struct rng *rng)
{
    for (size_t i = 0; i < n * m; i++)
        values[i] = (double)rng_below(rng, grid);
}

/* Rank by its definition: one above the highest rank of those that dominate. */
static void sort_slowly(const double *values, size_t n, size_t m, size_t *ret)
{
    for (size_t round = 0; round < n; round++)
        for (size_t i = 0; i < n; i++) {
            size_t rank = 0;
            for (size_t k = 0; round > 0 && k < n; k++)
                if (pareto_dominates(values + k * m, values + i * m, m))
                    rank = MAX(rank, ret[k] + 1);
            ret[i] = rank;
        }
}

TEST(ranks_are_those_of_the_definition)
{
    struct rng rng;
    rng_init(&rng, 1, 0);
    for (size_t m = 1; m <= M_MAX; m++)
        for (int repeat = 0; repeat < 5; repeat++) {
            double values[N * M_MAX];
            size_t fast[N], slow[N];
            fill(values, N, m, 8, &rng);
            if (repeat == 4)
                values[3] = NAN, values[7] = INFINITY;
            pareto_sort(values, NULL, N, m, fast);
            sort_slowly(values, N, m, slow);
            assert_memory_equal(fast, slow, sizeof(fast));
        }
}

TEST(the_expected_gain_is_the_mean_of_gains_drawn_and_its_slopes_are_differences)
{
    static const double front[] = {0.1, 0.9, 0.3, 0.5, 0.35, 2.5, 0.6, 0.2}, reference[] = {1, 1};
    static const double at[][4] = {
        {0.2, 0.3, 0.2, 0.1}, {0.7, 0.7, 0.3, 0.4}, {0.0, 0.1, 0.05, 0.3}, {2, 0.5, 0.9, 0.2}};
    struct rng rng;
    rng_init(&rng, 2, 0);
    for (size_t p = 0; p < ARRAY_LEN(at); p++) {
        double slope[4], with[10], sum = 0, x[4];
        double gain = pareto_expected_gain(front, 4, reference, at[p], at[p] + 2, slope);
        double volume = pareto_hypervolume(front, 4, 2, reference);
        memcpy(with, front, sizeof(front));
        for (int i = 0; i < 40000; i++) {
            for (size_t k = 0; k < 2; k++)
                with[8 + k] = at[p][k] + at[p][2 + k] * rng_normal(&rng);
            sum += pareto_hypervolume(with, 5, 2, reference) - volume;
        }
        assert_true(fabs(sum / 40000 - gain) < 0.03 * gain);
        for (size_t k = 0; k < 4; k++) {
            double h = 1e-6, around[2];
            for (int side = 0; side < 2; side++) {
                memcpy(x, at[p], sizeof(x));
                x[k] += side ? h : -h;
                around[side] = pareto_expected_gain(front, 4, reference, x, x + 2, NULL);
            }
            assert_true(fabs((around[1] - around[0]) / (2 * h) - slope[k]) < 1e-6);
        }
    }
}

TEST(broken_constraints_come_after_all_others_by_how_much)
{
    double values[] = {5, 5, 1, 1, 0, 0, 2, 2, 9, 9};
    double violation[] = {0, NAN, 3, 1, -2};
    size_t rank[5];
    assert_int_equal(pareto_sort(values, violation, 5, 2, rank), 5);
    assert_memory_equal(rank, ((size_t[]){1, 0, 4, 3, 2}), sizeof(rank));
}

TEST(the_crowded_middle_is_told_from_the_ends)
{
    double values[] = {0, 10, 1, 9, 2, 8, 10, 0}, got[4];
    pareto_crowding(values, NULL, 4, 2, got);
    assert_true(isinf(got[0]) && isinf(got[3]));
    assert_true(fabs(got[1] - 0.4) < 1e-12 && fabs(got[2] - 1.8) < 1e-12);
    size_t rows[] = {0, 2, 3};
    pareto_crowding(values, rows, 3, 2, got);
    assert_true(isinf(got[0]) && fabs(got[1] - 2) < 1e-12 && isinf(got[2]));
    double same[] = {1, 1, 1, 1, 1, 1};
    pareto_crowding(same, NULL, 3, 2, got);
    assert_true(got[1] == 0);
}

/* Count the cells of the grid {0…side}^m below `side` that some point covers. */
static double count_cells(const double *values, size_t n, size_t m, size_t side)
{
    size_t cells = 1, covered = 0;
    for (size_t k = 0; k < m; k++)
        cells *= side;
    for (size_t c = 0; c < cells; c++) {
        bool in = false;
        for (size_t i = 0; i < n && !in; i++) {
            size_t rest = c;
            in = true;
            for (size_t k = 0; k < m; k++, rest /= side)
                in &= values[i * m + k] <= (double)(rest % side);
        }
        covered += in;
    }
    return (double)covered;
}

TEST(volumes_are_the_cells_covered)
{
    struct rng rng;
    rng_init(&rng, 2, 0);
    for (size_t m = 1; m <= M_MAX; m++)
        for (size_t n = 0; n <= 20; n += 4) {
            double values[20 * M_MAX], reference[M_MAX];
            fill(values, n, m, 9, &rng); /* some lie at or beyond the reference */
            for (size_t k = 0; k < m; k++)
                reference[k] = 7;
            assert_true(pareto_hypervolume(values, n, m, reference) ==
                        count_cells(values, n, m, 7));
        }
}

TEST(a_contribution_is_what_is_lost_without_the_point)
{
    struct rng rng;
    rng_init(&rng, 3, 0);
    for (size_t m = 1; m <= 4; m++) {
        double values[12 * 4], reference[4] = {1, 1, 1, 1}, got[12], without[11 * 4];
        for (size_t i = 0; i < 12 * m; i++)
            values[i] = rng_unit(&rng) * 1.1;
        pareto_contributions(values, 12, m, reference, got);
        double all = pareto_hypervolume(values, 12, m, reference);
        for (size_t i = 0; i < 12; i++) {
            memcpy(without, values, i * m * sizeof(double));
            memcpy(without + i * m, values + (i + 1) * m, (11 - i) * m * sizeof(double));
            double lost = all - pareto_hypervolume(without, 11, m, reference);
            assert_true(fabs(got[i] - lost) < 1e-12);
        }
    }
}

TEST(a_subset_is_taken_by_the_largest_gain)
{
    struct rng rng;
    rng_init(&rng, 4, 0);
    for (size_t m = 1; m <= 3; m++) {
        double values[30 * 3], reference[3] = {1, 1, 1}, chosen[30 * 3];
        size_t got[30];
        for (size_t i = 0; i < 30 * m; i++)
            values[i] = rng_unit(&rng) * 1.2;
        assert_int_equal(pareto_subset(values, 30, m, reference, 40, got), 30);
        bool seen[30] = {false};
        for (size_t t = 0; t < 30; t++) {
            double base = pareto_hypervolume(chosen, t, m, reference), best = 0;
            assert_false(seen[got[t]]);
            seen[got[t]] = true;
            for (size_t i = 0; i < 30; i++) {
                memcpy(chosen + t * m, values + i * m, m * sizeof(double));
                best = fmax(best, pareto_hypervolume(chosen, t + 1, m, reference) - base);
            }
            memcpy(chosen + t * m, values + got[t] * m, m * sizeof(double));
            double gain = pareto_hypervolume(chosen, t + 1, m, reference) - base;
            assert_true(fabs(gain - best) < 1e-12);
        }
    }
}

TEST(the_volume_of_a_fine_front_nears_its_integral)
{
    enum { FINE = 2000 };
    static double values[FINE * 2];
    for (size_t i = 0; i < FINE; i++) {
        values[i * 2] = (double)i / (FINE - 1);
        values[i * 2 + 1] = 1 - sqrt(values[i * 2]);
    }
    assert_true(fabs(pareto_hypervolume(values, FINE, 2, (double[]){1, 1}) - 2.0 / 3) < 1e-3);
}

/* A hundred points of the sphere in three objectives must not take long. */
TEST(a_front_of_three_objectives_is_measured_at_once)
{
    double values[200 * 3], reference[3] = {1.1, 1.1, 1.1}, got[200];
    struct rng rng;
    rng_init(&rng, 5, 0);
    for (size_t i = 0; i < 200; i++) {
        double *x = values + i * 3, length = 0;
        for (int k = 0; k < 3; k++)
            x[k] = fabs(rng_normal(&rng));
        length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        for (int k = 0; k < 3; k++)
            x[k] = x[k] / length;
    }
    double volume = pareto_hypervolume(values, 200, 3, reference);
    assert_true(volume > 0.6 && volume < 1.331 - M_PI / 6);
    pareto_contributions(values, 200, 3, reference, got);
    for (size_t i = 0; i < 200; i++)
        assert_true(got[i] >= 0 && got[i] < 0.2);
}

TEST(the_reference_is_a_little_worse_than_the_worst)
{
    double values[] = {1, -10, 3, -20, INFINITY, 5, NAN, 1}, got[2];
    pareto_reference(values, 4, 2, got);
    assert_true(fabs(got[0] - 3.3) < 1e-12 && fabs(got[1] + 9) < 1e-12);
    pareto_reference(values + 4, 2, 2, got);
    assert_true(got[0] == 1 && got[1] == 1);
    assert_true(pareto_hypervolume(values + 4, 2, 2, got) == 0);
}

TEST(a_hundred_thousand_points_of_two_objectives_are_sorted_at_once)
{
    enum { LOTS = 100000 };
    double *values = xcalloc(2 * LOTS, sizeof(*values));
    size_t *rank = xcalloc(LOTS, sizeof(*rank));
    struct rng rng;
    rng_init(&rng, 6, 0);
    for (size_t i = 0; i < 2 * LOTS; i++)
        values[i] = rng_unit(&rng);
    assert_in_range(pareto_sort(values, NULL, LOTS, 2, rank), 100, 2000);
    free(values);
    free(rank);
}

TEST_MAIN
