/* SPDX-License-Identifier: MIT */
/*
 * multi.c — ZDT and DTLZ, their fronts, and the volume that a set of points dominates.
 *
 * In all of them some parameters say where on the front a point is, and the others how far from
 * it, through g; on the front g has its least value. So the volume under a front is an integral
 * over the first kind alone; where no formula gives it, it is summed up over a fine grid, with
 * the running minimum in the place of the curve because dominated parts of it do not count.
 */
#include "multi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI    3.14159265358979323846
#define STEPS 1000000 /* of an integral along a front */

struct multi {
    const char *name;
    void (*value)(size_t dim, size_t objectives, const double *x, double *ret);
    double (*best_volume)(size_t objectives, const double *reference);
    double reach;         /* parameters behind the first: ±reach, or 0…1 where it is 0 */
    double first, others; /* the reference: of the first objective, of those behind it */
    size_t most;          /* objectives */
};

/* ---- ZDT: f1 from the first parameter, f2 = g · h(f1, g) ---- */

static double tail_mean(size_t dim, const double *x)
{
    double sum = 0;
    for (size_t i = 1; i < dim; i++)
        sum += x[i];
    return sum / (double)(dim - 1);
}

static void zdt1(size_t dim, size_t objectives, const double *x, double *ret)
{
    (void)objectives;
    double g = 1 + 9 * tail_mean(dim, x);
    ret[0] = x[0];
    ret[1] = g * (1 - sqrt(x[0] / g));
}

static void zdt2(size_t dim, size_t objectives, const double *x, double *ret)
{
    (void)objectives;
    double g = 1 + 9 * tail_mean(dim, x);
    ret[0] = x[0];
    ret[1] = g * (1 - x[0] / g * (x[0] / g));
}

static void zdt3(size_t dim, size_t objectives, const double *x, double *ret)
{
    (void)objectives;
    double g = 1 + 9 * tail_mean(dim, x);
    ret[0] = x[0];
    ret[1] = g * (1 - sqrt(x[0] / g) - x[0] / g * sin(10 * PI * x[0]));
}

static void zdt4(size_t dim, size_t objectives, const double *x, double *ret)
{
    (void)objectives;
    double g = 1 + 10 * (double)(dim - 1);
    for (size_t i = 1; i < dim; i++)
        g += x[i] * x[i] - 10 * cos(4 * PI * x[i]);
    ret[0] = x[0];
    ret[1] = g * (1 - sqrt(x[0] / g));
}

static double zdt6_first(double x)
{
    return 1 - exp(-4 * x) * pow(sin(6 * PI * x), 6);
}

static void zdt6(size_t dim, size_t objectives, const double *x, double *ret)
{
    (void)objectives;
    double g = 1 + 9 * pow(tail_mean(dim, x), 0.25);
    ret[0] = zdt6_first(x[0]);
    ret[1] = g * (1 - ret[0] / g * (ret[0] / g));
}

/* ---- DTLZ: the last parameters, objectives - 1 of them left out, make g ---- */

/* Deb's rugged g of DTLZ1. */
static double rugged(size_t dim, size_t from, const double *x)
{
    double sum = (double)(dim - from);
    for (size_t i = from; i < dim; i++)
        sum += (x[i] - 0.5) * (x[i] - 0.5) - cos(20 * PI * (x[i] - 0.5));
    return 100 * sum;
}

static void dtlz1(size_t dim, size_t objectives, const double *x, double *ret)
{
    double left = 0.5 * (1 + rugged(dim, objectives - 1, x));
    for (size_t i = 0; i + 1 < objectives; i++) {
        ret[objectives - 1 - i] = left * (1 - x[i]);
        left *= x[i];
    }
    ret[0] = left;
}

static void dtlz2(size_t dim, size_t objectives, const double *x, double *ret)
{
    double left = 1;
    for (size_t i = objectives - 1; i < dim; i++)
        left += (x[i] - 0.5) * (x[i] - 0.5);
    for (size_t i = 0; i + 1 < objectives; i++) {
        ret[objectives - 1 - i] = left * sin(x[i] * PI / 2);
        left *= cos(x[i] * PI / 2);
    }
    ret[0] = left;
}

