/* SPDX-License-Identifier: MIT */
/*
 * speed.h — how long a unit of progress takes under each configuration of the machine.
 *
 *     ln seconds per unit = base(trial) + effect(configuration) + slope·load + size × counts
 *     base(trial) = level(unit) + slopes·hyperparameters + what is the trial's own
 *
 * The effect belongs to the program, the base to the trial, so every trial teaches the effects for
 * all others; what a trial measured itself counts more than what another did, and what was seen
 * under another load counts less. Trials that never changed their configuration teach it, too, as
 * far as their hyperparameters explain how they differ otherwise. Effects follow the scalability
 * law for counts; what is left is one free effect for each configuration where there are at most
 * SPEED_RIDGE of them, and a Gaussian process over the configurations where there are more.
 *
 * A trial is a number below 2^SPEED_UNIT_BIT; the bits above name the unit of its progress.
 * Also kept: the seconds that each kind of change has cost. Call linalg_open() before.
 * Same calls, same answers. Load is in cores taken by others.
 */
#ifndef HONE_TUNE_SPEED_H
#define HONE_TUNE_SPEED_H

#include "tune/knob.h"

#define SPEED_RIDGE    12
#define SPEED_UNIT_BIT 40

struct speed;

/* A normal belief about a logarithm. */
struct belief_ln {
    double mean, deviation;
};

/* The knobs' array is copied; their names and values are borrowed and must outlive it. */
struct speed *speed_new(const struct knob *knobs, size_t n);
void speed_free(struct speed *speed);
DEFINE_AUTOFREE(speed);
const struct knob *speed_knobs(const struct speed *speed, size_t *ret_n);

/* One window of a trial: ln of its seconds per unit of progress and the variance of that. Recent
 * windows count more than those long ago. NaN, infinity, a negative variance or what is beyond any
 * machine (e^50 s, 10⁵ cores): ignored and false. */
bool speed_tell(struct speed *speed, uint64_t trial, const double *configuration, double load,
                double ln_seconds, double variance);
/* How large a step of this trial is, as a logarithm (of its batch): more work for each thread makes
 * more of them worth it, so what another trial measured is carried over by the difference. Before
 * its first window; not told: all are of one size. */
void speed_size(struct speed *speed, uint64_t trial, double ln_size);
/* Its hyperparameters as n numbers in [0,1], as many for every trial. Before its first window. */
void speed_params(struct speed *speed, uint64_t trial, const double *params, size_t n);
/* What earlier knowledge says: ln seconds under this configuration against any fixed level. Only
 * differences between several such tells count; so tell the configuration at hand, too. */
bool speed_prior(struct speed *speed, const double *configuration, double ln_effect,
                 double deviation);
/* What was known before does not fit what is measured: it counts little from now on. */
void speed_doubt_prior(struct speed *speed);
/* Something about the machine has changed: what this trial measured before, but for the
 * configuration `except`, is a guess from now on and replaced by its next window. */
void speed_doubt(struct speed *speed, uint64_t trial, const double *except);
/* It failed or ran out of memory under this configuration: never again. */
void speed_infeasible(struct speed *speed, const double *configuration);
bool speed_feasible(const struct speed *speed, const double *configuration);

/* ln seconds per unit for one window without noise. Always finite; a wide deviation where nothing
 * is known. */
struct belief_ln speed_predict(struct speed *speed, uint64_t trial, const double *configuration,
                               double load);
/* ln(seconds under a / seconds under b): below 0, a is faster. Its deviation is not that of two
 * predictions: the base they share is gone. */
struct belief_ln speed_compare(struct speed *speed, uint64_t trial, const double *a,
                               const double *b, double load);
/* The same of m configurations (m, knobs) to b, at once. */
void speed_compare_all(struct speed *speed, uint64_t trial, const double *configurations, size_t m,
                       const double *b, double load, struct belief_ln *ret);
/* Windows that this trial spent under the configuration at about this load (within half a core). */
size_t speed_windows(const struct speed *speed, uint64_t trial, const double *configuration,
                     double load);
/* Mean ln seconds of its windows under the configuration at the nearest load, NAN without any. */
double speed_measured(const struct speed *speed, uint64_t trial, const double *configuration,
                      double load);

/* A change of this kind has cost so many seconds of progress. NaN or below 0: ignored. */
void speed_tell_change(struct speed *speed, enum change_kind kind, double seconds);
/* What one costs: the mean of what was told, begun with a guess (live 0.1 s, restart 10 s) that
 * counts as one. */
double speed_change_cost(const struct speed *speed, enum change_kind kind);

#endif
