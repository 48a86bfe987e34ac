/* SPDX-License-Identifier: MIT */
/*
 * model_test.c — what a search believes: the same whenever it is asked, with the right slopes;
 * which setting is best; and what earlier experiments add.
 */
#include <errno.h>
#include <math.h>

#include "search/belief.h"
#include "search/test_search.h"
#include "search/transfer.h"

static void fill_mixed(struct space *space)
{
    space_add(space, param_float(0, 1));
    space_add(space, param_int(1, 9));
    space_add(space, CHOICE("a", "b", "c"));
    space_add(space, param_float(0, 1));
    space_when(space, 2, 0, 1);
}

static void draw_mixed(const struct space *space, struct rng *rng, double *x)
{
    for (size_t i = 0; i < space->n; i++)
        x[i] = param_from_unit(&space->params[i], rng_unit(rng));
    space_settle(space, x);
}

static double mixed_value(const double *x)
{
    return pow(x[0] - 0.3, 2) + 0.1 * fabs(x[1] - 4) + (x[2] == 1 ? 0 : 0.2) +
           (isnan(x[3]) ? 0 : 0.1 * x[3]);
}

/* Results of every kind, among them repeats and, if `vague`, predictions. */
static void tell_mixed(struct search *s, const double *x, const double *first, size_t i, bool vague)
{
    struct result result = {.value = mixed_value(x)};
    if (i % 11 == 3)
        result.kind = RESULT_FAILED;
    if (i % 6 == 5) {
        result.kind = RESULT_STOPPED;
        result.deviation = vague ? 0.1 : 0;
    }
    search_tell(s, i % 9 == 8 || (i > 40 && i < 44) ? first : x, &result);
}

/* One is asked after every result and looks ahead, the other only at the end. */
static void check_same_bits(size_t n, bool vague)
{
    struct space space = {0};
    double x[4], first[4], mean[2], deviation[2];
    struct rng rng;
    fill_mixed(&space);
    rng_init(&rng, n, 0);
    struct problem problem = {.space = &space, .seed = 4, .trials = 100};
    autofree(search) struct search *often = search_for("random", &problem);
    autofree(search) struct search *once = search_for("random", &problem);
    draw_mixed(&space, &rng, first);
    for (size_t i = 0; i < n; i++) {
        draw_mixed(&space, &rng, x);
        tell_mixed(often, x, first, i, vague);
        tell_mixed(once, x, first, i, vague);
        search_predict(often, first, 1, mean, deviation);
        if (i % 7 == 6) {
            assert_true(ask_point(often, x)); /* it is in flight while … */
            search_expected_gain(often);
            search_tell(often, x, &(struct result){.kind = RESULT_VOID});
        }
    }
    for (int i = 0; i < 5; i++) {
        draw_mixed(&space, &rng, x);
        assert_true(search_predict(often, x, 1, &mean[0], &deviation[0]));
        assert_true(search_predict(once, x, 1, &mean[1], &deviation[1]));
        assert_true(mean[0] == mean[1] && deviation[0] == deviation[1]);
    }
    space_release(&space);
}

TEST(what_is_believed_does_not_depend_on_when_it_was_asked)
{
    static const size_t counts[] = {2, 3, 12, 24, 25, 31, 43, 50, 75, 110};
    for (size_t k = 0; k < ARRAY_LEN(counts); k++) {
        check_same_bits(counts[k], false);
        check_same_bits(counts[k], true);
    }
}

static const struct model *objective_of(struct search *s)
{
    bool ready = false;
    const struct belief *belief = belief_of(s, &ready);
    assert_true(belief && ready);
    return &belief->models[0];
}

