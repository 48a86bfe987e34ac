/* SPDX-License-Identifier: MIT */
/*
 * asked.c — one trial of the library: what was reported of it, how it ended, and how the search is
 * told.
 */
#include "lib/internal.h"

#include <math.h>

const char *asked_state_name(enum asked_state state)
{
    static const char *const names[ASKED_STATES] = {
        [ASKED_RUNNING] = "running", [ASKED_COMPLETED] = "completed", [ASKED_STOPPED] = "stopped",
        [ASKED_FAILED] = "failed",   [ASKED_CANCELLED] = "cancelled",
    };
    return names[state];
}

struct asked *asked_new(const hone_search *s)
{
    struct asked *asked = xcalloc(1, sizeof(*asked));
    struct suggestion *suggestion = &asked->suggestion;
    struct stop_verdict *verdict = &asked->verdict;

    suggestion->x = xcalloc(s->spec.space.n, sizeof(double));
    suggestion->why = WHY_DRAW;
    suggestion->mean = suggestion->deviation = suggestion->acquisition = NAN;
    verdict->chance = verdict->mean = verdict->deviation = verdict->threshold = NAN;
    asked->others = xcalloc(s->n_objectives, sizeof(*asked->others));
    asked->values = xcalloc(s->n_values, sizeof(double));
    for (size_t i = 0; i < s->n_values; i++)
        asked->values[i] = NAN;
    return asked;
}

void asked_free(struct asked *asked)
{
    free(asked->suggestion.x);
    free((char *)asked->suggestion.by);
    vec_release(&asked->steps);
    free(asked->curves);
    free(asked->others);
    vec_release(&asked->instances);
    vec_release(&asked->scores);
    free(asked->values);
    free(asked);
}

struct asked *asked_find_running(hone_search *s, int64_t id)
{
    if (id < 1 || (uint64_t)id > s->trials.len) {
        err_set(&s->err, ENOENT, "there is no trial %lld", (long long)id);
        return NULL;
    }
    struct asked *asked = s->trials.at[id - 1];
    if (asked->state == ASKED_RUNNING)
        return asked;
    err_set(&s->err, EINVAL, "trial %lld has ended: it is %s", (long long)id,
            asked_state_name(asked->state));
    return NULL;
}

static void reserve_curves(const hone_search *s, struct asked *asked, size_t n)
{
    if (n <= asked->curves_cap)
        return;
    size_t cap = MAX(n, asked->curves_cap * 2), used = asked->steps.len;
    double *curves = xcalloc(s->n_objectives * cap, sizeof(*curves));
    for (size_t i = 0; i < s->n_objectives && used; i++)
        memcpy(curves + i * cap, asked_curve(asked, i), used * sizeof(*curves));
    free(asked->curves);
    asked->curves = curves;
    asked->curves_cap = cap;
}

void asked_add_step(const hone_search *s, struct asked *asked, int64_t step, const double *values)
{
    reserve_curves(s, asked, asked->steps.len + 1);
    for (size_t i = 0; i < s->n_objectives; i++)
        asked_curve(asked, i)[asked->steps.len] = values[i];
    vec_push(&asked->steps, step);
}

void asked_add_instance(const hone_search *s, struct asked *asked, int64_t instance,
                        const double *values)
{
    vec_push(&asked->instances, instance);
    for (size_t i = 0; i < s->n_objectives; i++)
        vec_push(&asked->scores, values[i]);
}

bool asked_has_instance(const struct asked *asked, int64_t instance)
{
    for (size_t i = 0; i < asked->instances.len; i++)
        if (asked->instances.at[i] == instance)
            return true;
    return false;
}

double asked_excess(const hone_search *s, const struct asked *asked, size_t k)
{
    const struct constraint *constraint = &s->spec.constraints.at[k];
    double value = asked->values[s->n_objectives + k];
    return constraint->at_least ? constraint->bound - value : value - constraint->bound;
}

void asked_tell(hone_search *s, const struct asked *asked)
{
    static const enum result_kind kinds[ASKED_STATES] = {
        [ASKED_COMPLETED] = RESULT_VALUE,
        [ASKED_STOPPED] = RESULT_STOPPED,
        [ASKED_FAILED] = RESULT_FAILED,
        [ASKED_CANCELLED] = RESULT_VOID,
    };
    autofree(mem) double *excess = xcalloc(s->n_constraints + 1, sizeof(*excess));

    for (size_t i = 0; i < s->n_constraints; i++)
        excess[i] = asked_excess(s, asked, i);
    struct result result = {
        .kind = kinds[asked->state],
        .value = asked->values[0],
        .deviation = asked->deviation,
        .others = asked->values + 1,
        .excess = excess,
    };
    search_tell(s->search, asked->suggestion.x, &result);
}
