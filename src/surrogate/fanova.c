/* SPDX-License-Identifier: MIT */
/*
 * fanova.c — marginal means of a forest.
 *
 * A leaf is a product of sets, one a feature, so its part in the marginal mean at a place of some
 * features is its mean times the weight of its sets along all other features. The places of a
 * feature that reach a node are a 64-bit mask; a walk from the root splits the masks on the way and
 * arrives at each leaf with them. Sums over the leaves of all trees give the marginal means of
 * the forest exactly, for the places of the axes.
 */
#include "surrogate/fanova.h"
#include "surrogate/tree.h"

#include <assert.h>

/* The marginal mean of a pair at (i, k) is the sum of four. Most leaves leave most features open,
 * and what they add does not change along those. */
struct pair_sums {
    double everywhere;
    double row[FANOVA_PLACES];    /* by i */
    double column[FANOVA_PLACES]; /* by k */
    double place[FANOVA_PLACES][FANOVA_PLACES];
};

struct marginals {
    const struct forest *forest;
    const struct fanova_axis *axes;
    const size_t (*pairs)[2];
    size_t n_pairs;
    double (*single)[FANOVA_PLACES]; /* (d) marginal means */
    struct pair_sums *both;          /* (n_pairs) */
    uint64_t *all;                   /* (d) the places of each axis */
    uint64_t *masks;                 /* (d) those that reach the node */
    double *weights;                 /* (d) their weight */
};

static double weight_of(const struct fanova_axis *axis, uint64_t mask)
{
    double sum = 0;
    for (uint64_t left = mask; left; left &= left - 1)
        sum += axis->weight[__builtin_ctzll(left)];
    return sum;
}

static void add_to(double *places, uint64_t mask, double part)
{
    for (uint64_t left = mask; left; left &= left - 1)
        places[__builtin_ctzll(left)] += part;
}

static bool is_open(const struct marginals *m, size_t feature)
{
    return m->masks[feature] == m->all[feature];
}

static void add_to_pair(struct marginals *m, size_t p, double whole)
{
    size_t a = m->pairs[p][0], b = m->pairs[p][1];
    struct pair_sums *sums = &m->both[p];
    double part = whole / m->weights[a] / m->weights[b];
    if (is_open(m, a) && is_open(m, b))
        sums->everywhere += part;
    else if (is_open(m, b))
        add_to(sums->row, m->masks[a], part);
    else if (is_open(m, a))
        add_to(sums->column, m->masks[b], part);
    else
        for (uint64_t i = m->masks[a]; i; i &= i - 1)
            add_to(sums->place[__builtin_ctzll(i)], m->masks[b], part);
}

static void add_leaf(struct marginals *m, double mean)
{
    double whole = mean / (double)m->forest->trees;
    for (size_t j = 0; j < m->forest->d; j++)
        whole *= m->weights[j];
    for (size_t j = 0; j < m->forest->d; j++)
        add_to(m->single[j], m->masks[j], whole / m->weights[j]);
    for (size_t p = 0; p < m->n_pairs; p++)
        add_to_pair(m, p, whole);
}

/* Which of the places in `mask` the node sends left. */
static uint64_t split_mask(const struct marginals *m, const struct node *node, uint64_t mask)
{
    const struct fanova_axis *axis = &m->axes[node->feature];
    size_t categories = m->forest->categories[node->feature];
    uint64_t left = 0;
    for (uint64_t rest = mask; rest; rest &= rest - 1) {
        int place = __builtin_ctzll(rest);
        if (node_goes_left(node, categories, axis->at[place]))
            left |= 1ULL << place;
    }
    return left;
}

struct visit { /* a node to be seen with this mask and weight of one feature, the others as now */
    uint32_t node;
    uint32_t feature;
    uint64_t mask;
    bool undo; /* on the way back: just restore the mask */
};

