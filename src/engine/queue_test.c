/* SPDX-License-Identifier: MIT */
/*
 * queue_test.c — whose experiments are served first, what waits because somebody said so, and that
 * the next engine knows it; with a scripted agent.
 */
#include "engine/scripted.h"

#define SMALL(more) SPEC_SEARCH(",\"trials\":8", more)

static int64_t submit_as(const char *owner, const char *key, const char *spec_text)
{
    struct spec spec;
    struct submission submission = {.spec = &spec, .owner = owner, .key = key};
    int64_t id = 0;
    spec_init(&spec);
    assert_ok(spec_parse(spec_text, strlen(spec_text), "t", "/", NULL, &spec, NULL, &t.err),
              &t.err);
    assert_ok(engine_submit(t.engine, t.store, &submission, now(), &id, &t.err), &t.err);
    spec_release(&spec);
    turn();
    return id;
}

static int64_t experiment_of(int64_t attempt)
{
    const struct attempt *found = engine_attempt(t.engine, attempt);
    return found ? found->experiment : 0;
}

/* How many START commands there were for this experiment's attempts that still run. */
static size_t starts_of(int64_t experiment)
{
    size_t n = 0;
    vec_foreach (sent, &t.sent)
        n += sent->kind == COMMAND_START && experiment_of(sent->attempt) == experiment;
    return n;
}

static void taken(int64_t attempt, int64_t which_turn)
{
    struct agent_event event = {.kind = turn_paused(which_turn) ? EVENT_PAUSED : EVENT_RESUMED,
                                .attempt = attempt,
                                .time_us = now().wall_us,
                                .turn = which_turn,
                                .turn_us = now().wall_us};
    engine_on_event(t.engine, &event, now());
    turn();
}

static void hold(int64_t experiment, enum held held)
{
    assert_ok(engine_hold(t.engine, experiment, held, now(), &t.err), &t.err);
    turn();
}

static enum held stored_hold(int64_t experiment)
{
    autorelease(experiment_row) struct experiment_row row = {0};
    autofree(mem) char *ref = xasprintf("%lld", (long long)experiment);
    assert_ok(store_find_experiment(t.store, ref, false, &row, &t.err), &t.err);
    return row.experiment.paused;
}

TEST(a_higher_priority_takes_what_becomes_free)
{
    set_up(2, 0);
    int64_t low = submit_as("ann", NULL, SMALL(""));
    assert_int_equal(starts_of(low), 2);
    int64_t high = submit_as("ann", NULL, SMALL(",\"priority\":5"));
    assert_int_equal(starts_of(high), 0);
    finish(1, 0.5);
    finish(2, 0.5);
    assert_int_equal(starts_of(high), 2);
    assert_ok(engine_prioritise(t.engine, low, 6, now(), &t.err), &t.err);
    finish(3, 0.5);
    finish(4, 0.5);
    assert_int_equal(starts_of(low), 2);
    assert_int_equal(engine_prioritise(t.engine, low, 101, now(), &t.err), -ERANGE);
    tear_down();
}

TEST(users_get_the_same_however_much_they_submit)
{
    set_up(4, 0);
    int64_t a = submit_as("ann", NULL, SMALL("")), b = submit_as("ann", NULL, SMALL(""));
    int64_t c = submit_as("ann", NULL, SMALL("")), d = submit_as("bob", NULL, SMALL(""));
    for (int64_t attempt = 1; attempt <= 4; attempt++)
        finish(attempt, 0.5);
    assert_int_equal(starts_of(d), 2);
    assert_int_equal(starts_of(a) + starts_of(b) + starts_of(c), 2);
    tear_down();
}

TEST(a_paused_experiment_starts_nothing_and_lets_others_have_the_room)
{
    set_up(2, 0);
    int64_t first = submit_as("ann", NULL, SMALL(""));
    hold(first, HELD_STARTS);
    int64_t second = submit_as("ann", NULL, SMALL(""));
    finish(1, 0.5);
    finish(2, 0.5);
    assert_int_equal(starts_of(first), 0);
    assert_int_equal(starts_of(second), 2);
    assert_true(engine_has(t.engine, first));
    hold(first, HELD_NOT);
    finish(3, 0.5);
    assert_int_equal(starts_of(first), 1);
    tear_down();
}

TEST(a_pause_is_kept_by_the_next_engine_and_ended_by_resume)
{
    set_up(1, 0);
    int64_t id = submit_as("ann", NULL, SMALL(""));
    hold(id, HELD_STARTS);
    finish(1, 0.5);
    take_over();
    assert_int_equal(stored_hold(id), HELD_STARTS);
    assert_int_equal(count(COMMAND_START), 0);
    assert_ok(engine_resume(t.engine, t.store, id, now(), &t.err), &t.err);
    turn();
    assert_int_equal(count(COMMAND_START), 1);
    assert_int_equal(stored_hold(id), HELD_NOT);
    tear_down();
}

TEST(frozen_trials_stand_still_give_their_cpus_and_go_on_first)
{
    set_up(2, 0);
    int64_t id = submit_as("ann", NULL, SMALL(""));
    started(1);
    started(2);
    forget_sent();
    hold(id, HELD_FROZEN);
    assert_int_equal(count(COMMAND_PAUSE), 2);
    assert_int_equal(trial(id, 1)->state, TRIAL_PAUSED);
    assert_int_equal(trial(id, 1)->reason, REASON_HELD);
    taken(1, 1);
    taken(2, 1);
    int64_t other = submit_as("bob", NULL, SMALL(""));
    assert_int_equal(starts_of(other), 2); /* attempts 3 and 4 have their cpus */
    hold(id, HELD_NOT);
    assert_int_equal(count(COMMAND_RESUME), 0); /* there is no room */
    finish(3, 0.5);
    assert_int_equal(count(COMMAND_RESUME), 1);
    finish(4, 0.5);
    assert_int_equal(trial(id, 1)->state, TRIAL_RUNNING);
    taken(1, 2);
    finish(1, 0.5);
    tear_down();
}

