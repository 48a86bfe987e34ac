/* SPDX-License-Identifier: MIT */
/*
 * machine.c — what this process may use of the machine: processors by affinity and cgroup quota,
 * memory by /proc and cgroup limits, devices by NVML.
 *
 * A limit may stand in any cgroup above ours, so each is asked from our own up to the root. In a
 * container the path that the kernel tells may not exist under the mount: what is not there does
 * not limit, and the walk ends at the mount's root, which is the container's own cgroup.
 */
#include "agent/internal.h"

#include "base/fs.h"
#include "exec/cpus.h"
#include <limits.h>
#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

/* First line of a small file, or NULL; free it. */
static char *read_line(const char *path)
{
    autorelease(str) struct str text = STR_INIT;
    if (fs_read(path, 1 << 20, &text, NULL) < 0)
        return NULL;
    str_cut(&text, strcspn(text.s, "\n"));
    return str_take(&text);
}

/* Which processors this process may run on; none if the kernel does not say. */
static struct cpus affinity(void)
{
    struct cpus cpus = {0};

    if (syscall(SYS_sched_getaffinity, 0, sizeof(cpus.bits), cpus.bits) < 0)
        return (struct cpus){0};
    return cpus;
}

static double count_of(const struct cpus *cpus)
{
    size_t n = cpus_count(cpus);
    long online = n > 0 ? (long)n : sysconf(_SC_NPROCESSORS_ONLN);

    return online > 0 ? (double)online : 1;
}

/* What one cgroup folder allows; infinity: no limit there. */
typedef double limit_fn(const char *dir);

static double number_in(const char *dir, const char *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, file);
    autofree(mem) char *line = read_line(path);
    char *end;
    double x = line ? strtod(line, &end) : -1;
    return line && end != line ? x : -1; /* "max", and -1 in v1: none */
}

/* v2 "200000 100000" or "max 100000": quota and period in µs. */
static double cpus_v2(const char *dir)
{
    char path[PATH_MAX];
    double quota, period;
    snprintf(path, sizeof(path), "%s/cpu.max", dir);
    autofree(mem) char *line = read_line(path);
    if (!line || sscanf(line, "%lf %lf", &quota, &period) != 2 || period <= 0)
        return HUGE_VAL;
    return quota / period;
}

static double cpus_v1(const char *dir)
{
    double quota = number_in(dir, "cpu.cfs_quota_us");
    double period = number_in(dir, "cpu.cfs_period_us");
    return quota > 0 && period > 0 ? quota / period : HUGE_VAL;
}

static double memory_v2(const char *dir)
{
    double bytes = number_in(dir, "memory.max");
    return bytes > 0 ? bytes : HUGE_VAL;
}

static double memory_v1(const char *dir)
{
    double bytes = number_in(dir, "memory.limit_in_bytes");
    return bytes > 0 ? bytes : HUGE_VAL;
}

/* The least limit from `mount``path` up to `mount`. */
static double walk_up(const char *mount, const char *path, limit_fn *limit)
{
    autofree(mem) char *dir = xasprintf("%s%s", mount, path);
    size_t top = strlen(mount);
    double least = HUGE_VAL;

    for (;;) {
        double here = limit(dir);
        least = MIN(least, here);
        char *slash = strrchr(dir, '/');
        if (!slash || (size_t)(slash - dir) < top)
            return least;
        *slash = '\0';
    }
}

