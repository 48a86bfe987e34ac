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
#include "base/rng.h"
#include "search/transfer.h"

#include <math.h>

#define FIT_ROWS    300  /* hyper-parameters are fitted to at most so many rows */
#define FIT_STEPS   30   /* iterations of a fit */
#define GP_ROWS     1000 /* a process holds at most so many */
#define SAMPLE_ROWS 60   /* up to so many rows hyper-parameters are drawn too */
#define SWEEPS      3    /* between two draws */

void model_init(struct model *model, const struct encoder *encoder, const struct gp_prior *prior,
                const struct transfer *transfer, size_t column)
{
    *model = (struct model){.members = 1};
    data_init(&model->data, encoder, transfer, column);
    for (size_t k = 0; k < MODEL_MEMBERS; k++)
        model->gp[k] = gp_new(encoder->d, encoder->category, prior);
}

void model_release(struct model *model)
{
    data_release(&model->data);
    vec_release(&model->used);
    for (size_t k = 0; k < MODEL_MEMBERS; k++)
        gp_free(model->gp[k]);
}

/* The newest count of results, up to n, at which hyper-parameters are fitted: each up to 24, then
 * when there is a twelfth more. */
static size_t fit_count(size_t n)
{
    size_t count = MIN(n, (size_t)24);
    while (count >= 24 && count + count / 12 <= n)
        count += count / 12;
    return count;
}

/* The first member has the likeliest hyper-parameters; each other goes on from the one before it.
 */
static void fit_to(struct model *model, const struct data *data, uint64_t seed)
{
    size_t max = MIN(data->rows.len, FIT_ROWS);
    autofree(mem) size_t *rows = xcalloc(max + 1, sizeof(*rows));
    autofree(mem) double *theta = xcalloc(gp_parameters(model->gp[0]), sizeof(*theta));
    size_t n = data_choose(data, max, rows);
    struct rng rng;

    gp_reset(model->gp[0]);
    data_load(data, model->gp[0], rows, n);
    gp_fit(model->gp[0], FIT_STEPS);
    model->members = n <= SAMPLE_ROWS ? MODEL_MEMBERS : 1;
    rng_init(&rng, seed, data->seen);
    for (size_t k = 1; k < model->members; k++) {
        gp_get(model->gp[k - 1], theta);
        gp_put(model->gp[k], theta);
        gp_share(model->gp[k], model->gp[0]);
        gp_sample(model->gp[k], SWEEPS, &rng);
    }
}

static void fit(struct model *model, const struct search *s, size_t count)
{
    struct data data;

    model->fitted_at = count;
    model->used.len = 0; /* the processes hold other rows now */
    model->fitted_rows = model->data.rows.len;
    if (count == model->data.seen) {
        fit_to(model, &model->data, s->problem.seed);
        return;
    }
    data_init(&data, model->data.encoder, model->data.transfer, model->data.column);
    if (data_update(&data, s, count) && data.rows.len >= 2)
        fit_to(model, &data, s->problem.seed);
    model->fitted_rows = data.rows.len;
    data_release(&data);
}

/* The first n rows; where there are too many, those of all that matter. */
static void load(struct model *model, size_t n)
{
    vec_reserve(&model->used, MIN(model->data.rows.len, GP_ROWS) + 1);
    model->used.len = data_choose(&model->data, GP_ROWS, model->used.at);
    if (model->data.rows.len <= GP_ROWS)
        model->used.len = n;
    data_load(&model->data, model->gp[0], model->used.at, model->used.len);
    for (size_t k = 1; k < model->members; k++)
        gp_share(model->gp[k], model->gp[0]);
}

static void append(struct model *model, const double *features, double y, double scale,
                   double extra)
{
    for (size_t k = 0; k < model->members; k++)
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
    for (size_t k = 0; k < model->members; k++)
        gp_values(model->gp[k], y);
}

bool model_update(struct model *model, const struct search *s)
{
    struct data *data = &model->data;

    if (!data_update(data, s, s->history.n) || data->rows.len < 2)
        return false;
    for (size_t k = 0; k < model->members && model->used.len; k++)
        gp_cut(model->gp[k], model->used.len); /* what was imagined */
    if (model->seen == data->seen)
        return true;
    size_t count = fit_count(s->history.n);
    if (model->fitted_at != count)
        fit(model, s, count);
    size_t whole = data->vague || data->rows.len > GP_ROWS ? data->rows.len
                                                           : MAX(data->settled, model->fitted_rows);
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
    double share = 1 / (double)model->members;
    autofree(mem) double *block = xcalloc(4 * m + 1, sizeof(*block));
    double *mean = block, *deviation = mean + m, *sum = deviation + m, *square = sum + m;

    for (size_t k = 0; k < model->members; k++) {
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

void model_gradient(const struct model *model, const double *features, double *ret_mean,
                    double *ret_deviation, double *ret_mean_slope, double *ret_deviation_slope)
{
    size_t d = model->data.encoder->d;
    double share = 1 / (double)model->members, square = 0;
    autofree(mem) double *block = xcalloc(3 * d + 1, sizeof(*block));
    double *by_mean = block, *by_deviation = by_mean + d, *by_square = by_deviation + d;

    *ret_mean = 0;
    memset(ret_mean_slope, 0, d * sizeof(*ret_mean_slope));
    for (size_t k = 0; k < model->members; k++) {
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
