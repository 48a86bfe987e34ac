/* SPDX-License-Identifier: MIT */
/*
 * tell.c — what users say of a trial: on its way (steps, instances), and how it ended.
 *
 *     running ──► completed   tell, close: it has a result
 *             ──► stopped     stopped; close after a report that said: not worth going on
 *             ──► failed      fail; a result that is not finite
 *             ──► cancelled   it says nothing about the setting
 */
#include "lib/internal.h"

#include <math.h>

static int end(hone_search *s, struct asked *asked, enum asked_state state)
{
    asked->state = state;
    if (state != ASKED_CANCELLED)
        vec_push(&s->told, asked);
    asked_tell(s, asked);
    return 0;
}

/* The running trial, if n values are `expected` there. */
static struct asked *find_with(hone_search *s, int64_t id, size_t n, size_t expected)
{
    struct asked *asked = asked_find_running(s, id);

    if (!asked || n == expected)
        return asked;
    err_set(&s->err, EINVAL, "trial %lld: %zu value%s given, not %zu", (long long)id, n,
            n == 1 ? " is" : "s are", expected);
    return NULL;
}

static int refused(const hone_search *s)
{
    return -s->err.code;
}

/* Turn the objectives so that less is better; false if one is not finite. */
static bool turn(const hone_search *s, const double *values, double *ret)
{
    for (size_t i = 0; i < s->n_objectives; i++) {
        ret[i] = s->sign[i] * values[i];
        if (!isfinite(ret[i]))
            return false;
    }
    return true;
}

int hone_search_tell(hone_search *s, int64_t id, const double *values, size_t n)
{
    struct asked *asked = find_with(s, id, n, s->n_values);

    if (!asked)
        return refused(s);
    if (!turn(s, values, asked->values)) {
        for (size_t i = 0; i < s->n_values; i++)
            asked->values[i] = NAN;
        return end(s, asked, ASKED_FAILED);
    }
    for (size_t i = s->n_objectives; i < s->n_values; i++)
        asked->values[i] = isfinite(values[i]) ? values[i] : NAN;
    return end(s, asked, ASKED_COMPLETED);
}

/* ---- on the way ---- */

static struct curve curve_of(const struct asked *asked, size_t objective)
{
    return (struct curve){asked->steps.at, asked_curve(asked, objective), asked->steps.len};
}

/* Trials with a curve, in the order of their ids. Returns where `mine` is. */
static size_t look(hone_search *s, const struct asked *mine)
{
    static const enum curve_state states[ASKED_STATES] = {
        [ASKED_RUNNING] = CURVE_RUNNING,
        [ASKED_COMPLETED] = CURVE_COMPLETED,
        [ASKED_STOPPED] = CURVE_STOPPED,
    };
    size_t at = 0;

    s->view.len = 0;
    for (size_t i = 0; i < s->trials.len; i++) {
        struct asked *asked = s->trials.at[i];
        bool lost = asked->state == ASKED_FAILED || asked->state == ASKED_CANCELLED;
        if (!asked->steps.len || lost)
            continue;
        for (size_t k = 1; k < s->n_objectives; k++)
            asked->others[k - 1] = curve_of(asked, k);
        if (asked == mine)
            at = s->view.len;
        struct stop_trial trial = {
            .number = (int64_t)i + 1,
            .state = states[asked->state],
            .curve = curve_of(asked, 0),
            .prior_mean = asked->suggestion.mean,
            .prior_deviation = asked->suggestion.deviation,
            .others = s->n_objectives > 1 ? asked->others : NULL,
        };
        vec_push(&s->view, trial);
    }
    return at;
}

void judge(hone_search *s, struct asked *asked)
{
    size_t mine = look(s, asked);
    int64_t asks = (int64_t)s->trials.len;
    struct stop_view view = {
        .settings = &s->spec.stop,
        .trials = s->view.at,
        .n = s->view.len,
        .n_others = s->n_objectives - 1,
        .trials_left = MAX(s->spec.trials - asks, (int64_t)0),
        .seed = s->spec.seed,
    };

    stop_verdict_init(&view, mine, &asked->verdict);
    s->rule->judge(&view, mine, &asked->verdict);
    asked->poor = asked->verdict.action != STOP_GO_ON;
}

