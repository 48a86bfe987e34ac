/* SPDX-License-Identifier: MIT */
/*
 * evolve_test.c — the two evolutionary searches, cmaes and evolve: that they find, over numbers,
 * choices and fronts, and that what they know follows from the results alone.
 */
#include "model/test_space.h"
#include "search/pareto.h"
#include "search/search.h"
#include "tests/test.h"

#include <math.h>

static struct search *start(const char *name, const struct space *space, size_t objectives,
                            uint64_t seed)
{
    struct problem problem = {.space = space, .seed = seed, .n_objectives = objectives};
    struct search *s = NULL;
    struct err err = ERR_INIT;
    assert_ok(search_new(name, &problem, &s, &err), &err);
    return s;
}

static void ask(struct search *s, double *x)
{
    struct suggestion next = {.x = x};
    assert_int_equal(search_ask(s, &next, NULL), 0);
}

/* Numbers, whole numbers and choices that all want to be at one place. */
static void mixed(struct space *space)
{
    for (int i = 0; i < 3; i++)
        space_add(space, param_float(-5, 5));
    space_add(space, param_int(0, 20));
    space_add(space, param_number(PARAM_FLOAT, SCALE_LOG, 1e-4, 1, 0));
    space_add(space, CHOICE("a", "b", "c", "d"));
    space_add(space, param_float(0, 1));
    space_when(space, 5, 2, 2);
}

static double value_of(const double *x)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (x[i] - 1.3) * (x[i] - 1.3);
    sum += pow((x[3] - 13) / 4, 2) + pow(log10(x[4]) + 2, 2);
    return sum + (x[5] == 2 ? pow(x[6] - 0.7, 2) : 3);
}

static double best_after(const char *name, int trials, uint64_t seed)
{
    struct space space = {0};
    double x[7], best = INFINITY;
    mixed(&space);
    struct search *s = start(name, &space, 1, seed);
    for (int i = 0; i < trials; i++) {
        ask(s, x);
        best = fmin(best, value_of(x));
        search_tell(s, x, &(struct result){.value = value_of(x)});
    }
    search_free(s);
    space_release(&space);
    return best;
}

TEST(mixed_settings_are_found)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        assert_true(best_after("cmaes", 600, seed) < 0.05);
        assert_true(best_after("evolve", 600, seed) < 0.5);
        assert_true(best_after("random", 600, seed) > 0.5);
    }
}

static double front_after(const char *name, int trials, uint64_t seed)
{
    struct space space = {0};
    double x[6], *values = xcalloc((size_t)trials * 2, sizeof(*values));
    for (int i = 0; i < 6; i++)
        space_add(&space, param_float(0, 1));
    struct search *s = start(name, &space, 2, seed);
    for (int i = 0; i < trials; i++) {
        ask(s, x);
        double g = 1 + 9.0 / 5 * (x[1] + x[2] + x[3] + x[4] + x[5]); /* ZDT1 */
        double second = g * (1 - sqrt(x[0] / g));
        values[2 * i] = x[0];
        values[2 * i + 1] = second;
        search_tell(s, x, &(struct result){.value = x[0], .others = &second});
    }
    double volume = pareto_hypervolume(values, (size_t)trials, 2, (double[]){1.1, 1.1});
    free(values);
    search_free(s);
    space_release(&space);
    return volume;
}

TEST(a_front_is_covered) /* all of it: 0.871 */
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_true(front_after("evolve", 1000, seed) > 0.8);
}

/* Many minima: the first run ends in a wrong one. */
static double egg_box(const double *x)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += 10 + (x[i] - 0.7) * (x[i] - 0.7) - 10 * cos(2 * M_PI * (x[i] - 0.7));
    return sum;
}

TEST(restarts_get_cmaes_out_of_a_dead_end)
{
    struct space space = {0};
    double x[3], best = INFINITY;
    for (int i = 0; i < 3; i++)
        space_add(&space, param_float(-5, 5));
    struct search *s = start("cmaes", &space, 1, 3);
    for (int i = 0; i < 10000 && best > 1e-6; i++) {
        ask(s, x);
        best = fmin(best, egg_box(x));
        assert_true(i > 1000 || best > 0.1);
        search_tell(s, x, &(struct result){.value = egg_box(x)});
    }
    assert_true(best < 1e-6);
    search_free(s);
    space_release(&space);
}

/* Whole numbers whose first cell looks best from afar: the margin leaves it. */
TEST(whole_numbers_do_not_freeze)
{
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "evolve" : "cmaes";
        struct space space = {0};
        double x[4], best = INFINITY;
        for (int i = 0; i < 4; i++)
            space_add(&space, param_int(0, 60));
        struct search *s = start(name, &space, 1, 4);
        for (int i = 0; i < 1500; i++) {
            double sum = 0;
            ask(s, x);
            for (int j = 0; j < 4; j++)
                sum += fabs(x[j] - 37);
            best = fmin(best, sum);
            search_tell(s, x, &(struct result){.value = sum});
        }
        assert_true(best <= 1);
        search_free(s);
        space_release(&space);
    }
}

TEST(failures_and_stops_rank_last_and_teach)
{
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "evolve" : "cmaes";
        struct space space = {0};
        double x[2];
        int failed = 0;
        space_add(&space, param_float(0, 1));
        space_add(&space, param_float(0, 1));
        struct search *s = start(name, &space, 1, 5);
        for (int i = 0; i < 300; i++) {
            ask(s, x);
            struct result result = {.value = x[1]};
            if (x[0] > 0.4)
                result = (struct result){i % 2 ? RESULT_FAILED : RESULT_STOPPED, .value = NAN};
            failed += i >= 150 && x[0] > 0.4;
            search_tell(s, x, &result);
        }
        assert_true(failed < 40);
        search_free(s);
        space_release(&space);
    }
}

TEST_MAIN
