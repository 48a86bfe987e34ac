/* SPDX-License-Identifier: MIT */
/*
 * first.h — what is run before the algorithm is asked, and beside it: the user's settings, the best
 * of earlier experiments, repeats of the contenders. Private to search/.
 */
#ifndef HONE_SEARCH_FIRST_H
#define HONE_SEARCH_FIRST_H

#include "search/search.h"

/* True if there is such a suggestion; it is in *ret. */
bool first_ask(struct search *s, struct suggestion *ret);
/* x was given out as one of the user's settings: that one and those before it are done. */
void first_tried(struct search *s, const double *x);
/* search_best() without a model: the lowest value that keeps the constraints. */
int first_best(struct search *s, struct best *ret);

#endif
