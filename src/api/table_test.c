/* SPDX-License-Identifier: MIT */
/*
 * table_test.c — a table tells what the database has, follows what is written, and finds the rows
 * that the command line would find.
 */
#include "api/table_page.h"
#include "api/tables.h"
#include "api/where.h"
#include "base/rng.h"
#include "store/artifact.h"
#include "store/testing.h"

#include <errno.h>
#include <math.h>

static const char spec_json[] =
    "{\"name\":\"x\",\"command\":[\"true\"],\"objective\":{\"metric\":\"loss\","
    "\"goal\":\"minimize\"},\"params\":{\"lr\":{\"min\":0,\"max\":1},"
    "\"opt\":[\"sgd\",\"adam\"],\"batch\":[64,32]}}";

struct fixture {
    char *home;
    struct store *store;
    struct changes *changes;
    struct tables *tables;
};

static struct fixture make(void)
{
    struct fixture f = {.home = make_home(), .changes = changes_new()};
    struct txn *txn = txn_new();
    struct experiment experiment = an_experiment(1);

    f.store = open_home(f.home);
    store_tell(f.store, f.changes);
    experiment.spec_json = (char *)spec_json;
    txn_put_experiment(txn, &experiment);
    apply(f.store, txn);
    f.tables = tables_new(f.changes, TABLES_BYTES);
    return f;
}

static void release(struct fixture *f)
{
    tables_free(f->tables);
    store_free(f->store);
    changes_free(f->changes);
    remove_home(f->home);
}

static void put_at(struct txn *txn, int64_t number, double lr, size_t opt, double loss)
{
    double point[] = {lr, (double)opt, (double)(number % 2)};
    struct trial trial = a_trial(1, number, loss);
    char metric[] = "loss";
    struct summary summary = {metric, 3, loss, loss - 1, loss + 1, 2, STEP_NONE};

    trial.point = point;
    trial.attempts = 1;
    txn_put_trial(txn, &trial, ARRAY_LEN(point), "{}");
    txn_put_summary(txn, 1, number, &summary);
}

static void put(struct fixture *f, int64_t number, double lr, size_t opt, double loss)
{
    struct txn *txn = txn_new();
    put_at(txn, number, lr, opt, loss);
    apply(f->store, txn);
}

static struct trial_table *table_of(struct fixture *f)
{
    struct trial_table *table = NULL;
    struct err err = ERR_INIT;
    assert_ok(tables_get(f->tables, f->store, 1, &table, &err), &err);
    return table;
}

/* The numbers of the rows, "3 1 2"; or the sentence that was told. */
static void find(struct fixture *f, const char *where, const char *sort, bool desc, struct str *to)
{
    struct trial_table *table = table_of(f);
    struct table_ask ask = {
        .home = f->home, .store = f->store, .where = where, .sort = sort, .desc = desc};
    autofree(mem) uint32_t *rows = NULL;
    autorelease(err) struct err err = ERR_INIT;
    size_t n = 0;

    str_cut(to, 0);
    if (trial_table_select(table, &ask, &rows, &n, &err) < 0) {
        str_add(to, err_text(&err));
        return;
    }
    for (size_t i = 0; i < n; i++)
        str_addf(to, "%s%lld", i ? " " : "", (long long)trial_table_number(table, rows[i]));
}

static void check_found(struct fixture *f, const char *where, const char *sort, bool desc,
                        const char *expected)
{
    autorelease(str) struct str text = STR_INIT;
    find(f, where, sort, desc, &text);
    assert_string_equal(text.s, expected);
}

