/* SPDX-License-Identifier: MIT */
/*
 * rank.h — which result is better, for searches that only compare. Private to search/.
 *
 *     kept constraints and a value, lowest first │ stopped without one │ broken constraints │
 * failed
 */
#ifndef HONE_SEARCH_RANK_H
#define HONE_SEARCH_RANK_H

#include "search/search.h"

/* By how much row `row` of the history breaks the constraints in all; 0: it keeps them, or nothing
 * is known. */
double rank_violation(const struct search *s, size_t row);
/* Is row a better than row b? Of equal ones the earlier is. */
bool rank_better(const struct search *s, size_t a, size_t b);

#endif
