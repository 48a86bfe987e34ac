/* SPDX-License-Identifier: MIT */
/*
 * replay_test.c — searches and rules over a table of recorded curves.
 */
#include "cli/replay.h"
#include "cli/help.h"
#include "tests/test.h"

#include <math.h>

/* help.c lists the commands of the program; here there are none. */
const struct cmd *const cmd_list[] = {NULL};

#define TRIALS 12
#define STEPS  10

static struct param x_param = {.name = (char *)"x", .type = PARAM_FLOAT, .min = 0, .max = 1};
static const struct space space = {.params = &x_param, .n = 1};
static double points[TRIALS];

/* The i-th setting ends at (i − 7)², and is 1/(step + 1) away from there before. */
static struct replay_table make_table(bool curves)
{
    struct replay_table table = {.space = &space, .curves = curves, .best = 0};

    for (int i = 0; i < TRIALS; i++) {
        points[i] = (double)i / (TRIALS - 1);
        struct replay_trial trial = {
            .number = i + 1, .x = &points[i], .state = TRIAL_COMPLETED, .value = (i - 7) * (i - 7)};
        for (int step = 0; curves && step < STEPS; step++) {
            vec_push(&trial.steps, step);
            vec_push(&trial.values, trial.value + 1.0 / (step + 1));
        }
        vec_push(&table.trials, trial);
        table.steps += curves ? STEPS : 1;
    }
    return table;
}

static struct replay_path simulate(const struct replay_table *table, const char *search,
                                   const char *stop, uint64_t seed)
{
    struct replay_how how = {.search = search, .seed = seed};
    struct replay_path path;
    autorelease(err) struct err err = ERR_INIT;

    how.stop = stop ? stop_find(stop) : NULL;
    how.settings = (struct stop_settings){.rule = (char *)stop, .chance = NAN};
    assert_ok(replay_simulate(table, &how, &path, &err), &err);
    return path;
}

TEST(without_a_search_it_is_the_record)
{
    struct replay_table table = make_table(false);
    struct replay_path path = simulate(&table, NULL, NULL, 1);

    assert_int_equal(path.marks.len, TRIALS);
    assert_int_equal(replay_reaches(&path, 0)->trials, 8);
    assert_true(replay_best_at(&path, 1) == 49);
    assert_true(replay_best_at(&path, TRIALS) == 0);
    assert_true(isnan(replay_best_at(&path, 0)));
    replay_path_release(&path);
    replay_table_release(&table);
}

TEST(every_search_runs_every_recorded_setting_once)
{
    static const char *const names[] = {"random", "sobol", "bayes", "auto"};
    struct replay_table table = make_table(false);

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            struct replay_path path = simulate(&table, names[i], NULL, seed);
            assert_int_equal(path.marks.len, TRIALS);
            assert_int_equal(vec_last(&path.marks)->steps, TRIALS);
            assert_true(vec_last(&path.marks)->best == 0);
            replay_path_release(&path);
        }
    replay_table_release(&table);
}

TEST(a_rule_saves_steps_and_what_it_stops_is_not_the_best)
{
    static const char *const rules[] = {"median", "asha"};
    struct replay_table table = make_table(true);

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct replay_path path = simulate(&table, "random", rules[i], 1);
        assert_true(path.stopped > 0);
        assert_true(vec_last(&path.marks)->steps < TRIALS * STEPS);
        vec_foreach (mark, &path.marks)
            assert_true(isnan(mark->best) || mark->best == floor(mark->best));
        replay_path_release(&path);
    }
    replay_table_release(&table);
}

TEST(without_a_rule_all_steps_are_used)
{
    struct replay_table table = make_table(true);
    struct replay_path path = simulate(&table, "random", "none", 1);

    assert_int_equal(path.stopped, 0);
    assert_int_equal(vec_last(&path.marks)->steps, TRIALS * STEPS);
    replay_path_release(&path);
    replay_table_release(&table);
}

TEST(failed_and_stopped_trials_never_are_the_best)
{
    struct replay_table table = make_table(false);

    table.trials.at[7].state = TRIAL_FAILED;
    table.trials.at[7].value = NAN;
    table.trials.at[6].state = TRIAL_STOPPED;
    table.trials.at[6].value = -5;
    struct replay_path path = simulate(&table, "random", NULL, 2);
    assert_true(vec_last(&path.marks)->best == 1); /* trial 9 */
    replay_path_release(&path);
    replay_table_release(&table);
}

TEST_MAIN
