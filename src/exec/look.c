/* SPDX-License-Identifier: MIT */
/*
 * look.c — what an attempt's folder says, and a word to its keeper. Works from any process of the
 * same user: whoever adopts needs nothing but the folder.
 */
#include "exec/state.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_TRIES 100 /* × 1 ms: from a keeper's lock to its record it takes less than one */

static int look_once(int fd, struct attempt_look *ret)
{
    char bytes[STATE_FILE_SIZE];
    bool locked = fs_locked(fd); /* before reading: a record written meanwhile is then seen */
    ssize_t n = pread(fd, bytes, sizeof(bytes), 0);

    if (n < 0)
        return -errno;
    state_judge(bytes, (size_t)n, locked, ret);
    return 0;
}

/* The program has damaged its state file. The lock, which it cannot touch, names its holder. */
static void keeper_from_lock(int fd, struct keeper_record *ret)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK || lock.l_pid <= 0)
        return;
    *ret = (struct keeper_record){.keeper_pid = lock.l_pid};
    ret->keeper_start_ticks = process_start(lock.l_pid, NULL);
    boot_id_read(ret->boot_id);
    ret->magic = ret->keeper_start_ticks ? KEEPER_MAGIC : 0;
}

int exec_look(const char *dir, struct attempt_look *ret, struct err *err)
{
    autoclose int fd = state_open(dir, O_RDONLY, err);
    struct stat st;

    *ret = (struct attempt_look){.life = LIFE_NONE};
    if (fd == -ENOENT || fd == -ELOOP || fd == -ENXIO) {
        err_release(err);
        return 0;
    }
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) /* ours is gone: the program put it there */
        return 0;
    for (int i = 0; i < LOOK_TRIES; i++) {
        int r = look_once(fd, ret);
        if (r < 0)
            return err_errno(err, -r, "cannot read %s/state", dir);
        if (ret->life != LIFE_ALIVE || ret->keeper.magic)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (ret->life == LIFE_ALIVE && !ret->keeper.magic)
        keeper_from_lock(fd, &ret->keeper);
    return 0;
}

static bool same_boot(const struct keeper_record *keeper)
{
    char boot_id[BOOT_ID_SIZE];

    boot_id_read(boot_id);
    return str_eq(boot_id, keeper->boot_id);
}

int exec_watch(const struct attempt_look *look, int *ret_pidfd)
{
    int fd;

    if (!look->keeper.magic || !same_boot(&look->keeper))
        return -ESRCH;
    fd = process_open(look->keeper.keeper_pid, look->keeper.keeper_start_ticks);
    if (fd < 0)
        return fd;
    *ret_pidfd = fd;
    return 0;
}

static int request_write(const char *dir, bool kill, int64_t grace_us, struct err *err)
{
    struct stop_request request;
    autoclose int fd = state_open(dir, O_RDWR, err);
    int64_t grace_ms = grace_us < 0 ? 0 : grace_us / 1000;

    if (fd < 0)
        return fd;
    memset(&request, 0, sizeof(request));
    request.magic = REQUEST_MAGIC;
    request.cause = kill ? CAUSE_KILL : CAUSE_STOP;
    request.grace_ms = grace_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)grace_ms;
    request.crc = RECORD_CRC(&request);
    if (pwrite(fd, &request, sizeof(request), STATE_REQUEST_AT) != (ssize_t)sizeof(request))
        return err_errno(err, errno, "cannot write %s/state", dir);
    return 0;
}

/* Wake the keeper: a request lies in the file. */
static int keeper_wake(const char *dir, struct err *err)
{
    struct attempt_look look;
    autoclose int pidfd = -1;
    int r = exec_look(dir, &look, err);

    if (r < 0)
        return r;
    if (look.life == LIFE_ENDED || look.life == LIFE_NONE) /* NONE: read when the keeper starts */
        return 0;
    r = exec_watch(&look, &pidfd);
    if (r == 0 && syscall(SYS_pidfd_send_signal, pidfd, SIGUSR1, NULL, 0) < 0)
        r = -errno;
    if (r == 0) /* whoever stopped it, it shall hear us */
        syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, NULL, 0);
    if (r == -ESRCH) { /* gone meanwhile: fine if it left its record */
        r = exec_look(dir, &look, err);
        if (r == 0 && look.life != LIFE_ENDED)
            return err_set(err, ESRCH, "the keeper of %s is gone", dir);
        return r;
    }
    return r < 0 ? err_errno(err, -r, "cannot reach the keeper of %s", dir) : 0;
}

int exec_stop(const char *dir, bool kill, int64_t grace_us, struct err *err)
{
    int r = request_write(dir, kill, grace_us, err);

    return r < 0 ? r : keeper_wake(dir, err);
}

/* 1: that turn, or a later one, was asked for already. */
static int turn_write(const char *dir, int64_t turn, struct err *err)
{
    struct turn_request request;
    autoclose int fd = state_open(dir, O_RDWR, err);

    if (fd < 0)
        return fd;
    if (pread(fd, &request, sizeof(request), STATE_ASKED_AT) == (ssize_t)sizeof(request) &&
        turn_request_valid(&request) && request.turn >= turn)
        return 1;
    memset(&request, 0, sizeof(request));
    request.magic = ASKED_MAGIC;
    request.turn = turn;
    request.crc = RECORD_CRC(&request);
    if (pwrite(fd, &request, sizeof(request), STATE_ASKED_AT) != (ssize_t)sizeof(request))
        return err_errno(err, errno, "cannot write %s/state", dir);
    return 0;
}

/* Said again it wakes the keeper again: the one before may have died between writing and waking. */
int exec_pause(const char *dir, int64_t turn, struct err *err)
{
    int r = turn_write(dir, turn, err);

    return r < 0 ? r : keeper_wake(dir, err);
}
