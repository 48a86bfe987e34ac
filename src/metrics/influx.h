/* SPDX-License-Identifier: MIT */
/*
 * influx.h — InfluxDB line protocol from outside, as it comes in a body of /write or in a datagram:
 * millions of fields a second, and for bad lines the sentences of InfluxDB 1.6.
 *
 *     influx_reader_begin(reader, keys, body, n, influx_precision_ns(precision), now_ns);
 *     while (influx_reader_next(reader, &line))
 *         … line.series, line.fields[0..line.n_fields), line.time_ns …
 *     status = influx_reader_status(reader, &error);          204, or 400 and what to say
 *
 * Pure: no clock, no I/O. Good lines are handed out whatever is wrong with the others.
 * Not as InfluxDB: nan, inf and infinity are floats, in any case and with a sign; a field needs a
 * name; a NUL in a name is refused. As there, the last of two equal fields on a line counts, and a
 * field called `time` is left out.
 */
#ifndef HONE_METRICS_INFLUX_H
#define HONE_METRICS_INFLUX_H

#include "base/str.h"

struct influx_text { /* no NUL at its end, and none in it */
    const char *s;
    size_t n;
};
struct influx_tag {
    struct influx_text key, value;
};

/* A measurement with one set of tags. Lives as long as its keys. */
struct influx_measurement;
struct influx_series {
    struct influx_text measurement; /* this and the tags without escapes */
    const struct influx_tag *tags;  /* (n_tags) by key, each key once */
    size_t n_tags;
    uint64_t handle; /* the caller's own; 0 at first */

    struct influx_measurement *group; /* private from here */
    struct influx_series *next;
};

enum influx_kind { INFLUX_FLOAT, INFLUX_INTEGER, INFLUX_BOOLEAN, INFLUX_STRING };

/* A field of a measurement, whatever the tags. Lives as long as its keys. */
#define INFLUX_NO_HANDLE UINT32_MAX
struct influx_name {
    struct influx_text field;
    enum influx_kind kind; /* of its first value */
    uint32_t handle;       /* the caller's own; INFLUX_NO_HANDLE at first */

    bool plain; /* private from here: can be written without escapes */
    struct influx_measurement *group;
    struct influx_name *next, *follower;
    uint64_t line; /* the last that had it, and where */
    size_t place;
};

struct influx_field {
    struct influx_name *name;
    enum influx_kind kind;
    double value; /* true is 1, an integer the nearest double, a string NaN */
    union {
        int64_t integer;         /* exact, of INFLUX_INTEGER */
        struct influx_text text; /* of INFLUX_STRING, without escapes */
    };
};
struct influx_line {
    struct influx_series *series;
    const struct influx_field *fields; /* (n_fields) of different names; until the next line */
    size_t n_fields;                   /* 1 … */
    int64_t time_ns;
};

/* ---- what is known of a database: its series and names, found again by one hash of a line's head.
 * Its memory is bounded: lines with a new series beyond a limit are refused, with a sentence. ----
 */
struct influx_keys;
struct influx_all { /* of all databases that share it */
    size_t n_series, most_series;
};
struct influx_limits {
    size_t series, names;   /* how many */
    struct influx_all *all; /* or NULL; outlives the keys */
    size_t bytes;           /* of memory for all of them, as near as it can be counted */
    bool fixed_kinds; /* as InfluxDB: a value of another kind than the first of its name is refused
                       */
};
/* `seed` should be one that nobody can guess: names come from outside, and are hashed. */
struct influx_keys *influx_keys_new(const struct influx_limits *limits, uint64_t seed);
void influx_keys_free(struct influx_keys *keys);
DEFINE_AUTOFREE(influx_keys);
size_t influx_keys_bytes(const struct influx_keys *keys);
/* The field of a measurement, NULL: no line had it. */
const struct influx_name *influx_keys_name(const struct influx_keys *keys,
                                           struct influx_text measurement,
                                           struct influx_text field);
extern const char *const influx_kind_names[]; /* "float" … */

/* ---- reading ---- */
/* Nanoseconds of a request's precision: n u ms s m h; anything else is n, as InfluxDB has it. */
int64_t influx_precision_ns(const char *precision);

struct influx_reader;
struct influx_reader *influx_reader_new(void);
void influx_reader_free(struct influx_reader *reader);
DEFINE_AUTOFREE(influx_reader);
/* `bytes` and `keys` are borrowed until the status is asked for. A line without a time has now_ns
 * (≥ 0), cut to the precision. */
void influx_reader_begin(struct influx_reader *reader, struct influx_keys *keys, const char *bytes,
                         size_t n, int64_t precision_ns, int64_t now_ns);
/* The next good line; false at the end. */
bool influx_reader_next(struct influx_reader *reader, struct influx_line *ret);

struct influx_counts {
    size_t lines;   /* handed out */
    size_t bad;     /* not understood */
    size_t dropped; /* understood but refused: limits, `time` as a tag, nothing but `time` */
};
struct influx_counts influx_reader_counts(const struct influx_reader *reader);
/* At the end: 204, or 400 and the error's text is appended to ret (as long as the bad lines are; of
 * very many and very long ones the first 256 KiB). */
int influx_reader_status(const struct influx_reader *reader, struct str *ret);

#endif
