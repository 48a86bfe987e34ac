/* SPDX-License-Identifier: MIT */
/*
 * map.c — open addressing with linear probing; removed slots are marked until the next growth.
 */
#include "base/map.h"
#include "base/rng.h"

static char gone;
#define MAP_GONE ((void *)&gone)

void map_release(struct map *map)
{
    free(map->slots);
    *map = (struct map)MAP_INIT;
}

/* The slot of `key`, or the first free one on its way. Needs cap > 0. */
static struct map_slot *probe(const struct map *map, uint64_t key)
{
    struct map_slot *reuse = NULL;
    for (size_t i = hash_u64(key) & (map->cap - 1);; i = (i + 1) & (map->cap - 1)) {
        struct map_slot *slot = &map->slots[i];
        if (!slot->value)
            return reuse ? reuse : slot;
        if (slot->value == MAP_GONE)
            reuse = reuse ? reuse : slot;
        else if (slot->key == key)
            return slot;
    }
}

static bool taken(const struct map_slot *slot)
{
    return slot->value && slot->value != MAP_GONE;
}

void *map_find(const struct map *map, uint64_t key)
{
    if (!map->cap)
        return NULL;
    struct map_slot *slot = probe(map, key);
    return taken(slot) ? slot->value : NULL;
}

static void grow(struct map *map)
{
    struct map bigger = MAP_INIT;
    bigger.cap = map->len * 2 < map->cap ? map->cap : map->cap ? map->cap * 2 : 16;
    bigger.slots = xcalloc(bigger.cap, sizeof(*bigger.slots));
    for (size_t i = 0; i < map->cap; i++)
        if (taken(&map->slots[i])) {
            *probe(&bigger, map->slots[i].key) = map->slots[i];
            bigger.len++;
        }
    bigger.used = bigger.len;
    free(map->slots);
    *map = bigger;
}

void map_put(struct map *map, uint64_t key, void *value)
{
    if ((map->used + 1) * 4 > map->cap * 3)
        grow(map);
    struct map_slot *slot = probe(map, key);
    if (!slot->value)
        map->used++;
    if (!taken(slot))
        map->len++;
    *slot = (struct map_slot){key, value};
}

void *map_remove(struct map *map, uint64_t key)
{
    if (!map->cap)
        return NULL;
    struct map_slot *slot = probe(map, key);
    if (!taken(slot))
        return NULL;
    void *value = slot->value;
    slot->value = MAP_GONE;
    map->len--;
    return value;
}

void *map_next(const struct map *map, size_t *cursor, uint64_t *ret_key)
{
    while (*cursor < map->cap) {
        struct map_slot *slot = &map->slots[(*cursor)++];
        if (!taken(slot))
            continue;
        if (ret_key)
            *ret_key = slot->key;
        return slot->value;
    }
    return NULL;
}

struct text_entry {
    struct text_entry *next;
    void *value;
    char key[];
};

static struct text_entry *text_entry_find(const struct map_text *map, const char *key)
{
    struct text_entry *entry = map_find(&map->map, hash_bytes(key, strlen(key), 0));
    while (entry && !str_eq(entry->key, key))
        entry = entry->next;
    return entry;
}

void *map_text_find(const struct map_text *map, const char *key)
{
    struct text_entry *entry = text_entry_find(map, key);
    return entry ? entry->value : NULL;
}

void map_text_put(struct map_text *map, const char *key, void *value)
{
    struct text_entry *entry = text_entry_find(map, key);
    if (entry) {
        entry->value = value;
        return;
    }
    size_t n = strlen(key);
    uint64_t hash = hash_bytes(key, n, 0);
    entry = xcalloc(1, sizeof(*entry) + n + 1);
    memcpy(entry->key, key, n + 1);
    entry->value = value;
    entry->next = map_find(&map->map, hash);
    map_put(&map->map, hash, entry);
}

void map_text_release(struct map_text *map)
{
    size_t cursor = 0;
    struct text_entry *entry, *next;
    while ((entry = map_next(&map->map, &cursor, NULL)))
        for (; entry; entry = next) {
            next = entry->next;
            free(entry);
        }
    map_release(&map->map);
}
