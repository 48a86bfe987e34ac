/* SPDX-License-Identifier: MIT */
/*
 * width.h — `parallel: auto`: how many trials run side by side, and with how many cores each. A
 * state machine over windows like decide.h; it knows no clock and starts or ends nothing itself.
 *
 *     w = width_new(&limits, start);
 *     width_next(w, &input, &decision);      at the end of each window
 *     … run decision.to side by side with decision.cores each
 *
 * Wanted is the most full-run equivalents an hour: the sum of the rates of all that run, less
 * their start-ups, times what the search makes of a trial at that width (width_efficiency). The
 * total rate over the width follows the scalability law; a width that has run is judged by what was
 * measured there.
 * - One width is held; at most one other is on trial against it. It is tried if what it may gain in
 *   the time that is left is more than it costs: a new slot a start-up, a slot less the wait for
 *   the end of a trial, since none is ever killed for this.
 * - A change is at most by a factor of four. Below max(5 %, 2 standard errors) what was held stays,
 *   unless going back alone would cost.
 * - Never more than the memory allows: the largest peak seen, and a tenth on top. While nobody
 *   knows how much a trial takes, one runs alone, for at most ten windows if nothing can tell it;
 *   while it still grows, no slot is added.
 * - Measured under another load counts less: when a neighbour comes or goes, all is open again.
 */
#ifndef HONE_TUNE_WIDTH_H
#define HONE_TUNE_WIDTH_H

#include "base/str.h"
#include "tune/speed.h"

/* Trials that the search loses for each one in flight beyond the first, because it chooses without
 * their results. Measured (bench/RESULTS.md, search): 8 in flight are after 24 and 48 trials where
 * one at a time is after 12.5 and 35. */
#define WIDTH_LOSS 2.5

struct width_limits {
    double cores_least;  /* that a trial has; above 0 */
    size_t most;         /* side by side: devices, or what the user said; 0: no limit */
    double memory_bytes; /* for all trials together; 0: not watched */
    double trial_bytes;  /* peak of one as stated or known from before; 0: not known */
    double loss;         /* WIDTH_LOSS; 0 where the search does not learn from results */
};

/* A trial that runs. */
struct width_trial {
    uint64_t id;
    /* ln seconds of a unit of progress in its newest window, and the variance of that. A base may
     * be taken off that was known before the trial ran, but none that its own windows taught: that
     * would hide what is to be seen. NAN: it has told nothing yet. */
    double ln_seconds, variance;
    double peak_bytes; /* of its memory so far; 0: not known */
};

struct width_input {
    double now_s;
    double cores, load; /* of the machine; taken by others */
    const struct width_trial *trials;
    size_t n;
    size_t trials_left; /* not ended yet, those that run included; SIZE_MAX: not known */
    double startup_s;   /* to the first step of a trial */
    double trial_s;     /* … and from there to its end, about, at present; NAN: not known */
};

struct width_decision {
    size_t from, to;       /* side by side; equal: nothing changes */
    double cores;          /* of each, at `to` */
    const char *why;       /* a few words, constant */
    struct belief_ln gain; /* predicted, ln of the ratio of runs an hour */
    double measured;       /* the same of what was on trial, NAN: not yet */
    double cost_s;         /* expected, of progress at the present rate */
    size_t fits;           /* the memory allows so many; SIZE_MAX: any number */
};

struct width;

/* Where to begin: as many as have cores_least each, less where the memory allows fewer. */
size_t width_start(const struct width_limits *limits, double cores);
/* Whole cores for each of so many, at least cores_least. */
double width_cores(const struct width_limits *limits, double cores, size_t width);
/* What a trial is worth to the search with `width` in flight and so many left to end: the share of
 * trials that it needs one at a time for the same result. 1 for one in flight. */
double width_efficiency(double loss, size_t width, size_t trials_left);

/* The limits are copied. */
struct width *width_new(const struct width_limits *limits, size_t start);
void width_free(struct width *width);
DEFINE_AUTOFREE(width);

/* Once a window (1–3 s) for all trials together: how many from now on. Call linalg_open() before.
 * While more run than it said, wait for their end. Numbers that are none are not heard. */
void width_next(struct width *width, const struct width_input *input, struct width_decision *ret);

/* "2 side by side → 3, 2 cores each: predicted +18 % runs an hour (+9 to +28)" */
void width_decision_format(const struct width_decision *decision, struct str *to);

#endif
