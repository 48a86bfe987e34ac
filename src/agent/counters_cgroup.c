/* SPDX-License-Identifier: MIT */
/*
 * counters_cgroup.c — pressure, and the figures of the cgroup that the tree is in.
 *
 * A cgroup's figures are the tree's only if nobody else is in it: a shared one (a login session, a
 * container, the root) is left out, and its figures are missing. Where v2 and v1 are both mounted,
 * each figure is taken from the first that has it.
 */
#include "agent/counters_parts.h"

#include "base/fs.h"

#include <ctype.h>
#include <math.h>

#define FILE_CAP (1 << 20)

/* The number behind "key " in a file of such lines, or the file's only number if key is NULL. NaN:
 * not there. */
static double figure(const char *dir, const char *file, const char *key)
{
    autofree(mem) char *path = xasprintf("%s/%s", dir, file);
    autorelease(str) struct str text = STR_INIT;

    if (fs_read(path, FILE_CAP, &text, NULL) < 0)
        return NAN;
    for (char *rest = text.s, *line; (line = strsep(&rest, "\n"));) {
        size_t n = key ? strlen(key) : 0;
        if (key && (!str_starts(line, key) || line[n] != ' '))
            continue;
        const char *number = line + n + (key ? 1 : 0);
        return isdigit((unsigned char)*number) ? strtod(number, NULL) : NAN;
    }
    return NAN;
}

/* ---- pressure ---- */

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=3264344": seconds in which some, or all, waited. */
static double pressure(const char *dir, const char *file, const char *who)
{
    autofree(mem) char *path = xasprintf("%s/%s", dir, file);
    autorelease(str) struct str text = STR_INIT;

    if (fs_read(path, FILE_CAP, &text, NULL) < 0)
        return NAN;
    for (char *rest = text.s, *line; (line = strsep(&rest, "\n"));) {
        const char *total = str_starts(line, who) ? strstr(line, " total=") : NULL;
        if (total && isdigit((unsigned char)total[strlen(" total=")]))
            return strtod(total + strlen(" total="), NULL) / 1e6;
    }
    return NAN;
}

static const struct {
    const char *file, *who;
    enum counter own, machine;
} pressures[] = {
    {"cpu", "some ", COUNTER_PRESSURE_CPU, COUNTER_MACHINE_CPU},
    {"memory", "some ", COUNTER_PRESSURE_MEMORY, COUNTER_MACHINE_MEMORY},
    {"memory", "full ", COUNTER_PRESSURE_MEMORY_FULL, COUNTER_MACHINE_MEMORY_FULL},
    {"io", "some ", COUNTER_PRESSURE_IO, COUNTER_MACHINE_IO},
    {"io", "full ", COUNTER_PRESSURE_IO_FULL, COUNTER_MACHINE_IO_FULL},
};

void machine_pressure_read(const char *proc, double *ret)
{
    autofree(mem) char *dir = xasprintf("%s/pressure", proc);

    for (size_t i = 0; i < ARRAY_LEN(pressures); i++)
        ret[pressures[i].machine] = pressure(dir, pressures[i].file, pressures[i].who);
}

static void own_pressure(const char *dir, double *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(pressures); i++) {
        autofree(mem) char *file = xasprintf("%s.pressure", pressures[i].file);
        double *to = &ret[pressures[i].own];
        if (isnan(*to))
            *to = pressure(dir, file, pressures[i].who);
    }
}

/* ---- the tree's own cgroup ---- */

static const struct {
    const char *controller; /* "": v2 */
    const char *file, *key;
    double unit;
    enum counter counter;
} figures[] = {
    {"", "cpu.stat", "usage_usec", 1e-6, COUNTER_CGROUP_CPU},
    {"", "cpu.stat", "throttled_usec", 1e-6, COUNTER_CGROUP_THROTTLED},
    {"", "memory.current", NULL, 1, COUNTER_CGROUP_MEMORY},
    {"", "memory.stat", "file", 1, COUNTER_CGROUP_CACHE},
    {"cpuacct", "cpuacct.usage", NULL, 1e-9, COUNTER_CGROUP_CPU},
    {"cpu", "cpu.stat", "throttled_time", 1e-9, COUNTER_CGROUP_THROTTLED},
    {"memory", "memory.usage_in_bytes", NULL, 1, COUNTER_CGROUP_MEMORY},
    {"memory", "memory.stat", "cache", 1, COUNTER_CGROUP_CACHE},
};