/* What an objective of DTLZ7 takes off the last one, times 1 + g. */
static double dtlz7_gain(double f)
{
    return f * (1 + sin(3 * PI * f));
}

static void dtlz7(size_t dim, size_t objectives, const double *x, double *ret)
{
    double sum = 0, gains = 0;
    for (size_t i = objectives - 1; i < dim; i++)
        sum += x[i];
    double g = 1 + 9 * sum / (double)(dim - objectives + 1);
    for (size_t i = 0; i + 1 < objectives; i++) {
        ret[i] = x[i];
        gains += dtlz7_gain(x[i]) / (1 + g);
    }
    ret[objectives - 1] = (1 + g) * ((double)objectives - gains);
}

/* ---- the volumes under the fronts ---- */

static double zdt1_volume(size_t objectives, const double *r)
{
    (void)objectives;
    return r[0] * r[1] - 1.0 / 3; /* under 1 - √f, f from 0 to 1 */
}

static double zdt2_volume(size_t objectives, const double *r)
{
    (void)objectives;
    return r[0] * r[1] - 2.0 / 3; /* under 1 - f² */
}

static double zdt3_volume(size_t objectives, const double *r)
{
    (void)objectives;
    double sum = 0, least = 1;
    for (size_t i = 0; i < STEPS; i++) {
        double f = ((double)i + 0.5) / STEPS;
        least = fmin(least, 1 - sqrt(f) - f * sin(10 * PI * f));
        sum += r[1] - least;
    }
    return sum / STEPS + (r[0] - 1) * (r[1] - least);
}

static double zdt6_volume(size_t objectives, const double *r)
{
    (void)objectives;
    double begin = 1;
    for (size_t i = 0; i <= STEPS; i++) /* its f1 does not reach 0 */
        begin = fmin(begin, zdt6_first((double)i / STEPS));
    return (r[0] - begin) * r[1] - (1 - begin) + (1 - begin * begin * begin) / 3;
}

static double box(size_t objectives, const double *r)
{
    double volume = 1;
    for (size_t i = 0; i < objectives; i++)
        volume *= r[i];
    return volume;
}

static double dtlz1_volume(size_t objectives, const double *r)
{
    double corner = 1; /* the simplex below Σ f = 1/2 */
    for (size_t i = 1; i <= objectives; i++)
        corner *= 0.5 / (double)i;
    return box(objectives, r) - corner;
}

static double dtlz2_volume(size_t objectives, const double *r)
{
    double m = (double)objectives; /* a 2^-m part of the unit ball */
    return box(objectives, r) - pow(PI, m / 2) / tgamma(m / 2 + 1) / pow(2, m);
}

/* The last objective is 2m less a gain from each of the others, so the volume is a sum over them.
 */
static double dtlz7_volume(size_t objectives, const double *r)
{
    double most = 0, sum = 0, floor = box(objectives - 1, r);
    for (size_t i = 0; i < STEPS; i++) {
        most = fmax(most, dtlz7_gain(((double)i + 0.5) / STEPS));
        sum += most;
    }
    double volume = floor * (r[objectives - 1] - 2 * (double)objectives);
    for (size_t i = 0; i + 1 < objectives; i++)
        volume += floor / r[i] * (sum / STEPS + (r[i] - 1) * most);
    return volume;
}

/* ---- the list ---- */

static const struct multi problems[] = {
    {"zdt1", zdt1, zdt1_volume, 0, 11, 11, 2},
    {"zdt2", zdt2, zdt2_volume, 0, 11, 11, 2},
    {"zdt3", zdt3, zdt3_volume, 0, 11, 11, 2},
    {"zdt4", zdt4, zdt1_volume, 5, 11, 300, 2},
    {"zdt6", zdt6, zdt6_volume, 0, 11, 11, 2},
    {"dtlz1", dtlz1, dtlz1_volume, 0, 400, 400, MULTI_OBJECTIVES},
    {"dtlz2", dtlz2, dtlz2_volume, 0, 1.1, 1.1, MULTI_OBJECTIVES},
    {"dtlz7", dtlz7, dtlz7_volume, 0, 15, 15, MULTI_OBJECTIVES},
};

