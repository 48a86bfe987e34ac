/* SPDX-License-Identifier: MIT */
/*
 * tuning_odd_test.c — tuning where something is odd: who is to blame for a failure, units that
 * change, levers that are not to be had, clocks, take-overs, restarts that bring nothing.
 */
#include "engine/scripted_programs.h"

#include "base/fs.h"
#include "model/trial.h"

#include <unistd.h>

static void use(int64_t attempt, double cpu_s, double busy)
{
    struct agent_event event = {
        .kind = EVENT_USE,
        .attempt = attempt,
        .time_us = now().wall_us,
        .use = {.seconds = 1, .cpu_s = cpu_s, .machine_cpus = 4, .machine_busy_cpus = busy}};
    engine_on_event(t.engine, &event, now());
    turn();
}

static void answer(int64_t attempt, int error, const char *text)
{
    const struct sent *sent = last_sent(COMMAND_SYSTEM, attempt);
    struct agent_event event = {.kind = EVENT_SYSTEM,
                                .attempt = attempt,
                                .time_us = now().wall_us,
                                .generation = sent->generation,
                                .error = error,
                                .text = text};
    engine_on_event(t.engine, &event, now());
    turn();
}

static void train_until_other_than(struct program *program, const char *system)
{
    for (int i = 0; i < 3000 && str_eq(system_of(program->attempt), system); i++)
        train(program, 0.01);
    assert_string_not_equal(system_of(program->attempt), system);
}

TEST(what_is_on_trial_is_to_blame_in_its_second_window_too)
{
    set_up(4, 0);
    int64_t id = submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    report_metric(1, METRIC_TOTAL, 0, 1e6);
    train_until_other_than(&program, "{\"threads\":2}");
    train(&program, 1.3);
    assert_int_equal(count_events("\"advice\":\"adopt\""), 0);
    ended(1, REASON_OOM, -1);
    assert_int_equal(trial(id, 1)->state, TRIAL_RUNNING);
    assert_string_equal(system_of(2), "{\"threads\":2}");
    tear_down();
}

static double nearly_alike(const json_t *system)
{
    return json_get_int(system, "threads", 0) == 1 ? 0.049 : 0.05;
}

TEST(what_had_worked_and_failed_is_not_tried_again_in_its_trial)
{
    set_up(4, 0);
    int64_t id = submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, nearly_alike, true);
    report_metric(1, METRIC_TOTAL, 0, 1e6);
    train_until_other_than(&program, "{\"threads\":2}"); /* it is measured, … */
    train_until_other_than(&program, "{\"threads\":1}");
    train_until_other_than(&program, "{\"threads\":2}"); /* … and looked at again */
    ended(1, REASON_EXIT, 3);
    assert_int_equal(trial(id, 1)->state, TRIAL_RUNNING);
    assert_string_equal(system_of(2), "{\"threads\":2}");
    program = launch(2, nearly_alike, true);
    for (int i = 0; i < 200; i++) {
        train(&program, 0.5);
        assert_string_equal(system_of(2), "{\"threads\":2}");
    }
    assert_int_equal(count_events("not tried again in this trial"), 1);
    tear_down();
}

TEST(what_has_too_little_memory_gives_way_to_more)
{
    set_up(4, 0);
    int64_t id = submit(LONG_SPEC("\"memory\":[\"200M\",\"100M\",\"400M\"]", ""));
    struct program program = launch(1, by_threads, true);
    train(&program, 0.5);
    assert_string_equal(system_of(1), "{\"memory\":209715200}");
    ended(1, REASON_OOM, -1);
    assert_int_equal(trial(id, 1)->state, TRIAL_RUNNING);
    assert_string_equal(system_of(2), "{\"memory\":419430400}");
    started(2);
    ended(2, REASON_OOM, -1); /* there is none that has more */
    assert_int_equal(trial(id, 1)->state, TRIAL_FAILED);
    assert_int_equal(count_events("200M, which is not tried again; it goes on with"), 1);
    tear_down();
}

