/* SPDX-License-Identifier: MIT */
/*
 * transfer.c — tasks as processes, their weights, and the settings they recommend.
 *
 * A parameter that a task did not have is put where it does not matter to its process. The last
 * "task" predicts 1 everywhere: its weight is the level by which this experiment differs.
 */
#include "search/transfer.h"
#include "linalg/linalg.h"
#include "search/scale.h"
#include "surrogate/gp.h"

#include <math.h>

#define TASK_ROWS  200 /* of a task's results at most so many are used: the first */
#define TASK_MIN   5
#define FIRST_MAX  3   /* settings to run first */
#define CANDIDATES 5   /* of each task, for them */
#define ALIKE      1.2 /* the weights' sum, before anything is seen */
#define ALIKE_SD   0.4
#define LEVEL_SD   1.0
#define MISFIT     0.4 /* variance of what the tasks do not explain */
#define OWN_SPREAD 0.1 /* the same among settings that the tasks think alike */

struct one_task {
    struct gp *gp;
    bool *lacks; /* (d) it did not have this parameter */
};

struct transfer {
    const struct encoder *encoder;
    struct one_task *tasks;
    size_t n;
    VEC(double) first; /* (k, space->n) */
};

size_t transfer_tasks(const struct transfer *transfer)
{
    return transfer->n + 1;
}

void transfer_free(struct transfer *transfer)
{
    if (!transfer)
        return;
    for (size_t t = 0; t < transfer->n; t++) {
        gp_free(transfer->tasks[t].gp);
        free(transfer->tasks[t].lacks);
    }
    free(transfer->tasks);
    vec_release(&transfer->first);
    free(transfer);
}

static void hide(const struct encoder *encoder, const struct one_task *task, double *features)
{
    for (size_t j = 0; j < encoder->d; j++)
        if (task->lacks[j])
            features[j] = encoder->category[j] ? -1 : 0.5;
}

static void find_lacks(const struct encoder *encoder, const struct task *task, size_t n,
                       bool *ret_lacks)
{
    for (size_t j = 0; j < encoder->d; j++) {
        ret_lacks[j] = true;
        for (size_t i = 0; i < n; i++)
            ret_lacks[j] &= isnan(task->x[i * encoder->space->n + encoder->param[j]]);
    }
}

static void fit_task(struct transfer *transfer, const struct task *task)
{
    const struct encoder *encoder = transfer->encoder;
    struct one_task *one = &transfer->tasks[transfer->n];
    size_t d = encoder->d, n = MIN(task->n, TASK_ROWS);
    autofree(mem) double *x = xcalloc(n * d + 1, sizeof(*x)), *y = xcalloc(n + 1, sizeof(*y));
    struct gp_prior prior = gp_prior_noisy(d);
    struct scale scale;

    if (n < TASK_MIN)
        return;
    one->lacks = xcalloc(d + 1, sizeof(bool));
    find_lacks(encoder, task, n, one->lacks);
    scale_init(&scale, task->y, n, SHAPE_PLAIN);
    for (size_t i = 0; i < n; i++) {
        encode(encoder, task->x + i * encoder->space->n, x + i * d);
        hide(encoder, one, x + i * d);
        y[i] = scale_apply(&scale, task->y[i]);
    }
    scale_release(&scale);
    one->gp = gp_new(d, encoder->category, &prior);
    gp_set(one->gp, x, y, NULL, NULL, n);
    gp_fit(one->gp, 50);
    transfer->n++;
}

void transfer_predict(const struct transfer *transfer, const double *features, size_t m,
                      double *ret)
{
    size_t d = transfer->encoder->d, tasks = transfer->n + 1;
    autofree(mem) double *x = xcalloc(m * d + 1, sizeof(*x)), *y = xcalloc(m + 1, sizeof(*y));

    for (size_t t = 0; t < transfer->n; t++) {
        memcpy(x, features, m * d * sizeof(*x));
        for (size_t i = 0; i < m; i++)
            hide(transfer->encoder, &transfer->tasks[t], x + i * d);
        gp_predict(transfer->tasks[t].gp, x, m, y, NULL);
        for (size_t i = 0; i < m; i++)
            ret[i * tasks + t] = y[i];
    }
    for (size_t i = 0; i < m; i++)
        ret[i * tasks + transfer->n] = 1;
}

double transfer_spread(const struct transfer *transfer, const double *known, size_t n)
{
    size_t k = transfer->n + 1;
    double mean = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t t = 0; t < transfer->n; t++)
            sum += known[i * k + t];
        double guess = sum / (double)transfer->n, before = guess - mean;
        mean += before / (double)(i + 1);
        squares += before * (guess - mean);
    }
    return fmin(1, sqrt(squares / (double)n + OWN_SPREAD));
}

/* Ridge regression: (FᵀF/v + P)·w = Fᵀy/v + P·w₀, P the precision of the prior. */
void transfer_weigh(const struct transfer *transfer, const double *known, const double *target,
                    size_t n, double *ret_weights)
{
    size_t k = transfer->n + 1;
    double each = ALIKE / (double)transfer->n;
    autofree(mem) double *a = xcalloc(k * k, sizeof(*a));

    for (size_t t = 0; t < k; t++) {
        double sd = t < transfer->n ? ALIKE_SD : LEVEL_SD, w0 = t < transfer->n ? each : 0;
        a[t + t * k] = 1 / (sd * sd);
        ret_weights[t] = w0 / (sd * sd);
        for (size_t i = 0; i < n; i++) {
            ret_weights[t] += known[i * k + t] * target[i] / MISFIT;
            for (size_t u = 0; u <= t; u++)
                a[t + u * k] += known[i * k + t] * known[i * k + u] / MISFIT;
        }
    }
    if (chol(a, k, k)) {
        chol_solve_lower(a, k, k, ret_weights, 1, k);
        chol_solve_upper(a, k, k, ret_weights, 1, k);
    } else {
        memset(ret_weights, 0, k * sizeof(*ret_weights));
    }
}

