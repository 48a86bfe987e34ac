/* SPDX-License-Identifier: MIT */
/*
 * machine_width.c — slots, trials in them, a window every second.
 *
 * A slot that is not needed any more runs its trial to the end. Trials get the cores of a machine
 * shared out by those that run, so a new one takes from the others at once.
 */
#include "tests/sim/machine_width.h"

#include "base/rng.h"

#include <assert.h>
#include <math.h>

#define LEFT    200  /* trials to come, always: the run is a part of a longer one */
#define NOISE   0.04 /* of a trial's window */
#define COMMON  0.02 /* … and of all in it */
#define BASE_SD 0.1  /* what the speed model does not know of a trial's base */
#define HARDER  0.2  /* trials differ so much in the seconds of a step */
#define LENGTHS 0.3  /* … in steps */
#define BYTES   0.04 /* … in memory, at most */
#define FILLING 5    /* seconds until a trial has taken its memory */
#define HALF_S  1800 /* a neighbour stays, and is away, for so long */
#define FINE    16   /* beyond this many, only each … */
#define COARSE  4    /* … of these is run as a fixed width */
#define RUNNING 256

#define G 1e9
#define PROGRAM(title, a, b, wait, filled, start, bytes)                                           \
    {                                                                                              \
        .name = (title), .step_s = 0.1, .law = {(a), (b)}, .memory = (wait), .fill = (filled),     \
        .startup_s = (start), .trial_bytes = (bytes)                                               \
    }
#define ALONE     PROGRAM("does not scale", 1, 0, 0, 1, 2, 1 * G)
#define SCALES    PROGRAM("scales", 0.02, 0, 0, 1, 2, 1 * G)
#define HALF      PROGRAM("scales by half", 0.3, 0.002, 0, 1, 2, 1 * G)
#define HUNGRY(n) PROGRAM("waits for memory", 0.05, 0, 0.7, (n), 2, 1 * G)
#define LARGE     PROGRAM("takes memory", 0.3, 0, 0, 1, 2, 6 * G)

const struct width_scene width_scenes[] = {
    {"2 cores", 2, ALONE, 0, false, 0, 60, 2},
    {"2 cores", 2, SCALES, 0, false, 0, 60, 2},
    {"2 cores", 2, HUNGRY(1), 0, false, 0, 60, 2},
    {"2 cores, a neighbour", 2, HALF, 0, false, 1, 60, 4},
    {"8 cores", 8, ALONE, 0, false, 0, 60, 2},
    {"8 cores", 8, SCALES, 0, false, 0, 60, 2},
    {"8 cores", 8, HUNGRY(3), 0, false, 0, 60, 2},
    {"8 cores, 16 GB", 8, LARGE, 16 * G, true, 0, 60, 2},
    {"8 cores, a neighbour", 8, HALF, 0, false, 4, 60, 4},
    {"16 cores", 16, HALF, 0, false, 0, 120, 2},
    {"16 cores", 16, HUNGRY(4), 0, false, 0, 120, 2},
    {"16 cores, 64 GB, not stated", 16, LARGE, 64 * G, false, 0, 120, 2},
    {"64 cores", 64, ALONE, 0, false, 0, 120, 4},
    {"64 cores", 64, SCALES, 0, false, 0, 120, 4},
    {"64 cores", 64, HUNGRY(8), 0, false, 0, 120, 4},
    {"64 cores, 100 GB, a neighbour", 64, LARGE, 100 * G, true, 24, 120, 4},
};
const size_t width_scene_count = ARRAY_LEN(width_scenes);

struct running {
    uint64_t id;
    double harder, base_error, work, bytes; /* work: seconds alone on one core, to be done */
    double age_s, done, peak_bytes;
};

struct run {
    const struct width_scene *scene;
    struct rng trials, noise; /* the same trials whatever the width */
    struct running running[RUNNING];
    size_t n;
    uint64_t started;
    double rates[2][RUNNING + 1]; /* by neighbour and n, as rate_of() found them; 0: not yet */
};

static double spread(struct rng *rng, double sd)
{
    return exp(sd * rng_normal(rng));
}

static void start_trial(struct run *run)
{
    const struct program *program = &run->scene->program;
    struct rng *rng = &run->trials;

    assert(run->n < RUNNING);
    run->running[run->n++] =
        (struct running){.id = ++run->started,
                         .harder = spread(rng, HARDER),
                         .base_error = BASE_SD * rng_normal(rng),
                         .work = run->scene->trial_s * spread(rng, LENGTHS),
                         .bytes = program->trial_bytes * (1 - BYTES * rng_unit(rng))};
}

/* Of a trial with as many as run, in seconds alone on one core a second. All run the same program,
 * so one rate serves all; harder ones count it as their own. */
