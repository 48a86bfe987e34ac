/* SPDX-License-Identifier: MIT */
/*
 * tpe.c — tree-structured Parzen estimation (Bergstra, Bardenet, Bengio, Kégl 2011), multivariate,
 * with the settings of Optuna 5.
 *
 * The results are split: the best tenth, at most 25, is good, all others are bad, and so is what is
 * in flight, which keeps parallel asks apart. Each side has a density (parzen.h); 24 settings are
 * drawn from the good one, and the one where it exceeds the bad one most is given out.
 *
 * Old bad results fade: 25 count in full, those before them less and less; beyond WINDOW results
 * they are forgotten. With several objectives the good are taken front by front, from the last one
 * those that cover most volume together.
 */
#include "search/draw.h"
#include "search/pareto.h"
#include "search/parzen.h"
#include "search/rank.h"
#include "search/sobol_set.h"

#include <math.h>

#define STARTUP      10 /* draws without a model */
#define CANDIDATES   24
#define ATTEMPTS     10 /* draws a candidate, until it is fresh */
#define GOOD_MAX     25
#define GOOD_SEVERAL 100
#define WINDOW       2048 /* newest results that can be bad */
#define FRESH        25   /* of them count in full */
#define PENDING_MAX  256

struct tpe {
    struct search base; /* first */
    struct sobol_set sobol;
    bool has_prior;
    struct parzen good, bad;      /* rows of `bad` are in slot row % WINDOW */
    size_t members[GOOD_SEVERAL]; /* rows that are good, by slot in `good` */
    size_t n_good;
    size_t split_at; /* several objectives: results when it was split */
};

static struct tpe *tpe_of(struct search *s)
{
    return (struct tpe *)s;
}

static int tpe_init(struct search *s, struct err *err UNUSED)
{
    struct tpe *tpe = tpe_of(s);
    sobol_set_init(&tpe->sobol, s->space, s->problem.seed);
    parzen_init(&tpe->good, s->space);
    parzen_init(&tpe->bad, s->space);
    for (size_t i = 0; i < s->space->n; i++)
        tpe->has_prior |= s->space->params[i].prior.weights || s->space->params[i].prior.sd > 0;
    return 0;
}

static void tpe_release(struct search *s)
{
    struct tpe *tpe = tpe_of(s);
    sobol_set_release(&tpe->sobol);
    parzen_release(&tpe->good);
    parzen_release(&tpe->bad);
}

/* ---- which results are good ---- */

static size_t good_wanted(size_t n, size_t most)
{
    return MIN((n + 9) / 10, most);
}

static void make_good(struct tpe *tpe, size_t slot, size_t row)
{
    tpe->members[slot] = row;
    parzen_add(&tpe->good, slot, history_x(&tpe->base.history, row));
}

static void make_bad(struct tpe *tpe, size_t row)
{
    if (row + WINDOW >= tpe->base.history.n)
        parzen_add(&tpe->bad, row % WINDOW, history_x(&tpe->base.history, row));
}

static bool is_bad(const struct tpe *tpe, size_t row)
{
    size_t slot = row % WINDOW;
    return slot < tpe->bad.slots && tpe->bad.weight[slot] > 0;
}

/* The best of the bad rows; SIZE_MAX if none may be good. */
static size_t best_bad(const struct tpe *tpe)
{
    const struct search *s = &tpe->base;
    size_t n = s->history.n, best = SIZE_MAX;
    for (size_t row = n > WINDOW ? n - WINDOW : 0; row < n; row++)
        if (is_bad(tpe, row) && s->history.kind.at[row] != RESULT_FAILED &&
            (best == SIZE_MAX || rank_better(s, row, best)))
            best = row;
    return best;
}

static size_t worst_good(const struct tpe *tpe)
{
    size_t worst = 0;
    for (size_t k = 1; k < tpe->n_good; k++)
        if (rank_better(&tpe->base, tpe->members[worst], tpe->members[k]))
            worst = k;
    return worst;
}

/* One objective: a new row makes one more good, or takes the place of the worst good one. */
static void split_by_value(struct tpe *tpe, size_t row)
{
    struct search *s = &tpe->base;
    size_t best;
    make_bad(tpe, row);
    if (tpe->n_good < good_wanted(s->history.n, GOOD_MAX)) {
        best = best_bad(tpe);
        if (best == SIZE_MAX)
            return;
        parzen_remove(&tpe->bad, best % WINDOW);
        make_good(tpe, tpe->n_good++, best);
        return;
    }
    size_t worst = worst_good(tpe), old = tpe->members[worst];
    if (s->history.kind.at[row] == RESULT_FAILED || !rank_better(s, row, old))
        return;
    parzen_remove(&tpe->bad, row % WINDOW);
    parzen_remove(&tpe->good, worst);
    make_good(tpe, worst, row);
    make_bad(tpe, old);
}

