/* SPDX-License-Identifier: MIT */
/*
 * machine_jobs.c — two slots, trials in them, and between two events constant rates.
 *
 * An event is the end of a trial, of a window, or of a pause. A change of threads pauses its trial
 * for CHANGE_S; its peer goes on, faster or slower from that moment.
 */
#include "tests/sim/machine_jobs.h"

#include "base/rng.h"
#include "tune/decide.h"

#include <assert.h>
#include <math.h>

#define CORES    4
#define SLOTS    2
#define TRIALS   4
#define STARTUP  1.0 /* seconds of a trial */
#define CHANGE_S 0.08
#define WINDOW_S 1.0
#define NOISE    0.03
#define HARDER   0.2  /* trials differ so much in the seconds of a step */
#define KNOWN_SD 0.08 /* how far earlier jobs are believed */
#define KNOWN    8    /* … and how many of them are remembered */

static const struct program programs[] = {
    {.name = "svm", .step_s = 0.05, .law = {0.6, 0.08}, .spins = true},
    {.name = "logreg", .step_s = 0.06, .law = {0.45, 0.03}, .spins = true},
    {.name = "kmeans", .step_s = 0.12, .law = {0.03, 0}},
    {.name = "jacobi", .step_s = 0.08, .law = {0.1, 0}, .memory = 0.7, .fill = 2, .spins = true},
    {.name = "bfs", .step_s = 0.1, .law = {0.25, 0.01}},
    {.name = "cnn", .step_s = 0.15, .law = {0.15, 0}},
};
static const double counts[] = {1, 2, 4}; /* threads; the first is where it starts */
#define COUNTS ARRAY_LEN(counts)
static const struct knob threads = {
    .name = "threads", .min = 1, .max = 4, .values = counts, .n = 3};

struct slot {
    size_t trial; /* number, from 1; 0: nothing runs */
    struct job job;
    double left;    /* steps */
    double pause_s; /* until it goes on */
    double window_s, window_steps;
    struct decide *decide;
};

struct workshop {
    enum service_mode mode;
    struct {
        double effect[COUNTS],
            n[COUNTS]; /* ln seconds to that with one thread; jobs that told it */
    } known[ARRAY_LEN(programs)];
};

struct service {
    struct workshop *workshop;
    const struct arrival *job;
    struct program program;
    struct slot slots[SLOTS];
    struct speed *speed;
    struct rng rng, noise;
    size_t started;
    double now_s;
};

const char *service_mode_name(enum service_mode mode)
{
    static const char *const names[] = {"off-raw", "off",       "hyper",
                                        "joint",   "pipelined", "pipelined, knowing"};
    return names[mode];
}

/* ---- jobs and the line ---- */

void arrivals_draw(struct arrival *ret, size_t n, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, 1);
    for (size_t i = 0; i < n; i++) {
        size_t p = rng_below(&rng, ARRAY_LEN(programs));
        double trial_s = 30 * exp(0.5 * rng_normal(&rng));
        ret[i] = (struct arrival){p, ceil(trial_s / programs[p].step_s), rng_u64(&rng)};
    }
}

void arrivals_times(double *ret_s, size_t n, double mean_gap_s, uint64_t seed)
{
    struct rng rng;
    double now_s = 0;

    rng_init(&rng, seed, 2);
    for (size_t i = 0; i < n; i++)
        ret_s[i] = now_s -= mean_gap_s * log(1 - rng_unit(&rng));
}

/* As it happens: at an arrival a job goes to the end of the line, at an end the first one leaves.
 */
void queue_run(const double *arrived_s, const double *service_s, size_t n, struct turn *ret)
{
    size_t come = 0, served = 0; /* the line is come − served long */
    double now_s = 0, free_s = 0;

    while (served < n) {
        if (come == served || (come < n && arrived_s[come] <= free_s)) {
            now_s = fmax(now_s, arrived_s[come]);
            come++;
            continue;
        }
        now_s = fmax(free_s, arrived_s[served]);
        free_s = now_s + service_s[served];
        ret[served] = (struct turn){served, arrived_s[served], now_s, free_s};
        served++;
    }
}

/* ---- what was learned of a program ---- */

static size_t best_known(const struct workshop *workshop, size_t program)
{
    size_t best = 0;

    for (size_t c = 1; c < COUNTS; c++)
        if (workshop->known[program].n[c] > 0 &&
            workshop->known[program].effect[c] < workshop->known[program].effect[best])
            best = c;
    return best;
}

static void remember(struct workshop *workshop, size_t program, struct speed *speed, uint64_t trial)
{
    for (size_t c = 1; c < COUNTS; c++) {
        double effect = speed_measured(speed, trial, &counts[c], 0) -
                        speed_measured(speed, trial, &counts[0], 0);
        if (isnan(effect))
            continue;
        double *n = &workshop->known[program].n[c], *mean = &workshop->known[program].effect[c];
        *n = fmin(*n + 1, KNOWN);
        *mean += (effect - *mean) / *n;
    }
}

static void tell_known(const struct workshop *workshop, size_t program, struct speed *speed)
{
    if (workshop->mode != SERVICE_KNOWING || best_known(workshop, program) == 0)
        return;
    speed_prior(speed, &counts[0], 0, KNOWN_SD);
    for (size_t c = 1; c < COUNTS; c++)
        if (workshop->known[program].n[c] > 0)
            speed_prior(speed, &counts[c], workshop->known[program].effect[c], KNOWN_SD);
}

/* ---- a job ---- */

static bool is_tuned(const struct service *s)
{
    return s->workshop->mode >= SERVICE_PIPELINED;
}

