/* SPDX-License-Identifier: MIT */
/*
 * cgroup_scope.c — a plain user under systemd owns no cgroup after a login by ssh or console. The
 * user's manager gives one on request: a transient scope with Delegate=yes, with us in it.
 *
 * Asked by `busctl`, so that hone needs no D-Bus library. Everything is bounded by two seconds and
 * allowed to fail: then there is simply no cgroup.
 */
#include "exec/cgroup_plan.h"

#include "base/clock.h"
#include "base/fs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SCOPE_WAIT_US (2 * US_PER_S)

extern char **environ;

static void self_read(struct str *to)
{
    str_cut(to, 0);
    fs_read("/proc/self/cgroup", 65536, to, NULL);
}

/* Run it silently; true if it ended well in time. */
static bool run_quietly(char *const argv[])
{
    posix_spawn_file_actions_t files;
    struct pollfd wait = {.events = POLLIN};
    int status = -1, r;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, 0, 1);
    posix_spawn_file_actions_adddup2(&files, 0, 2);
    r = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (r != 0)
        return false;
    wait.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (wait.fd < 0 || poll(&wait, 1, (int)(SCOPE_WAIT_US / 1000)) != 1)
        kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    fd_autoclose(&wait.fd);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool manager_runs(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    autofree(mem) char *path = xasprintf("%s/systemd", runtime ? runtime : "");

    return runtime && fs_is_dir(path);
}

/* The manager answers before it has moved us: wait until the kernel says so. */
static bool scope_ask(struct str *self)
{
    autofree(mem) char *pid = xasprintf("%d", (int)getpid());
    autofree(mem) char *unit = xasprintf("hone-%s.scope", pid);
    char *argv[] = {(char *)"busctl",
                    (char *)"--user",
                    (char *)"--timeout=2",
                    (char *)"call",
                    (char *)"org.freedesktop.systemd1",
                    (char *)"/org/freedesktop/systemd1",
                    (char *)"org.freedesktop.systemd1.Manager",
                    (char *)"StartTransientUnit",
                    (char *)"ssa(sv)a(sa(sv))",
                    unit,
                    (char *)"fail",
                    (char *)"3",
                    (char *)"Delegate",
                    (char *)"b",
                    (char *)"true",
                    (char *)"CollectMode",
                    (char *)"s",
                    (char *)"inactive-or-failed",
                    (char *)"PIDs",
                    (char *)"au",
                    (char *)"1",
                    pid,
                    (char *)"0",
                    NULL};
    int64_t until = clock_mono_us() + SCOPE_WAIT_US;

    if (!run_quietly(argv))
        return false;
    for (self_read(self); !strstr(self->s, unit); self_read(self)) {
        if (clock_mono_us() > until)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return true;
}

void cgroup_plan_init(struct cgroup_plan *plan, const char *root)
{
    autorelease(str) struct str self = STR_INIT;

    self_read(&self);
    cgroup_plan_find(plan, root, self.s);
    if (plan->kind != CGROUP_NONE || getuid() == 0 || !manager_runs() || !scope_ask(&self))
        return;
    cgroup_plan_release(plan);
    cgroup_plan_find(plan, root, self.s);
    plan->delegated = plan->kind != CGROUP_NONE;
}
