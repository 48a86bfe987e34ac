/* SPDX-License-Identifier: MIT */
/*
 * forest.c — extremely randomised trees (Geurts, Ernst, Wehenkel 2006) as SMAC grows them.
 *
 * At a node some features are looked at; each offers one split, drawn at random: a threshold
 * between its least and largest value there, or a subset of the categories found there. The split
 * that lowers the squared error most is taken. Rows where the feature is inactive are tried
 * on the left, on the right and against all others, so a condition costs one split.
 *
 * A tree's nodes lie in one array, siblings side by side; rows are a permutation that each split
 * partitions in place, features are columns. Targets are scaled into [-2, 2], so that results near
 * the end of the range of doubles neither overflow nor vanish in a square.
 */
#include "surrogate/forest.h"
#include "surrogate/tree.h"

#include <assert.h>

#define SUBSET_TRIES 8 /* random subsets that leave all rows on one side */

/* Weight and weighted sum of the targets of some rows. */
struct sums {
    double w, wy;
    size_t n;
};

/* A split and what it brings: Σ (Σwy)²/Σw over both sides. */
struct split {
    int32_t feature; /* -1: none */
    bool nan_left;
    double threshold;
    uint64_t subset;
    double score;
};

struct grower {
    struct forest *forest;
    const double *columns; /* (d, n) */
    const double *y, *w;   /* (n) targets and weights, scaled */
    bool weighted;         /* false: all weights are 1 */
    size_t n, d;
    uint32_t *rows;    /* (n) a permutation, or a bootstrap sample */
    uint32_t *spare;   /* (n) */
    size_t *features;  /* (d) in an order that is shuffled on the way */
    size_t looked_max; /* features with a choice that are looked at */
    size_t min_leaf, min_split;
    struct rng *rng;
};

struct span { /* rows[begin..end) of node `at` */
    size_t at, begin, end;
};

static double score_of(struct sums a, struct sums b)
{
    return a.wy * a.wy / a.w + b.wy * b.wy / b.w;
}

static struct sums sums_plus(struct sums a, struct sums b)
{
    return (struct sums){a.w + b.w, a.wy + b.wy, a.n + b.n};
}

/* Keep the split in *best if it is allowed and better. */
static void offer(const struct grower *g, struct split split, struct sums left, struct sums right,
                  struct split *best)
{
    if (left.n < g->min_leaf || right.n < g->min_leaf || !(left.w > 0) || !(right.w > 0))
        return;
    split.score = score_of(left, right);
    if (best->feature < 0 || split.score > best->score)
        *best = split;
}

/* With `split` made for the active rows, find the best place for the inactive ones. */
static void offer_all(const struct grower *g, struct split split, struct sums left,
                      struct sums right, struct sums inactive, struct split *best)
{
    split.nan_left = left.n >= right.n;
    if (inactive.n == 0) {
        offer(g, split, left, right, best);
        return;
    }
    split.nan_left = true;
    offer(g, split, sums_plus(left, inactive), right, best);
    split.nan_left = false;
    offer(g, split, left, sums_plus(right, inactive), best);
    split.threshold = INFINITY;
    split.subset = UINT64_MAX;
    if (g->forest->categories[split.feature] <= MASK_CATEGORIES)
        offer(g, split, sums_plus(left, right), inactive, best);
}

/* The weights and sums of a span's rows: left of the split, right of it, inactive. */
static void sum_sides(const struct grower *g, struct span span, const struct split *split,
                      struct sums ret[3])
{
    const double *column = g->columns + (size_t)split->feature * g->n;
    size_t categories = g->forest->categories[split->feature];
    struct node node = {.feature = split->feature, .threshold = split->threshold};
    if (categories)
        node.subset = split->subset;
    memset(ret, 0, 3 * sizeof(*ret));
    for (size_t i = span.begin; i < span.end; i++) {
        uint32_t row = g->rows[i];
        double x = column[row];
        struct sums *side = isnan(x) ? &ret[2] : &ret[!node_goes_left(&node, categories, x)];
        side->w += g->w[row];
        side->wy += g->w[row] * g->y[row];
        side->n++;
    }
}

