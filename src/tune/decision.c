/* SPDX-License-Identifier: MIT */
/*
 * decision.c — a decision in words: what changes, what was predicted, what it costs, what came.
 */
#include "tune/decide.h"

#include <math.h>

const char *advice_name(enum advice advice)
{
    static const char *const names[] = {"keep", "try", "adopt", "revert"};
    return names[advice];
}

/* δ of ln seconds as a rounded change in per cent: −38, 0, +12. */
static double percent(double delta)
{
    double rounded = round(100 * expm1(delta));
    return rounded == 0 ? 0 : rounded;
}

static void add_percent(struct str *to, double delta)
{
    double value = percent(delta);
    str_addf(to, "%s%g %%", value < 0 ? "−" : value > 0 ? "+" : "", fabs(value));
}

static void add_value(struct str *to, const struct knob *knob, double value)
{
    for (size_t i = 0; knob->labels && i < knob->n; i++)
        if (knob->values[i] == value) {
            str_add(to, knob->labels[i]);
            return;
        }
    str_addf(to, "%g", value);
}

/* "threads 2 → 1, cpus 2 → 1"; where nothing changes, what stays. */
static void add_knobs(struct str *to, const struct knob *knobs, size_t n, const double *from,
                      const double *into)
{
    bool same = knobs_change(knobs, n, from, into) == CHANGE_NONE;
    const char *comma = "";

    for (size_t j = 0; j < n; j++) {
        if (!same && from[j] == into[j])
            continue;
        str_addf(to, "%s%s ", comma, knobs[j].name);
        add_value(to, &knobs[j], from[j]);
        if (!same) {
            str_add(to, " → ");
            add_value(to, &knobs[j], into[j]);
        }
        comma = ", ";
    }
}

/* Two deviations to both sides, without signs where they agree: (31–44), (−5 to +12). */
static void add_interval(struct str *to, struct belief_ln belief)
{
    double low = percent(belief.mean - 2 * belief.deviation);
    double high = percent(belief.mean + 2 * belief.deviation);

    if (low * high >= 0)
        str_addf(to, " (%g–%g)", fmin(fabs(low), fabs(high)), fmax(fabs(low), fabs(high)));
    else
        str_addf(to, " (−%g to +%g)", -low, high);
}

/* Do they differ in what a step teaches? Then progress is not steps. */
static bool learns(const struct decision *decision, const struct knob *knobs, size_t n)
{
    for (size_t j = 0; j < n; j++)
        if (knobs[j].learning && decision->against[j] != decision->over[j])
            return true;
    return false;
}

void decision_format(const struct decision *decision, const struct knob *knobs, size_t n,
                     struct str *to)
{
    bool compared = knobs_change(knobs, n, decision->against, decision->over) != CHANGE_NONE;

    if (compared)
        add_knobs(to, knobs, n, decision->over, decision->against);
    else
        add_knobs(to, knobs, n, decision->from, decision->to);
    str_add(to, ": ");
    if (!compared) {
        str_add(to, decision->why);
        return;
    }
    str_add(to, "predicted ");
    add_percent(to, decision->predicted.mean);
    str_add(to, learns(decision, knobs, n) ? " for the same learning" : " per step");
    add_interval(to, decision->predicted);
    if (isfinite(decision->cost_s))
        str_addf(to, ", cost %.1f s", decision->cost_s);
    if (isfinite(decision->measured)) {
        str_add(to, "; measured ");
        add_percent(to, decision->measured);
        if (decision->advice == ADVICE_TRY)
            str_add(to, "; compared again");
    }
    if (decision->advice == ADVICE_REVERT)
        str_add(to, "; taken back");
}
