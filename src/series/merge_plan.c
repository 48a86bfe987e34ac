/* SPDX-License-Identifier: MIT */
/*
 * merge_plan.c — runs of neighbours, the lowest level first.
 *
 * Smaller ones between those of a level go along. But a large one is not written anew for the sake
 * of a few small ones beside it: what it is merged with must be as much as itself.
 */
#include "series/merge_plan.h"

#define MANY        8 /* more neighbours of about one size are merged */
#define LEVELS      5
#define LEVEL_CHEAP 0            /* below 2 MiB: written in no time */
#define LEVEL_SMALL 3            /* below 1 GiB */
#define MERGE_MOST  (1ull << 32) /* bytes: a larger one is left as it is */

static unsigned level_of(uint64_t bytes)
{
    unsigned level = 0;

    for (uint64_t size = bytes >> 21; size; size /= MANY)
        level++;
    return level;
}

static bool may_merge(const struct merge_piece *piece, unsigned level)
{
    return !piece->fixed && piece->bytes < MERGE_MOST && level_of(piece->bytes) <= level;
}

/* How many neighbours of at most that level begin at piece i. */
static size_t run_length(const struct merge_piece *pieces, size_t n, size_t i, unsigned level)
{
    size_t length = 0;

    while (i + length < n && may_merge(&pieces[i + length], level) &&
           (length == 0 || !pieces[i + length].apart))
        length++;
    return length;
}

static bool is_even(const struct merge_piece *pieces, size_t n)
{
    uint64_t sum = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        sum += pieces[i].bytes;
        most = MAX(most, pieces[i].bytes);
    }
    return most <= sum - most;
}

size_t merge_plan(const struct merge_piece *pieces, size_t n, size_t *ret_from)
{
    for (unsigned level = 0; level < LEVELS; level++)
        for (size_t i = 0, length; i < n; i += MAX(length, 1)) {
            length = run_length(pieces, n, i, level);
            if (length > MANY && (level <= LEVEL_CHEAP || is_even(pieces + i, length))) {
                *ret_from = i;
                return length;
            }
        }
    return 0;
}

size_t merge_plan_small(const struct merge_piece *pieces, size_t n, size_t *ret_from)
{
    for (size_t i = 0, length; i < n; i += MAX(length, 1)) {
        length = run_length(pieces, n, i, LEVEL_SMALL);
        if (length > 1) {
            *ret_from = i;
            return length;
        }
    }
    return 0;
}