static double rate_of(struct run *run, double load)
{
    const struct width_scene *scene = run->scene;
    struct machine machine = {scene->cores, load};
    struct width_limits limits = {.cores_least = 1};
    double cores = width_cores(&limits, scene->cores, run->n), rates[RUNNING] = {0};
    double *known = &run->rates[load > 0][run->n];
    struct job jobs[RUNNING];

    if (*known > 0)
        return *known;
    for (size_t i = 0; i < run->n; i++)
        jobs[i] = (struct job){&scene->program, program_threads(&scene->program, cores), cores, 1};
    machine_rates(&machine, jobs, run->n, rates);
    return *known = rates[0] * scene->program.step_s;
}

static double load_at(const struct width_scene *scene, double now_s)
{
    return fmod(now_s, 2 * HALF_S) < HALF_S ? 0 : scene->neighbour;
}

/* A second passes. Returns full runs done, those in work by their share. */
static double pass_second(struct run *run, double load, double *ret_bytes)
{
    double rate = rate_of(run, load), runs = 0;

    *ret_bytes = 0;
    for (size_t i = run->n; i-- > 0;) {
        struct running *trial = &run->running[i];
        double active = fmin(fmax(++trial->age_s - run->scene->program.startup_s, 0), 1);
        double now = fmin(trial->age_s / FILLING, 1) * trial->bytes;
        trial->peak_bytes = now;
        *ret_bytes += now;
        trial->done += active * rate;
        runs += active * rate / run->scene->trial_s;
        if (trial->done >= trial->work)
            *trial = run->running[--run->n];
    }
    return runs;
}

/* What the engine would tell. */
static struct width_input input_of(struct run *run, double now_s, double load,
                                   struct width_trial *trials)
{
    double common = COMMON * rng_normal(&run->noise);

    for (size_t i = 0; i < run->n; i++) {
        const struct running *trial = &run->running[i];
        bool begun = trial->age_s >= run->scene->program.startup_s + 1;
        double ln = -log(rate_of(run, load)) + trial->base_error + common;
        trials[i] =
            (struct width_trial){trial->id, begun ? ln + NOISE * rng_normal(&run->noise) : NAN,
                                 NOISE * NOISE, trial->peak_bytes};
    }
    return (struct width_input){.now_s = now_s,
                                .cores = run->scene->cores,
                                .load = load,
                                .trials = trials,
                                .n = run->n,
                                .trials_left = LEFT,
                                .trial_s = run->scene->trial_s / fmax(rate_of(run, load), 1e-3),
                                .startup_s = run->scene->program.startup_s};
}

struct width_outcome width_scene_run(const struct width_scene *scene, size_t fixed, uint64_t seed)
{
    struct width_limits limits = {.cores_least = 1,
                                  .memory_bytes = scene->memory_bytes,
                                  .trial_bytes = scene->stated ? scene->program.trial_bytes : 0,
                                  .loss = WIDTH_LOSS};
    size_t slots = fixed > 0 ? fixed : width_start(&limits, scene->cores);
    autofree(width) struct width *w = width_new(&limits, slots);
    struct width_outcome outcome = {0};
    struct run run = {.scene = scene};

    rng_init(&run.trials, seed, 1);
    rng_init(&run.noise, seed, 2);
    for (double now_s = 0; now_s < 3600 * scene->hours; now_s++) {
        double load = load_at(scene, now_s), bytes;
        struct width_trial trials[RUNNING];
        struct width_decision decision;
        while (run.n < slots)
            start_trial(&run);
        double worth = width_efficiency(WIDTH_LOSS, run.n, LEFT);
        outcome.runs_an_hour += worth * pass_second(&run, load, &bytes) / scene->hours;
        outcome.over += scene->memory_bytes > 0 && bytes > scene->memory_bytes;
        if (fixed > 0 || run.n == 0)
            continue;
        struct width_input input = input_of(&run, now_s, load, trials);
        width_next(w, &input, &decision);
        outcome.changes += decision.to != slots;
        slots = decision.to;
    }
    outcome.last = slots;
    return outcome;
}

size_t width_scene_best(const struct width_scene *scene, uint64_t seed,
                        struct width_outcome *ret_outcome)
{
    size_t best = 0;

    for (size_t fixed = 1; fixed <= (size_t)scene->cores; fixed++) {
        if (fixed > FINE && fixed % COARSE > 0)
            continue;
        struct width_outcome outcome = width_scene_run(scene, fixed, seed);
        if (outcome.over > 0 || (best > 0 && outcome.runs_an_hour <= ret_outcome->runs_an_hour))
            continue;
        *ret_outcome = outcome;
        best = fixed;
    }
    return best;
}
