/* SPDX-License-Identifier: MIT */
/*
 * memory.c — what the tree uses, where no cgroup limits it.
 *
 * The cheap figure (resident minus shared, summed, plus the largest shared part) counts pages that
 * forked workers share by copy-on-write once for each. So it only raises suspicion: over the
 * limit, the proportional figure of smaps_rollup decides.
 */
#include "exec/keeper/keeper.h"

static void proc_path(char *path, size_t size, int pid, const char *name)
{
    path[0] = '\0';
    text_add(path, size, "/proc/");
    text_add_number(path, size, (uint64_t)pid);
    text_add(path, size, name);
}

static uint64_t second_number(const char *text, uint64_t *ret_third)
{
    uint64_t second;

    while (*text && *text != ' ')
        text++;
    second = text_number(text);
    if (*text)
        text++;
    while (*text && *text != ' ')
        text++;
    *ret_third = text_number(text);
    return second;
}

/* /proc/PID/statm: size resident shared … in pages. */
static uint64_t used_cheaply(const int *pids, int n)
{
    uint64_t own = 0, largest_shared = 0;

    for (int i = 0; i < n; i++) {
        char path[48], text[128];
        uint64_t resident, shared;
        proc_path(path, sizeof(path), pids[i], "/statm");
        if (file_read(path, text, sizeof(text)) <= 0)
            continue;
        resident = second_number(text, &shared);
        own += resident > shared ? resident - shared : 0;
        if (shared > largest_shared)
            largest_shared = shared;
    }
    return (own + largest_shared) * page_bytes;
}

/* Sum of "Pss:  123 kB"; 0 if the kernel does not tell. */
static uint64_t used_exactly(const int *pids, int n)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++) {
        char path[48], text[1024];
        const char *at;
        proc_path(path, sizeof(path), pids[i], "/smaps_rollup");
        if (file_read(path, text, sizeof(text)) <= 0)
            continue;
        at = text_find(text, "Pss:");
        if (at)
            sum += text_number(at + 4) * 1024;
    }
    return sum;
}

uint64_t memory_used(uint64_t limit)
{
    const int *pids;
    int n = tree_list(&pids);
    uint64_t used = used_cheaply(pids, n), exact;

    if (used <= limit)
        return used;
    exact = used_exactly(pids, n);
    return exact ? exact : used;
}
