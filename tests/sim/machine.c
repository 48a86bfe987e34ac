/* SPDX-License-Identifier: MIT */
/*
 * machine.c — rates under contention.
 *
 * A step is computing and waiting for memory: seconds = a + b·s. Computing stretches when there are
 * more runnable threads than cores; where threads meet at barriers the slowest decides, and those
 * that spin keep the core that the slowest needs. s >= 1 is common to all: as much as it takes to
 * bring what all ask of the memory down to what it gives.
 */
#include "tests/sim/machine.h"

#include <math.h>

#define SLEEPERS 0.3 /* share of a missing core that threads lose at their barriers */
#define SPINNERS 10  /* … and that those lose that spin */
#define SWITCHES 0.02
#define HALVINGS 40

struct times {
    double compute, memory; /* seconds of a step */
    double asks;            /* of the bandwidth in a step, in seconds of all of it */
};

static double runnable(const struct job *job)
{
    return fmin(job->threads, job->cores);
}

static struct times times_of(const struct job *job, double share)
{
    const struct program *p = job->program;
    double n = runnable(job), step = p->step_s * job->harder;
    double faster = exp(usl_effect(p->law, n));
    double missing = fmax(1 / share, 1) * job->threads / n - 1;
    double wait = job->threads > 1 ? 1 + (p->spins ? SPINNERS : SLEEPERS) * missing : 1;
    double crowd = 1 + SWITCHES * fmin(missing, 1);

    return (struct times){.compute = (1 - p->memory) * step * faster / share * wait * crowd,
                          .memory = p->memory * step * faster,
                          .asks = p->memory > 0 ? step / p->fill : 0};
}

static double asked(const struct times *times, size_t n, double stretch)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += times[i].asks / (times[i].compute + times[i].memory * stretch);
    return sum;
}

/* The stretch at which all together ask for no more than there is. */
static double stretch_of(const struct times *times, size_t n)
{
    double low = 1, high = 2;

    if (asked(times, n, low) <= 1)
        return low;
    while (asked(times, n, high) > 1)
        high *= 2;
    for (size_t i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        *(asked(times, n, middle) > 1 ? &low : &high) = middle;
    }
    return high;
}

void machine_rates(const struct machine *machine, const struct job *jobs, size_t n,
                   double *ret_rates)
{
    autofree(mem) struct times *times = xcalloc(n + 1, sizeof(*times));
    double demand = machine->load;

    for (size_t i = 0; i < n; i++)
        demand += runnable(&jobs[i]);
    double share = fmin(1, machine->cores / fmax(demand, 1e-9));
    for (size_t i = 0; i < n; i++)
        times[i] = times_of(&jobs[i], share);
    double stretch = stretch_of(times, n);
    for (size_t i = 0; i < n; i++)
        ret_rates[i] = 1 / (times[i].compute + times[i].memory * stretch);
}

double program_threads(const struct program *program, double cores)
{
    double best = 1;

    for (double n = 2; n <= cores; n++)
        if (usl_effect(program->law, n) < usl_effect(program->law, best))
            best = n;
    return best;
}
