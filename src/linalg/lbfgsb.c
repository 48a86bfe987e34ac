/* SPDX-License-Identifier: MIT */
/*
 * lbfgsb.c — projected L-BFGS over many starts at once.
 *
 *     round:  each live start names the one point that it wants to know ──► one call of fn
 *             ──► each start takes its row, steps on or shortens its step
 *
 * A start is a small state machine, so its path is the same to the bit whatever runs beside it. Per
 * iteration: variables at a bound whose gradient pushes outward are held; the two-loop recursion
 * (Nocedal 1980) over the others gives the direction; the step is searched backwards along the
 * path projected into the box until it decreases enough (Armijo). A pair that shows no curvature is
 * not stored, so the implied Hessian stays positive definite. Whatever goes wrong with the
 * direction, the start forgets its pairs and takes the projected gradient, which always descends.
 *
 * Invariant: x is inside the box, f is its finite value and the lowest seen on this path.
 */
#include "linalg/lbfgsb.h"

#include <float.h>
#include <math.h>

#define ENOUGH      1e-4  /* Armijo: share of the decrease that the gradient promises */
#define CURVATURE   1e-10 /* least sᵀy/(‖s‖‖y‖) of a stored pair */
#define SHORTEN_MAX 30    /* backward steps in one search */

struct start {
    double *x, *g;           /* (d) where it stands */
    double *to, *to_g, to_f; /* (d) the point asked for and what came back */
    double *direction;       /* (d) */
    double *s, *y;           /* (memory, d) rings of steps and gradient changes */
    double *rho;             /* (memory) 1/sᵀy, set by the recursion */
    double *weight;          /* (memory) */
    double f, step, reach;
    size_t pairs, next; /* pairs stored; where the next goes */
    size_t calls, iterations, shortened;
    bool done;
};

struct box {
    const double *low, *high; /* (d) */
    size_t d;
    struct lbfgsb_options options; /* no zeros left */
};

static double clamp(const struct box *box, size_t i, double x)
{
    return !(x > box->low[i]) ? box->low[i] : x > box->high[i] ? box->high[i] : x;
}

/* Is variable i held: at a bound, with a gradient (or direction −g) that pushes outward? */
static bool is_held(const struct box *box, const struct start *a, size_t i)
{
    return (a->x[i] <= box->low[i] && a->g[i] >= 0) || (a->x[i] >= box->high[i] && a->g[i] <= 0);
}

static double projected_gradient(const struct box *box, const struct start *a)
{
    double largest = 0;
    for (size_t i = 0; i < box->d; i++)
        largest = fmax(largest, fabs(clamp(box, i, a->x[i] - a->g[i]) - a->x[i]));
    return largest;
}

/* Products over the free variables: those whose direction is not held at 0. */
static double free_dot(const struct box *box, const struct start *a, const double *p,
                       const double *q)
{
    double sum = 0;
    for (size_t i = 0; i < box->d; i++)
        if (!is_held(box, a, i))
            sum += p[i] * q[i];
    return sum;
}

static double dot(const double *p, const double *q, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += p[i] * q[i];
    return sum;
}

/* The ring's k-th newest pair. */
static size_t pair_at(const struct box *box, const struct start *a, size_t k)
{
    return (a->next + box->options.memory - 1 - k) % box->options.memory;
}

static void add_free(const struct box *box, const struct start *a, double factor, const double *p,
                     double *q)
{
    for (size_t i = 0; i < box->d; i++)
        if (!is_held(box, a, i))
            q[i] += factor * p[i];
}

/* direction := H·direction over the free variables. A pair without curvature there is passed over
 * (rho 0). */
static void two_loops(const struct box *box, struct start *a)
{
    double scale = 0, *q = a->direction;
    for (size_t k = 0; k < a->pairs; k++) {
        size_t p = pair_at(box, a, k);
        const double *s = a->s + p * box->d, *y = a->y + p * box->d;
        double sy = free_dot(box, a, s, y), yy = free_dot(box, a, y, y);
        a->rho[p] = sy > DBL_EPSILON * yy ? 1 / sy : 0;
        if (a->rho[p] == 0)
            continue;
        if (scale == 0)
            scale = sy / yy;
        a->weight[p] = a->rho[p] * free_dot(box, a, s, q);
        add_free(box, a, -a->weight[p], y, q);
    }
    for (size_t i = 0; scale > 0 && i < box->d; i++)
        q[i] *= scale;
    for (size_t k = a->pairs; k-- > 0;) {
        size_t p = pair_at(box, a, k);
        const double *s = a->s + p * box->d, *y = a->y + p * box->d;
        if (a->rho[p] > 0)
            add_free(box, a, a->weight[p] - a->rho[p] * free_dot(box, a, y, q), s, q);
    }
}

