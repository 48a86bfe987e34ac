/* SPDX-License-Identifier: MIT */
/*
 * knob.h — what can be changed about the machine under a trial, and the configurations that makes.
 *
 * A configuration is one double for each knob: a whole number from min..max for a count, or one of
 * its `values` where it has some; one of `values` for a choice. Choices have no order: value 4 is
 * not more like 2 than like 64.
 */
#ifndef HONE_TUNE_KNOB_H
#define HONE_TUNE_KNOB_H

#include "base/base.h"

enum knob_kind {
    KNOB_COUNT,  /* threads, workers, cpus: speed follows the universal scalability law */
    KNOB_CHOICE, /* anything else */
};

/* What has to happen so that a program runs under another configuration. */
enum change_kind {
    CHANGE_NONE,
    CHANGE_LIVE,    /* in place */
    CHANGE_RESTART, /* from the checkpoint */
    CHANGE_KINDS,
};

struct knob {
    const char *name; /* borrowed, as are the values */
    enum knob_kind kind;
    double min, max;      /* of a count: whole numbers, 0 <= min <= max */
    const double *values; /* (n) of a choice; of a count: rising, from min to max; NULL: all */
    size_t n;
    bool restart;              /* to change it the program starts again */
    bool learning;             /* it changes what a step teaches, too */
    const char *const *labels; /* (n) the values for people; NULL: as numbers */
};

/* How many configurations there are; SIZE_MAX where that is too large to count. */
size_t knobs_size(const struct knob *knobs, size_t n);
/* Is each value one that its knob has? */
bool knobs_contain(const struct knob *knobs, size_t n, const double *configuration);
/* The whole number of a count's range at 0 <= unit <= 1. Every number has its share, both ends
 * included; a choice answers the value. What lies outside counts as the nearest end. */
double knob_at(const struct knob *knob, double unit);
/* All configurations, or about `cap` of them spread evenly over each knob, ends included: rows of
 * n doubles. Sets *ret (release with free()) and returns how many. */
size_t knobs_list(const struct knob *knobs, size_t n, size_t cap, double **ret);
/* What it takes to go from one to the other. */
enum change_kind knobs_change(const struct knob *knobs, size_t n, const double *from,
                              const double *to);
/* Place of a value in [0,1] on a scale of logarithms for a count; its index for a choice. */
double knob_feature(const struct knob *knob, double value);

#endif
