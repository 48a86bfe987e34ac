/* SPDX-License-Identifier: MIT */
/*
 * cgroup.c — the attempt's folders: `cgroup` holds the tree (v2, or v1 freezer), `cgroup_limits`
 * its memory (v1). The keeper itself stays outside: what kills the attempt must not kill it.
 *
 * All of this may fail (a plain user, an old kernel, a full hierarchy); then the attempt runs
 * without, the tree is walked and its memory summed.
 */
#include "exec/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#define PATH_SIZE    512
#define REMOVE_TRIES 100 /* × 2 ms */

struct entry { /* as getdents64 gives it */
    uint64_t ino;
    int64_t off;
    uint16_t len;
    uint8_t type;
    char name[];
};

static void path_make(char path[PATH_SIZE], const char *folder, const char *name)
{
    path[0] = '\0';
    text_add(path, PATH_SIZE, folder);
    text_add(path, PATH_SIZE, "/");
    text_add(path, PATH_SIZE, name);
}

static int folder_write(const char *folder, const char *name, const char *text)
{
    char path[PATH_SIZE];

    path_make(path, folder, name);
    return file_write(path, text);
}

static void parent_of(char parent[PATH_SIZE], const char *path)
{
    size_t end = 0;

    parent[0] = '\0';
    text_add(parent, PATH_SIZE, path);
    for (size_t i = 0; parent[i]; i++)
        if (parent[i] == '/')
            end = i;
    parent[end] = '\0';
}

static int folder_mkdir(const char *path)
{
    return (int)SYS(SYS_mkdirat, AT_FDCWD, path, 0755);
}

/* Make the folder; its parent, the home's, too if this is the first attempt in it. */
static bool folder_make(const char *path)
{
    char parent[PATH_SIZE];
    int r = folder_mkdir(path);

    if (r == -ENOENT) {
        parent_of(parent, path);
        folder_mkdir(parent);
        r = folder_mkdir(path);
    }
    return r == 0 || r == -EEXIST;
}

static bool limit_v1(const char *folder, const char *bytes)
{
    if (!folder_make(folder) || folder_write(folder, "memory.limit_in_bytes", bytes) < 0)
        return false;
    folder_write(folder, "memory.memsw.limit_in_bytes", bytes); /* absent without swap accounting */
    return true;
}

static bool limit_v2(const char *folder, const char *bytes)
{
    if (folder_write(folder, "memory.max", bytes) < 0)
        return false;
    folder_write(folder, "memory.swap.max", "0");
    folder_write(folder, "memory.oom.group", "1");
    return true;
}

void cgroup_make(struct keeper *k)
{
    char bytes[24] = "";

    if (k->record.cgroup[0] && !folder_make(k->record.cgroup))
        k->record.cgroup[0] = '\0';
    text_add_number(bytes, sizeof(bytes), k->memory_bytes);
    if (!k->memory_bytes)
        k->record.cgroup_limits[0] = '\0';
    else if (k->record.cgroup_limits[0])
        k->kernel_limits = limit_v1(k->record.cgroup_limits, bytes);
    else if (k->record.cgroup[0] && (k->flags & LAUNCH_FLAG_TREE_LIMITS))
        k->kernel_limits = limit_v2(k->record.cgroup, bytes);
}

void cgroup_enter(struct keeper *k, bool tree_too)
{
    if (tree_too)
        k->in_tree =
            k->record.cgroup[0] && folder_write(k->record.cgroup, "cgroup.procs", "0") == 0;
    if (!k->kernel_limits)
        return;
    if (k->record.cgroup_limits[0])
        k->kernel_limits = folder_write(k->record.cgroup_limits, "cgroup.procs", "0") == 0;
    else
        k->kernel_limits = k->in_tree;
}

void cgroup_kill(struct keeper *k)
{
    const char *tree = k->record.cgroup;
    bool killed = false;

    if (k->in_tree && k->kind == CGROUP_V1)
        folder_write(tree, "freezer.state", "FROZEN");
    else if (k->in_tree)
        killed = folder_write(tree, "cgroup.kill", "1") == 0;
    /* From the second round on also those that left the cgroup. */
    if (!killed || k->kill_rounds > 0)
        tree_kill();
    if (k->in_tree && k->kind == CGROUP_V1)
        folder_write(tree, "freezer.state", "THAWED");
}