TEST(rows_are_filtered_by_fields_parameters_and_metrics)
{
    struct fixture f = make();
    put(&f, 1, 0.1, 0, 5);
    put(&f, 2, 0.5, 1, 3);
    put(&f, 3, 0.9, 1, 4);
    check_found(&f, NULL, NULL, false, "1 2 3");
    check_found(&f, NULL, NULL, true, "3 2 1");
    check_found(&f, "lr > 0.2", NULL, false, "2 3");
    check_found(&f, "opt = 'adam' and batch = 64", NULL, false, "2");
    check_found(&f, "batch < 40", NULL, false, "1 3");
    check_found(&f, "state = 'completed' and number >= 2", NULL, false, "2 3");
    check_found(&f, "loss < 4.5", NULL, false, "2 3");
    check_found(&f, "min(loss) < 3 and max(loss) < 4.5", NULL, false, "2");
    check_found(&f, "tags = 'a' or note is not null", NULL, false, "");
    release(&f);
}

TEST(rows_are_sorted_by_columns_and_expressions)
{
    struct fixture f = make();
    put(&f, 1, 0.1, 0, 5);
    put(&f, 2, 0.5, 1, -3);
    put(&f, 3, 0.9, 1, NAN);
    check_found(&f, NULL, "params.lr", true, "3 2 1");
    check_found(&f, NULL, "params.opt", false, "2 3 1"); /* by its words */
    check_found(&f, NULL, "params.batch", false, "1 3 2");
    check_found(&f, NULL, "metrics.loss.last", false, "2 1 3");
    check_found(&f, NULL, "metrics.loss.last", true, "1 2 3"); /* NaN last all the same */
    check_found(&f, NULL, "metrics.other.last", false, "1 2 3");
    check_found(&f, "lr < 0.8", "0 - lr", false, "2 1");
    check_found(&f, NULL, "params.none", false,
                "sort: no column is called 'params.none' (a text is written in quotes)");
    check_found(&f, NULL, "opt", true, "1 2 3");
    release(&f);
}

TEST(a_wrong_expression_gets_the_sentence_of_the_command_line)
{
    struct fixture f = make();
    struct target target = {.has_trial = false};
    autorelease(str) struct str text = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    struct where *where = NULL;
    struct where_ask ask = {
        .home = f.home, .store = f.store, .target = &target, .condition = "lrr > 1"};

    put(&f, 1, 0.1, 0, 5);
    assert_ok(target_find(f.store, "1", FIND_EXPERIMENT, &target, &err), &err);
    assert_int_equal(where_new(&ask, &where, &err), -EINVAL);
    find(&f, "lrr > 1", NULL, false, &text);
    assert_string_equal(text.s, err_text(&err) + strlen("--"));
    target_release(&target);
    release(&f);
}

TEST(a_table_follows_what_is_written)
{
    struct fixture f = make();
    for (int64_t i = 1; i <= 600; i++)
        put(&f, i, (double)i / 1000, 0, (double)i);
    check_found(&f, "loss < 2.5", NULL, false, "1 2");
    put(&f, 601, 0.3, 1, 1.5);
    put(&f, 1, 0.3, 1, 7);
    struct txn *txn = txn_new();
    txn_tag(txn, 1, 2, "it's <b>", true);
    txn_note(txn, 1, 3, "note");
    apply(f.store, txn);
    check_found(&f, "loss < 2.5", NULL, false, "2 601");
    check_found(&f, "'it''s <b>' in tags", NULL, false, "2");
    check_found(&f, "note = 'note'", NULL, false, "3");
    txn = txn_new();
    txn_remove_trial(txn, 1, 2);
    apply(f.store, txn);
    check_found(&f, "loss < 2.5", NULL, false, "601");
    release(&f);
}

TEST(a_table_that_was_thrown_away_comes_back)
{
    struct fixture f = make();
    struct digest digest;
    put(&f, 1, 0.1, 0, 5);
    tables_free(f.tables);
    f.tables = tables_new(f.changes, 0); /* only the one in use stays */
    check_found(&f, NULL, NULL, false, "1");
    put(&f, 2, 0.1, 0, 4);
    check_found(&f, NULL, NULL, false, "1 2");
    assert_int_equal(tables_digest(f.tables, f.store, 1, &digest, NULL), 0);
    assert_int_equal(digest.trials, 2);
    assert_int_equal(digest.counts[TRIAL_COMPLETED], 2);
    assert_int_equal(digest.best_trial, 2);
    assert_int_equal(digest.n_spark, 2);
    assert_true(digest.spark[0] == 5 && digest.spark[1] == 4);
    assert_int_equal(tables_digest(f.tables, f.store, 9, &digest, NULL), -ENOENT);
    release(&f);
}