size_t multi_count(void)
{
    return sizeof(problems) / sizeof(*problems);
}

const struct multi *multi_at(size_t i)
{
    return &problems[i];
}

const struct multi *multi_find(const char *name)
{
    for (size_t i = 0; i < multi_count(); i++)
        if (!strcmp(problems[i].name, name))
            return &problems[i];
    return NULL;
}

const char *multi_name(const struct multi *problem)
{
    return problem->name;
}

double multi_low(const struct multi *problem, size_t i)
{
    return i ? -problem->reach : 0;
}

double multi_high(const struct multi *problem, size_t i)
{
    return i && problem->reach > 0 ? problem->reach : 1;
}

int multi_allows(const struct multi *problem, size_t dim, size_t objectives)
{
    return objectives >= 2 && objectives <= problem->most && dim >= objectives;
}

void multi_value(const struct multi *problem, size_t dim, size_t objectives, const double *x,
                 double *ret)
{
    problem->value(dim, objectives, x, ret);
}

void multi_reference(const struct multi *problem, size_t objectives, double *ret)
{
    for (size_t i = 0; i < objectives; i++)
        ret[i] = i ? problem->others : problem->first;
}

double multi_best_volume(const struct multi *problem, size_t objectives)
{
    double reference[MULTI_OBJECTIVES];
    multi_reference(problem, objectives, reference);
    return problem->best_volume(objectives, reference);
}

/* ---- the volume of a set ---- */

static int compare_last(const void *a, const void *b, void *objectives)
{
    size_t last = *(const size_t *)objectives - 1;
    double x = (*(const double *const *)a)[last], y = (*(const double *const *)b)[last];
    return (x > y) - (x < y);
}

/* Two objectives: rectangles side by side, each as wide as the least first objective so far. */
static double swept(const double **points, size_t n, const double *reference)
{
    double area = 0, least = reference[0];
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, points[i][0]);
        double end = i + 1 < n ? points[i + 1][1] : reference[1];
        area += (end - points[i][1]) * (reference[0] - least);
    }
    return area;
}

/* Sweep along the last objective (Knowles's slicing): between two neighbours in it, the cross
 * section is what the points so far dominate in the objectives before. Reorders the points. */
static double sliced(const double **points, size_t n, size_t objectives, const double *reference)
{
    size_t last = objectives - 1;
    double volume = 0;
    qsort_r(points, n, sizeof(*points), compare_last, &objectives);
    if (objectives == 2)
        return swept(points, n, reference);
    const double **below = malloc((n ? n : 1) * sizeof(*below));
    if (!below)
        abort();
    for (size_t i = 0; i < n; i++) {
        double end = i + 1 < n ? points[i + 1][last] : reference[last];
        if (end <= points[i][last])
            continue;
        memcpy(below, points, (i + 1) * sizeof(*below));
        volume += (end - points[i][last]) * sliced(below, i + 1, last, reference);
    }
    free(below);
    return volume;
}

static int within(const double *f, size_t objectives, const double *reference)
{
    for (size_t i = 0; i < objectives; i++)
        if (!(f[i] < reference[i]) || isinf(f[i]))
            return 0;
    return 1;
}

double multi_volume(const double *f, size_t n, size_t objectives, const double *reference)
{
    size_t inside = 0;
    const double **points = malloc((n ? n : 1) * sizeof(*points));
    if (!points)
        abort();
    for (size_t i = 0; i < n; i++)
        if (within(f + i * objectives, objectives, reference))
            points[inside++] = f + i * objectives;
    double volume = sliced(points, inside, objectives, reference);
    free(points);
    return volume;
}