bool cgroup_freeze(struct keeper *k, bool freeze)
{
    const char *tree = k->record.cgroup;

    if (!k->in_tree)
        return false;
    if (k->kind == CGROUP_V1)
        return folder_write(tree, "freezer.state", freeze ? "FROZEN" : "THAWED") == 0;
    return folder_write(tree, "cgroup.freeze", freeze ? "1" : "0") == 0;
}

/* v1 answers FREEZING until the last one stands still. */
bool cgroup_is_frozen(const struct keeper *k)
{
    bool v1 = k->kind == CGROUP_V1;
    char path[PATH_SIZE], text[256];

    path_make(path, k->record.cgroup, v1 ? "freezer.state" : "cgroup.events");
    if (file_read(path, text, sizeof(text)) <= 0)
        return false;
    return text_find(text, v1 ? "FROZEN" : "frozen 1") != NULL;
}

static void each_folder(const char *path, void (*each)(const char *path, int *sum), int *sum)
{
    char listing[1024], below[PATH_SIZE];
    int fd = sys_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long n;

    if (fd < 0)
        return;
    while ((n = SYS(SYS_getdents64, fd, listing, sizeof(listing))) > 0) {
        for (long at = 0; at < n;) {
            const struct entry *entry = (const void *)(listing + at);
            at += entry->len;
            if (entry->type != 4 /* DT_DIR */ || entry->name[0] == '.')
                continue;
            if (strlen(path) + 1 + strlen(entry->name) >= PATH_SIZE)
                continue; /* cut short it would name another folder */
            path_make(below, path, entry->name);
            each(below, sum);
        }
    }
    sys_close(fd);
}

/* v1 counts where it happened, so the folders that the program made count too; v2 sums itself. */
static void add_oom_kills(const char *folder, int *sum)
{
    char path[PATH_SIZE], text[1024];
    const char *at;

    path_make(path, folder, "memory.events");
    if (file_read(path, text, sizeof(text)) < 0) {
        path_make(path, folder, "memory.oom_control");
        file_read(path, text, sizeof(text));
        each_folder(folder, add_oom_kills, sum);
    }
    at = text_find(text, "oom_kill ");
    if (at)
        *sum += (int)text_number(at + sizeof("oom_kill ") - 1);
}

int cgroup_oom_kills(const struct keeper *k)
{
    int sum = 0;

    if (k->record.cgroup_limits[0])
        add_oom_kills(k->record.cgroup_limits, &sum);
    else if (k->record.cgroup[0] && (k->flags & LAUNCH_FLAG_TREE_LIMITS))
        add_oom_kills(k->record.cgroup, &sum);
    return sum;
}

static int folder_rmdir(const char *path)
{
    return (int)SYS(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

static void remove_below(const char *path, int *unused)
{
    each_folder(path, remove_below, unused);
    folder_rmdir(path);
}

/* The last of the dead may need a moment to leave. */
static void folder_remove(const char *path)
{
    struct timespec nap = {0, 2000000};
    int unused = 0;

    for (int i = 0; i < REMOVE_TRIES; i++) {
        int r = folder_rmdir(path);
        if (r != -EBUSY && r != -ENOTEMPTY)
            return;
        each_folder(path, remove_below, &unused);
        if (i > 0)
            SYS(SYS_nanosleep, &nap, NULL);
    }
}

void cgroup_remove(const struct keeper *k)
{
    const char *folders[] = {k->record.cgroup_limits, k->record.cgroup};
    char parent[PATH_SIZE];

    for (int i = 0; i < 2; i++) {
        if (!folders[i][0])
            continue;
        folder_remove(folders[i]);
        parent_of(parent, folders[i]);
        /* An orphan removes the home's folder too: the engine that adopts it may read the exit
         * record, end, and find the folder still in use before we are done. Asked only now, since
         * the parent may have died meanwhile. It fails while others are in it. */
        if (k->parent == 1 || SYS(SYS_getppid, 0) != k->parent)
            folder_rmdir(parent);
    }
}
