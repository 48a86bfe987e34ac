/* SPDX-License-Identifier: MIT */
/*
 * model.c — from the history to a Gaussian process.
 *
 * A new setting extends the factor by a row; a repeat, or a setting that changed, factors anew. The
 * scale follows every result, which costs two triangular solves. Hyper-parameters are fitted when
 * the results have grown by a twelfth since the last time, at fixed counts, from a subset when
 * there are many.
 */
#include "search/model.h"
#include "search/history.h"

#include <math.h>

#define FIT_ROWS  300  /* hyper-parameters are fitted to at most so many rows */
#define FIT_STEPS 30   /* iterations of a fit */
#define GP_ROWS   1000 /* the process holds at most so many */

void model_init(struct model *model, const struct encoder *encoder, const struct gp_prior *prior)
{
    *model = (struct model){.encoder = encoder};
    model->gp = gp_new(encoder->d, encoder->category, prior);
}

void model_release(struct model *model)
{
    map_release(&model->settings);
    vec_release(&model->rows);
    vec_release(&model->features);
    vec_release(&model->target);
    vec_release(&model->used);
    if (model->scale.n)
        scale_release(&model->scale);
    gp_free(model->gp);
}

static double column_value(const struct search *s, size_t row, size_t column)
{
    size_t others = s->problem.n_objectives - 1;

    if (s->history.kind.at[row] == RESULT_FAILED)
        return NAN;
    if (column == 0)
        return s->history.value.at[row];
    if (column <= others)
        return s->history.others.at[row * others + column - 1];
    return s->history.excess.at[row * s->problem.n_constraints + column - 1 - others];
}

static struct model_row *find_row(struct model *model, const double *x, size_t d, size_t at)
{
    uint64_t hash = point_hash(x, d);
    uintptr_t index = (uintptr_t)map_find(&model->settings, hash);

    if (index) {
        model->stale |= index <= model->in_gp;
        return &model->rows.at[index - 1];
    }
    vec_push(&model->rows, ((struct model_row){.first = at}));
    vec_reserve(&model->features, model->features.len + model->encoder->d + 1);
    encode(model->encoder, x, model->features.at + model->features.len);
    model->features.len += model->encoder->d;
    map_put(&model->settings, hash, (void *)(uintptr_t)model->rows.len); // NOLINT
    return vec_last(&model->rows);
}

static void add_result(struct model *model, const struct search *s, size_t at, size_t column)
{
    struct model_row *row = find_row(model, history_x(&s->history, at), s->history.d, at);
    double value = column_value(s, at, column);
    double deviation = column == 0 ? s->history.deviation.at[at] : 0;

    row->count++;
    if (isnan(value))
        return;
    double n = (double)++row->finite;
    row->mean += (value - row->mean) / n;
    row->deviation = sqrt(pow(row->deviation * (n - 1), 2) + deviation * deviation) / n;
}

/* The scale of all values by now, and every row on it; failures are as bad as the worst. */
static bool rescale(struct model *model)
{
    size_t n = 0;
    double worst = -INFINITY;
    autofree(mem) double *values = xcalloc(model->rows.len + 1, sizeof(*values));

    vec_foreach (row, &model->rows)
        if (row->finite) {
            values[n++] = row->mean;
            worst = fmax(worst, row->mean);
        }
    if (model->scale.n)
        scale_release(&model->scale);
    model->scale.n = 0;
    if (n == 0)
        return false;
    for (size_t i = n; i < model->rows.len; i++)
        values[i] = worst;
    scale_init(&model->scale, values, model->rows.len);
    model->target.len = 0;
    vec_foreach (row, &model->rows)
        vec_push(&model->target, scale_apply(&model->scale, row->finite ? row->mean : worst));
    return true;
}

static double row_extra(const struct model *model, const struct model_row *row)
{
    if (!(row->deviation > 0))
        return 0;
    double spread = (scale_apply(&model->scale, row->mean + row->deviation) -
                     scale_apply(&model->scale, row->mean - row->deviation)) /
                    2;
    return spread * spread;
}

static int by_target(const void *a, const void *b, void *arg)
{
    const struct model *model = arg;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    double x = model->target.at[i], y = model->target.at[k];
    return x != y ? (x > y) - (x < y) : (i > k) - (i < k);
}

/* At most `max` rows: the best third, the newest third, and of the rest every so-manieth. */
static size_t choose_rows(const struct model *model, size_t max, size_t *ret)
{
    size_t n = model->rows.len, m = 0;

    if (n <= max) {
        for (; m < n; m++)
            ret[m] = m;
        return m;
    }
    autofree(mem) size_t *order = xcalloc(n, sizeof(*order));
    autofree(mem) bool *taken = xcalloc(n, sizeof(*taken));
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof(*order), by_target, (void *)model);
    for (size_t i = 0; i < max / 3; i++)
        taken[order[i]] = taken[n - 1 - i] = true;
    size_t left = max - max / 3 * 2;
    for (size_t i = 0; i < left; i++)
        taken[order[max / 3 + i * (n - max / 3) / left]] = true;
    for (size_t i = 0; i < n; i++)
        if (taken[i])
            ret[m++] = i;
    return m;
}