static void check_slopes(const struct model *model, const struct encoder *encoder, double *features)
{
    double mean, deviation, by_mean[4], by_deviation[4], m[2], s[2];
    model_gradient(model, features, &mean, &deviation, by_mean, by_deviation);
    model_predict(model, features, 1, m, s);
    assert_true(fabs(m[0] - mean) < 1e-9 && fabs(s[0] - deviation) < 1e-9);
    for (size_t j = 0; j < encoder->d; j++) {
        double was = features[j], h = 1e-6;
        for (int k = 0; k < 2 && !encoder->category[j]; k++) {
            features[j] = was + (k ? h : -h);
            model_predict(model, features, 1, &m[k], &s[k]);
        }
        features[j] = was;
        double wanted = encoder->category[j] ? 0 : (m[1] - m[0]) / (2 * h);
        assert_true(fabs(by_mean[j] - wanted) < 1e-5 * (1 + fabs(wanted)));
        wanted = encoder->category[j] ? 0 : (s[1] - s[0]) / (2 * h);
        assert_true(fabs(by_deviation[j] - wanted) < 1e-5 * (1 + fabs(wanted)));
    }
}

/* A task of n results of `value`, in memory that the caller frees. */
static struct task task_of(const struct space *space, size_t n, double (*value)(const double *x))
{
    double *x = xcalloc(n * space->n, sizeof(*x)), *y = xcalloc(n, sizeof(*y));
    struct rng rng;
    rng_init(&rng, 99, n);
    for (size_t i = 0; i < n; i++) {
        draw_mixed(space, &rng, x + i * space->n);
        y[i] = value(x + i * space->n);
    }
    return (struct task){.x = x, .y = y, .n = n};
}

static void task_free(struct task *task)
{
    free((void *)task->x);
    free((void *)task->y);
}

static double shifted(const double *x)
{
    return 1000 + 50 * mixed_value(x);
}

static double reversed(const double *x)
{
    return -mixed_value(x);
}

/* A search that knows a task, after n results. */
static struct search *knowing(struct problem *problem, size_t n)
{
    struct search *s = search_for("auto", problem);
    double x[4];
    struct rng rng;
    rng_init(&rng, 5, 0);
    for (size_t i = 0; i < n; i++) {
        draw_mixed(problem->space, &rng, x);
        tell_value(s, x, mixed_value(x));
    }
    return s;
}

/* The shape that a smooth bowl is seen by after 40 results with so much noise. */
static enum shape shape_with_noise(double noise)
{
    struct space space = {0};
    struct rng rng;
    bool ready;
    space_add(&space, param_float(0, 1));
    space_add(&space, param_float(0, 1));
    rng_init(&rng, 5, 0);
    autofree(search) struct search *s = search_for("bayes", &(struct problem){.space = &space});
    for (int i = 0; i < 40; i++) {
        double x[2] = {rng_unit(&rng), rng_unit(&rng)};
        double bowl = pow(x[0] - 0.4, 2) + pow(x[1] - 0.7, 2);
        tell_value(s, x, bowl + noise * rng_normal(&rng));
    }
    enum shape shape = belief_of(s, &ready)->models[0].fitted.shape;
    space_release(&space);
    return shape;
}

TEST(only_without_noise_the_scale_is_fine)
{
    assert_int_equal(shape_with_noise(0), SHAPE_FINE);
    assert_int_equal(shape_with_noise(0.05), SHAPE_PLAIN);
}

TEST(slopes_are_differences_with_and_without_knowledge)
{
    struct space space = {0};
    fill_mixed(&space);
    struct task task = task_of(&space, 30, shifted);
    for (size_t known = 0; known < 2; known++)
        for (size_t n = 12; n <= 72; n += 60) { /* a mixture, and a single process */
            struct problem problem = {
                .space = &space, .seed = 4, .trials = 1, .tasks = &task, .n_tasks = known};
            autofree(search) struct search *s = knowing(&problem, n);
            const struct model *model = objective_of(s);
            double features[] = {0.35, 0.6, 1, 0.4};
            check_slopes(model, &s->belief->encoder, features);
        }
    task_free(&task);
    space_release(&space);
}

