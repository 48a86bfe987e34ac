/* SPDX-License-Identifier: MIT */
/*
 * search_test.c — names, the choice of `auto`, the order of the grid and what it refuses, the
 * history, and walks.
 */
#include <errno.h>
#include <math.h>

#include "search/test_search.h"
#include "search/walk.h"

static void check_auto(const struct space *space, int64_t trials, const char *expect)
{
    struct problem problem = {.space = space, .trials = trials, .seed = 1};
    autofree(search) struct search *s = search_for("auto", &problem);
    assert_string_equal(search_name(s), expect);
}

TEST(auto_takes_the_grid_when_the_budget_covers_the_space)
{
    struct space space = {0};
    space_add(&space, param_int(1, 5));
    space_add(&space, CHOICE("a", "b"));
    check_auto(&space, 10, "grid");
    check_auto(&space, 9, "auto");
    check_auto(&space, 0, "grid");
    space_add(&space, param_int(1, 100000));
    check_auto(&space, 0, "auto");
    space_add(&space, param_float(0, 1));
    check_auto(&space, 1000000, "auto");
    space_release(&space);
}

TEST(an_unknown_name_is_answered_with_the_list)
{
    struct err err = ERR_INIT;
    struct space space = {0};
    struct search *s = NULL;
    assert_int_equal(search_new("grd", &(struct problem){.space = &space}, &s, &err), -ENOENT);
    assert_null(s);
    assert_string_equal(
        err_text(&err),
        "unknown search algorithm 'grd'; there are auto, grid, random, sobol, bayes, "
        "forest, tpe, cmaes, evolve");
    err_release(&err);
}

TEST(grid_refuses_a_free_float_and_says_what_to_do)
{
    struct err err = ERR_INIT;
    struct space space = {0};
    struct search *s = NULL;
    space_add(&space, param_int(1, 5));
    space_add(&space, param_float(0, 1));
    assert_int_equal(search_new("grid", &(struct problem){.space = &space}, &s, &err), -EINVAL);
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
    double x[3];
    space_add(&space, CHOICE("sgd", "adam"));
    space_add(&space, param_int(1, 2));
    space_when(&space, 0, 0, 0);
    space_add(&space, CHOICE("x", "y"));
    autofree(search) struct search *s =
        search_for("grid", &(struct problem){.space = &space, .seed = 1});
    while (ask_point(s, x)) {
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
    double x[2];
    int plain = 0;
    space_add(&space, CHOICE("plain", "tuned"));
    space_add(&space, param_float(0, 1));
    space_when(&space, 0, 1, 1);
    autofree(search) struct search *s =
        search_for("random", &(struct problem){.space = &space, .seed = 1});
    for (int i = 0; i < 1000; i++) {
        assert_true(ask_point(s, x));
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
    double x[1];
    space_add(&space, param_int(1, 100));
    struct problem problem = {.space = &space, .seed = 1}, other = {.space = &space, .seed = 2};
    autofree(search) struct search *a = search_for("random", &problem);
    autofree(search) struct search *b = search_for("random", &other);
    assert_true(ask_point(a, x));
    search_save(a, &blob);
    assert_int_equal(search_load(b, blob.s, blob.len, &err), -EINVAL);
    assert_string_equal(err_text(&err),
                        "the saved state of random search does not fit this space and seed");
    err_release(&err);
    space_release(&space);
}

TEST(what_is_told_is_kept_as_it_can_be_used)
{
    static const double others[] = {3, NAN}, excess[] = {-INFINITY, 0.5};
    struct space space = {0};
    double inside = 3, outside = 11, fine = 7;
    space_add(&space, param_int(1, 10));
    struct problem problem = {.space = &space, .n_objectives = 3, .n_constraints = 2};
    autofree(search) struct search *s = search_for("random", &problem);
    const struct history *history = &s->history;

    tell_value(s, &inside, NAN);
    tell_value(s, &outside, 1);
    search_tell(s, &fine,
                &(struct result){
                    .value = 2, .deviation = -3, .others = others, .excess = excess, .cost = -1});
    search_tell(s, &fine, &(struct result){RESULT_STOPPED, .value = INFINITY, .cost = 5});
    search_tell(s, &fine, &(struct result){.kind = RESULT_VOID});
    assert_int_equal(history->n, 3);
    assert_int_equal(history->kind.at[0], RESULT_FAILED);
    assert_true(isnan(history->value.at[0]) && isnan(history->others.at[0]));
    assert_true(history->value.at[1] == 2 && history->deviation.at[1] == 3);
    assert_true(history->others.at[2] == 3 && isnan(history->others.at[3]));
    assert_true(isnan(history->excess.at[2]) && history->excess.at[3] == 0.5);
    assert_true(isnan(history->cost.at[1]) && history->cost.at[2] == 5);
    assert_true(history->kind.at[2] == RESULT_STOPPED && isnan(history->value.at[2]));
    assert_int_equal(history_given(history, &fine), 2);
    assert_int_equal(history_given(history, &outside), 0);
    space_release(&space);
}

TEST(a_prepared_suggestion_that_somebody_else_has_run_is_thrown_away)
{
    struct space space = {0};
    double x[1], prepared;
    space_add(&space, param_int(1, 10));
    autofree(search) struct search *s = search_for("random", &(struct problem){.space = &space});
    assert_int_equal(search_prepare(s, NULL), 0);
    prepared = s->prepared.x[0];
    tell_value(s, &prepared, 1);
    assert_true(ask_point(s, x));
    assert_true(x[0] != prepared);
    space_release(&space);
}

TEST(what_is_in_flight_lands_once)
{
    struct space space = {0};
    double x[2][1];
    space_add(&space, param_int(1, 10));
    autofree(search) struct search *s = search_for("random", &(struct problem){.space = &space});
    assert_true(ask_point(s, x[0]) && ask_point(s, x[1]));
    assert_int_equal(s->history.n_pending, 2);
    tell_value(s, x[0], 1);
    tell_value(s, x[0], 2);
    assert_int_equal(s->history.n_pending, 1);
    assert_true(s->history.pending.at[0] == x[1][0]);
    assert_int_equal(history_given(&s->history, x[0]), 2);
    search_tell(s, x[1], &(struct result){.kind = RESULT_VOID});
    assert_int_equal(s->history.n_pending, 0);
    assert_int_equal(history_given(&s->history, x[1]), 0);
    assert_int_equal(s->history.n, 2);
    space_release(&space);
}

TEST(a_walk_passes_what_is_forbidden_and_nothing_else)
{
    struct rng rng;
    rng_init(&rng, 9, 0);
    for (int round = 0; round < 200; round++) {
        struct space space = {0};
        double x[5], plain = 0, passing = 0;
        for (size_t i = 0; i < 5; i++)
            space_add(&space, param_int(0, (double)rng_below(&rng, 4)));
        for (size_t i = 0; i < 3; i++) {
            space_forbid(&space, rng_below(&rng, 5), 0, (double)rng_below(&rng, 2));
            if (rng_chance(&rng, 0.7))
                space_forbid_and(&space, rng_below(&rng, 5), 1, 3);
        }
        walk_first(&space, x);
        do
            plain += !space_forbids(&space, x);
        while (walk_next(&space, x));
        walk_first(&space, x);
        do
            passing += !space_forbids(&space, x);
        while (walk_past(&space, x));
        assert_true(plain == passing);
        space_release(&space);
    }
}

TEST_MAIN
