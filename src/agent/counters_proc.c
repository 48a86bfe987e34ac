/* SPDX-License-Identifier: MIT */
/*
 * counters_proc.c — a process tree by /proc: who belongs to it, what it has used.
 *
 * Processor time, faults and I/O of a process that has ended and was waited for are in its parent's
 * figures, so sums over the living are sums over all. The wait for a processor is kept by thread
 * and goes with it: growth is added thread by thread, and only what a thread waited after the last
 * look before its end is lost. A process that is gone when its file is opened is left out; one
 * that may not be looked at makes the figure missing, since a part would be taken for the whole.
 */
#include "agent/counters_parts.h"

#include "base/fs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#define FILE_CAP      (1 << 20)
#define MAX_PROCESSES 65536
#define LIST_BYTES    4096

/* 0, -ESRCH if the process is gone, another -errno if it may not be read. */
static int read_of(const struct process_tree *tree, pid_t pid, const char *file, struct str *text)
{
    autofree(mem) char *path = xasprintf("%s/%d/%s", tree->proc, (int)pid, file);
    int r = fs_read(path, FILE_CAP, text, NULL);

    return r == -ENOENT ? -ESRCH : r;
}

/* ---- who belongs to it ---- */

/* The numbers that are names in a folder, in any order. */
static size_t list_numbers(const char *dir, pid_t **ret)
{
    VEC(pid_t) numbers = {0};
    DIR *folder = opendir(dir);

    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        long number = isdigit((unsigned char)entry->d_name[0]) ? atol(entry->d_name) : 0;
        if (number > 0 && number <= INT32_MAX)
            vec_push(&numbers, (pid_t)number);
    }
    if (folder)
        closedir(folder);
    *ret = numbers.at;
    return numbers.len;
}

/* The name may have anything in it: fields begin behind the last ')'. NULL if there is none. */
static const char *fields_of(const struct str *stat)
{
    const char *name_end = strrchr(stat->s, ')');

    return name_end && name_end[1] == ' ' ? name_end + 2 : NULL;
}

struct kin {
    pid_t pid, parent;
};

static int by_parent(const void *a, const void *b)
{
    const struct kin *x = a, *y = b;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* All processes with their parents, sorted by parent. */
static size_t list_kin(const struct process_tree *tree, struct kin **ret)
{
    autofree(mem) pid_t *pids = NULL;
    size_t n = list_numbers(tree->proc, &pids), n_kin = 0;
    struct kin *kin = xcalloc(n + 1, sizeof(*kin));

    for (size_t i = 0; i < n; i++) {
        autorelease(str) struct str stat = STR_INIT;
        const char *fields;
        int parent;
        if (read_of(tree, pids[i], "stat", &stat) == 0 && (fields = fields_of(&stat)) &&
            sscanf(fields, "%*c %d", &parent) == 1)
            kin[n_kin++] = (struct kin){pids[i], parent};
    }
    qsort(kin, n_kin, sizeof(*kin), by_parent);
    *ret = kin;
    return n_kin;
}

/* Index of the first with that parent, or the count. */
static size_t first_child(const struct kin *kin, size_t n, pid_t parent)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (kin[mid].parent < parent)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* When the root started, in ticks since boot: a number may be given to another later. 0: gone. */
static unsigned long long root_start(const struct process_tree *tree)
{
    autorelease(str) struct str stat = STR_INIT;
    const char *fields = read_of(tree, tree->root, "stat", &stat) == 0 ? fields_of(&stat) : NULL;
    unsigned long long start = 0;

    for (int skip = 22 - 3; fields && skip > 0; skip--) {
        fields = strchr(fields, ' ');
        fields = fields ? fields + 1 : NULL;
    }
    if (fields)
        start = strtoull(fields, NULL, 10);
    return start;
}

static size_t threads_of(const struct process_tree *tree, pid_t pid, pid_t **ret)
{
    autofree(mem) char *dir = xasprintf("%s/%d/task", tree->proc, (int)pid);

    return list_numbers(dir, ret);
}

/* A thread, by its process's folder of threads. */
struct thread {
    pid_t pid, tid;
    int folder;
};
typedef void thread_fn(struct process_tree *tree, const struct thread *thread, void *arg);

/* There may be hundreds, every second: their files are opened from the folder, which spares the
 * kernel the way to it. */
static void for_threads(struct process_tree *tree, pid_t pid, thread_fn *fn, void *arg)
{
    autofree(mem) char *dir = xasprintf("%s/%d/task", tree->proc, (int)pid);
    DIR *folder = opendir(dir);

    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct thread thread = {pid, (pid_t)atol(entry->d_name), dirfd(folder)};
        if (isdigit((unsigned char)entry->d_name[0]) && thread.tid > 0)
            fn(tree, &thread, arg);
    }
    if (folder)
        closedir(folder);
}