TEST(what_is_in_flight_narrows_the_belief_until_the_next_update)
{
    struct space space = {0};
    double x[4], features[4], mean[3], deviation[3];
    fill_mixed(&space);
    struct problem problem = {.space = &space, .seed = 4, .trials = 1};
    autofree(search) struct search *s = knowing(&problem, 20);
    assert_true(ask_point(s, x));
    objective_of(s);
    struct model *model = &s->belief->models[0];
    encode(&s->belief->encoder, x, features);
    model_predict(model, features, 1, &mean[0], &deviation[0]);
    model_imagine(model, &s->history);
    model_predict(model, features, 1, &mean[1], &deviation[1]);
    assert_true(deviation[1] < deviation[0]);
    model_update(model, s);
    model_predict(model, features, 1, &mean[2], &deviation[2]);
    assert_true(mean[2] == mean[0] && deviation[2] == deviation[0]);
    space_release(&space);
}

/* ---- the best ---- */

TEST(the_best_is_what_was_good_again_and_again_not_what_was_lucky_once)
{
    struct space space = {0};
    struct best best;
    struct rng rng;
    space_add(&space, CHOICE("a", "b", "c", "d", "e", "f", "g", "h"));
    autofree(search) struct search *s = search_for("random", &(struct problem){.space = &space});
    rng_init(&rng, 7, 0);
    for (int round = 0; round < 10; round++)
        for (double x = 0; x < 8; x++) /* 2 is the best, 0.3 better than the others */
            if (x != 5)
                tell_value(s, &x, (x == 2 ? 0.7 : 1) + 0.15 * rng_normal(&rng));
    double lucky = 5;
    tell_value(s, &lucky, 0.65);
    assert_int_equal(search_best(s, &best), 0);
    assert_true(best.x[0] == 2 && best.repeats == 10 && best.row == 2);
    assert_true(fabs(best.mean - 0.7) < 0.1 && best.deviation < 0.1);
    assert_true(best.noise > 0.05 && best.noise < 0.4);
    space_release(&space);
}

TEST(what_breaks_a_constraint_or_failed_is_never_the_best)
{
    struct space space = {0};
    struct best best;
    space_add(&space, param_int(0, 9));
    struct problem problem = {.space = &space, .n_constraints = 1};
    autofree(search) struct search *s = search_for("random", &problem);
    assert_int_equal(search_best(s, &best), -ENODATA);
    for (double x = 0; x < 10; x++) {
        double excess = 4 - x; /* 4 and more keep it */
        search_tell(s, &x,
                    &(struct result){x == 4 ? RESULT_FAILED : RESULT_VALUE, .value = x,
                                     .excess = x == 5 ? NULL : &excess});
        int r = search_best(s, &best);
        assert_int_equal(r, x < 6 ? -ENODATA : 0);
    }
    assert_true(best.x[0] == 6);
    space_release(&space);
}

TEST(what_was_stopped_on_its_way_is_never_the_best)
{
    struct space space = {0};
    struct best best;
    space_add(&space, param_int(0, 9));
    autofree(search) struct search *s = search_for("random", &(struct problem){.space = &space});
    for (double x = 0; x < 10; x++) /* 3 looks best, but nobody has seen its end */
        search_tell(s, &x,
                    &(struct result){x == 3 ? RESULT_STOPPED : RESULT_VALUE, .value = fabs(x - 3)});
    assert_int_equal(search_best(s, &best), 0);
    assert_true(best.x[0] == 2 || best.x[0] == 4);
    assert_true(best.deviation > 0);
    space_release(&space);
}

