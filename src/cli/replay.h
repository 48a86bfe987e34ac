/* SPDX-License-Identifier: MIT */
/*
 * replay.h — what another search, or another rule of early stopping, would have done with the
 * trials that an experiment recorded. A search proposes freely, but what is run is the recorded
 * setting nearest to it that was not run yet; the rule sees the recorded curve.
 */
#ifndef HONE_CLI_REPLAY_H
#define HONE_CLI_REPLAY_H

#include "api/results.h"
#include "search/stop.h"

/* A recorded trial, its values minimised. */
struct replay_trial {
    int64_t number;
    const double *x; /* of the results' arena */
    enum trial_state state;
    double value; /* at its end; NaN: failed. Of a stopped one: the last known */
    VEC(int64_t) steps;
    VEC(double) values; /* its curve; with none it is judged by nothing */
};
struct replay_table {
    const struct space *space;
    VEC(struct replay_trial) trials; /* different settings, the first run of each */
    bool curves;                     /* some have one */
    int64_t steps;                   /* that all of them took; without curves a trial is a step */
    double best;                     /* value of the best completed one; NaN: none */
};
/* -ENODATA with a sentence if there are fewer than two trials to choose from. */
int replay_load(const char *home, const struct target *target, const struct results *results,
                struct replay_table *ret, struct err *err);
void replay_table_release(struct replay_table *table);
/* Steps of one trial run to its end. */
int64_t replay_cost(const struct replay_table *table, const struct replay_trial *trial);

struct replay_how {
    const char *search;          /* NULL: in the order of the record */
    const struct stop_ops *stop; /* NULL: none */
    struct stop_settings settings;
    uint64_t seed;
};
/* What came of it: a row each time a trial ended. */
struct replay_mark {
    int64_t trials, steps; /* begun, used */
    double best;           /* so far, minimised; NaN: none */
};
struct replay_path {
    VEC(struct replay_mark) marks;
    size_t stopped; /* trials that the rule ended */
};
int replay_simulate(const struct replay_table *table, const struct replay_how *how,
                    struct replay_path *ret, struct err *err);
void replay_path_release(struct replay_path *path);
/* The best when so many steps were used; NaN: none yet. */
double replay_best_at(const struct replay_path *path, double steps);
/* The first mark that is at least as good as `value`; NULL: never. */
const struct replay_mark *replay_reaches(const struct replay_path *path, double value);

#endif
