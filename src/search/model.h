/* SPDX-License-Identifier: MIT */
/*
 * model.h — what is believed of one column of the history: Gaussian processes over its data.
 *
 * While results are few their hyper-parameters are uncertain: then several processes stand side by
 * side, the likeliest and some drawn from the posterior, and the belief is their mixture.
 * Predictions are on the data's scale; model_unscale() brings them back. Private to search/.
 */
#ifndef HONE_SEARCH_MODEL_H
#define HONE_SEARCH_MODEL_H

#include "search/refit.h"

struct model {
    struct data data;
    struct gp *gp[MODEL_MEMBERS]; /* over the rows in `used`, then what is in flight */
    struct gp_prior prior;
    struct fitted fitted; /* the hyper-parameters in force; fitted.members of them count */
    struct refit *refit;  /* those that come next; NULL: none under way */
    VEC(size_t) used;     /* rows that they see, in their order */
    size_t seen;          /* results that the processes know */
    size_t changed;       /* data.changed when they were factored */
    size_t factored;      /* rows that were factored at once; the others were appended */
};

void model_init(struct model *model, const struct encoder *encoder, const struct gp_prior *prior,
                const struct transfer *transfer, size_t column);
void model_release(struct model *model);
/* Take in what was told since. Hyper-parameters follow from the results alone (refit.h), not from
 * when this is called. False: too little is known (data_enough()). */
bool model_update(struct model *model, const struct search *s);
/* What is in flight counts as if it had come out as expected; until the next update. */
void model_imagine(struct model *model, const struct history *history);
/* At m points given as features: mean and deviation (NULL: not wanted), scaled. */
void model_predict(const struct model *model, const double *features, size_t m, double *ret_mean,
                   double *ret_deviation);
/* The same at rows of the data. */
void model_predict_rows(const struct model *model, const size_t *rows, size_t n, double *ret_mean,
                        double *ret_deviation);
/* The same at one point, with slopes by each feature. */
void model_gradient(const struct model *model, const double *features, double *ret_mean,
                    double *ret_deviation, double *ret_mean_slope, double *ret_deviation_slope);
/* From scaled to the column's units. ret_deviation may be NULL. */
void model_unscale(const struct model *model, double mean, double deviation, double *ret_mean,
                   double *ret_deviation);

#endif
