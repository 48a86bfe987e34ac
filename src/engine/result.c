/* SPDX-License-Identifier: MIT */
/*
 * result.c — what an ended trial tells the search, and which trials are the best.
 *
 * The search minimises: what is maximised is turned around here, and nowhere else; a constraint
 * becomes the amount by which it is broken. A trial that did not run for its setting's own fault
 * (lost, cancelled, interrupted) tells nothing.
 */
#include "engine/internal.h"

#include <math.h>

static double sign_of(const struct objective *objective)
{
    return objective->goal == GOAL_MAXIMIZE ? -1 : 1;
}

double run_sign(const struct run *run)
{
    return sign_of(&run->spec.objective);
}

/* Did it fail for what it is, not for where it ran? Without a budget nothing is given out again,
 * or a setting that always loses its keeper would come for ever. */
static bool own_fault(const struct run *run, enum reason reason)
{
    switch (reason) {
    case REASON_LOST:
    case REASON_SPAWN:
    case REASON_CANCELLED:
    case REASON_INTERRUPTED:
        return run->spec.trials == 0;
    default:
        return true;
    }
}

/* Was it this one that was to end, not all of them? */
static bool stopped_for_itself(enum reason reason)
{
    return reason == REASON_PRUNED || reason == REASON_ALERT || reason == REASON_BY_HAND;
}

enum result_kind result_kind_of(const struct run *run, const struct trial *trial)
{
    switch (trial->state) {
    case TRIAL_COMPLETED:
        return isfinite(trial->value) ? RESULT_VALUE : RESULT_FAILED;
    case TRIAL_STOPPED:
        return stopped_for_itself(trial->reason) ? RESULT_STOPPED : RESULT_VOID;
    case TRIAL_PAUSED:
        return trial->reason == REASON_HELD ? RESULT_VOID : RESULT_STOPPED;
    case TRIAL_FAILED:
        return own_fault(run, trial->reason) ? RESULT_FAILED : RESULT_VOID;
    default:
        return RESULT_VOID;
    }
}

/* The rule that stopped it may have said where it would have ended; else its last value stands. */
static void read_prediction(const struct run *run, const struct trial *trial, struct result *ret)
{
    autofree(json) json_t *verdict = NULL;

    ret->value = run_sign(run) * trial->value;
    if (!trial->verdict || json_parse(trial->verdict, strlen(trial->verdict), &verdict, NULL) < 0)
        return;
    double mean = json_get_double(verdict, "mean", NAN);
    double deviation = json_get_double(verdict, "deviation", NAN);
    if (!isfinite(mean))
        return;
    ret->value = run_sign(run) * mean;
    ret->deviation = isfinite(deviation) ? deviation : 0;
}

static double extra_at(const struct trial *trial, size_t i)
{
    return i < trial->n_extra ? trial->extra[i] : NAN;
}

/* By how much constraint i is broken; NaN: its metric was not seen. */
static double excess_of(const struct run *run, const struct trial *trial, size_t i)
{
    const struct constraint *constraint = &run->spec.constraints.at[i];
    double value = extra_at(trial, run->spec.others.len + i);
    return constraint->at_least ? constraint->bound - value : value - constraint->bound;
}

/* Joules where energy counts and is known of all attempts; a search that gets NaN goes without. */
static double cost_of(const struct run *run, const struct trial *trial)
{
    if (run->spec.per == PER_ENERGY)
        return trial->joules > 0 ? trial->joules : NAN;
    return (double)trial->run_us / (double)US_PER_S;
}

void result_of(const struct run *run, const struct trial *trial, double *numbers,
               struct result *ret)
{
    size_t n_others = run->spec.others.len, n_constraints = run->spec.constraints.len;

    *ret = (struct result){
        .kind = result_kind_of(run, trial),
        .value = NAN,
        .others = n_others ? numbers : NULL,
        .excess = n_constraints ? numbers + n_others : NULL,
        .cost = cost_of(run, trial),
    };
    for (size_t i = 0; i < n_others; i++)
        numbers[i] = sign_of(&run->spec.others.at[i]) * extra_at(trial, i);
    for (size_t i = 0; i < n_constraints; i++)
        numbers[n_others + i] = excess_of(run, trial, i);
    if (ret->kind == RESULT_VALUE)
        ret->value = run_sign(run) * trial->value;
    else if (ret->kind == RESULT_STOPPED)
        read_prediction(run, trial, ret);
}

bool trial_feasible(const struct run *run, const struct trial *trial)
{
    for (size_t i = 0; i < run->spec.constraints.len; i++)
        if (!(excess_of(run, trial, i) <= 0))
            return false;
    return true;
}

