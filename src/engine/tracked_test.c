/* SPDX-License-Identifier: MIT */
/* tracked_test.c — runs that clients name, over restarts, removals and a disk that fails. */
#include "engine/scripted_outside.h"

#include "engine/tracked_internal.h"

static struct tracked *tracked;

static void come_back(void)
{
    outside_open();
    assert_ok(tracked_new(t.engine, t.store, outside.db, &tracked, &t.err), &t.err);
}

static void go_away(void)
{
    tracked_free(tracked);
    series_db_free(outside.db);
}

static void tracked_up(void)
{
    outside_up();
    assert_ok(tracked_new(t.engine, t.store, outside.db, &tracked, &t.err), &t.err);
}

static void tracked_down(void)
{
    tracked_free(tracked);
    outside_down();
}

static struct tracked_experiment *an_experiment(const char *name)
{
    struct tracked_experiment *experiment = NULL;
    assert_ok(tracked_make(tracked, name, "ann", now(), &experiment, &t.err), &t.err);
    return experiment;
}

static struct tracked_run *a_run(struct tracked_experiment *experiment)
{
    struct tracked_run *run = tracked_start(experiment, "ann", 1000, now());
    assert_non_null(run);
    tracked_put_run(run);
    turn();
    assert_true(run->committed);
    return run;
}

static int log_one(struct tracked_run *run, const char *key, double value, int64_t time_ms,
                   int64_t step)
{
    struct tracked_sample sample = {key, value, time_ms, step};
    return tracked_log(run, &sample, 1, NULL);
}

static size_t count_history(struct tracked_run *run, const char *key)
{
    struct tracked_history history = {NULL, 0, 0};
    assert_int_equal(tracked_history(run, key, &history), 0);
    size_t n = history.len;
    vec_release(&history);
    return n;
}

TEST(pairs_are_kept_by_key)
{
    struct tracked_pairs pairs = {NULL, 0, 0};

    tracked_set(&pairs, "b", "2");
    tracked_set(&pairs, "a", "1");
    tracked_set(&pairs, "c", "3");
    tracked_set(&pairs, "b", "4");
    assert_int_equal(pairs.len, 3);
    assert_string_equal(pairs.at[0].key, "a");
    assert_string_equal(tracked_find(&pairs, "b"), "4");
    assert_null(tracked_find(&pairs, ""));
    assert_true(tracked_unset(&pairs, "a"));
    assert_false(tracked_unset(&pairs, "a"));
    tracked_release_pairs(&pairs);
}

TEST(a_run_has_an_id_of_its_home_and_no_other_finds_one)
{
    tracked_up();
    struct tracked_run *run = a_run(an_experiment("e"));
    char id[TRACKED_ID_SIZE];

    assert_ptr_equal(tracked_run(tracked, run->id), run);
    memcpy(id, run->id, sizeof(id));
    id[0] = id[0] == '0' ? '1' : '0';
    assert_null(tracked_run(tracked, id));
    memcpy(id, run->id, sizeof(id));
    id[31] = '9';
    assert_null(tracked_run(tracked, id));
    assert_null(tracked_run(tracked, ""));
    assert_null(tracked_run(tracked, "no id at all, but as long as one"));
    tracked_down();
}

TEST(default_is_there_from_the_start_and_gets_rows_when_it_is_used)
{
    tracked_up();
    struct tracked_experiment *fallback = tracked_experiment(tracked, "0");

    assert_string_equal(fallback->name, "Default");
    assert_int_equal(fallback->experiment.id, 0);
    a_run(fallback);
    assert_true(fallback->experiment.id > 0);
    assert_int_equal(tracked_number(fallback), 0);
    go_away();
    come_back();
    fallback = tracked_experiment(tracked, "0");
    assert_int_equal(fallback->runs.len, 1);
    assert_int_equal(tracked_count(tracked), 1);
    tracked_down();
}

TEST(what_was_told_is_found_again_also_without_summaries)
{
    tracked_up();
    struct tracked_run *run = a_run(an_experiment("my exp"));
    char id[TRACKED_ID_SIZE];

    memcpy(id, run->id, sizeof(id));
    tracked_set(&run->params, "lr", "0.10");
    tracked_tag(run, "mlflow.runName", "fox");
    tracked_end(run, TRACKED_FINISHED, now());
    run->end_ms = 5000;
    tracked_put_run(run);
    turn();
    for (int i = 0; i < 3000; i++)
        assert_int_equal(log_one(run, "loss", i, 10000 - i, i / 2), 0);
    go_away(); /* no tracked_turn(): as after a kill */
    come_back();
    run = tracked_run(tracked, id);
    assert_non_null(run);
    assert_string_equal(tracked_find(&run->params, "lr"), "0.10");
    assert_string_equal(run->name, "fox");
    assert_int_equal(run->status, TRACKED_FINISHED);
    assert_int_equal(run->end_ms, 5000);
    const struct tracked_metric *loss = tracked_latest(run, "loss");
    assert_true(loss && loss->step == 1499 && loss->value == 2998);
    assert_int_equal(count_history(run, "loss"), 3000);
    assert_true(run->changed); /* its summary is written next */
    tracked_turn(tracked);
    turn();
    go_away();
    come_back();
    run = tracked_run(tracked, id);
    assert_false(run->changed);
    assert_true(tracked_latest(run, "loss")->value == 2998);
    tracked_down();
}

