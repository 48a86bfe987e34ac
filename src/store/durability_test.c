/* SPDX-License-Identifier: MIT */
/*
 * durability_test.c — what store_apply() returned for is there, whatever happens: the writer is
 * killed at any instant, the disk is full, others read meanwhile. Timings are told, not judged.
 */
#include "store/testing.h"

#include "base/clock.h"
#include "base/rng.h"
#include "tests/cpu.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

static int64_t count_trials(struct store *store, int64_t experiment)
{
    struct err err = ERR_INIT;
    struct trial_query query = {.experiment = experiment, .bare = true};
    int64_t n = 0;
    assert_ok(store_trials(store, &query, count_row, &n, &err), &err);
    return n;
}

/* ---- killed ---- */

/* The child: trial n, its attempt and its event in transaction n; n goes into the pipe when it is
 * durable. Never returns. */
static void write_for_ever(const char *home, int64_t from, int to_parent)
{
    struct store *store = NULL;
    if (store_open(home, &store, NULL) < 0)
        _exit(1);
    for (int64_t n = from;; n++) {
        struct txn *txn = txn_new();
        struct trial trial = a_trial(1, n, (double)n);
        struct attempt attempt = {.id = n, .experiment = 1, .trial = n, .number = 1};
        txn_put_trial(txn, &trial, 0, "{\"lr\":0.1}");
        txn_put_attempt(txn, &attempt);
        txn_put_event(txn, n, 1, n, "{\"event\":\"started\"}");
        if (store_apply(store, txn, NULL) < 0)
            _exit(2);
        txn_free(txn);
        if (write(to_parent, &n, sizeof(n)) != sizeof(n))
            _exit(3);
    }
}

/* Let it report `some` transactions, then kill it a random moment later; returns the last one
 * that it reported. */
static int64_t kill_writer(pid_t pid, int from_child, uint64_t some, struct rng *rng)
{
    int64_t n = 0, last = 0;
    for (uint64_t i = 0; i < some; i++)
        assert_int_equal(read(from_child, &last, sizeof(last)), sizeof(last));
    struct timespec moment = {.tv_nsec = (long)rng_below(rng, 3000000)};
    nanosleep(&moment, NULL); /* not for waiting: it chooses the instant of death */
    kill(pid, SIGKILL);
    while (read(from_child, &n, sizeof(n)) == (ssize_t)sizeof(n))
        last = n;
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return last;
}

static void check_whole(struct store *store, int64_t reported)
{
    struct err err = ERR_INIT;
    int64_t trials = count_trials(store, 1), attempts, events;
    assert_true(trials >= reported && trials <= reported + 1);
    assert_ok(store_number(store, "SELECT max(id) FROM attempt", 0, &attempts, &err), &err);
    assert_ok(store_number(store, "SELECT count(*) FROM event", 0, &events, &err), &err);
    assert_int_equal(attempts, trials);
    assert_int_equal(events, trials);
    assert_ok(store_check(store, &err), &err);
}

TEST(what_was_reported_survives_kill_9_at_any_instant)
{
    char *home = make_home();
    struct rng rng;
    rng_init(&rng, random_u64(), 0);
    int64_t from = 1;
    for (int round = 0; round < 20; round++) {
        int pipe_fd[2];
        assert_int_equal(pipe(pipe_fd), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            close(pipe_fd[0]);
            write_for_ever(home, from, pipe_fd[1]);
        }
        close(pipe_fd[1]);
        int64_t last = kill_writer(pid, pipe_fd[0], 1 + rng_below(&rng, 20), &rng);
        close(pipe_fd[0]);
        struct store *store = open_home(home);
        check_whole(store, last);
        from = count_trials(store, 1) + 1;
        store_free(store);
    }
    remove_home(home);
}

/* ---- full ---- */

static struct txn *large_txn(int64_t number)
{
    static char text[20000];
    memset(text, 'x', sizeof(text) - 1);
    struct txn *txn = txn_new();
    struct trial trial = a_trial(1, number, 1);
    txn_put_trial(txn, &trial, 0, text);
    txn_put_event(txn, 1, 1, number, "{}");
    return txn;
}

/* Write until it is full; returns how many were written. */
static int64_t fill_up(struct store *store)
{
    struct err err = ERR_INIT;
    for (int64_t n = 1; n < 10000; n++) {
        autofree(txn) struct txn *txn = large_txn(n);
        int r = store_apply(store, txn, &err);
        if (r == 0)
            continue;
        assert_int_equal(r, -ENOSPC);
        assert_non_null(strstr(err_text(&err), "the disk is full"));
        err_release(&err);
        return n - 1;
    }
    fail();
    return 0;
}

