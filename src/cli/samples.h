/* SPDX-License-Identifier: MIT */
/*
 * samples.h — every sample of an experiment, in the order in which they came, also those that a
 * later one of the same time replaced: of the home's store, or of a server. For `hone export
 * --follow` and `--influx`, which go on by position.
 */
#ifndef HONE_SAMPLES_H
#define HONE_SAMPLES_H

#include "api/find.h"
#include "cli/remote.h"
#include "series/db.h"

struct samples_series { /* a metric of a source; borrowed for the call */
    struct series_source source;
    const char *metric;
    uint32_t id; /* for samples_read(); never SERIES_NAME_NONE */
    uint64_t count;
    bool whole; /* some trial has whole numbers of it beyond ±2^53: to InfluxDB they go as integers
                 */
    bool lines; /* series_db_is_lines(): of values with the same time the last counts */
};
typedef void samples_fn(const struct samples_series *series, void *arg);
typedef void samples_param_fn(const char *name, const char *text, void *arg);

struct samples;
struct samples_ops {
    /* Does somebody work at it? To be asked before a look, which is the last if not. */
    bool (*goes_on)(struct samples *samples);
    /* All series that there are, if there is more than at the last look or `always`. */
    int (*look)(struct samples *samples, bool always, samples_fn *fn, void *arg, struct err *err);
    /* Values from..to of one; of the chunk only n, steps, times_ns, values and rests are filled
     * in. */
    int (*read)(struct samples *samples, const struct samples_series *series, uint64_t from,
                uint64_t to, series_chunk_fn *fn, void *arg, struct err *err);
    /* The parameters of a trial, as texts; "": inactive. */
    int (*params)(struct samples *samples, int64_t trial, samples_param_fn *fn, void *arg,
                  struct err *err);
    void (*free)(struct samples *samples);
};
struct samples {
    const struct samples_ops *ops;
    int64_t experiment, created_us, ended_us; /* ended_us 0: not when it was asked */
    bool machine; /* the caller's wish: a look tells the machine's figures, too, of all time */
};
/* Are these the machine's figures, of no experiment? */
static inline bool samples_is_machine(const struct series_source *source)
{
    return source->experiment == 0 && source->trial == 0;
}
void samples_free(struct samples *samples);
DEFINE_AUTOFREE(samples);

/* Of the home; all is borrowed. `target` may be NULL if nobody asks for parameters or whether it
 * goes on. */
struct samples *samples_of_home(const char *home, struct store *store, struct series_db *series,
                                const struct target *target);
/* Of a server, which is awaited when it goes away; `remote` is borrowed. */
int samples_of_server(struct remote *remote, const char *ref, struct samples **ret,
                      struct err *err);

#endif
