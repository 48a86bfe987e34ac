/* SPDX-License-Identifier: MIT */
/*
 * v1_trials_kept_test.c — what is kept is forgotten when it is written, and never too much is kept.
 */
#include "api/v1_trials_kept.h"
#include "store/artifact.h"
#include "store/testing.h"

#include <errno.h>

static void name_it(struct store *store, const char *name)
{
    struct txn *txn = txn_new();
    struct experiment experiment = an_experiment(3);
    experiment.name = (char *)name;
    txn_put_experiment(txn, &experiment);
    apply(store, txn);
}

/* Of an experiment 3 whose name is known. */
static struct kept_trials *keep(struct store *store, struct changes *changes, size_t bytes_max)
{
    struct kept_trials *kept = kept_trials_new(changes, bytes_max);
    const char *name = NULL;

    store_tell(store, changes);
    name_it(store, "mnist");
    assert_null(kept_trials_find(kept, store, 3, 7));
    assert_int_equal(kept_trials_name(kept, store, 3, &name, NULL), 0);
    assert_string_equal(name, "mnist");
    return kept;
}

static void put(struct kept_trials *kept, int64_t trial, const char *text)
{
    autorelease(str) struct str body = STR_INIT;
    str_add(&body, text);
    char etag[ETAG_SIZE];
    etag_format(body.s, body.len, etag);
    kept_trials_put(kept, 3, trial, &body, etag);
}

static const struct kept_trial *find(struct kept_trials *kept, struct store *store, int64_t trial)
{
    kept_trials_refresh(kept);
    return kept_trials_find(kept, store, 3, trial);
}

static void star(struct store *store, int64_t trial)
{
    struct txn *txn = txn_new();
    txn_star(txn, 3, trial, true);
    apply(store, txn);
}

TEST(an_answer_is_kept_until_its_trial_is_written)
{
    autofree(changes) struct changes *changes = changes_new();
    autofree(store) struct store *store = open_memory();
    struct kept_trials *kept = keep(store, changes, KEPT_BYTES);
    char old[ETAG_SIZE];

    put(kept, 7, "seven");
    put(kept, 8, "eight");
    memcpy(old, find(kept, store, 7)->etag, sizeof(old));
    assert_string_equal(find(kept, store, 7)->body, "seven");
    star(store, 7);
    assert_null(find(kept, store, 7));
    assert_non_null(find(kept, store, 8));
    put(kept, 7, "other");
    assert_string_not_equal(find(kept, store, 7)->etag, old);
    put(kept, 7, "seven");
    assert_string_equal(find(kept, store, 7)->etag, old);
    kept_trials_free(kept);
}

static void put_trial(struct txn *txn)
{
    struct trial trial = a_trial(3, 7, 0.5);
    txn_put_trial(txn, &trial, 0, "{}");
}

static void put_attempt(struct txn *txn)
{
    struct attempt attempt = {.id = 1, .experiment = 3, .trial = 7, .number = 1};
    txn_put_attempt(txn, &attempt);
}

static void put_summary(struct txn *txn)
{
    struct summary summary = {.metric = (char *)"loss", .count = 1};
    txn_put_summary(txn, 3, 7, &summary);
}

static void put_tag(struct txn *txn)
{
    txn_tag(txn, 3, 7, "good", true);
}

static void take_tag(struct txn *txn)
{
    txn_tag(txn, 3, 7, "good", false);
}

static void put_note(struct txn *txn)
{
    txn_note(txn, 3, 7, "look");
}

static void put_star(struct txn *txn)
{
    txn_star(txn, 3, 7, true);
}

static void put_run(struct txn *txn)
{
    txn_put_run(txn, 3, 7, "{\"owner\":\"bob\"}");
}

static void remove_trial(struct txn *txn)
{
    txn_remove_trial(txn, 3, 7);
}

static void change_owner(struct txn *txn)
{
    struct experiment experiment = an_experiment(3);
    experiment.owner = (char *)"ann";
    txn_put_experiment(txn, &experiment);
}

static void remove_experiment(struct txn *txn)
{
    txn_remove_experiment(txn, 3);
}

