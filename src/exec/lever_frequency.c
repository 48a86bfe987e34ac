/* SPDX-License-Identifier: MIT */
/*
 * lever_frequency.c — the highest clock of the attempt's processors, by cpufreq; and dir/levers,
 * which remembers what outlives the attempt and must be taken back.
 *
 *     folder /sys/fs/cgroup/cpuset/hone-1f0c.7
 *     frequency 3 2400000
 *
 * Written before the change itself, so that a crash leaves a note too many and never one too few.
 */
#include "exec/lever_parts.h"

#include "base/fs.h"

#include <errno.h>
#include <unistd.h>

#define NOTES_CAP (1u << 20)
#define MAX_FILE  "cpufreq/scaling_max_freq"

static char *notes_path(const char *dir)
{
    return xasprintf("%s/levers", dir);
}

static int note_parse(char *line, struct levers_notes *to)
{
    unsigned long long cpu, khz;

    if (str_starts(line, "folder /"))
        vec_push(&to->folders, xstrdup(line + strlen("folder ")));
    else if (sscanf(line, "frequency %llu %llu", &cpu, &khz) == 2 && cpu < CPUS_MAX)
        vec_push(&to->frequencies, ((struct frequency_note){(size_t)cpu, khz}));
    else
        return -EINVAL;
    return 0;
}

