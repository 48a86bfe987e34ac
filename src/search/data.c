/* SPDX-License-Identifier: MIT */
/*
 * data.c — from the history to rows of a model.
 */
#include "search/data.h"
#include "search/transfer.h"

#include <math.h>

#define EXACT_REPEATS 2

void data_init(struct data *data, const struct encoder *encoder, const struct transfer *transfer,
               size_t column)
{
    *data = (struct data){.encoder = encoder, .transfer = transfer, .column = column};
    if (transfer)
        data->weights = xcalloc(transfer_tasks(transfer) + 1, sizeof(double));
}

void data_release(struct data *data)
{
    map_release(&data->settings);
    vec_release(&data->rows);
    vec_release(&data->features);
    vec_release(&data->known);
    vec_release(&data->target);
    free(data->weights);
    if (data->scale.n)
        scale_release(&data->scale);
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
    if (column < 1 + others + s->problem.n_constraints)
        return s->history.excess.at[row * s->problem.n_constraints + column - 1 - others];
    return log(s->history.cost.at[row]);
}

static void add_features(struct data *data, const double *x)
{
    size_t d = data->encoder->d;

    vec_reserve(&data->features, data->features.len + d + 1);
    double *features = data->features.at + data->features.len;
    encode(data->encoder, x, features);
    data->features.len += d;
    if (!data->transfer)
        return;
    size_t tasks = transfer_tasks(data->transfer);
    vec_reserve(&data->known, data->known.len + tasks + 1);
    transfer_predict(data->transfer, features, 1, data->known.at + data->known.len);
    data->known.len += tasks;
}

static struct data_row *find_row(struct data *data, const double *x, size_t d, size_t at)
{
    uint64_t hash = point_hash(x, d);
    uintptr_t index = (uintptr_t)map_find(&data->settings, hash);

    if (index) {
        data->changed++;
        data->settled = data->rows.len;
        return &data->rows.at[index - 1];
    }
    vec_push(&data->rows, ((struct data_row){.first = at}));
    add_features(data, x);
    map_put(&data->settings, hash, (void *)(uintptr_t)data->rows.len); // NOLINT
    return vec_last(&data->rows);
}

static void add_result(struct data *data, const struct search *s, size_t at)
{
    struct data_row *row = find_row(data, history_x(&s->history, at), s->history.d, at);
    double value = column_value(s, at, data->column);
    double deviation = data->column == 0 ? s->history.deviation.at[at] : 0;
    bool passing = s->history.passing.at[at];

    if (passing && row->count && !row->passing)
        return; /* of an earlier trial more is known */
    if (row->passing)
        *row = (struct data_row){.first = at};
    row->passing = passing;
    row->count++;
    row->whole += s->history.kind.at[at] == RESULT_VALUE;
    if (isnan(value))
        return;
    double n = (double)++row->finite, before = value - row->mean;
    row->mean += value / n - row->mean / n;
    row->squares += before * (value - row->mean);
    row->deviation = sqrt(pow(row->deviation * (n - 1), 2) + deviation * deviation) / n;
    data->vague |= row->deviation > 0;
}

/* The scale of all values by now, and every row on it; failures are as bad as the worst. */
static bool rescale(struct data *data)
{
    size_t n = 0;
    double worst = -INFINITY;
    autofree(mem) double *values = xcalloc(data->rows.len + 1, sizeof(*values));

    vec_foreach (row, &data->rows)
        if (row->finite) {
            values[n++] = row->mean;
            worst = fmax(worst, row->mean);
        }
    if (data->scale.n)
        scale_release(&data->scale);
    data->scale.n = 0;
    if (n == 0)
        return false;
    for (size_t i = n; i < data->rows.len; i++)
        values[i] = worst;
    scale_init(&data->scale, values, data->rows.len, data->shape);
    data->target.len = 0;
    vec_foreach (row, &data->rows)
        vec_push(&data->target, scale_apply(&data->scale, row->finite ? row->mean : worst));
    return true;
}

/* What the tasks predict is taken off, weighed as it fits this experiment so far. Settings that
 * they recommend lie near each other: on the tasks' scale, so do their results. */
