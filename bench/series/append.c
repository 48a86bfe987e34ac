/* SPDX-License-Identifier: MIT */
/*
 * append.c — how fast the store of series takes rows, and how fast it opens and lists them.
 *
 *     append FOLDER [VALUES [WIDTH [SOURCES]]]
 *
 * Appends VALUES numbers (10 million) in rows of WIDTH (20) to SOURCES (10) trials, flushed every
 * 1,000 rows and synced at the end, sealing as it goes; then opens the store, lists every metric,
 * asks for three of each trial, and reads one trial whole. FOLDER must not exist; it is left
 * behind.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/rng.h"
#include "series/db.h"

#include <math.h>
#include <time.h>

#define BATCH 100

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
    fprintf(stderr, "append: %s\n", err_text(err));
    exit(1);
}

static int count(const struct series_info *info, void *arg)
{
    *(uint64_t *)arg += info->stats.count;
    return 0;
}

static int count_chunk(const struct series_chunk *chunk, void *arg)
{
    *(uint64_t *)arg += chunk->n;
    return 0;
}

/* Losses as programs log them: a curve with noise, born as float32. */
static void fill(double *values, size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (double)(float)(exp(-(double)(i % 4096) / 900) + 0.01 * rng_unit(rng));
}

struct load {
    uint64_t rows, width, sources;
    uint32_t *names;
    const double *values; /* (1 << 16) + width */
};

static void append_all(struct series_db *db, const struct load *load)
{
    struct series_row rows[BATCH];
    struct err err = ERR_INIT;

    for (uint64_t row = 0; row < load->rows; row += BATCH) {
        struct series_source source = {1, 1 + (int64_t)(row / BATCH % load->sources), 1,
                                       SERIES_METRICS};
        for (uint64_t i = 0; i < BATCH; i++)
            rows[i] = (struct series_row){row + i + 1,
                                          (int64_t)(row / load->sources + i),
                                          (int64_t)(row + i) * 1000000,
                                          load->width,
                                          load->names,
                                          load->values + (row + i) * 7919 % (1 << 16)};
        must(series_db_append(db, &source, rows, BATCH, &err), &err);
        if (row / BATCH % 10 == 9)
            must(series_db_flush(db, &err), &err);
    }
    must(series_db_sync(db, &err), &err);
}

static void bench_append(const char *home, struct load *load)
{
    struct series_db *db = NULL;
    struct err err = ERR_INIT;
    struct series_size size;
    double total = (double)(load->rows * load->width);

    must(series_db_open(home, SERIES_WRITE, &db, &err), &err);
    for (uint64_t i = 0; i < load->width; i++) {
        char text[32];
        int n = snprintf(text, sizeof(text), "train.metric_%llu", (unsigned long long)i);
        load->names[i] = series_db_name(db, text, (size_t)n);
    }
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID),
           all = seconds(CLOCK_PROCESS_CPUTIME_ID);
    append_all(db, load);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    must(series_db_compact(db, &err), &err);
    all = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
    series_db_size(db, &size);
    printf("append: %.1f million values/s (wall), %.1f (CPU of its thread), %.1f (all CPU, sealed "
           "and merged)\n",
           total / wall / 1e6, total / cpu / 1e6, total / all / 1e6);
    printf("disk: %.2f bytes a value\n", (double)size.bytes / total);
    series_db_free(db);
}

static void bench_open(const char *home)
{
    struct series_db *db = NULL;
    struct err err = ERR_INIT;
    uint64_t n = 0;
    double begin = seconds(CLOCK_MONOTONIC);

    must(series_db_open(home, SERIES_READ, &db, &err), &err);
    double opened = seconds(CLOCK_MONOTONIC);
    series_db_list(db, 1, -1, SERIES_NAME_NONE, count, &n);
    double listed = seconds(CLOCK_MONOTONIC);
    printf("open: %.1f ms, list of all %llu values: %.1f ms\n", 1e3 * (opened - begin),
           (unsigned long long)n, 1e3 * (listed - opened));
    double three = seconds(CLOCK_MONOTONIC);
    for (uint32_t name = 0; name < 3; name++)
        series_db_list(db, 1, -1, name, count, &n);
    double asked = seconds(CLOCK_MONOTONIC);
    struct series_source source = {1, 1, 1, SERIES_METRICS};
    uint64_t values = 0;
    for (uint32_t name = 0; series_db_name_text(db, name); name++)
        series_db_read(db, &source, name, &series_all, count_chunk, &values);
    double read = seconds(CLOCK_MONOTONIC);
    printf("three metrics of every trial, statistics: %.1f ms; %llu values of a trial read at %.0f "
           "million/s\n",
           1e3 * (asked - three), (unsigned long long)values,
           (double)values / (read - asked) / 1e6);
    series_db_free(db);
}

static uint64_t number(int argc, char **argv, int i, uint64_t otherwise)
{
    uint64_t x = argc > i ? strtoull(argv[i], NULL, 10) : otherwise;
    return x ? x : 1;
}

int main(int argc, char **argv)
{
    if (argc < 2 || fs_exists(argv[1])) {
        fputs("usage: append NEW-FOLDER [VALUES [WIDTH [SOURCES]]]\n", stderr);
        return 2;
    }
    uint64_t values = number(argc, argv, 2, 10000000);
    struct load load = {.width = number(argc, argv, 3, 20), .sources = number(argc, argv, 4, 10)};
    struct rng rng;

    load.rows = values / load.width / BATCH * BATCH;
    load.names = xcalloc(load.width, sizeof(*load.names));
    double *made = xcalloc((1 << 16) + load.width, sizeof(*made));
    rng_init(&rng, 1, 0);
    fill(made, (1 << 16) + load.width, &rng);
    load.values = made;
    bench_append(argv[1], &load);
    bench_open(argv[1]);
    free(load.names);
    free(made);
    return 0;
}
