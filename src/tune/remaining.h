/* SPDX-License-Identifier: MIT */
/*
 * remaining.h — how long a training still takes: to a known number of steps, or to a target value.
 *
 * Everything is counted from now, that is from the last point seen, never from where a
 * configuration or an attempt began. Steps may be iterations or epochs, as long as all curves of an
 * experiment count alike. Pure: no clock, no state but what is passed in; same input, same bits.
 *
 *     struct remaining steps, time;
 *     if (remaining_to_target(model, &seen, &steps) && remaining_is_sure(&steps))
 *         … for each configuration: time = remaining_in_seconds(&steps, &pace);
 *     else
 *         … say "may not reach 0.5: chance 40 %" instead of a time
 */
#ifndef HONE_TUNE_REMAINING_H
#define HONE_TUNE_REMAINING_H

#include "model/spec.h"
#include "surrogate/curve.h"
#include "tune/pace.h"

#include <math.h>

/* What is left, in steps or in seconds: the median, and the middle 80 %, of those cases in which
 * the end is reached at all. 0 ≤ low ≤ middle ≤ high. */
struct remaining {
    double chance; /* that it is reached; middle, low and high are NaN where this is 0 */
    double middle, low, high;
};

#define REMAINING_NEVER ((struct remaining){0, NAN, NAN, NAN})

/* Below this chance a time would mislead: say the chance instead. */
#define REMAINING_SURE 0.8
bool remaining_is_sure(const struct remaining *left);

/* A training of known length: `steps_left` at that pace. Below 0 counts as 0, chance is 1. */
struct remaining remaining_of_length(double steps_left, const struct pace *pace);
/* Steps become seconds; both doubts add up. */
struct remaining remaining_in_seconds(const struct remaining *steps, const struct pace *pace);

/* --- to a target --- */

struct target {
    double value;
    bool above;     /* reached from below, as an accuracy; else from above, as a loss */
    size_t average; /* the mean of the last so many values decides; 0 counts as 1 */
};
/* Do the last `average` values, on average, reach it (equal is enough)? False while there are
 * fewer. Those that are not finite do not count. */
bool target_is_reached(const struct target *target, const double *values, size_t n);

/* How many of so many. */
size_t quorum_needs(enum quorum quorum, size_t workers);
/* What is left until enough of them have. They learn one model and reach it in about the order of
 * their medians: the last one needed decides. Without workers the chance is 0. */
struct remaining remaining_of_workers(enum quorum quorum, const struct remaining *workers,
                                      size_t n);

/* Curves of the same experiment that have ended, prepared for one target and horizon. */
struct remaining_model;

/* `horizon`: the age at which a training is over even if the target was not reached; 0 or less: as
 * long as the longest ended one, or without one ten times what has been seen. Copies what it needs.
 * n may be 0. Curves may be raw: values that are not finite are left out, and where ages go
 * backwards (a restart from a checkpoint) the later points count. Of many curves the last 48. */
struct remaining_model *remaining_model_new(const struct curve_points *ended, size_t n,
                                            const struct target *target, double horizon);
void remaining_model_free(struct remaining_model *model);
DEFINE_AUTOFREE(remaining_model);

/* Steps left until a curve reaches the target: 0 with chance 1 if it has. `mine` may be raw, too.
 * False: there is nothing to say, because the target is not a number or there are fewer than three
 * points and no ended curve. 0.1 to 1 ms. */
bool remaining_to_target(const struct remaining_model *model, const struct curve_points *mine,
                         struct remaining *ret);

#endif
