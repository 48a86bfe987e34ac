/* SPDX-License-Identifier: MIT */
/*
 * db_care.c — is all of it sound, and how much is it.
 */
#include "series/inside.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- damage ---- */
static int tell(note_fn *fn, void *arg, const char *folder, const char *name, const char *what,
                uint64_t n, uint64_t at)
{
    autofree(mem) char *text = xasprintf("%s/%s: %llu bytes at %llu %s", folder, name,
                                         (unsigned long long)n, (unsigned long long)at, what);
    fn(text, arg);
    return 1;
}

static int verify_log(struct series_db *db, const struct layer *layer, bool torn, note_fn *fn,
                      void *arg)
{
    char name[SEAL_NAME_SIZE];
    autorelease(str) struct str bytes = STR_INIT;
    struct wal_record record;
    size_t at = 0;
    int wrong = 0;

    wal_name(name, layer->first);
    autofree(mem) char *path = xasprintf("%s/%s", db->folder, name);
    if (fs_read(path, SIZE_MAX / 2, &bytes, NULL) < 0)
        return fs_exists(path) ? tell(fn, arg, db->folder, name, "cannot be read", 0, 0) : 0;
    const unsigned char *p = (const unsigned char *)bytes.s;
    for (; wal_next(p, bytes.len, at, &record); at = record.end)
        if (record.at > at)
            wrong += tell(fn, arg, db->folder, name, "are damaged", record.at - at, at);
    if (at < bytes.len && torn)
        wrong += tell(fn, arg, db->folder, name, "are torn", bytes.len - at, at);
    return wrong;
}

/* Segments that could not be opened at all. */
static int verify_left_out(struct series_db *db, note_fn *fn, void *arg)
{
    struct db_files files = {0};
    int wrong = 0;

    if (db->dir_fd >= 0 && db_files_list(db->dir_fd, &files) == 0)
        vec_foreach (file, &files.files)
            if (!file->wal && !db_layer_find(db, file)) {
                autofree(mem) char *text =
                    xasprintf("%s/%s is no segment of series", db->folder, file->name);
                fn(text, arg);
                wrong++;
            }
    db_files_release(&files);
    return wrong;
}

int series_db_verify(struct series_db *db, bool torn, void (*fn)(const char *sentence, void *arg),
                     void *arg)
{
    int wrong = verify_left_out(db, fn, arg);

    vec_foreach (layer, &db->layers) {
        if ((*layer)->segment)
            wrong += segment_verify((*layer)->segment, fn, arg);
        else
            wrong += verify_log(db, *layer, torn, fn, arg);
    }
    return wrong;
}

/* ---- size ---- */
bool series_db_has_dropped(const struct series_db *db)
{
    vec_foreach (layer, &db->layers)
        if (db_dropped_share(db, *layer) > 0)
            return true;
    return false;
}

static void add_memory(const struct memory *memory, struct series_size *ret)
{
    vec_foreach (source, &memory->sources) {
        ret->rows += (*source)->rows;
        vec_foreach (group, &(*source)->groups)
            ret->values += (*group)->values.len;
    }
}

void series_db_size(const struct series_db *db, struct series_size *ret)
{
    *ret = (struct series_size){0};
    vec_foreach (layer, &db->layers) {
        if ((*layer)->memory) {
            add_memory((*layer)->memory, ret);
            char name[SEAL_NAME_SIZE];
            struct stat st;
            wal_name(name, (*layer)->first);
            if (fstatat(db->dir_fd, name, &st, 0) == 0)
                ret->log_bytes += (uint64_t)st.st_size;
            continue;
        }
        ret->segments++;
        ret->bytes += (*layer)->segment->size;
        ret->values += (*layer)->segment->values;
        ret->rows += (*layer)->segment->rows;
    }
    ret->bytes += ret->log_bytes;
}
