/* SPDX-License-Identifier: MIT */
/*
 * knob.c — knobs as lists of values, and configurations as their product.
 *
 * Where the product is too large, each knob keeps fewer values, the largest list shrinking first;
 * the first and the last value of a list always stay.
 */
#include "tune/knob.h"

#include <assert.h>
#include <math.h>

static size_t value_count(const struct knob *knob)
{
    if (knob->values)
        return knob->n;
    return knob->max >= knob->min ? (size_t)(knob->max - knob->min) + 1 : 0;
}

static double value_at(const struct knob *knob, size_t i)
{
    return knob->values ? knob->values[i] : knob->min + (double)i;
}

size_t knobs_size(const struct knob *knobs, size_t n)
{
    size_t size = 1;

    for (size_t j = 0; j < n; j++)
        if (__builtin_mul_overflow(size, value_count(&knobs[j]), &size))
            return SIZE_MAX;
    return size;
}

bool knobs_contain(const struct knob *knobs, size_t n, const double *configuration)
{
    for (size_t j = 0; j < n; j++) {
        const struct knob *knob = &knobs[j];
        double value = configuration[j];
        bool found =
            !knob->values && value >= knob->min && value <= knob->max && value == floor(value);
        for (size_t i = 0; knob->values && i < knob->n; i++)
            found |= knob->values[i] == value;
        if (!found)
            return false;
    }
    return true;
}

double knob_at(const struct knob *knob, double unit)
{
    size_t count = value_count(knob);
    assert(count > 0);
    double at = floor(fmin(fmax(unit, 0), 1) * (double)count);

    return value_at(knob, MIN((size_t)at, count - 1));
}

/* How many values of each knob to keep so that the product is at most `cap`. */
static size_t share_out(const struct knob *knobs, size_t n, size_t cap, size_t *ret_counts)
{
    for (size_t j = 0; j < n; j++)
        ret_counts[j] = MIN(value_count(&knobs[j]), cap);
    for (;;) {
        double product = 1;
        size_t largest = 0;
        for (size_t j = 0; j < n; j++) {
            product *= (double)ret_counts[j];
            if (ret_counts[j] > ret_counts[largest])
                largest = j;
        }
        if (product <= (double)cap || ret_counts[largest] <= 2)
            return (size_t)product;
        ret_counts[largest]--;
    }
}

size_t knobs_list(const struct knob *knobs, size_t n, size_t cap, double **ret)
{
    autofree(mem) size_t *counts = xcalloc(n + 1, sizeof(*counts));
    size_t total = share_out(knobs, n, cap, counts);
    double *rows = xcalloc(total * n + 1, sizeof(*rows));

    for (size_t row = 0; row < total; row++) {
        size_t rest = row;
        for (size_t j = 0; j < n; j++) {
            size_t last = value_count(&knobs[j]) - 1, kept = counts[j];
            assert(kept > 0); /* or there would be no rows */
            size_t i = rest % kept;
            double step = kept > 1 ? (double)last / (double)(kept - 1) : 0;
            rows[row * n + j] = value_at(&knobs[j], (size_t)round(step * (double)i));
            rest /= kept;
        }
    }
    *ret = rows;
    return total;
}

enum change_kind knobs_change(const struct knob *knobs, size_t n, const double *from,
                              const double *to)
{
    enum change_kind kind = CHANGE_NONE;

    for (size_t j = 0; j < n; j++)
        if (from[j] != to[j])
            kind = MAX(kind, knobs[j].restart ? CHANGE_RESTART : CHANGE_LIVE);
    return kind;
}

double knob_feature(const struct knob *knob, double value)
{
    if (knob->kind == KNOB_CHOICE) {
        for (size_t i = 0; i < knob->n; i++)
            if (knob->values[i] == value)
                return (double)i;
        return -1;
    }
    if (knob->max <= knob->min)
        return 0.5;
    return log1p(fmax(value - knob->min, 0)) / log1p(knob->max - knob->min);
}
