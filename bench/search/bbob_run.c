/* SPDX-License-Identifier: MIT */
/*
 * bbob_run.c — our searchers on BBOB.
 *
 *     bbob_run [-a ALGORITHM] [-d DIM]… [-i 1-5] OUT
 *
 * Writes OUT/bbob-ALGORITHM.csv as bbob_peers.py does for the peers: function,dim,instance,trial,
 * regret, all functions in 2, 5 and 10 dimensions, budget min(10·dim, 100), the seed of a run is
 * its instance.
 */
#include "bench/search/bbob.h"
#include "bench/search/driver.h"

#include <math.h>
#include <unistd.h>

#define MOST_DIMS 8

struct plan {
    const char *algorithm;
    size_t dims[MOST_DIMS], n_dims;
    struct seeds instances;
};

static int64_t budget(size_t dim)
{
    return (int64_t)MIN(10 * dim, 100);
}

/* The least regret that it reached. */
static double run(const char *algorithm, int function, size_t dim, uint64_t instance, FILE *out)
{
    struct bbob *bbob = bbob_new(function, dim, (int)instance);
    autorelease(space) struct space space = real_space(dim, -5, 5);
    autofree(mem) double *x = xcalloc(dim, sizeof(*x));
    struct problem problem = {
        .space = &space, .trials = budget(dim), .seed = instance, .repeats = true};
    autofree(search) struct search *s = must_search(algorithm, &problem);
    double least = INFINITY;

    for (int64_t trial = 0; trial < problem.trials; trial++) {
        struct suggestion next = {.x = x};
        must_ask(s, &next);
        struct result result = {.kind = RESULT_VALUE, .value = bbob_value(bbob, x)};
        search_tell(s, x, &result);
        double regret = result.value - bbob_best(bbob);
        fprintf(out, "%d,%zu,%d,%lld,%.17g\n", function, dim, (int)instance, (long long)trial,
                regret);
        least = fmin(least, regret);
    }
    bbob_free(bbob);
    return least;
}

static struct plan read_plan(int argc, char **argv)
{
    struct plan plan = {.algorithm = "auto", .instances = {1, 5}};
    int option;

    while ((option = getopt(argc, argv, "a:d:i:")) != -1) {
        if (option == 'a')
            plan.algorithm = optarg;
        else if (option == 'd' && plan.n_dims < MOST_DIMS)
            plan.dims[plan.n_dims++] = strtoul(optarg, NULL, 10);
        else if (option == 'i')
            plan.instances = seeds_parse(optarg);
        else
            exit(2);
    }
    if (argc - optind != 1)
        die("usage: bbob_run [-a ALGORITHM] [-d DIM]… [-i 1-5] OUT");
    for (size_t k = 0; k < plan.n_dims; k++)
        if (plan.dims[k] < 2)
            die("BBOB has 2 dimensions or more");
    if (!plan.n_dims) {
        static const size_t usual[] = {2, 5, 10};
        memcpy(plan.dims, usual, sizeof(usual));
        plan.n_dims = ARRAY_LEN(usual);
    }
    return plan;
}

int main(int argc, char **argv)
{
    struct plan plan = read_plan(argc, argv);
    struct output out = output_open("function,dim,instance,trial,regret", "%s/bbob-%s.csv",
                                    argv[optind], plan.algorithm);

    for (size_t k = 0; k < plan.n_dims; k++) {
        double sum = 0, runs = 0;
        for (uint64_t i = plan.instances.first; i <= plan.instances.last; i++)
            for (int function = 1; function <= BBOB_FUNCTIONS; function++, runs++) {
                double least = run(plan.algorithm, function, plan.dims[k], i, out.file);
                sum += log10(fmax(least, 1e-8));
            }
        printf("bbob %s dimension %zu: mean log10 regret %.2f\n", plan.algorithm, plan.dims[k],
               sum / runs);
        fflush(stdout);
    }
    output_finish(&out);
    return 0;
}
