/* SPDX-License-Identifier: MIT */
/*
 * tuning_test.c — the machine under running trials, with a scripted agent: programs whose steps
 * take as long as the configuration in force says.
 */
#include "engine/scripted_programs.h"

TEST(a_trial_begins_with_the_first_value_and_is_told_of_it)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    assert_string_equal(system_of(1), "{\"threads\":2}");
    assert_string_equal(last_sent(COMMAND_START, 1)->environment, "2");
    submit(LONG_SPEC("\"threads\":3", ""));
    assert_string_equal(system_of(2), "{\"threads\":3}");
    assert_string_equal(last_sent(COMMAND_START, 2)->environment, "3");
    tear_down();
}

TEST(threads_are_changed_in_place_and_the_next_trial_begins_with_what_was_found)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    train(&program, 30);
    assert_string_equal(system_of(1), "{\"threads\":1}");
    assert_int_equal(count_events("\"advice\":\"adopt\""), 1);
    assert_int_equal(count_events("\"event\":\"changed\""), 1);
    assert_int_equal(count_events("\"event\":\"answered\",\"experiment\":1,\"trial\":\"1.1\","
                                  "\"attempt\":1,\"generation\":2,\"applied\":true"),
                     1);
    assert_true(count_events("threads 2 → 1: predicted") >= 1);
    ended(1, REASON_NONE, 0);
    assert_string_equal(system_of(2), "{\"threads\":1}");
    assert_string_equal(last_sent(COMMAND_START, 2)->environment, "1");
    tear_down();
}

#define SHORT_SPEC                                                                                 \
    "{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":{\"x\":[1,2,3,4,5,6,7,8]}," \
    "\"search\":{\"algorithm\":\"grid\",\"parallel\":1,\"trials\":8},\"system\":{\"threads\":[2,"  \
    "1]}}"

/* So short that what is tried in it never fills a window. */
TEST(what_a_short_trial_tried_at_its_end_serves_the_next)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    for (int i = 0; i < 300 && str_eq(system_of(1), "{\"threads\":2}"); i++)
        train(&program, 0.01);
    train(&program, 0.5);
    assert_int_equal(count_events("\"advice\":\"adopt\""), 0);
    ended(1, REASON_NONE, 0);
    assert_string_equal(system_of(2), "{\"threads\":1}");
    tear_down();
}

TEST(short_trials_try_by_beginning)
{
    set_up(4, 0);
    submit(SHORT_SPEC);
    for (int64_t i = 1; i <= 2; i++) {
        struct program program = launch(i, by_threads, true);
        train(&program, 0.45);
        ended(i, REASON_NONE, 0);
    }
    assert_int_equal(count_events("\"event\":\"tuned\""), 0);
    assert_string_equal(system_of(2), "{\"threads\":1}");
    assert_string_equal(system_of(3), "{\"threads\":1}"); /* the trials are alike but for that */
    tear_down();
}

/* A tenth of a second says nothing. */
TEST(a_trial_that_ends_at_once_teaches_nothing)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    for (int i = 0; i < 300 && str_eq(system_of(1), "{\"threads\":2}"); i++)
        train(&program, 0.01);
    train(&program, 0.1);
    ended(1, REASON_NONE, 0);
    assert_string_equal(system_of(2), "{\"threads\":2}");
    tear_down();
}

TEST(threads_of_a_program_that_does_not_listen_stay_as_they_are)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, false);
    train(&program, 20);
    assert_string_equal(system_of(1), "{\"threads\":2}");
    assert_int_equal(count(COMMAND_SYSTEM), 0);
    tear_down();
}

/* … while it runs. Its trials are long, so it is not for that that they begin otherwise. */
TEST(threads_of_a_program_that_does_not_listen_are_found_by_its_trials)
{
    size_t slow = 0;

    set_up(4, 0);
    submit(SHORT_SPEC);
    for (int64_t i = 1; i <= 8; i++) {
        struct program program = launch(i, by_threads, false);
        train(&program, 6);
        slow += str_eq(system_of(i), "{\"threads\":2}");
        ended_after(i, REASON_NONE, 0, 6 * US_PER_S);
    }
    assert_int_equal(count(COMMAND_SYSTEM), 0);
    assert_true(slow >= 1 && slow <= 3);
    assert_int_equal(count_events("; trials to come may begin otherwise"), 1);
    assert_true(count_events("it begins with threads 2 → 1: predicted") >= 1);
    assert_string_equal(system_of(8), "{\"threads\":1}");
    tear_down();
}

