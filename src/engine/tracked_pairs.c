/* SPDX-License-Identifier: MIT */
/*
 * tracked_pairs.c — parameters and tags as clients write them: keys and values, sorted by key.
 */
#include "engine/tracked_internal.h"

static size_t place_of(const struct tracked_pairs *pairs, const char *key)
{
    size_t low = 0, high = pairs->len;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(pairs->at[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct tracked_pairs *pairs, size_t i, const char *key)
{
    return i < pairs->len && str_eq(pairs->at[i].key, key);
}

const char *tracked_find(const struct tracked_pairs *pairs, const char *key)
{
    size_t i = place_of(pairs, key);
    return is_at(pairs, i, key) ? pairs->at[i].value : NULL;
}

void tracked_set(struct tracked_pairs *pairs, const char *key, const char *value)
{
    size_t i = place_of(pairs, key);

    if (is_at(pairs, i, key)) {
        char *text = xstrdup(value);
        free(pairs->at[i].value);
        pairs->at[i].value = text;
        return;
    }
    vec_reserve(pairs, pairs->len + 1);
    memmove(&pairs->at[i + 1], &pairs->at[i], (pairs->len - i) * sizeof(*pairs->at));
    pairs->at[i] = (struct tracked_pair){xstrdup(key), xstrdup(value)};
    pairs->len++;
}

bool tracked_unset(struct tracked_pairs *pairs, const char *key)
{
    size_t i = place_of(pairs, key);

    if (!is_at(pairs, i, key))
        return false;
    free(pairs->at[i].key);
    free(pairs->at[i].value);
    vec_remove(pairs, i);
    return true;
}

void tracked_release_pairs(struct tracked_pairs *pairs)
{
    vec_foreach (pair, pairs) {
        free(pair->key);
        free(pair->value);
    }
    vec_release(pairs);
}
