/* SPDX-License-Identifier: MIT */
/* mlflow_filter_test.c — filter strings and orders of MLflow against tables of rows. */
#include "api/mlflow_filter.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

enum { NAME, START, STATUS, ID };
static const struct mlflow_attribute attributes[] = {
    {"run_name", NAME, false, false},   {"Run name", NAME, false, false},
    {"start_time", START, true, false}, {"status", STATUS, false, false},
    {"run_id", ID, false, true},        {NULL, 0, false, false},
};
static const struct mlflow_language runs = {attributes, true}, others = {attributes, false};

/* One row: loss 0.5, acc NaN, lr '0.1', "batch size" '32', team 'Vision', mlflow.user 'ann', named
 * fox-1, started at 1000, FINISHED, id aa. */
static struct mlflow_value get(const void *row UNUSED, const struct mlflow_name *name)
{
    static const struct {
        enum mlflow_entity entity;
        const char *key, *text;
        double number;
    } has[] = {
        {MLFLOW_METRIC, "loss", NULL, 0.5},
        {MLFLOW_METRIC, "acc", NULL, NAN},
        {MLFLOW_METRIC, "val/loss", NULL, -1e-3},
        {MLFLOW_PARAM, "lr", "0.1", 0},
        {MLFLOW_PARAM, "batch size", "32", 0},
        {MLFLOW_PARAM, "quote", "it's", 0},
        {MLFLOW_TAG, "team", "Vision", 0},
        {MLFLOW_TAG, "mlflow.user", "ann", 0},
        {MLFLOW_ATTRIBUTE, "run_name", "fox-1", 0},
        {MLFLOW_ATTRIBUTE, "Run name", "fox-1", 0},
        {MLFLOW_ATTRIBUTE, "start_time", NULL, 1000},
        {MLFLOW_ATTRIBUTE, "status", "FINISHED", 0},
        {MLFLOW_ATTRIBUTE, "run_id", "aa", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(has); i++)
        if (has[i].entity == name->entity && str_eq(has[i].key, name->key))
            return (struct mlflow_value){true, has[i].number, has[i].text};
    return (struct mlflow_value){.there = false};
}

static bool dataset(const void *row UNUSED, const struct mlflow_clause *clause)
{
    struct mlflow_value value = {true, 0, str_eq(clause->name.key, "name") ? "mnist" : "abc"};
    return mlflow_holds(clause, &value);
}

TEST(filters_choose_rows_as_mlflow_does)
{
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        {"", true},
        {"  ", true},
        {"metrics.loss < 1", true},
        {"metric.loss <= 0.5", true},
        {"metrics.loss>0.5", false},
        {"metrics.loss != 0.5", false},
        {"metrics.`loss` = .5", true},
        {"metrics.\"loss\" >= 5e-1", true},
        {"metrics.`val/loss` < 0", true},
        {"metrics.val/loss >= -0.001", true},
        {"metrics.acc > 0", false},
        {"metrics.none > 0", false},
        {"metrics.none != 0", false},
        {"params.lr = '0.1'", true},
        {"parameters.lr = \"0.1\"", true},
        {"param.lr != '0.2'", true},
        {"params.\"batch size\" = '32'", true},
        {"params.`batch size` LIKE '3_'", true},
        {"params.quote = 'it''s'", true},
        {"params.none IS NULL", true},
        {"params.lr is not null", true},
        {"tags.team = 'Vision'", true},
        {"tags.team = 'vision'", false},
        {"tags.team LIKE 'vis%'", false},
        {"tags.team ilike 'VIS%'", true},
        {"tag.mlflow.user LIKE '%n%'", true},
        {"tags.`mlflow.user` != 'bob'", true},
        {"tags.none != 'x'", false},
        {"tags.none IS NOT NULL", false},
        {"attributes.start_time > 999", true},
        {"start_time = 1000", true},
        {"run_name LIKE 'fox%'", true},
        {"attr.`Run name` = 'fox-1'", true},
        {"run.status = 'FINISHED'", true},
        {"run_id IN ('aa', 'bb')", true},
        {"attributes.run_id NOT IN ('bb')", true},
        {"run_id IN ('bb')", false},
        {"dataset.name = 'mnist'", true},
        {"datasets.digest IN ('x','abc')", true},
        {"dataset.name LIKE 'c%'", false},
        {"metrics.loss < 1 and params.lr = '0.1' AND status='FINISHED'", true},
        {"metrics.loss < 1 and params.lr = '0.2'", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct mlflow_filter filter = {NULL, 0, 0};
        struct err err = ERR_INIT;
        assert_ok(mlflow_filter_parse(cases[i].text, &runs, &filter, &err), &err);
        if (mlflow_matches(&filter, NULL, get, dataset) != cases[i].holds)
            fail_msg("%s: %s", cases[i].text, cases[i].holds ? "should hold" : "should not hold");
        mlflow_filter_release(&filter);
    }
}

TEST(what_is_no_filter_is_refused_with_a_sentence)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"metrics.loss", "a comparison is expected"},
        {"metrics.loss < ", "numeric value"},
        {"metrics.loss < 'a'", "numeric value"},
        {"metrics.loss < 1 or metrics.loss > 2", "AND is expected"},
        {"metrics.loss < 1 and", "a clause is expected"},
        {"metrics.loss < 1x", "numeric value"},
        {"metrics.loss == 1", "Invalid comparator"},
        {"metrics.loss <> 1", "Invalid comparator"},
        {"metrics.loss LIKE 'a'", "Invalid comparator"},
        {"metrics.loss IS NULL", "only supported for tags and params"},
        {"params.lr = 0.1", "quoted string"},
        {"params.lr > '0.1'", "Invalid comparator"},
        {"params.lr IN ('a')", "list of quoted"},
        {"params.lr = '0.1", "not closed"},
        {"tags.`a = 'b'", "not closed"},
        {"models.x = 'a'", "Invalid entity type 'models'"},
        {"attributes.color = 'a'", "Invalid attribute key 'color'"},
        {"dataset.size = 'a'", "Invalid dataset key"},
        {"run_id IN ()", "quoted string"},
        {"run_id IN ('a'", "')' is expected"},
        {"run_id IN 'a'", "parentheses"},
        {"run_id NOT 'a'", "IN is expected"},
        {"tags.x IS 'a'", "NULL is expected"},
        {"< 1", "a name is expected"},
        {"metrics. < 1", "a name is expected"},
        {"params.lr = '0.1'; DROP TABLE run", "AND is expected"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct mlflow_filter filter = {NULL, 0, 0};
        autorelease(err) struct err err = ERR_INIT;
        assert_int_equal(mlflow_filter_parse(cases[i].text, &runs, &filter, &err), -EINVAL);
        if (!strstr(err_text(&err), cases[i].says))
            fail_msg("%s: %s", cases[i].text, err_text(&err));
        mlflow_filter_release(&filter);
    }
}

