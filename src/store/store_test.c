/* SPDX-License-Identifier: MIT */
/*
 * store_test.c — what is put is what is read, questions get their answers, ids are never reused.
 */
#include "store/testing.h"

/* ---- round trips ---- */

static int keep_trial(const struct trial_row *row, void *arg)
{
    struct trial_row *to = arg;
    *to = *row;
    to->trial.point = row->ndim ? xmemdup(row->trial.point, row->ndim * sizeof(double)) : NULL;
    to->params_json = row->params_json ? xstrdup(row->params_json) : NULL;
    to->note = row->note ? xstrdup(row->note) : NULL;
    to->trial.why = row->trial.why ? xstrdup(row->trial.why) : NULL;
    to->trial.verdict = row->trial.verdict ? xstrdup(row->trial.verdict) : NULL;
    to->trial.extra =
        row->trial.n_extra ? xmemdup(row->trial.extra, row->trial.n_extra * sizeof(double)) : NULL;
    memset(&to->tags, 0, sizeof(to->tags));
    vec_foreach (tag, &row->tags)
        vec_push(&to->tags, xstrdup(*tag));
    return 0;
}

static struct trial_row read_one(struct store *store, int64_t experiment, int64_t number)
{
    struct trial_row row = {0};
    struct err err = ERR_INIT;
    struct trial_query query = {.experiment = experiment, .number = number};
    assert_ok(store_trials(store, &query, keep_trial, &row, &err), &err);
    return row;
}

TEST(a_trial_comes_back_as_it_was_put)
{
    autofree(store) struct store *store = open_memory();
    double point[] = {0.1, NAN, INFINITY, -INFINITY, -0.0, 1e308, 5e-324};
    struct trial trial = {.experiment = 3,
                          .number = 7,
                          .state = TRIAL_STOPPED,
                          .reason = REASON_PRUNED,
                          .point = point,
                          .value = -INFINITY,
                          .best = 0.1,
                          .last_step = INT64_MAX,
                          .first_nan_step = 0,
                          .attempts = 2,
                          .retries = 1,
                          .created_us = 11,
                          .started_us = 12,
                          .ended_us = 13,
                          .run_us = 14};
    struct txn *txn = txn_new();
    txn_put_trial(txn, &trial, ARRAY_LEN(point), "{\"größe\":\"日本 \\\" x\"}");
    apply(store, txn);

    autorelease(trial_row) struct trial_row row = read_one(store, 3, 7);
    assert_int_equal(row.ndim, ARRAY_LEN(point));
    assert_memory_equal(row.trial.point, point, sizeof(point));
    assert_string_equal(row.params_json, "{\"größe\":\"日本 \\\" x\"}");
    assert_int_equal(row.trial.state, TRIAL_STOPPED);
    assert_int_equal(row.trial.reason, REASON_PRUNED);
    assert_true(row.trial.value == -INFINITY);
    assert_true(row.trial.best == 0.1);
    assert_true(row.trial.last_step == INT64_MAX);
    assert_int_equal(row.trial.first_nan_step, 0);
    assert_int_equal(row.trial.attempts, 2);
    assert_int_equal(row.trial.retries, 1);
    assert_int_equal(row.trial.created_us, 11);
    assert_int_equal(row.trial.started_us, 12);
    assert_int_equal(row.trial.ended_us, 13);
    assert_int_equal(row.trial.run_us, 14);
}

TEST(why_a_trial_was_made_and_what_else_it_measured_come_back)
{
    autofree(store) struct store *store = open_memory();
    double extra[] = {0.25, NAN};
    struct trial trial = a_trial(1, 1, 0.5);
    trial.seen = 17;
    trial.repeat_of = 4;
    trial.why = (char *)"{\"why\":\"model\"}";
    struct txn *txn = txn_new();
    txn_put_trial(txn, &trial, 0, NULL);
    apply(store, txn);
    trial.why = NULL; /* stays */
    trial.verdict = (char *)"{\"rule\":\"curve\"}";
    trial.told = 3;
    trial.extra = extra;
    trial.n_extra = ARRAY_LEN(extra);
    txn = txn_new();
    txn_put_trial(txn, &trial, 0, NULL);
    trial.verdict = NULL;
    trial.extra = NULL;
    trial.n_extra = 0;
    txn_put_trial(txn, &trial, 0, NULL);
    apply(store, txn);

    autorelease(trial_row) struct trial_row row = read_one(store, 1, 1);
    assert_int_equal(row.trial.seen, 17);
    assert_int_equal(row.trial.told, 3);
    assert_int_equal(row.trial.repeat_of, 4);
    assert_string_equal(row.trial.why, "{\"why\":\"model\"}");
    assert_string_equal(row.trial.verdict, "{\"rule\":\"curve\"}");
    assert_int_equal(row.trial.n_extra, ARRAY_LEN(extra));
    assert_memory_equal(row.trial.extra, extra, sizeof(extra));
}