static void put_joules(struct fixture *f, int64_t number, double joules, bool measured)
{
    struct txn *txn = txn_new();
    struct trial trial = a_trial(1, number, 1);

    trial.joules = joules;
    trial.joules_measured = measured;
    txn_put_trial(txn, &trial, 0, "{}");
    apply(f->store, txn);
}

/* The table and the database agree, but for the order in which they add. */
static void check_energy(struct fixture *f, bool measured)
{
    struct target target = {.has_trial = false};
    struct digest digest;
    struct sums sums;
    double joules = -1;
    bool all = !measured;

    spec_init(&target.spec);
    assert_int_equal(tables_digest(f->tables, f->store, 1, &digest, NULL), 0);
    tables_sums(f->tables, f->store, &target, &digest, &sums);
    assert_int_equal(store_energy(f->store, 1, &joules, &all, NULL), 0);
    assert_true(fabs(sums.joules - joules) <= 1e-12 * fabs(joules));
    assert_true(sums.measured == measured && all == measured);
    assert_true(sums.changes == 0 && sums.cost_s == 0);
    target_release(&target);
}

TEST(a_table_knows_the_energy_of_its_trials)
{
    struct fixture f = make();

    check_energy(&f, true);
    for (int64_t i = 1; i <= 40; i++) /* a table grows by doubling */
        put_joules(&f, i, i % 3 ? 0.1 * (double)i : 0, i % 3 != 0);
    put_joules(&f, 41, 1e17, true);
    check_energy(&f, true);
    put_joules(&f, 7, 0.3, false);
    check_energy(&f, false);
    put_joules(&f, 7, 0.3, true);
    check_energy(&f, true);
    release(&f);
}

static struct sums sums_of(struct fixture *f, const struct target *target)
{
    struct digest digest;
    struct sums sums;

    assert_int_equal(tables_digest(f->tables, f->store, 1, &digest, NULL), 0);
    tables_sums(f->tables, f->store, target, &digest, &sums);
    return sums;
}

TEST(what_tuning_did_is_kept_once_the_experiment_has_ended)
{
    struct fixture f = make();
    struct target target = {.has_trial = false};
    struct err err = ERR_INIT;
    struct experiment experiment = an_experiment(1);
    struct txn *txn = txn_new();

    experiment.spec_json = (char *)"{\"name\":\"x\",\"command\":[\"true\"],"
                                   "\"system\":{\"threads\":[1,2]}}";
    experiment.state = EXPERIMENT_FINISHED;
    txn_put_experiment(txn, &experiment);
    apply(f.store, txn);
    put_joules(&f, 1, 2, true);
    assert_ok(target_find(f.store, "1", FIND_EXPERIMENT, &target, &err), &err);
    assert_true(sums_of(&f, &target).joules == 2);
    store_tell(f.store, NULL); /* written without a word: what was kept is told */
    put_joules(&f, 1, 3, false);
    assert_true(sums_of(&f, &target).joules == 2);
    store_tell(f.store, f.changes);
    put_joules(&f, 1, 4, false);
    assert_true(sums_of(&f, &target).joules == 4);
    assert_false(sums_of(&f, &target).measured);
    target_release(&target);
    release(&f);
}

static void keep_answer(struct fixture *f, int64_t question, const char *text)
{
    autorelease(str) struct str answer = STR_INIT;

    str_add(&answer, text);
    table_of(f);
    tables_keep_answer(f->tables, 1, question, &answer);
}

