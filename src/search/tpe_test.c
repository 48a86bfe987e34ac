/* SPDX-License-Identifier: MIT */
/*
 * tpe_test.c — that it finds, spreads what is in flight, keeps to constraints, and goes on for
 * long.
 */
#include "model/test_space.h"
#include "search/pareto.h"
#include "search/search.h"
#include "tests/test.h"

#include <math.h>

static struct search *start(const struct space *space, size_t objectives, size_t constraints,
                            uint64_t seed)
{
    struct problem problem = {
        .space = space, .seed = seed, .n_objectives = objectives, .n_constraints = constraints};
    struct search *s = NULL;
    struct err err = ERR_INIT;
    assert_ok(search_new("tpe", &problem, &s, &err), &err);
    return s;
}

static void ask(struct search *s, double *x)
{
    struct suggestion next = {.x = x};
    assert_int_equal(search_ask(s, &next, NULL), 0);
}

static void add_floats(struct space *space, int n)
{
    for (int i = 0; i < n; i++)
        space_add(space, param_float(-5, 5));
}

static double bowl(const double *x, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += (x[i] - 1.3) * (x[i] - 1.3);
    return sum;
}

TEST(it_finds_the_bottom_of_a_bowl)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct space space = {0};
        double x[5], best = INFINITY;
        add_floats(&space, 5);
        autofree(search) struct search *s = start(&space, 1, 0, seed);
        for (int i = 0; i < 100; i++) {
            ask(s, x);
            best = fmin(best, bowl(x, 5));
            search_tell(s, x, &(struct result){.value = bowl(x, 5)});
        }
        assert_true(best < 2); /* 100 random settings: about 7 */
        search_free(TAKE(s));
        space_release(&space);
    }
}

TEST(what_is_in_flight_is_not_asked_again_nearby)
{
    struct space space = {0};
    double x[24][2], nearest = INFINITY;
    add_floats(&space, 2);
    autofree(search) struct search *s = start(&space, 1, 0, 3);
    for (int i = 0; i < 60; i++) {
        ask(s, x[0]);
        search_tell(s, x[0], &(struct result){.value = bowl(x[0], 2)});
    }
    for (int i = 0; i < 24; i++)
        ask(s, x[i]);
    for (int i = 0; i < 24; i++)
        for (int k = 0; k < i; k++)
            nearest = fmin(nearest, hypot(x[i][0] - x[k][0], x[i][1] - x[k][1]));
    assert_true(nearest > 0);
    search_free(TAKE(s));
    space_release(&space);
}

/* The minimum lies in the forbidden half; the best that keeps the constraint is 1.69. */
TEST(the_best_that_keeps_the_constraints_is_searched)
{
    struct space space = {0};
    double x[2], best = INFINITY;
    add_floats(&space, 2);
    autofree(search) struct search *s = start(&space, 1, 1, 1);
    for (int i = 0; i < 120; i++) {
        ask(s, x);
        double excess = x[0]; /* x[0] ≤ 0 */
        if (excess <= 0)
            best = fmin(best, bowl(x, 2));
        search_tell(s, x, &(struct result){.value = bowl(x, 2), .excess = &excess});
    }
    assert_true(best < 1.9);
    search_free(TAKE(s));
    space_release(&space);
}

TEST(failures_are_learned_from)
{
    struct space space = {0};
    double x[2];
    int failed = 0;
    add_floats(&space, 2);
    autofree(search) struct search *s = start(&space, 1, 0, 2);
    for (int i = 0; i < 120; i++) {
        ask(s, x);
        bool fails = x[0] > 0;
        failed += i >= 60 && fails;
        struct result result = {fails ? RESULT_FAILED : RESULT_VALUE, .value = fabs(x[1])};
        search_tell(s, x, &result);
    }
    assert_true(failed < 20);
    search_free(TAKE(s));
    space_release(&space);
}

static double volume_after(const char *name, int trials, uint64_t seed)
{
    struct space space = {0};
    struct problem problem = {.space = &space, .seed = seed, .n_objectives = 2};
    struct search *s = NULL;
    double values[400], x[4];
    for (int i = 0; i < 4; i++)
        space_add(&space, param_float(0, 1));
    assert_int_equal(search_new(name, &problem, &s, NULL), 0);
    for (int i = 0; i < trials; i++) {
        ask(s, x);
        double g = 1 + 3 * (x[1] + x[2] + x[3]), second = g * (1 - sqrt(x[0] / g)); /* ZDT1 */
        values[2 * i] = x[0];
        values[2 * i + 1] = second;
        search_tell(s, x, &(struct result){.value = x[0], .others = &second});
    }
    search_free(s);
    space_release(&space);
    return pareto_hypervolume(values, (size_t)trials, 2, (double[]){1.1, 1.1});
}

TEST(a_front_is_covered_better_than_by_chance)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_true(volume_after("tpe", 150, seed) > volume_after("random", 150, seed) + 0.1);
}

/* Values from one end of the doubles to the other, none at all, and many of one setting. */
TEST(odd_results_do_no_harm)
{
    struct space space = {0};
    double x[3];
    space_add(&space, param_float(0, 1));
    space_add(&space, param_int(3, 3));
    space_add(&space, CHOICE("a", "b"));
    for (int odd = 0; odd < 5; odd++) {
        autofree(search) struct search *s = start(&space, 1, 0, 9);
        for (int i = 0; i < 60; i++) {
            ask(s, x);
            double value = odd == 0   ? 3
                           : odd == 1 ? (i % 2 ? 1e300 : -1e300)
                           : odd == 2 ? NAN
                           : odd == 3 ? 1e-300 * i
                                      : INFINITY;
            enum result_kind kind = i % 3 == 2 ? RESULT_STOPPED : RESULT_VALUE;
            search_tell(s, x, &(struct result){kind, .value = value});
            if (odd == 0)
                search_tell(s, x, &(struct result){.value = value}); /* it was told before */
        }
    }
    space_release(&space);
}

TEST(ten_thousand_results_and_what_they_teach_are_a_matter_of_order_alone)
{
    struct space space = {0};
    double x[2], y[2];
    struct rng rng;
    add_floats(&space, 2);
    for (size_t objectives = 1; objectives <= 2; objectives++) {
        autofree(search) struct search *s = start(&space, objectives, 0, 4);
        autofree(search) struct search *t = start(&space, objectives, 0, 4);
        rng_init(&rng, 8, 0);
        for (int i = 0; i < 10000; i++) {
            x[0] = rng_unit(&rng) * 10 - 5;
            x[1] = rng_unit(&rng) * 10 - 5;
            double other = fabs(x[0] + 1);
            struct result result = {.value = bowl(x, 2), .others = &other};
            search_tell(s, x, &result);
            search_tell(t, x, &result);
            if (i == 9000) /* asks between the tells change nothing of what was learned */
                for (int k = 0; k < 3; k++) {
                    ask(s, y);
                    search_tell(s, y, &(struct result){.kind = RESULT_VOID});
                }
        }
        for (int k = 0; k < 3; k++)
            search_asked(t, x, WHY_MODEL, true);
        ask(s, x);
        ask(t, y);
        assert_memory_equal(x, y, sizeof(x));
    }
    space_release(&space);
}

TEST_MAIN
