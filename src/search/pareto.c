/* SPDX-License-Identifier: MIT */
/*
 * pareto.c — fronts and volumes.
 *
 * Sorting: points in lexicographic order can only be dominated by earlier ones, and if some point
 * of rank r dominates a point, then some of every smaller rank does; so each point finds its rank
 * by bisection over the ranks so far (Zhang, Tian, Cheng, Jin 2015). With two objectives the newest
 * of a rank decides alone, which makes it n·log n.
 *
 * Volume: the points are taken in turn; each adds what it dominates beyond the ones after it, which
 * is its own box less the volume of the others cut to that box (While, Bradstreet, Barone 2012).
 * Cut points mostly dominate each other and fall away, and with two objectives a sweep is enough.
 */
#include "search/pareto.h"
#include "linalg/normal.h"

#include <math.h>

/* Is a nowhere worse than b? */
static bool covers(const double *a, const double *b, size_t m)
{
    for (size_t k = 0; k < m; k++)
        if (a[k] > b[k] || (isnan(a[k]) && !isnan(b[k])))
            return false;
    return true;
}

bool pareto_dominates(const double *a, const double *b, size_t m)
{
    return covers(a, b, m) && !covers(b, a, m);
}

/* ---- sorting ---- */

struct sorting {
    const double *values, *violation;
    size_t m;
};

static double broken(const struct sorting *s, size_t i)
{
    return s->violation && s->violation[i] > 0 ? s->violation[i] : 0;
}

