/* SPDX-License-Identifier: MIT */
/*
 * prometheus.h — how things stand, in Prometheus' text format 0.0.4, for who scrapes /metrics. Send
 * it as PROMETHEUS_TYPE.
 *
 * Names of metrics and figures are labels, not names of families: "train/loss" would be none.
 */
#ifndef HONE_API_PROMETHEUS_H
#define HONE_API_PROMETHEUS_H

#include "base/str.h"
#include "model/state.h"

#define PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* All is borrowed for the call. */
struct prometheus_value {
    const char *name;
    double value; /* NaN and Inf are told as such */
};
struct prometheus_trial {
    int64_t number;
    const struct prometheus_value *metrics; /* the last value of each; of a name twice, the first */
    size_t n_metrics;
};
struct prometheus_experiment {
    int64_t id;
    const char *name;
    enum experiment_state state;
    uint64_t trials[TRIAL_STATES]; /* how many are in each state */
    const char *objective;         /* its metric; NULL: none */
    double best;                   /* NaN: none yet */
    const struct prometheus_trial *running;
    size_t n_running;
};
struct prometheus_ingest { /* since the engine began */
    uint64_t requests, lines, values, bytes;
    uint64_t rejected; /* lines */
    uint64_t datagrams, dropped, cut;
};
struct prometheus_view {
    const char *version;
    int64_t started_us; /* wall */
    const struct prometheus_experiment *experiments;
    size_t n_experiments;
    const struct prometheus_value *figures; /* of the machine: "system/cpu" */
    size_t n_figures;
    const struct prometheus_ingest *ingest; /* NULL: nothing is taken in */
};

/* Append all families that have a sample. */
void prometheus_text(const struct prometheus_view *view, struct str *to);

#endif
