/* SPDX-License-Identifier: MIT */
/*
 * ask_test.c — what the engine asks of the search and tells it: ahead of time, in order, the same
 * after a restart; what earlier experiments teach; which trial is the best.
 */
#include "engine/internal.h"
#include "engine/replay.h"
#include "engine/scripted.h"

#define SPEC_OF(params, search, more)                                                              \
    "{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":" params                    \
    ",\"objective\":\"loss\",\"search\":{" search ",\"stop\":\"none\",\"seed\":3}" more "}"
#define XY          "{\"x\":{\"min\":0.0,\"max\":1.0},\"y\":{\"min\":0.0,\"max\":1.0}}"
#define BAYES(more) SPEC_OF(XY, "\"algorithm\":\"bayes\",\"trials\":40", more)
#define RANDOM(trials, more)                                                                       \
    SPEC_OF(XY, "\"algorithm\":\"random\",\"trials\":" trials, ",\"knowledge\":\"off\"" more)

static int keep_point(const struct trial_row *row, void *arg)
{
    memcpy(arg, row->trial.point, row->ndim * sizeof(double));
    return 0;
}

static void point_of(int64_t experiment, int64_t number, double *ret_x)
{
    struct trial_query query = {.experiment = experiment, .number = number, .bare = true};
    assert_ok(store_trials(t.store, &query, keep_point, ret_x, &t.err), &t.err);
}

static int keep_why(const struct trial_row *row, void *arg)
{
    *(char **)arg = row->trial.why ? xstrdup(row->trial.why) : NULL;
    return 0;
}

static char *why_of_trial(int64_t experiment, int64_t number)
{
    struct trial_query query = {.experiment = experiment, .number = number, .bare = true};
    char *why = NULL;
    assert_ok(store_trials(t.store, &query, keep_why, &why, &t.err), &t.err);
    return why;
}

/* A bowl, its minimum within. */
static double loss_at(int64_t experiment, int64_t number)
{
    double x[2];
    point_of(experiment, number, x);
    return (x[0] - 0.3) * (x[0] - 0.3) + 2 * (x[1] - 0.6) * (x[1] - 0.6);
}

static bool happened(const char *part)
{
    vec_foreach (event, &t.events)
        if (strstr(*event, part))
            return true;
    return false;
}

/* Run trials one at a time up to number `last`; attempts count from `attempt`. */
static void run_to(int64_t experiment, int64_t first, int64_t last, int64_t attempt)
{
    for (int64_t number = first; number <= last; number++)
        finish(attempt++, loss_at(experiment, number));
}

TEST(long_trials_deserve_the_newest_suggestion_short_ones_take_what_is_ready)
{
    assert_true(ask_anew(3600 * US_PER_S, 500000, 0));
    assert_true(ask_anew(20 * 5000, 5000, 0));
    assert_false(ask_anew(19 * 5000, 5000, 0));
    assert_false(ask_anew(10000, 500000, 0));
    assert_false(ask_anew(0, 5000, 0)); /* nobody knows how long they are */
    assert_true(ask_anew(0, 0, 0));
    assert_false(ask_anew(3600 * US_PER_S, 500000, 1)); /* others run: nobody waits */
}

TEST(a_slot_takes_what_was_prepared_while_its_trial_ran)
{
    set_up(1, 0);
    t.job_us = US_PER_S; /* as long as a trial: too long to compute anew */
    int64_t id = submit(BAYES(""));
    run_to(id, 1, 20, 1);
    assert_int_equal(count(COMMAND_START), 21);
    t.hold_jobs = true;
    finish(21, loss_at(id, 21));
    assert_int_equal(count(COMMAND_START), 22);
    assert_int_equal(trial(id, 21)->told, 21);
    assert_int_equal(trial(id, 22)->seen, 20); /* the result of 21 was still to come */
    tear_down();
}

