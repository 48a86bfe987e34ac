/* SPDX-License-Identifier: MIT */
/*
 * jacobi.c — the weighted Jacobi method for Poisson's equation on a square, zero at its edges. A
 * step is ten sweeps, the loss the norm of the residual over that of the source. Little
 * arithmetic, much memory, and every sweep waits for all threads.
 */
#include "workload.h"

#define SWEEPS 10

enum { SIZE = N_COMMON, WEIGHT, N_SETTINGS };
static struct setting settings[N_SETTINGS] = {
    COMMON_SETTINGS(300),
    [SIZE] = {"size", 768, 3, 16384, true, "numbers along an edge"},
    [WEIGHT] = {"weight", 1, 0.01, 1, false, "of the new value; below 1 damps"},
};

struct grid {
    int n;
    double *u, *next; /* (n, n), the solution now and after the sweep */
    double *source;   /* (n, n), times the square of the distance between neighbours */
    double *rows;     /* (n), of a sum in order */
    double norm2;     /* of the source, squared */
};

static struct grid grid_new(int n, uint64_t seed)
{
    size_t cells = (size_t)n * (size_t)n;
    struct grid g = {
        .n = n,
        .u = allocate(cells, sizeof(double)),
        .next = allocate(cells, sizeof(double)),
        .source = allocate(cells, sizeof(double)),
        .rows = allocate((size_t)n, sizeof(double)),
    };
    for (size_t i = 0; i < cells; i++) {
        size_t row = i / (size_t)n, column = i % (size_t)n, last = (size_t)n - 1;
        g.source[i] = random_uniform(seed, i);
        if (row > 0 && row < last && column > 0 && column < last)
            g.norm2 += g.source[i] * g.source[i];
    }
    return g;
}

static void grid_release(struct grid *g)
{
    free(g->u);
    free(g->next);
    free(g->source);
    free(g->rows);
}

static void sweep(struct grid *g, double weight)
{
    size_t n = (size_t)g->n;
    const double *u = g->u;
#pragma omp parallel for schedule(static)
    for (size_t i = 1; i < n - 1; i++)
        for (size_t at = i * n + 1; at < (i + 1) * n - 1; at++) {
            double mean = (u[at - n] + u[at + n] + u[at - 1] + u[at + 1] + g->source[at]) / 4;
            g->next[at] = u[at] + weight * (mean - u[at]);
        }
    double *swap = g->u;
    g->u = g->next;
    g->next = swap;
}

/* The norm of source - (4u - neighbours) over the norm of the source. */
static double residual(struct grid *g)
{
    size_t n = (size_t)g->n;
    const double *u = g->u;
#pragma omp parallel for schedule(static)
    for (size_t i = 1; i < n - 1; i++) {
        double sum = 0;
        for (size_t at = i * n + 1; at < (i + 1) * n - 1; at++) {
            double r = g->source[at] + u[at - n] + u[at + n] + u[at - 1] + u[at + 1] - 4 * u[at];
            sum += r * r;
        }
        g->rows[i] = sum;
    }
    return sqrt(sum_in_order(g->rows, n) / g->norm2);
}

int main(int argc, char **argv)
{
    workload_start(argc, argv, settings, N_SETTINGS);
    struct grid g = grid_new((int)settings[SIZE].value, (uint64_t)settings[SEED].value);

    for (int64_t step = 0; workload_step(settings, step); step++) {
        for (int i = 0; i < SWEEPS; i++)
            sweep(&g, settings[WEIGHT].value);
        workload_log(step, residual(&g));
    }
    grid_release(&g);
    return 0;
}
