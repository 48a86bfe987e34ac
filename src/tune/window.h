/* SPDX-License-Identifier: MIT */
/*
 * window.h — progress samples become windows: how long a unit of progress took just now.
 *
 * A window is time: at least one second and five steps, up to three seconds while it is not sure
 * enough, ended early when the configuration is certainly worse than the best. Its speed is all of
 * the time over all of the progress; the median step would not see the pauses between steps.
 * The first of a program is but a look: it decides what to try next, and a program that begins
 * badly should not do so for a second. What it says is doubted, since much else begins with it.
 *
 *     struct window w;
 *     window_init(&w, NULL);
 *     window_change(&w, now);               a configuration was put in place
 *     if (window_sample(&w, time, step))    … for each sample
 *         use(window_take(&w));             the next window begins where this one ended
 *
 * Times are seconds of any clock that does not go back; steps any unit of progress.
 */
#ifndef HONE_TUNE_WINDOW_H
#define HONE_TUNE_WINDOW_H

#include "base/base.h"

struct window_limits {
    double least_s, most_s;
    double least_steps;
    double drop_steps; /* after a change */
    double sure;       /* standard error of ln seconds at which least_s is enough */
    double look_s;     /* the first window: in the place of least_s … */
    double look_sure;  /* … and of `sure`; added to its error where it is shorter than least_s */
};
#define WINDOW_LIMITS ((struct window_limits){1, 3, 5, 2, 0.02, 0.3, 0.1})

struct window_result {
    double ln_seconds; /* of a unit of progress */
    double error;      /* its standard error */
    double seconds, steps;
    bool cut;   /* certainly worse than the bar */
    bool bound; /* no step came: it is at least so slow */
};

/* Plain data: copy it to save it. Use it through the functions below. */
struct window {
    struct window_limits limits;
    double bar; /* ln seconds, INFINITY: none */
    bool begun, dropping, done, cut, bound;
    bool looked;                         /* the first is over */
    double changed_s, drop_from;         /* the change; its first step, NAN: none yet */
    double start_s, start, last_s, last; /* time and step */
    double intervals, tt, ts, ss;        /* their number, Σ dt², Σ dt·ds, Σ ds² */
    struct window_result result;
};

/* limits NULL: WINDOW_LIMITS. */
void window_init(struct window *window, const struct window_limits *limits);
/* What it has to beat: ln seconds of the best configuration known; INFINITY: nothing. */
void window_bar(struct window *window, double ln_seconds);
/* The configuration was changed now: what was gathered is void, and the first steps to come. */
void window_change(struct window *window, double now_s);
/* One sample. A step that goes back begins the window anew; no numbers or a time that goes back
 * are not heard. True: the window is complete, take it. */
bool window_sample(struct window *window, double time_s, double step);
/* No sample came: is it clear by now that this is certainly worse than the bar? */
bool window_look(struct window *window, double now_s);
/* What the window says so far, complete or not. False: nothing yet. */
bool window_so_far(const struct window *window, struct window_result *ret);
/* The complete window; the next begins. Only after true. */
struct window_result window_take(struct window *window);

#endif