TEST(a_slot_waits_for_the_newest_when_trials_are_long)
{
    struct search_job *job = NULL;
    set_up(1, 0);
    t.job_us = 2000;
    int64_t id = submit(BAYES(""));
    run_to(id, 1, 20, 1);
    t.hold_jobs = true;
    finish(21, loss_at(id, 21));
    assert_int_equal(count(COMMAND_START), 21);
    assert_true(engine_search_due(t.engine, &job));
    turn();
    assert_int_equal(count(COMMAND_START), 21);
    finish_job(job);
    turn();
    assert_int_equal(count(COMMAND_START), 22);
    assert_int_equal(trial(id, 22)->seen, 21);
    tear_down();
}

TEST(a_slot_beside_others_takes_what_was_prepared)
{
    set_up(2, 0);
    t.job_us = 2000;
    int64_t id = submit(BAYES(""));
    for (int64_t attempt = 1; attempt <= 20; attempt++)
        finish(attempt, loss_at(id, attempt));
    t.hold_jobs = true;
    finish(21, loss_at(id, 21));
    assert_int_equal(engine_active(t.engine), 2);
    assert_int_equal(trial(id, 23)->seen, 20);
    tear_down();
}

TEST(results_that_come_while_the_search_computes_are_told_after_it_in_their_order)
{
    struct search_job *job = NULL;
    set_up(3, 0);
    t.job_us = 2000;
    int64_t id = submit(BAYES(""));
    for (int64_t attempt = 1; attempt <= 20; attempt++)
        finish(attempt, loss_at(id, attempt));
    t.hold_jobs = true;
    finish(21, loss_at(id, 21));                    /* 24 takes what was prepared */
    assert_true(engine_search_due(t.engine, &job)); /* it holds the search */
    finish(23, loss_at(id, 23));
    finish(22, loss_at(id, 22));
    finish(24, loss_at(id, 24));
    assert_int_equal(trial(id, 21)->told, 21);
    assert_int_equal(trial(id, 23)->told, 22);
    assert_int_equal(trial(id, 22)->told, 23);
    assert_int_equal(engine_active(t.engine), 0);
    finish_job(job);
    t.hold_jobs = false;
    turn();
    assert_int_equal(engine_active(t.engine), 3);
    assert_int_equal(trial(id, 25)->seen, 24); /* nothing else ran: computed anew with all */
    tear_down();
}

TEST(an_experiment_that_is_stopped_waits_for_its_job_and_ends)
{
    struct search_job *job = NULL;
    set_up(1, 0);
    t.job_us = 2000;
    int64_t id = submit(BAYES(""));
    run_to(id, 1, 20, 1);
    t.hold_jobs = true;
    finish(21, loss_at(id, 21));
    assert_true(engine_search_due(t.engine, &job));
    engine_stop(t.engine, id, STOP_NOW, now(), NULL);
    turn();
    assert_true(engine_has(t.engine, id));
    finish_job(job);
    t.hold_jobs = false;
    turn();
    assert_false(engine_has(t.engine, id));
    assert_non_null(strstr(last_event(), "\"state\":\"stopped\""));
    tear_down();
}

/* The points of 25 trials, with an engine that is killed after each of the numbers in `deaths`. */
static void points_with_deaths(const char *spec, const int64_t *deaths, size_t n, double *ret)
{
    int64_t attempt = 1;
    set_up(1, 0);
    int64_t id = submit(spec);
    for (int64_t number = 1; number <= 25; number++) {
        started(attempt);
        for (size_t i = 0; i < n; i++)
            if (deaths[i] == number)
                take_over();
        finish(attempt++, loss_at(id, number));
    }
    for (int64_t number = 1; number <= 25; number++)
        point_of(id, number, ret + 2 * (number - 1));
    tear_down();
}

TEST(after_a_restart_the_suggestions_are_the_same)
{
    const int64_t deaths[] = {1, 4, 12, 13, 20};
    double straight[50], broken[50];
    points_with_deaths(BAYES(""), NULL, 0, straight);
    points_with_deaths(BAYES(""), deaths, ARRAY_LEN(deaths), broken);
    assert_memory_equal(straight, broken, sizeof(straight));
}

