/* SPDX-License-Identifier: MIT */
/*
 * scripted_outside.h — for tests of what comes from outside: a home with a store of series, on a
 * disk that is full when the test says so.
 */
#ifndef HONE_SCRIPTED_OUTSIDE_H
#define HONE_SCRIPTED_OUTSIDE_H

#include "engine/scripted.h"

#include "base/fs.h"
#include "series/inside.h"

#include <unistd.h>

static struct {
    char *home;
    struct series_db *db;
    bool full; /* the disk */
} outside;

static inline UNUSED ssize_t outside_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    if (!outside.full)
        return pwrite(fd, bytes, n, at);
    errno = ENOSPC;
    return -1;
}

static inline UNUSED int outside_sync(int fd)
{
    return fd < 0 ? -1 : 0;
}

static inline UNUSED void outside_open(void)
{
    static const struct series_io disk = {outside_pwrite, outside_sync};
    assert_ok(series_db_open_with(outside.home, SERIES_WRITE, &disk, &outside.db, &t.err), &t.err);
}

static inline UNUSED void outside_up(void)
{
    const char *tmp = getenv("TMPDIR");

    set_up(1, 0);
    outside.full = false;
    outside.home = xasprintf("%s/hone-outside-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(outside.home));
    outside_open();
}

static inline UNUSED void outside_down(void)
{
    series_db_free(outside.db);
    assert_int_equal(fs_remove_tree(outside.home, NULL), 0);
    free(outside.home);
    tear_down();
}

#endif
