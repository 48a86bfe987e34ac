/* SPDX-License-Identifier: MIT */
/* observe_test.c — lines from outside on a disk that fails, and beside commands that remove. */
#include "engine/scripted_outside.h"

#include "engine/observe_internal.h"

static struct {
    struct observe *observe;
    struct influx_reader *reader;
} o;

static void observe_up(void)
{
    outside_up();
    assert_ok(observe_new(t.engine, t.store, outside.db, &o.observe, &t.err), &t.err);
    o.reader = influx_reader_new();
}

static void observe_down(void)
{
    influx_reader_free(o.reader);
    observe_free(o.observe);
    outside_down();
}

/* Bring a line, again after a commit if its trial is new. */
static int tell(const char *text)
{
    struct influx_line line;
    struct observed *observed = NULL;

    for (int times = 0; times < 2; times++) {
        assert_ok(observe_open(o.observe, "d", now(), &observed, &t.err), &t.err);
        influx_reader_begin(o.reader, observed_keys(observed), text, strlen(text), 1, 1);
        assert_true(influx_reader_next(o.reader, &line));
        if (observed_knows(observed, line.series, now()))
            return observed_line(observed, &line, NULL);
        turn();
    }
    fail();
    return -1;
}

static int count_values(const struct series_info *info, void *arg)
{
    *(uint32_t *)arg += info->stats.count;
    return 0;
}

static uint32_t values_of(int64_t trial)
{
    uint32_t n = 0;
    int64_t experiment = observe_find(o.observe, "d");
    series_db_every(outside.db, true); /* also those that a later one of the same time replaced */
    assert_int_equal(
        series_db_list(outside.db, experiment, trial, SERIES_NAME_NONE, count_values, &n), 0);
    series_db_every(outside.db, false);
    return n;
}

/* Until the store takes no more; how many lines of trial 1 it took. */
static uint32_t fill(void)
{
    uint32_t n = 0;

    outside.full = true;
    while (tell("m,t=a v=1 1") == 0)
        n++;
    return n;
}

TEST(lines_that_found_a_full_disk_are_stored_when_there_is_room)
{
    observe_up();
    assert_ok(tell("m,t=b v=1 1"), NULL);
    uint32_t n = fill();
    assert_true(n > 0);
    assert_int_equal(tell("m,t=b v=2 2"), -ENOSPC); /* another's call fails, too */
    assert_int_equal(observe_flush(o.observe, NULL), -ENOSPC);
    observe_turn(o.observe, now());
    outside.full = false;
    assert_int_equal(observe_flush(o.observe, NULL), 0);
    assert_int_equal(values_of(2), n);
    assert_int_equal(values_of(1), 1);
    observe_down();
}

struct told {
    double values[8];
    size_t n;
};

static int take_value(const struct series_chunk *chunk, void *arg)
{
    struct told *told = arg;

    for (size_t i = 0; i < chunk->n; i++)
        told->values[told->n++] = chunk->values[i];
    return 0;
}

TEST(lines_of_trials_in_turn_are_stored_in_the_order_in_which_they_came)
{
    static const double expected[] = {1, 3, 2, 5, 6};
    struct told told = {.n = 0};

    observe_up();
    assert_ok(tell("m,t=a v=1 1"), NULL);
    assert_ok(tell("m,t=b v=5,w=7 1"), NULL);
    assert_ok(tell("m,t=a v=3 2"), NULL);
    assert_ok(tell("m,t=b v=6 2"), NULL);
    assert_ok(tell("m,t=a w=9,v=2 1"), NULL);
    assert_int_equal(observe_flush(o.observe, NULL), 0);
    series_db_every(outside.db, true);
    for (int64_t trial = 1; trial <= 2; trial++) {
        struct series_source source = {observe_find(o.observe, "d"), trial, 0, SERIES_OUTSIDE};
        uint32_t name = series_db_name(outside.db, "m.v", 3);
        assert_int_equal(series_db_read(outside.db, &source, name, &series_all, take_value, &told),
                         0);
    }
    assert_int_equal(told.n, ARRAY_LEN(expected));
    assert_memory_equal(told.values, expected, sizeof(expected));
    observe_down();
}

TEST(a_line_that_is_sent_again_is_one_point_and_the_last_counts)
{
    static const double expected[] = {3, 2, 9};
    struct told told = {.n = 0};

    observe_up();
    assert_ok(tell("m,t=a v=1 1"), NULL);
    assert_ok(tell("m,t=a v=3 2"), NULL);
    assert_ok(tell("m,t=a w=9,v=2 1"), NULL);
    assert_int_equal(observe_flush(o.observe, NULL), 0);
    struct series_source source = {observe_find(o.observe, "d"), 1, 0, SERIES_OUTSIDE};
    uint32_t v = series_db_name(outside.db, "m.v", 3), w = series_db_name(outside.db, "m.w", 3);
    series_db_read(outside.db, &source, v, &series_all, take_value, &told);
    series_db_read(outside.db, &source, w, &series_all, take_value, &told);
    assert_int_equal(told.n, ARRAY_LEN(expected));
    assert_memory_equal(told.values, expected, sizeof(expected));
    observe_down();
}