TEST(a_trial_keeps_the_numbers_of_its_suggestion)
{
    set_up(1, 0);
    int64_t id = submit("{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":" XY
                        ",\"objective\":{\"metric\":\"loss\",\"goal\":\"maximize\"},\"search\":{"
                        "\"algorithm\":\"bayes\",\"trials\":40,\"stop\":\"none\",\"seed\":3}}");
    for (int64_t number = 1; number <= 24; number++)
        finish(number, 100 - loss_at(id, number));
    autofree(mem) char *first = why_of_trial(id, 1), *last = why_of_trial(id, 25);
    assert_string_equal(first, "{\"why\":\"draw\",\"by\":\"bayes\",\"seen\":0}");
    autofree(json) json_t *why = NULL;
    assert_ok(json_parse(last, strlen(last), &why, &t.err), &t.err);
    assert_string_equal(json_get_text(why, "by", ""), "bayes");
    assert_int_equal(json_get_int(why, "seen", 0), 24);
    assert_int_equal(trial(id, 25)->seen, 24);
    assert_true(json_get_double(why, "mean", NAN) > 50); /* as the user counts, not minimised */
    assert_true(json_get_double(why, "deviation", NAN) >= 0);
    tear_down();
}

TEST(what_was_lost_or_cancelled_is_no_result)
{
    set_up(2, 0);
    int64_t id = submit(RANDOM("6", ",\"limits\":{\"retries\":0}"));
    ended(1, REASON_LOST, -1);
    finish(2, 0.5);
    ended(3, REASON_EXIT, 1);
    assert_int_equal(trial(id, 1)->told, 0);
    assert_int_equal(trial(id, 2)->told, 1);
    assert_int_equal(trial(id, 3)->told, 2);
    engine_stop(t.engine, id, STOP_NOW, now(), NULL);
    turn();
    ended(4, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 4)->told, 0);
    tear_down();
}

/* ---- which is the best ---- */

static struct experiment_row row_of(int64_t id)
{
    struct experiment_row row = {0};
    autofree(mem) char *ref = xasprintf("%lld", (long long)id);
    assert_ok(store_find_experiment(t.store, ref, true, &row, &t.err), &t.err);
    return row;
}

TEST(what_breaks_a_constraint_is_never_the_best)
{
    set_up(1, 0);
    int64_t id = submit(RANDOM("4", ",\"constraint\":[\"ms <= 20\"]"));
    autorelease(experiment_row) struct experiment_row none = {0};
    report_metric(1, "ms", 1, 30);
    finish(1, 0.1);
    none = row_of(id);
    assert_int_equal(none.best_trial, 0);
    report_metric(2, "ms", 1, 30);
    report_metric(2, "ms", 2, 20); /* the last counts */
    finish(2, 0.5);
    finish(3, 0.2); /* did not say */
    report_metric(4, "ms", 1, 10);
    finish(4, 0.6);
    autorelease(experiment_row) struct experiment_row row = row_of(id);
    assert_int_equal(row.best_trial, 2);
    assert_non_null(strstr(last_event(), "\"best\":{\"trial\":\"1.2\",\"value\":0.5"));
    assert_int_equal(trial(id, 2)->n_extra, 1);
    tear_down();
}

TEST(of_several_objectives_there_is_a_front)
{
    const double loss[] = {1, 2, 3, 2}, speed[] = {10, 30, 20, 30};
    set_up(1, 0);
    int64_t id = submit("{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":" XY
                        ",\"objective\":[\"loss\",{\"metric\":\"speed\",\"goal\":\"maximize\"}],"
                        "\"search\":{\"algorithm\":\"random\",\"trials\":4,\"stop\":\"none\"}}");
    for (int64_t i = 1; i <= 4; i++) {
        report_metric(i, "speed", 1, speed[i - 1]);
        finish(i, loss[i - 1]);
    }
    assert_non_null(strstr(last_event(), "\"best\":null,\"front\":[\"1.1\",\"1.2\",\"1.4\"]"));
    autorelease(experiment_row) struct experiment_row row = row_of(id);
    assert_int_equal(row.best_trial, 0);
    tear_down();
}

