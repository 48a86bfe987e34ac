/* SPDX-License-Identifier: MIT */
/*
 * db_files.c — the folder: which files count, and what is read of them.
 *
 * A new file is there before the ones that it replaces are gone; so after a crash a log or segment
 * whose numbers lie inside another segment's is old. A reader that meets a folder in the middle of
 * such a change looks again.
 */
#include "series/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKS_MOST 1000 /* a writer would have to change the folder at each of them */
#define NOTES_MOST 200

void db_note_fn(const char *sentence, void *arg)
{
    struct series_db *db = arg;

    if (db->notes.len > NOTES_MOST)
        return;
    for (size_t i = 0; i + 1 < db->notes.len; i++)
        if (str_eq(db->notes.at[i], sentence))
            return;
    if (db->notes.len)
        db->notes.len--; /* the NULL */
    vec_push(&db->notes, xstrdup(sentence));
    vec_push(&db->notes, NULL);
}

void db_note(struct series_db *db, const char *fmt, ...)
{
    autorelease(str) struct str text = STR_INIT;
    va_list ap;

    va_start(ap, fmt);
    str_addv(&text, fmt, ap);
    va_end(ap);
    db_note_fn(text.s, db);
}

/* ---- the list ---- */
void db_files_release(struct db_files *files)
{
    vec_release(&files->files);
    vec_release(&files->old);
}

static bool parse_number(const char **p, uint64_t *ret)
{
    char *end = NULL;

    if (**p < '0' || **p > '9')
        return false;
    errno = 0;
    *ret = strtoull(*p, &end, 10);
    bool ok = end - *p >= 8 && errno == 0 && *ret > 0 && *ret < UINT32_MAX;
    *p = end;
    return ok;
}

static bool parse_name(const char *name, struct db_file *ret)
{
    const char *p = name;

    if (strlen(name) >= SEAL_NAME_SIZE || !parse_number(&p, &ret->first))
        return false;
    ret->last = ret->first;
    if (*p == '-') {
        p++;
        if (!parse_number(&p, &ret->last) || ret->last < ret->first)
            return false;
    }
    snprintf(ret->name, sizeof(ret->name), "%s", name);
    ret->wal = str_eq(p, ".wal");
    return ret->wal ? ret->first == ret->last : str_eq(p, ".seg");
}

static int by_first(const void *a, const void *b)
{
    const struct db_file *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->last != y->last)
        return x->last > y->last ? -1 : 1; /* the wider one first */
    return x->wal - y->wal;
}

static int read_folder(int dir_fd, struct db_files *ret)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    struct db_file file;

    if (!dir) {
        int r = -errno;
        fd_autoclose(&fd);
        return r;
    }
    ret->files.len = ret->old.len = 0;
    while ((entry = readdir(dir))) {
        size_t n = strlen(entry->d_name);
        if (parse_name(entry->d_name, &file)) {
            vec_push(&ret->files, file);
        } else if (n > 8 && n < SEAL_NAME_SIZE && str_eq(entry->d_name + n - 8, ".seg.new")) {
            snprintf(file.name, sizeof(file.name), "%s", entry->d_name);
            vec_push(&ret->old, file);
        }
    }
    closedir(dir);
    if (ret->files.len)
        qsort(ret->files.at, ret->files.len, sizeof(*ret->files.at), by_first);
    return 0;
}

static bool same_files(const struct db_files *a, const struct db_files *b)
{
    if (a->files.len != b->files.len)
        return false;
    for (size_t i = 0; i < a->files.len; i++)
        if (!str_eq(a->files.at[i].name, b->files.at[i].name))
            return false;
    return true;
}

static void set_old_aside(struct db_files *files)
{
    size_t kept = 0;

    vec_foreach (file, &files->files) {
        if (kept && file->last <= files->files.at[kept - 1].last)
            vec_push(&files->old, *file);
        else
            files->files.at[kept++] = *file;
    }
    files->files.len = kept;
}

/* A file may be renamed into the folder behind the place that is being read, and another one vanish
 * before it: two equal looks are one moment. */
int db_files_list(int dir_fd, struct db_files *ret)
{
    struct db_files before = {0};
    int r = read_folder(dir_fd, &before);

    for (int i = 0; r == 0 && i < LOOKS_MOST; i++) {
        r = read_folder(dir_fd, ret);
        if (r < 0 || same_files(&before, ret))
            break;
        struct db_files swap = before;
        before = *ret;
        *ret = swap;
    }
    db_files_release(&before);
    set_old_aside(ret);
    return r;
}

