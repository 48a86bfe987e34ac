/* SPDX-License-Identifier: MIT */
/*
 * tree.h — how a forest lies in memory. Private to surrogate/.
 */
#ifndef HONE_SURROGATE_TREE_H
#define HONE_SURROGATE_TREE_H

#include "base/rng.h"

#include <math.h>

#define MASK_CATEGORIES 64 /* a subset of so many is a mask; of more, the bits of a salted hash */

/* A leaf, or a question about one feature. */
struct node {
    int32_t feature;       /* -1: a leaf */
    uint32_t left : 31;    /* its children: left and left + 1 */
    uint32_t nan_left : 1; /* where inactive rows go */
    union {
        double threshold; /* a number: those not above it go left */
        uint64_t subset;  /* a category: mask, or salt of the hash */
        double mean;      /* a leaf */
    };
    double variance; /* within a leaf */
};

struct forest {
    size_t trees, d;
    size_t *categories;     /* (d) */
    uint32_t *roots;        /* (trees) where each tree begins in nodes */
    VEC(struct node) nodes; /* children are counted from their tree's root */
    double *gain;           /* (d) */
    double scale, centre;   /* nodes hold y/scale − centre */
};

static inline bool subset_has(uint64_t subset, size_t categories, double x)
{
    uint64_t k = (uint64_t)x;
    return categories <= MASK_CATEGORIES ? subset >> (k & 63) & 1 : hash_u64(subset ^ k) & 1;
}

static inline bool node_goes_left(const struct node *node, size_t categories, double x)
{
    if (isnan(x))
        return node->nan_left;
    return categories ? subset_has(node->subset, categories, x) : x <= node->threshold;
}

#endif