/* The same for numbers that are all active and weigh the same: the common case, no branch. */
static void sum_numbers(const struct grower *g, struct span span, const struct split *split,
                        struct sums total, struct sums ret[3])
{
    const double *column = g->columns + (size_t)split->feature * g->n;
    double threshold = split->threshold;
    struct sums left = {0, 0, 0};
    for (size_t i = span.begin; i < span.end; i++) {
        uint32_t row = g->rows[i];
        double in = column[row] <= threshold;
        left.wy += in * g->y[row];
        left.w += in;
    }
    left.n = (size_t)left.w;
    ret[0] = left;
    ret[1] = (struct sums){total.w - left.w, total.wy - left.wy, total.n - left.n};
    ret[2] = (struct sums){0, 0, 0};
}

/* Least and largest active value; returns the number of inactive rows. */
static size_t range_of(const struct grower *g, struct span span, size_t feature, double *ret_low,
                       double *ret_high)
{
    const double *column = g->columns + feature * g->n;
    double low = INFINITY, high = -INFINITY;
    size_t active = 0;
    for (size_t i = span.begin; i < span.end; i++) {
        double x = column[g->rows[i]];
        low = x < low ? x : low;
        high = x > high ? x : high;
        active += x == x;
    }
    *ret_low = low;
    *ret_high = high;
    return span.end - span.begin - active;
}

/* One random threshold; true if the feature had a choice. */
static bool look_at_number(const struct grower *g, struct span span, size_t feature,
                           struct sums total, struct split *best)
{
    double low, high;
    size_t inactive = range_of(g, span, feature, &low, &high);
    if (!(low < high) && (inactive == 0 || inactive == span.end - span.begin))
        return false;
    struct split split = {.feature = (int32_t)feature};
    struct sums sides[3];
    split.threshold = low < high ? low + rng_unit(g->rng) * (high - low) : high;
    if (split.threshold >= high && low < high)
        split.threshold = low;
    if (inactive || g->weighted)
        sum_sides(g, span, &split, sides);
    else
        sum_numbers(g, span, &split, total, sides);
    offer_all(g, split, sides[0], sides[1], sides[2], best);
    return true;
}

/* One random subset of the categories that are found here. */
static bool look_at_category(const struct grower *g, struct span span, size_t feature,
                             struct split *best)
{
    double low, high;
    size_t inactive = range_of(g, span, feature, &low, &high);
    if (!(low < high) && (inactive == 0 || inactive == span.end - span.begin))
        return false;
    struct split split = {.feature = (int32_t)feature};
    struct sums sides[3];
    for (int i = 0; i < SUBSET_TRIES; i++) {
        split.subset = rng_u64(g->rng);
        sum_sides(g, span, &split, sides);
        if (!(low < high) || (sides[0].n && sides[1].n))
            break;
    }
    offer_all(g, split, sides[0], sides[1], sides[2], best);
    return true;
}

/* One of n: a product instead of a division, which would take most of the time in small nodes. */
static size_t pick(struct rng *rng, size_t n)
{
    return (size_t)((rng_u64(rng) >> 32) * n >> 32);
}

/* The best of one random split a feature, over features in random order until enough of them
 * offered a choice. */
static struct split find_split(const struct grower *g, struct span span, struct sums total)
{
    struct split best = {.feature = -1};
    size_t looked = 0;
    for (size_t k = 0; k < g->d && looked < g->looked_max; k++) {
        size_t other = k + pick(g->rng, g->d - k), feature = g->features[other];
        g->features[other] = g->features[k];
        g->features[k] = feature;
        looked += g->forest->categories[feature] ? look_at_category(g, span, feature, &best)
                                                 : look_at_number(g, span, feature, total, &best);
    }
    return best;
}