/* The beginning of a thread's file as a text: its length, or -errno. */
static ssize_t read_thread(const struct thread *thread, const char *file, char *ret, size_t size)
{
    char path[64];
    ssize_t n;

    snprintf(path, sizeof(path), "%d/%s", (int)thread->tid, file);
    autoclose int fd = openat(thread->folder, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    do
        n = read(fd, ret, size - 1);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    ret[n] = '\0';
    return n;
}

static void join(struct process_tree *tree, pid_t pid)
{
    /* Each has one parent, so only the root could come twice, in a list not of one moment. */
    if (pid > 0 && pid != tree->root && tree->pids.len < MAX_PROCESSES)
        vec_push(&tree->pids, pid);
}

/* "17 18 19 ": what one thread has started. */
static void join_list(struct process_tree *tree, const char *list)
{
    char *end;

    for (long child; child = strtol(list, &end, 10), end != list; list = end)
        join(tree, (pid_t)child);
}

static int join_children(struct process_tree *tree, pid_t pid, pid_t tid)
{
    autofree(mem) char *file = xasprintf("task/%d/children", (int)tid);
    autorelease(str) struct str text = STR_INIT;
    int r = read_of(tree, pid, file, &text);

    if (r == 0)
        join_list(tree, text.s);
    return r;
}

static void join_children_of(struct process_tree *tree, const struct thread *thread,
                             void *arg UNUSED)
{
    char list[LIST_BYTES];
    ssize_t n = read_thread(thread, "children", list, sizeof(list));

    if (n >= LIST_BYTES / 2) /* there may be more of it */
        join_children(tree, thread->pid, thread->tid);
    else if (n > 0)
        join_list(tree, list);
}

/* From parents to children, which costs the tree only. False if this kernel does not tell. */
static bool look_down(struct process_tree *tree)
{
    if (join_children(tree, tree->root, tree->root) < 0)
        return false;
    tree->pids.len = 1;
    for (size_t next = 0; next < tree->pids.len; next++) {
        pid_t pid = tree->pids.at[next];
        for_threads(tree, pid, join_children_of, NULL);
    }
    return true;
}

/* Everybody is asked for his parent. */
static void look_around(struct process_tree *tree)
{
    autofree(mem) struct kin *kin = NULL;
    size_t n = list_kin(tree, &kin);

    for (size_t next = 0; next < tree->pids.len; next++) {
        pid_t parent = tree->pids.at[next];
        for (size_t i = first_child(kin, n, parent); i < n && kin[i].parent == parent; i++)
            join(tree, kin[i].pid);
    }
}

int process_tree_look(struct process_tree *tree)
{
    unsigned long long start = root_start(tree);

    tree->pids.len = 0;
    if (start == 0 || (tree->root_start && tree->root_start != start))
        return -ESRCH;
    tree->root_start = start;
    vec_push(&tree->pids, tree->root);
    if (!look_down(tree))
        look_around(tree);
    return 0;
}

void process_tree_release(struct process_tree *tree)
{
    vec_release(&tree->pids);
    vec_release(&tree->waits.threads);
}

size_t process_tree_threads(const struct process_tree *tree, pid_t **ret)
{
    VEC(pid_t) threads = {0};

    vec_foreach (pid, &tree->pids) {
        autofree(mem) pid_t *tids = NULL;
        size_t n = threads_of(tree, *pid, &tids);
        for (size_t i = 0; i < n; i++)
            vec_push(&threads, tids[i]);
    }
    *ret = threads.at;
    return threads.len;
}

/* ---- what it has used ---- */

struct usage {
    double user, system, major_faults, threads, resident;
};

/* /proc/PID/stat behind the name: state is field 3, utime 14. */
static bool add_stat(const char *fields, struct usage *sum)
{
    unsigned long long major, child_major, user, system, child_user, child_system;
    long threads, pages;
    double ticks = (double)sysconf(_SC_CLK_TCK);

    if (sscanf(fields,
               "%*c %*d %*d %*d %*d %*d %*u %*u %*u %llu %llu %llu %llu %llu %llu %*d %*d %ld %*d "
               "%*u %*u %ld",
               &major, &child_major, &user, &system, &child_user, &child_system, &threads,
               &pages) != 8)
        return false;
    sum->user += (double)(user + child_user) / ticks;
    sum->system += (double)(system + child_system) / ticks;
    sum->major_faults += (double)(major + child_major);
    sum->threads += (double)threads;
    sum->resident += (double)pages * (double)sysconf(_SC_PAGESIZE);
    return true;
}

static void read_stat(const struct process_tree *tree, double *ret)
{
    struct usage sum = {0};

    vec_foreach (pid, &tree->pids) {
        autorelease(str) struct str stat = STR_INIT;
        int r = read_of(tree, *pid, "stat", &stat);
        if (r == -ESRCH)
            continue;
        const char *fields = r < 0 ? NULL : fields_of(&stat);
        if (!fields || !add_stat(fields, &sum))
            return;
    }
    ret[COUNTER_CPU_USER] = sum.user;
    ret[COUNTER_CPU_SYSTEM] = sum.system;
    ret[COUNTER_MAJOR_FAULTS] = sum.major_faults;
    ret[COUNTER_THREADS] = sum.threads;
    ret[COUNTER_RESIDENT] = sum.resident;
}

static const struct {
    const char *key;
    enum counter counter;
} io_rows[] = {
    {"rchar: ", COUNTER_READ_CHARS},      {"wchar: ", COUNTER_WRITE_CHARS},
    {"syscr: ", COUNTER_READ_CALLS},      {"syscw: ", COUNTER_WRITE_CALLS},
    {"read_bytes: ", COUNTER_READ_BYTES}, {"write_bytes: ", COUNTER_WRITE_BYTES},
};

/* A line's number, NaN if it is not there. "cancelled_write_bytes: " is no "write_bytes: ". */
static double line_value(const char *text, const char *key)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *number = line + strlen(key);
        if (str_starts(line, key) && isdigit((unsigned char)*number))
            return strtod(number, NULL);
    }
    return NAN;
}

