/* SPDX-License-Identifier: MIT */
/*
 * token_test.c — tokens, sessions and links are kept, go together, and end.
 */
#include "store/changes.h"
#include "store/testing.h"

static int add_line(const struct token_row *row, void *arg)
{
    str_addf(arg, "%lld %s %s %s %s %lld %lld\n", (long long)row->id, row->kind, row->user,
             row->role, row->sha256, (long long)row->parent, (long long)row->expires_us);
    return 0;
}

static void expect(struct store *store, const char *lines)
{
    autorelease(str) struct str text = STR_INIT;
    assert_int_equal(store_tokens(store, add_line, &text, NULL), 0);
    assert_string_equal(text.s, lines);
}

static void put(struct store *store, const struct token_row *row)
{
    autofree(txn) struct txn *txn = txn_new();
    txn_put_token(txn, row);
    assert_int_equal(store_apply(store, txn, NULL), 0);
    assert_int_equal(store_apply(store, txn, NULL), 0); /* as after a full disk */
}

static struct store *three(void)
{
    struct store *store = NULL;
    assert_int_equal(store_open_memory(&store, NULL), 0);
    put(store, &(struct token_row){0, "token", "ann", "user", "aa", 0, 10, 0});
    put(store, &(struct token_row){0, "session", "ann", "user", "bb", 1, 20, 900});
    put(store, &(struct token_row){0, "token", "bob", "viewer", "cc", 0, 30, 0});
    return store;
}

TEST(what_lets_somebody_in_is_kept_by_its_hash)
{
    autofree(store) struct store *store = three();
    expect(store, "1 token ann user aa 0 0\n"
                  "2 session ann user bb 1 900\n"
                  "3 token bob viewer cc 0 0\n");
}

TEST(a_session_goes_with_the_token_that_made_it)
{
    autofree(store) struct store *store = three();
    autofree(txn) struct txn *txn = txn_new();
    txn_remove_token(txn, 1);
    assert_int_equal(store_apply(store, txn, NULL), 0);
    expect(store, "3 token bob viewer cc 0 0\n");
}

TEST(all_of_a_user_go_at_once_and_ids_are_not_given_again)
{
    autofree(store) struct store *store = three();
    autofree(txn) struct txn *txn = txn_new();
    txn_remove_tokens_of(txn, "bob");
    txn_remove_tokens_of(txn, "nobody");
    assert_int_equal(store_apply(store, txn, NULL), 0);
    put(store, &(struct token_row){0, "token", "eve", "admin", "dd", 0, 40, 0});
    expect(store, "1 token ann user aa 0 0\n"
                  "2 session ann user bb 1 900\n"
                  "4 token eve admin dd 0 0\n");
}

TEST(one_goes_by_the_hash_of_its_secret)
{
    autofree(store) struct store *store = three();
    autofree(txn) struct txn *txn = txn_new();
    txn_remove_secret(txn, "bb");
    assert_int_equal(store_apply(store, txn, NULL), 0);
    expect(store, "1 token ann user aa 0 0\n"
                  "3 token bob viewer cc 0 0\n");
}

TEST(who_keeps_a_copy_hears_that_it_is_old)
{
    autofree(changes) struct changes *changes = changes_new();
    autofree(store) struct store *store = three();
    autofree(txn) struct txn *txn = txn_new();
    store_tell(store, changes);
    assert_int_equal(changes_tokens(changes), 0);
    txn_remove_secret(txn, "bb");
    assert_int_equal(store_apply(store, txn, NULL), 0);
    assert_int_equal(changes_tokens(changes), 1);
    assert_int_equal(changes_count(changes), 0);
}

TEST(what_is_over_is_forgotten_with_the_next_one)
{
    autofree(store) struct store *store = three();
    put(store, &(struct token_row){0, "link", "ann", "admin", "ee", 0, 899, 950});
    expect(store, "1 token ann user aa 0 0\n"
                  "2 session ann user bb 1 900\n"
                  "3 token bob viewer cc 0 0\n"
                  "4 link ann admin ee 0 950\n");
    put(store, &(struct token_row){0, "link", "ann", "admin", "ff", 0, 950, 999});
    expect(store, "1 token ann user aa 0 0\n"
                  "3 token bob viewer cc 0 0\n"
                  "5 link ann admin ff 0 999\n");
}

TEST_MAIN