/* ---- layers ---- */
struct layer *layer_new(uint64_t first, uint64_t last)
{
    struct layer *layer = xcalloc(1, sizeof(*layer));

    layer->first = first;
    layer->last = last;
    layer->fd = -1;
    return layer;
}

void layer_free(struct layer *layer)
{
    if (layer->memory)
        memory_free(layer->memory);
    if (layer->segment)
        segment_free(layer->segment);
    fd_autoclose(&layer->fd);
    free(layer);
}

void db_layer_insert(struct series_db *db, struct layer *layer)
{
    size_t at = db->layers.len;

    vec_push(&db->layers, layer);
    for (; at > 0 && db->layers.at[at - 1]->first > layer->first; at--)
        db->layers.at[at] = db->layers.at[at - 1];
    db->layers.at[at] = layer;
    db->number = MAX(db->number, layer->last);
    db->merge_due |= layer->segment != NULL;
    directory_add(&db->directory, layer);
}

void db_layer_remove(struct series_db *db, struct layer *layer)
{
    for (size_t i = 0; i < db->layers.len; i++)
        if (db->layers.at[i] == layer) {
            vec_remove(&db->layers, i);
            break;
        }
    /* A reader does not know why a file is gone: its rows may have been dropped. */
    directory_remove(&db->directory, layer, db->mode == SERIES_WRITE);
    layer_free(layer);
}

/* ---- a log ---- */
static int read_from(int fd, uint64_t from, struct str *to)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    if ((uint64_t)st.st_size <= from)
        return 0;
    str_reserve(to, (size_t)st.st_size - from);
    while (to->len < (uint64_t)st.st_size - from) {
        ssize_t n = pread(fd, to->s + to->len, (size_t)st.st_size - from - to->len,
                          (off_t)(from + to->len));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        to->len += (size_t)n;
    }
    return 0;
}

/* What a record brought must be found by its source, and what it dropped must not. */
static void show_news(struct series_db *db, struct layer *layer, size_t sources, size_t drops)
{
    struct memory *memory = layer->memory;

    for (; drops < memory->drops.len; drops++)
        directory_drop(&db->directory, memory->drops.at[drops].experiment,
                       memory->drops.at[drops].trial, layer->first);
    for (; sources < memory->sources.len; sources++)
        directory_add_memory(&db->directory, layer, memory->sources.at[sources]);
}

static int replay(struct series_db *db, struct layer *layer, const char *name,
                  const struct str *bytes, struct err *err)
{
    struct memory *memory = layer->memory;
    size_t at = 0, sources = memory->sources.len, drops = memory->drops.len;
    struct wal_record record;
    int r = 0;

    while (r == 0 && wal_next((const unsigned char *)bytes->s, bytes->len, at, &record)) {
        unsigned long long damaged_at = layer->read_to + at, record_at = layer->read_to + record.at;
        if (record.at > at)
            db_note(db, "%s/%s: %zu bytes at %llu are damaged and left out", db->folder, name,
                    record.at - at, damaged_at);
        r = memory_replay(memory, &db->intern, &record, err);
        if (r == -EBADMSG) {
            db_note(db, "%s/%s: at %llu %s; left out", db->folder, name, record_at, err_text(err));
            err_release(err);
            r = 0;
        }
        at = record.end;
    }
    layer->read_to += at;
    show_news(db, layer, sources, drops);
    return r < 0 ? err_context(err, "%s/%s", db->folder, name) : 0;
}

static int load_log(struct series_db *db, struct layer *layer, const char *name, struct err *err)
{
    autoclose int fd = openat(db->dir_fd, name, O_RDONLY | O_CLOEXEC);
    autorelease(str) struct str bytes = STR_INIT;
    struct err local = ERR_INIT;

    if (fd < 0)
        return err_errno(err, errno, "cannot open %s/%s", db->folder, name);
    int r = read_from(fd, layer->read_to, &bytes);
    if (r < 0)
        return err_errno(err, -r, "cannot read %s/%s", db->folder, name);
    r = replay(db, layer, name, &bytes, err ? err : &local);
    err_release(&local);
    return r;
}