TEST(what_needs_a_restart_and_has_no_checkpoint_is_told_of_once)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"workers\":{\"min\":0,\"max\":3,\"apply\":\"restart\"}", ""));
    struct program program = launch(1, by_threads, true);
    report_metric(1, METRIC_TOTAL, 0, 1e6);
    train(&program, 60);
    assert_int_equal(count_events("workers can be changed by a restart only"), 1);
    tear_down();
}

TEST(a_trial_that_always_fails_fails)
{
    set_up(4, 0);
    int64_t id = submit(LONG_SPEC("\"workers\":{\"min\":0,\"max\":3},\"cpus\":[1,2,3,4]", ""));
    struct program program = launch(1, by_cpus, false);
    train(&program, 60);
    ended(1, REASON_NONE, 0);
    int64_t attempt = 2;
    for (; attempt < 20 && trial(id, 2)->state != TRIAL_FAILED; attempt++) {
        started(attempt);
        t.now_us += US_PER_S / 2;
        ended(attempt, REASON_EXIT, 1);
    }
    assert_in_range(attempt - 2, 1, 3);
    tear_down();
}

TEST(cpu_time_and_steps_are_not_compared)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"cpus\":[4,1]", ""));
    started(1);
    report_metric(1, METRIC_TOTAL, 0, 100000);
    int64_t step = 0;
    double left = 0;
    for (int tick = 0; tick < 20000; tick++) {
        bool loading = tick < 2000; /* 20 s on one cpu, then it scales */
        t.now_us += 10000;
        answer(1, 0, NULL);
        double cpus = (double)last_sent(COMMAND_SYSTEM, 1)->cpus;
        if (tick % 100 == 99)
            use(1, loading ? 1 : cpus, loading ? 1 : cpus);
        left -= 0.01;
        if (loading || left > 1e-9)
            continue;
        step++;
        report_metric(1, "loss", step, 1.0);
        left += 0.04 / cpus;
    }
    assert_string_equal(system_of(1), "{\"cpus\":4}");
    tear_down();
}

TEST(a_lever_that_is_not_to_be_had_does_not_keep_others_from_being_tuned)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"cpus\":[1,2,4],\"frequency\":[1000000,2000000]", ""));
    struct program program = launch(1, by_cpus, false);
    program.answers = false;
    for (int i = 0; i < 4000; i++) {
        answer(1, -ENOTSUP, "frequency: not possible: there is no cpufreq");
        train(&program, 0.01);
    }
    assert_non_null(strstr(system_of(1), "\"cpus\":4"));
    assert_non_null(strstr(system_of(1), "\"frequency\":1000000"));
    assert_int_equal(count_events("there is no cpufreq"), 1);
    assert_int_equal(count_events("frequency=1000000: frequency: not possible"), 1);
    tear_down();
}

TEST(threads_that_an_engine_decided_on_are_asked_for_by_the_next)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    train(&program, 20);
    assert_string_equal(system_of(1), "{\"threads\":1}");
    take_over();
    started(1);
    const struct sent *sent = last_sent(COMMAND_SYSTEM, 1);
    assert_non_null(sent);
    assert_int_equal(json_get_int(system_in(sent->control), "threads", 0), 1);
    tear_down();
}

TEST(a_clock_that_is_set_back_does_not_keep_what_is_on_trial)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"cpus\":[4,1]", ""));
    struct program program = launch(1, by_cpus, false);
    report_metric(1, METRIC_TOTAL, 0, 1e6);
    train_until_other_than(&program, "{\"cpus\":4}");
    train(&program, 0.1);
    wall_back_us = 1800 * US_PER_S;
    train(&program, 60);
    wall_back_us = 0;
    assert_string_equal(system_of(1), "{\"cpus\":4}");
    tear_down();
}

