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

/* How trials are dealt out. */
struct brackets {
    int64_t most;                     /* the brackets are 0 … most */
    int64_t sizes[MOST_BRACKETS + 1]; /* of every `total` trials, so many each */
    int64_t total, stride;
    struct ladder ladder; /* of bracket `most` */
};

/* False while the length of a whole run is unknown. */
static bool brackets_init(struct brackets *brackets, const struct stop_view *view)
{
    *brackets = (struct brackets){.ladder = ladder_of(view, ETA)};
    struct ladder *ladder = &brackets->ladder;
    if (ladder->last == INT64_MAX)
        return false;
    ladder->last = MIN(ladder->last, LONGEST);
    brackets->most = most_brackets(ladder);
    for (int64_t s = 0; s <= brackets->most; s++) {
        int64_t n = (brackets->most + 1) * power(ladder->eta, s);
        brackets->sizes[s] = (n + s) / (s + 1);
        brackets->total += brackets->sizes[s];
    }
    brackets->stride = stride(brackets->total);
    return true;
}

static int64_t bracket_of(const struct brackets *brackets, int64_t number)
{
    int64_t turn =
        (int64_t)((__int128)(number % brackets->total) * brackets->stride % brackets->total);
    int64_t s = brackets->most;
    while (s > 0 && turn >= brackets->sizes[s])
        turn -= brackets->sizes[s--];
    return s;
}

static bool in_bracket(const struct ladder *ladder, int64_t number)
{
    return bracket_of(ladder->brackets, number) == ladder->bracket;
}

static struct ladder ladder_of_bracket(const struct brackets *brackets, int64_t s)
{
    struct ladder ladder = brackets->ladder;
    ladder.brackets = brackets;
    ladder.bracket = s;
    ladder.has = in_bracket;
    ladder.first = s ? ladder.first * power(ladder.eta, brackets->most - s) : ladder.last;
    return ladder;
}

static void hyperband_judge(const struct stop_view *view, size_t mine, struct stop_verdict *ret)
{
    struct brackets brackets;

    stop_verdict_init(view, mine, ret);
    if (!brackets_init(&brackets, view))
        return;
    int64_t s = bracket_of(&brackets, view->trials[mine].number);
    struct ladder ladder = ladder_of_bracket(&brackets, s);
    ladder_judge(&ladder, view, mine, ret);
}

/* The bracket whose candidate has come farthest is served first. */
static ptrdiff_t hyperband_promote(const struct stop_view *view)
{
    struct brackets brackets;
    ptrdiff_t best = -1;
    int64_t farthest = -1;

    if (!brackets_init(&brackets, view))
        return -1;
    for (int64_t s = 0; s <= brackets.most; s++) {
        struct ladder ladder = ladder_of_bracket(&brackets, s);
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
