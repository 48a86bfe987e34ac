/* SPDX-License-Identifier: MIT */
/*
 * engine_test.c — the engine's decisions, one sentence each, with a scripted agent.
 */
#include "base/fs.h"
#include "engine/scripted.h"

TEST(trials_start_as_far_as_cpus_reach)
{
    set_up(3, 0);
    submit(SPEC(""));
    assert_int_equal(count(COMMAND_START), 3);
    report(1, 1, 0.5);
    ended(1, REASON_NONE, 0);
    assert_int_equal(count(COMMAND_START), 4);
    tear_down();
}

TEST(nothing_starts_before_its_row_is_committed)
{
    set_up(2, 0);
    struct spec spec;
    struct submission submission = {.spec = &spec};
    const char *text = SPEC("");
    int64_t id;
    spec_init(&spec);
    assert_ok(spec_parse(text, strlen(text), "t", "/", NULL, &spec, NULL, &t.err), &t.err);
    assert_ok(engine_submit(t.engine, t.store, &submission, now(), &id, &t.err), &t.err);
    struct tick *tick = engine_tick(t.engine, now());
    assert_int_equal(t.sent.len, 0);
    assert_int_equal(t.events.len, 0);
    assert_ok(store_apply(t.store, tick_txn(tick), &t.err), &t.err);
    engine_committed(t.engine, tick);
    assert_int_equal(count(COMMAND_START), 2);
    spec_release(&spec);
    tear_down();
}

/* A program that says nothing, too: rarely, the longer it runs. */
TEST(the_row_of_a_running_trial_tells_how_long_it_has_run)
{
    int64_t writes = 0, before_us = 0;

    set_up(1, 0);
    int64_t id =
        submit("{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":{\"x\":[1]},"
               "\"objective\":\"loss\",\"search\":{\"algorithm\":\"grid\"}}");
    started(1);
    ended(1, REASON_EXIT, 85); /* to be run again; it took one second */
    assert_int_equal(trial(id, 1)->run_us, US_PER_S);
    t.now_us += 60 * US_PER_S;
    turn();
    started(2);
    for (int64_t s = 1; s <= 1000; s++) {
        t.now_us += US_PER_S;
        turn();
        int64_t run_us = trial(id, 1)->run_us - US_PER_S;
        assert_true(run_us <= s * US_PER_S && run_us >= s * US_PER_S * 9 / 10 - US_PER_S);
        assert_true(run_us >= before_us);
        writes += run_us > before_us;
        before_us = run_us;
    }
    assert_true(writes < 100);

    take_over(); /* what was saved is not counted twice */
    started(2);
    assert_true(trial(id, 1)->run_us >= before_us);
    report(2, 1, 0.5);
    t.now_us += US_PER_S;
    turn();
    assert_int_equal(trial(id, 1)->run_us, 1003 * US_PER_S);
    ended(2, REASON_NONE, 0);
    assert_int_equal(trial(id, 1)->run_us, 2 * US_PER_S);
    tear_down();
}

static int keep_use(const struct attempt *attempt, void *arg)
{
    *(struct attempt *)arg = (struct attempt){.run_us = attempt->run_us,
                                              .cpu_us = attempt->cpu_us,
                                              .max_rss_bytes = attempt->max_rss_bytes};
    return 0;
}

static void used(int64_t attempt, int64_t cpu_us, uint64_t bytes)
{
    struct agent_event event = {.kind = EVENT_FIGURES,
                                .attempt = attempt,
                                .time_us = now().wall_us,
                                .cpu_us = cpu_us,
                                .used_bytes = bytes};
    engine_on_event(t.engine, &event, now());
    t.now_us += US_PER_S;
    turn();
}

TEST(the_row_of_a_running_attempt_tells_what_it_has_used)
{
    struct attempt row = {0};

    set_up(1, 0);
    int64_t id = submit(SPEC(""));
    started(1);
    used(1, 500000, 3000);
    used(1, 900000, 2000);
    assert_ok(store_attempts(t.store, id, 1, false, keep_use, &row, &t.err), &t.err);
    assert_int_equal(row.run_us, 2 * US_PER_S);
    assert_int_equal(row.cpu_us, 900000);
    assert_int_equal(row.max_rss_bytes, 3000);
    ended(1, REASON_NONE, 0); /* knows better */
    assert_ok(store_attempts(t.store, id, 1, false, keep_use, &row, &t.err), &t.err);
    assert_int_equal(row.run_us, US_PER_S);
    assert_int_equal(row.max_rss_bytes, 0);
    tear_down();
}

TEST(gpus_are_distinct_and_given_back)
{
    set_up(8, 3);
    submit(SPEC(",\"resources\":{\"gpus\":1}"));
    assert_int_equal(count(COMMAND_START), 3);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = i + 1; k < 3; k++)
            assert_string_not_equal(t.sent.at[i].gpus, t.sent.at[k].gpus);
    autofree(mem) char *freed = xstrdup(t.sent.at[1].gpus);
    report(2, 1, 0.5);
    ended(2, REASON_NONE, 0);
    assert_string_equal(vec_last(&t.sent)->gpus, freed);
    tear_down();
}

