/* SPDX-License-Identifier: MIT */
/*
 * width_internal.h — what was measured of the rate over the width, and the model fitted to it.
 * Private to width*.c.
 */
#ifndef HONE_TUNE_WIDTH_INTERNAL_H
#define HONE_TUNE_WIDTH_INTERNAL_H

#include "tune/usl.h"
#include "tune/width.h"

#define WIDTH_MOST 4096

/* The windows of one trial with `width` side by side, `free` cores not taken by others. */
struct width_row {
    uint64_t trial;
    size_t width;
    double free;
    size_t windows;
    double mean, variance; /* of ln seconds; variance is that of one window */
};

/* ln seconds of a trial at each width that has run, for the machine as it is now. */
struct width_model {
    VEC(size_t) widths; /* rising */
    double *mean;       /* (widths) */
    double *covariance; /* (widths, widths), lower triangle */
    struct usl law;     /* of the total rate */
};

/* Windows of about so many free cores at this width; of each trial's, the most. */
size_t width_windows(const struct width_row *rows, size_t n, size_t width, double free_cores);
/* `full`: how many there would be with the least cores each; what is believed at first depends on
 * it. Release with width_model_release(). */
void width_model_init(struct width_model *model, const struct width_row *rows, size_t n,
                      double free_cores, size_t full);
void width_model_release(struct width_model *model);
/* ln(total rate at a / total rate at b). */
struct belief_ln width_model_compare(const struct width_model *model, size_t a, size_t b);

#endif