TEST(the_search_names_the_best_with_its_mean)
{
    set_up(1, 0);
    int64_t id = submit(SPEC_OF(XY, "\"algorithm\":\"bayes\",\"trials\":24", ""));
    run_to(id, 1, 24, 1);
    autorelease(experiment_row) struct experiment_row row = row_of(id);
    assert_int_equal(row.experiment.state, EXPERIMENT_FINISHED);
    assert_true(row.best_trial > 0);
    assert_int_equal(row.experiment.best_trial, row.best_trial);
    assert_true(fabs(row.experiment.best_mean - row.best_value) < 0.1);
    assert_true(row.experiment.best_deviation >= 0);
    assert_non_null(strstr(last_event(), "\"mean\":"));
    tear_down();
}

/* ---- more trials, or fewer ---- */

static int extend(int64_t id, int64_t add, int64_t total)
{
    struct extension extension = {add, total};
    return engine_extend(t.engine, t.store, id, &extension, now(), &t.err);
}

TEST(a_finished_experiment_goes_on_with_a_larger_budget)
{
    set_up(1, 0);
    int64_t id = submit(RANDOM("3", ""));
    assert_int_equal(extend(id, 2, 0), -EBUSY); /* it runs */
    run_to(id, 1, 3, 1);
    assert_false(engine_has(t.engine, id));
    assert_int_equal(engine_resume(t.engine, t.store, id, now(), &t.err), -EINVAL);
    assert_int_equal(extend(id, 0, 3), -EINVAL);
    assert_non_null(strstr(err_text(&t.err), "a budget of 3 trials already"));
    assert_int_equal(extend(id, -2, 0), -EINVAL);
    assert_false(engine_has(t.engine, id));

    assert_ok(extend(id, 2, 0), &t.err);
    turn();
    run_to(id, 4, 5, 4);
    assert_false(engine_has(t.engine, id));
    assert_int_equal(trial(id, 5)->told, 5);
    assert_ok(extend(id, 0, 6), &t.err);
    turn();
    run_to(id, 6, 6, 6);
    autorelease(experiment_row) struct experiment_row row = row_of(id);
    assert_int_equal(row.experiment.state, EXPERIMENT_FINISHED);
    assert_int_equal(row.counts[TRIAL_COMPLETED], 6);
    assert_non_null(strstr(row.experiment.spec_json, "\"trials\":6"));
    double x[2], y[2];
    for (int64_t number = 1; number < 6; number++) {
        point_of(id, number, x);
        point_of(id, number + 1, y);
        assert_memory_not_equal(x, y, sizeof(x));
    }
    tear_down();
}

static void check_replays(int64_t id, int64_t n)
{
    struct replay_check check;
    assert_ok(replay_check(t.store, id, &check, &t.err), &t.err);
    assert_int_equal(check.other, 0);
    assert_int_equal(check.suggestions, n);
    assert_int_equal(check.same, n);
    replay_check_release(&check);
}

TEST(what_was_suggested_before_and_after_an_extension_comes_again)
{
    set_up(2, 0);
    int64_t id = submit(SPEC_OF(XY, "\"algorithm\":\"bayes\",\"trials\":18", ""));
    for (int64_t attempt = 1; attempt <= 18; attempt++)
        finish(attempt, loss_at(id, attempt) + 0.01 * (double)(attempt % 3));
    assert_ok(extend(id, 6, 0), &t.err);
    turn();
    for (int64_t attempt = 19; attempt <= 24; attempt++)
        finish(attempt, loss_at(id, attempt) + 0.01 * (double)(attempt % 3));
    assert_true(happened("\"event\":\"extended\",\"experiment\":1,\"from\":18,\"trials\":24"));
    check_replays(id, 24);
    tear_down();
}

