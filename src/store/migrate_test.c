/* SPDX-License-Identifier: MIT */
/*
 * migrate_test.c — a home of schema 1, as an earlier Hone left it, is brought up to date and loses
 * nothing.
 */
#include "store/testing.h"

#include <sys/stat.h>

/* The tables of version 1, word for word. */
static const char version_1[] =
    "CREATE TABLE meta ("
    " key TEXT PRIMARY KEY,"
    " value ANY"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE experiment ("
    " id INTEGER PRIMARY KEY,"
    " name TEXT NOT NULL,"
    " state TEXT NOT NULL,"
    " reason TEXT NOT NULL,"
    " goal TEXT,"
    " patch TEXT,"
    " error TEXT,"
    " code TEXT,"
    " created_us INTEGER NOT NULL,"
    " ended_us INTEGER NOT NULL,"
    " run_us INTEGER NOT NULL,"
    " rerun_of_experiment INTEGER NOT NULL,"
    " rerun_of_trial INTEGER NOT NULL,"
    " starred INTEGER NOT NULL DEFAULT 0,"
    " note TEXT"
    ") STRICT;"
    "CREATE INDEX experiment_name ON experiment (name);"
    "CREATE TABLE experiment_text ("
    " experiment INTEGER PRIMARY KEY,"
    " spec_json TEXT,"
    " environment TEXT"
    ") STRICT;"
    "CREATE TABLE experiment_search ("
    " experiment INTEGER PRIMARY KEY,"
    " state BLOB"
    ") STRICT;"

    "CREATE TABLE trial ("
    " id INTEGER PRIMARY KEY,"
    " experiment INTEGER NOT NULL,"
    " number INTEGER NOT NULL,"
    " state TEXT NOT NULL,"
    " reason TEXT NOT NULL,"
    " value REAL,"
    " best REAL,"
    " last_step INTEGER,"
    " first_nan_step INTEGER,"
    " attempts INTEGER NOT NULL,"
    " retries INTEGER NOT NULL,"
    " created_us INTEGER NOT NULL,"
    " started_us INTEGER NOT NULL,"
    " ended_us INTEGER NOT NULL,"
    " run_us INTEGER NOT NULL,"
    " point BLOB,"
    " params_json TEXT,"
    " starred INTEGER NOT NULL DEFAULT 0,"
    " note TEXT"
    ") STRICT;"

    "CREATE TABLE attempt ("
    " id INTEGER PRIMARY KEY,"
    " trial_id INTEGER NOT NULL,"
    " experiment INTEGER NOT NULL,"
    " trial INTEGER NOT NULL,"
    " number INTEGER NOT NULL,"
    " state TEXT NOT NULL,"
    " reason TEXT NOT NULL,"
    " started_us INTEGER NOT NULL,"
    " ended_us INTEGER NOT NULL,"
    " run_us INTEGER NOT NULL,"
    " cpu_us INTEGER NOT NULL,"
    " max_rss_bytes INTEGER NOT NULL,"
    " dropped_bytes INTEGER NOT NULL,"
    " exit_status INTEGER NOT NULL,"
    " signal INTEGER NOT NULL,"
    " pid INTEGER NOT NULL,"
    " error TEXT,"
    " gpus TEXT,"
    " host TEXT,"
    " code TEXT"
    ") STRICT;"
    "CREATE INDEX attempt_trial ON attempt (trial_id);"
    "CREATE INDEX attempt_code ON attempt (code) WHERE code IS NOT NULL;"

    "CREATE TABLE summary ("
    " trial_id INTEGER NOT NULL,"
    " metric TEXT NOT NULL,"
    " count INTEGER NOT NULL,"
    " last REAL,"
    " min REAL,"
    " max REAL,"
    " last_step INTEGER,"
    " first_nan_step INTEGER,"
    " PRIMARY KEY (trial_id, metric)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE event ("
    " id INTEGER PRIMARY KEY,"
    " time_us INTEGER NOT NULL,"
    " trial INTEGER NOT NULL,"
    " json TEXT NOT NULL"
    ") STRICT;"

    "CREATE TABLE tag ("
    " experiment INTEGER NOT NULL,"
    " trial INTEGER NOT NULL,"
    " tag TEXT NOT NULL,"
    " PRIMARY KEY (experiment, trial, tag)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE object ("
    " sha256 TEXT PRIMARY KEY,"
    " kind TEXT NOT NULL,"
    " size INTEGER NOT NULL,"
    " created_us INTEGER NOT NULL"
    ") STRICT, WITHOUT ROWID;"

    "INSERT INTO meta (key, value) VALUES ('home_id', lower(hex(randomblob(8))));";

static const char rows[] =
    "INSERT INTO experiment (id, name, state, reason, goal, created_us, ended_us, run_us,"
    " rerun_of_experiment, rerun_of_trial, note) VALUES"
    " (1, 'mnist', 'interrupted', 'interrupted', 'maximize', 10, 0, 30, 0, 0, 'keep me');"
    "INSERT INTO experiment_text VALUES (1, '{\"objective\":{\"goal\":\"maximize\"}}', NULL);"
    "INSERT INTO experiment_search VALUES (1, x'0102');"
    "INSERT INTO trial (id, experiment, number, state, reason, value, best, attempts, retries,"
    " created_us, started_us, ended_us, run_us, point, params_json) VALUES"
    " (4294967297, 1, 1, 'completed', '', 0.5, 0.5, 1, 0, 1, 2, 3, 4, x'000000000000f03f', '{}'),"
    " (4294967298, 1, 2, 'failed', 'lost', NULL, NULL, 3, 2, 1, 2, 3, 4, x'0000000000000040', "
    "'{}'),"
    " (4294967299, 1, 3, 'failed', 'exit', NULL, NULL, 1, 0, 1, 2, 3, 4, x'0000000000000840', "
    "'{}'),"
    " (4294967300, 1, 4, 'queued', 'interrupted', 0.1, 0.1, 1, 0, 1, 2, 0, 4, x'0000000000001040',"
    "  '{}'),"
    " (4294967301, 1, 5, 'stopped', 'pruned', 0.7, 0.7, 1, 0, 1, 2, 3, 4, x'0000000000001440', "
    "'{}'),"
    " (4294967302, 1, 6, 'completed', '', 0.6, 0.6, 1, 0, 1, 2, 3, 4, x'0000000000001840', '{}');"
    "INSERT INTO event VALUES (4294967297, 5, 0, '{\"event\":\"started\"}');";

static char *make_old_home(void)
{
    char *home = make_home();
    autofree(mem) char *path = xasprintf("%s/hone.db", home);
    autofree(mem) char *stamp =
        xasprintf("PRAGMA application_id=%d; PRAGMA user_version=1", STORE_APPLICATION_ID);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, version_1, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, rows, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, stamp, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    return home;
}

struct seen {
    int64_t told[8];
    VEC(int64_t) order;
};

static int note_told(const struct trial_row *row, void *arg)
{
    struct seen *seen = arg;
    seen->told[row->trial.number] = row->trial.told;
    vec_push(&seen->order, row->trial.number);
    assert_int_equal(row->ndim, 1);
    assert_true(row->trial.point[0] == (double)row->trial.number);
    assert_int_equal(row->trial.seen, 0);
    assert_null(row->trial.why);
    assert_null(row->trial.extra);
    return 0;
}

TEST(a_home_of_version_1_is_brought_up_to_date)
{
    char *home = make_old_home();
    struct err err = ERR_INIT;
    autofree(store) struct store *store = open_home(home);
    autorelease(experiment_row) struct experiment_row row = {0};
    assert_ok(store_find_experiment(store, "mnist", true, &row, &err), &err);
    assert_string_equal(row.note, "keep me");
    assert_int_equal(row.experiment.best_trial, 0);
    assert_true(isnan(row.experiment.best_mean) && isnan(row.experiment.best_deviation));
    assert_null(row.experiment.search_state); /* of a search that is no more */
    assert_int_equal(row.best_trial, 6);
    assert_int_equal(row.counts[TRIAL_FAILED], 2);
    assert_null(row.experiment.owner);
    assert_int_equal(row.experiment.priority, 0);
    assert_int_equal(row.experiment.paused, HELD_NOT);

    struct seen seen = {0};
    struct trial_query query = {.experiment = 1};
    assert_ok(store_trials(store, &query, note_told, &seen, &err), &err);
    const int64_t told[] = {0, 1, 0, 2, 0, 3, 4};
    assert_memory_equal(seen.told, told, sizeof(told));
    vec_release(&seen.order);
    remove_home(home);
}

static int count_workload(const struct workload_row *row, void *arg)
{
    assert_int_equal(row->id, 1);
    ++*(int *)arg;
    return 0;
}

TEST(a_home_of_version_1_can_keep_what_workloads_teach)
{
    char *home = make_old_home();
    struct err err = ERR_INIT;
    autofree(store) struct store *store = open_home(home);
    struct workload_row row = {.identity = "a", .name = "x", .machine = "m", .json = "{}"};
    struct txn *txn = txn_new();
    int seen = 0;
    assert_ok(store_workloads(store, count_workload, &seen, &err), &err);
    assert_int_equal(seen, 0);
    txn_put_workload(txn, &row);
    apply(store, txn);
    assert_ok(store_workloads(store, count_workload, &seen, &err), &err);
    assert_int_equal(seen, 1);
    remove_home(home);
}

TEST(who_only_reads_brings_it_up_to_date_too)
{
    char *home = make_old_home();
    struct err err = ERR_INIT;
    autorelease(experiment_row) struct experiment_row row = {0};
    autofree(store) struct store *store = NULL;
    assert_ok(store_open_read(home, &store, &err), &err);
    assert_ok(store_find_experiment(store, "1", true, &row, &err), &err);
    assert_int_equal(row.best_trial, 6);
    remove_home(home);
}

TEST(an_old_home_that_cannot_be_written_says_so)
{
    char *home = make_old_home();
    struct err err = ERR_INIT;
    struct store *store = NULL;
    if (geteuid() == 0 || chmod(home, 0500) < 0) { /* root may write anything */
        remove_home(home);
        return;
    }
    autofree(mem) char *path = xasprintf("%s/hone.db", home);
    assert_int_equal(chmod(path, 0400), 0);
    assert_int_equal(store_open_read(home, &store, &err), -ENOTSUP);
    assert_non_null(strstr(err_text(&err), "schema 1, now 6"));
    err_release(&err);
    chmod(home, 0700);
    remove_home(home);
}

TEST(migrating_twice_changes_nothing_more)
{
    char *home = make_old_home();
    struct err err = ERR_INIT;
    store_free(open_home(home));
    struct store *store = open_home(home);
    struct seen seen = {0};
    struct trial_query query = {.experiment = 1, .order = ORDER_TOLD};
    assert_ok(store_trials(store, &query, note_told, &seen, &err), &err);
    const int64_t order[] = {1, 3, 5, 6};
    assert_int_equal(seen.order.len, ARRAY_LEN(order));
    assert_memory_equal(seen.order.at, order, sizeof(order));
    vec_release(&seen.order);
    assert_ok(store_check(store, &err), &err);
    store_free(store);
    remove_home(home);
}

TEST_MAIN
