/* SPDX-License-Identifier: MIT */
/*
 * nested.c — the conditional closed form.
 *
 * Every active parameter adds a penalty for not having its best value, which the instance draws: a
 * choice a fixed one, a number its squared distance on its own axis, leaning on a partner, so that
 * one parameter alone cannot be tuned to the end.
 */
#include "nested.h"

#include <math.h>
#include <stdint.h>

#define LEAN 0.5

#define BIT(k) (1u << (k))

static const struct nested_param params[] = {
    {"method", NESTED_CHOICE, 0, 0, 2, -1, 0, -1, 0.3},
    {"linear_c", NESTED_FLOAT, 1, 1e-4, 1e4, 0, BIT(0), -1, 1.0},
    {"linear_penalty", NESTED_CHOICE, 0, 0, 2, 0, BIT(0), -1, 0.1},
    {"linear_mix", NESTED_FLOAT, 0, 0, 1, 2, BIT(2), 1, 0.5},
    {"trees_count", NESTED_INT, 1, 10, 1000, 0, BIT(1), -1, 0.5},
    {"trees_depth", NESTED_INT, 0, 1, 20, 0, BIT(1), -1, 1.0},
    {"trees_boost", NESTED_CHOICE, 0, 0, 1, 0, BIT(1), -1, 0.1},
    {"trees_rate", NESTED_FLOAT, 1, 1e-3, 1, 6, BIT(1), 4, 1.0},
    {"network_layers", NESTED_INT, 0, 1, 3, 0, BIT(2), -1, 0.2},
    {"network_units1", NESTED_INT, 1, 8, 512, 0, BIT(2), -1, 0.5},
    {"network_units2", NESTED_INT, 1, 8, 512, 8, BIT(2) | BIT(3), -1, 0.3},
    {"network_units3", NESTED_INT, 1, 8, 512, 8, BIT(3), -1, 0.2},
    {"network_optimizer", NESTED_CHOICE, 0, 0, 1, 0, BIT(2), -1, 0.1},
    {"network_momentum", NESTED_FLOAT, 0, 0, 0.99, 12, BIT(0), -1, 0.3},
    {"network_rate", NESTED_FLOAT, 1, 1e-5, 1, 0, BIT(2), 9, 2.0},
};
#define PARAMS (sizeof(params) / sizeof(*params))

size_t nested_count(void)
{
    return PARAMS;
}

const struct nested_param *nested_at(size_t i)
{
    return &params[i];
}

int nested_active(size_t i, const double *x)
{
    int parent = params[i].parent;
    return parent < 0 || (!isnan(x[parent]) && (params[i].values >> (unsigned)x[parent] & 1));
}

/* In 0…1, by chance: splitmix64 of the instance, the parameter and what for. */
static double draw(int instance, size_t i, unsigned what)
{
    uint64_t z = ((uint64_t)instance * 64 + i) * 64 + what + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double on_axis(const struct nested_param *p, double x)
{
    return p->log ? log(x / p->low) / log(p->high / p->low) : (x - p->low) / (p->high - p->low);
}

/* Away from the ends; of whole numbers and choices, one of them. */
static double best_value(int instance, size_t i)
{
    const struct nested_param *p = &params[i];
    double u = draw(instance, i, 0), inner = 0.1 + 0.8 * u;

    if (p->kind == NESTED_CHOICE)
        return floor(u * (p->high + 1));
    double x = p->log ? p->low * pow(p->high / p->low, inner) : p->low + inner * (p->high - p->low);
    return p->kind == NESTED_INT ? round(x) : x;
}

static double distance(int instance, size_t i, const double *x)
{
    return on_axis(&params[i], x[i]) - on_axis(&params[i], best_value(instance, i));
}

static double penalty(int instance, size_t i, const double *x)
{
    const struct nested_param *p = &params[i];

    if (p->kind == NESTED_CHOICE)
        return x[i] == best_value(instance, i)
                   ? 0
                   : p->weight * (0.2 + 0.8 * draw(instance, i, 1 + (unsigned)x[i]));
    double off = distance(instance, i, x);
    if (p->partner >= 0 && !isnan(x[p->partner]))
        off += LEAN * distance(instance, (size_t)p->partner, x);
    return p->weight * off * off;
}

double nested_value(int instance, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < PARAMS; i++)
        if (nested_active(i, x))
            sum += penalty(instance, i, x);
    return sum;
}

void nested_optimum(int instance, double *ret_x)
{
    for (size_t i = 0; i < PARAMS; i++)
        ret_x[i] = nested_active(i, ret_x) ? best_value(instance, i) : NAN;
}
