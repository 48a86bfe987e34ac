/* SPDX-License-Identifier: MIT */
/*
 * tables.h — complete tables of real trainings, to replay searches on: every setting with the
 * values of its repeats.
 */
#ifndef HONE_BENCH_TABLES_H
#define HONE_BENCH_TABLES_H

#include "model/space.h"

#define TABLE_REPEATS 5

struct table {
    char *name;
    struct space space; /* numbers are grids of their index, as every searcher gets them */
    bool maximize;
    size_t n;       /* settings: the whole grid, the last parameter fastest or not */
    double *values; /* (n, TABLE_REPEATS) as in the table; NaN: missing */
    double *points; /* (n, space.n) */
    double *mean;   /* (n) minimised */
    double best, median;
    int32_t *row_of; /* mixed radix code of a setting → row, -1: none */
};
/* `folder`/NAME.csv.gz and the JSON of its family. Ends the program if it cannot. */
void table_load(struct table *table, const char *folder, const char *name);
void table_release(struct table *table);
/* Row of a point of the space, and the point of a row. */
size_t table_row(const struct table *table, const double *x);
const double *table_point(const struct table *table, size_t row);
/* What trial `trial` (from 0) of seed `seed` sees at that row, minimised: one repeat by chance. */
double table_feedback(const struct table *table, size_t row, uint64_t seed, uint64_t trial,
                      int *ret_repeat);
/* The values, each row's dealt to another row by chance; to be freed. */
double *table_deal(const struct table *table, uint64_t seed);
/* (true mean − best) / (median − best) */
double table_regret(const struct table *table, size_t row);
extern const char *const table_names[];
extern const size_t n_tables;

#endif
