/* SPDX-License-Identifier: MIT */
/*
 * test_space.h — spaces for tests, built in a line: space_add(&s, param_int(1, 4)). Tests only.
 */
#ifndef HONE_TEST_SPACE_H
#define HONE_TEST_SPACE_H

#include "model/space.h"

static inline UNUSED struct param param_number(enum param_type type, enum param_scale scale,
                                               double min, double max, double step)
{
    return (struct param){
        .name = xstrdup("p"), .type = type, .scale = scale, .min = min, .max = max, .step = step};
}

static inline UNUSED struct param param_int(double min, double max)
{
    return param_number(PARAM_INT, SCALE_LINEAR, min, max, 0);
}

static inline UNUSED struct param param_float(double min, double max)
{
    return param_number(PARAM_FLOAT, SCALE_LINEAR, min, max, 0);
}

static inline UNUSED struct param param_choice(const char *const *texts, size_t n)
{
    struct param param = {.name = xstrdup("c"), .type = PARAM_CHOICE, .n_choices = n};
    param.choices = xcalloc(n, sizeof(*param.choices));
    for (size_t i = 0; i < n; i++)
        param.choices[i] = value_guess(texts[i], false);
    return param;
}
#define CHOICE(...)                                                                                \
    param_choice((const char *const[]){__VA_ARGS__},                                               \
                 ARRAY_LEN(((const char *const[]){__VA_ARGS__})))

static inline UNUSED void space_add(struct space *space, struct param param)
{
    space->params = xrealloc(space->params, (space->n + 1) * sizeof(*space->params));
    space->params[space->n++] = param;
}

/* The newest parameter is active only where `param` is one of the values from..to. */
static inline UNUSED void space_when(struct space *space, size_t param, double from, double to)
{
    struct param *last = &space->params[space->n - 1];
    struct condition condition = {.param = param};
    condition.values = xcalloc((size_t)(to - from) + 1, sizeof(double));
    for (double v = from; v <= to; v++)
        condition.values[condition.n_values++] = v;
    last->when = xrealloc(last->when, (last->n_when + 1) * sizeof(*last->when));
    last->when[last->n_when++] = condition;
}

#endif