/* Just long enough for one window, with nothing left behind it. */
TEST(whole_windows_of_a_program_that_does_not_listen_teach)
{
    set_up(4, 0);
    submit(SHORT_SPEC);
    for (int64_t i = 1; i <= 3; i++) {
        struct program program = launch(i, by_threads, false);
        train(&program, 1.25);
        ended(i, REASON_NONE, 0);
    }
    assert_string_equal(system_of(1), "{\"threads\":2}");
    assert_string_equal(system_of(2), "{\"threads\":1}");
    assert_string_equal(system_of(3), "{\"threads\":1}");
    assert_string_equal(system_of(4), "{\"threads\":1}");
    tear_down();
}

/* More threads take more processor time whether they help or not. */
TEST(trials_that_report_no_step_all_begin_alike)
{
    set_up(4, 0);
    submit(SHORT_SPEC);
    for (int64_t i = 1; i <= 5; i++) {
        launch(i, by_threads, false);
        t.now_us += 3 * US_PER_S;
        ended_after(i, REASON_NONE, 0, 3 * US_PER_S);
        assert_string_equal(system_of(i), "{\"threads\":2}");
    }
    tear_down();
}

TEST(cpus_are_changed_from_outside)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"cpus\":{\"min\":1,\"max\":4,\"start\":1}", ""));
    struct program program = launch(1, by_cpus, false);
    assert_int_equal(last_sent(COMMAND_SYSTEM, 1)->cpus, 1);
    train(&program, 60);
    assert_string_equal(system_of(1), "{\"cpus\":4}");
    assert_int_equal(last_sent(COMMAND_SYSTEM, 1)->cpus, 4);
    assert_int_equal(count_events("\"event\":\"pinned\",\"experiment\":1,\"trial\":\"1.1\","
                                  "\"attempt\":1,\"cpus\":\"0\""),
                     1);
    assert_true(count_events("\"cpus\":\"0-3\"") >= 1);
    tear_down();
}

TEST(under_hyper_and_off_nothing_is_changed)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ",\"tune\":\"hyper\""));
    struct program program = launch(1, by_threads, true);
    train(&program, 10);
    assert_string_equal(system_of(1), "{\"threads\":2}");
    assert_int_equal(count(COMMAND_SYSTEM), 0);
    tear_down();
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ",\"tune\":\"off\""));
    assert_string_equal(system_of(1), "");
    assert_string_equal(last_sent(COMMAND_START, 1)->environment, "1");
    tear_down();
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ",\"tune\":\"off-raw\""));
    assert_null(last_sent(COMMAND_START, 1)->environment);
    tear_down();
}

TEST(under_joint_the_search_chooses)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ",\"tune\":\"joint\""));
    char first[64];
    snprintf(first, sizeof(first), "%s", system_of(1));
    ended(1, REASON_NONE, 0);
    ended(2, REASON_NONE, 0);
    bool both = false;
    for (int64_t attempt = 2; attempt <= 3; attempt++)
        both |= strcmp(first, system_of(attempt)) != 0;
    assert_true(both);
    tear_down();
}

TEST(a_configuration_that_makes_it_fail_is_not_tried_again_and_the_trial_goes_on)
{
    set_up(4, 0);
    int64_t id = submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    for (int i = 0; i < 3000 && str_eq(system_of(1), "{\"threads\":2}"); i++)
        train(&program, 0.01);
    assert_string_equal(system_of(1), "{\"threads\":1}");
    ended(1, REASON_OOM, -1);
    assert_int_equal(trial(id, 1)->retries, 0);
    assert_int_equal(trial(id, 1)->state, TRIAL_RUNNING);
    assert_string_equal(system_of(2), "{\"threads\":2}");
    struct program again = launch(2, by_threads, true);
    train(&again, 20);
    assert_string_equal(system_of(2), "{\"threads\":2}");
    assert_int_equal(count_events("is not tried again"), 1);
    ended(2, REASON_EXIT, 1); /* its own fault */
    assert_int_equal(trial(id, 1)->state, TRIAL_FAILED);
    tear_down();
}

TEST(what_the_machine_refuses_is_said_and_taken_back)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"cpus\":[2,1,4]", ""));
    struct program program = launch(1, by_cpus, false);
    program.answers = false;
    for (int i = 0; i < 2000; i++) {
        const struct sent *sent = last_sent(COMMAND_SYSTEM, 1);
        struct agent_event event = {.kind = EVENT_SYSTEM,
                                    .attempt = 1,
                                    .time_us = now().wall_us,
                                    .generation = sent->generation,
                                    .error = sent->cpus == 2 ? 0 : -EBUSY,
                                    .text = sent->cpus == 2 ? NULL : "its 2 threads spin"};
        engine_on_event(t.engine, &event, now());
        turn();
        train(&program, 0.01);
    }
    assert_string_equal(system_of(1), "{\"cpus\":2}");
    assert_true(count_events("its 2 threads spin") >= 1);
    assert_true(count_events("its 2 threads spin") <= 2);
    assert_int_equal(count_events("\"applied\":false"), count_events("its 2 threads spin"));
    tear_down();
}

