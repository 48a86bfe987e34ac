/* SPDX-License-Identifier: MIT */
/*
 * decide.h — which configuration a running trial should have next: keep it, try another, adopt the
 * one on trial, or take it back. A state machine over windows; it knows no clock and changes
 * nothing itself.
 *
 *     d = decide_new(speed, configurations, n, NULL);
 *     decide_begin(d, trial, configuration);        it runs under this one
 *     decide_on_window(d, &input, &decision);       at the end of each window
 *     … put decision.to in place, then tell what the change cost: speed_tell_change()
 *
 * One configuration is held; at most one other, the rival, is on trial against it.
 * - A rival is tried only if what it may save of the time that is left, and of the trials to come,
 *   is more than going there and back costs. With at most SPEED_RIDGE configurations all are tried,
 * the most promising first, but for those that are certainly worse; with more, the largest expected
 * saving is next.
 * - More than 25 % better: adopted after two windows. Otherwise held and rival take turns while
 *   P(wrong) × what that would lose > what one more pair costs, at most 8 pairs; one that was not
 *   tried yet and promises more than that comes first.
 * - Below max(5 %, 2 standard errors) what was held stays, unless going back alone would cost.
 * - What turns out worse after it was adopted is taken back. What failed is never tried again.
 * - Half a core idle for two windows, or a load that changed by half a core: all are open again.
 */
#ifndef HONE_TUNE_DECIDE_H
#define HONE_TUNE_DECIDE_H

#include "base/str.h"
#include "tune/speed.h"

enum advice {
    ADVICE_KEEP,   /* go on with what runs */
    ADVICE_TRY,    /* put `to` in place and measure it */
    ADVICE_ADOPT,  /* `to` is better and stays; put it in place if it does not run */
    ADVICE_REVERT, /* `to`, which was held before, is better; put it in place */
};
const char *advice_name(enum advice advice);

/* How long a window lasts: the longer of both. */
struct decide_limits {
    double window_s;
    double window_steps; /* in units of progress */
};
#define DECIDE_LIMITS ((struct decide_limits){1, 5})

struct decide_input {
    double now_s;
    /* Seconds to the end at the speed of what runs, as estimated at remaining_at_s: what has passed
     * since is taken off. INFINITY where the end is not known. */
    double remaining_s, remaining_at_s;
    double after_s;    /* of trials to come, which begin with what is learned here; 0: none */
    double load, idle; /* cores: taken by others, granted but unused */
    /* The window that ended: as speed_tell() takes it. NaN: it told nothing. */
    double ln_seconds, variance;
    bool cut; /* ended early: certainly worse than what is held */
};

struct decision {
    enum advice advice;
    const char *why;              /* a few words, constant */
    const double *from, *to;      /* what runs, what should; valid until the next call */
    enum change_kind kind;        /* from → to */
    const double *against, *over; /* the comparison below is of the first to the second */
    struct belief_ln predicted;   /* ln ratio of seconds, as it was before the first was tried */
    double measured;              /* the same as measured by this trial; NAN: not yet */
    double cost_s;                /* of this change, of what is expected; NAN: none is made */
    double saving_s;              /* expected of it over the time that is left */
    double remaining_s;           /* from now, under what runs */
};

struct decide;

/* Configurations (n, knobs) are copied; `speed` is borrowed and must outlive it; many trials may
 * share one. limits NULL: DECIDE_LIMITS. */
struct decide *decide_new(struct speed *speed, const double *configurations, size_t n,
                          const struct decide_limits *limits);
void decide_free(struct decide *decide);
DEFINE_AUTOFREE(decide);

/* What a step teaches under each: where that differs, progress is what is learned. NULL: all steps
 * are alike. Borrowed until another one, or NULL, is given. */
struct learning;
void decide_learning(struct decide *decide, struct learning *learning);
/* The trial runs under this configuration, which may be one that was not in the list. Whatever was
 * under way is forgotten; the speed model is not. */
void decide_begin(struct decide *decide, uint64_t trial, const double *configuration);
/* A window ended. Tells the speed model, and what to do now. */
void decide_on_window(struct decide *decide, const struct decide_input *input,
                      struct decision *ret);
/* It failed under what runs: that is infeasible from now on. REVERT to what was held or to the best
 * that is left; KEEP if nothing is, and then the fault is not the configuration's. */
void decide_on_failure(struct decide *decide, const struct decide_input *input,
                       struct decision *ret);

/* What runs could not be put in place here: back to what is held, and this is not tried again
 * before all are open. KEEP if it is held itself. */
void decide_on_refusal(struct decide *decide, const struct decide_input *input,
                       struct decision *ret);

/* What is held, and what it takes to beat it: for window_bar(). INFINITY while it runs. */
const double *decide_held(const struct decide *decide);
double decide_bar(struct decide *decide, double load);

/* "threads 2 → 1: predicted −38 % per step (31–44), cost 0.1 s; measured −41 %" */
void decision_format(const struct decision *decision, const struct knob *knobs, size_t n,
                     struct str *to);

#endif
