/* SPDX-License-Identifier: MIT */
/*
 * history.h — changes to a search's history (struct history in search.h). Private to search/.
 */
#ifndef HONE_SEARCH_HISTORY_H
#define HONE_SEARCH_HISTORY_H

#include "search/search.h"

/* x is in flight from now on. */
void history_ask(struct history *history, const double *x);
/* x has a result. True if there is a new row. */
bool history_tell(struct history *history, const double *x, const struct result *result,
                  size_t n_others, size_t n_excess);
void history_release(struct history *history);

#endif
