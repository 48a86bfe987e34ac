/* SPDX-License-Identifier: MIT */
/*
 * chart.c — how long pictures of stored series take: 1,000 columns, smoothed, from the full data.
 *
 *     chart NEW-FOLDER [RUNS [POINTS]]
 *
 * Fills a store with RUNS (100) runs of POINTS (1,000,000) losses, and 50 more of 5,000. Draws all
 * of them by two threads: at first, again, and after each run grew by a point.
 */
#include "base/fs.h"
#include "base/rng.h"
#include "series/charts.h"

#include <math.h>
#include <time.h>

#define BATCH   1000
#define SHORT   50
#define SHORT_N 5000

static double seconds(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void must(int r, const struct err *err)
{
    if (r >= 0)
        return;
    fprintf(stderr, "chart: %s\n", err_text(err));
    exit(1);
}

static void put(struct series_db *db, int64_t experiment, int64_t trial, int64_t from, int64_t to)
{
    static double values[BATCH];
    static struct series_row rows[BATCH];
    struct series_source source = {experiment, trial, 1, SERIES_METRICS};
    uint32_t name = series_db_name(db, "loss", 4);
    struct err err = ERR_INIT;
    struct rng rng;

    rng_init(&rng, (uint64_t)trial, (uint64_t)from);
    for (int64_t step = from; step < to;) {
        size_t n = 0;
        for (; n < BATCH && step < to; n++, step++) {
            double level = 0.05 + 2.3 * exp(-(double)step / 2e5);
            values[n] = (double)(float)(level * (1 + 0.1 * rng_unit(&rng)));
            rows[n] = (struct series_row){(uint64_t)step + 1, step, 1000000 * (step + 1), 1, &name,
                                          &values[n]};
        }
        must(series_db_append(db, &source, rows, n, &err), &err);
    }
    must(series_db_flush(db, &err), &err);
}

static struct series_db *open_store(const char *home)
{
    struct series_db *db = NULL;
    struct err err = ERR_INIT;

    must(series_db_open(home, SERIES_WRITE, &db, &err), &err);
    return db;
}

struct cost {
    double ms, cpu_ms;
};

static struct cost draw(struct charts *charts, int64_t experiment, int64_t runs, int64_t points)
{
    struct charts_ask ask = {.view = {0, (double)points, 1000}, .weight = 0.99};
    autofree(mem) struct charts_line *lines = xcalloc((size_t)runs, sizeof(*lines));
    autofree(mem) const struct query_chart **drawn = xcalloc((size_t)runs, sizeof(*drawn));
    struct err err = ERR_INIT;

    for (int64_t i = 0; i < runs; i++)
        lines[i] = (struct charts_line){experiment, i + 1, "loss"};
    double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    must(charts_draw(charts, &ask, lines, (size_t)runs, drawn, &err), &err);
    return (struct cost){1e3 * (seconds(CLOCK_MONOTONIC) - begin),
                         1e3 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu)};
}

static void take_least(struct cost *least, struct cost cost)
{
    least->ms = fmin(least->ms, cost.ms);
    least->cpu_ms = fmin(least->cpu_ms, cost.cpu_ms);
}

static const char *yes(double ms, double goal)
{
    return ms <= goal ? "yes" : "no";
}

static void measure(const char *home, int64_t experiment, int64_t runs, int64_t points)
{
    struct charts *charts = NULL;
    struct err err = ERR_INIT;
    struct cost first = {INFINITY, INFINITY}, again = first;

    for (int round = 0; round < 5; round++) {
        if (charts)
            charts_free(charts);
        must(charts_open(home, 2, CHARTS_BYTES, &charts, &err), &err);
        take_least(&first, draw(charts, experiment, runs, points));
        take_least(&again, draw(charts, experiment, runs, points));
    }
    struct charts_counts before = charts_counts(charts);
    struct series_db *db = open_store(home);
    for (int64_t i = 1; i <= runs; i++)
        put(db, experiment, i, points, points + 1);
    struct cost grown = draw(charts, experiment, runs, points);
    struct charts_counts after = charts_counts(charts);
    series_db_free(db);
    printf("| %lld | %lld | %.0f | %.0f | %s | %.1f | %s | %.1f | %llu | %.1f |\n", (long long)runs,
           (long long)points, first.ms, first.cpu_ms, yes(first.ms, 500), again.ms,
           yes(again.ms, 20), grown.ms, (unsigned long long)(after.values - before.values),
           (double)after.bytes / (1 << 20));
    charts_free(charts);
}

int main(int argc, char **argv)
{
    int64_t runs = argc > 2 ? strtoll(argv[2], NULL, 10) : 100;
    int64_t points = argc > 3 ? strtoll(argv[3], NULL, 10) : 1000000;

    if (argc < 2 || runs < 1 || points < 1 || fs_exists(argv[1])) {
        fputs("usage: chart NEW-FOLDER [RUNS [POINTS]]\n", stderr);
        return 2;
    }
    struct series_db *db = open_store(argv[1]);
    for (int64_t i = 1; i <= runs; i++)
        put(db, 1, i, 0, points);
    for (int64_t i = 1; i <= SHORT; i++)
        put(db, 2, i, 0, SHORT_N);
    struct err err = ERR_INIT;
    must(series_db_compact(db, &err), &err);
    series_db_free(db);
    printf("| runs | points each | first, ms | … of CPU | ≤ 500 | again, ms | ≤ 20 | after a point "
           "more each, ms "
           "| values read for it | cache, MiB |\n|---|---|---|---|---|---|---|---|---|---|\n");
    measure(argv[1], 1, runs, points);
    measure(argv[1], 2, SHORT, SHORT_N);
    return 0;
}
