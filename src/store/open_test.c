/* SPDX-License-Identifier: MIT */
/*
 * open_test.c — a database is made, found again, refused when it is not ours, and read where it
 * cannot be written.
 */
#include "store/child.h"
#include "base/clock.h"
#include "store/testing.h"

#include <sys/stat.h>
#include <sys/wait.h>

TEST(a_new_home_gets_its_folder_and_an_id_that_stays)
{
    char *top = make_home();
    autofree(mem) char *home = xasprintf("%s/a/b", top);
    struct store *store = open_home(home);
    autofree(mem) char *id = xstrdup(store_home_id(store));
    assert_int_equal(strlen(id), 16);
    assert_ok(store_check(store, NULL), NULL);
    store_free(store);
    store = open_home(home);
    assert_string_equal(store_home_id(store), id);
    store_free(store);

    struct err err = ERR_INIT;
    assert_ok(store_open_read(home, &store, &err), &err);
    assert_string_equal(store_home_id(store), id);
    store_free(store);
    remove_home(top);
}

TEST(a_moved_home_keeps_its_id_and_a_copied_one_gets_its_own)
{
    char *top = make_home();
    autofree(mem) char *home = xasprintf("%s/a", top), *moved = xasprintf("%s/b", top);
    autofree(mem) char *copy = xasprintf("%s/c", top);
    struct store *store = open_home(home);
    autofree(mem) char *id = xstrdup(store_home_id(store));
    store_free(store);
    assert_int_equal(rename(home, moved), 0);
    store = open_home(moved);
    assert_string_equal(store_home_id(store), id);
    store_free(store);

    autorelease(str) struct str said = STR_INIT;
    const struct child child = {.argv = (const char *const[]){"cp", "-r", moved, copy, NULL},
                                .envp = (const char *const *)environ,
                                .dir = top,
                                .deadline_us = clock_mono_us() + 60 * US_PER_S,
                                .cap = 1000};
    assert_int_equal(child_ask(&child, &said), 0);
    store = open_home(copy);
    autofree(mem) char *other = xstrdup(store_home_id(store));
    assert_int_equal(strlen(other), 16);
    assert_string_not_equal(other, id);
    store_free(store);
    store = open_home(copy);
    assert_string_equal(store_home_id(store), other);
    store_free(store);
    store = open_home(moved);
    assert_string_equal(store_home_id(store), id);
    store_free(store);
    remove_home(top);
}

TEST(reading_a_home_without_a_database_says_so)
{
    char *home = make_home();
    struct store *store = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(store_open_read(home, &store, &err), -ENOENT);
    assert_non_null(strstr(err_text(&err), "no experiments yet in "));
    autofree(mem) char *path = xasprintf("%s/hone.db", home);
    assert_false(fs_exists(path));
    assert_int_equal(fs_write_atomic(path, "", 0, 0644, NULL), 0); /* died while creating it */
    assert_int_equal(store_open_read(home, &store, &err), -ENOENT);
    err_release(&err);
    store_free(open_home(home)); /* version 0 is migrated */
    remove_home(home);
}

static void with_sql(const char *home, const char *sql)
{
    autofree(mem) char *path = xasprintf("%s/hone.db", home);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void check_refused(const char *home, int code, const char *part)
{
    autorelease(str) struct str before = STR_INIT, after = STR_INIT;
    autofree(mem) char *path = xasprintf("%s/hone.db", home);
    struct store *store = NULL;
    struct err err = ERR_INIT;
    assert_ok(fs_read(path, 1 << 20, &before, &err), &err);
    for (int i = 0; i < 2; i++) {
        int r = i ? store_open(home, &store, &err) : store_open_read(home, &store, &err);
        assert_int_equal(r, -code);
        assert_non_null(strstr(err_text(&err), part));
    }
    assert_ok(fs_read(path, 1 << 20, &after, &err), &err);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.s, after.s, before.len);
    err_release(&err);
}

TEST(a_newer_home_is_refused_and_untouched)
{
    char *home = make_home();
    store_free(open_home(home));
    with_sql(home, "PRAGMA user_version=700");
    autofree(mem) char *sentence =
        xasprintf("this home was written by a newer Hone (schema 700, this one knows %d): use that "
                  "version",
                  schema_newest());
    check_refused(home, ENOTSUP, sentence);
    remove_home(home);
}

TEST(a_foreign_database_or_file_is_refused_and_untouched)
{
    char *home = make_home();
    with_sql(home, "CREATE TABLE photos (x)");
    check_refused(home, EINVAL, "is a database of another program");
    autofree(mem) char *path = xasprintf("%s/hone.db", home);
    assert_int_equal(fs_write_atomic(path, "hello", 5, 0644, NULL), 0);
    check_refused(home, EINVAL, "is not a database");
    remove_home(home);
}

/* Run `fn` in a child without rights, so that permissions count for root too. */
static int in_child(int (*fn)(const char *home), const char *home)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
            _exit(99);
        _exit(fn(home));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int read_read_only(const char *home)
{
    struct store *store = NULL;
    struct err err = ERR_INIT;
    int64_t trials = 0;
    struct trial_query query = {.experiment = 1};
    if (store_open_read(home, &store, &err) < 0) {
        print_message("# %s\n", err_text(&err));
        err_release(&err);
        return 1;
    }
    int r = store_trials(store, &query, count_row, &trials, &err);
    store_free(store);
    return r == 0 && trials == 1 ? 0 : 2;
}

static int write_read_only(const char *home)
{
    struct store *store = NULL;
    struct err err = ERR_INIT;
    int r = store_open(home, &store, &err);
    bool said = strstr(err_text(&err), "hone.db") != NULL;
    store_free(store);
    err_release(&err);
    return r < 0 && said ? 0 : 1;
}

TEST(a_read_only_home_can_be_read_and_says_why_it_cannot_be_written)
{
    char *home = make_home();
    struct store *store = open_home(home);
    struct trial t = a_trial(1, 1, 1);
    struct txn *txn = txn_new();
    txn_put_trial(txn, &t, 0, NULL);
    apply(store, txn);
    store_free(store);
    assert_int_equal(chmod(home, 0555), 0);
    assert_int_equal(in_child(read_read_only, home), 0);
    assert_int_equal(in_child(write_read_only, home), 0);
    assert_int_equal(chmod(home, 0755), 0);
    remove_home(home);
}

TEST(a_read_only_home_with_an_open_writer_can_be_read)
{
    char *home = make_home();
    struct store *store = open_home(home);
    struct trial t = a_trial(1, 1, 1);
    struct txn *txn = txn_new();
    txn_put_trial(txn, &t, 0, NULL);
    apply(store, txn);
    assert_int_equal(chmod(home, 0555), 0);
    assert_int_equal(in_child(read_read_only, home), 0);
    assert_int_equal(chmod(home, 0755), 0);
    store_free(store);
    remove_home(home);
}

TEST_MAIN
