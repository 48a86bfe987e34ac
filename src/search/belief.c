/* SPDX-License-Identifier: MIT */
/*
 * belief.c — the models of a search, and which of the settings that were run they think best.
 */
#include "search/belief.h"
#include "linalg/linalg.h"
#include "linalg/normal.h"
#include "search/first.h"
#include "search/guided.h"
#include "search/transfer.h"

#include <errno.h>
#include <math.h>

static struct belief *belief_new(struct search *s)
{
    struct belief *belief = xcalloc(1, sizeof(*belief));

    encoder_init(&belief->encoder, s->space);
    belief->weigh_cost = s->problem.weigh_cost;
    belief->n_models = s->problem.n_objectives + s->problem.n_constraints + s->problem.weigh_cost;
    belief->models = xcalloc(belief->n_models, sizeof(*belief->models));
    if (s->problem.n_tasks)
        belief->transfer = transfer_new(s, &belief->encoder);
    /* What others measured does not fit exactly: without noise the rest would be made much of. */
    struct gp_prior prior =
        belief->transfer ? gp_prior_noisy(belief->encoder.d) : gp_prior_for(belief->encoder.d);
    for (size_t i = 0; i < belief->n_models; i++)
        model_init(&belief->models[i], &belief->encoder, &prior, i ? NULL : belief->transfer, i);
    return belief;
}

void belief_free(struct belief *belief)
{
    if (!belief)
        return;
    for (size_t i = 0; i < belief->n_models; i++)
        model_release(&belief->models[i]);
    transfer_free(belief->transfer);
    encoder_release(&belief->encoder);
    free(belief->models);
    free(belief);
}

struct belief *belief_of(struct search *s, bool *ret_ready)
{
    if (!s->belief && linalg_open(NULL) < 0)
        return NULL;
    if (!s->belief)
        s->belief = belief_new(s);
    *ret_ready = true;
    for (size_t i = 0; i < s->belief->n_models; i++) {
        bool known = model_update(&s->belief->models[i], s);
        *ret_ready &= known || (s->belief->weigh_cost && i + 1 == s->belief->n_models);
    }
    return s->belief;
}

bool belief_has_unit(const struct belief *belief)
{
    return belief->models[0].data.rows.len > 1;
}

const struct model *belief_cost(const struct belief *belief)
{
    const struct model *model = &belief->models[belief->n_models - 1];
    return belief->weigh_cost && model->used.len ? model : NULL;
}

bool belief_feasible(const struct search *s, size_t first)
{
    size_t n = s->problem.n_constraints;

    for (size_t i = 0; i < n; i++)
        if (!(s->history.excess.at[first * n + i] <= 0))
            return false;
    return true;
}

/* Only rows that the processes hold can be the best: where there are too many, they have those that
 * matter. */
size_t belief_top(struct search *s, const struct belief *belief, size_t max, size_t *ret_rows,
                  double *ret_mean, double *ret_deviation)
{
    const struct model *model = &belief->models[0];
    size_t n = model->used.len, found = 0;
    autofree(mem) double *mean = xcalloc(2 * n + 1, sizeof(*mean));

    model_predict_rows(model, model->used.at, n, mean, ret_deviation ? mean + n : NULL);
    while (found < max) {
        size_t best = n;
        for (size_t i = 0; i < n; i++) {
            const struct data_row *row = &model->data.rows.at[model->used.at[i]];
            if (!isnan(mean[i]) && row->finite && row->whole && belief_feasible(s, row->first) &&
                (best == n || mean[i] < mean[best]))
                best = i;
        }
        if (best == n)
            break;
        ret_rows[found] = model->used.at[best];
        if (ret_mean)
            ret_mean[found] = mean[best];
        if (ret_deviation)
            ret_deviation[found] = mean[n + best];
        mean[best] = NAN;
        found++;
    }
    return found;
}

int search_best(struct search *s, struct best *ret)
{
    bool ready = false;
    double mean, deviation, wide, unused;
    size_t row;
    struct belief *belief = s->problem.n_objectives == 1 ? belief_of(s, &ready) : NULL;

    if (!belief || !ready || !belief_has_unit(belief) ||
        belief_top(s, belief, 1, &row, &mean, &deviation) == 0)
        return first_best(s, ret);
    const struct model *model = &belief->models[0];
    if (data_exact(&model->data)) {
        int r = first_best(s, ret);
        ret->deviation = ret->noise = 0;
        return r;
    }
    *ret = (struct best){.x = history_x(&s->history, model->data.rows.at[row].first),
                         .row = model->data.rows.at[row].first,
                         .repeats = model->data.rows.at[row].count};
    model_unscale(model, mean, deviation, &ret->mean, &ret->deviation);
    model_unscale(model, mean, gp_noise(model->gp[0]), &unused, &wide);
    ret->noise = wide;
    return 0;
}

bool search_predict(struct search *s, const double *x, size_t n, double *ret_mean,
                    double *ret_deviation)
{
    bool ready = false;
    struct belief *belief = belief_of(s, &ready);

    if (!belief || !ready || !belief_has_unit(belief))
        return false;
    size_t d = belief->encoder.d;
    autofree(mem) double *features = xcalloc(n * d + 1, sizeof(*features));
    for (size_t i = 0; i < n; i++)
        encode(&belief->encoder, x + i * s->space->n, features + i * d);
    model_predict(&belief->models[0], features, n, ret_mean, ret_deviation);
    for (size_t i = 0; i < n; i++)
        model_unscale(&belief->models[0], ret_mean[i], ret_deviation[i], &ret_mean[i],
                      &ret_deviation[i]);
    return true;
}

double search_expected_gain(struct search *s)
{
    bool ready = false;
    double mean, deviation, value, best, unused;
    size_t row;
    struct belief *belief = s->problem.n_objectives == 1 ? belief_of(s, &ready) : NULL;

    if (!belief || !ready || !belief_has_unit(belief) ||
        belief_top(s, belief, 1, &row, &mean, &deviation) == 0)
        return NAN;
    if (!guided_look(s, &value, &deviation))
        return 0;
    const struct model *model = &belief->models[0];
    double gain = expected_improvement(value, deviation, mean);
    model_unscale(model, mean, 0, &best, NULL);
    model_unscale(model, mean - gain, 0, &unused, NULL);
    return best - unused;
}
