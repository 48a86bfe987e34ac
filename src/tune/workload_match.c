/* SPDX-License-Identifier: MIT */
/*
 * workload_match.c — which known workload is this one?
 *
 * By identity: the same hash, nothing to doubt.
 * By response: how the two behave under the same configurations of the same kind of machine. Each
 * thing that both have measured is a term: a difference x of logarithms, its scale s (what two
 * runs of one program differ by) and the variance v of the measurements and of unlike loads.
 *
 *     z² = x²/(s² + v)     weight g = s²/(s² + v): what was hardly measured hardly counts
 *     distance² = Σ g·z² / Σ g          certainty = exp(−distance²/2) · Σg/(1 + Σg)
 *
 * Rates are compared by their ratios only: k common configurations are k − 1 terms. Seconds per
 * step are not compared; they change with the hyperparameters.
 * By profile: the root mean square over the common counters, over its own scale. Software counters
 * alone named the right workload in 57 % of the cases, so without hardware ones the certainty stays
 * low enough to change next to nothing.
 */
#include "tune/workload.h"

#include <math.h>

#define RATE_SCALE    0.10 /* ln seconds: identical runs differ by about that */
#define MEMORY_SCALE  0.25 /* ln bytes */
#define CPUS_SCALE    0.20 /* ln cpus */
#define LOAD_SLOPE    0.25 /* ln seconds by which an effect may move with a core taken by others */
#define PROFILE_SCALE 0.10 /* of the counters' scale from none to much */
#define COMMON_LEAST  4    /* counters; fewer tell nothing */
#define HARDWARE      0.8  /* certainty of an equal profile … */
#define SOFTWARE      0.15 /* … and without hardware counters */
#define LEAST         0.1  /* certainty: below that it is no match */

const char *match_name(enum match_kind kind)
{
    static const char *const names[] = {
        [MATCH_NONE] = "none",
        [MATCH_IDENTITY] = "identity",
        [MATCH_RESPONSE] = "response",
        [MATCH_PROFILE] = "profile",
    };
    return names[kind];
}

/* ---- response ---- */

struct terms {
    double sum, weight; /* Σ g·z², Σ g */
};

/* Variance of the difference between two effects of one configuration. */
static double variance_of(const struct workload_configuration *a,
                          const struct workload_configuration *b)
{
    double load = LOAD_SLOPE * (a->load - b->load);
    return a->deviation * a->deviation + b->deviation * b->deviation + load * load;
}

static double weight_of(double scale, double variance)
{
    return scale * scale / (scale * scale + variance);
}

/* The ratios of rates. Two configurations or more, or nothing is compared. */
static void add_rates(const struct workload *a, const struct workload *b, struct terms *terms)
{
    double level = 0, weights = 0, sum = 0;
    size_t common = 0;

    vec_foreach (x, &a->configurations) {
        const struct workload_configuration *y = workload_find(b, x->json);
        if (!y)
            continue;
        double g = weight_of(RATE_SCALE, variance_of(x, y));
        level += g * (x->ln_effect - y->ln_effect);
        weights += g;
        common++;
    }
    if (common < 2 || !(weights > 0))
        return;
    level /= weights;
    vec_foreach (x, &a->configurations) {
        const struct workload_configuration *y = workload_find(b, x->json);
        if (!y)
            continue;
        double variance = variance_of(x, y);
        double apart = x->ln_effect - y->ln_effect - level;
        sum +=
            weight_of(RATE_SCALE, variance) * apart * apart / (RATE_SCALE * RATE_SCALE + variance);
    }
    terms->sum += sum; /* the level took one of the terms: k squares with the sum of k − 1 */
    terms->weight += weights * (double)(common - 1) / (double)common;
}

static void add_measure(double a, double b, double scale, struct terms *terms)
{
    if (!(a > 0) || !(b > 0))
        return;
    double z = log(a / b) / scale;
    terms->sum += z * z;
    terms->weight += 1;
}

static bool compare_responses(const struct workload *a, const struct workload *b,
                              struct workload_match *ret)
{
    struct terms terms = {0, 0};

    if (!str_eq(a->machine, b->machine))
        return false;
    add_rates(a, b, &terms);
    if (!(terms.weight > 0))
        return false; /* memory and cpus alone are the same for too many */
    add_measure(a->response.memory_bytes, b->response.memory_bytes, MEMORY_SCALE, &terms);
    add_measure(a->response.cpus, b->response.cpus, CPUS_SCALE, &terms);
    double square = terms.sum / terms.weight;
    ret->kind = MATCH_RESPONSE;
    ret->distance = sqrt(square);
    ret->certainty = exp(-square / 2) * terms.weight / (1 + terms.weight);
    return true;
}

/* ---- profile ---- */

static const struct workload_counter *find_counter(const struct workload *workload,
                                                   const char *name)
{
    vec_foreach (counter, &workload->profile)
        if (str_eq(counter->name, name))
            return counter;
    return NULL;
}

static bool compare_profiles(const struct workload *a, const struct workload *b,
                             struct workload_match *ret)
{
    double sum = 0;
    size_t common = 0, hardware = 0;

    if (!str_eq(a->machine, b->machine))
        return false;
    vec_foreach (x, &a->profile) {
        const struct workload_counter *y = find_counter(b, x->name);
        if (!y || x->missing || y->missing)
            continue;
        double apart = (x->scaled - y->scaled) / PROFILE_SCALE;
        sum += apart * apart;
        common++;
        hardware += x->hardware && y->hardware;
    }
    if (common < COMMON_LEAST)
        return false;
    double square = sum / (double)common;
    ret->kind = MATCH_PROFILE;
    ret->distance = sqrt(square);
    ret->certainty = exp(-square / 2) * (hardware >= COMMON_LEAST ? HARDWARE : SOFTWARE);
    return true;
}

/* ---- the match ---- */

static bool compare_identities(const struct workload *a, const struct workload *b,
                               struct workload_match *ret)
{
    ret->kind = MATCH_IDENTITY;
    ret->distance = 0;
    ret->certainty = 1;
    return str_eq(a->identity, b->identity);
}

typedef bool compare_fn(const struct workload *a, const struct workload *b,
                        struct workload_match *ret);

void workload_match(const struct workload *all, size_t n, const struct workload *query,
                    struct workload_match *ret)
{
    static compare_fn *const kinds[] = {compare_identities, compare_responses, compare_profiles};

    *ret = (struct workload_match){.index = SIZE_MAX};
    for (size_t k = 0; k < ARRAY_LEN(kinds) && ret->kind == MATCH_NONE; k++)
        for (size_t i = 0; i < n; i++) {
            struct workload_match match = {.index = i};
            /* One that knows no configuration has nothing to tell. */
            if (all[i].configurations.len == 0 || !kinds[k](&all[i], query, &match))
                continue;
            if (match.certainty >= LEAST && match.certainty > ret->certainty)
                *ret = match;
        }
}
