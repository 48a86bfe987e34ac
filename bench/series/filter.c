/* SPDX-License-Identifier: MIT */
/*
 * filter.c — how long a filter with three predicates over curves takes.
 *
 *     filter FOLDER [RUNS [STEPS]]
 *
 * Fills a store with RUNS (10,000) runs of STEPS (10,000) steps, 20 metrics at every step, if
 * FOLDER does not exist. Then it asks which runs fit, with a handle that is new and with one that
 * is warm, and compares every 97th answer with that of all points.
 */
#include "base/fs.h"
#include "base/rng.h"
#include "series/curves.h"

#include <math.h>
#include <time.h>

#define BATCH   1000
#define METRICS 20
static const char *const names[METRICS] = {
    "val_loss", "acc", "grad_norm", "m3",  "m4",  "m5",  "m6",  "m7",  "m8",  "m9",
    "m10",      "m11", "m12",       "m13", "m14", "m15", "m16", "m17", "m18", "m19"};
static const char *const condition = "min(val_loss, step > 1000) < 0.3 and "
                                     "time_to(acc >= 0.9) < 2h and last(grad_norm) is finite";

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void must(int r, const struct err *err)
{
    if (r >= 0)
        return;
    fprintf(stderr, "filter: %s\n", err_text(err));
    exit(1);
}

/* ---- the store ---- */

struct run { /* how one run goes */
    double floor, pace, reach;
    bool breaks; /* its last norm is NaN */
};

static struct run run_of(struct rng *rng)
{
    return (struct run){.floor = 0.1 + 0.4 * rng_unit(rng),
                        .pace = 500 + 4000 * rng_unit(rng),
                        .reach = 0.8 + 0.2 * rng_unit(rng),
                        .breaks = rng_unit(rng) < 0.1};
}

/* Born as float32, with noise. */
static void values_at(const struct run *run, int64_t step, int64_t steps, struct rng *rng,
                      double *ret)
{
    double done = 1 - exp(-(double)step / run->pace), noise = 0.02 * rng_unit(rng);

    ret[0] = (double)(float)(run->floor + (1 - done) + noise);
    ret[1] = (double)(float)(run->reach * done - noise);
    ret[2] = run->breaks && step == steps - 1 ? NAN : (double)(float)(1 + noise);
    for (int i = 3; i < METRICS; i++)
        ret[i] = (double)(float)(i * (1 - done) + 0.02 * rng_unit(rng));
}

static void fill_run(struct series_db *db, int64_t trial, int64_t steps, const uint32_t *numbers,
                     struct rng *rng)
{
    static double values[BATCH][METRICS];
    static struct series_row rows[BATCH];
    struct series_source source = {1, trial, 1, SERIES_METRICS};
    struct run run = run_of(rng);
    struct err err = ERR_INIT;

    for (int64_t step = 0; step < steps;) {
        size_t n = 0;
        for (size_t i = 0; i < BATCH && step < steps; i++, step++) {
            values_at(&run, step, steps, rng, values[i]);
            rows[n++] = (struct series_row){
                (uint64_t)step + 1, step, 1000000000 * (step + 1), METRICS, numbers, values[i]};
        }
        must(series_db_append(db, &source, rows, n, &err), &err);
    }
    must(series_db_flush(db, &err), &err);
}

static void fill(const char *home, int64_t runs, int64_t steps)
{
    struct series_db *db = NULL;
    struct err err = ERR_INIT;
    struct rng rng;
    uint32_t numbers[METRICS];
    double begin = seconds();

    rng_init(&rng, 1, 0);
    must(series_db_open(home, SERIES_WRITE, &db, &err), &err);
    for (int i = 0; i < METRICS; i++)
        numbers[i] = series_db_name(db, names[i], strlen(names[i]));
    for (int64_t trial = 1; trial <= runs; trial++)
        fill_run(db, trial, steps, numbers, &rng);
    series_db_free(db);
    fprintf(stderr, "filled in %.0f s\n", seconds() - begin);
}

/* ---- the filter ---- */

struct asked {
    struct curves *curves;
    size_t metrics[3];
    struct trial trial;
};

static bool get_stats(size_t column, struct expr_stats *ret, void *arg)
{
    const struct asked *asked = arg;
    return curves_stats(asked->curves, asked->metrics[column], &asked->trial, ret) == CURVES_KNOWN;
}

static int get_blocks(size_t column, expr_block_fn *block, expr_points_fn *fn, void *fn_arg,
                      void *arg, struct err *err UNUSED)
{
    const struct asked *asked = arg;
    return curves_blocks(asked->curves, asked->metrics[column], &asked->trial, block, fn, fn_arg);
}

struct telling {
    const struct asked *asked;
    expr_points_fn *fn;
    void *arg;
};

