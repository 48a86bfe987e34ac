/* SPDX-License-Identifier: MIT */
/*
 * left_test.c — what an engine says is left, in words.
 */
#include "cli/left.h"
#include "cli/cmd.h"
#include "tests/test.h"

/* help.c lists the commands of the program; here there are none. */
const struct cmd *const cmd_list[] = {NULL};

static struct left answer(const char *live)
{
    struct left left = {0};
    autofree(mem) char *text = xasprintf("{\"live\":%s}", live);
    assert_int_equal(json_parse(text, strlen(text), &left.reply, NULL), 0);
    return left;
}

static void check_words(const struct time_left *left, const char *cell, const char *line)
{
    autorelease(str) struct str short_words = STR_INIT, words = STR_INIT;
    str_add_left(&short_words, left);
    str_add_left_words(&words, left);
    assert_string_equal(short_words.s ? short_words.s : "", cell);
    assert_string_equal(words.s ? words.s : "", line);
}

static struct time_left of_trial(const struct left *left, int64_t number)
{
    struct trial trial = {.experiment = 3, .number = number};
    return left_of_trial(left, &trial);
}

TEST(a_target_in_doubt_is_said_instead_of_a_time)
{
    struct left left = answer("{\"active\":[{\"trial\":\"3.1\",\"remaining_s\":40,\"chance\":0.4},"
                              "{\"trial\":\"3.2\",\"remaining_s\":40,\"remaining_low_s\":30,"
                              "\"remaining_high_s\":50,\"chance\":0.9},"
                              "{\"trial\":\"3.3\",\"remaining_s\":40,\"paused\":true}]}");
    struct time_left doubtful = of_trial(&left, 1), sure = of_trial(&left, 2);
    struct time_left paused = of_trial(&left, 3), none = of_trial(&left, 4);

    check_words(&doubtful, "chance 40 %", "may not reach the target: chance 40 %");
    check_words(&sure, "40.0s", "about 40.0s (30.0s–50.0s)");
    check_words(&paused, "", "");
    check_words(&none, "", "");
    assert_true(sure.runs && !none.runs);
    left_release(&left);
}

TEST(an_experiment_ends_with_the_last_of_its_last_trials)
{
    struct left left = answer("{\"eta_us\":5000000,\"trials\":{\"total\":3,\"completed\":1},"
                              "\"active\":[{\"trial\":\"3.2\",\"remaining_s\":10},"
                              "{\"trial\":\"3.3\",\"remaining_s\":20}]}");
    struct time_left found = left_of_experiment(&left);

    check_words(&found, "20.0s", "about 20.0s");
    left_release(&left);
}

TEST(while_trials_are_to_come_the_mean_time_of_those_before_tells)
{
    struct left left = answer("{\"eta_us\":5000000,\"trials\":{\"total\":9,\"completed\":1},"
                              "\"active\":[{\"trial\":\"3.2\",\"remaining_s\":10}]}");
    struct time_left found = left_of_experiment(&left);

    check_words(&found, "5.0s", "about 5.0s");
    left_release(&left);
}

TEST_MAIN
