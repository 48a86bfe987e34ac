/* SPDX-License-Identifier: MIT */
/*
 * machine_jobs.h — experiments that arrive at one simulated machine and wait in line. How long one
 * takes follows from windows on the machine and, where the mode tunes it, from the decisions of
 * decide.c and speed.c, window by window. One seed, one run.
 */
#ifndef HONE_SIM_MACHINE_JOBS_H
#define HONE_SIM_MACHINE_JOBS_H

#include "tests/sim/machine.h"

enum service_mode {
    SERVICE_OFF_RAW,   /* as many threads as cores, spinning where the program does */
    SERVICE_OFF,       /* threads for the share of the cores, none spins */
    SERVICE_HYPER,     /* threads as they start: one */
    SERVICE_JOINT,     /* each trial has another number, as a search would draw them */
    SERVICE_PIPELINED, /* tuned inside the trials, begun as `hyper` */
    SERVICE_KNOWING,   /* the same, with what earlier jobs of the program taught */
    SERVICE_MODES,
};
const char *service_mode_name(enum service_mode mode);

/* An experiment: four trials of one program, two at a time. */
struct arrival {
    size_t program;
    double trial_steps;
    uint64_t seed;
};

/* n jobs, drawn by the seed. */
void arrivals_draw(struct arrival *ret, size_t n, uint64_t seed);
/* When they come: n times, exponential gaps of that mean. */
void arrivals_times(double *ret_s, size_t n, double mean_gap_s, uint64_t seed);

/* The machine, with what it has learned. */
struct workshop;
struct workshop *workshop_new(enum service_mode mode);
void workshop_free(struct workshop *workshop);
DEFINE_AUTOFREE(workshop);
/* Seconds from the start of a job to its end. Call linalg_open() before. */
double workshop_run(struct workshop *workshop, const struct arrival *job);

struct turn {
    size_t job;
    double arrived_s, start_s, end_s;
};
/* One at a time, who came first goes first: turns in the order in which they were served. */
void queue_run(const double *arrived_s, const double *service_s, size_t n, struct turn *ret);

#endif
