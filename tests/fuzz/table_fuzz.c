/* SPDX-License-Identifier: MIT */
/*
 * table_fuzz.c — any bytes as a question about a table: a filter, an order and columns, a line
 * each; the first byte says which part of the rows is looked at, and which way round. An error with
 * a sentence, or a page. What must hold: an order changes no row, and a part of the sorted rows is
 * that part of all of them.
 */
#include "api/table_page.h"

#include <assert.h>
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define TRIALS 40

static const char spec_json[] =
    "{\"name\":\"x\",\"command\":[\"true\"],\"objective\":{\"metric\":\"loss\","
    "\"goal\":\"minimize\"},\"params\":{\"lr\":{\"min\":0,\"max\":1},"
    "\"opt\":[\"sgd\",\"adam\"],\"batch\":[64,32],\"mix\":[1,\"a\",true,null]}}";

static void put_trial(struct txn *txn, int64_t number)
{
    double point[] = {(double)(number % 7) / 7, (double)(number % 2), (double)(number % 2),
                      (double)(number % 4)};
    double loss = number % 5 ? (double)(number * 13 % 17) - 5 : NAN;
    struct trial trial = {.experiment = 1,
                          .number = number,
                          .state = (enum trial_state)(number % TRIAL_STATES),
                          .point = point,
                          .value = loss,
                          .best = loss,
                          .attempts = number % 3,
                          .last_step = number % 4 ? number : STEP_NONE,
                          .first_nan_step = STEP_NONE};
    char metric[] = "loss";
    struct summary summary = {metric, number, loss, loss - 1, loss + 1, 2, STEP_NONE};

    txn_put_trial(txn, &trial, ARRAY_LEN(point), "{}");
    if (number % 6)
        txn_put_summary(txn, 1, number, &summary);
    if (number % 8 == 0)
        txn_tag(txn, 1, number, "good", true);
}

static struct store *make_store(void)
{
    struct store *store = NULL;
    autofree(txn) struct txn *txn = txn_new();
    struct experiment experiment = {.id = 1, .name = (char *)"x", .spec_json = (char *)spec_json};

    int r = store_open_memory(&store, NULL);
    txn_put_experiment(txn, &experiment);
    for (int64_t i = 1; i <= TRIALS; i++)
        put_trial(txn, i);
    if (r == 0)
        r = store_apply(store, txn, NULL);
    assert(r == 0);
    return store;
}

static bool asked(struct trial_table *table, const struct table_ask *ask, uint32_t **ret_rows,
                  size_t *ret_n)
{
    autorelease(err) struct err err = ERR_INIT;
    int r = trial_table_select(table, ask, ret_rows, ret_n, &err);

    assert(r >= 0 || *err_text(&err));
    return r >= 0;
}

static void check_order(struct trial_table *table, const struct table_ask *ask,
                        const uint32_t *part, size_t n)
{
    struct table_ask whole = *ask;
    autofree(mem) uint32_t *rows = NULL;
    bool seen[TRIALS] = {false};
    size_t all = 0;

    whole.first = whole.last = 0;
    if (!asked(table, &whole, &rows, &all))
        abort();
    assert(all == n && n <= TRIALS);
    for (size_t i = 0; i < n; i++) {
        assert(rows[i] < TRIALS && !seen[rows[i]]);
        seen[rows[i]] = true;
        assert(i < ask->first || i >= ask->last || part[i] == rows[i]);
    }
}

static void check_page(struct trial_table *table, struct store *store, const char *names,
                       const uint32_t *rows, size_t n)
{
    struct page_columns columns = {0};
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;
    autofree(json) json_t *parsed = NULL;
    struct json_out out = JSON_OUT(&text);

    if (page_columns_parse(&columns, table, names, &err) < 0) {
        assert(*err_text(&err));
    } else {
        json_begin_array(&out);
        page_put_columns(&out, table, &columns);
        int r = page_put_rows(&out, table, store, &columns, rows, n, &err);
        json_end_array(&out);
        assert(r >= 0);
        r = json_parse(text.s, text.len, &parsed, NULL);
        assert(r == 0 && json_array_size(json_array_get(parsed, 1)) == n);
    }
    page_columns_release(&columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct store *store;
    static struct trial_table *table; /* reads its metrics when the first question names one */
    autofree(mem) char *text = n ? xstrndup((const char *)bytes + 1, n - 1) : NULL;
    autofree(mem) uint32_t *rows = NULL;
    size_t matched = 0;

    if (!store)
        store = make_store();
    if (!table && trial_table_new(store, 1, spec_json, &table, NULL) < 0)
        abort();
    if (!text)
        return 0;
    char *rest = text, *where = strsep(&rest, "\n"), *sort = strsep(&rest, "\n");
    struct table_ask ask = {.home = "/nonexistent",
                            .store = store,
                            .where = where && *where ? where : NULL,
                            .sort = sort && *sort ? sort : NULL,
                            .desc = bytes[0] & 1,
                            .first = bytes[0] >> 3,
                            .last = (size_t)(bytes[0] >> 3) + (bytes[0] & 7) + 1};
    if (asked(table, &ask, &rows, &matched)) {
        check_order(table, &ask, rows, matched);
        check_page(table, store, rest ? rest : "number", rows, MIN(matched, (size_t)3));
    }
    return 0;
}
