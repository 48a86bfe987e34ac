/* SPDX-License-Identifier: MIT */
/*
 * lever_cgroup.c — the folder by which a controller acts on an attempt, found and made ready.
 *
 *     v2   the attempt's own folder, made by its keeper; the controller may have to be passed on by
 *          the two folders above (the home's, and the one that Hone runs in)
 *     v1   a folder of the attempt in that controller's hierarchy, below the cgroup that its keeper
 *          is in: hone-HOME.ATTEMPT. Made when first needed, then the tree moves in; lever_end
 *          removes it
 *
 * v2 goes first: where a controller is in v2, v1 does not have it.
 */
#include "exec/lever_parts.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_CAP (1u << 20)

int folder_put(const char *folder, const char *name, const char *text)
{
    autofree(mem) char *path = xasprintf("%s/%s", folder, name);
    autoclose int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    return fd < 0 ? -errno : fs_write_all(fd, text, strlen(text));
}

int folder_get(const char *folder, const char *name, struct str *to)
{
    autofree(mem) char *path = xasprintf("%s/%s", folder, name);

    return fs_read(path, FILE_CAP, to, NULL);
}

int folder_get_number(const char *folder, const char *name, int64_t *ret)
{
    autorelease(str) struct str text = STR_INIT;
    int r = folder_get(folder, name, &text);
    char *end;

    if (r < 0)
        return r;
    errno = 0;
    *ret = strtoll(text.s, &end, 10);
    return end == text.s || (errno && *ret != INT64_MAX) ? -EINVAL : 0;
}

bool folder_has(const char *folder, const char *name)
{
    autofree(mem) char *path = xasprintf("%s/%s", folder, name);

    return fs_exists(path);
}

bool folder_names(const char *folder, const char *name, const char *word)
{
    autorelease(str) struct str text = STR_INIT;
    size_t n = strlen(word);

    if (folder_get(folder, name, &text) < 0)
        return false;
    for (const char *p = text.s; *p;) {
        size_t len = strcspn(p, " \n");
        if (len == n && strncmp(p, word, n) == 0)
            return true;
        p += len + (p[len] != '\0');
    }
    return false;
}

static char *above(const char *folder)
{
    const char *slash = strrchr(folder, '/');

    return xstrndup(folder, slash && slash > folder ? (size_t)(slash - folder) : 1);
}

/* Where in the controller's v1 hierarchy a process is: "/", "/box/a"; NULL if nowhere. */
static char *v1_path(pid_t pid, const char *controller)
{
    autofree(mem) char *folder = xasprintf("/proc/%d", (int)pid);
    autofree(mem) char *wanted = xasprintf(",%s,", controller);
    autorelease(str) struct str text = STR_INIT;
    char *rest = NULL;

    if (folder_get(folder, "cgroup", &text) < 0)
        return NULL;
    for (char *line = strtok_r(text.s, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        autofree(mem) char *listed =
            path ? xasprintf(",%.*s,", (int)(path - names - 1), names + 1) : NULL;
        if (listed && strstr(listed, wanted))
            return xstrdup(path + 1);
    }
    return NULL;
}

/* The keeper names the folder also when its program could not be put there. */
static bool is_populated(const char *folder)
{
    autorelease(str) struct str text = STR_INIT;

    if (folder_get(folder, "cgroup.events", &text) == 0)
        return strstr(text.s, "populated 1") != NULL;
    return folder_get(folder, "cgroup.procs", &text) == 0 && text.len > 0;
}

static bool v2_find(const struct lever *lever, struct controller *controller)
{
    autofree(mem) char *base = lever->home ? above(lever->home) : NULL;

    if (!base || (lever->kind != CGROUP_V2 && lever->kind != CGROUP_HYBRID))
        return false;
    if (lever->tree && !is_populated(lever->tree))
        return false;
    if (!(lever->tree && folder_has(lever->tree, controller->v2_file)) &&
        !folder_names(lever->home, "cgroup.controllers", controller->name) &&
        !folder_names(base, "cgroup.controllers", controller->name))
        return false;
    controller->version = 2;
    controller->above = xstrdup(lever->home);
    controller->folder = lever->tree ? xstrdup(lever->tree) : NULL;
    return true;
}

/* In a container the path may be one of the host that is not visible; the mount is then where we
 * are. */
static char *v1_own_folder(const struct lever *lever, const char *controller)
{
    autofree(mem) char *path = v1_path(lever->keeper, controller);
    char *folder = xasprintf("%s/%s%s", lever->cgroup_root, controller,
                             path && !str_eq(path, "/") ? path : "");

    if (!fs_is_dir(folder)) {
        free(folder);
        folder = xasprintf("%s/%s", lever->cgroup_root, controller);
    }
    return folder;
}

static bool v1_find(const struct lever *lever, struct controller *controller)
{
    autofree(mem) char *mount = xasprintf("%s/%s", lever->cgroup_root, controller->name);
    autofree(mem) char *own = v1_own_folder(lever, controller->name);

    if (lever->kind == CGROUP_NONE || !folder_has(mount, controller->v1_file) ||
        access(own, W_OK) < 0)
        return false;
    controller->version = 1;
    controller->folder = lever->name ? xasprintf("%s/%s", own, lever->name) : NULL;
    controller->above = TAKE(own);
    return true;
}

static char *explain(const struct lever *lever, const struct controller *controller)
{
    if (lever->kind == CGROUP_NONE)
        return xasprintf("no cgroup may be made here; run Hone as root, or below a systemd user "
                         "session, or in a cgroup that is delegated to you");
    return xasprintf("the controller '%s' is not given to Hone's cgroup; as root, or with "
                     "Delegate=cpu cpuset memory in user@.service, it is",
                     controller->name);
}

bool controller_find(const struct lever *lever, struct controller *controller)
{
    if (v2_find(lever, controller) || v1_find(lever, controller))
        return true;
    controller->why = explain(lever, controller);
    return false;
}

void controller_release(struct controller *controller)
{
    free(controller->folder);
    free(controller->above);
    free(controller->why);
    controller->folder = controller->above = controller->why = NULL;
}

/* From the top down: a folder can pass on only what it was given. */
static int v2_begin(const struct lever *lever, struct controller *controller, struct err *err)
{
    autofree(mem) char *base = above(lever->home);
    autofree(mem) char *plus = xasprintf("+%s", controller->name);
    const char *folders[] = {base, lever->home};
    int r = 0;

    if (folder_has(controller->folder, controller->v2_file))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(folders) && r == 0; i++)
        if (!folder_names(folders[i], "cgroup.subtree_control", controller->name))
            r = folder_put(folders[i], "cgroup.subtree_control", plus);
    if (r == 0 && folder_has(controller->folder, controller->v2_file))
        return 0;
    return err_set(err, ENOTSUP,
                   "the controller '%s' cannot be passed on to %s (%s); start Hone in a cgroup of "
                   "its own: systemd-run --user --scope -p Delegate=yes hone …",
                   controller->name, controller->folder,
                   r < 0 ? strerror(-r) : "it does not appear there");
}

