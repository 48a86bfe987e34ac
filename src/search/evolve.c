/* SPDX-License-Identifier: MIT */
/*
 * evolve.c — NSGA-II (Deb, Pratap, Agarwal, Meyarivan 2002) in its steady form, for one or several
 * objectives.
 *
 * The population is the best of all results, by front and then by how lonely a result is in its
 * front; each new result enters it and the worst leaves, so nobody waits for a generation. A child
 * has two parents, each the better of two drawn at random. Numbers are crossed by SBX (Deb,
 * Agrawal 1995) and mutated by a polynomial, on the axis of param_to_unit(); choices come from
 * either parent and are drawn anew now and then. What a child needs and its parents did not have
 * (a condition holds now) is drawn.
 *
 * All state follows from the results in their order.
 */
#include "search/draw.h"
#include "search/pareto.h"
#include "search/rank.h"
#include "search/sobol_set.h"

#include <math.h>

#define POPULATION_MIN 12
#define POPULATION_MAX 50
#define CROSSING       0.9  /* chance that parents are crossed at all */
#define CROSS_INDEX    15.0 /* the larger, the nearer to the parents */
#define MUTATE_INDEX   20.0
#define ATTEMPTS       100

struct evolve {
    struct search base; /* first */
    struct sobol_set sobol;
    bool has_prior;
    size_t most, n;                  /* size of the population, and now */
    size_t rows[POPULATION_MAX + 1]; /* its members in the history */
    size_t rank[POPULATION_MAX + 1];
    double crowding[POPULATION_MAX + 1];
    size_t varying; /* parameters with more than one value */
};

static struct evolve *evolve_of(struct search *s)
{
    return (struct evolve *)s;
}

/* A fifth of the budget is for the first population. */
static int evolve_init(struct search *s, struct err *err UNUSED)
{
    struct evolve *e = evolve_of(s);
    int64_t fifth = s->problem.trials / 5;
    e->most = fifth <= 0 ? POPULATION_MAX
                         : MIN(MAX((size_t)fifth, (size_t)POPULATION_MIN), (size_t)POPULATION_MAX);
    sobol_set_init(&e->sobol, s->space, s->problem.seed);
    e->has_prior = draw_has_prior(s->space);
    for (size_t i = 0; i < s->space->n; i++)
        e->varying += param_size(&s->space->params[i]) > 1;
    return 0;
}

static void evolve_release(struct search *s)
{
    sobol_set_release(&evolve_of(s)->sobol);
}

/* ---- the population ---- */

/* Objectives and violation of a member; a failure is worse than any broken constraint. */
static void measure(const struct search *s, size_t row, double *ret_values, double *ret_violation)
{
    const struct history *h = &s->history;
    size_t m = s->problem.n_objectives;
    ret_values[0] = isnan(h->value.at[row]) ? INFINITY : h->value.at[row];
    for (size_t k = 1; k < m; k++) {
        double value = h->others.at[row * (m - 1) + k - 1];
        ret_values[k] = isnan(value) ? INFINITY : value;
    }
    *ret_violation = h->kind.at[row] == RESULT_FAILED ? INFINITY : rank_violation(s, row);
}

static void rate(struct evolve *e)
{
    size_t m = e->base.problem.n_objectives, front[POPULATION_MAX + 1];
    double crowding[POPULATION_MAX + 1], violation[POPULATION_MAX + 1];
    autofree(mem) double *values = xcalloc(e->n * m + 1, sizeof(*values));
    for (size_t i = 0; i < e->n; i++)
        measure(&e->base, e->rows[i], values + i * m, &violation[i]);
    size_t ranks = pareto_sort(values, violation, e->n, m, e->rank);
    for (size_t r = 0; r < ranks; r++) {
        size_t len = 0;
        for (size_t i = 0; i < e->n; i++)
            if (e->rank[i] == r)
                front[len++] = i;
        pareto_crowding(values, front, len, m, crowding);
        for (size_t k = 0; k < len; k++)
            e->crowding[front[k]] = crowding[k];
    }
}

/* Of equal ones the newer is fitter: the old ones had their chance. */
static bool is_fitter(const struct evolve *e, size_t a, size_t b)
{
    if (e->rank[a] != e->rank[b])
        return e->rank[a] < e->rank[b];
    if (e->crowding[a] != e->crowding[b])
        return e->crowding[a] > e->crowding[b];
    return e->rows[a] > e->rows[b];
}

/* The place of the member that is replaced (1 + its row), or a new one. */
static size_t find_member(const struct evolve *e, size_t replaces)
{
    size_t at = 0;
    while (at < e->n && e->rows[at] + 1 != replaces)
        at++;
    return at;
}

