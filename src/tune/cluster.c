/* SPDX-License-Identifier: MIT */
/*
 * cluster.c — k-means with a k-means++ start (Arthur, Vassilvitskii 2007), the best of RESTARTS,
 * for each k; k by mean silhouette (Rousseeuw 1987).
 *
 * Missing values: the distance of two points is the mean square over the columns that both have. A
 * point with m values gives each of them the weight 1/m in its centre, which is what minimises the
 * sum of these distances; so every round of Lloyd's lowers it, and it ends.
 * Invariant: after prepare() every value is finite or NaN, and a column that was larger by a factor
 * of a thousand million is the same column.
 */
#include "tune/cluster.h"
#include "base/map.h"
#include "base/rng.h"

#include <assert.h>
#include <math.h>

#define RESTARTS 10
#define ROUNDS   300
#define SPREAD   0.05 /* of a column: less is noise */
#define STRANGE  2.0  /* square of the distance of two that share no column: as of any two */

struct points {
    const double *x; /* (n, d) NaN: missing */
    size_t n, d;
};
struct fit {
    size_t k;
    double *centres; /* (k, d) NaN: no member has it */
    size_t *of;      /* (n) */
    double sum;      /* of all points' distances to their centres */
};

/* ---- columns of like weight ---- */

static void scale_column(double *x, size_t n, size_t d)
{
    double mean = 0, square = 0;
    size_t known = 0;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i * d]))
            x[i * d] = NAN;
        if (isnan(x[i * d]))
            continue;
        known++;
        double apart = x[i * d] - mean;
        mean += apart / (double)known;
        square += apart * (x[i * d] - mean);
    }
    if (known == 0)
        return;
    double spread = fmax(sqrt(square / (double)known), SPREAD);
    for (size_t i = 0; i < n; i++) {
        x[i * d] = (x[i * d] - mean) / spread;
        if (isinf(x[i * d]))
            x[i * d] = NAN;
    }
}

static double *prepare(const double *x, size_t n, size_t d)
{
    double *scaled = xcalloc(n * d + 1, sizeof(*scaled));

    if (n * d > 0)
        memcpy(scaled, x, n * d * sizeof(*scaled));
    for (size_t j = 0; j < d; j++)
        scale_column(scaled + j, n, d);
    return scaled;
}

static double distance2(const double *a, const double *b, size_t d)
{
    double sum = 0;
    size_t common = 0;

    for (size_t j = 0; j < d; j++) {
        double apart = a[j] - b[j];
        if (isnan(apart))
            continue;
        sum += apart * apart;
        common++;
    }
    return common ? sum / (double)common : STRANGE;
}

/* ---- k-means ---- */

static void fit_release(struct fit *fit)
{
    free(fit->centres);
    free(fit->of);
    *fit = (struct fit){0};
}

/* k-means++: each next centre is a point, likelier the farther it is from those there are. Fewer
 * than k if there are no more different points. */
static void choose_centres(const struct points *points, size_t k, struct rng *rng, struct fit *fit)
{
    autofree(mem) double *far = xcalloc(points->n, sizeof(*far));
    size_t next = rng_below(rng, points->n);

    for (fit->k = 0; fit->k < k;) {
        double total = 0;
        memcpy(fit->centres + fit->k * points->d, points->x + next * points->d,
               points->d * sizeof(double));
        fit->k++;
        for (size_t i = 0; i < points->n; i++) {
            double apart =
                distance2(points->x + i * points->d, points->x + next * points->d, points->d);
            far[i] = fit->k == 1 ? apart : fmin(far[i], apart);
            total += far[i];
        }
        if (!(total > 0))
            return;
        double at = rng_unit(rng) * total;
        next = SIZE_MAX;
        for (size_t i = 0; i < points->n; i++) {
            at -= far[i];
            if (far[i] > 0)
                next = i;
            if (at < 0 && next == i)
                break;
        }
        assert(next < points->n);
    }
}

