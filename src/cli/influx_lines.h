/* SPDX-License-Identifier: MIT */
/*
 * influx_lines.h — samples as lines that InfluxDB takes, pure: columns in, a batch of text out.
 *
 *     train/loss, train/acc  ──►  train,experiment=3,trial=1,… loss=0.5,acc=0.9,step=7i 1700000000…
 *
 * What has the same time and step stands in one line. A measurement of one source is a series of
 * InfluxDB, and one series holds one point a nanosecond: where times are the same or unknown, or
 * come again, nanoseconds are added. The same columns from the same stamp give the same bytes, so
 * that a batch can be sent again and overwrites only itself.
 */
#ifndef HONE_INFLUX_LINES_H
#define HONE_INFLUX_LINES_H

#include "base/map.h"
#include "base/str.h"

#define INFLUX_LINES_MAX 5000
#define INFLUX_BYTES_MAX (1 << 20)
#define INFLUX_NO_TIME   INT64_MIN

/* The measurement and the field of a metric, escaped: "train/loss" is loss of train, one without a
 * slash of hone. Fields `time` and `step` would be taken for something else: time_, step_. */
void influx_measurement(const char *metric, struct str *to);
void influx_field(const char *metric, struct str *to);
/* ",key=value" behind a measurement; an empty value is no tag. */
void influx_tag(const char *key, const char *value, struct str *to);
/* The tag of a parameter. Names that mean something else get an underscore: `trial` is trial_. So
 * do these with underscores, that no two become the same: `trial_` is trial__. */
void influx_param_tag(const char *name, const char *value, struct str *to);

struct influx_stamp { /* of the last line of a series */
    int64_t raw, out; /* its time as it was told, and as it was written */
};
#define INFLUX_STAMP_INIT(base_ns)                                                                 \
    {                                                                                              \
        INFLUX_NO_TIME, (base_ns)-1                                                                \
    }
/* The time to be written for `raw_ns`: never before it, and not that of the line before. A time
 * that goes back is kept as it is. Without one: a nanosecond after the last. */
int64_t influx_stamp(struct influx_stamp *stamp, int64_t raw_ns);

struct influx_column { /* n values of one metric from `at` on, in their order; borrowed */
    const char *field;
    size_t n, at;
    const int64_t *steps, *times_ns;
    const double *values;
    const uint16_t *rests; /* base/rest.h; NULL: none */
    bool whole;            /* it is a field of integers: whole numbers are written as `7i` */
    bool more;             /* behind these the store has others */
};
struct influx_table { /* the columns of one measurement of one source */
    const char *head; /* measurement and tags */
    struct influx_stamp stamp;
    struct influx_column *columns;
    size_t n;
    bool exact; /* of equal times the last counts: they are written as they are */
};
struct influx_batch {
    struct str text;
    size_t lines, points; /* points: values of metrics */
    size_t left_out;      /* NaN and Inf, of which InfluxDB has none */
    struct map used;      /* times in the table at hand */
};
#define INFLUX_BATCH_INIT                                                                          \
    {                                                                                              \
        STR_INIT, 0, 0, 0, MAP_INIT                                                                \
    }
void influx_batch_release(struct influx_batch *batch);
/* Empty it for the next lines. */
void influx_batch_clear(struct influx_batch *batch);

enum influx_filled {
    INFLUX_DONE, /* all columns are in it */
    INFLUX_FULL, /* send it, then go on with the same table */
    INFLUX_MORE, /* a column ended that has more: load what follows each `at` */
};
/* Add lines of a table; its columns' `at` and its stamp move on. `begin`: a table that this batch
 * has no lines of yet. */
enum influx_filled influx_batch_add(struct influx_batch *batch, struct influx_table *table,
                                    bool begin);

#endif