/* ---- the folder and the layers ---- */
struct layer *db_layer_find(const struct series_db *db, const struct db_file *file)
{
    vec_foreach (layer, &db->layers)
        if ((*layer)->first == file->first && (*layer)->last == file->last &&
            !(*layer)->memory == !file->wal)
            return *layer;
    return NULL;
}

static int load_segment(struct series_db *db, const struct db_file *file, struct err *err)
{
    struct segment *segment = NULL;
    int r = segment_open(db->dir_fd, db->folder, file->name, &db->intern, db_note_fn, db, &segment,
                         err);
    if (r < 0)
        return r;
    struct layer *layer = layer_new(file->first, file->last);
    layer->segment = segment;
    db_layer_insert(db, layer);
    return 0;
}

/* A segment whose index can no longer be read: it is made anew from its blocks. */
void db_reopen_lost(struct series_db *db)
{
    for (size_t i = 0; i < db->layers.len; i++) {
        struct layer *layer = db->layers.at[i];
        char name[SEAL_NAME_SIZE];
        struct segment *segment = NULL;
        if (!layer->segment || !segment_index_lost(layer->segment))
            continue;
        seal_name(name, layer->first, layer->last);
        if (segment_open(db->dir_fd, db->folder, name, &db->intern, db_note_fn, db, &segment,
                         NULL) < 0)
            continue;
        struct layer *fresh = layer_new(layer->first, layer->last);
        fresh->segment = segment;
        db_layer_remove(db, layer);
        db_layer_insert(db, fresh);
    }
}

/* A segment that a writer wrote anew, without what was dropped, has its name still: whoever reads
 * on in the old one holds its room. */
static bool is_replaced(const struct series_db *db, const struct layer *layer,
                        const struct db_file *file)
{
    struct stat st;

    return db->mode == SERIES_READ && layer->segment &&
           fstatat(db->dir_fd, file->name, &st, 0) == 0 && st.st_ino != layer->segment->inode;
}

static int load_file(struct series_db *db, const struct db_file *file, struct err *err)
{
    struct layer *layer = db_layer_find(db, file);

    db->number = MAX(db->number, file->last);
    if (!file->wal) {
        if (layer && is_replaced(db, layer, file)) {
            db_layer_remove(db, layer);
            layer = NULL;
        }
        return layer ? 0 : load_segment(db, file, err);
    }
    if (!layer) {
        layer = layer_new(file->first, file->last);
        layer->memory = memory_new(file->first, &db->intern);
        db_layer_insert(db, layer);
    }
    return load_log(db, layer, file->name, err);
}

static void forget_gone(struct series_db *db, const struct db_files *files)
{
    for (size_t i = db->layers.len; i-- > 0;) {
        struct layer *layer = db->layers.at[i];
        bool there = false;
        vec_foreach (file, &files->files)
            there |= db_layer_find(db, file) == layer;
        if (!there)
            db_layer_remove(db, layer);
    }
}

/* 0, or -EAGAIN: a file vanished meanwhile. */
static int load_all(struct series_db *db, const struct db_files *files, struct err *err)
{
    forget_gone(db, files);
    db_reopen_lost(db);
    db->left_out.len = 0;
    vec_foreach (file, &files->files) {
        struct err why = ERR_INIT;
        int r = load_file(db, file, &why);
        if (r == -EBADMSG) {
            db_note(db, "%s; it is left out", err_text(&why));
            vec_push(&db->left_out, file->first);
        } else if (r < 0 && r != -ENOENT)
            r = err_set(err, -r, "%s", err_text(&why));
        err_release(&why);
        if (r == -ENOENT)
            return -EAGAIN;
        if (r < 0 && r != -EBADMSG)
            return r;
    }
    return 0;
}

static void remove_old(struct series_db *db, const struct db_files *files)
{
    vec_foreach (file, &files->old)
        unlinkat(db->dir_fd, file->name, 0);
}

int db_load(struct series_db *db, struct err *err)
{
    struct db_files files = {0};
    int r = -EAGAIN;

    for (int i = 0; r == -EAGAIN && i < LOOKS_MOST; i++) {
        r = db_files_list(db->dir_fd, &files);
        if (r < 0)
            r = err_errno(err, -r, "cannot read %s", db->folder);
        else
            r = load_all(db, &files, err);
    }
    if (r == 0 && db->mode == SERIES_WRITE)
        remove_old(db, &files);
    db_files_release(&files);
    return r == -EAGAIN ? err_set(err, EAGAIN, "%s changes all the time", db->folder) : r;
}
