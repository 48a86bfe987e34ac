/* SPDX-License-Identifier: MIT */
/*
 * importance.c — functional analysis of variance over forests (surrogate/fanova.h).
 *
 * Results are replaced by their ranks, so one diverged trial does not drown the rest: by the part
 * of the space that is better. That is not the part of the trials, because a search runs most of
 * them near the best, where other things matter than in the whole; each counts for the places that
 * lie nearest to it. The results are resampled RESAMPLES times; each sample grows a small forest of
 * its own, which is taken apart; the median over the samples is the share, its 5 % and 95 % points
 * are the interval.
 *
 * A forest explains noise too, as well as it can. So what it says is scaled by the share that the
 * forests explain of results which they have not seen (those left out of a sample): pure chance
 * has no shares. That share of few results is not certain, and widens the intervals.
 */
#include "search/importance.h"
#include "surrogate/fanova.h"

#include <errno.h>
#include <math.h>

#define RESAMPLES   20
#define TREES       6 /* a sample */
#define LEAF        1
#define PLACES      32 /* of an axis */
#define ROWS_MAX    1000
#define DRAWS       512
#define SPOTS       1024 /* of the space, to be divided among the results */
#define PAIR_PARAMS 10

struct study {
    const struct space *space;
    size_t d;           /* parameters that can vary */
    size_t *params;     /* (d) their indices in the space */
    size_t *categories; /* (d) as forest.h wants them */
    struct fanova_axis *axes;
    size_t n;
    double *x, *y; /* (n, d), (n) */
    double *part;  /* (n) of the space; all are 1 */
    struct forest *forests[RESAMPLES];
    double *guess;      /* (n) sum over the samples that left the row out */
    size_t *guesses;    /* (n) */
    size_t (*pairs)[2]; /* of features */
    size_t n_pairs;
    struct rng rng;
};

struct keyed {
    double key;
    size_t at;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->at > y->at) - (x->at < y->at);
}

/* Which part of the space has smaller values, with half of that which has the same: in [0, 1]. */
static void ranks_of(const double *values, const double *part, size_t n, double *ret)
{
    autofree(mem) struct keyed *sorted = xcalloc(n, sizeof(*sorted));
    double below = 0;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct keyed){values[i], i};
    qsort(sorted, n, sizeof(*sorted), by_key);
    for (size_t i = 0, end; i < n; i = end) {
        double same = 0;
        for (end = i; end < n && sorted[end].key == sorted[i].key; end++)
            same += part[sorted[end].at];
        for (size_t k = i; k < end; k++)
            ret[sorted[k].at] = below + same / 2;
        below += same;
    }
}

static bool is_categorical(const struct param *param)
{
    return param->type == PARAM_CHOICE && !param->ordered;
}

/* The values of a parameter, evenly over its range: all of them if they are few. */
static void set_axis(const struct param *param, struct fanova_axis *ret)
{
    double size = param_size(param);
    ret->n = size <= PLACES ? (size_t)size * (PLACES / (size_t)size) : PLACES;
    for (size_t i = 0; i < ret->n; i++) {
        double x = param_from_unit(param, ((double)i + 0.5) / (double)ret->n);
        ret->at[i] = is_categorical(param) ? x : param_to_unit(param, x);
        ret->weight[i] = 1 / (double)ret->n;
    }
}

/* Give the axes of conditional parameters a place for being inactive, as often as random points
 * have them so. */
static void add_inactive(struct study *s)
{
    autofree(mem) double *x = xcalloc(s->space->n, sizeof(*x));
    autofree(mem) size_t *inactive = xcalloc(s->d + 1, sizeof(*inactive));
    for (size_t k = 0; k < DRAWS; k++) {
        for (size_t i = 0; i < s->space->n; i++)
            x[i] = param_from_unit(&s->space->params[i], rng_unit(&s->rng));
        space_settle(s->space, x);
        for (size_t j = 0; j < s->d; j++)
            inactive[j] += isnan(x[s->params[j]]);
    }
    for (size_t j = 0; j < s->d; j++) {
        struct fanova_axis *axis = &s->axes[j];
        double share = (double)inactive[j] / DRAWS;
        if (share == 0)
            continue;
        for (size_t i = 0; i < axis->n; i++)
            axis->weight[i] *= 1 - share;
        axis->at[axis->n] = NAN;
        axis->weight[axis->n++] = share;
    }
}

