/* SPDX-License-Identifier: MIT */
/*
 * figures_parts.h — what the files of the figures share: figures.c puts together what
 * figures_cpu.c, figures_memory.c, figures_devices.c and figures_sensors.c see.
 */
#ifndef HONE_AGENT_FIGURES_PARTS_H
#define HONE_AGENT_FIGURES_PARTS_H

#include "agent/figures.h"

/* ---- figures.c ---- */

/* A figure that is not finite is left out. `name` must live as long as the list is used. */
void figure_add(struct figure_list *list, const char *name, double value);
/* What a sum grew by a second. One that fell, or was not there before (NaN), is left out. */
void figure_add_rate(struct figure_list *list, const char *name, double before, double now);
/* `part` of `whole` in percent, of sums since the last look. */
void figure_add_share(struct figure_list *list, const char *name, double part, double whole);

/* Room for the text of one file, and the last one read into it. */
struct page {
    char *text; /* PAGE_BYTES + 1 */
};
#define PAGE_BYTES ((size_t)512 << 10)
/* Open DIR/FILE for looks to come; -1: it is not there. */
int kept_open(const char *dir, const char *file);
/* The whole file, from its beginning; NULL if it cannot be read. Borrowed until the next call. */
const char *kept_read(int fd, struct page *page);

/* Steps over blanks and a whole number; false: there is none, and nothing is stepped over. */
bool scan_number(const char **at, double *ret);
/* Behind `word` if the text begins so. */
bool scan_word(const char **at, const char *word);
/* To the beginning of the next line; false: this was the last. */
bool scan_line(const char **at);

/* ---- figures_cpu.c ---- */

struct cpu_times {
    double user, system, iowait, steal, busy, all; /* ticks since boot */
};
struct cpu_core {
    char *name; /* of its figure */
    struct cpu_times last;
    bool seen; /* `last` is of the last look */
};
struct cpu_figures {
    int stat, load;
    struct cpu_core all;
    VEC(struct cpu_core) cores; /* by number */
};
void cpu_open(struct cpu_figures *cpu, const char *proc);
void cpu_close(struct cpu_figures *cpu);
void cpu_look(struct cpu_figures *cpu, struct page *page, struct figure_list *list);

/* ---- figures_memory.c ---- */

#define PRESSURES 6
struct memory_figures {
    int meminfo, pressure[PRESSURES / 2];
    double stalled_us[PRESSURES];
};
void memory_open(struct memory_figures *memory, const char *proc);
void memory_close(struct memory_figures *memory);
void memory_look(struct memory_figures *memory, struct page *page, struct figure_list *list);

/* ---- figures_devices.c ---- */

#define DEVICE_FIGURES 3
struct device {
    char *name;
    char *names[DEVICE_FIGURES]; /* of its figures; NULL: not told */
    double last[DEVICE_FIGURES];
    bool told; /* it is one of those that are of interest */
    bool seen; /* in this look */
};
struct device_figures {
    int disks, networks;
    char *block; /* folder of whole disks */
    bool mapped;
    VEC(struct device) disk, network;
};
void devices_open(struct device_figures *devices, const struct figures_options *options);
void devices_close(struct device_figures *devices);
void devices_look(struct device_figures *devices, struct page *page, struct figure_list *list);

/* ---- figures_sensors.c ---- */

struct sensor_kind {
    char *name, *figure;
    double hottest;
};
struct sensor {
    int fd;
    size_t kind; /* index */
};
struct gpu_names {
    char *busy, *memory, *power, *temperature;
};
struct sensor_figures {
    VEC(struct sensor_kind) kinds;
    VEC(struct sensor) sensors;
    VEC(struct gpu_names) gpus;
    struct energy_meter *meter; /* borrowed; NULL: none */
    double joules;              /* at the last look */
};
void sensors_open(struct sensor_figures *sensors, const struct figures_options *options);
void sensors_close(struct sensor_figures *sensors);
void sensors_look(struct sensor_figures *sensors, int64_t now_us, struct page *page,
                  struct figure_list *list);

#endif
