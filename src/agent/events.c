/* SPDX-License-Identifier: MIT */
/*
 * events.c — event files to the spool.
 *
 *     logs/                 run "": tags as they are
 *     logs/train/events…    run "train": train/loss
 *
 * A look is one stat for each folder and each file. A folder is listed again only when its time of
 * change is another, or so fresh that more may have come in the same tick of the file system's
 * clock. Links to folders are not followed.
 *
 * Whose is a file? One that was born before the attempt is an old run's. In the attempt's own
 * folder all others are its own. Elsewhere several attempts may write beside each other: then the
 * process id in the name tells, by the environment of that process. A writer that puts no id there
 * (tensorboardX) can be told only when nobody else is there.
 *
 * Invariants: what stands in the spool before its last `#` line is whole; files[i].at bytes of a
 * file are in the spool or in `pending`. While something is pending, nothing more is read.
 */
#include "agent/events.h"

#include "base/fs.h"
#include "base/log.h"
#include "exec/exec.h"
#include "metrics/events.h"
#include "metrics/line_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPOOL       "events"
#define TURN_BYTES  (256 << 10) /* of one file at one look: the loop must go round */
#define CHUNK_BYTES (64 << 10)
#define FILES_MAX   1000
#define FOLDERS_MAX 1000
#define DEPTH_MAX   16
#define FRESH_NS    100000000LL /* a folder changed less than this ago may change unseen */
#define ENVIRON_MAX (256 << 10)
#define NS_PER_S    1000000000LL

enum owner { OWNER_UNKNOWN, OWNER_OURS, OWNER_OTHER };

struct event_file {
    char *path; /* below the folder */
    struct event_tail *tail;
    struct events *reader; /* NULL: not ours, or nothing read yet */
    uint64_t base;         /* where the reader began */
    int64_t at;            /* bytes read */
    bool ignored, told;
};
struct event_folder {
    char *path; /* below the root; "" is the root */
    int depth;
    int64_t mtime_ns; /* when it was listed; 0: not yet, or list it again */
};
struct event_tail {
    char *dir, *root, *attempt_id;
    bool own, shared; /* the folder is the attempt's; others write there too */
    bool warned;
    bool ready;       /* the spool has been looked at */
    int64_t start_ns; /* of the attempt; 0: not known yet */
    struct str pending;
    VEC(struct event_file *) files;
    VEC(struct event_folder) folders;
};

struct event_tail *event_tail_new(const struct event_place *place)
{
    struct event_tail *tail = xcalloc(1, sizeof(*tail));
    size_t n = strlen(place->dir);

    tail->dir = xstrdup(place->dir);
    tail->attempt_id = xstrdup(place->attempt_id ? place->attempt_id : "");
    tail->root = *place->folder == '/' ? xstrdup(place->folder)
                                       : xasprintf("%s/%s", place->cwd, place->folder);
    tail->own = strncmp(tail->root, place->dir, n) == 0 && tail->root[n] == '/';
    tail->pending = (struct str)STR_INIT;
    struct event_folder root = {.path = xstrdup("")};
    vec_push(&tail->folders, root);
    return tail;
}

void event_tail_free(struct event_tail *tail)
{
    vec_foreach (file, &tail->files) {
        if ((*file)->reader)
            events_free((*file)->reader);
        free((*file)->path);
        free(*file);
    }
    vec_foreach (folder, &tail->folders)
        free(folder->path);
    vec_release(&tail->files);
    vec_release(&tail->folders);
    str_release(&tail->pending);
    free(tail->dir);
    free(tail->root);
    free(tail->attempt_id);
    free(tail);
}

void event_tail_share(struct event_tail *tail)
{
    tail->shared = !tail->own;
}

const char *event_tail_folder(const struct event_tail *tail)
{
    return tail->root;
}

static int64_t time_ns(struct timespec time)
{
    return time.tv_sec * NS_PER_S + time.tv_nsec;
}

static char *path_below(const struct event_tail *tail, const char *path)
{
    return *path ? xasprintf("%s/%s", tail->root, path) : xstrdup(tail->root);
}

/* ---- the spool ---- */

static struct event_file *file_find(const struct event_tail *tail, const char *path)
{
    vec_foreach (file, &tail->files)
        if (str_eq((*file)->path, path))
            return *file;
    return NULL;
}

static struct event_file *file_add(struct event_tail *tail, const char *path)
{
    struct event_file *file = xcalloc(1, sizeof(*file));

    file->path = xstrdup(path);
    file->tail = tail;
    vec_push(&tail->files, file);
    return file;
}

