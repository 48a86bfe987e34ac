/* SPDX-License-Identifier: MIT */
/*
 * tuning_sum.h — what tuning did in all trials of an experiment, and the object that tells
 * everything about one.
 */
#ifndef HONE_TUNING_SUM_H
#define HONE_TUNING_SUM_H

#include "api/find.h"
#include "api/tuning.h"

struct ending_count {
    char *words;
    int64_t n;
};
struct tuning_sum {
    struct store *store;
    const struct target *target;
    struct tuning_log log;
    int64_t trials, changes, asked;
    double cost_s, joules;
    bool measured;                    /* all of the joules */
    VEC(struct ending_count) endings; /* what they ended with, in words */
};
/* Release in any case; `target` is borrowed. */
void tuning_sum_load(struct tuning_sum *sum, struct store *store, const struct target *target);
void tuning_sum_release(struct tuning_sum *sum);

/* Members "energy_j" and "energy". */
void rows_put_energy(struct json_out *out, double joules, bool measured);
/* What `hone show EXPERIMENT --json` tells; the caller may add members and ends the object. */
void rows_put_whole_experiment(struct json_out *out, struct store *store,
                               const struct target *target, bool engine);
/* The same for a caller who knows how many attempts were made. */
void rows_put_counted_experiment(struct json_out *out, struct store *store,
                                 const struct target *target, bool engine, int64_t attempts);

#endif
