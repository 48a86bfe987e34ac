/* SPDX-License-Identifier: MIT */
/*
 * latency.c — how long a suggestion takes when there are 10 parameters and n results.
 *
 *     latency [-k ASKS] OUT [ALGORITHM:RESULTS…]
 *
 * Writes OUT/latency.csv: algorithm,results,asks,what,p50_ms,p99_ms,first_ms. `what` is `cpu` (this
 * thread) or `wall`. The results are told in bulk, as after a restart; the ask after that fits the
 * model from nothing and is apart (`first`). Then ASKS (100) asks, or what half a minute allows,
 * are timed, each with the telling of its result, so that work cannot hide in the tell.
 */
#include "bench/search/driver.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#define DIM     10
#define MOST_MS 30000

static const char *const usual[] = {
    "tpe:1000",   "bayes:100",  "bayes:300",    "bayes:1000",  "auto:100",
    "auto:300",   "auto:1000",  "forest:1000",  "cmaes:1000",  "evolve:1000",
    "sobol:1000", "tpe:100000", "bayes:100000", "auto:100000", "forest:100000",
};

struct times {
    double cpu, wall; /* ms */
};

static double read_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct times now(void)
{
    return (struct times){read_ms(CLOCK_THREAD_CPUTIME_ID), read_ms(CLOCK_MONOTONIC)};
}

/* A valley that bends (Rosenbrock's, in 10 dimensions), with some noise. */
static double objective(const double *x, struct rng *rng)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < DIM; i++)
        sum += 100 * pow(x[i + 1] - x[i] * x[i], 2) + pow(1 - x[i], 2);
    return sum + 0.1 * rng_normal(rng);
}

static void tell(struct search *s, const double *x, struct rng *rng)
{
    struct result result = {.kind = RESULT_VALUE, .value = objective(x, rng)};
    search_tell(s, x, &result);
}

static void tell_many(struct search *s, size_t n, struct rng *rng)
{
    double x[DIM];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < DIM; j++)
            x[j] = -2 + 4 * rng_unit(rng);
        tell(s, x, rng);
    }
}

static struct times ask(struct search *s, struct rng *rng)
{
    double x[DIM];
    struct suggestion next = {.x = x};
    struct times begin = now();

    must_ask(s, &next);
    tell(s, x, rng);
    struct times end = now();
    return (struct times){end.cpu - begin.cpu, end.wall - begin.wall};
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The smallest that at least `part` of them do not exceed. Sorts them. */
static double quantile(double *values, size_t n, double part)
{
    qsort(values, n, sizeof(*values), compare);
    size_t at = (size_t)ceil(part * (double)n);
    return values[at ? at - 1 : 0];
}

static void print(const char *algorithm, size_t results, size_t asks, const char *what,
                  double *values, double first, FILE *out)
{
    double p50 = quantile(values, asks, 0.5), p99 = quantile(values, asks, 0.99);
    fprintf(out, "%s,%zu,%zu,%s,%.4f,%.4f,%.4f\n", algorithm, results, asks, what, p50, p99, first);
    printf("latency %s at %zu results, %s: p50 %.2f ms, p99 %.2f ms, first %.1f ms\n", algorithm,
           results, what, p50, p99, first);
    fflush(stdout);
}

static void measure(const char *algorithm, size_t results, size_t asks, FILE *out)
{
    autorelease(space) struct space space = real_space(DIM, -2, 2);
    struct problem problem = {.space = &space, .seed = 1, .repeats = true};
    autofree(search) struct search *s = must_search(algorithm, &problem);
    autofree(mem) double *cpu = xcalloc(asks, sizeof(*cpu));
    autofree(mem) double *wall = xcalloc(asks, sizeof(*wall));
    struct rng rng;

    rng_init(&rng, 1, results);
    tell_many(s, results, &rng);
    struct times first = ask(s, &rng);
    double end = now().cpu + MOST_MS;
    size_t done = 0;
    for (; done < asks && (done == 0 || now().cpu < end); done++) {
        struct times took = ask(s, &rng);
        cpu[done] = took.cpu;
        wall[done] = took.wall;
    }
    print(algorithm, results, done, "cpu", cpu, first.cpu, out);
    print(algorithm, results, done, "wall", wall, first.wall, out);
}

int main(int argc, char **argv)
{
    size_t asks = 100;
    int option;

    while ((option = getopt(argc, argv, "k:")) != -1) {
        if (option != 'k')
            return 2;
        asks = strtoul(optarg, NULL, 10);
    }
    if (argc == optind || asks < 1)
        die("usage: latency [-k ASKS] OUT [ALGORITHM:RESULTS…]");
    const char *const *cases = argc - optind > 1 ? (const char *const *)argv + optind + 1 : usual;
    size_t n = argc - optind > 1 ? (size_t)(argc - optind - 1) : ARRAY_LEN(usual);
    struct output out = output_open("algorithm,results,asks,what,p50_ms,p99_ms,first_ms",
                                    "%s/latency.csv", argv[optind]);
    for (size_t i = 0; i < n; i++) {
        size_t length = strcspn(cases[i], ":");
        if (!cases[i][length])
            die("'%s' is not ALGORITHM:RESULTS", cases[i]);
        autofree(mem) char *algorithm = xstrndup(cases[i], length);
        measure(algorithm, strtoul(cases[i] + length + 1, NULL, 10), asks, out.file);
    }
    output_finish(&out);
    return 0;
}
