/* SPDX-License-Identifier: MIT */
/* influx_write_test.c — bodies whose trials wait for a commit, and bodies that find a full disk. */
#include "engine/scripted_outside.h"

#include "api/influx_write.h"

static struct {
    struct observe *observe;
    struct writes *writes;
} o;

static void writes_up(void)
{
    outside_up();
    assert_ok(observe_new(t.engine, t.store, outside.db, &o.observe, &t.err), &t.err);
    o.writes = writes_new(t.engine, o.observe);
}

static void writes_down(void)
{
    writes_free(o.writes);
    observe_free(o.observe);
    outside_down();
}

/* A body of n lines of one series, with `more` bytes of comment. */
static void bring(const char *series, size_t n, size_t more)
{
    autorelease(str) struct str body = STR_INIT;

    for (size_t i = 0; i < n; i++)
        str_addf(&body, "%s v=1 %zu\n", series, i + 1);
    for (size_t i = 0; i < more; i += 10)
        str_add(&body, "#        \n");
    writes_datagrams(o.writes, &body);
}

static int count_values(const struct series_info *info, void *arg)
{
    *(uint32_t *)arg += info->stats.count;
    return 0;
}

static uint32_t values_of(int64_t trial)
{
    uint32_t n = 0;
    int64_t experiment = observe_find(o.observe, OBSERVE_OUTSIDE);
    series_db_every(outside.db, true); /* also those that a later one of the same time replaced */
    assert_int_equal(
        series_db_list(outside.db, experiment, trial, SERIES_NAME_NONE, count_values, &n), 0);
    series_db_every(outside.db, false);
    return n;
}

static uint64_t failed(void)
{
    struct write_counts counts;
    writes_counts(o.writes, &counts);
    return counts.failed;
}

static void know(const char *series)
{
    bring(series, 1, 0);
    turn();
    writes_settle(o.writes, 1);
    assert_false(writes_waiting(o.writes));
}

TEST(what_a_full_disk_holds_up_is_stored_once_and_then_answered)
{
    writes_up();
    know("m,t=a");
    outside.full = true;
    bring("m,t=a", 10, 0);
    writes_settle(o.writes, 1000);
    assert_true(writes_waiting(o.writes)); /* nobody is told yet */
    bring("m,t=a", 100000, 0);             /* stops in the middle */
    writes_settle(o.writes, 2000);
    outside.full = false;
    writes_settle(o.writes, 3000);
    assert_false(writes_waiting(o.writes));
    assert_int_equal(failed(), 0);
    assert_int_equal(values_of(1), 100011);
    writes_down();
}

TEST(a_disk_that_stays_full_is_told_in_the_end)
{
    writes_up();
    know("m,t=a");
    outside.full = true;
    bring("m,t=a", 10, 0);
    bring("m,t=a", 100000, 0);
    writes_settle(o.writes, 1000);
    writes_settle(o.writes, 9 * US_PER_S);
    assert_int_equal(failed(), 0);
    writes_settle(o.writes, 11 * US_PER_S);
    assert_int_equal(failed(), 2);
    assert_false(writes_waiting(o.writes));
    bring("m,t=a", 10, 0);
    writes_down();
}

TEST(bodies_that_wait_are_limited_and_what_is_dropped_is_counted)
{
    struct write_counts counts;

    writes_up();
    for (int i = 0; i < 10; i++) {
        autofree(mem) char *series = xasprintf("m,t=%d", i);
        bring(series, 1, 10 << 20); /* no commit comes */
    }
    writes_counts(o.writes, &counts);
    assert_true(counts.bytes > 60 << 20 && counts.bytes <= 64 << 20);
    assert_true(counts.overrun_bytes >= 40 << 20 && counts.overrun_bytes < 41 << 20);
    turn();
    writes_settle(o.writes, 1);
    assert_false(writes_waiting(o.writes));
    bring("m,t=0", 1, 10 << 20);
    writes_settle(o.writes, 1);
    assert_int_equal(values_of(1), 2);
    writes_counts(o.writes, &counts);
    assert_int_equal(counts.failed, 0);
    writes_down();
}

TEST_MAIN
