/* SPDX-License-Identifier: MIT */
/*
 * db_kill_test.c — a writer is killed again and again in the middle of its work. After each kill
 * the store opens, has every row that was flushed, and no row twice.
 *
 * SERIES_ROUNDS kills, 20 if it is not set; tests/sweep/series_kill.sh does more.
 */
#include "series/db_fixture.h"

#include "base/rng.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define SOURCES 3
#define WIDTH   4
#define ROWS    50000 /* of a source at most: who checks may be slower than who writes */

struct tally { /* in memory that outlives the writer */
    uint64_t flushed[SOURCES];
    uint64_t flushes;
};

static double value_of(uint64_t source, uint64_t row, uint64_t column)
{
    return (double)(source * 1000003 + row) + (double)column / 8;
}

static void append(struct series_db *db, uint64_t source, uint64_t row, const uint32_t *names)
{
    double values[WIDTH];
    struct series_source key = source_of(1, (int64_t)source + 1);
    struct series_row one = {row + 1, (int64_t)row, (int64_t)row * 7, row % 5 ? WIDTH : 2,
                             names,   values};

    for (uint64_t i = 0; i < WIDTH; i++)
        values[i] = value_of(source, row, i);
    if (series_db_append(db, &key, &one, 1, NULL) < 0)
        _exit(3);
}

/* Goes on where the store ends, as a reader of files does; until it is killed. */
static void write_for_ever(const char *home, uint64_t seed, struct tally *tally)
{
    static const char *const texts[WIDTH] = {"loss", "acc", "lr", "grad"};
    struct series_db *db = NULL;
    uint32_t names[WIDTH];
    uint64_t rows[SOURCES];
    struct rng rng;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
    rng_init(&rng, seed, 1);
    if (series_db_open_with(home, SERIES_WRITE, &quick_io, &db, NULL) < 0)
        _exit(2);
    db->log_bytes = 4096 << rng_below(&rng, 6);
    for (int i = 0; i < WIDTH; i++)
        names[i] = name_of(db, texts[i]);
    for (uint64_t i = 0; i < SOURCES; i++) {
        struct series_source key = source_of(1, (int64_t)i + 1);
        rows[i] = series_db_end(db, &key);
    }
    for (;;) {
        uint64_t source = rng_below(&rng, SOURCES);
        for (uint64_t n = rng_below(&rng, 50); n > 0 && rows[source] < ROWS; n--)
            append(db, source, rows[source]++, names);
        if (rng_below(&rng, 4))
            continue;
        if (series_db_flush(db, NULL) < 0 ||
            (rng_below(&rng, 30) == 0 && series_db_compact(db, NULL) < 0))
            _exit(4);
        for (uint64_t i = 0; i < SOURCES; i++)
            __atomic_store_n(&tally->flushed[i], rows[i], __ATOMIC_RELEASE);
        __atomic_add_fetch(&tally->flushes, 1, __ATOMIC_RELEASE);
    }
}

static void kill_in_the_middle(pid_t pid, const struct tally *tally, struct rng *rng)
{
    uint64_t until = __atomic_load_n(&tally->flushes, __ATOMIC_ACQUIRE) + 1 + rng_below(rng, 60);
    int status = 0;

    while (__atomic_load_n(&tally->flushes, __ATOMIC_ACQUIRE) < until) {
        if (waitpid(pid, &status, WNOHANG) != 0)
            fail_msg("the writer ended by itself: %d", status);
        usleep(100);
    }
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void check_source(struct series_db *db, uint64_t source, uint64_t flushed)
{
    struct series_source key = source_of(1, (int64_t)source + 1);
    struct points loss = points_of(db, key, "loss");

    assert_true(loss.values.len >= flushed);
    assert_int_equal(series_db_end(db, &key), loss.values.len);
    for (uint64_t i = 0; i < loss.values.len; i++)
        assert_true(loss.values.at[i] == value_of(source, i, 0) && loss.steps.at[i] == (int64_t)i);
    assert_int_equal(count_of(db, key, "acc"), loss.values.len);
    assert_int_equal(count_of(db, key, "grad"), loss.values.len - (loss.values.len + 4) / 5);
    points_release(&loss);
}

TEST(a_killed_writer_loses_nothing_that_was_flushed_and_doubles_nothing)
{
    const char *rounds = getenv("SERIES_ROUNDS");
    char *home = home_new();
    struct tally *tally =
        mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct rng rng;

    assert_true(tally != MAP_FAILED);
    rng_init(&rng, 1, 0);
    for (uint64_t i = 0; i < strtoull(rounds ? rounds : "20", NULL, 10); i++) {
        if (i % 25 == 24) { /* or checking would take ever longer */
            home_end(home);
            home = home_new();
            *tally = (struct tally){0};
        }
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            write_for_ever(home, i, tally);
        assert_true(pid > 0);
        kill_in_the_middle(pid, tally, &rng);
        struct series_db *db = must_open(home, i % 2 ? SERIES_WRITE : SERIES_READ);
        for (uint64_t s = 0; s < SOURCES; s++)
            check_source(db, s, tally->flushed[s]);
        assert_int_equal(wrong_in(db), 0);
        series_db_free(db);
    }
    munmap(tally, sizeof(*tally));
    home_end(home);
}

TEST(a_reader_beside_sees_every_flushed_row_while_logs_are_sealed_and_merged)
{
    char *home = home_new();
    struct tally *tally =
        mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct tally before;
    int status = 0;

    assert_true(tally != MAP_FAILED);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        write_for_ever(home, 6, tally);
    assert_true(pid > 0);
    struct series_db *db = must_open(home, SERIES_READ);
    for (int i = 0; i < 60; i++) {
        for (int s = 0; s < SOURCES; s++)
            before.flushed[s] = __atomic_load_n(&tally->flushed[s], __ATOMIC_ACQUIRE);
        struct err err = ERR_INIT;
        assert_ok(series_db_refresh(db, &err), &err);
        for (uint64_t s = 0; s < SOURCES; s++)
            check_source(db, s, before.flushed[s]);
        assert_null(series_db_notes(db)[0]);
    }
    series_db_free(db);
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    munmap(tally, sizeof(*tally));
    home_end(home);
}

TEST_MAIN