TEST(more_than_the_machine_has_is_refused_at_once)
{
    set_up(2, 0);
    struct spec spec;
    struct submission submission = {.spec = &spec};
    const char *text = SPEC(",\"resources\":{\"cpus\":64}");
    int64_t id;
    spec_init(&spec);
    assert_ok(spec_parse(text, strlen(text), "t", "/", NULL, &spec, NULL, &t.err), &t.err);
    assert_int_equal(engine_submit(t.engine, t.store, &submission, now(), &id, &t.err), -ERANGE);
    assert_non_null(strstr(err_text(&t.err), "64"));
    spec_release(&spec);
    tear_down();
}

TEST(the_target_ends_the_experiment)
{
    set_up(2, 0);
    int64_t id = submit(SPEC(",\"limits\":{\"grace\":\"1s\"}"));
    engine_stop(t.engine, id, STOP_KILL, now(), NULL);
    turn();
    ended(1, REASON_CANCELLED, -1);
    ended(2, REASON_CANCELLED, -1);
    forget_sent();

    const char *text = "{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":{\"x\":"
                       "[1,2,3]},\"objective\":{\"metric\":\"loss\",\"target\":0.1},"
                       "\"search\":{\"algorithm\":\"grid\"}}";
    id = submit(text);
    report(3, 1, 0.5);
    assert_int_equal(count(COMMAND_STOP), 0);
    report(3, 2, 0.05);
    assert_int_equal(count(COMMAND_STOP), 2);
    ended(3, REASON_CANCELLED, -1);
    ended(4, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 1)->state, TRIAL_COMPLETED);
    assert_int_equal(trial(id, 2)->state, TRIAL_STOPPED);
    assert_non_null(strstr(last_event(), "\"state\":\"finished\",\"reason\":\"target\""));
    tear_down();
}

TEST(nan_in_the_objective_is_divergence_elsewhere_a_mark)
{
    set_up(1, 0);
    int64_t id = submit(SPEC(",\"diverge\":[\"grad\"]"));
    report_metric(1, "other", 3, NAN);
    assert_int_equal(count(COMMAND_STOP), 0);
    report(1, 4, 0.5);
    ended(1, REASON_NONE, 0);
    assert_int_equal(trial(id, 1)->state, TRIAL_COMPLETED);
    assert_int_equal(trial(id, 1)->first_nan_step, 3);

    report(2, 1, NAN);
    assert_int_equal(count(COMMAND_STOP), 1);
    ended(2, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 2)->reason, REASON_DIVERGED);

    report(3, 1, 0.5);
    report_metric(3, "grad", 1, INFINITY);
    ended(3, REASON_NONE, 0);
    assert_int_equal(trial(id, 3)->reason, REASON_DIVERGED);
    tear_down();
}

TEST(a_program_that_ends_without_the_objective_says_what_it_saw)
{
    set_up(1, 0);
    int64_t id = submit(SPEC(""));
    report_metric(1, "Loss", 1, 0.5);
    ended(1, REASON_NONE, 0);
    assert_int_equal(trial(id, 1)->reason, REASON_NO_METRIC);
    bool said = false;
    vec_foreach (event, &t.events)
        said =
            said ||
            strstr(
                *event,
                "without reporting the objective 'loss': it reported Loss; did you mean 'Loss'?");
    assert_true(said);
    tear_down();
}

