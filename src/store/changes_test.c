/* SPDX-License-Identifier: MIT */
/*
 * changes_test.c — what was written is told once it is there, in order; who was away too long is
 * told so. And short questions about one row.
 */
#include "store/changes.h"
#include "store/artifact.h"
#include "store/testing.h"

#include <errno.h>

TEST(a_commit_tells_its_experiments_and_trials_and_a_failed_one_nothing)
{
    autofree(store) struct store *store = NULL;
    autofree(changes) struct changes *changes = changes_new();
    autofree(txn) struct txn *txn = txn_new();
    struct experiment experiment = an_experiment(3);
    struct trial trial = a_trial(3, 7, NAN);
    struct change got[8];

    assert_int_equal(store_open_memory(&store, NULL), 0);
    store_tell(store, changes);
    txn_put_experiment(txn, &experiment);
    txn_put_trial(txn, &trial, 0, "{}");
    txn_tag(txn, 3, 7, "good", true);
    txn_put_event(txn, 1, 3, 7, "{}");
    txn_remove_trial(txn, 3, 6);
    txn_put_run(txn, 3, 8, "{}");
    assert_int_equal(changes_count(changes), 0);
    assert_int_equal(store_apply(store, txn, NULL), 0);
    assert_int_equal(changes_since(changes, 0, got, 8), 4);
    assert_int_equal(got[0].experiment, 3);
    assert_int_equal(got[0].trial, 0);
    assert_int_equal(got[1].trial, 7);
    assert_int_equal(got[2].trial, 6);
    assert_true(!got[1].removed && got[2].removed);
    assert_int_equal(got[3].trial, 8);
    assert_int_equal(changes_since(changes, 3, got, 8), 1);
    assert_int_equal(changes_since(changes, 4, got, 8), 0);
    assert_int_equal(changes_since(changes, 5, got, 8), -ENOBUFS);
}

TEST(who_was_away_for_longer_than_is_kept_is_told_so)
{
    autofree(store) struct store *store = NULL;
    autofree(changes) struct changes *changes = changes_new();
    autofree(txn) struct txn *txn = txn_new();
    struct change got[4];

    assert_int_equal(store_open_memory(&store, NULL), 0);
    store_tell(store, changes);
    for (int64_t i = 1; i <= CHANGES_KEPT + 1; i++)
        txn_star(txn, 3, i, true);
    assert_int_equal(store_apply(store, txn, NULL), 0);
    assert_int_equal(changes_since(changes, 0, got, 4), -ENOBUFS);
    assert_int_equal(changes_since(changes, 1, got, 4), 4);
    assert_int_equal(got[0].trial, 2);
}

static int count(const struct experiment_row *row, void *arg)
{
    assert_int_equal(row->counts[TRIAL_QUEUED], 0); /* bare */
    *(int64_t *)arg = *(int64_t *)arg * 10 + row->experiment.id;
    return 0;
}

TEST(experiments_are_found_by_number_name_and_last_without_a_look_at_their_trials)
{
    autofree(store) struct store *store = NULL;
    autofree(txn) struct txn *txn = txn_new();
    struct trial trial = a_trial(2, 1, NAN);
    char name[] = "it's";
    int64_t id = 0, ids = 0;

    assert_int_equal(store_open_memory(&store, NULL), 0);
    assert_int_equal(store_find_id(store, "last", &id, NULL), -ENOENT);
    for (int64_t i = 1; i <= 3; i++) {
        struct experiment experiment = an_experiment(i);
        experiment.name = name;
        txn_put_experiment(txn, &experiment);
    }
    txn_put_trial(txn, &trial, 0, "{}");
    assert_int_equal(store_apply(store, txn, NULL), 0);
    assert_int_equal(store_find_id(store, "2", &id, NULL), 0);
    assert_int_equal(id, 2);
    assert_int_equal(store_find_id(store, "it's", &id, NULL), 0);
    assert_int_equal(id, 3);
    assert_int_equal(store_find_id(store, "last", &id, NULL), 0);
    assert_int_equal(id, 3);
    assert_int_equal(store_find_id(store, "4", &id, NULL), -ENOENT);
    assert_int_equal(store_find_id(store, "nobody", &id, NULL), -ENOENT);
    assert_int_equal(store_find_id(store, "", &id, NULL), -ENOENT);
    autofree(mem) char *found = NULL, *owner = NULL;
    store_view_begin(store);
    assert_int_equal(store_find_name(store, 2, &found, &owner, NULL), 0);
    assert_string_equal(found, name);
    assert_null(owner);
    assert_int_equal(store_find_name(store, 4, &found, &owner, NULL), -ENOENT);
    autofree(mem) int64_t *all = NULL;
    size_t n = 0;
    assert_int_equal(store_experiment_ids(store, &all, &n, NULL), 0);
    assert_true(n == 3 && all[0] == 3 && all[2] == 1);
    store_view_end(store);
    store_view_begin(store); /* again */
    store_view_end(store);
    assert_int_equal(store_bare_experiments(store, 3, 5, count, &ids, NULL), 0);
    assert_int_equal(ids, 21);
}

TEST(energy_is_summed_and_measured_only_if_all_of_it_was)
{
    autofree(store) struct store *store = open_memory();
    struct txn *txn = txn_new();
    struct trial one = a_trial(2, 1, NAN), two = a_trial(2, 2, NAN), none = a_trial(2, 3, NAN);
    double joules = -1;
    bool measured = false;

    assert_int_equal(store_energy(store, 2, &joules, &measured, NULL), 0);
    assert_true(joules == 0 && measured);
    one.joules = 1.5, one.joules_measured = true;
    two.joules = 2;
    txn_put_trial(txn, &one, 0, "{}");
    txn_put_trial(txn, &none, 0, "{}");
    apply(store, txn);
    assert_int_equal(store_energy(store, 2, &joules, &measured, NULL), 0);
    assert_true(joules == 1.5 && measured);
    txn = txn_new();
    txn_put_trial(txn, &two, 0, "{}");
    apply(store, txn);
    assert_int_equal(store_energy(store, 2, &joules, &measured, NULL), 0);
    assert_true(joules == 3.5 && !measured);
}

TEST_MAIN