static int compare(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* Kept constraints first, then less broken ones, then objective after objective, then age. */
static int by_order(const void *a, const void *b, void *arg)
{
    const struct sorting *s = arg;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int r = compare(broken(s, x), broken(s, y));
    for (size_t k = 0; r == 0 && broken(s, x) == 0 && k < s->m; k++)
        r = compare(s->values[x * s->m + k], s->values[y * s->m + k]);
    return r ? r : (x > y) - (x < y);
}

/* Members of the ranks, as chains from the newest to the oldest. */
struct ranks {
    size_t *newest; /* (ranks) */
    size_t *older;  /* (n); SIZE_MAX ends */
    size_t n;
};

static bool is_dominated(const struct sorting *s, const struct ranks *ranks, size_t rank, size_t i)
{
    const double *x = s->values + i * s->m;
    for (size_t k = ranks->newest[rank]; k != SIZE_MAX; k = ranks->older[k]) {
        if (pareto_dominates(s->values + k * s->m, x, s->m))
            return true;
        if (s->m <= 2)
            return false;
    }
    return false;
}

/* The first rank without a point that dominates i. */
static size_t find_rank(const struct sorting *s, const struct ranks *ranks, size_t i)
{
    size_t low = 0, high = ranks->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (is_dominated(s, ranks, middle, i))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void join_rank(struct ranks *ranks, size_t rank, size_t i)
{
    ranks->older[i] = rank < ranks->n ? ranks->newest[rank] : SIZE_MAX;
    ranks->newest[rank] = i;
    ranks->n = MAX(ranks->n, rank + 1);
}

size_t pareto_sort(const double *values, const double *violation, size_t n, size_t m,
                   size_t *ret_rank)
{
    struct sorting s = {values, violation, m};
    autofree(mem) size_t *order = xcalloc(n + 1, sizeof(*order));
    autofree(mem) size_t *newest = xcalloc(n + 1, sizeof(*newest));
    autofree(mem) size_t *older = xcalloc(n + 1, sizeof(*older));
    struct ranks ranks = {newest, older, 0};
    size_t i = 0, count;

    for (size_t k = 0; k < n; k++)
        order[k] = k;
    qsort_r(order, n, sizeof(*order), by_order, &s);
    for (; i < n && broken(&s, order[i]) == 0; i++) {
        ret_rank[order[i]] = find_rank(&s, &ranks, order[i]);
        join_rank(&ranks, ret_rank[order[i]], order[i]);
    }
    for (count = ranks.n; i < n; i++) {
        bool same = i > 0 && broken(&s, order[i]) == broken(&s, order[i - 1]);
        ret_rank[order[i]] = same ? count - 1 : count++;
    }
    return count;
}

/* ---- crowding ---- */

struct keyed {
    double key;
    size_t at;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int r = compare(x->key, y->key);
    return r ? r : (x->at > y->at) - (x->at < y->at);
}

void pareto_crowding(const double *values, const size_t *rows, size_t n, size_t m, double *ret)
{
    autofree(mem) struct keyed *order = xcalloc(n + 1, sizeof(*order));
    for (size_t i = 0; i < n; i++)
        ret[i] = 0;
    for (size_t k = 0; n > 0 && k < m; k++) {
        for (size_t i = 0; i < n; i++)
            order[i] = (struct keyed){values[(rows ? rows[i] : i) * m + k], i};
        qsort(order, n, sizeof(*order), by_key);
        double range = order[n - 1].key - order[0].key;
        ret[order[0].at] = ret[order[n - 1].at] = INFINITY;
        for (size_t i = 1; i + 1 < n; i++) {
            double gap = (order[i + 1].key - order[i - 1].key) / range;
            ret[order[i].at] += isfinite(gap) ? gap : 0;
        }
    }
}

/* ---- volume ---- */

static bool is_finite(const double *x, size_t m)
{
    for (size_t k = 0; k < m; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

void pareto_reference(const double *values, size_t n, size_t m, double *ret)
{
    for (size_t k = 0; k < m; k++) {
        double worst = -INFINITY;
        for (size_t i = 0; i < n; i++)
            if (is_finite(values + i * m, m))
                worst = fmax(worst, values[i * m + k]);
        ret[k] = isfinite(worst) ? fmax(1.1 * worst, 0.9 * worst) : 1;
    }
}

static int by_first(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return x[0] != y[0] ? compare(x[0], y[0]) : compare(x[1], y[1]);
}

/* Two objectives: boxes side by side. Sorts the points. */
static double sweep(double *points, size_t n, const double *reference)
{
    double volume = 0, roof = reference[1];
    qsort(points, n, 2 * sizeof(*points), by_first);
    for (size_t i = 0; i < n; i++) {
        const double *x = points + 2 * i;
        if (x[1] < roof) {
            volume += (reference[0] - x[0]) * (roof - x[1]);
            roof = x[1];
        }
    }
    return volume;
}

/* Keep what no other point covers, in its order; how many are left. */
static size_t drop_covered(double *points, size_t n, size_t m)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const double *x = points + i * m;
        bool needed = true;
        for (size_t k = 0; needed && k < kept; k++)
            needed = !covers(points + k * m, x, m);
        if (!needed)
            continue;
        size_t left = 0;
        for (size_t k = 0; k < kept; k++)
            if (!covers(x, points + k * m, m))
                memmove(points + left++ * m, points + k * m, m * sizeof(*points));
        memmove(points + left * m, x, m * sizeof(*points));
        kept = left + 1;
    }
    return kept;
}

static int by_last(const void *a, const void *b, void *arg)
{
    size_t m = *(const size_t *)arg;
    return compare(((const double *)b)[m - 1], ((const double *)a)[m - 1]);
}

static double box(const double *x, size_t m, const double *reference)
{
    double volume = 1;
    for (size_t k = 0; k < m; k++)
        volume *= reference[k] - x[k];
    return volume;
}

static double volume_of(double *points, size_t n, size_t m, const double *reference);

/* What x dominates and none of the n points does. */
static double exclusive(const double *x, const double *points, size_t n, size_t m,
                        const double *reference)
{
    autofree(mem) double *cut = xmalloc((n + 1) * m * sizeof(*cut));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            cut[i * m + k] = fmax(points[i * m + k], x[k]);
    return box(x, m, reference) - volume_of(cut, n, m, reference);
}

/* Points are below the reference everywhere; their order is lost. The worst in the last objective
 * goes first: after the cut all others are equal there, so the rest has a dimension less to do. */
static double volume_of(double *points, size_t n, size_t m, const double *reference)
{
    double volume = 0;
    if (m == 1) {
        for (size_t i = 0; i < n; i++)
            volume = fmax(volume, reference[0] - points[i]);
        return volume;
    }
    if (m == 2)
        return sweep(points, n, reference);
    n = drop_covered(points, n, m);
    qsort_r(points, n, m * sizeof(*points), by_last, &m);
    /* Backwards, the set so far is of points that are better in the last objective; cut to x
     * they are all at x's level there: a volume of m − 1 objectives times the height. */
    autofree(mem) double *lower = xmalloc((n + 1) * (m - 1) * sizeof(*lower));
    for (size_t i = 0; i < n; i++) {
        const double *x = points + i * m;
        size_t rest = n - i - 1;
        for (size_t r = 0; r < rest; r++)
            for (size_t k = 0; k + 1 < m; k++)
                lower[r * (m - 1) + k] = fmax(points[(i + 1 + r) * m + k], x[k]);
        double covered = volume_of(lower, rest, m - 1, reference);
        volume += (box(x, m - 1, reference) - covered) * (reference[m - 1] - x[m - 1]);
    }
    return volume;
}

/* A copy of the points that lie below the reference; their number. */
static size_t copy_inside(const double *values, size_t n, size_t m, const double *reference,
                          size_t without, double *ret)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool inside = i != without;
        for (size_t k = 0; inside && k < m; k++)
            inside = values[i * m + k] < reference[k];
        if (inside)
            memcpy(ret + kept++ * m, values + i * m, m * sizeof(*ret));
    }
    return kept;
}