/* Two at a time, with noise so that settings are run again, under an engine that dies often. */
static void check_deaths(int64_t job_us)
{
    set_up(2, 0);
    t.job_us = job_us;
    int64_t id = submit(SPEC_OF(XY, "\"trials\":40", ""));
    for (int64_t attempt = 1; attempt <= 40; attempt++) {
        if (attempt % 7 == 3 || attempt % 10 == 4) {
            started(attempt);
            if (attempt < 40)
                started(attempt + 1);
            take_over();
        }
        finish(attempt, loss_at(id, attempt) + 0.01 * (double)(attempt % 3));
    }
    check_replays(id, 40);
    tear_down();
}

TEST(whoever_is_the_engine_the_history_can_be_replayed)
{
    check_deaths(0);
    check_deaths(2000);          /* the newest suggestion is waited for */
    check_deaths(10 * US_PER_S); /* the prepared one is taken */
}

TEST(a_setting_that_is_run_again_names_the_first_trial_of_it)
{
    int64_t repeats = 0;
    double x[2], y[2];
    set_up(1, 0);
    int64_t id = submit(SPEC_OF(XY, "\"algorithm\":\"bayes\",\"trials\":36", ""));
    for (int64_t number = 1; number <= 36; number++) /* noise larger than what is left to gain */
        finish(number, loss_at(id, number) + 0.3 * sin(99.0 * (double)number));
    for (int64_t number = 1; number <= 36; number++) {
        int64_t of = trial(id, number)->repeat_of;
        if (!of)
            continue;
        repeats++;
        assert_int_equal(trial(id, of)->repeat_of, 0);
        point_of(id, number, x);
        point_of(id, of, y);
        assert_memory_equal(x, y, sizeof(x));
    }
    assert_in_range(repeats, 1, 36 / 5);
    check_replays(id, 36);
    tear_down();
}

TEST(an_experiment_ends_when_no_more_is_to_be_expected)
{
    set_up(1, 0);
    int64_t id = submit(BAYES(",\"until\":{\"improvement\":\"10%\"}"));
    for (int64_t number = 1; number <= 40 && engine_has(t.engine, id); number++)
        finish(number, 1 + loss_at(id, number));
    assert_false(engine_has(t.engine, id));
    assert_non_null(strstr(last_event(), "\"state\":\"finished\",\"reason\":\"satisfied\""));
    autorelease(experiment_row) struct experiment_row row = row_of(id);
    assert_in_range(row.counts[TRIAL_COMPLETED], 10, 39);
    tear_down();
}

TEST(it_ends_where_the_best_is_zero_too)
{
    set_up(1, 0);
    int64_t id = submit(BAYES(",\"until\":{\"improvement\":\"1%\"}"));
    for (int64_t number = 1; number <= 40 && engine_has(t.engine, id); number++)
        finish(number, loss_at(id, number));
    assert_false(engine_has(t.engine, id));
    assert_non_null(strstr(last_event(), "\"state\":\"finished\",\"reason\":\"satisfied\""));
    tear_down();
}

/* ---- knowledge ---- */

static int64_t teach(const char *spec, int64_t n, int64_t attempt)
{
    int64_t id = submit(spec);
    run_to(id, 1, n, attempt);
    assert_false(engine_has(t.engine, id));
    return id;
}

static int submit_fails(const char *text)
{
    struct spec spec;
    struct submission submission = {.spec = &spec};
    int64_t id;
    spec_init(&spec);
    assert_ok(spec_parse(text, strlen(text), "t", "/", NULL, &spec, NULL, &t.err), &t.err);
    int r = engine_submit(t.engine, t.store, &submission, now(), &id, &t.err);
    spec_release(&spec);
    return r;
}

