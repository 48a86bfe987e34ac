/* SPDX-License-Identifier: MIT */
/*
 * search_test.c — names, the choice of `auto`, the order of the grid, and what it refuses.
 */
#include "search/search.h"
#include "model/test_space.h"
#include "search/walk.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

static void check_auto(const struct space *space, int64_t trials, const char *expect)
{
    struct err err = ERR_INIT;
    autofree(search) struct search *s = NULL;
    assert_ok(search_new("auto", space, trials, 1, &s, &err), &err);
    assert_string_equal(search_name(s), expect);
}

TEST(auto_takes_the_grid_when_the_budget_covers_the_space)
{
    struct space space = {0};
    space_add(&space, param_int(1, 5));
    space_add(&space, CHOICE("a", "b"));
    check_auto(&space, 10, "grid");
    check_auto(&space, 9, "sobol");
    check_auto(&space, 0, "grid");
    space_add(&space, param_int(1, 100000));
    check_auto(&space, 0, "sobol");
    space_add(&space, param_float(0, 1));
    check_auto(&space, 1000000, "sobol");
    space_release(&space);
}

TEST(an_unknown_name_is_answered_with_the_list)
{
    struct err err = ERR_INIT;
    struct space space = {0};
    struct search *s = NULL;
    assert_int_equal(search_new("grd", &space, 0, 1, &s, &err), -ENOENT);
    assert_null(s);
    assert_string_equal(err_text(&err),
                        "unknown search algorithm 'grd'; there are auto, grid, random, sobol");
    err_release(&err);
}

TEST(grid_refuses_a_free_float_and_says_what_to_do)
{
    struct err err = ERR_INIT;
    struct space space = {0};
    struct search *s = NULL;
    space_add(&space, param_int(1, 5));
    space_add(&space, param_float(0, 1));
    assert_int_equal(search_new("grid", &space, 0, 1, &s, &err), -EINVAL);
    assert_string_equal(err_text(&err),
                        "grid search cannot try every value of parameter 'p'; give it a step or a "
                        "list of values, or take another algorithm");
    err_release(&err);
    space_release(&space);
}

TEST(grid_goes_in_the_order_of_the_file_the_last_parameter_fastest)
{
    autorelease(str) struct str text = STR_INIT;
    struct space space = {0};
    autofree(search) struct search *s = NULL;
    double x[3];
    space_add(&space, CHOICE("sgd", "adam"));
    space_add(&space, param_int(1, 2));
    space_when(&space, 0, 0, 0);
    space_add(&space, CHOICE("x", "y"));
    assert_int_equal(search_new("grid", &space, 0, 1, &s, NULL), 0);
    while (search_ask(s, x, NULL) == 0) {
        space_words(&space, x, &text);
        str_add_char(&text, '\n');
    }
    assert_string_equal(text.s, "c=sgd p=1 c=x\nc=sgd p=1 c=y\nc=sgd p=2 c=x\nc=sgd p=2 c=y\n"
                                "c=adam c=x\nc=adam c=y\n");
    space_release(&space);
}

TEST(a_walk_meets_as_many_settings_as_the_space_has)
{
    struct rng rng;
    rng_init(&rng, 8, 0);
    for (int round = 0; round < 200; round++) {
        struct space space = {0};
        double x[6], n = 1;
        for (size_t i = 0; i < 6; i++) {
            space_add(&space, param_int(0, (double)rng_below(&rng, 4)));
            if (i > 0 && rng_chance(&rng, 0.5))
                space_when(&space, rng_below(&rng, i), 1, 2);
        }
        for (walk_first(&space, x); walk_next(&space, x); n++)
            assert_true(space_contains(&space, x));
        assert_true(n == space_size(&space));
        space_release(&space);
    }
}

TEST(settings_without_a_free_float_are_not_repeated_in_an_infinite_space)
{
    struct space space = {0};
    autofree(search) struct search *s = NULL;
    double x[2];
    int plain = 0;
    space_add(&space, CHOICE("plain", "tuned"));
    space_add(&space, param_float(0, 1));
    space_when(&space, 0, 1, 1);
    assert_int_equal(search_new("random", &space, 0, 1, &s, NULL), 0);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(search_ask(s, x, NULL), 0);
        plain += isnan(x[1]);
    }
    assert_int_equal(plain, 1);
    space_release(&space);
}

TEST(a_state_of_another_seed_is_refused)
{
    autorelease(str) struct str blob = STR_INIT;
    struct err err = ERR_INIT;
    struct space space = {0};
    autofree(search) struct search *a = NULL, *b = NULL;
    double x[1];
    space_add(&space, param_int(1, 100));
    assert_int_equal(search_new("random", &space, 0, 1, &a, NULL), 0);
    assert_int_equal(search_new("random", &space, 0, 2, &b, NULL), 0);
    assert_int_equal(search_ask(a, x, NULL), 0);
    search_save(a, &blob);
    assert_int_equal(search_load(b, blob.s, blob.len, &err), -EINVAL);
    assert_string_equal(err_text(&err),
                        "the saved state of random search does not fit this space and seed");
    err_release(&err);
    space_release(&space);
}

/* An algorithm that only listens, to see what the wrapper passes on. */
static struct result heard;
static int heard_count;

static void listen_tell(struct search *s UNUSED, const double *x UNUSED,
                        const struct result *result)
{
    heard = *result;
    heard_count++;
}

TEST(a_value_that_is_no_number_is_told_as_a_failure)
{
    static const struct search_ops listener = {.name = "listener", .tell = listen_tell};
    struct space space = {0};
    struct search s = {.ops = &listener, .space = &space};
    struct result result = {RESULT_VALUE, NAN};
    double inside = 3, outside = 11;
    space_add(&space, param_int(1, 10));
    search_tell(&s, &inside, &result);
    assert_int_equal(heard_count, 1);
    assert_int_equal(heard.kind, RESULT_FAILED);
    search_tell(&s, &outside, &result);
    assert_int_equal(heard_count, 1);
    space_release(&space);
}

TEST_MAIN
