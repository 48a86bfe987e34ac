/* SPDX-License-Identifier: MIT */
/*
 * map.h — number → pointer. Open addressing, grows at 3/4. Text keys: use map_text_… which
 * keeps a copy of the key and compares it, so two texts never meet by their hash.
 */
#ifndef HONE_MAP_H
#define HONE_MAP_H

#include "base/base.h"

struct map_slot {
    uint64_t key;
    void *value; /* NULL: free, MAP_GONE: removed */
};
struct map {
    struct map_slot *slots;
    size_t cap, used, len; /* cap a power of two or 0; used counts removed ones too */
};
#define MAP_INIT                                                                                   \
    {                                                                                              \
        NULL, 0, 0, 0                                                                              \
    }

void map_release(struct map *map); /* the values are the caller's */
/* NULL if absent. */
void *map_find(const struct map *map, uint64_t key);
/* Set or replace; value must not be NULL. */
void map_put(struct map *map, uint64_t key, void *value);
/* Remove and return what was there, NULL if absent. */
void *map_remove(struct map *map, uint64_t key);
/* Walk: *cursor starts at 0; NULL at the end. The map must not grow meanwhile. */
void *map_next(const struct map *map, size_t *cursor, uint64_t *ret_key);

/* Text → pointer. */
struct map_text {
    struct map map; /* hash → chain */
};
#define MAP_TEXT_INIT                                                                              \
    {                                                                                              \
        MAP_INIT                                                                                   \
    }
void map_text_release(struct map_text *map);
void *map_text_find(const struct map_text *map, const char *key);
void map_text_put(struct map_text *map, const char *key, void *value);

#endif