TEST(what_was_frozen_is_so_under_the_next_engine)
{
    set_up(1, 0);
    int64_t id = submit_as("ann", NULL, SMALL(""));
    started(1);
    hold(id, HELD_FROZEN);
    taken(1, 1);
    take_over();
    struct agent_event found = {.kind = EVENT_STARTED,
                                .attempt = 1,
                                .time_us = now().wall_us,
                                .turn = 1,
                                .turn_us = now().wall_us};
    engine_on_event(t.engine, &found, now());
    turn();
    t.now_us += 100 * US_PER_S;
    turn();
    assert_int_equal(count(COMMAND_START) + count(COMMAND_RESUME), 0);
    hold(id, HELD_NOT);
    assert_int_equal(count(COMMAND_RESUME), 1);
    assert_int_equal(count(COMMAND_START), 0);
    tear_down();
}

TEST(a_frozen_experiment_can_be_stopped)
{
    set_up(1, 0);
    int64_t id = submit_as("ann", NULL, SMALL(""));
    started(1);
    hold(id, HELD_FROZEN);
    taken(1, 1);
    assert_ok(engine_stop(t.engine, id, STOP_DRAIN, now(), &t.err), &t.err);
    turn();
    assert_int_equal(count(COMMAND_STOP), 1);
    ended(1, REASON_SIGNAL, -1);
    assert_false(engine_has(t.engine, id));
    tear_down();
}

TEST(time_does_not_count_while_nothing_of_a_paused_experiment_runs)
{
    set_up(1, 0);
    int64_t id = submit_as("ann", NULL, SMALL(",\"limits\":{\"time\":\"60s\"}"));
    hold(id, HELD_STARTS);
    finish(1, 0.5);
    for (int i = 0; i < 10; i++) {
        t.now_us += 3600 * US_PER_S;
        turn();
    }
    hold(id, HELD_NOT);
    assert_true(engine_has(t.engine, id));
    assert_int_equal(starts_of(id), 1);
    t.now_us += 61 * US_PER_S;
    turn();
    assert_int_equal(count(COMMAND_STOP), 1);
    tear_down();
}

TEST(a_paused_queue_starts_nothing_also_under_the_next_engine)
{
    set_up(2, 0);
    engine_pause_queue(t.engine, true, now());
    turn();
    int64_t id = submit_as("ann", NULL, SMALL(""));
    assert_int_equal(count(COMMAND_START), 0);
    take_over();
    assert_true(engine_queue_paused(t.engine));
    assert_int_equal(count(COMMAND_START), 0);
    engine_pause_queue(t.engine, false, now());
    turn();
    assert_int_equal(starts_of(id), 2);
    tear_down();
}

TEST(the_same_key_names_the_same_experiment_for_its_owner_alone)
{
    int64_t found = -1;
    set_up(1, 0);
    int64_t id = submit_as("ann", "nightly", SMALL(""));
    assert_ok(engine_submitted(t.engine, t.store, "ann", "nightly", &found, &t.err), &t.err);
    assert_int_equal(found, id);
    assert_ok(engine_submitted(t.engine, t.store, "bob", "nightly", &found, &t.err), &t.err);
    assert_int_equal(found, 0);
    assert_ok(engine_submitted(t.engine, t.store, "ann", NULL, &found, &t.err), &t.err);
    assert_int_equal(found, 0);
    engine_stop(t.engine, id, STOP_KILL, now(), &t.err);
    turn();
    ended(1, REASON_SIGNAL, -1);
    assert_false(engine_has(t.engine, id));
    assert_ok(engine_submitted(t.engine, t.store, "ann", "nightly", &found, &t.err), &t.err);
    assert_int_equal(found, id);
    tear_down();
}

struct listed {
    int64_t ids[4], running[4], wanted[4];
    size_t n;
};

static void note_entry(const struct queue_entry *entry, void *arg)
{
    struct listed *listed = arg;
    assert_true(listed->n < 4);
    listed->ids[listed->n] = entry->experiment;
    listed->running[listed->n] = entry->running;
    listed->wanted[listed->n++] = entry->wanted;
}

TEST(the_queue_is_told_in_the_order_of_service)
{
    struct listed listed = {0};
    set_up(1, 0);
    int64_t a = submit_as("ann", NULL, SMALL(""));
    int64_t b = submit_as("ann", NULL, SMALL(",\"priority\":-1"));
    int64_t c = submit_as("bob", NULL, SPEC_SEARCH(",\"trials\":8,\"parallel\":3", ""));
    int64_t d = submit_as("bob", NULL, SMALL(",\"priority\":9"));
    hold(d, HELD_STARTS);
    engine_queue(t.engine, note_entry, &listed);
    const int64_t order[] = {d, c, a, b};
    assert_int_equal(listed.n, 4);
    assert_memory_equal(listed.ids, order, sizeof(order));
    assert_int_equal(listed.wanted[0], 0); /* it is paused */
    assert_int_equal(listed.wanted[1], 3);
    assert_int_equal(listed.running[2], 1);
    tear_down();
}

TEST(who_does_not_run_cannot_be_paused)
{
    set_up(1, 0);
    assert_int_equal(engine_hold(t.engine, 7, HELD_STARTS, now(), &t.err), -ENOENT);
    assert_non_null(strstr(err_text(&t.err), "experiment 7 is not running"));
    assert_int_equal(engine_prioritise(t.engine, 7, 1, now(), NULL), -ENOENT);
    tear_down();
}

TEST_MAIN
