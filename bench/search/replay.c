/* SPDX-License-Identifier: MIT */
/*
 * replay.c — our searchers on the tables: replay FOLDER OUT ALGORITHM TRIALS SEEDS [PARALLEL] [TABLE…]
 *
 * Writes OUT/TABLE-ALGORITHM.csv with seed,trial,row,repeat,value,reported: what the peers' files
 * have, and the row that would be reported as the best after that trial. Prints mean regrets.
 */
#include "base/clock.h"
#include "bench/search/tables.h"
#include "search/search.h"

#include <math.h>

struct setup {
    const char *algorithm;
    int64_t trials;
    uint64_t seeds;
    size_t parallel;
    bool bare; /* no repeats */
};

struct flight {
    double x[32];
    size_t row;
    int repeat;
    double value;
};

static size_t reported(struct search *s, const struct table *table, size_t fallback)
{
    struct best best;
    return search_best(s, &best) == 0 ? table_row(table, best.x) : fallback;
}

static void tell(struct search *s, const struct flight *flight)
{
    struct result result = {.kind = RESULT_VALUE, .value = flight->value};
    search_tell(s, flight->x, &result);
}

/* sums: regret by best observed and by report after each trial. */
static void run_seed(const struct table *table, const struct setup *setup, uint64_t seed, FILE *out,
                     double *sum_observed, double *sum_reported)
{
    struct problem problem = {.space = &table->space, .trials = setup->trials, .seed = seed, .repeats = !setup->bare};
    autofree(search) struct search *s = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct flight flights[64];
    size_t in_flight = 0, best_row = 0;
    double best_value = INFINITY;

    if (search_new(setup->algorithm, &problem, &s, &err) < 0) {
        fprintf(stderr, "%s\n", err_text(&err));
        exit(1);
    }
    for (int64_t asked = 0, told = 0; told < setup->trials;) {
        while (in_flight < setup->parallel && asked < setup->trials) {
            struct flight *flight = &flights[in_flight++];
            struct suggestion next = {.x = flight->x};
            if (search_ask(s, &next, &err) < 0) {
                fprintf(stderr, "%s\n", err_text(&err));
                exit(1);
            }
            flight->row = table_row(table, flight->x);
            flight->value = table_feedback(table, flight->row, seed, (uint64_t)asked++, &flight->repeat);
        }
        struct flight done = flights[0];
        memmove(flights, flights + 1, --in_flight * sizeof(*flights));
        tell(s, &done);
        if (done.value < best_value) {
            best_value = done.value;
            best_row = done.row;
        }
        size_t best = reported(s, table, best_row);
        sum_observed[told] += table_regret(table, best_row);
        sum_reported[told] += table_regret(table, best);
        fprintf(out, "%llu,%lld,%zu,%d,%.9g,%zu\n", (unsigned long long)seed, (long long)told, done.row,
                done.repeat, (table->maximize ? -1 : 1) * done.value, best);
        told++;
    }
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: replay FOLDER OUT ALGORITHM TRIALS SEEDS [PARALLEL] [TABLE…]\n");
        return 2;
    }
    struct setup setup = {argv[3], strtoll(argv[4], NULL, 10), strtoull(argv[5], NULL, 10),
                          argc > 6 ? strtoul(argv[6], NULL, 10) : 1, getenv("BARE")};
    double logs[2][3] = {{0}};
    static const int64_t marks[] = {25, 50, 100};
    size_t tables = 0;

    for (size_t t = 0; t < n_tables; t++) {
        bool wanted = argc <= 7;
        for (int i = 7; i < argc; i++)
            wanted |= strstr(table_names[t], argv[i]) != NULL;
        if (!wanted)
            continue;
        struct table table;
        table_load(&table, argv[1], table_names[t]);
        autofree(mem) char *path = setup.parallel > 1
            ? xasprintf("%s/%s-%s-%zu.csv", argv[2], table.name, setup.algorithm, setup.parallel)
            : xasprintf("%s/%s-%s.csv", argv[2], table.name, setup.algorithm);
        FILE *out = fopen(path, "w");
        if (!out) {
            fprintf(stderr, "cannot write %s\n", path);
            return 1;
        }
        fprintf(out, "seed,trial,row,repeat,value,reported\n");
        autofree(mem) double *observed = xcalloc((size_t)setup.trials, sizeof(double));
        autofree(mem) double *report = xcalloc((size_t)setup.trials, sizeof(double));
        int64_t start = clock_mono_us();
        for (uint64_t seed = 1; seed <= setup.seeds; seed++)
            run_seed(&table, &setup, seed, out, observed, report);
        printf("%-24s", table.name);
        for (size_t k = 0; k < ARRAY_LEN(marks) && marks[k] <= setup.trials; k++) {
            double a = observed[marks[k] - 1] / (double)setup.seeds, b = report[marks[k] - 1] / (double)setup.seeds;
            logs[0][k] += log(a + 0.01);
            logs[1][k] += log(b + 0.01);
            printf("  @%-3lld %.4f %.4f", (long long)marks[k], a, b);
        }
        printf("  %.2f s a run\n", (double)(clock_mono_us() - start) / 1e6 / (double)setup.seeds);
        fflush(stdout);
        fclose(out);
        table_release(&table);
        tables++;
    }
    printf("%-24s", "R");
    for (size_t k = 0; k < ARRAY_LEN(marks) && marks[k] <= setup.trials; k++)
        printf("  @%-3lld %.4f %.4f", (long long)marks[k], exp(logs[0][k] / (double)tables), exp(logs[1][k] / (double)tables));
    printf("\n");
    return 0;
}
