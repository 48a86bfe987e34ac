/* SPDX-License-Identifier: MIT */
/*
 * model.c — data becomes Gaussian processes.
 *
 * A new setting extends the factors by a row; a fit or a repeat factors anew. Targets move with
 * every result, which costs two triangular solves.
 * Invariant: which rows were factored at once and which appended follows from the results alone,
 * not from when the model was asked; so a search that was interrupted has the same bits.
 */
#include "search/model.h"
#include "search/transfer.h"

#include <math.h>

#define GP_ROWS 1000 /* a process holds at most so many */

void model_init(struct model *model, const struct encoder *encoder, const struct gp_prior *prior,
                const struct transfer *transfer, size_t column)
{
    *model = (struct model){.prior = *prior};
    data_init(&model->data, encoder, transfer, column);
    for (size_t k = 0; k < MODEL_MEMBERS; k++)
        model->gp[k] = gp_new(encoder->d, encoder->category, prior);
}

void model_release(struct model *model)
{
    refit_free(model->refit);
    fitted_release(&model->fitted);
    data_release(&model->data);
    vec_release(&model->used);
    for (size_t k = 0; k < MODEL_MEMBERS; k++)
        gp_free(model->gp[k]);
}

/* Bring the hyper-parameters into force that belong to `count` results. */
static void fit(struct model *model, const struct search *s, size_t count)
{
    if (!refit_take(&model->refit, count, &model->fitted))
        refit_run(&model->data, s, &model->prior, count, &model->fitted);
    size_t parameters = gp_parameters(model->gp[0]);
    for (size_t k = 0; k < model->fitted.members; k++)
        gp_put(model->gp[k], model->fitted.theta + k * parameters);
    model->fitted.members = MAX(model->fitted.members, (size_t)1);
    data_reshape(&model->data, model->fitted.shape);
    model->used.len = 0; /* the processes are to be factored anew */
}

/* The first n rows; where there are too many, those of all that matter. */
static void load(struct model *model, size_t n)
{
    vec_reserve(&model->used, MIN(model->data.rows.len, GP_ROWS) + 1);
    model->used.len = data_choose(&model->data, GP_ROWS, model->used.at);
    if (model->data.rows.len <= GP_ROWS)
        model->used.len = n;
    data_load(&model->data, model->gp[0], model->used.at, model->used.len);
    for (size_t k = 1; k < model->fitted.members; k++)
        gp_share(model->gp[k], model->gp[0]);
}

static void append(struct model *model, const double *features, double y, double scale,
                   double extra)
{
    for (size_t k = 0; k < model->fitted.members; k++)
        gp_append(model->gp[k], features, y, scale, extra);
}

static void append_new(struct model *model)
{
    const struct data *data = &model->data;
    autofree(mem) double *y = xcalloc(data->rows.len + 1, sizeof(*y));

    for (size_t i = model->used.len; i < data->rows.len; i++) {
        vec_push(&model->used, i);
        append(model, data->features.at + i * data->encoder->d, 0, data_noise_scale(data, i),
               data_noise_extra(data, i));
    }
    for (size_t i = 0; i < data->rows.len; i++)
        y[i] = data->target.at[i];
    for (size_t k = 0; k < model->fitted.members; k++)
        gp_values(model->gp[k], y);
}

bool model_update(struct model *model, const struct search *s)
{
    struct data *data = &model->data;

    if (!data_update(data, s, s->history.n) || !data_enough(data))
        return false;
    for (size_t k = 0; k < model->fitted.members && model->used.len; k++)
        gp_cut(model->gp[k], model->used.len); /* what was imagined */
    if (model->seen == data->seen)
        return true;
    size_t count = refit_count(s->history.n);
    if (model->fitted.count != count)
        fit(model, s, count);
    refit_begin(&model->refit, data, s, &model->prior);
    size_t whole = data->vague || data->rows.len > GP_ROWS ? data->rows.len
                                                           : MAX(data->settled, model->fitted.rows);
    if (model->used.len == 0 || model->changed != data->changed || model->factored != whole ||
        whole == data->rows.len)
        load(model, whole);
    if (whole < data->rows.len)
        append_new(model);
    model->seen = data->seen;
    model->changed = data->changed;
    model->factored = whole;
    return true;
}

