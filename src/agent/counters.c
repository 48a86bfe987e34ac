/* SPDX-License-Identifier: MIT */
/*
 * counters.c — the table of counters, their reading all together, and profiles.
 *
 * The hardware events are those of PipeTune's list that say something: without the nine that are
 * another name of a listed one, the twelve of transactional memory, the five that are counted for
 * whole processors only, mem-loads and mem-stores (sampling only), and total slots (a multiple of
 * cycles); ref-cycles stand for the clocks of whole processors. Raw counts differ by ten orders of
 * magnitude, so that clocks alone would decide which workloads look alike. So events are told per
 * instruction, the rest per second, and compared on a logarithmic scale from `small` to `large`.
 */
#include "agent/counters_parts.h"

#include <errno.h>
#include <math.h>

#define EVENT(name_, small_, large_)                                                               \
    {                                                                                              \
        .name = name_, .unit = "per instruction", .per = PER_INSTRUCTION, .small = small_,         \
        .large = large_                                                                            \
    }
#define RATE(name_, unit_, small_, large_)                                                         \
    {                                                                                              \
        .name = name_, .unit = unit_, .per = PER_SECOND, .small = small_, .large = large_          \
    }
#define ECHO(name_, unit_, small_, large_)                                                         \
    {                                                                                              \
        .name = name_, .unit = unit_, .per = PER_SECOND, .small = small_, .large = large_,         \
        .echo = true                                                                               \
    }
#define LEVEL(name_, unit_, small_, large_)                                                        \
    {                                                                                              \
        .name = name_, .unit = unit_, .per = AS_IT_STANDS, .small = small_, .large = large_        \
    }

