/* SPDX-License-Identifier: MIT */
/*
 * stop_hyperband.c — Hyperband (Li et al. 2018), asynchronous: ladders that start at different
 * steps, since nobody knows how early a trial can be judged.
 *
 * With R the length of a whole run, bracket s = 0 … s_max has its first rung at first·eta^(s_max-s)
 * (bracket 0 judges nothing) and gets n_s = ⌈(s_max+1)·eta^s / (s+1)⌉ of every Σ n_s trials. All in
 * integers: the logarithm in floating point loses the most eager bracket where R/first is a power
 * of eta. Which bracket a trial climbs in depends on its number alone, and neighbours are spread
 * over the brackets.
 */
#include "search/stop_rung.h"

#define ETA           3
#define MOST_BRACKETS 16
#define LONGEST       (INT64_MAX >> 6) /* so that sizes of brackets do not overflow */

/* The greatest s with first·eta^s ≤ last. */
static int64_t most_brackets(const struct ladder *ladder)
{
    int64_t s = 0;
    for (int64_t step = ladder->first; step <= ladder->last / ladder->eta && s < MOST_BRACKETS;
         step *= ladder->eta)
        s++;
    return s;
}

static int64_t power(int64_t eta, int64_t s)
{
    int64_t result = 1;
    while (s-- > 0)
        result *= eta;
    return result;
}

static int64_t bracket_size(int64_t eta, int64_t s, int64_t most)
{
    int64_t n = (most + 1) * power(eta, s);
    return (n + s) / (s + 1);
}

/* A step through 0 … n-1 that visits all and lands far from where it was: near n·0.618, with no
 * common divisor. */
static int64_t stride(int64_t n)
{
    for (int64_t step = (int64_t)((double)n * 0.6180339887); step > 1; step--) {
        int64_t a = n, b = step;
        while (b) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
    return 1;
}

static int64_t bracket_of(int64_t number, int64_t eta, int64_t most)
{
    int64_t total = 0;
    for (int64_t s = 0; s <= most; s++)
        total += bracket_size(eta, s, most);
    int64_t turn = (int64_t)((__int128)(number % total) * stride(total) % total);
    int64_t s = most;
    while (s > 0 && turn >= bracket_size(eta, s, most))
        turn -= bracket_size(eta, s--, most);
    return s;
}

static bool in_bracket(const struct ladder *ladder, int64_t number)
{
    return bracket_of(number, ladder->eta, ladder->brackets) == ladder->bracket;
}

/* The ladder of bracket s; false while the length of a whole run is unknown. */
static bool hyperband_ladder(const struct stop_view *view, int64_t s, struct ladder *ret)
{
    *ret = ladder_of(view, ETA);
    if (ret->last == INT64_MAX)
        return false;
    ret->last = MIN(ret->last, LONGEST);
    ret->brackets = most_brackets(ret);
    if (s < 0 || s > ret->brackets)
        return false;
    ret->bracket = s;
    ret->has = in_bracket;
    ret->first *= power(ret->eta, ret->brackets - s);
    if (s == 0)
        ret->first = ret->last;
    return true;
}

static void hyperband_judge(const struct stop_view *view, size_t mine, struct stop_verdict *ret)
{
    struct ladder ladder;

    stop_verdict_init(view, mine, ret);
    if (!hyperband_ladder(view, 0, &ladder))
        return;
    int64_t s = bracket_of(view->trials[mine].number, ladder.eta, ladder.brackets);
    if (hyperband_ladder(view, s, &ladder))
        ladder_judge(&ladder, view, mine, ret);
}

/* The bracket whose candidate has come farthest is served first. */
static ptrdiff_t hyperband_promote(const struct stop_view *view)
{
    struct ladder ladder;
    ptrdiff_t best = -1;
    int64_t farthest = -1;

    for (int64_t s = 0; hyperband_ladder(view, s, &ladder); s++) {
        int64_t rung;
        ptrdiff_t i = ladder_promote(&ladder, view, &rung);
        if (i >= 0 && rung > farthest) {
            best = i;
            farthest = rung;
        }
    }
    return best;
}

const struct stop_ops stop_hyperband = {
    .name = "hyperband",
    .help = "successive halving that starts at different steps, for when none is known to do",
    .judge = hyperband_judge,
    .promote = hyperband_promote,
    .give_up = ladder_give_up,
};