TEST(without_a_finite_result_there_is_no_best)
{
    struct space space = {0};
    struct best best;
    double x = 3, mean, deviation;
    space_add(&space, param_int(0, 9));
    autofree(search) struct search *s = search_for("random", &(struct problem){.space = &space});
    tell_value(s, &x, NAN);
    search_tell(s, &x, &(struct result){RESULT_STOPPED, .value = NAN});
    assert_int_equal(search_best(s, &best), -ENODATA);
    assert_true(isnan(search_expected_gain(s)));
    assert_false(search_predict(s, &x, 1, &mean, &deviation));
    tell_value(s, &x, 8);
    assert_int_equal(search_best(s, &best), 0);
    assert_true(best.x[0] == 3 && best.mean == 8 && best.row == 2 && best.repeats == 1);
    tell_value(s, &x, 4);
    assert_int_equal(search_best(s, &best), 0);
    assert_true(best.mean == 6 && best.row == 2 && best.repeats == 2); /* the average */
    space_release(&space);
}

TEST(the_expected_gain_shrinks_as_the_minimum_is_found)
{
    struct space space = {0};
    double x[1], early = 0;
    space_add(&space, param_float(0, 1));
    autofree(search) struct search *s =
        search_for("bayes", &(struct problem){.space = &space, .seed = 3});
    for (int i = 0; i < 30; i++) {
        assert_true(ask_point(s, x));
        tell_value(s, x, pow(x[0] - 0.4, 2));
        if (i == 6)
            early = search_expected_gain(s);
    }
    double late = search_expected_gain(s);
    if (!(early > 0 && late >= 0 && late < early / 10))
        fail_msg("%g early, %g late", early, late);
    space_release(&space);
}

/* ---- earlier experiments ---- */

TEST(the_best_of_a_related_task_comes_first)
{
    struct space space = {0};
    double x[4];
    fill_mixed(&space);
    struct task task = task_of(&space, 60, shifted);
    struct problem problem = {
        .space = &space, .seed = 4, .trials = 1, .tasks = &task, .n_tasks = 1};
    autofree(search) struct search *s = search_for("auto", &problem);
    struct suggestion next = {.x = x};
    assert_int_equal(search_ask(s, &next, NULL), 0);
    assert_int_equal(next.why, WHY_KNOWN);
    size_t better = 0;
    for (size_t i = 0; i < task.n; i++)
        better += task.y[i] < shifted(x);
    assert_true(better < 3);
    task_free(&task);
    space_release(&space);
}

TEST(one_result_is_enough_where_a_task_tells_the_rest)
{
    struct space space = {0};
    double x[4];
    fill_mixed(&space);
    struct task task = task_of(&space, 60, shifted);
    struct problem problem = {
        .space = &space, .seed = 4, .trials = 10, .tasks = &task, .n_tasks = 1};
    autofree(search) struct search *s = search_for("auto", &problem);
    struct suggestion next = {.x = x};
    struct best best;
    while (search_ask(s, &next, NULL) == 0 && next.why == WHY_KNOWN && s->history.n == 0)
        tell_value(s, x, mixed_value(x));
    assert_true(next.why == WHY_KNOWN || next.why == WHY_MODEL); /* not one of the spread ones */
    assert_true(s->history.n > 1 || isnan(next.mean));           /* there is no unit yet */
    double worse = 0;
    for (size_t i = 0; i < task.n; i++)
        worse += task.y[i] > shifted(x);
    assert_true(worse > 0.5 * (double)task.n);
    assert_int_equal(search_best(s, &best), 0);
    assert_true(best.repeats == 1);
    task_free(&task);
    space_release(&space);
}

/* The least value that 40 trials find. */
static double found_with(const struct space *space, const struct task *task, uint64_t seed)
{
    struct problem problem = {
        .space = space, .seed = seed, .trials = 40, .tasks = task, .n_tasks = task != NULL};
    autofree(search) struct search *s = search_for("auto", &problem);
    double x[4], least = INFINITY;
    for (int i = 0; i < 40; i++) {
        assert_true(ask_point(s, x));
        least = fmin(least, mixed_value(x));
        tell_value(s, x, mixed_value(x));
    }
    return least;
}

