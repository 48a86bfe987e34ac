/* SPDX-License-Identifier: MIT */
/*
 * cmaes.c — CMA-ES over mixed spaces, with restarts.
 *
 * Numbers (and ordered choices) are coordinates of cma.h. Other choices have a probability a value
 * each, which moves towards those of the best (Hamano et al. 2024). So that neither gets stuck, a
 * whole number leaves the cell of the mean, and a choice its favourite, with a chance of at
 * least `margin` (Hamano et al. 2022).
 *
 * A generation ends when λ results are in, whoever asked for them; any number may be in flight.
 * When it is spent or has not improved for long, it starts again at a random place with twice the λ
 * (IPOP, Auger and Hansen 2005). All state follows from the results in their order.
 */
#include "linalg/linalg.h"
#include "search/cma.h"
#include "search/draw.h"
#include "search/encode.h"
#include "search/rank.h"

#include <math.h>

#define START_SIGMA 0.25
#define INSIDE      10 /* draws until a point lies in the cube; then it is clamped */
#define ATTEMPTS    60 /* points until one is fresh */
#define LAMBDA_MAX  1000

struct cmaes {
    struct search base; /* first */
    struct encoder encoder;
    size_t *coordinate; /* (encoder.d) of cma, or SIZE_MAX: a choice */
    double **chances;   /* (encoder.d) of the values of a choice; NULL: a number */
    struct cma cma;     /* d 0: all are choices */
    size_t first_lambda, lambda, n_choices;
    double margin;
    size_t begin; /* first row of this generation */
    size_t best;  /* row of this run; SIZE_MAX: none yet */
    size_t stale; /* generations without a better one */
    uint64_t restarts;
};

static struct cmaes *cmaes_of(struct search *s)
{
    return (struct cmaes *)s;
}

static const struct param *param_of(const struct cmaes *c, size_t j)
{
    return &c->base.space->params[c->encoder.param[j]];
}

/* ---- runs ---- */

static void reset_chances(struct cmaes *c)
{
    for (size_t j = 0; j < c->encoder.d; j++) {
        const struct param *param = param_of(c, j);
        for (size_t k = 0; c->chances[j] && k < param->n_choices; k++)
            c->chances[j][k] = param->prior.weights && c->restarts == 0
                                   ? param->prior.weights[k]
                                   : 1 / (double)param->n_choices;
    }
}

/* The first run starts in the middle, or where the user expects the best; others anywhere. */
static void begin_run(struct cmaes *c)
{
    size_t d = c->encoder.d - c->n_choices;
    autofree(mem) double *mean = xcalloc(2 * d + 1, sizeof(*mean));
    double *wide = mean + d;
    struct rng rng;
    rng_init(&rng, hash_u64(c->base.problem.seed ^ 0xc3a), c->restarts);
    c->lambda = MIN(c->first_lambda << MIN(c->restarts, (uint64_t)16), (size_t)LAMBDA_MAX);
    for (size_t j = 0; j < c->encoder.d; j++) {
        const struct prior *prior = &param_of(c, j)->prior;
        size_t i = c->coordinate[j];
        if (i == SIZE_MAX)
            continue;
        bool expected = prior->sd > 0 && c->restarts == 0;
        mean[i] = c->restarts ? rng_unit(&rng) : 0.5;
        mean[i] = expected ? fmin(fmax(prior->mean, 0), 1) : mean[i];
        wide[i] = expected ? fmin(fmax(prior->sd / START_SIGMA, 0.05), 2) : 1;
    }
    cma_release(&c->cma);
    if (d)
        cma_init(&c->cma, d, c->lambda, mean, START_SIGMA, wide);
    reset_chances(c);
    c->best = SIZE_MAX;
    c->stale = 0;
}

