/* SPDX-License-Identifier: MIT */
/*
 * lever.h — what Hone itself can change about a running attempt, in place: processors, share of
 * processor time, memory, niceness, frequency. Holds for the whole tree of its processes, for
 * threads and children born later too. Decides nothing: the caller says what, and here is said how
 * far that was possible.
 */
#ifndef HONE_LEVER_H
#define HONE_LEVER_H

#include "base/err.h"
#include "base/str.h"
#include "exec/cpus.h"
#include "exec/exec.h"

/* In the order in which they are applied. */
enum lever_kind {
    LEVER_CPUS,      /* which processors: cpuset (v2, v1), else affinity of every thread */
    LEVER_CPU_QUOTA, /* how much processor time: cpu.max (v2), cpu.cfs_quota_us (v1) */
    LEVER_MEMORY,    /* how much memory: memory.high, then memory.max; v1 soft limit, then limit */
    LEVER_NICE,      /* niceness of every thread, and of the group that they are scheduled in */
    LEVER_FREQUENCY, /* highest clock of its processors; whoever shares these is slowed too */
    LEVER_KINDS,
};
const char *lever_name(enum lever_kind kind); /* "cpus", "cpu_quota", "memory", … */

struct lever_values {
    bool given[LEVER_KINDS];
    struct cpus cpus;
    double quota_cpus;      /* 1.5: one and a half processors' time; INFINITY: no limit */
    uint64_t memory_bytes;  /* UINT64_MAX: no limit */
    int nice;               /* −20 … 19 */
    uint64_t frequency_khz; /* UINT64_MAX: as it was before the first change */
};

/* Take over what `from` gives for that kind. */
void lever_values_take(struct lever_values *to, const struct lever_values *from,
                       enum lever_kind kind);

/* Where the kernel shows its files; a fake tree in tests. A NULL is the usual place. */
struct lever_roots {
    const char *cgroup; /* "/sys/fs/cgroup" */
    const char *cpu;    /* "/sys/devices/system/cpu" */
};

/* The levers of one attempt, or of the machine. */
struct lever;
/* Those of the attempt in `dir` (as in exec.h), which must be running (-ESRCH). */
int lever_open(const char *dir, const struct lever_roots *roots, struct lever **ret,
               struct err *err);
/* Those that an attempt started by this plan would have: only lever_possible and lever_kinds. */
struct lever *lever_open_machine(const struct cgroup_plan *plan, const struct lever_roots *roots);
void lever_free(struct lever *lever);
DEFINE_AUTOFREE(lever);

/* Can it be moved? `how` gets "affinity", "cgroup v1", or "not possible: why; what would help". */
bool lever_possible(const struct lever *lever, enum lever_kind kind, struct str *how);
/* All of them for doctor, a line each: "cpus: affinity\n". */
void lever_kinds(const struct lever *lever, struct str *to);

/* Apply what is `given`, in the order of the kinds. What could be done only in part (a processor
 * that is gone, memory below what is in use) is done so far and `notes` gets a line about it.
 * Stops at the first that fails; those before it hold: lever_read tells. 0, or
 *   -EINVAL   a value that makes no sense, or none of the processors is there
 *   -ENOTSUP  not possible on this machine or for this attempt; the sentence says what would help
 *   -EPERM    not allowed to us
 *   -ESRCH    the attempt has ended, or its program has not started yet
 *   -EAGAIN   it starts processes faster than they can be reached; what was reached has changed
 * A cap of frequency follows when `cpus` changes. */
int lever_apply(const struct lever *lever, const struct lever_values *want, struct str *notes,
                struct err *err);
/* What is in force now, asked of the kernel. given[] is false for what this machine does not tell.
 * cpus: all that some thread may use; nice: of the program's first process; frequency: the highest
 * of its processors. */
int lever_read(const struct lever *lever, struct lever_values *ret, struct err *err);
/* When the attempt has ended: take back what outlives it (frequencies, empty v1 folders). Both are
 * noted in dir/levers before they change, so this may come after a crash, late and twice. 0, or
 * -EBUSY if some process is still there. */
int lever_end(const char *dir, const struct lever_roots *roots, struct err *err);

/* What the threads of the tree have used so far. */
struct lever_thread {
    pid_t tid;
    uint64_t run_ns, wait_ns; /* on a processor; ready, but waiting for one */
    uint64_t sleeps;          /* times it gave up its processor to wait for something */
};
struct lever_sample {
    int64_t at_us;
    VEC(struct lever_thread) threads; /* by tid, ascending */
};
/* -ENOTSUP if the kernel keeps no schedstat. */
int lever_sample(const struct lever *lever, int64_t now_us, struct lever_sample *ret,
                 struct err *err);
void lever_sample_release(struct lever_sample *sample);

/* What they did between two samples. Pure. */
struct lever_use {
    size_t threads;               /* alive at the end */
    size_t running;               /* that wanted a processor for a quarter of the time or more */
    double wanted_cpus;           /* by the running ones: on a processor or waiting for one */
    double used_cpus;             /* by all */
    double sleeps_per_s;          /* of the middle one of them, for each second on a processor */
    double run_s, wait_s, sleeps; /* of all, in that time; of those that ended: not known */
};
void lever_use(const struct lever_sample *before, const struct lever_sample *after,
               struct lever_use *ret);
/* Does it spin: do several threads want a processor all the time and never sleep, not even to wait
 * for each other? Threads that compute for seconds without waiting look alike and count too. */
bool lever_spins(const struct lever_use *use);
/* How many processors a program may be given in place when `asked` are wanted: one that spins
 * collapses below the number of its running threads, so never below that. */
size_t lever_cpus_allowed(size_t running, size_t asked, bool spins);

/* The variables that Hone sets at start for `cpus` granted processors, as "NAME=value", ends with
 * NULL; one block, free() it. What `envp` has stays as the user set it: it is not in the list, nor
 * is what would overrule it (OPENBLAS_NUM_THREADS beside the user's OMP_NUM_THREADS). Pure. */
char **lever_environment(char *const *envp, size_t cpus);

#endif
