/* SPDX-License-Identifier: MIT */
/*
 * stop_rung.c — asynchronous successive halving (Li et al. 2020, "A system for massively parallel
 * hyperparameter tuning") from the curves alone, without a state of its own.
 *
 * A trial is judged at the moment when its curve reaches a rung. A rung holds every trial that got
 * there, with its value at the rung's step (the last one reported up to it), whatever became of it
 * since. So no step needs to be reported exactly, and verdicts can be repeated from a record.
 * When no more trials are to come, a rung's share is rounded up: then at least one climbs on, and
 * one reaches the end.
 */
#include "search/stop_rung.h"

#include <assert.h>
#include <math.h>

static int64_t last_step(const struct curve *curve)
{
    return curve->n ? curve->steps[curve->n - 1] : INT64_MIN;
}

/* The value at a step: the last one up to it, or the first. */
static double value_at(const struct curve *curve, int64_t step)
{
    size_t low = 0, high = curve->n; /* steps[low - 1] ≤ step < steps[high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->steps[middle] <= step)
            low = middle + 1;
        else
            high = middle;
    }
    return curve->values[low ? low - 1 : 0];
}

struct ladder ladder_of(const struct stop_view *view, int64_t eta)
{
    const struct stop_settings *settings = view->settings;
    struct ladder ladder = {.first = settings->min_step,
                            .eta = MAX(settings->eta > 0 ? settings->eta : eta, 2),
                            .last = settings->max_step,
                            .end = settings->end};
    int64_t first = INT64_MAX, longest = 0;
    for (size_t i = 0; i < view->n; i++) {
        const struct curve *curve = &view->trials[i].curve;
        for (size_t k = 0; k < MIN(curve->n, 2); k++)
            if (curve->steps[k] > 0)
                first = MIN(first, curve->steps[k]);
        if (view->trials[i].state == CURVE_COMPLETED)
            longest = MAX(longest, last_step(curve));
    }
    if (ladder.first <= 0)
        ladder.first = first == INT64_MAX ? 1 : first;
    if (ladder.last <= 0)
        ladder.last = longest > 0 ? longest : INT64_MAX;
    return ladder;
}

static bool climbs(const struct ladder *ladder, const struct stop_trial *trial)
{
    return !ladder->has || ladder->has(ladder, trial->number);
}

/* The rung above, or INT64_MAX. */
static int64_t next_rung(const struct ladder *ladder, int64_t rung)
{
    return rung > (ladder->last - 1) / ladder->eta ? INT64_MAX : rung * ladder->eta;
}

static int64_t first_rung(const struct ladder *ladder)
{
    return ladder->first < ladder->last ? ladder->first : INT64_MAX;
}

/* The highest rung that the trial has reached; 0: none. */
static int64_t rung_of(const struct ladder *ladder, const struct stop_trial *trial)
{
    int64_t at = 0, step = last_step(&trial->curve);
    for (int64_t rung = first_rung(ladder); rung != INT64_MAX && rung <= step;
         rung = next_rung(ladder, rung))
        at = rung;
    return at;
}

/* How many of the rung go on. */
static size_t share(const struct ladder *ladder, const struct stop_view *view, size_t n)
{
    size_t eta = (size_t)ladder->eta;
    if (ladder->end)
        return MAX(n / eta, 1);
    return view->trials_left == 0 ? (n + eta - 1) / eta : n / eta;
}

/* Is trial `mine` among the best of the rung? Ties go to the older one. */
static bool among_best(const struct ladder *ladder, const struct stop_view *view, size_t mine,
                       int64_t rung)
{
    double value = value_at(&view->trials[mine].curve, rung);
    size_t n = 0, better = 0;
    for (size_t i = 0; i < view->n; i++) {
        const struct stop_trial *trial = &view->trials[i];
        if (!climbs(ladder, trial) || last_step(&trial->curve) < rung)
            continue;
        n++;
        double theirs = value_at(&trial->curve, rung);
        better += theirs < value || (theirs == value && i < mine);
    }
    return better < share(ladder, view, n);
}

/* The step up to which it was judged before: rungs at or below it are behind it. */
static int64_t judged_before(const struct stop_trial *trial)
{
    if (trial->judged != 0)
        return trial->judged;
    return trial->curve.n > 1 ? trial->curve.steps[trial->curve.n - 2] : INT64_MIN;
}

void ladder_judge(const struct ladder *ladder, const struct stop_view *view, size_t mine,
                  struct stop_verdict *ret)
{
    const struct stop_trial *trial = &view->trials[mine];
    int64_t before = judged_before(trial);

    stop_verdict_init(view, mine, ret);
    for (int64_t rung = first_rung(ladder); rung != INT64_MAX && rung <= last_step(&trial->curve);
         rung = next_rung(ladder, rung)) {
        if (rung <= before || among_best(ladder, view, mine, rung))
            continue;
        ret->action = ladder->end ? STOP_END : STOP_PAUSE;
        ret->threshold = (double)rung;
        return;
    }
}

ptrdiff_t ladder_promote(const struct ladder *ladder, const struct stop_view *view,
                         int64_t *ret_rung)
{
    ptrdiff_t best = -1;
    int64_t best_rung = 0;
    double best_value = 0;

    for (size_t i = 0; i < view->n; i++) {
        const struct stop_trial *trial = &view->trials[i];
        if (trial->state != CURVE_PAUSED || trial->curve.n == 0 || !climbs(ladder, trial))
            continue;
        int64_t rung = rung_of(ladder, trial);
        double value = value_at(&trial->curve, rung);
        bool first = best < 0 || rung > best_rung || (rung == best_rung && value < best_value);
        if (!first || (rung > 0 && !among_best(ladder, view, i, rung)))
            continue;
        best = (ptrdiff_t)i;
        best_rung = rung;
        best_value = value;
    }
    *ret_rung = best_rung;
    return best;
}

ptrdiff_t ladder_give_up(const struct stop_view *view)
{
    ptrdiff_t worst = -1;
    int64_t least = 0;
    double worst_value = 0;

    for (size_t i = 0; i < view->n; i++) {
        const struct stop_trial *trial = &view->trials[i];
        if (trial->state != CURVE_PAUSED)
            continue;
        int64_t step = last_step(&trial->curve);
        double value = trial->curve.n ? trial->curve.values[trial->curve.n - 1] : INFINITY;
        if (worst >= 0 && (step > least || (step == least && value <= worst_value)))
            continue;
        worst = (ptrdiff_t)i;
        least = step;
        worst_value = value;
    }
    return worst;
}
