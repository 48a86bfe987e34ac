/* SPDX-License-Identifier: MIT */
/*
 * gc_series.c — hone gc: samples of what was removed give their room back, small segments are
 * merged. Where an engine runs, its own worker does that,
 * but for segments of which little was removed.
 */
#include "cli/gc.h"
#include "engine/runtime.h"

#include <errno.h>

#define WORTH (1 << 20) /* bytes of log that are worth sealing */

int gc_series(struct gc *gc, struct err *err)
{
    autoclose int lock = -1;
    autofree(series_db) struct series_db *db = NULL;
    struct series_size before, after;

    if (gc->dry || home_lock(gc->call->home, &lock, NULL) < 0)
        return 0;
    int r = series_db_open(gc->call->home, SERIES_WRITE, &db, err);
    if (r < 0)
        return r;
    series_db_size(db, &before);
    if (before.segments < 2 && before.log_bytes < WORTH && !series_db_has_dropped(db))
        return 0;
    r = series_db_compact(db, err);
    series_db_size(db, &after);
    if (r >= 0 && after.bytes < before.bytes)
        gc->bytes += before.bytes - after.bytes;
    return r;
}