static int note_number(const struct trial_row *row, void *arg)
{
    struct str *to = arg;
    str_addf(to, "%lld ", (long long)row->trial.number);
    return 0;
}

TEST(results_come_in_the_order_in_which_they_became_known)
{
    autofree(store) struct store *store = open_memory();
    const int64_t told[] = {3, 0, 1, 2};
    struct txn *txn = txn_new();
    for (int64_t i = 0; i < (int64_t)ARRAY_LEN(told); i++)
        for (int64_t experiment = 1; experiment <= 2; experiment++) {
            struct trial trial = a_trial(experiment, i + 1, 0);
            trial.told = told[i];
            txn_put_trial(txn, &trial, 0, NULL);
        }
    apply(store, txn);
    autorelease(str) struct str order = STR_INIT;
    struct trial_query query = {.experiment = 2, .order = ORDER_TOLD, .bare = true, .limit = 2};
    assert_ok(store_trials(store, &query, note_number, &order, NULL), NULL);
    assert_string_equal(order.s, "3 4 ");
    query.limit = 0;
    assert_ok(store_trials(store, &query, note_number, &order, NULL), NULL);
    assert_string_equal(order.s, "3 4 3 4 1 ");
}

TEST(the_best_is_what_the_search_says_it_is)
{
    autofree(store) struct store *store = open_memory();
    struct experiment e = an_experiment(1);
    struct txn *txn = txn_new();
    for (int64_t number = 1; number <= 3; number++) {
        struct trial trial = a_trial(1, number, (double)number);
        txn_put_trial(txn, &trial, 0, NULL);
    }
    e.best_trial = 2;
    e.best_mean = 2.5;
    e.best_deviation = 0.5;
    txn_put_experiment(txn, &e);
    apply(store, txn);
    struct experiment_row row = {0};
    assert_ok(store_find_experiment(store, "1", false, &row, NULL), NULL);
    assert_int_equal(row.best_trial, 2);
    assert_true(row.best_value == 2 && row.experiment.best_mean == 2.5);
    assert_true(row.experiment.best_deviation == 0.5);
    experiment_row_release(&row);

    txn = txn_new();
    txn_remove_trial(txn, 1, 2); /* then the values decide again */
    apply(store, txn);
    assert_ok(store_find_experiment(store, "1", false, &row, NULL), NULL);
    assert_int_equal(row.best_trial, 3);
    experiment_row_release(&row);

    e.best_trial = -1; /* all break a constraint */
    txn = txn_new();
    txn_put_experiment(txn, &e);
    apply(store, txn);
    assert_ok(store_find_experiment(store, "1", false, &row, NULL), NULL);
    assert_int_equal(row.best_trial, 0);
    assert_true(isnan(row.best_value) && isnan(row.experiment.best_mean));
    experiment_row_release(&row);
}

TEST(nan_and_no_step_come_back_as_they_are)
{
    autofree(store) struct store *store = open_memory();
    struct trial trial = a_trial(1, 1, NAN);
    struct txn *txn = txn_new();
    txn_put_trial(txn, &trial, 0, NULL);
    apply(store, txn);

    autorelease(trial_row) struct trial_row row = read_one(store, 1, 1);
    assert_true(isnan(row.trial.value) && isnan(row.trial.best));
    assert_true(row.trial.last_step == STEP_NONE && row.trial.first_nan_step == STEP_NONE);
    assert_int_equal(row.ndim, 0);
    assert_null(row.params_json);
}

