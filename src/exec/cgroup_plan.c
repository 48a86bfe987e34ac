/* SPDX-License-Identifier: MIT */
/*
 * cgroup_plan.c — find out how trees can be held and limited on this machine.
 *
 *     mounted                      we use                                  kind
 *     v2 at the root               v2 folder, memory.max if delegated      V2
 *     v2 at root/unified, v1       v2 for the tree, v1 memory for limits   HYBRID
 *     v1 only                      freezer for the tree, v1 memory         V1
 *     nothing writable             the keeper walks /proc and sums memory  NONE
 *
 * New folders go below the cgroup that we are in ourselves, so every limit set on us holds for the
 * attempts too. v2 lets a cgroup pass on controllers only when no process sits in it: if we are
 * alone there, we move into a leaf of our own.
 */
#include "exec/cgroup_plan.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool file_has(const char *folder, const char *name)
{
    autofree(mem) char *path = xasprintf("%s/%s", folder, name);

    return access(path, F_OK) == 0;
}

static int file_put(const char *folder, const char *name, const char *text)
{
    autofree(mem) char *path = xasprintf("%s/%s", folder, name);
    autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd < 0 ? -errno : fs_write_all(fd, text, strlen(text));
}

/* Is `word` in the file, between spaces or line ends? */
static bool file_names(const char *folder, const char *name, const char *word)
{
    autofree(mem) char *path = xasprintf("%s/%s", folder, name);
    autorelease(str) struct str text = STR_INIT;
    size_t n = strlen(word);

    if (fs_read(path, 65536, &text, NULL) < 0)
        return false;
    for (const char *p = text.s; *p;) {
        size_t len = strcspn(p, " \n");
        if (len == n && strncmp(p, word, n) == 0)
            return true;
        p += len + (p[len] != '\0');
    }
    return false;
}

/* The path after "N:…,controller,…:" in /proc/self/cgroup; "" is v2 ("0::/…"). NULL if absent. */
static char *self_path(const char *self, const char *controller)
{
    for (const char *line = self; *line;) {
        size_t len = strcspn(line, "\n");
        const char *names = memchr(line, ':', len);
        const char *path = names ? memchr(names + 1, ':', len - (size_t)(names + 1 - line)) : NULL;
        for (const char *p = names ? names + 1 : NULL; path && p <= path;) {
            size_t n = strcspn(p, ",:");
            if (n == strlen(controller) && strncmp(p, controller, n) == 0)
                return xstrndup(path + 1, len - (size_t)(path + 1 - line));
            p += n + 1;
        }
        line += len + (line[len] != '\0');
    }
    return NULL;
}

/* Our own folder in the hierarchy mounted at `mount`. In containers the path may be one of the
 * host that is not visible; the mount is then where we are. */
static char *own_folder(const char *mount, const char *self, const char *controller)
{
    autofree(mem) char *path = self_path(self, controller);
    char *folder = xasprintf("%s%s", mount, path && !str_eq(path, "/") ? path : "");

    if (!fs_is_dir(folder)) {
        free(folder);
        folder = xstrdup(mount);
    }
    return folder;
}

/* The honest test: make a folder. One that a killed process left, or that another makes just now,
 * does as well: being able to remove it tells the same. */
static int folder_usable(const char *folder)
{
    autofree(mem) char *probe = xasprintf("%s/hone-probe", folder);

    if (mkdir(probe, 0755) < 0 && errno != EEXIST)
        return -errno;
    return rmdir(probe) < 0 && errno != ENOENT ? -errno : 0;
}

static bool alone_in(const char *folder)
{
    autofree(mem) char *path = xasprintf("%s/cgroup.procs", folder);
    autofree(mem) char *me = xasprintf("%d\n", (int)getpid());
    autorelease(str) struct str text = STR_INIT;

    return fs_read(path, 65536, &text, NULL) == 0 && str_eq(text.s, me);
}

/* Let the folders below have memory limits. */
static bool pass_on_memory(const char *folder)
{
    autofree(mem) char *leaf = xasprintf("%s/hone-engine", folder);
    autofree(mem) char *me = xasprintf("%d", (int)getpid());

    if (!file_names(folder, "cgroup.controllers", "memory"))
        return false;
    if (file_names(folder, "cgroup.subtree_control", "memory") ||
        file_put(folder, "cgroup.subtree_control", "+memory") == 0)
        return true;
    if (!alone_in(folder) || (mkdir(leaf, 0755) < 0 && errno != EEXIST) ||
        file_put(leaf, "cgroup.procs", me) < 0)
        return false;
    return file_put(folder, "cgroup.subtree_control", "+memory") == 0;
}