void transfer_add_slope(const struct transfer *transfer, const double *features,
                        const double *weights, double *mean, double *slope)
{
    size_t d = transfer->encoder->d;
    autofree(mem) double *block = xcalloc(3 * d + 1, sizeof(*block));
    double *x = block, *by_mean = x + d, *by_deviation = by_mean + d;

    for (size_t t = 0; t < transfer->n; t++) {
        double value, unused;
        memcpy(x, features, d * sizeof(*x));
        hide(transfer->encoder, &transfer->tasks[t], x);
        gp_gradient(transfer->tasks[t].gp, x, &value, &unused, by_mean, by_deviation);
        *mean += weights[t] * value;
        for (size_t j = 0; j < d; j++)
            slope[j] += transfer->tasks[t].lacks[j] ? 0 : weights[t] * by_mean[j];
    }
    *mean += weights[transfer->n];
}

/* A task's setting as one of this space; what is missing is put in the middle. False: it is none.
 */
static bool adopt(const struct space *space, const double *from, double *ret_x)
{
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        ret_x[i] = from[i];
        if (!param_active(param, ret_x))
            ret_x[i] = NAN;
        else if (isnan(from[i]))
            ret_x[i] = param_from_unit(param, 0.5);
    }
    return space_contains(space, ret_x);
}

/* The best settings of a task by its own process, appended to `to`. */
static size_t collect(const struct search *s, const struct transfer *transfer, size_t which,
                      size_t t, double *to)
{
    const struct task *task = &s->problem.tasks[which];
    size_t d = transfer->encoder->d, n = MIN(task->n, TASK_ROWS), found = 0;
    autofree(mem) double *x = xcalloc(n * d + 1, sizeof(*x)), *mean = xcalloc(n + 1, sizeof(*mean));

    for (size_t i = 0; i < n; i++) {
        encode(transfer->encoder, task->x + i * s->space->n, x + i * d);
        hide(transfer->encoder, &transfer->tasks[t], x + i * d);
    }
    gp_predict(transfer->tasks[t].gp, x, n, mean, NULL);
    for (size_t tries = 0; tries < n && found < CANDIDATES; tries++) {
        size_t best = 0;
        for (size_t i = 1; i < n; i++)
            if (mean[i] < mean[best])
                best = i;
        mean[best] = INFINITY;
        found += adopt(s->space, task->x + best * s->space->n, to + found * s->space->n);
    }
    return found;
}

/* Greedily, each choice lowering most what the tasks expect of the best of the chosen. */
static void choose_first(struct transfer *transfer, const double *pool, size_t n, size_t width)
{
    size_t k = transfer->n + 1, d = transfer->encoder->d;
    autofree(mem) double *x = xcalloc(n * d + 1, sizeof(*x)), *y = xcalloc(n * k + 1, sizeof(*y));
    autofree(mem) double *reached = xcalloc(k, sizeof(*reached));

    for (size_t i = 0; i < n; i++)
        encode(transfer->encoder, pool + i * width, x + i * d);
    transfer_predict(transfer, x, n, y);
    for (size_t t = 0; t < k; t++)
        reached[t] = 1e9;
    for (size_t round = 0; round < MIN(FIRST_MAX, n); round++) {
        size_t best = n;
        double best_sum = INFINITY, before = 0;
        for (size_t t = 0; t < transfer->n; t++)
            before += reached[t];
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t t = 0; t < transfer->n; t++)
                sum += fmin(reached[t], y[i * k + t]);
            if (sum < best_sum) {
                best_sum = sum;
                best = i;
            }
        }
        if (best == n || best_sum > before - 0.02 * (double)transfer->n)
            return;
        for (size_t t = 0; t < transfer->n; t++)
            reached[t] = fmin(reached[t], y[best * k + t]);
        for (size_t i = 0; i < width; i++)
            vec_push(&transfer->first, pool[best * width + i]);
    }
}

struct transfer *transfer_new(const struct search *s, const struct encoder *encoder)
{
    struct transfer *transfer = xcalloc(1, sizeof(*transfer));
    size_t width = s->space->n, n = 0;
    autofree(mem) double *pool =
        xcalloc(s->problem.n_tasks * CANDIDATES * width + 1, sizeof(*pool));

    transfer->encoder = encoder;
    transfer->tasks = xcalloc(s->problem.n_tasks + 1, sizeof(*transfer->tasks));
    for (size_t i = 0; i < s->problem.n_tasks; i++) {
        size_t t = transfer->n;
        fit_task(transfer, &s->problem.tasks[i]);
        if (transfer->n > t)
            n += collect(s, transfer, i, t, pool + n * width);
    }
    if (transfer->n == 0) {
        transfer_free(transfer);
        return NULL;
    }
    choose_first(transfer, pool, n, width);
    return transfer;
}

bool transfer_first(const struct transfer *transfer, size_t k, double *ret_x)
{
    size_t width = transfer->encoder->space->n;

    if ((k + 1) * width > transfer->first.len || width == 0)
        return false;
    memcpy(ret_x, transfer->first.at + k * width, width * sizeof(*ret_x));
    return true;
}