TEST(a_later_put_keeps_the_point_and_the_params)
{
    autofree(store) struct store *store = open_memory();
    double point[] = {1, 2};
    struct trial trial = a_trial(1, 1, 0.5);
    trial.point = point;
    struct txn *txn = txn_new();
    txn_put_trial(txn, &trial, 2, "{\"a\":1}");
    trial.point = NULL;
    trial.value = 0.6;
    txn_put_trial(txn, &trial, 2, NULL); /* within one transaction */
    apply(store, txn);
    txn = txn_new();
    trial.value = 0.7;
    txn_put_trial(txn, &trial, 2, NULL); /* and in the next */
    apply(store, txn);

    autorelease(trial_row) struct trial_row row = read_one(store, 1, 1);
    assert_true(row.trial.value == 0.7);
    assert_memory_equal(row.trial.point, point, sizeof(point));
    assert_string_equal(row.params_json, "{\"a\":1}");
}

TEST(an_experiment_comes_back_as_it_was_put)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    size_t huge = 11 << 20;
    autofree(mem) char *text = xmalloc(huge + 1);
    memset(text, 'x', huge);
    text[huge] = '\0';
    struct experiment e = {.id = 5,
                           .name = (char *)"größe",
                           .state = EXPERIMENT_FAILED,
                           .reason = REASON_TIMEOUT,
                           .spec_json = text,
                           .error = (char *)"line 1\nline 2",
                           .created_us = 1,
                           .ended_us = 2,
                           .run_us = 3,
                           .code = (char *)"ab",
                           .environment = (char *)"{\"host\":\"h\"}",
                           .search_state = (void *)"a\0b",
                           .search_state_size = 3,
                           .kernel = (char *)"Haswell",
                           .rerun_of_experiment = 4,
                           .rerun_of_trial = 9,
                           .owner = (char *)"ann",
                           .priority = -7,
                           .paused = HELD_FROZEN};
    struct txn *txn = txn_new();
    txn_put_experiment(txn, &e);
    apply(store, txn);

    autorelease(experiment_row) struct experiment_row row = {0};
    assert_ok(store_find_experiment(store, "5", true, &row, &err), &err);
    assert_string_equal(row.experiment.name, "größe");
    assert_int_equal(row.experiment.state, EXPERIMENT_FAILED);
    assert_int_equal(row.experiment.reason, REASON_TIMEOUT);
    assert_string_equal(row.experiment.spec_json, text);
    assert_string_equal(row.experiment.error, "line 1\nline 2");
    assert_string_equal(row.experiment.code, "ab");
    assert_string_equal(row.experiment.environment, "{\"host\":\"h\"}");
    assert_int_equal(row.experiment.search_state_size, 3);
    assert_memory_equal(row.experiment.search_state, "a\0b", 3);
    assert_string_equal(row.experiment.kernel, "Haswell");
    assert_int_equal(row.experiment.created_us, 1);
    assert_int_equal(row.experiment.ended_us, 2);
    assert_int_equal(row.experiment.run_us, 3);
    assert_int_equal(row.experiment.rerun_of_experiment, 4);
    assert_int_equal(row.experiment.rerun_of_trial, 9);
    assert_string_equal(row.experiment.owner, "ann");
    assert_int_equal(row.experiment.priority, -7);
    assert_int_equal(row.experiment.paused, HELD_FROZEN);
    assert_true(isnan(row.best_value));
    assert_int_equal(row.best_trial, 0);

    autorelease(experiment_row) struct experiment_row bare = {0};
    assert_ok(store_find_experiment(store, "größe", false, &bare, &err), &err);
    assert_null(bare.experiment.spec_json);
    assert_null(bare.experiment.environment);
    assert_null(bare.experiment.search_state);
}

TEST(texts_that_are_not_given_again_stay)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    struct experiment e = an_experiment(1);
    e.environment = (char *)"{}";
    e.search_state = (void *)"s";
    e.search_state_size = 1;
    struct txn *txn = txn_new();
    txn_put_experiment(txn, &e);
    apply(store, txn);
    struct experiment later = {.id = 1, .name = e.name, .state = EXPERIMENT_FINISHED};
    txn = txn_new();
    txn_put_experiment(txn, &later);
    apply(store, txn);

    autorelease(experiment_row) struct experiment_row row = {0};
    assert_ok(store_find_experiment(store, "last", true, &row, &err), &err);
    assert_int_equal(row.experiment.state, EXPERIMENT_FINISHED);
    assert_string_equal(row.experiment.spec_json, e.spec_json);
    assert_string_equal(row.experiment.environment, "{}");
    assert_int_equal(row.experiment.search_state_size, 1);
}