/* Give the process the rows listed, as they are now. */
static void load_rows(const struct model *model, struct gp *gp, const size_t *rows, size_t n)
{
    size_t d = model->encoder->d;
    autofree(mem) double *block = xcalloc(n * (d + 3) + 1, sizeof(*block));
    double *x = block, *y = x + n * d, *scale = y + n, *extra = scale + n;

    for (size_t i = 0; i < n; i++) {
        const struct model_row *row = &model->rows.at[rows[i]];
        memcpy(x + i * d, model->features.at + rows[i] * d, d * sizeof(*x));
        y[i] = model->target.at[rows[i]];
        scale[i] = 1 / (double)MAX(row->finite, (size_t)1);
        extra[i] = row_extra(model, row);
    }
    gp_set(gp, x, y, scale, extra, n);
}

static void fit(struct model *model, size_t results)
{
    size_t max = MIN(model->rows.len, FIT_ROWS);
    autofree(mem) size_t *rows = xcalloc(max + 1, sizeof(*rows));
    size_t n = choose_rows(model, max, rows);

    load_rows(model, model->gp, rows, n);
    gp_fit(model->gp, true, FIT_STEPS);
    model->fitted_at = results;
    model->stale = true;
}

static void load_all(struct model *model)
{
    vec_reserve(&model->used, MIN(model->rows.len, GP_ROWS) + 1);
    model->used.len = choose_rows(model, GP_ROWS, model->used.at);
    load_rows(model, model->gp, model->used.at, model->used.len);
    model->in_gp = model->used.len;
    model->stale = false;
}

static void append_new(struct model *model)
{
    size_t d = model->encoder->d;
    autofree(mem) double *y = NULL;

    gp_cut(model->gp, model->in_gp);
    for (; model->in_gp < model->rows.len; model->in_gp++) {
        size_t i = model->in_gp;
        vec_push(&model->used, i);
        gp_append(model->gp, model->features.at + i * d, 0,
                  1 / (double)MAX(model->rows.at[i].finite, (size_t)1),
                  row_extra(model, &model->rows.at[i]));
    }
    y = xcalloc(model->in_gp + 1, sizeof(*y));
    for (size_t i = 0; i < model->in_gp; i++)
        y[i] = model->target.at[model->used.at[i]];
    gp_values(model->gp, y);
}

static bool fit_is_due(const struct model *model, size_t results)
{
    return !model->fitted_at || results >= model->fitted_at + MAX(model->fitted_at / 12, (size_t)1);
}

bool model_update(struct model *model, const struct search *s, size_t column)
{
    bool grown = model->rows_seen < s->history.n;

    for (; model->rows_seen < s->history.n; model->rows_seen++)
        add_result(model, s, model->rows_seen, column);
    if (grown && !rescale(model))
        return false;
    if (model->scale.n == 0 || model->rows.len < 2)
        return false;
    if (fit_is_due(model, s->history.n))
        fit(model, s->history.n);
    if (model->stale || model->rows.len > GP_ROWS)
        load_all(model);
    else
        append_new(model);
    return true;
}

void model_imagine(struct model *model, const struct history *history)
{
    size_t d = model->encoder->d, m = history->n_pending;
    autofree(mem) double *features = xcalloc(m * d + 1, sizeof(*features));
    autofree(mem) double *mean = xcalloc(m + 1, sizeof(*mean));

    for (size_t i = 0; i < m; i++)
        encode(model->encoder, history->pending.at + i * history->d, features + i * d);
    gp_predict(model->gp, features, m, mean, NULL);
    for (size_t i = 0; i < m; i++)
        gp_append(model->gp, features + i * d, mean[i], 1, 0);
}

void model_predict(const struct model *model, const double *features, size_t m, double *ret_mean,
                   double *ret_deviation)
{
    gp_predict(model->gp, features, m, ret_mean, ret_deviation);
}

void model_unscale(const struct model *model, double mean, double deviation, double *ret_mean,
                   double *ret_deviation)
{
    *ret_mean = scale_undo(&model->scale, mean);
    *ret_deviation = (scale_undo(&model->scale, mean + deviation) -
                      scale_undo(&model->scale, mean - deviation)) /
                     2;
}

size_t model_best(const struct model *model, double *ret_mean)
{
    size_t n = model->rows.len, best = n;
    autofree(mem) double *mean = xcalloc(n + 1, sizeof(*mean));

    gp_predict(model->gp, model->features.at, n, mean, NULL);
    for (size_t i = 0; i < n; i++)
        if (model->rows.at[i].finite && (best == n || mean[i] < mean[best]))
            best = i;
    *ret_mean = mean[best];
    return best;
}
