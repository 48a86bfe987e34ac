/* SPDX-License-Identifier: MIT */
/*
 * code_watch.c — a look is a fingerprint of the folder (sizes and times) in a worker; only when it
 * differs from the one before is a snapshot taken. The first look takes one always: the first trial
 * may have written into the folder since the submission's was taken, and then what is told of are
 * the attempts that began after the look did.
 */
#include "engine/code_watch.h"
#include "base/clock.h"
#include "base/map.h"
#include "store/object.h"

#include <errno.h>

#define LOOK_EVERY_US (2 * US_PER_S)

struct print {
    uint64_t value;
    int64_t attempt; /* the next one when it was looked at */
};

struct code_watch {
    uv_loop_t *loop;
    char *home;
    struct map prints; /* experiment → struct print: what it was at the last look */
    int64_t looked_us;
    bool busy;

    /* the look under way; `engine` is used on the loop's thread only */
    uv_work_t work;
    struct engine *engine;
    int64_t experiment;
    int64_t attempt; /* the next one when this look began */
    int64_t since;   /* attempts from this one on are told of */
    char *folder;
    uint64_t known, found;
    bool has_known;
    int result; /* 1: a snapshot was taken */
    struct snapshot snapshot;
};

struct code_watch *code_watch_new(uv_loop_t *loop, const char *home)
{
    struct code_watch *watch = xcalloc(1, sizeof(*watch));
    watch->loop = loop;
    watch->home = xstrdup(home);
    watch->work.data = watch;
    return watch;
}

static void look(uv_work_t *work)
{
    struct code_watch *watch = work->data;
    int r = snapshot_fingerprint(watch->home, watch->folder, &watch->found, NULL);

    watch->result = r;
    if (r < 0 || (watch->has_known && watch->found == watch->known))
        return;
    r = snapshot_take(watch->home, watch->folder, &watch->snapshot, NULL);
    watch->result = r < 0 ? r : 1;
}

static void on_looked(uv_work_t *work, int status)
{
    struct code_watch *watch = work->data;
    struct print *print = map_find(&watch->prints, (uint64_t)watch->experiment);
    struct now now = {clock_wall_us(), clock_mono_us()};

    watch->busy = false;
    free(TAKE(watch->folder));
    if (status < 0 || watch->result < 0)
        return;
    if (!print) {
        print = xcalloc(1, sizeof(*print));
        map_put(&watch->prints, (uint64_t)watch->experiment, print);
    }
    *print = (struct print){watch->found, watch->attempt};
    if (watch->result == 1 && watch->engine)
        engine_set_code(watch->engine, watch->experiment, watch->snapshot.sha256,
                        watch->snapshot.size, watch->since, now);
}

void code_watch_turn(struct code_watch *watch, struct engine *engine, struct now now)
{
    const char *folder;

    if (watch->busy || now.mono_us - watch->looked_us < LOOK_EVERY_US ||
        !engine_code_due(engine, &watch->experiment, &folder, &watch->attempt))
        return;
    const struct print *print = map_find(&watch->prints, (uint64_t)watch->experiment);
    watch->has_known = print != NULL;
    watch->known = print ? print->value : 0;
    watch->since = print ? print->attempt : watch->attempt;
    watch->looked_us = now.mono_us;
    watch->engine = engine;
    watch->folder = xstrdup(folder);
    watch->busy = uv_queue_work(watch->loop, &watch->work, look, on_looked) == 0;
    if (!watch->busy)
        free(TAKE(watch->folder));
}

int64_t code_watch_wake_us(const struct code_watch *watch, const struct engine *engine)
{
    if (watch->busy || !engine_code_waits(engine))
        return INT64_MAX;
    return watch->looked_us + LOOK_EVERY_US;
}

void code_watch_free(struct code_watch *watch)
{
    size_t cursor = 0;
    struct print *print;

    watch->engine = NULL;
    while (watch->busy)
        uv_run(watch->loop, UV_RUN_ONCE);
    while ((print = map_next(&watch->prints, &cursor, NULL)))
        free(print);
    map_release(&watch->prints);
    free(watch->home);
    free(watch);
}
