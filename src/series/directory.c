/* SPDX-License-Identifier: MIT */
/*
 * directory.c — source → its parts. Opening a segment costs a look at each of its sources, not at
 * its columns.
 */
#include "series/directory.h"

#include "base/rng.h"
#include "series/segment.h"

void directory_release(struct directory *directory)
{
    vec_foreach (place, &directory->places) {
        vec_release(&(*place)->parts);
        free(*place);
    }
    vec_release(&directory->places);
    map_release(&directory->by_key);
    map_release(&directory->drops);
}

struct place *directory_find(const struct directory *directory, const struct series_source *key)
{
    struct place *place;

    for (uint64_t hash = source_hash(key); (place = map_find(&directory->by_key, hash)); hash++)
        if (source_compare(&place->key, key) == 0)
            return place;
    return NULL;
}

struct place *directory_place(struct directory *directory, const struct series_source *key)
{
    struct place *place = directory_find(directory, key);
    uint64_t hash = source_hash(key);

    if (place)
        return place;
    while (map_find(&directory->by_key, hash))
        hash++;
    place = xcalloc(1, sizeof(*place));
    place->key = *key;
    map_put(&directory->by_key, hash, place);
    if (directory->places.len && directory->sorted)
        directory->sorted = source_compare(&(*vec_last(&directory->places))->key, key) < 0;
    else if (!directory->places.len)
        directory->sorted = true;
    vec_push(&directory->places, place);
    return place;
}

/* ---- what is gone ---- */
static uint64_t drop_hash(int64_t experiment, int64_t trial)
{
    return hash_u64(hash_u64((uint64_t)experiment) ^ (uint64_t)trial);
}

static uint64_t drop_number(const struct directory *directory, int64_t experiment, int64_t trial)
{
    void *slot = map_find(&directory->drops, drop_hash(experiment, trial));
    return slot ? (uint64_t)(uintptr_t)slot - 1 : 0;
}

bool directory_dropped(const struct directory *directory, const struct series_source *key,
                       const struct layer *layer)
{
    if (!directory->drops.len)
        return false;
    return drop_number(directory, key->experiment, 0) > layer->last ||
           drop_number(directory, key->experiment, key->trial) > layer->last;
}

static uint64_t part_end(const struct part *part)
{
    return part->memory ? part->memory->end : part->end;
}

static void measure_end(struct place *place)
{
    place->end = 0;
    vec_foreach (part, &place->parts)
        place->end = MAX(place->end, part_end(part));
}

static void drop_parts(struct directory *directory, struct place *place)
{
    size_t kept = 0;

    vec_foreach (part, &place->parts)
        if (!directory_dropped(directory, &place->key, part->layer))
            place->parts.at[kept++] = *part;
    place->parts.len = kept;
    measure_end(place);
}

void directory_drop(struct directory *directory, int64_t experiment, int64_t trial, uint64_t number)
{
    struct memory_drop drop = {experiment, trial};

    if (number > drop_number(directory, experiment, trial))
        map_put(&directory->drops, drop_hash(experiment, trial), (void *)(uintptr_t)(number + 1));
    for (size_t i = directory_from(directory, experiment, trial ? trial : INT64_MIN);
         i < directory->places.len && drop_matches(&drop, &directory->places.at[i]->key); i++)
        drop_parts(directory, directory->places.at[i]);
}

/* ---- layers ---- */
static void part_add(struct directory *directory, const struct series_source *key, struct part part)
{
    if (directory_dropped(directory, key, part.layer))
        return;
    struct place *place = directory_place(directory, key);
    size_t at = place->parts.len;

    vec_push(&place->parts, part);
    for (; at > 0 && place->parts.at[at - 1].layer->first > part.layer->first; at--)
        place->parts.at[at] = place->parts.at[at - 1];
    place->parts.at[at] = part;
    place->end = MAX(place->end, part_end(&part));
}

void directory_add_memory(struct directory *directory, struct layer *layer,
                          struct memory_source *source)
{
    part_add(directory, &source->key, (struct part){.layer = layer, .memory = source});
}

void directory_add(struct directory *directory, struct layer *layer)
{
    if (layer->memory) {
        vec_foreach (drop, &layer->memory->drops)
            directory_drop(directory, drop->experiment, drop->trial, layer->first);
        vec_foreach (source, &layer->memory->sources)
            directory_add_memory(directory, layer, *source);
        return;
    }
    for (size_t i = 0; i < segment_drops(layer->segment); i++) {
        struct memory_drop drop = segment_drop(layer->segment, i);
        directory_drop(directory, drop.experiment, drop.trial, layer->first);
    }
    for (uint32_t i = 0; i < segment_sources(layer->segment); i++) {
        struct series_source key = segment_key(layer->segment, i);
        uint64_t end = segment_source(layer->segment, i)->end;
        part_add(directory, &key, (struct part){.layer = layer, .index = i, .end = end});
    }
}

static void part_remove(struct place *place, const struct layer *layer, bool keep_end)
{
    for (size_t i = 0; place && i < place->parts.len; i++)
        if (place->parts.at[i].layer == layer) {
            vec_remove(&place->parts, i);
            if (!keep_end)
                measure_end(place);
            return;
        }
}

void directory_remove(struct directory *directory, const struct layer *layer, bool keep_ends)
{
    if (layer->memory)
        vec_foreach (source, &layer->memory->sources)
            part_remove(directory_find(directory, &(*source)->key), layer, keep_ends);
    else
        for (uint32_t i = 0; i < segment_sources(layer->segment); i++) {
            struct series_source key = segment_key(layer->segment, i);
            part_remove(directory_find(directory, &key), layer, keep_ends);
        }
    if (layer->segment && segment_index_lost(layer->segment)) /* it does not know its sources */
        vec_foreach (place, &directory->places)
            part_remove(*place, layer, keep_ends);
}

/* ---- order ---- */
static int by_source(const void *a, const void *b)
{
    return source_compare(&(*(struct place *const *)a)->key, &(*(struct place *const *)b)->key);
}

size_t directory_from(struct directory *directory, int64_t experiment, int64_t trial)
{
    struct series_source key = {experiment, trial, INT64_MIN, 0};
    size_t lo = 0, hi = directory->places.len;

    if (!directory->sorted && hi > 1)
        qsort(directory->places.at, hi, sizeof(*directory->places.at), by_source);
    directory->sorted = true;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (source_compare(&directory->places.at[mid]->key, &key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}
