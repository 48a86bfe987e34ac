/* SPDX-License-Identifier: MIT */
/*
 * influx_keys.c — the series and names of a database, in one arena that only grows, up to a limit.
 *
 *     bytes of a head ─► head ─► series ─► measurement ─► its names
 *
 * One series may be written in many ways (tags in another order): each gets a head of its own while
 * there is room, and is read again each time when there is none. Names remember which one came
 * after them, so that a line with the usual fields is found by comparing, without a hash.
 */
#include "base/arena.h"
#include "base/map.h"
#include "base/rng.h"
#include "metrics/influx_parts.h"

#include <errno.h>

struct influx_head {
    struct influx_head *next; /* of the same hash */
    struct influx_series *series;
    struct influx_text text;
};

struct influx_measurement {
    struct influx_measurement *next;
    struct influx_text text;
    uint64_t hash;
    struct influx_name *first; /* on the line before */
};

struct influx_keys {
    struct influx_limits limits;
    uint64_t seed, line;
    struct arena arena;
    size_t bytes, n_series, n_names;
    struct map heads, series, measurements, names; /* hash → chain */
};

struct influx_keys *influx_keys_new(const struct influx_limits *limits, uint64_t seed)
{
    struct influx_keys *keys = xcalloc(1, sizeof(*keys));
    keys->limits = *limits;
    keys->seed = seed;
    return keys;
}

void influx_keys_free(struct influx_keys *keys)
{
    map_release(&keys->heads);
    map_release(&keys->series);
    map_release(&keys->measurements);
    map_release(&keys->names);
    arena_release(&keys->arena);
    if (keys->limits.all)
        keys->limits.all->n_series -= keys->n_series;
    free(keys);
}

size_t influx_keys_bytes(const struct influx_keys *keys)
{
    return keys->bytes;
}

bool influx_keys_fixed_kinds(const struct influx_keys *keys)
{
    return keys->limits.fixed_kinds;
}

uint64_t influx_keys_line(struct influx_keys *keys)
{
    return ++keys->line;
}

static bool same(struct influx_text a, const char *s, size_t n)
{
    return a.n == n && memcmp(a.s, s, n) == 0;
}

#define SLOT_BYTES 48 /* of a map, with its growth, for an entry */

/* Is there room for one more thing of n bytes? */
static bool has_room(const struct influx_keys *keys, size_t n)
{
    return keys->bytes + n + SLOT_BYTES <= keys->limits.bytes;
}

static void *take(struct influx_keys *keys, size_t size)
{
    keys->bytes += size + 16; /* what the arena rounds up */
    return arena_alloc(&keys->arena, size);
}

static struct influx_text keep(struct influx_keys *keys, struct influx_text text)
{
    char *copy = take(keys, text.n + 1);
    memcpy(copy, text.s, text.n);
    return (struct influx_text){copy, text.n};
}

/* ---- series ---- */

struct influx_series *influx_keys_find(const struct influx_keys *keys, const char *head, size_t n)
{
    struct influx_head *found = map_find(&keys->heads, hash_bytes(head, n, keys->seed));
    while (found && !same(found->text, head, n))
        found = found->next;
    return found ? found->series : NULL;
}

static void add_head(struct influx_keys *keys, struct influx_text text,
                     struct influx_series *series)
{
    uint64_t hash = hash_bytes(text.s, text.n, keys->seed);
    struct influx_head *head = take(keys, sizeof(*head));
    head->text = keep(keys, text);
    head->series = series;
    head->next = map_find(&keys->heads, hash);
    keys->bytes += SLOT_BYTES;
    map_put(&keys->heads, hash, head);
}

static uint64_t series_hash(const struct influx_keys *keys, struct influx_text measurement,
                            const struct influx_tag *tags, size_t n)
{
    uint64_t hash = hash_bytes(measurement.s, measurement.n, keys->seed);
    for (size_t i = 0; i < n; i++) {
        hash = hash_bytes(tags[i].key.s, tags[i].key.n, hash);
        hash = hash_bytes(tags[i].value.s, tags[i].value.n, hash);
    }
    return hash;
}

