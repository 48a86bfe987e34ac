/* SPDX-License-Identifier: MIT */
/*
 * first.c — what is run before the algorithm is asked: the user's `try:` settings in their order,
 * what they leave open drawn by the priors.
 */
#include "search/first.h"
#include "search/draw.h"

#include <math.h>

#define FILLS 100 /* draws of what is open, until the setting is new */

/* The setting with its open parameters drawn; false if it is nowhere new. */
static bool fill_in(const struct search *s, const double *given, struct rng *rng, double *ret_x)
{
    for (int i = 0; i < FILLS; i++) {
        for (size_t k = 0; k < s->space->n; k++)
            ret_x[k] = isinf(given[k]) ? draw_param(&s->space->params[k], true, rng) : given[k];
        space_settle(s->space, ret_x);
        if (draw_is_fresh(s, ret_x))
            return true;
    }
    return false;
}

static bool ask_try(struct search *s, struct suggestion *ret)
{
    for (; s->tries_used < s->problem.n_tries; s->tries_used++) {
        struct rng rng = search_rng(s, s->tries_used);
        if (fill_in(s, s->problem.tries[s->tries_used], &rng, ret->x)) {
            ret->why = WHY_TRY;
            return true;
        }
    }
    return false;
}

bool first_ask(struct search *s, struct suggestion *ret)
{
    return ask_try(s, ret);
}

void first_release(struct search *s UNUSED)
{
}
