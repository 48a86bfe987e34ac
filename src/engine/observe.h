/* SPDX-License-Identifier: MIT */
/*
 * observe.h — trials that Hone did not start. Lines of InfluxDB's protocol become samples of
 * observed trials:
 *
 *     database        an experiment, with the database's name in its environment
 *     set of tags     a trial (without `host`: the same work on another machine is the same work);
 *                     the tags are its parameters
 *     measurement.field   the metric; of a field called `value` the measurement alone
 *
 * A trial's row is committed before its first sample is stored, so there are no samples without a
 * trial, whatever dies. Used on the loop's thread only.
 */
#ifndef HONE_OBSERVE_H
#define HONE_OBSERVE_H

#include "engine/engine.h"
#include "engine/tracked.h"
#include "metrics/influx.h"
#include "series/db.h"

#define OBSERVE_DATABASES 1000      /* at most */
#define OBSERVE_OUTSIDE   "outside" /* the database of lines that name none */

struct observe;
struct observed; /* a database that is written to */

/* All are borrowed. `reader` is asked which databases there are. */
int observe_new(struct engine *engine, struct store *reader, struct series_db *db,
                struct observe **ret, struct err *err);
void observe_free(struct observe *observe);
DEFINE_AUTOFREE(observe);

/* Runs that tracking clients name; they live as long as `observe`. */
struct tracked *observe_tracked(const struct observe *observe);

/* The database of this name, made if it is new. -EINVAL: no name; -E2BIG: too many. */
int observe_open(struct observe *observe, const char *db, struct now now, struct observed **ret,
                 struct err *err);
/* 0: there is none. */
int64_t observe_find(const struct observe *observe, const char *db);
/* The type of a field as its lines have it since the server began: "float", "integer", "boolean",
 * "string"; NULL: none came. */
const char *observe_field_type(const struct observe *observe, const char *db,
                               const char *measurement, const char *field);
typedef int observe_fn(const char *db, int64_t experiment, void *arg);
int observe_walk(const struct observe *observe, observe_fn *fn, void *arg);
/* Forget it with all that came: samples at once, rows with the next commit. */
int observe_drop(struct observe *observe, const char *db, struct err *err);

/* A command removes an experiment (trial 0) or a trial of it, in the open tick: what comes from now
 * on belongs to a new one. */
void observe_removed(struct observe *observe, int64_t experiment, int64_t trial);

/* What is known of its series: for the reader of lines. Valid until the next turn. */
struct influx_keys *observed_keys(struct observed *observed);
/* Its name and number. */
const char *observed_db(const struct observed *observed);
int64_t observed_experiment(const struct observed *observed);
/* Is the trial of this series in the database? Makes nothing. */
bool observed_has(const struct observed *observed, struct influx_series *series);
/* The same, but if not it is made in the open tick: bring the line
 * again after the commit. */
bool observed_knows(struct observed *observed, struct influx_series *series, struct now now);
/* Store a line of a series that it knows. Texts have no place in a series and are passed over.
 * -ENOSPC: there is no room; nothing is lost that was told before, bring the line again. */
int observed_line(struct observed *observed, const struct influx_line *line, struct err *err);
/* Hand all lines to the kernel: from here on they survive the death of this process. If it fails
 * they are kept for the next time. */
int observe_flush(struct observe *observe, struct err *err);

/* About once a second: summaries of what has changed, into the open tick. What was removed
 * meanwhile is forgotten. True if there is more to do. */
bool observe_turn(struct observe *observe, struct now now);

struct observe_counts {
    uint64_t lines, values;
    uint64_t texts;    /* fields that are no numbers */
    uint64_t nameless; /* values whose metric had a name too long, or one too many */
};
void observe_counts(const struct observe *observe, struct observe_counts *ret);

#endif