static int cmaes_init(struct search *s, struct err *err)
{
    struct cmaes *c = cmaes_of(s);
    int r = linalg_open(err);
    if (r < 0)
        return r;
    encoder_init(&c->encoder, s->space);
    size_t d = c->encoder.d, next = 0;
    c->coordinate = xcalloc(d + 1, sizeof(*c->coordinate));
    c->chances = xcalloc(d + 1, sizeof(*c->chances));
    for (size_t j = 0; j < d; j++) {
        c->coordinate[j] = c->encoder.category[j] ? SIZE_MAX : next++;
        if (c->encoder.category[j])
            c->chances[j] = xcalloc(param_of(c, j)->n_choices, sizeof(double));
    }
    c->n_choices = d - next;
    c->first_lambda = 4 + (size_t)(3 * log((double)MAX(d, (size_t)1)));
    c->margin = 1 / ((double)c->first_lambda * (double)MAX(d, (size_t)1));
    begin_run(c);
    return 0;
}

static void cmaes_release(struct search *s)
{
    struct cmaes *c = cmaes_of(s);
    for (size_t j = 0; c->chances && j < c->encoder.d; j++)
        free(c->chances[j]);
    free(c->chances);
    free(c->coordinate);
    cma_release(&c->cma);
    encoder_release(&c->encoder);
}

/* ---- learning ---- */

static int by_rank(const void *a, const void *b, void *arg)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x == y ? 0 : rank_better(arg, x, y) ? -1 : 1;
}

/* A coordinate that was inactive says nothing: it stays at the mean. */
static void learn_numbers(struct cmaes *c, const size_t *rows)
{
    size_t d = c->cma.d;
    if (d == 0)
        return;
    autofree(mem) double *best = xcalloc(c->cma.mu * d, sizeof(*best));
    for (size_t k = 0; k < c->cma.mu; k++)
        for (size_t j = 0; j < c->encoder.d; j++) {
            size_t i = c->coordinate[j];
            double x = history_x(&c->base.history, rows[k])[c->encoder.param[j]];
            if (i != SIZE_MAX)
                best[k * d + i] = isnan(x) ? c->cma.mean[i] : param_to_unit(param_of(c, j), x);
        }
    cma_update(&c->cma, best);
}

/* Move the chances towards the better half; a value never becomes impossible. */
static void learn_choice(struct cmaes *c, size_t j, const size_t *rows)
{
    const struct param *param = param_of(c, j);
    double *chances = c->chances[j], n = (double)param->n_choices, sum = 0;
    size_t mu = c->lambda / 2;
    double rate = fmin(0.5, (double)mu / ((double)mu + n)), least = fmin(c->margin, 0.5 / n);
    for (size_t k = 0; k < mu; k++) {
        double x = history_x(&c->base.history, rows[k])[c->encoder.param[j]];
        double weight = 2 * (double)(mu - k) / (double)(mu * (mu + 1));
        for (size_t v = 0; !isnan(x) && v < param->n_choices; v++)
            chances[v] += rate * weight * ((v == (size_t)x) - chances[v]);
    }
    for (size_t v = 0; v < param->n_choices; v++)
        sum += chances[v] = fmax(chances[v], least);
    for (size_t v = 0; v < param->n_choices; v++)
        chances[v] /= sum;
}

static bool is_over(const struct cmaes *c)
{
    size_t d = c->encoder.d;
    return (c->cma.d && cma_is_spent(&c->cma)) || c->stale > 20 + 30 * d / c->lambda;
}

/* The row where the trial of this one told first. */
static size_t first_row(const struct history *h, size_t row)
{
    while (h->replaces.at[row])
        row = h->replaces.at[row] - 1;
    return row;
}

/* The rows of this generation: each trial once, and none that an earlier one has learned from. */
static size_t list_generation(const struct cmaes *c, size_t *ret_rows)
{
    const struct history *h = &c->base.history;
    size_t n = 0;
    for (size_t row = c->begin; row < h->n; row++)
        if (!h->replaced.at[row] && first_row(h, row) >= c->begin)
            ret_rows[n++] = row;
    return n;
}

