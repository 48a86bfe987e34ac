/* SPDX-License-Identifier: MIT */
/*
 * sweep.c — end everything that a lost keeper left.
 *
 * Three nets, each of which finds only processes of this attempt: its cgroup (by the folder in the
 * keeper's record), the session of its program (if that very process still lives), and every
 * process whose environment carries HONE_ATTEMPT_ID. Cast again until a whole round catches none.
 * Victims are held by pidfd and looked at again before the signal, so a reused number is safe.
 */
#include "exec/state.h"

#include "base/clock.h"
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SWEEP_US    (10 * US_PER_S)
#define ENVIRON_CAP (8u << 20)
#define WAIT_MS     20

struct sweep {
    const struct keeper_record *keeper;
    char *variable;       /* HONE_ATTEMPT_ID=… */
    bool session_is_ours; /* the program lives: its session is what it made */
    VEC(int) victims;     /* pidfds */
    VEC(pid_t) seen;      /* counted once, however often they are killed */
};

static bool environ_names(pid_t pid, const char *variable)
{
    autofree(mem) char *path = xasprintf("/proc/%d/environ", (int)pid);
    autorelease(str) struct str text = STR_INIT;
    size_t n = strlen(variable) + 1; /* with its NUL */

    if (fs_read(path, ENVIRON_CAP, &text, NULL) < 0 || text.len < n)
        return false;
    for (const char *p = text.s; p < text.s + text.len; p += strlen(p) + 1)
        if ((size_t)(text.s + text.len + 1 - p) >= n && memcmp(p, variable, n) == 0)
            return true;
    return false;
}

static bool is_victim(const struct sweep *sweep, pid_t pid)
{
    pid_t session = 0;

    if (pid <= 1 || pid == getpid())
        return false;
    if (environ_names(pid, sweep->variable))
        return true;
    if (!sweep->session_is_ours || !process_start(pid, &session))
        return false;
    return session == sweep->keeper->program_pid;
}

/* A zombie is dead already; whoever is its parent collects it. */
static bool is_dead(int pidfd)
{
    struct pollfd wait = {.fd = pidfd, .events = POLLIN};

    return poll(&wait, 1, 0) == 1;
}

static void count(struct sweep *sweep, pid_t pid)
{
    vec_foreach (seen, &sweep->seen)
        if (*seen == pid)
            return;
    vec_push(&sweep->seen, pid);
}

static void take(struct sweep *sweep, pid_t pid)
{
    int fd;

    if (!is_victim(sweep, pid))
        return;
    fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return;
    if (is_dead(fd) || !is_victim(sweep, pid)) {
        close(fd);
        return;
    }
    syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
    count(sweep, pid);
    vec_push(&sweep->victims, fd);
}

static void cgroup_procs(struct sweep *sweep, const char *folder)
{
    autofree(mem) char *path = xasprintf("%s/cgroup.procs", folder);
    autorelease(str) struct str text = STR_INIT;
    char *end;

    if (fs_read(path, ENVIRON_CAP, &text, NULL) < 0)
        return;
    for (char *p = text.s; *p; p = end + (*end != '\0')) {
        pid_t pid = (pid_t)strtol(p, &end, 10);
        if (end == p)
            break;
        if (pid <= 1 || pid == getpid())
            continue;
        kill(pid, SIGKILL); /* the folder is this attempt's alone */
        count(sweep, pid);
    }
}

/* Only a folder of the shape that we make: …/hone-HOME/ATTEMPT. */
static bool is_our_folder(const struct sweep *sweep, const char *folder)
{
    autofree(mem) char *end = xasprintf("/%lld", (long long)sweep->keeper->attempt);
    size_t n = strlen(folder), len = strlen(end);

    return folder[0] == '/' && n > len && str_eq(folder + n - len, end) && strstr(folder, "/hone-");
}

static void folder_put(const char *folder, const char *name, const char *text)
{
    autofree(mem) char *path = xasprintf("%s/%s", folder, name);
    autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd >= 0)
        fs_write_all(fd, text, strlen(text));
}

static void cgroup_sweep(struct sweep *sweep, const char *folder)
{
    if (!is_our_folder(sweep, folder) || !fs_is_dir(folder))
        return;
    cgroup_procs(sweep, folder);
    folder_put(folder, "cgroup.kill", "1");
    folder_put(folder, "freezer.state",
               "THAWED"); /* the keeper may have died while it froze them */
}

