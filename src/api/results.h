/* SPDX-License-Identifier: MIT */
/*
 * results.h — the trials of an experiment as an array of numbers: for plots, the Pareto front,
 * importance, replay.
 */
#ifndef HONE_RESULTS_H
#define HONE_RESULTS_H

#include "api/find.h"

#define COVER_MAX 8 /* objectives, as many as a spec may have */

struct outcome {
    int64_t number;
    enum trial_state state;
    enum reason reason;
    const double *point;   /* space.n doubles, of the list's arena */
    const double *values;  /* an objective each, in their own goals; NaN: none */
    const double *bounded; /* what each constraint bounds; NaN: not known */
    bool kept;             /* it keeps every constraint */
    int64_t repeat_of, seen, told;
    int64_t last_step, run_us;
    int64_t attempts;
    const char *why, *verdict; /* JSON or NULL */
};
struct results {
    struct arena arena;
    size_t n_objectives;
    VEC(struct outcome) rows; /* in the order of their numbers */
};

int results_load(struct store *store, const struct target *target, struct results *ret,
                 struct err *err);
void results_release(struct results *results);
/* It completed with a finite value of the first objective. */
bool outcome_counts(const struct outcome *outcome);
/* Is the value within the bound? What is not known is not. */
bool constraint_kept(const struct constraint *constraint, double x);
/* What constraint i bounds, in this trial; NaN: not known. */
double trial_bounded(const struct spec *spec, const struct trial *trial, size_t i);
/* The objective with this index; 0 is the first. */
const struct objective *objective_at(const struct spec *spec, size_t i);
/* Rows that no other one is better than in all objectives, among those that count in all of them
 * and keep the constraints; best in the first objective first. Indices into rows; free *ret. */
size_t results_front(const struct results *results, const struct spec *spec, size_t **ret);
/* How much of the space the front dominates. */
struct cover {
    double volume; /* up to `reference`; NaN: not known, or too much work */
    double share;  /* … of the box between the worst and the best; NaN: it has no volume */
    double reference[COVER_MAX]; /* the worst of each objective that a completed trial had */
};
struct cover results_cover(const struct results *results, const struct spec *spec,
                           const size_t *front, size_t n_front);
/* The row that is best in the first objective; NULL: none counts. */
const struct outcome *results_best(const struct results *results, const struct spec *spec);

#endif
