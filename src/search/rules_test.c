/* SPDX-License-Identifier: MIT */
/*
 * rules_test.c — what the user lays down, kept by every search algorithm: forbidden combinations,
 * settings to try first, priors, several objectives, constraints.
 */
#include <errno.h>
#include <math.h>

#include "search/test_search.h"

static bool is_blind(const struct search_ops *ops)
{
    return str_eq(ops->name, "grid") || str_eq(ops->name, "random") || str_eq(ops->name, "sobol");
}

static bool is_slow(const struct search_ops *ops)
{
    return str_eq(ops->name, "auto") || str_eq(ops->name, "bayes") || str_eq(ops->name, "forest");
}

/* NULL where the algorithm refuses the space. */
static struct search *try_search(const struct search_ops *ops, const struct problem *problem)
{
    struct search *s = NULL;
    struct err err = ERR_INIT;
    int r = search_new(ops->name, problem, &s, &err);
    assert_true(r == 0 || (r == -EINVAL && *err_text(&err)));
    err_release(&err);
    return s;
}

/* ---- forbid ---- */

/* Two thirds of the finite part and a band of the floats are forbidden, also where the best is. */
static void fill_forbidding(struct space *space, bool floats)
{
    space_add(space, CHOICE("sgd", "adam", "rmsprop"));
    space_add(space, param_int(1, 64));
    space_add(space, param_number(PARAM_INT, SCALE_LOG, 1, 10000, 0));
    space_when(space, 0, 0, 1);
    space_add(space, floats ? param_float(0, 1) : param_int(0, 20));
    space_forbid(space, 0, 0, 0);
    space_forbid_and(space, 1, 1, 48);
    space_forbid(space, 1, 32, 64);
    space_forbid_and(space, 2, 1, 300);
    space_forbid(space, 3, floats ? 0.2 : 4, floats ? 0.8 : 16);
    space_forbid_and(space, 0, 1, 2);
}

static void check_never_forbidden(const struct search_ops *ops, bool floats, size_t asks)
{
    struct space space = {0};
    fill_forbidding(&space, floats);
    struct problem problem = {.space = &space, .seed = 5, .trials = 1};
    struct search *s = try_search(ops, &problem);
    double x[4];

    for (size_t i = 0; i < asks && s; i++) {
        assert_true(ask_point(s, x));
        assert_false(space_forbids(&space, x));
        if (!is_blind(ops)) /* the best is in the forbidden band */
            tell_value(s, x, fabs(x[3] - (floats ? 0.5 : 10)) + x[1] / 100);
    }
    search_free(s);
    space_release(&space);
}

TEST(nothing_forbidden_is_suggested_in_a_million)
{
    for (size_t i = 0; i < search_count(); i++) {
        const struct search_ops *ops = search_at(i);
        size_t asks = is_blind(ops) ? 200000 : is_slow(ops) ? 60 : 1500;
        check_never_forbidden(ops, false, asks);
        check_never_forbidden(ops, true, asks);
    }
}

TEST(a_space_of_which_one_setting_is_left_gives_it_once)
{
    for (size_t i = 0; i < search_count(); i++)
        for (int many = 0; many < 2; many++) {
            struct space space = {0};
            double x[40];
            for (size_t k = 0; k < (many ? 40 : 4); k++) {
                space_add(&space, param_int(1, 9));
                space_forbid(&space, k, 1, 6);
                space_forbid(&space, k, 8, 9);
            }
            struct problem problem = {.space = &space, .seed = 5, .trials = 1};
            autofree(search) struct search *s = search_for(search_at(i)->name, &problem);
            assert_true(ask_point(s, x));
            assert_true(x[0] == 7 && x[space.n - 1] == 7);
            tell_value(s, x, 1);
            assert_false(ask_point(s, x));
            space_release(&space);
        }
}

static void fill_with_nothing(struct space *space, int kind)
{
    space_add(space, param_int(1, 4));
    for (size_t k = 0; k < 30 && kind == 1; k++)
        space_add(space, param_int(1, 9));
    if (kind == 2)
        space_add(space, param_float(0, 1));
    space_forbid(space, 0, 1, 2);
    space_forbid(space, 0, 3, 4);
}

