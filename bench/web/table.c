/* SPDX-License-Identifier: MIT */
/*
 * table.c — how long the table of an experiment takes: read cold, brought up to date, filtered and
 * sorted.
 *
 *     table FOLDER [RUNS]
 *
 * Fills a home with an experiment of RUNS (100,000) runs, 20 parameters and 15 metrics, if FOLDER
 * does not exist. With the fields these are 50 columns. Prints a table: medians of 15 rounds, but
 * for what happens once.
 */
#include "api/table_page.h"
#include "api/tables.h"
#include "base/fs.h"
#include "base/rng.h"

#include <unistd.h>
#include <time.h>

#define PARAMS  20
#define METRICS 15
#define BATCH   1000
#define ROUNDS  15
#define GOAL_S  0.02

/* Wall time, and that of the processor: others may be at work on this machine. */
struct took {
    double wall_s, cpu_s;
};

static double seconds(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static struct took now(void)
{
    return (struct took){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static struct took since(struct took start)
{
    struct took end = now();
    return (struct took){end.wall_s - start.wall_s, end.cpu_s - start.cpu_s};
}

/* `goal_s` 0: none is asked for. */
static void tell(const char *what, struct took took, double goal_s, size_t fit, size_t bytes)
{
    char goal[16] = "–", met[16] = "–";

    if (goal_s > 0) {
        snprintf(goal, sizeof(goal), "≤ %.0f", goal_s * 1e3);
        snprintf(met, sizeof(met), "%s", took.wall_s <= goal_s ? "yes" : "**no**");
    }
    printf("| %s | %.1f | %.1f | %zu | %zu | %s | %s |\n", what, took.wall_s * 1e3,
           took.cpu_s * 1e3, fit, bytes / 1000, goal, met);
}

static void must(int r, const struct err *err)
{
    if (r >= 0)
        return;
    fprintf(stderr, "table: %s\n", err_text(err));
    exit(1);
}

/* ---- the home ---- */

static void put_spec(struct str *to)
{
    str_add(to, "{\"name\":\"bench\",\"command\":[\"true\"],\"objective\":{\"metric\":\"m0\","
                "\"goal\":\"minimize\"},\"params\":{");
    for (int i = 0; i < PARAMS; i++)
        str_addf(to, "%s\"p%d\":%s", i ? "," : "", i,
                 i % 5 == 4 ? "[\"adam\",\"sgd\",\"lion\"]" : "{\"min\":0,\"max\":1}");
    str_add(to, "}}");
}

static void put_run(struct txn *txn, int64_t number, struct rng *rng)
{
    double point[PARAMS];
    autorelease(str) struct str params = STR_INIT;
    struct trial trial = {.experiment = 1,
                          .number = number,
                          .state = number % 20 ? TRIAL_COMPLETED : TRIAL_FAILED,
                          .reason = number % 20 ? REASON_NONE : REASON_EXIT,
                          .point = point,
                          .value = rng_unit(rng),
                          .attempts = 1,
                          .last_step = 1000,
                          .first_nan_step = STEP_NONE,
                          .created_us = number * 1000000,
                          .started_us = number * 1000000,
                          .ended_us = number * 1000000 + 5000000,
                          .run_us = 5000000};
    for (int i = 0; i < PARAMS; i++) {
        point[i] = i % 5 == 4 ? (double)(number % 3) : rng_unit(rng);
        str_addf(&params, "%s\"p%d\":%.6g", i ? "," : "{", i, point[i]);
    }
    str_add_char(&params, '}');
    trial.best = trial.value;
    txn_put_trial(txn, &trial, PARAMS, params.s);
    for (int i = 0; i < METRICS; i++) {
        char name[8];
        double x = i ? rng_unit(rng) : trial.value;
        snprintf(name, sizeof(name), "m%d", i);
        struct summary summary = {name, 1000, x, x / 2, x * 2, 1000, STEP_NONE};
        txn_put_summary(txn, 1, number, &summary);
    }
}

static void fill(const char *home, int64_t runs)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    autorelease(str) struct str spec = STR_INIT;
    struct rng rng;

    rng_init(&rng, 1, 0);
    put_spec(&spec);
    must(store_open(home, &store, &err), &err);
    for (int64_t number = 1; number <= runs;) {
        autofree(txn) struct txn *txn = txn_new();
        struct experiment experiment = {.id = 1, .name = (char *)"bench", .spec_json = spec.s};
        txn_put_experiment(txn, &experiment);
        for (int i = 0; i < BATCH && number <= runs; i++)
            put_run(txn, number++, &rng);
        must(store_apply(store, txn, &err), &err);
    }
}

/* ---- the questions ---- */

struct question {
    const char *what, *where, *sort;
};
static const struct question questions[] = {
    {"first page", NULL, NULL},
    {"sorted by a metric", NULL, "metrics.m3.last"},
    {"filtered by two parameters", "p1 < 0.5 and p4 = 'adam'", NULL},
    {"filtered and sorted", "p1 < 0.5 and p4 = 'adam' and m2 < 0.8 and state = 'completed'",
     "metrics.m3.last"},
    {"filtered and sorted by an expression", "min(m2) < 0.2 or p2 > 0.9", "m3 * p1"},
};

static int by_size(const void *a, const void *b)
{
    const struct took *x = a, *y = b;
    return x->wall_s < y->wall_s ? -1 : x->wall_s > y->wall_s;
}

static struct took ask(struct tables *tables, struct store *store, const struct question *question,
                       size_t *ret_matched, size_t *ret_bytes)
{
    struct trial_table *table = NULL;
    struct table_ask ask = {.home = "/nonexistent",
                            .store = store,
                            .where = question->where,
                            .sort = question->sort,
                            .last = 200};
    struct page_columns columns = {0};
    autorelease(str) struct str text = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;
    autofree(mem) uint32_t *rows = NULL;
    struct json_out out = JSON_OUT(&text);
    struct took start = now();

    must(tables_get(tables, store, 1, &table, &err), &err);
    must(trial_table_select(table, &ask, &rows, ret_matched, &err), &err);
    size_t n = MIN(*ret_matched, (size_t)200);
    must(page_columns_default(&columns, table, store, rows, n, &err), &err);
    page_put_columns(&out, table, &columns);
    must(page_put_rows(&out, table, store, &columns, rows, n, &err), &err);
    page_columns_release(&columns);
    *ret_bytes = text.len;
    return since(start);
}

static void warm(struct tables *tables, struct store *store)
{
    for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
        struct took times[ROUNDS];
        size_t matched = 0, bytes = 0;
        for (int k = 0; k < ROUNDS; k++)
            times[k] = ask(tables, store, &questions[i], &matched, &bytes);
        qsort(times, ROUNDS, sizeof(times[0]), by_size);
        tell(questions[i].what, times[ROUNDS / 2], GOAL_S, matched, bytes);
    }
}

/* One in a thousand runs is written, then the first page is asked for. */
static void after_writes(struct tables *tables, struct store *store, const char *home,
                         struct changes *changes, int64_t runs)
{
    autofree(store) struct store *writer = NULL;
    autofree(txn) struct txn *txn = txn_new();
    autorelease(err) struct err err = ERR_INIT;
    struct rng rng;
    size_t matched, bytes;

    rng_init(&rng, 2, 0);
    must(store_open(home, &writer, &err), &err);
    store_tell(writer, changes);
    for (int64_t number = 1; number <= runs; number += 1000)
        put_run(txn, number, &rng);
    must(store_apply(writer, txn, &err), &err);
    struct took took = ask(tables, store, &questions[3], &matched, &bytes);
    tell("filtered and sorted, 0.1 % were written", took, 0, matched, bytes);
}

int main(int argc, char **argv)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    autofree(changes) struct changes *changes = changes_new();
    int64_t runs = argc > 2 ? strtoll(argv[2], NULL, 10) : 100000;
    struct trial_table *table = NULL;
    size_t matched, bytes;

    if (argc < 2) {
        fprintf(stderr, "table FOLDER [RUNS]\n");
        return 2;
    }
    if (access(argv[1], F_OK) != 0)
        fill(argv[1], runs);
    must(store_open_read(argv[1], &store, &err), &err);
    struct tables *tables = tables_new(changes, TABLES_BYTES);
    struct took took = ask(tables, store, &questions[0], &matched, &bytes);
    printf("| of %lld runs | ms | CPU ms | fit | kB of the page | asked for | met |\n"
           "|---|---|---|---|---|---|---|\n",
           (long long)runs);
    tell("first page, cold", took, 0, matched, bytes);
    must(tables_get(tables, store, 1, &table, &err), &err);
    struct took start = now();
    must(trial_table_metrics(table, store, &err), &err);
    tell("metrics, cold", since(start), 0, matched, 0);
    warm(tables, store);
    after_writes(tables, store, argv[1], changes, runs);
    tables_free(tables);
    return 0;
}
