/* SPDX-License-Identifier: MIT */
/*
 * machine_replay.h — the tuner on recorded step times: window.c, speed.c and decide.c see what
 * programs really did.
 *
 * A file of traces has the columns scene,workload,configuration,run,step,seconds and lines of `#`;
 * a configuration is words NAME=VALUE or JSON. In a row, `seconds` went by for the steps since the
 * row before of the same run; a run's first row says where it begins.
 */
#ifndef HONE_SIM_MACHINE_REPLAY_H
#define HONE_SIM_MACHINE_REPLAY_H

#include "base/err.h"
#include "tune/workload.h"

#define TRACE_KNOBS  4
#define TRACE_VALUES 16

struct chunk {
    double steps, seconds;
};
struct trace { /* one recorded run */
    long run;
    VEC(struct chunk) chunks;
};
struct configuration {
    double values[TRACE_KNOBS];
    VEC(struct trace) traces;
    double steps, seconds, last_step;
};
struct set { /* a workload in a scene */
    char *scene, *workload;
    char *names[TRACE_KNOBS];
    size_t knobs;
    VEC(struct configuration) configurations;
};
struct traces {
    VEC(struct set) sets;
};

/* Add a file. -errno with a sentence if it is none of these; what was read before it stays. */
int traces_load(struct traces *traces, const char *path, struct err *err);
void traces_release(struct traces *traces);

/* Seconds of a step under the configuration, over all of its runs. */
double set_mean(const struct set *set, size_t configuration);
/* Seconds of a job of so many steps that starts under a configuration: samples are segments of
 * about a second of a recorded run of whatever is in force, drawn by the seed. Each step counts
 * with the mean of its configuration, so the draw fools the tuner and not the figure; each change
 * with change_s. Call linalg_open() before. */
double replay_job(const struct set *set, size_t configuration, double steps, double change_s,
                  uint64_t seed);

/* What the set teaches, as knowledge: effects with the deviation of a few windows. `ret` is
 * released by the caller. */
void set_workload(const struct set *set, struct workload *ret);
/* The same job with what another workload taught. `certainty` above 0: believed so much from the
 * first window on, as by its profile. 0: looked at when two configurations are measured, and with
 * each more, and taken if it answers alike, as the engine does. */
struct replay_knowledge {
    const struct workload *from;
    double certainty;
};
double replay_job_known(const struct set *set, size_t configuration, double steps, double change_s,
                        uint64_t seed, const struct replay_knowledge *known);

#endif
