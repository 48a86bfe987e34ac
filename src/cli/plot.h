/* SPDX-License-Identifier: MIT */
/*
 * plot.h — what `hone plot` can draw: one file a kind, one row in plot.c. Each turns results into a
 * chart; how it looks is chart.h's.
 */
#ifndef HONE_PLOT_H
#define HONE_PLOT_H

#include "cli/chart.h"
#include "api/results.h"

struct plot {
    const struct target *target;
    const struct results *results;
    char **words; /* after the kind: names of parameters or metrics */
    int n_words;
};
/* Fill the chart (zero but for kind, title, experiment). -EINVAL: wrong words, -ENODATA: nothing to
 * draw yet, each with a sentence. The chart is released by the caller in any case. */
typedef int plot_fn(const struct plot *plot, struct chart *chart, struct err *err);
plot_fn plot_history, plot_slice, plot_contour, plot_parallel, plot_pareto;

/* Index of the parameter that the user named, which must have more than one value; -EINVAL with a
 * guess. */
int plot_param(const struct plot *plot, const char *name, size_t *ret, struct err *err);
/* The axis of an objective: as far as its values go, but for the worst tenth where those are far
 * out; log if they are positive and span three decades. */
void plot_value_axis(const struct plot *plot, size_t objective, struct axis *ret);
/* A shade of 1 for the best and 0 for the worst, by rank among the results that count: row i. Free
 * it. */
double *plot_shades(const struct plot *plot);

#endif