static const struct counter_kind kinds[COUNTERS] = {
    [COUNTER_CYCLES] = EVENT("cycles", 0.1, 10),
    [COUNTER_INSTRUCTIONS] = RATE("instructions", "per second", 1e6, 1e11),
    [COUNTER_BRANCHES] = EVENT("branches", 0.01, 0.5),
    [COUNTER_BRANCH_MISSES] = EVENT("branch-misses", 1e-5, 0.05),
    [COUNTER_CACHE_REFERENCES] = EVENT("cache-references", 1e-4, 0.5),
    [COUNTER_CACHE_MISSES] = EVENT("cache-misses", 1e-5, 0.1),
    [COUNTER_BUS_CYCLES] = EVENT("bus-cycles", 1e-3, 1),
    [COUNTER_REF_CYCLES] = EVENT("ref-cycles", 0.1, 10),
    [COUNTER_L1D_LOADS] = EVENT("L1-dcache-loads", 0.01, 1),
    [COUNTER_L1D_LOAD_MISSES] = EVENT("L1-dcache-load-misses", 1e-4, 0.3),
    [COUNTER_L1D_STORES] = EVENT("L1-dcache-stores", 0.01, 1),
    [COUNTER_L1I_LOAD_MISSES] = EVENT("L1-icache-load-misses", 1e-5, 0.1),
    [COUNTER_LLC_LOADS] = EVENT("LLC-loads", 1e-5, 0.1),
    [COUNTER_LLC_LOAD_MISSES] = EVENT("LLC-load-misses", 1e-6, 0.05),
    [COUNTER_LLC_STORES] = EVENT("LLC-stores", 1e-5, 0.1),
    [COUNTER_LLC_STORE_MISSES] = EVENT("LLC-store-misses", 1e-6, 0.05),
    [COUNTER_DTLB_LOADS] = EVENT("dTLB-loads", 0.01, 1),
    [COUNTER_DTLB_LOAD_MISSES] = EVENT("dTLB-load-misses", 1e-6, 0.05),
    [COUNTER_DTLB_STORES] = EVENT("dTLB-stores", 0.01, 1),
    [COUNTER_DTLB_STORE_MISSES] = EVENT("dTLB-store-misses", 1e-6, 0.05),
    [COUNTER_ITLB_LOADS] = EVENT("iTLB-loads", 1e-6, 0.5),
    [COUNTER_ITLB_LOAD_MISSES] = EVENT("iTLB-load-misses", 1e-7, 0.01),
    [COUNTER_NODE_LOADS] = EVENT("node-loads", 1e-6, 0.05),
    [COUNTER_NODE_LOAD_MISSES] = EVENT("node-load-misses", 1e-7, 0.05),
    [COUNTER_NODE_STORES] = EVENT("node-stores", 1e-6, 0.05),
    [COUNTER_NODE_STORE_MISSES] = EVENT("node-store-misses", 1e-7, 0.05),
    [COUNTER_SLOTS_ISSUED] = EVENT("slots-issued", 0.1, 4),
    [COUNTER_SLOTS_RETIRED] = EVENT("slots-retired", 0.1, 4),
    [COUNTER_FETCH_BUBBLES] = EVENT("fetch-bubbles", 1e-3, 4),
    [COUNTER_RECOVERY_BUBBLES] = EVENT("recovery-bubbles", 1e-4, 1),
    [COUNTER_TASK_CLOCK] = ECHO("task-clock", "s/s", 0.01, 64),
    [COUNTER_CONTEXT_SWITCHES] = RATE("context-switches", "per second", 10, 1e5),
    [COUNTER_MIGRATIONS] = RATE("migrations", "per second", 1, 1e4),
    [COUNTER_PAGE_FAULTS] = RATE("page-faults", "per second", 10, 1e6),
    [COUNTER_CPU_USER] = RATE("cpu-user", "s/s", 0.01, 64),
    [COUNTER_CPU_SYSTEM] = RATE("cpu-system", "s/s", 0.01, 64),
    [COUNTER_MAJOR_FAULTS] = RATE("major-faults", "per second", 1, 1e4),
    [COUNTER_THREADS] = LEVEL("threads", "threads", 1, 1e3),
    [COUNTER_RESIDENT] = LEVEL("resident", "bytes", 1e6, 1e12),
    [COUNTER_READ_CHARS] = RATE("read", "bytes/s", 1e3, 1e10),
    [COUNTER_WRITE_CHARS] = RATE("written", "bytes/s", 1e3, 1e10),
    [COUNTER_READ_CALLS] = RATE("read-calls", "per second", 1, 1e6),
    [COUNTER_WRITE_CALLS] = RATE("write-calls", "per second", 1, 1e6),
    [COUNTER_READ_BYTES] = RATE("disk-read", "bytes/s", 1e3, 1e10),
    [COUNTER_WRITE_BYTES] = RATE("disk-written", "bytes/s", 1e3, 1e10),
    [COUNTER_RUN_WAIT] = RATE("run-wait", "s/s", 0.01, 64),
    [COUNTER_PRESSURE_CPU] = RATE("pressure-cpu", "s/s", 0.01, 1),
    [COUNTER_PRESSURE_MEMORY] = RATE("pressure-memory", "s/s", 0.001, 1),
    [COUNTER_PRESSURE_MEMORY_FULL] = RATE("pressure-memory-full", "s/s", 0.001, 1),
    [COUNTER_PRESSURE_IO] = RATE("pressure-io", "s/s", 0.001, 1),
    [COUNTER_PRESSURE_IO_FULL] = RATE("pressure-io-full", "s/s", 0.001, 1),
    [COUNTER_MACHINE_CPU] = RATE("machine-pressure-cpu", "s/s", 0.01, 1),
    [COUNTER_MACHINE_MEMORY] = RATE("machine-pressure-memory", "s/s", 0.001, 1),
    [COUNTER_MACHINE_MEMORY_FULL] = RATE("machine-pressure-memory-full", "s/s", 0.001, 1),
    [COUNTER_MACHINE_IO] = RATE("machine-pressure-io", "s/s", 0.001, 1),
    [COUNTER_MACHINE_IO_FULL] = RATE("machine-pressure-io-full", "s/s", 0.001, 1),
    [COUNTER_CGROUP_CPU] = ECHO("cgroup-cpu", "s/s", 0.01, 64),
    [COUNTER_CGROUP_THROTTLED] = RATE("cgroup-throttled", "s/s", 0.01, 64),
    [COUNTER_CGROUP_MEMORY] = LEVEL("cgroup-memory", "bytes", 1e6, 1e12),
    [COUNTER_CGROUP_CACHE] = LEVEL("cgroup-cache", "bytes", 1e6, 1e12),
};