/* The volume that is free lies in strips above the steps of the front: with E_k(t) the expected
 * improvement of objective k below t, a strip from a to b below c adds (E_0(b) − E_0(a))·E_1(c). */
double pareto_expected_gain(const double *front, size_t n, const double *reference,
                            const double *mean, const double *deviation, double *ret_slope)
{
    double sum = 0, slope[4] = {0}, before = 0, cdf_before = 0, pdf_before = 0, top = reference[1];

    for (size_t i = 0; i <= n; i++) {
        if (i < n && (front[2 * i] >= reference[0] || front[2 * i + 1] >= reference[1]))
            continue;
        double z = ((i < n ? front[2 * i] : reference[0]) - mean[0]) / deviation[0];
        double w = (top - mean[1]) / deviation[1];
        double wide = expected_improvement(mean[0], deviation[0], mean[0] + z * deviation[0]);
        double high = expected_improvement(mean[1], deviation[1], top);
        double cdf = normal_cdf(z), pdf = normal_pdf(z);
        sum += (wide - before) * high;
        slope[0] -= (cdf - cdf_before) * high;
        slope[1] -= (wide - before) * normal_cdf(w);
        slope[2] += (pdf - pdf_before) * high;
        slope[3] += (wide - before) * normal_pdf(w);
        before = wide;
        cdf_before = cdf;
        pdf_before = pdf;
        top = i < n ? front[2 * i + 1] : top;
    }
    if (ret_slope)
        memcpy(ret_slope, slope, sizeof(slope));
    return sum;
}

double pareto_hypervolume(const double *values, size_t n, size_t m, const double *reference)
{
    autofree(mem) double *points = xmalloc((n + 1) * (m + 1) * sizeof(*points));
    size_t kept = copy_inside(values, n, m, reference, SIZE_MAX, points);
    return kept ? volume_of(points, kept, m, reference) : 0;
}

static bool is_inside(const double *x, size_t m, const double *reference)
{
    for (size_t k = 0; k < m; k++)
        if (!(x[k] < reference[k]))
            return false;
    return true;
}

void pareto_contributions(const double *values, size_t n, size_t m, const double *reference,
                          double *ret)
{
    autofree(mem) double *others = xmalloc((n + 1) * (m + 1) * sizeof(*others));
    for (size_t i = 0; i < n; i++) {
        ret[i] = 0;
        if (!is_inside(values + i * m, m, reference))
            continue;
        size_t kept = copy_inside(values, n, m, reference, i, others);
        ret[i] = fmax(exclusive(values + i * m, others, kept, m, reference), 0);
    }
}

/* What each adds to those taken can only fall as more are taken, so only the candidate with the
 * largest bound is worked out anew (Guerreiro, Fonseca, Paquete 2016). */
size_t pareto_subset(const double *values, size_t n, size_t m, const double *reference, size_t k,
                     size_t *ret)
{
    autofree(mem) double *bound = xcalloc(n + 1, sizeof(*bound));
    autofree(mem) size_t *worked = xcalloc(n + 1, sizeof(*worked)); /* when `taken` was so many */
    autofree(mem) double *chosen = xmalloc((n + 1) * (m + 1) * sizeof(*chosen));
    size_t taken = 0, inside = 0;

    k = MIN(k, n);
    for (size_t i = 0; i < n; i++)
        bound[i] = is_inside(values + i * m, m, reference) ? box(values + i * m, m, reference) : 0;
    while (taken < k) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < n; i++)
            if (bound[i] >= 0 && (best == SIZE_MAX || bound[i] > bound[best]))
                best = i;
        if (bound[best] > 0 && worked[best] < inside) {
            bound[best] = fmax(exclusive(values + best * m, chosen, inside, m, reference), 0);
            worked[best] = inside;
            continue;
        }
        if (bound[best] > 0)
            memcpy(chosen + inside++ * m, values + best * m, m * sizeof(*chosen));
        bound[best] = -1;
        ret[taken++] = best;
    }
    return taken;
}