TEST(a_command_without_an_answer_is_said_again_and_then_taken_as_done)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"cpus\":[2,1]", ""));
    started(1);
    assert_int_equal(count(COMMAND_SYSTEM), 1);
    for (int i = 0; i < 10; i++) {
        t.now_us += 6 * US_PER_S;
        turn();
    }
    assert_int_equal(count(COMMAND_SYSTEM), 4);
    tear_down();
}

TEST(the_next_engine_puts_in_place_what_the_last_one_had_decided)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1],\"cpus\":[2,4]", ""));
    struct program program = launch(1, by_threads, true);
    train(&program, 30);
    char before[200];
    snprintf(before, sizeof(before), "%s", system_of(1));
    assert_non_null(strstr(before, "\"threads\":1"));
    take_over();
    started(1);
    assert_string_equal(system_of(1), before);
    const json_t *system = system_in(last_sent(COMMAND_SYSTEM, 1)->control);
    assert_int_equal(json_get_int(system, "threads", 0), 1);
    tear_down();
}

TEST(a_program_that_reports_no_step_is_judged_by_its_cpu_time)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"cpus\":[1,2],\"threads\":[1,2]", ""));
    started(1);
    for (int second = 0; second < 60; second++) {
        t.now_us += US_PER_S;
        const struct sent *sent = last_sent(COMMAND_SYSTEM, 1);
        struct agent_event answer = {.kind = EVENT_SYSTEM,
                                     .attempt = 1,
                                     .time_us = now().wall_us,
                                     .generation = sent->generation};
        engine_on_event(t.engine, &answer, now());
        struct agent_event use = {.kind = EVENT_USE,
                                  .attempt = 1,
                                  .time_us = now().wall_us,
                                  .use = {.seconds = 1,
                                          .cpu_s = (double)sent->cpus,
                                          .machine_cpus = 4,
                                          .machine_busy_cpus = (double)sent->cpus}};
        engine_on_event(t.engine, &use, now());
        turn();
    }
    assert_int_equal(count_events("it reports no step"), 1);
    assert_string_equal(system_of(1), "{\"cpus\":2,\"threads\":1}");
    tear_down();
}

TEST(what_it_failed_under_is_not_tried_by_the_next_experiment)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    for (int i = 0; i < 3000 && str_eq(system_of(1), "{\"threads\":2}"); i++)
        train(&program, 0.01);
    ended(1, REASON_OOM, -1);
    engine_stop(t.engine, 1, STOP_NOW, now(), &t.err);
    ended(2, REASON_CANCELLED, -1);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    assert_int_equal(count_events("it failed under {\\\"threads\\\":1} before"), 1);
    struct program next = launch(3, by_threads, true);
    train(&next, 20);
    assert_string_equal(system_of(3), "{\"threads\":2}");
    assert_int_equal(count_events("\"experiment\":2,\"trial\":\"2.1\",\"advice\""), 0);
    tear_down();
}

TEST(what_was_learned_is_known_to_the_next_experiment_from_its_first_step)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    train(&program, 20);
    ended(1, REASON_NONE, 0);
    engine_stop(t.engine, 1, STOP_NOW, now(), &t.err);
    ended(2, REASON_CANCELLED, -1);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    assert_int_equal(count_events("known from 't' (by identity)"), 1);
    assert_string_equal(system_of(3), "{\"threads\":1}");
    submit(LONG_SPEC("\"threads\":[2,1]", ",\"knowledge\":\"off\""));
    assert_string_equal(system_of(4), "{\"threads\":2}");
    tear_down();
}

TEST(what_is_known_and_wrong_is_unlearned_where_there_is_time)
{
    set_up(4, 0);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    train(&program, 20);
    ended(1, REASON_NONE, 0);
    engine_stop(t.engine, 1, STOP_NOW, now(), &t.err);
    ended(2, REASON_CANCELLED, -1);
    submit(LONG_SPEC("\"threads\":[2,1]", ""));
    assert_string_equal(system_of(3), "{\"threads\":1}");
    struct program other = launch(3, by_few_threads, true);
    report_metric(3, METRIC_TOTAL, 0, 200000);
    train(&other, 40);
    assert_string_equal(system_of(3), "{\"threads\":2}");
    tear_down();
}