TEST(a_full_database_loses_nothing_and_goes_on_when_there_is_room)
{
    char *home = make_home();
    struct err err = ERR_INIT;
    struct store *store = open_home(home);
    assert_ok(store_exec(store, "PRAGMA max_page_count=200", &err), &err);
    int64_t written = fill_up(store);
    assert_int_equal(count_trials(store, 1), written);
    autofree(txn) struct txn *txn = large_txn(written + 1);
    assert_int_equal(store_apply(store, txn, &err), -ENOSPC);
    assert_ok(store_exec(store, "PRAGMA max_page_count=100000", &err), &err);
    err_release(&err);
    assert_ok(store_apply(store, txn, &err), &err); /* the same one again */
    assert_int_equal(count_trials(store, 1), written + 1);
    int64_t events;
    assert_ok(store_number(store, "SELECT count(*) FROM event", 0, &events, &err), &err);
    assert_int_equal(events, written + 1);
    store_free(store);
    remove_home(home);
}

TEST(a_full_disk_loses_nothing_and_goes_on_when_there_is_room)
{
    char *home = make_home();
    struct err err = ERR_INIT;
    if (mount("hone-test", home, "tmpfs", 0, "size=2m") < 0) {
        remove_home(home);
        SKIP("cannot mount a small disk");
    }
    struct store *store = open_home(home);
    int64_t written = fill_up(store);
    assert_true(written > 10);
    assert_int_equal(count_trials(store, 1), written);
    assert_int_equal(mount("hone-test", home, "tmpfs", MS_REMOUNT, "size=64m"), 0);
    autofree(txn) struct txn *txn = large_txn(written + 1);
    assert_ok(store_apply(store, txn, &err), &err);
    assert_int_equal(count_trials(store, 1), written + 1);
    assert_ok(store_check(store, &err), &err);
    store_free(store);
    assert_int_equal(umount(home), 0);
    remove_home(home);
}

TEST(a_database_held_by_another_program_is_busy_and_not_lost)
{
    char *home = make_home();
    struct err err = ERR_INIT;
    struct store *store = open_home(home), *other = open_home(home);
    sqlite3_busy_timeout(store->db, 1);
    assert_ok(store_exec(other, "BEGIN IMMEDIATE", &err), &err);
    autofree(txn) struct txn *txn = large_txn(1);
    assert_int_equal(store_apply(store, txn, &err), -EBUSY);
    assert_non_null(strstr(err_text(&err), "another program holds"));
    err_release(&err);
    assert_ok(store_exec(other, "ROLLBACK", &err), &err);
    assert_ok(store_apply(store, txn, &err), &err);
    store_free(other);
    store_free(store);
    remove_home(home);
}

/* ---- read meanwhile ---- */

struct reader {
    const char *home;
    atomic_int stop, rounds, failed;
};

/* Every transaction writes a trial and an event: a reader must never see them differ by more than
 * what came between its two questions, and never see less than before. */
static void *read_on(void *arg)
{
    struct reader *reader = arg;
    struct store *store = NULL;
    int64_t before = 0;
    if (store_open_read(reader->home, &store, NULL) < 0)
        atomic_store(&reader->failed, 1);
    while (store && !atomic_load(&reader->stop)) {
        int64_t trials = -1, events = -1;
        if (store_number(store, "SELECT count(*) FROM trial", -1, &trials, NULL) < 0 ||
            store_number(store, "SELECT count(*) FROM event", -1, &events, NULL) < 0 ||
            trials < before || events < trials)
            atomic_store(&reader->failed, 1);
        before = trials;
        atomic_fetch_add(&reader->rounds, 1);
    }
    store_free(store);
    return NULL;
}

TEST(readers_see_whole_transactions_while_a_writer_writes)
{
    char *home = make_home();
    struct store *store = open_home(home);
    struct reader reader = {.home = home};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_on, &reader), 0);
    int64_t n = 0;
    while (n < 100 || (atomic_load(&reader.rounds) < 20 && !atomic_load(&reader.failed)))
        apply(store, large_txn(++n));
    atomic_store(&reader.stop, 1);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&reader.failed), 0);
    store_free(store);
    remove_home(home);
}