/* threads 1 are better; clocks are set while they are on trial. */
static void check_jump(int64_t wall_us, int64_t stamps_us)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    report_metric(1, METRIC_TOTAL, 0, 1e6);
    train_until_other_than(&program, "{\"threads\":2}");
    train(&program, 0.4);
    wall_back_us = -wall_us;
    stamps_ahead_us = stamps_us;
    train(&program, 60);
    wall_back_us = stamps_ahead_us = 0;
    assert_string_equal(system_of(1), "{\"threads\":1}");
    assert_int_equal(count_events("\"advice\":\"revert\""), 0);
    assert_int_equal(count_events("\"event\":\"changed\""), 0);
    assert_int_equal(count_events("the clock went "), 1);
    tear_down();
}

TEST(a_clock_that_is_set_decides_nothing)
{
    check_jump(9700000, 0);
    check_jump(-9700000, 0);
    check_jump(900000, 0);
    check_jump(-900000, 0);
    check_jump(0, 9700000);
    check_jump(0, -9700000);
}

TEST(a_single_time_far_ahead_does_not_keep_the_others_from_being_heard)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    report_metric(1, METRIC_TOTAL, 0, 1e6);
    train(&program, 0.5);
    stamps_ahead_us = 1000000000 * US_PER_S;
    report_metric(1, "other", 7, 1);
    report_metric(1, "loss", program.step, 1);
    stamps_ahead_us = 0;
    train(&program, 30);
    assert_string_equal(system_of(1), "{\"threads\":1}");
    assert_int_equal(count_events("\"advice\":\"revert\""), 0);
    tear_down();
}

TEST(samples_that_are_read_late_are_no_clock_that_was_set)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    report_metric(1, METRIC_TOTAL, 0, 1e6);
    for (int i = 0; i < 60; i++) {
        stamps_ahead_us = i % 10 == 4 ? -1300000 : 0;
        train(&program, 0.5);
    }
    stamps_ahead_us = 0;
    assert_int_equal(count_events("the clock went "), 0);
    assert_string_equal(system_of(1), "{\"threads\":1}");
    tear_down();
}

TEST(what_a_change_cost_is_not_told_across_steps_that_go_back)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    report_metric(1, METRIC_TOTAL, 0, 1e6);
    train_until_other_than(&program, "{\"threads\":2}");
    program.step = 0;
    for (int i = 0; i < 10; i++) {
        train(&program, 3);
        program.step = 0;
    }
    assert_int_equal(count_events("\"event\":\"changed\""), 0);
    assert_int_equal(count_events("the steps of loss go back"), 1);
    assert_string_equal(system_of(1), "{\"threads\":1}");
    tear_down();
}

TEST(under_joint_a_take_over_changes_nothing)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1],\"cpus\":[2,1]", ",\"tune\":\"joint\""));
    int64_t attempt = 1;
    for (; attempt < 4; attempt++) {
        started(attempt);
        if (strstr(system_of(attempt), "\"threads\":2,\"cpus\":1"))
            break;
        ended(attempt, REASON_NONE, 0);
    }
    char before[200];
    snprintf(before, sizeof(before), "%s", system_of(attempt));
    take_over();
    started(attempt);
    assert_string_equal(system_of(attempt), before);
    tear_down();
}

