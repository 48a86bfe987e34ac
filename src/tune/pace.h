/* SPDX-License-Identifier: MIT */
/*
 * pace.h — how fast a training goes under one configuration, and how sure that is.
 */
#ifndef HONE_TUNE_PACE_H
#define HONE_TUNE_PACE_H

#include "base/base.h"

/* Progress in a window of time. */
struct pace_window {
    double steps, seconds;
};

struct pace {
    double seconds_per_step; /* total time over total progress */
    double doubt; /* deviation of what one window says, as a share; from their spread, > 0 */
    double steps; /* of an average window */
    size_t n;     /* windows that it rests on */
};
/* Windows without progress count their time; those with a NaN, a negative number or no time are
 * left out. False: there was no progress at all. */
bool pace_init(struct pace *ret, const struct pace_window *windows, size_t n);

/* The same of windows and what came after them. The window that is not complete, `open`, joins the
 * newest that is. Before any is complete it tells alone, and before it has said enough (3 steps
 * in 0.3 s, or one of 3 s), all that passed since the first step: both are less sure. False: that
 * is not enough either. */
bool pace_so_far(struct pace *ret, const struct pace_window *windows, size_t n,
                 struct pace_window open, struct pace_window all);

/* Half of the 80 % interval of ln(seconds) that so many steps take: what is not known of the pace,
 * and how the windows to come will vary. */
double pace_margin(const struct pace *pace, double steps);

#endif
