/* SPDX-License-Identifier: MIT */
/*
 * exec.c — start keepers. Cheap, since this bounds the trials a second: posix_spawn (flat in our
 * size), the launch as plain arguments, the keeper from memory.
 *
 * Invariant: every descriptor here closes at exec; a keeper gets /dev/null thrice and nothing else.
 */
#include "exec/exec.h"

#include "exec/cgroup_plan.h"
#include "exec/keeper_image.h"
#include "exec/launch_args.h"
#include "exec/state.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct exec {
    struct cgroup_plan cgroups;
    char boot_id[BOOT_ID_SIZE];
    int null_fd, image_fd;
    uint64_t files; /* RLIMIT_NOFILE of this process when it began; 0: not known */
    bool image_in_file;
};

int exec_new(const char *home_id, struct exec **ret, struct err *err)
{
    autofree(exec) struct exec *exec = xcalloc(1, sizeof(*exec));
    struct rlimit files;
    int r;

    exec->image_fd = -1;
    exec->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (exec->null_fd < 0)
        return err_errno(err, errno, "cannot open /dev/null");
    r = keeper_image_in_memory(&exec->image_fd, err);
    if (r < 0)
        return r;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        exec->files = files.rlim_cur;
    boot_id_read(exec->boot_id);
    cgroup_plan_init(&exec->cgroups, "/sys/fs/cgroup");
    cgroup_plan_begin(&exec->cgroups, home_id);
    *ret = TAKE(exec);
    return 0;
}

void exec_free(struct exec *exec)
{
    cgroup_plan_end(&exec->cgroups);
    cgroup_plan_release(&exec->cgroups);
    fd_autoclose(&exec->null_fd);
    fd_autoclose(&exec->image_fd);
    free(exec);
}

const struct cgroup_plan *exec_cgroups(const struct exec *exec)
{
    return &exec->cgroups;
}

static const char *env_get(char *const *envp, const char *name)
{
    size_t n = strlen(name);

    for (; *envp; envp++)
        if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
            return *envp + n + 1;
    return NULL;
}

/* One candidate, seen from cwd. True to go on searching; *ret keeps a file that may not be run,
 * whose error is better than "not found". */
static bool path_try(const char *folder, size_t n, const struct launch *launch, char **ret)
{
    autofree(mem) char *path = NULL;
    struct stat st;

    if (n > 0 && folder[0] == '/')
        path = xasprintf("%.*s/%s", (int)n, folder, launch->argv[0]);
    else
        path =
            xasprintf("%s/%.*s/%s", launch->cwd, n ? (int)n : 1, n ? folder : ".", launch->argv[0]);
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return true;
    bool runs = access(path, X_OK) == 0;
    if (runs || !*ret) {
        free(*ret);
        *ret = TAKE(path);
    }
    return !runs;
}

/* As execvp would, but with the PATH and folder that the program gets. "" if there is none. */
static char *path_search(const struct launch *launch)
{
    const char *path = env_get(launch->envp, "PATH");
    char *found = NULL;

    if (strchr(launch->argv[0], '/') || !launch->argv[0][0])
        return xstrdup(launch->argv[0]); /* as seen from cwd, where the keeper starts it */
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t n = strcspn(path, ":");
        if (!path_try(path, n, launch, &found) || !path[n])
            break;
        path += n + 1;
    }
    return found ? found : xstrdup("");
}

/* The keeper's arguments; numbers live in `numbers`. */
struct keeper_args {
    VEC(char *) argv;
    VEC(char *) envp;
    char *path, *tree, *limits, *attempt_id;
    char numbers[8][24];
};

static void keeper_args_release(struct keeper_args *args)
{
    vec_release(&args->argv);
    vec_release(&args->envp);
    free(args->path);
    free(args->tree);
    free(args->limits);
    free(args->attempt_id);
}

static char *number(char buf[24], uint64_t x)
{
    snprintf(buf, 24, "%llu", (unsigned long long)x);
    return buf;
}

/* The attempt's folder below `parent`; "" if there is none or the state file has no room for it. */
static char *attempt_folder(const char *parent, int64_t attempt)
{
    char *path = parent ? xasprintf("%s/%lld", parent, (long long)attempt) : xstrdup("");

    if (strlen(path) >= sizeof(((struct keeper_record *)0)->cgroup))
        path[0] = '\0';
    return path;
}

static void keeper_args_env(struct keeper_args *args, const struct launch *launch)
{
    for (char *const *p = launch->envp; *p; p++)
        vec_push(&args->envp, *p);
    if (!env_get(launch->envp, "HONE_ATTEMPT_ID")) {
        args->attempt_id = xasprintf("HONE_ATTEMPT_ID=%s", launch->attempt_id);
        vec_push(&args->envp, args->attempt_id);
    }
    vec_push(&args->envp, NULL);
}

