/* SPDX-License-Identifier: MIT */
/*
 * prior.c — what a wrong prior costs: each workload of the recorded traces is tuned with what each
 * other one of its scene taught, beside the same jobs without (tests/sim/machine_replay.h).
 *
 *     prior [-n RUNS] [-t SECONDS] [-c SECONDS] [FILE.csv…]    of a job; of a change
 *
 * By response it is taken as the engine does: when two configurations are measured and answer
 * alike. By profile it is believed before the first window, as much as an equal profile of hardware
 * counters is, though it is another program: worse than what may happen. Also told: whether each
 * workload finds itself among all by its identity.
 *
 * The recorded ones have two configurations, and once both are measured a prior has nothing more to
 * say. So traces of the simulated machine are added: 8 cores, alone and beside a neighbour on half
 * of them, 8 numbers of threads, programs that differ in what they gain from more.
 */
#include "base/rng.h"
#include "linalg/linalg.h"
#include "tests/sim/machine.h"
#include "tests/sim/machine_replay.h"

#include <err.h>
#include <math.h>
#include <unistd.h>

#define PROFILE 0.8 /* certainty of an equal profile: workload_match.c */

/* ---- simulated traces ---- */

#define CORES   8
#define BUSY    4    /* … of the neighbour */
#define RUNS    4    /* recorded of each */
#define CHUNKS  100  /* of a run */
#define CHUNK_S 0.05 /* a chunk is at least so long */
#define NOISE   0.05 /* of a chunk, and half of it of a run */

static const struct program programs[] = {
    {.name = "scales", .step_s = 0.02, .law = {0.02, 0}},
    {.name = "scales by half", .step_s = 0.02, .law = {0.2, 0.005}},
    {.name = "waits for memory", .step_s = 0.02, .law = {0.05, 0}, .memory = 0.7, .fill = 3},
    {.name = "meets at barriers", .step_s = 0.02, .law = {0.1, 0.02}, .spins = true},
    {.name = "does not scale", .step_s = 0.02, .law = {0.6, 0.08}},
};

static double simulated_seconds(const struct program *program, double threads, double load)
{
    struct machine machine = {CORES, load};
    struct job job = {program, threads, CORES, 1};
    double rate;

    machine_rates(&machine, &job, 1, &rate);
    return 1 / rate;
}

static void simulate_run(struct configuration *c, long run, double seconds, struct rng *rng)
{
    double level = seconds * exp(NOISE / 2 * rng_normal(rng)), steps = ceil(CHUNK_S / seconds);

    vec_push(&c->traces, (struct trace){.run = run});
    for (size_t i = 0; i < CHUNKS; i++) {
        struct chunk chunk = {steps, steps * level * exp(NOISE * rng_normal(rng))};
        vec_push(&vec_last(&c->traces)->chunks, chunk);
        c->steps += chunk.steps;
        c->seconds += chunk.seconds;
    }
}

static void simulate(struct traces *all, const char *scene, double load)
{
    for (size_t p = 0; p < ARRAY_LEN(programs); p++) {
        struct set set = {.scene = xstrdup(scene),
                          .workload = xstrdup(programs[p].name),
                          .names = {xstrdup("threads")},
                          .knobs = 1};
        struct rng rng;
        rng_init(&rng, p, (uint64_t)load);
        for (size_t threads = 1; threads <= CORES; threads++) {
            double seconds = simulated_seconds(&programs[p], (double)threads, load);
            vec_push(&set.configurations, ((struct configuration){.values = {(double)threads}}));
            for (long run = 1; run <= RUNS; run++)
                simulate_run(vec_last(&set.configurations), run, seconds, &rng);
        }
        vec_push(&all->sets, set);
    }
}

/* ---- what a prior costs ---- */

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
    if (options.runs == 0 || !(options.job_s > 0) || !(options.change_s >= 0))
        errx(1, "usage: prior [-n RUNS] [-t SECONDS] [-c SECONDS] [FILE.csv…]");
    if (linalg_open(&err) < 0)
        errx(1, "%s", err_text(&err));
    for (int i = optind; i < argc; i++)
        if (traces_load(&all, argv[i], &err) < 0)
            errx(1, "%s", err_text(&err));
    simulate(&all, "simulated, alone", 0);
    simulate(&all, "simulated, neighbour", BUSY);
    replay_all(&all, &options);
    traces_release(&all);
    return 0;
}
