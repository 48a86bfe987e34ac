/* SPDX-License-Identifier: MIT */
/*
 * db_log.c — the log that is being written. Records gather in a buffer; the buffer goes to the
 * file at the next flush, or when it is full.
 *
 * If the disk is full, what was buffered stays buffered and is written later at the same place:
 * the file never has a hole, at worst a torn record at its end that the next write completes.
 */
#include "series/inside.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct layer *db_active(struct series_db *db)
{
    assert(db->layers.len && (*vec_last(&db->layers))->memory);
    return *vec_last(&db->layers);
}

static void set_frozen_aside(struct series_db *db)
{
    if (db->log.fd < 0)
        return;
    struct layer *layer = db_active(db);
    layer->fd = db->log.fd;
    layer->unsynced = db->log.unsynced || db->log.unnamed;
    db->log.fd = -1;
}

int db_log_begin(struct series_db *db, struct err *err)
{
    char name[SEAL_NAME_SIZE];

    assert(!db->log.buffer.len);
    wal_name(name, db->number + 1);
    int fd = openat(db->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_errno(err, errno, "cannot write %s/%s", db->folder, name);
    set_frozen_aside(db);
    struct layer *layer = layer_new(db->number + 1, db->number + 1);
    layer->memory = memory_new(layer->first, &db->intern);
    db_layer_insert(db, layer);
    db->log.fd = fd;
    db->log.at = 0;
    db->log.unsynced = db->log.unnamed = true;
    wal_put_begin(&db->log.buffer);
    return 0;
}

/* Behind the last whole record of a log that is already there. */
int db_log_go_on(struct series_db *db, struct layer *layer, struct err *err)
{
    char name[SEAL_NAME_SIZE];

    wal_name(name, layer->first);
    autoclose int fd = openat(db->dir_fd, name, O_RDWR | O_CLOEXEC);
    off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    if (size < 0)
        return err_errno(err, errno, "cannot write %s/%s", db->folder, name);
    if ((uint64_t)size > layer->read_to) {
        if (ftruncate(fd, (off_t)layer->read_to) < 0)
            return err_errno(err, errno, "cannot cut %s/%s", db->folder, name);
        db_note(db, "%s/%s: its last %llu bytes were torn and are cut", db->folder, name,
                (unsigned long long)((uint64_t)size - layer->read_to));
    }
    db->log.fd = fd;
    fd = -1;
    db->log.at = layer->read_to;
    db->log.unsynced = db->log.unnamed = true;
    if (!db->log.at)
        wal_put_begin(&db->log.buffer);
    return 0;
}

int db_log_write(struct series_db *db, struct err *err)
{
    struct log *log = &db->log;
    size_t done = 0;

    if (!log->buffer.len)
        return 0;
    int r = series_pwrite(db->io, log->fd, log->buffer.s, log->buffer.len, log->at, &done);
    log->at += done;
    log->unsynced = true;
    memmove(log->buffer.s, log->buffer.s + done, log->buffer.len - done);
    str_cut(&log->buffer, log->buffer.len - done);
    return r < 0 ? err_errno(err, -r, "cannot write the log of series in %s", db->folder) : 0;
}

int series_db_flush(struct series_db *db, struct err *err)
{
    if (db->mode != SERIES_WRITE)
        return 0;
    db_workers_look(db);
    return db_log_write(db, err);
}