static void keeper_args_init(struct keeper_args *args, const struct exec *exec,
                             const struct launch *launch)
{
    const struct cgroup_plan *plan = &exec->cgroups;
    bool tree_limits = plan->limits_memory && !plan->memory;
    unsigned flags =
        (launch->pty ? LAUNCH_FLAG_PTY : 0) | (tree_limits ? LAUNCH_FLAG_TREE_LIMITS : 0);

    args->path = path_search(launch);
    args->tree = attempt_folder(plan->tree, launch->attempt);
    args->limits = attempt_folder(launch->memory_bytes ? plan->memory : NULL, launch->attempt);
    char *const head[LAUNCH_ARGV] = {
        [LAUNCH_NAME] = (char *)"hone-keeper",
        [LAUNCH_ATTEMPT] = number(args->numbers[0], (uint64_t)launch->attempt),
        [LAUNCH_DIR] = (char *)launch->dir,
        [LAUNCH_CWD] = (char *)launch->cwd,
        [LAUNCH_PATH] = args->path,
        [LAUNCH_TIME_LIMIT_US] = number(args->numbers[1], (uint64_t)launch->time_limit_us),
        [LAUNCH_MEMORY_BYTES] = number(args->numbers[2], launch->memory_bytes),
        [LAUNCH_OUTPUT_BYTES] = number(args->numbers[3], launch->output_bytes),
        [LAUNCH_GRACE_US] = number(args->numbers[4], (uint64_t)launch->grace_us),
        [LAUNCH_FILES] = number(args->numbers[7], exec->files),
        [LAUNCH_FLAGS] = number(args->numbers[5], flags),
        [LAUNCH_CGROUP_KIND] = number(args->numbers[6], plan->kind),
        [LAUNCH_TREE] = args->tree,
        [LAUNCH_LIMITS] = args->limits,
        [LAUNCH_BOOT_ID] = (char *)exec->boot_id,
    };
    for (size_t i = 0; i < LAUNCH_ARGV; i++)
        vec_push(&args->argv, head[i]);
    for (char *const *p = launch->argv; *p; p++)
        vec_push(&args->argv, *p);
    vec_push(&args->argv, NULL);
    keeper_args_env(args, launch);
}

/* All signals at their defaults and blocked: from its first instruction nothing surprises it. */
static int keeper_spawn(const struct exec *exec, const struct keeper_args *args, pid_t *ret_pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    char path[40];
    sigset_t all;
    int r;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", exec->image_fd);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_adddup2(&files, exec->null_fd, fd);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    r = posix_spawn(ret_pid, path, &files, &attr, args->argv.at, args->envp.at);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return -r;
}

static int image_move_to_file(struct exec *exec, struct err *err)
{
    int fd = -1, r = keeper_image_in_file(&fd, err);

    if (r < 0)
        return r;
    close(exec->image_fd);
    exec->image_fd = fd;
    exec->image_in_file = true;
    return 0;
}

int exec_start(struct exec *exec, const struct launch *launch, pid_t *ret_pid, int *ret_pidfd,
               struct err *err)
{
    autorelease(keeper_args) struct keeper_args args = {.path = NULL};
    autoclose int spare = fcntl(exec->null_fd, F_DUPFD_CLOEXEC, 3); /* for the pidfd later */
    int r;

    if (spare < 0)
        return err_errno(err, errno, "cannot watch one more keeper");
    r = state_prepare(launch, err);
    if (r < 0)
        return r;
    keeper_args_init(&args, exec, launch);
    r = keeper_spawn(exec, &args, ret_pid);
    if ((r == -EACCES || r == -EPERM) && !exec->image_in_file) {
        r = image_move_to_file(exec, err);
        if (r < 0)
            return r;
        r = keeper_spawn(exec, &args, ret_pid);
    }
    if (r == -E2BIG)
        return err_set(err, E2BIG, "the command and its environment are too long for the kernel");
    if (r < 0)
        return err_errno(err, -r, "cannot start a keeper");
    fd_autoclose(&spare);
    spare = -1;
    *ret_pidfd = (int)syscall(SYS_pidfd_open, *ret_pid, 0);
    if (*ret_pidfd < 0) { /* better no attempt than one nobody watches */
        r = -errno;
        exec_stop(launch->dir, true, 0, NULL);
        waitpid(*ret_pid, NULL, 0);
        return err_errno(err, -r, "cannot watch the keeper");
    }
    return 0;
}
