/* SPDX-License-Identifier: MIT */
/*
 * db.c — the store of series as its callers see it: opened, appended to, closed. Where rows lie is
 * directory.h's business, what is on disk that of wal.h and segment.h.
 */
#include "series/db.h"

#include "base/fs.h"
#include "model/trial.h"
#include "series/inside.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- open and close ---- */
/* A new folder is to outlive a power cut like the files in it. */
static int make_folder(struct series_db *db, struct err *err)
{
    if (fs_is_dir(db->folder))
        return 0;
    int r = fs_make_dirs(db->folder, 0777, err);
    if (r < 0)
        return r;
    autofree(mem) char *above = xasprintf("%s/..", db->folder);
    autoclose int fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || db->io->sync(fd) < 0)
        return err_errno(err, errno, "cannot make %s", db->folder);
    return 0;
}

static int open_folder(struct series_db *db, struct err *err)
{
    int r = db->mode == SERIES_WRITE ? make_folder(db, err) : 0;

    if (r < 0)
        return r;
    db->dir_fd = open(db->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (db->dir_fd < 0 && (errno != ENOENT || db->mode == SERIES_WRITE))
        return err_errno(err, errno, "cannot open %s", db->folder);
    return 0;
}

/* Go on in the last log if there is room in it. Older ones wait to be sealed. */
static int begin_writing(struct series_db *db, struct err *err)
{
    struct layer *last = db->layers.len ? *vec_last(&db->layers) : NULL;

    if (!last || !last->memory || last->first != db->number || last->read_to >= db->log_bytes)
        return db_log_begin(db, err);
    return db_log_go_on(db, last, err);
}

int series_db_open_with(const char *home, enum series_mode mode, const struct series_io *io,
                        struct series_db **ret, struct err *err)
{
    autofree(series_db) struct series_db *db = xcalloc(1, sizeof(*db));

    db->io = io;
    db->log_bytes = LOG_BYTES;
    db->folder = xasprintf("%s/series", home);
    db->dir_fd = db->log.fd = -1;
    db->log.buffer = (struct str)STR_INIT;
    vec_push(&db->notes, NULL);
    db->mode = mode;
    int r = open_folder(db, err);
    if (r == 0 && db->dir_fd >= 0)
        r = db_load(db, err);
    if (r == 0 && mode == SERIES_WRITE)
        r = begin_writing(db, err);
    if (r < 0)
        return r;
    *ret = TAKE(db);
    return 0;
}

int series_db_open(const char *home, enum series_mode mode, struct series_db **ret, struct err *err)
{
    return series_db_open_with(home, mode, &series_io, ret, err);
}

/* Nothing of a small log is sealed: it is read again as fast as a segment. An empty one goes. */
static void end_writing(struct series_db *db)
{
    struct err err = ERR_INIT;
    int r = series_db_sync(db, &err);
    db_workers_wait(db, NULL);
    if (r == 0 && db->log.at >= LOG_KEPT)
        db_seal_all(db, &err);
    err_release(&err);
    struct layer *layer = db_active(db);
    if (!layer->memory->sources.len && !layer->memory->drops.len && db->log.fd >= 0) {
        char name[SEAL_NAME_SIZE];
        wal_name(name, layer->first);
        unlinkat(db->dir_fd, name, 0);
    }
}

void series_db_free(struct series_db *db)
{
    if (db->mode == SERIES_WRITE && db->log.fd >= 0)
        end_writing(db);
    vec_foreach (layer, &db->layers)
        layer_free(*layer);
    vec_release(&db->layers);
    vec_release(&db->left_out);
    directory_release(&db->directory);
    fd_autoclose(&db->log.fd);
    fd_autoclose(&db->dir_fd);
    str_release(&db->log.buffer);
    intern_release(&db->intern);
    for (size_t i = 0; i + 1 < db->notes.len; i++)
        free(db->notes.at[i]);
    vec_release(&db->notes);
    vec_release(&db->infos);
    vec_release(&db->slots);
    free(db->folder);
    free(db);
}

const char *const *series_db_notes(const struct series_db *db)
{
    return (const char *const *)db->notes.at;
}

/* ---- names ---- */
uint32_t series_db_name(struct series_db *db, const char *name, size_t n)
{
    if (n == 0 || n > SERIES_NAME_MAX || memchr(name, '\0', n) || intern_text_is_rest(name, n))
        return SERIES_NAME_NONE;
    uint32_t there = intern_find(&db->intern, name, n);
    if (there != SERIES_NAME_NONE || db->intern.texts.len >= SERIES_NAMES_MAX)
        return there;
    return intern_add(&db->intern, name, n);
}

const char *series_db_name_text(const struct series_db *db, uint32_t name)
{
    return name < db->intern.texts.len ? db->intern.texts.at[name] : NULL;
}

uint32_t series_db_rest(struct series_db *db, uint32_t name)
{
    uint32_t there = intern_rest(&db->intern, name, false);

    if (there != SERIES_NAME_NONE || db->intern.texts.len >= SERIES_NAMES_MAX ||
        strlen(db->intern.texts.at[name]) >= SERIES_NAME_MAX)
        return there;
    return intern_rest(&db->intern, name, true);
}

bool series_db_is_rest(const struct series_db *db, uint32_t name)
{
    return intern_is_rest(&db->intern, name);
}

/* ---- rows ---- */
static int check_rows(const struct series_db *db, const struct series_source *source,
                      const struct series_row *rows, size_t n, struct err *err)
{
    if (db->mode != SERIES_WRITE)
        return err_set(err, EROFS, "%s was opened for reading", db->folder);
    if ((unsigned)source->file >= SERIES_FILES)
        return err_set(err, EINVAL, "series: no such file of a source: %d", (int)source->file);
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].n)
            return err_set(err, EINVAL, "series: a row without values");
        for (size_t j = 0; j < rows[i].n; j++)
            if (rows[i].names[j] >= db->intern.texts.len)
                return err_set(err, EINVAL, "series: a row with a name that is none");
    }
    return 0;
}

