/* SPDX-License-Identifier: MIT */
/*
 * decide_worth.c — what a change is worth in seconds of the time that is left.
 *
 * A try is an option: who tries may go back, so only the better half of what is believed counts,
 * less what going there and coming back costs. Without that, a wide guess would never be worth a
 * look.
 */
#include "linalg/normal.h"
#include "tune/decide_internal.h"

#include <math.h>

#define SMALL        0.05 /* less is not worth a change */
#define TINY         0.03 /* less is not worth a look */
#define ERRORS       2.0
#define PAIRS        8
#define LONG_AFTER_S 86400.0

double decide_cost(const struct decide *d, size_t from, size_t to)
{
    return speed_change_cost(
        d->speed, knobs_change(d->knobs, d->width, decide_at(d, from), decide_at(d, to)));
}

struct belief_ln decide_by_learning(const struct decide *d, struct belief_ln delta, const double *a,
                                    const double *b)
{
    if (!d->learning)
        return delta;
    struct belief_ln worth = learning_compare(d->learning, a, b);
    return (struct belief_ln){delta.mean - worth.mean, hypot(delta.deviation, worth.deviation)};
}

struct belief_ln decide_compare(const struct question *q, size_t a, size_t b)
{
    const struct decide *d = q->d;
    struct belief_ln delta =
        speed_compare(d->speed, d->trial, decide_at(d, a), decide_at(d, b), q->load);

    return decide_by_learning(d, delta, decide_at(d, a), decide_at(d, b));
}

/* What is left in seconds if c ran instead of what runs. */
double decide_left(const struct question *q, size_t c)
{
    return q->left_s * exp(decide_compare(q, c, q->d->current).mean);
}

/* E[(1 − TINY − e^δ)⁺]: the share of time expected to be saved by whoever may still decline, and
 * declines what is tiny. Where all are alike there is nothing to be had for ever so many tries. */
static double share_saved(struct belief_ln delta)
{
    double m = delta.mean, s = delta.deviation, bar = log(1 - TINY);

    if (s < 1e-9)
        return fmax(0, 1 - TINY - exp(m));
    return (1 - TINY) * normal_cdf((bar - m) / s) -
           exp(m + s * s / 2) * normal_cdf((bar - m) / s - s);
}

/* Is δ an improvement that is worth having? */
bool decide_enough(struct belief_ln delta)
{
    return delta.mean < 0 && -delta.mean >= fmax(-log(1 - SMALL), ERRORS * delta.deviation);
}

/* How long a window lasts under what is slower than what is held by δ. */
static double window_seconds(const struct question *q, double delta)
{
    const struct decide_limits *limits = &q->d->limits;
    return fmax(limits->window_s, limits->window_steps * q->held_unit_s * exp(delta));
}

/* What trying c is worth in seconds: what it may save, less going there, coming back if it is no
 * better, and one window under it. If something else must be left anyway, that is no cost of c. */
static double worth(const struct question *q, size_t c, struct belief_ln delta)
{
    const struct decide *d = q->d;
    double back = delta.deviation > 0 ? normal_cdf(delta.mean / delta.deviation) : delta.mean > 0;
    double changes = decide_cost(d, d->current, c) + back * decide_cost(d, c, d->held) -
                     decide_cost(d, d->current, d->held);
    double window = window_seconds(q, delta.mean) * fmax(0, 1 - exp(-delta.mean));
    double after = q->input->after_s > 0 ? fmin(q->input->after_s, LONG_AFTER_S) : 0;

    return (q->held_left_s + after) * share_saved(delta) - changes - window;
}

/* The configuration to try next; `fresh`: only one that was not tried yet. */
struct probe decide_probe(const struct question *q, bool fresh)
{
    const struct decide *d = q->d;
    size_t n = d->closed.len;
    bool few = n <= SPEED_RIDGE;
    struct probe found = {.configuration = NONE};
    autofree(mem) struct belief_ln *deltas = xcalloc(n, sizeof(*deltas));

    speed_compare_all(d->speed, d->trial, d->configurations.at, n, decide_at(d, d->held), q->load,
                      deltas);
    for (size_t c = 0; c < n; c++) {
        if (d->closed.at[c] || c == d->held || c == d->current || (fresh && d->spent.at[c] > 0) ||
            !speed_feasible(d->speed, decide_at(d, c)))
            continue;
        deltas[c] = decide_by_learning(d, deltas[c], decide_at(d, c), decide_at(d, d->held));
        struct probe probe = {c, worth(q, c, deltas[c]), deltas[c]};
        if (probe.worth <= 0 || (few && probe.delta.mean > ERRORS * probe.delta.deviation))
            continue;
        bool better = few ? probe.delta.mean < found.delta.mean : probe.worth > found.worth;
        if (found.configuration == NONE || better)
            found = probe;
    }
    return found;
}

/* What this trial has measured to be better than what is held, by enough and worth the change. */
size_t decide_better(const struct question *q)
{
    const struct decide *d = q->d;
    double best = 0;
    size_t found = NONE;

    for (size_t c = 0; c < d->closed.len; c++) {
        if (c == d->held || !speed_feasible(d->speed, decide_at(d, c)) ||
            speed_windows(d->speed, d->trial, decide_at(d, c), q->load) == 0)
            continue;
        struct belief_ln delta = decide_compare(q, c, d->held);
        double saving = q->held_left_s * (1 - exp(delta.mean));
        double value = saving - decide_cost(d, d->held, c);
        if (decide_enough(delta) && value > best) {
            best = value;
            found = c;
        }
    }
    return found;
}

/* What being wrong about the rival may lose. */
double decide_loss(const struct question *q, struct belief_ln delta)
{
    return expected_improvement(fabs(delta.mean), delta.deviation, 0) * q->left_s;
}

/* Would one more pair of windows cost less than that? */
bool decide_pair_pays(const struct question *q, struct belief_ln delta)
{
    const struct decide *d = q->d;
    double cost = decide_cost(d, d->held, d->rival) + decide_cost(d, d->rival, d->held) +
                  window_seconds(q, fmax(delta.mean, 0)) * (1 - exp(-fabs(delta.mean)));

    return d->spent.at[d->rival] <= PAIRS && decide_loss(q, delta) > cost;
}