const struct counter_kind *counter_kind(enum counter counter)
{
    return &kinds[counter];
}

/* ---- reading ---- */

struct counters {
    char *proc, *sys;
    struct process_tree tree;
    struct perf *perf;
    unsigned generation;
    struct str explained;
};

static void attach(struct counters *counters)
{
    pid_t *tids = NULL;
    size_t n = process_tree_threads(&counters->tree, &tids);

    perf_attach(counters->perf, tids, n);
    free(tids);
}

int counters_open(const struct counters_options *options, struct counters **ret, struct err *err)
{
    autofree(counters) struct counters *counters = xcalloc(1, sizeof(*counters));

    counters->proc = xstrdup(options->proc ? options->proc : "/proc");
    counters->sys = xstrdup(options->sys ? options->sys : "/sys");
    counters->explained = (struct str)STR_INIT;
    counters->tree = (struct process_tree){.proc = counters->proc, .root = options->pid};
    if (process_tree_look(&counters->tree) < 0)
        return err_set(err, ESRCH, "counters: no process %d below %s", (int)options->pid,
                       counters->proc);
    counters->perf = perf_new(options->pfm, options->ops, options->context);
    attach(counters);
    *ret = TAKE(counters);
    return 0;
}

void counters_free(struct counters *counters)
{
    if (!counters)
        return;
    perf_free(counters->perf);
    process_tree_release(&counters->tree);
    str_release(&counters->explained);
    free(counters->proc);
    free(counters->sys);
    free(counters);
}

void counters_read(struct counters *counters, int64_t now_us, struct counts *ret)
{
    ret->at_us = now_us;
    for (size_t i = 0; i < COUNTERS; i++)
        ret->values[i] = NAN;
    bool alive = process_tree_look(&counters->tree) == 0;
    if (perf_read(counters->perf, ret->values) && alive) {
        counters->generation++;
        attach(counters);
    }
    ret->generation = counters->generation;
    machine_pressure_read(counters->proc, ret->values);
    if (!alive)
        return;
    process_tree_read(&counters->tree, ret->values);
    cgroup_read(counters->proc, counters->sys, &counters->tree, ret->values);
}

const char *counters_explain(struct counters *counters)
{
    str_cut(&counters->explained, 0);
    perf_explain(counters->perf, &counters->explained);
    return counters->explained.s;
}

/* ---- profiles ---- */

/* A sum's growth; NaN where it is not known. */
static double growth(const struct counts *before, const struct counts *after, size_t i)
{
    double change = after->values[i] - before->values[i];

    if (i < COUNTERS_PERF && before->generation != after->generation)
        return NAN;
    return change >= 0 ? change : NAN;
}

static double value_of(const struct counts *before, const struct counts *after, size_t i)
{
    double seconds = (double)(after->at_us - before->at_us) / 1e6;
    double instructions = growth(before, after, COUNTER_INSTRUCTIONS);

    switch (kinds[i].per) {
    case PER_SECOND:
        return seconds > 0 ? growth(before, after, i) / seconds : NAN;
    case PER_INSTRUCTION:
        return seconds > 0 && instructions > 0 ? growth(before, after, i) / instructions : NAN;
    case AS_IT_STANDS:
        break;
    }
    return after->values[i];
}

void profile_between(const struct counts *before, const struct counts *after, struct profile *ret)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        const struct counter_kind *kind = &kinds[i];
        double value = value_of(before, after, i);
        double scaled = log1p(value / kind->small) / log1p(kind->large / kind->small);
        ret->at[i] = (struct profile_entry){kind->name, value, scaled, !isfinite(value)};
    }
}

double profile_distance(const struct profile *a, const struct profile *b, size_t *ret_n)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < COUNTERS; i++) {
        if (kinds[i].echo || a->at[i].missing || b->at[i].missing)
            continue;
        double d = a->at[i].scaled - b->at[i].scaled;
        sum += d * d;
        n++;
    }
    if (ret_n)
        *ret_n = n;
    return n ? sqrt(sum / (double)n) : NAN;
}