TEST(a_space_of_which_nothing_is_left_ends_at_once)
{
    for (size_t i = 0; i < search_count(); i++)
        for (int kind = 0; kind < 3; kind++) {
            struct space space = {0};
            double x[31];
            fill_with_nothing(&space, kind);
            struct problem problem = {.space = &space, .seed = 5, .trials = 1};
            struct search *s = try_search(search_at(i), &problem);
            if (s)
                assert_false(ask_point(s, x));
            search_free(s);
            space_release(&space);
        }
}

/* ---- try ---- */

TEST(settings_to_try_come_first_in_order_and_what_is_open_is_filled_in)
{
    static const double whole[] = {1, 3, 0.25}, part[] = {2, TRY_FREE, TRY_FREE},
                        forbidden[] = {2, 4, 0.5}, inactive[] = {0, NAN, TRY_FREE};
    const double *tries[] = {whole, part, whole, forbidden, part, inactive};
    for (size_t i = 0; i < search_count(); i++) {
        struct space space = {0};
        double x[7][3];
        struct suggestion next;
        space_add(&space, CHOICE("a", "b", "c"));
        space_add(&space, param_int(1, 4));
        space_when(&space, 0, 1, 2);
        space_add(&space, param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 1, 0.25));
        space_forbid(&space, 1, 4, 4);
        struct problem problem = {
            .space = &space, .seed = 5, .trials = 1, .tries = tries, .n_tries = 6};
        autofree(search) struct search *s = search_for(search_at(i)->name, &problem);
        for (size_t k = 0; k < 5; k++) { /* the repeated and the forbidden one are left out */
            next = (struct suggestion){.x = x[k]};
            assert_int_equal(search_ask(s, &next, NULL), 0);
            assert_int_equal(next.why == WHY_TRY, k < 4);
            assert_true(space_contains(&space, x[k]));
        }
        assert_memory_equal(x[0], whole, sizeof(whole));
        assert_true(x[1][0] == 2 && x[2][0] == 2 && !point_equal(x[1], x[2], 3));
        assert_true(x[3][0] == 0 && isnan(x[3][1]));
        space_release(&space);
    }
}

/* Resumed after each of them: none comes again, none is left out. */
TEST(settings_to_try_go_on_after_an_interruption)
{
    static const double whole[] = {3, 4}, part[] = {7, TRY_FREE};
    const double *tries[] = {whole, whole, part, part};
    struct space space = {0};
    double x[8][2], y[2];
    enum why why[8];
    space_add(&space, param_int(1, 9));
    space_add(&space, param_int(1, 9));
    struct problem problem = {
        .space = &space, .seed = 5, .trials = 1, .tries = tries, .n_tries = 4};
    autofree(search) struct search *s = search_for("random", &problem);
    for (size_t k = 0; k < 8; k++) {
        autorelease(str) struct str blob = STR_INIT;
        autofree(search) struct search *t = search_for("random", &problem);
        struct suggestion next = {.x = y};
        search_save(s, &blob);
        assert_int_equal(search_load(t, blob.s, blob.len, NULL), 0);
        for (size_t i = 0; i < k; i++)
            search_asked(t, x[i], why[i], false);
        assert_int_equal(search_ask(t, &next, NULL), 0);
        next.x = x[k];
        assert_int_equal(search_ask(s, &next, NULL), 0);
        why[k] = next.why;
        assert_memory_equal(x[k], y, sizeof(y));
        assert_int_equal(next.why == WHY_TRY, k < 3);
    }
    space_release(&space);
}

/* ---- priors ---- */

/* At the edge, outside, very narrow, and a choice of which one has all the weight. */
TEST(priors_at_the_edge_are_no_trap)
{
    static const double means[] = {0, 1, 0.5, -3, 40}, sds[] = {1e-12, 0.1, 1e-300, 1e-9, 100};
    for (size_t i = 0; i < search_count(); i++) {
        struct space space = {0};
        double x[7];
        for (size_t k = 0; k < ARRAY_LEN(means); k++) {
            space_add(&space, k % 2 ? param_float(-1, 1) : param_int(-8, 8));
            space.params[k].prior.mean = means[k];
            space.params[k].prior.sd = sds[k];
        }
        space_add(&space, CHOICE("a", "b", "c"));
        space.params[5].prior.weights = xcalloc(3, sizeof(double));
        space.params[5].prior.weights[1] = 1;
        space_add(&space, CHOICE("x", "y"));
        space.params[6].prior.weights = xcalloc(2, sizeof(double)); /* a sum of 0 */
        struct problem problem = {.space = &space, .seed = 5, .trials = 100};
        struct search *s = try_search(search_at(i), &problem);
        for (size_t k = 0; k < 20 && s; k++) {
            assert_true(ask_point(s, x));
            tell_value(s, x, x[0] + x[1]);
        }
        search_free(s);
        space_release(&space);
    }
}