/* Each point to its nearest centre. True if one has moved. */
static bool assign(const struct points *points, struct fit *fit)
{
    bool moved = false;

    fit->sum = 0;
    for (size_t i = 0; i < points->n; i++) {
        size_t best = 0;
        double least = INFINITY;
        for (size_t c = 0; c < fit->k; c++) {
            double apart =
                distance2(points->x + i * points->d, fit->centres + c * points->d, points->d);
            if (apart < least) {
                least = apart;
                best = c;
            }
        }
        moved |= fit->of[i] != best;
        fit->of[i] = best;
        fit->sum += least;
    }
    return moved;
}

static size_t known_of(const double *point, size_t d)
{
    size_t known = 0;
    for (size_t j = 0; j < d; j++)
        known += !isnan(point[j]);
    return known;
}

/* A centre without members stays where it is. */
static void move_centre(const struct points *points, struct fit *fit, size_t c)
{
    size_t d = points->d;
    autofree(mem) double *sums = xcalloc(d, sizeof(*sums)), *weights = xcalloc(d, sizeof(*sums));
    bool any = false;

    for (size_t i = 0; i < points->n; i++) {
        const double *point = points->x + i * d;
        size_t known = known_of(point, d);
        if (fit->of[i] != c || known == 0)
            continue;
        any = true;
        for (size_t j = 0; j < d; j++) {
            if (isnan(point[j]))
                continue;
            sums[j] += point[j] / (double)known;
            weights[j] += 1 / (double)known;
        }
    }
    for (size_t j = 0; any && j < d; j++)
        fit->centres[c * d + j] = weights[j] > 0 ? sums[j] / weights[j] : NAN;
}

static struct fit fit_once(const struct points *points, size_t k, struct rng *rng)
{
    struct fit fit = {
        .centres = xcalloc(k * points->d, sizeof(double)),
        .of = xcalloc(points->n, sizeof(size_t)),
    };

    choose_centres(points, k, rng, &fit);
    for (size_t i = 0; i < points->n; i++)
        fit.of[i] = SIZE_MAX;
    for (int round = 0; round < ROUNDS && assign(points, &fit); round++)
        for (size_t c = 0; c < fit.k; c++)
            move_centre(points, &fit, c);
    return fit;
}

static struct fit fit_best(const struct points *points, size_t k, uint64_t seed)
{
    struct fit best = {.sum = INFINITY};

    for (uint64_t i = 0; i < RESTARTS; i++) {
        struct rng rng;
        rng_init(&rng, seed, k * RESTARTS + i);
        struct fit fit = fit_once(points, k, &rng);
        if (fit.sum < best.sum) {
            fit_release(&best);
            best = fit;
        } else {
            fit_release(&fit);
        }
    }
    return best;
}

/* ---- how many ---- */

static double *all_distances(const struct points *points)
{
    double *apart = xcalloc(points->n * points->n, sizeof(*apart));

    for (size_t i = 0; i < points->n; i++)
        for (size_t j = 0; j < i; j++) {
            double d2 = distance2(points->x + i * points->d, points->x + j * points->d, points->d);
            apart[i * points->n + j] = apart[j * points->n + i] = sqrt(d2);
        }
    return apart;
}

/* Of one point: (b − a)/max(a, b), a: mean distance to its own, b: to the nearest other cluster. */
static double silhouette_of(const struct points *points, const double *apart, const struct fit *fit,
                            size_t i)
{
    double sums[CLUSTERS_MOST] = {0}, nearest = INFINITY;
    size_t counts[CLUSTERS_MOST] = {0};
    size_t own = fit->of[i];

    assert(fit->k <= CLUSTERS_MOST && own < fit->k);
    for (size_t j = 0; j < points->n; j++) {
        if (j == i)
            continue;
        sums[fit->of[j]] += apart[i * points->n + j];
        counts[fit->of[j]]++;
    }
    for (size_t c = 0; c < fit->k; c++)
        if (c != own && counts[c] > 0)
            nearest = fmin(nearest, sums[c] / (double)counts[c]);
    if (counts[own] == 0 || isinf(nearest)) /* alone: neither here nor there */
        return 0;
    double inside = sums[own] / (double)counts[own];
    double larger = fmax(inside, nearest);
    return larger > 0 ? (nearest - inside) / larger : 0;
}