TEST(a_submission_is_known_by_its_key_also_when_its_experiment_is_gone)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    struct experiment e = an_experiment(3);
    int64_t id = -1;
    struct txn *txn = txn_new();
    txn_put_experiment(txn, &e);
    txn_put_submission(txn, "ann", "nightly", 3);
    txn_put_submission(txn, "ann", "nightly", 4); /* the first counts */
    apply(store, txn);
    txn = txn_new();
    txn_remove_experiment(txn, 3);
    apply(store, txn);

    assert_ok(store_submission(store, "ann", "nightly", &id, &err), &err);
    assert_int_equal(id, 3);
    assert_ok(store_submission(store, "bob", "nightly", &id, &err), &err);
    assert_int_equal(id, 0);
    assert_ok(store_submission(store, "ann", "other", &id, &err), &err);
    assert_int_equal(id, 0);
}

TEST(a_paused_queue_is_remembered)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    bool paused = true;
    assert_ok(store_queue_paused(store, &paused, &err), &err);
    assert_false(paused);
    for (int i = 2; i-- > 0;) {
        struct txn *txn = txn_new();
        txn_pause_queue(txn, i);
        apply(store, txn);
        assert_ok(store_queue_paused(store, &paused, &err), &err);
        assert_int_equal(paused, i);
    }
}

static int keep_attempt(const struct attempt *attempt, void *arg)
{
    struct attempt *to = arg;
    attempt_release(to);
    *to = *attempt;
    to->error = attempt->error ? xstrdup(attempt->error) : NULL;
    to->gpus = attempt->gpus ? xstrdup(attempt->gpus) : NULL;
    to->host = attempt->host ? xstrdup(attempt->host) : NULL;
    to->code = attempt->code ? xstrdup(attempt->code) : NULL;
    return 0;
}

TEST(an_attempt_comes_back_as_it_was_put)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    struct attempt a = {.id = 99,
                        .experiment = 2,
                        .trial = 3,
                        .number = 4,
                        .state = ATTEMPT_ENDED,
                        .reason = REASON_OOM,
                        .started_us = 1,
                        .ended_us = 2,
                        .run_us = 3,
                        .cpu_us = 4,
                        .max_rss_bytes = 1ull << 40,
                        .dropped_bytes = 5,
                        .exit_status = -1,
                        .signal = 9,
                        .error = (char *)"it died",
                        .gpus = (char *)"0,1",
                        .host = (char *)"box",
                        .code = (char *)"cd",
                        .pid = 4711};
    struct txn *txn = txn_new();
    txn_put_attempt(txn, &a);
    apply(store, txn);

    struct attempt got = {0};
    assert_ok(store_attempts(store, 2, 3, false, keep_attempt, &got, &err), &err);
    assert_int_equal(got.id, 99);
    assert_int_equal(got.experiment, 2);
    assert_int_equal(got.trial, 3);
    assert_int_equal(got.number, 4);
    assert_int_equal(got.state, ATTEMPT_ENDED);
    assert_int_equal(got.reason, REASON_OOM);
    assert_int_equal(got.cpu_us, 4);
    assert_true(got.max_rss_bytes == 1ull << 40);
    assert_int_equal(got.dropped_bytes, 5);
    assert_int_equal(got.exit_status, -1);
    assert_int_equal(got.signal, 9);
    assert_int_equal(got.pid, 4711);
    assert_string_equal(got.error, "it died");
    assert_string_equal(got.gpus, "0,1");
    assert_string_equal(got.host, "box");
    assert_string_equal(got.code, "cd");
    attempt_release(&got);
}

static int count_attempt(const struct attempt *attempt, void *arg)
{
    int64_t *sum = arg;
    *sum = *sum * 10 + attempt->id;
    return 0;
}

TEST(attempts_are_found_by_trial_experiment_and_life)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    struct attempt rows[] = {
        {.id = 1, .experiment = 1, .trial = 2, .number = 1, .state = ATTEMPT_ENDED},
        {.id = 2, .experiment = 1, .trial = 1, .number = 1, .state = ATTEMPT_RUNNING},
        {.id = 3, .experiment = 1, .trial = 2, .number = 2, .state = ATTEMPT_STARTING},
        {.id = 4, .experiment = 2, .trial = 1, .number = 1, .state = ATTEMPT_RUNNING},
    };
    static const struct {
        int64_t experiment, trial;
        bool live;
        int64_t want;
    } cases[] = {{1, 2, false, 13}, {1, 0, false, 213}, {1, 0, true, 23}, {0, 0, true, 234},
                 {1, 2, true, 3},   {2, 0, false, 4},   {3, 0, false, 0}};
    struct txn *txn = txn_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        txn_put_attempt(txn, &rows[i]);
    apply(store, txn);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t got = 0;
        assert_ok(store_attempts(store, cases[i].experiment, cases[i].trial, cases[i].live,
                                 count_attempt, &got, &err),
                  &err);
        assert_int_equal(got, cases[i].want);
    }
}

