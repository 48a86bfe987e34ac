/* SPDX-License-Identifier: MIT */
/*
 * gc_objects.c — code that nobody needs any more: checkouts, and objects that no experiment names.
 *
 * Both are made before the experiment that needs them has a row, so what was asked for a moment
 * ago stays. Whoever stores or unpacks something that is there already touches it; that renews its
 * time.
 */
#include "base/clock.h"
#include "api/checkout.h"
#include "cli/gc.h"
#include "spec/parse.h"
#include "store/object.h"

#include <sys/stat.h>

#define AGE_US       (600 * US_PER_S)   /* the row may be about to be written */
#define STRAY_AGE_US (86400 * US_PER_S) /* a file without a row: its writer has surely died */

bool gc_older(const struct gc *gc, const char *path, int64_t age_us)
{
    struct stat st;
    return lstat(path, &st) == 0 && (int64_t)st.st_mtime * US_PER_S < gc->now_us - age_us;
}

/* ---- checkouts ---- */

/* The folders that experiments run in which may go on. */
static int on_experiment(const struct experiment_row *row, void *arg)
{
    struct names *folders = arg;
    const struct experiment *experiment = &row->experiment;
    autorelease(spec) struct spec spec;

    spec_init(&spec);
    if ((experiment->state != EXPERIMENT_RUNNING && experiment->state != EXPERIMENT_INTERRUPTED) ||
        !experiment->spec_json)
        return 0;
    if (spec_parse(experiment->spec_json, strlen(experiment->spec_json), "spec", "/", NULL, &spec,
                   NULL, NULL) == 0 &&
        spec.dir)
        vec_push(&folders->list, xstrdup(spec.dir));
    return 0;
}

static bool is_needed(const struct names *folders, const char *name)
{
    vec_foreach (folder, &folders->list)
        if (checkout_holds(name, *folder))
            return true;
    return false;
}

int gc_checkouts(struct gc *gc, struct err *err)
{
    autofree(mem) char *top = xasprintf("%s/checkouts", gc->call->home);
    struct names checkouts = gc_list(top), folders = {{0}};
    int r = checkouts.list.len ? store_experiments(gc->store, 0, on_experiment, &folders, err) : 0;

    for (size_t i = 0; i < checkouts.list.len && r >= 0; i++) {
        autofree(mem) char *path = xasprintf("%s/%s", top, checkouts.list.at[i]);
        if (gc_older(gc, path, AGE_US) && !is_needed(&folders, checkouts.list.at[i]))
            r = gc_remove(gc, GC_CHECKOUTS, path, err);
    }
    names_release(&checkouts);
    names_release(&folders);
    return r;
}

/* ---- objects with a row ---- */

struct unused {
    struct gc *gc;
    struct json_out out;
    size_t n;
};

static int on_object(const char *sha256, const char *kind UNUSED, uint64_t size, void *arg)
{
    struct unused *unused = arg;
    autofree(mem) char *path = object_path(unused->gc->call->home, sha256);
    struct stat st;

    if (stat(path, &st) == 0 && !gc_older(unused->gc, path, AGE_US))
        return 0; /* stored again just now */
    json_text(&unused->out, sha256);
    unused->n++;
    unused->gc->count[GC_OBJECTS]++;
    unused->gc->bytes += size;
    return 0;
}

static int remove_unused(struct gc *gc, struct err *err)
{
    autorelease(str) struct str request = STR_INIT;
    struct unused unused = {gc, JSON_OUT(&request), 0};

    json_begin_object(&unused.out);
    json_put_text(&unused.out, "do", "gc_objects");
    json_key(&unused.out, "sha256");
    json_begin_array(&unused.out);
    int r = store_unused_objects(gc->store, gc->now_us - AGE_US, on_object, &unused, err);
    json_end_array(&unused.out);
    json_end_object(&unused.out);
    if (r < 0 || unused.n == 0 || gc->dry)
        return r < 0 ? r : 0;
    return gc_change(gc, request.s, err);
}

/* ---- objects without a row ---- */

/* HOME/objects/ab holds files called by the other 62 digits. */
static int remove_strays_in(struct gc *gc, const char *top, const char *two, struct err *err)
{
    autofree(mem) char *folder = xasprintf("%s/%s", top, two);
    struct names files = gc_list(folder);
    int r = 0;

    for (size_t i = 0; i < files.list.len && r >= 0; i++) {
        autofree(mem) char *sha256 = xasprintf("%s%s", two, files.list.at[i]);
        autofree(mem) char *path = xasprintf("%s/%s", folder, files.list.at[i]);
        if (!gc_older(gc, path, STRAY_AGE_US))
            continue;
        r = store_has_object(gc->store, sha256, err);
        if (r == 0)
            r = gc_remove(gc, GC_OBJECTS, path, err);
    }
    names_release(&files);
    return r < 0 ? r : 0;
}

static int remove_strays(struct gc *gc, struct err *err)
{
    autofree(mem) char *top = xasprintf("%s/objects", gc->call->home);
    struct names folders = gc_list(top);
    int r = 0;

    for (size_t i = 0; i < folders.list.len && r >= 0; i++)
        if (strlen(folders.list.at[i]) == 2)
            r = remove_strays_in(gc, top, folders.list.at[i], err);
    names_release(&folders);
    return r;
}

int gc_objects(struct gc *gc, struct err *err)
{
    int r = remove_unused(gc, err);
    return r < 0 ? r : remove_strays(gc, err);
}