static int take_whole(const struct series_chunk *chunk, void *arg)
{
    int64_t *to = arg;

    assert_int_equal(chunk->n, 2);
    for (size_t i = 0; i < chunk->n; i++) {
        uint16_t rest = series_chunk_rest(chunk, i);
        to[i] = rest ? rest_whole(chunk->values[i], rest) : (int64_t)chunk->values[i];
    }
    return 0;
}

TEST(integers_of_lines_are_stored_exactly_and_counted_once)
{
    struct observe_counts counts;
    int64_t told[2] = {0, 0};

    observe_up();
    assert_ok(tell("m,t=a n=9007199254740993i,v=1 1"), NULL);
    assert_ok(tell("m,t=a n=5i,v=2 2"), NULL);
    assert_int_equal(observe_flush(o.observe, NULL), 0);
    struct series_source source = {observe_find(o.observe, "d"), 1, 0, SERIES_OUTSIDE};
    uint32_t name = series_db_name(outside.db, "m.n", 3);
    series_db_read(outside.db, &source, name, &series_all, take_whole, told);
    assert_int_equal(told[0], 9007199254740993);
    assert_int_equal(told[1], 5);
    observe_counts(o.observe, &counts);
    assert_int_equal(counts.values, 4);
    assert_int_equal(values_of(1), 4);
    observe_down();
}

TEST(lines_in_turn_of_which_some_found_no_room_are_stored_once)
{
    uint32_t n = 0;

    observe_up();
    assert_ok(tell("m,t=a v=1 1"), NULL);
    assert_ok(tell("m,t=b v=1 1"), NULL);
    outside.full = true;
    while (tell(n % 3 ? "m,t=a v=1 1" : "m,t=b v=1 1") == 0)
        n++;
    for (int i = 0; i < 5; i++)
        assert_int_equal(observe_flush(o.observe, NULL), -ENOSPC);
    outside.full = false;
    assert_int_equal(observe_flush(o.observe, NULL), 0);
    assert_int_equal(values_of(1), 1 + n - (n + 2) / 3);
    assert_int_equal(values_of(2), 1 + (n + 2) / 3);
    observe_down();
}

TEST(of_lines_in_turn_those_of_a_removed_trial_are_left_out)
{
    observe_up();
    assert_ok(tell("m,t=a v=1 1"), NULL);
    assert_ok(tell("m,t=b v=1 1"), NULL);
    assert_ok(tell("m,t=a v=2 2"), NULL);
    assert_ok(tell("m,t=b v=2 2"), NULL);
    int64_t experiment = observe_find(o.observe, "d");
    txn_remove_trial(engine_txn(t.engine), experiment, 1);
    observe_removed(o.observe, experiment, 1);
    assert_ok(tell("m,t=b v=3 3"), NULL);
    assert_int_equal(observe_flush(o.observe, NULL), 0);
    assert_int_equal(values_of(1), 0);
    assert_int_equal(values_of(2), 3);
    observe_down();
}

TEST(a_dropped_database_takes_the_lines_that_waited_with_it)
{
    observe_up();
    assert_ok(tell("m,t=a v=1 1"), NULL);
    int64_t experiment = observe_find(o.observe, "d");
    assert_ok(observe_drop(o.observe, "d", NULL), NULL);
    assert_int_equal(observe_flush(o.observe, NULL), 0);
    uint32_t n = 0;
    assert_int_equal(series_db_list(outside.db, experiment, -1, SERIES_NAME_NONE, count_values, &n),
                     0);
    assert_int_equal(n, 0);
    turn();
    observe_down();
}

static int count_trial(const struct trial_row *row, void *arg)
{
    assert_non_null(strstr(row->params_json, "\"t\":")); /* it has its tags */
    ++*(size_t *)arg;
    return 0;
}

static size_t trials(void)
{
    size_t n = 0;
    struct trial_query query = {.experiment = observe_find(o.observe, "d"), .order = ORDER_NUMBER};
    assert_int_equal(store_trials(t.store, &query, count_trial, &n, NULL), 0);
    return n;
}

static void sum_up(void)
{
    assert_int_equal(observe_flush(o.observe, NULL), 0);
    observe_turn(o.observe, now());
    turn();
}

