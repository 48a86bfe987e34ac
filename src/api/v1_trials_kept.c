/* SPDX-License-Identifier: MIT */
/*
 * v1_trials_kept.c — two maps, and the feed of changes that takes out of them what is old. Answers
 * are in a list by age, too: where there are too many, each new one takes the room of old ones, and
 * memory neither grows nor is given back.
 *
 * The row of an experiment that runs is written all the time, its name and owner hardly ever
 * change: a name that may be old is read again when it is wanted, and only another one, or another
 * owner, takes the answers along.
 */
#include "api/v1_trials_kept.h"
#include "base/map.h"
#include "base/rng.h"

#define ASKED 4096 /* a power of two */

struct kept_name {
    bool old; /* the experiment was written since */
    char *text, *owner;
};
struct kept_trials {
    struct changes *changes;
    uint64_t seen;
    size_t bytes, bytes_max;
    struct map bodies; /* experiment << 32 | trial → struct kept_trial */
    struct kept_trial *oldest, *newest;
    struct map names;      /* experiment → struct kept_name */
    uint64_t asked[ASKED]; /* keys, each in the place of its hash, until another comes there */
};

struct kept_trials *kept_trials_new(struct changes *changes, size_t bytes_max)
{
    struct kept_trials *kept = xcalloc(1, sizeof(*kept));

    kept->changes = changes;
    kept->seen = changes_count(changes);
    kept->bytes_max = bytes_max;
    return kept;
}

static void forget_bodies(struct kept_trials *kept)
{
    for (struct kept_trial *one = kept->oldest, *next; one; one = next) {
        next = one->newer;
        free(one);
    }
    map_release(&kept->bodies);
    kept->bodies = (struct map)MAP_INIT;
    kept->oldest = kept->newest = NULL;
    kept->bytes = 0;
}

static void forget_all(struct kept_trials *kept)
{
    size_t cursor = 0;
    struct kept_name *name;

    forget_bodies(kept);
    while ((name = map_next(&kept->names, &cursor, NULL))) {
        free(name->text);
        free(name->owner);
        free(name);
    }
    map_release(&kept->names);
    kept->names = (struct map)MAP_INIT;
}

void kept_trials_free(struct kept_trials *kept)
{
    if (!kept)
        return;
    forget_all(kept);
    free(kept);
}

/* Experiments and trials are numbered below 2^31 and 2^32 (store.h). */
static uint64_t key_of(int64_t experiment, int64_t trial)
{
    return (uint64_t)experiment << 32 | (uint64_t)trial;
}

static size_t size_of(size_t n)
{
    return sizeof(struct kept_trial) + n + 1;
}

static void forget(struct kept_trials *kept, uint64_t key)
{
    struct kept_trial *one = kept->bodies.len ? map_remove(&kept->bodies, key) : NULL;

    if (!one)
        return;
    *(one->older ? &one->older->newer : &kept->oldest) = one->newer;
    *(one->newer ? &one->newer->older : &kept->newest) = one->older;
    kept->bytes -= size_of(one->n);
    free(one);
}

static void on_change(struct kept_trials *kept, const struct change *change)
{
    struct kept_name *name = map_find(&kept->names, (uint64_t)change->experiment);

    if (change->trial)
        forget(kept, key_of(change->experiment, change->trial));
    else if (change->removed)
        forget_all(kept);
    else if (name)
        name->old = true;
}

void kept_trials_refresh(struct kept_trials *kept)
{
    struct change some[64];
    int n;

    while ((n = changes_since(kept->changes, kept->seen, some, ARRAY_LEN(some))) > 0) {
        kept->seen += (uint64_t)n;
        for (int i = 0; i < n; i++)
            on_change(kept, &some[i]);
    }
    if (n < 0) {
        forget_all(kept);
        kept->seen = changes_count(kept->changes);
    }
}

static bool same_owner(const char *a, const char *b)
{
    return a && b ? str_eq(a, b) : a == b;
}

/* Its name again, or for the first time. */
static int read_name(struct kept_trials *kept, struct store *store, int64_t experiment,
                     struct kept_name **ret, struct err *err)
{
    struct kept_name *name = map_find(&kept->names, (uint64_t)experiment);
    char *text = NULL, *owner = NULL;
    int r = store_find_name(store, experiment, &text, &owner, err);

    if (r < 0)
        return r;
    if (!name) {
        name = xcalloc(1, sizeof(*name));
        map_put(&kept->names, (uint64_t)experiment, name);
    } else if (!str_eq(name->text, text) || !same_owner(name->owner, owner)) {
        forget_bodies(kept);
    }
    free(name->text);
    free(name->owner);
    *name = (struct kept_name){.text = text, .owner = owner};
    *ret = name;
    return 0;
}

int kept_trials_name(struct kept_trials *kept, struct store *store, int64_t experiment,
                     const char **ret, struct err *err)
{
    struct kept_name *name = map_find(&kept->names, (uint64_t)experiment);
    int r = !name || name->old ? read_name(kept, store, experiment, &name, err) : 0;

    *ret = r < 0 ? NULL : name->text;
    return r;
}

const struct kept_trial *kept_trials_find(struct kept_trials *kept, struct store *store,
                                          int64_t experiment, int64_t trial)
{
    const struct kept_name *name = map_find(&kept->names, (uint64_t)experiment);
    const char *text;

    if (!name || trial > UINT32_MAX ||
        (name->old && kept_trials_name(kept, store, experiment, &text, NULL) < 0))
        return NULL;
    return map_find(&kept->bodies, key_of(experiment, trial));
}

static void add_newest(struct kept_trials *kept, struct kept_trial *one)
{
    one->older = kept->newest;
    *(kept->newest ? &kept->newest->newer : &kept->oldest) = one;
    kept->newest = one;
    kept->bytes += size_of(one->n);
    map_put(&kept->bodies, one->key, one);
}

bool kept_trials_again(struct kept_trials *kept, int64_t experiment, int64_t trial)
{
    uint64_t key = key_of(experiment, trial), *place = &kept->asked[hash_u64(key) % ASKED];
    bool again = *place == key;

    *place = key;
    return again;
}

void kept_trials_put(struct kept_trials *kept, int64_t experiment, int64_t trial,
                     const struct str *body, const char *etag)
{
    uint64_t key = key_of(experiment, trial);

    forget(kept, key);
    while (kept->oldest && kept->bytes + size_of(body->len) > kept->bytes_max)
        forget(kept, kept->oldest->key);
    struct kept_trial *one = xmalloc(size_of(body->len));
    *one = (struct kept_trial){.key = key, .n = body->len};
    memcpy(one->body, body->s, body->len + 1);
    memcpy(one->etag, etag, sizeof(one->etag));
    add_newest(kept, one);
}
