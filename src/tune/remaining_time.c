/* SPDX-License-Identifier: MIT */
/*
 * remaining_time.c — whether a target is reached, by how many workers, and steps as seconds.
 *
 * What is left of steps and what is known of the pace are independent, so that their intervals add
 * as squares of logarithms.
 */
#include "tune/remaining.h"

bool remaining_is_sure(const struct remaining *left)
{
    return left->chance >= REMAINING_SURE;
}

bool target_is_reached(const struct target *target, const double *values, size_t n)
{
    size_t need = MAX(target->average, 1), found = 0;
    double mean = 0;
    for (size_t i = n; i-- > 0 && found < need;) {
        if (!isfinite(values[i]))
            continue;
        mean += values[i] / (double)need;
        found++;
    }
    return found == need && (target->above ? mean >= target->value : mean <= target->value);
}

size_t quorum_needs(enum quorum quorum, size_t workers)
{
    switch (quorum) {
    case QUORUM_ANY:
        return 1;
    case QUORUM_MOST:
        return workers - workers / 10;
    case QUORUM_ALL:
        break;
    }
    return workers;
}

/* Soonest first; who will not at all comes last. */
static int compare_remaining(const void *a, const void *b)
{
    const struct remaining *x = a, *y = b;
    double s = x->chance > 0 ? x->middle : INFINITY, t = y->chance > 0 ? y->middle : INFINITY;
    return (s > t) - (s < t);
}

static int compare_chances(const void *a, const void *b)
{
    const struct remaining *x = a, *y = b;
    return (x->chance < y->chance) - (x->chance > y->chance);
}

struct remaining remaining_of_workers(enum quorum quorum, const struct remaining *workers, size_t n)
{
    if (n == 0)
        return REMAINING_NEVER;
    autofree(mem) struct remaining *sorted = xmemdup(workers, n * sizeof(*sorted));
    size_t last = quorum_needs(quorum, n) - 1;
    qsort(sorted, n, sizeof(*sorted), compare_chances);
    double chance = sorted[last].chance;
    if (!(chance > 0))
        return REMAINING_NEVER;
    qsort(sorted, n, sizeof(*sorted), compare_remaining);
    struct remaining left = sorted[last];
    left.chance = chance;
    return left;
}

/* --- time --- */

struct remaining remaining_in_seconds(const struct remaining *steps, const struct pace *pace)
{
    if (!(steps->chance > 0) || !isfinite(steps->middle))
        return REMAINING_NEVER;
    struct remaining left = {.chance = steps->chance};
    if (steps->middle <= 0)
        return left;
    double margin = pace_margin(pace, steps->middle);
    left.middle = steps->middle * pace->seconds_per_step;
    left.low = left.middle * exp(-hypot(log(steps->middle / steps->low), margin));
    left.high = left.middle * exp(hypot(log(steps->high / steps->middle), margin));
    return left;
}

struct remaining remaining_of_length(double steps_left, const struct pace *pace)
{
    double steps = isnan(steps_left) ? NAN : fmax(steps_left, 0);
    struct remaining exact = {.chance = 1, .middle = steps, .low = steps, .high = steps};
    return remaining_in_seconds(&exact, pace);
}
