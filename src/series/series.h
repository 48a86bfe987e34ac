/* SPDX-License-Identifier: MIT */
/*
 * series.h — the samples of a trial: from the store (db.h), and from the attempts' own files
 * (metrics, stdout, stderr) as long as these may hold more than the store: while an attempt runs,
 * and in homes from before there was a store. Callers know only this interface.
 */
#ifndef HONE_SERIES_H
#define HONE_SERIES_H

#include "model/trial.h"
#include "series/db.h"

struct series_point {
    int64_t step;    /* counted from 0 where the program gave none */
    int64_t time_us; /* wall; 0: unknown */
    double value;
};
struct series {
    char *metric;
    VEC(struct series_point) points;
};
struct series_set {
    VEC(struct series) series; /* in order of first appearance */
};
void series_set_release(struct series_set *set);
/* Read what a trial wrote over its attempts 1..n, oldest first; an observed one, which has none,
 * may have samples as those of an attempt 0. A later attempt that repeats
 * steps (it began again or from a checkpoint) replaces them: of a metric's earlier points those
 * before its first step stay, the others belong to a past that was given up. In one attempt a
 * metric comes from one source: the metrics file, event files, what came from outside, stdout,
 * stderr. `metric` NULL: all of them but hone's own and the machine's figures, which are read by
 * name. `home` is where the attempts' folders are; `db` NULL: the files alone. A missing file is an
 * empty one. -EFBIG: more than SERIES_POINTS_MAX points; ask for one metric. */
#define SERIES_POINTS_MAX (32u << 20)
int series_read(struct series_db *db, const char *home, const struct spec *spec,
                const struct trial *trial, const char *metric, struct series_set *ret,
                struct err *err);
/* Does the store of this home hold what all its attempts have told? Not while one from before there
 * was a store is being migrated. */
bool series_whole(const char *home);
/* Put what an attempt's files hold into the store, which passes over what it has. For homes from
 * before there was one, and for imports. In turns of 256 KiB: 0: there is more, 1: done. */
struct series_copy;
int series_copy_new(struct series_db *db, const char *home, const struct spec *spec,
                    const struct attempt *attempt, struct series_copy **ret, struct err *err);
void series_copy_free(struct series_copy *copy);
DEFINE_AUTOFREE(series_copy);
int series_copy_turn(struct series_copy *copy);
/* All of it at once. */
int series_store(struct series_db *db, const char *home, const struct spec *spec,
                 const struct attempt *attempt, struct err *err);
/* The same samples of one attempt one after the other as they were told, without holding them:
 * metrics, event files, what came from outside, stdout, stderr; a metric comes from the first that
 * has it. Nothing is replaced: a step that output tells again comes again. Steps are counted where
 * there are none. Hone's own metrics are left out. Rows of the store come whole, if no metric is
 * named. */
struct series_walk {      /* what is walked; all is borrowed */
    struct series_db *db; /* NULL: the files alone */
    const char *home;
    const struct spec *spec;
    const double *point; /* of the trial; NULL: what the program was given is not known */
    int64_t experiment, trial, attempt;
    bool ended;         /* nobody writes the files any more */
    bool stored;        /* of an attempt that runs, too, what the store has: with the times at which
                           lines came, and perhaps without the newest. Else its files */
    bool system;        /* the figures of its processes, too */
    const char *metric; /* NULL: all */
};
struct series_sample {
    const char *metric; /* for the call only */
    size_t place;       /* of the metric: 0, 1, … in order of first appearance */
    struct series_point point;
    int64_t time_ns; /* the same; INT64_MIN: unknown */
    uint16_t rest;   /* of the value: base/rest.h */
    bool output;     /* stdout or stderr, which may draw a step again and again */
    bool figure;     /* measured of its processes: its step is only a count */
};
typedef void series_fn(const struct series_sample *sample, void *arg);
int series_walk(const struct series_walk *walk, series_fn *fn, void *arg, struct err *err);
/* Is it read from the store, but for what only the store has? */
bool series_walk_stored(const struct series_walk *walk);
/* What series_read() gives, a metric at a time and without holding it, however much there is. Of
 * figures all attempts' are told, without steps. */
struct series_ask { /* all is borrowed */
    struct series_db *db;
    const char *home;
    const struct spec *spec;
    const struct trial *trial;
    const char *const *metrics; /* only these */
    size_t n_metrics;           /* 0: all */
    bool system;                /* the figures of its processes, too */
    size_t held; /* points of an attempt's files that are kept in memory; 0: 2 Mi. Files with more
                    are read once for each metric */
};
struct series_value {
    int64_t step;    /* STEP_NONE: none */
    int64_t time_ns; /* wall; INT64_MIN: unknown */
    double value;
    uint16_t rest; /* base/rest.h */
};
typedef void series_value_fn(const char *metric, const struct series_value *value, void *arg);
int series_stream(const struct series_ask *ask, series_value_fn *fn, void *arg, struct err *err);
/* NULL if it has none. */
const struct series *series_find(const struct series_set *set, const char *metric);

#endif