static void set_features(struct study *s)
{
    s->params = xcalloc(s->space->n + 1, sizeof(*s->params));
    s->categories = xcalloc(s->space->n + 1, sizeof(*s->categories));
    s->axes = xcalloc(s->space->n + 1, sizeof(*s->axes));
    for (size_t i = 0; i < s->space->n; i++) {
        const struct param *param = &s->space->params[i];
        if (!(param_size(param) > 1))
            continue;
        s->categories[s->d] = is_categorical(param) ? param->n_choices : 0;
        set_axis(param, &s->axes[s->d]);
        s->params[s->d++] = i;
    }
    add_inactive(s);
}

/* ---- rows ---- */

/* The features of a point of the space. */
static void set_row(const struct study *s, const double *point, double *ret)
{
    for (size_t j = 0; j < s->d; j++) {
        double v = point[s->params[j]];
        bool plain = isnan(v) || s->categories[j];
        ret[j] = plain ? v : param_to_unit(&s->space->params[s->params[j]], v);
    }
}

static double distance(const struct study *s, const double *a, const double *b)
{
    double sum = 0;
    for (size_t j = 0; j < s->d; j++) {
        bool differs = isnan(a[j]) != isnan(b[j]) || (s->categories[j] && a[j] != b[j]);
        double step = isnan(a[j]) && isnan(b[j]) ? 0 : differs ? 1 : a[j] - b[j];
        sum += step * step;
    }
    return sum;
}

/* Every row has a spot of its own, so that none is forgotten; others go to the nearest, and are
 * shared by those that are equally near: repeats. */
static void divide_space(struct study *s)
{
    autofree(mem) double *point = xcalloc(s->space->n, sizeof(*point));
    autofree(mem) double *row = xcalloc(s->d + 1, sizeof(*row));
    autofree(mem) double *far = xcalloc(s->n, sizeof(*far));
    double all = (double)(SPOTS + s->n);

    for (size_t i = 0; i < s->n; i++)
        s->part[i] = 1 / all;
    for (size_t k = 0; k < SPOTS; k++) {
        double nearest = INFINITY;
        size_t same = 0;
        for (size_t i = 0; i < s->space->n; i++)
            point[i] = param_from_unit(&s->space->params[i], rng_unit(&s->rng));
        space_settle(s->space, point);
        set_row(s, point, row);
        for (size_t i = 0; i < s->n; i++) {
            far[i] = distance(s, row, s->x + i * s->d);
            same = far[i] < nearest ? 1 : same + (far[i] == nearest);
            nearest = fmin(nearest, far[i]);
        }
        for (size_t i = 0; i < s->n; i++)
            if (far[i] == nearest)
                s->part[i] += 1 / (all * (double)same);
    }
}

/* Up to ROWS_MAX of the results, evenly over their order, as features and ranks. */
static void set_rows(struct study *s, const double *points, const double *values, size_t n)
{
    s->n = MIN(n, (size_t)ROWS_MAX);
    s->x = xcalloc(s->n * s->d + 1, sizeof(*s->x));
    s->y = xcalloc(s->n, sizeof(*s->y));
    s->part = xcalloc(s->n, sizeof(*s->part));
    autofree(mem) double *picked = xcalloc(s->n, sizeof(*picked));
    for (size_t i = 0; i < s->n; i++) {
        size_t from = i * n / s->n;
        picked[i] = values[from];
        set_row(s, points + from * s->space->n, s->x + i * s->d);
    }
    divide_space(s);
    ranks_of(picked, s->part, s->n, s->y);
}

