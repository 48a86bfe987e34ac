/* SPDX-License-Identifier: MIT */
/*
 * auto.c — the default: Gaussian processes, or the forest where it predicts the better half at
 * least a tenth better; every eighth suggestion a neighbour of the best. A finite space no larger
 * than the budget is enumerated instead (search.c).
 *
 * Conditional spaces are no reason to take the forest: measured, the processes do better there too.
 * Nor are neighbours looked at before the best is somewhat certain: that cost more than it brought.
 */
#include "search/guided.h"

#include <math.h>

#define FOLDS       5
#define COMPARE_MIN 20  /* settings before the models are compared */
#define COMPARE_MAX 200 /* rows that they are compared on */
#define BETTER      0.9 /* the forest's error must be below this share */
#define NEAR_EVERY  8
#define NEAR_FROM   20 /* asks */

/* Squared error of predictions over the better half (target at most 0, roughly: see scale.h). */
static double error_of(const struct data *data, const size_t *rows, const double *predicted,
                       size_t n, double median)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (data_scaled(data, rows[i]) <= median)
            sum += pow(predicted[i] - data_scaled(data, rows[i]), 2);
    return sum;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const struct data *data, const size_t *rows, size_t n)
{
    autofree(mem) double *sorted = xcalloc(n + 1, sizeof(*sorted));
    for (size_t i = 0; i < n; i++)
        sorted[i] = data_scaled(data, rows[i]);
    qsort(sorted, n, sizeof(*sorted), compare);
    return sorted[n / 2];
}

/* Each fold's rows predicted by a forest over the others. */
static void cross_predict(const struct search *s, const struct data *data, const size_t *rows,
                          size_t n, struct rng *rng, double *ret)
{
    size_t d = data->encoder->d;
    autofree(mem) size_t *others = xcalloc(n + 1, sizeof(*others));

    for (size_t fold = 0; fold < FOLDS; fold++) {
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (i % FOLDS != fold)
                others[m++] = rows[i];
        autofree(forest) struct forest *forest = guided_forest(s, data, others, m, rng);
        for (size_t i = fold; i < n; i += FOLDS) {
            double unused;
            guided_forest_predict(forest, data->encoder, data->features.at + rows[i] * d, 1,
                                  &ret[i], &unused);
        }
    }
}

/* Leave-one-out error of a process with the model's hyper-parameters over these rows. */
static double process_error(const struct model *model, const struct data *data, const size_t *rows,
                            size_t n, double median)
{
    autofree(mem) double *block = xcalloc(2 * n + 1, sizeof(*block));
    autofree(mem) double *theta = xcalloc(gp_parameters(model->gp[0]), sizeof(*theta));
    struct gp_prior prior = gp_prior_for(data->encoder->d);
    autofree(gp) struct gp *gp = gp_new(data->encoder->d, data->encoder->category, &prior);

    gp_get(model->gp[0], theta);
    gp_put(gp, theta);
    data_load(data, gp, rows, n);
    gp_leave_one_out(gp, block, block + n);
    return error_of(data, rows, block, n, median);
}

/* On the results that the hyper-parameters were fitted to, so that it does not depend on when it
 * is asked. */
static bool compare_models(const struct search *s, const struct model *model)
{
    size_t rows[COMPARE_MAX];
    double predicted[COMPARE_MAX];
    struct data data;
    struct rng rng;
    bool better = false;

    data_init(&data, model->data.encoder, NULL, 0);
    data_reshape(&data, model->fitted.shape);
    if (data_update(&data, s, model->fitted.count) && data.rows.len >= COMPARE_MIN) {
        size_t n = data_choose(&data, COMPARE_MAX, rows);
        double median = median_of(&data, rows, n);
        double process = process_error(model, &data, rows, n, median);
        rng_init(&rng, s->problem.seed, model->fitted.count);
        cross_predict(s, &data, rows, n, &rng, predicted);
        better = error_of(&data, rows, predicted, n, median) < BETTER * process;
    }
    data_release(&data);
    return better;
}

static bool forest_is_better(struct search *s)
{
    struct guided *guided = (struct guided *)s;
    bool ready = false;
    struct belief *belief = belief_of(s, &ready);

    if (!belief || !ready || belief->transfer || belief->models[0].fitted.count < COMPARE_MIN)
        return false;
    if (guided->compared_at != belief->models[0].fitted.count) {
        guided->compared_at = belief->models[0].fitted.count;
        guided->forest = compare_models(s, &belief->models[0]);
    }
    return guided->forest;
}

static int auto_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    bool forest = s->problem.n_objectives == 1 && guided_ready(s) && forest_is_better(s);
    bool near = s->asks >= NEAR_FROM && s->asks % NEAR_EVERY == NEAR_EVERY - 1;

    return guided_ask(s, forest ? GUIDE_FOREST : GUIDE_BAYES, near, ret, err);
}

const struct search_ops search_auto = {
    .name = "auto",
    .help = "the best for the space and the number of trials",
    .size = sizeof(struct guided),
    .init = guided_init,
    .ask = auto_ask,
    .save = guided_save,
    .load = guided_load,
    .release = guided_release,
    .several = true,
};