TEST(experiments_have_attributes_and_tags_alone)
{
    struct mlflow_filter filter = {NULL, 0, 0};
    autorelease(err) struct err err = ERR_INIT;

    assert_ok(mlflow_filter_parse("tags.team = 'Vision'", &others, &filter, &err), &err);
    assert_int_equal(mlflow_filter_parse("metrics.x > 1", &others, &filter, &err), -EINVAL);
    mlflow_filter_release(&filter);
}

static int compare(const char *order_text, struct mlflow_value a, struct mlflow_value b)
{
    struct mlflow_order order = {.descending = false};
    struct err err = ERR_INIT;

    assert_ok(mlflow_order_parse(order_text, &runs, &order, &err), &err);
    int less = mlflow_compare(&order, &a, &b);
    mlflow_order_release(&order);
    return less;
}

TEST(orders_put_absent_values_last_both_ways)
{
    const struct mlflow_value one = {true, 1, "1"}, two = {true, 2, "2"}, nan = {true, NAN, NULL},
                              none = {false, 0, NULL};

    assert_true(compare("metrics.x", one, two) < 0);
    assert_true(compare("metrics.x ASC", one, two) < 0);
    assert_true(compare("metric.`x y` desc", one, two) > 0);
    assert_true(compare("metrics.x DESC", one, nan) < 0);
    assert_true(compare("metrics.x", nan, none) < 0);
    assert_true(compare("params.\"a b\" DESC", two, none) < 0);
    assert_true(compare("tags.x", one, two) < 0);
    assert_int_equal(compare("attributes.start_time", one, one), 0);
    assert_true(compare("start_time DESC", one, two) > 0);
}

TEST(what_is_no_order_is_refused)
{
    static const char *const cases[] = {
        "",      "metrics",      "metrics.x up", "metrics.x desc desc",
        "color", "dataset.name", "metrics.`x"};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct mlflow_order order = {.descending = false};
        autorelease(err) struct err err = ERR_INIT;
        assert_int_equal(mlflow_order_parse(cases[i], &runs, &order, &err), -EINVAL);
        mlflow_order_release(&order);
    }
}

TEST(like_knows_any_text_and_any_character)
{
    assert_true(mlflow_like("", "", false));
    assert_true(mlflow_like("", "%%", false));
    assert_false(mlflow_like("", "_", false));
    assert_true(mlflow_like("abcabd", "%ab_", false));
    assert_false(mlflow_like("abcabd", "ab_", false));
    assert_true(mlflow_like("größe", "gr__e", false));
    assert_true(mlflow_like("aaaaaaaaaaaaaaaaaaaaaaaaaaab", "%a%a%a%a%a%a%b", false));
    assert_false(mlflow_like("ABC", "abc", false));
    assert_true(mlflow_like("ABC", "a%c", true));
}

TEST_MAIN
