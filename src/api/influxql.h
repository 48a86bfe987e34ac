/* SPDX-License-Identifier: MIT */
/*
 * influxql.h — the simple part of InfluxDB's query language: what its command line, its Python
 * client and Grafana's basic panels send. A text is parsed to statements, which are answered from
 * an abstract source of series, as JSON or CSV.
 *
 *     CREATE|DROP DATABASE x; CREATE|ALTER|DROP RETENTION POLICY …, which do nothing
 *     SHOW DATABASES | MEASUREMENTS | TAG KEYS | TAG VALUES … WITH KEY … | FIELD KEYS | SERIES |
 *          RETENTION POLICIES | USERS | CONTINUOUS QUERIES
 *     SELECT field, tag, *, mean(field), derivative(mean(field), 1s), (a + b) * 100 …
 *          FROM m WHERE tag = 'x' AND field > 1 AND time > now() - 1h
 *          GROUP BY time(1m), tag fill(null|none|previous|linear|0) ORDER BY time DESC LIMIT 5
 *
 * A series' metric is `measurement.field`, or the measurement alone where the field is `value`. In
 * SELECT the two are put together and compared; where a metric must be taken apart (SHOW, `*`) its
 * last dot divides it.
 */
#ifndef HONE_INFLUXQL_H
#define HONE_INFLUXQL_H

#include "base/err.h"
#include "base/str.h"

/* ---- what is asked ---- */
struct influxql_tag {
    const char *key, *value;
};
struct influxql_series {
    const char *metric;
    const struct influxql_tag *tags; /* (n_tags), by key */
    size_t n_tags;
    uint64_t id; /* the source's own */
    void *handle;
};
typedef int influxql_name_fn(const char *name, void *to);
typedef int influxql_series_fn(const struct influxql_series *series,
                               void *to); /* borrowed for the call */
struct influxql_points {                  /* n of them */
    size_t n;
    const int64_t *times_ns;
    const double *values;
    const double *rests; /* as struct series_chunk has them; NULL: none */
};
typedef int influxql_points_fn(const struct influxql_points *points, void *to);
/* Callbacks that return not 0 end the walk, and that is what it returns. */
struct influxql_source {
    void *arg;
    int (*databases)(void *arg, influxql_name_fn *fn, void *to);
    int (*series)(void *arg, const char *db, influxql_series_fn *fn, void *to); /* -ENOENT: no db */
    /* Points with min_ns <= time <= max_ns; others may come, too. In any order. */
    int (*points)(void *arg, const char *db, const struct influxql_series *series, int64_t min_ns,
                  int64_t max_ns, influxql_points_fn *fn, void *to);
    /* "float", "integer", "boolean" as a constant; NULL: it is not known. The member may be NULL.
     */
    const char *(*type)(void *arg, const char *db, const char *measurement, const char *field);
    int (*create)(void *arg, const char *db, struct err *err);
    int (*drop)(void *arg, const char *db, struct err *err);
};

/* ---- asking ---- */
struct influxql;
/* `now_ns` is now() in the text. -EINVAL: "error parsing query: found x, expected y at …". */
int influxql_parse(const char *text, int64_t now_ns, struct influxql **ret, struct err *err);
/* The same where `params`, a JSON object as text or NULL, says what $names stand for. */
int influxql_parse_bound(const char *text, const char *params, int64_t now_ns,
                         struct influxql **ret, struct err *err);
void influxql_free(struct influxql *query);
DEFINE_AUTOFREE(influxql);
/* Does it create or drop something? */
bool influxql_writes(const struct influxql *query);
/* Nothing but databases that are made: InfluxDB takes that by GET, too, and warns. */
bool influxql_only_creates(const struct influxql *query);

enum influxql_format { INFLUXQL_JSON, INFLUXQL_CSV };
struct influxql_options {
    const char *db;    /* where the text names none; NULL: none */
    const char *epoch; /* "ns", "u", "ms", "s", "m", "h"; NULL: RFC 3339 (CSV: ns) */
    enum influxql_format format;
    bool pretty;
    bool warn;         /* that what changes something came by GET */
    size_t chunk_rows; /* JSON: an object for every so many rows of a series; 0: one for all */
};
/* Answer all statements; what fails is said inside its result. */
void influxql_run(const struct influxql *query, const struct influxql_source *source,
                  const struct influxql_options *options, struct str *to);

#endif
