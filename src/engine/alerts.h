/* SPDX-License-Identifier: MIT */
/*
 * alerts.h — what the spec wants to be watched while a trial runs.
 *
 * A trial is looked at when numbers came, at most twice a second, and for a stall when its time is
 * over. An alert fires when its condition begins to hold; it fires again only after it was seen
 * not to hold. What it does (an event, the end of the attempt, a notification) leaves with the
 * tick. docs/alerts.md is the manual.
 */
#ifndef HONE_ENGINE_ALERTS_H
#define HONE_ENGINE_ALERTS_H

#include "engine/engine.h"
#include "expr/expr.h"

#define ALERT_LOOK_US      (US_PER_S / 2) /* between two looks at a trial */
#define ALERT_INTERVALS    16             /* of the last points, for what is usual */
#define ALERT_STALL_POINTS 5              /* before this many came there is no usual interval */
#define ALERT_STALL_US     (5 * US_PER_S) /* shorter silence is none */
#define ALERT_STALL_TIMES  10.0
#define PLATEAU_POINTS     20
#define PLATEAU_SHARE      0.3
#define DIVERGED_TIMES     10.0
#define DIVERGED_RISES     3 /* that many points, each worse than the one before */

struct live;
struct run;

/* Of a live attempt. Times are those of the attempt, without pauses: live_elapsed_us(). */
struct alert_watch {
    int64_t looked_us;                   /* mono: the last look */
    bool due;                            /* numbers came since */
    int64_t points;                      /* that came; those that came together are one */
    int64_t last_us;                     /* when the last did */
    int64_t between_us[ALERT_INTERVALS]; /* a ring */
    int64_t mean_us; /* files were read again: then points come faster than they were told */
    int64_t read_at; /* samples that there were when curves were last read */
};

/* ---- the rules: a sentence with numbers if they hold, else NULL; free it. Pure ---- */

/* The objective as its goal says; `best` is the best of all. */
struct alert_curve {
    const struct objective *objective;
    const int64_t *steps; /* (n) rising */
    const double *values; /* (n) finite */
    size_t n;
    double best;
};
/* Worse than its first value and by more than 10 times its best, and still getting worse. */
char *alert_rising(const struct alert_curve *curve);
/* No improvement by more than the noise over the last `steps` (0: 30 %) of the steps. */
char *alert_plateau(const struct alert_curve *curve, double steps);
/* How long a silence is a stall; INT64_MAX: not known yet. */
int64_t alert_stall_us(const struct alert_watch *watch, double times);
/* A point came, `us` after the start. */
void alert_watch_point(struct alert_watch *watch, int64_t us);

/* ---- in the engine ---- */
int alerts_open(struct run *run, struct err *err);
void alerts_close(struct run *run);
/* Which of them have fired already, as the events say. */
int alerts_load(struct run *run, struct store *store, struct err *err);
void alerts_on_samples(struct live *live, const struct agent_event *event, struct now now);
void alerts_timer(struct live *live, struct now now);
int64_t alerts_wake_us(const struct live *live);
/* alert_points.c: the points of a metric of a running trial, over all its attempts. */
int live_points(const struct live *live, const char *metric, expr_points_fn *fn, void *arg,
                struct err *err);

#endif