/* ---- timings ---- */

/* What a no-op trial costs in all: six rows in several transactions; here a share of them. */
static void put_rows(struct txn *txn, int64_t first, int64_t rows)
{
    double point[5] = {0.1, 0.2, 0.3, 0.4, 0.5};
    for (int64_t i = 0; i < rows; i++) {
        struct trial trial = a_trial(1, first + i / 4, (double)i);
        struct attempt attempt = {.id = first + i / 4,
                                  .experiment = 1,
                                  .trial = first + i / 4,
                                  .number = 1,
                                  .state = ATTEMPT_ENDED,
                                  .host = (char *)"host"};
        trial.point = point;
        if (i % 4 == 0)
            txn_put_trial(txn, &trial, 5, "{\"lr\":0.1,\"batch\":32,\"layers\":3}");
        else if (i % 4 == 1)
            txn_put_attempt(txn, &attempt);
        else
            txn_put_event(txn, 1, 1, first, "{\"event\":\"trial\",\"trial\":\"1.1\",\"x\":1}");
    }
}

static void time_applies(struct store *store, int64_t rows, int rounds)
{
    int64_t wall = clock_mono_us(), cpu = cpu_us();
    for (int i = 0; i < rounds; i++) {
        struct txn *txn = txn_new();
        put_rows(txn, 1 + i * rows, rows);
        apply(store, txn);
    }
    wall = clock_mono_us() - wall;
    cpu = cpu_us() - cpu;
    print_message("# store_apply of %2lld rows: %.0f µs, CPU %.1f µs, %.2f µs a row\n",
                  (long long)rows, (double)wall / rounds, (double)cpu / rounds,
                  (double)cpu / (double)(rounds * rows));
}

TEST(applying_is_quick)
{
    char *home = make_home();
    struct store *store = open_home(home);
    time_applies(store, 1, 300);
    time_applies(store, 20, 300);
    store_free(store);
    remove_home(home);
}

static void time_reads(struct store *store, int64_t n)
{
    struct err err = ERR_INIT;
    struct trial_query bare = {.experiment = 1, .bare = true};
    struct trial_query full = {.experiment = 1};
    int64_t count = 0, t0 = clock_mono_us();
    assert_ok(store_trials(store, &bare, count_row, &count, &err), &err);
    int64_t t1 = clock_mono_us();
    assert_ok(store_trials(store, &full, count_row, &count, &err), &err);
    int64_t t2 = clock_mono_us();
    autorelease(experiment_row) struct experiment_row row = {0};
    assert_ok(store_find_experiment(store, "last", true, &row, &err), &err);
    int64_t t3 = clock_mono_us();
    assert_int_equal(count, 2 * n);
    assert_int_equal(row.counts[TRIAL_COMPLETED], n);
    assert_int_equal(row.best_trial, n);
    print_message("# read %lld trials: bare %.1f ms, full %.1f ms, the experiment's row %.1f ms\n",
                  (long long)n, (double)(t1 - t0) / 1e3, (double)(t2 - t1) / 1e3,
                  (double)(t3 - t2) / 1e3);
}

TEST(a_hundred_thousand_trials_are_written_and_read)
{
    enum { N = 100000, BATCH = 1000 };
    char *home = make_home();
    struct err err = ERR_INIT;
    struct store *store = open_home(home);
    struct experiment experiment = an_experiment(1);
    double point[5] = {0.1, 0.2, 0.3, 0.4, 0.5};
    int64_t start = clock_mono_us();
    for (int64_t n = 1; n <= N; n += BATCH) {
        struct txn *txn = txn_new();
        txn_put_experiment(txn, &experiment);
        for (int64_t i = n; i < n + BATCH; i++) {
            struct trial trial = a_trial(1, i, (double)i);
            struct attempt attempt = {.id = i, .experiment = 1, .trial = i, .state = ATTEMPT_ENDED};
            trial.point = point;
            txn_put_trial(txn, &trial, 5, "{\"lr\":0.1,\"batch\":32,\"layers\":3}");
            txn_put_attempt(txn, &attempt);
        }
        apply(store, txn);
    }
    print_message("# wrote %d trials and attempts: %.0f ms\n", N,
                  (double)(clock_mono_us() - start) / 1e3);
    store_free(store);
    assert_ok(store_open_read(home, &store, &err), &err);
    time_reads(store, N);
    store_free(store);
    remove_home(home);
}

TEST_MAIN
