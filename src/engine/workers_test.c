/* SPDX-License-Identifier: MIT */
/*
 * workers_test.c — trials whose workers tell the objective one by one.
 */
#include "engine/scripted.h"

#include <math.h>

#define WORKERS(objective, more)                                                                   \
    "{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":{\"x\":[1]},"               \
    "\"objective\":{\"metric\":\"loss\"" objective "},"                                            \
    "\"search\":{\"algorithm\":\"grid\"}" more "}"

static void tell(int worker, int64_t step, double value)
{
    autofree(mem) char *metric = xasprintf("loss{worker=%d}", worker);
    report_metric(1, metric, step, value);
}

static bool is_stopped(void)
{
    return count(COMMAND_STOP) > 0;
}

TEST(a_trial_has_the_mean_of_its_workers)
{
    set_up(1, 0);
    int64_t id = submit(WORKERS("", ""));
    tell(0, 1, 0.4);
    tell(1, 1, 0.2);
    tell(0, 2, 0.1);
    ended(1, REASON_NONE, 0);
    assert_true(fabs(trial(id, 1)->value - 0.15) < 1e-12);
    assert_int_equal(trial(id, 1)->last_step, 2);
    assert_int_equal(trial(id, 1)->state, TRIAL_COMPLETED);
    tear_down();
}

TEST(all_workers_must_reach_the_target_unless_fewer_are_asked_for)
{
    static const struct {
        const char *spec;
        int needed; /* of ten */
    } cases[] = {
        {WORKERS(",\"target\":0.1", ""), 10},
        {WORKERS(",\"target\":0.1,\"workers\":\"90%\"", ""), 9},
        {WORKERS(",\"target\":0.1,\"workers\":\"any\"", ""), 1},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        set_up(1, 0);
        int64_t id = submit(cases[i].spec);
        for (int worker = 0; worker < 10; worker++)
            tell(worker, 1, 0.5);
        for (int worker = 0; worker < cases[i].needed; worker++) {
            assert_false(is_stopped());
            tell(worker, 2, 0.05);
        }
        assert_true(is_stopped());
        ended(1, REASON_CANCELLED, -1);
        assert_int_equal(trial(id, 1)->state, TRIAL_COMPLETED);
        tear_down();
    }
}

TEST(each_worker_is_judged_by_the_mean_of_its_own_values)
{
    set_up(1, 0);
    submit(WORKERS(",\"target\":0.1,\"average\":2", ""));
    tell(0, 1, 0.01);
    tell(1, 1, 0.3);
    tell(0, 2, 0.01);
    tell(1, 2, 0.01); /* 0.155 on average */
    assert_false(is_stopped());
    tell(1, 3, 0.01);
    assert_true(is_stopped());
    tear_down();
}

TEST(workers_that_were_not_heard_of_count_where_the_configuration_has_them)
{
    set_up(1, 0);
    submit(WORKERS(",\"target\":0.1", ",\"system\":{\"worker\":[3]},\"tune\":\"hyper\""));
    tell(0, 1, 0.05);
    tell(1, 1, 0.05);
    assert_false(is_stopped());
    tell(2, 1, 0.05);
    assert_true(is_stopped());
    tear_down();
}

TEST(a_worker_that_diverges_is_the_trial_s_divergence)
{
    set_up(1, 0);
    int64_t id = submit(WORKERS("", ""));
    tell(0, 1, 0.4);
    tell(1, 1, NAN);
    assert_true(is_stopped());
    ended(1, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 1)->state, TRIAL_FAILED);
    assert_int_equal(trial(id, 1)->reason, REASON_DIVERGED);
    tear_down();
}

TEST(what_is_told_for_the_whole_trial_goes_before_what_its_workers_tell)
{
    set_up(1, 0);
    int64_t id = submit(WORKERS(",\"target\":0.1,\"workers\":\"any\"", ""));
    report(1, 1, 0.5);
    tell(0, 1, 0.05);
    assert_false(is_stopped());
    report(1, 2, 0.06);
    tell(0, 3, 0.9);
    assert_true(is_stopped());
    ended(1, REASON_CANCELLED, -1);
    assert_true(trial(id, 1)->value == 0.06);
    tear_down();
}

TEST_MAIN