static double mean_silhouette(const struct points *points, const double *apart,
                              const struct fit *fit)
{
    double sum = 0;

    assert(points->n > 0);
    for (size_t i = 0; i < points->n; i++)
        sum += silhouette_of(points, apart, fit, i);
    return sum / (double)points->n;
}

/* The k with the clearest borders; one cluster if there are none. */
static struct fit fit_clearest(const struct points *points, uint64_t seed, double *ret_silhouette)
{
    struct fit best = {0};
    double clearest = CLUSTER_SILHOUETTE;
    autofree(mem) double *apart = all_distances(points);

    *ret_silhouette = NAN;
    for (size_t k = 2; k <= CLUSTERS_MOST && k + 1 <= points->n; k++) {
        struct fit fit = fit_best(points, k, seed);
        double silhouette = mean_silhouette(points, apart, &fit);
        if (silhouette >= clearest && silhouette > 0) {
            clearest = nextafter(silhouette, 2);
            *ret_silhouette = silhouette;
            fit_release(&best);
            best = fit;
        } else {
            fit_release(&fit);
        }
    }
    return best.k ? best : fit_best(points, 1, seed);
}

/* Numbers in the order of the first points, so that a fit anew keeps them where it can. */
static void number_clusters(const struct fit *fit, const size_t *rows, size_t n,
                            struct clusters *ret)
{
    size_t number[CLUSTERS_MOST];

    for (size_t c = 0; c < CLUSTERS_MOST; c++)
        number[c] = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        assert(fit->of[i] < CLUSTERS_MOST);
        size_t *mine = &number[fit->of[i]];
        if (*mine == SIZE_MAX)
            *mine = ret->k++;
        ret->of[rows[i]] = *mine;
    }
}

void cluster_fit(const double *x, size_t n, size_t d, uint64_t seed, struct clusters *ret)
{
    autofree(mem) double *scaled = prepare(x, n, d);
    autofree(mem) size_t *rows = xcalloc(n + 1, sizeof(*rows));
    size_t known = 0;

    *ret = (struct clusters){.of = xcalloc(n + 1, sizeof(*ret->of)), .silhouette = NAN};
    for (size_t i = 0; i < n; i++) {
        ret->of[i] = SIZE_MAX;
        if (known_of(scaled + i * d, d) == 0)
            continue;
        memmove(scaled + known * d, scaled + i * d, d * sizeof(*scaled));
        rows[known++] = i;
    }
    if (known == 0)
        return;
    struct points points = {scaled, known, d};
    struct fit fit = fit_clearest(&points, seed, &ret->silhouette);
    number_clusters(&fit, rows, known, ret);
    fit_release(&fit);
}

void clusters_release(struct clusters *clusters)
{
    free(clusters->of);
    *clusters = (struct clusters){0};
}

/* ---- workloads ---- */

/* Columns are counters by name; *ret_d of them, each known by its number + 1 as a pointer. */
static void name_columns(const struct workload *all, size_t n, struct map_text *columns,
                         size_t *ret_d)
{
    *ret_d = 0;
    for (size_t i = 0; i < n; i++)
        vec_foreach (counter, &all[i].profile)
            if (!map_text_find(columns, counter->name))
                map_text_put(columns, counter->name, (void *)(uintptr_t)(++*ret_d));
}

void cluster_workloads(struct workload *all, size_t n, uint64_t seed)
{
    struct map_text columns = MAP_TEXT_INIT;
    struct clusters clusters;
    size_t d;

    name_columns(all, n, &columns, &d);
    autofree(mem) double *x = xcalloc(n * d + 1, sizeof(*x));
    for (size_t i = 0; i < n * d; i++)
        x[i] = NAN;
    for (size_t i = 0; i < n; i++)
        vec_foreach (counter, &all[i].profile) {
            size_t column = (uintptr_t)map_text_find(&columns, counter->name);
            assert(column > 0);
            x[i * d + column - 1] = counter->missing ? NAN : counter->scaled;
        }
    cluster_fit(x, n, d, seed, &clusters);
    for (size_t i = 0; i < n; i++)
        all[i].cluster = clusters.of[i] == SIZE_MAX ? 0 : (int64_t)clusters.of[i] + 1;
    clusters_release(&clusters);
    map_text_release(&columns);
}
