/* SPDX-License-Identifier: MIT */
/*
 * width_decision.c — a decision about the width in words: what changes, what was predicted with two
 * deviations to both sides, what came.
 */
#include "tune/width.h"

#include <math.h>

static double percent(double ln_ratio)
{
    double rounded = round(100 * expm1(ln_ratio));
    return rounded == 0 ? 0 : rounded;
}

/* "−39", "0", "+111" */
static void add_signed(struct str *to, double value)
{
    str_addf(to, "%s%g", value < 0 ? "−" : value > 0 ? "+" : "", fabs(value));
}

static void add_percent(struct str *to, double ln_ratio)
{
    add_signed(to, percent(ln_ratio));
    str_add(to, " %");
}

void width_decision_format(const struct width_decision *decision, struct str *to)
{
    str_addf(to, "%zu side by side", decision->from);
    if (decision->to != decision->from)
        str_addf(to, " → %zu, %g core%s each", decision->to, decision->cores,
                 decision->cores == 1 ? "" : "s");
    if (decision->gain.mean == 0 && decision->gain.deviation == 0) {
        str_addf(to, ": %s", decision->why);
        return;
    }
    str_add(to, ": predicted ");
    add_percent(to, decision->gain.mean);
    str_add(to, " runs an hour (");
    add_signed(to, percent(decision->gain.mean - 2 * decision->gain.deviation));
    str_add(to, " to ");
    add_signed(to, percent(decision->gain.mean + 2 * decision->gain.deviation));
    str_add(to, ")");
    if (isfinite(decision->measured)) {
        str_add(to, "; measured ");
        add_percent(to, decision->measured);
    }
}