static void processes_sweep(struct sweep *sweep)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;

    sweep->session_is_ours =
        sweep->keeper->program_pid > 1 &&
        process_start(sweep->keeper->program_pid, NULL) == sweep->keeper->program_start_ticks;
    while (proc && (entry = readdir(proc)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            take(sweep, (pid_t)strtol(entry->d_name, NULL, 10));
    if (proc)
        closedir(proc);
}

static void victims_wait(struct sweep *sweep)
{
    vec_foreach (fd, &sweep->victims) {
        struct pollfd wait = {.fd = *fd, .events = POLLIN};
        poll(&wait, 1, WAIT_MS);
        close(*fd);
    }
    sweep->victims.len = 0;
}

/* The program may have made folders of its own below. */
static void folders_below_remove(const char *folder)
{
    DIR *stream = opendir(folder);
    struct dirent *entry;

    while (stream && (entry = readdir(stream))) {
        autofree(mem) char *path = xasprintf("%s/%s", folder, entry->d_name);
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        folders_below_remove(path);
        rmdir(path);
    }
    if (stream)
        closedir(stream);
}

/* The folder goes when the last of the dead has left it. */
static bool folder_gone(const struct sweep *sweep, const char *folder)
{
    autofree(mem) char *parent = NULL;

    if (!is_our_folder(sweep, folder))
        return true;
    if (rmdir(folder) < 0 && errno == EBUSY) {
        folders_below_remove(folder);
        return false;
    }
    parent = xstrndup(folder, (size_t)(strrchr(folder, '/') - folder));
    rmdir(parent); /* fails while another attempt is there */
    return true;
}

static int sweep_run(struct sweep *sweep)
{
    int64_t until = clock_mono_us() + SWEEP_US;

    for (;;) {
        cgroup_sweep(sweep, sweep->keeper->cgroup);
        cgroup_sweep(sweep, sweep->keeper->cgroup_limits);
        processes_sweep(sweep);
        bool none = sweep->victims.len == 0;
        victims_wait(sweep);
        none = folder_gone(sweep, sweep->keeper->cgroup_limits) && none;
        none = folder_gone(sweep, sweep->keeper->cgroup) && none;
        if (none)
            return (int)sweep->seen.len;
        if (clock_mono_us() > until)
            return -EBUSY;
        poll(NULL, 0, 1); /* a folder may be busy for an instant after its last process */
    }
}

/* A keeper works in its attempt's folder. One that lives in another folder than the one that holds
 * its record belongs to the home that this one was copied from; so does all that it keeps. */
static bool is_copy(const struct keeper_record *keeper, const char *dir)
{
    autofree(mem) char *cwd = xasprintf("/proc/%d/cwd", (int)keeper->keeper_pid);
    autoclose int fd = process_open(keeper->keeper_pid, keeper->keeper_start_ticks);
    struct stat here, there;

    if (fd < 0 || stat(dir, &here) < 0 || stat(cwd, &there) < 0 || is_dead(fd))
        return false;
    return here.st_ino != there.st_ino || here.st_dev != there.st_dev;
}

int exec_sweep(const char *dir, const char *attempt_id, struct err *err)
{
    struct attempt_look look;
    struct sweep sweep = {.keeper = &look.keeper};
    char boot_id[BOOT_ID_SIZE];
    int r = exec_look(dir, &look, err);

    if (r < 0)
        return r;
    if (look.life == LIFE_ALIVE)
        return err_set(err, EBUSY, "the keeper of %s is alive: ask it to stop", dir);
    boot_id_read(boot_id);
    if (look.keeper.magic && !str_eq(look.keeper.boot_id, boot_id))
        return 0; /* another boot: nothing of it can be running */
    if (look.keeper.magic && is_copy(&look.keeper, dir))
        return 0;
    sweep.variable = xasprintf("HONE_ATTEMPT_ID=%s", attempt_id);
    r = sweep_run(&sweep);
    free(sweep.variable);
    vec_release(&sweep.victims);
    vec_release(&sweep.seen);
    if (r == -EBUSY)
        return err_set(err, EBUSY, "processes of %s do not die", dir);
    return r;
}