static int keep_summary(int64_t trial, const struct summary *summary, void *arg)
{
    struct summary *to = arg;
    summary_release(to);
    *to = *summary;
    to->metric = xstrdup(summary->metric);
    assert_int_equal(trial, 7);
    return 0;
}

TEST(a_summary_comes_back_as_it_was_put)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    struct summary s = {.metric = (char *)"val/größe",
                        .count = 10,
                        .last = NAN,
                        .min = -1e300,
                        .max = INFINITY,
                        .last_step = -5,
                        .first_nan_step = STEP_NONE};
    struct txn *txn = txn_new();
    txn_put_summary(txn, 1, 7, &s);
    s.count = 11;
    txn_put_summary(txn, 1, 7, &s);
    apply(store, txn);

    struct summary got = {0};
    assert_ok(store_summaries(store, 1, 0, keep_summary, &got, &err), &err);
    assert_string_equal(got.metric, "val/größe");
    assert_int_equal(got.count, 11);
    assert_true(isnan(got.last) && got.min == -1e300 && isinf(got.max));
    assert_int_equal(got.last_step, -5);
    assert_true(got.first_nan_step == STEP_NONE);
    summary_release(&got);
}

static int join_event(int64_t id, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    str_addf(arg, "%lld/%lld/%lld/%s ", (long long)id, (long long)time_us, (long long)trial, json);
    return 0;
}

TEST(events_come_in_order_after_the_last_seen)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    struct txn *txn = txn_new();
    txn_put_event(txn, 10, 1, 0, "a");
    txn_put_event(txn, 11, 2, 0, "other");
    txn_put_event(txn, 12, 1, 5, "b");
    txn_put_event(txn, 13, 1, 5, "c");
    apply(store, txn);

    autorelease(str) struct str all = STR_INIT;
    assert_ok(store_events(store, 1, 0, 0, join_event, &all, &err), &err);
    assert_string_equal(all.s, "1/10/0/a 2/12/5/b 3/13/5/c ");
    str_cut(&all, 0);
    assert_ok(store_events(store, 1, 1, 1, join_event, &all, &err), &err);
    assert_string_equal(all.s, "2/12/5/b ");
    str_cut(&all, 0);
    assert_ok(store_events_back(store, 1, 3, join_event, &all, &err), &err);
    assert_string_equal(all.s, "2/12/5/b 1/10/0/a ");
}

TEST(pauses_are_found_among_other_events)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    struct txn *txn = txn_new();
    txn_put_event(txn, 10, 1, 1, "{\"event\":\"trial_started\"}");
    txn_put_event(txn, 11, 1, 1, STORE_PAUSED "}");
    txn_put_event(txn, 12, 2, 1, STORE_PAUSED "}");
    txn_put_event(txn, 13, 1, 1, "{\"event\":\"trial_parked\"}");
    txn_put_event(txn, 14, 1, 1, STORE_RESUMED "}");
    txn_put_event(txn, 15, 1, 1, "{\"event\":\"trial_ended\"}");
    apply(store, txn);

    autorelease(str) struct str all = STR_INIT;
    assert_ok(store_pauses(store, 1, join_event, &all, &err), &err);
    assert_string_equal(all.s, "2/11/1/" STORE_PAUSED "} 4/14/1/" STORE_RESUMED "} ");
}

