/* SPDX-License-Identifier: MIT */
/*
 * sched.h — which trial starts where: pure decisions over what machines have free.
 */
#ifndef HONE_SCHED_H
#define HONE_SCHED_H

#include "base/err.h"
#include "base/rng.h"
#include "base/str.h"

#define MACHINE_GPUS 64

/* What a machine has, and what running trials took of it. */
struct machine {
    char *name;
    char *cpu_list; /* "0-3,8": which cpus these are; NULL: not known */
    double cpus, cpus_used;
    uint64_t mem_bytes, mem_used;
    int n_gpus;
    char *gpu_ids[MACHINE_GPUS]; /* as CUDA_VISIBLE_DEVICES names them; owned */
    bool gpu_used[MACHINE_GPUS];
};

struct demand {
    double cpus;
    uint64_t mem_bytes;
    int gpus;
};

/* One experiment that wants to start trials. */
struct claim {
    int64_t experiment;
    struct demand demand; /* of one trial */
    int64_t running;      /* trials it runs now */
    int64_t wanted;       /* more trials it could start now (queue, budget, parallel) */
    int64_t priority;     /* higher ones first */
    size_t user;          /* whose it is: users are numbered from 0 */
    double user_cpus;     /* sched_share() */
};

/* What a started trial holds; give it back with machine_give(). */
struct grant {
    struct demand demand;
    uint64_t gpu_mask;
};

void machine_release(struct machine *machine);
/* Could it run on the empty machine? 0, or -ERANGE with a sentence that says what is missing. */
int machine_can(const struct machine *machine, const struct demand *demand, struct err *err);
bool machine_take(struct machine *machine, const struct demand *demand, struct grant *ret);
void machine_give(struct machine *machine, const struct grant *grant);
/* "0,2": the ids of the granted devices; "" for none. */
void grant_gpus(const struct machine *machine, const struct grant *grant, struct str *to);

/* Note in each claim how many cpus its user's experiments have in use. */
void sched_share(struct claim *claims, size_t n);
/* Is a served before b? By priority; fair between users (the least cpus in use first), then
 * between experiments; the older one at a tie. */
bool sched_before(const struct claim *a, const struct claim *b);
/* The claim to serve next: index into claims, -1 if none may start. If the first in line does not
 * fit now, a later one may start only if it takes nothing of what the first one lacks. */
ptrdiff_t sched_next(const struct machine *machine, const struct claim *claims, size_t n);

/* How long to wait before retry number `retry` (from 1): 1 s doubling to 60 s, ±25 % by rng. */
int64_t sched_backoff_us(int64_t retry, struct rng *rng);

#endif
