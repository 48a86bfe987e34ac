/* SPDX-License-Identifier: MIT */
/*
 * sobol_test.c — the sequence is what it says: one point in each slice of every axis, even in two
 * dimensions, of lower discrepancy than chance, and fair to choices.
 */
#include <math.h>

#include "search/sobol_table.h"
#include "search/test_search.h"

#define POINTS 256
#define DIMS   SOBOL_DIMENSIONS

/* points: (n, dims) in the unit cube. */
static double *ask_cube(const char *name, size_t dims, size_t n, uint64_t seed)
{
    struct space space = {0};
    double *points = xcalloc(n * dims, sizeof(*points));
    for (size_t i = 0; i < dims; i++)
        space_add(&space, param_float(0, 1));
    autofree(search) struct search *s =
        search_for(name, &(struct problem){.space = &space, .seed = seed});
    for (size_t i = 0; i < n; i++)
        assert_true(ask_point(s, points + i * dims));
    space_release(&space);
    return points;
}

TEST(every_slice_of_every_axis_gets_one_point)
{
    autofree(mem) double *points = ask_cube("sobol", DIMS, POINTS, 9);
    for (size_t d = 0; d < DIMS; d++) {
        bool hit[POINTS] = {false};
        for (size_t i = 0; i < POINTS; i++) {
            size_t slice = (size_t)(points[i * DIMS + d] * POINTS);
            assert_false(hit[slice]);
            hit[slice] = true;
        }
    }
}

/* The first two dimensions are a (0,2)-net: every box of area 1/256 has one point. */
TEST(every_box_of_the_first_two_axes_gets_one_point)
{
    autofree(mem) double *points = ask_cube("sobol", 2, POINTS, 9);
    for (size_t width = 1; width <= POINTS; width *= 2) {
        bool hit[POINTS] = {false};
        size_t height = POINTS / width;
        for (size_t i = 0; i < POINTS; i++) {
            size_t box = (size_t)(points[2 * i] * (double)width) * height +
                         (size_t)(points[2 * i + 1] * (double)height);
            assert_false(hit[box]);
            hit[box] = true;
        }
    }
}

/* Centred L2 discrepancy (Hickernell 1998), squared. */
static double discrepancy(const double *x, size_t n, size_t dims)
{
    double single = 0, pairs = 0;
    for (size_t i = 0; i < n; i++) {
        double product = 1;
        for (size_t d = 0; d < dims; d++) {
            double a = fabs(x[i * dims + d] - 0.5);
            product *= 1 + a / 2 - a * a / 2;
        }
        single += product;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double product = 1;
            for (size_t d = 0; d < dims; d++) {
                double a = x[i * dims + d], b = x[j * dims + d];
                product *= 1 + fabs(a - 0.5) / 2 + fabs(b - 0.5) / 2 - fabs(a - b) / 2;
            }
            pairs += product;
        }
    double m = (double)n;
    return pow(13.0 / 12, (double)dims) - 2 / m * single + pairs / (m * m);
}

TEST(it_fills_the_space_more_evenly_than_chance)
{
    static const size_t dims[] = {1, 2, 5, 10};
    for (size_t k = 0; k < ARRAY_LEN(dims); k++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            autofree(mem) double *even = ask_cube("sobol", dims[k], POINTS, seed);
            autofree(mem) double *chance = ask_cube("random", dims[k], POINTS, seed);
            assert_true(discrepancy(even, POINTS, dims[k]) <
                        discrepancy(chance, POINTS, dims[k]) / 2);
        }
}

/* Over many seeds the first point is anywhere: the scrambling is uniform. */
TEST(the_scrambling_has_no_favourite_place)
{
    size_t hits[4] = {0};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        autofree(mem) double *point = ask_cube("sobol", 1, 1, seed);
        hits[(size_t)(point[0] * 4)]++;
    }
    for (size_t i = 0; i < 4; i++)
        assert_in_range(hits[i], 420, 580);
}

static void check_choices(const char *name, size_t room)
{
    struct space space = {0};
    double x[2];
    size_t hits[3] = {0};
    space_add(&space, CHOICE("a", "b", "c"));
    space_add(&space, param_float(0, 1));
    autofree(search) struct search *s =
        search_for(name, &(struct problem){.space = &space, .seed = 4});
    for (int i = 0; i < 3000; i++) {
        assert_true(ask_point(s, x));
        hits[(size_t)x[0]]++;
    }
    for (size_t i = 0; i < 3; i++)
        assert_in_range(hits[i], 1000 - room, 1000 + room);
    space_release(&space);
}

TEST(choices_come_equally_often)
{
    check_choices("random", 120);
    check_choices("sobol", 12);
}

/* Multiplication of x^k modulo the polynomial: it is primitive if x has the full order. */
static bool primitive(const struct sobol_row *row)
{
    unsigned s = row->degree, poly = 1u << s | (unsigned)row->coefficients << 1 | 1, x = 1;
    for (unsigned order = 1; order < 1u << s; order++) {
        x <<= 1;
        if (x >> s & 1)
            x ^= poly;
        if (x == 1)
            return order == (1u << s) - 1;
    }
    return false;
}

TEST(the_table_holds_distinct_primitive_polynomials_and_odd_numbers)
{
    for (size_t i = 0; i < DIMS - 1; i++) {
        const struct sobol_row *row = &sobol_table[i];
        assert_true(primitive(row));
        for (unsigned k = 0; k < SOBOL_DEGREE; k++)
            assert_true(k < row->degree ? row->initial[k] % 2 == 1 && row->initial[k] < 2u << k
                                        : row->initial[k] == 0);
        for (size_t j = 0; j < i; j++)
            assert_false(row->degree == sobol_table[j].degree &&
                         row->coefficients == sobol_table[j].coefficients);
    }
}

TEST_MAIN
