/* SPDX-License-Identifier: MIT */
/*
 * kmeans.c — k-means (Lloyd 1982) on made clouds of points, started again from other centres
 * whenever no point changed its cluster. A step is one iteration, the loss the mean squared
 * distance to the nearest centre.
 *
 * Every chunk of points has sums of its own; they are added in order. A cluster without points
 * keeps its centre.
 */
#include "workload.h"

#define POINTS 65536
#define DIMS   16
#define CLOUDS 24
#define CHUNK  1024
#define CHUNKS (POINTS / CHUNK)
#define MAX_K  256

enum { K = N_COMMON, SPREAD, N_SETTINGS };
static struct setting settings[N_SETTINGS] = {
    COMMON_SETTINGS(200),
    [K] = {"k", 16, 1, MAX_K, true, "clusters"},
    [SPREAD] = {"spread", 0.3, 0, 100, false, "of the made clouds"},
};

struct kmeans {
    int k;
    float *x;       /* (POINTS, DIMS) */
    int *nearest;   /* (POINTS) */
    float *centres; /* (k, DIMS) */
    double *sums;   /* (CHUNKS, k, DIMS) */
    int *counts;    /* (CHUNKS, k) */
    double *loss;   /* (CHUNKS) */
    int *moved;     /* (CHUNKS) points that changed their cluster */
};

/* Clouds around random centres, all of one spread. */
static void make_points(float *x, uint64_t seed, double spread)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < POINTS; i++) {
        uint64_t cloud = random_bits(seed + 1, (uint64_t)i) % CLOUDS;
        for (int d = 0; d < DIMS; d++) {
            uint64_t at = (uint64_t)i * DIMS + (uint64_t)d;
            double noise = random_uniform(seed + 2, 2 * at) + random_uniform(seed + 2, 2 * at + 1);
            x[at] = (float)(random_uniform(seed + 3, cloud * DIMS + (uint64_t)d) + spread * noise);
        }
    }
}

/* The `round`-th time: k points taken at random. No point has a cluster yet. */
static void start_centres(struct kmeans *m, uint64_t seed, uint64_t round)
{
    for (int c = 0; c < m->k; c++) {
        uint64_t i = random_bits(seed + 4, round * MAX_K + (uint64_t)c) % POINTS;
        memcpy(m->centres + c * DIMS, m->x + i * DIMS, DIMS * sizeof(float));
    }
    for (int i = 0; i < POINTS; i++)
        m->nearest[i] = -1;
}

static struct kmeans kmeans_new(int k, uint64_t seed, double spread)
{
    struct kmeans m = {
        .k = k,
        .x = allocate((size_t)POINTS * DIMS, sizeof(float)),
        .nearest = allocate(POINTS, sizeof(int)),
        .centres = allocate((size_t)k * DIMS, sizeof(float)),
        .sums = allocate((size_t)CHUNKS * (size_t)k * DIMS, sizeof(double)),
        .counts = allocate((size_t)CHUNKS * (size_t)k, sizeof(int)),
        .loss = allocate(CHUNKS, sizeof(double)),
        .moved = allocate(CHUNKS, sizeof(int)),
    };
    make_points(m.x, seed, spread);
    start_centres(&m, seed, 0);
    return m;
}

static void kmeans_release(struct kmeans *m)
{
    free(m->x);
    free(m->nearest);
    free(m->centres);
    free(m->sums);
    free(m->counts);
    free(m->loss);
    free(m->moved);
}

static int nearest_centre(const struct kmeans *m, const float *x, float *ret_distance)
{
    float best = INFINITY;
    int at = 0;
    for (int c = 0; c < m->k; c++) {
        const float *centre = m->centres + c * DIMS;
        float distance = 0;
        for (int d = 0; d < DIMS; d++)
            distance += (x[d] - centre[d]) * (x[d] - centre[d]);
        if (distance < best) {
            best = distance;
            at = c;
        }
    }
    *ret_distance = best;
    return at;
}

static void assign_chunk(struct kmeans *m, int chunk)
{
    double *sums = m->sums + (size_t)(chunk * m->k) * DIMS;
    int *counts = m->counts + chunk * m->k;

    memset(sums, 0, (size_t)m->k * DIMS * sizeof(*sums));
    memset(counts, 0, (size_t)m->k * sizeof(*counts));
    m->loss[chunk] = 0;
    m->moved[chunk] = 0;
    for (int i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++) {
        const float *x = m->x + (size_t)i * DIMS;
        float distance;
        int c = nearest_centre(m, x, &distance);
        m->loss[chunk] += (double)distance;
        m->moved[chunk] += c != m->nearest[i];
        m->nearest[i] = c;
        counts[c]++;
        for (int d = 0; d < DIMS; d++)
            sums[c * DIMS + d] += (double)x[d];
    }
}

static void move_centre(struct kmeans *m, int c)
{
    double sum[DIMS] = {0};
    int count = 0;
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        const double *part = m->sums + (size_t)(chunk * m->k + c) * DIMS;
        count += m->counts[chunk * m->k + c];
        for (int d = 0; d < DIMS; d++)
            sum[d] += part[d];
    }
    for (int d = 0; d < DIMS && count > 0; d++)
        m->centres[c * DIMS + d] = (float)(sum[d] / count);
}

/* One iteration; returns the loss, and in *ret_moved how many points changed their cluster. */
static double iterate(struct kmeans *m, int *ret_moved)
{
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        assign_chunk(m, chunk);
    for (int c = 0; c < m->k; c++)
        move_centre(m, c);
    *ret_moved = 0;
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        *ret_moved += m->moved[chunk];
    return sum_in_order(m->loss, CHUNKS) / POINTS;
}

int main(int argc, char **argv)
{
    workload_start(argc, argv, settings, N_SETTINGS);
    uint64_t seed = (uint64_t)settings[SEED].value, round = 0;
    struct kmeans m = kmeans_new((int)settings[K].value, seed, settings[SPREAD].value);

    for (int64_t step = 0; workload_step(settings, step); step++) {
        int moved;
        workload_log(step, iterate(&m, &moved));
        if (moved == 0)
            start_centres(&m, seed, ++round);
    }
    kmeans_release(&m);
    return 0;
}
