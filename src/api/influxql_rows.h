/* SPDX-License-Identifier: MIT */
/*
 * influxql_rows.h — the rows of one group of a SELECT: points as they are, or functions of them by
 * buckets of time.
 */
#ifndef HONE_INFLUXQL_ROWS_H
#define HONE_INFLUXQL_ROWS_H

#include "api/influxql_internal.h"
#include "base/rest.h"

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
    const struct term *term;
};
struct leaf { /* of the columns' terms, in their order */
    const struct term *term;
    const char *field; /* or a tag's key */
    bool is_field;
    bool whole; /* ::integer: what is behind the point is cut off */
};
/* Are the points of this series the leaf's? */
static inline bool leaf_reads(const struct leaf *leaf, const struct picked *picked)
{
    return leaf->is_field && str_eq(leaf->field, picked->field);
}
/* A value as the leaf has it. */
double leaf_value(const struct leaf *leaf, double value);
struct select_run {
    const struct influxql *query;
    const struct statement *statement;
    const struct influxql_source *source;
    const char *db;
    struct result *result;
    const char *measurement;
    VEC(struct picked) picked;
    VEC(struct column) columns;
    VEC(struct leaf) leaves;
    struct names by;
    const struct influxql_series *all; /* (n_all) that may be meant, also other fields */
    size_t n_all;
};

struct points;
struct whole;
struct range { /* of times, both included */
    int64_t min_ns, max_ns;
};
/* What is asked for, and `reach` buckets more on the side where rows begin. */
struct range range_of(const struct select_run *run, int64_t reach);
/* The points of a series behind those that are there, by time, each time once. */
int read_points(const struct select_run *run, const struct picked *picked, struct range range,
                struct points *to, struct err *err);
/* Of those behind `from` keep where the condition holds that is about fields. */
int filter_points(const struct select_run *run, const struct picked *picked, struct range range,
                  struct points *points, size_t from, struct err *err);
/* Both: what is asked for of the series. */
int load_points(const struct select_run *run, const struct picked *picked, struct range range,
                struct points *to, struct err *err);
/* What functions over everything need of them, without holding them. */
int look_at_points(const struct select_run *run, const struct picked *picked, struct whole *to,
                   struct err *err);

/* The field that this metric is of a measurement, NULL: it is none. */
const char *metric_field(const char *metric, const char *measurement);
bool same_tags(const struct influxql_series *a, const struct influxql_series *b);

/* ---- rows ---- */
struct table *begin_table(struct select_run *run);
/* The columns of a row, from the cells of its leaves. */
void put_row(const struct select_run *run, int64_t time_ns, const struct cell *leaves,
             struct table *table);
/* Turn the rows around if they fall, then OFFSET and LIMIT. */
void arrange(const struct statement *statement, struct table *table);
/* Rows of functions (influxql_tracks.c). */
int function_rows(struct select_run *run, const struct picked *picked, size_t n, struct table **ret,
                  struct err *err);

/* *ret: the table of these series, NULL if they have no point in the range. */
int run_group(struct select_run *run, const struct picked *picked, size_t n, struct table **ret,
              struct err *err);

/* ---- points of a series ---- */
struct point {
    int64_t time_ns;
    double value;
    uint16_t rest; /* base/rest.h; what is computed of it is a double */
};
/* By value, whole numbers also by what doubles cannot tell. NaN is as large as anything. */
static inline int point_order(const struct point *a, const struct point *b)
{
    int r = (a->value > b->value) - (a->value < b->value);
    int x = a->rest ? a->rest : REST_ZERO, y = b->rest ? b->rest : REST_ZERO;

    return r ? r : (x > y) - (x < y);
}
struct points {
    struct point *at;
    size_t len, cap;
};
/* Sort by time, those with the same time in their order. */
void points_sort(struct points *points, bool descending);
/* What a function that transforms makes of the points, which stand in the order in which they are
 * asked for; in their place. `interval_ns`: of GROUP BY time(), 0: none. */
void transform_apply(const struct term *call, int64_t interval_ns, struct points *points);
/* How many buckets more must be known for it. */
int64_t transform_reach(const struct term *leaf);
/* What the function makes of points sorted by time; false: nothing. For functions that choose it is
 * the chosen one; else ret's time stays. */
bool function_apply(enum function function, double percent, const struct point *points, size_t n,
                    struct point *ret);
bool function_chooses(enum function function);

/* ---- points that are not kept: influxql_whole.c ---- */
struct whole { /* zeroes at first */
    uint64_t n;
    double sum;
    struct point first, last, max, min; /* a max that is NaN: there is none */
};
/* Can it be told without all points at once? */
bool whole_can(enum function function);
/* Points in their order; what comes later is behind, or of another series. */
void whole_add(struct whole *whole, const struct point *point);
void whole_merge(struct whole *whole, const struct whole *with);
bool whole_apply(enum function function, const struct whole *whole, struct point *ret);

/* ---- by buckets of time, points not kept either: influxql_buckets.c ---- */
struct bucket;
struct buckets {
    int64_t first_ns, interval_ns; /* the first begins there */
    struct bucket *at;             /* (len) NULL: not filled */
    size_t len;
    uint64_t n; /* points in them */
};
void buckets_release(struct buckets *buckets);
/* With the points of a series in the range, which lies within the buckets, as far as `function`
 * needs them; whole_can(function). -EILSEQ: their times do not rise, and nothing is filled. */
int buckets_fill(const struct select_run *run, const struct picked *picked, struct range range,
                 enum function function, struct buckets *buckets);
/* What the function makes of the i-th; false: nothing. */
bool buckets_apply(const struct buckets *buckets, size_t i, enum function function, double *ret);

#endif
