/* SPDX-License-Identifier: MIT */
/* record_test.c — what goes into the store of series, and how older homes get there. */
#include "store/testing.h"

#include "engine/migrate.h"
#include "engine/record.h"
#include "series/series.h"

static void put_trial(struct txn *txn, int64_t number, int64_t attempts, enum trial_state state)
{
    double point = 0.5;
    struct trial trial = a_trial(1, number, 0.25);

    trial.point = &point;
    trial.attempts = attempts;
    trial.state = state;
    txn_put_trial(txn, &trial, 1, "{\"lr\":0.5}");
}

static void put_file(const char *home, int64_t trial, int64_t number, const char *text)
{
    autofree(mem) char *dir = attempt_dir(home, 1, trial, number);
    autofree(mem) char *path = xasprintf("%s/metrics", dir);

    assert_ok(fs_make_dirs(dir, 0700, NULL), NULL);
    assert_ok(fs_write_atomic(path, text, strlen(text), 0600, NULL), NULL);
}

static struct store *old_home(const char *home)
{
    struct store *store = open_home(home);
    struct txn *txn = txn_new();
    struct experiment experiment = an_experiment(1);

    experiment.spec_json = (char *)"{\"command\":[\"true\"],\"params\":{\"lr\":{\"min\":0,\"max\":"
                                   "1}},\"objective\":\"loss\"}";
    txn_put_experiment(txn, &experiment);
    put_trial(txn, 1, 2, TRIAL_COMPLETED);
    put_trial(txn, 2, 0, TRIAL_COMPLETED); /* observed */
    put_trial(txn, 3, 1, TRIAL_RUNNING);
    apply(store, txn);
    put_file(home, 1, 1, "train loss=3,step=0i\ntrain loss=2,step=1i\n");
    put_file(home, 1, 2, "train loss=1,acc=0.5,step=1i\n");
    put_file(home, 2, 0, "x loss=7,step=0i\n");
    put_file(home, 3, 1, "x loss=8,step=0i\n");
    return store;
}

static int count_values(const struct series_info *info, void *arg)
{
    *(uint32_t *)arg += info->stats.count;
    return 0;
}

static uint32_t values_of(struct series_db *db, int64_t trial)
{
    uint32_t n = 0;
    assert_int_equal(series_db_list(db, 1, trial, SERIES_NAME_NONE, count_values, &n), 0);
    return n;
}

TEST(what_older_trials_told_goes_into_the_store_once)
{
    char *home = make_home();
    struct store *store = old_home(home);
    struct series_db *db = NULL;

    assert_ok(series_db_open(home, SERIES_WRITE, &db, NULL), NULL);
    for (int times = 0; times < 2; times++) { /* the first is broken off before it is done */
        struct migration *migration = migration_new(home, store, db);
        assert_non_null(migration);
        for (int turns = 0; turns < 3 + 100 * times && !migration_turn(migration); turns++)
            ;
        migration_free(migration);
    }
    assert_int_equal(values_of(db, 1), 4);
    assert_int_equal(values_of(db, 2), 1);
    assert_int_equal(values_of(db, 3), 0); /* the engine reads it */
    assert_null(migration_new(home, store, db));
    series_db_free(db);
    store_free(store);
    remove_home(home);
}

TEST(a_new_home_needs_no_migration)
{
    char *home = make_home();
    struct store *store = open_home(home);
    struct series_db *db = NULL;

    assert_ok(series_db_open(home, SERIES_WRITE, &db, NULL), NULL);
    assert_null(migration_new(home, store, db));
    series_db_free(db);
    store_free(store);
    remove_home(home);
}

static struct agent_sample sample(const char *metric, double value, int64_t step, uint64_t end)
{
    return (struct agent_sample){
        .metric = metric, .value = value, .step = step, .time_us = 1000, .end = end};
}

TEST(samples_told_again_after_a_restart_are_stored_once)
{
    char *home = make_home();
    struct attempt attempt = {.experiment = 1, .trial = 2, .number = 1};
    struct agent_sample samples[] = {sample("a", 1, 0, 10), sample("b", 2, 0, 10),
                                     sample("a", NAN, 1, 20), sample("hone.generation", 2, 1, 30)};
    struct agent_event event = {
        .kind = EVENT_SAMPLES, .samples = samples, .n_samples = ARRAY_LEN(samples)};

    for (int times = 0; times < 2; times++) {
        struct record *record = NULL;
        assert_ok(record_open(home, &record, NULL), NULL);
        record_samples(record, &attempt, &event);
        assert_true(record_unsynced(record));
        assert_ok(record_flush(record, NULL), NULL);
        while (record_unsynced(record))
            assert_ok(record_sync(record, NULL), NULL);
        assert_int_equal(values_of(record_db(record), 2), 3);
        record_free(record);
    }
    remove_home(home);
}

TEST(figures_of_the_machine_and_of_an_attempt_are_series)
{
    char *home = make_home();
    struct attempt attempt = {.experiment = 1, .trial = 2, .number = 1};
    struct agent_sample samples[] = {sample("system/cpu", 50, STEP_NONE, 0),
                                     sample("system/memory_bytes", 2, STEP_NONE, 0)};
    struct agent_event event = {.kind = EVENT_FIGURES, .samples = samples, .n_samples = 2};
    struct record *record = NULL;
    uint32_t machine = 0;

    assert_ok(record_open(home, &record, NULL), NULL);
    record_figures(record, &attempt, &event);
    record_figures(record, &attempt, &event);
    record_figures(record, NULL, &event);
    assert_int_equal(values_of(record_db(record), 2), 4);
    assert_int_equal(
        series_db_list(record_db(record), 0, 0, SERIES_NAME_NONE, count_values, &machine), 0);
    assert_int_equal(machine, 2);
    record_free(record);
    remove_home(home);
}

TEST_MAIN
