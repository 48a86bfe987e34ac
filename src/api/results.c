/* SPDX-License-Identifier: MIT */
/*
 * results.c — rows of the database as arrays, and which of them no other one beats.
 */
#include "api/results.h"
#include "search/pareto.h"

#include <math.h>

const struct objective *objective_at(const struct spec *spec, size_t i)
{
    return i == 0 ? &spec->objective : &spec->others.at[i - 1];
}

struct loader {
    struct results *results;
    const struct spec *spec;
};

/* trial.extra: the other objectives, then the constraints. */
static double extra_at(const struct trial *trial, size_t i)
{
    return i < trial->n_extra ? trial->extra[i] : NAN;
}

bool constraint_kept(const struct constraint *constraint, double x)
{
    return constraint->at_least ? x >= constraint->bound : x <= constraint->bound;
}

double trial_bounded(const struct spec *spec, const struct trial *trial, size_t i)
{
    return extra_at(trial, spec->others.len + i);
}

static bool keeps_constraints(const struct spec *spec, const struct trial *trial)
{
    for (size_t i = 0; i < spec->constraints.len; i++)
        if (!constraint_kept(&spec->constraints.at[i], trial_bounded(spec, trial, i)))
            return false;
    return true;
}

static int on_trial(const struct trial_row *row, void *arg)
{
    struct loader *loader = arg;
    struct arena *arena = &loader->results->arena;
    const struct trial *trial = &row->trial;
    size_t n = loader->results->n_objectives;
    size_t bounds = loader->spec->constraints.len;
    double *values = arena_alloc(arena, (n + bounds) * sizeof(*values));

    if (row->ndim != loader->spec->space.n)
        return 0;
    values[0] = trial->value;
    for (size_t i = 1; i < n; i++)
        values[i] = extra_at(trial, i - 1);
    for (size_t i = 0; i < bounds; i++)
        values[n + i] = trial_bounded(loader->spec, trial, i);
    struct outcome outcome = {
        .number = trial->number,
        .state = trial->state,
        .reason = trial->reason,
        .point = arena_memdup(arena, trial->point, row->ndim * sizeof(double)),
        .values = values,
        .bounded = values + n,
        .kept = keeps_constraints(loader->spec, trial),
        .repeat_of = trial->repeat_of,
        .seen = trial->seen,
        .told = trial->told,
        .last_step = trial->last_step,
        .run_us = trial->run_us,
        .attempts = trial->attempts,
        .why = arena_strdup(arena, trial->why),
        .verdict = arena_strdup(arena, trial->verdict),
    };
    vec_push(&loader->results->rows, outcome);
    return 0;
}

int results_load(struct store *store, const struct target *target, struct results *ret,
                 struct err *err)
{
    struct trial_query query = {.experiment = target->experiment.experiment.id, .bare = true};
    struct loader loader = {ret, &target->spec};

    *ret = (struct results){.n_objectives = 1 + target->spec.others.len};
    int r = store_trials(store, &query, on_trial, &loader, err);
    return r < 0 ? r : 0;
}

void results_release(struct results *results)
{
    vec_release(&results->rows);
    arena_release(&results->arena);
}

bool outcome_counts(const struct outcome *outcome)
{
    return outcome->state == TRIAL_COMPLETED && isfinite(outcome->values[0]);
}

const struct outcome *results_best(const struct results *results, const struct spec *spec)
{
    const struct outcome *best = NULL;
    vec_foreach (row, &results->rows)
        if (outcome_counts(row) && row->kept &&
            (!best || objective_better(&spec->objective, row->values[0], best->values[0])))
            best = row;
    return best;
}

/* ---- the Pareto front ---- */

static bool counts_in_all(const struct outcome *row, size_t n)
{
    if (!outcome_counts(row) || !row->kept)
        return false;
    for (size_t i = 1; i < n; i++)
        if (!isfinite(row->values[i]))
            return false;
    return true;
}

