/* SPDX-License-Identifier: MIT */
/*
 * charts.h — pictures of stored series (query.h), kept in memory so that asking again is quick.
 *
 * A picture is that of the full data: every value of the series is smoothed and drawn. It is kept
 * with the state of its drawing; if the series grew since, only its new part is read. Of a line
 * that is asked for again the points are kept, too, so that another view of it need not read them.
 * The least recently used go when there are too many.
 */
#ifndef HONE_CHARTS_H
#define HONE_CHARTS_H

#include "series/db.h"
#include "series/query.h"

#define CHARTS_BYTES (128u << 20)

struct charts;
/* `threads` read at the same time, each with a handle of its own. At most about max_bytes stay
 * after a call. */
int charts_open(const char *home, size_t threads, size_t max_bytes, struct charts **ret,
                struct err *err);
void charts_free(struct charts *charts);
DEFINE_AUTOFREE(charts);

enum charts_x {
    CHARTS_STEP,    /* counted from 0 where there is none */
    CHARTS_TIME,    /* seconds since 1970; values without a time are left out */
    CHARTS_RELATIVE /* seconds since the first value of the line */
};
struct charts_ask {
    enum charts_x x;
    struct query_view view;
    double weight, scale; /* as in struct query_smooth; 0, 0: not smoothed */
    bool bands;           /* query_chart_columns() will be asked for */
};
struct charts_line { /* of a trial, over its attempts: course.h */
    int64_t experiment, trial;
    const char *metric;
};
/* Where the data of all lines begins and ends; what others flushed before the call counts. False:
 * there is none. */
bool charts_extent(struct charts *charts, enum charts_x x, const struct charts_line *lines,
                   size_t n, double *ret_x0, double *ret_x1);
/* Into ret[n], borrowed until the next call: a picture for each line, empty if there is no such
 * series. What others flushed before the call is in it. -EINVAL with a sentence: a wrong view or
 * smoothing. */
int charts_draw(struct charts *charts, const struct charts_ask *ask,
                const struct charts_line *lines, size_t n, const struct query_chart **ret,
                struct err *err);

/* The same, each picture as soon as those before it are told, until fn returns. None of them is
 * kept that was never asked for before: most views are asked for only once, and what is drawn in
 * the same memory again and again costs half. No bands. */
typedef void charts_fn(const struct query_chart *chart, size_t line, void *arg);
int charts_tell(struct charts *charts, const struct charts_ask *ask,
                const struct charts_line *lines, size_t n, charts_fn *fn, void *arg,
                struct err *err);

/* What the cache did so far. */
struct charts_counts {
    uint64_t drawn;  /* whole pictures */
    uint64_t grown;  /* new parts of them */
    uint64_t values; /* read in all */
    size_t kept;     /* pictures */
    size_t traces;   /* lines whose points are kept */
    size_t bytes;
};
struct charts_counts charts_counts(const struct charts *charts);

#endif
