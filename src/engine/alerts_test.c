/* SPDX-License-Identifier: MIT */
/*
 * alerts_test.c — what is watched while a trial runs: when alerts fire, how often, and what then
 * happens to the trial; the rules alone, as tables of curves.
 */
#include "base/fs.h"
#include "engine/alerts.h"
#include "engine/scripted.h"
#include "series/db.h"

#define WATCH(alerts) SPEC(",\"alerts\":[" alerts "],\"limits\":{\"retries\":1}")
#define WATCH_ONE(alerts)                                                                          \
    SPEC_SEARCH(",\"trials\":1", ",\"alerts\":[" alerts "],\"limits\":{\"retries\":1}")
#define LOOK (ALERT_LOOK_US + 1)

static const char *seen(const char *part)
{
    const char *found = NULL;
    vec_foreach (event, &t.events)
        if (strstr(*event, part))
            found = *event;
    return found;
}

static size_t alerts(void)
{
    size_t n = 0;
    vec_foreach (event, &t.events)
        n += strstr(*event, "{\"event\":\"alert\"") == *event;
    return n;
}

static void later(int64_t us)
{
    t.now_us += us;
    turn();
}

static void tell(int64_t attempt, int64_t step, double value)
{
    t.now_us += LOOK;
    report(attempt, step, value);
}

/* ---- the engine ---- */

TEST(a_condition_that_holds_stops_the_trial_with_a_reason_of_its_own)
{
    set_up(1, 0);
    int64_t id = submit(WATCH("{\"when\":\"loss > 2\",\"do\":\"stop\"}"));
    tell(1, 1, 1.5);
    assert_int_equal(alerts(), 0);
    tell(1, 2, 2.5);
    assert_non_null(seen("\"alert\":\"loss > 2\",\"text\":\"loss > 2 holds at step 2: loss is "
                         "2.5\",\"did\":[\"stop\"]"));
    assert_int_equal(count(COMMAND_STOP), 1);
    ended(1, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 1)->state, TRIAL_STOPPED);
    assert_int_equal(trial(id, 1)->reason, REASON_ALERT);
    assert_int_equal(count(COMMAND_START), 2);
    tear_down();
}

TEST(an_alert_fires_once_until_it_was_seen_not_to_hold)
{
    set_up(1, 0);
    submit(WATCH("{\"when\":\"loss > 2\",\"do\":\"notify\"}"));
    tell(1, 1, 3);
    tell(1, 2, 4);
    assert_int_equal(alerts(), 1);
    tell(1, 3, 1);
    tell(1, 4, 5);
    assert_int_equal(alerts(), 2);
    assert_int_equal(count(COMMAND_STOP), 0);
    tear_down();
}

TEST(a_trial_is_looked_at_twice_a_second_at_most)
{
    set_up(1, 0);
    submit(WATCH("{\"when\":\"loss > 2\",\"do\":\"notify\"}"));
    tell(1, 1, 1);
    report(1, 2, 3);
    assert_int_equal(alerts(), 0);
    assert_true(engine_wake_us(t.engine) <= t.now_us + ALERT_LOOK_US);
    later(LOOK);
    assert_int_equal(alerts(), 1);
    tear_down();
}

TEST(conditions_know_parameters_fields_and_metrics_that_come_later)
{
    set_up(1, 0);
    submit(WATCH("{\"when\":\"x = 1 and step >= 3 and grad > 7\",\"do\":\"notify\"}"));
    tell(1, 3, 1);
    assert_int_equal(alerts(), 0);
    t.now_us += LOOK;
    report_metric(1, "grad", 3, 8);
    assert_non_null(seen("grad is 8"));
    tear_down();
}

TEST(a_condition_on_the_curve_of_the_objective_is_told_from_its_points)
{
    set_up(1, 0);
    submit(WATCH("{\"when\":\"min(loss, step > 2) > 2\",\"do\":\"notify\"}"));
    tell(1, 1, 0.5);
    tell(1, 2, 0.5);
    assert_int_equal(alerts(), 0);
    tell(1, 3, 3);
    assert_int_equal(alerts(), 1);
    tear_down();
}

