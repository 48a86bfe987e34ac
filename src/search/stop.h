/* SPDX-License-Identifier: MIT */
/*
 * stop.h — rules that end or pause a poor trial early. Pure: the curves of all trials in, a verdict
 * out. To add one: one file with a const struct stop_ops, one row in stop.c.
 */
#ifndef HONE_SEARCH_STOP_H
#define HONE_SEARCH_STOP_H

#include "base/err.h"
#include "model/spec.h"

/* The objective of one trial by step; steps rise, values finite, always to be minimised. */
struct curve {
    const int64_t *steps;
    const double *values;
    size_t n;
};

enum curve_state { CURVE_RUNNING, CURVE_PAUSED, CURVE_COMPLETED, CURVE_STOPPED };

/* A trial as rules see it. */
struct stop_trial {
    int64_t number;
    enum curve_state state;
    struct curve curve;
    double prior_mean, prior_deviation; /* of its final value by the search's model, before it
                                           began; NaN: none */
    int64_t judged; /* last step of its curve when it was judged before; 0: not said (then the
                       curve has grown by one value); INT64_MIN: never */
    const struct curve *others; /* further objectives, n_others of them; NULL with one objective */
};

/* What a rule looks at. `trials` are in the order of their numbers. */
struct stop_view {
    const struct stop_settings *settings;
    const struct stop_trial *trials;
    size_t n;
    size_t n_others;     /* objectives beside the first */
    int64_t trials_left; /* that have not begun, or are to begin again; -1: unlimited */
    uint64_t seed;
};

enum stop_action { STOP_GO_ON, STOP_PAUSE, STOP_END };
struct stop_verdict {
    enum stop_action action;
    double chance;          /* that it still becomes the best; NaN: the rule has no such number */
    double mean, deviation; /* of its final value as the rule predicts it; NaN: none */
    double threshold;       /* what `chance` (curve) or the value (median) was compared with; the
                               step of the rung (asha, hyperband); NaN: none */
    int64_t step;           /* where it was judged */
};

/* Go on, no numbers, judged at its last step: what a rule starts from. */
void stop_verdict_init(const struct stop_view *view, size_t mine, struct stop_verdict *ret);

struct stop_ops {
    const char *name, *help;
    /* Should the running trial view->trials[mine] go on? Called when its curve has grown. */
    void (*judge)(const struct stop_view *view, size_t mine, struct stop_verdict *ret);
    /* A slot is free: the index of the paused trial that deserves it more than a new one, or -1.
     * NULL: the rule pauses nothing. */
    ptrdiff_t (*promote)(const struct stop_view *view);
    /* Memory is short: the index of the paused trial that is least likely to win. NULL as above. */
    ptrdiff_t (*give_up)(const struct stop_view *view);
};
/* NULL if unknown. "auto" is the default rule. */
const struct stop_ops *stop_find(const char *name);
size_t stop_count(void);
const struct stop_ops *stop_at(size_t i);

/* Racing over folds or instances: `mine` and `best` hold a value an instance, NaN: not run there.
 * The one-sided p of the paired signed-rank test that mine is worse; 1 with too few pairs. */
double race_worse(const double *mine, const double *best, size_t n);

#endif
