/* SPDX-License-Identifier: MIT */
/*
 * tuning_learning_test.c — settings that change learning itself, with a scripted agent: two
 * replicas make a step in half the time, and it teaches less.
 */
#include "engine/scripted_programs.h"

#define REPLICAS(more) "\"replicas\":{\"values\":[1,2],\"apply\":\"live\"" more "}"
#define TO_LOSS        ",\"objective\":\"loss\""

static double by_replicas(const json_t *system)
{
    return json_get_int(system, "replicas", 0) == 1 ? 0.02 : 0.01;
}

/* The loss follows from what was learned. */
static void train_worth(struct program *program, double seconds, double worth)
{
    struct err err = ERR_INIT;
    double learned = 0;

    for (double passed = 0; passed < seconds; passed += 0.01) {
        t.now_us += 10000;
        obey(program);
        program->left_s -= 0.01;
        if (program->left_s > 1e-9)
            continue;
        autofree(json) json_t *system = NULL;
        const char *text = system_of(program->attempt);
        assert_ok(json_parse(text, strlen(text), &system, &err), &err);
        program->step++;
        learned += json_get_int(system, "replicas", 0) == 1 ? 1 : worth;
        report_metric(program->attempt, "loss", program->step, 2 / sqrt(1 + learned / 100));
        program->left_s += program->seconds(system);
    }
}

static const char *tuned_to(const char *spec, double worth)
{
    submit(spec);
    struct program program = launch(1, by_replicas, true);
    report_metric(1, METRIC_TOTAL, 0, 20000);
    train_worth(&program, 40, worth);
    return system_of(1);
}

TEST(quicker_steps_that_teach_less_lose_where_the_spec_says_that_they_may)
{
    set_up(4, 0);
    assert_string_equal(tuned_to(LONG_SPEC(REPLICAS(",\"learning\":true"), TO_LOSS), 0.3),
                        "{\"replicas\":1}");
    assert_true(count_events("for the same learning") >= 1);
    tear_down();
}

TEST(quicker_steps_that_teach_as_much_win)
{
    set_up(4, 0);
    assert_string_equal(tuned_to(LONG_SPEC(REPLICAS(",\"learning\":true"), TO_LOSS), 1),
                        "{\"replicas\":2}");
    ended(1, REASON_NONE, 0);
    assert_string_equal(system_of(2), "{\"replicas\":2}"); /* the next trial begins so */
    tear_down();
}

TEST(without_that_word_steps_are_progress)
{
    set_up(4, 0);
    assert_string_equal(tuned_to(LONG_SPEC(REPLICAS(""), TO_LOSS), 0.3), "{\"replicas\":2}");
    tear_down();
}

TEST(without_an_objective_it_is_said_that_steps_decide)
{
    set_up(4, 0);
    assert_string_equal(tuned_to(LONG_SPEC(REPLICAS(",\"learning\":true"), ""), 0.3),
                        "{\"replicas\":2}");
    assert_int_equal(count_events("they are judged by steps"), 1);
    tear_down();
}

TEST_MAIN