TEST(a_condition_on_any_curve_is_told_from_the_store_of_series)
{
    char home[] = "/tmp/hone-alerts-XXXXXX";
    struct series_db *db = NULL;
    struct series_source source = {1, 1, 1, SERIES_METRICS}, again = {1, 1, 2, SERIES_METRICS};
    set_up(1, 0);
    assert_non_null(mkdtemp(home));
    assert_ok(series_db_open(home, SERIES_WRITE, &db, &t.err), &t.err);
    engine_free(t.engine);
    t.engine = engine_new(&(struct engine_options){.home = home,
                                                   .home_id = "0123456789abcdef",
                                                   .machine = &t.machine,
                                                   .seed = 1,
                                                   .series = db,
                                                   .send = on_send,
                                                   .on_event = on_event});
    submit(
        WATCH_ONE("{\"when\":\"max(acc, step <= 2) < 0.5 and count(acc) = 3\",\"do\":\"notify\"}"));
    uint32_t name = series_db_name(db, "acc", 3);
    double values[] = {0.1, 0.9, 0.2, 0.3};
    for (int i = 0; i < 4; i++) { /* the second attempt goes on from step 2 */
        struct series_row row = {
            .step = i < 2 ? i + 1 : i, .time_ns = INT64_MIN, .n = 1, .names = &name};
        row.values = &values[i];
        assert_ok(series_db_append(db, i < 2 ? &source : &again, &row, 1, &t.err), &t.err);
    }
    ended(1, REASON_LOST, -1);
    later(US_PER_S * 100);
    t.now_us += LOOK;
    report_metric(2, "acc", 3, 0.3);
    assert_int_equal(alerts(), 1);
    tear_down();
    series_db_free(db);
    fs_remove_tree(home, NULL);
}

TEST(nan_is_divergence_and_is_told_though_the_trial_ends_anyway)
{
    set_up(1, 0);
    int64_t id = submit(WATCH("{\"when\":\"diverged\",\"do\":[\"notify\",\"stop\"]}"));
    tell(1, 1, 1);
    tell(1, 2, NAN);
    assert_non_null(seen("loss became NaN or infinite at step 2\",\"did\":[\"notify\"]"));
    ended(1, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 1)->reason, REASON_DIVERGED);
    tear_down();
}

TEST(a_stall_is_noticed_by_the_clock_and_the_trial_starts_again)
{
    set_up(1, 0);
    int64_t id = submit(WATCH_ONE("{\"when\":\"stall\",\"do\":\"requeue\"}"));
    for (int i = 1; i <= 6; i++) {
        t.now_us += 2 * US_PER_S;
        report(1, i, 1);
    }
    later(19 * US_PER_S);
    assert_int_equal(alerts(), 0);
    assert_true(engine_wake_us(t.engine) <= t.now_us + US_PER_S);
    later(1 * US_PER_S);
    assert_int_equal(alerts(), 1);
    assert_non_null(seen("no number for 20 s"));
    ended(1, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 1)->state, TRIAL_QUEUED);
    assert_int_equal(trial(id, 1)->retries, 1);
    assert_non_null(seen("\"event\":\"trial_retry\""));
    later(US_PER_S * 1000);
    assert_int_equal(trial(id, 1)->state, TRIAL_RUNNING);
    tear_down();
}

TEST(who_is_requeued_more_often_than_retries_allow_has_failed)
{
    set_up(1, 0);
    int64_t id = submit(WATCH_ONE("{\"when\":\"loss > 2\",\"do\":\"requeue\"}"));
    tell(1, 1, 3);
    ended(1, REASON_CANCELLED, -1);
    later(US_PER_S * 1000);
    tell(2, 1, 1);
    tell(2, 2, 3);
    assert_int_equal(alerts(), 2);
    ended(2, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 1)->state, TRIAL_FAILED);
    assert_int_equal(trial(id, 1)->reason, REASON_ALERT);
    tear_down();
}

TEST(fewer_than_five_points_have_no_usual_interval)
{
    set_up(1, 0);
    submit(WATCH("{\"when\":{\"stall\":2},\"do\":\"requeue\"}"));
    for (int i = 1; i <= 4; i++)
        tell(1, i, 1);
    later(US_PER_S * 50);
    assert_int_equal(alerts(), 0);
    tear_down();
}

TEST(silence_under_five_seconds_is_no_stall)
{
    set_up(1, 0);
    submit(WATCH("{\"when\":\"stall\",\"do\":\"notify\"}"));
    for (int i = 1; i <= 20; i++) {
        t.now_us += 1000;
        report(1, i, 1);
    }
    later(4 * US_PER_S);
    assert_int_equal(alerts(), 0);
    later(2 * US_PER_S);
    assert_int_equal(alerts(), 1);
    tell(1, 21, 1);
    later(US_PER_S * 6);
    assert_int_equal(alerts(), 2); /* it had gone on in between */
    tear_down();
}

