/* SPDX-License-Identifier: MIT */
/*
 * codecs.c — what blocks cost: bytes a value for each way of handing values over, and the time to
 * try all codecs, to write the best, and to read it back. Beside it what XOR alone (Gorilla, as in
 * InfluxDB and Prometheus) would take.
 *
 *     codecs [ROUNDS]       a line of a table for each style; 1 if a goal is missed
 */
#include "bench/series/values.h"
#include "series/codec.h"

#include <err.h>
#include <time.h>

#define RUNS   10
#define BLOCKS 5 /* of each column of each run */
#define ROWS   (BLOCKS * BLOCK_VALUES)

struct columns {
    int64_t steps[ROWS], times[ROWS];
    double values[VALUES_FIELDS][ROWS];
};

struct cost {
    size_t values, rows, bytes, clock_bytes, xor_bytes;
    size_t codecs[BLOCK_CODECS];
    int64_t put_ns, get_ns;
};

static const double goals[VALUES_STYLES] = {2.3, 1.8, 6.1}; /* bytes a value with its step, time */

static void make(struct columns *columns, enum values_style style, uint64_t seed)
{
    struct values values;
    double row[VALUES_FIELDS];
    values_init(&values, style, seed);
    for (size_t i = 0; i < ROWS; i++) {
        values_next(&values, &columns->steps[i], &columns->times[i], row);
        for (size_t f = 0; f < VALUES_FIELDS; f++)
            columns->values[f][i] = row[f];
    }
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static size_t xor_size(const double *values)
{
    static unsigned char bytes[2 * BLOCK_BYTES_MAX];
    uint64_t bits[BLOCK_VALUES];
    memcpy(bits, values, sizeof(bits));
    return (size_t)(codec_xor.put(bits, BLOCK_VALUES, NULL, bytes) - bytes);
}

/* A column there and back, `rounds` times: the fastest counts, for others use the machine, too. */
static void measure(const double *column, size_t rounds, struct cost *cost)
{
    static unsigned char bytes[BLOCKS][BLOCK_BYTES_MAX];
    static double got[BLOCK_VALUES];
    size_t sizes[BLOCKS] = {0};
    int64_t put_ns = INT64_MAX, get_ns = INT64_MAX;
    for (size_t round = 0; round < rounds; round++) {
        int64_t begin = cpu_ns();
        for (size_t b = 0; b < BLOCKS; b++)
            sizes[b] = block_put_doubles(column + b * BLOCK_VALUES, BLOCK_VALUES, bytes[b]);
        int64_t middle = cpu_ns();
        for (size_t b = 0; b < BLOCKS; b++)
            if (block_get_doubles(bytes[b], sizes[b], BLOCK_VALUES, got) < 0)
                errx(1, "a block does not come back");
        put_ns = MIN(put_ns, middle - begin);
        get_ns = MIN(get_ns, cpu_ns() - middle);
    }
    cost->put_ns += put_ns;
    cost->get_ns += get_ns;
    for (size_t b = 0; b < BLOCKS; b++) {
        cost->bytes += sizes[b];
        cost->codecs[bytes[b][0]]++;
        cost->xor_bytes += xor_size(column + b * BLOCK_VALUES);
    }
    cost->values += ROWS;
}

static void measure_clock(const struct columns *columns, struct cost *cost)
{
    unsigned char bytes[BLOCK_BYTES_MAX];
    for (size_t at = 0; at < ROWS; at += BLOCK_VALUES) {
        cost->clock_bytes += block_put_ints(columns->steps + at, BLOCK_VALUES, bytes);
        cost->clock_bytes += block_put_ints(columns->times + at, BLOCK_VALUES, bytes);
    }
    cost->rows += ROWS;
}

static bool print_cost(enum values_style style, const struct cost *cost)
{
    double values = (double)cost->values;
    double whole = (double)(cost->bytes + cost->clock_bytes) / values;
    printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f | %zu/%zu/%zu/%zu/%zu/%zu |\n",
           values_style_names[style], (double)cost->xor_bytes / values,
           (double)cost->bytes / values, (double)cost->clock_bytes / (double)cost->rows, whole,
           goals[style], (double)cost->put_ns / values, (double)cost->get_ns / values,
           cost->codecs[CODEC_CONSTANT], cost->codecs[CODEC_DECIMAL], cost->codecs[CODEC_DIGITS],
           cost->codecs[CODEC_FLOAT], cost->codecs[CODEC_XOR], cost->codecs[CODEC_RAW]);
    return whole <= goals[style];
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 5;
    struct columns *columns = xcalloc(1, sizeof(*columns));
    bool reached = true;
    if (rounds == 0)
        errx(1, "rounds: a number from 1 on");
    printf(
        "| values | xor alone | best codec | step and time, a row | all, a value | goal | put ns "
        "| get ns | constant/decimal/digits/float/xor/raw "
        "|\n|---|---|---|---|---|---|---|---|---|\n");
    for (enum values_style style = 0; style < VALUES_STYLES; style++) {
        struct cost cost = {0};
        for (uint64_t run = 0; run < RUNS; run++) {
            make(columns, style, run);
            measure_clock(columns, &cost);
            for (size_t f = 0; f < VALUES_FIELDS; f++)
                measure(columns->values[f], rounds, &cost);
        }
        reached &= print_cost(style, &cost);
    }
    free(columns);
    return !reached;
}
