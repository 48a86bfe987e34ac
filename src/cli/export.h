/* SPDX-License-Identifier: MIT */
/*
 * export.h — what export.c and export_….c share: an export under way, and fields of CSV.
 */
#ifndef HONE_EXPORT_H
#define HONE_EXPORT_H

#include "cli/find.h"
#include "series/db.h"
#include "cli/tuning.h"

#include <stdio.h>

struct export
{
    const char *home;
    struct store *store;
    struct series_db *series;
    const struct target *target;
    FILE *to;
    bool jsonl;
    struct err *err;
};

/* A field, quoted if it must be. */
void csv_field(FILE *to, const char *text);
/* Exact. */
void csv_double(FILE *to, double x);
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
/* A sample as a line of CSV or JSON. */
struct series_point;
void export_point(const struct export *export, const char *trial, const char *metric,
                  const struct series_point *point);
/* The samples as they come, until the experiment ends. */
int export_follow(const struct export *export);
/* Has the store other samples than `seen`, what it had the last time? Then `seen` is that. */
struct export_seen {
    uint64_t rows, values;
};
bool export_has_news(const struct export *export, struct export_seen *seen);
/* Does somebody work at the experiment? Read from the database anew. */
bool export_goes_on(const struct export *export);
/* The samples to an InfluxDB (--influx). The exit code. */
struct cmd_call;
int export_influx(const struct cmd_call *call, const struct export *export);
/* Seconds per step of a trial: of all of it, and in its last configuration. NaN: nobody knows. */
struct trial_pace {
    double all, last;
};
int trial_pace(const struct export *export, const struct trial_row *row,
               const struct tuning_log *log, struct trial_pace *ret);

#endif