/* A new cpuset takes nobody in before it knows its memory nodes. */
static int v1_fill(const struct controller *controller)
{
    autorelease(str) struct str mems = STR_INIT, now = STR_INIT;

    if (!str_eq(controller->name, "cpuset"))
        return 0;
    if (folder_get(controller->folder, "cpuset.mems", &now) == 0 && now.s[0] >= '0')
        return 0;
    if (folder_get(controller->above, "cpuset.effective_mems", &mems) < 0)
        folder_get(controller->above, "cpuset.mems", &mems);
    return folder_put(controller->folder, "cpuset.mems", mems.s);
}

static int v1_begin(const struct lever *lever, struct controller *controller, struct err *err)
{
    int r;

    if (!fs_is_dir(controller->folder)) {
        r = levers_note_folder(lever->dir, controller->folder, err);
        if (r < 0)
            return r;
        if (mkdir(controller->folder, 0755) < 0 && errno != EEXIST)
            return err_errno(err, errno, "cannot make %s", controller->folder);
    }
    r = v1_fill(controller);
    return r < 0 ? err_errno(err, -r, "cannot fill %s/cpuset.mems", controller->folder) : 0;
}

int controller_begin(const struct lever *lever, struct controller *controller, struct err *err)
{
    if (controller->version == 2)
        return v2_begin(lever, controller, err);
    return v1_begin(lever, controller, err);
}

struct entering {
    const struct lever *lever;
    const struct controller *controller;
};

static int enter(const struct tree_thread *thread, void *arg)
{
    const struct entering *entering = arg;
    autofree(mem) char *path = NULL, *number = NULL;
    const char *last;
    int r;

    if (thread->tid != thread->pid)
        return 0; /* threads go with their process */
    path = v1_path(thread->pid, entering->controller->name);
    last = path ? strrchr(path, '/') : NULL;
    if (last && str_eq(last + 1, entering->lever->name))
        return 0;
    number = xasprintf("%d", (int)thread->pid);
    r = folder_put(entering->controller->folder, "cgroup.procs", number);
    return r < 0 ? r : 1;
}

int controller_enter(const struct lever *lever, struct controller *controller, struct err *err)
{
    struct entering entering = {lever, controller};
    int r = controller->version == 1 ? tree_each(lever, enter, &entering) : 0;

    if (r < 0)
        return err_errno(err, -r, "cannot move the attempt's processes into %s",
                         controller->folder);
    return 0;
}
