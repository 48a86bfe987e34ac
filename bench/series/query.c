/* SPDX-License-Identifier: MIT */
/*
 * query.c — what a chart costs, ns of CPU a point: a million points of a loss to 1,000 columns,
 * plain and smoothed, from blocks as they are stored, and from their headers alone.
 *
 *     query [ROUNDS]       the fastest of so many
 */
#include "bench/series/values.h"
#include "series/query.h"

#include <err.h>
#include <time.h>

#define BLOCKS 1000
#define POINTS (BLOCKS * BLOCK_VALUES)
#define WIDTH  1000

struct stored {
    unsigned char bytes[BLOCKS][BLOCK_BYTES_MAX];
    size_t sizes[BLOCKS];
    struct block_stats stats[BLOCKS];
    double x[POINTS], y[POINTS];
};

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void make(struct stored *stored)
{
    struct rng rng;
    double noise = 0;
    rng_init(&rng, 1, 0);
    for (size_t i = 0; i < POINTS; i++) {
        noise = 0.9 * noise + 0.02 * rng_normal(&rng);
        stored->x[i] = (double)i;
        stored->y[i] = (float)((0.05 + 2.3 * exp(-(double)i / 2e5)) * exp(noise));
    }
    for (size_t b = 0; b < BLOCKS; b++) {
        const double *y = stored->y + b * BLOCK_VALUES;
        stored->sizes[b] = block_put_doubles(y, BLOCK_VALUES, stored->bytes[b]);
        block_stats(y, BLOCK_VALUES, &stored->stats[b]);
    }
}

/* ---- four ways to a picture, block by block ---- */
typedef void way_fn(const struct stored *stored, struct query_smooth *smooth,
                    struct query_chart *chart, size_t block);

static void feed(const struct stored *stored, struct query_smooth *smooth UNUSED,
                 struct query_chart *chart, size_t block)
{
    size_t at = block * BLOCK_VALUES;
    query_chart_feed(chart, stored->x + at, stored->y + at, BLOCK_VALUES);
}

static void feed_smooth(const struct stored *stored, struct query_smooth *smooth,
                        struct query_chart *chart, size_t block)
{
    double y[BLOCK_VALUES];
    size_t at = block * BLOCK_VALUES;
    query_smooth_feed(smooth, stored->x + at, stored->y + at, BLOCK_VALUES, y);
    query_chart_feed(chart, stored->x + at, y, BLOCK_VALUES);
}

static void decode_smooth(const struct stored *stored, struct query_smooth *smooth,
                          struct query_chart *chart, size_t block)
{
    double y[BLOCK_VALUES];
    const double *x = stored->x + block * BLOCK_VALUES;
    if (block_get_doubles(stored->bytes[block], stored->sizes[block], BLOCK_VALUES, y) < 0)
        errx(1, "a block does not come back");
    query_smooth_feed(smooth, x, y, BLOCK_VALUES, y);
    query_chart_feed(chart, x, y, BLOCK_VALUES);
}

static void headers(const struct stored *stored, struct query_smooth *smooth UNUSED,
                    struct query_chart *chart, size_t block)
{
    double y[BLOCK_VALUES];
    const double *x = stored->x + block * BLOCK_VALUES;
    if (query_chart_feed_block(chart, x[0], x[BLOCK_VALUES - 1], &stored->stats[block]))
        return;
    if (block_get_doubles(stored->bytes[block], stored->sizes[block], BLOCK_VALUES, y) < 0)
        errx(1, "a block does not come back");
    query_chart_feed(chart, x, y, BLOCK_VALUES);
}

static double fastest(const struct stored *stored, way_fn *way, size_t width, size_t rounds)
{
    int64_t best_ns = INT64_MAX;
    for (size_t round = 0; round < rounds; round++) {
        struct query_view view = {0, POINTS - 1, width};
        struct query_smooth smooth = {.weight = 0.99};
        int64_t begin = cpu_ns();
        autofree(query_chart) struct query_chart *chart = query_chart_new(&view);
        for (size_t b = 0; b < BLOCKS; b++)
            way(stored, &smooth, chart, b);
        int64_t ns = cpu_ns() - begin;
        best_ns = MIN(best_ns, ns);
    }
    return (double)best_ns / POINTS;
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 5;
    struct stored *stored = xcalloc(1, sizeof(*stored));
    if (rounds == 0)
        errx(1, "rounds: a number from 1 on");
    make(stored);
    printf("| a million points to %d columns | ns a point |\n|---|---|\n", WIDTH);
    printf("| values at hand | %.2f |\n", fastest(stored, feed, WIDTH, rounds));
    printf("| … smoothed | %.2f |\n", fastest(stored, feed_smooth, WIDTH, rounds));
    printf("| from blocks, smoothed | %.2f |\n", fastest(stored, decode_smooth, WIDTH, rounds));
    printf("| from headers, to 100 columns | %.2f |\n",
           fastest(stored, headers, WIDTH / 10, rounds));
    free(stored);
    return 0;
}