static void end_generation(struct cmaes *c, size_t *rows, size_t n)
{
    struct search *s = &c->base;
    qsort_r(rows, n, sizeof(*rows), by_rank, s);
    learn_numbers(c, rows);
    for (size_t j = 0; j < c->encoder.d; j++)
        if (c->chances[j])
            learn_choice(c, j, rows);
    bool better = c->best == SIZE_MAX || rank_better(s, rows[0], c->best);
    c->best = better ? rows[0] : c->best;
    c->stale = better ? 0 : c->stale + 1;
    c->begin = s->history.n;
    if (!is_over(c))
        return;
    c->restarts++;
    begin_run(c);
}

static void cmaes_told(struct search *s)
{
    struct cmaes *c = cmaes_of(s);
    size_t row = s->history.n - 1, n = s->history.n - c->begin;
    if (s->history.replaces.at[row] && s->history.replaces.at[row] - 1 == c->best)
        c->best = row;
    if (n < c->lambda)
        return;
    autofree(mem) size_t *rows = xcalloc(n, sizeof(*rows));
    n = list_generation(c, rows);
    if (n >= c->lambda)
        end_generation(c, rows, n);
}

/* ---- asking ---- */

static double draw_choice(const double *chances, size_t n, struct rng *rng)
{
    double u = rng_unit(rng);
    size_t k = 0;
    while (k + 1 < n && (u -= chances[k]) >= 0)
        k++;
    return (double)k;
}

/* If nearly all draws would give the value at the mean, give its neighbours their margin. */
static double leave_cell(const struct cmaes *c, size_t j, double x, struct rng *rng)
{
    const struct param *param = param_of(c, j);
    double size = param_size(param), at = param_index(param, x),
           side = rng_unit(rng) < 0.5 ? -1 : 1;
    double mean = c->cma.mean[c->coordinate[j]];
    if (isinf(size) || at != param_index(param, param_from_unit(param, mean)))
        return x;
    if (rng_unit(rng) >= c->margin)
        return x;
    at += at + side < 0 || at + side > size - 1 ? -side : side;
    return param_value_at(param, at);
}

static void draw_point(const struct cmaes *c, double reach, double *unit, struct rng *rng,
                       double *ret_x)
{
    const struct space *space = c->base.space;
    bool inside = c->cma.d == 0;
    for (int i = 0; i < INSIDE && !inside; i++) {
        cma_draw(&c->cma, reach, rng, unit);
        inside = true;
        for (size_t k = 0; k < c->cma.d; k++)
            inside &= unit[k] >= 0 && unit[k] <= 1;
    }
    for (size_t i = 0; i < space->n; i++)
        ret_x[i] = param_value_at(&space->params[i], 0);
    for (size_t j = 0; j < c->encoder.d; j++) {
        const struct param *param = param_of(c, j);
        double *x = &ret_x[c->encoder.param[j]];
        if (c->chances[j]) {
            *x = draw_choice(c->chances[j], param->n_choices, rng);
        } else {
            *x = param_from_unit(param, fmin(fmax(unit[c->coordinate[j]], 0), 1));
            *x = leave_cell(c, j, *x, rng);
        }
    }
    space_settle(space, ret_x);
}

static int cmaes_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    struct cmaes *c = cmaes_of(s);
    struct rng rng = search_rng(s, 1);
    autofree(mem) double *unit = xcalloc(c->cma.d + 1, sizeof(*unit));
    double reach = 1;

    for (int i = 0; i < ATTEMPTS; i++) {
        draw_point(c, reach, unit, &rng, ret->x);
        if (draw_is_fresh(s, ret->x)) {
            ret->why = WHY_BREED;
            return 0;
        }
        reach *= 1.05; /* a finite space: look further and further */
    }
    return draw_random(s, &rng, true, ret->x, err);
}

const struct search_ops search_cmaes = {
    .name = "cmaes",
    .help = "evolution strategy with an adapted covariance: many trials, few choices",
    .size = sizeof(struct cmaes),
    .init = cmaes_init,
    .ask = cmaes_ask,
    .told = cmaes_told,
    .release = cmaes_release,
    .light = true,
};
