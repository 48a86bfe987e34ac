/* SPDX-License-Identifier: MIT */
/*
 * cluster_test.c — what is apart is told apart, what is not stays together, and no counter decides
 * alone because its numbers are large.
 */
#include "tests/test.h"

#include "base/rng.h"
#include "tune/cluster.h"

#include <math.h>

#define D 6

/* n points around each of k far corners, in turn: point i belongs to corner i % k. */
static double *blobs(size_t n, size_t k, double noise, uint64_t seed)
{
    double *x = xcalloc(n * D, sizeof(*x));
    struct rng rng;
    rng_init(&rng, seed, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = ((i % k) >> (j % 3) & 1 ? 0.8 : 0.2) + noise * rng_normal(&rng);
    return x;
}

static void check_blobs(const struct clusters *clusters, size_t n, size_t k)
{
    assert_int_equal(clusters->k, k);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(clusters->of[i], i % k);
}

TEST(separable_sets_are_found_with_their_number)
{
    for (size_t k = 2; k <= CLUSTERS_MOST; k++) {
        autofree(mem) double *x = blobs(10 * k, k, 0.02, k);
        autorelease(clusters) struct clusters clusters;
        cluster_fit(x, 10 * k, D, 1, &clusters);
        check_blobs(&clusters, 10 * k, k);
        assert_true(clusters.silhouette > 0.6);
    }
}

TEST(one_cloud_is_one_cluster)
{
    autofree(mem) double *x = blobs(60, 1, 0.2, 3);
    autorelease(clusters) struct clusters clusters;
    cluster_fit(x, 60, D, 1, &clusters);
    check_blobs(&clusters, 60, 1);
    assert_true(isnan(clusters.silhouette));
}

TEST(the_same_seed_gives_the_same_clusters)
{
    autofree(mem) double *x = blobs(40, 3, 0.25, 5);
    autorelease(clusters) struct clusters a, b;
    cluster_fit(x, 40, D, 9, &a);
    cluster_fit(x, 40, D, 9, &b);
    assert_int_equal(a.k, b.k);
    assert_memory_equal(a.of, b.of, 40 * sizeof(*a.of));
}

TEST(a_counter_with_huge_numbers_does_not_decide)
{
    autofree(mem) double *x = blobs(40, 2, 0.02, 5);
    struct rng rng;
    rng_init(&rng, 6, 0);
    for (size_t i = 0; i < 40; i++)
        x[i * D + D - 1] = 1e9 * rng_unit(&rng); /* the rest says which, this says nothing */
    autorelease(clusters) struct clusters clusters;
    cluster_fit(x, 40, D, 1, &clusters);
    check_blobs(&clusters, 40, 2);
}

TEST(points_that_are_the_same_are_one_cluster)
{
    double x[5 * D];
    for (size_t i = 0; i < ARRAY_LEN(x); i++)
        x[i] = 0.5;
    autorelease(clusters) struct clusters clusters;
    cluster_fit(x, 5, D, 1, &clusters);
    check_blobs(&clusters, 5, 1);
}

TEST(few_points_and_none_are_no_mistake)
{
    const double x[] = {0.1, 0.9};
    for (size_t n = 0; n <= 2; n++) {
        autorelease(clusters) struct clusters clusters;
        cluster_fit(x, n, 1, 1, &clusters);
        check_blobs(&clusters, n, n ? 1 : 0);
    }
    autorelease(clusters) struct clusters flat;
    cluster_fit(x, 2, 0, 1, &flat); /* no columns */
    assert_int_equal(flat.k, 0);
    assert_true(flat.of[0] == SIZE_MAX && flat.of[1] == SIZE_MAX);
}

TEST(missing_values_are_left_out)
{
    autofree(mem) double *x = blobs(60, 2, 0.02, 7);
    struct rng rng;
    rng_init(&rng, 8, 0);
    for (size_t i = 0; i < 60; i++)
        for (size_t j = 1; j < D; j++) /* the first column, which tells them apart, is kept */
            if (rng_chance(&rng, 0.4))
                x[i * D + j] = rng_chance(&rng, 0.5) ? NAN : INFINITY;
    autorelease(clusters) struct clusters clusters;
    cluster_fit(x, 60, D, 1, &clusters);
    check_blobs(&clusters, 60, 2);
}

TEST(a_point_without_any_value_belongs_nowhere)
{
    autofree(mem) double *x = blobs(20, 2, 0.02, 7);
    for (size_t j = 0; j < D; j++)
        x[j] = NAN;
    autorelease(clusters) struct clusters clusters;
    cluster_fit(x, 20, D, 1, &clusters);
    assert_int_equal(clusters.k, 2);
    assert_true(clusters.of[0] == SIZE_MAX);
    for (size_t i = 1; i < 20; i++) /* the second point is the first that has values */
        assert_int_equal(clusters.of[i], (i + 1) % 2);
}

TEST(extreme_and_strange_numbers_end)
{
    const double odd[] = {0, NAN, INFINITY, -INFINITY, 1e308, -1e308, 5e-324, 1};
    double x[30 * 3];
    struct rng rng;
    rng_init(&rng, 9, 0);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < ARRAY_LEN(x); i++)
            x[i] = odd[rng_below(&rng, ARRAY_LEN(odd))];
        autorelease(clusters) struct clusters clusters;
        cluster_fit(x, 30, 3, 1, &clusters);
        assert_true(clusters.k <= CLUSTERS_MOST);
        for (size_t i = 0; i < 30; i++)
            assert_true(clusters.of[i] < clusters.k || clusters.of[i] == SIZE_MAX);
    }
}

/* ---- workloads ---- */

static void a_workload(struct workload *to, const char *identity, double level)
{
    workload_init(to, identity, "x", "m");
    if (isnan(level))
        return;
    workload_count(to, "cycles", 1e9 * level, level, true);
    workload_count(to, "misses", level, 1 - level, true);
    workload_count(to, "branches", NAN, NAN, true);
}

TEST(workloads_are_clustered_by_their_counters_names_and_again_as_more_come)
{
    const double levels[] = {0.1, 0.12, 0.9, NAN, 0.88, 0.11, 0.5, 0.52, 0.51};
    const int64_t first[] = {1, 1, 2, 0, 2, 1}, then[] = {1, 1, 2, 0, 2, 1, 3, 3, 3};
    struct workload all[ARRAY_LEN(levels)];
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        a_workload(&all[i], "a", levels[i]);
    cluster_workloads(all, ARRAY_LEN(first), 1);
    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        assert_int_equal(all[i].cluster, first[i]);
    cluster_workloads(all, ARRAY_LEN(all), 1);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        assert_int_equal(all[i].cluster, then[i]);
    cluster_workloads(NULL, 0, 1);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        workload_release(&all[i]);
}

TEST_MAIN
