/* SPDX-License-Identifier: MIT */
/*
 * workload_test.c — what workloads taught is kept by identity, keeps its id and cluster, and can be
 * taken away.
 */
#include "store/testing.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void put(struct store *store, const char *identity, const char *name, int64_t time_us,
                int64_t cluster)
{
    struct txn *txn = txn_new();
    autofree(mem) char *json = xasprintf("{\"name\":\"%s\"}", name);
    struct workload_row row = {.identity = identity,
                               .name = name,
                               .machine = "EPYC, 2 cpus",
                               .updated_us = time_us,
                               .cluster = cluster,
                               .json = json};
    txn_put_workload(txn, &row);
    apply(store, txn);
}

static int add_words(const struct workload_row *row, void *arg)
{
    str_addf(arg, "%lld %c %s %s %lld %lld %s\n", (long long)row->id, row->identity[0], row->name,
             row->machine, (long long)row->updated_us, (long long)row->cluster, row->json);
    return 0;
}

static void check(struct store *store, const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    struct err err = ERR_INIT;
    assert_ok(store_workloads(store, add_words, &text, &err), &err);
    assert_string_equal(text.s, expected);
}

TEST(a_workload_comes_back_as_it_was_put)
{
    autofree(store) struct store *store = open_memory();
    check(store, "");
    put(store, A, "mnist", 5, 2);
    put(store, B, "svm", 6, 0);
    check(store, "1 a mnist EPYC, 2 cpus 5 2 {\"name\":\"mnist\"}\n"
                 "2 b svm EPYC, 2 cpus 6 0 {\"name\":\"svm\"}\n");
}

TEST(the_same_identity_again_keeps_id_and_cluster)
{
    autofree(store) struct store *store = open_memory();
    put(store, A, "mnist", 5, 2);
    for (int i = 0; i < 3; i++)
        put(store, A, "fashion", 7, 0);
    put(store, B, "svm", 6, 0);
    check(store, "1 a fashion EPYC, 2 cpus 7 2 {\"name\":\"fashion\"}\n"
                 "2 b svm EPYC, 2 cpus 6 0 {\"name\":\"svm\"}\n");
}

TEST(clusters_are_set_by_themselves)
{
    autofree(store) struct store *store = open_memory();
    put(store, A, "mnist", 5, 2);
    struct txn *txn = txn_new();
    txn_cluster_workload(txn, A, 3);
    txn_cluster_workload(txn, B, 1); /* not there: nothing */
    apply(store, txn);
    check(store, "1 a mnist EPYC, 2 cpus 5 3 {\"name\":\"mnist\"}\n");
    txn = txn_new();
    txn_cluster_workload(txn, A, 0);
    apply(store, txn);
    check(store, "1 a mnist EPYC, 2 cpus 5 0 {\"name\":\"mnist\"}\n");
}

TEST(a_removed_workload_is_gone_and_its_id_is_not_given_again)
{
    autofree(store) struct store *store = open_memory();
    put(store, A, "mnist", 5, 2);
    put(store, B, "svm", 6, 0);
    struct txn *txn = txn_new();
    txn_remove_workload(txn, B);
    txn_remove_workload(txn, "nobody");
    apply(store, txn);
    check(store, "1 a mnist EPYC, 2 cpus 5 2 {\"name\":\"mnist\"}\n");
    put(store, B, "svm", 7, 0);
    check(store, "1 a mnist EPYC, 2 cpus 5 2 {\"name\":\"mnist\"}\n"
                 "3 b svm EPYC, 2 cpus 7 0 {\"name\":\"svm\"}\n");
}

TEST(rows_of_one_transaction_are_written_in_their_order)
{
    autofree(store) struct store *store = open_memory();
    struct txn *txn = txn_new();
    struct workload_row row = {.identity = A, .name = "x", .machine = "m", .json = "{}"};
    txn_put_workload(txn, &row);
    txn_cluster_workload(txn, A, 4);
    row.json = "[]";
    txn_put_workload(txn, &row);
    txn_remove_workload(txn, B);
    assert_false(txn_empty(txn));
    apply(store, txn);
    check(store, "1 a x m 0 4 []\n");
}

TEST(removing_an_experiment_leaves_what_it_taught)
{
    autofree(store) struct store *store = open_memory();
    struct txn *txn = txn_new();
    struct experiment experiment = an_experiment(1);
    txn_put_experiment(txn, &experiment);
    apply(store, txn);
    put(store, A, "mnist", 5, 0);
    txn = txn_new();
    txn_remove_experiment(txn, 1);
    apply(store, txn);
    check(store, "1 a mnist EPYC, 2 cpus 5 0 {\"name\":\"mnist\"}\n");
}

static int stop_at_once(const struct workload_row *row UNUSED, void *arg)
{
    ++*(int *)arg;
    return 7;
}

TEST(a_walk_ends_where_it_is_told_to)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    int seen = 0;
    put(store, A, "mnist", 5, 0);
    put(store, B, "svm", 5, 0);
    assert_int_equal(store_workloads(store, stop_at_once, &seen, &err), 7);
    assert_int_equal(seen, 1);
}

TEST(workloads_survive_in_a_home_and_are_read_by_others)
{
    char *home = make_home();
    struct err err = ERR_INIT;
    struct store *store = open_home(home), *reader = NULL;
    put(store, A, "mnist", 5, 1);
    assert_ok(store_open_read(home, &reader, &err), &err);
    check(reader, "1 a mnist EPYC, 2 cpus 5 1 {\"name\":\"mnist\"}\n");
    store_free(reader);
    store_free(store);
    store = open_home(home);
    check(store, "1 a mnist EPYC, 2 cpus 5 1 {\"name\":\"mnist\"}\n");
    store_free(store);
    remove_home(home);
}

TEST_MAIN
