/* SPDX-License-Identifier: MIT */
/*
 * influxql_rows.h — the rows of one group of a SELECT: points as they are, or functions of them by
 * buckets of time.
 */
#ifndef HONE_INFLUXQL_ROWS_H
#define HONE_INFLUXQL_ROWS_H

#include "api/influxql_internal.h"

struct names {
    const char **at;
    size_t len, cap;
};
struct picked { /* a series of the measurement at hand */
    struct influxql_series series;
    const char *field;
};
struct column {
    const char *base, *name; /* name: base, numbered where it comes twice */
    const char *field;       /* or a tag's key */
    enum function function;
    double percent;
    bool is_field;
};
struct select_run {
    const struct influxql *query;
    const struct statement *statement;
    const struct influxql_source *source;
    const char *db;
    struct result *result;
    const char *measurement;
    VEC(struct picked) picked;
    VEC(struct column) columns;
    struct names by;
};

/* *ret: the table of these series, NULL if they have no point in the range. */
int run_group(struct select_run *run, const struct picked *picked, size_t n, struct table **ret,
              struct err *err);

/* ---- points of a series ---- */
struct point {
    int64_t time_ns;
    double value;
};
struct points {
    struct point *at;
    size_t len, cap;
};
/* What the function makes of points sorted by time; false: nothing. *ret_time is that of the chosen
 * one, for functions that choose. */
bool function_apply(enum function function, double percent, const struct point *points, size_t n,
                    double *ret, int64_t *ret_time);
bool function_chooses(enum function function);

#endif
