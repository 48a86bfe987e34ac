/* SPDX-License-Identifier: MIT */
/*
 * lever.c — the levers of an attempt: which there are, moving them, asking what is in force, and
 * taking back what outlives the attempt. What each does is in lever_cpus.c, lever_limits.c and
 * lever_frequency.c.
 *
 * Nothing is remembered but what the kernel would not undo by itself when the processes end.
 */
#include "exec/lever_parts.h"

#include "base/fs.h"
#include "exec/state.h"

#include <errno.h>
#include <unistd.h>

static const struct lever_ops *const levers[LEVER_KINDS] = {
    [LEVER_CPUS] = &lever_ops_cpus,           [LEVER_CPU_QUOTA] = &lever_ops_quota,
    [LEVER_MEMORY] = &lever_ops_memory,       [LEVER_NICE] = &lever_ops_nice,
    [LEVER_FREQUENCY] = &lever_ops_frequency,
};

const char *lever_name(enum lever_kind kind)
{
    return levers[kind]->name;
}

void lever_values_take(struct lever_values *to, const struct lever_values *from,
                       enum lever_kind kind)
{
    to->given[kind] = from->given[kind];
    switch (kind) {
    case LEVER_CPUS:
        to->cpus = from->cpus;
        break;
    case LEVER_CPU_QUOTA:
        to->quota_cpus = from->quota_cpus;
        break;
    case LEVER_MEMORY:
        to->memory_bytes = from->memory_bytes;
        break;
    case LEVER_NICE:
        to->nice = from->nice;
        break;
    case LEVER_FREQUENCY:
        to->frequency_khz = from->frequency_khz;
        break;
    case LEVER_KINDS:
        break;
    }
}

static const char *cpu_root_of(const struct lever_roots *roots)
{
    return roots && roots->cpu ? roots->cpu : "/sys/devices/system/cpu";
}

static struct lever *lever_new(const struct lever_roots *roots)
{
    struct lever *lever = xcalloc(1, sizeof(*lever));

    lever->cgroup_root = xstrdup(roots && roots->cgroup ? roots->cgroup : "/sys/fs/cgroup");
    lever->cpu_root = xstrdup(cpu_root_of(roots));
    return lever;
}

void lever_free(struct lever *lever)
{
    if (!lever)
        return;
    free(lever->dir);
    free(lever->tree);
    free(lever->home);
    free(lever->memory);
    free(lever->name);
    free(lever->cgroup_root);
    free(lever->cpu_root);
    free(lever);
}

/* …/hone-HOME/ATTEMPT, as exec makes them; anything else is not touched. */
static void take_folders(struct lever *lever, const struct keeper_record *record)
{
    const char *last = strrchr(record->cgroup, '/'), *home;

    if (!last || last == record->cgroup)
        return;
    lever->home = xstrndup(record->cgroup, (size_t)(last - record->cgroup));
    home = strrchr(lever->home, '/');
    if (!home || !str_starts(home + 1, "hone-")) {
        free(TAKE(lever->home));
        return;
    }
    lever->tree = xstrdup(record->cgroup);
    lever->name = xasprintf("%s.%s", home + 1, last + 1);
    lever->kind = (enum cgroup_kind)record->cgroup_kind;
    if (record->cgroup_limits[0])
        lever->memory = xstrdup(record->cgroup_limits);
}

int lever_open(const char *dir, const struct lever_roots *roots, struct lever **ret,
               struct err *err)
{
    struct attempt_look look;
    struct lever *lever;
    int r = exec_look(dir, &look, err);

    if (r < 0)
        return r;
    if (look.life != LIFE_ALIVE || !look.keeper.magic)
        return err_set(err, ESRCH, "the attempt in %s is not running", dir);
    lever = lever_new(roots);
    lever->dir = xstrdup(dir);
    lever->keeper = look.keeper.keeper_pid;
    lever->keeper_start = look.keeper.keeper_start_ticks;
    take_folders(lever, &look.keeper);
    *ret = lever;
    return 0;
}

struct lever *lever_open_machine(const struct cgroup_plan *plan, const struct lever_roots *roots)
{
    struct lever *lever = lever_new(roots);

    lever->keeper = getpid();
    lever->kind = plan->kind;
    lever->home = plan->tree ? xstrdup(plan->tree) : NULL;
    lever->limits_memory = plan->limits_memory;
    return lever;
}

bool lever_possible(const struct lever *lever, enum lever_kind kind, struct str *how)
{
    return levers[kind]->possible(lever, how);
}

void lever_kinds(const struct lever *lever, struct str *to)
{
    for (size_t i = 0; i < LEVER_KINDS; i++) {
        str_addf(to, "%s: ", levers[i]->name);
        levers[i]->possible(lever, to);
        str_add_char(to, '\n');
    }
}

/* Its number may have been given to another process since it was opened. */
static int check_runs(const struct lever *lever, struct err *err)
{
    if (lever->dir && process_start(lever->keeper, NULL) == lever->keeper_start)
        return 0;
    return err_set(err, ESRCH, "the attempt in %s has ended", lever->dir ? lever->dir : "…");
}

static int apply_one(const struct lever *lever, enum lever_kind kind,
                     const struct lever_values *want, struct str *notes, struct err *err)
{
    int r = levers[kind]->apply(lever, want, notes, err);

    if (r == 0 && kind == LEVER_CPUS && !want->given[LEVER_FREQUENCY])
        r = frequency_follow(lever, notes, err);
    if (r == 0 && kind == LEVER_CPU_QUOTA)
        nice_follow(lever);
    if (r < 0)
        err_context(err, "%s", levers[kind]->name);
    return r;
}

int lever_apply(const struct lever *lever, const struct lever_values *want, struct str *notes,
                struct err *err)
{
    int r = check_runs(lever, err);

    for (size_t i = 0; i < LEVER_KINDS && r == 0; i++)
        if (want->given[i])
            r = apply_one(lever, (enum lever_kind)i, want, notes, err);
    return r;
}

int lever_read(const struct lever *lever, struct lever_values *ret, struct err *err)
{
    int r = check_runs(lever, err);

    *ret = (struct lever_values){0};
    for (size_t i = 0; i < LEVER_KINDS && r == 0; i++)
        ret->given[i] = levers[i]->read(lever, ret) == 0;
    return r;
}

/* Only a folder of the shape that we make, and rmdir takes nothing but an empty one. */
static int folder_end(const char *folder)
{
    const char *name = strrchr(folder, '/');

    if (!name || !str_starts(name + 1, "hone-") || rmdir(folder) == 0)
        return 0;
    return errno == EBUSY || errno == ENOTEMPTY ? -EBUSY : 0;
}

int lever_end(const char *dir, const struct lever_roots *roots, struct err *err)
{
    autorelease(levers_notes) struct levers_notes notes = {0};
    int r = levers_notes_load(dir, &notes, err);

    if (r < 0)
        return r;
    frequencies_restore(cpu_root_of(roots), &notes);
    for (size_t i = notes.folders.len; i-- > 0;) {
        if (folder_end(notes.folders.at[i]) < 0)
            continue;
        free(notes.folders.at[i]);
        vec_remove(&notes.folders, i);
    }
    r = levers_notes_save(dir, &notes, err);
    if (r == 0 && notes.folders.len > 0)
        return err_set(err, EBUSY, "processes are left in %s", notes.folders.at[0]);
    return r;
}