static void check_answer(struct fixture *f, int64_t question, const char *wanted)
{
    const struct str *kept = tables_answer(f->tables, 1, question);
    assert_string_equal(kept ? kept->s : "none", wanted);
}

TEST(an_answer_is_kept_until_anything_of_its_experiment_is_written)
{
    struct fixture f = make();
    struct txn *txn = txn_new();
    struct experiment experiment = an_experiment(1);

    put(&f, 1, 0.1, 0, 5);
    check_answer(&f, 7, "none");
    keep_answer(&f, 7, "seven");
    check_answer(&f, 7, "seven");
    check_answer(&f, 8, "none");
    keep_answer(&f, 8, "eight");
    check_answer(&f, 7, "none");
    check_answer(&f, 8, "eight");
    put(&f, 1, 0.1, 0, 4);
    check_answer(&f, 8, "none");
    keep_answer(&f, 8, "again");
    txn_put_experiment(txn, &experiment); /* resumed, perhaps */
    apply(f.store, txn);
    check_answer(&f, 8, "none");
    release(&f);
}

TEST(a_filter_that_takes_too_long_is_given_up)
{
    struct fixture f = make();
    struct table_ask ask = {
        .home = f.home, .store = f.store, .where = "mean(loss) < 9", .until_us = 1};
    autorelease(err) struct err err = ERR_INIT;
    uint32_t *rows = NULL;
    size_t n;

    put(&f, 1, 0.1, 0, 5);
    assert_int_equal(trial_table_select(table_of(&f), &ask, &rows, &n, &err), -EAGAIN);
    assert_non_null(strstr(err_text(&err), "takes too long"));
    err_release(&err);
    ask.where = "loss < 9"; /* columns tell: there is nothing to wait for */
    assert_int_equal(trial_table_select(table_of(&f), &ask, &rows, &n, &err), 0);
    assert_int_equal(n, 1);
    free(rows);
    release(&f);
}

/* Every part of a page is where it would be if all were sorted. */
TEST(any_page_of_a_sorted_table_is_a_part_of_the_whole)
{
    struct fixture f = make();
    struct rng rng;
    struct txn *txn = txn_new();
    autofree(mem) uint32_t *all = NULL;
    size_t n = 0;

    rng_init(&rng, 7, 0);
    for (int64_t i = 1; i <= 500; i++)
        put_at(txn, i, (double)rng_below(&rng, 50) / 50, rng_below(&rng, 2), (double)i);
    apply(f.store, txn);
    struct trial_table *table = table_of(&f);
    struct table_ask ask = {.home = f.home, .store = f.store, .sort = "params.lr"};
    assert_int_equal(trial_table_select(table, &ask, &all, &n, NULL), 0);
    assert_int_equal(n, 500);
    for (ask.first = 0; ask.first < 500; ask.first += 37) {
        autofree(mem) uint32_t *rows = NULL;
        ask.last = ask.first + 50;
        assert_int_equal(trial_table_select(table, &ask, &rows, &n, NULL), 0);
        for (size_t i = ask.first; i < MIN(ask.last, n); i++)
            assert_int_equal(rows[i], all[i]);
    }
    release(&f);
}

/* ---- pages ---- */

static void page(struct fixture *f, const char *names, struct str *to)
{
    struct trial_table *table = table_of(f);
    struct page_columns columns = {0};
    struct json_out out = JSON_OUT(to);
    const uint32_t rows[] = {0, 1};
    struct err err = ERR_INIT;

    if (names)
        assert_ok(page_columns_parse(&columns, table, names, &err), &err);
    else
        assert_ok(page_columns_default(&columns, table, f->store, rows, 2, &err), &err);
    page_put_columns(&out, table, &columns);
    out.comma = false;
    assert_ok(page_put_rows(&out, table, f->store, &columns, rows, 2, &err), &err);
    page_columns_release(&columns);
}

