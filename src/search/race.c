/* SPDX-License-Identifier: MIT */
/*
 * race.c — is one setting worse than another, judged on the folds or instances that both have run?
 * Wilcoxon's signed-rank test: it takes paired differences, so an instance that is hard for both
 * counts no more than an easy one, and no distribution is assumed.
 *
 * Zero differences are dropped, ties share their mean rank. Up to EXACT pairs the chance is counted
 * over all 2^n signs (ranks are doubled, so that halves become whole); beyond, by the normal
 * approximation with its correction for ties.
 */
#include "search/stop.h"

#include "linalg/normal.h"

#include <math.h>

#define EXACT 25

static int by_size(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* Twice the ranks of |d|, which is sorted by it. *ret_ties is Σ (t³ − t) over the ties. */
static void double_ranks(const double *d, size_t n, unsigned *ret_ranks, double *ret_ties)
{
    *ret_ties = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && fabs(d[end]) == fabs(d[i]);)
            end++;
        double t = (double)(end - i);
        *ret_ties += t * t * t - t;
        for (size_t k = i; k < end; k++)
            ret_ranks[k] = (unsigned)(i + end + 1);
    }
}

/* The share of the 2^n signs whose positive ranks sum to at least `sum`. */
static double exact_tail(const unsigned *ranks, size_t n, unsigned sum)
{
    double ways[EXACT * (EXACT + 1) + 1] = {1}; /* by doubled sum; exact up to 2^53 */
    unsigned top = 0;
    for (size_t i = 0; i < n; i++) {
        for (unsigned s = top + 1; s-- > 0;)
            ways[s + ranks[i]] += ways[s];
        top += ranks[i];
    }
    double tail = 0;
    for (unsigned s = sum; s <= top; s++)
        tail += ways[s];
    return ldexp(tail, -(int)n);
}

static double normal_tail(double sum, double n, double ties)
{
    double mean = n * (n + 1) / 4;
    double variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
    return normal_cdf(-(sum - 0.5 - mean) / sqrt(variance));
}

double race_worse(const double *mine, const double *best, size_t n)
{
    autofree(mem) double *d = xcalloc(n + 1, sizeof(*d));
    autofree(mem) unsigned *ranks = xcalloc(n + 1, sizeof(*ranks));
    size_t pairs = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(mine[i]) && !isnan(best[i]) && mine[i] != best[i])
            d[pairs++] = mine[i] / 2 - best[i] / 2;
    if (pairs < 2)
        return 1;

    double ties;
    qsort(d, pairs, sizeof(*d), by_size);
    double_ranks(d, pairs, ranks, &ties);
    uint64_t sum = 0; /* of the doubled ranks where mine is worse */
    for (size_t i = 0; i < pairs; i++)
        if (d[i] > 0)
            sum += ranks[i];
    return pairs <= EXACT ? exact_tail(ranks, pairs, (unsigned)sum)
                          : normal_tail((double)sum / 2, (double)pairs, ties);
}
