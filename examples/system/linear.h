/* SPDX-License-Identifier: MIT */
/*
 * linear.h — a linear classifier trained by mini-batch SGD on made data: all of svm.c and logreg.c
 * but their loss.
 *
 * A step is one pass over the rows. Each update is two parallel loops: the gradient by chunks of
 * rows, then the weights by columns, each adding its chunks in order. A small batch has few chunks,
 * so it gains nothing from a second thread and pays for waking it. The rows are independent draws:
 * their order needs no shuffling.
 *
 * With `held` some rows are not trained on, and their mean loss is told at the end as `valid`. With
 * `spread` the columns have scales of so many decades, as measured things have that nobody brought
 * to one scale: then it matters which learning rate, momentum and batch are taken.
 */
#ifndef LINEAR_H
#define LINEAR_H

#include "workload.h"

#define ROWS    32768
#define COLUMNS 128
#define CHUNK   64 /* rows */

/* The loss of a margin y·wx, and in *ret_slope its derivative. */
typedef double linear_loss_fn(double margin, double *ret_slope);

enum { LR = N_COMMON, L2, BATCH, MOMENTUM, HELD, SPREAD, N_SETTINGS };
#define LINEAR_SETTINGS                                                                            \
    COMMON_SETTINGS(300), [LR] = {"lr", 0.05, 1e-9, 1e3, false, "learning rate"},                  \
                          [L2] = {"l2", 1e-4, 0, 1, false, "weight decay"},                        \
                          [BATCH] = {"batch", 256, 1, ROWS, true, "rows of an update"},            \
                          [MOMENTUM] = {"momentum", 0, 0, 0.999, false, "of the updates"},         \
                          [HELD] = {"held", 0, 0, 0.9, false, "share of rows held out"},           \
                          [SPREAD] = {"spread", 0, 0, 6, false, "decades of the columns' scales"}

struct linear {
    int rows;        /* to train on; the others are held out */
    float *x, *y;    /* (ROWS, COLUMNS), (ROWS): -1 or 1 */
    float *w, *v;    /* (COLUMNS), and their velocity */
    float *gradient; /* (ROWS / CHUNK, COLUMNS), of each chunk of the batch */
    double *loss;    /* (ROWS / CHUNK), of each chunk of the batch */
};

static inline float dot(const float *a, const float *b)
{
    float lanes[8] = {0}, sum = 0; /* eight sums side by side: vectors, and still one order */
    for (int j = 0; j < COLUMNS; j += 8)
        for (int l = 0; l < 8; l++)
            lanes[l] += a[j + l] * b[j + l];
    for (int l = 0; l < 8; l++)
        sum += lanes[l];
    return sum;
}

/* The sides of a random plane; noise puts some of the rows near it on the wrong one. */
static inline struct linear linear_new(const struct setting *s)
{
    uint64_t seed = (uint64_t)s[SEED].value;
    struct linear m = {
        .rows = ROWS - (int)(s[HELD].value * ROWS),
        .x = allocate((size_t)ROWS * COLUMNS, sizeof(float)),
        .y = allocate(ROWS, sizeof(float)),
        .w = allocate(COLUMNS, sizeof(float)),
        .v = allocate(COLUMNS, sizeof(float)),
        .gradient = allocate((size_t)ROWS / CHUNK * COLUMNS, sizeof(float)),
        .loss = allocate(ROWS / CHUNK, sizeof(double)),
    };
    float plane[COLUMNS], scale[COLUMNS];
    for (int j = 0; j < COLUMNS; j++) {
        plane[j] = (float)random_uniform(seed + 1, (uint64_t)j);
        scale[j] = (float)pow(10, -s[SPREAD].value * j / COLUMNS);
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ROWS; i++) {
        float *row = m.x + (size_t)i * COLUMNS;
        for (int j = 0; j < COLUMNS; j++)
            row[j] = (float)random_uniform(seed, (uint64_t)i * COLUMNS + (uint64_t)j);
        double noise = random_uniform(seed + 2, (uint64_t)i);
        m.y[i] = dot(row, plane) + noise > 0 ? 1 : -1;
        for (int j = 0; j < COLUMNS; j++)
            row[j] *= scale[j];
    }
    return m;
}

static inline void linear_release(struct linear *m)
{
    free(m->x);
    free(m->y);
    free(m->w);
    free(m->v);
    free(m->gradient);
    free(m->loss);
}

/* Loss and gradient of chunk c of the batch of n rows that begins at `from`. */
static inline void chunk_gradient(struct linear *m, linear_loss_fn *loss, int from, int n, int c)
{
    float *gradient = m->gradient + (size_t)c * COLUMNS;
    int end = (c + 1) * CHUNK < n ? (c + 1) * CHUNK : n;

    memset(gradient, 0, COLUMNS * sizeof(*gradient));
    m->loss[c] = 0;
    for (int i = from + c * CHUNK; i < from + end; i++) {
        const float *row = m->x + (size_t)i * COLUMNS;
        double slope;
        m->loss[c] += loss((double)(m->y[i] * dot(row, m->w)), &slope);
        float by = (float)slope * m->y[i];
        for (int j = 0; j < COLUMNS; j++)
            gradient[j] += by * row[j];
    }
}

/* One update by the n rows from `from` on; returns the sum of their losses before it. */
static inline double linear_update(struct linear *m, linear_loss_fn *loss, const struct setting *s,
                                   int from, int n)
{
    float lr = (float)s[LR].value, l2 = (float)s[L2].value, momentum = (float)s[MOMENTUM].value;
    int chunks = (n + CHUNK - 1) / CHUNK;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int c = 0; c < chunks; c++)
            chunk_gradient(m, loss, from, n, c);
#pragma omp for schedule(static)
        for (int j = 0; j < COLUMNS; j++) {
            float sum = 0;
            for (int c = 0; c < chunks; c++)
                sum += m->gradient[(size_t)c * COLUMNS + (size_t)j];
            m->v[j] = momentum * m->v[j] + (sum / (float)n + l2 * m->w[j]);
            m->w[j] -= lr * m->v[j];
        }
    }
    return sum_in_order(m->loss, (size_t)chunks);
}

/* One pass over the rows; returns the mean loss on the way. */
static inline double linear_pass(struct linear *m, linear_loss_fn *loss, const struct setting *s)
{
    int batch = (int)s[BATCH].value;
    double sum = 0;
    for (int from = 0; from < m->rows; from += batch)
        sum += linear_update(m, loss, s, from, m->rows - from < batch ? m->rows - from : batch);
    return sum / m->rows;
}

/* The mean loss of the rows that are held out; there are some. */
static inline double linear_valid(struct linear *m, linear_loss_fn *loss)
{
    int n = ROWS - m->rows, chunks = (n + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static)
    for (int c = 0; c < chunks; c++)
        chunk_gradient(m, loss, m->rows, n, c);
    return sum_in_order(m->loss, (size_t)chunks) / n;
}

static inline int linear_main(int argc, char **argv, linear_loss_fn *loss)
{
    struct setting settings[N_SETTINGS] = {LINEAR_SETTINGS};
    workload_start(argc, argv, settings, N_SETTINGS);
    struct linear m = linear_new(settings);
    int64_t step = 0;
    for (; workload_step(settings, step); step++)
        workload_log(step, linear_pass(&m, loss, settings));
    if (m.rows < ROWS)
        hone_log(step, {"valid", linear_valid(&m, loss)});
    linear_release(&m);
    return 0;
}

#endif
