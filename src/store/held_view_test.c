/* SPDX-License-Identifier: MIT */
/*
 * held_view_test.c — a view is held as long as nothing is written, and not a moment longer.
 */
#include "store/held_view.h"
#include "store/testing.h"

#include <pthread.h>

static int keep_value(const struct trial_row *row, void *arg)
{
    *(double *)arg = row->trial.value;
    return 1;
}

static double value_of(struct held_view *view, int64_t trial)
{
    struct trial_query query = {.experiment = 3, .number = trial};
    double value = NAN;

    assert_true(store_trials(held_view_begin(view), &query, keep_value, &value, NULL) >= 0);
    held_view_end(view);
    return value;
}

static void write_value(struct store *writer, int64_t trial, double value)
{
    struct txn *txn = txn_new();
    struct trial row = a_trial(3, trial, value);
    txn_put_trial(txn, &row, 0, "{}");
    apply(writer, txn);
}

/* A home, its writer, and a reader with a view. */
struct scene {
    char *home;
    struct changes *changes;
    struct store *writer, *reader;
    struct held_view *view;
};

static struct scene set_up(void)
{
    struct scene scene = {.home = make_home(), .changes = changes_new()};

    scene.writer = open_home(scene.home);
    store_tell(scene.writer, scene.changes);
    assert_int_equal(store_open_read(scene.home, &scene.reader, NULL), 0);
    store_map(scene.reader);
    scene.view = held_view_new(scene.reader, scene.changes);
    return scene;
}

static void tear_down(struct scene *scene)
{
    held_view_free(scene->view);
    store_free(scene->reader);
    store_free(scene->writer);
    changes_free(scene->changes);
    remove_home(scene->home);
}

TEST(what_was_written_is_seen_by_the_next_question)
{
    struct scene scene = set_up();

    for (int i = 0; i < 100; i++) {
        write_value(scene.writer, 1 + i % 7, i);
        assert_true(value_of(scene.view, 1 + i % 7) == i);
        assert_true(value_of(scene.view, 1 + i % 7) == i);
    }
    tear_down(&scene);
}

TEST(a_view_is_held_between_questions_until_something_is_written)
{
    struct scene scene = set_up();

    write_value(scene.writer, 1, 0.5);
    value_of(scene.view, 1);
    assert_int_equal(sqlite3_txn_state(scene.reader->db, NULL), SQLITE_TXN_READ);
    struct txn *event = txn_new(); /* of which changes.h tells nothing */
    txn_put_event(event, 1, 3, 1, "{}");
    apply(scene.writer, event);
    assert_int_equal(sqlite3_txn_state(scene.reader->db, NULL), SQLITE_TXN_NONE);
    tear_down(&scene);
}

/* The log is moved into the database as a whole: no view is in its way. */
TEST(a_view_that_was_held_does_not_keep_the_log)
{
    struct scene scene = set_up();
    int in_log = -1, moved = -1;

    write_value(scene.writer, 1, 0.5);
    value_of(scene.view, 1);
    write_value(scene.writer, 1, 0.25);
    assert_int_equal(sqlite3_wal_checkpoint_v2(scene.writer->db, NULL, SQLITE_CHECKPOINT_TRUNCATE,
                                               &in_log, &moved),
                     SQLITE_OK);
    assert_true(value_of(scene.view, 1) == 0.25);
    tear_down(&scene);
}

static void *write_many(void *arg)
{
    struct scene *scene = arg;

    for (int i = 1; i <= 300; i++)
        write_value(scene->writer, 1, i);
    return NULL;
}

TEST(who_writes_and_who_reads_do_not_wait_for_each_other_for_ever)
{
    struct scene scene = set_up();
    pthread_t writer;
    double last = 0;

    write_value(scene.writer, 1, 0);
    assert_int_equal(pthread_create(&writer, NULL, write_many, &scene), 0);
    while (last < 300) {
        double value = value_of(scene.view, 1);
        assert_true(value >= last);
        last = value;
    }
    pthread_join(writer, NULL);
    tear_down(&scene);
}

TEST_MAIN
