/* SPDX-License-Identifier: MIT */
#include "store/artifact.h"
#include "store/testing.h"

#include <fcntl.h>
#include <sys/stat.h>

#define SHA_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SHA_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void put(struct txn *txn, int64_t trial, const char *path, const char *sha256, uint64_t size)
{
    struct artifact artifact = {7, trial, path, sha256, size, 1000};
    txn_put_artifact(txn, &artifact);
}

static int note_path(const struct artifact *artifact, void *arg)
{
    str_addf(arg, "%s=%llu ", artifact->path, (unsigned long long)artifact->size);
    return 0;
}

static void assert_paths(struct store *store, int64_t trial, const char *wanted)
{
    autorelease(str) struct str found = STR_INIT;
    assert_int_equal(store_artifacts(store, 7, trial, note_path, &found, NULL), 0);
    assert_string_equal(found.s, wanted);
}

static int note_unused(const char *sha256, const char *kind, uint64_t size UNUSED, void *arg)
{
    str_addf(arg, "%.1s:%s ", sha256, kind);
    return 0;
}

static void assert_unused(struct store *store, const char *wanted)
{
    autorelease(str) struct str found = STR_INIT;
    assert_int_equal(store_unused_objects(store, 2000, note_unused, &found, NULL), 0);
    assert_string_equal(found.s, wanted);
}

TEST(artifacts_of_a_trial_are_listed_found_replaced_and_removed)
{
    autofree(store) struct store *store = open_memory();
    struct txn *txn = txn_new();
    char sha256[SHA256_HEX_SIZE];
    uint64_t size;

    put(txn, 1, "model/b", SHA_B, 2);
    put(txn, 1, "a", SHA_A, 1);
    put(txn, 2, "a", SHA_A, 1);
    apply(store, txn);
    assert_paths(store, 1, "a=1 model/b=2 ");
    assert_int_equal(store_find_artifact(store, 7, 1, "model/b", sha256, &size, NULL), 0);
    assert_string_equal(sha256, SHA_B);
    assert_int_equal(size, 2);
    assert_int_equal(store_find_artifact(store, 7, 1, "model", sha256, &size, NULL), -ENOENT);

    txn = txn_new();
    put(txn, 1, "a", SHA_B, 2);
    txn_remove_artifact(txn, 7, 1, "model/b");
    txn_remove_artifact(txn, 7, 1, "none");
    apply(store, txn);
    assert_paths(store, 1, "a=2 ");
    assert_paths(store, 2, "a=1 ");
}

TEST(an_object_is_in_use_as_long_as_an_artifact_names_it)
{
    autofree(store) struct store *store = open_memory();
    struct txn *txn = txn_new();

    put(txn, 1, "a", SHA_A, 1);
    put(txn, 2, "a", SHA_A, 1);
    put(txn, 2, "b", SHA_B, 1);
    apply(store, txn);
    assert_unused(store, "");
    assert_int_equal(store_has_object(store, SHA_A, NULL), 1);
    txn = txn_new();
    txn_remove_trial(txn, 7, 2);
    apply(store, txn);
    assert_unused(store, "b:artifact ");
    txn = txn_new();
    txn_remove_experiment(txn, 7);
    apply(store, txn);
    assert_unused(store, "a:artifact b:artifact ");
}

static int note_run(int64_t trial, const char *json, void *arg)
{
    str_addf(arg, "%lld:%s ", (long long)trial, json);
    return 0;
}

static int note_model(int64_t experiment, const char *id, const char *json, void *arg)
{
    str_addf(arg, "%lld:%s:%s ", (long long)experiment, id, json);
    return 0;
}

TEST(what_is_told_of_runs_and_models_is_kept_until_they_are_removed)
{
    autofree(store) struct store *store = open_memory();
    autorelease(str) struct str found = STR_INIT;
    struct txn *txn = txn_new();

    txn_put_run(txn, 7, 2, "{}");
    txn_put_run(txn, 7, 1, "{\"a\":1}");
    txn_put_run(txn, 7, 1, "{\"a\":2}");
    txn_put_run(txn, 8, 1, "{}");
    txn_put_model(txn, 7, "m-1", "{}");
    txn_put_model(txn, 7, "m-1", "{\"b\":1}");
    apply(store, txn);
    assert_int_equal(store_runs(store, 7, note_run, &found, NULL), 0);
    assert_int_equal(store_models(store, note_model, &found, NULL), 0);
    assert_string_equal(found.s, "1:{\"a\":2} 2:{} 7:m-1:{\"b\":1} ");
    txn = txn_new();
    txn_remove_experiment(txn, 7);
    apply(store, txn);
    str_cut(&found, 0);
    assert_int_equal(store_runs(store, 7, note_run, &found, NULL), 0);
    assert_int_equal(store_models(store, note_model, &found, NULL), 0);
    assert_string_equal(found.s, "");
}

static int compare_owner(const struct trial_row *row, void *arg)
{
    assert_string_equal(row->owner ? row->owner : "nobody", arg);
    return 1;
}

/* The trial itself says the same. */
static void assert_owner(struct store *store, int64_t trial, const char *wanted)
{
    struct trial_query one = {.experiment = 7, .number = trial};
    autofree(mem) char *owner = NULL;
    assert_int_equal(store_owner(store, 7, trial, &owner, NULL), 0);
    assert_string_equal(owner ? owner : "nobody", wanted);
    assert_int_equal(store_trials(store, &one, compare_owner, (void *)(uintptr_t)wanted, NULL), 1);
}

TEST(a_trial_is_of_who_made_the_run_or_else_of_who_has_the_experiment)
{
    autofree(store) struct store *store = open_memory();
    struct txn *txn = txn_new();

    for (int64_t number = 1; number <= 3; number++)
        txn_put_trial(txn, &(struct trial){.experiment = 7, .number = number}, 0, "{}");
    apply(store, txn);
    assert_owner(store, 1, "nobody");
    txn = txn_new();
    txn_put_run(txn, 7, 1, "{\"owner\":\"bob\"}");
    txn_put_run(txn, 7, 2, "{}");
    apply(store, txn);
    assert_owner(store, 1, "bob");
    assert_owner(store, 2, "nobody");
    txn = txn_new();
    txn_put_experiment(
        txn, &(struct experiment){
                 .id = 7, .name = (char *)"e", .owner = (char *)"ann", .spec_json = (char *)"{}"});
    apply(store, txn);
    assert_owner(store, 1, "bob");
    assert_owner(store, 2, "ann");
    assert_owner(store, 3, "ann");
}

TEST(an_unnamed_file_becomes_an_object_once)
{
    char *home = make_home();
    char sha256[SHA256_HEX_SIZE];
    struct err err = ERR_INIT;
    autorelease(str) struct str back = STR_INIT;

    assert_int_equal(sha256_hex("hello", 5, sha256, &err), 0);
    for (int i = 0; i < 2; i++) {
        int fd = open(home, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, "hello", 5), 5);
        assert_ok(object_adopt(home, fd, sha256, 5, &err), &err);
        close(fd);
    }
    assert_ok(object_load(home, sha256, 100, &back, &err), &err);
    assert_string_equal(back.s, "hello");
    assert_int_equal(object_adopt(home, -1, "../x", 5, &err), -EINVAL);
    assert_int_equal(object_adopt(home, -1, SHA_A, 5, &err), -EBADF);
    err_release(&err);
    remove_home(home);
}

TEST_MAIN