TEST(whatever_an_answer_tells_of_takes_it_along_when_it_is_written)
{
    static void (*const kinds[])(struct txn * txn) = {
        put_trial, put_attempt, put_summary,  put_tag,      take_tag,          put_note,
        put_star,  put_run,     remove_trial, change_owner, remove_experiment,
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        autofree(changes) struct changes *changes = changes_new();
        autofree(store) struct store *store = open_memory();
        struct kept_trials *kept = keep(store, changes, KEPT_BYTES);
        struct txn *txn = txn_new();

        put(kept, 7, "seven");
        assert_non_null(find(kept, store, 7));
        kinds[i](txn);
        apply(store, txn);
        assert_null(find(kept, store, 7));
        kept_trials_free(kept);
    }
}

TEST(an_experiment_that_goes_takes_its_answers_along)
{
    autofree(changes) struct changes *changes = changes_new();
    autofree(store) struct store *store = open_memory();
    struct kept_trials *kept = keep(store, changes, KEPT_BYTES);
    struct txn *txn = txn_new();
    const char *name = NULL;

    put(kept, 7, "seven");
    txn_remove_experiment(txn, 3);
    apply(store, txn);
    assert_null(find(kept, store, 7));
    assert_int_equal(kept_trials_name(kept, store, 3, &name, NULL), -ENOENT);
    kept_trials_free(kept);
}

TEST(another_name_of_the_experiment_takes_its_answers_along)
{
    autofree(changes) struct changes *changes = changes_new();
    autofree(store) struct store *store = open_memory();
    struct kept_trials *kept = keep(store, changes, KEPT_BYTES);
    const char *name = NULL;

    put(kept, 7, "seven");
    name_it(store, "mnist"); /* written, and the same */
    assert_non_null(find(kept, store, 7));
    name_it(store, "fashion");
    assert_null(find(kept, store, 7));
    assert_int_equal(kept_trials_name(kept, store, 3, &name, NULL), 0);
    assert_string_equal(name, "fashion");
    kept_trials_free(kept);
}

TEST(a_number_that_no_trial_can_have_finds_no_other)
{
    autofree(changes) struct changes *changes = changes_new();
    autofree(store) struct store *store = open_memory();
    struct kept_trials *kept = keep(store, changes, KEPT_BYTES);

    put(kept, 7, "seven");
    assert_non_null(find(kept, store, 7));
    assert_null(find(kept, store, ((int64_t)3 << 32) + 7));
    kept_trials_free(kept);
}

TEST(the_oldest_make_room_when_no_more_may_be_kept)
{
    autofree(changes) struct changes *changes = changes_new();
    autofree(store) struct store *store = open_memory();
    struct kept_trials *kept = keep(store, changes, 10 * (sizeof(struct kept_trial) + 6));

    for (int64_t i = 1; i <= 100; i++)
        put(kept, i, "seven");
    star(store, 95);
    for (int64_t i = 1; i <= 100; i++)
        assert_int_equal(find(kept, store, i) != NULL, i > 90 && i != 95);
    put(kept, 101, "seven"); /* in the room that 95 left */
    assert_non_null(find(kept, store, 91));
    put(kept, 102, "seven");
    assert_null(find(kept, store, 91));
    assert_non_null(find(kept, store, 102));
    kept_trials_free(kept);
}

TEST(a_walk_over_all_trials_keeps_nothing_and_who_asks_again_is_known)
{
    autofree(changes) struct changes *changes = changes_new();
    autofree(store) struct store *store = open_memory();
    struct kept_trials *kept = keep(store, changes, KEPT_BYTES);
    int again = 0;

    for (int64_t i = 1; i <= 50000; i++)
        again += kept_trials_again(kept, 3, i);
    assert_int_equal(again, 0);
    assert_false(kept_trials_again(kept, 3, 7));
    assert_true(kept_trials_again(kept, 3, 7));
    assert_false(kept_trials_again(kept, 4, 7));
    star(store, 7); /* whoever watches it keeps on asking */
    kept_trials_refresh(kept);
    assert_true(kept_trials_again(kept, 3, 7));
    kept_trials_free(kept);
}

TEST(a_tag_is_found_in_what_a_browser_sends)
{
    char etag[ETAG_SIZE];

    etag_format("seven", 5, etag);
    assert_false(etag_listed(NULL, etag));
    assert_false(etag_listed("\"0000000000000000\"", etag));
    assert_true(etag_listed("*", etag));
    autofree(mem) char *list = xasprintf("\"a\", W/%s", etag);
    assert_true(etag_listed(list, etag));
}

TEST_MAIN
