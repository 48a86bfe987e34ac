/* SPDX-License-Identifier: MIT */
/*
 * first.c — what goes before the algorithm: the user's `try:` settings in their order (what they
 * leave open drawn by the priors), then what earlier experiments found best; and near the end of
 * the budget repeats of the contenders, so that the best is not just the luckiest.
 *
 * Repeats: at most a fifth of the budget, in its last third, of the five best by the model and,
 * once each of them has run twice, of the best two; only while their intervals overlap. Of those
 * the one whose repeat is most likely to change the choice. A space that the budget can try whole
 * is tried whole.
 */
#include "search/first.h"
#include "linalg/normal.h"
#include "search/belief.h"
#include "search/draw.h"
#include "search/guided.h"
#include "search/transfer.h"

#include <errno.h>
#include <math.h>

#define FILLS         100 /* draws of what is open, until the setting is new */
#define REPEAT_SHARE  0.2
#define REPEAT_BEGIN  (2.0 / 3)
#define REPEAT_BUDGET 10 /* smaller budgets have none to spare */
#define CONTENDERS    5
#define LIGHT_FEW     100 /* results up to which the processes cost a light algorithm little */
#define LIGHT_EVERY   32  /* of its asks, later: fitting and asking them costs more than the rest */

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

/* Is x this setting, filled in? */
static bool fills(const struct search *s, const double *given, const double *x)
{
    for (size_t k = 0; k < s->space->n; k++)
        if (!isinf(given[k]) && !isnan(x[k]) && given[k] != x[k])
            return false;
    return true;
}

/* Of those that were left out on the way only the order tells. */
void first_tried(struct search *s, const double *x)
{
    size_t n = s->problem.n_tries, k = s->tries_used;

    while (k < n && !fills(s, s->problem.tries[k], x))
        k++;
    s->tries_used = MIN(k < n ? k + 1 : s->tries_used + 1, n);
}

static bool ask_known(struct search *s, struct suggestion *ret)
{
    bool ready;
    struct belief *belief = s->problem.n_tasks && !s->ops->blind ? belief_of(s, &ready) : NULL;

    if (!belief || !belief->transfer)
        return false;
    for (size_t k = 0; transfer_first(belief->transfer, k, ret->x); k++)
        if (draw_is_fresh(s, ret->x)) {
            ret->why = WHY_KNOWN;
            return true;
        }
    return false;
}

static bool too_dear(const struct search *s)
{
    return s->ops->light && s->history.n > LIGHT_FEW && s->asks % LIGHT_EVERY != 0;
}

static bool repeats_allowed(const struct search *s)
{
    double trials = (double)s->problem.trials;

    return s->problem.repeats && !s->ops->blind && s->problem.n_objectives == 1 && !too_dear(s) &&
           trials >= REPEAT_BUDGET && trials < space_size(s->space) &&
           (double)s->asks >= ceil(REPEAT_BEGIN * trials) && (double)s->asks < trials &&
           (double)s->repeats_used < floor(REPEAT_SHARE * trials);
}

static bool in_flight(const struct search *s, const double *x)
{
    for (size_t i = 0; i < s->history.n_pending; i++)
        if (point_equal(s->history.pending.at + i * s->history.d, x, s->history.d))
            return true;
    return false;
}

/* By how much one more run of a setting is expected to lower the mean of the choice (the knowledge
 * gradient): its own mean moves, and has `gap` to go. */
static double gain_of_run(double deviation, double gap, double noise)
{
    double variance = deviation * deviation;
    return expected_improvement(0, variance / sqrt(variance + noise * noise), gap);
}

/* Is a new setting worth more than a repeat with this gain? */
static bool new_is_better(struct search *s, double best, double noise, double gain)
{
    double mean, deviation;
    return guided_look(s, &mean, &deviation) && gain_of_run(deviation, best - mean, noise) > gain;
}

static bool ask_repeat(struct search *s, struct suggestion *ret)
{
    bool ready = false;
    size_t rows[CONTENDERS];
    double mean[CONTENDERS], deviation[CONTENDERS], most = 0;
    struct belief *belief = repeats_allowed(s) ? belief_of(s, &ready) : NULL;

    if (!belief || !ready)
        return false;
    const struct model *model = &belief->models[0];
    size_t n = belief_top(s, belief, CONTENDERS, rows, mean, deviation), chosen = n;
    double noise = gp_noise(model->gp[0]);
    bool twice = true;
    for (size_t i = 0; i < n; i++)
        twice &= model->data.rows.at[rows[i]].count > 1;
    if (n < 2 || mean[1] - deviation[1] > mean[0] + deviation[0] || data_exact(&model->data))
        return false;
    for (size_t i = 0; i < (twice ? 2 : n); i++) {
        const double *x = history_x(&s->history, model->data.rows.at[rows[i]].first);
        double gain = gain_of_run(deviation[i], i ? mean[0] - mean[i] : mean[0] - mean[1], noise);
        if (mean[i] - deviation[i] > mean[0] + deviation[0] || in_flight(s, x) || gain <= most ||
            model->data.rows.at[rows[i]].passing) /* it may go on */
            continue;
        most = gain;
        chosen = i;
    }
    if (chosen == n || new_is_better(s, mean[0], noise, most))
        return false;
    memcpy(ret->x, history_x(&s->history, model->data.rows.at[rows[chosen]].first),
           s->space->n * sizeof(*ret->x));
    ret->why = WHY_REPEAT;
    ret->by = "repeat";
    model_unscale(model, mean[chosen], deviation[chosen], &ret->mean, &ret->deviation);
    return true;
}

bool first_ask(struct search *s, struct suggestion *ret)
{
    return ask_try(s, ret) || ask_known(s, ret) || ask_repeat(s, ret);
}

static bool keeps_constraints(const struct search *s, size_t row)
{
    return s->history.kind.at[row] == RESULT_VALUE && isfinite(s->history.value.at[row]) &&
           belief_feasible(s, row);
}

int first_best(struct search *s, struct best *ret)
{
    const struct history *history = &s->history;
    size_t best = history->n;

    for (size_t i = 0; i < history->n && s->problem.n_objectives == 1; i++)
        if (keeps_constraints(s, i) &&
            (best == history->n || history->value.at[i] < history->value.at[best]))
            best = i;
    if (best == history->n)
        return -ENODATA;
    *ret = (struct best){.row = history->n, .deviation = NAN, .noise = NAN};
    for (size_t i = 0; i < history->n; i++) {
        if (!isfinite(history->value.at[i]) || history->replaced.at[i] ||
            !point_equal(history_x(history, i), history_x(history, best), history->d))
            continue;
        ret->row = MIN(ret->row, i);
        ret->repeats++;
        ret->mean += history->value.at[i] / (double)ret->repeats - ret->mean / (double)ret->repeats;
    }
    ret->x = history_x(history, ret->row);
    return 0;
}