TEST(a_lost_attempt_waits_and_starts_again)
{
    set_up(1, 0);
    int64_t id = submit(SPEC_SEARCH(",\"trials\":1", ""));
    started(1);
    ended(1, REASON_LOST, -1);
    assert_int_equal(count(COMMAND_START), 1);
    int64_t wake_us = engine_wake_us(t.engine);
    assert_in_range(wake_us - t.now_us, US_PER_S / 2, 2 * US_PER_S);
    t.now_us = wake_us;
    turn();
    assert_int_equal(count(COMMAND_START), 2);
    report(2, 1, 0.5);
    ended(2, REASON_NONE, 0);
    assert_int_equal(trial(id, 1)->state, TRIAL_COMPLETED);
    assert_int_equal(trial(id, 1)->attempts, 2);
    tear_down();
}

TEST(an_sdk_program_is_asked_before_it_gets_a_signal)
{
    set_up(1, 0);
    int64_t id = submit(SPEC(""));
    started(1);
    report_metric(1, METRIC_GENERATION, 0, 2);
    engine_stop(t.engine, id, STOP_NOW, now(), NULL);
    turn();
    assert_int_equal(count(COMMAND_CONTROL), 1);
    assert_int_equal(count(COMMAND_STOP), 0);
    t.now_us += 10 * US_PER_S; /* the default grace */
    turn();
    assert_int_equal(count(COMMAND_STOP), 1);
    tear_down();
}

TEST(what_had_ended_before_the_stop_was_asked_for_has_completed)
{
    for (int early = 0; early < 2; early++) {
        set_up(1, 0);
        int64_t id = submit(SPEC(""));
        started(1);
        report(1, 1, 0.5);
        struct agent_event event = {
            .kind = EVENT_ENDED,
            .attempt = 1,
            .ending = {.ended_us = now().wall_us + (early ? -1 : 1), .run_us = US_PER_S},
        };
        engine_stop(t.engine, id, STOP_NOW, now(), NULL);
        turn();
        engine_on_event(t.engine, &event, now());
        turn();
        assert_int_equal(trial(id, 1)->state, early ? TRIAL_COMPLETED : TRIAL_STOPPED);
        tear_down();
    }
}

TEST(one_trial_is_stopped_and_the_others_go_on)
{
    set_up(2, 0);
    int64_t id = submit(SPEC(""));
    started(1);
    started(2);
    report(1, 1, 0.5);
    assert_int_equal(engine_stop_trial(t.engine, id + 1, 1, now(), NULL), -ENOENT);
    assert_int_equal(engine_stop_trial(t.engine, id, 99, now(), NULL), -ENOENT);
    assert_int_equal(engine_stop_trial(t.engine, id, 0, now(), NULL), -ENOENT);
    assert_int_equal(engine_stop_trial(t.engine, id, 1, now(), NULL), 0);
    turn();
    assert_int_equal(count(COMMAND_STOP), 1);
    assert_int_equal(engine_stop_trial(t.engine, id, 1, now(), NULL), -EBUSY);
    take_over(); /* the next engine knows why it ends */
    ended(1, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 1)->state, TRIAL_STOPPED);
    assert_int_equal(trial(id, 1)->reason, REASON_BY_HAND);
    assert_int_equal(engine_stop_trial(t.engine, id, 1, now(), NULL), -EBUSY);
    assert_int_equal(trial(id, 2)->state, TRIAL_RUNNING);
    assert_int_equal(count(COMMAND_START), 1); /* its place is taken */
    tear_down();
}

TEST(one_that_was_to_be_run_again_is_not_once_the_user_has_stopped_it)
{
    set_up(1, 0);
    int64_t id = submit(SPEC(",\"limits\":{\"retries\":3}"));
    started(1);
    ended(1, REASON_LOST, -1); /* it waits for another try */
    assert_int_equal(trial(id, 1)->state, TRIAL_QUEUED);
    assert_int_equal(engine_stop_trial(t.engine, id, 1, now(), NULL), 0);
    turn();
    assert_int_equal(trial(id, 1)->state, TRIAL_STOPPED);
    assert_int_equal(trial(id, 1)->reason, REASON_BY_HAND);
    int64_t second = 2;
    started(second);
    engine_stop(t.engine, id, STOP_INTERRUPT, now(), NULL);
    assert_int_equal(engine_stop_trial(t.engine, id, 2, now(), NULL), 0);
    turn();
    ended(second, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 2)->reason, REASON_BY_HAND);
    tear_down();
}