TEST(a_reversed_task_costs_some_trials_only)
{
    struct space space = {0};
    double spread = 0, cold = 0, misled = 0;
    fill_mixed(&space);
    struct task wrong = task_of(&space, 60, reversed);
    for (size_t i = 0; i < wrong.n; i++)
        spread = fmax(spread, wrong.y[0] - wrong.y[i]);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        cold += found_with(&space, NULL, seed) / 4;
        misled += found_with(&space, &wrong, seed) / 4;
    }
    assert_true(misled - cold < 0.05 * spread);
    task_free(&wrong);
    space_release(&space);
}

/* How many of the first 20 asks look at nothing that is known. */
static size_t doubts_with(const struct space *space, const struct task *task, int64_t trials)
{
    struct problem problem = {
        .space = space, .seed = 4, .trials = trials, .tasks = task, .n_tasks = 1};
    autofree(search) struct search *s = search_for("auto", &problem);
    size_t n = 0;
    double x[4];

    for (int i = 0; i < 20 && (trials == 0 || i < trials); i++) {
        struct suggestion next = {.x = x};
        struct err err = ERR_INIT;
        assert_ok(search_ask(s, &next, &err), &err);
        n += next.why == WHY_DRAW;
        tell_value(s, x, mixed_value(x));
    }
    return n;
}

TEST(what_is_known_is_doubted_as_often_as_the_budget_allows)
{
    struct space space = {0};
    fill_mixed(&space);
    struct task task = task_of(&space, 60, shifted);
    assert_int_equal(doubts_with(&space, &task, 5), 0);
    assert_int_equal(doubts_with(&space, &task, 10), 0);
    assert_int_equal(doubts_with(&space, &task, 20), 1);
    assert_int_equal(doubts_with(&space, &task, 50), 4);
    assert_int_equal(doubts_with(&space, &task, 1000), 6);
    assert_int_equal(doubts_with(&space, &task, 0), 6);
    task_free(&task);
    space_release(&space);
}

TEST(a_related_task_is_believed_and_a_reversed_one_soon_not)
{
    struct space space = {0};
    fill_mixed(&space);
    struct task related = task_of(&space, 60, shifted), wrong = task_of(&space, 60, reversed);
    struct problem problem = {.space = &space, .seed = 4, .trials = 1, .n_tasks = 1};
    problem.tasks = &related;
    autofree(search) struct search *s = knowing(&problem, 10);
    assert_true(objective_of(s)->data.weights[0] > 0.5);
    problem.tasks = &wrong;
    autofree(search) struct search *t = knowing(&problem, 10);
    assert_true(objective_of(t)->data.weights[0] < 0.1);
    task_free(&related);
    task_free(&wrong);
    space_release(&space);
}

TEST(odd_tasks_do_no_harm)
{
    struct space space = {0};
    double x[4], y[30], few[20 * 4];
    struct task tasks[5];
    fill_mixed(&space);
    tasks[0] = task_of(&space, 30, shifted);
    for (size_t i = 0; i < 30; i++)
        y[i] = i % 2 ? 1e300 : -1e300;
    for (size_t i = 0; i < ARRAY_LEN(few); i++)
        few[i] = i % 4 ? NAN : 0.5; /* it had only the first parameter, and one value of it */
    tasks[1] = (struct task){.x = tasks[0].x, .y = y, .n = 30};
    tasks[2] = (struct task){.x = few, .y = tasks[0].y, .n = 20};
    tasks[3] = (struct task){.x = few, .y = tasks[0].y, .n = 1};
    tasks[4] = (struct task){0};
    struct problem problem = {
        .space = &space, .seed = 4, .trials = 1, .tasks = tasks, .n_tasks = ARRAY_LEN(tasks)};
    autofree(search) struct search *s = search_for("auto", &problem);
    for (int i = 0; i < 20; i++) {
        assert_true(ask_point(s, x));
        tell_value(s, x, mixed_value(x));
    }
    problem.tasks = tasks + 3;
    problem.n_tasks = 2; /* none has enough results */
    autofree(search) struct search *t = search_for("auto", &problem);
    assert_true(ask_point(t, x));
    task_free(&tasks[0]);
    space_release(&space);
}

TEST_MAIN