TEST(another_engine_does_not_say_it_again)
{
    set_up(1, 0);
    submit(WATCH("{\"when\":\"loss > 2\",\"do\":\"notify\"}"));
    tell(1, 1, 3);
    assert_int_equal(alerts(), 1);
    take_over();
    started(1);
    tell(1, 1, 3);
    later(LOOK);
    tell(1, 2, 4);
    assert_int_equal(alerts(), 1);
    tell(1, 3, 1);
    tell(1, 4, 5);
    assert_int_equal(alerts(), 2);
    tear_down();
}

TEST(files_that_are_read_again_make_no_stall)
{
    set_up(1, 0);
    submit(WATCH("{\"when\":\"stall\",\"do\":\"notify\"}"));
    started(1);
    for (int i = 1; i <= 10; i++) {
        t.now_us += 60 * US_PER_S;
        report(1, i, 1);
    }
    take_over();
    started(1);
    for (int i = 1; i <= 10; i++) /* at once */
        report(1, i, 1);
    later(100 * US_PER_S);
    assert_int_equal(alerts(), 0);
    later(1000 * US_PER_S);
    assert_int_equal(alerts(), 1);
    tear_down();
}

TEST(an_engine_that_takes_over_knows_what_the_alert_wanted)
{
    set_up(1, 0);
    int64_t id = submit(WATCH("{\"when\":\"loss > 2\",\"do\":\"requeue\"}"));
    started(1);
    tell(1, 1, 3);
    take_over();
    ended(1, REASON_CANCELLED, -1);
    assert_int_equal(trial(id, 1)->state, TRIAL_QUEUED);
    assert_int_equal(trial(id, 1)->retries, 1);
    tear_down();
}

static char *notified;
static void on_notify(const char *json, void *arg UNUSED)
{
    free(notified);
    notified = xstrdup(json);
}

TEST(whom_to_tell_leaves_after_the_commit)
{
    set_up(1, 0);
    engine_free(t.engine);
    t.engine = engine_new(&(struct engine_options){.home = "/nowhere",
                                                   .home_id = "0123456789abcdef",
                                                   .machine = &t.machine,
                                                   .seed = 1,
                                                   .send = on_send,
                                                   .on_event = on_event,
                                                   .on_notify = on_notify});
    submit(WATCH("{\"when\":\"loss > 2\",\"command\":\"a 'b c'\",\"webhook\":\"http://h\"}"));
    struct agent_sample sample = {.metric = "loss", .value = 3, .step = 1};
    struct agent_event event = {
        .kind = EVENT_SAMPLES, .attempt = 1, .samples = &sample, .n_samples = 1};
    t.now_us += LOOK;
    engine_on_event(t.engine, &event, now());
    assert_null(notified);
    turn();
    assert_non_null(notified);
    assert_non_null(strstr(notified, "\"webhook\":\"http://h\",\"command\":[\"a\",\"b c\"]"));
    assert_non_null(strstr(notified, "\"alert\":{\"event\":\"alert\",\"experiment\":1,"));
    free(TAKE(notified));
    tear_down();
}

/* ---- the rules ---- */

static const struct objective down = {.metric = (char *)"loss"},
                              up = {.metric = (char *)"acc", .goal = GOAL_MAXIMIZE};

/* A curve of n points, step 10 apart. */
static char *rule(bool plateau, const struct objective *objective, double (*f)(int i), int n,
                  double steps)
{
    int64_t at[500];
    double values[500], best = NAN;

    assert_true(n <= 500);
    for (int i = 0; i < n; i++) {
        at[i] = 10 * i;
        values[i] = f(i);
        if (isnan(best) || objective_better(objective, values[i], best))
            best = values[i];
    }
    struct alert_curve curve = {objective, at, values, (size_t)n, best};
    return plateau ? alert_plateau(&curve, steps) : alert_rising(&curve);
}