/* The whole process, not only one file of it. */
static bool gone(const struct process_tree *tree, pid_t pid)
{
    autofree(mem) char *path = xasprintf("%s/%d", tree->proc, (int)pid);

    return !fs_exists(path);
}

static void read_io(const struct process_tree *tree, double *ret)
{
    double sums[ARRAY_LEN(io_rows)] = {0};

    vec_foreach (pid, &tree->pids) {
        autorelease(str) struct str text = STR_INIT;
        int r = read_of(tree, *pid, "io", &text);
        if (r == -ESRCH && gone(tree, *pid))
            continue;
        for (size_t i = 0; i < ARRAY_LEN(io_rows); i++)
            sums[i] += r < 0 ? NAN : line_value(text.s, io_rows[i].key);
    }
    for (size_t i = 0; i < ARRAY_LEN(io_rows); i++)
        ret[io_rows[i].counter] = sums[i];
}

/* ---- waiting for a processor ---- */

static int by_tid(const void *a, const void *b)
{
    const struct thread_wait *x = a, *y = b;

    return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Since the last look; all of it if it is new, or the number of one that ended. */
static uint64_t growth(uint64_t before, uint64_t now)
{
    return before <= now ? now - before : now;
}

static void add_wait(struct process_tree *tree, const struct thread_wait *now)
{
    const struct thread_wait *last =
        tree->waits.threads.len
            ? bsearch(now, tree->waits.threads.at, tree->waits.threads.len, sizeof(*now), by_tid)
            : NULL;

    tree->wait_ns += growth(last ? last->wait_ns : 0, now->wait_ns);
    tree->switches += growth(last ? last->switches : 0, now->switches);
}

/* Of one thread; nothing if the kernel does not tell, or it is gone. */
static void read_wait(struct process_tree *tree, const struct thread *thread, void *arg)
{
    struct waits *waits = arg;
    char text[128];
    unsigned long long wait_ns, switches = 0;

    if (read_thread(thread, "schedstat", text, sizeof(text)) <= 0 ||
        sscanf(text, "%*u %llu %llu", &wait_ns, &switches) < 1)
        return;
    struct thread_wait now = {thread->tid, wait_ns, switches};
    add_wait(tree, &now);
    vec_push(&waits->threads, now);
}

static void read_waits(struct process_tree *tree, double *ret)
{
    struct waits waits = {0};

    vec_foreach (pid, &tree->pids)
        for_threads(tree, *pid, read_wait, &waits);
    if (waits.threads.len)
        qsort(waits.threads.at, waits.threads.len, sizeof(*waits.threads.at), by_tid);
    vec_release(&tree->waits.threads);
    tree->waits = waits;
    if (waits.threads.len)
        ret[COUNTER_RUN_WAIT] = (double)tree->wait_ns / 1e9;
}

void process_tree_read_processes(const struct process_tree *tree, double *ret)
{
    read_stat(tree, ret);
    read_io(tree, ret);
}

void process_tree_read(struct process_tree *tree, double *ret)
{
    process_tree_read_processes(tree, ret);
    read_waits(tree, ret);
}
