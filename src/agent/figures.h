/* SPDX-License-Identifier: MIT */
/*
 * figures.h — what the machine does, and what each attempt does on it, second by second, as samples
 * of metrics called system/…; docs/system.md lists them all with their units.
 *
 *     figures_look  ──► the machine: cpus, memory, pressure, disks, networks, temperature, GPUs
 *     attempt_look  ──► one process tree: cpu, threads, memory, bytes, its own cgroup
 *
 * Rates are those since the last look, so the first look tells levels only. What a machine does not
 * have or does not let us see is absent: never 0, never NaN.
 */
#ifndef HONE_AGENT_FIGURES_H
#define HONE_AGENT_FIGURES_H

#include "agent/agent.h"
#include "agent/counters_parts.h"
#include "agent/energy_meter.h"

/* Told figures; emptied by every look, and borrowed until the next one. */
struct figure_list {
    VEC(struct agent_sample) samples;
    int64_t time_us; /* wall, of this look */
    double seconds;  /* since the last look; NaN: there was none */
};
void figure_list_release(struct figure_list *list);

/* ---- the machine ---- */

struct figures_options {
    const char *proc, *sys;     /* NULL: "/proc", "/sys" */
    struct energy_meter *meter; /* borrowed; its watts and devices. NULL: none */
    bool mapped;                /* tell of device-mapper's disks, too */
};

struct figures;

/* Opens what there is; its files stay open. Texts are copied. */
struct figures *figures_new(const struct figures_options *options);
void figures_free(struct figures *figures);
DEFINE_AUTOFREE(figures);
/* now_us: monotonic, wall_us: for the samples. Borrowed until the next look. */
const struct figure_list *figures_look(struct figures *figures, int64_t now_us, int64_t wall_us);
/* Nobody looked for a while: the next look is a first one. */
void figures_forget(struct figures *figures);

/* ---- an attempt ---- */

struct attempt_figures {
    struct process_tree tree;
    int64_t at_us; /* of the last look; 0: none */
    double last[COUNTERS];
    uint64_t switches;
    struct figure_list list;
};

/* `proc` is borrowed; `root` is the keeper, which is not counted itself. */
void attempt_figures_init(struct attempt_figures *figures, const char *proc, pid_t root);
void attempt_figures_release(struct attempt_figures *figures);
/* As figures_look. NULL if there is no such process any more. */
const struct figure_list *attempt_look(struct attempt_figures *figures, const char *sys,
                                       int64_t now_us, int64_t wall_us);
void attempt_forget(struct attempt_figures *figures);

#endif