static double flat(int i UNUSED)
{
    return 0.5;
}
static double falling(int i)
{
    return 10.0 / (i + 1);
}
static double jitter(int i)
{
    return (double)((i * 7919) % 101) / 101;
}
static double noisy_end(int i) /* falls to 30, then only noise */
{
    return i < 30 ? 2 - i / 30.0 + 0.01 * jitter(i) : 1 + 0.1 * jitter(i);
}
static double noisy_fall(int i)
{
    return 5 - 0.05 * i + 0.02 * jitter(i);
}
static double blows_up(int i)
{
    return i < 20 ? 2 - 0.09 * i : 0.3 * pow(3, i - 20);
}
static double near_zero(int i) /* thirty times its best, and rising, but far below its first */
{
    return i < 20 ? pow(0.5, i) : pow(0.5, 19) * pow(3, i - 19);
}
static double rises(int i)
{
    return 0.1 + 0.002 * i;
}

TEST(a_plateau_is_no_improvement_beyond_the_noise)
{
    struct {
        const char *name;
        const struct objective *objective;
        double (*f)(int i);
        int n;
        double steps;
        bool holds;
    } rows[] = {
        {"a flat one", &down, flat, 20, 0, true},
        {"too short", &down, flat, 19, 0, false},
        {"falling", &down, falling, 100, 0, false},
        {"noise at the end", &down, noisy_end, 100, 0, true},
        {"noise not long enough", &down, noisy_end, 32, 0, false},
        {"falling with noise", &down, noisy_fall, 90, 0, false},
        {"50 steps of it", &down, noisy_end, 60, 200, true},
        {"longer patience than there are steps", &down, flat, 30, 300, false},
        {"what rises is good when it is maximised", &up, rises, 100, 0, false},
        {"and bad when it is minimised", &down, rises, 100, 0, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree(mem) char *text =
            rule(true, rows[i].objective, rows[i].f, rows[i].n, rows[i].steps);
        if ((text != NULL) != rows[i].holds)
            fail_msg("%s: %s", rows[i].name, text ? text : "no plateau");
    }
}

TEST(a_plateau_says_its_numbers)
{
    autofree(mem) char *text = rule(true, &down, flat, 21, 0);
    assert_string_equal(text, "loss has not improved by more than its noise (0) over the last 60 "
                              "steps: 0.5 at best, 0.5 before");
}

static double jitters(int i)
{
    return i % 2 ? 0.5 : 0.5001;
}

TEST(what_goes_up_and_down_by_the_same_amount_is_noise)
{
    for (int n = 40; n < 44; n++) {
        autofree(mem) char *text = rule(true, &down, jitters, (size_t)n, 0);
        assert_non_null(text);
        assert_true(strstr(text, "its noise (0.0001)") || strstr(text, "its noise (0.00011)") ||
                    strstr(text, "its noise (9.") || strstr(text, "its noise (0.00010"));
    }
}

static double from_zero(int i) /* as a divergence of two distributions does */
{
    return 1e-4 * i;
}
static double explodes(int i)
{
    return pow(10, i);
}

TEST(what_rises_beyond_all_it_had_diverges)
{
    struct {
        double (*f)(int i);
        const struct objective *objective;
        int n;
        bool holds;
    } rows[] = {
        {blows_up, &down, 23, false}, /* 2.7: not yet 10 times 0.29 */
        {blows_up, &down, 24, true},  {near_zero, &down, 24, false}, {flat, &down, 50, false},
        {jitter, &down, 100, false},  {falling, &down, 50, false},   {falling, &up, 50, false},
        {rises, &down, 3, false},     {from_zero, &down, 4, false},  {from_zero, &down, 50, false},
        {explodes, &down, 8, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree(mem) char *text = rule(false, rows[i].objective, rows[i].f, rows[i].n, 0);
        if ((text != NULL) != rows[i].holds)
            fail_msg("row %zu: %s", i, text ? text : "does not diverge");
    }
    autofree(mem) char *text = rule(false, &down, blows_up, 24, 0);
    assert_string_equal(text, "loss is 8.1 at step 230, worse than 10 times its best (0.29), and "
                              "getting worse");
}

TEST(the_usual_interval_is_the_median_of_the_last_ones)
{
    struct alert_watch watch = {0};
    int64_t us = 0;
    for (int i = 0; i < 30; i++) {
        us += i < 10 ? 60 * US_PER_S : i == 20 ? 100 * US_PER_S : US_PER_S;
        alert_watch_point(&watch, us);
    }
    assert_int_equal(alert_stall_us(&watch, 10), 10 * US_PER_S);
    assert_int_equal(alert_stall_us(&watch, 2), ALERT_STALL_US);
}

TEST_MAIN