TEST(a_page_has_its_columns_in_order_and_a_row_each)
{
    struct fixture f = make();
    autorelease(str) struct str text = STR_INIT;
    put(&f, 1, 0.25, 0, 5);
    put(&f, 2, 0.5, 1, NAN);
    page(&f, "number,params.opt,metrics.loss.last,metrics.loss.min,metrics.none.max,starred",
         &text);
    assert_non_null(strstr(text.s, "{\"name\":\"params.opt\",\"kind\":\"param\",\"type\":\"text\","
                                   "\"min\":null,\"max\":null,\"choices\":[\"sgd\",\"adam\"]}"));
    assert_non_null(
        strstr(text.s, "][[1,\"sgd\",5,4,null,false],[2,\"adam\",\"nan\",null,null,false]]"));
    str_cut(&text, 0);
    page(&f, NULL, &text);
    assert_non_null(strstr(text.s, "\"metrics.loss.last\""));
    assert_non_null(strstr(text.s, "[[1,\"completed\",5,0.25,\"sgd\",32,5,0,null]"));
    release(&f);
}

/* Nobody should look for what a page was just told. */
TEST(a_page_has_stars_tags_and_names_of_runs_where_there_are_some)
{
    struct fixture f = make();
    autorelease(str) struct str text = STR_INIT;
    struct txn *txn = txn_new();
    put(&f, 1, 0.25, 0, 5);
    put(&f, 2, 0.5, 1, 6);
    txn_star(txn, 1, 2, true);
    txn_tag(txn, 1, 1, "paper", true);
    txn_put_run(txn, 1, 2, "{\"name\":\"fox\"}");
    apply(f.store, txn);
    page(&f, NULL, &text);
    assert_non_null(strstr(text.s, "{\"name\":\"run_name\",\"kind\":\"field\",\"type\":\"text\""));
    assert_non_null(strstr(text.s,
                           "[[1,\"completed\",null,5,0.25,\"sgd\",32,5,0,null,false,[\"paper\"]],"
                           "[2,\"completed\",\"fox\",6,0.5,"));
    release(&f);
}

/* Metrics come from the database until the table has read them. */
TEST(a_page_is_the_same_whoever_knows_its_metrics)
{
    struct fixture f = make();
    static const char names[] = "number,state,reason,value,created,started,tags,note,starred,"
                                "params.lr,params.batch,params.opt,metrics.loss.last,"
                                "metrics.loss.min,metrics.loss.max,metrics.loss.count,duration";
    static const char *const wanted[] = {
        "[1,\"completed\",null,5,null,null,[\"a\",\"b\"],\"it's\",true,0.25,32,\"sgd\",5,4,6,3,0]",
        "[2,\"completed\",null,null,null,null,[],null,false,0.5,64,\"adam\",\"nan\",null,null,3,"
        "0]"};
    autorelease(str) struct str read = STR_INIT, told = STR_INIT;
    struct txn *txn = txn_new();

    put_at(txn, 1, 0.25, 0, 5);
    put_at(txn, 2, 0.5, 1, NAN);
    txn_tag(txn, 1, 1, "b", true);
    txn_tag(txn, 1, 1, "a", true);
    txn_note(txn, 1, 1, "it's");
    txn_star(txn, 1, 1, true);
    apply(f.store, txn);
    page(&f, names, &read);
    assert_false(trial_table_has_metrics(table_of(&f)));
    assert_int_equal(trial_table_metrics(table_of(&f), f.store, NULL), 0);
    page(&f, names, &told);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        assert_non_null(strstr(read.s, wanted[i]));
        assert_non_null(strstr(told.s, wanted[i]));
    }
    release(&f);
}