/* Go through one tree; masks and weights are restored on the way up. */
static void walk_tree(struct marginals *m, const struct node *root)
{
    VEC(struct visit) stack = {0};
    vec_push(&stack, ((struct visit){0, 0, m->masks[0], false}));
    while (stack.len) {
        struct visit visit = stack.at[--stack.len];
        m->masks[visit.feature] = visit.mask;
        m->weights[visit.feature] =
            is_open(m, visit.feature) ? 1 : weight_of(&m->axes[visit.feature], visit.mask);
        if (visit.undo || !(m->weights[visit.feature] > 0))
            continue;
        const struct node *node = root + visit.node;
        if (node->feature < 0) {
            add_leaf(m, node->mean);
            continue;
        }
        uint32_t feature = (uint32_t)node->feature;
        uint64_t whole = m->masks[feature], left = split_mask(m, node, whole);
        vec_push(&stack, ((struct visit){0, feature, whole, true}));
        if (whole & ~left)
            vec_push(&stack, ((struct visit){node->left + 1, feature, whole & ~left, false}));
        if (left)
            vec_push(&stack, ((struct visit){node->left, feature, left, false}));
    }
    vec_release(&stack);
}

static double variance_over(const double *mean, const double *weight, size_t n)
{
    double centre = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        centre += weight[i] * mean[i];
    for (size_t i = 0; i < n; i++)
        sum += weight[i] * (mean[i] - centre) * (mean[i] - centre);
    return sum;
}

static double pair_variance(const struct marginals *m, size_t p)
{
    const struct fanova_axis *a = &m->axes[m->pairs[p][0]], *b = &m->axes[m->pairs[p][1]];
    const struct pair_sums *sums = &m->both[p];
    double mean[FANOVA_PLACES * FANOVA_PLACES], weight[FANOVA_PLACES * FANOVA_PLACES];
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++) {
            mean[n] = sums->everywhere + sums->row[i] + sums->column[k] + sums->place[i][k];
            weight[n++] = a->weight[i] * b->weight[k];
        }
    return variance_over(mean, weight, n);
}

static void open_all(struct marginals *m)
{
    for (size_t j = 0; j < m->forest->d; j++) {
        size_t n = m->axes[j].n;
        assert(n >= 1 && n <= FANOVA_PLACES);
        m->all[j] = m->masks[j] = n == 64 ? UINT64_MAX : (1ULL << n) - 1;
        m->weights[j] = 1;
    }
}

void fanova_measure(const struct forest *forest, const struct fanova_axis *axes,
                    const size_t (*pairs)[2], size_t n_pairs, double *ret_single, double *ret_pairs)
{
    size_t d = forest->d;
    struct marginals m = {.forest = forest, .axes = axes, .pairs = pairs, .n_pairs = n_pairs};
    double squared = forest->scale * forest->scale;

    if (d == 0)
        return;
    m.single = xcalloc(d, sizeof(*m.single));
    m.both = xcalloc(n_pairs + 1, sizeof(*m.both));
    m.all = xcalloc(2 * d, sizeof(*m.all));
    m.masks = m.all + d;
    m.weights = xcalloc(d, sizeof(*m.weights));
    open_all(&m);
    for (size_t t = 0; t < forest->trees; t++)
        walk_tree(&m, forest->nodes.at + forest->roots[t]);
    for (size_t j = 0; j < d; j++)
        ret_single[j] = squared * variance_over(m.single[j], axes[j].weight, axes[j].n);
    for (size_t p = 0; p < n_pairs; p++)
        ret_pairs[p] =
            squared * pair_variance(&m, p) - ret_single[pairs[p][0]] - ret_single[pairs[p][1]];
    free(m.single);
    free(m.both);
    free(m.all);
    free(m.weights);
}

static double draw_place(const struct fanova_axis *axis, struct rng *rng)
{
    double u = rng_unit(rng);
    for (size_t i = 0; i + 1 < axis->n; i++) {
        u -= axis->weight[i];
        if (u < 0)
            return axis->at[i];
    }
    return axis->at[axis->n - 1];
}

double fanova_variance(const struct forest *forest, const struct fanova_axis *axes, size_t draws,
                       struct rng *rng)
{
    autofree(mem) double *x = xcalloc(draws * forest->d + 1, sizeof(*x));
    autofree(mem) double *mean = xcalloc(3 * draws + 1, sizeof(*mean));
    double *deviation = mean + draws, *weight = deviation + draws;
    for (size_t i = 0; i < draws; i++) {
        weight[i] = 1 / (double)draws;
        for (size_t j = 0; j < forest->d; j++)
            x[i * forest->d + j] = draw_place(&axes[j], rng);
    }
    forest_predict(forest, x, draws, mean, deviation);
    return variance_over(mean, weight, draws);
}
