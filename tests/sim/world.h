/* SPDX-License-Identifier: MIT */
/*
 * world.h — a simulated machine: time, messages, programs under keepers, and the death of each.
 *
 * What survives what is as in life: keepers and programs survive the engine; what a keeper wrote
 * survives everything but is lost to nobody; messages may be delayed, doubled or lost; a commit
 * that was under way when the engine died may or may not have happened. One seed, one run.
 */
#ifndef HONE_SIM_WORLD_H
#define HONE_SIM_WORLD_H

#include "base/clock.h"
#include "base/rng.h"
#include "engine/engine.h"

struct faults {
    double lose, twice; /* of a message */
    double engine_dies; /* a second */
    double keeper_dies; /* of an attempt */
    double spawn_fails;
    double program_fails;   /* exit 1 */
    double checkpoints;     /* exit 85 */
    double diverges;        /* NaN in the objective */
    double clock_jumps;     /* a second */
    double user_interrupts; /* a second */
    double user_stops;      /* a second: `stop` or `stop --drain`, for good */
    double user_holds;      /* a second: `pause`, `resume`, also of the whole queue */
    double late_keepers;    /* of a START: the keeper needs seconds to come up */
    double refuses;         /* of a configuration: the machine cannot */
    double misfits;         /* … the program runs out of memory under it */
    double machine_shrinks; /* when the engine comes up: it has fewer cpus than before */
    int64_t until_us;       /* after this all is well, so that every run can end */
};

struct world;
/* `spec` is JSON text. */
struct world *world_new(uint64_t seed, const char *spec, double cpus, const struct faults *faults);
void world_free(struct world *world);
/* Run until the experiment has ended. Aborts with the seed when something does not hold. */
void world_run(struct world *world);
/* What the database says at the end; the rows are the caller's to release. */
struct store *world_store(struct world *world);
/* The user was told that it is being stopped. */
bool world_stopped(const struct world *world);
/* How often a program was held, and how often one went on. */
void world_turns(const struct world *world, int64_t *add_pauses, int64_t *add_resumes);
/* How often the user put it off. */
int64_t world_holds(const struct world *world);
/* How often a configuration was put in place. */
int64_t world_changes(const struct world *world);
/* How often the trial's program ran to its natural end with exit 0. */
int world_successes(const struct world *world, int64_t trial);

#endif