static struct sums sum_all(const struct grower *g, struct span span, double *ret_variance)
{
    struct sums sums = {0, 0, span.end - span.begin};
    double square = 0;
    for (size_t i = span.begin; i < span.end; i++) {
        uint32_t row = g->rows[i];
        sums.w += g->w[row];
        sums.wy += g->w[row] * g->y[row];
    }
    double mean = sums.w > 0 ? sums.wy / sums.w : 0;
    for (size_t i = span.begin; i < span.end; i++) {
        uint32_t row = g->rows[i];
        square += g->w[row] * (g->y[row] - mean) * (g->y[row] - mean);
    }
    *ret_variance = sums.w > 0 ? square / sums.w : 0;
    return sums;
}

/* Rows that go left to the front, both sides in their order; where the right side begins. */
static size_t partition(const struct grower *g, struct span span, const struct node *node)
{
    const double *column = g->columns + (size_t)node->feature * g->n;
    size_t categories = g->forest->categories[node->feature], left = span.begin, right = 0;
    for (size_t i = span.begin; i < span.end; i++) {
        uint32_t row = g->rows[i];
        if (node_goes_left(node, categories, column[row]))
            g->rows[left++] = row;
        else
            g->spare[right++] = row;
    }
    memcpy(g->rows + left, g->spare, right * sizeof(*g->rows));
    return left;
}

/* Turn the span's node into a leaf or a question; true if it has children now, with *ret_middle
 * between them. */
static bool grow_node(const struct grower *g, struct span span, size_t root, size_t *ret_middle)
{
    struct forest *forest = g->forest;
    struct node node = {.feature = -1};
    struct sums total = sum_all(g, span, &node.variance);
    struct split split = {.feature = -1};

    node.mean = total.w > 0 ? total.wy / total.w : 0;
    if (total.n >= g->min_split && node.variance > 1e-24)
        split = find_split(g, span, total);
    if (split.feature >= 0) {
        forest->gain[split.feature] += fmax(split.score - total.wy * total.wy / total.w, 0);
        node = (struct node){.feature = split.feature, .nan_left = split.nan_left};
        if (forest->categories[split.feature])
            node.subset = split.subset;
        else
            node.threshold = split.threshold;
        node.left = (uint32_t)(forest->nodes.len - root) & INT32_MAX;
        *ret_middle = partition(g, span, &node);
        vec_push(&forest->nodes, (struct node){0});
        vec_push(&forest->nodes, (struct node){0});
    }
    forest->nodes.at[root + span.at] = node;
    return split.feature >= 0;
}

static void grow_tree(const struct grower *g, struct span *stack)
{
    struct forest *forest = g->forest;
    size_t root = forest->nodes.len, depth = 1, middle = 0;
    vec_push(&forest->nodes, (struct node){0});
    stack[0] = (struct span){0, 0, g->n};
    while (depth) {
        struct span span = stack[--depth];
        if (!grow_node(g, span, root, &middle))
            continue;
        size_t left = forest->nodes.at[root + span.at].left;
        stack[depth++] = (struct span){left + 1, middle, span.end};
        stack[depth++] = (struct span){left, span.begin, middle};
    }
}

/* Targets into [-2, 2] around their mean. */
static void scale_targets(struct forest *forest, const double *y, size_t n, double *ret)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        assert(isfinite(y[i]));
        forest->scale = fmax(forest->scale, fabs(y[i]));
    }
    forest->scale = forest->scale > 0 ? forest->scale : 1;
    for (size_t i = 0; i < n; i++)
        sum += y[i] / forest->scale;
    forest->centre = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        ret[i] = y[i] / forest->scale - forest->centre;
}

/* Weights with mean 1; those that are no good count 0. */
static void scale_weights(const double *weights, size_t n, double *ret)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        ret[i] = !weights ? 1 : weights[i] > 0 && isfinite(weights[i]) ? weights[i] : 0;
        most = fmax(most, ret[i]);
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = most > 0 ? ret[i] / most : 1;
}

static struct forest *forest_new(size_t trees, size_t d, const size_t *categories)
{
    struct forest *forest = xcalloc(1, sizeof(*forest));
    forest->trees = trees;
    forest->d = d;
    forest->categories = xcalloc(d + 1, sizeof(*forest->categories));
    if (d && categories)
        memcpy(forest->categories, categories, d * sizeof(*categories));
    forest->roots = xcalloc(trees, sizeof(*forest->roots));
    forest->gain = xcalloc(d + 1, sizeof(*forest->gain));
    return forest;
}