static void set_extra(const struct run *run, struct trial *trial, size_t i, double value)
{
    size_t n = run->spec.others.len + run->spec.constraints.len;

    if (trial->n_extra != n) {
        trial->extra = xrealloc(trial->extra, n * sizeof(*trial->extra));
        trial->n_extra = n;
        for (size_t k = 0; k < n; k++)
            trial->extra[k] = NAN;
    }
    trial->extra[i] = value;
}

void trial_note_extra(const struct run *run, struct trial *trial, const char *metric, double value)
{
    size_t n_others = run->spec.others.len;

    for (size_t i = 0; i < n_others; i++)
        if (str_eq(run->spec.others.at[i].metric, metric))
            set_extra(run, trial, i, value);
    for (size_t i = 0; i < run->spec.constraints.len; i++)
        if (str_eq(run->spec.constraints.at[i].metric, metric))
            set_extra(run, trial, n_others + i, value);
}

/* ---- the best ---- */

void run_note_best(struct run *run, double mean, double deviation)
{
    struct experiment *experiment = &run->experiment;
    bool said = run->ask.searched || run->spec.constraints.len || run->spec.others.len;
    int64_t best = !said ? 0 : run->best ? run->best : -1;

    /* Where nothing but values is known, whoever asks sees the best by himself. */
    run->dirty = run->dirty || best || experiment->best_trial;
    experiment->best_trial = best;
    experiment->best_mean = mean;
    experiment->best_deviation = deviation;
}

bool run_consider_best(struct run *run, const struct trial *trial)
{
    if (trial->state != TRIAL_COMPLETED || !isfinite(trial->value) || run->spec.others.len ||
        !trial_feasible(run, trial))
        return false;
    const struct trial *record = run->record ? run_trial(run, run->record) : NULL;
    bool better = !record || objective_better(&run->spec.objective, trial->value, record->value);
    if (better || (trial->value == record->value && trial->number < record->number))
        run->record = trial->number; /* of equals the first, as `hone best` has it */
    if (run->best == 0 || !run->ask.searched) {
        run->best = run->record;
        run_note_best(run, NAN, NAN);
    }
    return better;
}

/* Is a at least as good as b in everything, and better in something? NaN is worse than all. */
static bool dominates(const double *a, const double *b, size_t n)
{
    bool better = false;

    for (size_t i = 0; i < n; i++) {
        double x = isnan(a[i]) ? INFINITY : a[i], y = isnan(b[i]) ? INFINITY : b[i];
        if (x > y)
            return false;
        better = better || x < y;
    }
    return better;
}

/* All objectives of a trial, minimised. */
static void objectives_of(const struct run *run, const struct trial *trial, double *ret)
{
    ret[0] = run_sign(run) * trial->value;
    for (size_t i = 0; i < run->spec.others.len; i++)
        ret[1 + i] = sign_of(&run->spec.others.at[i]) * extra_at(trial, i);
}

struct ranked {
    double first; /* objective */
    int64_t number;
};

static int by_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

struct front {
    size_t m;           /* objectives */
    VEC(double) values; /* (n, m) */
    VEC(int64_t) numbers;
};

static void front_add(struct front *front, const double *values, int64_t number)
{
    size_t m = front->m;

    for (size_t i = 0; i < front->numbers.len; i++)
        if (dominates(front->values.at + i * m, values, m))
            return;
    for (size_t i = front->numbers.len; i-- > 0;) {
        if (!dominates(values, front->values.at + i * m, m))
            continue;
        memmove(front->values.at + i * m, front->values.at + (i + 1) * m,
                (front->numbers.len - i - 1) * m * sizeof(*values));
        front->values.len -= m;
        vec_remove(&front->numbers, i);
    }
    for (size_t i = 0; i < m; i++)
        vec_push(&front->values, values[i]);
    vec_push(&front->numbers, number);
}

/* Sorted by the first objective hardly any that was let in is thrown out again. */
int64_t *run_front(const struct run *run, size_t *ret_n)
{
    struct front front = {.m = 1 + run->spec.others.len};
    VEC(struct ranked) ranked = {0};
    autofree(mem) double *mine = xcalloc(front.m, sizeof(*mine));

    vec_foreach (trial, &run->trials)
        if (trial->experiment && trial->state == TRIAL_COMPLETED && isfinite(trial->value) &&
            trial_feasible(run, trial))
            vec_push(&ranked, ((struct ranked){run_sign(run) * trial->value, trial->number}));
    if (ranked.len)
        qsort(ranked.at, ranked.len, sizeof(*ranked.at), by_first);
    vec_foreach (candidate, &ranked) {
        objectives_of(run, &run->trials.at[candidate->number - 1], mine);
        front_add(&front, mine, candidate->number);
    }
    if (front.numbers.len)
        qsort(front.numbers.at, front.numbers.len, sizeof(int64_t), by_number);
    vec_release(&ranked);
    vec_release(&front.values);
    *ret_n = front.numbers.len;
    return front.numbers.at;
}
