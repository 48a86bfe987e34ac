/* SPDX-License-Identifier: MIT */
/*
 * influx_cursor.h — how far the series of an experiment were sent to an InfluxDB: a file in
 * HOME/export, written before each batch and read by whoever goes on after a kill.
 *
 *     done  ──►  what the server has acknowledged
 *     at    ──►  where the batch under way ends: it is made again from done to at, byte for byte
 *
 * The position is the number of values of a metric of a source: the store keeps their order, also
 * when it seals and merges, so that it means the same rows for ever.
 */
#ifndef HONE_INFLUX_CURSOR_H
#define HONE_INFLUX_CURSOR_H

#include "base/err.h"
#include "cli/influx_lines.h"
#include "series/db.h"

struct influx_metric {
    char *name;
    uint64_t done, at;
    uint64_t total; /* in the store */
    uint32_t id;    /* of its name there */
    bool whole;     /* as samples_series.whole; once settled: it goes as integers */
    bool lines;     /* … and .lines */
};
struct influx_unit { /* a measurement of a source; an InfluxDB series */
    struct series_source source;
    struct influx_stamp done_stamp, stamp;
    VEC(struct influx_metric) metrics; /* in order of first appearance */
    size_t next;  /* the metric that will be asked for next, if they come in order */
    bool sending; /* in the batch under way */
};
enum influx_sent { INFLUX_FLOATS = 1, INFLUX_INTEGERS };
struct influx_cursor {
    VEC(struct influx_unit *) units;
    VEC(struct influx_unit *) sending; /* in the order of the batch */
    struct map_text places;            /* source and measurement → unit */
    struct map_text kinds;     /* metric → of which kind its field is: an enum influx_sent */
    VEC(char *) integers;      /* metrics of that kind */
    int64_t base_ns;           /* time of what has none */
    uint64_t points, left_out; /* acknowledged */
};

/* `base_ns`: where times are counted from for samples that have none. */
void influx_cursor_init(struct influx_cursor *cursor, int64_t base_ns);
void influx_cursor_release(struct influx_cursor *cursor);
/* The metric's place, a new one at its end if need be; borrowed until the next call. */
struct influx_metric *influx_cursor_metric(struct influx_cursor *cursor,
                                           const struct series_source *source, const char *name);
/* An InfluxDB field has one kind, that of the first value which it got: what was sent as floats
 * stays so, else a metric with whole numbers beyond ±2^53 goes as integers. To be called after a
 * look. */
void influx_cursor_settle(struct influx_cursor *cursor);
/* The batch goes to here: what comes of this unit is part of it. */
void influx_cursor_send(struct influx_cursor *cursor, struct influx_unit *unit);
/* The server has the batch. */
void influx_cursor_done(struct influx_cursor *cursor, const struct influx_batch *batch);

/* As JSON, and back: 0, or -EINVAL for what is none of ours. `experiment` is its id. */
void influx_cursor_format(const struct influx_cursor *cursor, const char *to, struct str *ret);
int influx_cursor_parse(const char *text, size_t n, int64_t experiment,
                        struct influx_cursor *cursor, struct err *err);
/* A file's name for a target: readable, and different for different ones. Free it. */
char *influx_cursor_name(int64_t experiment, const char *target);

/* %XX for all but letters, digits and -._~; `keep` more that stay. */
void percent_encode(const char *text, const char *keep, struct str *to);
void percent_decode(const char *text, size_t n, struct str *to);

#endif
