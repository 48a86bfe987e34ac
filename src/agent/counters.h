/* SPDX-License-Identifier: MIT */
/*
 * counters.h — what a process tree does, looked at from outside: a profile for telling workloads
 * apart and for showing where the time goes.
 *
 *     counters_open ──► counters_read ──► counts ─┐
 *                       counters_read ──► counts ─┴► profile_between ──► names and values
 *
 * Sources: perf_event_open (hardware and software events), /proc/PID of every process and thread of
 * the tree, pressure, the tree's own cgroup. What a machine does not have, or does not let us see,
 * is missing: never 0.
 */
#ifndef HONE_AGENT_COUNTERS_H
#define HONE_AGENT_COUNTERS_H

#include "base/err.h"

#include <sys/types.h>

struct perf_event_attr;

/* Every counter that a profile has, in its order; counter_kind() tells more. */
enum counter {
    COUNTER_CYCLES, /* hardware: first of PERF */
    COUNTER_INSTRUCTIONS,
    COUNTER_BRANCHES,
    COUNTER_BRANCH_MISSES,
    COUNTER_CACHE_REFERENCES,
    COUNTER_CACHE_MISSES,
    COUNTER_BUS_CYCLES,
    COUNTER_REF_CYCLES,
    COUNTER_L1D_LOADS,
    COUNTER_L1D_LOAD_MISSES,
    COUNTER_L1D_STORES,
    COUNTER_L1I_LOAD_MISSES,
    COUNTER_LLC_LOADS,
    COUNTER_LLC_LOAD_MISSES,
    COUNTER_LLC_STORES,
    COUNTER_LLC_STORE_MISSES,
    COUNTER_DTLB_LOADS,
    COUNTER_DTLB_LOAD_MISSES,
    COUNTER_DTLB_STORES,
    COUNTER_DTLB_STORE_MISSES,
    COUNTER_ITLB_LOADS,
    COUNTER_ITLB_LOAD_MISSES,
    COUNTER_NODE_LOADS,
    COUNTER_NODE_LOAD_MISSES,
    COUNTER_NODE_STORES,
    COUNTER_NODE_STORE_MISSES,
    COUNTER_SLOTS_ISSUED,
    COUNTER_SLOTS_RETIRED,
    COUNTER_FETCH_BUBBLES,
    COUNTER_RECOVERY_BUBBLES,
    COUNTER_TASK_CLOCK, /* software */
    COUNTER_CONTEXT_SWITCHES,
    COUNTER_MIGRATIONS,
    COUNTER_PAGE_FAULTS,
    COUNTER_CPU_USER, /* /proc/PID */
    COUNTER_CPU_SYSTEM,
    COUNTER_MAJOR_FAULTS,
    COUNTER_THREADS,
    COUNTER_RESIDENT,
    COUNTER_READ_CHARS,
    COUNTER_WRITE_CHARS,
    COUNTER_READ_CALLS,
    COUNTER_WRITE_CALLS,
    COUNTER_READ_BYTES,
    COUNTER_WRITE_BYTES,
    COUNTER_RUN_WAIT,
    COUNTER_PRESSURE_CPU, /* of the tree's own cgroup */
    COUNTER_PRESSURE_MEMORY,
    COUNTER_PRESSURE_MEMORY_FULL,
    COUNTER_PRESSURE_IO,
    COUNTER_PRESSURE_IO_FULL,
    COUNTER_MACHINE_CPU, /* pressure of the whole machine */
    COUNTER_MACHINE_MEMORY,
    COUNTER_MACHINE_MEMORY_FULL,
    COUNTER_MACHINE_IO,
    COUNTER_MACHINE_IO_FULL,
    COUNTER_CGROUP_CPU, /* the tree's own cgroup, v1 or v2 */
    COUNTER_CGROUP_THROTTLED,
    COUNTER_CGROUP_MEMORY,
    COUNTER_CGROUP_CACHE,
    COUNTERS
};

enum counter_per {
    PER_SECOND,      /* of time that passed */
    PER_INSTRUCTION, /* missing where instructions are */
    AS_IT_STANDS,    /* a level: as it was at the end */
};
struct counter_kind {
    const char *name; /* "branch-misses" */
    const char *unit; /* of a value in a profile: "per instruction", "s/s", "bytes" */
    enum counter_per per;
    double small, large; /* what is little and what is much */
    bool echo;           /* another says the same: told, but not compared */
};
const struct counter_kind *counter_kind(enum counter counter);

/* ---- reading ---- */

/* How events are opened and read; a test puts its own here. All return -errno or ≥ 0. */
struct perf_ops {
    int (*open)(void *context, struct perf_event_attr *attr, pid_t tid, int group_fd); /* a fd */
    int (*read)(void *context, int fd, uint64_t ret_value_enabled_running[3]);
    void (*close)(void *context, int fd);
};

struct counters_options {
    pid_t pid;                  /* the tree's root */
    const char *proc, *sys;     /* NULL: "/proc", "/sys" */
    const char *pfm;            /* library that knows events by name; NULL: "libpfm.so.4" */
    const struct perf_ops *ops; /* NULL: the kernel's */
    void *context;              /* for ops */
};

/* Sums since some beginning, and levels; NaN: missing. */
struct counts {
    int64_t at_us;
    unsigned generation; /* events of different ones cannot be compared */
    double values[COUNTERS];
};

struct counters;

/* Begin to count. Threads that live now are counted one by one, those that they start later with
 * them; what a thread starts while it is being looked at may be missed. -ESRCH with a sentence if
 * the process is not there. Texts of `options` are copied. */
int counters_open(const struct counters_options *options, struct counters **ret, struct err *err);
void counters_free(struct counters *counters);
DEFINE_AUTOFREE(counters);
/* How all counters stand. A process that has ended leaves what it did to its parent; when the root
 * has ended, all but the machine's pressure and events is missing. */
void counters_read(struct counters *counters, int64_t now_us, struct counts *ret);
/* "30 of 34 events, 2 groups" or why there are none, for hone doctor; borrowed until the next
 * call with `counters`. */
const char *counters_explain(struct counters *counters);

/* ---- profiles ---- */

struct profile_entry {
    const char *name; /* static */
    double value;     /* in the kind's unit; NaN if missing */
    double scaled;    /* the same on a scale where 0 is none and 1 is much; NaN if missing */
    bool missing;
};
struct profile {
    struct profile_entry at[COUNTERS];
};

/* What happened from `before` to `after`. A sum that fell (a process ended unseen) is missing; all
 * sums are if no time has passed. */
void profile_between(const struct counts *before, const struct counts *after, struct profile *ret);
/* Root mean square of the differences on the scale over what both have and no other repeats; *ret_n
 * (may be NULL) says over how many. NaN if there is none. */
double profile_distance(const struct profile *a, const struct profile *b, size_t *ret_n);

#endif