static void set_downhill(const struct box *box, struct start *a)
{
    for (size_t i = 0; i < box->d; i++)
        a->direction[i] = is_held(box, a, i) ? 0 : -a->g[i];
}

/* A variable at its bound cannot follow a direction that leaves the box. */
static void cut_direction(const struct box *box, struct start *a)
{
    for (size_t i = 0; i < box->d; i++)
        if ((a->x[i] <= box->low[i] && a->direction[i] < 0) ||
            (a->x[i] >= box->high[i] && a->direction[i] > 0))
            a->direction[i] = 0;
}

/* Aim at the point one step along the projected path; false if that is where it stands. */
static bool aim(const struct box *box, struct start *a)
{
    bool moves = false;
    for (size_t i = 0; i < box->d; i++) {
        a->to[i] =
            a->direction[i] == 0 ? a->x[i] : clamp(box, i, a->x[i] + a->step * a->direction[i]);
        moves |= a->to[i] != a->x[i];
    }
    return moves;
}

static void take_gradient(const struct box *box, struct start *a)
{
    a->pairs = 0;
    set_downhill(box, a);
    double length = 0;
    for (size_t i = 0; i < box->d; i++)
        length = fmax(length, fabs(a->direction[i]));
    a->step = fmin(1, 1 / length) * a->reach;
    if (!(length > 0) || !aim(box, a))
        a->done = true;
}

/* Choose a direction and the first step of its search. */
static void set_out(const struct box *box, struct start *a)
{
    a->shortened = 0;
    if (projected_gradient(box, a) <= box->options.gradient_tol) {
        a->done = true;
        return;
    }
    if (a->pairs == 0) {
        take_gradient(box, a);
        return;
    }
    set_downhill(box, a);
    two_loops(box, a);
    cut_direction(box, a);
    a->step = 1;
    double slope = dot(a->g, a->direction, box->d);
    if (!(slope < 0) || !isfinite(slope) || !aim(box, a))
        take_gradient(box, a);
}

/* Keep (s, y) if it shows curvature; the steepest step may reach further if it does not. */
static void store_pair(const struct box *box, struct start *a)
{
    double *s = a->s + a->next * box->d, *y = a->y + a->next * box->d;
    for (size_t i = 0; i < box->d; i++) {
        s[i] = a->to[i] - a->x[i];
        y[i] = a->to_g[i] - a->g[i];
    }
    double sy = dot(s, y, box->d);
    double size = sqrt(dot(s, s, box->d)) * sqrt(dot(y, y, box->d));
    if (!(sy > CURVATURE * size) || !isfinite(size)) {
        a->reach = fmin(a->reach * 2, 1e12);
        return;
    }
    a->reach = 1;
    a->next = (a->next + 1) % box->options.memory;
    a->pairs = MIN(a->pairs + 1, box->options.memory);
}

static void accept(const struct box *box, struct start *a)
{
    double gain = a->f - a->to_f, size = fmax(fmax(fabs(a->f), fabs(a->to_f)), 1);
    store_pair(box, a);
    memcpy(a->x, a->to, box->d * sizeof(*a->x));
    memcpy(a->g, a->to_g, box->d * sizeof(*a->g));
    a->f = a->to_f;
    if (++a->iterations >= box->options.max_iterations || gain <= box->options.value_tol * size)
        a->done = true;
    else
        set_out(box, a);
}

/* The minimum of the parabola through what is known, within a tenth and a half of the step. */
static void shorten(const struct box *box, struct start *a, double promise)
{
    double factor = 0.25;
    if (isfinite(a->to_f) && promise < 0)
        factor = fmin(fmax(-promise / (2 * (a->to_f - a->f - promise)), 0.1), 0.5);
    a->step *= factor;
    if (++a->shortened <= SHORTEN_MAX && aim(box, a))
        return;
    if (a->pairs == 0) {
        a->done = true;
        return;
    }
    a->shortened = 0;
    a->reach = 1;
    take_gradient(box, a);
}

