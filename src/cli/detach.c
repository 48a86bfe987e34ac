/* SPDX-License-Identifier: MIT */
/*
 * detach.c — one fork, a session of its own, and a pipe that carries the experiment's number.
 */
#include "cli/detach.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The background side ended before it had a number: its exit code is ours, its words are on our
 * standard error still. */
static int failed_code(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : CMD_FAILED;
}

static int wait_for_number(struct cmd_call *call, pid_t pid, int fd)
{
    int64_t id = 0;
    ssize_t n;

    while ((n = read(fd, &id, sizeof(id))) < 0 && errno == EINTR)
        ;
    if (n != (ssize_t)sizeof(id))
        return failed_code(pid);
    if (call->json)
        printf("{\"experiment\":%lld,\"pid\":%d}\n", (long long)id, (int)pid);
    else
        printf("experiment %lld runs in the background (pid %d): 'hone attach %lld' shows it\n",
               (long long)id, (int)pid, (long long)id);
    return CMD_OK;
}

bool detach_fork(struct cmd_call *call, struct detach *ret, int *ret_code)
{
    int pipes[2];

    fflush(NULL);
    if (pipe2(pipes, O_CLOEXEC) < 0) {
        *ret_code = CMD_FAILED;
        return true;
    }
    pid_t pid = fork();
    if (pid != 0) {
        close(pipes[1]);
        *ret_code = pid < 0 ? CMD_FAILED : wait_for_number(call, pid, pipes[0]);
        close(pipes[0]);
        return true;
    }
    close(pipes[0]);
    setsid();
    ret->pipe = pipes[1];
    return false;
}

void detach_ready(struct detach *detach, int64_t experiment)
{
    if (detach->pipe < 0)
        return;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    ssize_t told = write(detach->pipe, &experiment, sizeof(experiment));
    close(detach->pipe);
    detach->pipe = -1;
    if (told < 0) /* nobody waits any more */
        log_debug("nobody waited to hear of experiment %lld", (long long)experiment);
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
}

int detach_say(const struct cmd_call *call, int64_t experiment)
{
    if (call->json)
        printf("{\"experiment\":%lld}\n", (long long)experiment);
    else
        printf("experiment %lld runs at %s: 'hone attach %lld' shows it\n", (long long)experiment,
               call->server, (long long)experiment);
    return CMD_OK;
}
