/* SPDX-License-Identifier: MIT */
/*
 * gc_cursors.c — hone gc: how far an experiment was sent to InfluxDB (HOME/export,
 * influx_cursor.h) means nothing when the experiment is gone. One that is being sent stays.
 *
 * Files are listed before the experiments are: a cursor is made after its experiment.
 */
#include "base/fs.h"
#include "base/map.h"
#include "cli/gc.h"

#include <fcntl.h>

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && str_eq(name + n - m, end);
}

/* "12-http…-0a1b2c3d.json" → 12; 0: a name that is not ours. */
static int64_t experiment_of(const char *name)
{
    char *end;
    long long n = *name >= '1' && *name <= '9' ? strtoll(name, &end, 10) : 0;
    return n > 0 && *end == '-' && ends_with(name, ".json") ? n : 0;
}

static int on_experiment(const struct experiment_row *row, void *arg)
{
    map_put(arg, (uint64_t)row->experiment.id, arg);
    return 0;
}

/* With its lock, unless somebody holds that. */
static int remove_cursor(struct gc *gc, const char *path, struct err *err)
{
    autofree(mem) char *lock = xasprintf("%s.lock", path);
    autoclose int fd = open(lock, O_RDWR | O_CLOEXEC);

    if (fd >= 0 && fs_lock(fd) < 0)
        return 0;
    int r = gc_remove(gc, GC_CURSORS, path, err);
    return r < 0 || gc->dry ? r : fs_remove_tree(lock, err);
}

int gc_cursors(struct gc *gc, struct err *err)
{
    autofree(mem) char *top = xasprintf("%s/export", gc->call->home);
    struct names names = gc_list(top);
    struct map known = MAP_INIT;
    int r = names.list.len ? store_experiments(gc->store, 0, on_experiment, &known, err) : 0;

    for (size_t i = 0; i < names.list.len && r >= 0; i++) {
        int64_t experiment = experiment_of(names.list.at[i]);
        autofree(mem) char *path = xasprintf("%s/%s", top, names.list.at[i]);
        if (experiment && !map_find(&known, (uint64_t)experiment))
            r = remove_cursor(gc, path, err);
    }
    map_release(&known);
    names_release(&names);
    return r;
}