TEST(lines_of_a_removed_trial_go_to_a_new_one)
{
    observe_up();
    assert_ok(tell("m,t=a v=1 1"), NULL);
    assert_ok(tell("m,t=b v=1 1"), NULL);
    int64_t experiment = observe_find(o.observe, "d");
    txn_remove_trial(engine_txn(t.engine), experiment, 1);
    observe_removed(o.observe, experiment, 1);
    assert_ok(tell("m,t=a v=2 2"), NULL);
    turn();
    assert_ok(series_db_drop(outside.db, experiment, 1, NULL), NULL);
    assert_ok(tell("m,t=a v=3 3"), NULL);
    sum_up();
    assert_int_equal(values_of(1), 0);
    assert_int_equal(values_of(2), 1);
    assert_int_equal(values_of(3), 2);
    assert_int_equal(trials(), 2);
    observe_down();
}

TEST(lines_of_a_removed_experiment_go_to_a_new_one)
{
    observe_up();
    assert_ok(tell("m,t=a v=1 1"), NULL);
    int64_t experiment = observe_find(o.observe, "d");
    txn_remove_experiment(engine_txn(t.engine), experiment);
    observe_removed(o.observe, experiment, 0);
    assert_ok(tell("m,t=a v=2 2"), NULL);
    turn();
    assert_ok(series_db_drop(outside.db, experiment, 0, NULL), NULL);
    sum_up();
    assert_true(observe_find(o.observe, "d") != experiment);
    assert_int_equal(values_of(1), 1);
    assert_int_equal(trials(), 1);
    observe_down();
}

TEST(samples_that_a_crash_left_behind_are_not_those_of_the_next_trial)
{
    observe_up();
    assert_ok(tell("m,t=a v=1 1"), NULL);
    assert_ok(tell("m,t=b v=1 1"), NULL);
    sum_up();
    txn_remove_trial(engine_txn(t.engine), observe_find(o.observe, "d"), 2);
    turn();
    observe_free(o.observe); /* here it crashes and comes up again */
    assert_ok(observe_new(t.engine, t.store, outside.db, &o.observe, &t.err), &t.err);
    assert_ok(tell("m,t=c v=2 2"), NULL);
    sum_up();
    assert_int_equal(values_of(1), 1);
    assert_int_equal(values_of(2), 1);
    assert_int_equal(trials(), 2);
    observe_down();
}

static int take_first_odd(int64_t trial, const struct summary *summary, void *arg)
{
    (void)trial;
    if (str_eq(summary->metric, "m.v"))
        *(int64_t *)arg = summary->first_nan_step;
    return 0;
}

TEST(the_first_value_that_is_no_number_is_told_by_its_step)
{
    int64_t step = STEP_NONE;

    observe_up();
    assert_ok(tell("m,t=a v=1,step=5i 1"), NULL);
    assert_ok(tell("m,t=a v=2,step=6i 2"), NULL);
    assert_ok(tell("m,t=a v=Inf,step=7i 3"), NULL);
    assert_ok(tell("m,t=a v=NaN,step=8i 4"), NULL);
    assert_ok(tell("m,t=a v=3,step=9i 5"), NULL);
    assert_int_equal(observe_flush(o.observe, NULL), 0);
    observe_turn(o.observe, now());
    turn();
    assert_ok(
        store_summaries(t.store, observe_find(o.observe, "d"), 0, take_first_odd, &step, NULL),
        NULL);
    assert_int_equal(step, 7);
    observe_down();
}

static int take_last(int64_t trial, const struct summary *summary, void *arg)
{
    if (trial == 1 && str_eq(summary->metric, "m.v"))
        *(double *)arg = summary->last;
    return 0;
}

static double summed_last(void)
{
    double last = NAN;

    assert_int_equal(observe_flush(o.observe, NULL), 0);
    observe_turn(o.observe, now());
    turn();
    assert_ok(store_summaries(t.store, observe_find(o.observe, "d"), 0, take_last, &last, NULL),
              NULL);
    return last;
}

TEST(the_last_of_a_summary_is_the_last_in_time_in_small_trials_and_in_large_ones)
{
    observe_up();
    assert_ok(tell("m,t=a v=7 900000"), NULL);
    assert_ok(tell("m,t=a v=1 1"), NULL);
    assert_true(summed_last() == 7);
    assert_ok(tell("m,t=a v=8 900000"), NULL); /* of equals the last to come */
    assert_ok(tell("m,t=a v=2 2"), NULL);
    assert_true(summed_last() == 8);
    for (int i = 3; i < 21000; i++) {
        autofree(mem) char *line = xasprintf("m,t=a v=%d %d", i, i);
        assert_ok(tell(line), NULL);
    }
    assert_true(summed_last() == 8);
    observe_down();
}

TEST_MAIN
