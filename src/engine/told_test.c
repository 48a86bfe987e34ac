/* SPDX-License-Identifier: MIT */
/*
 * told_test.c — what trials teach that a rule pauses: scripted programs climb the rungs of asha,
 * and stand still when they are told to. Suggestions rest on them, and come again from the rows.
 */
#include "engine/internal.h"
#include "engine/replay.h"
#include "engine/scripted.h"

#define STEPS 16

#define SPEC_ASHA(search, more)                                                                    \
    "{\"name\":\"t\",\"command\":\"true\",\"code\":\"none\",\"params\":{\"x\":{\"min\":0.0,"       \
    "\"max\":1.0},\"y\":{\"min\":0.0,\"max\":1.0}},\"objective\":\"loss\",\"search\":{" search     \
    ",\"stop\":{\"asha\":{\"min\":1,\"max\":16}},\"seed\":3}" more "}"

static int64_t id;
static size_t answered; /* commands */
struct program {
    int64_t trial, step, turn;
};
static struct program programs[200]; /* by attempt */

static void begin(const char *spec)
{
    set_up(1, 0);
    answered = 0;
    memset(programs, 0, sizeof(programs));
    id = submit(spec);
}

static int keep_point(const struct trial_row *row, void *arg)
{
    memcpy(arg, row->trial.point, row->ndim * sizeof(double));
    return 0;
}

/* A bowl from above, as the steps go on. */
static double loss_of(const struct program *program)
{
    struct trial_query query = {.experiment = id, .number = program->trial, .bare = true};
    double x[2];
    assert_ok(store_trials(t.store, &query, keep_point, x, &t.err), &t.err);
    return pow(x[0] - 0.3, 2) + pow(x[1] - 0.6, 2) + 1 / (double)program->step;
}

static int64_t trial_of_attempt; /* of the one looked for */
static int find_attempt(const struct attempt *attempt, void *arg)
{
    if (attempt->id == *(int64_t *)arg)
        trial_of_attempt = attempt->trial;
    return 0;
}

static void say_turn(int64_t attempt, enum agent_event_kind kind)
{
    struct agent_event event = {.kind = kind,
                                .attempt = attempt,
                                .time_us = now().wall_us,
                                .pid = 7,
                                .turn = programs[attempt].turn,
                                .turn_us = now().wall_us};
    engine_on_event(t.engine, &event, now());
    turn();
}

/* Until it is to stand still or to end, or has ended. */
static void climb(int64_t attempt)
{
    struct program *program = &programs[attempt];
    while (program->step < STEPS) {
        size_t before = t.sent.len;
        program->step++;
        t.now_us += US_PER_S / 10;
        report(attempt, program->step, loss_of(program));
        for (size_t i = before; i < t.sent.len; i++)
            if (t.sent.at[i].attempt == attempt)
                return;
    }
    ended(attempt, REASON_NONE, 0);
}

static void answer(struct sent sent)
{
    struct program *program = &programs[sent.attempt];
    switch (sent.kind) {
    case COMMAND_START:
        assert_ok(store_attempts(t.store, id, 0, false, find_attempt, &sent.attempt, &t.err),
                  &t.err);
        program->trial = trial_of_attempt;
        started(sent.attempt);
        climb(sent.attempt);
        break;
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
        program->turn = sent.turn;
        say_turn(sent.attempt, turn_paused(sent.turn) ? EVENT_PAUSED : EVENT_RESUMED);
        if (!turn_paused(sent.turn))
            climb(sent.attempt);
        break;
    case COMMAND_STOP:
        ended(sent.attempt, REASON_CANCELLED, -1);
        break;
    default:
        break;
    }
}

/* As many commands as that, or all that come. */
static void drive(size_t n)
{
    while (n-- && answered < t.sent.len)
        answer(t.sent.at[answered++]);
}

/* An engine dies while all programs stand still or have not begun; another one takes over. */
static void die(void)
{
    engine_free(t.engine);
    forget_sent();
    answered = 0;
    memset(samples_told, 0, sizeof(samples_told));
    come_up(true);
    turn();
    for (int64_t a = 1; a < (int64_t)ARRAY_LEN(programs); a++) {
        int64_t reached = programs[a].step;
        if (!turn_paused(programs[a].turn))
            continue;
        say_turn(a, EVENT_STARTED);
        for (programs[a].step = 1; programs[a].step <= reached; programs[a].step++)
            report(a, programs[a].step, loss_of(&programs[a]));
        programs[a].step = reached;
    }
}

static int count_model(const struct trial_row *row, void *arg)
{
    *(int64_t *)arg += row->trial.why && !strstr(row->trial.why, "\"why\":\"draw\"");
    return 0;
}

/* All ran, most suggestions rest on results, and all of them come again. */
static void check_searched(int64_t trials)
{
    struct trial_query query = {.experiment = id, .bare = true};
    int64_t led = 0;
    struct replay_check check;

    assert_false(engine_has(t.engine, id));
    assert_ok(store_trials(t.store, &query, count_model, &led, &t.err), &t.err);
    assert_in_range(led, trials * 3 / 5, trials);
    assert_ok(replay_check(t.store, id, &check, &t.err), &t.err);
    assert_int_equal(check.other, 0);
    assert_int_equal(check.same, trials);
    replay_check_release(&check);
}

TEST(paused_trials_teach_and_what_they_taught_can_be_replayed)
{
    static const char *const specs[] = {
        SPEC_ASHA("\"algorithm\":\"bayes\",\"trials\":24", ""),
        SPEC_ASHA("\"algorithm\":\"tpe\",\"trials\":24", ""),
        SPEC_ASHA("\"trials\":24", ",\"constraint\":\"loss <= 2\""),
    };
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        begin(specs[i]);
        drive(SIZE_MAX);
        check_searched(24);
        tear_down();
    }
}

TEST(an_engine_that_takes_over_knows_what_paused_trials_told)
{
    begin(SPEC_ASHA("\"algorithm\":\"bayes\",\"trials\":24", ""));
    for (int i = 0; i < 6; i++) {
        drive(5);
        while (answered < t.sent.len && t.sent.at[answered].kind != COMMAND_START)
            drive(1);
        die();
    }
    drive(SIZE_MAX);
    check_searched(24);
    tear_down();
}

TEST(a_result_that_comes_while_the_search_is_held_is_that_of_the_pause)
{
    begin(SPEC_ASHA("\"algorithm\":\"bayes\",\"trials\":24", ""));
    drive(30);
    t.hold_jobs = true;
    struct search_job *job = NULL;
    while (!job && answered < t.sent.len) {
        drive(1);
        engine_search_due(t.engine, &job);
    }
    assert_non_null(job);
    drive(4);
    t.hold_jobs = false;
    finish_job(job);
    turn();
    drive(SIZE_MAX);
    check_searched(24);
    tear_down();
}

TEST_MAIN
