/* SPDX-License-Identifier: MIT */
/*
 * pause_test.c — trials that a rule pauses, with a scripted agent: commands are noted, events are
 * given by hand, time is a number. The rule is asha with eta 2 and a rung at every power of two:
 * the first at a rung waits, the better half goes on.
 */
#include "base/fs.h"
#include "engine/scripted.h"

#include <unistd.h>

static char home[64];

static void begin(double cpus, int gpus)
{
    set_up(cpus, gpus);
    memset(samples_told, 0, sizeof(samples_told));
    snprintf(home, sizeof(home), "/tmp/hone-pause-XXXXXX");
    assert_non_null(mkdtemp(home));
    t.home = home;
    engine_free(t.engine);
    come_up(true);
}

static void end(void)
{
    tear_down();
    fs_remove_tree(home, NULL);
}

static void later(int64_t us)
{
    t.now_us += us;
    turn();
}

/* What it committed stays, and so do the programs. */
static void die_and_come_up(void)
{
    engine_free(t.engine);
    forget_sent();
    memset(samples_told, 0, sizeof(samples_told));
    come_up(true);
    turn();
}

static int64_t submit_asha(int trials, const char *search, const char *more)
{
    autofree(mem) char *text = xasprintf(
        "{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":{\"x\":[1,2,3,4,5,6,7,"
        "8]},\"objective\":\"loss\",\"search\":{\"algorithm\":\"grid\",\"trials\":%d,"
        "\"stop\":{\"asha\":{\"eta\":2,\"min\":1}}%s}%s}",
        trials, search, more);
    return submit(text);
}

/* Adopted: it had taken that turn before. */
static void found(int64_t attempt, int64_t which_turn)
{
    struct agent_event event = {.kind = EVENT_STARTED,
                                .attempt = attempt,
                                .time_us = now().wall_us,
                                .pid = 7,
                                .turn = which_turn,
                                .turn_us = now().wall_us};
    engine_on_event(t.engine, &event, now());
    turn();
}

static void taken(int64_t attempt, int64_t which_turn)
{
    struct agent_event event = {.kind = turn_paused(which_turn) ? EVENT_PAUSED : EVENT_RESUMED,
                                .attempt = attempt,
                                .time_us = now().wall_us,
                                .turn = which_turn,
                                .turn_us = now().wall_us,
                                .used_bytes = 100 << 20};
    engine_on_event(t.engine, &event, now());
    turn();
}

static void check_sent(enum agent_command_kind kind, int64_t attempt, int64_t which_turn)
{
    assert_true(t.sent.len > 0);
    struct sent sent = *vec_last(&t.sent);
    assert_int_equal(sent.kind, kind);
    assert_int_equal(sent.attempt, attempt);
    assert_int_equal(sent.turn, which_turn);
}

static struct {
    enum trial_state state;
    enum reason reason;
    int64_t attempts;
    char verdict[200];
} row;

static int keep_row(const struct trial_row *from, void *arg UNUSED)
{
    row.state = from->trial.state;
    row.reason = from->trial.reason;
    row.attempts = from->trial.attempts;
    snprintf(row.verdict, sizeof(row.verdict), "%s",
             from->trial.verdict ? from->trial.verdict : "");
    return 0;
}

static void check_trial(int64_t experiment, int64_t number, enum trial_state state,
                        enum reason reason)
{
    struct trial_query query = {.experiment = experiment, .number = number};

    row.attempts = 0;
    assert_ok(store_trials(t.store, &query, keep_row, NULL, &t.err), &t.err);
    assert_true(row.attempts > 0);
    assert_string_equal(trial_state_name(row.state), trial_state_name(state));
    assert_string_equal(reason_name(row.reason), reason_name(reason));
}

/* Trial 1 is paused at its first rung and stands still; trial 2 has its cpu. */
static int64_t with_one_paused(int trials, const char *search, const char *more)
{
    begin(1, 0);
    int64_t id = submit_asha(trials, search, more);
    started(1);
    report(1, 1, 0.5);
    check_sent(COMMAND_PAUSE, 1, 1);
    taken(1, 1);
    return id;
}

TEST(cpus_of_a_paused_trial_go_to_the_next_when_it_stands_still)
{
    begin(1, 0);
    int64_t id = submit_asha(8, "", "");
    started(1);
    report(1, 1, 0.5);
    check_trial(id, 1, TRIAL_PAUSED, REASON_NONE);
    assert_non_null(strstr(row.verdict, "{\"rule\":\"asha\",\"rung\":1,\"step\":1}"));
    assert_non_null(strstr(*vec_last(&t.events), "\"event\":\"trial_paused\""));
    assert_int_equal(count(COMMAND_START), 1);
    taken(1, 1);
    check_sent(COMMAND_START, 2, 0);
    taken(1, 1); /* said twice */
    assert_int_equal(count(COMMAND_START), 2);
    end();
}

TEST(a_slot_goes_to_a_paused_trial_that_proved_better_before_a_new_one)
{
    int64_t id = with_one_paused(8, "", "");
    started(2);
    report(2, 1, 0.9); /* worse: it waits, and the first is the better half of two */
    taken(2, 1);
    check_sent(COMMAND_RESUME, 1, 2);
    check_trial(id, 1, TRIAL_RUNNING, REASON_NONE);
    check_trial(id, 2, TRIAL_PAUSED, REASON_NONE);
    assert_non_null(strstr(*vec_last(&t.events), "\"event\":\"trial_resumed\""));
    taken(1, 2);
    report(1, 2, 0.4); /* the next rung: paused again, by the next turn */
    check_sent(COMMAND_PAUSE, 1, 3);
    taken(1, 2); /* of before: its cpu is not free */
    assert_int_equal(count(COMMAND_START), 2);
    taken(1, 3);
    check_sent(COMMAND_START, 3, 0);
    end();
}

TEST(a_turn_without_an_answer_is_asked_for_again)
{
    begin(1, 0);
    submit_asha(8, "", "");
    started(1);
    report(1, 1, 0.5);
    assert_int_equal(count(COMMAND_PAUSE), 1);
    later(6 * US_PER_S);
    assert_int_equal(count(COMMAND_PAUSE), 2);
    check_sent(COMMAND_PAUSE, 1, 1);
    started(1); /* no answer to that */
    later(6 * US_PER_S);
    assert_int_equal(count(COMMAND_PAUSE), 3);
    taken(1, 1);
    later(6 * US_PER_S);
    assert_int_equal(count(COMMAND_PAUSE), 3);
    end();
}

TEST(what_is_paused_stays_so_under_the_next_engine)
{
    int64_t id = with_one_paused(8, "", "");
    die_and_come_up();
    assert_int_equal(count(COMMAND_ADOPT), 1); /* the second was starting */
    found(1, 1);
    report(1, 1, 0.5);
    taken(1, 1);
    later(200 * US_PER_S);
    assert_int_equal(count(COMMAND_PAUSE) + count(COMMAND_RESUME), 0);
    assert_int_equal(count(COMMAND_STOP), 0);
    check_trial(id, 1, TRIAL_PAUSED, REASON_NONE);
    end();
}

TEST(what_was_to_be_paused_or_woken_when_the_engine_died_is_so_under_the_next)
{
    begin(1, 0);
    int64_t id = submit_asha(8, "", "");
    started(1);
    report(1, 1, 0.5);
    die_and_come_up(); /* the command got lost with it */
    started(1);
    check_sent(COMMAND_PAUSE, 1, 1);
    report(1, 1, 0.5);
    taken(1, 1);
    started(2);
    report(2, 1, 0.9);
    taken(2, 1);
    check_sent(COMMAND_RESUME, 1, 2);
    die_and_come_up();
    found(1, 1);
    check_sent(COMMAND_RESUME, 1, 2);
    check_trial(id, 1, TRIAL_RUNNING, REASON_NONE);
    end();
}

TEST(paused_trials_do_not_keep_an_experiment_from_its_end)
{
    int64_t id = with_one_paused(2, "", "");
    started(2);
    report(2, 1, 0.9);
    taken(2, 1);
    check_sent(COMMAND_RESUME, 1, 2); /* the better one; the budget is used up */
    taken(1, 2);
    report(1, 2, 0.3);
    ended(1, REASON_NONE, 0);
    check_sent(COMMAND_STOP, 2, 0); /* nobody will wake it any more */
    ended(2, REASON_CANCELLED, -1);
    check_trial(id, 1, TRIAL_COMPLETED, REASON_NONE);
    check_trial(id, 2, TRIAL_STOPPED, REASON_PRUNED);
    assert_false(engine_has(t.engine, id));
    assert_non_null(strstr(*vec_last(&t.events), "\"state\":\"finished\""));
    end();
}

static void check_end(enum stop_mode mode, enum trial_state state, enum reason reason)
{
    int64_t id = with_one_paused(8, "", "");
    started(2);
    assert_int_equal(engine_stop(t.engine, id, mode, now(), NULL), 0);
    turn();
    vec_foreach (sent, &t.sent)
        assert_true(sent->kind != COMMAND_RESUME); /* the stop wakes it */
    ended(1, REASON_CANCELLED, -1);
    check_trial(id, 1, state, reason);
    report(2, 1, 0.1);
    ended(2, mode == STOP_DRAIN ? REASON_NONE : REASON_CANCELLED, mode == STOP_DRAIN ? 0 : -1);
    assert_false(engine_has(t.engine, id));
    end();
}

TEST(paused_trials_end_with_their_experiment)
{
    check_end(STOP_DRAIN, TRIAL_STOPPED, REASON_CANCELLED);
    check_end(STOP_NOW, TRIAL_STOPPED, REASON_CANCELLED);
    check_end(STOP_INTERRUPT, TRIAL_PAUSED, REASON_INTERRUPTED);
    check_end(STOP_KILL, TRIAL_PAUSED, REASON_INTERRUPTED);
}

TEST(time_runs_out_for_paused_trials_too)
{
    int64_t id = with_one_paused(8, "", ",\"limits\":{\"time\":\"60s\"}");
    started(2);
    later(61 * US_PER_S);
    assert_int_equal(count(COMMAND_STOP), 2);
    ended(1, REASON_CANCELLED, -1);
    ended(2, REASON_CANCELLED, -1);
    check_trial(id, 1, TRIAL_STOPPED, REASON_TIMEOUT);
    assert_false(engine_has(t.engine, id));
    end();
}

/* It was over before it could be held. */
TEST(a_trial_that_ends_while_it_is_being_paused_has_completed)
{
    begin(1, 0);
    int64_t id = submit_asha(8, "", "");
    started(1);
    report(1, 1, 0.5);
    ended(1, REASON_NONE, 0);
    check_trial(id, 1, TRIAL_COMPLETED, REASON_NONE);
    check_sent(COMMAND_START, 2, 0);
    end();
}

TEST(a_paused_trial_whose_keeper_is_lost_starts_again)
{
    int64_t id = with_one_paused(8, "", "");
    ended(1, REASON_LOST, -1);
    check_trial(id, 1, TRIAL_QUEUED, REASON_LOST);
    end();
}

TEST(beyond_paused_memory_the_least_likely_winner_is_stopped)
{
    int64_t id = with_one_paused(8, ",\"paused_memory\":\"15%\"", "");
    assert_int_equal(count(COMMAND_STOP), 0); /* 100 MiB of 1 GiB */
    started(2);
    report(2, 1, 0.9);
    taken(2, 1);
    check_trial(id, 1, TRIAL_RUNNING, REASON_NONE); /* the better one went on at once */
    taken(1, 2);
    report(1, 2, 0.4);
    taken(1, 3); /* two stand still: one is too many */
    assert_int_equal(count(COMMAND_STOP), 1);
    ended(2, REASON_CANCELLED, -1);
    check_trial(id, 2, TRIAL_STOPPED, REASON_PRUNED);
    assert_int_equal(count(COMMAND_STOP), 1);
    end();
}

/* One GPU, and a paused program keeps it: the next trial would wait for ever. */
TEST(a_slot_that_waits_for_what_a_paused_trial_holds_gets_it)
{
    begin(4, 1);
    int64_t id = submit_asha(8, "", ",\"resources\":{\"gpus\":1}");
    started(1);
    report(1, 1, 0.5);
    taken(1, 1);
    check_sent(COMMAND_STOP, 1, 0);
    ended(1, REASON_CANCELLED, -1);
    check_trial(id, 1, TRIAL_STOPPED, REASON_PRUNED);
    check_sent(COMMAND_START, 2, 0);
    end();
}

static void write_checkpoint(int64_t experiment, int64_t number, const char *name)
{
    autofree(mem) char *dir = checkpoint_dir(home, experiment, number);
    autofree(mem) char *path = xasprintf("%s/%s", dir, name);

    assert_ok(fs_make_dirs(dir, 0755, &t.err), &t.err);
    assert_ok(fs_write_atomic(path, "x", 1, 0644, &t.err), &t.err);
}

TEST(one_that_can_save_itself_is_woken_for_that_and_started_again_when_its_turn_comes)
{
    begin(1, 0);
    int64_t id = submit_asha(8, ",\"paused_memory\":\"1%\"", ",\"limits\":{\"grace\":\"5s\"}");
    started(1);
    report_metric(1, METRIC_GENERATION, STEP_NONE, 2);
    report(1, 1, 0.5);
    taken(1, 1);
    assert_int_equal(count(COMMAND_CONTROL), 1);
    check_trial(id, 1, TRIAL_PAUSED, REASON_NONE);
    assert_int_equal(count(COMMAND_RESUME), 1);
    assert_int_equal(count(COMMAND_STOP), 0);
    taken(1, 2);
    assert_int_equal(count(COMMAND_PAUSE), 1); /* it is to end, not to be paused again */
    write_checkpoint(id, 1, "1-1");
    report_metric(1, METRIC_GENERATION, STEP_NONE, 4);
    ended(1, REASON_NONE, 0);
    check_trial(id, 1, TRIAL_PAUSED, REASON_CHECKPOINT);
    assert_non_null(strstr(*vec_last(&t.events), "\"event\":\"trial_parked\""));

    die_and_come_up(); /* the next engine knows it by its files, which are not there */
    check_trial(id, 1, TRIAL_PAUSED, REASON_CHECKPOINT);
    assert_int_equal(engine_stop(t.engine, id, STOP_INTERRUPT, now(), NULL), 0);
    turn();
    ended(2, REASON_CANCELLED, -1);
    assert_false(engine_has(t.engine, id));
    check_trial(id, 1, TRIAL_PAUSED, REASON_CHECKPOINT); /* it waits for resume */
    assert_ok(engine_resume(t.engine, t.store, id, now(), &t.err), &t.err);
    turn();
    assert_int_equal(engine_stop(t.engine, id, STOP_DRAIN, now(), NULL), 0);
    turn();
    check_trial(id, 1, TRIAL_STOPPED, REASON_CANCELLED);
    end();
}

/* Trial 1 has saved itself, and has no attempt. */
static int64_t with_one_parked(void)
{
    begin(1, 0);
    int64_t id = submit_asha(8, ",\"paused_memory\":\"1%\"", "");
    started(1);
    report_metric(1, METRIC_GENERATION, STEP_NONE, 2);
    report(1, 1, 0.5);
    taken(1, 1);
    taken(1, 2);
    write_checkpoint(id, 1, "1-1");
    ended(1, REASON_CANCELLED, -1);
    check_trial(id, 1, TRIAL_PAUSED, REASON_CHECKPOINT);
    return id;
}

TEST(a_parked_trial_starts_again_from_its_checkpoint)
{
    int64_t id = with_one_parked();
    assert_int_equal(count(COMMAND_START), 2);
    started(2);
    report(2, 1, 0.9);
    taken(2, 1);
    /* Its turn: a new attempt, beside which the other, which cannot save itself, is ended. */
    check_trial(id, 1, TRIAL_RUNNING, REASON_NONE);
    assert_int_equal(row.attempts, 2);
    assert_int_equal(count(COMMAND_START), 3);
    end();
}

TEST(a_parked_trial_can_be_stopped_alone)
{
    int64_t id = with_one_parked();
    assert_int_equal(engine_stop_trial(t.engine, id, 1, now(), NULL), 0);
    turn();
    check_trial(id, 1, TRIAL_STOPPED, REASON_BY_HAND);
    assert_non_null(strstr(*vec_last(&t.events), "\"reason\":\"by_hand\""));
    end();
}

TEST(what_is_paused_when_all_is_interrupted_starts_again_only_when_it_is_promoted)
{
    int64_t id = with_one_paused(8, "", "");
    started(2);
    assert_int_equal(engine_stop(t.engine, id, STOP_INTERRUPT, now(), NULL), 0);
    turn();
    ended(1, REASON_NONE, 0); /* it caught the signal */
    check_trial(id, 1, TRIAL_PAUSED, REASON_INTERRUPTED);
    assert_non_null(strstr(*vec_last(&t.events), "\"event\":\"trial_parked\""));
    assert_ok(engine_resume(t.engine, t.store, id, now(), &t.err), &t.err);
    ended(2, REASON_CANCELLED, -1);
    check_trial(id, 1, TRIAL_PAUSED, REASON_INTERRUPTED);
    check_sent(COMMAND_START, 3, 0); /* of trial 2, which ran */
    started(3);
    report(3, 1, 0.9);
    taken(3, 1);
    check_sent(COMMAND_START, 4, 0);
    check_trial(id, 1, TRIAL_RUNNING, REASON_NONE);
    assert_int_equal(row.attempts, 2);
    /* From the beginning: it is not judged where it was, and stands there for the others. */
    started(4);
    report(4, 1, 0.7);
    check_trial(id, 1, TRIAL_RUNNING, REASON_NONE);
    report(4, 2, 0.4);
    check_sent(COMMAND_PAUSE, 4, 1);
    end();
}

TEST(what_was_interrupted_while_paused_ends_as_pruned_if_nobody_needs_it)
{
    begin(1, 0);
    int64_t id = submit(
        SPEC_SEARCH(",\"trials\":3,\"stop\":{\"asha\":{\"eta\":2,\"min\":1,\"max\":16}}", ""));
    started(1);
    report(1, 1, 0.5);
    taken(1, 1);
    finish(2, 0.2);
    started(3);
    assert_int_equal(engine_stop(t.engine, id, STOP_INTERRUPT, now(), NULL), 0);
    turn();
    ended(1, REASON_CANCELLED, -1);
    assert_ok(engine_resume(t.engine, t.store, id, now(), &t.err), &t.err);
    ended(3, REASON_CANCELLED, -1);
    started(4);
    finish(4, 0.3);
    check_trial(id, 3, TRIAL_COMPLETED, REASON_NONE);
    check_trial(id, 1, TRIAL_STOPPED, REASON_PRUNED);
    assert_int_equal(row.attempts, 1);
    assert_false(engine_has(t.engine, id));
    end();
}

TEST(the_live_view_shows_what_is_paused)
{
    int64_t id = with_one_paused(8, "", "");
    autorelease(str) struct str text = STR_INIT;

    later(100 * US_PER_S);
    assert_int_equal(engine_live(t.engine, id, now(), &text), 0);
    autofree(json) json_t *document = NULL;
    assert_ok(json_parse(text.s, text.len, &document, &t.err), &t.err);
    const json_t *first = json_array_get(json_object_get(document, "active"), 1); /* behind those
                                                                                    that run */
    assert_true(json_get_bool(first, "paused", false));
    assert_int_equal(json_get_int(first, "elapsed_us", -1), 0); /* no time went by for it */
    assert_int_equal(json_get_int(json_object_get(document, "trials"), "paused", 0), 1);
    end();
}

TEST_MAIN
