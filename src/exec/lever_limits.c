/* SPDX-License-Identifier: MIT */
/*
 * lever_limits.c — the levers that only a cgroup has: share of processor time, and memory.
 *
 * Memory is never limited below what is in use: the kernel would kill the program for it. What it
 * can give back, the cache of files, does not count; writing the softer limit first makes the
 * kernel do so before the hard one stands. A sixteenth on top lets the program breathe.
 */
#include "exec/lever_parts.h"

#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#define PERIOD_US  100000
#define QUOTA_MIN  0.01 /* the kernel's: 1 ms a period */
#define QUOTA_MAX  100000.0
#define PAGE_BYTES 4096
#define HEADROOM   16          /* a part of what is in use */
#define ROOM_LEAST (16u << 20) /* a small program grows by more than a part of itself */

struct controller cpu_controller(void)
{
    return (struct controller){.name = "cpu", .v2_file = "cpu.max", .v1_file = "cpu.cfs_quota_us"};
}

static bool quota_possible(const struct lever *lever, struct str *how)
{
    struct controller cpu = cpu_controller();
    bool possible = controller_find(lever, &cpu);

    if (possible)
        str_addf(how, "cgroup v%d", cpu.version);
    else
        str_addf(how, "not possible: %s", cpu.why);
    controller_release(&cpu);
    return possible;
}

static int quota_write(const struct controller *cpu, double cpus)
{
    autofree(mem) char *period = xasprintf("%d", PERIOD_US);
    autofree(mem) char *text = NULL;
    bool limited = cpus < QUOTA_MAX;
    long long quota = limited ? llround(cpus * PERIOD_US) : -1;

    if (cpu->version == 2) {
        text = limited ? xasprintf("%lld %d", quota, PERIOD_US) : xasprintf("max %d", PERIOD_US);
        return folder_put(cpu->folder, "cpu.max", text);
    }
    text = xasprintf("%lld", quota);
    folder_put(cpu->folder, "cpu.cfs_period_us", period);
    return folder_put(cpu->folder, "cpu.cfs_quota_us", text);
}

static int quota_set(const struct lever *lever, struct controller *cpu, double cpus,
                     struct err *err)
{
    int r = controller_begin(lever, cpu, err);

    if (r < 0)
        return r;
    r = quota_write(cpu, cpus);
    if (r < 0)
        return err_errno(err, -r, "%s refuses %g processors", cpu->folder, cpus);
    return controller_enter(lever, cpu, err);
}

static int quota_apply(const struct lever *lever, const struct lever_values *want,
                       struct str *notes, struct err *err)
{
    struct controller cpu = cpu_controller();
    double cpus = want->quota_cpus;
    int r;

    if (!(cpus > 0))
        return err_set(err, EINVAL, "%g processors are not above 0", cpus);
    if (cpus < QUOTA_MIN) {
        str_addf(notes, "cpu_quota: %g is below the least possible, %g\n", cpus, QUOTA_MIN);
        cpus = QUOTA_MIN;
    }
    if (controller_find(lever, &cpu))
        r = quota_set(lever, &cpu, cpus, err);
    else
        r = err_set(err, ENOTSUP, "not possible: %s", cpu.why);
    controller_release(&cpu);
    return r;
}

static int quota_read_from(const struct controller *cpu, double *ret)
{
    autorelease(str) struct str text = STR_INIT;
    int64_t quota = -1, period = PERIOD_US;
    int r;

    *ret = INFINITY;
    if (!folder_has(cpu->folder, cpu->version == 2 ? cpu->v2_file : cpu->v1_file))
        return 0; /* nobody has limited it yet */
    if (cpu->version == 2) {
        r = folder_get(cpu->folder, "cpu.max", &text);
        if (r == 0 && !str_starts(text.s, "max") &&
            sscanf(text.s, "%" SCNd64 " %" SCNd64, &quota, &period) < 1)
            r = -EINVAL;
    } else {
        r = folder_get_number(cpu->folder, "cpu.cfs_quota_us", &quota);
        if (r == 0)
            r = folder_get_number(cpu->folder, "cpu.cfs_period_us", &period);
    }
    if (r == 0 && quota > 0 && period > 0)
        *ret = (double)quota / (double)period;
    return r;
}

static int quota_read(const struct lever *lever, struct lever_values *ret)
{
    struct controller cpu = cpu_controller();
    int r = controller_find(lever, &cpu) ? quota_read_from(&cpu, &ret->quota_cpus) : -ENOTSUP;

    controller_release(&cpu);
    return r;
}

const struct lever_ops lever_ops_quota = {
    .name = "cpu_quota", .possible = quota_possible, .apply = quota_apply, .read = quota_read};

/* ---- memory ---- */

/* The names of the same things in both versions. */
struct memory_files {
    const char *soft, *hard, *used, *none;
    const char *cache[2]; /* rows of memory.stat that can be given back */
};
static const struct memory_files files_v2 = {
    "memory.high", "memory.max", "memory.current", "max", {"active_file", "inactive_file"}};
static const struct memory_files files_v1 = {"memory.soft_limit_in_bytes",
                                             "memory.limit_in_bytes",
                                             "memory.usage_in_bytes",
                                             "-1",
                                             {"total_active_file", "total_inactive_file"}};

/* v1 charges memory to the cgroup where it was first used and leaves it there: an attempt that was
 * not in one from the start cannot be limited later. */