int levers_notes_load(const char *dir, struct levers_notes *ret, struct err *err)
{
    autofree(mem) char *path = notes_path(dir);
    autorelease(str) struct str text = STR_INIT;
    char *rest = NULL;
    int r = fs_read(path, NOTES_CAP, &text, NULL);

    *ret = (struct levers_notes){0};
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return err_errno(err, -r, "cannot read %s", path);
    for (char *line = strtok_r(text.s, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (note_parse(line, ret) < 0)
            r = -EINVAL;
    return r < 0 ? err_set(err, EINVAL, "%s has a line that Hone did not write", path) : 0;
}

int levers_notes_save(const char *dir, const struct levers_notes *notes, struct err *err)
{
    autofree(mem) char *path = notes_path(dir);
    autorelease(str) struct str text = STR_INIT;

    if (notes->folders.len + notes->frequencies.len == 0)
        return unlink(path) < 0 && errno != ENOENT ? err_errno(err, errno, "cannot remove %s", path)
                                                   : 0;
    vec_foreach (folder, &notes->folders)
        str_addf(&text, "folder %s\n", *folder);
    vec_foreach (note, &notes->frequencies)
        str_addf(&text, "frequency %zu %llu\n", note->cpu, (unsigned long long)note->khz);
    return fs_write_atomic(path, text.s, text.len, 0644, err);
}

void levers_notes_release(struct levers_notes *notes)
{
    vec_foreach (folder, &notes->folders)
        free(*folder);
    vec_release(&notes->folders);
    vec_release(&notes->frequencies);
}

int levers_note_folder(const char *dir, const char *folder, struct err *err)
{
    autorelease(levers_notes) struct levers_notes notes = {0};
    int r = levers_notes_load(dir, &notes, err);

    if (r < 0)
        return r;
    vec_foreach (known, &notes.folders)
        if (str_eq(*known, folder))
            return 0;
    vec_push(&notes.folders, xstrdup(folder));
    return levers_notes_save(dir, &notes, err);
}

/* ---- cpufreq ---- */

static char *cpu_folder(const char *cpu_root, size_t cpu)
{
    return xasprintf("%s/cpu%zu", cpu_root, cpu);
}

static int frequency_get(const char *cpu_root, size_t cpu, const char *name, uint64_t *ret)
{
    autofree(mem) char *folder = cpu_folder(cpu_root, cpu);
    int64_t khz = 0;
    int r = folder_get_number(folder, name, &khz);

    *ret = (uint64_t)MAX(khz, 0);
    return r;
}

static int frequency_put(const char *cpu_root, size_t cpu, uint64_t khz)
{
    autofree(mem) char *folder = cpu_folder(cpu_root, cpu);
    autofree(mem) char *text = xasprintf("%llu", (unsigned long long)khz);

    return folder_put(folder, MAX_FILE, text);
}

void frequencies_restore(const char *cpu_root, struct levers_notes *notes)
{
    vec_foreach (note, &notes->frequencies)
        frequency_put(cpu_root, note->cpu, note->khz);
    notes->frequencies.len = 0;
}

static bool frequency_possible(const struct lever *lever, struct str *how)
{
    bool there = false;

    for (size_t cpu = 0; cpu < CPUS_MAX; cpu++) {
        autofree(mem) char *folder = cpu_folder(lever->cpu_root, cpu);
        autofree(mem) char *path = xasprintf("%s/%s", folder, MAX_FILE);
        if (!fs_is_dir(folder))
            break;
        if (access(path, W_OK) == 0) {
            str_add(how, "cpufreq");
            return true;
        }
        there = there || fs_exists(path);
    }
    str_add(how, there ? "not possible: scaling_max_freq of cpufreq is not ours to write; as root "
                         "it is"
                       : "not possible: this machine has no cpufreq, as most virtual ones");
    return false;
}

/* Within what the processor can do. */
static uint64_t frequency_clamp(const struct lever *lever, size_t cpu, uint64_t khz,
                                struct str *notes)
{
    uint64_t low, high, got = khz;

    if (frequency_get(lever->cpu_root, cpu, "cpufreq/cpuinfo_min_freq", &low) == 0)
        got = MAX(got, low);
    if (frequency_get(lever->cpu_root, cpu, "cpufreq/cpuinfo_max_freq", &high) == 0 && high > 0)
        got = MIN(got, high);
    if (got != khz)
        str_addf(notes, "frequency: cpu %zu cannot do %llu kHz: %llu\n", cpu,
                 (unsigned long long)khz, (unsigned long long)got);
    return got;
}

static bool is_noted(const struct levers_notes *notes, size_t cpu)
{
    vec_foreach (note, &notes->frequencies)
        if (note->cpu == cpu)
            return true;
    return false;
}

/* Processors that the attempt has lost get back what they had; its new ones are noted. */
static void notes_follow(const struct lever *lever, struct levers_notes *notes,
                         const struct cpus *cpus)
{
    uint64_t khz;

    for (size_t i = notes->frequencies.len; i-- > 0;) {
        struct frequency_note note = notes->frequencies.at[i];
        if (cpus_has(cpus, note.cpu))
            continue;
        frequency_put(lever->cpu_root, note.cpu, note.khz);
        vec_remove(&notes->frequencies, i);
    }
    for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (cpus_has(cpus, cpu) && !is_noted(notes, cpu) &&
            frequency_get(lever->cpu_root, cpu, MAX_FILE, &khz) == 0)
            vec_push(&notes->frequencies, ((struct frequency_note){cpu, khz}));
}

static int frequency_cap(const struct lever *lever, struct levers_notes *notes, uint64_t khz,
                         struct str *said, struct err *err)
{
    struct lever_values now;
    int r = lever_ops_cpus.read(lever, &now);

    if (r < 0)
        return err_errno(err, -r, "cannot tell its processors");
    notes_follow(lever, notes, &now.cpus);
    if (notes->frequencies.len == 0)
        return err_set(err, ENOTSUP, "not possible: none of its processors has cpufreq");
    r = levers_notes_save(lever->dir, notes, err);
    if (r < 0)
        return r;
    vec_foreach (note, &notes->frequencies) {
        r = frequency_put(lever->cpu_root, note->cpu, frequency_clamp(lever, note->cpu, khz, said));
        if (r < 0)
            return err_errno(err, -r, "cannot write %s/cpu%zu/%s", lever->cpu_root, note->cpu,
                             MAX_FILE);
    }
    return 0;
}

static int frequency_apply(const struct lever *lever, const struct lever_values *want,
                           struct str *said, struct err *err)
{
    autorelease(levers_notes) struct levers_notes notes = {0};
    autorelease(str) struct str how = STR_INIT;
    int r = levers_notes_load(lever->dir, &notes, err);

    if (r < 0)
        return r;
    if (!frequency_possible(lever, &how))
        return err_set(err, ENOTSUP, "%s", how.s);
    if (want->frequency_khz == 0)
        return err_set(err, EINVAL, "0 kHz is no frequency");
    if (want->frequency_khz != UINT64_MAX)
        return frequency_cap(lever, &notes, want->frequency_khz, said, err);
    frequencies_restore(lever->cpu_root, &notes);
    return levers_notes_save(lever->dir, &notes, err);
}

int frequency_follow(const struct lever *lever, struct str *said, struct err *err)
{
    autorelease(levers_notes) struct levers_notes notes = {0};
    uint64_t cap = 0;
    int r = levers_notes_load(lever->dir, &notes, err);

    if (r < 0 || notes.frequencies.len == 0)
        return r;
    vec_foreach (note, &notes.frequencies) {
        uint64_t khz;
        if (frequency_get(lever->cpu_root, note->cpu, MAX_FILE, &khz) == 0)
            cap = MAX(cap, khz);
    }
    return cap > 0 ? frequency_cap(lever, &notes, cap, said, err) : 0;
}

static int frequency_read(const struct lever *lever, struct lever_values *ret)
{
    struct lever_values now;
    int r = lever_ops_cpus.read(lever, &now), known = -ENOTSUP;

    ret->frequency_khz = 0;
    for (size_t cpu = 0; r == 0 && cpu < CPUS_MAX; cpu++) {
        uint64_t khz;
        if (!cpus_has(&now.cpus, cpu) || frequency_get(lever->cpu_root, cpu, MAX_FILE, &khz) < 0)
            continue;
        ret->frequency_khz = MAX(ret->frequency_khz, khz);
        known = 0;
    }
    return r < 0 ? r : known;
}

const struct lever_ops lever_ops_frequency = {.name = "frequency",
                                              .possible = frequency_possible,
                                              .apply = frequency_apply,
                                              .read = frequency_read};
