/* SPDX-License-Identifier: MIT */
/*
 * figures_cpu.c — how busy the processors are, by /proc/stat, and how many tasks want them.
 *
 *     cpu0  user nice system idle iowait irq softirq steal guest guest_nice    ticks since boot
 *           └──── busy ────┘             └──── busy ─────┘ └ in user already
 *
 * A processor that waits for a disk is free for others, so it is not busy; iowait is told apart.
 * What other guests of the same host took (steal) was not to be had, so it is. Shares are of the
 * ticks that passed, not of the clock: they are right however late a look comes.
 */
#include "agent/figures_parts.h"

#include <math.h>
#include <unistd.h>

#define MAX_CORES  4096
#define MANY_CORES 64 /* above, one by one is no longer of use */

void cpu_open(struct cpu_figures *cpu, const char *proc)
{
    cpu->stat = kept_open(proc, "stat");
    cpu->load = kept_open(proc, "loadavg");
}

void cpu_close(struct cpu_figures *cpu)
{
    fd_autoclose(&cpu->stat);
    fd_autoclose(&cpu->load);
    vec_foreach (core, &cpu->cores)
        free(core->name);
    vec_release(&cpu->cores);
}

static bool scan_times(const char **at, struct cpu_times *ret)
{
    double x[8] = {0};
    size_t n = 0;

    while (n < ARRAY_LEN(x) && scan_number(at, &x[n]))
        n++;
    *ret = (struct cpu_times){
        .user = x[0] + x[1],
        .system = x[2] + x[5] + x[6],
        .iowait = x[4],
        .steal = x[7],
        .busy = x[0] + x[1] + x[2] + x[5] + x[6] + x[7],
    };
    ret->all = ret->busy + x[3] + x[4];
    return n >= 4;
}

/* Its share since the last look; NaN if there was none, or nothing passed. */
static double step(struct cpu_core *core, const struct cpu_times *now)
{
    double whole = now->all - core->last.all, part = now->busy - core->last.busy;
    bool known = core->seen && whole > 0 && part >= 0;

    core->last = *now;
    core->seen = true;
    return known ? 100 * MIN(1.0, part / whole) : NAN;
}

static void tell_all(struct cpu_figures *cpu, const struct cpu_times *now, struct figure_list *list)
{
    struct cpu_times last = cpu->all.last;
    double whole = cpu->all.seen ? now->all - last.all : NAN;

    figure_add_share(list, "system/cpu", now->busy - last.busy, whole);
    figure_add_share(list, "system/cpu_user", now->user - last.user, whole);
    figure_add_share(list, "system/cpu_system", now->system - last.system, whole);
    figure_add_share(list, "system/cpu_iowait", now->iowait - last.iowait, whole);
    figure_add_share(list, "system/cpu_steal", now->steal - last.steal, whole);
    step(&cpu->all, now);
}

static struct cpu_core *core_at(struct cpu_figures *cpu, size_t number)
{
    while (cpu->cores.len <= number) {
        struct cpu_core core = {.name = xasprintf("system/cpu.%zu", cpu->cores.len)};
        vec_push(&cpu->cores, core);
    }
    return &cpu->cores.at[number];
}

struct spread {
    double min, max;
    size_t n;
};

static void tell_core(struct cpu_core *core, const struct cpu_times *now, struct spread *spread,
                      struct figure_list *list)
{
    double busy = step(core, now);

    if (isnan(busy) || isnan(list->seconds))
        return;
    figure_add(list, core->name, busy);
    spread->min = MIN(spread->min, busy);
    spread->max = MAX(spread->max, busy);
    spread->n++;
}

/* "cpu1 6 0 2 …" lines up to the first other one. */
static void look_at_cores(struct cpu_figures *cpu, const char *at, struct figure_list *list)
{
    struct spread spread = {100, 0, 0};
    size_t before = list->samples.len;
    double number;

    do {
        struct cpu_times now;
        if (!scan_word(&at, "cpu"))
            break;
        if (!scan_number(&at, &number) || number >= MAX_CORES || !scan_times(&at, &now))
            continue;
        tell_core(core_at(cpu, (size_t)number), &now, &spread, list);
    } while (scan_line(&at));
    if (spread.n <= MANY_CORES)
        return;
    list->samples.len = before;
    figure_add(list, "system/cpu.min", spread.min);
    figure_add(list, "system/cpu.max", spread.max);
}

/* "0.33 0.80 1.20 2/613 4711" */
static void look_at_load(const char *at, struct figure_list *list)
{
    double whole, hundredths;

    if (scan_number(&at, &whole) && scan_word(&at, ".") && scan_number(&at, &hundredths))
        figure_add(list, "system/load", whole + hundredths / 100);
}

void cpu_look(struct cpu_figures *cpu, struct page *page, struct figure_list *list)
{
    const char *at = kept_read(cpu->stat, page);
    struct cpu_times now;

    if (at && scan_word(&at, "cpu ") && scan_times(&at, &now)) {
        tell_all(cpu, &now, list);
        if (scan_line(&at))
            look_at_cores(cpu, at, list);
    }
    at = kept_read(cpu->load, page);
    if (at)
        look_at_load(at, list);
}