/* A loss that is no number does not come back. */
static int diverge(struct asked *asked)
{
    asked->poor = asked->diverged = true;
    return 1;
}

int hone_search_report(hone_search *s, int64_t id, int64_t step, const double *values, size_t n)
{
    struct asked *asked = find_with(s, id, n, s->n_objectives);

    if (!asked)
        return refused(s);
    if (asked->instances.len)
        return err_set(&s->err, EINVAL, "trial %lld has instances, so it cannot have steps",
                       (long long)id);
    if (asked->steps.len && step <= *vec_last(&asked->steps))
        return err_set(&s->err, EINVAL, "trial %lld: step %lld was reported after step %lld",
                       (long long)id, (long long)step, (long long)*vec_last(&asked->steps));
    autofree(mem) double *turned = xcalloc(n, sizeof(*turned));
    if (!turn(s, values, turned))
        return diverge(asked);
    asked_add_step(s, asked, step, turned);
    judge(s, asked);
    asked->poor |= asked->diverged;
    return asked->poor;
}

int hone_search_instance(hone_search *s, int64_t id, int64_t instance, const double *values,
                         size_t n)
{
    struct asked *asked = find_with(s, id, n, s->n_objectives);

    if (!asked)
        return refused(s);
    if (asked->steps.len)
        return err_set(&s->err, EINVAL, "trial %lld has steps, so it cannot have instances",
                       (long long)id);
    if (asked_has_instance(asked, instance))
        return err_set(&s->err, EINVAL, "trial %lld: instance %lld was told already", (long long)id,
                       (long long)instance);
    autofree(mem) double *turned = xcalloc(n, sizeof(*turned));
    if (!turn(s, values, turned))
        return diverge(asked);
    asked_add_instance(s, asked, instance, turned);
    asked->poor = asked->diverged || race_lost(s, asked);
    return asked->poor;
}

/* ---- the end, from what was reported ---- */

/* Its values as they are now. */
static void take_reported(const hone_search *s, struct asked *asked)
{
    for (size_t i = 0; i < s->n_objectives; i++) {
        if (asked->instances.len)
            asked->values[i] = race_mean(s, asked, i);
        else if (asked->steps.len)
            asked->values[i] = asked_curve(asked, i)[asked->steps.len - 1];
    }
}

int hone_search_stopped(hone_search *s, int64_t id)
{
    struct asked *asked = asked_find_running(s, id);

    if (!asked)
        return refused(s);
    if (asked->diverged)
        return end(s, asked, ASKED_FAILED);
    take_reported(s, asked);
    if (asked->instances.len) {
        race_estimate(s, asked, &asked->values[0], &asked->deviation);
    } else if (asked->steps.len && isfinite(asked->verdict.mean)) {
        asked->values[0] = asked->verdict.mean;
        asked->deviation = asked->verdict.deviation > 0 && isfinite(asked->verdict.deviation)
                               ? asked->verdict.deviation
                               : 0;
    }
    if (!isfinite(asked->values[0]) || !isfinite(asked->deviation)) {
        asked->values[0] = NAN; /* the difference of huge scores */
        asked->deviation = 0;
    }
    return end(s, asked, ASKED_STOPPED);
}

int hone_search_close(hone_search *s, int64_t id)
{
    struct asked *asked = asked_find_running(s, id);

    if (!asked)
        return refused(s);
    if (asked->poor)
        return hone_search_stopped(s, id);
    if (!asked->instances.len && !asked->steps.len)
        return err_set(&s->err, EINVAL, "trial %lld: nothing was reported, so it needs a value",
                       (long long)id);
    take_reported(s, asked);
    return end(s, asked, ASKED_COMPLETED);
}

int hone_search_fail(hone_search *s, int64_t id)
{
    struct asked *asked = asked_find_running(s, id);
    return asked ? end(s, asked, ASKED_FAILED) : refused(s);
}

int hone_search_cancel(hone_search *s, int64_t id)
{
    struct asked *asked = asked_find_running(s, id);
    return asked ? end(s, asked, ASKED_CANCELLED) : refused(s);
}
