/* SPDX-License-Identifier: MIT */
/*
 * counters_parts.h — what the files of the counters share: counters.c puts together what
 * counters_perf.c, counters_proc.c and counters_cgroup.c see.
 */
#ifndef HONE_AGENT_COUNTERS_PARTS_H
#define HONE_AGENT_COUNTERS_PARTS_H

#include "agent/counters.h"
#include "base/str.h"

/* ---- counters_perf.c: events of the tree's threads ---- */

#define COUNTERS_HARDWARE ((size_t)COUNTER_TASK_CLOCK)
#define COUNTERS_PERF     ((size_t)COUNTER_CPU_USER)

struct perf;

/* No threads yet. `pfm` and `ops` as in counters_options; `context` is borrowed. */
struct perf *perf_new(const char *pfm, const struct perf_ops *ops, void *context);
void perf_free(struct perf *perf);
/* Count in these threads and in all that they start. */
void perf_attach(struct perf *perf, const pid_t *tids, size_t n);
/* Sums into ret[0..COUNTERS_PERF). True if the groups were too large for this hardware: attach
 * again, in smaller ones; sums from before then mean nothing. */
bool perf_read(struct perf *perf, double *ret);
void perf_explain(const struct perf *perf, struct str *to);

/* ---- counters_proc.c: processes and threads by /proc ---- */

struct thread_wait {
    pid_t tid;
    uint64_t wait_ns, switches; /* times that it was put on a processor */
};
struct waits {
    VEC(struct thread_wait) threads; /* sorted */
};
struct process_tree {
    const char *proc; /* borrowed */
    pid_t root;
    unsigned long long root_start; /* 0: not looked at yet */
    VEC(pid_t) pids;               /* of the last look; root first */
    struct waits waits;            /* of the last look */
    uint64_t wait_ns, switches;    /* sums over all threads ever seen */
};
void process_tree_release(struct process_tree *tree);
/* Find the processes. -ESRCH if the root is not there. */
int process_tree_look(struct process_tree *tree);
/* Threads of the processes of the last look; the caller frees *ret. */
size_t process_tree_threads(const struct process_tree *tree, pid_t **ret);
/* COUNTER_CPU_USER … COUNTER_WRITE_BYTES of ret: what does not cost a file for every thread. */
void process_tree_read_processes(const struct process_tree *tree, double *ret);
/* COUNTER_CPU_USER … COUNTER_RUN_WAIT of ret. */
void process_tree_read(struct process_tree *tree, double *ret);

/* ---- counters_cgroup.c: pressure, and the cgroup that only the tree is in ---- */

void machine_pressure_read(const char *proc, double *ret);
void cgroup_read(const char *proc, const char *sys, const struct process_tree *tree, double *ret);

#endif
