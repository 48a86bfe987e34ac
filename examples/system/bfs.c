/* SPDX-License-Identifier: MIT */
/*
 * bfs.c — how far apart are two vertices of a random graph? A step is one breadth-first search from
 * a random source; the mean distance over all sources so far is the answer, and the loss is its
 * relative standard error (1 after the first source, when nothing is known of it).
 *
 * Level by level: all vertices of a level look at their neighbours at once, and who comes first
 * takes a vertex into the next level. Who that is differs from run to run, so the next level has
 * another order; which vertices it holds does not, and only their number is used. Reads all over
 * the memory, hardly any arithmetic.
 */
#include "workload.h"

#define POUCH 128 /* vertices that a thread gathers before it adds them to the next level */

enum { VERTICES = N_COMMON, DEGREE, N_SETTINGS };
static struct setting settings[N_SETTINGS] = {
    COMMON_SETTINGS(200),
    [VERTICES] = {"vertices", 131072, 2, 1 << 24, true, "of the graph"},
    [DEGREE] = {"degree", 8, 1, 64, true, "edges that leave a vertex"},
};

struct graph {
    uint32_t n, degree;
    uint32_t *edges;        /* (n, degree): where they lead */
    unsigned char *reached; /* (n) */
    uint32_t *level, *next; /* (n) each: vertices of this level and of the next */
};

static struct graph graph_new(uint32_t n, uint32_t degree, uint64_t seed)
{
    size_t edges = (size_t)n * degree;
    struct graph g = {
        .n = n,
        .degree = degree,
        .edges = allocate(edges, sizeof(uint32_t)),
        .reached = allocate(n, 1),
        .level = allocate(n, sizeof(uint32_t)),
        .next = allocate(n, sizeof(uint32_t)),
    };
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < edges; i++)
        g.edges[i] = (uint32_t)(random_bits(seed, i) % n);
    return g;
}

static void graph_release(struct graph *g)
{
    free(g->edges);
    free(g->reached);
    free(g->level);
    free(g->next);
}

/* True for the first who asks. */
static bool take(struct graph *g, uint32_t vertex)
{
    return !__atomic_load_n(&g->reached[vertex], __ATOMIC_RELAXED) &&
           !__atomic_exchange_n(&g->reached[vertex], 1, __ATOMIC_RELAXED);
}

static void empty_pouch(struct graph *g, const uint32_t *pouch, uint32_t n, uint32_t *n_next)
{
    uint32_t at = __atomic_fetch_add(n_next, n, __ATOMIC_RELAXED);
    memcpy(g->next + at, pouch, n * sizeof(*pouch));
}

/* From the n vertices of g->level to g->next; returns how many are there. */
static uint32_t expand(struct graph *g, uint32_t n)
{
    uint32_t n_next = 0;
#pragma omp parallel
    {
        uint32_t pouch[POUCH], held = 0;
#pragma omp for schedule(static)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t e = 0; e < g->degree; e++) {
                uint32_t vertex = g->edges[(size_t)g->level[i] * g->degree + e];
                if (!take(g, vertex))
                    continue;
                pouch[held++] = vertex;
                if (held == POUCH) {
                    empty_pouch(g, pouch, held, &n_next);
                    held = 0;
                }
            }
        empty_pouch(g, pouch, held, &n_next);
    }
    return n_next;
}

/* The mean distance from `source` to all that can be reached. */
static double mean_distance(struct graph *g, uint32_t source)
{
    uint64_t sum = 0, reached = 0, depth = 0;

    memset(g->reached, 0, g->n);
    g->reached[source] = 1;
    g->level[0] = source;
    for (uint32_t n = 1; n > 0;) {
        n = expand(g, n);
        sum += ++depth * n;
        reached += n;
        uint32_t *swap = g->level;
        g->level = g->next;
        g->next = swap;
    }
    return reached ? (double)sum / (double)reached : 0;
}

/* Mean and spread of what was seen so far (Welford 1962). */
struct estimate {
    double n, mean, squares;
};

static double estimate_add(struct estimate *e, double x)
{
    double before = x - e->mean;
    e->n++;
    e->mean += before / e->n;
    e->squares += before * (x - e->mean);
    if (e->n < 2 || e->mean <= 0)
        return 1;
    return sqrt(e->squares / (e->n - 1) / e->n) / e->mean;
}

int main(int argc, char **argv)
{
    workload_start(argc, argv, settings, N_SETTINGS);
    uint64_t seed = (uint64_t)settings[SEED].value;
    struct graph g =
        graph_new((uint32_t)settings[VERTICES].value, (uint32_t)settings[DEGREE].value, seed);
    struct estimate estimate = {0};

    for (int64_t step = 0; workload_step(settings, step); step++) {
        uint32_t source = (uint32_t)(random_bits(seed + 1, (uint64_t)step) % g.n);
        workload_log(step, estimate_add(&estimate, mean_distance(&g, source)));
    }
    graph_release(&g);
    return 0;
}
