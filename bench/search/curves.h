/* SPDX-License-Identifier: MIT */
/*
 * curves.h — experiments replayed on a table of learning curves: LCBench, 2,000 settings of which
 * the accuracy after each of 52 epochs is known.
 */
#ifndef HONE_BENCH_CURVES_H
#define HONE_BENCH_CURVES_H

#include "model/space.h"
#include "search/stop.h"

#define EPOCHS 52
#define PARAMS 7

struct curve_table {
    char name[32];
    size_t n;
    double (*points)[PARAMS];
    double *seconds;            /* (n) of a whole run */
    double (*accuracy)[EPOCHS]; /* (n) in percent */
    double best;                /* the highest at the last epoch */
    struct param params[PARAMS];
    struct space space;
};
/* Read a gzipped CSV file; ends the program with a sentence if it cannot. */
void curve_table_load(struct curve_table *table, const char *path);
void curve_table_release(struct curve_table *table);

struct replay {
    const struct curve_table *table;
    const char *rule;
    struct stop_settings settings;
    bool model; /* settings by expected improvement among the rows; else in random order */
    bool prior; /* the rule is told what the model expects */
    size_t slots;
    double noise;
    double budget; /* in epochs, or in seconds */
    bool in_seconds;
    uint64_t seed;
};
struct outcome {
    size_t started, completed, stopped;
    double epochs;       /* that were run */
    double whole_epochs; /* that would have been run of the trials that ended, without a rule */
    bool killed;         /* the best by table of those that began was stopped */
    double regret;       /* in points: of the completed trial that looked best */
    double lost;         /* in points: by how much the best that began beats the best completed */
};
struct outcome replay_run(const struct replay *replay);

#endif