/* a at least as good as b everywhere and better somewhere. */
static bool dominates(const struct spec *spec, const struct outcome *a, const struct outcome *b,
                      size_t n)
{
    bool better = false;
    for (size_t i = 0; i < n; i++) {
        if (objective_better(objective_at(spec, i), b->values[i], a->values[i]))
            return false;
        better |= objective_better(objective_at(spec, i), a->values[i], b->values[i]);
    }
    return better;
}

struct ranked {
    const struct spec *spec;
    const struct outcome *row;
    size_t n, at;
};

/* Lexicographic by the objectives: what comes later never dominates what came before. */
static int by_objectives(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    for (size_t i = 0; i < x->n; i++) {
        const struct objective *objective = objective_at(x->spec, i);
        if (objective_better(objective, x->row->values[i], y->row->values[i]))
            return -1;
        if (objective_better(objective, y->row->values[i], x->row->values[i]))
            return 1;
    }
    return (x->at > y->at) - (x->at < y->at);
}

size_t results_front(const struct results *results, const struct spec *spec, size_t **ret)
{
    VEC(struct ranked) list = {0};
    size_t n = results->n_objectives, found = 0;
    size_t *front = xcalloc(results->rows.len + 1, sizeof(*front));

    for (size_t i = 0; i < results->rows.len; i++)
        if (counts_in_all(&results->rows.at[i], n))
            vec_push(&list, ((struct ranked){spec, &results->rows.at[i], n, i}));
    if (list.len)
        qsort(list.at, list.len, sizeof(*list.at), by_objectives);
    vec_foreach (one, &list) {
        bool beaten = false;
        for (size_t k = found; k-- > 0 && !beaten;)
            beaten = dominates(spec, &results->rows.at[front[k]], one->row, n);
        if (!beaten)
            front[found++] = one->at;
    }
    vec_release(&list);
    *ret = front;
    return found;
}

/* ---- how much it covers ---- */

/* A volume of many objectives takes exponential time. */
static bool is_affordable(size_t n_front, size_t m)
{
    return m == 2 || n_front <= (m <= 4 ? 200 : 40);
}

static bool has_all(const struct outcome *row, size_t m)
{
    for (size_t k = 0; k < m; k++)
        if (row->state != TRIAL_COMPLETED || !isfinite(row->values[k]))
            return false;
    return true;
}

/* As pareto.h has it: the less, the better. */
static double lower(const struct spec *spec, const struct outcome *row, size_t k)
{
    return objective_at(spec, k)->goal == GOAL_MAXIMIZE ? -row->values[k] : row->values[k];
}

struct cover results_cover(const struct results *results, const struct spec *spec,
                           const size_t *front, size_t n_front)
{
    size_t m = results->n_objectives;
    struct cover cover = {.volume = NAN, .share = NAN};
    double worst[COVER_MAX], best[COVER_MAX], box = 1;
    autofree(mem) double *values = xcalloc(n_front * m + 1, sizeof(double));

    if (m < 2 || m > COVER_MAX || !n_front || !is_affordable(n_front, m))
        return cover;
    for (size_t k = 0; k < m; k++) {
        worst[k] = best[k] = NAN;
        vec_foreach (row, &results->rows)
            if (has_all(row, m)) {
                worst[k] = fmax(worst[k], lower(spec, row, k));
                best[k] = fmin(best[k], lower(spec, row, k));
            }
        for (size_t i = 0; i < n_front; i++)
            values[i * m + k] = lower(spec, &results->rows.at[front[i]], k);
        box *= worst[k] - best[k];
        cover.reference[k] = objective_at(spec, k)->goal == GOAL_MAXIMIZE ? -worst[k] : worst[k];
    }
    cover.volume = pareto_hypervolume(values, n_front, m, worst);
    cover.share = box > 0 ? cover.volume / box : NAN;
    return cover;
}