static bool is_finite(const double *g, size_t d)
{
    for (size_t i = 0; i < d; i++)
        if (!isfinite(g[i]))
            return false;
    return true;
}

/* The first value of a start. */
static void begin(const struct box *box, struct start *a)
{
    a->f = isnan(a->to_f) ? INFINITY : a->to_f;
    memcpy(a->g, a->to_g, box->d * sizeof(*a->g));
    if (!isfinite(a->f) || !is_finite(a->g, box->d))
        a->done = true;
    else
        set_out(box, a);
}

/* What was asked for has come. */
static void take(const struct box *box, struct start *a, double f, const double *g)
{
    memcpy(a->to_g, g, box->d * sizeof(*g));
    a->to_f = f;
    if (++a->calls == 1) {
        begin(box, a);
    } else {
        if (!isfinite(a->to_f) || !is_finite(g, box->d))
            a->to_f = INFINITY;
        double promise = 0;
        for (size_t i = 0; i < box->d; i++)
            promise += a->g[i] * (a->to[i] - a->x[i]);
        if (promise < 0 && a->to_f <= a->f + ENOUGH * promise)
            accept(box, a);
        else
            shorten(box, a, promise);
    }
    if (a->calls >= box->options.max_calls)
        a->done = true;
}

static struct lbfgsb_options with_defaults(const struct lbfgsb_options *given)
{
    struct lbfgsb_options o = given ? *given : (struct lbfgsb_options){0};
    o.max_iterations = o.max_iterations ? o.max_iterations : 100;
    o.max_calls = o.max_calls ? o.max_calls : 2 * o.max_iterations + 10;
    o.gradient_tol = o.gradient_tol > 0 ? o.gradient_tol : 1e-5;
    o.value_tol = o.value_tol > 0 ? o.value_tol : 1e-9;
    o.memory = o.memory ? o.memory : 8;
    return o;
}

static size_t doubles_a_start(const struct box *box)
{
    return 4 * box->d + 2 * box->options.memory * (box->d + 1);
}

/* Lay the vectors of all starts into one block. */
static void lay_out(struct start *starts, double *x, size_t m, const struct box *box, double *at)
{
    size_t d = box->d, memory = box->options.memory, each = doubles_a_start(box);
    for (size_t k = 0; k < m; k++, at += each) {
        double *ring = at + 4 * d, *tail = ring + 2 * memory * d;
        starts[k] = (struct start){.x = x + k * d,
                                   .g = at,
                                   .to = at + d,
                                   .to_g = at + 2 * d,
                                   .direction = at + 3 * d,
                                   .s = ring,
                                   .y = ring + memory * d,
                                   .rho = tail,
                                   .weight = tail + memory,
                                   .reach = 1};
        for (size_t i = 0; i < d; i++)
            starts[k].to[i] = starts[k].x[i] = clamp(box, i, starts[k].x[i]);
    }
}

size_t lbfgsb_minimize(lbfgsb_fn *fn, void *arg, double *x, size_t m, size_t d, const double *low,
                       const double *high, const struct lbfgsb_options *options, double *ret_f)
{
    struct box box = {low, high, d, with_defaults(options)};
    autofree(mem) struct start *starts = xcalloc(m + 1, sizeof(*starts));
    autofree(mem) double *block = xcalloc(m * doubles_a_start(&box) + 1, sizeof(*block));
    autofree(mem) double *batch = xcalloc(m * (2 * d + 1) + 1, sizeof(*batch));
    autofree(mem) size_t *index = xcalloc(m + 1, sizeof(*index));
    double *batch_x = batch, *batch_g = batch + m * d, *batch_f = batch + 2 * m * d;
    size_t calls = 0, live;

    lay_out(starts, x, m, &box, block);
    do {
        live = 0;
        for (size_t k = 0; k < m; k++)
            if (!starts[k].done) {
                memcpy(batch_x + live * d, starts[k].to, d * sizeof(*x));
                index[live++] = k;
            }
        if (live)
            fn(batch_x, index, live, d, batch_f, batch_g, arg);
        calls += live;
        for (size_t r = 0; r < live; r++)
            take(&box, &starts[index[r]], batch_f[r], batch_g + r * d);
    } while (live);
    for (size_t k = 0; k < m; k++)
        ret_f[k] = starts[k].f;
    return calls;
}
