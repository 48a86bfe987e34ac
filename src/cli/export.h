/* SPDX-License-Identifier: MIT */
/*
 * export.h — what export.c and export_….c share: an export under way, and fields of CSV.
 */
#ifndef HONE_EXPORT_H
#define HONE_EXPORT_H

#include "api/find.h"
#include "cli/samples.h"
#include "series/series.h"
#include "api/tuning.h"

#include <stdio.h>

struct export
{
    const char *home;
    struct store *store;
    struct series_db *series;
    const struct target *target; /* NULL, as are the three before, when it is at a server */
    struct samples *samples;     /* with --follow and --influx */
    FILE *to;
    bool jsonl;
    bool system; /* with --metrics: figures of attempts and of the machine, too */
    struct {
        const char **at;
        size_t len, cap;
    } metrics;  /* with --metrics: only these; none: all */
    bool *told; /* (metrics.len) which of them were written */
    struct err *err;
};

/* A field, quoted if it must be. */
void csv_field(FILE *to, const char *text);
/* Exact. */
void csv_double(FILE *to, double x);
/* … also a whole number beyond ±2^53, by its rest (base/rest.h). */
void csv_exact(FILE *to, double x, uint16_t rest);
/* The same behind a comma; NaN is an empty field. */
void csv_next_known(FILE *to, double x);
void csv_next(FILE *to, const char *text);
void csv_next_value(FILE *to, const json_t *value);
/* The hyperparameters: their names, and those of a trial. System parameters that are searched with
 * them are left out. */
void csv_param_names(const struct export *export);
void csv_params(const struct export *export, const struct trial *trial);
/* A row for each step that a trial told of; a row for each trial. 0, or an error. */
int export_iterations(const struct export *export);
int export_summary(const struct export *export);
/* An attempt's samples, from the store if it has them. */
struct series_walk export_walk(const struct export *export, const struct trial *trial,
                               int64_t attempt);
/* A sample as a line of CSV or JSON. */
void export_point(const struct export *export, const char *trial, const char *metric,
                  const struct series_value *value);
/* Is a metric of that name to be written? */
bool export_wants(const struct export *export, const char *metric);
/* The machine's figures belong to no experiment: what it measured while there was this one is of
 * trial EXPORT_MACHINE. */
#define EXPORT_MACHINE "machine"
struct export_span {
    int64_t from_ns, to_ns;
};
/* ended_us 0: not yet. */
struct export_span export_span(int64_t created_us, int64_t ended_us);
/* The samples as they come, until the experiment ends. */
int export_follow(const struct export *export);
struct cmd_call;
/* Is the call one of --follow or --influx? They are done here also when the samples are elsewhere.
 */
bool export_is_sent(const struct cmd_call *call);
/* The samples to an InfluxDB (--influx). How far it came is kept in export->home. The exit code. */
int export_influx(const struct cmd_call *call, const struct export *export);
/* Seconds per step of a trial: of all of it, and in its last configuration. NaN: nobody knows. */
struct trial_pace {
    double all, last;
};
int trial_pace(const struct export *export, const struct trial_row *row,
               const struct tuning_log *log, struct trial_pace *ret);

#endif