static void evolve_told(struct search *s)
{
    struct evolve *e = evolve_of(s);
    size_t row = s->history.n - 1, at = find_member(e, s->history.replaces.at[row]);
    e->rows[at] = row;
    e->n = MAX(e->n, at + 1);
    rate(e);
    if (e->n <= e->most)
        return;
    size_t worst = 0;
    for (size_t i = 1; i < e->n; i++)
        if (is_fitter(e, worst, i))
            worst = i;
    e->n--;
    memmove(e->rows + worst, e->rows + worst + 1, (e->n - worst) * sizeof(*e->rows));
    rate(e);
}

/* ---- children ---- */

static const double *draw_parent(const struct evolve *e, struct rng *rng)
{
    size_t a = rng_below(rng, e->n), b = rng_below(rng, e->n);
    return history_x(&e->base.history, e->rows[is_fitter(e, a, b) ? a : b]);
}

static double clamp(double u)
{
    return fmin(fmax(u, 0), 1);
}

/* Simulated binary crossover: as far from the parents as one-point crossover of bits would be. */
static double cross_number(double a, double b, struct rng *rng)
{
    double u = rng_unit(rng), power = 1 / (CROSS_INDEX + 1);
    double spread = u < 0.5 ? pow(2 * u, power) : pow(1 / (2 * (1 - u)), power);
    return clamp(0.5 * ((1 + spread) * a + (1 - spread) * b));
}

static double mutate_number(double a, struct rng *rng)
{
    double u = rng_unit(rng), power = 1 / (MUTATE_INDEX + 1);
    double by = u < 0.5 ? pow(2 * u, power) - 1 : 1 - pow(2 * (1 - u), power);
    return clamp(a + by);
}

/* The value of one parameter from those of the parents, of which one may be inactive. */
static double inherit(const struct param *param, double a, double b, bool crossed, double mutation,
                      struct rng *rng)
{
    bool mutated = rng_unit(rng) < mutation, swapped = crossed && rng_unit(rng) < 0.5;
    double mine = swapped ? b : a, other = swapped ? a : b;
    if (isnan(mine))
        mine = other;
    if (isnan(mine) || (mutated && param->type == PARAM_CHOICE && !param->ordered))
        return draw_param(param, true, rng);
    if (param->type == PARAM_CHOICE && !param->ordered)
        return mine;
    double u = param_to_unit(param, mine);
    if (crossed && !isnan(other) && rng_unit(rng) < 0.5)
        u = cross_number(u, param_to_unit(param, other), rng);
    if (mutated)
        u = mutate_number(u, rng);
    return !mutated && u == param_to_unit(param, mine) ? mine : param_from_unit(param, u);
}

static void breed(const struct evolve *e, double mutation, struct rng *rng, double *ret_x)
{
    const struct space *space = e->base.space;
    const double *a = draw_parent(e, rng), *b = draw_parent(e, rng);
    bool crossed = rng_unit(rng) < CROSSING;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        ret_x[i] =
            param_active(param, ret_x) ? inherit(param, a[i], b[i], crossed, mutation, rng) : NAN;
    }
}

static void sobol_point(const struct search *s, uint64_t number, double *ret_x)
{
    sobol_set_point(&((const struct evolve *)s)->sobol, number, ret_x);
}

static int evolve_ask(struct search *s, struct suggestion *ret, struct err *err)
{
    struct evolve *e = evolve_of(s);
    struct rng rng = search_rng(s, 1);
    double mutation = 1 / (double)MAX(e->varying, (size_t)1);
    uint64_t number = s->asks;

    if (e->n == 0 || s->history.n + s->history.n_pending < e->most)
        return e->has_prior ? draw_random(s, &rng, true, ret->x, err)
                            : draw_fresh(s, sobol_point, &number, ret->x, err);
    for (int i = 0; i < ATTEMPTS; i++) {
        breed(e, fmin(mutation, 1), &rng, ret->x);
        if (draw_is_fresh(s, ret->x)) {
            ret->why = WHY_BREED;
            return 0;
        }
        mutation *= 1.1; /* a finite space: look further and further */
    }
    return draw_random(s, &rng, true, ret->x, err);
}

const struct search_ops search_evolve = {
    .name = "evolve",
    .help = "evolution (NSGA-II): one or several objectives, many trials",
    .size = sizeof(struct evolve),
    .init = evolve_init,
    .ask = evolve_ask,
    .told = evolve_told,
    .release = evolve_release,
    .several = true,
    .light = true,
};