TEST(the_range_of_a_column_is_that_of_its_finite_cells)
{
    struct fixture f = make();
    const double told[] = {NAN, 4, -INFINITY, -2.5, 7, INFINITY, NAN, 3, -3, 2};
    struct table_column column;
    double min, max;

    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        put(&f, (int64_t)i + 1, 0.5, 0, told[i]);
        assert_int_equal(trial_table_metrics(table_of(&f), f.store, NULL), 0);
        assert_int_equal(trial_table_column(table_of(&f), "metrics.loss.last", &column, NULL), 0);
        trial_table_range(table_of(&f), &column, &min, &max);
        assert_true(i < 1 ? isnan(min) : min == (i < 3 ? 4 : i < 8 ? -2.5 : -3));
        assert_true(i < 1 ? isnan(max) : max == (i < 4 ? 4 : 7));
    }
    assert_int_equal(trial_table_column(table_of(&f), "metrics.loss.count", &column, NULL), 0);
    trial_table_range(table_of(&f), &column, &min, &max);
    assert_true(min == 3 && max == 3);
    release(&f);
}

TEST(columns_that_are_not_there_are_refused_with_a_sentence)
{
    struct fixture f = make();
    struct page_columns columns = {0};
    autorelease(str) struct str many = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    struct trial_table *table = table_of(&f);

    static const char *const wrong[] = {"",
                                        "nope",
                                        "params.",
                                        "params.nope",
                                        "metrics.",
                                        "metrics.loss",
                                        "metrics..last",
                                        "number,,state",
                                        "params.lr'--",
                                        "metrics.x.median"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(page_columns_parse(&columns, table, wrong[i], &err), -EINVAL);
    for (int i = 0; i < 10000; i++)
        str_add(&many, i ? ",number" : "number");
    assert_int_equal(page_columns_parse(&columns, table, many.s, &err), -EINVAL);
    assert_string_equal(err_text(&err), "more than 1000 columns");
    page_columns_release(&columns);
    release(&f);
}

static void put_step(struct fixture *f, int64_t number, int64_t step)
{
    struct txn *txn = txn_new();
    double point[] = {0, 0, 0};
    struct trial trial = a_trial(1, number, 1);

    trial.point = point;
    trial.last_step = step;
    txn_put_trial(txn, &trial, ARRAY_LEN(point), "{}");
    apply(f->store, txn);
}

TEST(steps_of_64_bits_are_told_apart)
{
    struct fixture f = make();
    put_step(&f, 1, INT64_C(9007199254740992));
    put_step(&f, 2, INT64_C(9007199254740993));
    put_step(&f, 3, INT64_MAX);
    check_found(&f, "step = 9007199254740993", "number", false, "2");
    check_found(&f, "step > 9007199254740992", "number", false, "2 3");
    check_found(&f, "step < 9223372036854775807", "number", false, "1 2");
    put_step(&f, 2, INT64_C(9007199254740992));
    check_found(&f, "step = 9007199254740992", "number", false, "1 2");
    release(&f);
}

/* Runs that others track have no space: what they told is a column all the same. */
TEST(parameters_that_somebody_told_are_columns)
{
    struct fixture f = make();
    struct txn *txn = txn_new();
    struct experiment experiment = an_experiment(1);
    autorelease(str) struct str text = STR_INIT;

    experiment.spec_json = (char *)"{\"name\":\"x\",\"command\":[\"true\"]}";
    txn_put_experiment(txn, &experiment);
    for (int64_t i = 1; i <= 3; i++) {
        struct trial trial = a_trial(1, i, NAN);
        txn_put_trial(txn, &trial, 0,
                      i == 1   ? "{\"lr\":0.5,\"depth\":3}"
                      : i == 2 ? "{\"lr\":0.1,\"depth\":\"<deep>\"}"
                               : "{\"lr\":0.7}");
    }
    apply(f.store, txn);
    check_found(&f, "lr > 0.2", "params.lr", true, "3 1");
    check_found(&f, "depth = '<deep>'", NULL, false, "2");
    check_found(&f, NULL, "params.depth", false, "1 2 3");
    page(&f, "params.lr,params.depth", &text);
    assert_non_null(strstr(text.s, "[[0.5,3],[0.1,\"<deep>\"]]"));
    release(&f);
}

TEST_MAIN