void model_imagine(struct model *model, const struct history *history)
{
    const struct encoder *encoder = model->data.encoder;
    size_t d = encoder->d, m = history->n_pending;
    autofree(mem) double *features = xcalloc(m * d + 1, sizeof(*features));
    autofree(mem) double *mean = xcalloc(m + 1, sizeof(*mean));

    for (size_t i = 0; i < m; i++)
        encode(encoder, history->pending.at + i * history->d, features + i * d);
    gp_predict(model->gp[0], features, m, mean, NULL);
    for (size_t i = 0; i < m; i++)
        append(model, features + i * d, mean[i], 1, 0);
}

/* What the tasks predict, weighed, is added. */
static void add_known(const struct model *model, const double *features, size_t m, double *mean)
{
    const struct transfer *transfer = model->data.transfer;
    size_t tasks = transfer ? transfer_tasks(transfer) : 0;
    autofree(mem) double *known = tasks ? xcalloc(m * tasks + 1, sizeof(*known)) : NULL;

    if (!tasks)
        return;
    transfer_predict(transfer, features, m, known);
    for (size_t i = 0; i < m; i++)
        for (size_t t = 0; t < tasks; t++)
            mean[i] += model->data.weights[t] * known[i * tasks + t];
}

/* The mixture by its mean and deviation (law of total variance). */
void model_predict(const struct model *model, const double *features, size_t m, double *ret_mean,
                   double *ret_deviation)
{
    double share = 1 / (double)model->fitted.members;
    autofree(mem) double *block = xcalloc(4 * m + 1, sizeof(*block));
    double *mean = block, *deviation = mean + m, *sum = deviation + m, *square = sum + m;

    for (size_t k = 0; k < model->fitted.members; k++) {
        gp_predict(model->gp[k], features, m, mean, ret_deviation ? deviation : NULL);
        for (size_t i = 0; i < m; i++) {
            sum[i] += share * mean[i];
            square[i] += share * (mean[i] * mean[i] + deviation[i] * deviation[i]);
        }
    }
    for (size_t i = 0; i < m; i++) {
        ret_mean[i] = sum[i];
        if (ret_deviation)
            ret_deviation[i] = sqrt(fmax(square[i] - sum[i] * sum[i], 1e-12));
    }
    add_known(model, features, m, ret_mean);
}

void model_predict_rows(const struct model *model, const size_t *rows, size_t n, double *ret_mean,
                        double *ret_deviation)
{
    size_t d = model->data.encoder->d;
    autofree(mem) double *features = xcalloc(n * d + 1, sizeof(*features));

    for (size_t i = 0; i < n; i++)
        memcpy(features + i * d, model->data.features.at + rows[i] * d, d * sizeof(*features));
    model_predict(model, features, n, ret_mean, ret_deviation);
}

void model_gradient(const struct model *model, const double *features, double *ret_mean,
                    double *ret_deviation, double *ret_mean_slope, double *ret_deviation_slope)
{
    size_t d = model->data.encoder->d;
    double share = 1 / (double)model->fitted.members, square = 0;
    autofree(mem) double *block = xcalloc(3 * d + 1, sizeof(*block));
    double *by_mean = block, *by_deviation = by_mean + d, *by_square = by_deviation + d;

    *ret_mean = 0;
    memset(ret_mean_slope, 0, d * sizeof(*ret_mean_slope));
    for (size_t k = 0; k < model->fitted.members; k++) {
        double mean, deviation;
        gp_gradient(model->gp[k], features, &mean, &deviation, by_mean, by_deviation);
        *ret_mean += share * mean;
        square += share * (mean * mean + deviation * deviation);
        for (size_t j = 0; j < d; j++) {
            ret_mean_slope[j] += share * by_mean[j];
            by_square[j] += 2 * share * (mean * by_mean[j] + deviation * by_deviation[j]);
        }
    }
    *ret_deviation = sqrt(fmax(square - *ret_mean * *ret_mean, 1e-12));
    for (size_t j = 0; j < d; j++)
        ret_deviation_slope[j] =
            (by_square[j] - 2 * *ret_mean * ret_mean_slope[j]) / (2 * *ret_deviation);
    if (model->data.transfer)
        transfer_add_slope(model->data.transfer, features, model->data.weights, ret_mean,
                           ret_mean_slope);
}

void model_unscale(const struct model *model, double mean, double deviation, double *ret_mean,
                   double *ret_deviation)
{
    const struct scale *scale = &model->data.scale;

    *ret_mean = scale_undo(scale, mean);
    if (ret_deviation)
        *ret_deviation =
            (scale_undo(scale, mean + deviation) - scale_undo(scale, mean - deviation)) / 2;
}