TEST(the_time_that_is_left_follows_from_the_steps_of_completed_trials)
{
    set_up(4, 0);
    int64_t id = submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, false);
    train(&program, 10);
    ended(1, REASON_NONE, 0);
    struct program second = launch(2, by_threads, false);
    train(&second, 5);
    autorelease(str) struct str text = STR_INIT;
    assert_ok(engine_live(t.engine, id, now(), &text), &t.err);
    autofree(json) json_t *json = NULL;
    assert_ok(json_parse(text.s, text.len, &json, &t.err), &t.err);
    const json_t *active = json_array_get(json_object_get(json, "active"), 0);
    double left = json_get_double(active, "remaining_s", NAN);
    assert_true(left > 4 && left < 6);
    assert_true(json_get_double(active, "remaining_low_s", NAN) <= left);
    assert_string_equal(json_get_text(active, "system", ""), "threads=2");
    tear_down();
}

/* A number of the running trial in the live document. */
static double live_number(int64_t id, const char *key)
{
    autorelease(str) struct str text = STR_INIT;
    autofree(json) json_t *json = NULL;

    assert_ok(engine_live(t.engine, id, now(), &text), &t.err);
    assert_ok(json_parse(text.s, text.len, &json, &t.err), &t.err);
    return json_get_double(json_array_get(json_object_get(json, "active"), 0), key, NAN);
}

TEST(before_the_first_window_the_pace_since_the_first_step_tells_the_time_that_is_left)
{
    set_up(4, 0);
    int64_t id = submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, false);
    report_metric(1, METRIC_TOTAL, 0, 100);
    train(&program, 0.3);
    assert_true(isnan(live_number(id, "remaining_s"))); /* too few steps */
    train(&program, 0.4);
    double left = live_number(id, "remaining_s");
    double wide = live_number(id, "remaining_high_s") / left;
    assert_true(left > 3.5 && left < 5.5);
    train(&program, 1.5);
    assert_true(live_number(id, "remaining_high_s") / live_number(id, "remaining_s") < wide);
    tear_down();
}

static double by_half_a_second(const json_t *system)
{
    (void)system;
    return 0.5;
}

TEST(the_window_that_is_not_complete_tells_of_the_pace_too)
{
    set_up(4, 0);
    int64_t id = submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, false);
    report_metric(1, METRIC_TOTAL, 0, 1000);
    train(&program, 4);
    double before = live_number(id, "remaining_s");
    assert_true(fabs(before - 920 * 0.05) < 2);
    program.seconds = by_half_a_second;
    train(&program, 2.3); /* five steps would complete it */
    assert_true(live_number(id, "remaining_s") > 1.3 * before);
    tear_down();
}

TEST(the_time_that_is_left_is_that_under_the_configuration_that_is_held)
{
    set_up(4, 0);
    int64_t id = submit(LONG_SPEC("\"threads\":[2,1]", ""));
    struct program program = launch(1, by_threads, true);
    report_metric(1, METRIC_TOTAL, 0, 5000);
    while (!count_events("\"advice\":\"try\"")) {
        assert_true(t.now_us < 1000 * US_PER_S);
        train(&program, 0.1);
    }
    double held = (5000 - (double)program.step) * 0.05;
    assert_true(fabs(live_number(id, "remaining_s") / held - 1) < 0.1);
    while (!count_events("\"advice\":\"adopt\"")) {
        assert_true(t.now_us < 1000 * US_PER_S);
        train(&program, 0.1);
    }
    double adopted = (5000 - (double)program.step) * 0.02;
    assert_true(fabs(live_number(id, "remaining_s") / adopted - 1) < 0.1);
    assert_true(live_number(id, "remaining_high_s") > adopted);
    tear_down();
}

/* Seconds left of a program of 20 steps of a second, ten of which are done. */
static double left_of_20(int64_t first)
{
    set_up(4, 0);
    int64_t id = submit("{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\","
                        "\"params\":{\"x\":[1,2],\"epochs\":20}}");
    started(1);
    for (int64_t i = 0; i < 10; i++) {
        t.now_us += US_PER_S;
        report_metric(1, "loss", first + i, 1);
    }
    double left = live_number(id, "remaining_s");
    tear_down();
    return left;
}

TEST(who_counts_from_0_ends_one_before_the_number_of_the_parameter)
{
    assert_true(fabs(left_of_20(1) - 10) < 0.01);
    assert_true(fabs(left_of_20(0) - 10) < 0.01);
}

TEST_MAIN
