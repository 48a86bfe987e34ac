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

struct marginals {
    const struct forest *forest;
    const struct fanova_axis *axes;
    const size_t (*pairs)[2];
    size_t n_pairs;
    double *single;  /* (d, PLACES) marginal means */
    double *both;    /* (n_pairs, PLACES, PLACES) */
    uint64_t *masks; /* (d) the places that reach the node */
    double *weights; /* (d) their weight */
};

static double weight_of(const struct fanova_axis *axis, uint64_t mask)
{
    double sum = 0;
    for (uint64_t left = mask; left; left &= left - 1)
        sum += axis->weight[__builtin_ctzll(left)];
    return sum;
}

/* Features that the leaf leaves open cost nothing in the products: `closed` lists the others. */
static void add_leaf(struct marginals *m, double mean, const size_t *closed, size_t n_closed)
{
    const struct forest *forest = m->forest;
    double whole = mean / (double)forest->trees;
    for (size_t c = 0; c < n_closed; c++)
        whole *= m->weights[closed[c]];
    for (size_t j = 0; j < forest->d; j++) {
        double part = whole / m->weights[j], *to = m->single + j * FANOVA_PLACES;
        for (uint64_t left = m->masks[j]; left; left &= left - 1)
            to[__builtin_ctzll(left)] += part;
    }
    for (size_t p = 0; p < m->n_pairs; p++) {
        size_t a = m->pairs[p][0], b = m->pairs[p][1];
        double part = whole / m->weights[a] / m->weights[b];
        double *to = m->both + p * FANOVA_PLACES * FANOVA_PLACES;
        for (uint64_t i = m->masks[a]; i; i &= i - 1) {
            double *row = to + (size_t)__builtin_ctzll(i) * FANOVA_PLACES;
            for (uint64_t k = m->masks[b]; k; k &= k - 1)
                row[__builtin_ctzll(k)] += part;
        }
    }
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
static void walk_tree(struct marginals *m, const struct node *root, size_t *closed)
{
    VEC(struct visit) stack = {0};
    vec_push(&stack, ((struct visit){0, 0, m->masks[0], false}));
    while (stack.len) {
        struct visit visit = stack.at[--stack.len];
        m->masks[visit.feature] = visit.mask;
        m->weights[visit.feature] = weight_of(&m->axes[visit.feature], visit.mask);
        if (visit.undo || !(m->weights[visit.feature] > 0))
            continue;
        const struct node *node = root + visit.node;
        if (node->feature < 0) {
            size_t n = 0;
            for (size_t j = 0; j < m->forest->d; j++)
                if (m->weights[j] < 1)
                    closed[n++] = j;
            add_leaf(m, node->mean, closed, n);
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
    const double *mean = m->both + p * FANOVA_PLACES * FANOVA_PLACES;
    double centre = 0, sum = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            centre += a->weight[i] * b->weight[k] * mean[i * FANOVA_PLACES + k];
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++) {
            double off = mean[i * FANOVA_PLACES + k] - centre;
            sum += a->weight[i] * b->weight[k] * off * off;
        }
    return sum;
}

static void open_all(struct marginals *m)
{
    for (size_t j = 0; j < m->forest->d; j++) {
        size_t n = m->axes[j].n;
        assert(n >= 1 && n <= FANOVA_PLACES);
        m->masks[j] = n == 64 ? UINT64_MAX : (1ULL << n) - 1;
        m->weights[j] = weight_of(&m->axes[j], m->masks[j]);
    }
}

void fanova_measure(const struct forest *forest, const struct fanova_axis *axes,
                    const size_t (*pairs)[2], size_t n_pairs, double *ret_single, double *ret_pairs)
{
    size_t d = forest->d, square = FANOVA_PLACES * FANOVA_PLACES;
    if (d == 0)
        return;
    autofree(mem) double *numbers =
        xcalloc(d * FANOVA_PLACES + n_pairs * square + d, sizeof(*numbers));
    autofree(mem) uint64_t *masks = xcalloc(d, sizeof(*masks));
    autofree(mem) size_t *closed = xcalloc(d, sizeof(*closed));
    struct marginals m = {.forest = forest, .axes = axes, .pairs = pairs, .n_pairs = n_pairs};

    m.single = numbers;
    m.both = numbers + d * FANOVA_PLACES;
    m.weights = m.both + n_pairs * square;
    m.masks = masks;
    open_all(&m);
    for (size_t t = 0; t < forest->trees; t++)
        walk_tree(&m, forest->nodes.at + forest->roots[t], closed);
    double square_scale = forest->scale * forest->scale;
    for (size_t j = 0; j < d; j++)
        ret_single[j] =
            square_scale * variance_over(m.single + j * FANOVA_PLACES, axes[j].weight, axes[j].n);
    for (size_t p = 0; p < n_pairs; p++)
        ret_pairs[p] =
            square_scale * pair_variance(&m, p) - ret_single[pairs[p][0]] - ret_single[pairs[p][1]];
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
