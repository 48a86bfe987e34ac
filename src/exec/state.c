/* SPDX-License-Identifier: MIT */
/*
 * state.c — making the state file, and judging what one says.
 *
 * The order in state_prepare carries the weight: params.json first, then the control page, whose
 * generation 2 means "this folder is complete". A keeper starts only after that, so a folder that
 * is not complete was never run and may be written again.
 */
#include "exec/state.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void judge(struct attempt_look *look, bool locked)
{
    if (look->exit.magic)
        look->life = LIFE_ENDED;
    else if (locked)
        look->life = LIFE_ALIVE;
    else
        look->life = look->keeper.magic ? LIFE_LOST : LIFE_NONE;
}

void state_judge(const void *bytes, size_t n, bool locked, struct attempt_look *ret)
{
    const char *at = bytes;

    *ret = (struct attempt_look){.life = LIFE_NONE};
    if (n >= STATE_KEEPER_AT + sizeof(ret->keeper))
        memcpy(&ret->keeper, at + STATE_KEEPER_AT, sizeof(ret->keeper));
    if (n >= STATE_TURN_AT + sizeof(ret->turn))
        memcpy(&ret->turn, at + STATE_TURN_AT, sizeof(ret->turn));
    if (n >= STATE_EXIT_AT + sizeof(ret->exit))
        memcpy(&ret->exit, at + STATE_EXIT_AT, sizeof(ret->exit));
    if (!keeper_record_valid(&ret->keeper))
        ret->keeper = (struct keeper_record){.magic = 0};
    if (!turn_record_valid(&ret->turn))
        ret->turn = (struct turn_record){.magic = 0};
    if (!exit_record_valid(&ret->exit))
        ret->exit = (struct exit_record){.magic = 0};
    /* Texts of a valid record end within it, whoever wrote it. */
    ret->keeper.boot_id[sizeof(ret->keeper.boot_id) - 1] = '\0';
    ret->keeper.cgroup[sizeof(ret->keeper.cgroup) - 1] = '\0';
    ret->keeper.cgroup_limits[sizeof(ret->keeper.cgroup_limits) - 1] = '\0';
    judge(ret, locked);
}

int state_open(const char *dir, int flags, struct err *err)
{
    autofree(mem) char *path = xasprintf("%s/state", dir);
    /* The program may have put something else there: a pipe must not make us wait. */
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return err_errno(err, errno, "cannot open %s", path);
    return fd;
}

/* Room for every record from the start: a full disk must not keep a keeper from its last word. */
static int reserve(int fd)
{
    struct stat st;

    if (fallocate(fd, 0, 0, STATE_FILE_SIZE) == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return -errno;
    if (fstat(fd, &st) < 0 || (st.st_size < STATE_FILE_SIZE && ftruncate(fd, STATE_FILE_SIZE) < 0))
        return -errno;
    return 0;
}

static int params_write(int dirfd, const char *json)
{
    autoclose int fd = openat(dirfd, "params.json", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    return fd < 0 ? -errno : fs_write_all(fd, json, strlen(json));
}

static int control_begin(int fd, const char *json)
{
    struct control_page page = {.version = 1, .generation = 2, .length = strlen(json)};
    size_t head = offsetof(struct control_page, json);
    ssize_t n;

    if (page.length > sizeof(page.json))
        return -EMSGSIZE;
    memcpy(page.json, json, page.length);
    n = pwrite(fd, &page, head + page.length, 0);
    if (n < 0)
        return -errno;
    return (size_t)n == head + page.length ? 0 : -EIO;
}

static int folder_open(const char *dir, struct err *err)
{
    int fd = -1, r;

    if (mkdir(dir, 0755) < 0 && errno != EEXIST) {
        r = fs_make_dirs(dir, 0755, err);
        if (r < 0)
            return r;
    }
    fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? err_errno(err, errno, "cannot open the folder %s", dir) : fd;
}

int state_prepare(const struct launch *launch, struct err *err)
{
    uint64_t generation = 0;
    autoclose int dirfd = folder_open(launch->dir, err);
    autoclose int fd = -1;
    int r;

    if (dirfd < 0)
        return dirfd;
    fd = openat(dirfd, "state", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    r = fd < 0 ? -errno : reserve(fd);
    if (r < 0)
        return err_errno(err, -r, "cannot make %s/state", launch->dir);
    if (pread(fd, &generation, sizeof(generation), offsetof(struct control_page, generation)) < 0)
        return err_errno(err, errno, "cannot read %s/state", launch->dir);
    if (generation >= 2)
        return 0;
    r = params_write(dirfd, launch->params_json ? launch->params_json : "{}");
    if (r < 0)
        return err_errno(err, -r, "cannot write %s/params.json", launch->dir);
    const char *control = launch->control_json ? launch->control_json : "{}";
    r = control_begin(fd, control);
    if (r == -EMSGSIZE)
        return err_set(err, EMSGSIZE,
                       "the configuration of %zu bytes is too long for the control page",
                       strlen(control));
    if (r < 0)
        return err_errno(err, -r, "cannot write %s/state", launch->dir);
    return 0;
}

void boot_id_read(char ret[BOOT_ID_SIZE])
{
    autoclose int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, ret, BOOT_ID_SIZE - 1);

    ret[n > 0 ? n : 0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
}

uint64_t process_start(pid_t pid, pid_t *ret_session)
{
    autofree(mem) char *path = xasprintf("/proc/%d/stat", (int)pid);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[1024], *at;
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    unsigned long long start = 0;
    int session = 0;

    text[n > 0 ? n : 0] = '\0';
    at = strrchr(text, ')'); /* the name may hold anything */
    if (!at || sscanf(at,
                      ") %*c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                      "%*d %llu",
                      &session, &start) != 2)
        return 0;
    if (ret_session)
        *ret_session = session;
    return start;
}

/* The descriptor is opened first and the start compared after: then it is that process. */
int process_open(pid_t pid, uint64_t start)
{
    int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

    if (fd < 0)
        return -ESRCH;
    if (process_start(pid, NULL) != start) {
        close(fd);
        return -ESRCH;
    }
    return fd;
}
