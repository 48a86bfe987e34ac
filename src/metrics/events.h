/* SPDX-License-Identifier: MIT */
/*
 * events.h — the scalars of a TensorBoard event file, as TensorFlow, torch and tensorboardX write
 * it. Pure: bytes in, samples out; feed in any pieces, as the file grows.
 *
 *     file    records: u64 length, u32 CRC of it, payload, u32 CRC of that (CRC-32C, masked)
 *     payload Event{wall_time, step, summary{value{tag, simple_value | tensor, metadata}}}
 */
#ifndef HONE_METRICS_EVENTS_H
#define HONE_METRICS_EVENTS_H

#include "metrics/metrics.h"

/* A hyperparameter of the run, from the hparams plugin. For the call only. */
struct events_param {
    const char *name;
    enum { EVENTS_NUMBER, EVENTS_TEXT, EVENTS_BOOL } kind;
    double number;    /* NUMBER; BOOL: 0 or 1 */
    const char *text; /* TEXT */
};
/* How the run ended, as the plugin has it. */
enum events_outcome { EVENTS_UNKNOWN, EVENTS_SUCCESS, EVENTS_FAILURE };

struct events_sink {
    sample_fn *on_sample; /* a metric is PREFIX/tag, spaces in it '_'; float32 comes exactly */
    void (*on_param)(const struct events_param *param, void *arg); /* may be NULL */
    void *arg;
};

/* Reads one file from its beginning. `prefix` is the run's name, "" for none. The record that the
 * input breaks off in is kept for later. */
struct events;
struct events *events_new(const char *prefix, const struct events_sink *sink);
void events_free(struct events *events);
DEFINE_AUTOFREE(events);
void events_feed(struct events *events, const char *bytes, size_t n);

#define EVENTS_RECORD_MAX (64u << 20) /* a longer one (pictures) is passed over unread */
#define EVENTS_NAME_MAX   255 /* bytes of a metric's name with its prefix; longer: left out */

struct events_counts {
    uint64_t records, samples;
    uint64_t bad_records; /* their CRC is wrong, or they are no Event: passed over */
    uint64_t long_records;
    uint64_t left_out; /* values without a usable name */
    uint64_t bad_at;   /* where the first of the bad records begins */
    bool stopped;      /* a length had a wrong CRC: where the next record begins, nobody knows */
    enum events_outcome outcome;
};
const struct events_counts *events_counts(const struct events *events);
/* Bytes up to the end of the last whole record. */
uint64_t events_end(const struct events *events);
/* If the input ends here: was there nothing behind that? */
bool events_whole(const struct events *events);

/* Is this the name of such a file? events.out.tfevents.SECONDS.HOST[.PID…] */
bool events_file_name(const char *name);
/* Its second and process; 0: not told. */
void events_file_origin(const char *name, int64_t *ret_s, int64_t *ret_pid);

#endif
