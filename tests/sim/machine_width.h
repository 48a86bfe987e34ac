/* SPDX-License-Identifier: MIT */
/*
 * machine_width.h — hours of an experiment on the simulated machine, with a fixed number of trials
 * side by side or with that of width.h. Trials differ in length, speed and memory; their threads
 * are tuned. One seed, one run.
 */
#ifndef HONE_SIM_MACHINE_WIDTH_H
#define HONE_SIM_MACHINE_WIDTH_H

#include "tests/sim/machine.h"
#include "tune/width.h"

struct width_scene {
    const char *name;
    double cores;
    struct program program;
    double memory_bytes; /* of the machine; 0: enough */
    bool stated;         /* the spec says how much a trial takes; else the first one shows it */
    double neighbour;    /* cores that it takes, every other half hour; 0: none */
    double trial_s;      /* a trial alone on one core */
    double hours;
};
extern const struct width_scene width_scenes[];
extern const size_t width_scene_count;

struct width_outcome {
    double runs_an_hour;  /* full runs times the search's efficiency */
    size_t over;          /* seconds in which the trials took more memory than there is */
    size_t changes, last; /* of the width, and what it was in the end */
};

/* fixed 0: as width.h says. Call linalg_open() before. */
struct width_outcome width_scene_run(const struct width_scene *scene, size_t fixed, uint64_t seed);
/* The fixed width that does best among those that never take too much memory: all up to 16 are run,
 * beyond each fourth. */
size_t width_scene_best(const struct width_scene *scene, uint64_t seed,
                        struct width_outcome *ret_outcome);

#endif
