/* SPDX-License-Identifier: MIT */
/*
 * replay.c — the tuner on recorded step times, a thousand times over (tests/sim/machine_replay.h).
 *
 *     replay [-n RUNS] [-t SECONDS] [-c SECONDS] FILE.csv…     of a job; of a change
 *
 * For each scene and workload a job is as many steps as the best configuration does in SECONDS.
 * Loss is its time over that, less 1: from the best start what tuning costs, from the worst what is
 * left of what could be gained.
 */
#include "linalg/linalg.h"
#include "tests/sim/machine_replay.h"

#include <err.h>
#include <math.h>
#include <unistd.h>

#define ALIKE 1.05 /* worst over best: below there is nothing to gain */

struct options {
    size_t runs;
    double job_s, change_s;
};

struct losses {
    VEC(double) best, worst; /* time over that of the best, less 1 */
    double gained, possible; /* Σ ln, of sets where there is something to gain */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)MAX(n, 1);
}

/* Sorts them. */
static double high(double *x, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(x, n, sizeof(*x), by_value);
    return x[(n - 1) * 99 / 100];
}

static void print_configuration(const struct set *set, size_t c)
{
    for (size_t j = 0; j < set->knobs; j++)
        printf("%s%s %g", j > 0 ? ", " : "", set->names[j], set->configurations.at[c].values[j]);
}

static void replay_set(const struct set *set, const struct options *options, struct losses *all)
{
    size_t best = 0, worst = 0, n = set->configurations.len;
    autofree(mem) double *from_best = xcalloc(options->runs, sizeof(double));
    autofree(mem) double *from_worst = xcalloc(options->runs, sizeof(double));

    for (size_t c = 0; c < n; c++) {
        best = set_mean(set, c) < set_mean(set, best) ? c : best;
        worst = set_mean(set, c) > set_mean(set, worst) ? c : worst;
    }
    double steps = ceil(options->job_s / set_mean(set, best)), least = steps * set_mean(set, best);
    double ratio = set_mean(set, worst) / set_mean(set, best), gained = 0;
    for (size_t i = 0; i < options->runs; i++) {
        from_best[i] = replay_job(set, best, steps, options->change_s, i) / least - 1;
        from_worst[i] = replay_job(set, worst, steps, options->change_s, i) / least - 1;
        gained += (log(ratio) - log1p(from_worst[i])) / (double)options->runs;
        vec_push(&all->best, from_best[i]);
        vec_push(&all->worst, from_worst[i]);
    }
    printf("| %s | %s | ", set->scene, set->workload);
    print_configuration(set, best);
    printf(" | %.2f | %.1f %% | %.1f %% | %.1f %% | ", ratio, 100 * mean(from_best, options->runs),
           100 * high(from_best, options->runs), 100 * mean(from_worst, options->runs));
    if (ratio > ALIKE) {
        all->gained += gained;
        all->possible += log(ratio);
        printf("%.0f %% |\n", 100 * gained / log(ratio));
    } else {
        printf("– |\n");
    }
}

static void print_total(struct losses *all, const struct options *options)
{
    double loss = mean(all->best.at, all->best.len), tail = high(all->best.at, all->best.len);
    double share = all->possible > 0 ? all->gained / all->possible : NAN;

    printf("\n%zu runs of %g s each, a change costs %g s. From the best start: mean loss %.2f %% "
           "(goal ≤ 3 %%: %s), 99th percentile %.1f %% (goal ≤ 10 %%: %s). From the worst: mean "
           "loss %.1f %%; of the possible gain %.0f %% (log scale, goal ≥ 80 %%: %s).\n",
           options->runs, options->job_s, options->change_s, 100 * loss,
           loss <= 0.03 ? "yes" : "**no**", 100 * tail, tail <= 0.1 ? "yes" : "**no**",
           100 * mean(all->worst.at, all->worst.len), 100 * share, share >= 0.8 ? "yes" : "**no**");
    vec_release(&all->best);
    vec_release(&all->worst);
}

int main(int argc, char **argv)
{
    struct options options = {.runs = 1000, .job_s = 60, .change_s = 0.1};
    struct losses losses = {0};
    struct err err = ERR_INIT;
    struct traces all = {0};

    for (int c; (c = getopt(argc, argv, "n:t:c:")) != -1;) {
        if (c == 'n')
            options.runs = strtoul(optarg, NULL, 10);
        else if (c == 't')
            options.job_s = strtod(optarg, NULL);
        else if (c == 'c')
            options.change_s = strtod(optarg, NULL);
        else
            return 1;
    }
    if (optind == argc || options.runs == 0 || !(options.job_s > 0) || !(options.change_s >= 0))
        errx(1, "usage: replay [-n RUNS] [-t SECONDS] [-c SECONDS] FILE.csv…");
    if (linalg_open(&err) < 0)
        errx(1, "%s", err_text(&err));
    for (int i = optind; i < argc; i++)
        if (traces_load(&all, argv[i], &err) < 0)
            errx(1, "%s", err_text(&err));
    printf(
        "| scene | workload | best | worst over best | best start: mean loss | p99 | worst start: "
        "mean loss | of the possible gain |\n|---|---|---|---|---|---|---|---|\n");
    vec_foreach (set, &all.sets)
        replay_set(set, &options, &losses);
    print_total(&losses, &options);
    traces_release(&all);
    return 0;
}