static bool is_series(const struct influx_series *series, struct influx_text measurement,
                      const struct influx_tag *tags, size_t n)
{
    if (series->n_tags != n || !same(series->measurement, measurement.s, measurement.n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!same(series->tags[i].key, tags[i].key.s, tags[i].key.n) ||
            !same(series->tags[i].value, tags[i].value.s, tags[i].value.n))
            return false;
    return true;
}

static struct influx_measurement *find_measurement(const struct influx_keys *keys,
                                                   struct influx_text text, uint64_t hash)
{
    struct influx_measurement *found = map_find(&keys->measurements, hash);
    while (found && !same(found->text, text.s, text.n))
        found = found->next;
    return found;
}

static struct influx_measurement *measurement_of(struct influx_keys *keys, struct influx_text text)
{
    uint64_t hash = hash_bytes(text.s, text.n, ~keys->seed);
    struct influx_measurement *first = map_find(&keys->measurements, hash);
    struct influx_measurement *found = find_measurement(keys, text, hash);
    if (found)
        return found;
    found = take(keys, sizeof(*found));
    *found = (struct influx_measurement){.next = first, .text = keep(keys, text), .hash = hash};
    keys->bytes += SLOT_BYTES;
    map_put(&keys->measurements, hash, found);
    return found;
}

static struct influx_series *new_series(struct influx_keys *keys, struct influx_text measurement,
                                        const struct influx_tag *tags, size_t n)
{
    struct influx_series *series = take(keys, sizeof(*series));
    struct influx_tag *copy = take(keys, MAX(n, 1) * sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        copy[i] = (struct influx_tag){keep(keys, tags[i].key), keep(keys, tags[i].value)};
    series->group = measurement_of(keys, measurement);
    series->measurement = series->group->text;
    series->tags = copy;
    series->n_tags = n;
    keys->n_series++;
    if (keys->limits.all)
        keys->limits.all->n_series++;
    return series;
}

/* What a series takes, at most: its head, its parts and what is around them. */
static size_t series_bytes(size_t head, size_t n_tags)
{
    return 2 * head + n_tags * (sizeof(struct influx_tag) + 64) + sizeof(struct influx_series) +
           sizeof(struct influx_measurement) + sizeof(struct influx_head) + 3 * SLOT_BYTES + 128;
}

/* May there be no series more? The reason is in InfluxDB's words, where it has such a limit. */
static bool is_full(const struct influx_keys *keys, bool room, struct str *reason)
{
    const struct influx_all *all = keys->limits.all;

    if (keys->n_series >= keys->limits.series || !room)
        str_addf(reason, "max-series-per-database limit exceeded: (%zu)", keys->n_series);
    else if (all && all->n_series >= all->most_series)
        str_addf(reason, "max-series limit exceeded: (%zu) in all databases", all->n_series);
    else
        return false;
    return true;
}

struct influx_series *influx_keys_add(struct influx_keys *keys, struct influx_text head,
                                      struct influx_text measurement, const struct influx_tag *tags,
                                      size_t n_tags, struct str *reason)
{
    uint64_t hash = series_hash(keys, measurement, tags, n_tags);
    struct influx_series *first = map_find(&keys->series, hash), *found = first;
    bool room = has_room(keys, series_bytes(head.n, n_tags));
    while (found && !is_series(found, measurement, tags, n_tags))
        found = found->next;
    if (!found && is_full(keys, room, reason))
        return NULL;
    if (!found) {
        found = new_series(keys, measurement, tags, n_tags);
        found->next = first;
        keys->bytes += SLOT_BYTES;
        map_put(&keys->series, hash, found);
    }
    if (room && keys->heads.len <= 2 * keys->n_series) /* other ways to write it take their turn */
        add_head(keys, head, found);
    return found;
}

/* ---- names ---- */

static uint64_t name_hash(const struct influx_measurement *group, const char *field, size_t n)
{
    return hash_bytes(field, n, group->hash);
}

static bool is_name(const struct influx_name *name, const struct influx_measurement *group,
                    const char *field, size_t n)
{
    return name->group == group && same(name->field, field, n);
}

static struct influx_name *find_name(const struct influx_keys *keys,
                                     const struct influx_measurement *group, const char *field,
                                     size_t n)
{
    struct influx_name *name = map_find(&keys->names, name_hash(group, field, n));
    while (name && !is_name(name, group, field, n))
        name = name->next;
    return name;
}

struct influx_name *influx_name_find(const struct influx_keys *keys,
                                     const struct influx_series *series, const char *field,
                                     size_t n)
{
    return find_name(keys, series->group, field, n);
}

const struct influx_name *influx_keys_name(const struct influx_keys *keys,
                                           struct influx_text measurement, struct influx_text field)
{
    uint64_t hash = hash_bytes(measurement.s, measurement.n, ~keys->seed);
    const struct influx_measurement *group = find_measurement(keys, measurement, hash);
    return group ? find_name(keys, group, field.s, field.n) : NULL;
}

struct influx_name *influx_name_guess(const struct influx_series *series,
                                      const struct influx_name *last)
{
    return last ? last->follower : series->group->first;
}

void influx_name_follows(const struct influx_series *series, struct influx_name *last,
                         struct influx_name *name)
{
    if (last)
        last->follower = name;
    else
        series->group->first = name;
}

/* Such a name is always told from what is around it; a tab before the first one would be skipped.
 */
static bool is_plain(struct influx_text field)
{
    for (size_t i = 0; i < field.n; i++)
        if (strchr(", =\"\\", field.s[i]))
            return false;
    return field.s[0] != '\t';
}

struct influx_name *influx_name_add(struct influx_keys *keys, const struct influx_series *series,
                                    struct influx_text field, enum influx_kind kind,
                                    struct str *reason)
{
    struct influx_name *name = influx_name_find(keys, series, field.s, field.n);
    if (name)
        return name;
    if (keys->n_names >= keys->limits.names || !has_room(keys, sizeof(*name) + field.n + 64)) {
        str_addf(reason, "max-fields-per-database limit exceeded: (%zu)", keys->n_names);
        return NULL;
    }
    uint64_t hash = name_hash(series->group, field.s, field.n);
    name = take(keys, sizeof(*name));
    *name = (struct influx_name){.field = keep(keys, field),
                                 .kind = kind,
                                 .handle = INFLUX_NO_HANDLE,
                                 .plain = is_plain(field),
                                 .group = series->group,
                                 .next = map_find(&keys->names, hash)};
    keys->n_names++;
    keys->bytes += SLOT_BYTES;
    map_put(&keys->names, hash, name);
    return name;
}
