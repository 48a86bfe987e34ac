/* SPDX-License-Identifier: MIT */
/*
 * arrivals.c — experiments that arrive at random and wait in line, by mode: how long they wait, and
 * how long until their result. The same jobs and arrivals for all modes.
 *
 *     arrivals [JOBS]      100,000
 *
 * The load is what `off` would keep busy; a mode that needs more than all of the time has a line
 * without end, and its figures grow with the number of jobs.
 */
#include "linalg/linalg.h"
#include "tests/sim/machine_jobs.h"

#include <err.h>
#include <math.h>

static const double loads[] = {0.75, 0.95};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static void print_figures(double *values, size_t n)
{
    double sum = 0;

    qsort(values, n, sizeof(*values), by_value);
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    printf(" %.0f | %.0f | %.0f |", sum / (double)n, values[n / 2], values[n * 95 / 100]);
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

static void check_order(const struct turn *turns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (turns[i].job != i || turns[i].start_s < turns[i].arrived_s ||
            (i > 0 && turns[i].start_s < turns[i - 1].end_s))
            errx(1, "job %zu is out of order", i);
}

static void report(enum service_mode mode, double load, const double *arrived_s,
                   const double *service_s, size_t n)
{
    autofree(mem) struct turn *turns = xcalloc(n, sizeof(*turns));
    autofree(mem) double *values = xcalloc(n, sizeof(*values));
    double service = mean_of(service_s, n);

    queue_run(arrived_s, service_s, n, turns);
    check_order(turns, n);
    printf("| %.2f | %s | %.1f | %.2f |", load, service_mode_name(mode), service,
           service * (double)n / arrived_s[n - 1]);
    for (size_t i = 0; i < n; i++)
        values[i] = turns[i].start_s - turns[i].arrived_s;
    print_figures(values, n);
    for (size_t i = 0; i < n; i++)
        values[i] = turns[i].end_s - turns[i].arrived_s;
    print_figures(values, n);
    printf("\n");
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    struct err err = ERR_INIT;
    double *service_s[SERVICE_MODES];

    if (linalg_open(&err) < 0)
        errx(1, "%s", err_text(&err));
    if (n == 0)
        errx(1, "usage: arrivals [JOBS]");
    autofree(mem) struct arrival *jobs = xcalloc(n, sizeof(*jobs));
    autofree(mem) double *arrived_s = xcalloc(n, sizeof(*arrived_s));
    arrivals_draw(jobs, n, /* seed= */ 13);
    for (size_t m = 0; m < SERVICE_MODES; m++) {
        autofree(workshop) struct workshop *workshop = workshop_new(m);
        service_s[m] = xcalloc(n, sizeof(double));
        for (size_t i = 0; i < n; i++)
            service_s[m][i] = workshop_run(workshop, &jobs[i]);
    }
    printf(
        "| load | mode | service, s | busy | queue delay: mean | p50 | p95 | response: mean | p50 "
        "| p95 |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t l = 0; l < ARRAY_LEN(loads); l++) {
        double gap = mean_of(service_s[SERVICE_OFF], n) / loads[l];
        arrivals_times(arrived_s, n, gap, /* seed= */ 13);
        for (size_t m = 0; m < SERVICE_MODES; m++)
            report(m, loads[l], arrived_s, service_s[m], n);
    }
    printf("\n%zu jobs, seconds; all served in the order of arrival.\n", n);
    for (size_t m = 0; m < SERVICE_MODES; m++)
        free(service_s[m]);
    return 0;
}
