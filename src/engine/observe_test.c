/* SPDX-License-Identifier: MIT */
/* observe_test.c — lines from outside on a disk that fails, and beside commands that remove. */
#include "engine/scripted.h"

#include "base/fs.h"
#include "engine/observe_internal.h"
#include "series/inside.h"

#include <unistd.h>

static bool full; /* the disk */

static ssize_t full_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    if (!full)
        return pwrite(fd, bytes, n, at);
    errno = ENOSPC;
    return -1;
}

static int sync_not(int fd)
{
    return fd < 0 ? -1 : 0;
}
static const struct series_io full_disk = {full_pwrite, sync_not};

static struct {
    char *home;
    struct series_db *db;
    struct observe *observe;
    struct influx_reader *reader;
} o;

static void observe_up(void)
{
    const char *tmp = getenv("TMPDIR");

    set_up(1, 0);
    full = false;
    o.home = xasprintf("%s/hone-observe-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(o.home));
    assert_ok(series_db_open_with(o.home, SERIES_WRITE, &full_disk, &o.db, &t.err), &t.err);
    assert_ok(observe_new(t.engine, t.store, o.db, &o.observe, &t.err), &t.err);
    o.reader = influx_reader_new();
}

static void observe_down(void)
{
    influx_reader_free(o.reader);
    observe_free(o.observe);
    series_db_free(o.db);
    assert_int_equal(fs_remove_tree(o.home, NULL), 0);
    free(o.home);
    tear_down();
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
    assert_int_equal(series_db_list(o.db, experiment, trial, SERIES_NAME_NONE, count_values, &n),
                     0);
    return n;
}

/* Until the store takes no more; how many lines of trial 1 it took. */
static uint32_t fill(void)
{
    uint32_t n = 0;

    full = true;
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
    full = false;
    assert_int_equal(observe_flush(o.observe, NULL), 0);
    assert_int_equal(values_of(2), n);
    assert_int_equal(values_of(1), 1);
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
    assert_ok(series_db_drop(o.db, experiment, 1, NULL), NULL);
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
    assert_ok(series_db_drop(o.db, experiment, 0, NULL), NULL);
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
    assert_ok(observe_new(t.engine, t.store, o.db, &o.observe, &t.err), &t.err);
    assert_ok(tell("m,t=c v=2 2"), NULL);
    sum_up();
    assert_int_equal(values_of(1), 1);
    assert_int_equal(values_of(2), 1);
    assert_int_equal(trials(), 2);
    observe_down();
}

TEST_MAIN
