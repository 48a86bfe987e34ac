/* SPDX-License-Identifier: MIT */
/*
 * trial_test.c — how trials are named, where their files are, and which value is better.
 */
#include "model/trial.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

TEST(references_name_an_experiment_and_maybe_a_trial)
{
    static const struct {
        const char *text, *name;
        int64_t trial;
    } rows[] = {
        {"mnist", "mnist", 0}, {"3", "3", 0},         {"mnist-2.7", "mnist-2", 7}, {"3.7", "3", 7},
        {"last", "last", 0},   {"last.2", "last", 2}, {"_x.12", "_x", 12},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT;
        char *name = NULL;
        int64_t trial = -1;
        assert_ok(ref_parse(rows[i].text, &name, &trial, &err), &err);
        assert_string_equal(name, rows[i].name);
        assert_int_equal(trial, rows[i].trial);
        free(name);
    }
}

TEST(nonsense_references_are_refused_with_a_sentence)
{
    static const char *const texts[] = {"",
                                        ".",
                                        ".3",
                                        "3.",
                                        "3.0",
                                        "a b",
                                        "3.x",
                                        "-1",
                                        "0",
                                        "a.1.2",
                                        "é",
                                        "99999999999999999999",
                                        "a.99999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err err = ERR_INIT;
        char *name = NULL;
        int64_t trial;
        assert_int_equal(ref_parse(texts[i], &name, &trial, &err), -EINVAL);
        assert_null(name);
        assert_non_null(strstr(err_text(&err), "names no"));
        err_release(&err);
    }
}

TEST(files_of_attempts_and_checkpoints_stand_apart)
{
    autofree(mem) char *dir = attempt_dir("/h", 3, 12, 1);
    autofree(mem) char *checkpoints = checkpoint_dir("/h", 3, 12);
    assert_string_equal(dir, "/h/experiments/3/12.1");
    assert_string_equal(checkpoints, "/h/experiments/3/12.checkpoints");
}

TEST(better_follows_the_goal_and_nan_is_worst)
{
    struct objective minimize = {.goal = GOAL_MINIMIZE}, maximize = {.goal = GOAL_MAXIMIZE};
    assert_true(objective_better(&minimize, 1, 2));
    assert_false(objective_better(&minimize, 2, 1));
    assert_true(objective_better(&maximize, 2, 1));
    assert_false(objective_better(&maximize, 1, 1));
    assert_true(objective_better(&maximize, -INFINITY, NAN));
    assert_false(objective_better(&minimize, NAN, INFINITY));
    assert_false(objective_better(&minimize, NAN, NAN));
}

TEST(released_rows_leave_nothing_behind)
{
    struct trial trial = {.number = 3, .n_extra = 2};
    trial.point = xcalloc(1, sizeof(double));
    trial.why = xstrdup("{}");
    trial.verdict = xstrdup("{}");
    trial.extra = xcalloc(2, sizeof(double));
    trial_release(&trial);
    assert_true(!trial.point && !trial.why && !trial.verdict && !trial.extra);
    assert_int_equal(trial.n_extra, 0);
}

TEST_MAIN
