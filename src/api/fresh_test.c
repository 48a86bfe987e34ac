/* SPDX-License-Identifier: MIT */
/*
 * fresh_test.c — what was acknowledged is told, though the summaries of it were never written.
 */
#include "api/fresh.h"
#include "engine/runtime.h"
#include "model/spec.h"
#include "series/db.h"
#include "store/testing.h"

struct fixture {
    char *home;
    struct store *store;
    struct spec spec;
};

static void put_samples(const char *home, int64_t trial, const char *metric, uint64_t from,
                        int64_t n)
{
    struct series_db *db = NULL;
    struct err err = ERR_INIT;
    struct series_source source = {1, trial, 0, SERIES_OUTSIDE};

    assert_ok(series_db_open(home, SERIES_WRITE, &db, &err), &err);
    uint32_t name = series_db_name(db, metric, strlen(metric));
    for (int64_t i = 0; i < n; i++) {
        double value = (double)(i * i);
        struct series_row row = {from + (uint64_t)i + 1, 10 * i, 1000 * i, 1, &name, &value};
        assert_ok(series_db_append(db, &source, &row, 1, &err), &err);
    }
    assert_ok(series_db_flush(db, &err), &err);
    series_db_free(db);
}

/* Two trials from outside, of which the database knows two values each. */
static struct fixture make(void)
{
    struct fixture f = {.home = make_home()};
    struct txn *txn = txn_new();
    struct experiment experiment = an_experiment(1);

    f.store = open_home(f.home);
    spec_init(&f.spec);
    txn_put_experiment(txn, &experiment);
    for (int64_t i = 1; i <= 2; i++) {
        struct trial trial = a_trial(1, i, NAN);
        struct summary loss = {(char *)"loss", 2, 1, 0, 1, 10, STEP_NONE};
        struct summary old = {(char *)"old", 9, 7, 7, 7, 90, STEP_NONE};
        trial.attempts = 0;
        trial.last_step = 10;
        txn_put_trial(txn, &trial, 0, NULL);
        txn_put_summary(txn, 1, i, &loss);
        txn_put_summary(txn, 1, i, &old);
    }
    apply(f.store, txn);
    put_samples(f.home, 1, "loss", 0, 6);
    put_samples(f.home, 1, "acc", 6, 3);
    return f;
}

static void release(struct fixture *f)
{
    spec_release(&f->spec);
    store_free(f->store);
    remove_home(f->home);
}

static int on_summary(int64_t trial, const struct summary *summary, void *arg)
{
    str_addf(arg, "%lld %s: %lld values, %g %g %g, step %lld\n", (long long)trial, summary->metric,
             (long long)summary->count, summary->last, summary->min, summary->max,
             (long long)summary->last_step);
    return 0;
}

static void check(struct fixture *f, struct fresh *fresh, int64_t number, int64_t step,
                  const char *expected)
{
    struct trial trial = a_trial(1, number, NAN);
    autorelease(str) struct str text = STR_INIT;
    struct err err = ERR_INIT;

    trial.attempts = 0;
    trial.last_step = 10;
    fresh_trial(fresh, &trial);
    assert_int_equal(trial.last_step, step);
    assert_ok(fresh_summaries(fresh, f->store, &trial, on_summary, &text, &err), &err);
    assert_string_equal(text.s, expected);
}

TEST(samples_that_no_summary_counts_are_told)
{
    struct fixture f = make();
    autofree(fresh) struct fresh *fresh = fresh_new(f.home, &f.spec);

    assert_non_null(fresh);
    check(&f, fresh, 1, 50,
          "1 acc: 3 values, 4 0 4, step 20\n"
          "1 loss: 6 values, 25 0 25, step 50\n"
          "1 old: 9 values, 7 7 7, step 90\n");
    check(&f, fresh, 2, 10,
          "2 loss: 2 values, 1 0 1, step 10\n"
          "2 old: 9 values, 7 7 7, step 90\n");
    release(&f);
}

TEST(where_an_engine_is_at_work_the_database_is_asked)
{
    struct fixture f = make();
    autoclose int lock = -1;
    struct err err = ERR_INIT;

    assert_ok(home_lock(f.home, &lock, &err), &err);
    assert_null(fresh_new(f.home, &f.spec));
    check(&f, NULL, 1, 10,
          "1 loss: 2 values, 1 0 1, step 10\n"
          "1 old: 9 values, 7 7 7, step 90\n");
    release(&f);
}

TEST_MAIN