/* Room in the buffer and in memory, or why there is none. */
static int make_room(struct series_db *db, struct err *err)
{
    int r = 0;

    db_workers_look(db);
    if (db->log.buffer.len >= LOG_BUFFER)
        r = db_log_write(db, err);
    if (r == 0 && db->log.at >= db->log_bytes * LOG_BACKLOG) {
        db->retry_at = 0;
        db_workers_look(db);
        r = db_workers_wait(db, err);
        db_workers_look(db);
    }
    return r;
}

static void define_names(struct series_db *db, struct memory *memory, const struct series_row *row)
{
    for (size_t i = 0; i < row->n; i++) {
        uint32_t name = row->names[i], number = (uint32_t)memory->names.len;
        if (name < memory->local.len && memory->local.at[name] != SERIES_NAME_NONE)
            continue;
        memory_define(memory, number, name, db->intern.texts.at[name]);
        wal_put_name(&db->log.buffer, number, db->intern.texts.at[name]);
    }
}

static bool is_new(const struct series_row *row, uint64_t end)
{
    return row->end == 0 || row->end > end;
}

/* Rows that all are new. */
static void take_rows(struct series_db *db, struct place *place, const struct series_row *rows,
                      size_t n)
{
    struct layer *layer = db_active(db);
    struct memory *memory = layer->memory;
    size_t sources = memory->sources.len;

    for (size_t i = 0; i < n; i++)
        if (i == 0 || rows[i].names != rows[i - 1].names || rows[i].n != rows[i - 1].n)
            define_names(db, memory, &rows[i]);
    wal_put_rows(&db->log.buffer, &place->key, rows, n, memory->local.at);
    struct memory_source *source = memory_source(memory, &place->key);
    for (size_t i = 0; i < n; i++)
        memory_add(source, &rows[i]);
    if (sources < memory->sources.len)
        directory_add_memory(&db->directory, layer, source);
    place->end = MAX(place->end, source->end);
}

void series_db_on_rows(struct series_db *db, series_rows_fn *fn, void *arg)
{
    db->on_rows = fn;
    db->rows_arg = arg;
}

int series_db_append(struct series_db *db, const struct series_source *source,
                     const struct series_row *rows, size_t n, struct err *err)
{
    int r = check_rows(db, source, rows, n, err);

    if (r == 0)
        r = make_room(db, err);
    if (r < 0)
        return r;
    struct place *place = directory_place(&db->directory, source);
    const uint64_t end = place->end;
    for (size_t i = 0, begin = 0; i < n; begin = i) {
        while (i < n && is_new(&rows[i], end))
            i++;
        if (i > begin)
            take_rows(db, place, rows + begin, i - begin);
        if (i > begin && db->on_rows)
            db->on_rows(source, rows + begin, i - begin, db->rows_arg);
        while (i < n && !is_new(&rows[i], end))
            i++;
    }
    if (db->log.buffer.len >= LOG_BUFFER)
        db_log_write(db, NULL); /* if it cannot, the next call says so */
    db_workers_look(db);
    return 0;
}

uint64_t series_db_end(const struct series_db *db, const struct series_source *source)
{
    const struct place *place = directory_find(&db->directory, source);
    uint64_t end = place ? place->end : 0;

    for (size_t i = 0; place && i < place->parts.len; i++)
        if (place->parts.at[i].memory)
            end = MAX(end, place->parts.at[i].memory->end);
    return end;
}

int series_db_drop(struct series_db *db, int64_t experiment, int64_t trial, struct err *err)
{
    if (db->mode != SERIES_WRITE)
        return err_set(err, EROFS, "%s was opened for reading", db->folder);
    int r = make_room(db, err);
    if (r < 0)
        return r;
    struct layer *layer = db_active(db);
    wal_put_drop(&db->log.buffer, experiment, trial);
    memory_drop(layer->memory, experiment, trial);
    directory_drop(&db->directory, experiment, trial, layer->first);
    db->merge_due = true;
    return 0;
}

int series_db_refresh(struct series_db *db, struct err *err)
{
    if (db->mode == SERIES_WRITE) {
        db_workers_look(db);
        return 0;
    }
    if (db->dir_fd < 0) {
        int r = open_folder(db, err);
        if (r < 0 || db->dir_fd < 0)
            return r;
    }
    return db_load(db, err);
}