/* Predict the rows that the sample left out. */
static void guess_others(struct study *s, const struct forest *forest, const bool *taken)
{
    for (size_t i = 0; i < s->n; i++) {
        double mean, deviation;
        if (taken[i])
            continue;
        forest_predict(forest, s->x + i * s->d, 1, &mean, &deviation);
        s->guess[i] += mean;
        s->guesses[i]++;
    }
}

static void grow(struct study *s)
{
    struct forest_options options = {.trees = TREES, .min_leaf = LEAF, .min_split = 2 * LEAF};
    autofree(mem) double *x = xcalloc(s->n * (s->d + 1) + 1, sizeof(*x));
    autofree(mem) bool *taken = xcalloc(s->n, sizeof(*taken));
    double *y = x + s->n * s->d;
    s->guess = xcalloc(s->n, sizeof(*s->guess));
    s->guesses = xcalloc(s->n, sizeof(*s->guesses));
    for (size_t r = 0; r < RESAMPLES; r++) {
        memset(taken, 0, s->n * sizeof(*taken));
        for (size_t i = 0; i < s->n; i++) {
            size_t from = rng_below(&s->rng, s->n);
            memcpy(x + i * s->d, s->x + from * s->d, s->d * sizeof(*x));
            y[i] = s->y[from];
            taken[from] = true;
        }
        s->forests[r] = forest_fit(x, y, NULL, s->n, s->d, s->categories, &options, &s->rng);
        guess_others(s, s->forests[r], taken);
    }
}

/* 1 − squared error over variance, of rows predicted by forests that had not seen them; low and
 * high: two standard errors to both sides. Each row counts once: of a few that stand for most of
 * the space, nothing near is left when they are left out. */
static struct param_share explained_share(const struct study *s)
{
    double mean = 0, error = 0, spread = 0, squares = 0;
    for (size_t i = 0; i < s->n; i++)
        mean += s->y[i] / (double)s->n;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s->n; i++) {
            if (!s->guesses[i])
                continue;
            double off = s->y[i] - s->guess[i] / (double)s->guesses[i], from = s->y[i] - mean;
            double e = off * off, v = from * from;
            error += pass ? 0 : e;
            spread += pass ? 0 : v;
            squares += pass && spread > 0 ? pow(e - error / spread * v, 2) : 0;
        }
    if (!(spread > 0))
        return (struct param_share){0, 0, 0};
    double share = 1 - error / spread, wide = 2 * sqrt(squares) / spread;
    return (struct param_share){fmax(share, 0), fmax(share - wide, 0),
                                fmin(fmax(share + wide, 0), 1)};
}