TEST(tags_notes_and_stars_belong_to_an_experiment_or_a_trial)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    struct experiment e = an_experiment(1);
    struct trial t = a_trial(1, 2, 1.0);
    struct txn *txn = txn_new();
    txn_put_experiment(txn, &e);
    txn_put_trial(txn, &t, 0, NULL);
    txn_tag(txn, 1, 0, "paper", true);
    txn_tag(txn, 1, 0, "gone", true);
    txn_tag(txn, 1, 0, "gone", false);
    txn_tag(txn, 1, 2, "b", true);
    txn_tag(txn, 1, 2, "a", true);
    txn_tag(txn, 1, 2, "a", true);
    txn_note(txn, 1, 0, "first try");
    txn_note(txn, 1, 2, "looks good");
    txn_star(txn, 1, 2, true);
    apply(store, txn);
    txn = txn_new();
    txn_put_trial(txn, &t, 0, NULL); /* a later put does not touch them */
    txn_put_experiment(txn, &e);
    apply(store, txn);

    autorelease(experiment_row) struct experiment_row row = {0};
    assert_ok(store_find_experiment(store, "mnist", false, &row, &err), &err);
    assert_int_equal(row.tags.len, 1);
    assert_string_equal(row.tags.at[0], "paper");
    assert_string_equal(row.note, "first try");
    assert_false(row.starred);
    autorelease(trial_row) struct trial_row trial = read_one(store, 1, 2);
    assert_int_equal(trial.tags.len, 2);
    assert_string_equal(trial.tags.at[0], "a");
    assert_string_equal(trial.tags.at[1], "b");
    assert_string_equal(trial.note, "looks good");
    assert_true(trial.starred);

    txn = txn_new();
    txn_note(txn, 1, 2, NULL);
    txn_star(txn, 1, 2, false);
    apply(store, txn);
    autorelease(trial_row) struct trial_row plain = read_one(store, 1, 2);
    assert_null(plain.note);
    assert_false(plain.starred);
}

/* ---- questions ---- */

static int join_number(const struct trial_row *row, void *arg)
{
    str_addf(arg, "%lld ", (long long)row->trial.number);
    return 0;
}

static void check_order(struct store *store, struct trial_query query, const char *want)
{
    autorelease(str) struct str got = STR_INIT;
    struct err err = ERR_INIT;
    query.experiment = 1;
    assert_ok(store_trials(store, &query, join_number, &got, &err), &err);
    assert_string_equal(got.s, want);
}

TEST(trials_come_in_the_order_that_was_asked_for)
{
    autofree(store) struct store *store = open_memory();
    struct trial trials[] = {a_trial(1, 1, 0.5), a_trial(1, 2, 0.9), a_trial(1, 3, 0.9),
                             a_trial(1, 4, 0.1), a_trial(1, 5, NAN), a_trial(1, 6, 99),
                             a_trial(2, 1, 7)};
    trials[5].state = TRIAL_FAILED;
    struct txn *txn = txn_new();
    for (size_t i = ARRAY_LEN(trials); i-- > 0;)
        txn_put_trial(txn, &trials[i], 0, NULL);
    apply(store, txn);

    check_order(store, (struct trial_query){0}, "1 2 3 4 5 6 ");
    check_order(store, (struct trial_query){.bare = true, .after = 4}, "5 6 ");
    check_order(store, (struct trial_query){.order = ORDER_NEWEST, .limit = 2}, "6 5 ");
    check_order(store, (struct trial_query){.order = ORDER_BEST, .goal = GOAL_MAXIMIZE},
                "2 3 1 4 ");
    check_order(store, (struct trial_query){.order = ORDER_BEST, .goal = GOAL_MINIMIZE, .limit = 3},
                "4 1 2 ");
    check_order(store, (struct trial_query){.number = 3}, "3 ");
    check_order(store, (struct trial_query){.number = 9}, "");
    check_order(store, (struct trial_query){.number = 3, .after = 3}, "");
    check_order(store, (struct trial_query){.number = ((int64_t)1 << 32) + 3}, "");
}

struct moment {
    struct store *reader, *writer;
    int64_t summaries;
};

static int count_summary(int64_t trial UNUSED, const struct summary *summary UNUSED, void *arg)
{
    ++*(int64_t *)arg;
    return 0;
}

/* Another one is written while the row is being told. */
static int write_and_count(const struct trial_row *row UNUSED, void *arg)
{
    struct moment *moment = arg;
    struct txn *txn = txn_new();
    char metric[] = "loss";

    txn_put_summary(txn, 1, 2, &(struct summary){.metric = metric, .count = 1});
    apply(moment->writer, txn);
    return store_summaries(moment->reader, 1, 2, count_summary, &moment->summaries, NULL);
}