TEST(an_interrupted_experiment_goes_on_where_it_stood)
{
    set_up(2, 0);
    int64_t id = submit(SPEC(""));
    report(1, 1, 0.5);
    ended(1, REASON_NONE, 0);
    engine_stop(t.engine, id, STOP_INTERRUPT, now(), NULL);
    turn();
    ended(2, REASON_CANCELLED, -1);
    ended(3, REASON_CANCELLED, -1);
    assert_non_null(strstr(last_event(), "\"state\":\"interrupted\""));
    assert_int_equal(engine_experiments(t.engine), 0);
    assert_int_equal(trial(id, 2)->state, TRIAL_QUEUED);
    forget_sent();
    assert_ok(engine_resume(t.engine, t.store, id, now(), &t.err), &t.err);
    turn();
    assert_int_equal(count(COMMAND_START), 2);
    for (int64_t attempt = 4; engine_has(t.engine, id); attempt++) {
        report(attempt, 1, 0.1);
        ended(attempt, REASON_NONE, 0);
    }
    assert_int_equal(trial(id, 8)->state, TRIAL_COMPLETED);
    assert_int_equal(engine_resume(t.engine, t.store, id, now(), &t.err), -EINVAL);
    tear_down();
}

TEST(an_engine_that_comes_up_adopts_what_runs)
{
    set_up(2, 0);
    int64_t id = submit(SPEC(""));
    started(1);           /* attempt 2 stays in `starting` */
    t.now_us += US_PER_S; /* time for the start to be saved */
    turn();
    engine_free(t.engine);
    forget_sent();
    come_up(false);
    turn();
    assert_int_equal(count(COMMAND_ADOPT), 1);
    assert_int_equal(count(COMMAND_START), 1);
    report(1, 1, 0.5);
    ended(1, REASON_NONE, 0);
    report(2, 1, 0.4);
    ended(2, REASON_NONE, 0);
    /* Nobody asked to go on with it. */
    assert_non_null(strstr(last_event(), "\"state\":\"interrupted\""));
    assert_int_equal(trial(id, 2)->state, TRIAL_COMPLETED);
    tear_down();
}

TEST(a_stop_that_was_acknowledged_outlives_the_engine)
{
    set_up(2, 0);
    int64_t id = submit(SPEC(""));
    started(1);
    started(2);
    engine_stop(t.engine, id, STOP_DRAIN, now(), NULL);
    turn();
    take_over();
    report(1, 1, 0.5);
    ended(1, REASON_NONE, 0);
    report(2, 1, 0.5);
    ended(2, REASON_NONE, 0);
    assert_int_equal(count(COMMAND_START), 0);
    assert_non_null(strstr(last_event(), "\"state\":\"stopped\""));
    tear_down();
}

TEST(an_interruption_outlives_the_engine)
{
    set_up(2, 0);
    int64_t id = submit(SPEC(""));
    started(1);
    started(2);
    engine_stop(t.engine, id, STOP_INTERRUPT, now(), NULL);
    turn();
    take_over();
    ended(1, REASON_CANCELLED, -1);
    ended(2, REASON_CANCELLED, -1);
    assert_int_equal(count(COMMAND_START), 0);
    assert_non_null(strstr(last_event(), "\"state\":\"interrupted\""));
    assert_ok(engine_resume(t.engine, t.store, id, now(), &t.err), &t.err);
    turn();
    assert_int_equal(count(COMMAND_START), 2);
    tear_down();
}

