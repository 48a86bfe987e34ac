/* SPDX-License-Identifier: MIT */
/*
 * values.h — what a training program logs, made up: 20 metrics a step. 17 are a decaying loss, a
 * rising accuracy and their like under AR(1) noise; learning rate, epoch and memory hardly change.
 * Steps by one, times in ns of whole ms, 100 ms apart with ±5 ms of jitter.
 *
 * The same seed gives the same values. Three ways in which programs hand them over.
 */
#ifndef HONE_BENCH_VALUES_H
#define HONE_BENCH_VALUES_H

#include "base/rng.h"

#include <math.h>

#define VALUES_FIELDS 20

enum values_style {
    VALUES_FLOAT32, /* computed in float32, logged as a double */
    VALUES_DECIMAL, /* printed with six significant digits */
    VALUES_DOUBLE,  /* full doubles */
    VALUES_STYLES
};
static const char *const values_style_names[VALUES_STYLES] = {"float32", "six digits", "double"};

struct values_field {
    const char *name;
    double start, end; /* level at the first step, and far away */
    double noise;      /* deviation relative to the level */
    double memory;     /* ρ of the noise */
};
static const struct values_field values_fields[VALUES_FIELDS - 3] = {
    {"train/loss", 2.3, 0.05, 0.05, 0.9},
    {"train/loss_box", 0.9, 0.04, 0.04, 0.9},
    {"train/loss_cls", 1.4, 0.02, 0.05, 0.9},
    {"train/acc", 0.1, 0.97, 0.02, 0.9},
    {"train/top5", 0.4, 0.995, 0.01, 0.9},
    {"val/loss", 2.4, 0.2, 0.02, 0.95},
    {"val/acc", 0.1, 0.93, 0.01, 0.95},
    {"grad_norm", 8, 0.7, 0.1, 0.5},
    {"param_norm", 35, 80, 0.0005, 0.99},
    {"update_ratio", 0.003, 0.0004, 0.05, 0.7},
    {"perplexity", 900, 12, 0.05, 0.9},
    {"batch_s", 0.11, 0.1, 0.05, 0.3},
    {"data_s", 0.012, 0.009, 0.1, 0.3},
    {"samples_per_s", 1150, 1270, 0.05, 0.3},
    {"gpu_power_w", 240, 250, 0.03, 0.8},
    {"entropy", 4.6, 0.8, 0.02, 0.9},
    {"kl", 0.02, 0.01, 0.1, 0.8},
};

struct values {
    enum values_style style;
    struct rng rng;
    int64_t step, time_ns;
    double noise[VALUES_FIELDS];
};

static inline void values_init(struct values *values, enum values_style style, uint64_t seed)
{
    *values = (struct values){.style = style, .time_ns = 1700000000 * INT64_C(1000000000)};
    rng_init(&values->rng, seed, 20);
}

static inline double values_rounded(double x, enum values_style style)
{
    char text[32];
    if (style == VALUES_FLOAT32)
        return (float)x;
    if (style == VALUES_DOUBLE)
        return x;
    snprintf(text, sizeof(text), "%.6g", x);
    return strtod(text, NULL);
}

/* The next row. */
static inline void values_next(struct values *values, int64_t *ret_step, int64_t *ret_time_ns,
                               double *ret_values)
{
    double t = (double)values->step, decay = exp(-t / 1500);
    size_t n = VALUES_FIELDS - 3;
    for (size_t i = 0; i < n; i++) {
        const struct values_field *field = &values_fields[i];
        double level = field->end + (field->start - field->end) * decay;
        double fresh = sqrt(1 - field->memory * field->memory) * rng_normal(&values->rng);
        values->noise[i] = field->memory * values->noise[i] + fresh;
        ret_values[i] = values_rounded(level * exp(field->noise * values->noise[i]), values->style);
    }
    ret_values[n] = values_rounded(0.1 * pow(0.1, floor(t / 2000)), values->style); /* lr */
    ret_values[n + 1] = floor(t / 500);                                             /* epoch */
    ret_values[n + 2] = 11811160064; /* gpu_mem_bytes */
    *ret_step = values->step++;
    values->time_ns += 95000000 + 1000000 * (int64_t)rng_below(&values->rng, 11);
    *ret_time_ns = values->time_ns;
}

#endif