TEST(earlier_experiments_with_the_same_parameters_teach)
{
    set_up(1, 0);
    teach(RANDOM("8", ""), 8, 1);
    submit(BAYES(""));
    assert_true(
        happened("{\"event\":\"knowledge\",\"experiment\":2,\"from\":[1],\"results\":[8]}"));
    tear_down();
}

/* It begins, and is given up. */
static void submit_and_drop(const char *spec, int64_t attempt)
{
    int64_t id = submit(spec);
    engine_stop(t.engine, id, STOP_KILL, now(), NULL);
    turn();
    ended(attempt, REASON_CANCELLED, -1);
    assert_false(engine_has(t.engine, id));
}

TEST(nothing_is_learned_from_what_is_not_alike)
{
    set_up(1, 0);
    teach(RANDOM("4", ""), 4, 1); /* too few results */
    submit_and_drop(BAYES(""), 5);
    teach(RANDOM("8", ""), 8, 6);
    submit_and_drop(BAYES(",\"knowledge\":\"off\""), 14);
    submit_and_drop(SPEC_OF("{\"z\":{\"min\":0.0,\"max\":1.0}}", "\"trials\":9", ""), 15);
    submit_and_drop(SPEC_OF("{\"x\":[1,2],\"y\":[\"a\",\"b\"]}", "\"trials\":9", ""), 16);
    assert_false(happened("\"event\":\"knowledge\""));
    submit_and_drop(BAYES(""), 17);
    assert_true(happened("\"from\":[3],\"results\":[8]"));
    tear_down();
}

TEST(experiments_to_learn_from_are_found_by_name_or_a_sentence_says_why_not)
{
    set_up(1, 0);
    teach(RANDOM("8", ""), 8, 1);
    assert_int_equal(submit_fails(BAYES(",\"knowledge\":\"nobody\"")), -ENOENT);
    assert_string_equal(err_text(&t.err), "knowledge: no experiment called 'nobody' in :memory:");
    assert_int_equal(submit_fails(SPEC_OF("{\"z\":{\"min\":0.0,\"max\":1.0}}", "\"trials\":9",
                                          ",\"knowledge\":[\"t\"]")),
                     -EINVAL);
    assert_non_null(strstr(err_text(&t.err), "varied none of these parameters"));
    assert_int_equal(submit_fails(SPEC_OF("{\"x\":{\"min\":0.9999,\"max\":3.0}}", "\"trials\":9",
                                          ",\"knowledge\":[1]")),
                     -EINVAL);
    assert_non_null(strstr(err_text(&t.err), "no result within these parameters"));
    submit(BAYES(",\"knowledge\":[\"t\",1]"));
    assert_true(happened("\"from\":[1],\"results\":[8]"));
    tear_down();
}

/* The first five points of an experiment that was taught by another, which went on meanwhile. */
static void taught_points(bool death, double *ret)
{
    set_up(1, 0);
    int64_t teacher = teach(RANDOM("8", ""), 8, 1);
    int64_t id = submit(BAYES(""));
    engine_stop(t.engine, id, STOP_INTERRUPT, now(), NULL);
    turn();
    ended(9, REASON_CANCELLED, -1);
    int64_t attempt = 10;
    if (death) {
        assert_ok(extend(teacher, 4, 0), &t.err);
        turn();
        run_to(teacher, 9, 12, attempt);
        attempt += 4;
        take_over();
    }
    assert_ok(engine_resume(t.engine, t.store, id, now(), &t.err), &t.err);
    turn();
    run_to(id, 1, 5, attempt);
    for (int64_t number = 1; number <= 5; number++)
        point_of(id, number, ret + 2 * (number - 1));
    tear_down();
}

TEST(what_was_learned_stays_the_same_after_a_restart)
{
    double straight[10], broken[10];
    taught_points(false, straight);
    taught_points(true, broken);
    assert_memory_equal(straight, broken, sizeof(straight));
}

TEST_MAIN
