/* SPDX-License-Identifier: MIT */
/*
 * sched.c — which trial starts next, and what it holds of the machine.
 *
 * Cpus may be fractions. They are kept as multiples of a millionth, so that ten trials of 0.1 fill
 * one cpu exactly, three of 1/3 do too, and a thousand takes and gives leave nothing behind.
 *
 * Those of the highest priority are served first. Among them it is fair: the user with the least
 * cpus in use, and of that user's the experiment with the least. If it needs more than is free now,
 * those behind it may still start, but leave alone what it lacks: else a stream of small trials
 * would keep a large one waiting for ever.
 */
#include "sched/sched.h"
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#define BACKOFF_MAX_S 60

static double millionths(double cpus)
{
    return nearbyint(cpus * 1e6) / 1e6;
}

/* A thousandth of slack: 96 trials of 2/3 fill 64 cpus, though each was rounded up. */
static bool cpus_fit(double cpus, double free_cpus)
{
    return millionths(cpus) <= free_cpus + 1e-3;
}

void machine_release(struct machine *machine)
{
    free(machine->name);
    free(machine->cpu_list);
    for (int i = 0; i < machine->n_gpus; i++)
        free(machine->gpu_ids[i]);
    *machine = (struct machine){0};
}

#define MIB (1024.0 * 1024.0)

int machine_can(const struct machine *machine, const struct demand *demand, struct err *err)
{
    const char *name = machine->name ? machine->name : "this machine";

    if (!cpus_fit(demand->cpus, machine->cpus))
        return err_set(err, ERANGE, "a trial takes %g cpus, %s has %g", demand->cpus, name,
                       machine->cpus);
    if (demand->mem_bytes > machine->mem_bytes)
        return err_set(err, ERANGE, "a trial takes %.0f MiB of memory, %s has %.0f MiB",
                       (double)demand->mem_bytes / MIB, name, (double)machine->mem_bytes / MIB);
    if (demand->gpus > machine->n_gpus)
        return err_set(err, ERANGE, "a trial takes %d GPUs, %s has %d", demand->gpus, name,
                       machine->n_gpus);
    return 0;
}

static int gpus_free(const struct machine *machine)
{
    int n = 0;
    for (int i = 0; i < machine->n_gpus; i++)
        n += !machine->gpu_used[i];
    return n;
}

/* What of the demand is not free now. */
struct lack {
    bool cpus, mem, gpus;
};

static struct lack lack_of(const struct machine *machine, const struct demand *demand)
{
    uint64_t mem_free =
        machine->mem_bytes > machine->mem_used ? machine->mem_bytes - machine->mem_used : 0;
    return (struct lack){
        .cpus = !cpus_fit(demand->cpus, machine->cpus - machine->cpus_used),
        .mem = demand->mem_bytes > mem_free,
        .gpus = demand->gpus > gpus_free(machine),
    };
}

static bool fits(const struct machine *machine, const struct demand *demand)
{
    struct lack lack = lack_of(machine, demand);
    return !lack.cpus && !lack.mem && !lack.gpus;
}

bool machine_take(struct machine *machine, const struct demand *demand, struct grant *ret)
{
    int gpus = demand->gpus;

    if (!fits(machine, demand))
        return false;
    *ret = (struct grant){.demand = *demand};
    machine->cpus_used = millionths(machine->cpus_used + millionths(demand->cpus));
    machine->mem_used += demand->mem_bytes;
    for (int i = 0; i < machine->n_gpus && gpus > 0; i++) {
        if (machine->gpu_used[i])
            continue;
        machine->gpu_used[i] = true;
        ret->gpu_mask |= 1ULL << i;
        gpus--;
    }
    return true;
}

void machine_give(struct machine *machine, const struct grant *grant)
{
    assert(machine->mem_used >= grant->demand.mem_bytes);
    machine->cpus_used = fmax(0, millionths(machine->cpus_used - millionths(grant->demand.cpus)));
    machine->mem_used -= grant->demand.mem_bytes;
    for (int i = 0; i < machine->n_gpus; i++) {
        if (!(grant->gpu_mask >> i & 1))
            continue;
        assert(machine->gpu_used[i]);
        machine->gpu_used[i] = false;
    }
}

void grant_gpus(const struct machine *machine, const struct grant *grant, struct str *to)
{
    const char *comma = "";
    for (int i = 0; i < machine->n_gpus; i++)
        if (grant->gpu_mask >> i & 1) {
            str_addf(to, "%s%s", comma, machine->gpu_ids[i]);
            comma = ",";
        }
}

static double cpus_of(const struct claim *claim)
{
    return millionths((double)claim->running * claim->demand.cpus);
}

void sched_share(struct claim *claims, size_t n)
{
    size_t users = 1;

    for (size_t i = 0; i < n; i++)
        users = MAX(users, claims[i].user + 1);
    autofree(mem) double *cpus = xcalloc(users, sizeof(*cpus));
    for (size_t i = 0; i < n; i++)
        cpus[claims[i].user] = millionths(cpus[claims[i].user] + cpus_of(&claims[i]));
    for (size_t i = 0; i < n; i++)
        claims[i].user_cpus = cpus[claims[i].user];
}

bool sched_before(const struct claim *a, const struct claim *b)
{
    double a_cpus = cpus_of(a), b_cpus = cpus_of(b);

    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->user_cpus != b->user_cpus)
        return a->user_cpus < b->user_cpus;
    if (a_cpus != b_cpus)
        return a_cpus < b_cpus;
    if (a->demand.cpus <= 0 && b->demand.cpus <= 0 && a->running != b->running)
        return a->running < b->running;
    return a->experiment < b->experiment;
}

/* The claim that is next in line after `last` (-1: the first). Those that want nothing, or
 * what the machine never has, do not stand in line. */
static ptrdiff_t next_in_line(const struct machine *machine, const struct claim *claims, size_t n,
                              ptrdiff_t last)
{
    ptrdiff_t best = -1;
    for (size_t i = 0; i < n; i++) {
        if (claims[i].wanted <= 0 || machine_can(machine, &claims[i].demand, NULL) < 0)
            continue;
        if (last >= 0 && !sched_before(&claims[last], &claims[i]))
            continue;
        if (best < 0 || sched_before(&claims[i], &claims[best]))
            best = (ptrdiff_t)i;
    }
    return best;
}

static bool touches(const struct demand *demand, const struct lack *awaited)
{
    return (awaited->cpus && demand->cpus > 0) || (awaited->mem && demand->mem_bytes > 0) ||
           (awaited->gpus && demand->gpus > 0);
}

ptrdiff_t sched_next(const struct machine *machine, const struct claim *claims, size_t n)
{
    struct lack awaited = {false, false, false};

    for (ptrdiff_t i = -1; (i = next_in_line(machine, claims, n, i)) >= 0;) {
        const struct demand *demand = &claims[i].demand;
        struct lack lack = lack_of(machine, demand);
        if (!lack.cpus && !lack.mem && !lack.gpus && !touches(demand, &awaited))
            return i;
        awaited.cpus |= lack.cpus;
        awaited.mem |= lack.mem;
        awaited.gpus |= lack.gpus;
    }
    return -1;
}

int64_t sched_backoff_us(int64_t retry, struct rng *rng)
{
    double seconds = 1;
    while (--retry > 0 && seconds < BACKOFF_MAX_S)
        seconds *= 2;
    seconds = fmin(seconds, BACKOFF_MAX_S) * (0.75 + 0.5 * rng_unit(rng));
    return (int64_t)(seconds * US_PER_S);
}