TEST(trials_that_report_different_metrics_are_each_tuned)
{
    set_up(4, 0);
    submit("{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":{\"x\":[1,2]},"
           "\"search\":{\"algorithm\":\"grid\",\"parallel\":2,\"trials\":2},"
           "\"system\":{\"threads\":[2,1]}}");
    static const char *const metrics[] = {"hinge", "xent"};
    double left[2] = {0};
    int64_t step[2] = {0};
    for (int i = 0; i < 2; i++) {
        started(i + 1);
        report_metric(i + 1, METRIC_GENERATION, 0, 2);
    }
    for (int tick = 0; tick < 3000; tick++) {
        t.now_us += 10000;
        for (int i = 0; i < 2; i++) {
            struct program program = {.attempt = i + 1, .answers = true};
            obey(&program);
            left[i] -= 0.01;
            if (left[i] > 1e-9)
                continue;
            report_metric(i + 1, metrics[i], ++step[i], 1);
            left[i] += strstr(system_of(i + 1), "1") ? 0.02 : 0.05;
        }
    }
    assert_string_equal(system_of(1), "{\"threads\":1}");
    assert_string_equal(system_of(2), "{\"threads\":1}");
    tear_down();
}

/* ---- restarts ---- */

static void save(int64_t step)
{
    autofree(mem) char *dir = checkpoint_dir(t.home, 1, 1);
    autofree(mem) char *path = xasprintf("%s/0-%lld", dir, (long long)step);
    fs_make_dirs(dir, 0777, NULL);
    assert_ok(fs_write_atomic(path, "x", 1, 0600, NULL), NULL);
}

static int64_t set_by_us;  /* the clock, while it is started again */
static size_t costs_known; /* of its restarts */

/* Hours of a job whose two configurations are alike; how often it was started again. */
static int64_t restarts_of(bool saves, int64_t every)
{
    char home[] = "/tmp/hone-restarts-XXXXXX";
    int64_t attempt = 1, step = 0, saved = 0;

    assert_non_null(mkdtemp(home));
    set_up(4, 0);
    engine_free(t.engine);
    t.home = home;
    come_up(true);
    submit(LONG_SPEC("\"workers\":[1,2]", ""));
    started(1);
    report_metric(1, METRIC_GENERATION, 0, 2);
    report_metric(1, METRIC_TOTAL, 0, 864000);
    for (int tick = 0; tick < 36000 && attempt < 50; tick++) {
        t.now_us += 100000;
        if (last_sent(COMMAND_CONTROL, attempt)) {
            report_metric(attempt, METRIC_GENERATION, 0, 4);
            if (saves)
                save(saved = step);
            ended(attempt++, REASON_NONE, 0);
            step = saved;
            t.now_us += 10 * US_PER_S;
            wall_back_us -= set_by_us;
            started(attempt);
            report_metric(attempt, METRIC_GENERATION, 0, 2);
            report_metric(attempt, METRIC_TOTAL, 0, 864000);
        }
        step++;
        if (step % every == 0 && step > saved)
            save(saved = step);
        report_metric(attempt, "loss", step, 1.0);
    }
    costs_known = count_events("\"event\":\"changed\"");
    wall_back_us = 0;
    tear_down();
    assert_ok(fs_remove_tree(home, NULL), NULL);
    return attempt - 1;
}

TEST(restarts_that_bring_nothing_come_to_an_end)
{
    assert_in_range(restarts_of(true, 100), 1, 6);
    assert_in_range(restarts_of(false, 6000), 0, 2);
}

TEST(a_restart_that_fails_and_the_way_back_are_one_cost)
{
    char home[] = "/tmp/hone-restarts-XXXXXX";

    assert_non_null(mkdtemp(home));
    set_up(4, 0);
    engine_free(t.engine);
    t.home = home;
    come_up(true);
    submit(LONG_SPEC("\"workers\":[1,2]", ""));
    struct program program = launch(1, by_threads, true);
    report_metric(1, METRIC_TOTAL, 0, 864000);
    for (int i = 0; i < 6000 && !last_sent(COMMAND_CONTROL, 1); i++) {
        train(&program, 0.1);
        save(program.step);
    }
    report_metric(1, METRIC_GENERATION, 0, 4);
    ended(1, REASON_NONE, 0);
    started(2);
    t.now_us += 7 * US_PER_S;
    ended(2, REASON_EXIT, 1);
    program.attempt = 3;
    started(3);
    report_metric(3, METRIC_GENERATION, 0, 2);
    train(&program, 5);
    assert_string_equal(system_of(3), "{\"workers\":1}");
    assert_int_equal(count_events("\"kind\":\"restart\",\"system\":{\"workers\":1},\"cost_s\":7"),
                     1);
    tear_down();
    assert_ok(fs_remove_tree(home, NULL), NULL);
}

TEST(what_a_restart_cost_is_not_known_where_the_clock_was_set)
{
    assert_in_range(restarts_of(true, 100), 1, 6);
    assert_in_range(costs_known, 1, 6);
    set_by_us = 100 * US_PER_S;
    assert_in_range(restarts_of(true, 100), 1, 6);
    set_by_us = 0;
    assert_int_equal(costs_known, 0);
}

TEST_MAIN
