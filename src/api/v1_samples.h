/* SPDX-License-Identifier: MIT */
/*
 * v1_samples.h — every sample of an experiment over HTTP, exactly and in the order in which they
 * came, for who copies them elsewhere (`hone export --follow`, `--influx`).
 *
 *     sources   which metric of which file of which attempt has how many; whether some trial has
 *               whole numbers of it beyond ±2^53; whether of equal times the last counts
 *     samples   those of one from a position on: steps, times, values (or, for such numbers, their
 *               rests: base/rest.h), little-endian
 *
 * A position is the number of values before it. The store keeps their order for ever, so who asks
 * needs no more than how many it has. Trial 0 is the machine, whose figures are those of all
 * experiments.
 */
#ifndef HONE_V1_SAMPLES_H
#define HONE_V1_SAMPLES_H

#include "api/web_route.h"

#define SAMPLES_PAGE  65536 /* in one answer */
#define SAMPLES_BYTES 24    /* each: step, time in ns, value; arrays one after the other */

/* "metrics", "stdout", …: what a source is called. */
extern const char *const samples_files[SERIES_FILES];

/* The two routes, and that of v1_figures.c; in the table of v1_series.c. */
web_handler sources_asked, samples_asked, figures_asked;

/* n samples as bytes. */
void samples_put(struct str *to, const int64_t *steps, const int64_t *times_ns,
                 const double *values, size_t n);
/* `bytes` hold n samples; arrays of n. */
void samples_get(const char *bytes, size_t n, int64_t *ret_steps, int64_t *ret_times_ns,
                 double *ret_values);

#endif
