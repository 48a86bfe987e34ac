/* SPDX-License-Identifier: MIT */
/*
 * figures_tree.c — what one attempt does: its process tree by /proc, and its own cgroup.
 *
 * The tree is looked for anew each time, by the counters' code, and its files are opened for that:
 * they come and go with its processes, and to hold those of hundreds of threads open would take the
 * descriptors that programs need. The keeper at its root inherits what it waits for, so that the
 * sums do not fall when a worker ends.
 */
#include "agent/figures_parts.h"

#include <errno.h>
#include <math.h>

void attempt_figures_init(struct attempt_figures *figures, const char *proc, pid_t root)
{
    *figures = (struct attempt_figures){.tree = {.proc = proc, .root = root}};
}

void attempt_figures_release(struct attempt_figures *figures)
{
    process_tree_release(&figures->tree);
    figure_list_release(&figures->list);
}

void attempt_forget(struct attempt_figures *figures)
{
    figures->at_us = 0;
}

static const struct {
    const char *name;
    enum counter counter;
    double unit; /* of a second's growth; 0: a level, as it stands */
} rows[] = {
    {"system/attempt.wait", COUNTER_RUN_WAIT, 100},
    {"system/attempt.major_faults", COUNTER_MAJOR_FAULTS, 1},
    {"system/attempt.memory_bytes", COUNTER_RESIDENT, 0},
    {"system/attempt.read_bytes", COUNTER_READ_BYTES, 1},
    {"system/attempt.written_bytes", COUNTER_WRITE_BYTES, 1},
    {"system/cgroup.cpu", COUNTER_CGROUP_CPU, 100},
    {"system/cgroup.throttled", COUNTER_CGROUP_THROTTLED, 100},
    {"system/cgroup.memory_bytes", COUNTER_CGROUP_MEMORY, 0},
    {"system/cgroup.cache_bytes", COUNTER_CGROUP_CACHE, 0},
    {"system/cgroup.pressure.cpu.some", COUNTER_PRESSURE_CPU, 100},
    {"system/cgroup.pressure.memory.some", COUNTER_PRESSURE_MEMORY, 100},
    {"system/cgroup.pressure.memory.full", COUNTER_PRESSURE_MEMORY_FULL, 100},
    {"system/cgroup.pressure.io.some", COUNTER_PRESSURE_IO, 100},
    {"system/cgroup.pressure.io.full", COUNTER_PRESSURE_IO_FULL, 100},
};

static void tell(struct attempt_figures *figures, const double *now)
{
    struct figure_list *list = &figures->list;
    const double *last = figures->last;

    figure_add_rate(list, "system/attempt.cpu",
                    100 * (last[COUNTER_CPU_USER] + last[COUNTER_CPU_SYSTEM]),
                    100 * (now[COUNTER_CPU_USER] + now[COUNTER_CPU_SYSTEM]));
    figure_add(list, "system/attempt.processes", (double)figures->tree.pids.len - 1);
    figure_add(list, "system/attempt.threads", now[COUNTER_THREADS] - 1);
    figure_add_rate(list, "system/attempt.switches",
                    isnan(now[COUNTER_RUN_WAIT]) ? NAN : (double)figures->switches,
                    (double)figures->tree.switches);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double x = now[rows[i].counter];
        if (rows[i].unit > 0)
            figure_add_rate(list, rows[i].name, rows[i].unit * last[rows[i].counter],
                            rows[i].unit * x);
        else
            figure_add(list, rows[i].name, x);
    }
}

const struct figure_list *attempt_look(struct attempt_figures *figures, const char *sys,
                                       int64_t now_us, int64_t wall_us)
{
    struct figure_list *list = &figures->list;
    double now[COUNTERS];

    for (size_t i = 0; i < COUNTERS; i++)
        now[i] = NAN;
    if (process_tree_look(&figures->tree) < 0)
        return NULL;
    process_tree_read(&figures->tree, now);
    cgroup_read(figures->tree.proc, sys, &figures->tree, now);
    list->samples.len = 0;
    list->time_us = wall_us;
    list->seconds =
        figures->at_us && now_us > figures->at_us ? (double)(now_us - figures->at_us) / 1e6 : NAN;
    tell(figures, now);
    memcpy(figures->last, now, sizeof(now));
    figures->switches = figures->tree.switches;
    figures->at_us = now_us;
    return list;
}
