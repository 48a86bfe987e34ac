/* SPDX-License-Identifier: MIT */
/*
 * lever_tree.c — the threads of an attempt, and acting on every one of them.
 *
 * The keeper is the sub-reaper of all that its program starts, so whoever descends from it belongs
 * to the attempt, and nobody else does. Affinity, niceness and cgroups are inherited: once a parent
 * has changed its later children are right from birth, and only those born before, after their
 * parent was listed, are still to be found. Hence passes, until two in a row change nobody; a
 * second one because a listing may miss a child whose sibling ends in that moment.
 *
 * A thread has no descriptor: its number could be given to another between listing and acting. The
 * kernel hands numbers out in a circle, so that would take all the others within a millisecond.
 */
#include "exec/lever_parts.h"

#include "base/fs.h"
#include "exec/state.h"

#include <dirent.h>
#include <errno.h>

#define PASSES     64
#define QUIET      2
#define PID_LIMIT  (1 << 22) /* the kernel's own */
#define LISTING    (1u << 20)
#define THREAD_CAP 65536

/* The processes found; the list is its own queue. */
struct family {
    VEC(pid_t) pids;
    uint8_t *seen; /* a bit for each number */
};

static bool seen_before(uint8_t *seen, pid_t pid)
{
    uint8_t bit = (uint8_t)(1u << (pid & 7));
    bool was;

    if (pid <= 0 || pid >= PID_LIMIT)
        return true;
    was = seen[pid >> 3] & bit;
    seen[pid >> 3] |= bit;
    return was;
}

static void family_add(struct family *family, pid_t pid)
{
    if (!seen_before(family->seen, pid))
        vec_push(&family->pids, pid);
}

/* "12 15 99 "; false if the kernel has no such file. */
static bool add_children(struct family *family, pid_t pid, pid_t tid)
{
    autofree(mem) char *path = xasprintf("/proc/%d/task/%d/children", (int)pid, (int)tid);
    autorelease(str) struct str text = STR_INIT;
    int r = fs_read(path, LISTING, &text, NULL);
    char *end;

    for (char *p = text.s; r == 0; p = end) {
        pid_t child = (pid_t)strtol(p, &end, 10);
        if (end == p)
            break;
        family_add(family, child);
    }
    return r == 0;
}

/* The threads of a process, and the children that each of them has. */
static bool add_threads(struct family *family, pid_t pid, struct tree_threads *to)
{
    autofree(mem) char *path = xasprintf("/proc/%d/task", (int)pid);
    DIR *stream = opendir(path);
    struct dirent *entry;
    bool known = true;

    while (stream && (entry = readdir(stream))) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid <= 0)
            continue;
        if (to && to->list.len < THREAD_CAP)
            vec_push(&to->list, ((struct tree_thread){pid, tid}));
        if (!add_children(family, pid, tid) && process_start(pid, NULL))
            known = false;
    }
    if (stream)
        closedir(stream);
    return known;
}

static pid_t parent_of(pid_t pid)
{
    autofree(mem) char *folder = xasprintf("/proc/%d", (int)pid);
    autorelease(str) struct str text = STR_INIT;
    const char *name_end;
    int parent = 0;

    if (folder_get(folder, "stat", &text) < 0)
        return 0;
    name_end = strrchr(text.s, ')');
    return name_end && sscanf(name_end, ") %*c %d", &parent) == 1 ? parent : 0;
}

static bool is_listed(const struct family *family, pid_t pid)
{
    return pid > 0 && pid < PID_LIMIT && (family->seen[pid >> 3] >> (pid & 7) & 1);
}

/* Kernels without the lists of children: everybody whose parent is one of us, again until nobody
 * is added, since a child may stand before its parent. */
static void add_by_parents(struct family *family)
{
    size_t before;

    do {
        DIR *proc = opendir("/proc");
        struct dirent *entry;
        before = family->pids.len;
        while (proc && (entry = readdir(proc))) {
            pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
            if (pid > 0 && !is_listed(family, pid) && is_listed(family, parent_of(pid)))
                family_add(family, pid);
        }
        if (proc)
            closedir(proc);
    } while (family->pids.len > before);
}

void tree_threads_find(const struct lever *lever, struct tree_threads *ret)
{
    struct family family = {.seen = xcalloc(PID_LIMIT / 8, 1)};

    ret->list.len = 0;
    family_add(&family, lever->keeper);
    for (size_t i = 0; i < family.pids.len; i++) {
        bool known = add_threads(&family, family.pids.at[i], i > 0 ? ret : NULL);
        if (!known && i == 0)
            add_by_parents(&family);
    }
    vec_release(&family.pids);
    free(family.seen);
}

void tree_threads_release(struct tree_threads *threads)
{
    vec_release(&threads->list);
}

/* One pass over those not yet acted on. How many had to be changed, or -errno. */
static int act_on(const struct tree_threads *threads, uint8_t *seen, tree_act_fn *act, void *arg)
{
    int changed = 0;

    vec_foreach (thread, &threads->list) {
        int r;
        if (seen_before(seen, thread->tid))
            continue;
        r = act(thread, arg);
        if (r < 0 && r != -ESRCH)
            return r;
        changed += r > 0;
    }
    return changed;
}

int tree_each(const struct lever *lever, tree_act_fn *act, void *arg)
{
    autorelease(tree_threads) struct tree_threads threads = {0};
    autofree(mem) uint8_t *seen = xcalloc(PID_LIMIT / 8, 1);

    for (int pass = 0, quiet = 0; pass < PASSES; pass++) {
        int r;
        tree_threads_find(lever, &threads);
        if (threads.list.len == 0)
            return -ESRCH;
        r = act_on(&threads, seen, act, arg);
        if (r < 0)
            return r;
        quiet = r > 0 ? 0 : quiet + 1;
        if (quiet == QUIET)
            return 0;
    }
    return -EAGAIN;
}
