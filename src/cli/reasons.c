/* SPDX-License-Identifier: MIT */
/*
 * reasons.c — one row of a table for each kind of reason.
 */
#include "cli/reasons.h"
#include "base/json.h"
#include "cli/output.h"

#include <math.h>

#define HALF_WIDTH 1.96 /* deviations to either side hold 95 % */

/* Digits after the point that a number of this size, rounded, needs to have two significant ones.
 */
static int decimals(double size)
{
    int digits = (int)floor(log10(size) + 0.0022); /* 0.995 is 1.0 */
    return digits >= 1 ? 0 : MIN(1 - digits, 12);
}

void str_add_interval(struct str *to, double mean, double deviation)
{
    double half = HALF_WIDTH * deviation;

    if (!isfinite(half) || half <= 0 || half < fabs(mean) * 1e-12) {
        str_add_number(to, mean);
        return;
    }
    if (half >= 1e6 || half < 1e-10 || fabs(mean) >= 1e9) {
        str_addf(to, "%.6g ± %.2g", mean, half);
        return;
    }
    str_addf(to, "%.*f ± %.*f", decimals(half), mean, decimals(half), half);
}

void str_add_chance(struct str *to, double chance)
{
    double percent = chance * 100;

    if (percent > 0 && percent < 0.01)
        str_add(to, "under 0.01 %");
    else
        str_addf(to, "%.2g %%", percent);
}

static json_t *read_object(const char *json)
{
    json_t *object = NULL;
    if (json)
        json_parse(json, strlen(json), &object, NULL);
    return object;
}

/* ---- why it was made ---- */

struct made {
    const json_t *why;
    const struct trial *trial;
    const char *known;
    struct str *to;
};

static void add_by(const struct made *made, const char *verb)
{
    int64_t seen = json_get_int(made->why, "seen", made->trial->seen);

    str_addf(made->to, "%s by %s", verb, json_get_text(made->why, "by", "the search"));
    if (seen > 0)
        str_addf(made->to, " after %lld result%s", (long long)seen, seen == 1 ? "" : "s");
}

/* ": expects 0.912 ± 0.010 here" */
static void add_expected(const struct made *made, const char *joint)
{
    double mean = json_get_double(made->why, "mean", NAN);

    if (isnan(mean))
        return;
    str_addf(made->to, "%s expects ", joint);
    str_add_interval(made->to, mean, json_get_double(made->why, "deviation", NAN));
    str_add(made->to, " here");
}

static void made_walk(const struct made *made)
{
    str_add(made->to, "one of all settings, each in turn");
}

static void made_draw(const struct made *made)
{
    str_addf(made->to, "spread over the space by %s, whatever the results",
             json_get_text(made->why, "by", "the search"));
}

static void made_try(const struct made *made)
{
    str_add(made->to, "from your try list");
}

static void made_known(const struct made *made)
{
    str_addf(made->to, "among the best of %s", made->known ? made->known : "an earlier experiment");
}

static void made_model(const struct made *made)
{
    add_by(made, "suggested");
    add_expected(made, ":");
    str_add(made->to, ", most promising of what is left");
}

static void made_near(const struct made *made)
{
    add_by(made, "suggested");
    str_add(made->to, ": a neighbour of the best");
    add_expected(made, ",");
}

static void made_breed(const struct made *made)
{
    add_by(made, "bred");
    str_add(made->to, ", from the better ones");
    add_expected(made, ",");
}

static void made_repeat(const struct made *made)
{
    str_add(made->to, "a repeat");
    if (made->trial->repeat_of)
        str_addf(made->to, " of %lld.%lld", (long long)made->trial->experiment,
                 (long long)made->trial->repeat_of);
    str_add(made->to, ": is that setting as good as it seems?");
}

static const struct {
    const char *why;
    void (*add)(const struct made *made);
} kinds[] = {
    {"walk", made_walk},   {"draw", made_draw}, {"try", made_try},     {"known", made_known},
    {"model", made_model}, {"near", made_near}, {"breed", made_breed}, {"repeat", made_repeat},
};

bool reason_made(const struct trial *trial, const char *known, struct str *to)
{
    autofree(json) json_t *why = read_object(trial->why);
    struct made made = {why, trial, known, to};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(json_get_text(why, "why", ""), kinds[i].why)) {
            kinds[i].add(&made);
            return true;
        }
    return false;
}

/* ---- why it was ended ---- */

bool reason_ended(const struct trial *trial, struct str *to)
{
    autofree(json) json_t *verdict = read_object(trial->verdict);
    const char *rule = json_get_text(verdict, "rule", NULL);
    double chance = json_get_double(verdict, "chance", NAN);
    double threshold = json_get_double(verdict, "threshold", NAN);
    double mean = json_get_double(verdict, "mean", NAN);
    bool stopped = trial->state == TRIAL_STOPPED;

    if (!rule)
        return false;
    str_addf(to, "%s by %s", stopped ? "stopped" : "paused", rule);
    if (json_is_integer(json_object_get(verdict, "step")))
        str_addf(to, " at step %lld", (long long)json_get_int(verdict, "step", 0));
    if (!isnan(chance)) {
        str_add(to, ": chance to win ");
        str_add_chance(to, chance);
        if (!isnan(threshold)) {
            str_add(to, ", below ");
            str_add_chance(to, threshold);
        }
    } else if (!isnan(threshold)) {
        str_add(to, ": not better than ");
        str_add_number(to, threshold);
    } else if (json_object_get(verdict, "rung")) {
        str_addf(to, ": not among the best at rung %.6g", json_get_double(verdict, "rung", 0));
    }
    if (!isnan(mean)) {
        str_add(to, "; it would have ended near ");
        str_add_interval(to, mean, json_get_double(verdict, "deviation", NAN));
    }
    if (!stopped && trial->state != TRIAL_PAUSED)
        str_add(to, "; it went on later");
    return true;
}
