/* SPDX-License-Identifier: MIT */
/*
 * mlflow_filter_fuzz.c — any text as a filter string and as an order of MLflow. What must hold: no
 * crash; a sentence where it is refused; what is taken is the same each time, and a clause and its
 * opposite never both hold.
 */
#include "api/mlflow_filter.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct mlflow_attribute attributes[] = {
    {"run_id", 1, false, true},
    {"start_time", 2, true, false},
    {"status", 3, false, false},
    {NULL, 0, false, false},
};

/* Of every name: there or not, a number and a text, all by its length. */
static struct mlflow_value get(const void *row, const struct mlflow_name *name)
{
    static const char *const texts[] = {"", "a", "abc", "0.5", "RUNNING"};
    size_t n = strlen(name->key) + (name->entity == MLFLOW_TAG);
    (void)row;
    return (struct mlflow_value){n % 3 != 0, (double)n / 2, texts[n % ARRAY_LEN(texts)]};
}

static bool dataset(const void *row, const struct mlflow_clause *clause)
{
    struct mlflow_value value = get(row, &clause->name);
    return mlflow_holds(clause, &value);
}

static void check_opposite(struct mlflow_clause *clause)
{
    struct mlflow_value value = get(NULL, &clause->name);
    bool holds = mlflow_holds(clause, &value), opposite;

    if (clause->op != MLFLOW_EQ && clause->op != MLFLOW_IN && clause->op != MLFLOW_IS_NULL)
        return;
    clause->op = clause->op == MLFLOW_EQ   ? MLFLOW_NE
                 : clause->op == MLFLOW_IN ? MLFLOW_NOT_IN
                                           : MLFLOW_IS_NOT_NULL;
    opposite = mlflow_holds(clause, &value);
    assert(!(holds && opposite));
    assert(holds || opposite || !value.there);
    (void)holds;
    (void)opposite;
}

static void check_filter(const char *text, const struct mlflow_language *language)
{
    struct mlflow_filter filter = {NULL, 0, 0};
    autorelease(err) struct err err = ERR_INIT;
    int r = mlflow_filter_parse(text, language, &filter, &err);

    assert(r == 0 || err_text(&err)[0]);
    if (r == 0) {
        bool first = mlflow_matches(&filter, NULL, get, dataset);
        assert(first == mlflow_matches(&filter, NULL, get, dataset));
        (void)first;
        vec_foreach (clause, &filter)
            check_opposite(clause);
    }
    mlflow_filter_release(&filter);
}

static void check_order(const char *text, const struct mlflow_language *language)
{
    struct mlflow_order order = {.descending = false};
    autorelease(err) struct err err = ERR_INIT;
    int r = mlflow_order_parse(text, language, &order, &err);

    assert(r == 0 || err_text(&err)[0]);
    if (r == 0) {
        struct mlflow_value a = get(NULL, &order.name), b = {true, 1, "b"};
        assert(mlflow_compare(&order, &a, &b) * mlflow_compare(&order, &b, &a) <= 0);
        assert(mlflow_compare(&order, &a, &a) == 0);
        (void)a;
        (void)b;
    }
    mlflow_order_release(&order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autofree(mem) char *text = xstrndup((const char *)data, size);
    const struct mlflow_language runs = {attributes, true}, others = {attributes, false};

    check_filter(text, &runs);
    check_filter(text, &others);
    check_order(text, &runs);
    return 0;
}