static void choose_rows(const struct grower *g, bool bootstrap)
{
    for (size_t i = 0; i < g->n; i++)
        g->rows[i] = (uint32_t)(bootstrap ? rng_below(g->rng, g->n) : i);
}

struct forest *forest_fit(const double *x, const double *y, const double *weights, size_t n,
                          size_t d, const size_t *categories, const struct forest_options *options,
                          struct rng *rng)
{
    struct forest_options o = options ? *options : (struct forest_options){.bootstrap = true};
    struct forest *forest = forest_new(o.trees ? o.trees : 10, d, categories);
    autofree(mem) double *numbers = xcalloc(n * (d + 2) + 1, sizeof(*numbers));
    autofree(mem) uint32_t *rows = xcalloc(2 * n + 1, sizeof(*rows));
    autofree(mem) size_t *features = xcalloc(d + 1, sizeof(*features));
    autofree(mem) struct span *stack = xcalloc(n + 2, sizeof(*stack));
    double *targets = numbers + n * d, *scaled = targets + n;
    struct grower g = {.forest = forest,
                       .columns = numbers,
                       .y = targets,
                       .w = scaled,
                       .weighted = weights != NULL,
                       .n = n,
                       .d = d,
                       .rows = rows,
                       .spare = rows + n,
                       .features = features,
                       .rng = rng};

    assert(n >= 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            numbers[j * n + i] = x[i * d + j];
    for (size_t j = 0; j < d; j++)
        features[j] = j;
    scale_targets(forest, y, n, targets);
    scale_weights(weights, n, scaled);
    g.looked_max =
        MAX((size_t)((o.features > 0 ? o.features : 5.0 / 6) * (double)d + 0.5), (size_t)1);
    g.min_leaf = o.min_leaf ? o.min_leaf : 1;
    g.min_split = MAX(o.min_split, (size_t)2);
    vec_reserve(&forest->nodes, forest->trees * 2 * n);
    for (size_t t = 0; t < forest->trees; t++) {
        choose_rows(&g, o.bootstrap);
        forest->roots[t] = (uint32_t)forest->nodes.len;
        grow_tree(&g, stack);
    }
    return forest;
}

void forest_free(struct forest *forest)
{
    if (!forest)
        return;
    free(forest->categories);
    free(forest->roots);
    free(forest->gain);
    vec_release(&forest->nodes);
    free(forest);
}

static const struct node *find_leaf(const struct forest *forest, const struct node *root,
                                    const double *x)
{
    const struct node *node = root;
    while (node->feature >= 0) {
        size_t feature = (size_t)node->feature;
        bool left = node_goes_left(node, forest->categories[feature], x[feature]);
        node = root + node->left + !left;
    }
    return node;
}

/* Running mean and squared deviations over the trees (Welford 1962), one tree for all rows: its
 * nodes stay in the cache. ret_deviation holds the sums meanwhile. */
void forest_predict(const struct forest *forest, const double *x, size_t m, double *ret_mean,
                    double *ret_deviation)
{
    memset(ret_mean, 0, m * sizeof(*ret_mean));
    memset(ret_deviation, 0, m * sizeof(*ret_deviation));
    for (size_t t = 0; t < forest->trees; t++)
        for (size_t i = 0; i < m; i++) {
            const struct node *leaf =
                find_leaf(forest, forest->nodes.at + forest->roots[t], x + i * forest->d);
            double off = leaf->mean - ret_mean[i];
            ret_mean[i] += off / (double)(t + 1);
            ret_deviation[i] += off * (leaf->mean - ret_mean[i]) + leaf->variance;
        }
    for (size_t i = 0; i < m; i++) {
        ret_mean[i] = (ret_mean[i] + forest->centre) * forest->scale;
        ret_deviation[i] = sqrt(ret_deviation[i] / (double)forest->trees) * forest->scale;
    }
}

void forest_gain(const struct forest *forest, double *ret_gain)
{
    memcpy(ret_gain, forest->gain, forest->d * sizeof(*ret_gain));
}
