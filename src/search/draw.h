/* SPDX-License-Identifier: MIT */
/*
 * draw.h — settings that were not given out before, however they are drawn. Private to search/.
 */
#ifndef HONE_SEARCH_DRAW_H
#define HONE_SEARCH_DRAW_H

#include "search/search.h"

/* May x be given out: canonical, not forbidden, new? */
bool draw_is_fresh(const struct search *s, const double *x);

/* Write candidate `number`; values of inactive parameters do not matter. */
typedef void draw_fn(const struct search *s, uint64_t number, double *ret_x);
/* The first fresh candidate from *drawn on, which becomes the number after it. When many in a row
 * are old, the next fresh setting is found by walking through a finite space: -ENODATA comes
 * exactly when there is none. In an infinite space a setting without a free float may come again as
 * a last resort. */
int draw_fresh(const struct search *s, draw_fn *next, uint64_t *drawn, double *ret_x,
               struct err *err);
/* Walk on from x (a stop of the walk) to the first fresh setting; round the end if `again`.
 * -ENODATA at the end, or when millions of steps found none. */
int draw_walk(const struct search *s, bool again, double *x, struct err *err);
/* Does the user expect some values rather than others? */
bool draw_has_prior(const struct space *space);
/* A fresh setting, uniformly at random (or by the parameters' priors with `by_prior`); for
 * algorithms that have run out of better ideas. */
int draw_random(const struct search *s, struct rng *rng, bool by_prior, double *ret_x,
                struct err *err);
/* One draw of a parameter by its prior; uniform where it has none. */
double draw_param(const struct param *param, bool by_prior, struct rng *rng);

/* For algorithms whose only state is a count of draws. */
void draw_save(uint64_t drawn, struct str *to);
int draw_load(const void *bytes, size_t n, uint64_t *ret_drawn, struct err *err);

#endif
