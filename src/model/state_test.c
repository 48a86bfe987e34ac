/* SPDX-License-Identifier: MIT */
/*
 * state_test.c — names come back as themselves, and ended means ended.
 */
#include "model/state.h"
#include "tests/test.h"

#include <errno.h>

TEST(every_name_parses_back)
{
    for (int i = 0; i < EXPERIMENT_STATES; i++) {
        enum experiment_state state;
        assert_int_equal(experiment_state_parse(experiment_state_name(i), &state), 0);
        assert_int_equal(state, i);
    }
    for (int i = 0; i < TRIAL_STATES; i++) {
        enum trial_state state;
        assert_int_equal(trial_state_parse(trial_state_name(i), &state), 0);
        assert_int_equal(state, i);
    }
    for (int i = 0; i < ATTEMPT_STATES; i++) {
        enum attempt_state state;
        assert_int_equal(attempt_state_parse(attempt_state_name(i), &state), 0);
        assert_int_equal(state, i);
    }
    for (int i = 0; i < REASONS; i++) {
        enum reason reason;
        assert_int_equal(reason_parse(reason_name(i), &reason), 0);
        assert_int_equal(reason, i);
        assert_true(i == REASON_NONE || reason_help(i)[0] != '\0');
    }
}

TEST(an_unknown_name_is_refused)
{
    enum experiment_state experiment;
    enum trial_state trial;
    enum attempt_state attempt;
    enum reason reason;

    assert_int_equal(experiment_state_parse("done", &experiment), -EINVAL);
    assert_int_equal(trial_state_parse("", &trial), -EINVAL);
    assert_int_equal(attempt_state_parse("paused", &attempt), -EINVAL);
    assert_int_equal(reason_parse("bored", &reason), -EINVAL);
}

TEST(an_ended_trial_never_changes)
{
    for (int from = 0; from < TRIAL_STATES; from++)
        for (int to = 0; to < TRIAL_STATES; to++) {
            assert_false(from == to && trial_may_become(from, to));
            assert_false(trial_state_ended(from) && trial_may_become(from, to));
        }
}

TEST(a_trial_ends_only_from_where_it_can)
{
    assert_true(trial_may_become(TRIAL_QUEUED, TRIAL_RUNNING));
    assert_true(trial_may_become(TRIAL_RUNNING, TRIAL_QUEUED));
    assert_true(trial_may_become(TRIAL_RUNNING, TRIAL_COMPLETED));
    assert_false(trial_may_become(TRIAL_QUEUED, TRIAL_COMPLETED));
    assert_false(trial_may_become(TRIAL_PAUSED, TRIAL_COMPLETED));
}

TEST(an_experiment_that_has_ended_may_run_again)
{
    for (int from = 0; from < EXPERIMENT_STATES; from++)
        assert_int_equal(experiment_may_become(from, EXPERIMENT_RUNNING),
                         from != EXPERIMENT_RUNNING);
}

TEST_MAIN