static bool list_has(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

struct limits {
    double cpus, memory;
};

/* "0::/user.slice/x" (v2) or "4:cpu,cpuacct:/docker/y" (v1), one hierarchy a line. */
static void apply_line(const char *root, char *line, struct limits *limits)
{
    char *list = strchr(line, ':');
    char *path = list ? strchr(list + 1, ':') : NULL;
    if (!path)
        return;
    *path++ = '\0';
    list++;

    static const struct {
        const char *controller, *mount;
        limit_fn *cpus, *memory;
    } rows[] = {
        {"", "/sys/fs/cgroup", cpus_v2, memory_v2},
        {"", "/sys/fs/cgroup/unified", cpus_v2, memory_v2},
        {"cpu", "/sys/fs/cgroup/cpu", cpus_v1, NULL},
        {"memory", "/sys/fs/cgroup/memory", NULL, memory_v1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].controller[0] ? !list_has(list, rows[i].controller) : list[0] != '\0')
            continue;
        autofree(mem) char *mount = xasprintf("%s%s", root, rows[i].mount);
        if (rows[i].cpus)
            limits->cpus = MIN(limits->cpus, walk_up(mount, path, rows[i].cpus));
        if (rows[i].memory)
            limits->memory = MIN(limits->memory, walk_up(mount, path, rows[i].memory));
    }
}

static struct limits cgroup_limits(const char *root)
{
    struct limits limits = {HUGE_VAL, HUGE_VAL};
    autofree(mem) char *path = xasprintf("%s/proc/self/cgroup", root);
    autorelease(str) struct str text = STR_INIT;

    if (fs_read(path, 1 << 20, &text, NULL) < 0)
        return limits;
    for (char *rest = text.s, *line; (line = strsep(&rest, "\n"));)
        apply_line(root, line, &limits);
    return limits;
}

static double total_memory(const char *root)
{
    autofree(mem) char *path = xasprintf("%s/proc/meminfo", root);
    autofree(mem) char *line = read_line(path);
    unsigned long long kib;
    if (line && sscanf(line, "MemTotal: %llu kB", &kib) == 1)
        return (double)kib * 1024;
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

void machine_probe_at(const char *root, struct machine *ret)
{
    struct limits limits = cgroup_limits(root);
    struct cpus cpus = affinity();
    char name[256] = "";

    gethostname(name, sizeof(name) - 1);
    *ret = (struct machine){.name = xstrdup(name[0] ? name : "localhost")};
    /* A quota of half a processor still runs one trial at a time. */
    ret->cpus = MAX(1.0, MIN(count_of(&cpus), limits.cpus));
    ret->mem_bytes = (uint64_t)MIN(total_memory(root), limits.memory);
    if (cpus_count(&cpus) > 0) {
        autorelease(str) struct str list = STR_INIT;
        cpus_format(&cpus, &list);
        ret->cpu_list = str_take(&list);
    }
}

/* "cpu1 6 0 2 …" in ticks: user, nice, system, idle, iowait, irq, softirq, steal. What the
 * machine's other guests took (steal) was not to be had either. NaN for other lines. */
static double busy_in(const char *line, const struct cpus *cpus)
{
    unsigned cpu;
    double user, nice, system, irq = 0, softirq = 0, steal = 0;

    if (sscanf(line, "cpu%u %lf %lf %lf %*f %*f %lf %lf %lf", &cpu, &user, &nice, &system, &irq,
               &softirq, &steal) < 4 ||
        !cpus_has(cpus, cpu))
        return NAN;
    return (user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
}

void machine_load_at(const char *root, struct machine_load *ret)
{
    autofree(mem) char *path = xasprintf("%s/proc/stat", root);
    autorelease(str) struct str text = STR_INIT;
    struct limits limits = cgroup_limits(root);
    struct cpus cpus = affinity();

    *ret = (struct machine_load){MAX(1.0, MIN(count_of(&cpus), limits.cpus)), NAN};
    if (fs_read(path, 16 << 20, &text, NULL) < 0)
        return;
    for (char *rest = text.s, *line; (line = strsep(&rest, "\n")) && str_starts(line, "cpu");) {
        double busy_s = busy_in(line, &cpus);
        if (!isnan(busy_s))
            ret->busy_s = isnan(ret->busy_s) ? busy_s : ret->busy_s + busy_s;
    }
}

void machine_probe(struct machine *ret)
{
    machine_probe_at("", ret);
    gpu_probe(ret);
}
