/* SPDX-License-Identifier: MIT */
/*
 * data.h — one column of the history (an objective, or a constraint's excess) as a model sees it.
 *
 * Results of one setting are one row with their mean, where a paused trial's counts only until
 * there is another; failures count as the worst seen. Targets are scaled (scale.h), less what
 * earlier experiments predict (transfer.h). Private to search/.
 */
#ifndef HONE_SEARCH_DATA_H
#define HONE_SEARCH_DATA_H

#include "search/encode.h"
#include "search/scale.h"
#include "search/search.h"
#include "surrogate/gp.h"

struct transfer;

struct data_row {
    size_t first;     /* row of the history where the setting came first */
    size_t count;     /* results */
    size_t finite;    /* of them, with a value */
    size_t whole;     /* of them, of trials that ran to their end */
    double mean;      /* of the finite ones */
    double deviation; /* of that mean, where results said so; else 0 */
    double squares;   /* of the finite ones about their mean */
    bool passing;     /* it is of a paused trial: the next result of the setting takes its place */
};

struct data {
    const struct encoder *encoder;
    const struct transfer *transfer; /* NULL: none */
    size_t column;
    size_t seen;         /* rows of the history that are in */
    size_t changed;      /* how often a result came to a row that was there */
    size_t settled;      /* rows that there were when it last happened */
    bool vague;          /* some deviation is known: noise moves with the scale */
    struct map settings; /* point_hash → index + 1 */
    VEC(struct data_row) rows;
    VEC(double) features; /* (rows, d) */
    VEC(double) known;    /* (rows, tasks) what each task predicts there */
    VEC(double) target;   /* (rows) */
    double *weights;      /* (tasks) of their predictions; NULL without */
    enum shape shape;     /* of the scale */
    struct scale scale;   /* n 0: no value yet */
};
/* column 0 is the objective, then the others, then the excesses, then the logarithm of the cost. */
void data_init(struct data *data, const struct encoder *encoder, const struct transfer *transfer,
               size_t column);
void data_release(struct data *data);
/* Take in the history up to `count` results and find the targets. False: there is no value. */
bool data_update(struct data *data, const struct search *s, size_t count);
/* See the same values by another shape. */
void data_reshape(struct data *data, enum shape shape);
/* Repeats came out the same to the bit: there is no noise to look through. */
bool data_exact(const struct data *data);
/* There are rows enough for a model: two, or one where earlier experiments tell the rest. */
bool data_enough(const struct data *data);
/* At most `max` rows that matter: the best third, the newest third, and of the rest every
 * so-manieth; all if there are no more. Their indices, rising. Returns how many. */
size_t data_choose(const struct data *data, size_t max, size_t *ret);
/* How the observation of a row is to be weighed: gp.h's scale and extra. */
double data_noise_scale(const struct data *data, size_t row);
double data_noise_extra(const struct data *data, size_t row);
/* The row's scaled value, before what is known is taken off. */
double data_scaled(const struct data *data, size_t row);
/* Give a process the rows listed. */
void data_load(const struct data *data, struct gp *gp, const size_t *rows, size_t n);

#endif
