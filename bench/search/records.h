/* SPDX-License-Identifier: MIT */
/*
 * records.h — histories of searchers on tables, ours and the peers', as CSV files:
 *
 *     seed,trial,row,repeat,value[,reported[,rerun]]
 *
 * `trial` counts from 0, `row` is that of the table, `value` is as the table has it, `reported` the
 * row that would be named the best after that trial, `rerun` 1 where a setting was run again on
 * purpose. The lines of a seed are together and in order.
 */
#ifndef HONE_BENCH_RECORDS_H
#define HONE_BENCH_RECORDS_H

#include "base/base.h"

#define RECORD_HEAD "seed,trial,row,repeat,value,reported,rerun"

struct record {
    uint64_t seed;
    size_t trial, row;
    int repeat;
    double value;
    size_t reported; /* SIZE_MAX: nothing was */
    bool rerun;
};
struct records {
    VEC(struct record) all;
};
/* Ends the program if the file is not as above or names rows that the table (n rows) lacks. */
void records_load(struct records *records, const char *path, size_t n);
void records_release(struct records *records);
/* The lines of a seed and how many; 0 if it is not there. */
const struct record *records_of(const struct records *records, uint64_t seed, size_t *ret_n);
void record_write(const struct record *record, FILE *to);

#endif
