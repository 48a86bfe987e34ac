/* SPDX-License-Identifier: MIT */
/*
 * v1_folder.c — openat2() with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS: the kernel sees to it that
 * no name leads out of the folder, whatever the program put there meanwhile.
 */
#include "api/v1_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH_MAX   16
#define CHECKPOINTS "checkpoints"
#define STATE       "state" /* of an attempt: exec/state_file.h */

static int open_beneath(int folder, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

/* The path is ours; what lies there must be a folder and no link. */
static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct folder_trial *found = arg;

    found->number = row->trial.number;
    found->attempts = row->trial.attempts;
    return 0;
}

int folder_find(struct web_call *call, struct folder_trial *ret, struct err *err)
{
    int64_t number;
    int r = web_trial_ref(call, 0, &ret->experiment, &number, err);
    struct trial_query query = {.experiment = ret->experiment, .number = number, .bare = true};

    ret->number = ret->attempts = 0;
    if (r == 0)
        r = store_trials(call->store, &query, on_trial, ret, err);
    if (r == 0 && !ret->number)
        r = err_set(err, ENOENT, "experiment %lld has no trial %lld", (long long)ret->experiment,
                    (long long)number);
    return r;
}

/* ---- listing ---- */

struct listing {
    folder_fn *fn;
    void *arg;
    size_t n;
    bool attempt; /* the folder of an attempt is being listed: its state is left out */
};

static int visible(const struct dirent *entry)
{
    return !str_eq(entry->d_name, ".") && !str_eq(entry->d_name, "..");
}

static void list_folder(struct listing *listing, int fd, struct str *path, int depth);

/* `path` names it, and is as it was afterwards. */
static void list_entry(struct listing *listing, int folder, const char *name, struct str *path,
                       int depth)
{
    struct stat st;
    size_t before = path->len;

    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    str_addf(path, "/%s", name);
    if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
        autoclose int fd = open_beneath(folder, name, O_DIRECTORY);
        if (fd >= 0)
            list_folder(listing, fd, path, depth + 1);
    } else if (S_ISREG(st.st_mode) && listing->n++ < FOLDER_FILES) {
        struct folder_file file = {path->s, (uint64_t)st.st_size,
                                   (int64_t)st.st_mtim.tv_sec * 1000000 +
                                       st.st_mtim.tv_nsec / 1000};
        listing->fn(&file, listing->arg);
    }
    str_cut(path, before);
}

static void list_folder(struct listing *listing, int fd, struct str *path, int depth)
{
    struct dirent **entries = NULL;
    int n = scandirat(fd, ".", &entries, visible, alphasort);

    for (int i = 0; i < n; i++) {
        bool own = depth == 0 && listing->attempt && str_eq(entries[i]->d_name, STATE);
        if (!own && listing->n <= FOLDER_FILES)
            list_entry(listing, fd, entries[i]->d_name, path, depth);
        free(entries[i]);
    }
    free(entries);
}

static void list_top(struct listing *listing, const char *dir, const char *name)
{
    autorelease(str) struct str path = STR_INIT;
    autoclose int fd = open_folder(dir);

    if (fd < 0)
        return;
    str_add(&path, name);
    list_folder(listing, fd, &path, 0);
}

bool folder_list(const char *home, const struct folder_trial *trial, folder_fn *fn, void *arg)
{
    struct listing listing = {.fn = fn, .arg = arg, .attempt = true};

    for (int64_t i = 1; i <= trial->attempts && listing.n <= FOLDER_FILES; i++) {
        autofree(mem) char *dir = attempt_dir(home, trial->experiment, trial->number, i);
        autofree(mem) char *name = xasprintf("%lld", (long long)i);
        list_top(&listing, dir, name);
    }
    autofree(mem) char *dir = checkpoint_dir(home, trial->experiment, trial->number);
    listing.attempt = false;
    list_top(&listing, dir, CHECKPOINTS);
    return listing.n > FOLDER_FILES;
}

/* ---- opening ---- */

/* The folder that the first part of the path names; NULL: none of ours. *ret_rest: the others. */
static char *top_of(const char *home, const struct folder_trial *trial, const char *path,
                    const char **ret_rest)
{
    const char *slash = strchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    *ret_rest = slash ? slash + 1 : "";
    if (n == strlen(CHECKPOINTS) && strncmp(path, CHECKPOINTS, n) == 0)
        return checkpoint_dir(home, trial->experiment, trial->number);
    if (!n || n > 9 || strspn(path, "0123456789") != n || path[0] == '0' ||
        str_eq(*ret_rest, STATE))
        return NULL;
    return attempt_dir(home, trial->experiment, trial->number, atoll(path));
}

static int open_regular(const char *dir, const char *path)
{
    struct stat st;
    autoclose int folder = open_folder(dir);
    autoclose int fd = folder < 0 ? -1 : open_beneath(folder, path, 0);

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return -1;
    int ret = fd;
    fd = -1;
    return ret;
}

int folder_open(const char *home, const struct folder_trial *trial, const char *path, int *ret_fd,
                struct err *err)
{
    const char *rest;
    autofree(mem) char *dir = top_of(home, trial, path, &rest);

    *ret_fd = dir && *rest ? open_regular(dir, rest) : -1;
    if (*ret_fd < 0)
        return err_set(err, ENOENT, "trial %lld.%lld has no file '%.200s'",
                       (long long)trial->experiment, (long long)trial->number, path);
    return 0;
}
