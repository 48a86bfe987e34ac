/* SPDX-License-Identifier: MIT */
/*
 * tree.c — everything that descends from the keeper, found by /proc/PID/task/TID/children (or, on
 * kernels without it, by the parents in /proc/PID/stat).
 *
 * Killing a tree that forks: first SIGSTOP, again and again, until a round finds nobody new; a
 * stopped process forks no more. Then SIGKILL. The list has room for 32,768; of a larger tree the
 * rest is found in the next round, when the first are dead.
 */
#include "exec/keeper/keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>

#define TREE_MAX    32768
#define STOP_ROUNDS 64

static int pids[TREE_MAX];
static int n_pids;
static char listing[16384];

struct entry { /* as getdents64 gives it */
    uint64_t ino;
    int64_t off;
    uint16_t len;
    uint8_t type;
    char name[];
};

static void add_pid(int pid)
{
    if (n_pids < TREE_MAX)
        pids[n_pids++] = pid;
}

static bool is_listed(int pid)
{
    for (int i = 0; i < n_pids; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

/* "12 15 99 " → the list. Returns < 0 if the kernel has no such file. */
static long add_children(const char *pid, const char *tid)
{
    char path[64] = "/proc/", text[4096];
    uint64_t number = 0;
    int fd;
    long n;

    text_add(path, sizeof(path), pid);
    text_add(path, sizeof(path), "/task/");
    text_add(path, sizeof(path), tid);
    text_add(path, sizeof(path), "/children");
    fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    while ((n = sys_read(fd, text, sizeof(text))) > 0) {
        for (long i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                number = number * 10 + (uint64_t)(text[i] - '0');
            } else if (number) {
                add_pid((int)number);
                number = 0;
            }
        }
    }
    sys_close(fd);
    return 0;
}

/* Call `each` for every entry of a folder of /proc whose name is a number. */
static void each_number(const char *path, void (*each)(const char *number, const char *arg),
                        const char *arg)
{
    int fd = sys_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long n;

    if (fd < 0)
        return;
    while ((n = SYS(SYS_getdents64, fd, listing, sizeof(listing))) > 0) {
        for (long at = 0; at < n;) {
            const struct entry *entry = (const void *)(listing + at);
            if (entry->name[0] >= '1' && entry->name[0] <= '9')
                each(entry->name, arg);
            at += entry->len;
        }
    }
    sys_close(fd);
}

static void on_thread(const char *tid, const char *pid)
{
    add_children(pid, tid);
}

/* Fallback: take the process if its parent is taken. */
static void on_process(const char *pid, const char *self)
{
    char path[40] = "/proc/", text[512];
    const char *at = NULL;
    int parent;

    text_add(path, sizeof(path), pid);
    text_add(path, sizeof(path), "/stat");
    if (file_read(path, text, sizeof(text)) <= 0)
        return;
    for (const char *p = text; *p; p++)
        if (*p == ')')
            at = p;
    if (!at || strlen(at) < 5)
        return;
    parent = (int)text_number(at + 4); /* ") S 123" */
    if ((parent == (int)text_number(self) || is_listed(parent)) &&
        !is_listed((int)text_number(pid)))
        add_pid((int)text_number(pid));
}

int tree_list(const int **ret_pids)
{
    char self[24] = "";

    n_pids = 0;
    *ret_pids = pids;
    text_add_number(self, sizeof(self), (uint64_t)SYS(SYS_getpid, 0));
    if (add_children(self, self) < 0) {
        for (int before = -1; before != n_pids;) {
            before = n_pids;
            each_number("/proc", on_process, self);
        }
        return n_pids;
    }
    for (int i = 0; i < n_pids; i++) {
        char pid[24] = "", path[48] = "/proc/";
        text_add_number(pid, sizeof(pid), (uint64_t)pids[i]);
        text_add(path, sizeof(path), pid);
        text_add(path, sizeof(path), "/task");
        each_number(path, on_thread, pid);
    }
    return n_pids;
}

int tree_signal(int sig)
{
    const int *list;
    int n = tree_list(&list);

    for (int i = 0; i < n; i++)
        sys_kill(list[i], sig);
    return n;
}

/* Tells one list from another: how many, and their sum. */
static uint64_t list_sum(int n)
{
    uint64_t sum = (uint64_t)n << 40;

    for (int i = 0; i < n; i++)
        sum += (uint64_t)pids[i];
    return sum;
}

/* The letter behind the name in /proc/PID/stat; 'X' if it is gone. */
static char process_state(int pid)
{
    char path[40] = "/proc/", text[512], state = 'X';

    text_add_number(path, sizeof(path), (uint64_t)pid);
    text_add(path, sizeof(path), "/stat");
    if (file_read(path, text, sizeof(text)) <= 0)
        return 'X';
    for (const char *p = text; *p; p++)
        if (p[0] == ')' && p[1] == ' ')
            state = p[2];
    return state;
}

static bool stands_still(int pid, bool waiting_counts)
{
    char state = process_state(pid);

    return state == 'T' || state == 't' || state == 'Z' || state == 'X' ||
           (waiting_counts && state == 'D');
}

bool tree_stop(bool waiting_counts)
{
    const int *list;
    int n = tree_signal(SIGSTOP);
    uint64_t sum = list_sum(n);

    for (int i = 0; i < n; i++)
        if (!stands_still(pids[i], waiting_counts))
            return false;
    return list_sum(tree_list(&list)) == sum;
}

void tree_continue(void)
{
    const int *list;

    for (int i = tree_list(&list); i-- > 0;)
        sys_kill(list[i], SIGCONT);
}

void tree_kill(void)
{
    const int *list;
    uint64_t sum = 0, before = 1;
    int n = 0;

    for (int round = 0; round < STOP_ROUNDS && sum != before; round++) {
        before = sum;
        sum = list_sum(tree_signal(SIGSTOP));
    }
    n = tree_list(&list);
    for (int i = 0; i < n; i++)
        sys_kill(list[i], SIGKILL);
}
