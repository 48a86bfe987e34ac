/* SPDX-License-Identifier: MIT */
/*
 * decide_internal.h — the state of the rules, and what they ask of decide_worth.c. Private to
 * decide*.c.
 */
#ifndef HONE_TUNE_DECIDE_INTERNAL_H
#define HONE_TUNE_DECIDE_INTERNAL_H

#include "tune/decide.h"
#include "tune/learning.h"

#define NONE SIZE_MAX

struct decide {
    struct speed *speed;
    struct learning *learning; /* NULL: a step teaches the same under all */
    const struct knob *knobs;
    size_t width;
    struct decide_limits limits;
    VEC(double) configurations; /* (n, width) */
    VEC(bool) closed;           /* (n) */
    VEC(size_t) spent;          /* (n) windows as rival since all were opened */
    uint64_t trial;
    size_t held, rival, current, previous;
    size_t windows; /* of the rival since it came */
    size_t idle_windows, idle_wait;
    size_t load_windows, load_wait; /* since the load opened all; before it may again */
    double load_mark;
    bool marked;
    struct belief_ln predicted; /* of the rival, before it was tried */
};

/* One call: the question with what follows from it at once. */
struct question {
    struct decide *d;
    const struct decide_input *input;
    double load, left_s; /* of what runs */
    double held_left_s;  /* if what is held ran */
    double held_unit_s;  /* under it, a unit of progress */
    struct decision *ret;
};

struct probe {
    size_t configuration; /* NONE: none is worth it */
    double worth;
    struct belief_ln delta;
};

static inline const double *decide_at(const struct decide *d, size_t c)
{
    return d->configurations.at + c * d->width;
}
/* Seconds that a change from one to the other costs. */
double decide_cost(const struct decide *d, size_t from, size_t to);
/* Of seconds per unit of progress to seconds per unit of learning. */
struct belief_ln decide_by_learning(const struct decide *d, struct belief_ln delta, const double *a,
                                    const double *b);
struct belief_ln decide_compare(const struct question *q, size_t a, size_t b);
double decide_left(const struct question *q, size_t c);
bool decide_enough(struct belief_ln delta);
struct probe decide_probe(const struct question *q, bool fresh);
size_t decide_better(const struct question *q);
double decide_loss(const struct question *q, struct belief_ln delta);
bool decide_pair_pays(const struct question *q, struct belief_ln delta);

#endif
