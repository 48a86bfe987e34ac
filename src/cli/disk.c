/* SPDX-License-Identifier: MIT */
/*
 * disk.c — sizes of trees, the paths of a trial, living keepers. Whether an attempt lives is asked
 * of its own state file, not of the database, which may be behind.
 */
#include "cli/disk.h"
#include "base/fs.h"
#include "exec/exec.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>

static uint64_t sum; /* nftw() has no argument for the caller; the command line has one thread */

static int add_size(const char *path UNUSED, const struct stat *st, int type,
                    struct FTW *ftw UNUSED)
{
    if (type == FTW_F || type == FTW_SL)
        sum += (uint64_t)st->st_blocks * 512;
    return 0;
}

uint64_t disk_bytes(const char *path)
{
    sum = 0;
    nftw(path, add_size, 32, FTW_PHYS);
    return sum;
}

char *experiment_dir(const char *home, int64_t experiment)
{
    return xasprintf("%s/experiments/%lld", home, (long long)experiment);
}

char **trial_paths(const char *home, int64_t experiment, int64_t trial)
{
    autofree(mem) char *folder = experiment_dir(home, experiment);
    autofree(mem) char *prefix = xasprintf("%lld.", (long long)trial);
    VEC(char *) paths = {0};
    DIR *dir = opendir(folder);

    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (str_starts(entry->d_name, prefix))
            vec_push(&paths, xasprintf("%s/%s", folder, entry->d_name));
    if (dir)
        closedir(dir);
    vec_push(&paths, NULL);
    return paths.at;
}

void disk_paths_free(char **paths)
{
    for (size_t i = 0; paths[i]; i++)
        free(paths[i]);
    free(paths);
}

uint64_t disk_bytes_of(char *const *paths)
{
    uint64_t bytes = 0;
    for (; *paths; paths++)
        bytes += disk_bytes(*paths);
    return bytes;
}

int disk_remove(char *const *paths, struct err *err)
{
    int r = 0;
    for (; *paths && r >= 0; paths++)
        r = fs_remove_tree(*paths, err);
    return r;
}

struct living {
    const char *home;
    int n;
};

static int on_attempt(const struct attempt *attempt, void *arg)
{
    struct living *living = arg;
    struct attempt_look look;
    autofree(mem) char *dir =
        attempt_dir(living->home, attempt->experiment, attempt->trial, attempt->number);

    if (exec_look(dir, &look, NULL) == 0 && look.life == LIFE_ALIVE)
        living->n++;
    return 0;
}

int living_attempts(struct store *store, const char *home, int64_t experiment, int64_t trial)
{
    struct living living = {home, 0};
    store_attempts(store, experiment, trial, true, on_attempt, &living, NULL);
    return living.n;
}
