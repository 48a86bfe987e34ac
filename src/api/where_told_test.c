/* SPDX-License-Identifier: MIT */
/*
 * where_told_test.c — expressions know what somebody told of runs that Hone did not start: the
 * parameters of MLflow clients, the tags of lines.
 */
#include "api/where.h"
#include "store/testing.h"

#include <errno.h>

static const char spec_json[] = "{\"name\":\"seen\",\"command\":[\"true\"]}";
static const char *const told[] = {
    "{\"lr\":0.1,\"opt\":\"sgd\",\"layers\":3,\"flag\":true}",
    "{\"lr\":0.5,\"opt\":\"adam\",\"layers\":\"many\"}",
    "{\"lr\":null,\"opt\":\"it's\",\"host.name\":\"a b\"}",
    "{}",
    NULL,
};

struct fixture {
    char *home;
    struct store *store;
    struct target target;
};

static struct fixture make(void)
{
    struct fixture f = {.home = make_home()};
    struct txn *txn = txn_new();
    struct experiment experiment = an_experiment(1);
    struct err err = ERR_INIT;

    f.store = open_home(f.home);
    experiment.spec_json = (char *)spec_json;
    txn_put_experiment(txn, &experiment);
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        struct trial trial = a_trial(1, (int64_t)i + 1, (double)i);
        txn_put_trial(txn, &trial, 0, told[i]);
    }
    apply(f.store, txn);
    assert_ok(target_find(f.store, "1", FIND_EXPERIMENT, &f.target, &err), &err);
    return f;
}

static void release(struct fixture *f)
{
    target_release(&f->target);
    store_free(f->store);
    remove_home(f->home);
}

struct walk {
    struct where *where;
    struct str text; /* numbers of those that fit */
};

static int on_trial(const struct trial_row *row, void *arg)
{
    struct walk *walk = arg;
    struct err err = ERR_INIT;
    int r = where_trial(walk->where, row, &err);

    assert_true(r == 0 || r == 1);
    if (r)
        str_addf(&walk->text, "%s%lld", walk->text.len ? " " : "", (long long)row->trial.number);
    return 0;
}

/* What fits; or the sentence about what is wrong. */
static void check(struct fixture *f, const char *condition, const char *key, const char *expected)
{
    struct where_ask ask = {.home = f->home,
                            .store = f->store,
                            .target = &f->target,
                            .condition = condition,
                            .key = key};
    struct trial_query query = {.experiment = 1, .order = ORDER_NUMBER};
    autofree(where) struct where *where = NULL;
    struct walk walk = {.text = STR_INIT};
    autorelease(err) struct err err = ERR_INIT;

    int r = where_new(&ask, &where, &err);
    walk.where = where;
    if (r == 0)
        assert_true(store_trials(f->store, &query, on_trial, &walk, &err) >= 0);
    else
        str_add(&walk.text, err_text(&err));
    size_t n = 0;
    const int64_t *sorted = r == 0 && key ? where_sorted(where, &n) : NULL;
    if (key)
        str_cut(&walk.text, 0);
    for (size_t i = 0; i < n; i++)
        str_addf(&walk.text, "%s%lld", i ? " " : "", (long long)sorted[i]);
    assert_string_equal(walk.text.s, expected);
    str_release(&walk.text);
}

TEST(parameters_that_were_told_are_columns)
{
    struct fixture f = make();

    check(&f, "lr > 0.2", NULL, "2");
    check(&f, "lr is null", NULL, "3 4 5");
    check(&f, "param.lr < 0.2 and opt = 'sgd'", NULL, "1");
    check(&f, "opt ~ 'a|i'", NULL, "2 3");
    check(&f, "opt in ('it''s', 'sgd')", NULL, "1 3");
    check(&f, "flag = 'true'", NULL, "1");
    check(&f, "`host.name` = 'a b'", NULL, "3");
    release(&f);
}

TEST(one_text_among_numbers_makes_texts_of_all)
{
    struct fixture f = make();

    check(&f, "layers = '3'", NULL, "1");
    check(&f, "layers = 'many'", NULL, "2");
    release(&f);
}

TEST(rows_are_sorted_by_what_was_told)
{
    struct fixture f = make();

    check(&f, NULL, "opt", "2 3 1 4 5");
    check(&f, "number < 3", "-lr", "2 1");
    release(&f);
}

TEST(a_name_that_nobody_told_is_told_so)
{
    struct fixture f = make();

    check(&f, "lrr > 1", NULL, "--where: no column is called 'lrr': did you mean 'lr'?");
    release(&f);
}

TEST_MAIN
