/* SPDX-License-Identifier: MIT */
/*
 * multi_run.c — our searchers on the closed forms with two objectives.
 *
 *     multi_run [-a ALGORITHM] [-s 1-10] OUT
 *
 * Writes OUT/multi-ALGORITHM.csv as multi_peers.py does for the peers: problem,seed,trial,f0,f1
 * with 6 parameters and 100 trials of each problem.
 */
#include "bench/search/driver.h"
#include "bench/search/multi.h"

#include <unistd.h>

#define DIM        6
#define OBJECTIVES 2
#define TRIALS     100

static struct space space_of(const struct multi *multi)
{
    struct space space = {.params = xcalloc(DIM, sizeof(*space.params)), .n = DIM};

    for (size_t i = 0; i < DIM; i++)
        space.params[i] = real_param(i, multi_low(multi, i), multi_high(multi, i));
    return space;
}

/* The part of the best volume that it did not reach. */
static double run(const char *algorithm, const struct multi *multi, uint64_t seed, FILE *out)
{
    double x[DIM], f[TRIALS][OBJECTIVES], reference[OBJECTIVES];
    autorelease(space) struct space space = space_of(multi);
    struct problem problem = {.space = &space,
                              .trials = TRIALS,
                              .seed = seed,
                              .n_objectives = OBJECTIVES,
                              .repeats = true};
    autofree(search) struct search *s = must_search(algorithm, &problem);

    for (size_t trial = 0; trial < TRIALS; trial++) {
        struct suggestion next = {.x = x};
        must_ask(s, &next);
        multi_value(multi, DIM, OBJECTIVES, x, f[trial]);
        struct result result = {.kind = RESULT_VALUE, .value = f[trial][0], .others = f[trial] + 1};
        search_tell(s, x, &result);
        fprintf(out, "%s,%llu,%zu,%.17g,%.17g\n", multi_name(multi), (unsigned long long)seed,
                trial, f[trial][0], f[trial][1]);
    }
    multi_reference(multi, OBJECTIVES, reference);
    return 1 -
           multi_volume(f[0], TRIALS, OBJECTIVES, reference) / multi_best_volume(multi, OBJECTIVES);
}

int main(int argc, char **argv)
{
    const char *algorithm = "auto";
    struct seeds seeds = {1, 10};
    int option;

    while ((option = getopt(argc, argv, "a:s:")) != -1) {
        if (option == 'a')
            algorithm = optarg;
        else if (option == 's')
            seeds = seeds_parse(optarg);
        else
            return 2;
    }
    if (argc - optind != 1)
        die("usage: multi_run [-a ALGORITHM] [-s 1-10] OUT");
    struct output out =
        output_open("problem,seed,trial,f0,f1", "%s/multi-%s.csv", argv[optind], algorithm);
    for (size_t i = 0; i < multi_count(); i++) {
        double missing = 0;
        for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
            missing += run(algorithm, multi_at(i), seed, out.file);
        printf("%s %s: %.4f of the best volume missing\n", multi_name(multi_at(i)), algorithm,
               missing / (double)(seeds.last - seeds.first + 1));
        fflush(stdout);
    }
    output_finish(&out);
    return 0;
}