/* The pairs of the features that the trees split most. */
static void choose_pairs(struct study *s)
{
    autofree(mem) struct keyed *order = xcalloc(s->d + 1, sizeof(*order));
    autofree(mem) double *gain = xcalloc(s->d + 1, sizeof(*gain));
    size_t top = MIN(s->d, (size_t)PAIR_PARAMS);
    for (size_t j = 0; j < s->d; j++)
        order[j].at = j;
    for (size_t r = 0; r < RESAMPLES; r++) {
        forest_gain(s->forests[r], gain);
        for (size_t j = 0; j < s->d; j++)
            order[j].key -= gain[j];
    }
    qsort(order, s->d, sizeof(*order), by_key);
    s->pairs = xcalloc(top * top + 1, sizeof(*s->pairs));
    for (size_t i = 0; i < top; i++)
        for (size_t k = i + 1; k < top; k++) {
            s->pairs[s->n_pairs][0] = MIN(order[i].at, order[k].at);
            s->pairs[s->n_pairs++][1] = MAX(order[i].at, order[k].at);
        }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* shares: one value a sample. */
static struct param_share sum_up(double *shares, struct param_share explained)
{
    qsort(shares, RESAMPLES, sizeof(*shares), by_value);
    double middle = (shares[RESAMPLES / 2 - 1] + shares[RESAMPLES / 2]) / 2;
    return (struct param_share){middle * explained.share, shares[1] * explained.low,
                                shares[RESAMPLES - 2] * explained.high};
}

static int by_share(const void *a, const void *b)
{
    double x = ((const struct pair_share *)a)->share.share;
    double y = ((const struct pair_share *)b)->share.share;
    return (x < y) - (x > y);
}

/* Take the forests apart. What single parameters and pairs explain cannot be more than all. */
static void take_apart(struct study *s, double *ret) /* (d + n_pairs, RESAMPLES) */
{
    autofree(mem) double *parts = xcalloc(s->d + s->n_pairs + 1, sizeof(*parts));
    size_t n = s->d + s->n_pairs;
    for (size_t r = 0; r < RESAMPLES; r++) {
        double all = fanova_variance(s->forests[r], s->axes, DRAWS, &s->rng), sum = 0;
        fanova_measure(s->forests[r], s->axes, (const size_t(*)[2])s->pairs, s->n_pairs, parts,
                       parts + s->d);
        for (size_t k = 0; k < n; k++)
            sum += parts[k] = fmax(parts[k], 0);
        for (size_t k = 0; k < n; k++)
            ret[k * RESAMPLES + r] = sum > 0 ? parts[k] / fmax(all, sum) : 0;
    }
}

static void conclude(struct study *s, struct importance *ret)
{
    size_t n = s->d + s->n_pairs;
    autofree(mem) double *shares = xcalloc(n * RESAMPLES + 1, sizeof(*shares));

    struct param_share explained = explained_share(s);
    ret->explained = explained.share;
    take_apart(s, shares);
    for (size_t j = 0; j < s->d; j++)
        ret->params[s->params[j]] = sum_up(shares + j * RESAMPLES, explained);
    for (size_t p = 0; p < s->n_pairs; p++)
        ret->pairs[p] = (struct pair_share){s->params[s->pairs[p][0]], s->params[s->pairs[p][1]],
                                            sum_up(shares + (s->d + p) * RESAMPLES, explained)};
    ret->n_pairs = s->n_pairs;
    qsort(ret->pairs, ret->n_pairs, sizeof(*ret->pairs), by_share);
}

static void study_release(struct study *s)
{
    for (size_t r = 0; r < RESAMPLES; r++)
        forest_free(s->forests[r]);
    free(s->params);
    free(s->categories);
    free(s->axes);
    free(s->x);
    free(s->y);
    free(s->part);
    free(s->guess);
    free(s->guesses);
    free(s->pairs);
}

static int measure(const struct space *space, const double *points, const double *values, size_t n,
                   bool with_pairs, struct importance *ret)
{
    autorelease(study) struct study s = {.space = space};

    *ret = (struct importance){0};
    if (n < IMPORTANCE_RESULTS_MIN)
        return -ENODATA;
    rng_init(&s.rng, 1, n);
    set_features(&s);
    set_rows(&s, points, values, n);
    ret->params = xcalloc(space->n + 1, sizeof(*ret->params));
    if (s.d == 0)
        return 0;
    grow(&s);
    if (with_pairs)
        choose_pairs(&s);
    ret->pairs = xcalloc(s.n_pairs + 1, sizeof(*ret->pairs));
    conclude(&s, ret);
    return 0;
}

int importance_measure(const struct space *space, const double *points, const double *values,
                       size_t n, struct importance *ret)
{
    return measure(space, points, values, n, true, ret);
}

void importance_release(struct importance *importance)
{
    free(importance->params);
    free(importance->pairs);
    *importance = (struct importance){0};
}

int importance(const struct space *space, const double *points, const double *values, size_t n,
               double *ret_share)
{
    struct importance all;
    int r = measure(space, points, values, n, false, &all);
    for (size_t i = 0; r == 0 && i < space->n; i++)
        ret_share[i] = all.params[i].share;
    importance_release(&all);
    return r;
}
