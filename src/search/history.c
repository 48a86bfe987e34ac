/* SPDX-License-Identifier: MIT */
/*
 * history.c — what was told, what is in flight, and which settings were given out.
 */
#include "search/search.h"
#include "search/history.h"

#include <math.h>

size_t history_given(const struct history *history, const double *x)
{
    return (size_t)(uintptr_t)map_find(&history->given, point_hash(x, history->d));
}

static void count_given(struct history *history, const double *x, int by)
{
    uint64_t hash = point_hash(x, history->d);
    size_t times = (size_t)(uintptr_t)map_find(&history->given, hash) + (size_t)by;

    if (times)
        map_put(&history->given, hash,
                (void *)(uintptr_t)times); // NOLINT(performance-no-int-to-ptr)
    else
        map_remove(&history->given, hash);
}

void history_ask(struct history *history, const double *x)
{
    vec_reserve(&history->pending, 1); /* a point of no parameters has an address too */
    for (size_t i = 0; i < history->d; i++)
        vec_push(&history->pending, x[i]);
    history->n_pending++;
    count_given(history, x, 1);
}

/* Take x out of what is in flight; false if it was not. */
static bool land(struct history *history, const double *x)
{
    size_t d = history->d;

    for (size_t i = 0; i < history->n_pending; i++) {
        double *row = history->pending.at + i * d;
        if (!point_equal(row, x, d))
            continue;
        if (d)
            memmove(row, row + d, (history->n_pending - i - 1) * d * sizeof(*row));
        history->pending.len -= d;
        history->n_pending--;
        return true;
    }
    return false;
}

static double number_or_nan(const double *numbers, size_t i)
{
    return numbers && isfinite(numbers[i]) ? numbers[i] : NAN;
}

/* The passing result of x that is replaced from now on: 1 + its row, or 0. */
static size_t replace(struct history *history, const double *x)
{
    for (size_t i = 0; i < history->n; i++)
        if (history->passing.at[i] && !history->replaced.at[i] &&
            point_equal(history_x(history, i), x, history->d)) {
            history->replaced.at[i] = true;
            return i + 1;
        }
    return 0;
}

/* A paused trial that ends without a result keeps the one that it has told. */
bool history_tell(struct history *history, const double *x, const struct result *result,
                  size_t n_others, size_t n_excess)
{
    bool flew = !result->replaces && land(history, x);

    if (result->kind == RESULT_VOID) {
        if (flew)
            count_given(history, x, -1);
        return false;
    }
    size_t old = result->replaces ? replace(history, x) : 0;
    if (!flew && !old)
        count_given(history, x, 1);
    vec_reserve(&history->x, 1);
    for (size_t i = 0; i < history->d; i++)
        vec_push(&history->x, x[i]);
    vec_push(&history->kind, (uint8_t)result->kind);
    vec_push(&history->value, result->kind == RESULT_FAILED ? NAN : result->value);
    vec_push(&history->deviation, isfinite(result->deviation) ? fabs(result->deviation) : 0);
    for (size_t i = 0; i < n_others; i++)
        vec_push(&history->others, number_or_nan(result->others, i));
    for (size_t i = 0; i < n_excess; i++)
        vec_push(&history->excess, number_or_nan(result->excess, i));
    vec_push(&history->cost, result->cost > 0 && isfinite(result->cost) ? result->cost : NAN);
    vec_push(&history->passing, result->passing);
    vec_push(&history->replaced, false);
    vec_push(&history->replaces, old);
    history->n++;
    return true;
}

void history_release(struct history *history)
{
    vec_release(&history->x);
    vec_release(&history->kind);
    vec_release(&history->value);
    vec_release(&history->deviation);
    vec_release(&history->others);
    vec_release(&history->excess);
    vec_release(&history->cost);
    vec_release(&history->passing);
    vec_release(&history->replaced);
    vec_release(&history->replaces);
    vec_release(&history->pending);
    map_release(&history->given);
}