/* A row leaves the window when the next with its slot comes. */
static void forget_oldest(struct tpe *tpe, size_t row)
{
    if (row >= WINDOW && is_bad(tpe, row))
        parzen_remove(&tpe->bad, row % WINDOW);
}

/* A trial has told more: what it told before is neither good nor bad. */
static void forget_replaced(struct tpe *tpe, size_t row)
{
    size_t k = 0;
    while (k < tpe->n_good && tpe->members[k] != row)
        k++;
    if (k == tpe->n_good) {
        if (row + WINDOW >= tpe->base.history.n && is_bad(tpe, row))
            parzen_remove(&tpe->bad, row % WINDOW);
        return;
    }
    size_t last = --tpe->n_good, moved = tpe->members[last];
    parzen_remove(&tpe->good, last);
    if (k == last)
        return;
    parzen_remove(&tpe->good, k);
    make_good(tpe, k, moved);
}

static void tpe_told(struct search *s)
{
    struct tpe *tpe = tpe_of(s);
    size_t row = s->history.n - 1, old = s->history.replaces.at[row];
    forget_oldest(tpe, row);
    if (old)
        forget_replaced(tpe, old - 1);
    if (s->problem.n_objectives == 1)
        split_by_value(tpe, row);
    else
        make_bad(tpe, row);
}

/* The objectives of the window's rows, worst where there is no value; how many have one. */
static size_t collect(const struct search *s, size_t from, double *values, double *violation)
{
    const struct history *h = &s->history;
    size_t m = s->problem.n_objectives, n = h->n - from, usable = 0;
    for (size_t i = 0; i < n; i++) {
        size_t row = from + i;
        bool failed = h->kind.at[row] == RESULT_FAILED || h->replaced.at[row];
        values[i * m] = isnan(h->value.at[row]) ? INFINITY : h->value.at[row];
        for (size_t k = 1; k < m; k++) {
            double value = h->others.at[row * (m - 1) + k - 1];
            values[i * m + k] = isnan(value) ? INFINITY : value;
        }
        violation[i] = failed ? INFINITY : rank_violation(s, row);
        usable += !failed;
    }
    return usable;
}

/* Of the rows in `rank`, those that cover most; appended to `ret`. */
static size_t take_front(const double *values, const size_t *rank, size_t n, size_t m, size_t which,
                         size_t room, size_t *ret)
{
    autofree(mem) size_t *rows = xcalloc(2 * n + 1, sizeof(*rows));
    autofree(mem) double *front = xcalloc(n * m + 1, sizeof(*front));
    autofree(mem) double *reference = xcalloc(m, sizeof(*reference));
    size_t len = 0, *chosen = rows + n;
    for (size_t i = 0; i < n; i++)
        if (rank[i] == which) {
            memcpy(front + len * m, values + i * m, m * sizeof(*front));
            rows[len++] = i;
        }
    if (len <= room) {
        memcpy(ret, rows, len * sizeof(*rows));
        return len;
    }
    pareto_reference(front, len, m, reference);
    len = pareto_subset(front, len, m, reference, room, chosen);
    for (size_t i = 0; i < len; i++)
        ret[i] = rows[chosen[i]];
    return len;
}

/* Several objectives: the window is split anew. */
static void split_by_fronts(struct tpe *tpe)
{
    struct search *s = &tpe->base;
    size_t n = MIN(s->history.n, (size_t)WINDOW), from = s->history.n - n;
    size_t m = s->problem.n_objectives, good[GOOD_SEVERAL], len = 0;
    autofree(mem) double *values = xcalloc(n * (m + 1) + 1, sizeof(*values));
    autofree(mem) size_t *rank = xcalloc(n + 1, sizeof(*rank));
    if (tpe->split_at == s->history.n)
        return;
    size_t usable = collect(s, from, values, values + n * m);
    size_t wanted = MIN(good_wanted(n, GOOD_SEVERAL), usable);
    size_t ranks = pareto_sort(values, values + n * m, n, m, rank);
    for (size_t r = 0; r < ranks && len < wanted; r++)
        len += take_front(values, rank, n, m, r, wanted - len, good + len);

    for (size_t k = 0; k < tpe->n_good; k++) {
        parzen_remove(&tpe->good, k);
        make_bad(tpe, tpe->members[k]);
    }
    for (size_t k = 0; k < len; k++) {
        parzen_remove(&tpe->bad, (from + good[k]) % WINDOW);
        make_good(tpe, k, from + good[k]);
    }
    tpe->n_good = len;
    tpe->split_at = s->history.n;
}

