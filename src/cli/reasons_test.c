/* SPDX-License-Identifier: MIT */
/*
 * reasons_test.c — numbers that are kept with a trial, as sentences.
 */
#include "cli/reasons.h"
#include "cli/help.h"
#include "tests/test.h"

#include <math.h>

/* help.c lists the commands of the program; here there are none. */
const struct cmd *const cmd_list[] = {NULL};

static void check_made(const char *why, const char *known, const char *expected)
{
    struct trial trial = {.experiment = 3, .number = 20, .repeat_of = 12, .why = (char *)why};
    autorelease(str) struct str text = STR_INIT;

    assert_int_equal(reason_made(&trial, known, &text), *expected != '\0');
    assert_string_equal(text.s, expected);
}

TEST(a_suggestion_has_a_sentence)
{
    check_made("{\"why\":\"model\",\"by\":\"bayes\",\"mean\":0.912,\"deviation\":0.0051,"
               "\"acquisition\":-3,\"seen\":17}",
               NULL,
               "suggested by bayes after 17 results: expects 0.912 ± 0.010 here, most promising of "
               "what is left");
    check_made("{\"why\":\"near\",\"by\":\"auto\",\"mean\":120.5,\"deviation\":20,\"seen\":1}",
               NULL,
               "suggested by auto after 1 result: a neighbour of the best, expects 120 ± 39 here");
    check_made("{\"why\":\"breed\",\"by\":\"evolve\",\"seen\":30}", NULL,
               "bred by evolve after 30 results, from the better ones");
    check_made("{\"why\":\"draw\",\"by\":\"sobol\",\"seen\":4}", NULL,
               "spread over the space by sobol, whatever the results");
    check_made("{\"why\":\"try\",\"by\":\"auto\"}", NULL, "from your try list");
    check_made("{\"why\":\"known\",\"by\":\"auto\"}", "experiment 4",
               "among the best of experiment 4");
    check_made("{\"why\":\"known\"}", NULL, "among the best of an earlier experiment");
    check_made("{\"why\":\"repeat\"}", NULL,
               "a repeat of 3.12: is that setting as good as it seems?");
    check_made("{\"why\":\"walk\"}", NULL, "one of all settings, each in turn");
}

TEST(what_is_not_kept_or_not_known_has_none)
{
    check_made(NULL, NULL, "");
    check_made("{}", NULL, "");
    check_made("{\"why\":\"of tomorrow\"}", NULL, "");
    check_made("not json", NULL, "");
}

static void check_ended(enum trial_state state, const char *verdict, const char *expected)
{
    struct trial trial = {.experiment = 3, .number = 20, .state = state};
    autorelease(str) struct str text = STR_INIT;

    trial.verdict = (char *)verdict;
    assert_int_equal(reason_ended(&trial, &text), *expected != '\0');
    assert_string_equal(text.s, expected);
}

TEST(a_verdict_has_a_sentence)
{
    check_ended(TRIAL_STOPPED,
                "{\"rule\":\"curve\",\"chance\":0.004,\"threshold\":0.01,\"step\":12}",
                "stopped by curve at step 12: chance to win 0.4 %, below 1 %");
    check_ended(TRIAL_STOPPED,
                "{\"rule\":\"curve\",\"chance\":1e-9,\"threshold\":0.01,\"mean\":0.5,"
                "\"deviation\":0.01,\"step\":12}",
                "stopped by curve at step 12: chance to win under 0.01 %, below 1 %; it would have "
                "ended near 0.500 ± 0.020");
    check_ended(TRIAL_STOPPED, "{\"rule\":\"median\",\"threshold\":0.52,\"step\":3}",
                "stopped by median at step 3: not better than 0.52");
    check_ended(TRIAL_PAUSED, "{\"rule\":\"asha\",\"rung\":9,\"step\":9}",
                "paused by asha at step 9: not among the best at rung 9");
    check_ended(TRIAL_COMPLETED, "{\"rule\":\"asha\",\"rung\":9,\"step\":9}",
                "paused by asha at step 9: not among the best at rung 9; it went on later");
    check_ended(TRIAL_STOPPED, NULL, "");
    check_ended(TRIAL_STOPPED, "{}", "");
}

static void check_interval(double mean, double deviation, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    str_add_interval(&text, mean, deviation);
    assert_string_equal(text.s, expected);
}

TEST(an_interval_has_the_digits_that_mean_something)
{
    check_interval(0.92984, 0.00056, "0.9298 ± 0.0011");
    check_interval(3.14159, NAN, "3.14159");
    check_interval(3.14159, 0, "3.14159");
    check_interval(1234.5, 100, "1234 ± 196");
    check_interval(1e300, 1e299, "1e+300 ± 2e+299");
    check_interval(-5, 1e-200, "-5");
    check_interval(NAN, NAN, "-");
}

TEST_MAIN
