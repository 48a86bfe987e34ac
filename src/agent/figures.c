/* SPDX-License-Identifier: MIT */
/*
 * figures.c — one look at the machine, and what its parts need for it.
 *
 * A look happens every second for as long as something trains, so it must cost next to nothing: the
 * kernel's files are opened once and read again from their beginning, all into one page, and walked
 * over in place. Memory is taken only when a device shows up for the first time.
 */
#include "agent/figures_parts.h"

#include "model/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

/* ---- the list ---- */

void figure_list_release(struct figure_list *list)
{
    vec_release(&list->samples);
}

void figure_add(struct figure_list *list, const char *name, double value)
{
    struct agent_sample sample = {
        .metric = name, .value = value, .step = STEP_NONE, .time_us = list->time_us};

    if (isfinite(value))
        vec_push(&list->samples, sample);
}

void figure_add_rate(struct figure_list *list, const char *name, double before, double now)
{
    double change = now - before;

    figure_add(list, name, change >= 0 && list->seconds > 0 ? change / list->seconds : NAN);
}

void figure_add_share(struct figure_list *list, const char *name, double part, double whole)
{
    bool known = !isnan(list->seconds) && whole > 0 && part >= 0;

    figure_add(list, name, known ? 100 * MIN(1.0, part / whole) : NAN);
}

/* ---- files that stay open ---- */

int kept_open(const char *dir, const char *file)
{
    autofree(mem) char *path = xasprintf("%s/%s", dir, file);

    return open(path, O_RDONLY | O_CLOEXEC);
}

const char *kept_read(int fd, struct page *page)
{
    size_t n = 0;

    while (fd >= 0 && n < PAGE_BYTES) {
        ssize_t r = pread(fd, page->text + n, PAGE_BYTES - n, (off_t)n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return NULL;
        if (r == 0)
            break;
        n += (size_t)r;
    }
    page->text[n] = '\0';
    return n > 0 ? page->text : NULL;
}

bool scan_number(const char **at, double *ret)
{
    const char *p = *at;
    uint64_t x = 0;

    while (*p == ' ' || *p == '\t')
        p++;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++)
        x = x * 10 + (uint64_t)(*p - '0');
    *at = p;
    *ret = (double)x;
    return true;
}

bool scan_word(const char **at, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

bool scan_line(const char **at)
{
    const char *end = strchr(*at, '\n');

    *at = end ? end + 1 : *at + strlen(*at);
    return **at != '\0';
}

/* ---- the machine ---- */

struct figures {
    struct figure_list list;
    int64_t at_us; /* of the last look; 0: none */
    struct page page;
    struct cpu_figures cpu;
    struct memory_figures memory;
    struct device_figures devices;
    struct sensor_figures sensors;
};

struct figures *figures_new(const struct figures_options *options)
{
    struct figures *figures = xcalloc(1, sizeof(*figures));
    struct figures_options set = *options;

    set.proc = set.proc ? set.proc : "/proc";
    set.sys = set.sys ? set.sys : "/sys";
    figures->page.text = xmalloc(PAGE_BYTES + 1);
    cpu_open(&figures->cpu, set.proc);
    memory_open(&figures->memory, set.proc);
    devices_open(&figures->devices, &set);
    sensors_open(&figures->sensors, &set);
    return figures;
}

void figures_free(struct figures *figures)
{
    if (!figures)
        return;
    cpu_close(&figures->cpu);
    memory_close(&figures->memory);
    devices_close(&figures->devices);
    sensors_close(&figures->sensors);
    figure_list_release(&figures->list);
    free(figures->page.text);
    free(figures);
}

void figures_forget(struct figures *figures)
{
    figures->at_us = 0;
}

const struct figure_list *figures_look(struct figures *figures, int64_t now_us, int64_t wall_us)
{
    struct figure_list *list = &figures->list;

    list->samples.len = 0;
    list->time_us = wall_us;
    list->seconds =
        figures->at_us && now_us > figures->at_us ? (double)(now_us - figures->at_us) / 1e6 : NAN;
    cpu_look(&figures->cpu, &figures->page, list);
    memory_look(&figures->memory, &figures->page, list);
    devices_look(&figures->devices, &figures->page, list);
    sensors_look(&figures->sensors, now_us, &figures->page, list);
    figures->at_us = now_us;
    return list;
}