static int on_chunk(const struct series_chunk *chunk, void *arg)
{
    const struct telling *telling = arg;
    bool more = true;

    for (size_t i = 0; i < chunk->n && more; i++) {
        int64_t us = chunk->times_ns[i] / 1000 - telling->asked->trial.started_us;
        struct expr_point point = {chunk->steps[i], (double)us / 1e6, chunk->values[i]};
        more = telling->fn(&point, 1, telling->arg);
    }
    return more ? 0 : 1;
}

/* Every point, whatever the condition. */
static int get_points(size_t column, const struct expr_range *range UNUSED, expr_points_fn *fn,
                      void *fn_arg, void *arg, struct err *err UNUSED)
{
    const struct asked *asked = arg;
    struct series_db *db = curves_db(asked->curves);
    struct series_source source = {1, asked->trial.number, 1, SERIES_METRICS};
    struct telling telling = {asked, fn, fn_arg};

    series_db_read(db, &source, series_db_name(db, names[column], strlen(names[column])),
                   &series_all, on_chunk, &telling);
    return 0;
}

static struct expr *parse(void)
{
    struct expr_column columns[3];
    struct expr_scope scope = {.noun = "trial", .columns = columns, .n = 3};
    struct expr *expr = NULL;
    struct err err = ERR_INIT;

    for (int i = 0; i < 3; i++)
        columns[i] = (struct expr_column){names[i], EXPR_METRIC, EXPR_NUMBER, NULL, 0};
    must(expr_parse(condition, &scope, EXPR_BOOL, &expr, &err), &err);
    return expr;
}

static struct trial trial_at(int64_t number)
{
    return (struct trial){.experiment = 1,
                          .number = number,
                          .state = TRIAL_COMPLETED,
                          .attempts = 1,
                          .started_us = 1000000};
}

static void open_curves(struct asked *asked, const char *home)
{
    struct err err = ERR_INIT;

    must(curves_open(home, 1, &asked->curves, &err), &err);
    for (int i = 0; i < 3; i++)
        asked->metrics[i] = curves_metric(asked->curves, names[i]);
}

static int64_t ask(struct asked *asked, const struct expr *expr, int64_t runs, char *fits)
{
    struct expr_source source = {
        .arg = asked, .stats = get_stats, .blocks = get_blocks, .points = get_points};
    struct err err = ERR_INIT;
    int64_t n = 0;

    for (int64_t i = 1; i <= runs; i++) {
        asked->trial = trial_at(i);
        int r = expr_test(expr, &source, &err);
        must(r, &err);
        fits[i] = (char)r;
        n += r;
    }
    return n;
}

static int64_t compare(struct asked *asked, const struct expr *expr, int64_t runs, const char *fits)
{
    struct expr_source source = {.arg = asked, .points = get_points};
    struct err err = ERR_INIT;
    int64_t n = 0;

    for (int64_t i = 1; i <= runs; i += 97, n++) {
        asked->trial = trial_at(i);
        int r = expr_test(expr, &source, &err);
        must(r, &err);
        if (r != fits[i]) {
            fprintf(stderr, "filter: run %lld fits %d, its points say %d\n", (long long)i, fits[i],
                    r);
            exit(1);
        }
    }
    return n;
}

int main(int argc, char **argv)
{
    int64_t runs = argc > 2 ? strtoll(argv[2], NULL, 10) : 10000;
    int64_t steps = argc > 3 ? strtoll(argv[3], NULL, 10) : 10000;

    if (argc < 2 || runs < 1 || steps < 1) {
        fputs("usage: filter FOLDER [RUNS [STEPS]]\n", stderr);
        return 2;
    }
    if (!fs_exists(argv[1]))
        fill(argv[1], runs, steps);
    autofree(expr) struct expr *expr = parse();
    autofree(mem) char *fits = xcalloc((size_t)runs + 1, 1);
    struct asked asked = {0};
    double begin = seconds();
    open_curves(&asked, argv[1]);
    double opened = seconds();
    int64_t n = ask(&asked, expr, runs, fits);
    double first = seconds(), warm = INFINITY;
    for (int i = 0; i < 5; i++) {
        double from = seconds();
        ask(&asked, expr, runs, fits);
        warm = fmin(warm, seconds() - from);
    }
    int64_t same = compare(&asked, expr, runs, fits);
    curves_free(asked.curves);
    printf("| runs | steps | fit | open and list, ms | first, ms | warm, ms | goal | met | same as "
           "all points |\n|---|---|---|---|---|---|---|---|---|\n");
    printf("| %lld | %lld | %lld | %.0f | %.0f | %.0f | ≤ 300 | %s | %lld of %lld |\n",
           (long long)runs, (long long)steps, (long long)n, 1e3 * (opened - begin),
           1e3 * (first - opened), 1e3 * warm, warm <= 0.3 ? "yes" : "no", (long long)same,
           (long long)same);
    return 0;
}
