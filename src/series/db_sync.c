/* SPDX-License-Identifier: MIT */
/*
 * db_sync.c — what the kernel has is brought to the disk, here or on a thread of its own.
 *
 * A sync is promised before it is done: the marks of what it covers are cleared when it begins, and
 * what is written meanwhile sets them anew. If it fails, the promise is taken back when the owner's
 * thread looks. The thread has descriptors of its own, so that a log may be sealed meanwhile.
 *
 * After a failed sync the kernel may have thrown the pages away and call them clean: the next sync
 * of that file proves nothing. Its rows are in memory; they are on the disk once that is sealed
 * into another file. Until then its layer is suspect, and every sync is first of all that seal.
 */
#include "series/inside.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

struct sync_log {
    int fd;          /* owned */
    uint64_t number; /* of the log */
    int result;
};
struct syncing {
    pthread_t thread;
    _Atomic bool done;
    const struct series_io *io;
    int dir_fd; /* borrowed; -1: the names are safe */
    int dir_result;
    VEC(struct sync_log) logs;
};

static void syncing_free(struct syncing *syncing)
{
    vec_foreach (log, &syncing->logs)
        fd_autoclose(&log->fd);
    vec_release(&syncing->logs);
    free(syncing);
}
DEFINE_AUTOFREE(syncing);

static void *run(void *arg)
{
    struct syncing *syncing = arg;

    vec_foreach (log, &syncing->logs)
        log->result = syncing->io->sync(log->fd) < 0 ? -errno : 0;
    if (syncing->dir_fd >= 0)
        syncing->dir_result = syncing->io->sync(syncing->dir_fd) < 0 ? -errno : 0;
    syncing->done = true;
    return NULL;
}

/* ---- what is to sync ---- */
static int add_log(struct syncing *syncing, int fd, uint64_t number)
{
    struct sync_log log = {.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), .number = number};

    if (log.fd < 0)
        return -errno;
    vec_push(&syncing->logs, log);
    return 0;
}

static int add_logs(struct series_db *db, struct syncing *syncing)
{
    int r = 0;

    vec_foreach (layer, &db->layers)
        if (r == 0 && (*layer)->fd >= 0 && (*layer)->unsynced)
            r = add_log(syncing, (*layer)->fd, (*layer)->first);
    if (r == 0 && db->log.unsynced)
        r = add_log(syncing, db->log.fd, db_active(db)->first);
    return r;
}

/* 1: there is something, *ret. 0: all is safe. */
static int promise(struct series_db *db, struct syncing **ret, struct err *err)
{
    autofree(syncing) struct syncing *syncing = xcalloc(1, sizeof(*syncing));
    int r = add_logs(db, syncing);

    if (r < 0)
        return err_errno(err, -r, "cannot write series in %s to the disk", db->folder);
    if (!syncing->logs.len && !db->log.unnamed)
        return 0;
    syncing->io = db->io;
    syncing->dir_fd = db->log.unnamed ? db->dir_fd : -1;
    vec_foreach (layer, &db->layers)
        (*layer)->unsynced = false;
    db->log.unsynced = db->log.unnamed = false;
    *ret = TAKE(syncing);
    return 1;
}

/* ---- what came of it ---- */
static void suspect(struct series_db *db, uint64_t number)
{
    vec_foreach (layer, &db->layers)
        if ((*layer)->memory && (*layer)->first == number)
            (*layer)->suspect = true;
}

static int take(struct series_db *db, struct syncing *syncing, struct err *err)
{
    int r = syncing->dir_result;

    if (r < 0)
        db->log.unnamed = true;
    vec_foreach (log, &syncing->logs)
        if (log->result < 0) {
            suspect(db, log->number);
            r = log->result;
        }
    syncing_free(syncing);
    return r < 0 ? err_errno(err, -r, "cannot write series in %s to the disk", db->folder) : 0;
}

static int take_over(struct series_db *db, bool wait, struct err *err)
{
    if (!db->syncing || (!wait && !db->syncing->done))
        return 0;
    pthread_join(db->syncing->thread, NULL);
    return take(db, TAKE(db->syncing), err);
}

/* ---- both ways ---- */
static int seal_suspects(struct series_db *db, struct err *err)
{
    if (db_active(db)->suspect)
        return db_seal_all(db, err);
    vec_foreach (layer, &db->layers)
        if ((*layer)->suspect)
            return db_seal_frozen(db, err);
    return 0;
}

/* All is the kernel's, and no log is suspect. */
static int make_ready(struct series_db *db, struct err *err)
{
    int r = series_db_flush(db, err);

    if (r == 0)
        r = seal_suspects(db, err);
    return r < 0 ? r : db_log_write(db, err); /* of a log that was begun */
}

int series_db_sync(struct series_db *db, struct err *err)
{
    struct syncing *syncing = NULL;

    if (db->mode != SERIES_WRITE)
        return 0;
    take_over(db, true, NULL);
    int r = make_ready(db, err);
    if (r == 0)
        r = promise(db, &syncing, err);
    if (r <= 0)
        return r;
    assert(syncing);
    run(syncing);
    return take(db, syncing, err);
}

/* Signals are for the owner's thread. */
static bool start(struct syncing *syncing)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&syncing->thread, NULL, run, syncing);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r == 0;
}

int series_db_sync_begin(struct series_db *db, struct err *err)
{
    struct syncing *syncing = NULL;

    if (db->mode != SERIES_WRITE)
        return 0;
    int r = take_over(db, false, err);
    if (r < 0 || db->syncing)
        return r < 0 ? r : 1;
    r = make_ready(db, err);
    if (r == 0)
        r = promise(db, &syncing, err);
    if (r <= 0)
        return r;
    assert(syncing);
    if (!start(syncing)) {
        run(syncing);
        return take(db, syncing, err);
    }
    db->syncing = syncing;
    return 1;
}