/* ---- several objectives, constraints, cost ---- */

TEST(several_objectives_are_searched_or_refused_with_a_sentence)
{
    for (size_t i = 0; i < search_count(); i++) {
        struct space space = {0};
        double x[3], others[2];
        struct err err = ERR_INIT;
        struct search *s = NULL;
        for (int k = 0; k < 3; k++)
            space_add(&space, param_number(PARAM_FLOAT, SCALE_LINEAR, 0, 1, 0.0625));
        struct problem problem = {
            .space = &space, .seed = 5, .trials = 1, .n_objectives = 3, .n_constraints = 1};
        int r = search_new(search_at(i)->name, &problem, &s, &err);
        assert_int_equal(r, search_at(i)->several ? 0 : -EINVAL);
        assert_true(r == 0 || *err_text(&err));
        for (size_t k = 0; k < 18 && s; k++) {
            assert_true(ask_point(s, x));
            others[0] = k % 5 == 4 ? NAN : 1 - x[0];
            others[1] = k % 7 == 6 ? INFINITY : x[1];
            double excess = k % 6 == 5 ? NAN : x[2] - 0.5;
            search_tell(s, x,
                        &(struct result){.value = x[0] + x[2],
                                         .others = k % 4 == 3 ? NULL : others,
                                         .excess = k % 8 == 7 ? NULL : &excess,
                                         .kind = k % 9 == 8 ? RESULT_FAILED : RESULT_VALUE});
        }
        search_free(s);
        err_release(&err);
        space_release(&space);
    }
}

/* Minimum where the constraint is broken; cheap where x[1] is small. */
TEST(learners_find_what_keeps_the_constraints)
{
    static const char *const names[] = {"auto", "bayes", "forest", "tpe", "evolve", "cmaes"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct space space = {0};
        double x[2], best = INFINITY;
        struct best believed;
        size_t asks = str_eq(names[i], "evolve") || str_eq(names[i], "cmaes") ? 200 : 40;
        space_add(&space, param_float(-1, 1));
        space_add(&space, param_float(-1, 1));
        struct problem problem = {
            .space = &space, .seed = 5, .trials = 1, .n_constraints = 1, .weigh_cost = i < 2};
        autofree(search) struct search *s = search_for(names[i], &problem);
        for (size_t k = 0; k < asks; k++) {
            assert_true(ask_point(s, x));
            double value = x[0] * x[0] + x[1] * x[1], excess = 0.5 - x[0];
            if (excess <= 0)
                best = fmin(best, value);
            search_tell(s, x,
                        &(struct result){.value = value, .excess = &excess, .cost = 2 + x[1]});
        }
        if (!(best < 0.35)) /* 0.25 is the least */
            fail_msg("%s found %g", names[i], best);
        assert_int_equal(search_best(s, &believed), 0);
        assert_true(believed.x[0] >= 0.5 && believed.mean < 0.5);
        space_release(&space);
    }
}

/* Results jump, so a model sees noise in them; repeats say that there is none, or some. */
TEST(the_best_of_a_program_without_noise_is_the_lowest_that_was_seen)
{
    for (int noisy = 0; noisy < 2; noisy++) {
        struct space space = {0};
        struct best best;
        space_add(&space, param_float(0, 1));
        struct problem problem = {.space = &space, .seed = 5, .trials = 40};
        autofree(search) struct search *s = search_for("bayes", &problem);
        for (int k = 0; k < 24; k++) {
            double x = k / 24.0, jump = k % 2 ? 1 : -1;
            double value = k == 3 ? -1.2 : (x - 0.75) * (x - 0.75) * 4 + jump * 0.5;
            search_tell(s, &x, &(struct result){.value = value});
        }
        for (int k = 0; k < 3; k++) {
            double x = 1, value = 0.75 + (noisy ? k - 1 : 0);
            search_tell(s, &x, &(struct result){.value = value});
        }
        assert_int_equal(search_best(s, &best), 0);
        assert_true(noisy ? best.x[0] > 0.25 : best.x[0] == 3 / 24.0);
        assert_true(noisy ? best.deviation > 0 : best.mean == -1.2 && best.deviation == 0);
        space_release(&space);
    }
}

TEST_MAIN