TEST(what_a_callback_asks_is_of_the_moment_of_its_row)
{
    char *home = make_home();
    struct store *writer = open_home(home), *reader = NULL;
    struct trial_query query = {.experiment = 1, .number = 2};
    struct trial trial = a_trial(1, 2, 0.5);
    struct txn *txn = txn_new();

    txn_put_trial(txn, &trial, 0, "{}");
    txn_tag(txn, 1, 2, "a", true);
    apply(writer, txn);
    assert_int_equal(store_open_read(home, &reader, NULL), 0);
    struct moment moment = {.reader = reader, .writer = writer};
    assert_int_equal(store_trials(reader, &query, write_and_count, &moment, NULL), 0);
    assert_int_equal(moment.summaries, 0);
    assert_int_equal(store_summaries(reader, 1, 2, count_summary, &moment.summaries, NULL), 0);
    assert_int_equal(moment.summaries, 1);
    store_free(reader);
    store_free(writer);
    remove_home(home);
}

TEST(the_best_trial_follows_the_goal_and_ties_go_to_the_first)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    struct experiment up = an_experiment(1), down = an_experiment(2);
    down.spec_json = (char *)"{\"objective\":{\"metric\":\"loss\"}}";
    struct txn *txn = txn_new();
    txn_put_experiment(txn, &up);
    txn_put_experiment(txn, &down);
    double values[] = {0.5, 0.9, NAN, 0.9, 0.1, 0.1};
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        for (int e = 1; e <= 2; e++) {
            struct trial t = a_trial(e, (int64_t)i + 1, values[i]);
            txn_put_trial(txn, &t, 0, NULL);
        }
    struct trial failed = a_trial(1, 7, 5.0), queued = a_trial(2, 7, NAN);
    failed.state = TRIAL_FAILED;
    queued.state = TRIAL_QUEUED;
    txn_put_trial(txn, &failed, 0, NULL);
    txn_put_trial(txn, &queued, 0, NULL);
    apply(store, txn);

    autorelease(experiment_row) struct experiment_row one = {0}, two = {0};
    assert_ok(store_find_experiment(store, "1", false, &one, &err), &err);
    assert_int_equal(one.best_trial, 2);
    assert_true(one.best_value == 0.9);
    assert_int_equal(one.counts[TRIAL_COMPLETED], 6);
    assert_int_equal(one.counts[TRIAL_FAILED], 1);
    assert_ok(store_find_experiment(store, "2", false, &two, &err), &err);
    assert_int_equal(two.best_trial, 5);
    assert_int_equal(two.counts[TRIAL_QUEUED], 1);
}

static int join_experiment(const struct experiment_row *row, void *arg)
{
    str_addf(arg, "%lld:%s ", (long long)row->experiment.id, row->experiment.name);
    assert_non_null(row->experiment.spec_json);
    return row->experiment.id == 2 ? 42 : 0;
}

TEST(experiments_are_listed_newest_first_and_found_by_number_name_and_last)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    autorelease(experiment_row) struct experiment_row row = {0};
    assert_int_equal(store_find_experiment(store, "last", false, &row, &err), -ENOENT);
    struct txn *txn = txn_new();
    for (int64_t id = 1; id <= 4; id++) {
        struct experiment e = an_experiment(id);
        txn_put_experiment(txn, &e);
    }
    apply(store, txn);

    autorelease(str) struct str got = STR_INIT;
    assert_ok(store_experiments(store, 2, join_experiment, &got, &err), &err);
    assert_string_equal(got.s, "4:mnist 3:mnist ");
    assert_int_equal(store_experiments(store, 0, join_experiment, &got, &err), 42);
    static const char *const refs[] = {"mnist", "last", "4"};
    for (size_t i = 0; i < ARRAY_LEN(refs); i++) {
        autorelease(experiment_row) struct experiment_row found = {0};
        assert_ok(store_find_experiment(store, refs[i], false, &found, &err), &err);
        assert_int_equal(found.experiment.id, 4);
    }
    assert_int_equal(store_find_experiment(store, "9", false, &row, &err), -ENOENT);
    assert_string_equal(err_text(&err), "no experiment 9 in :memory:");
    assert_int_equal(store_find_experiment(store, "cifar", false, &row, &err), -ENOENT);
    assert_string_equal(err_text(&err), "no experiment called 'cifar' in :memory:");
    err_release(&err);
}

static int join_object(const char *sha256, const char *kind, uint64_t size, void *arg)
{
    str_addf(arg, "%s:%s:%llu ", sha256, kind, (unsigned long long)size);
    return 0;
}

