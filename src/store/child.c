/* SPDX-License-Identifier: MIT */
/*
 * child.c — posix_spawn, a pipe, a deadline. The child leads a group of its own, so that what it
 * started ends with it.
 */
#include "store/child.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static int spawn(const struct child *child, int output, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, all;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addchdir_np(&actions, child->dir);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    int code = posix_spawnp(ret_pid, child->argv[0], &actions, &attr, (char *const *)child->argv,
                            (char *const *)child->envp);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return -code;
}

/* Until its end, the deadline or the cap. */
static int read_all(const struct child *child, int fd, struct str *to)
{
    size_t start = to->len;
    for (;;) {
        int64_t left_us = child->deadline_us - clock_mono_us();
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (left_us <= 0)
            return -ETIMEDOUT;
        if (poll(&ready, 1, (int)(left_us / 1000 + 1)) <= 0)
            continue;
        str_reserve(to, 65536);
        ssize_t n = read(fd, to->s + to->len, 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        to->len += (size_t)n;
        to->s[to->len] = '\0';
        if (to->len - start > child->cap)
            return -EFBIG;
    }
}

/* Its status. It has closed its output, so it ends at once or is made to. */
static int reap(const struct child *child, pid_t pid)
{
    int status;
    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
        if (got < 0 && errno != EINTR)
            return -errno;
        if (clock_mono_us() >= child->deadline_us)
            kill(-pid, SIGKILL);
        poll(NULL, 0, 1);
    }
}

int child_ask(const struct child *child, struct str *to)
{
    int fds[2];
    pid_t pid;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    int r = spawn(child, fds[1], &pid);
    close(fds[1]);
    if (r < 0) {
        close(fds[0]);
        return r;
    }
    r = read_all(child, fds[0], to);
    close(fds[0]);
    if (r < 0)
        kill(-pid, SIGKILL);
    int status = reap(child, pid);
    return r < 0 ? r : status;
}