/* `#END PATH`: an earlier agent, or we, have had so much of it. */
static void take_mark(struct event_tail *tail, char *line)
{
    char *rest;
    long long end = strtoll(line + 1, &rest, 10);

    if (rest == line + 1 || *rest != ' ' || end < 0)
        return;
    struct event_file *file = file_find(tail, rest + 1);
    if (!file)
        file = file_add(tail, rest + 1);
    file->at = end;
    file->base = (uint64_t)end;
}

/* Returns how many bytes of the spool end with a mark. */
static int64_t take_marks(struct event_tail *tail, FILE *spool)
{
    int64_t at = 0, whole = 0;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    while ((n = getline(&line, &cap, spool)) > 0) {
        at += n;
        if (*line != '#' || line[n - 1] != '\n')
            continue;
        line[n - 1] = '\0';
        take_mark(tail, line);
        whole = at;
    }
    free(line);
    return whole;
}

/* What an agent before us has written; a batch that broke off is cut, nobody has read it. */
static void spool_begin(struct event_tail *tail)
{
    autofree(mem) char *path = xasprintf("%s/" SPOOL, tail->dir);
    FILE *spool = fopen(path, "r+e");

    tail->ready = true;
    if (!spool)
        return;
    int64_t whole = take_marks(tail, spool);
    if (ftruncate(fileno(spool), (off_t)whole) < 0)
        log_warn("%s: its broken end cannot be cut: %s", path, strerror(errno));
    fclose(spool);
}

/* All of what is pending, or nothing: a disk that is full is waited out. */
static bool spool_flush(struct event_tail *tail)
{
    autofree(mem) char *path = xasprintf("%s/" SPOOL, tail->dir);
    struct stat st;

    if (!tail->pending.len)
        return true;
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    int r = fs_write_all(fd, tail->pending.s, tail->pending.len);
    if (r < 0 && ftruncate(fd, st.st_size) < 0)
        log_warn("%s: a broken line cannot be cut: %s", path, strerror(errno));
    if (r >= 0)
        str_cut(&tail->pending, 0);
    return r >= 0;
}

/* ---- whose a file is ---- */

/* When the attempt began: its parameters were written just before. */
static int64_t start_of(const struct event_tail *tail)
{
    autofree(mem) char *path = xasprintf("%s/params.json", tail->dir);
    struct stat st;

    return stat(path, &st) < 0 ? 0 : time_ns(st.st_mtim);
}

/* By the file system's own clock where it keeps births, else by the second in the name. */
static bool is_older(const struct event_tail *tail, const char *full, const char *name)
{
    struct statx stx;
    int64_t second, pid;

    if (statx(AT_FDCWD, full, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &stx) == 0 &&
        stx.stx_mask & STATX_BTIME)
        return stx.stx_btime.tv_sec * NS_PER_S + stx.stx_btime.tv_nsec < tail->start_ns;
    events_file_origin(name, &second, &pid);
    return second && second < tail->start_ns / NS_PER_S;
}

static enum owner owner_by_environment(const struct event_tail *tail, int64_t pid)
{
    static const char key[] = "HONE_ATTEMPT_ID=";
    autofree(mem) char *path = xasprintf("/proc/%lld/environ", (long long)pid);
    autorelease(str) struct str text = STR_INIT;

    if (fs_read(path, ENVIRON_MAX, &text, NULL) < 0)
        return OWNER_UNKNOWN;
    for (const char *pair = text.s; pair < text.s + text.len; pair += strlen(pair) + 1)
        if (str_starts(pair, key))
            return str_eq(pair + sizeof(key) - 1, tail->attempt_id) ? OWNER_OURS : OWNER_OTHER;
    return OWNER_UNKNOWN;
}

static enum owner owner_of(const struct event_tail *tail, const char *name)
{
    autorelease(err) struct err err = ERR_INIT;
    struct attempt_look look;
    int64_t second, pid;

    events_file_origin(name, &second, &pid);
    if (tail->own)
        return OWNER_OURS;
    if (!pid)
        return OWNER_UNKNOWN;
    if (exec_look(tail->dir, &look, &err) == 0 && look.keeper.magic &&
        look.keeper.program_pid == pid)
        return OWNER_OURS;
    return owner_by_environment(tail, pid);
}

static bool is_ours(struct event_tail *tail, const char *full, const char *name)
{
    if (is_older(tail, full, name))
        return false;
    enum owner owner = owner_of(tail, name);
    if (owner == OWNER_UNKNOWN && tail->shared && !tail->warned) {
        log_warn("%s may be of another trial, and is not read: say 'workdir: trial', so that each "
                 "writes to a folder of its own",
                 full);
        tail->warned = true;
    }
    return owner == OWNER_OURS || (owner == OWNER_UNKNOWN && !tail->shared);
}

/* ---- looking for files ---- */