static int by_number(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

/* Is somebody in it, and all of them of the tree? */
static bool is_own(const char *dir, const struct process_tree *tree)
{
    autofree(mem) char *path = xasprintf("%s/cgroup.procs", dir);
    autofree(mem) pid_t *pids = xmemdup(tree->pids.at, tree->pids.len * sizeof(pid_t));
    autorelease(str) struct str text = STR_INIT;
    size_t n = 0;

    if (fs_read(path, FILE_CAP, &text, NULL) < 0)
        return false;
    qsort(pids, tree->pids.len, sizeof(*pids), by_number);
    for (char *rest = text.s, *line; (line = strsep(&rest, "\n"));) {
        pid_t pid = (pid_t)strtol(line, NULL, 10);
        if (*line == '\0')
            continue;
        if (!bsearch(&pid, pids, tree->pids.len, sizeof(pid), by_number))
            return false;
        n++;
    }
    return n > 0;
}

static bool list_has(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

/* All figures of one hierarchy's folder that are not known yet. */
static void read_folder(const char *dir, const char *list, double *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
        double *to = &ret[figures[i].counter];
        if (isnan(*to) && list_has(list, figures[i].controller))
            *to = figure(dir, figures[i].file, figures[i].key) * figures[i].unit;
    }
}

struct look {
    const char *sys;
    const struct process_tree *tree;
    double *ret;
};

/* The hierarchy of the controllers in `list` ("": v2) if it is mounted under that name. */
static void try_mount(const struct look *look, const char *mount, const char *list,
                      const char *path)
{
    autofree(mem) char *dir = xasprintf("%s/fs/cgroup/%s%s", look->sys, mount, path);

    if (str_eq(path, "/")) /* everybody's, and long to read */
        return;
    if (!is_own(dir, look->tree))
        return;
    read_folder(dir, list, look->ret);
    if (*list == '\0')
        own_pressure(dir, look->ret);
}

/* "0::/user.slice/x" (v2) or "4:cpu,cpuacct:/docker/y" (v1), one hierarchy a line. */
static void read_line(const struct look *look, char *line)
{
    char *list = strchr(line, ':');
    char *path = list ? strchr(list + 1, ':') : NULL;

    if (!path)
        return;
    *list++ = *path++ = '\0';
    try_mount(look, *list ? list : "unified", list, path);
    if (*list == '\0')
        try_mount(look, ".", list, path);
    /* "cpu,cpuacct" may be mounted as "cpu". */
    if (strchr(list, ',')) {
        autofree(mem) char *first = xstrndup(list, strcspn(list, ","));
        try_mount(look, first, list, path);
    }
}

static void read_cgroups_of(const char *proc, pid_t pid, const struct look *look)
{
    autofree(mem) char *path = xasprintf("%s/%d/cgroup", proc, (int)pid);
    autorelease(str) struct str text = STR_INIT;

    if (fs_read(path, FILE_CAP, &text, NULL) < 0)
        return;
    for (char *rest = text.s, *line; (line = strsep(&rest, "\n"));)
        read_line(look, line);
}

/* The root may be a keeper that stays outside of the cgroup which it made for its program: what
 * its own cgroup does not tell, the next process's does. */
void cgroup_read(const char *proc, const char *sys, const struct process_tree *tree, double *ret)
{
    struct look look = {sys, tree, ret};

    for (size_t i = 0; i < MIN(tree->pids.len, 2); i++)
        read_cgroups_of(proc, tree->pids.at[i], &look);
}