TEST(the_latest_has_the_highest_step_then_time_then_value)
{
    tracked_up();
    struct tracked_run *run = a_run(tracked_experiment(tracked, "0"));

    log_one(run, "m", 1, 10, 5);
    log_one(run, "m", 2, 20, 4);
    assert_true(tracked_latest(run, "m")->value == 1);
    log_one(run, "m", 3, 10, 5);
    assert_true(tracked_latest(run, "m")->value == 3);
    log_one(run, "m", 2, 11, 5);
    assert_true(tracked_latest(run, "m")->value == 2);
    log_one(run, "m", 2, 11, 5); /* sent again */
    assert_int_equal(count_history(run, "m"), 4);
    log_one(run, "n", NAN, 1, 0);
    log_one(run, "n", NAN, 1, 0);
    assert_int_equal(count_history(run, "n"), 1);
    tracked_down();
}

TEST(samples_of_one_step_are_one_row_and_a_metric_may_come_twice)
{
    tracked_up();
    struct tracked_run *run = a_run(tracked_experiment(tracked, "0"));
    struct tracked_sample samples[] = {
        {"a", 1, 1, 1}, {"b", 2, 1, 1}, {"a", 3, 1, 1}, {"c", 4, 1, 1}, {"a", 5, 2, 1}};

    assert_int_equal(tracked_log(run, samples, ARRAY_LEN(samples), NULL), 0);
    assert_int_equal(count_history(run, "a"), 3);
    assert_int_equal(count_history(run, "b"), 1);
    assert_true(tracked_latest(run, "a")->value == 5);
    tracked_down();
}

TEST(a_full_disk_is_told_and_what_comes_after_it_is_kept)
{
    tracked_up();
    struct tracked_run *run = a_run(tracked_experiment(tracked, "0"));

    assert_int_equal(log_one(run, "m", 1, 1, 1), 0);
    outside.full = true;
    assert_true(log_one(run, "m", 2, 2, 2) < 0);
    assert_true(log_one(run, "m", 2, 2, 2) < 0);
    outside.full = false;
    assert_int_equal(log_one(run, "m", 2, 2, 2), 0);
    assert_int_equal(log_one(run, "m", 3, 3, 3), 0);
    assert_int_equal(count_history(run, "m"), 3);
    tracked_down();
}

TEST(what_is_removed_is_forgotten)
{
    tracked_up();
    struct tracked_experiment *experiment = an_experiment("e");
    struct tracked_run *first = a_run(experiment), *second = a_run(experiment);
    char id[TRACKED_ID_SIZE];

    memcpy(id, first->id, sizeof(id));
    log_one(first, "m", 1, 1, 1);
    tracked_removed(tracked, experiment->experiment.id, 1);
    assert_null(tracked_run(tracked, id));
    assert_ptr_equal(tracked_run(tracked, second->id), second);
    tracked_turn(tracked);
    turn();
    tracked_add_model(experiment, "m-1", json_object());
    tracked_removed(tracked, experiment->experiment.id, 0);
    assert_null(tracked_named(tracked, "e"));
    assert_null(tracked_model(tracked, "m-1"));
    tracked_down();
}

TEST(a_run_is_owned_by_who_made_it_and_that_is_found_again)
{
    tracked_up();
    struct tracked_experiment *anns = an_experiment("anns");
    struct tracked_run *run = tracked_start(anns, "bob", 1000, now());
    int64_t experiment = anns->experiment.id;

    tracked_put_run(run);
    tracked_put_run(tracked_start(anns, NULL, 1000, now()));
    turn();
    for (int again = 0; again < 2; again++) {
        assert_string_equal(tracked_owner(tracked, experiment, 0), "ann");
        assert_string_equal(tracked_owner(tracked, experiment, 1), "bob");
        assert_string_equal(tracked_owner(tracked, experiment, 2), "ann"); /* nobody is known */
        assert_string_equal(tracked_owner(tracked, experiment, 99), "ann");
        assert_null(tracked_owner(tracked, experiment + 1, 1));
        go_away();
        come_back();
    }
    tracked_down();
}

TEST(what_clients_were_told_holds_until_the_run_changes)
{
    tracked_up();
    struct tracked_run *run = a_run(an_experiment("e")), *other = a_run(run->of);

    tracked_tell(other, xstrdup("other"));
    tracked_tell(run, xstrdup("{}"));
    tracked_tell(run, xstrdup("{ }"));
    assert_string_equal(tracked_told(run), "{ }");
    log_one(run, "m", 1, 1, 1);
    assert_null(tracked_told(run));
    tracked_tell(run, xstrdup("{}"));
    tracked_hide(run, true);
    assert_null(tracked_told(run));
    tracked_tell(run, xstrdup("{}"));
    tracked_put_run(run);
    assert_null(tracked_told(run));
    assert_string_equal(tracked_told(other), "other");
    assert_int_equal(tracked->told_bytes, sizeof("other"));
    tracked->told_bytes = TRACKED_TOLD_BYTES; /* it is enough */
    tracked_tell(run, xstrdup("{}"));
    assert_null(tracked_told(run));
    tracked_down();
}

TEST_MAIN