/* ---- asking ---- */

/* Rising from 1/n to 1, the newest FRESH in full. `pending` rows are the newest of all. */
static void set_weights(struct tpe *tpe, size_t pending)
{
    size_t n = tpe->base.history.n, first = n > WINDOW ? n - WINDOW : 0, count = pending, age = 0;
    for (size_t row = first; row < n; row++)
        count += is_bad(tpe, row);
    for (size_t row = first; row < n; row++) {
        if (!is_bad(tpe, row))
            continue;
        double ramp = count > FRESH + 1 ? (double)age / (double)(count - FRESH - 1) : 1;
        double low = 1 / (double)count;
        tpe->bad.weight[row % WINDOW] = ramp < 1 ? low + (1 - low) * ramp : 1;
        age++;
    }
}

/* What is in flight is bad for the moment: in the slots after those of the window. */
static size_t add_pending(struct tpe *tpe)
{
    const struct history *h = &tpe->base.history;
    size_t pending = MIN(h->n_pending, (size_t)PENDING_MAX), skip = h->n_pending - pending;
    size_t from = MIN(h->n, (size_t)WINDOW);
    for (size_t k = 0; k < pending; k++)
        parzen_add(&tpe->bad, from + k, h->pending.at + (skip + k) * h->d);
    return pending;
}

static void remove_pending(struct tpe *tpe, size_t pending)
{
    size_t from = MIN(tpe->base.history.n, (size_t)WINDOW);
    for (size_t k = pending; k-- > 0;)
        parzen_remove(&tpe->bad, from + k);
}

/* The best of fresh candidates; false if none was found. */
static bool find_best(struct tpe *tpe, struct rng *rng, struct suggestion *ret)
{
    size_t d = tpe->base.space->n, found = 0;
    autofree(mem) double *x = xcalloc(d + 1, sizeof(*x));
    for (int i = 0; i < CANDIDATES * ATTEMPTS && found < CANDIDATES; i++) {
        parzen_draw(&tpe->good, rng, x);
        if (!draw_is_fresh(&tpe->base, x))
            continue;
        double score = parzen_log_density(&tpe->good, x) - parzen_log_density(&tpe->bad, x);
        if (found++ == 0 || score > ret->acquisition) {
            ret->acquisition = score;
            memcpy(ret->x, x, d * sizeof(*x));
        }
    }
    return found > 0;
}

static void sobol_point(const struct search *s, uint64_t number, double *ret_x)
{
    sobol_set_point(&((const struct tpe *)s)->sobol, number, ret_x);
}

/* Before there is a model, or when the space is nearly full. */
static int draw_any(struct tpe *tpe, struct rng *rng, double *ret_x, struct err *err)
{
    uint64_t number = tpe->base.asks;
    return tpe->has_prior ? draw_random(&tpe->base, rng, true, ret_x, err)
                          : draw_fresh(&tpe->base, sobol_point, &number, ret_x, err);
}

static int tpe_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    struct tpe *tpe = tpe_of(s);
    struct rng rng = search_rng(s, 1);

    if (s->history.n == 0 || s->history.n + s->history.n_pending < STARTUP)
        return draw_any(tpe, &rng, ret->x, err);
    if (s->problem.n_objectives > 1)
        split_by_fronts(tpe);
    size_t pending = add_pending(tpe);
    set_weights(tpe, pending);
    parzen_prepare(&tpe->good);
    parzen_prepare(&tpe->bad);
    bool found = find_best(tpe, &rng, ret);
    remove_pending(tpe, pending);
    if (!found)
        return draw_any(tpe, &rng, ret->x, err);
    ret->why = WHY_MODEL;
    return 0;
}

const struct search_ops search_tpe = {
    .name = "tpe",
    .help = "tree-structured Parzen estimation: fast at any number of results",
    .size = sizeof(struct tpe),
    .init = tpe_init,
    .ask = tpe_ask,
    .told = tpe_told,
    .release = tpe_release,
    .several = true,
    .light = true,
};