static bool memory_find(const struct lever *lever, struct controller *memory)
{
    *memory = (struct controller){
        .name = "memory", .v2_file = "memory.max", .v1_file = "memory.limit_in_bytes"};
    if (lever->memory) {
        memory->version = 1;
        memory->folder = xstrdup(lever->memory);
        return true;
    }
    if (!controller_find(lever, memory) || memory->version == 2)
        return memory->version == 2;
    if (!lever->dir && lever->limits_memory)
        return true;
    memory->version = 0;
    memory->why = xstrdup("cgroup v1 can change a limit, but not set the first one of a running "
                          "program; start it with resources.memory");
    return false;
}

static bool memory_possible(const struct lever *lever, struct str *how)
{
    struct controller memory;
    bool possible = memory_find(lever, &memory);

    if (possible)
        str_addf(how, "cgroup v%d%s", memory.version,
                 memory.version == 1 ? ", for attempts started with resources.memory" : "");
    else
        str_addf(how, "not possible: %s", memory.why);
    controller_release(&memory);
    return possible;
}

static int64_t stat_row(const char *text, const char *name)
{
    size_t n = strlen(name);

    for (const char *line = text; *line;) {
        if (strncmp(line, name, n) == 0 && line[n] == ' ')
            return strtoll(line + n, NULL, 10);
        line += strcspn(line, "\n");
        line += *line != '\0';
    }
    return 0;
}

/* In use and not to be had back. */
static int memory_used(const char *folder, const struct memory_files *files, uint64_t *ret)
{
    autorelease(str) struct str text = STR_INIT;
    int64_t used;
    int r = folder_get_number(folder, files->used, &used);

    if (r < 0)
        return r;
    folder_get(folder, "memory.stat", &text);
    used -= stat_row(text.s, files->cache[0]) + stat_row(text.s, files->cache[1]);
    *ret = used > 0 ? (uint64_t)used : 0;
    return 0;
}

/* v1 has a second limit, of memory and swap together, that is never below the first. */
static int hard_write(const struct controller *memory, const struct memory_files *files,
                      const char *text)
{
    int r = folder_put(memory->folder, files->hard, text);

    if (memory->version == 2)
        return r;
    if (r < 0) {
        folder_put(memory->folder, "memory.memsw.limit_in_bytes", text);
        return folder_put(memory->folder, files->hard, text);
    }
    folder_put(memory->folder, "memory.memsw.limit_in_bytes", text); /* it may not be there */
    return 0;
}

static int memory_write(const struct controller *memory, const struct memory_files *files,
                        uint64_t bytes, struct err *err)
{
    autofree(mem) char *text =
        bytes == UINT64_MAX ? xstrdup(files->none) : xasprintf("%llu", (unsigned long long)bytes);
    int r = folder_put(memory->folder, files->soft, text);

    if (r == 0)
        r = hard_write(memory, files, text);
    if (r == -EBUSY)
        return err_set(err, EBUSY, "%s cannot give back as much; try again or ask for less",
                       memory->folder);
    return r < 0 ? err_errno(err, -r, "cannot write the limits of %s", memory->folder) : 0;
}

static void say_raised(uint64_t asked, uint64_t used, uint64_t got, struct str *notes)
{
    str_add(notes, "memory: ");
    size_format(asked, notes);
    str_add(notes, " is less than what is in use, ");
    size_format(used, notes);
    str_add(notes, "; limited to ");
    size_format(got, notes);
    str_add_char(notes, '\n');
}

static int memory_set(const struct lever *lever, struct controller *memory, uint64_t bytes,
                      struct str *notes, struct err *err)
{
    const struct memory_files *files = memory->version == 2 ? &files_v2 : &files_v1;
    uint64_t used, least;
    int r = memory->version == 2 ? controller_begin(lever, memory, err) : 0;

    if (r < 0)
        return r;
    r = memory_used(memory->folder, files, &used);
    if (r < 0)
        return err_errno(err, -r, "cannot read %s/%s", memory->folder, files->used);
    if (bytes >= used + used / HEADROOM)
        return memory_write(memory, files, bytes, err);
    least = used + MAX(used / HEADROOM, ROOM_LEAST);
    least = (least + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    r = memory_write(memory, files, least, err);
    if (r == 0)
        say_raised(bytes, used, least, notes);
    return r;
}

static int memory_apply(const struct lever *lever, const struct lever_values *want,
                        struct str *notes, struct err *err)
{
    struct controller memory;
    int r;

    if (memory_find(lever, &memory))
        r = memory_set(lever, &memory, want->memory_bytes, notes, err);
    else
        r = err_set(err, ENOTSUP, "not possible: %s", memory.why);
    controller_release(&memory);
    return r;
}

/* No limit is "max" in v2 and nearly INT64_MAX in v1. */
static int memory_read(const struct lever *lever, struct lever_values *ret)
{
    struct controller memory;
    autorelease(str) struct str text = STR_INIT;
    int64_t bytes = INT64_MAX;
    int r = -ENOTSUP;

    if (memory_find(lever, &memory))
        r = folder_get(memory.folder, memory.version == 2 ? files_v2.hard : files_v1.hard, &text);
    if (r == 0 && !str_starts(text.s, "max"))
        bytes = strtoll(text.s, NULL, 10);
    ret->memory_bytes = bytes > INT64_MAX / 2 ? UINT64_MAX : (uint64_t)MAX(bytes, 0);
    controller_release(&memory);
    return r;
}

const struct lever_ops lever_ops_memory = {
    .name = "memory", .possible = memory_possible, .apply = memory_apply, .read = memory_read};