static void take_folder(struct event_tail *tail, const char *path, int depth)
{
    vec_foreach (folder, &tail->folders)
        if (str_eq(folder->path, path))
            return;
    struct event_folder folder = {.path = xstrdup(path), .depth = depth};
    if (depth < DEPTH_MAX && tail->folders.len < FOLDERS_MAX)
        vec_push(&tail->folders, folder);
    else
        free(folder.path);
}

static void take_entry(struct event_tail *tail, const char *parent, int depth, const char *name)
{
    autofree(mem) char *path = *parent ? xasprintf("%s/%s", parent, name) : xstrdup(name);
    autofree(mem) char *full = path_below(tail, path);
    struct stat st;

    if (lstat(full, &st) < 0 || strpbrk(name, "\r\n"))
        return;
    if (S_ISDIR(st.st_mode))
        take_folder(tail, path, depth + 1);
    if (!S_ISREG(st.st_mode) || !events_file_name(name) || file_find(tail, path) ||
        tail->files.len >= FILES_MAX)
        return;
    struct event_file *file = file_add(tail, path);
    file->ignored = !is_ours(tail, full, name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The i-th folder: the list may grow meanwhile. */
static void list_folder(struct event_tail *tail, size_t i, int64_t now_us)
{
    autofree(mem) char *full = path_below(tail, tail->folders.at[i].path);
    struct dirent **entries = NULL;
    struct stat st;

    if (stat(full, &st) < 0 || !S_ISDIR(st.st_mode))
        return;
    int64_t mtime_ns = time_ns(st.st_mtim);
    if (mtime_ns == tail->folders.at[i].mtime_ns)
        return;
    int n = scandir(full, &entries, visible, by_name);
    for (int k = 0; k < n; k++) {
        take_entry(tail, tail->folders.at[i].path, tail->folders.at[i].depth, entries[k]->d_name);
        free(entries[k]);
    }
    free(entries);
    tail->folders.at[i].mtime_ns = n >= 0 && mtime_ns < now_us * 1000 - FRESH_NS ? mtime_ns : 0;
}

/* ---- reading them ---- */

static void on_sample(const struct sample *sample, void *arg)
{
    struct event_file *file = arg;
    line_write(&file->tail->pending, sample);
}

static struct events *reader_of(struct event_file *file)
{
    struct events_sink sink = {.on_sample = on_sample, .arg = file};
    const char *slash = strrchr(file->path, '/');

    if (!file->reader) {
        autofree(mem) char *run = xstrndup(file->path, slash ? (size_t)(slash - file->path) : 0);
        file->reader = events_new(run, &sink);
    }
    return file->reader;
}

static void warn_of(struct event_file *file)
{
    const struct events_counts *counts = events_counts(file->reader);

    if (file->told || (!counts->stopped && !counts->bad_records))
        return;
    file->told = true;
    log_warn("%s/%s: %s", file->tail->root, file->path,
             counts->stopped ? "a length in it is damaged: the rest is not read"
                             : "a damaged record is passed over");
}

/* True if there is more. */
static bool read_events(struct event_file *file, int fd, int64_t size)
{
    static char bytes[CHUNK_BYTES]; /* the agent has one thread */
    struct event_tail *tail = file->tail;
    struct events *reader = reader_of(file);
    uint64_t before = events_end(reader);
    ssize_t n = 1;

    for (int64_t passed = 0; n > 0 && file->at < size && passed < TURN_BYTES; passed += n) {
        n = pread(fd, bytes, (size_t)MIN(size - file->at, CHUNK_BYTES), file->at);
        if (n > 0) {
            events_feed(reader, bytes, (size_t)n);
            file->at += n;
        }
    }
    warn_of(file);
    file->ignored = events_counts(reader)->stopped;
    unsigned long long end = file->base + events_end(reader);
    if (events_end(reader) != before)
        str_addf(&tail->pending, "#%llu %s\n", end, file->path);
    return n > 0 && file->at < size && !file->ignored;
}

static bool read_file(struct event_file *file)
{
    autofree(mem) char *full = path_below(file->tail, file->path);
    struct stat st;

    if (file->ignored || stat(full, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= file->at)
        return false;
    autoclose int fd = open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return fd >= 0 && read_events(file, fd, st.st_size);
}

bool event_tail_read(struct event_tail *tail, int64_t now_us)
{
    bool more = false;

    if (!tail->ready)
        spool_begin(tail);
    if (!tail->start_ns)
        tail->start_ns = start_of(tail);
    if (!tail->start_ns || !spool_flush(tail))
        return false;
    for (size_t i = 0; i < tail->folders.len; i++)
        list_folder(tail, i, now_us);
    vec_foreach (file, &tail->files)
        more |= read_file(*file);
    return spool_flush(tail) && more;
}
