/* SPDX-License-Identifier: MIT */
/*
 * pace.c — seconds per step, from windows of a running training.
 *
 * Total time over total progress, never a median of steps: a pause is time, too. A window is off
 * by seconds − steps · pace. Windows lean on each other (a neighbour stays for a while), so that
 * many of them count as WINDOWS: a thousand do not make the future certain.
 */
#include "tune/pace.h"

#include "linalg/normal.h"

#include <math.h>

#define VARIES  0.1  /* what a window may be off before its spread is known: counts as one */
#define WINDOWS 10.0 /* windows that count as independent */

#define EARLY_S      0.3 /* before a window is complete: so long … */
#define EARLY_STEPS  3   /* … and so many steps tell a pace … */
#define EARLY_SLOW_S 3.0 /* … or a step of so long … */
#define EARLY_DOUBT  2   /* … which is so much less sure */

static bool is_sane(const struct pace_window *w)
{
    return w->steps >= 0 && w->seconds > 0 && isfinite(w->steps) && isfinite(w->seconds);
}

bool pace_init(struct pace *ret, const struct pace_window *windows, size_t n)
{
    double steps = 0, seconds = 0, squares = 0, used = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_sane(&windows[i]))
            continue;
        steps += windows[i].steps;
        seconds += windows[i].seconds;
        used++;
    }
    if (!(steps > 0))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_sane(&windows[i]))
            continue;
        double off = (windows[i].seconds / seconds - windows[i].steps / steps) * used;
        squares += off * off;
    }
    *ret = (struct pace){.seconds_per_step = seconds / steps,
                         .doubt = sqrt((squares + VARIES * VARIES) / used),
                         .steps = steps / used,
                         .n = (size_t)used};
    return true;
}

static bool is_enough(const struct pace_window *w)
{
    bool quick = w->steps >= EARLY_STEPS && w->seconds >= EARLY_S;
    bool slow = w->steps >= 1 && w->seconds >= EARLY_SLOW_S;

    return is_sane(w) && (quick || slow);
}

/* The first steps of a program are not like the others: they count where there is no more. */
static bool pace_early(struct pace *ret, struct pace_window open, struct pace_window all)
{
    const struct pace_window *window = is_enough(&open) ? &open : &all;

    if (!is_enough(window) || !pace_init(ret, window, 1))
        return false;
    ret->doubt *= EARLY_DOUBT;
    return true;
}

bool pace_so_far(struct pace *ret, const struct pace_window *windows, size_t n,
                 struct pace_window open, struct pace_window all)
{
    if (n == 0)
        return pace_early(ret, open, all);
    if (!is_sane(&open))
        return pace_init(ret, windows, n);
    autofree(mem) struct pace_window *joined = xmemdup(windows, n * sizeof(*joined));
    joined[n - 1].steps += open.steps;
    joined[n - 1].seconds += open.seconds;
    return pace_init(ret, joined, n);
}

/* Student's quantile, as Wallace (1959) brings it to the normal one. */
double pace_margin(const struct pace *pace, double steps)
{
    double nu = fmax((double)pace->n, 1);
    double z = normal_quantile(0.9) * (8 * nu + 3) / (8 * nu + 1);
    double seen = fmin(nu, WINDOWS), ahead = fmax(fmin(steps / pace->steps, WINDOWS), 1);
    return sqrt(nu * expm1(z * z / nu)) * pace->doubt * sqrt(1 / seen + 1 / ahead);
}