TEST(who_reached_the_target_is_known_to_the_next_engine)
{
    set_up(2, 0);
    int64_t id = submit("{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":{\"x\":"
                        "[1,2,3]},\"objective\":{\"metric\":\"loss\",\"target\":0.1},"
                        "\"search\":{\"algorithm\":\"grid\"}}");
    started(1);
    started(2);
    report(1, 1, 0.05);
    take_over();
    report(1, 1, 0.05);
    ended(1, REASON_CANCELLED, -1);
    ended(2, REASON_CANCELLED, -1);
    assert_int_equal(count(COMMAND_START), 0);
    assert_int_equal(trial(id, 1)->state, TRIAL_COMPLETED);
    assert_int_equal(trial(id, 2)->state, TRIAL_STOPPED);
    assert_non_null(strstr(last_event(), "\"state\":\"finished\",\"reason\":\"target\""));
    tear_down();
}

TEST(an_experiment_that_no_longer_fits_the_machine_says_so)
{
    set_up(4, 0);
    int64_t id = submit(SPEC(",\"resources\":{\"cpus\":2}"));
    started(1);
    started(2);
    t.machine.cpus = 1;
    take_over();
    report(1, 1, 0.5);
    ended(1, REASON_NONE, 0);
    report(2, 1, 0.5);
    ended(2, REASON_NONE, 0);
    assert_non_null(strstr(last_event(), "\"state\":\"interrupted\""));
    assert_non_null(strstr(last_event(), "a trial takes 2 cpus"));
    t.machine.cpus = 4;
    take_over();
    assert_ok(engine_resume(t.engine, t.store, id, now(), &t.err), &t.err);
    turn();
    assert_int_equal(count(COMMAND_START), 2);
    tear_down();
}

/* Put a spec that cannot be read into an experiment's row. */
static void break_spec(int64_t id)
{
    struct experiment_row row = {0};
    autofree(mem) char *ref = xasprintf("%lld", (long long)id);
    autofree(txn) struct txn *txn = txn_new();
    assert_ok(store_find_experiment(t.store, ref, true, &row, &t.err), &t.err);
    free(row.experiment.spec_json);
    row.experiment.spec_json = xstrdup("{\"command\":[],\"nonsense\":1}");
    txn_put_experiment(txn, &row.experiment);
    assert_ok(store_apply(t.store, txn, &t.err), &t.err);
    experiment_row_release(&row);
}

TEST(an_experiment_that_cannot_be_read_does_not_hold_up_the_others)
{
    set_up(2, 0);
    int64_t broken = submit(SPEC("")), sound = submit(SPEC(""));
    break_spec(broken);
    take_over();
    assert_false(engine_has(t.engine, broken));
    assert_true(engine_has(t.engine, sound));
    assert_non_null(strstr(t.events.at[t.events.len - 1], "\"event\":\"trial_started\""));
    assert_true(engine_resume(t.engine, t.store, broken, now(), &t.err) < 0);
    assert_non_null(strstr(err_text(&t.err), "cannot be loaded"));
    turn();
    assert_false(engine_has(t.engine, broken));
    tear_down();
}

TEST(what_ends_in_a_tick_that_is_not_committed_cannot_be_resumed_yet)
{
    set_up(1, 0);
    int64_t id = submit(SPEC(""));
    engine_stop(t.engine, id, STOP_INTERRUPT, now(), NULL);
    turn();
    struct agent_event event = {
        .kind = EVENT_ENDED, .attempt = 1, .ending = {.reason = REASON_CANCELLED}};
    engine_on_event(t.engine, &event, now());
    struct tick *tick = engine_tick(t.engine, now());
    assert_int_equal(engine_resume(t.engine, t.store, id, now(), &t.err), -EBUSY);
    assert_ok(store_apply(t.store, tick_txn(tick), &t.err), &t.err);
    engine_committed(t.engine, tick);
    assert_ok(engine_resume(t.engine, t.store, id, now(), &t.err), &t.err);
    turn();
    tear_down();
}

TEST(an_adopted_trial_is_not_pruned_for_its_past)
{
    set_up(2, 0);
    submit(SPEC_SEARCH(",\"stop\":\"median\"", ""));
    started(1);
    for (int step = 1; step <= 4; step++)
        report(1, step, 5.0); /* poor at first, but nobody knows better yet */
    report(1, 20, 0.001);
    for (int64_t attempt = 2; attempt <= 7; attempt++) {
        for (int step = 1; step <= 10; step++)
            report(attempt, step, 1.0 / step);
        ended(attempt, REASON_NONE, 0);
    }
    take_over();
    for (int step = 1; step <= 4; step++)
        report(1, step, 5.0);
    report(1, 20, 0.001);
    assert_int_equal(count(COMMAND_STOP), 0);
    tear_down();
}

TEST(a_checkpoint_counts_as_new_though_its_program_was_silent)
{
    char home[] = "/tmp/hone-engine-XXXXXX";
    set_up(1, 0);
    engine_free(t.engine);
    t.home = mkdtemp(home);
    come_up(true);
    int64_t id = submit(SPEC(",\"limits\":{\"retries\":0}"));
    started(1);
    autofree(mem) char *dir = checkpoint_dir(home, id, 1);
    autofree(mem) char *checkpoint = xasprintf("%s/1-10", dir);
    assert_ok(fs_make_dirs(checkpoint, 0700, &t.err), &t.err);
    t.now_us += 61 * US_PER_S; /* so long that the agent is asked again */
    turn();
    assert_int_equal(count(COMMAND_ADOPT), 1);
    ended(1, REASON_EXIT, 85);
    assert_int_equal(trial(id, 1)->attempts, 2);
    assert_int_equal(trial(id, 1)->retries, 0);
    fs_remove_tree(home, NULL);
    tear_down();
}

TEST(drain_lets_running_trials_finish)
{
    set_up(2, 0);
    int64_t id = submit(SPEC(""));
    engine_stop(t.engine, id, STOP_DRAIN, now(), NULL);
    turn();
    assert_int_equal(count(COMMAND_STOP), 0);
    report(1, 1, 0.5);
    ended(1, REASON_NONE, 0);
    report(2, 1, 0.5);
    ended(2, REASON_NONE, 0);
    assert_int_equal(count(COMMAND_START), 2);
    assert_non_null(strstr(last_event(), "\"state\":\"stopped\""));
    tear_down();
}

TEST(time_runs_out)
{
    set_up(1, 0);
    int64_t id = submit(SPEC(",\"limits\":{\"time\":\"60s\"}"));
    report(1, 1, 0.5);
    ended(1, REASON_NONE, 0);
    assert_int_equal(engine_wake_us(t.engine) <= 61 * US_PER_S, 1);
    t.now_us = 62 * US_PER_S;
    turn();
    assert_int_equal(count(COMMAND_STOP), 1);
    ended(2, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 2)->state, TRIAL_STOPPED);
    assert_non_null(strstr(last_event(), "\"state\":\"finished\",\"reason\":\"timeout\""));
    tear_down();
}

