/* SPDX-License-Identifier: MIT */
/*
 * refit.h — hyper-parameters of a model, fitted at fixed counts of results. Private to search/.
 *
 *     results  … 96 ………… 100 … 104 ……… 108 …
 *                 └ a fit to 104 begins at 104, in its own thread
 *                                       └ and takes effect at 108, whoever asks and whenever
 *
 * So no suggestion waits for a fit while trials run, and which hyper-parameters a suggestion rests
 * on follows from the results alone.
 */
#ifndef HONE_SEARCH_REFIT_H
#define HONE_SEARCH_REFIT_H

#include "search/data.h"

#define MODEL_MEMBERS 4

/* What a fit finds. */
struct fitted {
    size_t count;     /* results that it saw; 0: none yet */
    size_t rows;      /* settings */
    enum shape shape; /* of the scale that the values are to be seen by */
    size_t members;   /* how many sets of hyper-parameters: the likeliest, then drawn ones */
    double *theta;    /* (MODEL_MEMBERS, parameters) */
};

struct refit; /* a fit under way in its thread */

/* The count of results whose fit is in force when there are n. */
size_t refit_count(size_t n);
/* Fit to the first `count` results, here and now. */
void refit_run(const struct data *like, const struct search *s, const struct gp_prior *prior,
               size_t count, struct fitted *ret);
void fitted_release(struct fitted *fitted);

/* Begin the fit that comes into force next, if its results are there and it is not under way. */
void refit_begin(struct refit **refit, const struct data *like, const struct search *s,
                 const struct gp_prior *prior);
/* The fit to `count` results, if it was begun: waits for it. False: it was not. */
bool refit_take(struct refit **refit, size_t count, struct fitted *ret);
/* Wait for it and throw it away. */
void refit_free(struct refit *refit);

#endif
