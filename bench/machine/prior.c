/* SPDX-License-Identifier: MIT */
/*
 * prior.c — what a wrong prior costs: each workload of the recorded traces is tuned with what each
 * other one of its scene taught, beside the same jobs without (tests/sim/machine_replay.h).
 *
 *     prior [-n RUNS] [-t SECONDS] [-c SECONDS] FILE.csv…      of a job; of a change
 *
 * By response it is taken as the engine does: when two configurations are measured and answer
 * alike. By profile it is believed before the first window, as much as an equal profile of hardware
 * counters is, though it is another program: worse than what may happen. Also told: whether each
 * workload finds itself among all by its identity.
 */
#include "linalg/linalg.h"
#include "tests/sim/machine_replay.h"

#include <err.h>
#include <math.h>
#include <unistd.h>

#define PROFILE 0.8 /* certainty of an equal profile: workload_match.c */

struct options {
    size_t runs;
    double job_s, change_s;
};

/* Time with a prior over time without, less 1. */
struct loss {
    double sum, worst; /* the worst of any other workload's, on average over runs and starts */
    size_t n;
    const struct set *of;
};

static void add_loss(struct loss *loss, double mean, const struct set *other)
{
    loss->sum += mean;
    if (loss->n++ == 0 || mean > loss->worst) {
        loss->worst = mean;
        loss->of = other;
    }
}

static double mean_of(const struct loss *loss)
{
    return loss->n ? loss->sum / (double)loss->n : NAN;
}

static double least_mean(const struct set *set)
{
    double least = INFINITY;
    for (size_t c = 0; c < set->configurations.len; c++)
        least = fmin(least, set_mean(set, c));
    return least;
}

/* Over all starts and seeds; without[start · runs + seed] is the time without a prior. */
static double loss_by(const struct set *set, const struct replay_knowledge *known,
                      const struct options *options, double steps, const double *without)
{
    size_t starts = set->configurations.len, runs = options->runs;
    double sum = 0;

    for (size_t c = 0; c < starts; c++)
        for (size_t i = 0; i < runs; i++)
            sum += replay_job_known(set, c, steps, options->change_s, i, known) /
                       without[c * runs + i] -
                   1;
    return sum / (double)(starts * runs);
}

static void replay_set(const struct traces *all, const struct workload *taught, size_t at,
                       const struct options *options, struct loss total[2])
{
    const struct set *set = &all->sets.at[at];
    size_t starts = set->configurations.len;
    double steps = ceil(options->job_s / least_mean(set));
    autofree(mem) double *without = xcalloc(starts * options->runs, sizeof(*without));
    struct loss mine[2] = {0};

    for (size_t c = 0; c < starts; c++)
        for (size_t i = 0; i < options->runs; i++)
            without[c * options->runs + i] = replay_job(set, c, steps, options->change_s, i);
    for (size_t k = 0; k < all->sets.len; k++) {
        const struct set *other = &all->sets.at[k];
        if (k == at || strcmp(other->scene, set->scene) != 0)
            continue;
        for (size_t way = 0; way < 2; way++) {
            struct replay_knowledge known = {&taught[k], way ? PROFILE : 0};
            double loss = loss_by(set, &known, options, steps, without);
            add_loss(&mine[way], loss, other);
            add_loss(&total[way], loss, set);
        }
    }
    printf("| %s | %s | %.2f %% | %.2f %% (%s) | %.2f %% | %.2f %% (%s) |\n", set->scene,
           set->workload, 100 * mean_of(&mine[0]), 100 * mine[0].worst,
           mine[0].of ? mine[0].of->workload : "–", 100 * mean_of(&mine[1]), 100 * mine[1].worst,
           mine[1].of ? mine[1].of->workload : "–");
    fflush(stdout);
}

static size_t find_themselves(const struct workload *taught, size_t n)
{
    size_t right = 0;

    for (size_t i = 0; i < n; i++) {
        struct workload_match match = {0};
        workload_match(taught, n, &taught[i], &match);
        right += match.kind == MATCH_IDENTITY && match.index == i;
    }
    return right;
}

static void replay_all(const struct traces *all, const struct options *options)
{
    size_t n = all->sets.len;
    struct workload *taught = xcalloc(n + 1, sizeof(*taught));
    struct loss total[2] = {0};
    static const char *const ways[] = {"response", "profile"};

    for (size_t i = 0; i < n; i++)
        set_workload(&all->sets.at[i], &taught[i]);
    printf(
        "| scene | workload | by response: mean loss | worst (taught by) | by profile: mean loss "
        "| worst (taught by) |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++)
        replay_set(all, taught, i, options, total);
    printf("\n%zu runs of %g s from each start, with what each other workload of the scene taught, "
           "over the same without. %zu of %zu find themselves by their identity.",
           options->runs, options->job_s, find_themselves(taught, n), n);
    for (size_t way = 0; way < 2; way++)
        printf(" By %s: mean loss %.2f %% (goal ≤ 2 %%: %s), worst %.2f %% (goal ≤ 5 %%: %s).",
               ways[way], 100 * mean_of(&total[way]),
               mean_of(&total[way]) <= 0.02 ? "yes" : "**no**", 100 * total[way].worst,
               total[way].worst <= 0.05 ? "yes" : "**no**");
    printf("\n");
    for (size_t i = 0; i < n; i++)
        workload_release(&taught[i]);
    free(taught);
}

int main(int argc, char **argv)
{
    struct options options = {.runs = 200, .job_s = 60, .change_s = 0.1};
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
        errx(1, "usage: prior [-n RUNS] [-t SECONDS] [-c SECONDS] FILE.csv…");
    if (linalg_open(&err) < 0)
        errx(1, "%s", err_text(&err));
    for (int i = optind; i < argc; i++)
        if (traces_load(&all, argv[i], &err) < 0)
            errx(1, "%s", err_text(&err));
    replay_all(&all, &options);
    traces_release(&all);
    return 0;
}