TEST(a_poor_trial_is_pruned_by_the_median)
{
    set_up(1, 0);
    int64_t id = submit(SPEC_SEARCH(",\"stop\":\"median\"", ""));
    for (int64_t attempt = 1; attempt <= 6; attempt++) {
        for (int step = 1; step <= 10; step++)
            report(attempt, step, 1.0 / step);
        ended(attempt, REASON_NONE, 0);
    }
    assert_int_equal(count(COMMAND_STOP), 0);
    for (int step = 1; step <= 6; step++)
        report(7, step, 5.0);
    assert_int_equal(count(COMMAND_STOP), 1);
    ended(7, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 7)->reason, REASON_PRUNED);
    tear_down();
}

TEST(a_machine_that_cannot_start_programs_now_fails_one_trial_only)
{
    set_up(1, 0);
    int64_t id = submit(SPEC(",\"limits\":{\"retries\":0}"));
    struct agent_event event = {
        .kind = EVENT_ENDED,
        .attempt = 1,
        .time_us = now().wall_us,
        .ending = {.reason = REASON_SPAWN, .exit_status = -1, .transient = true},
    };
    engine_on_event(t.engine, &event, now());
    turn();
    assert_int_equal(trial(id, 1)->state, TRIAL_FAILED);
    assert_true(engine_has(t.engine, id));
    assert_int_equal(count(COMMAND_START), 2);
    tear_down();
}

TEST(a_program_that_cannot_start_ends_the_experiment)
{
    set_up(1, 0);
    submit(SPEC(""));
    ended(1, REASON_SPAWN, -1);
    assert_int_equal(count(COMMAND_START), 1);
    assert_non_null(strstr(last_event(), "\"state\":\"failed\""));
    tear_down();
}

TEST(the_live_document_is_valid_json)
{
    set_up(2, 0);
    int64_t id = submit(SPEC(""));
    started(1);
    for (int i = 1; i < 200; i++)
        report(1, i, 1.0 / i);
    autorelease(str) struct str text = STR_INIT;
    assert_int_equal(engine_live(t.engine, id, now(), &text), 0);
    autofree(json) json_t *document = NULL;
    assert_ok(json_parse(text.s, text.len, &document, &t.err), &t.err);
    const json_t *active = json_object_get(document, "active");
    assert_int_equal(json_array_size(active), 2);
    assert_int_equal(json_array_size(json_object_get(json_array_get(active, 0), "curve")), 60);
    assert_int_equal(engine_live(t.engine, 99, now(), &text), -ENOENT);
    tear_down();
}

TEST_MAIN
