/* SPDX-License-Identifier: MIT */
/*
 * suggest.c — edit distance with swaps (optimal string alignment), three rows of the table at a
 * time. Names longer than 63 bytes are compared by equality only: nobody mistypes those.
 */
#include "base/suggest.h"

#include <strings.h>

#define LENGTH_MAX 63

static size_t row_value(const size_t *above, const size_t *here, size_t j, bool same)
{
    size_t change = above[j - 1] + !same, remove = above[j] + 1, insert = here[j - 1] + 1;
    return MIN(change, MIN(remove, insert));
}

size_t edit_distance(const char *a, const char *b, size_t limit)
{
    size_t n = strlen(a), m = strlen(b), rows[3][LENGTH_MAX + 1];
    size_t *older = rows[0], *above = rows[1], *here = rows[2];

    if (n > LENGTH_MAX || m > LENGTH_MAX)
        return str_eq(a, b) ? 0 : limit + 1;
    for (size_t j = 0; j <= m; j++)
        above[j] = older[j] = j;
    for (size_t i = 1; i <= n; i++) {
        here[0] = i;
        for (size_t j = 1; j <= m; j++) {
            here[j] = row_value(above, here, j, a[i - 1] == b[j - 1]);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here[j] = MIN(here[j], older[j - 2] + 1);
        }
        size_t *spare = older;
        older = above;
        above = here;
        here = spare;
    }
    return MIN(above[m], limit + 1);
}

const char *suggest(const char *typed, const char *const *names, size_t n)
{
    size_t length = strlen(typed), limit = length <= 3 ? 1 : length <= 7 ? 2 : 3, best = limit + 1;
    const char *found = NULL;

    for (size_t i = 0; i < n; i++) {
        bool same = strcasecmp(typed, names[i]) == 0; /* but for the case */
        size_t distance = same ? !str_eq(typed, names[i]) : edit_distance(typed, names[i], limit);
        if (distance < best && (same || distance < strlen(names[i]))) {
            best = distance;
            found = names[i];
        }
    }
    return found;
}
