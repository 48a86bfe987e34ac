/* SPDX-License-Identifier: MIT */
/*
 * window.c — gather intervals between samples until they say enough.
 *
 * With dt and ds of each interval, T = Σdt/Σds is a ratio of sums; its variance follows from what
 * the intervals leave, Σ(dt − T·ds)². Three sums keep that, so a window needs no memory of samples.
 */
#include "tune/window.h"

#include <assert.h>
#include <math.h>

#define CERTAIN      3.0  /* standard errors */
#define WORSE        0.05 /* … beyond so much worse */
#define CERTAIN_FROM 3    /* intervals */
#define FEW_ERROR    0.1  /* with fewer intervals the error is not known, taken as this */
#define STALLED      2.0  /* times as slow as the bar with no step: certain */
#define STALLED_DROP 10.0 /* … among the first steps, which may be slow */
#define BOUND_ERROR  0.3

void window_init(struct window *window, const struct window_limits *limits)
{
    *window = (struct window){.limits = limits ? *limits : WINDOW_LIMITS, .bar = INFINITY};
}

void window_bar(struct window *window, double ln_seconds)
{
    window->bar = isnan(ln_seconds) ? INFINITY : ln_seconds;
}

static void begin(struct window *window, double time_s, double step)
{
    window->begun = true;
    window->dropping = window->done = window->cut = window->bound = false;
    window->start_s = window->last_s = time_s;
    window->start = window->last = step;
    window->intervals = window->tt = window->ts = window->ss = 0;
}

void window_change(struct window *window, double now_s)
{
    window->begun = window->done = false;
    window->dropping = true;
    window->changed_s = now_s;
    window->drop_from = NAN;
}

/* A sample among the first after a change. */
static void drop(struct window *window, double time_s, double step)
{
    if (time_s < window->changed_s)
        return;
    if (isnan(window->drop_from) || step < window->drop_from)
        window->drop_from = step;
    if (step - window->drop_from >= window->limits.drop_steps)
        begin(window, time_s, step);
}

static void add_interval(struct window *window, double time_s, double step)
{
    double dt = time_s - window->last_s, ds = step - window->last;

    window->intervals++;
    window->tt += dt * dt;
    window->ts += dt * ds;
    window->ss += ds * ds;
    window->last_s = time_s;
    window->last = step;
}

static struct window_result measure(const struct window *window)
{
    double seconds = window->last_s - window->start_s, steps = window->last - window->start;
    double per = seconds / steps, k = window->intervals;
    double left = window->tt - 2 * per * window->ts + per * per * window->ss;
    double error = FEW_ERROR;

    if (k >= CERTAIN_FROM)
        error = sqrt(fmax(left, 0) * k / (k - 1)) / seconds;
    return (struct window_result){log(per), error, seconds, steps, false, false};
}

/* Is what has been gathered enough? */
static bool judge(struct window *window)
{
    const struct window_limits *limits = &window->limits;
    struct window_result *result = &window->result;

    if (!(window->last_s > window->start_s))
        return false;
    *result = measure(window);
    result->cut = window->intervals >= CERTAIN_FROM &&
                  result->ln_seconds - CERTAIN * result->error > window->bar + WORSE;
    if (result->cut)
        return window->done = true;
    if (result->seconds < (window->looked ? limits->least_s : limits->look_s) ||
        result->steps < limits->least_steps)
        return false;
    window->done = result->error <= (window->looked ? limits->sure : limits->look_sure) ||
                   result->seconds >= limits->most_s;
    if (window->done && result->seconds < limits->least_s)
        result->error = hypot(result->error, limits->look_sure);
    return window->done;
}

bool window_sample(struct window *window, double time_s, double step)
{
    if (!isfinite(time_s) || !isfinite(step))
        return window->done;
    if (window->dropping) {
        drop(window, time_s, step);
        return false;
    }
    if (!window->begun || step < window->last) {
        begin(window, time_s, step);
        return false;
    }
    if (window->done)
        return true;
    if (time_s < window->last_s || step == window->last)
        return false;
    add_interval(window, time_s, step);
    return judge(window);
}

bool window_look(struct window *window, double now_s)
{
    double from = window->dropping ? window->changed_s : window->start_s;
    double steps = window->begun && !window->dropping ? window->last - window->start : 0;
    double times = window->dropping ? STALLED_DROP : STALLED;
    double waited = now_s - from, per = waited / (steps + 1);

    if (window->done || (!window->begun && !window->dropping))
        return window->done;
    if (!(waited >= window->limits.most_s) || !(log(per) > window->bar + log(times)))
        return false;
    window->result = (struct window_result){log(per), BOUND_ERROR, waited, steps, true, true};
    return window->done = true;
}

bool window_so_far(const struct window *window, struct window_result *ret)
{
    if (!window->begun || window->dropping || !(window->last_s > window->start_s))
        return false;
    *ret = measure(window);
    return true;
}

struct window_result window_take(struct window *window)
{
    assert(window->done);
    struct window_result result = window->result;

    window->looked = true;
    if (result.bound)
        window_change(window, window->begun ? window->last_s : window->changed_s);
    else
        begin(window, window->last_s, window->last);
    return result;
}