static void subtract_known(struct data *data)
{
    size_t tasks = transfer_tasks(data->transfer);
    double spread = transfer_spread(data->transfer, data->known.at, data->rows.len);

    scale_stretch(&data->scale, spread);
    for (size_t i = 0; i < data->rows.len; i++)
        data->target.at[i] *= spread;
    transfer_weigh(data->transfer, data->known.at, data->target.at, data->rows.len, data->weights);
    for (size_t i = 0; i < data->rows.len; i++)
        for (size_t t = 0; t < tasks; t++)
            data->target.at[i] -= data->weights[t] * data->known.at[i * tasks + t];
}

static bool find_targets(struct data *data)
{
    if (!rescale(data))
        return false;
    if (data->transfer)
        subtract_known(data);
    return true;
}

bool data_update(struct data *data, const struct search *s, size_t count)
{
    if (data->seen == count)
        return data->scale.n > 0;
    for (; data->seen < count; data->seen++)
        add_result(data, s, data->seen);
    return find_targets(data);
}

void data_reshape(struct data *data, enum shape shape)
{
    if (data->shape == shape)
        return;
    data->shape = shape;
    find_targets(data);
}

bool data_enough(const struct data *data)
{
    return data->scale.n > 0 && data->rows.len >= (data->transfer ? 1 : 2);
}

static int by_target(const void *a, const void *b, void *arg)
{
    const struct data *data = arg;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    double x = data->rows.at[i].finite ? data->rows.at[i].mean : INFINITY;
    double y = data->rows.at[k].finite ? data->rows.at[k].mean : INFINITY;
    return x != y ? (x > y) - (x < y) : (i > k) - (i < k);
}

size_t data_choose(const struct data *data, size_t max, size_t *ret)
{
    size_t n = data->rows.len, m = 0;

    if (n <= max) {
        for (; m < n; m++)
            ret[m] = m;
        return m;
    }
    autofree(mem) size_t *order = xcalloc(n, sizeof(*order));
    autofree(mem) bool *taken = xcalloc(n, sizeof(*taken));
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof(*order), by_target, (void *)data);
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

double data_scaled(const struct data *data, size_t row)
{
    size_t tasks = data->transfer ? transfer_tasks(data->transfer) : 0;
    double value = data->target.at[row];

    for (size_t t = 0; t < tasks; t++)
        value += data->weights[t] * data->known.at[row * tasks + t];
    return value;
}

double data_noise_scale(const struct data *data, size_t row)
{
    return 1 / (double)MAX(data->rows.at[row].finite, (size_t)1);
}

double data_noise_extra(const struct data *data, size_t row)
{
    const struct data_row *it = &data->rows.at[row];

    if (!(it->deviation > 0))
        return 0;
    double spread = (scale_apply(&data->scale, it->mean + it->deviation) -
                     scale_apply(&data->scale, it->mean - it->deviation)) /
                    2;
    return spread * spread;
}

/* What the rows with several results say of the noise, on the scale. */
static void tell_repeats(const struct data *data, struct gp *gp, const size_t *rows, size_t n)
{
    double degrees = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        const struct data_row *row = &data->rows.at[rows[i]];
        if (row->finite < 2 || row->deviation > 0)
            continue;
        double free = (double)row->finite - 1, wide = sqrt(row->squares / free);
        double spread = (scale_apply(&data->scale, row->mean + wide) -
                         scale_apply(&data->scale, row->mean - wide)) /
                        2;
        if (!isfinite(spread))
            continue;
        degrees += free;
        squares += free * spread * spread;
    }
    gp_repeats(gp, degrees, squares);
}

void data_load(const struct data *data, struct gp *gp, const size_t *rows, size_t n)
{
    size_t d = data->encoder->d;
    autofree(mem) double *block = xcalloc(n * (d + 3) + 1, sizeof(*block));
    double *x = block, *y = x + n * d, *scale = y + n, *extra = scale + n;

    for (size_t i = 0; i < n; i++) {
        memcpy(x + i * d, data->features.at + rows[i] * d, d * sizeof(*x));
        y[i] = data->target.at[rows[i]];
        scale[i] = data_noise_scale(data, rows[i]);
        extra[i] = data_noise_extra(data, rows[i]);
    }
    tell_repeats(data, gp, rows, n);
    gp_set(gp, x, y, scale, extra, n);
}

bool data_exact(const struct data *data)
{
    size_t again = 0;
    double squares = 0;

    vec_foreach (row, &data->rows)
        if (row->finite > 1) {
            again += row->finite - 1;
            squares += row->squares;
        }
    return again >= EXACT_REPEATS && squares == 0;
}