TEST(objects_that_no_row_names_are_unused)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    struct experiment e = an_experiment(1);
    e.code = (char *)"code1";
    e.environment = (char *)"{\"git\":{\"patch\":\"patch1\",\"patch_bytes\":5}}";
    struct attempt a = {.id = 1, .experiment = 1, .trial = 1, .code = (char *)"code2"};
    struct txn *txn = txn_new();
    txn_put_experiment(txn, &e);
    txn_put_attempt(txn, &a);
    txn_put_object(txn, "code1", "code", 1, 100);
    txn_put_object(txn, "code2", "code", 2, 100);
    txn_put_object(txn, "code3", "code", 3, 100);
    txn_put_object(txn, "young", "code", 4, 900);
    txn_put_object(txn, "gone", "code", 4, 100);
    txn_remove_object(txn, "gone");
    apply(store, txn);

    autorelease(str) struct str got = STR_INIT;
    assert_ok(store_unused_objects(store, 500, join_object, &got, &err), &err);
    assert_string_equal(got.s, "code3:code:3 ");
    txn = txn_new();
    txn_remove_experiment(txn, 1);
    apply(store, txn);
    str_cut(&got, 0);
    assert_ok(store_unused_objects(store, 5000, join_object, &got, &err), &err);
    assert_string_equal(got.s,
                        "code1:code:1 code2:code:2 code3:code:3 patch1:patch:5 young:code:4 ");
}

/* ---- removal and ids ---- */

TEST(removed_ids_are_never_given_again)
{
    autofree(store) struct store *store = open_memory();
    struct err err = ERR_INIT;
    int64_t experiment, attempt;
    assert_ok(store_high_water(store, &experiment, &attempt, &err), &err);
    assert_int_equal(experiment, 0);
    assert_int_equal(attempt, 0);

    struct experiment e = an_experiment(8);
    struct trial t1 = a_trial(8, 1, 1), t2 = a_trial(8, 2, 2);
    struct attempt a = {.id = 40, .experiment = 8, .trial = 1, .number = 1};
    struct summary s = {.metric = (char *)"loss"};
    struct txn *txn = txn_new();
    txn_put_experiment(txn, &e);
    txn_put_trial(txn, &t1, 0, NULL);
    txn_put_trial(txn, &t2, 0, NULL);
    txn_put_attempt(txn, &a);
    txn_put_summary(txn, 8, 1, &s);
    txn_put_event(txn, 1, 8, 2, "{}");
    txn_put_event(txn, 1, 8, 1, "{}");
    txn_tag(txn, 8, 1, "x", true);
    apply(store, txn);

    txn = txn_new();
    txn_remove_trial(txn, 8, 1);
    txn_put_event(txn, 1, 8, 0, "new");
    apply(store, txn);
    int64_t left = 0;
    struct trial_query query = {.experiment = 8};
    assert_ok(store_trials(store, &query, count_row, &left, &err), &err);
    assert_int_equal(left, 1);
    autorelease(str) struct str events = STR_INIT;
    assert_ok(store_events(store, 8, 0, 0, join_event, &events, &err), &err);
    assert_string_equal(events.s, "1/1/2/{} 3/1/0/new ");

    txn = txn_new();
    txn_remove_experiment(txn, 8);
    apply(store, txn);
    assert_ok(store_high_water(store, &experiment, &attempt, &err), &err);
    assert_int_equal(experiment, 8);
    assert_int_equal(attempt, 40);
    static const char *const empty[] = {"experiment",
                                        "experiment_text",
                                        "experiment_search",
                                        "trial",
                                        "attempt",
                                        "summary",
                                        "event",
                                        "tag"};
    for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
        autofree(mem) char *sql = xasprintf("SELECT count(*) FROM %s", empty[i]);
        int64_t rows = -1;
        assert_ok(store_number(store, sql, -1, &rows, &err), &err);
        assert_int_equal(rows, 0);
    }
}

TEST(a_removal_ends_what_was_put_before_and_not_what_comes_after)
{
    autofree(store) struct store *store = open_memory();
    struct trial t = a_trial(1, 1, 1);
    struct txn *txn = txn_new();
    txn_put_trial(txn, &t, 0, "{\"old\":1}");
    txn_remove_trial(txn, 1, 1);
    txn_put_trial(txn, &t, 0, NULL);
    apply(store, txn);
    autorelease(trial_row) struct trial_row row = read_one(store, 1, 1);
    assert_int_equal(row.trial.number, 1);
    assert_null(row.params_json);
}

TEST_MAIN
