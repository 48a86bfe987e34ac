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

#define RUNGS 65 /* more than a factor of two each leaves room for */

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

/* The rungs up to the highest that any trial reached, from below, after a 0; how many. */
static size_t list_rungs(const struct ladder *ladder, const struct stop_view *view,
                         int64_t ret[RUNGS])
{
    int64_t farthest = 0;
    size_t n = 1;
    ret[0] = 0;
    for (size_t i = 0; i < view->n; i++)
        farthest = MAX(farthest, last_step(&view->trials[i].curve));
    for (int64_t rung = first_rung(ladder); rung != INT64_MAX && rung <= farthest && n < RUNGS;
         rung = next_rung(ladder, rung))
        ret[n++] = rung;
    return n;
}

/* The best of the paused at each rung, -1: none waits there. */
static void find_waiting(const struct ladder *ladder, const struct stop_view *view,
                         const int64_t *rungs, size_t n, ptrdiff_t *ret)
{
    assert(n > 0);
    for (size_t k = 0; k < n; k++)
        ret[k] = -1;
    for (size_t i = 0; i < view->n; i++) {
        const struct stop_trial *trial = &view->trials[i];
        if (trial->state != CURVE_PAUSED || trial->curve.n == 0 || !climbs(ladder, trial))
            continue;
        size_t k = n - 1;
        while (k > 0 && rungs[k] > last_step(&trial->curve))
            k--;
        if (ret[k] < 0 ||
            value_at(&trial->curve, rungs[k]) < value_at(&view->trials[ret[k]].curve, rungs[k]))
            ret[k] = (ptrdiff_t)i;
    }
}

ptrdiff_t ladder_promote(const struct ladder *ladder, const struct stop_view *view,
                         int64_t *ret_rung)
{
    int64_t rungs[RUNGS];
    ptrdiff_t waiting[RUNGS];
    size_t n = list_rungs(ladder, view, rungs);

    find_waiting(ladder, view, rungs, n, waiting);
    for (size_t k = n; k-- > 0;) {
        if (waiting[k] < 0)
            continue;
        if (k == 0 || among_best(ladder, view, (size_t)waiting[k], rungs[k])) {
            *ret_rung = rungs[k];
            return waiting[k];
        }
    }
    *ret_rung = 0;
    return -1;
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
