/* SPDX-License-Identifier: MIT */
/*
 * figures_memory.c — memory, swap, and how long work stood still for lack of something (pressure).
 *
 * Memory is used if a program that asked for it could not have it: what the kernel holds as cache
 * and would give back is available. Pressure is told as the share of the time since the last look,
 * from the kernel's own sum of microseconds; its averages over 10 s would smooth what we sample.
 */
#include "agent/figures_parts.h"

#include <math.h>
#include <unistd.h>

static const struct {
    const char *file, *some, *full;
} pressures[PRESSURES / 2] = {
    {"pressure/cpu", "system/pressure.cpu.some", "system/pressure.cpu.full"},
    {"pressure/memory", "system/pressure.memory.some", "system/pressure.memory.full"},
    {"pressure/io", "system/pressure.io.some", "system/pressure.io.full"},
};

void memory_open(struct memory_figures *memory, const char *proc)
{
    memory->meminfo = kept_open(proc, "meminfo");
    for (size_t i = 0; i < ARRAY_LEN(pressures); i++)
        memory->pressure[i] = kept_open(proc, pressures[i].file);
    for (size_t i = 0; i < PRESSURES; i++)
        memory->stalled_us[i] = NAN;
}

void memory_close(struct memory_figures *memory)
{
    fd_autoclose(&memory->meminfo);
    for (size_t i = 0; i < ARRAY_LEN(pressures); i++)
        fd_autoclose(&memory->pressure[i]);
}

enum { TOTAL, AVAILABLE, SWAP_TOTAL, SWAP_FREE, ROWS };
static const char *const rows[ROWS] = {"MemTotal:", "MemAvailable:", "SwapTotal:", "SwapFree:"};

/* "MemTotal:        8388608 kB" */
static void look_at_memory(const char *at, struct figure_list *list)
{
    double kib[ROWS] = {NAN, NAN, NAN, NAN};

    do {
        for (size_t i = 0; i < ROWS; i++)
            if (scan_word(&at, rows[i])) {
                scan_number(&at, &kib[i]);
                break;
            }
    } while (scan_line(&at));
    figure_add(list, "system/memory_bytes", (kib[TOTAL] - kib[AVAILABLE]) * 1024);
    figure_add(list, "system/memory_available_bytes", kib[AVAILABLE] * 1024);
    figure_add(list, "system/memory_total_bytes", kib[TOTAL] * 1024);
    if (kib[SWAP_TOTAL] > 0)
        figure_add(list, "system/swap_bytes", (kib[SWAP_TOTAL] - kib[SWAP_FREE]) * 1024);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=3264344" */
static double stalled_us(const char *at, const char *who)
{
    double us = NAN;

    do {
        const char *end = at + strcspn(at, "\n"), *total;
        if (!scan_word(&at, who) || !(total = strstr(at, " total=")) || total > end)
            continue;
        total += strlen(" total=");
        scan_number(&total, &us);
    } while (scan_line(&at));
    return us;
}

static void tell_pressure(double *last, double now, const char *name, struct figure_list *list)
{
    figure_add_share(list, name, now - *last, list->seconds * 1e6);
    *last = now;
}

void memory_look(struct memory_figures *memory, struct page *page, struct figure_list *list)
{
    const char *text = kept_read(memory->meminfo, page);

    if (text)
        look_at_memory(text, list);
    for (size_t i = 0; i < ARRAY_LEN(pressures); i++) {
        double *last = &memory->stalled_us[2 * i];
        text = kept_read(memory->pressure[i], page);
        tell_pressure(&last[0], text ? stalled_us(text, "some ") : NAN, pressures[i].some, list);
        tell_pressure(&last[1], text ? stalled_us(text, "full ") : NAN, pressures[i].full, list);
    }
}
