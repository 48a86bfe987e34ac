/* SPDX-License-Identifier: MIT */
/*
 * testing.h — what the tests of the store share: a folder of their own, handles, sample rows.
 */
#ifndef HONE_STORE_TESTING_H
#define HONE_STORE_TESTING_H

#include "tests/test.h"

#include "base/fs.h"
#include "store/internal.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

static UNUSED char *make_home(void)
{
    const char *tmp = getenv("TMPDIR");
    char *home = xasprintf("%s/hone-store-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(home));
    return home;
}

static UNUSED void remove_home(char *home)
{
    assert_int_equal(fs_remove_tree(home, NULL), 0);
    free(home);
}

static UNUSED struct store *open_memory(void)
{
    struct store *store = NULL;
    struct err err = ERR_INIT;
    assert_ok(store_open_memory(&store, &err), &err);
    return store;
}

static UNUSED struct store *open_home(const char *home)
{
    struct store *store = NULL;
    struct err err = ERR_INIT;
    assert_ok(store_open(home, &store, &err), &err);
    return store;
}

/* Apply and forget. */
static UNUSED void apply(struct store *store, struct txn *txn)
{
    struct err err = ERR_INIT;
    assert_ok(store_apply(store, txn, &err), &err);
    txn_free(txn);
}

static UNUSED struct experiment an_experiment(int64_t id)
{
    return (struct experiment){.id = id,
                               .name = (char *)"mnist",
                               .spec_json = (char *)"{\"objective\":{\"goal\":\"maximize\"}}",
                               .created_us = 1000};
}

static UNUSED struct trial a_trial(int64_t experiment, int64_t number, double value)
{
    return (struct trial){.experiment = experiment,
                          .number = number,
                          .state = TRIAL_COMPLETED,
                          .value = value,
                          .best = value,
                          .last_step = STEP_NONE,
                          .first_nan_step = STEP_NONE};
}

static UNUSED int count_row(const struct trial_row *row UNUSED, void *arg)
{
    ++*(int64_t *)arg;
    return 0;
}

#endif