/* v2: we must be able to make folders and to put processes in from where we are. */
static char *find_v2(const char *mount, const char *self, int *ret_reason)
{
    autofree(mem) char *folder = own_folder(mount, self, "");
    autofree(mem) char *procs = xasprintf("%s/cgroup.procs", folder);

    if (!file_has(mount, "cgroup.controllers"))
        return NULL;
    *ret_reason = folder_usable(folder);
    if (*ret_reason == 0 && access(procs, W_OK) < 0)
        *ret_reason = -errno;
    return *ret_reason == 0 ? TAKE(folder) : NULL;
}

static char *find_v1(const char *root, const char *self, const char *controller, const char *proof)
{
    autofree(mem) char *mount = xasprintf("%s/%s", root, controller);
    autofree(mem) char *folder = own_folder(mount, self, controller);

    if (!file_has(mount, proof) || folder_usable(folder) < 0)
        return NULL;
    return TAKE(folder);
}

static char *explain(const struct cgroup_plan *plan, int reason)
{
    const char *memory =
        plan->limits_memory ? "the kernel limits memory" : "the keeper sums memory once a second";

    switch (plan->kind) {
    case CGROUP_V2:
        return xasprintf("cgroup v2 at %s; %s", plan->tree, memory);
    case CGROUP_HYBRID:
        return xasprintf("cgroup v2 at %s for process trees, v1 at %s for limits; %s", plan->tree,
                         plan->memory, memory);
    case CGROUP_V1:
        return xasprintf("cgroup v1 at %s; %s", plan->tree, memory);
    case CGROUP_NONE:
        break;
    }
    return xasprintf("no cgroup (%s): process trees are followed by /proc, %s",
                     reason ? strerror(-reason) : "none is mounted", memory);
}

void cgroup_plan_find(struct cgroup_plan *plan, const char *root, const char *self)
{
    autofree(mem) char *unified = xasprintf("%s/unified", root);
    bool pure = file_has(root, "cgroup.controllers");
    int reason = 0;

    *plan = (struct cgroup_plan){.kind = CGROUP_NONE};
    plan->tree = find_v2(pure ? root : unified, self, &reason);
    if (!pure)
        plan->memory = find_v1(root, self, "memory", "memory.limit_in_bytes");
    if (plan->tree) {
        plan->kind = plan->memory ? CGROUP_HYBRID : CGROUP_V2;
        plan->limits_memory = plan->memory || pass_on_memory(plan->tree);
    } else if (!pure) {
        plan->tree = find_v1(root, self, "freezer", "cgroup.procs");
        plan->kind = plan->tree ? CGROUP_V1 : CGROUP_NONE;
        plan->limits_memory = plan->tree && plan->memory;
    }
    if (plan->kind == CGROUP_NONE) {
        free(plan->memory);
        plan->memory = NULL;
    }
    plan->why = explain(plan, reason);
}

void cgroup_plan_release(struct cgroup_plan *plan)
{
    free(plan->tree);
    free(plan->memory);
    free(plan->why);
    *plan = (struct cgroup_plan){.kind = CGROUP_NONE};
}

static void home_folder(char **folder, const char *home_id)
{
    char *path;

    if (!*folder)
        return;
    path = xasprintf("%s/hone-%s", *folder, home_id);
    free(*folder);
    *folder = path;
}

/* Keepers make the home's folders when they need them. Only v2 limits want them before: the
 * controller must be passed on. */
void cgroup_plan_begin(struct cgroup_plan *plan, const char *home_id)
{
    home_folder(&plan->tree, home_id);
    home_folder(&plan->memory, home_id);
    if (plan->kind != CGROUP_V2 || !plan->limits_memory)
        return;
    if (mkdir(plan->tree, 0755) < 0 && errno != EEXIST)
        plan->limits_memory = false;
    plan->limits_memory = plan->limits_memory && pass_on_memory(plan->tree);
}

void cgroup_plan_end(struct cgroup_plan *plan)
{
    if (plan->tree)
        rmdir(plan->tree);
    if (plan->memory)
        rmdir(plan->memory);
}
