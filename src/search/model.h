/* SPDX-License-Identifier: MIT */
/*
 * model.h — what is believed of one column of the history: an objective, or a constraint's excess.
 *
 * Results of one setting are one row with their mean; failures count as the worst seen. The
 * Gaussian process sees scaled values (scale.h); what is told outside is in units of the column.
 * Private to search/.
 */
#ifndef HONE_SEARCH_MODEL_H
#define HONE_SEARCH_MODEL_H

#include "search/encode.h"
#include "search/scale.h"
#include "search/search.h"
#include "surrogate/gp.h"

struct model_row {
    size_t first;     /* row of the history where the setting came first */
    size_t count;     /* results */
    size_t finite;    /* of them, with a value */
    double mean;      /* of the finite ones */
    double deviation; /* of that mean, where results said so; else 0 */
};

struct model {
    const struct encoder *encoder;
    size_t rows_seen;    /* of the history */
    struct map settings; /* point_hash → index + 1 */
    VEC(struct model_row) rows;
    VEC(double) features; /* (rows, d) */
    VEC(double) target;   /* (rows) scaled */
    struct scale scale;   /* n 0: no value yet */
    struct gp *gp;        /* over the rows in `used`, then what is in flight */
    VEC(size_t) used;     /* rows that the process sees, in its order */
    size_t in_gp;         /* how many of them it has, without those in flight */
    size_t fitted_at;     /* results when the hyper-parameters were fitted; 0: never */
    bool stale;           /* rows changed that the process already has */
};

void model_init(struct model *model, const struct encoder *encoder, const struct gp_prior *prior);
void model_release(struct model *model);
/* Take in what was told since; column 0 is the objective, then the others, then the excesses. Fits
 * when it is time. False: too little is known for a model (fewer than two settings with values). */
bool model_update(struct model *model, const struct search *s, size_t column);
/* What is in flight counts as if it had come out as expected. */
void model_imagine(struct model *model, const struct history *history);
/* At m points given as features: scaled mean and deviation. */
void model_predict(const struct model *model, const double *features, size_t m, double *ret_mean,
                   double *ret_deviation);
/* From scaled to the column's units. */
void model_unscale(const struct model *model, double mean, double deviation, double *ret_mean,
                   double *ret_deviation);
/* Index of the row with the lowest posterior mean (scaled, in *ret_mean); rows must exist. */
size_t model_best(const struct model *model, double *ret_mean);

#endif
