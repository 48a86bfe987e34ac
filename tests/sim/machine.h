/* SPDX-License-Identifier: MIT */
/*
 * machine.h — a simulated machine on which programs get in each other's way: cores are shared out,
 * threads wait for each other, and the memory's bandwidth is what it is.
 *
 * It says how fast each job runs; whoever simulates time multiplies. No state, no randomness.
 */
#ifndef HONE_SIM_MACHINE_H
#define HONE_SIM_MACHINE_H

#include "tune/usl.h"

struct machine {
    double cores;
    double load; /* cores that others would take */
};

/* A program is a loop of steps. */
struct program {
    const char *name;
    double step_s;      /* alone, one thread */
    struct usl law;     /* by threads */
    double memory;      /* share of a step that waits for the memory, 0 to 1 */
    double fill;        /* so many threads of it fill the memory's bandwidth */
    bool spins;         /* threads that wait burn their core; else they sleep */
    double startup_s;   /* to its first step */
    double trial_bytes; /* of memory */
};

/* A job that runs: threads, on so many cores of its own or shared. */
struct job {
    const struct program *program;
    double threads, cores;
    double harder; /* times as long a step as the program's; 1 */
};

/* Steps a second of each job, all at once. */
void machine_rates(const struct machine *machine, const struct job *jobs, size_t n,
                   double *ret_rates);
/* The number of threads on so many cores that is fastest alone: what tuning inside finds. */
double program_threads(const struct program *program, double cores);

#endif