static double first_threads(struct service *s)
{
    switch (s->workshop->mode) {
    case SERVICE_OFF_RAW:
        return CORES;
    case SERVICE_OFF:
        return (double)CORES / SLOTS;
    case SERVICE_JOINT:
        return s->started == 1 ? counts[0] : counts[rng_below(&s->rng, COUNTS)];
    case SERVICE_KNOWING:
        return counts[best_known(s->workshop, s->job->program)];
    default:
        return counts[0];
    }
}

static void begin_trial(struct service *s, struct slot *slot)
{
    double n, harder = exp(HARDER * rng_normal(&s->rng));

    slot->trial = ++s->started;
    n = first_threads(s);
    slot->job = (struct job){&s->program, n, CORES, harder};
    slot->left = s->job->trial_steps;
    slot->pause_s = STARTUP;
    slot->window_s = slot->window_steps = 0;
    if (is_tuned(s))
        decide_begin(slot->decide, slot->trial, &n);
}

static void end_trial(struct service *s, struct slot *slot)
{
    if (is_tuned(s))
        remember(s->workshop, s->job->program, s->speed, slot->trial);
    slot->trial = 0;
    if (s->started < TRIALS)
        begin_trial(s, slot);
}

/* The window of a slot ended: ask, and do as said. */
static void end_window(struct service *s, struct slot *slot, double rate, double used)
{
    struct decision decision;
    double seen = slot->window_s / fmax(slot->window_steps, 1e-9);
    struct decide_input input = {.now_s = s->now_s,
                                 .remaining_s = slot->left / rate,
                                 .remaining_at_s = s->now_s,
                                 .idle = fmax(CORES - used, 0),
                                 .ln_seconds = log(seen) + NOISE * rng_normal(&s->noise),
                                 .variance = NOISE * NOISE};

    decide_on_window(slot->decide, &input, &decision);
    slot->window_s = slot->window_steps = 0;
    if (decision.kind == CHANGE_NONE)
        return;
    slot->job.threads = decision.to[0];
    slot->pause_s = CHANGE_S;
    speed_tell_change(s->speed, decision.kind, CHANGE_S);
}

/* Rates of the slots that run now; 0 for the others. Returns the cores in use. */
static double rates_now(const struct service *s, double *ret_rates)
{
    struct machine machine = {CORES, 0};
    struct job jobs[SLOTS];
    double rates[SLOTS] = {0}, used = 0;
    size_t n = 0;

    for (size_t i = 0; i < SLOTS; i++)
        if (s->slots[i].trial > 0 && s->slots[i].pause_s <= 0) {
            jobs[n] = s->slots[i].job;
            used += jobs[n++].threads;
        }
    machine_rates(&machine, jobs, n, rates);
    n = 0;
    for (size_t i = 0; i < SLOTS; i++)
        ret_rates[i] = s->slots[i].trial > 0 && s->slots[i].pause_s <= 0 ? rates[n++] : 0;
    return used;
}

/* Seconds to the slot's next event. */
static double until_event(const struct service *s, const struct slot *slot, double rate)
{
    if (slot->trial == 0)
        return INFINITY;
    if (rate <= 0)
        return slot->pause_s;
    double window = is_tuned(s) ? WINDOW_S - slot->window_s : INFINITY;
    return fmin(slot->left / rate, fmax(window, 0));
}

static void advance(struct slot *slot, double rate, double seconds)
{
    if (slot->trial == 0)
        return;
    if (rate <= 0) {
        slot->pause_s = slot->pause_s - seconds < 1e-9 ? 0 : slot->pause_s - seconds;
        return;
    }
    slot->left -= rate * seconds;
    slot->window_s += seconds;
    slot->window_steps += rate * seconds;
}

/* To the next event, and what follows from it. */
static void go_on(struct service *s)
{
    double rates[SLOTS], used = rates_now(s, rates), seconds = INFINITY;

    for (size_t i = 0; i < SLOTS; i++)
        seconds = fmin(seconds, until_event(s, &s->slots[i], rates[i]));
    assert(isfinite(seconds));
    s->now_s += seconds;
    for (size_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &s->slots[i];
        advance(slot, rates[i], seconds);
        if (slot->trial == 0 || rates[i] <= 0)
            continue;
        if (slot->left < 1e-6)
            end_trial(s, slot);
        else if (is_tuned(s) && slot->window_s > WINDOW_S - 1e-9)
            end_window(s, slot, rates[i], used);
    }
}

static bool is_running(const struct service *s)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (s->slots[i].trial > 0)
            return true;
    return false;
}

struct workshop *workshop_new(enum service_mode mode)
{
    struct workshop *workshop = xcalloc(1, sizeof(*workshop));
    workshop->mode = mode;
    return workshop;
}

void workshop_free(struct workshop *workshop)
{
    free(workshop);
}

double workshop_run(struct workshop *workshop, const struct arrival *job)
{
    struct service s = {.workshop = workshop, .job = job, .program = programs[job->program]};

    s.program.spins &= workshop->mode == SERVICE_OFF_RAW;
    s.speed = speed_new(&threads, 1);
    tell_known(workshop, job->program, s.speed);
    rng_init(&s.rng, job->seed, 1);
    rng_init(&s.noise, job->seed, 2);
    for (size_t i = 0; i < SLOTS; i++) {
        s.slots[i].decide = decide_new(s.speed, counts, COUNTS, NULL);
        begin_trial(&s, &s.slots[i]);
    }
    while (is_running(&s))
        go_on(&s);
    for (size_t i = 0; i < SLOTS; i++)
        decide_free(s.slots[i].decide);
    speed_free(s.speed);
    return s.now_s;
}
