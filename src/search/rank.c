/* SPDX-License-Identifier: MIT */
/*
 * rank.c — an order of all results, whatever became of them.
 */
#include "search/rank.h"

#include <math.h>

enum standing { HAS_VALUE, STOPPED_EARLY, BREAKS, FAILED };

double rank_violation(const struct search *s, size_t row)
{
    size_t n = s->problem.n_constraints;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (s->history.excess.at[row * n + i] > 0)
            sum += s->history.excess.at[row * n + i];
    return sum;
}

/* And the number by which it is compared with others of its standing. */
static enum standing standing_of(const struct search *s, size_t row, double *ret_number)
{
    const struct history *h = &s->history;
    *ret_number = rank_violation(s, row);
    if (h->kind.at[row] == RESULT_FAILED)
        return FAILED;
    if (*ret_number > 0)
        return BREAKS;
    *ret_number = h->value.at[row];
    return isnan(*ret_number) ? STOPPED_EARLY : HAS_VALUE;
}

bool rank_better(const struct search *s, size_t a, size_t b)
{
    double x, y;
    enum standing of_a = standing_of(s, a, &x), of_b = standing_of(s, b, &y);
    if (of_a != of_b)
        return of_a < of_b;
    return x != y && !isnan(x) ? x < y : a < b;
}
